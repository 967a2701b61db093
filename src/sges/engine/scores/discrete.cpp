#include "discrete.hpp"

#include <algorithm>
#include <limits>

namespace sges {

using namespace counting;

namespace {

constexpr std::int64_t MOST_TERMS = 1 << 16;         // terms of counts below this are looked up
constexpr std::size_t BYTES_OF_TERMS = 1 << 25;      // memory for tables of terms
constexpr double HUGE_COUNT = 1e290;                 // configurations are cut off here in penalties

std::uint64_t power_of_two(std::uint64_t least) {
    std::uint64_t power = 2;
    while (power < least) power *= 2;
    return power;
}

}  // namespace

Discrete::Discrete(std::shared_ptr<const Table> table) : table_(std::move(table)) {
    const Table& t = *table_;
    const std::size_t rows = t.rows, kinds = t.kind_arities.size() + 1;
    most_numbers_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(2 * rows, 256, 1 << 24));
    const std::size_t places = power_of_two(2 * rows), most = most_numbers_;
    index_keys_.resize(places);
    index_numbers_.resize(places);
    for (auto* some : {&keys_, &names_}) some->resize(rows);
    counts_.resize(std::max<std::size_t>({t.most_levels, most, STRIPES * STRIPED_SIZE}));
    for (auto* some : {&numbers_, &rows_, &chosen_, &by_level_, &level_, &example_, &sorted_}) some->resize(rows);
    for (auto* some : {&start_, &first_, &other_start_, &other_first_}) some->resize(rows + 1);
    for (auto* some : {&held_, &total_}) some->resize(rows);
    terms_.resize(kinds);
    log_alpha_.resize(kinds);
    single_.resize(kinds);
    wanted_.resize(t.n);
    gains_.resize(t.n);
    costs_.resize(t.n);
    for (auto* some : {&tally_counts_, &margin_counts_}) some->resize(t.most_levels);
    for (auto* some : {&tally_used_, &margin_used_}) some->resize(t.most_levels);
    for (auto* some : {&records_, &rest_}) some->resize(most);
    numbering_.columns = t.columns.data();
    numbering_.index = {index_keys_.data(), index_numbers_.data()};
    numbering_.keys = keys_.data();
    cells_ = {rows_.data(),  start_.data(),  first_.data(), held_.data(), total_.data(),
              t.weights,     chosen_.data(), 0,             0};
    tally_ = {tally_counts_.data(), tally_used_.data(), 0};
    margin_ = {margin_counts_.data(), margin_used_.data(), 0};
    const Term entropy{t.entropies.data(), static_cast<std::int64_t>(t.entropies.size()), -1, t.unit};
    for (Terms& terms : terms_) terms = {entropy, entropy};
}

void Discrete::must_be_finite(Node y, NodeSpan base, Node x, double gain) const {
    if (!std::isfinite(gain)) throw BadGain{y, {base.begin(), base.end()}, x, gain};
}

// -- the rows, by configuration and level ----------------------------------------------------------

// Number the configurations of the parents of all rows; return a bound of the numbers.
std::uint32_t Discrete::number_configurations(NodeSpan base) {
    numbering_.rows = nullptr;
    numbering_.count = table_->rows;
    numbering_.most = most_numbers_;
    return number_rows(&numbering_, base.data(), static_cast<int>(base.size()), numbers_.data());
}

// Sort the rows by configuration of the base and level of y.
void Discrete::sort_cells(Node y, NodeSpan base) {
    const Column* column = &table_->columns[y];
    const std::uint32_t rows = table_->rows, bound = number_configurations(base);
    if (std::uint64_t{bound} * column->levels <= most_numbers_) {
        add_digit(numbers_.data(), rows, column);
        cells_.configurations = sort_rows(numbers_.data(), rows, bound * column->levels, column->levels,
                                          counts_.data(), cells_.rows, cells_.start, cells_.first);
    } else {
        std::fill(level_.begin(), level_.end(), 0);
        add_digit(level_.data(), rows, column);
        sort_rows(level_.data(), rows, column->levels, column->levels, counts_.data(), by_level_.data(),
                  other_start_.data(), other_first_.data());
        cells_.configurations = sort_again(by_level_.data(), column, numbers_.data(), rows, bound, counts_.data(),
                                           cells_.rows, cells_.start, cells_.first);
    }
    count_records();
}

// Count the records of the cells, and choose the configurations that depend on the candidate.
void Discrete::count_records() {
    Cells& cells = cells_;
    largest_ = 0;
    cells.choices = 0;
    for (std::uint32_t j = 0; j < cells.configurations; j++) {
        std::int64_t total = 0;
        for (std::uint32_t cell = cells.first[j]; cell < cells.first[j + 1]; cell++) {
            std::int64_t held = cells.start[cell + 1] - cells.start[cell];
            if (cells.weights) {
                held = 0;
                for (std::uint32_t i = cells.start[cell]; i < cells.start[cell + 1]; i++)
                    held += cells.weights[cells.rows[i]];
            }
            cells.held[cell] = held;
            total += held;
        }
        cells.total[j] = total;
        largest_ = std::max(largest_, total);
        // Candidates do not split a single row, and for BIC one level of y contributes nothing.
        cells.chosen[cells.choices] = j;
        cells.choices += table_->is_bdeu
                             ? cells.start[cells.first[j + 1]] - cells.start[cells.first[j]] > 1
                             : cells.first[j + 1] - cells.first[j] > 1;
    }
}

// -- the formulas: terms, constants and penalty ----------------------------------------------------

// Describe y with the parents in base, except the one at `without`.
Discrete::Family Discrete::family_of(Node y, NodeSpan base, int without) const {
    Family family{y, 1.0, 0.0};
    for (int i = 0; i < static_cast<int>(base.size()); i++)
        if (i != without) {
            family.q *= table_->arities[base[i]];
            family.log_q += std::log(table_->arities[base[i]]);
        }
    if (family.q < 1e300) family.log_q = std::log(family.q);
    return family;
}

// Find the terms of a family with one more parent of this arity; those of BIC are all the same.
void Discrete::find_terms(const Family& family, double arity, int kind) {
    if (!table_->is_bdeu) return;
    log_alpha_[kind] = std::log(table_->ess) - family.log_q - std::log(arity);
    find_rising(table_->ess / (family.q * arity), terms_[kind].configuration);
    find_rising(table_->ess / (family.q * arity * table_->arities[family.y]), terms_[kind].cell);
}

// Add the constants of BDeu.  With α = a / q, a configuration that holds records has G(n, α) = its
// term + ln α, and a cell has G(n, α / r) = its term + ln α − ln r.  The numbers of both are subtracted
// first, because the logarithms may be large and nearly cancel.
double Discrete::value_of(Node y, const Sum& sum, int kind) const {
    if (!table_->is_bdeu) return sum.total;
    return sum.total - static_cast<double>(sum.cells) * std::log(table_->arities[y]) +
           static_cast<double>(sum.cells - sum.configurations) * log_alpha_[kind];
}

// Return the penalty of one more parent of this arity: BDeu has none.
double Discrete::cost_of(const Family& family, double arity) const {
    if (!table_->regrets.empty()) return regret_of(family, arity) - regret_of(family, 1);
    const double more = arity > 1 ? std::min(family.q * (arity - 1), HUGE_COUNT) : 0;
    return table_->price * (table_->arities[family.y] - 1) * more;
}

// Return the regret of a family with one more parent of this arity, beyond that of its parents.
double Discrete::regret_of(const Family& family, double arity) const {
    const double q = std::min(family.q * arity, HUGE_COUNT);
    return regret(q * table_->arities[family.y]) - regret(q);
}

// Return the regret of a multinomial, as `sges.score.discrete` does.
double Discrete::regret(double categories) const {
    if (categories <= static_cast<double>(table_->regrets.size()))
        return table_->regrets[static_cast<std::size_t>(categories) - 1];
    const double alpha = categories / table_->records;
    const double side = std::sqrt(alpha), root = std::sqrt(alpha + 4);
    const double log_c = std::log1p(2 / (alpha + side * root)), inverse = 2 * side / (side + root);
    return table_->records * (2 * std::asinh(side / 2) + alpha * log_c - inverse) -
           0.5 * std::log(1 / inverse + 2 / alpha);
}

// Look up ln Γ(n + alpha) − ln Γ(1 + alpha), and extend its table to the largest count.
void Discrete::find_rising(double alpha, Term& term) {
    Rising& rising = risings_[alpha];
    const std::int64_t needed = std::min(std::max<std::int64_t>(largest_, 255) + 1, MOST_TERMS);
    if (static_cast<std::int64_t>(rising.values.size()) < needed) {
        const auto room = static_cast<std::size_t>(
            std::min(std::max(needed, 2 * static_cast<std::int64_t>(rising.values.size())), MOST_TERMS));
        rising_bytes_ += (room - rising.values.size()) * sizeof(double);
        rising.values.resize(room);
    }
    if (rising.known < needed) {
        extend_rising(rising.values.data(), rising.known, needed, alpha, table_->unit, &rising.carry);
        rising.known = needed;
    }
    // Not the whole table: a gain must not depend on what was computed before.
    term = {rising.values.data(), needed, alpha, table_->unit};
}

void Discrete::forget_terms_if_many() {
    if (rising_bytes_ < BYTES_OF_TERMS) return;
    risings_.clear();
    rising_bytes_ = 0;
}

// -- inserts ---------------------------------------------------------------------------------------

void Discrete::inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also, double* also_gains,
                       std::vector<Gain>& out) {
    const Table& t = *table_;
    const Family family = family_of(y, base, -1);
    sort_cells(y, base);
    find_all_terms(family);
    const double before = value_as_is(y);
    for (Node x = 0; x < t.n; x++)  // the penalties, once for all candidates with as many levels
        costs_[x] = t.same_arity[x] < x ? costs_[t.same_arity[x]] : cost_of(family, t.arities[x]);
    choose_candidates(family, base, among, before, worth, also);
    sum_blocks(y);
    for (int x : t.alone)
        if (wanted_[x])
            set_value(y, x, sum_column(&cells_, &t.columns[x], &terms_[t.kinds[x]], &tally_, &margin_));
    for (Node x = 0; x < t.n; x++) {
        if (!wanted_[x]) continue;
        gains_[x] = gains_[x] - before - costs_[x];
        must_be_finite(y, base, x, gains_[x]);
        if (gains_[x] > worth) out.push_back({x, gains_[x]});
    }
    for (std::size_t i = 0; i < also.size(); i++) also_gains[i] = gains_[also[i]];
}

// Find the terms of a family with each kind of candidate and, after them, of it as it is.
void Discrete::find_all_terms(const Family& family) {
    forget_terms_if_many();
    const int kinds = table_->kind_count();
    for (int kind = 0; kind < kinds; kind++) {
        find_terms(family, table_->kind_arities[kind], kind);
        if (table_->is_bdeu) single_[kind] = sum_single_rows(&cells_, &terms_[kind]);
    }
    find_terms(family, 1, kinds);
}

double Discrete::value_as_is(Node y) {
    const int kind = table_->kind_count();
    return value_of(y, sum_cells(&cells_, &terms_[kind]), kind);
}

// Mark the candidates that may exceed `worth`, and those whose gains are needed anyway.
void Discrete::choose_candidates(const Family& family, NodeSpan base, NodeSpan among, double before,
                                 double worth, NodeSpan also) {
    std::fill(wanted_.begin(), wanted_.end(), among.empty());
    for (Node x : among) wanted_[x] = 1;
    if (!table_->is_bdeu && worth > -std::numeric_limits<double>::infinity())
        for (Node x = 0; x < table_->n; x++)  // the likelihood of y cannot rise above 1
            wanted_[x] = wanted_[x] && -before - costs_[x] > worth;
    for (Node x : also) wanted_[x] = 1;
    for (Node x : base) wanted_[x] = 0;
    wanted_[family.y] = 0;
}

// Find the values of the candidates that are counted together.
void Discrete::sum_blocks(Node y) {
    const Table& t = *table_;
    for (std::size_t b = 0; b < t.blocks.size(); b++) {
        const int* lanes = t.lanes.data() + b * LANES;
        const bool any = std::any_of(lanes, lanes + LANES, [&](int x) { return x >= 0 && wanted_[x]; });
        if (!any) continue;
        Sums sums;
        sum_block(&t.blocks[b], &cells_, terms_.data(), t.is_bdeu, t.in_vectors, &sums);
        for (int k = 0; k < LANES; k++)
            if (lanes[k] >= 0) set_value(y, lanes[k], {sums.total[k], sums.cells[k], sums.configurations[k]});
    }
}

// Keep the value of a family with x, from the sum over the chosen configurations.
void Discrete::set_value(Node y, Node x, Sum sum) {
    const int kind = table_->kinds[x];
    sum.total += single_[kind].total;
    sum.cells += single_[kind].cells;
    sum.configurations += single_[kind].configurations;
    gains_[x] = value_of(y, sum, kind);
}

// -- deletes ---------------------------------------------------------------------------------------

void Discrete::deletes(Node y, NodeSpan base, NodeSpan, double* gains) {
    const std::uint32_t numbers = numbers_of(y, base);
    forget_terms_if_many();
    if (numbers > 0)
        delete_from_table(y, base, numbers, gains);
    else
        delete_from_cells(y, base, gains);
    for (std::size_t i = 0; i < base.size(); i++) must_be_finite(y, base, base[i], gains[i]);
}

double Discrete::family(Node y, NodeSpan base) {
    forget_terms_if_many();
    double total = value(y, base) - value(y, {});
    for (std::size_t k = 0; k < base.size(); k++)
        total -= cost_of(family_of(y, base.first(k), -1), table_->arities[base[k]]);
    return total;
}

double Discrete::value(Node y, NodeSpan base) {
    const std::uint32_t numbers = numbers_of(y, base);
    return numbers > 0 ? value_from_table(y, base, numbers) : value_from_cells(y, base);
}

// Return the size of the table of a family, or 0 if that would be too large.
std::uint32_t Discrete::numbers_of(Node y, NodeSpan base) const {
    double numbers = table_->columns[y].levels;
    for (Node x : base) numbers *= table_->columns[x].levels;
    return numbers <= most_numbers_ ? static_cast<std::uint32_t>(numbers) : 0;
}

// Count the whole table.
double Discrete::value_from_table(Node y, NodeSpan base, std::uint32_t numbers) {
    const Column* column = &table_->columns[y];
    number_configurations(base);
    add_digit(numbers_.data(), table_->rows, column);
    weigh_numbers(numbers_.data(), table_->rows, numbers, table_->weights, counts_.data(), records_.data());
    largest_ = largest_total(records_.data(), numbers, column->levels);
    find_terms(family_of(y, base, -1), 1, 0);
    return value_of(y, sum_table(records_.data(), numbers, column->levels, &terms_[0]), 0);
}

// Count the cells that occur.
double Discrete::value_from_cells(Node y, NodeSpan base) {
    sort_cells(y, base);
    find_terms(family_of(y, base, -1), 1, table_->kind_count());
    return value_as_is(y);
}

// Count the whole table, and add it up over the digit of each parent.
void Discrete::delete_from_table(Node y, NodeSpan base, std::uint32_t numbers, double* gains) {
    const std::uint32_t levels = table_->columns[y].levels;
    std::uint32_t after = numbers;
    const double before = value_from_table(y, base, numbers);
    for (int i = 0; i < static_cast<int>(base.size()); i++) {
        const std::uint32_t digit = table_->columns[base[i]].levels;
        after /= digit;
        leave_out(records_.data(), numbers, digit, after, rest_.data());
        find_terms(family_of(y, base, i), 1, 0);
        gains[i] = delete_gain(y, base, i, before, sum_table(rest_.data(), numbers / digit, levels, &terms_[0]));
    }
}

double Discrete::delete_gain(Node y, NodeSpan base, int i, double before, const Sum& sum) const {
    return value_of(y, sum, 0) - before + cost_of(family_of(y, base, i), table_->arities[base[i]]);
}

// The table would be too large.  So name the configurations that occur, in mixed radix: without a
// parent, those are one whose names agree without its digit.  Where the digits of all parents do not fit
// into a name, it has those of some, and a number for the levels of all others.
void Discrete::delete_from_cells(Node y, NodeSpan base, double* gains) {
    const Table& t = *table_;
    const double before = value_from_cells(y, base);
    for (std::uint32_t j = 0; j < cells_.configurations; j++)
        example_[j] = cells_.rows[cells_.start[cells_.first[j]]];
    for (std::uint32_t cell = 0; cell < cells_.first[cells_.configurations]; cell++)
        level_[cell] = level_of(&t.columns[y], cells_.rows[cells_.start[cell]]);
    double all = 1;
    for (Node x : base) all *= t.columns[x].levels;
    const std::uint64_t longest = std::uint64_t{1} << (all < 4e18 ? 62 : 32);  // the digits in a name
    for (std::size_t begin = 0, end; begin < base.size(); begin = end) {
        std::uint64_t product = 1;
        for (end = begin; end < base.size() && product * t.columns[base[end]].levels <= longest; end++)
            product *= t.columns[base[end]].levels;
        name_configurations(base, begin, end);
        for (std::size_t i = begin; i < end; i++) {
            product /= t.columns[base[i]].levels;
            const std::uint32_t groups = merge_configurations(base[i], product);
            find_terms(family_of(y, base, static_cast<int>(i)), 1, 0);
            gains[i] = delete_gain(y, base, static_cast<int>(i), before,
                                   sum_merged(&cells_, level_.data(), sorted_.data(), other_start_.data(), groups,
                                              &terms_[0], &tally_));
        }
    }
}

// Name the configurations by the parents outside begin..end, and a digit for each one inside.
void Discrete::name_configurations(NodeSpan base, std::size_t begin, std::size_t end) {
    const std::uint32_t count = cells_.configurations;
    others_.assign(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(begin));
    others_.insert(others_.end(), base.begin() + static_cast<std::ptrdiff_t>(end), base.end());
    numbering_.rows = example_.data();
    numbering_.count = count;
    number_rows(&numbering_, others_.data(), static_cast<int>(others_.size()), numbers_.data());
    for (std::uint32_t j = 0; j < count; j++) names_[j] = numbers_[j];
    for (std::size_t i = begin; i < end; i++) {
        const Column* column = &table_->columns[base[i]];
        for (std::uint32_t j = 0; j < count; j++)
            names_[j] = names_[j] * column->levels + level_of(column, example_[j]);
    }
}

// Sort the configurations into groups that agree without x, whose digit in a name is worth this much;
// return how many there are.
std::uint32_t Discrete::merge_configurations(Node x, std::uint64_t worth) {
    const Column* column = &table_->columns[x];
    const std::uint32_t count = cells_.configurations;
    for (std::uint32_t j = 0; j < count; j++) keys_[j] = names_[j] - level_of(column, example_[j]) * worth;
    const std::uint32_t groups = number_keys(keys_.data(), count, &numbering_.index, numbers_.data());
    return sort_rows(numbers_.data(), count, groups, 1, counts_.data(), sorted_.data(), other_start_.data(),
                     other_first_.data());
}

void number_distinct(const std::vector<Column>& columns, std::uint32_t rows, std::uint32_t* numbers) {
    const std::size_t places = power_of_two(2 * std::uint64_t{rows});
    std::vector<std::uint64_t> index_keys(places), keys(rows);
    std::vector<std::uint32_t> index_numbers(places);
    Nodes all;
    for (std::size_t v = 0; v < columns.size(); v++) all.push_back(static_cast<Node>(v));
    Numbering work{columns.data(), nullptr, rows, 0, {index_keys.data(), index_numbers.data()}, keys.data()};
    number_rows(&work, all.data(), static_cast<int>(all.size()), numbers);
}

}  // namespace sges
