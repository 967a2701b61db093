#include "turns.hpp"

namespace sges {

void Turns::clear() {
    for (Node y = 0; y < static_cast<Node>(lanes_.size()); y++) {
        lanes_[y].all.clear();
        lanes_[y].sets.clear();
        tree_.set(y, NOTHING);
        is_capped_[y] = 0;
    }
    capped_nodes_ = 0;
    rejected_.clear();
    seen_.clear();
}

std::size_t Turns::bytes() const {
    std::size_t sum = 0;
    for (const Lanes& lanes : lanes_)
        sum += lanes.all.capacity() * sizeof(Lane) + lanes.sets.capacity() * sizeof(Node);
    return sum;
}

// -- which turns there are -------------------------------------------------------------------------
//
// x and C are numbers of neighbors of y; `c_` is C as a row.

// Return whether, on x — y, C ∩ NA separates C ∖ NA from NA ∖ C among the neighbors of y.
bool Turns::separates(const State& s, int x) {
    const Neighborhood& near = s.near;
    const Word* na = near.row(x).at;
    reached_.assign(near.words(), 0);
    todo_.clear();
    for (int w = 0; w < near.words(); w++) {
        reached_[w] = c_[w] & ~na[w];
        each_bit(reached_[w], w << 6, [&](int v) { todo_.push_back(v); });
    }
    while (!todo_.empty()) {
        const int v = todo_.back();
        todo_.pop_back();
        for (int w = 0; w < near.words(); w++) {
            const Word fresh = near.row(v).at[w] & ~reached_[w] & ~(c_[w] & na[w]);
            if (fresh & na[w]) return false;
            reached_[w] |= fresh;
            each_bit(fresh, w << 6, [&](int u) { todo_.push_back(u); });
        }
    }
    return true;
}

// Return whether Turn(x, y, C) on x — y meets every condition.
bool Turns::turns_line(const State& s, int x) {
    if (Row{c_.data(), s.near.words()}.has(x)) return false;
    const Word* na = s.near.row(x).at;
    Word apart = 0, beside = 0;
    for (int w = 0; w < s.near.words(); w++) {
        apart |= c_[w] & ~na[w];
        beside |= na[w] & ~c_[w];
    }
    return apart && (!beside || separates(s, x));
}

// Return whether, on y → x, all neighbors of y that are adjacent to x are in C.
bool Turns::turns_arrow(const State& s, Node x) const {
    const Row c{c_.data(), s.near.words()};
    for (int i = 0; i < s.near.k(); i++)
        if (!c.has(i) && s.graph.adjacent(s.near.node(i), x)) return false;
    return true;
}

// Record the turns with one C.
void Turns::propose(State& s, NodeSpan path) {
    const Neighborhood& near = s.near;
    const Node y = near.y();
    c_.assign(near.words(), 0);
    for (int i : path) BitRow{c_.data(), near.words()}.add(i);
    also_.clear();
    for (Node x : s.graph.children(y))
        if (turns_arrow(s, x)) also_.push_back(x);
    for (int i = 0; i < near.k(); i++)
        if (turns_line(s, i)) also_.push_back(near.node(i));
    if (also_.empty()) return;
    sort_nodes(also_);
    base_ = s.graph.parents(y);
    for (int i : path) base_.push_back(near.node(i));
    Record& r = s.gains.of(y, base_);
    if (seen_.size() <= static_cast<std::size_t>(r.number))
        seen_.resize(2 * static_cast<std::size_t>(r.number) + 16);
    if (seen_[r.number] == view_) return;
    seen_[r.number] = view_;
    s.gains.ask_exact(r, also_, s.run);
    Lanes& lanes = lanes_[y];
    const int first = static_cast<int>(lanes.sets.size());
    for (int i : path) lanes.sets.push_back(near.node(i));
    sort_nodes(lanes.sets.data() + first, lanes.sets.data() + lanes.sets.size());
    for (Node x : also_)
        lanes.all.push_back(
            {x, first, static_cast<int>(path.size()), s.gains.exact_gain(r, x), NOTHING, false, false});
}

bool Turns::use(State& s, NodeSpan path) {
    s.list_set(++sets_);
    if (s.room(s.near.y(), static_cast<int>(path.size())) <= 0) return false;
    propose(s, path);
    return true;
}

// Use a clique unless it contains one of the nodes whose cliques were walked before.
bool Turns::use_unclaimed(State& s, NodeSpan path, int own) {
    for (int i : path)
        if (i != own && first_.has(i)) return false;
    return use(s, path);
}

// Walk the cliques that some x can use: those with a neighbor that is not adjacent to all others, and
// those that contain the NA of a child.
void Turns::each_useful(State& s) {
    Neighborhood& near = s.near;
    const int k = near.k();
    first_ = Bits(k);
    members_.clear();
    for (int v = 0; v < k; v++)
        if (near.row(v).count() < k - 1) members_.push_back(v);
    Bits core(k);
    for (int own : members_) {
        core.clear();
        core.add(own);
        near.each_clique_with(core, [&](NodeSpan path) { return use_unclaimed(s, path, own); });
        first_.add(own);
    }
    for (Node x : s.graph.children(near.y())) {
        core.clear();
        for (int v = 0; v < k; v++)
            if (s.graph.adjacent(x, near.node(v))) core.add(v);
        near.each_clique_with(core, [&](NodeSpan path) { return use_unclaimed(s, path, -1); });
    }
}

// Use the smallest and the largest subsets of each maximal clique.
void Turns::each_limited(State& s) {
    for (int m = 0; m < s.near.cliques(); m++) {
        clique_.clear();
        s.near.maximal(m).each([&](int v) { clique_.push_back(v); });
        const int limit = s.near.most(m), nodes = static_cast<int>(clique_.size());
        for (int size = 0; size <= nodes; size++)
            if (limit < 0 || size <= limit || nodes - size <= limit) each_choice(s, size);
    }
}

// Use every choice of `size` nodes of the clique.
void Turns::each_choice(State& s, int size) {
    const int n = static_cast<int>(clique_.size());
    chosen_.clear();
    for (int i = 0; i < size; i++) chosen_.push_back(i);
    while (true) {
        path_.clear();
        for (int i : chosen_) path_.push_back(clique_[i]);
        use(s, path_);
        int i = size - 1;
        while (i >= 0 && chosen_[i] == n - size + i) i--;
        if (i < 0) return;
        chosen_[i]++;
        for (i++; i < size; i++) chosen_[i] = chosen_[i - 1] + 1;
    }
}

void Turns::refresh(State& s, Node y) {
    lanes_[y].all.clear();
    lanes_[y].sets.clear();
    s.barriers.begin_view(Barrier::Turns, y);
    view_++;
    capped_nodes_ -= is_capped_[y];
    is_capped_[y] = 0;
    if (!s.graph.in_block(y)) make(s, y);
    find_best(y);
}

void Turns::make(State& s, Node y) {
    Neighborhood& near = s.near;
    near.look_near(s.graph, y);
    sets_ = 0;
    const Nodes& children = s.graph.children(y);
    if (near.k() == 0 && children.empty()) return;
    if (near.k() && s.rules.sets_per_clique >= 0) near.find_maximal(s.rules.sets_per_clique);
    is_capped_[y] = near.is_capped();
    capped_nodes_ += is_capped_[y];
    // A child that is adjacent to no neighbor of y can use every C.
    const bool uses_all = std::any_of(children.begin(), children.end(), [&](Node x) {
        return std::none_of(near.nodes().begin(), near.nodes().end(),
                            [&](Node v) { return s.graph.adjacent(x, v); });
    });
    if (near.is_capped())
        each_limited(s);
    else if (near.k() == 0 || uses_all)
        near.each_clique([&](NodeSpan path) { return use(s, path); });
    else
        each_useful(s);
    for (Lane& lane : lanes_[y].all) score(s, lane, y);
}

// -- their gains -----------------------------------------------------------------------------------

// Add the gain of removing y from the parents of x, which is often the same for many C.
void Turns::score(State& s, Lane& lane, Node y) {
    const Cpdag& g = s.graph;
    const Node x = lane.x;
    s.list_one();
    s.considered++;
    const NodeSpan c = lanes_[y].set(lane);
    const bool is_plain = std::none_of(c.begin(), c.end(), [&](Node v) { return g.kind(v, x) == LINE; });
    if (is_plain && removal_[x].view == view_) {
        lane.gain = lane.added + removal_[x].gain;
        return;
    }
    base_ = g.parents(x);
    if (g.kind(y, x) != TO) base_.push_back(y);
    for (Node v : c)
        if (g.kind(v, x) == LINE) base_.push_back(v);
    Record& r = s.gains.of(x, base_);
    const int place = r.place_of(y);
    wanted_.assign(words_for(r.size), 0);
    const BitRow wanted{wanted_.data(), words_for(r.size)};
    wanted.add(place);
    s.gains.ask_deletes(r, wanted, s.run);
    lane.gain = lane.added + r.removals[place];
    if (is_plain) removal_[x] = {view_, r.removals[place]};
}

void Turns::find_best(Node y) {
    double best = NOTHING;
    for (const Lane& lane : lanes_[y].all)
        if (lane.gain > best && lane.is_offered()) best = lane.gain;
    tree_.set(y, best);
}

void Turns::rescore(State& s, const Nodes& turned, const Marks& is_stale) {
    is_turned_.clear();
    for (Node x : turned) {
        if (!is_turned_.add_new(x)) continue;
        for (const Nodes* some : {&s.graph.neighbors(x), &s.graph.parents(x)})
            for (Node y : *some) {
                if (is_stale.has(y) || s.graph.in_block(y)) continue;
                view_++;
                for (Lane& lane : lanes_[y].all)
                    if (lane.x == x) {
                        lane.is_barred = false;
                        score(s, lane, y);
                    }
                find_best(y);
            }
    }
}

// -- the best turn ---------------------------------------------------------------------------------

// Return whether, on y → x, C ∪ Ne(x) blocks every other path from y to x; if not, bar the turn.
bool Turns::is_free(State& s, Node y, int number) {
    Lane& lane = lanes_[y].all[number];
    if (s.graph.kind(lane.x, y) == LINE) return true;
    if (!s.paths.lead(s.graph, y, lane.x, lanes_[y].set(lane), s.graph.neighbors(lane.x), true)) return true;
    lane.is_barred = true;
    s.barriers.add(Barrier::Turns, y, number, 0, lane.gain, s.paths.path());
    return false;
}

// Check the paths of y's turns with this gain; return whether one of them is free.
bool Turns::best_is_free(State& s, Node y, double best) {
    const auto& all = lanes_[y].all;
    for (int i = 0; i < static_cast<int>(all.size()); i++)
        if (all[i].gain >= best && all[i].is_offered() && is_free(s, y, i)) return true;
    find_best(y);
    return false;
}

// Find the turn of largest gain; of those that tie, the first by its key.
std::optional<Found> Turns::best(State& s) {
    if (s.n() == 0) return {};
    double highest;
    do {
        s.run.look();
        highest = tree_.highest();
        if (highest <= s.tolerance) return {};
    } while (!best_is_free(s, tree_.best(), highest));
    const double floor = std::max(highest - s.tolerance, s.tolerance);
    Found found;
    for (Node y = tree_.next(0, floor); y >= 0; y = tree_.next(y + 1, floor)) {
        const Lanes& lanes = lanes_[y];
        for (int i = 0; i < static_cast<int>(lanes.all.size()); i++) {
            const Lane& lane = lanes.all[i];
            if (lane.gain < floor || !lane.is_offered()) continue;
            if (found.is_after(lane.x, y, lanes.set(lane)) && is_free(s, y, i))
                found.take(Move::Turn, lane.x, y, lanes.set(lane), lane.gain, i, 0);
        }
    }
    return found;
}

void Turns::reject(State&, const Found& found) {
    lanes_[found.op.y].all[found.lane].is_rejected = true;
    rejected_.push_back(found.op.y);
    find_best(found.op.y);
}

void Turns::offer_again(State&) {
    for (Node y : rejected_) {
        for (Lane& lane : lanes_[y].all) lane.is_rejected = false;
        find_best(y);
    }
    rejected_.clear();
}

void Turns::lift(State&, const Barrier& barrier) {
    lanes_[barrier.y].all[barrier.lane].is_barred = false;
    find_best(barrier.y);
}

}  // namespace sges
