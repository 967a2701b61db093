#include "pdag.hpp"

namespace sges {

Pdag::Pdag(int n, const Nodes& block)
    : n_(n),
      has_rows_(n <= MOST_ROWS),
      out_(has_rows_ ? n : 0, has_rows_ ? n : 0),
      parents_(n),
      children_(n),
      neighbors_(n),
      block_(block),
      level_(n, 0),
      is_doubtful_(n, 0) {
    doubtful_.reserve(2 * static_cast<std::size_t>(n) + 2);  // so that changes can be taken back without memory
    if (block.empty()) return;
    in_block_.assign(n, 0);
    for (Node v : block) in_block_[v] = 1;
    for (Node v = 0; v < n; v++) level_[v] = !in_block_[v];
    top_level_ = 1;
}

bool Pdag::is_listed(Node u, Node v) const {
    if (children_[u].size() + neighbors_[u].size() <= parents_[v].size() + neighbors_[v].size())
        return holds(neighbors_[u], v) || holds(children_[u], v);
    return holds(neighbors_[v], u) || holds(parents_[v], u);
}

void Pdag::take_adjacent(BitRow from, Node v) const {
    if (has_rows_) {
        from.take_all(out_[v]);
    } else {
        for (Node u : children_[v]) from.take(u);
        for (Node u : neighbors_[v]) from.take(u);
    }
    for (Node u : parents_[v]) from.take(u);
}

std::vector<Edge> Pdag::list_edges() const {
    std::vector<Edge> found;
    found.reserve(static_cast<std::size_t>(edges_));
    for (Node u = 0; u < n_; u++) {
        for (Node v : children_[u]) found.push_back({u, v, TO});
        for (Node v : neighbors_[u])
            if (u < v) found.push_back({u, v, LINE});
    }
    return found;
}

std::size_t Pdag::bytes() const {
    std::size_t lists = 0;
    for (const auto* some : {&parents_, &children_, &neighbors_})
        for (const Nodes& list : *some) lists += sizeof(Nodes) + list.capacity() * sizeof(Node);
    return out_.bytes() + lists + log_.capacity() * sizeof(Change) + level_.capacity() * sizeof(level_[0]) +
           doubtful_.capacity() * sizeof(Node) + is_doubtful_.capacity() + in_block_.capacity();
}

void Pdag::unlist(Node u, Node v, int kind) {
    if (kind == TO) {
        drop(children_[u], v), drop(parents_[v], u);
    } else if (kind == FROM) {
        drop(parents_[u], v), drop(children_[v], u);
    } else if (kind == LINE) {
        drop(neighbors_[u], v), drop(neighbors_[v], u);
    }
}

void Pdag::enlist(Node u, Node v, int kind) {
    if (kind == TO) {
        children_[u].push_back(v), parents_[v].push_back(u);
    } else if (kind == FROM) {
        parents_[u].push_back(v), children_[v].push_back(u);
    } else if (kind == LINE) {
        neighbors_[u].push_back(v), neighbors_[v].push_back(u);
    }
}

namespace {

void make_room(Nodes& list) {
    if (list.size() == list.capacity()) list.reserve(std::max<std::size_t>(4, 2 * list.size()));
}

}  // namespace

void Pdag::set_edge(Node u, Node v, int kind) {
    const int before = this->kind(u, v);
    if (before == kind) return;
    make_room(kind == TO ? children_[u] : kind == FROM ? parents_[u] : neighbors_[u]);
    make_room(kind == TO ? parents_[v] : kind == FROM ? children_[v] : neighbors_[v]);
    log_.push_back({u, v, before, kind});
    write(u, v, before, kind);
}

// Change the edge of u and v without logging it; the lists have room.
void Pdag::write(Node u, Node v, int before, int kind) {
    unlist(u, v, before);
    enlist(u, v, kind);
    if ((before ^ kind) & TO) {
        if (has_rows_) out_[u].flip(v);
        fingerprint_ ^= arc(u, v);
    }
    if ((before ^ kind) & FROM) {
        if (has_rows_) out_[v].flip(u);
        fingerprint_ ^= arc(v, u);
    }
    edges_ += (kind != NONE) - (before != NONE);
    if (kind == TO && level_[u] >= level_[v])
        doubt(v);
    else if (kind == FROM && level_[v] >= level_[u])
        doubt(u);
    else if (kind == LINE && level_[u] != level_[v])
        doubt(level_[u] < level_[v] ? u : v);
}

void Pdag::undo_to(int changes) {
    for (int i = this->changes() - 1; i >= changes; i--) {
        const Change last = log_[i];
        set_edge(last.u, last.v, last.before);
    }
}

void Pdag::take_back(int changes) {
    while (this->changes() > changes) {
        const Change last = log_.back();
        log_.pop_back();
        write(last.u, last.v, last.after, last.before);
    }
}

// -- levels ----------------------------------------------------------------------------------------

void Pdag::doubt(Node v) {
    if (is_doubtful_[v] || !has_levels_) return;
    if (next_doubtful_ > static_cast<std::size_t>(n_)) {  // what is done may go
        doubtful_.erase(doubtful_.begin(), doubtful_.begin() + static_cast<std::ptrdiff_t>(next_doubtful_));
        next_doubtful_ = 0;
    }
    doubtful_.push_back(v);
    is_doubtful_[v] = 1;
}

// Raise the levels that are too low, in the order in which they came into doubt.
void Pdag::settle_levels() {
    const long long most = top_level_ + n_;
    while (next_doubtful_ < doubtful_.size()) {
        const Node v = doubtful_[next_doubtful_++];
        is_doubtful_[v] = 0;
        long long level = level_[v];
        for (Node u : parents_[v]) level = std::max(level, level_[u] + 1);
        for (Node u : neighbors_[v]) level = std::max(level, level_[u]);
        if (level == level_[v]) continue;
        if (level > most) {  // it would rise forever: the start is not a CPDAG
            std::fill(level_.begin(), level_.end(), 0);
            has_levels_ = false;
            break;
        }
        level_[v] = level;
        top_level_ = std::max(top_level_, level);
        for (Node u : children_[v])
            if (level_[u] <= level) doubt(u);
        for (Node u : neighbors_[v])
            if (level_[u] < level) doubt(u);
    }
    doubtful_.clear();
    next_doubtful_ = 0;
}

}  // namespace sges
