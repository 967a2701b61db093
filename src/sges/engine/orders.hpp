// The search for the best order of the nodes, by moves of single nodes.
//
// An order stands for a DAG: the parents of each node are those that grow-shrink chooses among the nodes
// before it.  *Grow*: add the predecessor of largest gain while that improves the score.  *Shrink*:
// remove the parent whose removal gains most while that does not lower the score (Andrews et al. 2023).
//
// A choice also says which other sets of predecessors lead to the same parents: those that contain the
// grown nodes and none of the *rivals*, which would have been added at some step.  So all places for a
// node are compared in one sweep to the left and one to the right, and most nodes that are passed need
// only a test of two bits.  The records are its own: they are forgotten as a whole, which is cheaper
// than keeping them.
#pragma once

#include <utility>

#include "gains.hpp"

namespace sges {

class Orders {
public:
    static constexpr std::size_t LIMIT = std::size_t{64} << 20;

    // `ranking` is the order in which nodes are moved; `block` comes first in every order.
    Orders(Gains gains, std::shared_ptr<const Knowledge> knowledge, const Nodes& block, Nodes ranking,
           int max_indegree);

    double tolerance = 0.0;
    Run* run = nullptr;  // that of the search: clock, work

    // Take an order, and choose again where the choice may differ.  Nodes that have another place or
    // choice, and the old and new parents of the latter, are dirty then.
    void set(const Nodes& order);
    void make_all_dirty();
    // Move dirty nodes to their best places until none is dirty; return whether any moved.
    bool clean(int passes);

    const Nodes& order() const { return order_; }
    std::vector<Nodes> parents() const;  // of each node, sorted
    double gain() const;                 // beyond the required edges alone
    std::size_t bytes() const;
    const Gains& gains() const { return gains_; }
    long long places_examined() const { return places_; }

private:
    // The parents that grow-shrink chose for a node.
    struct Choice {
        Bits parents, grown, rivals;
        double gain = 0.0;
        bool is_made = false;
        explicit Choice(int n) : parents(n), grown(n), rivals(n) {}
    };
    // What growing and shrinking found from one record.
    struct Growth {
        Record* next = nullptr;  // the base that it was last grown to
        Node by = -1;            // the node that was added then,
        double gain = 0.0;       // and its gain
        std::span<const Node> better;  // the nodes that would have been added before it
        bool is_shrunk = false;
        double shrunk_gain = 0.0;
        std::span<const Node> shrunk;
    };

    void choose(Node y, Row before, Choice& to);
    void ask(Record& r);
    bool may_be_parent(Node x, Node y) const;
    const Growth& shrink(Record& grown);
    Growth& growth_of(const Record& r);
    bool find_best(Record& r, Row before, bool only_block, Growth& growth);
    std::span<const Node> stored(NodeSpan some);
    void forget();
    void set_choice(Node y, const Choice& next);
    Choice& try_choice(Node u, Row before);
    void begin_sweep(Node v);
    double sweep(Node v, bool left, double best, int& best_at, std::size_t& best_tries);
    void sweep_again(Node v, int to);
    bool move(Node v);
    void put(Node v, int at, std::size_t tries);
    bool is_stale(Node v, Row before) const;
    void dirty_around(Node v, const Choice& before, const Choice& after);

    int n_;
    Gains gains_;
    std::shared_ptr<const Knowledge> knowledge_;
    int first_;  // the places before this one are those of the block
    int max_indegree_;
    Nodes ranking_, order_;
    std::vector<int> place_;
    std::vector<char> in_block_;
    std::vector<Choice> chosen_;
    BitMatrix grown_of_, rivals_of_;  // row x: the nodes of whose choice x is a grown node, a rival
    std::vector<Growth> growth_;      // by number of record
    Arena arena_;                     // what it points to
    // Of the sweep that is under way.
    Choice own_, best_own_;
    std::vector<Choice> tried_;
    Nodes tried_node_;
    std::size_t tries_ = 0;
    Bits before_;
    Marks dirty_;
    Nodes left_, better_;
    Bits wanted_;
    long long places_ = 0;
};

}  // namespace sges
