// The turns of a state.
//
// Turn(x, y, C) adds x to the parents Pa(y) ∪ C of y and removes y from the parents of x, so its gain is
// that of an insert at y plus that of a delete at x.  The turns of y → x and x — y depend on the view of
// y (Hauser & Bühlmann 2012, Propositions 31 and 34), their gains at x on the edges of x, and the path
// condition on the whole graph: it is checked only for turns that would be applied.
#pragma once

#include "lanes.hpp"

namespace sges {

class Turns {
public:
    explicit Turns(int n) : lanes_(n), tree_(n), is_capped_(n, 0), removal_(n), is_turned_(n), first_(0) {}

    void refresh(State& s, Node y);
    // Score again the turns of edges at nodes whose edges changed, where the view of y did not.
    void rescore(State& s, const Nodes& turned, const Marks& is_stale);
    std::optional<Found> best(State& s);
    void reject(State& s, const Found& found);
    void offer_again(State& s);
    void lift(State& s, const Barrier& barrier);
    void clear();
    int capped_nodes() const { return capped_nodes_; }  // where some turns are left out
    std::size_t bytes() const;

private:
    struct Lane {
        Node x;
        int first, size;  // C is a slice of the sets of y
        double added;     // what y gains
        double gain;
        bool is_barred, is_rejected;  // by another path from y to x; until the state changes
        bool is_offered() const { return !is_barred && !is_rejected; }
    };
    struct Lanes {
        std::vector<Lane> all;
        Nodes sets;
        NodeSpan set(const Lane& lane) const {
            return {sets.data() + lane.first, static_cast<std::size_t>(lane.size)};
        }
    };
    struct Removal {
        long long view = 0;
        double gain = 0.0;
    };

    void make(State& s, Node y);
    bool use(State& s, NodeSpan path);
    bool use_unclaimed(State& s, NodeSpan path, int own);
    void each_useful(State& s);
    void each_limited(State& s);
    void each_choice(State& s, int size);
    void propose(State& s, NodeSpan path);
    bool turns_arrow(const State& s, Node x) const;
    bool turns_line(const State& s, int x);
    bool separates(const State& s, int x);
    void score(State& s, Lane& lane, Node y);
    void find_best(Node y);
    bool is_free(State& s, Node y, int number);
    bool best_is_free(State& s, Node y, double best);

    std::vector<Lanes> lanes_;
    BestOfNodes tree_;
    std::vector<char> is_capped_;
    int capped_nodes_ = 0;
    Nodes rejected_;  // nodes with a turn that is rejected
    // The gain of each x without y as a parent, if C contains no neighbor of x.
    std::vector<Removal> removal_;
    Marks is_turned_;
    // For the node whose turns are made.
    long long view_ = 0;
    int sets_ = 0;
    Bits first_;              // numbers of neighbors whose cliques were walked
    std::vector<Word> c_;     // C, by number
    std::vector<long long> seen_;  // by number of record: the view in which it was used last
    Nodes base_, also_, members_, clique_, chosen_, path_, todo_;
    std::vector<Word> wanted_, reached_;
};

}  // namespace sges
