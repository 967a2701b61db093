// The graph with its log and levels; completion against all classes of small graphs.
#include <map>
#include <set>

#include "check.hpp"

namespace sges::tests {
namespace {

using Key = std::pair<std::vector<unsigned>, std::set<std::vector<Node>>>;

// All DAGs whose edges do not point into a block nor lie in it, by class.
//
// Two DAGs are equivalent if they have the same adjacencies and v-structures once the block is complete.
struct Classes {
    int n;
    Nodes block;
    std::map<Key, std::vector<Plain>> members;

    Classes(int nodes, int in_block) : n(nodes) {
        for (Node v = 0; v < in_block; v++) block.push_back(v);
        std::vector<std::pair<Node, Node>> pairs;
        for (Node v = in_block; v < n; v++)
            for (Node u = 0; u < v; u++) pairs.push_back({u, v});
        add(Plain(n), pairs, 0);
    }
    bool is_exogenous(Node v) const { return v < static_cast<Node>(block.size()); }
    bool adjacent(const Plain& dag, Node u, Node v) const {
        return dag.adjacent(u, v) || (is_exogenous(u) && is_exogenous(v));
    }
    Key key_of(const Plain& dag) const {
        Key key;
        key.first.assign(static_cast<std::size_t>(n), 0);
        for (Node y = 0; y < n; y++)
            for (Node u = 0; u < n; u++) {
                if (dag.adjacent(u, y)) key.first[y] |= 1u << u;
                for (Node v = 0; v < u; v++)
                    if (dag.has(u, y) && dag.has(v, y) && !adjacent(dag, u, v)) key.second.insert({v, u, y});
            }
        return key;
    }
    // The CPDAG of a class: the union of its members.
    static Plain united(const std::vector<Plain>& members) {
        Plain all = members[0];
        for (const Plain& dag : members)
            for (Node v = 0; v < all.n; v++) all.out[v] |= dag.out[v];
        return all;
    }
    const std::vector<Plain>& class_of(const Plain& dag) const { return members.at(key_of(dag)); }

private:
    void add(const Plain& dag, const std::vector<std::pair<Node, Node>>& pairs, std::size_t at) {
        if (at == pairs.size()) {
            if (dag.is_acyclic()) members[key_of(dag)].push_back(dag);
            return;
        }
        const auto [u, v] = pairs[at];
        Plain more = dag;
        add(more, pairs, at + 1);
        more.out[u] |= 1u << v;
        add(more, pairs, at + 1);
        if (is_exogenous(u)) return;
        more.out[u] &= ~(1u << v);
        more.out[v] |= 1u << u;
        add(more, pairs, at + 1);
    }
};

// Check one operator: it leads to the class of a DAG, and undoing it restores the graph.
void check_operator(Cpdag& g, const Plain& before, const Operator& op, const Plain& after) {
    const Word print = g.fingerprint();
    const int edges = g.edges(), changes = g.changes();
    g.apply(op);
    CHECK(Plain(g) == after);
    if (op.x & 1) {
        g.take_back(changes);
        CHECK(g.changes() == changes);
    } else {
        const int top = g.changes();
        g.undo_to(changes);
        CHECK(g.changes() == 2 * top - changes);
        g.forget_log(changes);
    }
    CHECK(Plain(g) == before && g.fingerprint() == print && g.edges() == edges);
}

// From each class, change one edge of each member, which gives the operator that does so.
int check_all_operators(int n, int in_block) {
    const Classes classes(n, in_block);
    std::set<std::vector<int>> done;
    int id = 0;
    for (const auto& each : classes.members) {
        const std::vector<Plain>& members = each.second;
        const Plain before = Classes::united(members);
        Cpdag g = graph_of(before, classes.block);
        id++;
        for (const Plain& dag : members)
            for (Node y = in_block; y < n; y++)
                for (Node x = 0; x < n; x++) {
                    if (x == y) continue;
                    Nodes common, chosen, above;  // neighbors of y: adjacent to x, and parents in the member
                    for (Node v = 0; v < n; v++)
                        if (v != x && before.line(v, y)) {
                            if (before.adjacent(v, x)) common.push_back(v);
                            if (dag.has(v, y)) above.push_back(v);
                        }
                    Operator op{Move::Insert, x, y, {}, 0.0};
                    Plain next = dag;
                    if (dag.has(x, y)) {
                        op.kind = Move::Delete;
                        next.out[x] &= ~(1u << y);
                        for (Node v : common)
                            if (!holds(above, v)) op.set.push_back(v);
                    } else if (!dag.adjacent(x, y)) {
                        bool whole = true;
                        for (Node v : common) whole = whole && holds(above, v);
                        if (!whole) continue;  // this insert makes all of NA parents of y
                        next.out[x] |= 1u << y;
                        for (Node v : above)
                            if (!holds(common, v)) op.set.push_back(v);
                    } else {
                        if (x < in_block) continue;
                        op.kind = Move::Turn;
                        op.set = above;
                        next.out[y] &= ~(1u << x);
                        next.out[x] |= 1u << y;
                        bool same = true;  // of the neighbors of x, those in C are parents of x
                        for (Node v = 0; v < n; v++)
                            if (v != y && before.line(v, x)) same = same && dag.has(v, x) == holds(above, v);
                        if (!same) continue;
                    }
                    if (!next.is_acyclic()) continue;
                    check_operator(g, before, op, Classes::united(classes.class_of(next)));
                    std::vector<int> name{id, static_cast<int>(op.kind), x, y};
                    name.insert(name.end(), op.set.begin(), op.set.end());
                    done.insert(name);
                }
    }
    return static_cast<int>(done.size());
}

TEST(every_operator_on_every_class_of_four_nodes_leads_to_the_class_of_a_changed_member) {
    CHECK(Classes(4, 0).members.size() == 185);
    CHECK(check_all_operators(4, 0) > 2000);
}

TEST(an_exogenous_block_is_a_complete_first_tier) {
    CHECK(check_all_operators(4, 1) > 500);
    CHECK(check_all_operators(4, 2) > 100);
    CHECK(check_all_operators(5, 2) > 1000);
    CHECK(check_all_operators(5, 3) > 100);
}

TEST(a_graph_that_no_dag_has_as_its_pattern_is_refused_and_can_be_restored) {
    Plain square(4);  // 0 — 1 — 2 — 3 — 0 after 0 — 2 is gone, with neither 1 nor 3 in H
    for (const auto& [u, v] : {std::pair{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 2}})
        square.out[u] |= 1u << v, square.out[v] |= 1u << u;
    Cpdag g = graph_of(square);
    bool refused = false;
    try {
        g.apply({Move::Delete, 0, 2, {}, 0.0});
    } catch (const NoExtension&) {
        refused = true;
    }
    CHECK(refused);
    g.take_back(0);
    CHECK(Plain(g) == square);
}

TEST(random_walks_keep_levels_log_and_members_and_are_undone) {
    for (Word seed = 0; seed < 12; seed++) {
        Random random(seed);
        const int n = 6 + static_cast<int>(seed);
        Cpdag g(n);
        std::vector<std::pair<int, Plain>> marks;
        wander(g, random, 60, [&](const Operator&) {
            marks.push_back({g.changes(), Plain(g)});
            g.settle_levels();
            CHECK(g.has_levels());
            int edges = 0;
            for (const Edge& each : g.list_edges()) {
                edges++;
                CHECK(g.kind(each.u, each.v) == each.kind);
                if (each.kind == LINE)
                    CHECK(g.level(each.u) == g.level(each.v));
                else
                    CHECK(g.level(each.u) < g.level(each.v));
            }
            CHECK(edges == g.edges());
            const auto parents = g.member(random.order(n));
            Plain dag(n);
            for (Node v = 0; v < n; v++)
                for (Node u : parents[v]) dag.out[u] |= 1u << v;
            CHECK(dag.is_acyclic());
            const Plain now(g);
            for (Node u = 0; u < n; u++)
                for (Node v = 0; v < n; v++) {
                    CHECK(dag.adjacent(u, v) == now.adjacent(u, v));
                    if (now.arrow(u, v)) CHECK(dag.has(u, v));
                    for (Node w = 0; w < u; w++)  // no v-structure that is not one of the class
                        if (dag.has(u, v) && dag.has(w, v) && !dag.adjacent(u, w))
                            CHECK(now.arrow(u, v) && now.arrow(w, v));
                }
        });
        for (; !marks.empty(); marks.pop_back()) {
            g.take_back(marks.back().first);
            CHECK(Plain(g) == marks.back().second);
        }
        CHECK(g.edges() == 0 && g.fingerprint() == 0);
    }
}

}  // namespace
}  // namespace sges::tests
