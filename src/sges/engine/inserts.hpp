// The inserts of a state, by node y and set S.
//
// Insert(x, y, T) makes S = NA_{y,x} ∪ T parents of y; its gain is that of adding x to Pa(y) ∪ S.  For
// one (y, S) the x are those that are not adjacent to y, that are adjacent to no neighbor of y outside
// S, and that no semi-directed path from y around S reaches.  The last condition depends on the whole
// graph and is checked only for inserts that would be applied; an insert is evaluated, and counted,
// once the other two hold.  Only sets S that some x can use are listed: the cliques NA ∪ T.
#pragma once

#include "lanes.hpp"

namespace sges {

class Inserts {
public:
    explicit Inserts(int n);

    // Mark further nodes as stale: those whose inserts depend on the parents of a member of the class,
    // and whose chain component has a stale node.
    void spread(State& s, Nodes& stale, Marks& is_stale);
    void refresh(State& s, Node y);  // make the lanes of y from its view
    std::optional<Found> best(State& s);
    void reject(State& s, const Found& found);
    void offer_again(State& s);
    void lift(State& s, const Barrier& barrier);
    void bar(Node x, Node y);  // offer no insert between these two; (-1, -1) bars nothing
    void clear();
    // The nodes at which some inserts are left out, because they have too many.
    bool is_capped(Node y) const { return is_capped_[y]; }
    int capped_nodes() const { return capped_nodes_; }
    std::size_t bytes() const;

private:
    bool offers(const Lanes& lanes, const Lane& lane, int place, Node y) const {
        const Node x = lane.record->gains[place].x;
        return lanes.offered(lane).has(place) && !((x == bar_x_ && y == bar_y_) || (x == bar_y_ && y == bar_x_));
    }
    void find_best(Lane& lane, Node y) const;
    void find_best_of(Node y) { tree_.set(y, lanes_[y].best()); }
    void make(State& s, Node y);
    void open(State& s, Node y);
    bool has_room(const State& s, int size) const;
    void allow_all(State& s, NodeSpan path);
    void allow_some(State& s, NodeSpan path);
    void finish(State& s, NodeSpan path);
    void list_turnable(State& s, const Record& r);
    bool use_every(State& s, NodeSpan path, int group);
    bool use_some(State& s, NodeSpan path, int group);
    void use_member(State& s);
    bool is_member_set(const State& s, NodeSpan path) const;
    bool is_looked_at(const State& s, NodeSpan path, int chosen) const;
    void by_groups(State& s, bool every, bool has_far);
    void direct_component(State& s, Node v);
    bool is_free(State& s, Node y, int lane, int place);
    bool best_is_free(State& s, Node y, double best, Found& free);
    void bar_reached(State& s, Node y, int lane);
    void list_t(const State& s, const Lanes& lanes, const Lane& lane, Node x);

    std::vector<Lanes> lanes_;  // by y
    BestOfNodes tree_;
    std::vector<Nodes> above_;  // for each node, its parents among its neighbors in one member
    std::vector<char> is_capped_;
    int capped_nodes_ = 0;
    std::vector<Rejected> rejected_;
    Node bar_x_ = -1, bar_y_ = -1;
    // For the node whose lanes are made.
    Bits open_;    // the x that may become adjacent to it at all
    Bits far_;     // those that are adjacent to no neighbor of it
    Bits wanted_;  // those of the current lane
    int sets_ = 0;
    Nodes base_, also_, set_, t_, path_, region_;
    std::vector<char> on_path_;
    Marks inside_;
};

}  // namespace sges
