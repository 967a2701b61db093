// Semi-directed paths from y to x around a set, and the operators that they bar.
//
// A step of such a path follows u → v or u — v.  Insert(x, y, T) and Turn(x, y, C) are barred by a
// path around a set.  Paths are searched from both ends, between the levels of the two, and only for
// an operator that would be applied.  A path that was found is kept by its steps: as long as none of
// them is lost, it bars the same operator.
#pragma once

#include "cpdag.hpp"

namespace sges {

class Paths {
public:
    explicit Paths(int n) : met_(n), met_back_(n), around_(n), came_from_(n), goes_to_(n), unmet_(n) {}

    // Return whether a path leads from y to x around a set; `path` is then its nodes, y first and x
    // last.  If `other`, the edge between x and y itself does not count.
    bool lead(Cpdag& g, Node y, Node x, NodeSpan around, NodeSpan also_around, bool other);
    // Whether one walk to all nodes has met fewer nodes so far than searches for this many would.
    bool walk_is_faster(int targets) const {
        return static_cast<double>(targets) * static_cast<double>(met_by_searches_) * walks_ >
               static_cast<double>(met_by_walks_) * searches_;
    }
    // Walk the paths from y around a set, up to a level; `is_reached` and `path_to` say how far.
    void walk(Cpdag& g, Node y, NodeSpan around, long long highest);
    bool is_reached(Node x) const { return met_.has(x); }
    const Nodes& path_to(Node x);
    const Nodes& path() const { return path_; }

private:
    void see(Node v, Node from, bool forward);
    Node step_from(const Cpdag& g, Node v, bool forward, Node x, Node y, bool other);
    void trace(Node meeting, Node x);

    Marks met_, met_back_, around_;
    Nodes came_from_, goes_to_, front_, back_, path_;
    Bits unmet_;  // of a walk by rows: the nodes that it has not met and does not go around
    // Searches for one node and walks to all so far, and the nodes that they met.
    double searches_ = 0, walks_ = 1;
    long long met_by_searches_ = 0, met_by_walks_ = 0;
};

// An operator that a path bars: insert `place` of a lane of y, or turn `lane` of y.
struct Barrier {
    enum Source : int { Inserts = 0, Turns = 1, None = 2 } source;
    Node y;
    int lane, place;
    int view;  // of y, when its lanes were made
    double gain;
};

class Barriers {
public:
    explicit Barriers(int n) : through_(n), views_{std::vector<int>(n, 0), std::vector<int>(n, 0)} {}

    // The lanes of y are made anew: what barred the old ones is void.
    void begin_view(Barrier::Source source, Node y) { views_[source][y]++; }
    void add(Barrier::Source source, Node y, int lane, int place, double gain, const Nodes& path);
    // The step u → v is gone: call with each barrier that this lifts.
    template <class Use>
    void lift(Node u, Node v, Use use) {
        auto& through = through_[u];
        std::size_t kept = 0;
        for (const Step step : through) {
            Barrier& b = all_[step.barrier];
            if (!is_standing(b)) continue;
            if (step.next != v) {
                through[kept++] = step;
                continue;
            }
            use(static_cast<const Barrier&>(b));
            b.source = Barrier::None;
        }
        through.resize(kept);
    }
    void clear();
    std::size_t bytes() const {
        std::size_t sum = all_.capacity() * sizeof(Barrier);
        for (const auto& through : through_) sum += sizeof(through) + through.capacity() * sizeof(Step);
        return sum;
    }

private:
    struct Step {
        int barrier;
        Node next;
    };
    bool is_standing(const Barrier& b) const {
        return b.source != Barrier::None && b.view == views_[b.source][b.y];
    }
    void leave_out_void();

    std::vector<Barrier> all_;
    std::vector<std::vector<Step>> through_;  // for each node, the paths that run through it
    std::vector<int> views_[2];               // how often the lanes of each node were made
    std::size_t room_ = 16384;                // with more barriers, the void ones are left out
};

}  // namespace sges
