// What a climb may do, and the clock, budget and interrupts of a run.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "knowledge.hpp"

namespace sges {

enum class Which : int { None = 0, All = 1, Member = 2 };  // inserts: none, all, those of poly-FES

// Which operators one climb may apply (`sges.search.moves.Moves`); -1 is no bound.
struct Rules {
    Which inserts = Which::None;
    int largest_t = 0;
    bool deletes = false, turns = false;
    int clique_bound = -1, size_bound = -1;  // Selective-Generate-Ops, for x outside the block
    int block_bound = -1;                    // the clique bound for x in the block, whose H has no size bound
    bool drop_large = false;
    int max_indegree = -1;
    int sets_per_clique = -1;
    bool operator==(const Rules&) const = default;
};

// Why a search stopped before its end.
struct Stop {
    enum Why : int { Time = 1, Interrupt = 2, Memory = 3, Work = 4 } why;
};

class Run {
public:
    using Clock = std::chrono::steady_clock;

    std::function<void()> tick;  // at most every 20 ms: signals, progress, checkpoint
    Clock::time_point deadline = Clock::time_point::max();
    const std::atomic<bool>* halted = nullptr;  // set by another thread: stop as if time were up
    long long work = 0;  // gains and sets asked for, whether from memory or anew
    long long most_work = -1;
    std::function<std::size_t()> held;  // how many bytes the search holds
    std::size_t most_bytes = 0;         // that it may hold; 0 is no limit

    // Called between two pieces of work; throws `Stop`.
    void check() {
        if (most_work >= 0 && work > most_work) throw Stop{Stop::Work};
        look();
    }
    // The same, but a limit on work does not count here.  The clock is not read at every call while calls
    // follow each other quickly.
    void look() {
        if (most_bytes && (++looks_ & 63) == 0 && held() > most_bytes) throw Stop{Stop::Memory};
        if (--skip_ > 0) return;
        const auto now = Clock::now();
        step_ = now - last_ < std::chrono::microseconds(100) ? std::min(2 * step_, MOST_SKIPPED) : 1;
        skip_ = step_;
        last_ = now;
        if (now > deadline || (halted && halted->load(std::memory_order_relaxed))) throw Stop{Stop::Time};
        if (tick && now >= next_tick_) {
            next_tick_ = now + std::chrono::milliseconds(20);
            tick();
        }
    }

private:
    static constexpr int MOST_SKIPPED = 16;
    int skip_ = 0, step_ = 1;
    Clock::time_point last_{}, next_tick_{};
    unsigned looks_ = 0;
};

// A limit on work until the end of a scope, however that ends.
class WorkLimit {
public:
    WorkLimit(Run& run, long long most) : run_(run), before_(std::exchange(run.most_work, most)) {}
    WorkLimit(const WorkLimit&) = delete;
    ~WorkLimit() { run_.most_work = before_; }

private:
    Run& run_;
    long long before_;
};

}  // namespace sges
