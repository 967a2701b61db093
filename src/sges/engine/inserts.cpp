#include "inserts.hpp"

#include <utility>

namespace sges {

Inserts::Inserts(int n)
    : lanes_(n), tree_(n), above_(n), is_capped_(n, 0), open_(n), far_(n), wanted_(n), inside_(n) {}

void Inserts::clear() {
    for (Node y = 0; y < static_cast<Node>(lanes_.size()); y++) {
        lanes_[y].clear();
        tree_.set(y, NOTHING);
        is_capped_[y] = 0;
    }
    capped_nodes_ = 0;
    rejected_.clear();
}

std::size_t Inserts::bytes() const {
    std::size_t sum = 0;
    for (const Lanes& lanes : lanes_) sum += lanes.bytes();
    return sum;
}

// -- the x of a lane -------------------------------------------------------------------------------

// Find the nodes that may become adjacent to y at all.
void Inserts::open(State& s, Node y) {
    const BitRow row = open_;
    if (const auto* candidates = s.gains.candidates()) {
        row.clear();
        for (Node x : (*candidates)[y]) row.add(x);
    } else {
        row.fill(s.n());
    }
    row.take(y);
    s.graph.take_adjacent(row, y);
    if (s.knowledge) row.take_all(s.knowledge->barred[y]);
}

// Return whether some x may join S as parents of the node; block nodes always may.
bool Inserts::has_room(const State& s, int size) const {
    const int room = s.room(s.near.y(), size);
    return room > 0 || (room == 0 && !s.graph.block().empty());
}

// Allow the x that are adjacent to no neighbor of y outside S.
void Inserts::allow_all(State& s, NodeSpan path) {
    BitRow(wanted_).copy(open_);
    on_path_.assign(s.near.k(), 0);  // a path that began with an NA is not sorted
    for (int i : path) on_path_[i] = 1;
    for (int i = 0; i < s.near.k(); i++)
        if (!on_path_[i]) s.graph.take_adjacent(wanted_, s.near.node(i));
}

namespace {

constexpr int FEW_BARRED = 2;  // up to this many inserts of a lane are always barred one by one

// Return whether all nodes of a group's NA are on the path.
bool is_inside(Row na, NodeSpan path, int expected) {
    int common = 0;
    for (int v : path) common += na.has(v);
    return common == expected;
}

int size_of_group(const Neighborhood& near, int group) { return group < 0 ? 0 : near.na(group).count(); }

}  // namespace

// Return whether inserts with this S and a T of `chosen` nodes are examined.
bool Inserts::is_looked_at(const State& s, NodeSpan path, int chosen) const {
    if (s.rules.inserts == Which::Member) return chosen <= s.rules.largest_t;
    return !s.near.is_capped() || s.near.within_limits(path, chosen);
}

// Allow the x for which S = NA ∪ T with a T that is examined.
void Inserts::allow_some(State& s, NodeSpan path) {
    const int size = static_cast<int>(path.size());
    if (s.near.has_far() && is_looked_at(s, path, size))
        BitRow(wanted_).copy(far_);
    else
        wanted_.clear();
    for (int i = 0; i < static_cast<int>(s.near.xs().size()); i++) {
        const Node x = s.near.xs()[i];
        const int own = size_of_group(s.near, i);
        if (open_.has(x) && is_inside(s.near.na(i), path, own) && is_looked_at(s, path, size - own))
            wanted_.add(x);
    }
}

// -- making the lanes of a node --------------------------------------------------------------------

// Ask for the inserts of a lane that are wanted; there is none if nothing is.
void Inserts::finish(State& s, NodeSpan path) {
    const Node y = s.near.y();
    if (s.room(y, static_cast<int>(path.size())) == 0) {  // for the block only
        Bits others(s.n());
        for (Node x : s.graph.block())
            if (wanted_.has(x)) others.add(x);
        wanted_ = others;
    }
    const int count = wanted_.count();
    if (count == 0) return;
    s.considered += count;
    set_.clear();
    for (int i : path) set_.push_back(s.near.node(i));
    base_ = s.graph.parents(y);
    base_.insert(base_.end(), set_.begin(), set_.end());
    Record& r = s.gains.of(y, base_);
    also_.clear();
    if (s.rules.turns && !r.is_computed) list_turnable(s, r);
    s.gains.ask_inserts(r, wanted_, count, also_, s.run);
    Lanes& lanes = lanes_[y];
    Lane& lane = lanes.add(r, set_, r.count);
    const BitRow offered = lanes.offered(lane);
    for (int i = 0; i < r.count; i++)
        if (wanted_.has(r.gains[i].x)) offered.add(i);
    find_best(lane, y);
}

// List the children and neighbors of a node that are not in the base: edges that may be turned.
void Inserts::list_turnable(State& s, const Record& r) {
    also_ = s.graph.children(r.y);
    for (Node v : s.graph.neighbors(r.y))
        if (!std::binary_search(r.at, r.at + r.size, v)) also_.push_back(v);
    sort_nodes(also_);
}

// Make the lane of a clique; every x that fits is allowed.
bool Inserts::use_every(State& s, NodeSpan path, int group) {
    s.list_set(++sets_);
    if (!has_room(s, static_cast<int>(path.size()))) return false;
    for (int i = 0; i < group; i++)  // each set once: at the first NA inside it
        if (is_inside(s.near.na(i), path, size_of_group(s.near, i))) return true;
    allow_all(s, path);
    finish(s, path);
    return true;
}

// Make the lane of a clique that is examined; do not grow the others.
bool Inserts::use_some(State& s, NodeSpan path, int group) {
    const int size = static_cast<int>(path.size());
    s.list_set(++sets_);
    if (!has_room(s, size)) return false;
    if (!is_looked_at(s, path, size - size_of_group(s.near, group))) return false;
    if (group >= 0 && s.near.has_far() && is_looked_at(s, path, size)) return true;
    for (int i = 0; i < group; i++) {
        const int own = size_of_group(s.near, i);
        if (is_inside(s.near.na(i), path, own) && is_looked_at(s, path, size - own)) return true;
    }
    if (is_member_set(s, path)) return true;
    allow_some(s, path);
    finish(s, path);
    return true;
}

// Return whether a clique is that of the member, which has its own lane.
bool Inserts::is_member_set(const State& s, NodeSpan path) const {
    const Nodes& above = above_[s.near.y()];
    if (path.size() != above.size()) return false;
    for (int i : path)
        if (!holds(above, s.near.node(i))) return false;
    return true;
}

// Make the lane of the member: S = its parents of y among the neighbors, with every x.
void Inserts::use_member(State& s) {
    const Nodes& above = above_[s.near.y()];
    if (!has_room(s, static_cast<int>(above.size()))) return;
    path_.clear();
    for (int i = 0; i < s.near.k(); i++)
        if (holds(above, s.near.node(i))) path_.push_back(i);
    allow_all(s, path_);
    finish(s, path_);
}

// Walk the cliques that contain the NA of some x.
void Inserts::by_groups(State& s, bool every, bool has_far) {
    const auto use = [&](int group) {
        return [this, &s, every, group](NodeSpan path) {
            return every ? use_every(s, path, group) : use_some(s, path, group);
        };
    };
    if (has_far) {
        s.near.each_clique(use(-1));
        if (every) return;
    }
    for (int i = 0; i < static_cast<int>(s.near.xs().size()); i++) {
        bool is_new = true;
        for (int j = 0; j < i && is_new; j++) is_new = !s.near.na(j).equals(s.near.na(i));
        if (is_new) s.near.each_clique_with(s.near.na(i), use(i));
    }
}

void Inserts::refresh(State& s, Node y) {
    lanes_[y].clear();
    s.barriers.begin_view(Barrier::Inserts, y);
    capped_nodes_ -= is_capped_[y];
    is_capped_[y] = 0;
    if (!s.graph.in_block(y)) make(s, y);
    find_best_of(y);
}

void Inserts::make(State& s, Node y) {
    Neighborhood& near = s.near;
    near.look_near(s.graph, y);
    open(s, y);
    sets_ = 0;
    if (near.k() == 0) {
        use_every(s, {}, -1);
        return;
    }
    const bool by_member = s.rules.inserts == Which::Member;
    if (s.rules.sets_per_clique >= 0 && !by_member) near.find_maximal(s.rules.sets_per_clique);
    if (!by_member && !near.is_capped()) {
        long long seen = 1 + s.graph.degree(y);  // counting edges often shows that some node is far
        for (Node v : near.nodes()) seen += s.graph.degree(v);
        const bool surely_far = seen < s.n();
        if (!surely_far) near.look_around(s.graph);
        by_groups(s, true, surely_far || near.has_far());
        return;
    }
    if (near.is_capped()) {
        is_capped_[y] = 1;
        capped_nodes_++;
        direct_component(s, y);
    }
    near.look_around(s.graph);
    BitRow(far_).copy(open_);
    for (int i = 0; i < near.k(); i++) s.graph.take_adjacent(far_, near.node(i));
    use_member(s);
    by_groups(s, false, near.has_far());
}

// -- one member of the class -----------------------------------------------------------------------

// Direct the chain component of v as one member of the class does, by maximum cardinality search, ties
// by rank, or else by number; under knowledge, as a member that satisfies it.
void Inserts::direct_component(State& s, Node v) {
    region_ = s.graph.component(v);
    if (!s.knowledge) {
        s.graph.direct_component(v, s.rank, above_);
        return;
    }
    const std::vector<Nodes> found = s.knowledge->member(region_);
    for (std::size_t i = 0; i < region_.size(); i++) above_[region_[i]] = found[i];
}

void Inserts::spread(State& s, Nodes& stale, Marks& is_stale) {
    const bool by_member = s.rules.inserts == Which::Member;
    if (!by_member && capped_nodes_ == 0) return;
    inside_.clear();
    Nodes all;
    for (std::size_t i = 0; i < stale.size(); i++) {
        const Node v = stale[i];
        if (inside_.has(v)) continue;
        if (by_member && !s.knowledge)
            direct_component(s, v);
        else
            region_ = s.graph.component(v);
        for (Node u : region_) {
            all.push_back(u);
            inside_.add(u);
            if ((by_member || is_capped_[u]) && is_stale.add_new(u)) stale.push_back(u);
        }
    }
    if (by_member && s.knowledge) {  // all components at once, as one member has them
        const std::vector<Nodes> found = s.knowledge->member(all);
        for (std::size_t i = 0; i < all.size(); i++) above_[all[i]] = found[i];
    }
}

// -- the best insert -------------------------------------------------------------------------------

// Find the best gain of a lane; whether x is offered is checked only if it would be the best.
void Inserts::find_best(Lane& lane, Node y) const {
    const Record& r = *lane.record;
    lane.best = NOTHING;
    for (int i = 0; i < lane.entries; i++)
        if (r.gains[i].gain > lane.best && offers(lanes_[y], lane, i, y)) lane.best = r.gains[i].gain;
}

// Return whether S blocks every semi-directed path from y to x; if not, bar the insert.
bool Inserts::is_free(State& s, Node y, int lane, int place) {
    Lanes& lanes = lanes_[y];
    const Lane& own = lanes.all[lane];
    const Gain entry = own.record->gains[place];
    if (s.graph.in_block(entry.x)) return true;  // nothing leads into the block
    if (!s.paths.lead(s.graph, y, entry.x, lanes.set(own), {}, false)) return true;
    lanes.offered(own).take(place);
    s.barriers.add(Barrier::Inserts, y, lane, place, entry.gain, s.paths.path());
    return false;
}

// Check the paths of y's inserts with this gain; return whether one of them is free, and which.
bool Inserts::best_is_free(State& s, Node y, double best, Found& free) {
    Lanes& lanes = lanes_[y];
    for (int i = 0; i < static_cast<int>(lanes.all.size()); i++) {
        Lane& lane = lanes.all[i];
        if (lane.best < best) continue;
        for (int k = 0; k < lane.entries; k++) {
            if (lane.record->gains[k].gain < best || !offers(lanes, lane, k, y)) continue;
            if (is_free(s, y, i, k)) {
                free.op.x = lane.record->gains[k].x, free.op.y = y, free.lane = i;
                return true;
            }
            lane.barred++;
        }
        if (lane.barred > FEW_BARRED) bar_reached(s, y, i);
        find_best(lane, y);
    }
    find_best_of(y);
    return false;
}

// Bar all inserts of a lane that a path from y around S bars, with one walk, if that is faster.
void Inserts::bar_reached(State& s, Node y, int number) {
    Lanes& lanes = lanes_[y];
    const Lane& lane = lanes.all[number];
    const Row offered = std::as_const(lanes).offered(lane);
    int left = 0;
    long long highest = -1;
    offered.each([&](int k) {
        const long long level = s.graph.level(lane.record->gains[k].x);
        if (level < s.graph.level(y)) return;
        left++;
        highest = std::max(highest, level);
    });
    if (!s.paths.walk_is_faster(left)) return;
    s.paths.walk(s.graph, y, lanes.set(lane), highest);
    offered.each([&](int k) {
        const auto [x, gain] = lane.record->gains[k];
        if (!s.paths.is_reached(x)) return;
        lanes.offered(lane).take(k);
        s.barriers.add(Barrier::Inserts, y, number, k, gain, s.paths.path_to(x));
    });
}

// List T: the nodes of S that are not in NA_{y,x}.
void Inserts::list_t(const State& s, const Lanes& lanes, const Lane& lane, Node x) {
    t_.clear();
    for (Node v : lanes.set(lane))
        if (!s.graph.adjacent(x, v)) t_.push_back(v);
}

// Find the insert of largest gain; of those that tie, the first by its key.
std::optional<Found> Inserts::best(State& s) {
    if (s.n() == 0) return {};
    Found free;
    double highest;
    do {
        s.run.look();
        highest = tree_.highest();
        if (highest <= s.tolerance) return {};
    } while (!best_is_free(s, tree_.best(), highest, free));
    const double floor = highest - s.tolerance;
    Found found;
    for (Node y = tree_.next(0, floor); y >= 0; y = tree_.next(y + 1, floor)) {
        Lanes& lanes = lanes_[y];
        for (int i = 0; i < static_cast<int>(lanes.all.size()); i++) {
            const Lane& lane = lanes.all[i];
            if (lane.best < floor) continue;
            for (int k = 0; k < lane.entries; k++) {
                const auto [x, gain] = lane.record->gains[k];
                if (gain < floor || (found.op.x >= 0 && x > found.op.x) || !offers(lanes, lane, k, y)) continue;
                list_t(s, lanes, lane, x);
                if (!found.is_after(x, y, t_)) continue;
                const bool is_known = x == free.op.x && y == free.op.y && i == free.lane;
                if (is_known || is_free(s, y, i, k)) found.take(Move::Insert, x, y, t_, gain, i, k);
            }
        }
    }
    return found;
}

void Inserts::reject(State&, const Found& found) {
    const Node y = found.op.y;
    Lane& lane = lanes_[y].all[found.lane];
    rejected_.push_back({y, found.lane, found.place});
    lanes_[y].offered(lane).take(found.place);
    find_best(lane, y);
    find_best_of(y);
}

void Inserts::offer_again(State&) {
    for (const auto& [y, number, place] : rejected_) {
        Lane& lane = lanes_[y].all[number];
        lanes_[y].offered(lane).add(place);
        find_best(lane, y);
        find_best_of(y);
    }
    rejected_.clear();
}

void Inserts::lift(State&, const Barrier& barrier) {
    Lane& lane = lanes_[barrier.y].all[barrier.lane];
    lanes_[barrier.y].offered(lane).add(barrier.place);
    if (barrier.gain <= lane.best || !offers(lanes_[barrier.y], lane, barrier.place, barrier.y)) return;
    lane.best = barrier.gain;
    if (barrier.gain > tree_.of(barrier.y)) tree_.set(barrier.y, barrier.gain);
}

void Inserts::bar(Node x, Node y) {
    const Node ends[] = {bar_x_, bar_y_, x, y};
    bar_x_ = x, bar_y_ = y;
    for (Node v : ends) {
        if (v < 0) continue;
        for (Lane& lane : lanes_[v].all) find_best(lane, v);
        find_best_of(v);
    }
}

}  // namespace sges
