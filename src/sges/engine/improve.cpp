#include "improve.hpp"

#include <cmath>

namespace sges {

namespace {

// Constants of the search; work is in questions, as multiples of n².
constexpr long long CLIMB_WORK = 2000;
constexpr long long LEAST_WORK = 2000;  // of shuffles, and of escapes, if that is more than before them
constexpr double FAILURES = 6.0;     // of shuffles, after which they end; there may be more on wide tables
constexpr int NODES_PER_FAILURE = 40;
constexpr int SHUFFLES = 40;         // how many there are at most, and more of many nodes
constexpr int NODES_PER_SHUFFLE = 4;
constexpr int ESCAPE_ROUNDS = 3;
constexpr int ORDERS = 50;              // how often the search for orders begins at most
constexpr int PASSES = 50, NUDGES = 20;  // over all nodes
constexpr double TIED = 1e-9;  // relative to the largest strength

}  // namespace

Nodes ranking_of(State& s) {
    const int n = s.n();
    std::vector<double> strength(n, 0.0);
    Bits wanted(n);
    double most = 0.0;
    for (Node y = 0; y < n; y++) {
        if (s.graph.in_block(y)) continue;
        Nodes base;
        const BitRow row = wanted;
        if (s.gains.candidates()) {
            row.clear();
            for (Node x : (*s.gains.candidates())[y]) row.add(x);
        } else {
            row.fill(n);
        }
        row.take(y);
        if (s.knowledge) {
            row.take_all(s.knowledge->barred[y]);
            row.take_all(s.knowledge->required[y]);
            s.knowledge->required[y].each([&](Node x) { base.push_back(x); });
        }
        strength[y] = s.gains.sum_of_inserts(y, base, wanted, s.run);
        most = std::max(most, std::fabs(strength[y]));
    }
    Nodes ranking(n);
    for (Node v = 0; v < n; v++) ranking[v] = v;
    std::stable_sort(ranking.begin(), ranking.end(), [&](Node a, Node b) { return strength[a] > strength[b]; });
    for (int i = 0; i < n;) {  // nodes tie with the next one within the tolerance: by number then
        int end = i + 1;
        while (end < n && strength[ranking[end - 1]] - strength[ranking[end]] <= TIED * most) end++;
        std::sort(ranking.begin() + i, ranking.begin() + end);
        i = end;
    }
    return ranking;
}

Improve::Improve(Search& search, Policy policy)
    : search_(search),
      policy_(std::move(policy)),
      n2_(static_cast<long long>(search.graph().n()) * search.graph().n()),
      kept_(search.mark()) {
    search_.bytes_beside = [this] {
        constexpr std::size_t FAILED = 256;  // about what a failed escape takes
        return (orders_ ? orders_->bytes() : 0) + failed_.size() * FAILED;
    };
}

// Climb, within a limit of work of its own: a climb that is cut keeps what it has.
void Improve::climb() {
    Run& run = search_.state().run;
    const long long before = run.most_work;
    long long most = before;
    if (policy_.is_bounded) {
        const long long own = run.work + CLIMB_WORK * n2_;
        most = before < 0 ? own : std::min(before, own);
    }
    is_cut_ = false;
    try {
        const WorkLimit limit(run, most);
        search_.climb(policy_.rules, {.phase = policy_.phase_climb});
    } catch (const Stop& stop) {
        if (stop.why != Stop::Work || (before >= 0 && run.work > before)) throw;
        is_cut_ = true;
    }
}

// Return the work up to which a part may go that begins now.
long long Improve::most_work() const {
    return policy_.is_bounded ? work() + most_work_ : search_.state().run.most_work;
}

void Improve::keep() {
    kept_ = search_.mark();
    kept_member_.clear();
    is_cut = is_cut_;
    Run& run = search_.state().run;
    if (run.tick) run.tick();  // it may be saved now; later states may score lower for long
}

// The state must be the kept one.
const Improve::Parents& Improve::kept_member() {
    if (kept_member_.empty()) kept_member_ = search_.member();
    return kept_member_;
}

void Improve::run() {
    const long long begun = work();
    try {
        climb();
        keep();
        if (policy_.orders) order_phase();
        most_work_ = std::max(work() - begun, LEAST_WORK * n2_);
        if (policy_.shuffles && !is_selective() && second_start()) order_phase();
        if (policy_.shuffles && !is_selective()) shuffle();
        for (int round = 0; policy_.escapes && (round < ESCAPE_ROUNDS || !policy_.is_bounded); round++) {
            const bool any = try_escapes();
            if (!any || is_spent || is_selective() || !policy_.shuffles || !shuffle()) break;
        }
        if (is_cut) {  // so that no step improves the kept class, if that can be had
            climb();
            keep();
        }
    } catch (...) {
        orders_.reset();  // memory may be what has run out
        if (search_.total() < kept_.total) search_.rewind(kept_);
        throw;
    }
}

// -- orders ----------------------------------------------------------------------------------------

// Return gains of their own, forgotten beyond a limit; those of a score in Python cost too much for that.
Gains Improve::gains(std::size_t limit) const {
    const State& s = search_.state();
    if (s.gains.is_costly()) limit = ~std::size_t{0};
    if (s.run.most_bytes) limit = std::min(limit, s.run.most_bytes / 4);
    return s.gains.another(limit);
}

Orders& Improve::orders() {
    if (!orders_) {
        State& s = search_.state();
        Nodes ranking = s.ranking;
        if (ranking.empty())
            for (Node v = 0; v < s.n(); v++) ranking.push_back(v);
        const std::size_t rows = 12 * static_cast<std::size_t>(n2_) * (s.n() > 4000 ? 1 : 0);
        orders_ = std::make_unique<Orders>(gains(std::max(Orders::LIMIT, rows)), s.knowledge, s.graph.block(),
                                           std::move(ranking), s.rules.max_indegree);
        orders_->run = &s.run;
    }
    orders_->tolerance = search_.tolerance();
    return *orders_;
}

// Return the order that comes nearest to a given one and that knowledge allows; the block comes first.
Nodes Improve::obeying(const Nodes& order) const {
    const State& s = search_.state();
    const int n = s.n();
    Nodes found;
    for (Node v : order)
        if (s.graph.in_block(v)) found.push_back(v);
    Nodes remaining;
    for (Node v : order)
        if (!s.graph.in_block(v)) remaining.push_back(v);
    if (!s.knowledge || !s.knowledge->has_order) {
        found.insert(found.end(), remaining.begin(), remaining.end());
        return found;
    }
    std::vector<int> needed(n, 0);  // how many nodes that must come before are not placed yet
    for (Node u : remaining) s.knowledge->later[u].each([&](Node v) { needed[v]++; });
    while (!remaining.empty()) {
        Nodes ready, rest;
        for (Node v : remaining) (needed[v] == 0 ? ready : rest).push_back(v);
        if (ready.empty()) ready.swap(rest);  // knowledge that allows no order
        for (Node u : ready) s.knowledge->later[u].each([&](Node v) { needed[v]--; });
        found.insert(found.end(), ready.begin(), ready.end());
        remaining.swap(rest);
    }
    return found;
}

// Return an order of a member, as far as possible that of the ranking: parents come first.
Nodes Improve::order_of(const Parents& member) const {
    const State& s = search_.state();
    const int n = s.n();
    std::vector<Nodes> children(n);
    std::vector<int> missing(n, 0), layer(n, 0);
    const auto before = [&](Node u, Node v) { children[u].push_back(v), missing[v]++; };
    for (Node v = 0; v < n; v++)
        for (Node u : member[v]) before(u, v);
    if (s.knowledge && s.knowledge->has_order)
        for (Node u = 0; u < n; u++) s.knowledge->later[u].each([&](Node v) { before(u, v); });
    Nodes done;
    for (Node v = 0; v < n; v++)
        if (missing[v] == 0) done.push_back(v);
    for (std::size_t i = 0; i < done.size(); i++)
        for (Node v : children[done[i]]) {
            layer[v] = std::max(layer[v], layer[done[i]] + 1);
            if (--missing[v] == 0) done.push_back(v);
        }
    std::sort(done.begin(), done.end(), [&](Node a, Node b) {
        if (s.graph.in_block(a) != s.graph.in_block(b)) return s.graph.in_block(a);
        if (layer[a] != layer[b]) return layer[a] < layer[b];
        return s.rank.empty() ? a < b : s.rank[a] < s.rank[b];
    });
    return done;
}

// Return whether a DAG is a member of the class of the state: it agrees with all edges, and the parents
// over undirected edges are adjacent.
bool Improve::is_kept_class(const Parents& dag) const {
    const Cpdag& g = search_.graph();
    int edges = 0;
    for (Node y = 0; y < g.n(); y++) {
        edges += static_cast<int>(dag[y].size());
        for (std::size_t i = 0; i < dag[y].size(); i++) {
            const Node x = dag[y][i];
            if (!g.points(x, y)) return false;
            if (!g.points(y, x)) continue;
            for (std::size_t j = 0; j < i; j++)
                if (g.points(y, dag[y][j]) && !g.adjacent(x, dag[y][j])) return false;
        }
    }
    return edges == g.edges();
}

// Polish the order of the kept class and walk to its DAG; return whether that is another class.
bool Improve::walk_to_better_order() {
    Orders& o = orders();
    o.set(order_of(kept_member()));
    o.make_all_dirty();
    o.clean(PASSES);
    const Parents dag = o.parents();
    if (is_kept_class(dag)) return false;
    search_.walk(kept_member(), dag, o.order(), policy_.phase_order);
    return true;
}

// Polish the order of the kept class, go there and climb, as long as this improves the score.
void Improve::order_phase() {
    for (int begun = 0; begun < ORDERS; begun++) {
        if (!walk_to_better_order()) return;
        climb();
        if (!is_better()) {
            search_.rewind(kept_);
            return;
        }
        keep();
        if (is_selective()) return;
    }
}

void Improve::go_to_best_order() {
    try {
        for (int begun = 0; begun < ORDERS; begun++) {
            if (!walk_to_better_order()) return;
            if (begun > 0 && !is_better()) break;
            keep();
        }
    } catch (...) {
        orders_.reset();  // memory may be what has run out
        if (search_.total() < kept_.total) search_.rewind(kept_);
        throw;
    }
    search_.rewind(kept_);
}

// -- shuffles --------------------------------------------------------------------------------------

Word Improve::random() {  // xorshift64
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
}

// Shuffle nodes with their neighbors until it has failed some times; return whether any improved.
bool Improve::shuffle() {
    Run& run = search_.state().run;
    const Nodes& ranking = search_.state().ranking;
    const int n = search_.graph().n();
    bool any = false;
    try {
        const WorkLimit limit(run, most_work());
        const double failures = FAILURES + n / NODES_PER_FAILURE;
        const int most = SHUFFLES + n / NODES_PER_SHUFFLE;
        for (int begun = 0; begun < most && failures_ < failures && n > 2; begun++) {
            const auto drawn = static_cast<std::size_t>(random() % static_cast<Word>(n));
            if (shuffle_once(ranking.empty() ? static_cast<Node>(drawn) : ranking[drawn])) any = true;
        }
    } catch (const Stop& stop) {
        if (stop.why != Stop::Work) throw;
        search_.rewind(kept_);
    }
    failures_ = 0.0;
    return any;
}

bool Improve::shuffle_once(Node v) {
    const Cpdag& g = search_.graph();
    Nodes block;
    if (!g.in_block(v)) block.push_back(v);
    g.each_adjacent(v, [&](Node u) {
        if (!g.in_block(u)) block.push_back(u);
    });
    const Parents& member = kept_member();
    const Nodes kept_order = order_of(member);
    std::vector<int> place(g.n());
    for (int i = 0; i < g.n(); i++) place[kept_order[i]] = i;
    std::sort(block.begin(), block.end(), [&](Node a, Node b) { return place[a] < place[b]; });
    Nodes order = kept_order, members = block;
    for (std::size_t i = members.size(); i > 1; i--) std::swap(members[i - 1], members[random() % i]);
    for (std::size_t i = 0; i < block.size(); i++) order[place[block[i]]] = members[i];
    orders().set(kept_order);
    return start_again(order);
}

// Search orders also from that of poly-FES: where the first climb went wrong, this one seldom did.  Go to
// what it finds if that is better.
bool Improve::second_start() {
    State& s = search_.state();
    if (s.knowledge) return false;  // members under knowledge are those of one search
    Search other(gains(Gains::LIMIT), s.graph.block(), nullptr);
    State& t = other.state();
    const auto held_here = s.run.held, held_there = t.run.held;
    t.run = s.run;
    t.run.held = [&] { return held_here() + held_there(); };
    t.ranking = s.ranking;
    t.rank = s.rank;
    Rules rules = s.rules;
    rules.inserts = Which::Member;
    rules.turns = rules.deletes = false;
    rules.sets_per_clique = -1;
    Improve orders(other, policy_);
    orders.orders_ = std::move(orders_);  // with its gains
    if (orders.orders_) orders.orders_->run = &t.run;
    t.run.most_work = most_work();
    try {
        other.climb(rules, {});
        orders.go_to_best_order();
    } catch (const Stop& stop) {
        s.run.work = t.run.work;
        if (stop.why != Stop::Work) throw;
        orders.orders_.reset();  // in the middle of a move
    }
    s.run.work = t.run.work;
    orders_ = std::move(orders.orders_);
    if (orders_) orders_->run = &s.run;
    const Parents dag = other.member();
    if (is_kept_class(dag)) return false;
    return go_to(dag, order_of(dag));
}

// Improve an order, first near its changes, and climb from its class; keep the class if it is better.
bool Improve::start_again(const Nodes& order) {
    shuffled++;
    Orders& o = orders();
    o.set(obeying(order));
    for (int passes : {NUDGES, PASSES}) {
        o.clean(passes);
        if (is_kept_class(o.parents())) {
            failures_ += 1.0;
            return false;
        }
        o.make_all_dirty();
    }
    const bool any = go_to(o.parents(), o.order());
    shuffles_improved += any;
    return any;
}

// Go to a DAG and climb; keep the class if it is better.
bool Improve::go_to(const Parents& dag, const Nodes& order) {
    const Word kept_class = search_.graph().fingerprint();
    search_.walk(kept_member(), dag, order, policy_.phase_order);
    climb();
    if (is_better()) {
        keep();
        failures_ = 0.0;
        return true;
    }
    failures_ += search_.graph().fingerprint() == kept_class ? 1.0 : 0.5;  // other optima nearby: try longer
    search_.rewind(kept_);
    return false;
}

// -- escapes ---------------------------------------------------------------------------------------

// Try escapes until none improves the score; return whether any did.
bool Improve::try_escapes() {
    Run& run = search_.state().run;
    const long long improved_before = improved;
    failed_.clear();
    try {
        const WorkLimit limit(run, most_work());
        bool any = true;
        while (any) {
            any = false;
            std::vector<Operator> escapes = search_.escapes(policy_.rules);
            if (search_.capped_nodes()) {  // one delete for each edge, and none where operators are left out
                std::map<std::pair<Node, Node>, bool> seen;
                std::erase_if(escapes, [&](const Operator& op) {
                    if (search_.is_capped(op.x) || search_.is_capped(op.y)) return true;
                    return !seen.emplace(std::minmax(op.x, op.y), true).second;
                });
            }
            for (const Operator& op : escapes) {
                if (failed_.contains({op.x, op.y, op.set})) continue;
                if (try_escape(op)) {
                    any = true;
                    break;
                }
            }
        }
    } catch (const Stop& stop) {
        if (stop.why != Stop::Work) throw;
        is_spent = true;
        search_.rewind(kept_);
    }
    return improved > improved_before;
}

// Force a delete and search on: first the edge may not be inserted again; if no step improved the score
// without it, only the edge itself could be inserted.
bool Improve::try_escape(const Operator& op) {
    if (!search_.admits(op)) {
        failed_[{op.x, op.y, op.set}] = {};
        return false;
    }
    tried++;
    kept_member();
    const double aim = kept_.total;
    search_.apply(op, policy_.phase_escape);
    Climb how{.phase = policy_.phase_escape, .bar_x = op.x, .bar_y = op.y, .patience = policy_.patience, .aim = aim};
    if (search_.climb(policy_.rules, how)) {
        how.bar_x = how.bar_y = -1;
        search_.climb(policy_.rules, how);
    }
    const NodeSpan changed = search_.touched_since(kept_);
    Nodes touched(changed.begin(), changed.end());
    sort_nodes(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    if (is_better() && search_.gain_between(kept_member_, search_.member()) > search_.tolerance()) {
        improved++;
        keep();
        std::erase_if(failed_, [&](const auto& each) {  // it looked at a view that is another one now
            return std::any_of(each.second.begin(), each.second.end(), [&](Node v) {
                return std::binary_search(touched.begin(), touched.end(), v);
            });
        });
        return true;
    }
    search_.rewind(kept_);
    failed_[{op.x, op.y, op.set}] = std::move(touched);
    return false;
}

}  // namespace sges
