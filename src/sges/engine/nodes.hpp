// Nodes, and sets of them as rows of bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "builtins.hpp"

namespace sges {

using Node = int;
using Nodes = std::vector<Node>;
using NodeSpan = std::span<const Node>;
using Word = std::uint64_t;

inline int words_for(int n) { return (n + 63) >> 6; }

// A well-mixed number for each number (the finalizer of splitmix64).
inline Word mixed(Word x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Call with each node of a word whose first bit is node `first`.
template <class Use>
inline void each_bit(Word word, Node first, Use use) {
    for (; word; word &= word - 1) use(first + lowest_bit(word));
}

// A set of nodes that is read: a row of bits that belongs to somebody else.
struct Row {
    const Word* at = nullptr;
    int words = 0;

    bool has(Node v) const { return at[v >> 6] >> (v & 63) & 1; }
    int count() const {
        int found = 0;
        for (int w = 0; w < words; w++) found += count_bits(at[w]);
        return found;
    }
    bool is_empty() const {
        for (int w = 0; w < words; w++)
            if (at[w]) return false;
        return true;
    }
    bool is_inside(Row other) const {
        for (int w = 0; w < words; w++)
            if (at[w] & ~other.at[w]) return false;
        return true;
    }
    bool meets(Row other) const {
        for (int w = 0; w < words; w++)
            if (at[w] & other.at[w]) return true;
        return false;
    }
    bool equals(Row other) const { return std::equal(at, at + words, other.at); }
    template <class Use>
    void each(Use use) const {
        for (int w = 0; w < words; w++) each_bit(at[w], w << 6, use);
    }
};

// A row of bits that is written; it belongs to a `Bits` or a `BitMatrix`.
struct BitRow {
    Word* at = nullptr;
    int words = 0;

    operator Row() const { return {at, words}; }
    bool has(Node v) const { return at[v >> 6] >> (v & 63) & 1; }
    void add(Node v) const { at[v >> 6] |= Word{1} << (v & 63); }
    void take(Node v) const { at[v >> 6] &= ~(Word{1} << (v & 63)); }
    void flip(Node v) const { at[v >> 6] ^= Word{1} << (v & 63); }
    void clear() const { std::fill(at, at + words, Word{0}); }
    void copy(Row from) const { std::copy(from.at, from.at + words, at); }
    void take_all(Row others) const {
        for (int w = 0; w < words; w++) at[w] &= ~others.at[w];
    }
    void fill(int n) const {  // with the nodes 0..n-1
        for (int w = 0; w < words; w++) at[w] = ~Word{0};
        if (n & 63) at[words - 1] = (Word{1} << (n & 63)) - 1;
    }
};

// A set of nodes 0..n-1.
class Bits {
public:
    explicit Bits(int n = 0) : words_(words_for(n)) {}
    operator Row() const { return {words_.data(), static_cast<int>(words_.size())}; }
    operator BitRow() { return {words_.data(), static_cast<int>(words_.size())}; }
    bool has(Node v) const { return Row(*this).has(v); }
    void add(Node v) { BitRow(*this).add(v); }
    void take(Node v) { BitRow(*this).take(v); }
    void clear() { BitRow(*this).clear(); }
    int count() const { return Row(*this).count(); }

private:
    std::vector<Word> words_;
};

// A set of nodes for each of several nodes.
class BitMatrix {
public:
    BitMatrix() = default;
    BitMatrix(int rows, int n)
        : words_(words_for(n)), all_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(words_)) {}
    Row operator[](Node v) const { return {all_.data() + place(v), words_}; }
    BitRow operator[](Node v) { return {all_.data() + place(v), words_}; }
    bool is_empty() const { return all_.empty(); }
    std::size_t bytes() const { return all_.size() * sizeof(Word); }
    void clear() { std::fill(all_.begin(), all_.end(), Word{0}); }

private:
    std::size_t place(Node v) const { return static_cast<std::size_t>(v) * static_cast<std::size_t>(words_); }
    int words_ = 0;
    std::vector<Word> all_;
};

// -- lists of nodes --------------------------------------------------------------------------------

inline bool holds(NodeSpan some, Node v) {
    for (Node u : some)
        if (u == v) return true;
    return false;
}

inline void drop(Nodes& from, Node v) {  // from an unordered list
    for (Node& u : from)
        if (u == v) {
            u = from.back();
            from.pop_back();
            return;
        }
}

inline void sort_nodes(Node* first, Node* last) {  // most lists are short, and many are sorted
    if (last - first > 32) {
        if (!std::is_sorted(first, last)) std::sort(first, last);
        return;
    }
    if (first == last) return;  // perhaps both are null
    for (Node* i = first + 1; i < last; i++) {
        Node v = *i, *j = i;
        for (; j > first && j[-1] > v; j--) *j = j[-1];
        *j = v;
    }
}
inline void sort_nodes(Nodes& some) { sort_nodes(some.data(), some.data() + some.size()); }

// Compare sorted sets by size, then by their nodes.
inline int compare_sets(NodeSpan one, NodeSpan other) {
    if (one.size() != other.size()) return one.size() < other.size() ? -1 : 1;
    for (std::size_t i = 0; i < one.size(); i++)
        if (one[i] != other[i]) return one[i] < other[i] ? -1 : 1;
    return 0;
}

// Stamps: a set of nodes that is emptied at once.
class Marks {
public:
    explicit Marks(int n = 0) : stamp_of_(static_cast<std::size_t>(n), 0) {}
    void clear() {
        if (++stamp_ == 0) {
            std::fill(stamp_of_.begin(), stamp_of_.end(), 0u);
            stamp_ = 1;
        }
    }
    bool has(Node v) const { return stamp_of_[static_cast<std::size_t>(v)] == stamp_; }
    void add(Node v) { stamp_of_[static_cast<std::size_t>(v)] = stamp_; }
    void take(Node v) { stamp_of_[static_cast<std::size_t>(v)] = stamp_ - 1; }
    bool add_new(Node v) {
        if (has(v)) return false;
        add(v);
        return true;
    }

private:
    std::vector<unsigned> stamp_of_;
    unsigned stamp_ = 1;
};

// A set of words that are well mixed.
class WordSet {
public:
    bool has(Word word) const { return size_ && slots_[place(word)] == (word | 1); }
    void add(Word word) {
        if (2 * size_ >= slots_.size()) grow();
        Word& slot = slots_[place(word)];
        size_ += slot == 0;
        slot = word | 1;
    }
    void clear() {
        if (size_) std::fill(slots_.begin(), slots_.end(), Word{0});
        size_ = 0;
    }
    std::size_t bytes() const { return slots_.capacity() * sizeof(Word); }

private:
    // The place of a word, or the empty one for it; the last bit is not used.
    std::size_t place(Word word) const {
        std::size_t at = (word >> 1) & (slots_.size() - 1);
        while (slots_[at] && slots_[at] != (word | 1)) at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    void grow() {
        std::vector<Word> old(std::max<std::size_t>(64, 2 * slots_.size()));
        old.swap(slots_);
        for (Word word : old)
            if (word) slots_[place(word)] = word;
    }
    std::vector<Word> slots_;
    std::size_t size_ = 0;
};

}  // namespace sges
