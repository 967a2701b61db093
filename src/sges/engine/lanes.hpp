// What the sources of operators share.
//
// The *view* of a node y are its edges and the nodes that are adjacent to its neighbors.  It determines
// which operators point into y, apart from the condition on paths.  A *lane* is one set S of a view:
// the operators into y that start from the same record.
#pragma once

#include <limits>

#include "cliques.hpp"
#include "gains.hpp"
#include "paths.hpp"

namespace sges {

constexpr double NOTHING = -std::numeric_limits<double>::infinity();

// Everything from which operators are made.
struct State {
    Cpdag graph;
    Gains gains;
    Rules rules;
    Run run;
    std::shared_ptr<const Knowledge> knowledge;          // or null
    std::function<bool(const Operator&)> is_consistent;  // a filter of deletes, or empty
    std::function<void(Node y, int neighbors)> warn_of_explosion;
    Nodes ranking, rank;  // the nodes in the order in which a member takes them, and their places
    Neighborhood near;
    Paths paths;
    Barriers barriers;
    double tolerance = 0.0;
    long long considered = 0;  // operators generated
    bool has_warned = false;

    State(Gains own_gains, const Nodes& block)
        : graph(own_gains.n(), block),
          gains(std::move(own_gains)),
          near(graph.n()),
          paths(graph.n()),
          barriers(graph.n()) {}

    int n() const { return graph.n(); }
    // How many more parents y may have beside its own and `size` neighbors; block nodes do not count.
    int room(Node y, int size) const {
        if (rules.max_indegree < 0) return n();
        int parents = 0;
        for (Node u : graph.parents(y)) parents += !graph.in_block(u);
        return rules.max_indegree - parents - size;
    }
    bool may_delete(Node x, Node y) const {
        return !knowledge || !(knowledge->barred[y].has(x) || knowledge->required[y].has(x));
    }
    // Count a set or a turn that is listed; look at the clock from time to time.
    void list_one() {
        run.work++;
        if ((++listed_ & 63) == 0) run.look();
    }
    // The same for a set of neighbors of y: there may be exponentially many.
    void list_set(int of_this_view) {
        list_one();
        if (of_this_view < MANY_SETS || has_warned) return;
        has_warned = true;
        if (warn_of_explosion) warn_of_explosion(near.y(), near.k());
    }

private:
    static constexpr int MANY_SETS = 100'000;
    unsigned listed_ = 0;
};

// An operator that was found, and where it is.
struct Found {
    Operator op;
    int lane = -1, place = -1;

    // Whether an operator comes before the one found so far, if they tie.
    bool is_after(Node x, Node y, NodeSpan set) const {
        if (op.x < 0) return true;
        if (x != op.x) return x < op.x;
        if (y != op.y) return y < op.y;
        return compare_sets(set, op.set) < 0;
    }
    void take(Move kind, Node x, Node y, NodeSpan set, double gain, int in_lane, int at) {
        op.kind = kind, op.x = x, op.y = y, op.gain = gain;
        op.set.assign(set.begin(), set.end());
        lane = in_lane, place = at;
    }
};

// The best gain of each node, and of ever larger groups of nodes.
class BestOfNodes {
public:
    explicit BestOfNodes(int n) {
        while (leaves_ < n) leaves_ *= 2;
        at_.assign(2 * static_cast<std::size_t>(leaves_), NOTHING);
    }
    double highest() const { return at_[1]; }
    double of(Node y) const { return at_[leaves_ + y]; }
    void set(Node y, double gain) {
        int i = leaves_ + y;
        at_[i] = gain;
        while (i >>= 1) at_[i] = std::max(at_[2 * i], at_[2 * i + 1]);
    }
    Node best() const {  // the first node of highest gain
        int i = 1;
        while (i < leaves_) i = at_[2 * i] >= at_[2 * i + 1] ? 2 * i : 2 * i + 1;
        return i - leaves_;
    }
    // Return the first node from y on whose gain is at least the floor, or -1.
    Node next(Node y, double floor) const {
        if (y >= leaves_) return -1;
        for (int i = leaves_ + y;;) {
            if (at_[i] >= floor) {
                while (i < leaves_) i = at_[2 * i] >= floor ? 2 * i : 2 * i + 1;
                return i - leaves_;
            }
            while (i & 1) i >>= 1;
            if (i == 0) return -1;
            i++;
        }
    }

private:
    int leaves_ = 1;
    std::vector<double> at_;
};

struct Lane {
    Record* record;
    int first, size;  // S is a slice of the sets of its node
    int word, words;  // which entries of the record are offered: a slice of the words of its node
    int entries;
    double best;
    int barred = 0;  // how many entries were barred one by one
};

// The lanes of one node.
struct Lanes {
    std::vector<Lane> all;
    Nodes sets;
    std::vector<Word> words;

    NodeSpan set(const Lane& lane) const {
        return {sets.data() + lane.first, static_cast<std::size_t>(lane.size)};
    }
    BitRow offered(const Lane& lane) { return {words.data() + lane.word, lane.words}; }
    Row offered(const Lane& lane) const { return {words.data() + lane.word, lane.words}; }
    void clear() { all.clear(), sets.clear(), words.clear(); }
    // Add a lane for a set, which is sorted here, with no entry of the record offered.
    Lane& add(Record& record, NodeSpan set, int entries) {
        if (all.capacity() == 0) all.reserve(4), sets.reserve(8), words.reserve(4);
        const int first = static_cast<int>(sets.size()), word = static_cast<int>(words.size());
        sets.insert(sets.end(), set.begin(), set.end());
        sort_nodes(sets.data() + first, sets.data() + sets.size());
        words.resize(words.size() + static_cast<std::size_t>(words_for(entries)), 0);
        all.push_back({&record, first, static_cast<int>(set.size()), word, words_for(entries), entries, NOTHING});
        return all.back();
    }
    double best() const {
        double found = NOTHING;
        for (const Lane& lane : all) found = std::max(found, lane.best);
        return found;
    }
    std::size_t bytes() const {
        return all.capacity() * sizeof(Lane) + sets.capacity() * sizeof(Node) + words.capacity() * sizeof(Word);
    }
};

// An entry that is not offered until the state changes.
struct Rejected {
    Node y;
    int lane, place;
};

}  // namespace sges
