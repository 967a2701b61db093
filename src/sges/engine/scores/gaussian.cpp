#include "gaussian.hpp"

#include <cmath>
#include <limits>

namespace sges {

namespace {

constexpr double MARGIN = 1e-12;  // for rounding where other numbers than gains are compared
constexpr double NEVER = std::numeric_limits<double>::infinity();

// A kept inverse is used for smaller bases only if no diagonal entry exceeds this.  Those of the smaller
// inverse are at least 1, so that at most this factor of precision is lost, twice.
constexpr double STEADY = 1e3;

[[noreturn]] void refuse(Node y, NodeSpan base, Node x = -1) {
    throw BadGain{y, {base.begin(), base.end()}, x, std::numeric_limits<double>::quiet_NaN()};
}

int size_of(NodeSpan base) { return static_cast<int>(base.size()); }

}  // namespace

Columns::Columns(const Matrix& matrix)
    : matrix_(matrix), rows_(static_cast<std::size_t>(matrix.n <= WIDEST ? matrix.n : WIDE_SLOTS)) {}

std::size_t Columns::bytes() const {
    return (static_cast<std::size_t>(kept_numbers_) + space_.z.size() + 3 * space_.upper.size()) *
           sizeof(double);
}

bool Columns::prepare(int y, NodeSpan base) {
    const int size = size_of(base);
    all_explained_ = has_rows(y, size + 1);
    if (all_explained_) return extend_rows(y, base);
    if (!factor_family(y, base)) return false;
    step_ = columns_at_a_time(size + 1);
    residual_ = 1.0 / space_.weight[size];
    return true;
}

int Columns::explain_block(int size, int begin) {
    const int width = std::min(step_, static_cast<int>(matrix_.n) - begin);
    if (!all_explained_) explain(matrix_, space_, size + 1, begin, width);
    return width;
}

// Make room to keep a solve of this size; return whether it may be kept.
bool Columns::has_rows(int y, int size) {
    Rows& rows = rows_[static_cast<std::size_t>(y) % rows_.size()];
    const std::ptrdiff_t n = matrix_.n, before = rows.room;
    if (n > WIDEST && size < FEWEST_ROWS) return false;
    if (size <= before) return true;
    if (kept_numbers_ + (size - before) * n > MOST_NUMBERS) return false;
    rows.reserve(size, n);
    kept_numbers_ += (rows.room - before) * n;
    return true;
}

// Explain all columns, from as many rows as this base shares with the last one of y.
bool Columns::extend_rows(int y, NodeSpan base) {
    Rows& rows = rows_[static_cast<std::size_t>(y) % rows_.size()];
    const int n = static_cast<int>(matrix_.n), size = size_of(base);
    space_.reserve(size + 1, std::max(n, WIDEST));
    unsigned char* is_in_base = space_.marks.data();
    std::fill(is_in_base, is_in_base + n, 0);
    if (rows.y != y) rows.size = 0, rows.y = y;
    for (Node x : base) is_in_base[x] = 1;
    int shared = 0, added = 0;
    for (; shared < rows.size && is_in_base[rows.nodes[shared]]; shared++) is_in_base[rows.nodes[shared]] = 0;
    for (Node x : base)
        if (is_in_base[x]) space_.nodes[added++] = x;
    if (!extend(matrix_, space_, rows, shared, space_.nodes.data(), added, y)) return false;
    residual_ = 1.0 / rows.weight[size];
    step_ = n;
    return true;
}

// Factor R[base + y], y last.
bool Columns::factor_family(int y, NodeSpan base) {
    space_.reserve(size_of(base) + 1, WIDEST);
    std::copy(base.begin(), base.end(), space_.nodes.data());
    space_.nodes[base.size()] = y;
    return factor(matrix_, space_, size_of(base) + 1);
}

void Columns::unmark(int y, NodeSpan base, int begin, int width) {
    for (Node x : base)
        if (begin <= x && x < begin + width) space_.marks[x - begin] = 0;
    if (begin <= y && y < begin + width) space_.marks[y - begin] = 0;
}

bool Columns::invert_family(int y, NodeSpan base) {
    const int size = size_of(base);
    space_.reserve(size + MOST_REMOVED + 1, WIDEST);
    if (cross_.size() < base.size() + MOST_REMOVED + 1) {
        diagonal_.resize(2 * base.size() + MOST_REMOVED + 8);
        cross_.resize(diagonal_.size());
    }
    Inverse* nearest = nullptr;
    int places[MOST_REMOVED], fewest = MOST_REMOVED + 1;
    for (Inverse& kept : kept_[static_cast<std::size_t>(y) % SLOTS]) {
        const int removed = removed_from(kept, y, base, places);
        if (removed >= 0 && removed < fewest) fewest = removed, nearest = &kept;
    }
    if (!nearest) return invert_afresh(y, base);
    removed_from(*nearest, y, base, places);
    read_kept(*nearest, places, fewest);
    return true;
}

// Factor, invert, and keep the result if its size makes that worthwhile.
bool Columns::invert_afresh(int y, NodeSpan base) {
    const int size = size_of(base);
    if (!factor_family(y, base)) return false;
    double* inverse = space_.inverse.data();
    std::ptrdiff_t stride = space_.stride;
    Inverse* kept = nullptr;
    if (FEWEST_KEPT <= size && size <= MOST_KEPT) {
        kept = &make_slot(y, size + 1);
        inverse = kept->factor.data();
        stride = kept->stride;
    }
    invert(space_, size + 1, inverse, stride);
    const double* last = inverse + size * stride;
    own_ = space_.squares[size];
    for (int i = 0; i < size; i++) {
        cross_[i] = last[size] * last[i];
        diagonal_[i] = space_.squares[i];
    }
    if (!kept) return true;
    kept->y = y;
    kept->size = size;
    kept->nodes.assign(base.begin(), base.end());
    kept->is_multiplied_out = false;
    kept->is_steady = true;
    for (int i = 0; i <= size; i++) kept->is_steady = kept->is_steady && space_.squares[i] <= STEADY;
    return true;
}

// Return how many kept nodes are not in base, and where; -1 if they do not contain base.
int Columns::removed_from(const Inverse& kept, int y, NodeSpan base, int* places) {
    const int size = size_of(base);
    if (!kept.is_steady || kept.y != y || kept.size < size || kept.size > size + MOST_REMOVED) return -1;
    int at = 0, removed = 0;
    for (int i = 0; i < kept.size; i++) {
        if (at < size && base[at] == kept.nodes[i])
            at++;
        else if (removed == kept.size - size)
            return -1;
        else
            places[removed++] = i;
    }
    return at == size ? removed : -1;
}

// Take the nodes at these places out of a kept inverse.
void Columns::read_kept(Inverse& kept, const int* places, int removed) {
    const int size = kept.size;
    double* rows = space_.z.data();
    if (!kept.is_multiplied_out) {
        kept.omega.resize(kept.factor.size());
        multiply_out(kept.factor.data(), kept.stride, size + 1, kept.omega.data(), rows);
        kept.is_multiplied_out = true;
    }
    take_out(kept.omega.data(), kept.stride, size + 1, places, removed, diagonal_.data(), rows);
    const double* last = rows + static_cast<std::ptrdiff_t>(removed) * (size + 1);
    own_ = diagonal_[size];
    for (int i = 0, k = 0, at = 0; i < size; i++) {
        if (k < removed && places[k] == i) {
            k++;
            continue;
        }
        cross_[at] = last[i];
        diagonal_[at++] = diagonal_[i];
    }
}

// Empty the slot of y that was filled first, and make room in it.
Columns::Inverse& Columns::make_slot(int y, int rows) {
    const std::size_t slot = static_cast<std::size_t>(y) % SLOTS;
    Inverse& kept = kept_[slot][static_cast<std::size_t>(oldest_[slot])];
    oldest_[slot] = (oldest_[slot] + 1) % WAYS;
    kept.is_steady = false;
    kept.stride = (rows + 3) & ~3;
    kept.factor.resize(static_cast<std::size_t>(kept.stride) * static_cast<std::size_t>(kept.stride));
    return kept;
}

namespace {

// Call with each marked column of a block, or with those of them that are candidates.
template <class Use>
void each_marked(const Space& space, NodeSpan among, int begin, int width, Use use) {
    const unsigned char* marks = space.marks.data();
    if (among.empty()) {
        for (int c = next_mark(marks, 0, width); c < width; c = next_mark(marks, c + 1, width)) use(c);
        return;
    }
    for (auto x = std::lower_bound(among.begin(), among.end(), begin); x != among.end() && *x < begin + width; x++)
        if (marks[*x - begin]) use(*x - begin);
}

}  // namespace

// -- BIC -------------------------------------------------------------------------------------------

void Gaussian::inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also, double* also_gains,
                       std::vector<Gain>& out) {
    const Data& data = *data_;
    Space& space = columns_.space();
    const int n = static_cast<int>(data.matrix.n);
    if (!columns_.prepare(y, base)) refuse(y, base);
    double cut = -std::expm1(-(worth + data.per_parent) / data.half);
    cut = cut > 0 ? cut * (1.0 - MARGIN) : -NEVER;
    if (squares_.empty()) xs_.resize(static_cast<std::size_t>(n)), squares_.resize(static_cast<std::size_t>(n));
    int count = 0;
    Node* xs = xs_.data();
    double* squares = squares_.data();
    std::size_t asked = 0;
    for (int begin = 0, width; begin < n; begin += width) {
        width = columns_.explain_block(size_of(base), begin);
        mark_above(space, width, cut);
        columns_.unmark(y, base, begin, width);
        const double *explained = space.explained.data(), *left = space.left.data();
        each_marked(space, among, begin, width, [&](int c) {
            xs[count] = begin + c;
            squares[count++] = explained[c] / left[c];
        });
        for (; asked < also.size() && also[asked] < begin + width; asked++) {
            const int c = also[asked] - begin;
            also_gains[asked] = space.explained[c] / space.left[c];
        }
    }
    if (!take_logs(squares, count, -data.half, -data.per_parent)) refuse(y, base);
    if (!take_logs(also_gains, static_cast<int>(also.size()), -data.half, -data.per_parent)) refuse(y, base);
    for (int i = 0; i < count; i++)
        if (squares[i] > worth) out.push_back({xs[i], squares[i]});
}

void Gaussian::deletes(Node y, NodeSpan base, NodeSpan, double* gains) {
    if (!columns_.invert_family(y, base)) refuse(y, base);
    const int size = size_of(base);
    for (int i = 0; i < size; i++)
        gains[i] = columns_.cross(i) * columns_.cross(i) / (columns_.own() * columns_.diagonal(i));
    if (!take_logs(gains, size, data_->half, data_->per_parent)) refuse(y, base);
}

double Gaussian::family(Node y, NodeSpan base) {
    if (!columns_.factor_family(y, base)) refuse(y, base);
    return data_->half * std::log(columns_.space().weight[base.size()]) -
           data_->per_parent * static_cast<double>(base.size());
}

// -- BGe -------------------------------------------------------------------------------------------

void BGe::keep_varied(NodeSpan base) {
    varied_.clear();
    for (Node x : base)
        if (!is_constant(x)) varied_.push_back(x);
}

// Return the gain of column c of the block that was solved last.
void BGe::inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also, double* also_gains,
                  std::vector<Gain>& out) {
    const Data& data = *data_;
    const int n = static_cast<int>(data.matrix.n);
    if (is_constant(y)) {  // all inserts are worth the same
        for (std::size_t i = 0; i < also.size(); i++) also_gains[i] = data.isolated;
        for (Node x = 0; data.isolated > worth && x < n; x++)
            if (x != y && !std::binary_search(base.begin(), base.end(), x) &&
                (among.empty() || std::binary_search(among.begin(), among.end(), x)))
                out.push_back({x, data.isolated});
        return;
    }
    keep_varied(base);
    const int varied = size_of(varied_);
    if (!columns_.prepare(y, varied_)) refuse(y, base);
    // A gain is offset - half_spread[x] - power log(1 - ρ²) - ½ log var(x | base).
    const double power = (data.freedom + varied + 2) / 2;
    const double offset = data.by_size[varied + 2] - data.by_size[varied + 1] - data.half_spread[y] -
                          std::log(columns_.residual()) / 2;
    const double cut =
        worth == -NEVER ? NEVER : offset - worth + MARGIN * (std::fabs(offset) + std::fabs(worth));
    const double *half_spread = data.half_spread.data(), *explained = columns_.space().explained.data(),
                 *left = columns_.space().left.data();
    const auto exact = [&](int begin, int c) {
        const double spread = half_spread[begin + c];
        if (std::isnan(spread)) return data.isolated;
        const double lost = std::log1p(explained[c] / -left[c]);
        const double found = offset - spread - power * lost - std::log(left[c]) / 2;
        if (!std::isfinite(found)) refuse(y, base, begin + c);
        return found;
    };
    std::size_t asked = 0;
    for (int begin = 0, width; begin < n; begin += width) {
        width = columns_.explain_block(varied, begin);
        mark_bge(columns_.space(), width, cut, data.half_spread.data() + begin, power);
        columns_.unmark(y, base, begin, width);
        each_marked(columns_.space(), among, begin, width, [&](int c) {
            const double found = exact(begin, c);
            if (found > worth) out.push_back({begin + c, found});
        });
        for (; asked < also.size() && also[asked] < begin + width; asked++)
            also_gains[asked] = exact(begin, also[asked] - begin);
    }
}

void BGe::deletes(Node y, NodeSpan base, NodeSpan, double* gains) {
    const Data& data = *data_;
    varied_.clear();
    if (!is_constant(y)) keep_varied(base);
    const int varied = size_of(varied_);
    if (!columns_.invert_family(y, varied_)) refuse(y, base);
    const double power = (data.freedom + varied + 1) / 2;
    const double offset = data.by_size[varied] - data.by_size[varied + 1] + data.half_spread[y] -
                          std::log(columns_.own()) / 2;
    for (std::size_t i = 0, at = 0; i < base.size(); i++) {
        if (at == varied_.size() || varied_[at] != base[i]) {
            gains[i] = -data.isolated;
            continue;
        }
        const int k = static_cast<int>(at++);
        const double lost =
            std::log1p(columns_.cross(k) * columns_.cross(k) / -(columns_.own() * columns_.diagonal(k)));
        gains[i] = offset + data.half_spread[base[i]] - std::log(columns_.diagonal(k)) / 2 + (power - 1) * lost;
        if (!std::isfinite(gains[i])) refuse(y, base, base[i]);
    }
}

}  // namespace sges
