// Whole searches: what they forget, threads, and every allocation that may fail.
#include <atomic>
#include <new>
#include <thread>

#include "check.hpp"
#include "improve.hpp"

namespace {

// How many allocations of this thread succeed before one fails; below 0: all succeed.  Clang's thread
// sanitizer has operators of its own that cannot be replaced: there none fails.
thread_local long long allocations_left = -1;

[[maybe_unused]] void* allocated(std::size_t size) {
    if (allocations_left == 0) {
        allocations_left = -1;  // what handles the error may allocate
        throw std::bad_alloc();
    }
    if (allocations_left > 0) allocations_left--;
    void* found = std::malloc(size ? size : 1);
    if (!found) throw std::bad_alloc();
    return found;
}

}  // namespace

#if defined(__GNUC__) && !defined(__clang__)  // which sees `free` of what `new` returned, once inlined
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

#if defined(__clang__) && defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SGES_KEEPS_OPERATORS 1
#endif
#endif

#ifndef SGES_KEEPS_OPERATORS
void* operator new(std::size_t size) { return allocated(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {  // of std::stable_sort
    try {
        return allocated(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* at, const std::nothrow_t&) noexcept { std::free(at); }
void* operator new[](std::size_t size) { return allocated(size); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete[](void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
#endif

namespace sges::tests {
namespace {

Gains gains_of(const Score& score, std::size_t limit = Gains::LIMIT) {
    auto price = std::make_shared<Price>();
    price->cost = 1.0;
    return Gains(score.clone(), price, nullptr, limit);
}

// A score that is asked like one in Python.
class Costly : public FamilyScore {
public:
    explicit Costly(std::unique_ptr<Score> score) : score_(std::move(score)) {}
    int n() const override { return score_->n(); }
    double local(Node y, NodeSpan parents) override { return parents.empty() ? 0.0 : score_->family(y, parents); }
    std::unique_ptr<Score> clone() const override { return std::make_unique<Costly>(score_->clone()); }
    bool is_costly() const override { return true; }

private:
    std::unique_ptr<Score> score_;
};

Policy policy_of(bool turns) {
    Policy policy;
    policy.rules.inserts = Which::All;
    policy.rules.largest_t = 64;
    policy.rules.deletes = true;
    policy.rules.turns = turns;
    policy.shuffles = true;
    return policy;
}

Plain improved(Search& search, bool turns) {
    search.start({}, 0.0);
    Improve(search, policy_of(turns)).run();
    return Plain(search.graph());
}

TEST(a_search_with_little_memory_for_gains_takes_the_same_steps_for_the_same_work) {
    for (Word seed = 0; seed < 6; seed++)
        for (bool is_costly : {false, true}) {
            std::unique_ptr<Score> score = gaussian(10, 25, seed);
            if (is_costly) score = std::make_unique<Costly>(std::move(score));
            Search first(gains_of(*score), {}, nullptr), second(gains_of(*score, 1), {}, nullptr);
            const Rules rules = policy_of(seed & 1).rules;
            for (Search* each : {&first, &second}) {
                each->start({}, 0.0);
                each->climb(rules, {});
            }
            CHECK(first.step_count() > 3 && first.step_count() == second.step_count());
            for (int i = 0; i < first.step_count(); i++) {
                const Operator &a = first.steps()[i].op, &b = second.steps()[i].op;
                CHECK(a.kind == b.kind && a.x == b.x && a.y == b.y && a.set == b.set);
            }
            CHECK(first.state().run.work == second.state().run.work);
        }
}

TEST(a_rewound_search_finds_the_same_again) {
    const auto score = gaussian(10, 25, 3);
    Search search(gains_of(*score), {}, nullptr);
    const Rules rules = policy_of(true).rules;
    search.start({}, 0.0);
    search.climb(rules, {.most_steps = 4});
    const Mark mark = search.mark();
    const Plain there(search.graph());
    const double total = search.total();
    search.climb(rules, {});
    const Plain end(search.graph());
    CHECK(search.is_mark(mark) && !(end == there));
    search.rewind(mark);
    CHECK(Plain(search.graph()) == there && search.total() == total && search.step_count() == 4);
    search.climb(rules, {});
    CHECK(Plain(search.graph()) == end);
}

TEST(searches_in_two_threads_share_their_data_and_can_be_halted) {
    const auto score = gaussian(20, 60, 1);
    std::vector<std::unique_ptr<Search>> searches;
    for (int i = 0; i < 2; i++) {
        searches.push_back(std::make_unique<Search>(gains_of(*score), Nodes{}, nullptr));
        searches.back()->start({}, 0.0);
    }
    std::atomic<bool> halted{false};
    const auto climb = [&](int i) {
        try {
            searches[i]->climb(policy_of(true).rules, {});
        } catch (const Stop&) {
        }
    };
    std::thread one(climb, 0), two(climb, 1);
    one.join();
    two.join();
    CHECK(Plain(searches[0]->graph()) == Plain(searches[1]->graph()));
    searches[0]->start({}, 0.0);
    searches[0]->state().run.halted = &halted;
    std::thread three(climb, 0);
    halted = true;
    three.join();
    halted = false;
    climb(0);
    CHECK(Plain(searches[0]->graph()) == Plain(searches[1]->graph()));
}

// Let the k-th allocation fail, for every k up to the number of all; the search is then used again.
void fail_each(const Score& score, bool turns, const Nodes& block) {
    Search usual(gains_of(score), block, nullptr);
    const Plain expected = improved(usual, turns);
    CHECK(usual.graph().edges() > 3);
    long long k = 0;
    for (bool has_ended = false; !has_ended; k++) {
        std::unique_ptr<Search> search;
        allocations_left = k;
        try {
            search = std::make_unique<Search>(gains_of(score), block, nullptr);
            improved(*search, turns);
            has_ended = allocations_left >= 0;  // else one failed whose caller could do without
            allocations_left = -1;
        } catch (const std::bad_alloc&) {
            CHECK(allocations_left < 0);
        }
        if (!search) continue;
        Cpdag& g = search->state().graph;  // a complete state, whose log leads to it
        const Plain now(g);
        CHECK(now == Plain(graph_of(now, block)) && g.fingerprint() == graph_of(now, block).fingerprint());
        CHECK(search->step_count() == 0 || search->steps().back().changes == g.changes());
        CHECK(improved(*search, turns) == expected);
    }
#ifndef SGES_KEEPS_OPERATORS
    CHECK(k > 300);
#endif
}

TEST(a_search_survives_the_failure_of_each_of_its_allocations) {
    fail_each(*gaussian(6, 9, 2), true, {});
    fail_each(*gaussian(6, 18, 4), false, {0, 1});
    fail_each(Costly(gaussian(5, 12, 3)), false, {});
}

}  // namespace
}  // namespace sges::tests
