// What is kept of a score, and grow-shrink over orders, against the score itself.
#include <cmath>
#include <set>

#include "check.hpp"
#include "orders.hpp"

namespace sges::tests {
namespace {

bool near(double a, double b) { return std::fabs(a - b) < 1e-9; }

// A score, what is kept of it, and the same computed afresh.
struct Asked {
    int n;
    mutable Noise score;
    std::shared_ptr<Price> price = std::make_shared<Price>();
    std::shared_ptr<std::vector<Nodes>> candidates;
    Run run;

    Asked(Random& random, bool is_costly, bool has_candidates)
        : n(4 + random.below(6)), score(n, random.next(), is_costly) {
        price->cost = random.real() - 0.3;
        if (random.next() & 1) {
            price->free = BitMatrix(n, n);
            for (Node y = 0; y < n; y++) price->free[y].add(random.below(n));
        }
        if (!has_candidates) return;
        candidates = std::make_shared<std::vector<Nodes>>();
        for (Node y = 0; y < n; y++) {
            Nodes some;
            for (Node x : random.subset(random.order(n)))
                if (x != y) some.push_back(x);
            candidates->push_back(sorted(some));
        }
    }
    Gains gains(std::size_t limit) const { return Gains(score.clone(), price, candidates, limit); }
    bool may(Node x, Node y) const { return !candidates || holds((*candidates)[y], x); }
    double insert(Node y, const Nodes& base, Node x) const { return score.insert(y, base, x) - price->of(x, y); }
};

TEST(what_was_forgotten_is_answered_again_by_the_same_gains_for_the_same_work) {
    for (Word seed = 0; seed < 16; seed++) {
        Random random(300 + seed);
        const Asked asked(random, seed & 1, seed & 2);
        Gains gains = asked.gains(seed & 4 ? 2000 : std::size_t{1} << 20);
        gains.counted = std::make_shared<FamilySet>();
        Gains forgetful = gains.another(1);
        forgetful.counted = nullptr;
        std::set<std::pair<Node, Nodes>> families;  // all that were asked for
        Run first, second;
        const int n = asked.n;
        for (int i = 0; i < 400; i++) {
            if (gains.is_full()) gains.forget();
            if (forgetful.records() > 3) {
                CHECK(forgetful.is_full());
                forgetful.forget();
            }
            const Node y = random.below(n);
            Nodes others, base;
            for (Node x : random.order(n))
                if (x != y) others.push_back(x);
            base = random.subset(others);
            Nodes shuffled = base;
            base = sorted(base);
            Nodes outside;
            for (Node x : sorted(others))
                if (!holds(base, x)) outside.push_back(x);
            Record& a = gains.of(y, shuffled);
            Record& b = forgetful.of(y, base);
            CHECK(&a == &gains.of(y, base) && Nodes(a.base().begin(), a.base().end()) == base);
            const auto count = [&](const Nodes& family) { families.insert({y, sorted(family)}); };
            const auto with = [&](Node x) {
                Nodes more = base;
                more.push_back(x);
                return more;
            };
            const int kind = random.below(4);
            if (kind == 0) {
                Bits wanted(n);
                Nodes some, also;
                for (Node x : random.subset(outside))
                    if (asked.may(x, y)) wanted.add(x), some.push_back(x);
                also = random.subset(outside);
                gains.ask_inserts(a, wanted, wanted.count(), also, first);
                forgetful.ask_inserts(b, wanted, wanted.count(), also, second);
                for (const Record* r : {&a, &b}) {
                    Nodes told;
                    for (Gain g : r->inserts()) {
                        CHECK(near(g.gain, asked.insert(y, base, g.x)) && g.gain > 0 && asked.may(g.x, y));
                        told.push_back(g.x);
                    }
                    for (Node x : some) CHECK(holds(told, x) == (asked.insert(y, base, x) > 0));
                    CHECK(std::set<Node>(told.begin(), told.end()).size() == told.size());
                }
                if (!some.empty()) count(base);
                for (Node x : some) count(with(x));
            } else if (kind == 1) {
                const Nodes some = random.subset(outside);
                gains.ask_exact(a, some, first);
                forgetful.ask_exact(b, some, second);
                for (Node x : some) {
                    CHECK(near(gains.exact_gain(a, x), asked.insert(y, base, x)));
                    CHECK(near(forgetful.exact_gain(b, x), asked.insert(y, base, x)));
                    count(with(x));
                }
                count(base);
            } else if (kind == 2) {
                Bits places(static_cast<int>(base.size()));
                for (int p = 0; p < a.size; p++)
                    if (random.next() & 1) places.add(p);
                gains.ask_deletes(a, places, first);
                forgetful.ask_deletes(b, places, second);
                Row(places).each([&](int p) {
                    Nodes fewer = base;
                    fewer.erase(fewer.begin() + p);
                    CHECK(near(a.removals[p], -asked.insert(y, fewer, base[p])));
                    CHECK(near(b.removals[p], -asked.insert(y, fewer, base[p])));
                    count(fewer);
                });
                if (places.count()) count(base);
            } else {
                double price = 0.0;
                for (Node x : base) price += asked.price->of(x, y);
                CHECK(near(gains.family(y, base), asked.score.local(y, base) - asked.score.local(y, {}) - price));
                std::vector<double> found;
                gains.singles(y, base, outside, found);
                for (std::size_t j = 0; j < outside.size(); j++) {
                    CHECK(near(found[j], asked.insert(y, base, outside[j])));
                    CHECK(near(gains.single(y, with(outside[j]), outside[j], false), -found[j]));
                }
                if (!outside.empty()) {
                    const Record& more = gains.with(gains.of(y, base), outside[0]);
                    CHECK(Nodes(more.base().begin(), more.base().end()) == sorted(with(outside[0])));
                }
            }
            CHECK(first.work == second.work);
        }
        CHECK(gains.counted->size() == static_cast<long long>(families.size()));
    }
}

TEST(a_limit_of_work_stops_before_the_next_question) {
    Random random(5);
    const Asked asked(random, false, false);
    Gains gains = asked.gains(1 << 20);
    Run run;
    run.most_work = 2 * asked.n;
    Bits wanted(asked.n);
    wanted.add(1);
    bool stopped = false;
    int questions = 0;
    try {
        for (Node y = 2; y < asked.n; y++) gains.ask_inserts(gains.of(y, {}), wanted, 1, {}, run), questions++;
    } catch (const Stop& stop) {
        stopped = stop.why == Stop::Work;
    }
    CHECK(stopped == (asked.n > 4) && questions <= 2);
}

TEST(an_arena_gives_separate_aligned_memory_and_uses_its_blocks_again) {
    Arena arena;
    std::size_t bytes = 0;
    for (int round = 0; round < 3; round++) {
        Random random(9);
        std::vector<std::pair<unsigned char*, std::size_t>> all;
        for (int i = 0; i < 200; i++) {
            const std::size_t size = i % 50 == 49 ? std::size_t{600'000} : static_cast<std::size_t>(random.below(5000));
            unsigned char* at = arena.take<unsigned char>(size);
            CHECK(reinterpret_cast<std::uintptr_t>(at) % 16 == 0);
            std::fill(at, at + size, static_cast<unsigned char>(i));
            all.push_back({at, size});
        }
        for (int i = 0; i < 200; i++)
            for (std::size_t j = 0; j < all[i].second; j++) CHECK(all[i].first[j] == static_cast<unsigned char>(i));
        CHECK(arena.used() >= 2'400'000 && (round == 0 || arena.bytes() == bytes));
        bytes = arena.bytes();
        arena.clear();
        CHECK(arena.used() == 0 && arena.bytes() == bytes);
    }
}

// -- orders ----------------------------------------------------------------------------------------

struct Problem {
    const Asked& asked;
    const Knowledge* knowledge;
    Nodes block;
    int max_indegree;

    // The parents that grow-shrink chooses for y, and what they gain beyond the required ones.
    std::pair<Nodes, double> chosen(Node y, const Nodes& before) const {
        Nodes parents, required;
        if (holds(block, y)) return {parents, 0.0};
        if (knowledge) knowledge->required[y].each([&](Node x) { required.push_back(x); });
        parents = required;
        double gain = 0.0;
        while (true) {
            int outside = 0;
            for (Node x : parents) outside += !holds(block, x);
            Node best = -1;
            for (Node x : before) {
                if (holds(parents, x) || !asked.may(x, y) || (knowledge && knowledge->barred[y].has(x))) continue;
                if (max_indegree >= 0 && outside >= max_indegree && !holds(block, x)) continue;
                const double own = asked.insert(y, parents, x);
                if (own > 0 && (best < 0 || own > asked.insert(y, parents, best))) best = x;
            }
            if (best < 0) break;
            gain += asked.insert(y, parents, best);
            parents.push_back(best);
            parents = sorted(parents);
        }
        while (true) {
            Node worst = -1;
            double most = 0.0;
            for (Node x : parents) {
                if (holds(required, x)) continue;
                Nodes fewer = parents;
                fewer.erase(std::find(fewer.begin(), fewer.end(), x));
                const double own = -asked.insert(y, fewer, x);
                if (own >= 0 && (worst < 0 || own > most)) worst = x, most = own;
            }
            if (worst < 0) return {parents, gain};
            gain += most;
            parents.erase(std::find(parents.begin(), parents.end(), worst));
        }
    }
    double gain(const Nodes& order) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < order.size(); i++)
            sum += chosen(order[i], Nodes(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i))).second;
        return sum;
    }
    void check(const Orders& orders) const {
        Nodes before;
        const auto parents = orders.parents();
        for (Node y : orders.order()) {
            CHECK(parents[y] == chosen(y, before).first);
            before.push_back(y);
        }
        CHECK(near(orders.gain(), gain(orders.order())));
    }
};

TEST(orders_choose_as_a_naive_grow_shrink_and_stop_where_no_move_improves) {
    for (Word seed = 0; seed < 24; seed++) {
        Random random(400 + seed);
        const Asked asked(random, seed & 1, seed & 2);
        const int n = asked.n;
        std::shared_ptr<Knowledge> knowledge;
        Problem problem{asked, nullptr, {}, seed & 8 ? 2 : -1};
        if (seed % 3 == 0) problem.block = {0, 2};
        Nodes order = problem.block;
        for (Node v : random.order(n))
            if (!holds(order, v)) order.push_back(v);
        if (seed & 4) {  // some edges are forbidden, and one is required
            knowledge = std::make_shared<Knowledge>();
            knowledge->barred = BitMatrix(n, n);
            knowledge->required = BitMatrix(n, n);
            knowledge->later = BitMatrix(n, n);
            for (Node y = 0; y < n; y++)
                for (Node x = 0; x < n; x++)
                    if (x != y && random.below(4) == 0) knowledge->barred[y].add(x);
            const Node x = order[n - 2], y = order[n - 1];
            knowledge->required[y].add(x), knowledge->barred[y].take(x), knowledge->barred[x].add(y);
            knowledge->later[x].add(y), knowledge->has_order = true;
            problem.knowledge = knowledge.get();
        }
        Run run;
        Orders orders(asked.gains(seed & 16 ? 1 : Orders::LIMIT), knowledge, problem.block, random.order(n),
                      problem.max_indegree);
        orders.run = &run;
        orders.set(order);
        CHECK(orders.order() == order);
        problem.check(orders);
        double last = orders.gain();
        orders.make_all_dirty();
        while (orders.clean(1)) {
            CHECK(orders.gain() > last);
            last = orders.gain();
            problem.check(orders);
        }
        orders.make_all_dirty();
        orders.clean(50);
        const double best = orders.gain();
        for (int from = static_cast<int>(problem.block.size()); from < n; from++)
            for (int to = static_cast<int>(problem.block.size()); to < n; to++) {
                Nodes moved = orders.order();
                const Node v = moved[from];
                moved.erase(moved.begin() + from);
                moved.insert(moved.begin() + to, v);
                const auto at = [&](Node u) { return std::find(moved.begin(), moved.end(), u); };
                if (knowledge && at(order[n - 2]) > at(order[n - 1])) continue;
                CHECK(problem.gain(moved) <= best + 1e-9);
            }
    }
}

}  // namespace
}  // namespace sges::tests
