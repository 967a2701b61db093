// What a score said: a record for each node y and base, from which inserts and deletes start.
//
// One question gives the gains of all inserts into a family, or of all deletes from it; records keep
// the answers.  They are forgotten as a whole when they take more than a limit: nothing may point to
// them then.  `Run::work` counts questions, whether they are answered from memory or anew, so that no
// budget, and with it no graph, depends on what was forgotten.
#pragma once

#include <cstring>
#include <memory>
#include <optional>

#include "rules.hpp"
#include "score.hpp"

namespace sges {

// Memory for many small arrays, which are freed together; blocks are used again.
class Arena {
public:
    template <class T>
    T* take(std::size_t count) {
        return static_cast<T*>(take_bytes(count * sizeof(T)));
    }
    void clear() { current_ = used_ = held_ = 0; }
    std::size_t used() const { return held_; }    // since the last `clear`
    std::size_t bytes() const { return bytes_; }  // in all blocks

private:
    static constexpr std::size_t FIRST = std::size_t{1} << 18, LARGEST = std::size_t{1} << 23;
    struct Block {
        std::unique_ptr<std::byte[]> at;
        std::size_t size;
    };
    void* take_bytes(std::size_t bytes);
    std::vector<Block> blocks_;
    std::size_t current_ = 0, used_ = 0, held_ = 0, bytes_ = 0;
};

struct Record {
    Node y;
    int number;  // in the order in which records were made since the last time all were forgotten
    int size;
    const Node* at;  // the base, sorted
    Word key, check;
    bool is_computed;  // whether a native score has told all inserts
    // The inserts with a positive gain; in the order of x for native scores.
    int count, room;
    Gain* gains;
    // The inserts whose exact gains were wanted, by x.
    int exact_count, exact_room;
    Gain* exact;
    // The deletes, by place in the base.
    double* removals;
    // Of a costly score: which inserts and which deletes it has told.
    Word *told, *told_removals;

    NodeSpan base() const { return {at, static_cast<std::size_t>(size)}; }
    std::span<const Gain> inserts() const { return {gains, static_cast<std::size_t>(count)}; }
    // Return the place of a node of the base.
    int place_of(Node x) const {
        return static_cast<int>(std::lower_bound(at, at + size, x) - at);
    }
};

// A set of families, to count the unique ones; each is two words.
class FamilySet {
public:
    void add(Word key, Word check);
    long long size() const { return size_; }
    std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

private:
    struct Slot {
        Word key = 0, check = 0;
    };
    std::vector<Slot> slots_;
    long long size_ = 0;
    bool has_zero_ = false;
};

// The price of an edge: one number, except for the pairs that are free.
struct Price {
    double cost = 0.0;
    BitMatrix free;  // row y: the x whose edge x → y is free; empty if none is

    double of(Node x, Node y) const { return !free.is_empty() && free[y].has(x) ? 0.0 : cost; }
    double least() const { return free.is_empty() ? cost : std::min(cost, 0.0); }
};

class Gains {
public:
    static constexpr std::size_t LIMIT = std::size_t{256} << 20;

    // `candidates` are, for each y, the sorted x that may become its parents; null: all.
    Gains(std::unique_ptr<Score> score, std::shared_ptr<const Price> price,
          std::shared_ptr<const std::vector<Nodes>> candidates, std::size_t limit);
    Gains another(std::size_t limit) const;  // of the same score, without records

    // Return the record of a node and a base, in any order; make it if it does not exist.
    Record& of(Node y, NodeSpan base);
    // Return the record of the same node and a base with one more node.
    Record& with(const Record& r, Node x);

    // Ask for the wanted inserts, of which there are `count`; also for the exact gains of `also`, which
    // are sorted, if the score has to be called anyway.  Fills `r.gains`.
    void ask_inserts(Record& r, Row wanted, int count, NodeSpan also, Run& run);
    // Ask for the exact gains of sorted nodes outside the base; fills `r.exact`.
    void ask_exact(Record& r, NodeSpan xs, Run& run);
    // Ask for the deletes at some places of the base; fills `r.removals`.
    void ask_deletes(Record& r, Row places, Run& run);
    double exact_gain(const Record& r, Node x) const;  // of one that was asked for
    // The gain of one parent more or less; neither work nor counted.
    double single(Node y, NodeSpan base, Node x, bool adds);
    // The gains of several parents more, by place in `xs`, which are sorted; neither work nor counted.
    void singles(Node y, NodeSpan base, NodeSpan xs, std::vector<double>& gains);
    // The sum of the gains of the wanted inserts.
    double sum_of_inserts(Node y, NodeSpan base, Row wanted, Run& run);
    // local(y, base) − local(y, {}), with the price of the edges.
    double family(Node y, NodeSpan base);

    bool is_full() const { return arena_.used() > limit_; }
    void forget();  // all records: no pointer to one may be left
    void allow_half_full() {  // double the limit if what is needed at once takes half of it
        while (arena_.used() > limit_ / 2) limit_ *= 2;
    }
    std::size_t bytes() const { return arena_.bytes() + slots_.capacity() * sizeof(Slot) + score_->bytes(); }
    int records() const { return records_; }
    int n() const { return n_; }
    bool is_costly() const { return is_costly_; }
    Score& score() { return *score_; }
    const Price& price() const { return *price_; }
    const std::vector<Nodes>* candidates() const { return candidates_.get(); }

    std::shared_ptr<FamilySet> counted;  // all families asked for; null if they are not counted
    void count_family(Node y, NodeSpan base);

private:
    struct Slot {
        Word key;
        Record* record;  // null if the slot is empty
    };
    struct Keys {
        Word key, check;
    };
    Keys keys_of(Node y, NodeSpan base) const;
    Record* find(Keys keys) const;
    void enter(Record* r);
    void grow_table();
    NodeSpan among(const Record& r) const;
    void compute(Record& r, NodeSpan also);
    void compute_deletes(Record& r, NodeSpan places);
    void keep(Record& r, Gain gain);
    void keep_exact(Record& r, Gain gain);
    double single_insert(const Record& r, Node x);
    void count(const Record& r, Row wanted);
    void check(const Record& r, Node x, double gain) const;

    int n_;
    std::unique_ptr<Score> score_;
    std::shared_ptr<const Price> price_;
    std::shared_ptr<const std::vector<Nodes>> candidates_;
    std::size_t limit_;
    bool is_costly_;
    Arena arena_;
    std::vector<Slot> slots_;
    int records_ = 0;
    std::vector<Word> key_, check_;  // two numbers for each node
    std::vector<Gain> found_;
    std::vector<double> also_gains_;
    Nodes missing_, family_;
};

}  // namespace sges
