// A partially directed graph that is changed in place: adjacency, a log of all changes, levels.
//
// Only `set_edge` writes.  Its log says which views a step made out of date, and undoes steps.  Up to
// MOST_ROWS nodes each has a row of bits for tests of single pairs; with more, short lists answer.
//
// A *block* of nodes is exogenous: its nodes have no edges among each other, but count as adjacent,
// and nothing points to them.
#pragma once

#include "nodes.hpp"

namespace sges {

enum Kind : int { NONE = 0, TO = 1, FROM = 2, LINE = 3 };  // of the edge of u and v: u → v is TO

struct Change {
    Node u, v;
    int before, after;
};

struct Edge {
    Node u, v;
    int kind;
};

class Pdag {
public:
    static constexpr int MOST_ROWS = 20'000;

    explicit Pdag(int n, const Nodes& block = {});

    int n() const { return n_; }
    int edges() const { return edges_; }
    const Nodes& parents(Node v) const { return parents_[v]; }
    const Nodes& children(Node v) const { return children_[v]; }
    const Nodes& neighbors(Node v) const { return neighbors_[v]; }
    int degree(Node v) const {
        return static_cast<int>(parents_[v].size() + children_[v].size() + neighbors_[v].size());
    }
    bool in_block(Node v) const { return !in_block_.empty() && in_block_[v]; }
    const Nodes& block() const { return block_; }
    bool points(Node u, Node v) const {  // u → v or u — v
        return has_rows_ ? out_[u].has(v) : is_listed(u, v);
    }
    bool adjacent(Node u, Node v) const { return points(u, v) || points(v, u); }
    bool counts_as_adjacent(Node u, Node v) const {
        return adjacent(u, v) || (in_block(u) && in_block(v));
    }
    int kind(Node u, Node v) const { return int{points(u, v)} | int{points(v, u)} << 1; }
    // Call with each node that is adjacent to v.
    template <class Use>
    void each_adjacent(Node v, Use use) const {
        for (Node u : parents_[v]) use(u);
        for (Node u : children_[v]) use(u);
        for (Node u : neighbors_[v]) use(u);
    }
    bool has_rows() const { return has_rows_; }
    Row out_row(Node v) const { return out_[v]; }  // the u with v → u or v — u, if there are rows
    void take_adjacent(BitRow from, Node v) const;  // remove all nodes that are adjacent to v
    std::vector<Edge> list_edges() const;
    Word fingerprint() const { return fingerprint_; }
    std::size_t bytes() const;

    // Make the edge of u and v of a kind, and log the change: all of it or nothing.
    void set_edge(Node u, Node v, int kind);
    const std::vector<Change>& log() const { return log_; }
    int changes() const { return static_cast<int>(log_.size()); }
    void undo_to(int changes);    // by changes that are logged
    void take_back(int changes);  // and remove them from the log; needs no memory
    void forget_log(int from) { log_.resize(static_cast<std::size_t>(from)); }

    // Levels: u → v leads to a higher level, u — v stays on one.  A CPDAG has no semi-directed cycle
    // through an arrow, so such levels exist, and a semi-directed path stays between those of its ends.
    // Removing an edge keeps them valid; adding one may raise those behind it.  They never fall.
    void settle_levels();
    long long level(Node v) const { return level_[v]; }
    bool has_levels() const { return has_levels_; }

private:
    bool is_listed(Node u, Node v) const;
    void write(Node u, Node v, int before, int kind);
    void unlist(Node u, Node v, int kind);
    void enlist(Node u, Node v, int kind);
    void doubt(Node v);
    Word arc(Node u, Node v) const {
        return mixed(static_cast<Word>(u) * static_cast<Word>(n_) + static_cast<Word>(v));
    }

    int n_, edges_ = 0;
    bool has_rows_;
    BitMatrix out_;  // bit v of row u: u → v or u — v
    std::vector<Nodes> parents_, children_, neighbors_;
    Nodes block_;
    std::vector<char> in_block_;
    Word fingerprint_ = 0;  // a hash of all edges
    std::vector<Change> log_;
    std::vector<long long> level_;
    long long top_level_ = 0;
    bool has_levels_ = true;  // false once a start was found to have none
    Nodes doubtful_;          // a queue of the nodes whose level may be too low
    std::size_t next_doubtful_ = 0;
    std::vector<char> is_doubtful_;
};

}  // namespace sges
