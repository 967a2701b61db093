// The only file that knows Python: scores, and the search.
//
// Every node, size and length is checked here.  The search runs without the GIL, which is taken where
// Python code is called: a score in Python, progress, signals, and a caller's own constraint or property.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <thread>

#include "improve.hpp"
#include "scores/blocks.hpp"
#include "scores/discrete.hpp"
#include "scores/gaussian.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace sges;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An argument that cannot be used: InvalidArgument in Python.
struct Refused {
    std::string message;
};

void require(bool good, const std::string& message) {
    if (!good) throw Refused{message};
}

Nodes checked_nodes(const Nodes& some, int n) {
    for (Node v : some) require(0 <= v && v < n, "a node is out of range");
    return some;
}

// Return parents of y sorted.
Nodes checked_family(int n, Node y, Nodes parents) {
    require(0 <= y && y < n, "a node is out of range");
    for (Node x : parents) require(0 <= x && x < n && x != y, "a parent is out of range");
    sort_nodes(parents);
    require(std::adjacent_find(parents.begin(), parents.end()) == parents.end(), "a parent counts once");
    return parents;
}

// -- scores ----------------------------------------------------------------------------------------

// A score that Python made, with what its data belong to; each search uses a clone.
struct AnyScore {
    std::shared_ptr<Score> score;
    std::vector<nb::object> owners;

    std::unique_ptr<Score> clone() const { return score->clone(); }
};

template <class T>
std::vector<T> copied(const Array<T>& from) {
    return {from.data(), from.data() + from.size()};
}

Matrix matrix_of(const nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>& array) {
    const bool is_single = array.dtype() == nb::dtype<float>();
    require(is_single || array.dtype() == nb::dtype<double>(), "a matrix must be of float64 or float32");
    require(array.ndim() == 2 && array.shape(0) == array.shape(1) && array.shape(0) > 0 &&
                array.shape(0) < (1u << 30),
            "a matrix must be square and not empty");
    const Matrix matrix{array.data(), static_cast<std::ptrdiff_t>(array.shape(0)), is_single};
    std::ptrdiff_t row = -1, column = -1;
    find_flaw(matrix, row, column);
    require(row < 0, "entry (" + std::to_string(row) + ", " + std::to_string(column) +
                         ") of a matrix: it must be symmetric, with a unit diagonal and entries from -1 to 1");
    return matrix;
}

using AnyMatrix = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

AnyScore make_gaussian(AnyMatrix array, double half, double per_parent) {
    require(half > 0 && std::isfinite(half), "half must be a finite number above 0");
    require(per_parent >= 0 && std::isfinite(per_parent), "per_parent must be a finite number, 0 or more");
    const auto data = std::make_shared<Gaussian::Data>(Gaussian::Data{matrix_of(array), half, per_parent});
    return {std::make_shared<Gaussian>(data), {nb::cast(array)}};
}

AnyScore make_bge(AnyMatrix array, Array<double> spread, Array<double> by_size, double freedom, double isolated,
                  const Nodes& constant) {
    const Matrix matrix = matrix_of(array);
    const auto n = static_cast<std::size_t>(matrix.n);
    require(spread.size() == n && by_size.size() == n + 2, "spread or by_size has another length");
    require(freedom > 0 && std::isfinite(freedom) && std::isfinite(isolated), "freedom or isolated is not finite");
    auto data = std::make_shared<BGe::Data>(BGe::Data{matrix, copied(spread), copied(by_size), freedom, isolated});
    for (double& each : data->half_spread) require(std::isfinite(each), "spread must be finite"), each /= 2;
    for (Node v : checked_nodes(constant, static_cast<int>(n))) data->half_spread[v] = std::nan("");
    return {std::make_shared<BGe>(data), {nb::cast(array)}};
}

AnyScore make_blocks(AnyMatrix array, const std::vector<int>& widths, double half, double per_parameter) {
    auto data = std::make_shared<Blocks::Data>(Blocks::Data{matrix_of(array), {0}, half, per_parameter});
    require(!widths.empty() && half > 0 && std::isfinite(half) && per_parameter >= 0 && std::isfinite(per_parameter),
            "widths, half or per_parameter cannot be used");
    for (int width : widths) {
        require(1 <= width && width <= data->matrix.n - data->starts.back(),
                "the widths of the variables must be at least 1 and add up to the columns of the matrix");
        data->starts.push_back(data->starts.back() + width);
        data->widest = std::max(data->widest, width);
    }
    require(data->starts.back() == data->matrix.n,
            "the widths of the variables must be at least 1 and add up to the columns of the matrix");
    for (Node v = 0; v < static_cast<Node>(widths.size()); v++)
        for (int i = data->starts[v]; i < data->starts[v + 1]; i++)
            for (int j = data->starts[v]; j < i; j++)
                require(data->matrix.at(i, j) == 0, "columns of one variable must be uncorrelated");
    return {std::make_shared<Blocks>(data), {nb::cast(array)}};
}

// Point at columns of one or four bytes per row.
std::vector<counting::Column> columns_of(const nb::list& columns, const std::vector<int>& levels,
                                         std::uint32_t& rows, std::vector<nb::object>& owners) {
    std::vector<counting::Column> found;
    require(columns.size() == levels.size(), "there are other columns than levels");
    for (std::size_t v = 0; v < levels.size(); v++) {
        nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> array;
        require(nb::try_cast(columns[v], array), "a column must be an array of codes");
        const bool is_narrow = array.dtype() == nb::dtype<std::uint8_t>();
        require(is_narrow || array.dtype() == nb::dtype<std::uint32_t>(), "codes must take one or four bytes");
        require(array.size() > 0 && array.size() < 0xffffffffu && (v == 0 || array.size() == rows),
                "columns must have the same number of rows");
        rows = static_cast<std::uint32_t>(array.size());
        require(levels[v] >= 1, "a variable has at least one level");
        const counting::Column column{array.data(), static_cast<std::uint32_t>(levels[v]), is_narrow ? 1 : 4};
        for (std::uint32_t i = 0; i < rows; i++)
            require(counting::level_of(&column, i) < column.levels, "a code is not below the number of levels");
        found.push_back(column);
        owners.push_back(nb::cast(array));  // it may be a copy
    }
    return found;
}

nb::object number_rows_of(const nb::list& columns, const std::vector<int>& levels) {
    std::vector<nb::object> owners;
    std::uint32_t rows = 0;
    const auto found = columns_of(columns, levels, rows, owners);
    auto* numbers = new std::vector<std::uint32_t>(rows);
    nb::capsule owner(numbers, [](void* p) noexcept { delete static_cast<std::vector<std::uint32_t>*>(p); });
    number_distinct(found, rows, numbers->data());
    return nb::cast(nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>>(numbers->data(), {rows}, owner));
}

// `blocks` are arrays with a row of 32 bytes per row of the table; `lanes` the columns in them, or -1.
AnyScore make_discrete(const std::string& kind, const nb::list& columns, const std::vector<int>& levels,
                       Array<double> arities, std::optional<Array<std::int64_t>> weights, const nb::list& blocks,
                       Array<std::int32_t> lanes, Array<std::int32_t> kinds, Array<std::int32_t> depth,
                       Array<std::int32_t> alone, Array<std::int32_t> kind_of, Array<double> kind_arities,
                       double setting, double records, double unit, Array<double> regrets, bool in_vectors) {
    auto table = std::make_shared<Table>();
    AnyScore made;
    Table& t = *table;
    t.columns = columns_of(columns, levels, t.rows, made.owners);
    t.n = static_cast<int>(levels.size());
    const std::size_t n = levels.size();
    require(arities.size() == n && kind_of.size() == n && kind_arities.size() > 0, "arities do not fit the columns");
    require(!weights || weights->size() == t.rows, "there must be a weight for each row");
    require(lanes.size() == blocks.size() * counting::LANES && kinds.size() == blocks.size() * counting::LANES / 4 &&
                depth.size() == kinds.size(),
            "the blocks do not fit together");
    t.weights = weights ? weights->data() : nullptr;
    if (weights) made.owners.push_back(nb::cast(*weights));
    t.arities = copied(arities);
    t.lanes.assign(lanes.data(), lanes.data() + lanes.size());
    t.block_kinds.assign(kinds.data(), kinds.data() + kinds.size());
    t.block_depth.assign(depth.data(), depth.data() + depth.size());
    t.alone.assign(alone.data(), alone.data() + alone.size());
    t.kinds.assign(kind_of.data(), kind_of.data() + kind_of.size());
    t.kind_arities = copied(kind_arities);
    for (int count : levels) {
        require(static_cast<std::uint32_t>(count) <= t.rows, "levels must occur: there are more than rows");
        t.most_levels = std::max(t.most_levels, static_cast<std::uint32_t>(count));
    }
    for (std::size_t v = 0; v < n; v++)
        t.same_arity.push_back(static_cast<int>(
            std::find(t.arities.begin(), t.arities.end(), t.arities[v]) - t.arities.begin()));
    for (int k : t.kinds) require(0 <= k && k < t.kind_count(), "a kind is out of range");
    for (int k : t.block_kinds) require(0 <= k && k < t.kind_count(), "a kind is out of range");
    for (int v : t.lanes) require(-1 <= v && v < t.n, "a lane is out of range");
    for (int v : t.alone) require(0 <= v && v < t.n, "a column is out of range");
    for (std::size_t b = 0; b < blocks.size(); b++) {
        nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> codes;
        require(nb::try_cast(blocks[b], codes) && codes.shape(0) == t.rows && codes.shape(1) == counting::LANES, "a block has another shape");
        const int* own_depth = t.block_depth.data() + b * counting::LANES / 4;
        counting::Block block{codes.data(), t.block_kinds.data() + b * counting::LANES / 4, own_depth, 0, 0};
        for (int i = 0; i < counting::LANES / 4; i++) {
            block.fours += own_depth[i] > 0;
            block.levels = std::max(block.levels, own_depth[i]);
        }
        require(block.levels <= counting::MOST_LEVELS, "a block has too many levels");
        for (std::size_t i = 0; i < codes.size(); i++)
            require(codes.data()[i] < std::max(block.levels, 1), "a code of a block is too large");
        t.blocks.push_back(block);
        made.owners.push_back(nb::cast(codes));
    }
    require(unit > 0 && std::isfinite(unit) && std::isfinite(setting) && records > 0, "a setting is not finite");
    t.unit = unit;
    t.in_vectors = in_vectors && counting::has_vectors();
    t.is_bdeu = kind == "bdeu";
    t.regrets = copied(regrets);
    t.records = std::max(std::nearbyint(records * unit), 1.0);  // halves to even, as in Python
    if (t.is_bdeu) {
        t.ess = setting;
    } else {
        if (kind == "bic") t.price = setting / 2 * std::log(t.records);
        const auto known = static_cast<std::size_t>(std::min(records, 65535.0)) + 1;
        for (std::size_t i = 0; i < known; i++) {
            const double count = static_cast<double>(i);
            t.entropies.push_back(unit * (count * std::log(std::max(count, 1.0))));
        }
    }
    made.score = std::make_shared<Discrete>(table);
    return made;
}

// A score in Python: two functions that return gains, and one that returns the value of a family.
class PythonScore : public Score {
public:
    PythonScore(int n, nb::object inserts, nb::object deletes, nb::object family)
        : n_(n), inserts_(std::move(inserts)), deletes_(std::move(deletes)), family_(std::move(family)) {}
    ~PythonScore() override {
        nb::gil_scoped_acquire gil;
        inserts_.reset(), deletes_.reset(), family_.reset();
    }
    int n() const override { return n_; }
    bool is_costly() const override { return true; }
    std::unique_ptr<Score> clone() const override {
        nb::gil_scoped_acquire gil;
        return std::make_unique<PythonScore>(n_, inserts_, deletes_, family_);
    }
    void inserts(Node y, NodeSpan base, NodeSpan among, double, NodeSpan, double*, std::vector<Gain>& out) override {
        nb::gil_scoped_acquire gil;
        const auto gains = ask(inserts_, y, base, among);
        for (std::size_t i = 0; i < among.size(); i++) out.push_back({among[i], gains[i]});
    }
    void deletes(Node y, NodeSpan base, NodeSpan places, double* gains) override {
        nb::gil_scoped_acquire gil;
        Nodes xs;
        for (int i : places) xs.push_back(base[i]);
        const auto found = ask(deletes_, y, base, xs);
        for (std::size_t i = 0; i < places.size(); i++) gains[places[i]] = found[i];
    }
    double family(Node y, NodeSpan base) override {
        nb::gil_scoped_acquire gil;
        double value = 0.0;
        require(nb::try_cast(family_(y, Nodes(base.begin(), base.end())), value), "a score must be a number");
        return value;
    }

private:
    std::vector<double> ask(const nb::object& function, Node y, NodeSpan base, NodeSpan xs) const {
        std::vector<double> found;
        const auto given = function(y, Nodes(base.begin(), base.end()), Nodes(xs.begin(), xs.end()));
        require(nb::try_cast(given, found) && found.size() == xs.size(),
                "a score must return one number for each node that it was asked about");
        return found;
    }

    int n_;
    nb::object inserts_, deletes_, family_;
};

// -- the search ------------------------------------------------------------------------------------

Operator operator_of(int kind, Node x, Node y, Nodes set, double gain, int n) {
    require(0 <= kind && kind <= 2, "an operator is an insert, a delete or a turn");
    require(0 <= x && x < n && 0 <= y && y < n && x != y, "the nodes of an operator are two of the graph");
    for (Node v : set) require(0 <= v && v < n && v != x && v != y, "a node of a set is out of range");
    sort_nodes(set);
    return {static_cast<Move>(kind), x, y, std::move(set), gain};
}

std::shared_ptr<BitMatrix> rows_of(const nb::bytes& rows, int n) {
    auto matrix = std::make_shared<BitMatrix>(n, n);
    require(rows.size() == matrix->bytes(), "rows of bits have another size");
    if (rows.size()) std::memcpy((*matrix)[0].at, rows.c_str(), rows.size());
    for (Node v = 0; v < n; v++) {
        Bits every(n);
        BitRow(every).fill(n);
        every.take(v);
        require(Row((*matrix)[v]).is_inside(every), "a row of bits has a node that it may not have");
    }
    return matrix;
}

class Engine {
public:
    Engine(const AnyScore& score, double cost, const Nodes& block, std::optional<std::vector<Nodes>> candidates,
           bool counting, std::size_t limit)
        : search_(gains_of(score, cost, std::move(candidates), counting, limit), checked_block(score, block), nullptr),
          owners_(score.owners) {
        Run& run = search_.state().run;
        run.halted = &halted_;
        run.tick = [this] { tick(); };
        search_.state().warn_of_explosion = [this](Node y, int neighbors) {
            nb::gil_scoped_acquire gil;
            const nb::object call = on_explosion;
            if (!call.is_none()) call(y, neighbors);
        };
    }

    nb::object on_tick = nb::none(), on_explosion = nb::none();
    int n() const { return search_.graph().n(); }
    int stopped() const { return stopped_; }
    void set_stopped(int why) { stopped_ = why; }

    // Refuse what changes the state or reads what is not complete while the engine runs.  All is asked
    // and answered with the GIL.
    void must_rest() const {
        require(!busy_, "the engine is running: neither what it calls nor another thread may use it so");
    }
    // What the engine calls may look at the state; another thread may not.
    const Search& look() const {
        require(!busy_ || runner_ == std::this_thread::get_id(), "the engine is running in another thread");
        return search_;
    }
    Search& at_rest() {
        must_rest();
        return search_;
    }

    // Run a function of the search without the GIL; a stop ends it and is kept.
    template <class Work>
    bool run(Work work) {
        must_rest();
        if (stopped_) return false;
        struct Busy {
            bool& flag;
            ~Busy() { flag = false; }
        };
        runner_ = std::this_thread::get_id();
        busy_ = true;
        const Busy until_end{busy_};
        nb::gil_scoped_release released;
        try {
            work();
            return true;
        } catch (const Stop& stop) {
            stopped_ = stop.why;
        } catch (const std::bad_alloc&) {  // the state is the last complete one
            stopped_ = Stop::Memory;
        }
        return false;
    }

    void set_deadline(std::optional<double> seconds) {
        using namespace std::chrono;
        must_rest();
        require(!seconds || !std::isnan(*seconds), "a deadline must be a number of seconds");
        search_.state().run.deadline =
            seconds ? Run::Clock::now() + duration_cast<Run::Clock::duration>(
                                              duration<double>(std::clamp(*seconds, 0.0, 1e9)))
                    : Run::Clock::time_point::max();
    }
    void set_memory_limit(std::size_t bytes) { at_rest().state().run.most_bytes = bytes; }
    void halt() { halted_ = true; }

    void set_report(nb::object report) {
        must_rest();
        report_ = std::move(report);
        if (report_.is_none())
            search_.after_step = nullptr;
        else
            search_.after_step = [this] {
                nb::gil_scoped_acquire gil;
                report_(search_.steps().empty() ? 0 : search_.steps().back().phase);
            };
    }
    void set_filter(nb::object filter) {
        must_rest();
        filter_ = std::move(filter);
        search_.close();
        if (filter_.is_none())
            search_.state().is_consistent = nullptr;
        else
            search_.state().is_consistent = [this](const Operator& op) {
                nb::gil_scoped_acquire gil;
                struct Asking {
                    bool& flag;
                    ~Asking() { flag = false; }
                } asking{is_asking_filter_ = true};
                return truth_of(filter_(op.x, op.y, op.set));
            };
    }
    void set_knowledge(std::optional<std::tuple<nb::bytes, nb::bytes, nb::bytes>> rows, nb::object judge,
                       nb::object member) {
        must_rest();
        if (!rows) {
            search_.set_knowledge(nullptr);
            return;
        }
        auto knowledge = std::make_shared<Knowledge>();
        knowledge->barred = *rows_of(std::get<0>(*rows), n());
        knowledge->required = *rows_of(std::get<1>(*rows), n());
        knowledge->later = *rows_of(std::get<2>(*rows), n());
        for (Node v = 0; v < n(); v++)
            knowledge->has_order = knowledge->has_order || !std::as_const(knowledge->later)[v].is_empty();
        judge_ = std::move(judge);
        member_ = std::move(member);
        if (!judge_.is_none())
            knowledge->judge = [this] {
                nb::gil_scoped_acquire gil;
                return truth_of(judge_());
            };
        knowledge->member = [this](const Nodes& within) {
            nb::gil_scoped_acquire gil;
            std::vector<Nodes> found;
            require(nb::try_cast(member_(within), found) && found.size() == within.size(),
                    "a member must have parents for each node");
            for (Nodes& parents : found) parents = checked_nodes(parents, n());
            return found;
        };
        search_.set_knowledge(std::move(knowledge));
    }

    void start(const std::vector<std::tuple<Node, Node, int>>& edges, double total) {
        must_rest();
        require(std::isfinite(total), "the score of the start must be finite");
        std::vector<Edge> all;
        Pdag drawn(n());
        for (const auto& [u, v, kind] : edges) {
            require(0 <= u && u < n() && 0 <= v && v < n() && u != v && kind >= 1 && kind <= 3,
                    "an edge of the start is out of range");
            require(!search_.graph().in_block(v) && !(kind != TO && search_.graph().in_block(u)),
                    "an edge of the start leads into the block");
            require(drawn.kind(u, v) == NONE, "two nodes of the start have more than one edge");
            drawn.set_edge(u, v, kind);
            all.push_back({u, v, kind});
        }
        drawn.settle_levels();
        require(drawn.has_levels(), "the start has a semi-directed cycle through an arrow; it must be a CPDAG");
        search_.start(all, total);
    }
    bool climb(const Rules& rules, Climb how) {
        const auto good = [&](Node v) { return -1 <= v && v < n(); };
        require(good(how.bar_x) && good(how.bar_y) && (how.bar_x < 0) == (how.bar_y < 0), "a barred node is out of range");
        bool any = false;
        run([&] { any = search_.climb(rules, how); });
        return any;
    }
    std::tuple<long long, long long, long long, long long, bool, bool> improve(const Policy& policy) {
        Improve improve(at_rest(), policy);
        run([&] { improve.run(); });
        return {improve.tried, improve.improved, improve.shuffled, improve.shuffles_improved, improve.is_cut, improve.is_spent};
    }
    void go_to_best_order(const Policy& policy) {
        Improve improve(at_rest(), policy);
        run([&] {
            search_.state().rules = policy.rules;
            improve.go_to_best_order();
        });
    }
    // The nodes in an order that depends on the scores and not on their numbers.
    Nodes rank() {
        State& s = at_rest().state();
        run([&] { s.ranking = ranking_of(s); });
        s.rank.assign(s.ranking.size(), 0);
        for (std::size_t i = 0; i < s.ranking.size(); i++) s.rank[s.ranking[i]] = static_cast<int>(i);
        search_.close();
        return s.ranking;
    }
    void apply(int kind, Node x, Node y, const Nodes& set, double gain, int phase) {
        require(std::isfinite(gain), "the gain of an operator must be finite");
        at_rest().apply(checked_operator(kind, x, y, set, gain), phase);
    }
    bool admits(int kind, Node x, Node y, const Nodes& set) {
        return at_rest().admits(checked_operator(kind, x, y, set));
    }
    // Return the rows of the class to which an operator leads; a filter may ask.
    nb::tuple peek(int kind, Node x, Node y, const Nodes& set) {
        if (!is_asking_filter_) must_rest();
        look();
        nb::tuple found;
        search_.peek(checked_operator(kind, x, y, set), [&] { found = rows(); });
        return found;
    }
    // Where the edges of each node lead to and come from, as bytes of rows of bits.
    nb::tuple rows() const {
        const Cpdag& g = look().graph();
        BitMatrix out(n(), n()), into(n(), n());
        for (Node v = 0; v < n(); v++) {
            for (Node u : g.parents(v)) into[v].add(u), out[u].add(v);
            for (Node u : g.neighbors(v)) into[v].add(u), out[v].add(u);
        }
        const auto bytes = [&](BitMatrix& m) {
            return nb::bytes(n() ? reinterpret_cast<const char*>(m[0].at) : "", m.bytes());
        };
        return nb::make_tuple(bytes(out), bytes(into), words_for(n()) * 8);
    }
    std::vector<std::tuple<Node, Node, int>> edges() const {
        std::vector<std::tuple<Node, Node, int>> found;
        for (const Edge& each : look().graph().list_edges()) found.push_back({each.u, each.v, each.kind});
        return found;
    }
    nb::list steps(std::size_t from) const {
        nb::list found;
        for (std::size_t i = from; i < look().steps().size(); i++) {
            const Step& step = search_.steps()[i];
            found.append(nb::make_tuple(step.phase, static_cast<int>(step.op.kind), step.op.x, step.op.y,
                                        step.op.set, step.op.gain, step.total, step.edges));
        }
        return found;
    }
    void rewind(const Mark& mark) {
        must_rest();
        require(search_.is_mark(mark), "a mark is not a point on the way to the state");
        search_.rewind(mark);
    }
    std::vector<Nodes> member() { return at_rest().member(); }
    double family(Node y, Nodes parents) {
        parents = checked_family(n(), y, std::move(parents));
        return at_rest().state().gains.family(y, parents);
    }
    void count_family(Node y, Nodes parents) {
        parents = checked_family(n(), y, std::move(parents));
        at_rest().state().gains.count_family(y, parents);
    }
    std::optional<long long> counted() const {
        const auto& counted = look().state().gains.counted;
        return counted ? std::optional<long long>(counted->size()) : std::nullopt;
    }
    Nodes capped_nodes() const {
        Nodes found;
        for (Node v = 0; v < n(); v++)
            if (look().is_capped(v)) found.push_back(v);
        return found;
    }
    void set_capped(std::optional<int> step) { at_rest().set_capped(step.value_or(-1)); }

    // Call with each function of Python that is held, for the garbage collector: most refer to the engine.
    template <class Use>
    void each_function(Use use) {
        for (nb::object* each : {&on_tick, &on_explosion, &report_, &filter_, &judge_, &member_}) use(*each);
    }

private:
    static bool truth_of(const nb::object& answer) {
        const int truth = PyObject_IsTrue(answer.ptr());
        if (truth < 0) throw nb::python_error();
        return truth > 0;
    }
    static const Nodes& checked_block(const AnyScore& score, const Nodes& block) {
        const int n = score.score->n();
        std::vector<char> is_in(static_cast<std::size_t>(n));
        for (Node v : checked_nodes(block, n)) require(!is_in[v]++, "a node of the block counts once");
        return block;
    }
    // An operator between nodes that are joined as it needs; whether it is valid is for Python to check.
    Operator checked_operator(int kind, Node x, Node y, const Nodes& set, double gain = 0.0) const {
        Operator op = operator_of(kind, x, y, set, gain, n());
        const Cpdag& g = search_.graph();
        const bool fits = op.kind == Move::Insert   ? !g.adjacent(x, y)
                          : op.kind == Move::Delete ? g.points(x, y)
                                                    : g.points(y, x);
        require(fits && !g.in_block(y), "an operator does not fit the edge of its nodes");
        for (Node v : op.set) require(g.kind(v, y) == LINE, "a node of a set is not a neighbor of the operator's y");
        return op;
    }
    static Gains gains_of(const AnyScore& score, double cost, std::optional<std::vector<Nodes>> candidates,
                          bool counting, std::size_t limit) {
        require(std::isfinite(cost), "the cost of an edge must be finite");
        auto price = std::make_shared<Price>();
        price->cost = cost;
        std::shared_ptr<std::vector<Nodes>> lists;
        const int n = score.score->n();
        if (candidates) {
            require(static_cast<int>(candidates->size()) == n, "there must be candidates for each node");
            for (Node y = 0; y < n; y++) (*candidates)[y] = checked_family(n, y, (*candidates)[y]);
            lists = std::make_shared<std::vector<Nodes>>(std::move(*candidates));
        }
        limit = score.score->is_costly() ? ~std::size_t{0} : std::max<std::size_t>(limit, 1);
        Gains gains(score.clone(), std::move(price), std::move(lists), limit);
        if (counting) gains.counted = std::make_shared<FamilySet>();
        return gains;
    }
    // Signals, and what Python wants to do now and then; only the thread that started the search does it.
    void tick() {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals()) throw nb::python_error();
        const nb::object call = on_tick;  // it may set another one
        if (!call.is_none()) call();
    }

    Search search_;
    std::vector<nb::object> owners_;
    std::atomic<bool> halted_ = false;
    bool busy_ = false, is_asking_filter_ = false;
    std::thread::id runner_;
    int stopped_ = 0;
    nb::object report_ = nb::none(), filter_ = nb::none(), judge_ = nb::none(), member_ = nb::none();
};

int visit_functions(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    int answer = 0;
    nb::inst_ptr<Engine>(self)->each_function([&](nb::object& each) {
        if (!answer) answer = visit(each.ptr(), arg);
    });
    return answer;
}

int clear_functions(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<Engine>(self)->each_function([](nb::object& each) { each = nb::none(); });
    return 0;
}

PyType_Slot ENGINE_SLOTS[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_functions)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_functions)},
                              {0, nullptr}};

}  // namespace

NB_MODULE(native, m) {
    m.doc() = "The compiled engine: scores and the search.";
    nb::set_leak_warnings(false);

    nb::register_exception_translator(
        [](const std::exception_ptr& p, void*) {
            try {
                std::rethrow_exception(p);
            } catch (const BadGain& bad) {
                const nb::object error = nb::module_::import_("sges.engine").attr("refused")(bad.y, bad.base, bad.x, bad.gain);
                PyErr_SetObject(error.type().ptr(), error.ptr());
            } catch (const Refused& refused) {
                const nb::object error = nb::module_::import_("sges.errors").attr("InvalidArgument")(refused.message);
                PyErr_SetObject(error.type().ptr(), error.ptr());
            } catch (const NoExtension&) {
                const nb::object error = nb::module_::import_("sges.engine").attr("without_extension")();
                PyErr_SetObject(error.type().ptr(), error.ptr());
            }
        });

    nb::class_<AnyScore>(m, "Score")
        .def_prop_ro("n", [](const AnyScore& s) { return s.score->n(); })
        .def("clone", [](const AnyScore& s) { return AnyScore{s.clone(), s.owners}; })
        .def("insert_gains",
             [](const AnyScore& s, Node y, const Nodes& base, double worth, const Nodes& also) {
                 const int n = s.score->n();
                 const Nodes family = checked_family(n, y, base), more = checked_family(n, y, also);
                 for (Node x : more) require(!holds(family, x), "a node is a parent already");
                 std::vector<Gain> found;
                 std::vector<double> exact(more.size());
                 s.score->inserts(y, family, {}, worth, more, exact.data(), found);
                 nb::dict gains;
                 for (const Gain& each : found) gains[nb::int_(each.x)] = each.gain;
                 return nb::make_tuple(gains, exact);
             },
             "y"_a, "base"_a, "worth"_a = -std::numeric_limits<double>::infinity(), "also"_a = Nodes{})
        .def("delete_gains",
             [](const AnyScore& s, Node y, const Nodes& base) {
                 const Nodes family = checked_family(s.score->n(), y, base);
                 Nodes places;
                 for (int i = 0; i < static_cast<int>(family.size()); i++) places.push_back(i);
                 std::vector<double> gains(family.size());
                 s.score->deletes(y, family, places, gains.data());
                 return gains;
             },
             "y"_a, "base"_a)
        .def("family",
             [](const AnyScore& s, Node y, const Nodes& base) {
                 return s.score->family(y, checked_family(s.score->n(), y, base));
             },
             "y"_a, "base"_a);
    m.def("gaussian", &make_gaussian, "correlation"_a, "half"_a, "per_parent"_a);
    m.def("bge", &make_bge, "correlation"_a, "spread"_a, "by_size"_a, "freedom"_a, "isolated"_a, "constant"_a);
    m.def("blocks", &make_blocks, "matrix"_a, "widths"_a, "half"_a, "per_parameter"_a);
    m.def("discrete", &make_discrete, "kind"_a, "columns"_a, "levels"_a, "arities"_a, "weights"_a.none(), "blocks"_a,
          "lanes"_a, "kinds"_a, "depth"_a, "alone"_a, "kind_of"_a, "kind_arities"_a, "setting"_a, "records"_a,
          "unit"_a, "regrets"_a, "in_vectors"_a = true);
    m.def("number_rows", &number_rows_of, "columns"_a, "levels"_a);
    m.def("in_python",
          [](int n, nb::object inserts, nb::object deletes, nb::object family) {
              require(0 <= n && n <= 1 << 24, "too many variables to be searched");
              return AnyScore{std::make_shared<PythonScore>(n, inserts, deletes, family), {}};
          },
          "n"_a, "inserts"_a, "deletes"_a, "family"_a);

    nb::class_<Rules>(m, "Rules")
        .def("__init__",
             [](Rules* rules, int inserts, int largest_t, bool deletes, bool turns, int clique_bound, int size_bound,
                int block_bound, bool drop_large, int max_indegree, int sets_per_clique) {
                 require(0 <= inserts && inserts <= 2, "inserts are none, all or those of a member");
                 new (rules) Rules{static_cast<Which>(inserts), largest_t,  deletes,    turns,        clique_bound,
                                   size_bound,                  block_bound, drop_large, max_indegree, sets_per_clique};
             },
             nb::kw_only(), "inserts"_a = 0, "largest_t"_a = 0, "deletes"_a = false, "turns"_a = false,
             "clique_bound"_a = -1, "size_bound"_a = -1, "block_bound"_a = -1, "drop_large"_a = false,
             "max_indegree"_a = -1, "sets_per_clique"_a = -1);
    nb::class_<Policy>(m, "Policy")
        .def("__init__",
             [](Policy* policy, const Rules& rules, bool orders, bool shuffles, bool escapes, bool is_bounded,
                double patience, int climb, int order, int escape) {
                 new (policy) Policy{rules, orders, shuffles, escapes, is_bounded, patience, climb, order, escape};
             },
             nb::kw_only(), "rules"_a, "orders"_a, "shuffles"_a, "escapes"_a, "is_bounded"_a, "patience"_a, "climb"_a,
             "order"_a, "escape"_a);
    nb::class_<Mark>(m, "Mark");

    nb::class_<Engine>(m, "Engine", nb::type_slots(ENGINE_SLOTS))
        .def(nb::init<const AnyScore&, double, const Nodes&, std::optional<std::vector<Nodes>>, bool, std::size_t>(),
             "score"_a, nb::kw_only(), "cost"_a = 0.0, "block"_a = Nodes{}, "candidates"_a.none() = nb::none(),
             "counting"_a = false, "limit"_a = Gains::LIMIT)
        .def_prop_ro("n", &Engine::n)
        .def_prop_ro("total", [](const Engine& e) { return e.look().total(); })
        .def_prop_ro("edge_count", [](const Engine& e) { return e.look().graph().edges(); })
        .def_prop_ro("step_count", [](const Engine& e) { return e.look().step_count(); })
        .def_prop_ro("tolerance", [](const Engine& e) { return e.look().tolerance(); })
        .def_prop_ro("considered", [](const Engine& e) { return e.look().state().considered; })
        .def_prop_ro("work", [](const Engine& e) { return e.look().state().run.work; })
        .def_prop_ro("bytes", [](const Engine& e) { return e.look().bytes(); })
        .def_prop_ro("came_back", [](const Engine& e) { return e.look().came_back(); })
        .def_prop_ro("counted", &Engine::counted)
        .def_prop_ro("capped_nodes", &Engine::capped_nodes)
        .def_prop_rw("capped", [](const Engine& e) { return e.look().capped() < 0 ? std::nullopt : std::optional<int>(e.look().capped()); },
                     &Engine::set_capped, nb::arg().none())
        .def_prop_rw("why_stopped", &Engine::stopped, &Engine::set_stopped)
        .def_rw("on_tick", &Engine::on_tick, nb::arg().none())
        .def_rw("on_explosion", &Engine::on_explosion, nb::arg().none())
        .def("set_deadline", &Engine::set_deadline, "seconds"_a.none())
        .def("set_memory_limit", &Engine::set_memory_limit, "bytes"_a)
        .def("halt", &Engine::halt)
        .def("set_report", &Engine::set_report, "report"_a.none())
        .def("set_filter", &Engine::set_filter, "filter"_a.none())
        .def("set_knowledge", &Engine::set_knowledge, "rows"_a.none(), "judge"_a.none() = nb::none(),
             "member"_a.none() = nb::none())
        .def("start", &Engine::start, "edges"_a, "total"_a)
        .def("climb",
             [](Engine& e, const Rules& rules, int phase, Node bar_x, Node bar_y, double patience, double aim, int most) {
                 return e.climb(rules, {phase, bar_x, bar_y, patience, aim, most});
             },
             "rules"_a, "phase"_a = 0, "bar_x"_a = -1, "bar_y"_a = -1, "patience"_a = 0.0, "aim"_a = 0.0, "most"_a = -1)
        .def("improve", &Engine::improve, "policy"_a)
        .def("go_to_best_order", &Engine::go_to_best_order, "policy"_a)
        .def("rank", &Engine::rank)
        .def("apply", &Engine::apply, "kind"_a, "x"_a, "y"_a, "set"_a, "gain"_a, "phase"_a = 0)
        .def("admits", &Engine::admits, "kind"_a, "x"_a, "y"_a, "set"_a)
        .def("peek", &Engine::peek, "kind"_a, "x"_a, "y"_a, "set"_a)
        .def("rows", &Engine::rows)
        .def("edges", &Engine::edges)
        .def("steps", &Engine::steps, "from_step"_a = 0)
        .def("mark", [](const Engine& e) { return e.look().mark(); })
        .def("rewind", &Engine::rewind, "mark"_a)
        .def("member", &Engine::member)
        .def("family", &Engine::family, "y"_a, "parents"_a)
        .def("count_family", &Engine::count_family, "y"_a, "parents"_a);
}
