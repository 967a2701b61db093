// The deletes of a state, by node y and set S of the neighbors that stay parents of y.
//
// Delete(x, y, H) keeps H̄ = NA_{y,x} ∖ H.  With S = H̄ for x → y, and S = H̄ ∪ x for x — y, S is a clique
// among the neighbors of y, x lies in the base Pa(y) ∪ S, and the gain is that of removing x from this
// base: one question serves all x.
//
// Without bounds every clique S is kept.  Selective-Generate-Ops (Fig. 6) is written in terms of S: it
// chooses S from each maximal clique M of the neighbors, because every maximal clique of NA_{y,x} is one
// of these without x.
#pragma once

#include "lanes.hpp"

namespace sges {

class Deletes {
public:
    explicit Deletes(int n) : lanes_(n), tree_(n), is_capped_(n, 0) {}

    void refresh(State& s, Node y);
    std::optional<Found> best(State& s);
    void reject(State& s, const Found& found);
    void offer_again(State& s);
    void clear();
    std::vector<Operator> list(State& s);  // every delete of the state, x — y in both orders
    int capped_nodes() const { return capped_nodes_; }  // where some deletes are left out
    std::size_t bytes() const;

private:
    void make(State& s, Node y);
    Lane& lane_of(State& s, NodeSpan path);
    bool use_kept(State& s, NodeSpan path);
    void select(State& s);
    int room_in(const State& s, int m, Row na, int x, int bound, int size_bound) const;
    bool is_too_large(const State& s, Row na, Row kept, int bound) const;
    void each_subset(State& s, int m, int size);
    void use_subset(State& s, int size);
    void keep_consistent(State& s, Node y);
    void ask(State& s, Node y);
    void find_best(Lane& lane, Node y) const;
    void find_best_of(Node y) { tree_.set(y, lanes_[y].best()); }
    void list_h(const State& s, const Lanes& lanes, const Lane& lane, Node x, Node y, Nodes& h) const;

    std::vector<Lanes> lanes_;
    BestOfNodes tree_;
    std::vector<Rejected> rejected_;
    std::vector<char> is_capped_;
    int capped_nodes_ = 0;
    // For the node whose lanes are made.
    struct Seen {
        long long view = 0;
        int lane = 0;
    };
    long long view_ = 0;
    std::vector<Seen> seen_;  // by number of record: its lane, if the view is the current one
    Nodes base_, set_, path_, h_;
    int sets_ = 0;
    // Selective-Generate-Ops, for one maximal clique M.
    Nodes clique_, chosen_;
    std::vector<int> room_;  // for each neighbor, how many nodes of M a delete of it may put into H
    int parents_room_ = -1, block_room_ = -1;
    std::vector<Word> kept_;
};

}  // namespace sges
