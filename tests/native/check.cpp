#include "check.hpp"

#include <cmath>
#include <cstring>

#include "scores/gaussian.hpp"

namespace sges::tests {

std::vector<Test>& all() {
    static std::vector<Test> tests;
    return tests;
}

Nodes Random::order(int n) {
    Nodes found(n);
    for (Node v = 0; v < n; v++) found[v] = v;
    for (int i = n; i > 1; i--) std::swap(found[i - 1], found[below(i)]);
    return found;
}

Nodes Random::subset(const Nodes& of) {
    Nodes found;
    for (Node v : of)
        if (next() & 1) found.push_back(v);
    return found;
}

// -- scores ----------------------------------------------------------------------------------------

double Noise::local(Node y, NodeSpan base) {
    Word key = mixed(seed_ + static_cast<Word>(y));
    for (Node x : base) key += mixed(mixed(seed_ ^ 77u) + static_cast<Word>(x * 64 + y));
    const double any = static_cast<double>(mixed(key) >> 11) * 0x1p-53;
    return 10.0 * any - 1.5 * static_cast<double>(base.size());
}

double Noise::insert(Node y, const Nodes& base, Node x) {
    Nodes more = base;
    more.push_back(x);
    return local(y, sorted(more)) - local(y, base);
}

namespace {

struct Owner : Gaussian::Data {
    std::vector<double> entries;
};

}  // namespace

std::unique_ptr<Score> gaussian(int n, int edges, Word seed) {
    Random random(seed);
    const std::size_t size = static_cast<std::size_t>(n);
    std::vector<std::vector<double>> weight(size, std::vector<double>(size, 0.0)), mix = weight;
    for (int i = 0; i < edges; i++) {
        const Node u = random.below(n), v = random.below(n);
        if (u < v) weight[v][u] = (random.next() & 1 ? 1 : -1) * (0.4 + random.real());
    }
    for (Node v = 0; v < n; v++) {  // each variable as a sum of independent ones
        mix[v][v] = 1.0;
        for (Node u = 0; u < v; u++)
            for (Node w = 0; w < n; w++) mix[v][w] += weight[v][u] * mix[u][w];
    }
    auto data = std::make_shared<Owner>();
    data->entries.resize(size * size);
    const auto product = [&](Node u, Node v) {
        double sum = 0.0;
        for (Node w = 0; w < n; w++) sum += mix[u][w] * mix[v][w];
        return sum;
    };
    for (Node u = 0; u < n; u++)
        for (Node v = 0; v <= u; v++) {
            const double noise = u == v ? 0.0 : 0.02 * (random.real() - 0.5);  // as in a sample
            const double r = u == v ? 1.0 : 0.98 * product(u, v) / std::sqrt(product(u, u) * product(v, v)) + noise;
            data->entries[static_cast<std::size_t>(u) * size + static_cast<std::size_t>(v)] = r;
            data->entries[static_cast<std::size_t>(v) * size + static_cast<std::size_t>(u)] = r;
        }
    data->matrix = {data->entries.data(), n, false};
    data->half = 500.0;
    data->per_parent = 3.0;
    return std::make_unique<Gaussian>(data);
}

// -- naive graphs ----------------------------------------------------------------------------------

Plain::Plain(const Pdag& g) : Plain(g.n()) {
    for (Node u = 0; u < n; u++)
        for (Node v = 0; v < n; v++)
            if (u != v && g.points(u, v)) out[u] |= 1u << v;
}

bool Plain::is_acyclic() const {
    unsigned left = (1u << n) - 1;
    for (bool any = true; any;) {
        any = false;
        for (Node v = 0; v < n; v++)
            if (left >> v & 1 && !(out[v] & left)) left &= ~(1u << v), any = true;
    }
    return left == 0;
}

Cpdag graph_of(const Plain& edges, const Nodes& block) {
    Cpdag g(edges.n, block);
    for (Node u = 0; u < edges.n; u++)
        for (Node v = 0; v < edges.n; v++) {
            if (edges.arrow(u, v)) g.set_edge(u, v, TO);
            if (u < v && edges.line(u, v)) g.set_edge(u, v, LINE);
        }
    g.forget_log(0);
    return g;
}

bool naive_path(const Plain& g, Node y, Node x, const Nodes& around, bool other) {
    unsigned closed = 1u << y;
    for (Node v : around) closed |= 1u << v;
    closed &= ~(1u << x);
    const std::function<bool(Node)> from = [&](Node v) {
        for (Node u = 0; u < g.n; u++) {
            if (!g.has(v, u) || (other && v == y && u == x)) continue;
            if (u == x) return true;
            if (closed >> u & 1) continue;
            closed |= 1u << u;
            if (from(u)) return true;
        }
        return false;
    };
    return from(y);
}

bool is_clique(const Plain& g, const Nodes& some) {
    for (Node u : some)
        for (Node v : some)
            if (u != v && !g.adjacent(u, v)) return false;
    return true;
}

void wander(Cpdag& g, Random& random, int steps, const std::function<void(const Operator&)>& use) {
    while (steps > 0) {
        const Plain now(g);
        const Node x = random.below(g.n()), y = random.below(g.n());
        if (x == y) continue;
        Operator op{Move::Insert, x, y, {}, 0.0};
        Nodes common, others;
        for (Node v : sorted(g.neighbors(y)))
            if (v != x) (now.adjacent(v, x) ? common : others).push_back(v);
        if (now.has(x, y)) {
            if (random.below(3)) continue;  // so that the graph grows
            op.kind = Move::Delete;
            op.set = random.subset(common);
            Nodes kept;
            for (Node v : common)
                if (!holds(op.set, v)) kept.push_back(v);
            if (!is_clique(now, kept)) continue;
        } else {
            if (now.has(y, x)) continue;
            op.set = random.subset(others);
            common.insert(common.end(), op.set.begin(), op.set.end());
            if (!is_clique(now, common) || naive_path(now, y, x, common)) continue;
        }
        use(op);
        g.apply(op);
        steps--;
    }
}

}  // namespace sges::tests

// Run the tests whose names contain the first argument, or all.
int main(int count, char** words) {
    int run = 0;
    for (const auto& test : sges::tests::all()) {
        if (count > 1 && !std::strstr(test.name, words[1])) continue;
        std::printf("%s\n", test.name);
        std::fflush(stdout);
        test.run();
        run++;
    }
    std::printf("%d tests passed\n", run);
    return run == 0;
}
