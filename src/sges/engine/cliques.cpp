#include "cliques.hpp"

namespace sges {

int most_chosen(int size, int limit) {
    if (limit < 0 || (size < 31 && 1LL << size <= limit)) return -1;
    long long sum = 1, choose = 1;
    int chosen = 0;
    while (chosen < size) {
        choose = choose * (size - chosen) / (chosen + 1);
        if (sum + choose > limit) break;
        sum += choose;
        chosen++;
    }
    return std::max(chosen, 1);
}

void Neighborhood::look_near(const Cpdag& g, Node y) {
    y_ = y;
    node_ = g.neighbors(y);
    sort_nodes(node_);
    words_ = words_for(k());
    forget_maximal();
    rows_.assign(place(k()), 0);
    everyone_.assign(words_, 0);
    stack_.resize(place(k() + 2));
    for (int i = 0; i < k(); i++) {
        BitRow{everyone_.data(), words_}.add(i);
        for (int j = 0; j < i; j++)
            if (g.adjacent(node_[i], node_[j])) {
                BitRow{rows_.data() + place(i), words_}.add(j);
                BitRow{rows_.data() + place(j), words_}.add(i);
            }
    }
}

void Neighborhood::look_around(const Cpdag& g) {
    xs_.clear();
    seen_.clear();
    seen_.add(y_);
    g.each_adjacent(y_, [&](Node v) { seen_.add(v); });
    for (Node v : node_)
        g.each_adjacent(v, [&](Node x) {
            if (seen_.add_new(x)) xs_.push_back(x);
        });
    far_ = 1 + g.degree(y_) + static_cast<int>(xs_.size()) < g.n();
    na_.assign(place(static_cast<int>(xs_.size())), 0);
    for (std::size_t i = 0; i < xs_.size(); i++)
        for (int j = 0; j < k(); j++)
            if (g.adjacent(xs_[i], node_[j]))
                BitRow{na_.data() + place(static_cast<int>(i)), words_}.add(j);
}

void Neighborhood::find_maximal(int limit) {
    forget_maximal();
    maximal_.assign(place(k() + 1), 0);
    weight_.assign(k(), 0);
    std::vector<Word> taken(words_, 0);
    const BitRow done{taken.data(), words_};
    int current = 0;
    const auto clique = [&](int i) { return BitRow{maximal_.data() + place(i), words_}; };
    for (int step = 0; step < k(); step++) {
        int best = -1;
        for (int v = 0; v < k(); v++)
            if (!done.has(v) && (best < 0 || weight_[v] > weight_[best])) best = v;
        bool same = true;
        for (int w = 0; w < words_; w++) same &= (row(best).at[w] & taken[w]) == clique(current).at[w];
        if (!same) {
            current++;
            for (int w = 0; w < words_; w++) clique(current).at[w] = row(best).at[w] & taken[w];
        }
        clique(current).add(best);
        done.add(best);
        row(best).each([&](int v) { weight_[v]++; });
    }
    for (int i = 0; i <= current; i++) {
        sizes_.push_back(maximal(i).count());
        most_.push_back(most_chosen(sizes_[i], limit));
        capped_ |= most_[i] >= 0;
    }
}

bool Neighborhood::within_limits(NodeSpan path, int chosen) const {
    for (int i = 0; i < cliques(); i++) {
        if (most_[i] >= 0 && chosen > most_[i]) continue;
        bool inside = true;
        for (int v : path) inside = inside && maximal(i).has(v);
        if (inside) return true;
    }
    return false;
}

}  // namespace sges
