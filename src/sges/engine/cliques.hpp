// The neighbors of one node y, numbered from 0 by node, and the cliques among them.
#pragma once

#include "cpdag.hpp"

namespace sges {

// Return the largest size up to which a set has at most `limit` subsets, at least 1; -1 if all have.
int most_chosen(int size, int limit);

class Neighborhood {
public:
    explicit Neighborhood(int n) : seen_(n) {}
    void look_near(const Cpdag& g, Node y);
    // List the nodes that are adjacent to a neighbor of y but not to y, with their NA; find out whether
    // some node is adjacent to neither.
    void look_around(const Cpdag& g);
    // List the maximal cliques; the neighbors are chordal (Blair & Peyton 1993).  `limit` bounds the
    // subsets of each that are examined; -1 is no bound.
    void find_maximal(int limit);

    Node y() const { return y_; }
    int k() const { return static_cast<int>(node_.size()); }
    int words() const { return words_; }
    Node node(int i) const { return node_[i]; }
    const Nodes& nodes() const { return node_; }
    Row row(int i) const { return {rows_.data() + place(i), words_}; }
    const std::vector<Word>& everyone() const { return everyone_; }

    // Maximal cliques, each with its size and how many of its nodes may be chosen (-1: any number).
    int cliques() const { return static_cast<int>(sizes_.size()); }
    Row maximal(int i) const { return {maximal_.data() + place(i), words_}; }
    int size_of(int i) const { return sizes_[i]; }
    int most(int i) const { return most_[i]; }
    bool is_capped() const { return capped_; }  // some maximal clique has too many subsets
    void forget_maximal() { sizes_.clear(), most_.clear(), capped_ = false; }
    // Return whether some maximal clique around a set lets `chosen` of its nodes be chosen.
    bool within_limits(NodeSpan path, int chosen) const;

    // The nodes that `look_around` listed.
    const Nodes& xs() const { return xs_; }
    Row na(int i) const { return {na_.data() + place(i), words_}; }
    bool has_far() const { return far_; }

    // Call with every clique, given by the numbers of its nodes, the empty one first; the call returns
    // whether the clique is to be grown.
    template <class Use>
    void each_clique(Use use) {
        std::copy(everyone_.begin(), everyone_.end(), stack_.begin());
        path_.clear();
        walk(0, use);
    }
    // The same for the cliques that contain a set; for none if the set is no clique.
    template <class Use>
    void each_clique_with(Row core, Use use) {
        path_.clear();
        for (int w = 0; w < words_; w++) stack_[w] = everyone_[w] & ~core.at[w];
        for (int v = 0; v < k(); v++) {
            if (!core.has(v)) continue;
            path_.push_back(v);
            for (int w = 0; w < words_; w++) {
                stack_[w] &= row(v).at[w];
                const Word own = w == v >> 6 ? Word{1} << (v & 63) : 0;
                if (core.at[w] & ~row(v).at[w] & ~own) return;
            }
        }
        walk(0, use);
    }

private:
    std::size_t place(int i) const { return static_cast<std::size_t>(i) * static_cast<std::size_t>(words_); }
    // Use the current clique, and every one that grows from it by later candidates.
    template <class Use>
    void walk(int depth, Use& use) {
        if (!use(NodeSpan(path_))) return;
        const Word* candidates = stack_.data() + place(depth);
        Word* fewer = stack_.data() + place(depth + 1);
        for (int w = 0; w < words_; w++)
            for (Word left = candidates[w]; left; left &= left - 1) {
                const int v = (w << 6) + lowest_bit(left);
                for (int i = 0; i < words_; i++) fewer[i] = i < w ? 0 : candidates[i] & row(v).at[i];
                fewer[w] &= ~((Word{2} << (v & 63)) - 1);
                path_.push_back(v);
                walk(depth + 1, use);
                path_.pop_back();
            }
    }

    Node y_ = -1;
    int words_ = 0;
    Nodes node_;              // sorted
    std::vector<Word> rows_;  // which neighbors are adjacent
    std::vector<Word> everyone_, stack_, maximal_;
    Nodes path_;  // the current clique
    std::vector<int> sizes_, most_, weight_;
    bool capped_ = false, far_ = false;
    Nodes xs_;
    std::vector<Word> na_;
    Marks seen_;
};

}  // namespace sges
