#include "paths.hpp"

namespace sges {

void Paths::see(Node v, Node from, bool forward) {
    if (forward) {
        if (met_.add_new(v)) came_from_[v] = from, front_.push_back(v);
    } else {
        if (met_back_.add_new(v)) goes_to_[v] = from, back_.push_back(v);
    }
}

// Examine the nodes next to v; return one that was met from the other end, or -1.
Node Paths::step_from(const Cpdag& g, Node v, bool forward, Node x, Node y, bool other) {
    const Marks& met_there = forward ? met_back_ : met_;
    const long long bound = forward ? g.level(x) : g.level(y);
    for (int lines = 0; lines < 2; lines++) {
        const Nodes& some = lines ? g.neighbors(v) : forward ? g.children(v) : g.parents(v);
        for (Node u : some) {
            if (other && (forward ? v == y && u == x : v == x && u == y))
                continue;  // the edge itself is not another path
            if (u != x && u != y && around_.has(u)) continue;
            if (forward ? g.level(u) > bound : g.level(u) < bound) continue;
            see(u, v, forward);
            if (met_there.has(u)) return u;
        }
    }
    return -1;
}

bool Paths::lead(Cpdag& g, Node y, Node x, NodeSpan around, NodeSpan also_around, bool other) {
    g.settle_levels();
    if (g.level(x) < g.level(y)) return false;
    around_.clear();
    for (Node v : around) around_.add(v);
    for (Node v : also_around) around_.add(v);
    met_.clear();
    met_back_.clear();
    front_.clear();
    back_.clear();
    see(y, -1, true);
    see(x, -1, false);
    std::size_t first = 0, second = 0;
    Node meeting = -1;
    while (meeting < 0 && first < front_.size() && second < back_.size()) {
        const bool forward = front_.size() <= back_.size();
        meeting = step_from(g, forward ? front_[first++] : back_[second++], forward, x, y, other);
    }
    searches_++;
    met_by_searches_ += static_cast<long long>(front_.size() + back_.size());
    if (meeting >= 0) trace(meeting, x);
    return meeting >= 0;
}

void Paths::trace(Node meeting, Node x) {
    path_.clear();
    for (Node v = meeting; v >= 0; v = came_from_[v]) path_.push_back(v);
    std::reverse(path_.begin(), path_.end());
    if (meeting == x) return;
    for (Node v = goes_to_[meeting]; v >= 0; v = goes_to_[v]) path_.push_back(v);
}

void Paths::walk(Cpdag& g, Node y, NodeSpan around, long long highest) {
    g.settle_levels();
    met_.clear();
    front_.clear();
    const BitRow unmet = unmet_;
    unmet.fill(g.n());
    for (Node v : around) unmet.take(v);
    const auto meet = [&](Node u, Node from) {
        unmet.take(u);
        if (g.level(u) <= highest) see(u, from, true);
    };
    unmet.take(y);
    see(y, -1, true);
    for (std::size_t i = 0; i < front_.size(); i++) {
        const Node v = front_[i];
        const Nodes &children = g.children(v), &neighbors = g.neighbors(v);
        if (g.has_rows() && static_cast<int>(children.size() + neighbors.size()) > unmet.words) {
            const Row out = g.out_row(v);  // dense: a row at a time
            for (int w = 0; w < out.words; w++)
                each_bit(out.at[w] & unmet.at[w], w << 6, [&](Node u) { meet(u, v); });
            continue;
        }
        for (const Nodes* some : {&children, &neighbors})
            for (Node u : *some)
                if (unmet.has(u)) meet(u, v);
    }
    walks_++;
    met_by_walks_ += static_cast<long long>(front_.size());
}

const Nodes& Paths::path_to(Node x) {
    path_.clear();
    for (Node v = x; v >= 0; v = came_from_[v]) path_.push_back(v);
    std::reverse(path_.begin(), path_.end());
    return path_;
}

void Barriers::add(
    Barrier::Source source, Node y, int lane, int place, double gain, const Nodes& path) {
    if (all_.size() >= room_) leave_out_void();
    const int number = static_cast<int>(all_.size());
    all_.push_back({source, y, lane, place, views_[source][y], gain});
    for (std::size_t i = 0; i + 1 < path.size(); i++)
        through_[path[i]].push_back({number, path[i + 1]});
}

void Barriers::leave_out_void() {
    std::vector<int> number(all_.size(), -1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all_.size(); i++)
        if (is_standing(all_[i])) {
            number[i] = static_cast<int>(kept);
            all_[kept++] = all_[i];
        }
    all_.resize(kept);
    for (auto& through : through_) {
        std::size_t left = 0;
        for (const Step step : through)
            if (number[step.barrier] >= 0) through[left++] = {number[step.barrier], step.next};
        through.resize(left);
    }
    room_ = std::max<std::size_t>(16384, 4 * kept);
}

void Barriers::clear() {
    all_.clear();
    for (auto& through : through_) through.clear();
}

}  // namespace sges
