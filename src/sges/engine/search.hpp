// Greedy search over equivalence classes: steps, marks, and escapes from a local optimum.
#pragma once

#include "deletes.hpp"
#include "inserts.hpp"
#include "turns.hpp"

namespace sges {

struct Step {
    int phase;
    Operator op;
    double total;  // the score after the step
    int edges;
    int changes;      // how many changes of the log lead to its end
    int touched;      // and how many views that changed
    int admitted_at;  // how many changes lead to the last state by then that knowledge admits, or -1
};

// How one climb goes on and ends.
struct Climb {
    int phase = 0;
    Node bar_x = -1, bar_y = -1;          // insert no edge between these
    double patience = 0.0, aim = 0.0;     // end before an insert that gains less than patience · (aim − total)
    int most_steps = -1;
};

// A point of a search to which it can go back.
struct Mark {
    int changes = 0, steps = 0, touched = 0, capped = -1;
    double total = 0.0;
};

class Search {
public:
    Search(Gains gains, const Nodes& block, std::shared_ptr<const Knowledge> knowledge);
    Search(const Search&) = delete;

    // The state and the path to it.
    State& state() { return s_; }
    const State& state() const { return s_; }
    const Cpdag& graph() const { return s_.graph; }
    const std::vector<Step>& steps() const { return steps_; }
    int step_count() const { return static_cast<int>(steps_.size()); }
    double total() const { return total_; }
    double tolerance() const;  // how far apart two gains may be and still tie
    int capped() const { return capped_; }  // the step at which operators were first left out, or -1
    void set_capped(int step) { capped_ = step; }
    bool came_back() const { return came_back_; }  // a climb ended because it came back to a state
    bool is_capped(Node y) const { return is_open_ && inserts_.is_capped(y); }
    int capped_nodes() const { return is_open_ ? inserts_.capped_nodes() : 0; }
    std::size_t bytes() const;
    std::function<std::size_t()> bytes_beside;  // of what works on this search
    std::function<void()> after_step;
    void set_knowledge(std::shared_ptr<const Knowledge> knowledge);

    void start(const std::vector<Edge>& edges, double total);
    // Take the best operator until there is none; return whether a step was taken.  If it throws, the
    // state is the last complete one.
    bool climb(const Rules& rules, const Climb& how);
    void apply(const Operator& op, int phase);  // a valid operator with its gain
    bool admits(const Operator& op);            // whether knowledge admits where it leads
    // Call at the class to which a valid operator leads, without leaving the state.
    void peek(const Operator& op, const std::function<void()>& look);
    bool is_admitted();

    Mark mark() const { return {graph().changes(), step_count(), touched(), capped_, total_}; }
    bool is_mark(const Mark& mark) const;
    void rewind(const Mark& mark);
    // The nodes whose views changed at some step since a mark.
    NodeSpan touched_since(const Mark& mark) const {
        return NodeSpan(touched_).subspan(static_cast<std::size_t>(mark.touched));
    }
    // The deletes of the state, best first, each x — y once.
    std::vector<Operator> escapes(const Rules& rules);
    // Go from a member of the class to another DAG, edge by edge; `order` is one of the goal.
    void walk(const std::vector<Nodes>& member, const std::vector<Nodes>& goal, const Nodes& order, int phase);
    // Return the parents of each node in a member of the class that satisfies the knowledge.
    std::vector<Nodes> member();
    // The score of one class less that of another, from the families of members.
    double gain_between(const std::vector<Nodes>& before, const std::vector<Nodes>& after);
    void close();  // forget the operators of the state, but not the gains

private:
    int touched() const { return static_cast<int>(touched_.size()); }
    void open(const Rules& rules);
    void refresh();
    void refresh_stale();
    std::optional<Found> find();
    bool step(const Climb& how);
    void offer_again();
    void reject(const Found& found);
    void note_changes(int first);
    void touch(Node v);
    void note_step(const Operator& op, int phase);
    void recover();
    bool is_doubtful(double gain) const;
    void take_edge(Move kind, Node x, Node y, double gain, Nodes set, int phase);

    State s_;
    Deletes deletes_;
    Turns turns_;
    Inserts inserts_;
    bool is_open_ = false;
    std::vector<Step> steps_;
    double total_ = 0.0, start_total_ = 0.0;
    int settled_ = 0;  // how many changes lead to the last complete state
    int capped_ = -1;
    bool came_back_ = false;
    WordSet left_;  // the states that the climb has left
    Admission admission_;
    int admitted_at_ = -1;
    // What a step makes out of date.
    Nodes stale_, touched_, turned_;
    Word filtered_ = 0;  // the state whose deletes a filter has examined
    Marks is_stale_;
    std::vector<Edge> lost_;  // steps u → v of paths that are gone
    struct Changed {
        Node u, v;  // u < v
        int at;
    };
    std::vector<Changed> pairs_;
};

}  // namespace sges
