#include "blocks.hpp"

#include <cmath>
#include <limits>

namespace sges {

namespace {

constexpr double MARGIN = 1e-12;
constexpr double NEVER = std::numeric_limits<double>::infinity();

// Return log(det above / det below) of two symmetric matrices, both lower triangles, which are
// overwritten.  If the ratio exceeds `cut`, the logarithm is not taken: the result is 0.  It is not a
// number if a matrix is not positive definite.
double log_ratio(double* above, double* below, int width, double cut) {
    double logs = 0.0, ratio = 1.0;
    for (int j = 0; j < width; j++) {
        const double top = above[j * width + j], bottom = below[j * width + j];
        if (!(top > 0 && bottom > 0)) return std::numeric_limits<double>::quiet_NaN();
        ratio *= top / bottom;
        if (ratio < 1e-200) {
            logs += std::log(ratio);
            ratio = 1.0;
        }
        for (int i = j + 1; i < width; i++) {
            const double up = above[i * width + j] / top, down = below[i * width + j] / bottom;
            for (int k = j + 1; k <= i; k++) {
                above[i * width + k] -= up * above[k * width + j];
                below[i * width + k] -= down * below[k * width + j];
            }
        }
    }
    return logs == 0.0 && ratio > cut ? 0.0 : logs + std::log(ratio);
}

}  // namespace

Blocks::Blocks(std::shared_ptr<const Data> data) : data_(std::move(data)) {
    const std::size_t widest = data_->widest;
    const std::size_t block = widest * std::max<std::size_t>(widest, WIDEST);
    before_.resize(block);
    after_.resize(block);
    cuts_.resize(widest + 1);
    work_.resize(2 * widest * widest);
}

// Factor the columns of base and then of y; return how many base has.
int Blocks::factor_blocks(Node y, NodeSpan base) {
    int given = 0, rows = 0;
    for (Node x : base) given += data_->width(x);
    space_.reserve(given + data_->width(y), std::max(WIDEST, data_->widest));
    const auto list = [&](Node v) {
        for (int c = data_->starts[v]; c < data_->starts[v + 1]; c++) space_.nodes[rows++] = c;
    };
    for (Node x : base) list(x);
    list(y);
    if (!factor(data_->matrix, space_, rows))
        throw BadGain{y, {base.begin(), base.end()}, -1, std::numeric_limits<double>::quiet_NaN()};
    return given;
}

// Solve for the columns of some variables from `first` on; return the next variable.
Node Blocks::solve_variables(Node first, int given, int rows) {
    const auto& starts = data_->starts;
    const int step = columns_at_a_time(rows);
    int widest = data_->width(first);
    Node end = first + 1;
    begin_ = starts[first];
    for (; end < n() && starts[end + 1] - begin_ <= step; end++) widest = std::max(widest, data_->width(end));
    width_ = starts[end] - begin_;
    solve_columns(data_->matrix, space_, rows, begin_, width_);
    for (int shift = 0; shift < widest; shift++)
        for (Node v = first; v < end; v++) {
            const Node left = v;  // variables side by side that are wide enough are done together
            while (v < end && data_->width(v) > shift) v++;
            if (v == left) continue;
            const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(shift) * width_;
            covariances(space_, given, rows, width_, shift, starts[left] - begin_, starts[v] - begin_ - shift,
                        before_.data() + row, after_.data() + row);
        }
    return end;
}

// Return by how much y reduces the log-determinant of x given base, or 0 if by too little.
double Blocks::lost(Node x, double cut) {
    const int width = data_->width(x), c = data_->starts[x] - begin_;
    if (width == 1) return log_ratio(&after_[c], &before_[c], 1, cut);
    double *after = work_.data(), *before = after + static_cast<std::ptrdiff_t>(width) * width;
    const double *from_after = after_.data() + c, *from_before = before_.data() + c;
    const int stride = width_;
    for (int i = 0; i < width; i++)
        for (int j = 0; j <= i; j++) {
            const int at = (i - j) * stride + j;
            after[i * width + j] = from_after[at];
            before[i * width + j] = from_before[at];
        }
    return log_ratio(after, before, width, cut);
}

void Blocks::inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also, double* also_gains,
                     std::vector<Gain>& out) {
    const Data& data = *data_;
    const int given = factor_blocks(y, base), own = data.width(y);
    for (int w = 1; w <= data.widest; w++) {
        const double needed = (worth + data.per_parameter * own * w) / data.half;
        cuts_[w] = needed > 0 ? std::exp(-needed) * (1.0 + MARGIN) : NEVER;
    }
    std::size_t at = 0, asked = 0;
    for (Node x = 0, end = 0; x < n(); x++) {
        if (x == end) end = solve_variables(x, given, given + own);
        if (at < base.size() && base[at] == x) {
            at++;
            continue;
        }
        if (x == y) continue;
        const bool is_asked = asked < also.size() && also[asked] == x;
        const bool is_candidate = among.empty() || std::binary_search(among.begin(), among.end(), x);
        if (!is_asked && !is_candidate) continue;
        const int width = data.width(x);
        const double gain =
            lost(x, is_asked ? NEVER : cuts_[width]) * -data.half - data.per_parameter * own * width;
        if (!std::isfinite(gain)) throw BadGain{y, {base.begin(), base.end()}, x, gain};
        if (gain > worth && is_candidate) out.push_back({x, gain});
        if (is_asked) also_gains[asked++] = gain;
    }
}

// With M the inverse of the factor, M'M is the inverse; its first rows are those of base.
void Blocks::deletes(Node y, NodeSpan base, NodeSpan, double* gains) {
    const Data& data = *data_;
    const int given = factor_blocks(y, base), own = data.width(y);
    invert(space_, given + own, space_.inverse.data(), space_.stride);
    int place = 0;
    for (std::size_t i = 0; i < base.size(); i++) {
        const int width = data.width(base[i]);
        double *without = work_.data(), *with_y = without + static_cast<std::ptrdiff_t>(width) * width;
        add_products(place, width, place, given, without, nullptr);
        add_products(place, width, given, given + own, with_y, without);
        gains[i] = log_ratio(without, with_y, width, NEVER) * data.half + data.per_parameter * own * width;
        place += width;
        if (!std::isfinite(gains[i])) throw BadGain{y, {base.begin(), base.end()}, base[i], gains[i]};
    }
}

// Write start + the products of columns of L⁻¹, over some of its rows, as a lower triangle.
void Blocks::add_products(int place, int width, int begin, int end, double* sums, const double* start) const {
    for (int i = 0; i < width; i++)
        for (int j = 0; j <= i; j++) sums[i * width + j] = start ? start[i * width + j] : 0.0;
    for (int row = begin; row < end; row++) {
        const double* entries = space_.inverse.data() + static_cast<std::ptrdiff_t>(row) * space_.stride + place;
        for (int i = 0; i < width; i++)
            for (int j = 0; j <= i; j++) sums[i * width + j] += entries[i] * entries[j];
    }
}

}  // namespace sges
