// A CPDAG: operators, and completion around the edges that they change.
//
// An operator edits the graph; `complete` makes it the CPDAG of its class again, in three steps that
// `sges.graph.completion` states and proves:
//
//     extend        direct the chain components of x and y without new v-structures (Dor & Tarsi)
//     settle        label edges as compelled or reversible, from there on as far as labels change
//     write_label   direct or undirect the edges of the nodes whose labels changed
#pragma once

#include "pdag.hpp"

namespace sges {

enum class Move : int { Insert = 0, Delete = 1, Turn = 2 };

struct Operator {
    Move kind = Move::Insert;
    Node x = -1, y = -1;
    Nodes set;  // T, H or C, sorted
    double gain = 0.0;
};

struct NoExtension {};  // thrown: the edited graph has no consistent extension

class Cpdag : public Pdag {
public:
    explicit Cpdag(int n, const Nodes& block = {});

    std::size_t bytes() const;
    void apply(const Operator& op);
    // List the chain component of v, v first.
    const Nodes& component(Node v);
    // List the parents of each node in a member of the class: each chain component is directed by
    // maximum cardinality search, ties by rank; no ranks: by number.
    std::vector<Nodes> member(const Nodes& rank = {});
    // Do this for one chain component: write the parents among the neighbors of each node.
    void direct_component(Node v, const Nodes& rank, std::vector<Nodes>& above);

private:
    void insert(Node x, Node y, NodeSpan t);
    void remove(Node x, Node y, NodeSpan h);
    void turn(Node x, Node y, NodeSpan c);
    void begin(Node x, Node y);
    void complete(Node x, Node y);
    bool extend();
    bool can_be_sink(Node v) const;
    bool is_left(Node v) const { return inside_.has(v) && !directed_.has(v); }
    void queue_again(const Nodes& some);
    void settle(Node x, Node y);
    void queue(Node v);
    void direct(Node v);
    void know(Node v);
    Node childless(const Nodes& parents) const;
    bool relabel(Node v);
    void write_label(Node v);

    // Of the completion that is under way: a node's entry is valid only if it is marked.
    Marks inside_;    // the chain components of x and y
    Marks directed_;  // nodes whose edges are directed in the member DAG
    Marks known_;     // nodes whose lists are filled
    Marks queued_;
    Marks marked_;
    std::vector<Nodes> dag_parents_;  // in the member DAG
    std::vector<Nodes> label_;        // the compelled ones among these
    std::vector<int> count_;
    Nodes region_, todo_, others_, order_, near_x_, near_y_, changed_;
};

}  // namespace sges
