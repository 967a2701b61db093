// What the unit tests of the engine share: checks, random numbers, scores and naive graphs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "cpdag.hpp"
#include "gains.hpp"

// End the program if a claim is false: everything after it would be about another state.
#define CHECK(claim)                                                            \
    do {                                                                        \
        if (!(claim)) {                                                         \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #claim);             \
            std::fflush(stdout);                                                \
            std::abort();                                                       \
        }                                                                       \
    } while (false)

// TEST(name) { ... } adds a test to the list that `main` runs.
#define TEST(name)                                                              \
    static void name();                                                         \
    static const bool name##_is_listed = (sges::tests::all().push_back({#name, name}), true); \
    static void name()

namespace sges::tests {

struct Test {
    const char* name;
    void (*run)();
};
std::vector<Test>& all();

// The same numbers on every machine.
class Random {
public:
    explicit Random(Word seed) : state_(seed) {}
    Word next() { return mixed(state_++); }
    int below(int n) { return static_cast<int>(next() % static_cast<Word>(n)); }
    double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)
    Nodes order(int n);
    Nodes subset(const Nodes& of);

private:
    Word state_;
};

inline Nodes sorted(Nodes some) {
    sort_nodes(some);
    return some;
}

// -- scores ----------------------------------------------------------------------------------------

// Any number for each family: no two alike, and not the same for equivalent graphs.
class Noise : public FamilyScore {
public:
    Noise(int n, Word seed, bool is_costly) : n_(n), seed_(seed), is_costly_(is_costly) {}
    double local(Node y, NodeSpan parents) override;
    double insert(Node y, const Nodes& base, Node x);
    int n() const override { return n_; }
    std::unique_ptr<Score> clone() const override { return std::make_unique<Noise>(n_, seed_, is_costly_); }
    bool is_costly() const override { return is_costly_; }

private:
    int n_;
    Word seed_;
    bool is_costly_;
};

// The gains of BIC from the correlations of a random DAG, whose matrix it owns.
std::unique_ptr<Score> gaussian(int n, int edges, Word seed);

// -- naive graphs ----------------------------------------------------------------------------------

// u → v or u — v: bit v of row u.
struct Plain {
    int n = 0;
    std::vector<unsigned> out;

    explicit Plain(int nodes = 0) : n(nodes), out(static_cast<std::size_t>(nodes), 0) {}
    explicit Plain(const Pdag& g);
    bool has(Node u, Node v) const { return out[u] >> v & 1; }
    bool arrow(Node u, Node v) const { return has(u, v) && !has(v, u); }
    bool line(Node u, Node v) const { return has(u, v) && has(v, u); }
    bool adjacent(Node u, Node v) const { return has(u, v) || has(v, u); }
    bool is_acyclic() const;  // of a DAG
    bool operator==(const Plain&) const = default;
    bool operator<(const Plain& other) const { return out < other.out; }
};

// Make a graph with the edges of another; the log is empty.
Cpdag graph_of(const Plain& edges, const Nodes& block = {});

// Whether a semi-directed path leads from y to x around a set, by trying all; `other`: not by x — y.
bool naive_path(const Plain& g, Node y, Node x, const Nodes& around, bool other = false);
bool is_clique(const Plain& g, const Nodes& some);

// Take random valid operators: what `use` is told about is the graph and the next operator.
void wander(Cpdag& g, Random& random, int steps, const std::function<void(const Operator&)>& use);

}  // namespace sges::tests
