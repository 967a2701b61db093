#include "cpdag.hpp"

namespace sges {

Cpdag::Cpdag(int n, const Nodes& block)
    : Pdag(n, block),
      inside_(n),
      directed_(n),
      known_(n),
      queued_(n),
      marked_(n),
      dag_parents_(n),
      label_(n),
      count_(n, 0) {}

std::size_t Cpdag::bytes() const {
    std::size_t scratch = static_cast<std::size_t>(n()) * 6 * sizeof(int);
    for (const auto* some : {&dag_parents_, &label_})
        for (const Nodes& list : *some) scratch += sizeof(Nodes) + list.capacity() * sizeof(Node);
    return Pdag::bytes() + scratch;
}

void Cpdag::apply(const Operator& op) {
    if (op.kind == Move::Insert)
        insert(op.x, op.y, op.set);
    else if (op.kind == Move::Delete)
        remove(op.x, op.y, op.set);
    else
        turn(op.x, op.y, op.set);
}

void Cpdag::insert(Node x, Node y, NodeSpan t) {
    begin(x, y);
    set_edge(x, y, TO);
    for (Node v : t) set_edge(v, y, TO);
    complete(x, y);
}

void Cpdag::remove(Node x, Node y, NodeSpan h) {
    begin(x, y);
    set_edge(x, y, NONE);
    for (Node v : h) {
        set_edge(y, v, TO);
        if (kind(x, v) == LINE) set_edge(x, v, TO);
    }
    complete(x, y);
}

void Cpdag::turn(Node x, Node y, NodeSpan c) {
    begin(x, y);
    near_x_ = neighbors(x);
    near_y_ = neighbors(y);
    marked_.clear();
    for (Node v : c) marked_.add(v);
    set_edge(x, y, TO);
    for (Node v : near_y_)
        if (v != x) set_edge(v, y, marked_.has(v) ? TO : FROM);
    for (Node v : near_x_)
        if (v != y) set_edge(v, x, marked_.has(v) ? TO : FROM);
    complete(x, y);
}

const Nodes& Cpdag::component(Node v) {
    others_.clear();
    marked_.clear();
    marked_.add(v);
    others_.push_back(v);
    for (std::size_t i = 0; i < others_.size(); i++)
        for (Node u : neighbors(others_[i]))
            if (marked_.add_new(u)) others_.push_back(u);
    return others_;
}

void Cpdag::direct_component(Node v, const Nodes& rank, std::vector<Nodes>& above) {
    order_ = component(v);
    std::sort(order_.begin(), order_.end(),
              [&](Node a, Node b) { return rank.empty() ? a < b : rank[a] < rank[b]; });
    for (Node u : order_) above[u].clear(), count_[u] = 0;
    while (!order_.empty()) {
        const auto best = std::max_element(order_.begin(), order_.end(),
                                           [&](Node a, Node b) { return count_[a] < count_[b]; });
        const Node u = *best;
        order_.erase(best);
        count_[u] = -1;
        for (Node w : neighbors(u)) {
            if (count_[w] < 0)
                above[u].push_back(w);
            else
                count_[w]++;
        }
    }
}

std::vector<Nodes> Cpdag::member(const Nodes& rank) {
    std::vector<Nodes> found(n());
    queued_.clear();  // nodes whose component is directed
    for (Node v = 0; v < n(); v++) {
        if (queued_.has(v) || neighbors(v).empty()) continue;
        direct_component(v, rank, found);
        for (Node u : component(v)) queued_.add(u);
    }
    for (Node v = 0; v < n(); v++) {
        found[v].insert(found[v].end(), parents(v).begin(), parents(v).end());
        sort_nodes(found[v]);
    }
    return found;
}

// -- completion ------------------------------------------------------------------------------------

// Find the chain components of x and y, and store the current labels of their nodes.
void Cpdag::begin(Node x, Node y) {
    inside_.clear();
    directed_.clear();
    known_.clear();
    queued_.clear();
    region_.clear();
    for (Node v : {x, y})
        if (inside_.add_new(v)) region_.push_back(v);
    for (std::size_t i = 0; i < region_.size(); i++) {
        const Node v = region_[i];
        label_[v] = parents(v);
        for (Node u : neighbors(v))
            if (inside_.add_new(u)) region_.push_back(u);
    }
}

void Cpdag::complete(Node x, Node y) {
    if (!extend()) throw NoExtension{};
    settle(x, y);
    for (Node v : changed_) write_label(v);
}

// Fill the lists of v: the directed edges of the edited graph, and the label before.
void Cpdag::know(Node v) {
    if (!known_.add_new(v)) return;
    dag_parents_[v] = parents(v);
    if (!inside_.has(v)) label_[v] = parents(v);  // those of the region were stored before the edit
}

// Return whether v can be the last of the nodes that are left.
bool Cpdag::can_be_sink(Node v) const {
    for (Node u : children(v))
        if (is_left(u)) return false;
    for (Node u : neighbors(v)) {
        if (directed_.has(u)) continue;
        for (Node w : neighbors(v))
            if (w != u && !directed_.has(w) && !adjacent(u, w)) return false;
        for (Node w : parents(v))
            if (is_left(w) && !adjacent(u, w)) return false;
    }
    return true;
}

void Cpdag::queue_again(const Nodes& some) {
    for (Node u : some)
        if (is_left(u) && queued_.add_new(u)) todo_.push_back(u);
}

// Direct the edited graph inside the region without new v-structures, if that can be done.
bool Cpdag::extend() {
    std::size_t left = region_.size();
    todo_ = region_;
    for (Node v : region_) queued_.add(v);
    while (!todo_.empty()) {
        const Node v = todo_.back();
        todo_.pop_back();
        queued_.take(v);
        if (directed_.has(v) || !can_be_sink(v)) continue;
        directed_.add(v);
        left--;
        know(v);
        for (Node u : neighbors(v))
            if (!directed_.has(u)) dag_parents_[v].push_back(u);
        queue_again(neighbors(v));
        queue_again(parents(v));
    }
    return left == 0;
}

// Direct the chain component of v by maximum cardinality search, unless that was done.
void Cpdag::direct(Node v) {
    if (directed_.has(v)) return;
    know(v);
    directed_.add(v);
    if (neighbors(v).empty()) return;
    others_.clear();
    others_.push_back(v);
    count_[v] = 0;
    for (std::size_t i = 0; i < others_.size(); i++)
        for (Node u : neighbors(others_[i]))
            if (directed_.add_new(u)) {
                count_[u] = 0;
                know(u);
                others_.push_back(u);
            }
    for (std::size_t size = others_.size(); size > 0; size--) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < size; i++)
            if (count_[others_[i]] > count_[others_[best]]) best = i;
        const Node u = others_[best];
        others_[best] = others_[size - 1];
        for (Node w : neighbors(u)) {
            if (count_[w] < 0)
                dag_parents_[u].push_back(w);
            else
                count_[w]++;
        }
        count_[u] = -1;
    }
}

// Return one of some nodes that has no child among them in the member DAG.
Node Cpdag::childless(const Nodes& parents) const {
    Node x = parents[0];
    for (std::size_t i = 0; i < parents.size();) {
        const Node u = parents[i++];
        if (u != x && points(x, u) && (!points(u, x) || holds(dag_parents_[u], x))) {
            x = u;  // a child: continue from there; there are no cycles
            i = 0;
        }
    }
    return x;
}

// Label the edges into v; return whether the label changed.
//
// One parent without a child among the parents decides for all (`sges.graph.equivalence`); an edge
// from the block is always compelled.
bool Cpdag::relabel(Node v) {
    const Nodes& parents = dag_parents_[v];
    const Nodes* found = &parents;
    if (!parents.empty()) {
        marked_.clear();
        for (Node u : parents) marked_.add(u);
        const Node x = childless(parents);
        know(x);
        bool all_compelled = in_block(x);
        for (Node u : label_[x]) all_compelled |= !marked_.has(u);
        std::size_t common = 0;
        for (Node u : dag_parents_[x]) common += marked_.has(u);
        if (!all_compelled && common == parents.size() - 1) found = &label_[x];
    }
    bool same = found->size() == label_[v].size();
    if (same) {
        marked_.clear();
        for (Node u : *found) marked_.add(u);
        for (Node u : label_[v]) same = same && marked_.has(u);
    }
    if (!same) label_[v] = *found;
    return !same;
}

void Cpdag::queue(Node v) {
    if (queued_.add_new(v)) todo_.push_back(v);
}

// Label the region, the common children of x and y, and the children of changed nodes.
void Cpdag::settle(Node x, Node y) {
    changed_ = region_;
    todo_.clear();
    for (Node v : region_) queue(v);
    for (Node v : children(x))
        if (points(y, v)) queue(v);
    while (!todo_.empty()) {
        const Node v = todo_.back();
        todo_.pop_back();
        queued_.take(v);
        direct(v);
        for (Node u : dag_parents_[v])
            if (!neighbors(u).empty()) direct(u);
        if (!relabel(v)) continue;
        changed_.push_back(v);
        for (Node u : children(v)) queue(u);
        for (Node u : neighbors(v)) {
            direct(u);
            if (holds(dag_parents_[u], v)) queue(u);
        }
    }
}

// Direct or undirect the edges into v as they are labeled.
void Cpdag::write_label(Node v) {
    marked_.clear();
    for (Node u : label_[v]) marked_.add(u);
    others_ = neighbors(v);
    for (Node u : others_)
        if (marked_.has(u)) set_edge(u, v, TO);
    others_ = parents(v);
    for (Node u : others_)
        if (!marked_.has(u)) set_edge(u, v, LINE);
}

}  // namespace sges
