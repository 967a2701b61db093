#include "deletes.hpp"

#include <utility>

namespace sges {

void Deletes::clear() {
    for (Node y = 0; y < static_cast<Node>(lanes_.size()); y++) {
        lanes_[y].clear();
        tree_.set(y, NOTHING);
        is_capped_[y] = 0;
    }
    capped_nodes_ = 0;
    rejected_.clear();
    seen_.clear();
}

std::size_t Deletes::bytes() const {
    std::size_t sum = 0;
    for (const Lanes& lanes : lanes_) sum += lanes.bytes();
    return sum;
}

// -- making the lanes of a node --------------------------------------------------------------------

void Deletes::refresh(State& s, Node y) {
    lanes_[y].clear();
    capped_nodes_ -= is_capped_[y];
    is_capped_[y] = 0;
    if (!s.graph.in_block(y)) make(s, y);
    find_best_of(y);
}

void Deletes::make(State& s, Node y) {
    view_++;
    sets_ = 0;
    s.near.look_near(s.graph, y);
    if (s.near.k() == 0 && s.graph.parents(y).empty()) return;
    const Rules& rules = s.rules;
    const bool has_bound = rules.clique_bound >= 0 || rules.size_bound >= 0;
    if (has_bound || rules.sets_per_clique >= 0) s.near.find_maximal(rules.sets_per_clique);
    is_capped_[y] = s.near.is_capped();
    capped_nodes_ += is_capped_[y];
    if (has_bound || s.near.is_capped())
        select(s);
    else
        s.near.each_clique([&](NodeSpan path) { return use_kept(s, path); });
    if (s.is_consistent) keep_consistent(s, y);
    ask(s, y);
}

// Return the lane that keeps these neighbors; make it if it does not exist.
Lane& Deletes::lane_of(State& s, NodeSpan path) {
    const Node y = s.near.y();
    set_.clear();
    for (int i : path) set_.push_back(s.near.node(i));
    base_ = s.graph.parents(y);
    base_.insert(base_.end(), set_.begin(), set_.end());
    Record& r = s.gains.of(y, base_);
    if (seen_.size() <= static_cast<std::size_t>(r.number))
        seen_.resize(2 * static_cast<std::size_t>(r.number) + 16);
    Seen& seen = seen_[r.number];
    Lanes& lanes = lanes_[y];
    if (seen.view == view_) return lanes.all[seen.lane];
    seen = {view_, static_cast<int>(lanes.all.size())};
    return lanes.add(r, set_, r.size);
}

// Make the lane of a clique that is kept, with every x of its base.
bool Deletes::use_kept(State& s, NodeSpan path) {
    const Node y = s.near.y();
    s.list_set(++sets_);
    if (s.graph.parents(y).empty() && path.empty()) return true;
    const Lane& lane = lane_of(s, path);
    const BitRow offered = lanes_[y].offered(lane);
    for (int i = 0; i < lane.record->size; i++)
        if (s.may_delete(lane.record->at[i], y)) offered.add(i);
    return true;
}

// Leave out the deletes that are not consistent with the assumed property.
void Deletes::keep_consistent(State& s, Node y) {
    Lanes& lanes = lanes_[y];
    for (const Lane& lane : lanes.all) {
        const BitRow offered = lanes.offered(lane);
        for (int i = 0; i < lane.entries; i++) {
            if (!offered.has(i)) continue;
            Operator op{Move::Delete, lane.record->at[i], y, {}, 0.0};
            list_h(s, lanes, lane, op.x, y, op.set);
            if (!s.is_consistent(op)) offered.take(i);
        }
    }
}

void Deletes::ask(State& s, Node y) {
    Lanes& lanes = lanes_[y];
    for (Lane& lane : lanes.all) {
        const Row offered = std::as_const(lanes).offered(lane);
        const int count = offered.count();
        if (count == 0) continue;
        s.considered += count;
        s.gains.ask_deletes(*lane.record, offered, s.run);
        find_best(lane, y);
    }
}

// -- Selective-Generate-Ops ------------------------------------------------------------------------

// Return how many nodes of a maximal clique a delete may put into H besides NA ∖ M; -1 for none.  `na`
// is NA_{y,x}, and x the number of a neighbor, or -1 for a parent of y.
int Deletes::room_in(const State& s, int m, Row na, int x, int bound, int size_bound) const {
    const Neighborhood& near = s.near;
    const Row own = near.maximal(m);
    int most = near.size_of(m);
    if (bound >= 0) {
        for (int i = 0; i < near.cliques(); i++) {
            if (x >= 0 && !near.maximal(i).has(x)) continue;
            int beyond = 0;
            for (int w = 0; w < near.words(); w++) beyond += count_bits(near.maximal(i).at[w] & ~own.at[w]);
            if (beyond > bound) return -1;
        }
        most = std::min(most, bound);
    }
    if (size_bound >= 0) {
        int beyond = 0;
        for (int w = 0; w < near.words(); w++) beyond += count_bits(na.at[w] & ~own.at[w]);
        most = std::min(most, size_bound - beyond);
    }
    return most;
}

// Return whether H = NA ∖ S contains a clique larger than the bound.
bool Deletes::is_too_large(const State& s, Row na, Row kept, int bound) const {
    for (int i = 0; i < s.near.cliques(); i++) {
        int common = 0;
        for (int w = 0; w < s.near.words(); w++)
            common += count_bits(s.near.maximal(i).at[w] & na.at[w] & ~kept.at[w]);
        if (common > bound) return true;
    }
    return false;
}

// Make the lanes that the bounds allow, maximal clique by maximal clique.
void Deletes::select(State& s) {
    const Neighborhood& near = s.near;
    const Rules& rules = s.rules;
    const Row everyone{near.everyone().data(), near.words()};
    bool has_block = false, has_others = false;
    for (Node u : s.graph.parents(near.y())) (s.graph.in_block(u) ? has_block : has_others) = true;
    for (int m = 0; m < near.cliques(); m++) {
        parents_room_ = has_others ? room_in(s, m, everyone, -1, rules.clique_bound, rules.size_bound) : -1;
        block_room_ = has_block ? room_in(s, m, everyone, -1, rules.block_bound, -1) : -1;
        int most = std::max(parents_room_, block_room_);
        clique_.clear();
        room_.assign(near.k(), -1);
        for (int v = 0; v < near.k(); v++)
            if (near.maximal(m).has(v)) {
                clique_.push_back(v);
                room_[v] = room_in(s, m, near.row(v), v, rules.clique_bound, rules.size_bound);
                most = std::max(most, room_[v]);
            }
        const int limit = near.most(m), nodes = static_cast<int>(clique_.size());
        for (int size = 0; size <= most; size++)
            if (limit < 0 || size <= limit || nodes - size <= limit) each_subset(s, m, size);
    }
}

// Use every choice of `size` nodes of the maximal clique.
void Deletes::each_subset(State& s, int, int size) {
    const int n = static_cast<int>(clique_.size());
    if (size > n) return;
    chosen_.clear();
    for (int i = 0; i < size; i++) chosen_.push_back(i);
    while (true) {
        use_subset(s, size);
        int i = size - 1;
        while (i >= 0 && chosen_[i] == n - size + i) i--;
        if (i < 0) return;
        chosen_[i]++;
        for (i++; i < size; i++) chosen_[i] = chosen_[i - 1] + 1;
    }
}

// Make or widen the lane that keeps M without the chosen nodes.
void Deletes::use_subset(State& s, int size) {
    const Neighborhood& near = s.near;
    const Node y = near.y();
    const Rules& rules = s.rules;
    s.list_set(++sets_);
    kept_.assign(near.words(), 0);
    path_.clear();
    for (std::size_t i = 0, next = 0; i < clique_.size(); i++) {
        if (next < chosen_.size() && chosen_[next] == static_cast<int>(i)) {
            next++;
        } else {
            path_.push_back(clique_[i]);
            BitRow{kept_.data(), near.words()}.add(clique_[i]);
        }
    }
    const Row kept{kept_.data(), near.words()}, everyone{near.everyone().data(), near.words()};
    const Lane* lane = nullptr;
    const auto offer = [&](Node x) {
        if (!lane) lane = &lane_of(s, path_);
        lanes_[y].offered(*lane).add(lane->record->place_of(x));
    };
    for (int v : path_) {
        if (room_[v] < size || !s.may_delete(near.node(v), y)) continue;
        if (rules.drop_large && is_too_large(s, near.row(v), kept, rules.clique_bound)) continue;
        offer(near.node(v));
    }
    if (std::max(parents_room_, block_room_) < size) return;
    for (Node x : s.graph.parents(y)) {
        const bool is_block = s.graph.in_block(x);
        if ((is_block ? block_room_ : parents_room_) < size || !s.may_delete(x, y)) continue;
        const int bound = is_block ? rules.block_bound : rules.clique_bound;
        if (rules.drop_large && bound >= 0 && is_too_large(s, everyone, kept, bound)) continue;
        offer(x);
    }
}

// -- the best delete -------------------------------------------------------------------------------

void Deletes::find_best(Lane& lane, Node y) const {
    const Row offered = lanes_[y].offered(lane);
    lane.best = NOTHING;
    for (int i = 0; i < lane.entries; i++)
        if (offered.has(i) && lane.record->removals[i] > lane.best) lane.best = lane.record->removals[i];
}

// List H: the nodes of NA_{y,x} that are not kept, sorted.
void Deletes::list_h(const State& s, const Lanes& lanes, const Lane& lane, Node x, Node y, Nodes& h) const {
    const NodeSpan kept = lanes.set(lane);
    h.clear();
    for (Node v : s.graph.neighbors(y))
        if (v != x && s.graph.adjacent(v, x) && !std::binary_search(kept.begin(), kept.end(), v))
            h.push_back(v);
    sort_nodes(h);
}

// Find the delete of largest gain; of those that tie, the first by its key.
std::optional<Found> Deletes::best(State& s) {
    const double highest = tree_.highest();
    if (s.n() == 0 || highest < -s.tolerance) return {};
    const double floor = highest - s.tolerance;
    Found found;
    for (Node y = tree_.next(0, floor); y >= 0; y = tree_.next(y + 1, floor)) {
        const Lanes& lanes = lanes_[y];
        for (int i = 0; i < static_cast<int>(lanes.all.size()); i++) {
            const Lane& lane = lanes.all[i];
            if (lane.best < floor) continue;
            const Record& r = *lane.record;
            for (int k = 0; k < lane.entries; k++) {
                if (!lanes.offered(lane).has(k) || r.removals[k] < floor) continue;
                if (found.op.x >= 0 && r.at[k] > found.op.x) break;
                list_h(s, lanes, lane, r.at[k], y, h_);
                if (found.is_after(r.at[k], y, h_))
                    found.take(Move::Delete, r.at[k], y, h_, r.removals[k], i, k);
            }
        }
    }
    return found;
}

void Deletes::reject(State&, const Found& found) {
    const Node y = found.op.y;
    Lane& lane = lanes_[y].all[found.lane];
    rejected_.push_back({y, found.lane, found.place});
    lanes_[y].offered(lane).take(found.place);
    find_best(lane, y);
    find_best_of(y);
}

void Deletes::offer_again(State&) {
    for (const auto& [y, number, place] : rejected_) {
        Lane& lane = lanes_[y].all[number];
        lanes_[y].offered(lane).add(place);
        find_best(lane, y);
        find_best_of(y);
    }
    rejected_.clear();
}

std::vector<Operator> Deletes::list(State& s) {
    std::vector<Operator> found;
    for (Node y = 0; y < s.n(); y++)
        for (const Lane& lane : lanes_[y].all)
            for (int k = 0; k < lane.entries; k++) {
                if (!std::as_const(lanes_[y]).offered(lane).has(k)) continue;
                Operator op{Move::Delete, lane.record->at[k], y, {}, lane.record->removals[k]};
                list_h(s, lanes_[y], lane, op.x, y, op.set);
                found.push_back(std::move(op));
            }
    return found;
}

}  // namespace sges
