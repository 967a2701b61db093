// Semi-directed paths against a naive search, and cliques against all sets.
#include "check.hpp"
#include "cliques.hpp"
#include "paths.hpp"

namespace sges::tests {
namespace {

void check_path(const Plain& g, const Nodes& path, Node y, Node x, const Nodes& around) {
    CHECK(path.size() >= 2 && path.front() == y && path.back() == x);
    for (std::size_t i = 0; i + 1 < path.size(); i++) {
        CHECK(g.has(path[i], path[i + 1]));
        if (i > 0) CHECK(!holds(around, path[i]));
    }
}

TEST(paths_are_those_of_a_naive_search) {
    for (Word seed = 0; seed < 8; seed++) {
        Random random(100 + seed);
        const int n = 7 + 2 * static_cast<int>(seed);
        Cpdag g(n);
        Paths paths(n);
        int found = 0, missing = 0;
        wander(g, random, 50, [&](const Operator&) {
            const Plain now(g);
            for (int i = 0; i < 20; i++) {
                const Node y = random.below(n), x = random.below(n);
                if (x == y) continue;
                Nodes around, also;
                for (Node v = 0; v < n; v++)
                    if (v != x && v != y && random.below(4) == 0) (random.next() & 1 ? around : also).push_back(v);
                Nodes both = around;
                both.insert(both.end(), also.begin(), also.end());
                const bool other = random.next() & 1, leads = naive_path(now, y, x, both, other);
                CHECK(paths.lead(g, y, x, around, also, other) == leads);
                (leads ? found : missing)++;
                if (leads) {
                    check_path(now, paths.path(), y, x, both);
                    CHECK(!other || paths.path().size() > 2);
                }
                paths.walk(g, y, both, g.level(x));
                CHECK(paths.is_reached(x) == naive_path(now, y, x, both));
                if (paths.is_reached(x)) check_path(now, paths.path_to(x), y, x, both);
            }
        });
        CHECK(found > 50 && missing > 50);
    }
}

TEST(a_barrier_is_lifted_once_by_any_step_of_its_path_and_is_void_with_new_lanes) {
    Barriers barriers(4);
    const auto lifted = [&](Node u, Node v) {
        std::vector<int> lanes;
        barriers.lift(u, v, [&](const Barrier& b) { lanes.push_back(b.lane); });
        return lanes;
    };
    barriers.begin_view(Barrier::Inserts, 0);
    barriers.begin_view(Barrier::Turns, 0);
    barriers.add(Barrier::Inserts, 0, 5, 0, 1.0, {0, 1, 2});
    barriers.add(Barrier::Turns, 0, 6, 0, 1.0, {0, 1, 3});
    CHECK(lifted(2, 1).empty());
    CHECK(lifted(1, 2) == std::vector<int>{5});
    CHECK(lifted(0, 1) == std::vector<int>{6});
    barriers.add(Barrier::Inserts, 0, 7, 0, 1.0, {0, 1, 2});
    barriers.begin_view(Barrier::Inserts, 0);
    CHECK(lifted(0, 1).empty());
    for (int i = 0; i < 10'000; i++) {  // void ones are left out
        if (i % 3) barriers.begin_view(Barrier::Inserts, 0);
        barriers.add(Barrier::Inserts, 0, i, 0, 1.0, {0, 1});
    }
    CHECK((lifted(0, 1) == std::vector<int>{9'998, 9'999} || lifted(0, 1).empty()));
}

TEST(cliques_are_those_among_all_sets) {
    for (Word seed = 0; seed < 8; seed++) {
        Random random(200 + seed);
        const int n = 5 + static_cast<int>(seed);
        Cpdag g(n);
        Neighborhood near(n);
        wander(g, random, 60, [&](const Operator&) {
            const Plain now(g);
            const Node y = random.below(n);
            near.look_near(g, y);
            CHECK(near.nodes() == sorted(g.neighbors(y)));
            const int k = near.k();
            const auto nodes_of = [&](NodeSpan places) {
                Nodes found;
                for (int i : places) found.push_back(near.node(i));
                return found;
            };
            std::vector<Nodes> cliques;
            for (unsigned set = 0; set < 1u << k; set++) {
                Nodes some;
                for (int i = 0; i < k; i++)
                    if (set >> i & 1) some.push_back(near.node(i));
                if (is_clique(now, some)) cliques.push_back(some);
            }
            const auto listed = [&](NodeSpan core) {
                std::vector<Nodes> found;
                const auto use = [&](NodeSpan path) {
                    found.push_back(sorted(nodes_of(path)));
                    return true;
                };
                Bits row(k);
                for (int i : core) row.add(i);
                if (core.empty()) near.each_clique(use);
                else near.each_clique_with(row, use);
                std::sort(found.begin(), found.end());
                return found;
            };
            std::sort(cliques.begin(), cliques.end());
            CHECK(listed({}) == cliques);
            Nodes core;
            for (int i = 0; i < k; i++)
                if (random.below(3) == 0) core.push_back(i);
            std::vector<Nodes> with;
            for (const Nodes& each : cliques) {
                bool all = true;
                for (Node v : nodes_of(core)) all = all && holds(each, v);
                if (all) with.push_back(each);
            }
            CHECK(listed(core) == with);

            const int limit = random.below(12) - 1;
            near.find_maximal(limit);
            std::vector<Nodes> maximal, expected;
            for (int i = 0; i < near.cliques(); i++) {
                Nodes places;
                near.maximal(i).each([&](int v) { places.push_back(v); });
                maximal.push_back(nodes_of(places));
                CHECK(near.size_of(i) == static_cast<int>(places.size()));
                CHECK(near.most(i) == most_chosen(near.size_of(i), limit));
            }
            for (const Nodes& each : cliques) {
                bool grows = false;
                for (const Nodes& larger : cliques)
                    grows = grows || (larger.size() > each.size() &&
                                      std::includes(larger.begin(), larger.end(), each.begin(), each.end()));
                if (!grows) expected.push_back(each);
            }
            std::sort(maximal.begin(), maximal.end());
            CHECK(maximal == expected);

            near.look_around(g);
            Nodes around;
            for (Node x = 0; x < n; x++) {
                bool beside = false;
                for (Node v : near.nodes()) beside = beside || now.adjacent(v, x);
                if (x != y && !now.adjacent(x, y) && beside) around.push_back(x);
            }
            CHECK(sorted(near.xs()) == around);
            for (std::size_t i = 0; i < near.xs().size(); i++)
                for (int j = 0; j < k; j++)
                    CHECK(near.na(static_cast<int>(i)).has(j) == now.adjacent(near.xs()[i], near.node(j)));
            CHECK(near.has_far() == (1 + g.degree(y) + static_cast<int>(around.size()) < n));
        });
    }
}

TEST(a_limit_on_subsets_admits_sets_of_whole_sizes) {
    for (int size = 0; size < 40; size++)
        for (int limit : {-1, 1, 2, 10, 64, 1000}) {
            const int most = most_chosen(size, limit);
            double subsets = 0.0, choose = 1.0;  // of up to `most` nodes
            for (int i = 0; i <= (most < 0 ? size : most); i++) {
                subsets += choose;
                choose = choose * (size - i) / (i + 1);
            }
            if (most < 0)
                CHECK(limit < 0 || subsets <= limit);
            else
                CHECK((most == 1 || subsets <= limit) && most <= std::max(size, 1) && subsets + choose > limit);
        }
}

}  // namespace
}  // namespace sges::tests
