#include "knowledge.hpp"

namespace sges {

namespace {

bool may_point(const Knowledge& k, Node x, Node y) { return !k.barred[y].has(x); }
bool is_required(const Knowledge& k, Node x, Node y) { return k.required[y].has(x); }

// Return whether an arrow, or two nodes that are not adjacent, contradict no knowledge.
bool pair_is_admitted(const Cpdag& g, const Knowledge& k, Node u, Node v) {
    const int kind = g.kind(u, v);
    if (kind == TO) return may_point(k, u, v);
    if (kind == FROM) return may_point(k, v, u);
    return kind == LINE || !(is_required(k, u, v) || is_required(k, v, u));
}

bool parents_are_admitted(const Cpdag& g, const Knowledge& k, Node y) {
    for (Node x : g.parents(y))
        if (!may_point(k, x, y)) return false;
    bool all = true;
    k.required[y].each([&](Node x) { all = all && g.adjacent(x, y); });
    return all;
}

}  // namespace

bool Admission::admits(Cpdag& g, const Knowledge& knowledge, int since) {
    if (knowledge.judge) return knowledge.judge();
    seen_.clear();
    const auto around = [&](Node v) {
        return g.neighbors(v).empty() || seen_.has(v) || component_is_admitted(g, knowledge, v);
    };
    if (since < 0) {
        for (Node y = 0; y < g.n(); y++)
            if (!parents_are_admitted(g, knowledge, y) || !around(y)) return false;
        return true;
    }
    for (int i = since; i < g.changes(); i++)
        if (!pair_is_admitted(g, knowledge, g.log()[i].u, g.log()[i].v)) return false;
    for (int i = since; i < g.changes(); i++)
        if (!around(g.log()[i].u) || !around(g.log()[i].v)) return false;
    return true;
}

// Return whether the neighbors of x that are left are a clique, and may all point to x.
bool Admission::can_come_last(const Cpdag& g, const Knowledge& knowledge, Node x) {
    left_.clear();
    for (Node y : g.neighbors(x)) {
        if (gone_.has(y)) continue;
        if (!may_point(knowledge, y, x)) return false;
        for (Node u : left_)
            if (!g.adjacent(y, u)) return false;
        left_.push_back(y);
    }
    return true;
}

// Return whether some member of the class directs the chain component of v as allowed.
//
// The last node of a member's order has only parents, which form a clique; without it, the rest is a
// member of the class that is left.  So nodes that can come last are taken away, in any order: if a
// member exists, there is always one, and if all are gone, they have formed a member.
bool Admission::component_is_admitted(const Cpdag& g, const Knowledge& knowledge, Node v) {
    bool is_restricted = false;
    component_.assign(1, v);
    seen_.add(v);
    for (std::size_t i = 0; i < component_.size(); i++) {
        const Node u = component_[i];
        for (Node w : g.neighbors(u)) {
            is_restricted = is_restricted || !may_point(knowledge, w, u);
            if (seen_.add_new(w)) component_.push_back(w);
        }
    }
    if (!is_restricted) return true;
    gone_.clear();
    std::size_t left = component_.size();
    todo_ = component_;
    while (!todo_.empty()) {
        const Node u = todo_.back();
        todo_.pop_back();
        if (gone_.has(u) || !can_come_last(g, knowledge, u)) continue;
        gone_.add(u);
        left--;
        for (Node w : g.neighbors(u))
            if (!gone_.has(w)) todo_.push_back(w);
    }
    return left == 0;
}

}  // namespace sges
