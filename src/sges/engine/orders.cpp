#include "orders.hpp"

#include "lanes.hpp"

namespace sges {

namespace {

constexpr double REACH = 300.0;  // nats by which the score may fall on the way to a better place

// Flip the bit of y in the row of each node that is in only one of two sets.
void flip_changed(BitMatrix& rows, Node y, Row old, Row next) {
    for (int w = 0; w < old.words; w++)
        each_bit(old.at[w] ^ next.at[w], w << 6, [&](Node x) { rows[x].flip(y); });
}

}  // namespace

Orders::Orders(Gains gains, std::shared_ptr<const Knowledge> knowledge, const Nodes& block, Nodes ranking,
               int max_indegree)
    : n_(gains.n()),
      gains_(std::move(gains)),
      knowledge_(std::move(knowledge)),
      first_(static_cast<int>(block.size())),
      max_indegree_(max_indegree),
      ranking_(std::move(ranking)),
      order_(n_, -1),
      place_(n_, 0),
      in_block_(n_, 0),
      chosen_(n_, Choice(n_)),
      grown_of_(n_, n_),
      rivals_of_(n_, n_),
      own_(n_),
      best_own_(n_),
      before_(n_),
      dirty_(n_),
      wanted_(n_) {
    for (Node v : block) in_block_[v] = 1;
}

std::vector<Nodes> Orders::parents() const {
    std::vector<Nodes> found(n_);
    for (Node v = 0; v < n_; v++) Row(chosen_[v].parents).each([&](Node u) { found[v].push_back(u); });
    return found;
}

double Orders::gain() const {
    double sum = 0.0;
    for (const Choice& choice : chosen_) sum += choice.gain;
    return sum;
}

std::size_t Orders::bytes() const {
    const std::size_t row = static_cast<std::size_t>(words_for(n_)) * sizeof(Word);
    return gains_.bytes() + 2 * grown_of_.bytes() + (3 * row + sizeof(Choice)) * (chosen_.size() + tried_.size()) +
           growth_.capacity() * sizeof(Growth) + arena_.bytes();
}

// -- grow and shrink -------------------------------------------------------------------------------

bool Orders::may_be_parent(Node x, Node y) const { return !knowledge_ || !std::as_const(knowledge_->barred)[y].has(x); }

// Ask for all inserts into a base.  The caller counts the work.
void Orders::ask(Record& r) {
    if (r.is_computed && !gains_.counted) return;
    const BitRow wanted = wanted_;
    if (gains_.candidates()) {
        wanted.clear();
        for (Node x : (*gains_.candidates())[r.y]) wanted.add(x);
    } else {
        wanted.fill(n_);
    }
    if (knowledge_) wanted.take_all(std::as_const(knowledge_->barred)[r.y]);
    wanted.take(r.y);
    for (Node x : r.base()) wanted.take(x);
    const long long work = run->work;
    gains_.ask_inserts(r, wanted, wanted_.count(), {}, *run);
    run->work = work;
}

std::span<const Node> Orders::stored(NodeSpan some) {
    Node* at = arena_.take<Node>(some.size());
    std::copy(some.begin(), some.end(), at);
    return {at, some.size()};
}

void Orders::forget() {
    gains_.forget();
    growth_.clear();
    arena_.clear();
}

Orders::Growth& Orders::growth_of(const Record& r) {
    if (growth_.size() <= static_cast<std::size_t>(r.number))
        growth_.resize(2 * static_cast<std::size_t>(r.number) + 64);
    return growth_[r.number];
}

// Remove parents while that does not lower the score; of those that tie, the lowest first.
const Orders::Growth& Orders::shrink(Record& grown) {
    if (growth_of(grown).is_shrunk) return growth_of(grown);
    const auto is_required = [&](Node x) { return knowledge_ && knowledge_->required[grown.y].has(x); };
    Record* r = &grown;
    double total = 0.0;
    while (true) {
        Bits wanted(r->size);
        bool any = false;
        for (int i = 0; i < r->size; i++)
            if (!is_required(r->at[i])) wanted.add(i), any = true;
        if (!any) break;
        gains_.ask_deletes(*r, wanted, *run);
        double highest = NOTHING;
        for (int i = 0; i < r->size; i++)
            if (wanted.has(i)) highest = std::max(highest, r->removals[i]);
        if (highest < -tolerance) break;
        int first = 0;
        while (!wanted.has(first) || r->removals[first] < highest - tolerance) first++;
        total += r->removals[first];
        left_.assign(r->at, r->at + r->size);
        left_.erase(left_.begin() + first);
        r = &gains_.of(grown.y, left_);
    }
    Growth& growth = growth_of(grown);
    growth.is_shrunk = true;
    growth.shrunk_gain = total;
    growth.shrunk = stored(r->base());
    return growth;
}

// Find the parents that grow-shrink chooses among the nodes before y.
void Orders::choose(Node y, Row before, Choice& to) {
    if (gains_.is_full()) {
        forget();
    } else if (arena_.used() > LIMIT) {
        growth_.clear();
        arena_.clear();
    }
    to.parents.clear();
    to.grown.clear();
    to.rivals.clear();
    to.gain = 0.0;
    to.is_made = true;
    if (in_block_[y]) return;
    left_.clear();
    if (knowledge_) std::as_const(knowledge_->required)[y].each([&](Node x) { left_.push_back(x); });
    int size = 0;  // parents outside the block
    for (Node x : left_) size += !in_block_[x];
    Record* r = &gains_.of(y, left_);
    while (true) {
        const bool only_block = max_indegree_ >= 0 && size >= max_indegree_;
        if (only_block && first_ == 0) break;
        run->work += n_;
        Growth& growth = growth_of(*r);
        // If the node that was added before is still the best one, nothing has to be compared.
        const bool is_known = growth.by >= 0 && before.has(growth.by) &&
                              std::none_of(growth.better.begin(), growth.better.end(),
                                           [&](Node x) { return before.has(x); });
        const bool any = is_known || find_best(*r, before, only_block, growth);
        for (Node x : growth.better) to.rivals.add(x);
        if (!any) break;
        to.grown.add(growth.by);
        to.gain += growth.gain;
        size += !in_block_[growth.by];
        r = growth.next;
    }
    const Growth& growth = shrink(*r);
    to.gain += growth.shrunk_gain;
    for (Node x : growth.shrunk) to.parents.add(x);
}

// Find the node before y whose insert gains most, of those that tie the lowest, and the nodes that are
// not before y and would be added first; return whether there is such a node.
bool Orders::find_best(Record& r, Row before, bool only_block, Growth& growth) {
    ask(r);
    const auto counts = [&](const Gain& g) {
        return may_be_parent(g.x, r.y) && (!only_block || in_block_[g.x]);
    };
    double highest = tolerance;
    for (const Gain& g : r.inserts())
        if (g.gain > highest && before.has(g.x) && counts(g)) highest = g.gain;
    const bool any = highest > tolerance;
    const double floor = any ? highest - tolerance : tolerance;
    Node best = -1;
    better_.clear();
    for (const Gain& g : r.inserts()) {
        if (g.gain < floor || !counts(g)) continue;
        if (!before.has(g.x))
            better_.push_back(g.x);
        else if (any && (best < 0 || g.x < best))
            best = g.x, growth.gain = g.gain;
    }
    growth.better = stored(better_);
    if (!any) {
        growth.by = -1;
        return false;
    }
    if (growth.by != best || !growth.next) growth.next = &gains_.with(r, best);
    growth.by = best;
    return true;
}

// Change the choice of a node.
void Orders::set_choice(Node y, const Choice& next) {
    Choice& old = chosen_[y];
    flip_changed(grown_of_, y, old.grown, next.grown);
    flip_changed(rivals_of_, y, old.rivals, next.rivals);
    old = next;
}

bool Orders::is_stale(Node v, Row before) const {
    const Choice& choice = chosen_[v];
    return !choice.is_made || !Row(choice.grown).is_inside(before) || Row(choice.rivals).meets(before);
}

void Orders::set(const Nodes& order) {
    dirty_.clear();
    for (int i = 0; i < n_; i++)
        if (order_[i] != order[i]) dirty_.add(order[i]);
    order_ = order;
    for (int i = 0; i < n_; i++) place_[order_[i]] = i;
    before_.clear();
    for (Node v : order_) {
        if (is_stale(v, before_)) {
            run->look();
            choose(v, before_, own_);
            dirty_around(v, chosen_[v], own_);
            set_choice(v, own_);
        }
        before_.add(v);
    }
}

// A node has a new choice: it may have a better place, and its old and new parents too.
void Orders::dirty_around(Node v, const Choice& before, const Choice& after) {
    dirty_.add(v);
    Row(before.parents).each([&](Node u) { dirty_.add(u); });
    Row(after.parents).each([&](Node u) { dirty_.add(u); });
}

void Orders::make_all_dirty() {
    for (Node v : order_) dirty_.add(v);
}

// -- moves -----------------------------------------------------------------------------------------

bool Orders::clean(int passes) {
    bool any = false;
    for (int pass = 0; pass < passes; pass++) {
        bool is_clean = true;
        for (Node v : ranking_) {
            if (in_block_[v] || !dirty_.has(v)) continue;
            run->check();
            dirty_.take(v);
            is_clean = false;
            any |= move(v);
        }
        if (is_clean) break;
    }
    return any;
}

// Choose for a node that is passed, with the nodes that are before it then.
Orders::Choice& Orders::try_choice(Node u, Row before) {
    if (tries_ == tried_.size()) tried_.emplace_back(n_), tried_node_.push_back(-1);
    choose(u, before, tried_[tries_]);
    tried_node_[tries_] = u;
    return tried_[tries_++];
}

void Orders::begin_sweep(Node v) {
    tries_ = 0;
    before_.clear();
    for (int i = 0; i < place_[v]; i++) before_.add(order_[i]);
    own_ = chosen_[v];
}

// Compare the places for v on one side; return the best gain seen so far.
//
// The nodes whose parents change when v passes them are in one row, because most are not: the rows of
// all nodes that v passes would not stay in the cache.
double Orders::sweep(Node v, bool left, double best, int& best_at, std::size_t& best_tries) {
    const Row grown_of = std::as_const(grown_of_)[v], rivals_of = std::as_const(rivals_of_)[v];
    const double mine = chosen_[v].gain;
    double shift = 0.0;
    begin_sweep(v);
    for (int at = place_[v];;) {
        at += left ? -1 : 1;
        if (at < first_ || at >= n_) return best;
        const Node u = order_[at];
        if (knowledge_ && knowledge_->has_order && knowledge_->later[left ? u : v].has(left ? v : u)) return best;
        if (left) {
            before_.take(u);
            if (rivals_of.has(u)) {
                before_.add(v);
                shift += try_choice(u, before_).gain - chosen_[u].gain;
                before_.take(v);
            }
            if (own_.grown.has(u)) choose(v, before_, own_);
        } else {
            if (grown_of.has(u)) shift += try_choice(u, before_).gain - chosen_[u].gain;
            before_.add(u);
            if (own_.rivals.has(u)) choose(v, before_, own_);
        }
        places_++;
        const double gain = own_.gain - mine + shift;
        if (gain > best + tolerance) {
            best = gain;
            best_at = at;
            best_tries = tries_;
            best_own_ = own_;
        }
        if (gain < -REACH) return best;
    }
}

// Make the choices of a place on the left again.
void Orders::sweep_again(Node v, int to) {
    begin_sweep(v);
    for (int at = place_[v]; at-- > to;) {
        const Node u = order_[at];
        before_.take(u);
        if (std::as_const(rivals_of_)[v].has(u)) {
            before_.add(v);
            try_choice(u, before_);
            before_.take(v);
        }
        if (own_.grown.has(u)) choose(v, before_, own_);
    }
    best_own_ = own_;
}

// Move v to its best place, if that is better; return whether it moved.
bool Orders::move(Node v) {
    int at = -1, right_at = -1;
    std::size_t tries = 0, right_tries = 0;
    const double best = sweep(v, true, 0.0, at, tries);
    sweep(v, false, best, right_at, right_tries);  // overwrites the tries of the left
    if (right_at >= 0) {
        put(v, right_at, right_tries);
        return true;
    }
    if (at < 0) return false;
    sweep_again(v, at);
    put(v, at, tries_);
    return true;
}

// Move v to a place, and keep the choices that were made on the way there.
void Orders::put(Node v, int at, std::size_t tries) {
    int now = place_[v];
    for (; now > at; now--) place_[order_[now] = order_[now - 1]] = now;
    for (; now < at; now++) place_[order_[now] = order_[now + 1]] = now;
    order_[at] = v;
    place_[v] = at;
    for (std::size_t i = 0; i < tries; i++) {
        dirty_around(tried_node_[i], chosen_[tried_node_[i]], tried_[i]);
        set_choice(tried_node_[i], tried_[i]);
    }
    dirty_around(v, chosen_[v], best_own_);
    set_choice(v, best_own_);
}

}  // namespace sges
