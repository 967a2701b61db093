// From a local optimum to a better one: orders, shuffles of orders, and escapes.
//
//     climb                 to a local optimum, which is kept
//     order phase           polish the order of the kept class; walk to its DAG and climb; repeat
//     second start          polish the order that poly-FES leads to, and do the same
//     shuffles              do the same from an order in which a node and its neighbors are shuffled
//     escapes               force a delete, climb without the edge, then with all edges; shuffle again
//
// A class is kept only if it scores higher than the last one, so the search may be stopped at any
// moment: it then returns to the kept class.  All limits are numbers of questions (`Run::work`).
#pragma once

#include <map>

#include "orders.hpp"
#include "search.hpp"

namespace sges {

struct Policy {
    Rules rules;             // of the climbs
    bool orders = true;      // search orders
    bool shuffles = false;   // and shuffled ones
    bool escapes = true;
    bool is_bounded = true;  // by work; else every part runs to its end
    double patience = 0.0;   // of escapes
    int phase_climb = 0, phase_order = 0, phase_escape = 0;
};

class Improve {
public:
    Improve(Search& search, Policy policy);
    ~Improve() { search_.bytes_beside = nullptr; }
    Improve(const Improve&) = delete;

    // Improve the state; throws `Stop` at the best state by then.
    void run();
    // Go to the class of the best order that is found, without climbs.
    void go_to_best_order();

    long long tried = 0, improved = 0;    // escapes
    long long shuffled = 0, shuffles_improved = 0;
    bool is_cut = false;    // the climb to the kept class was ended by its limit of work
    bool is_spent = false;  // the escapes were ended by theirs

private:
    using Parents = std::vector<Nodes>;
    long long work() const { return search_.state().run.work; }
    long long most_work() const;
    bool is_better() const { return search_.total() > kept_.total + search_.tolerance(); }
    void keep();
    const Parents& kept_member();
    void climb();
    bool is_selective() const { return search_.capped() >= 0; }  // some operators were left out
    Gains gains(std::size_t limit) const;
    Orders& orders();
    bool walk_to_better_order();
    Nodes order_of(const Parents& member) const;
    Nodes obeying(const Nodes& order) const;
    bool is_kept_class(const Parents& dag) const;
    void order_phase();
    bool shuffle();
    bool shuffle_once(Node v);
    bool start_again(const Nodes& order);
    bool second_start();
    bool go_to(const Parents& dag, const Nodes& order);
    bool try_escapes();
    bool try_escape(const Operator& op);
    Word random();

    Search& search_;
    Policy policy_;
    long long n2_;         // the square of the number of nodes
    long long most_work_ = 0;  // of each part after the first climb and the search for orders
    Mark kept_;
    Parents kept_member_;  // a member of the kept class, once it is needed; empty until then
    std::unique_ptr<Orders> orders_;
    std::map<std::tuple<Node, Node, Nodes>, Nodes> failed_;  // escapes, with the views that they changed
    Word random_ = 0x9e3779b97f4a7c15u;
    bool is_cut_ = false;    // the last climb was
    double failures_ = 0.0;  // of shuffles, one after the other
};

// Return the nodes, strongest first: by the sum of the gains of all edges into them.  This does not
// depend on how the nodes are numbered, except where strengths tie.
Nodes ranking_of(State& s);

}  // namespace sges
