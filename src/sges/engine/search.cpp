#include "search.hpp"

#include <cmath>
#include <utility>

namespace sges {

namespace {

constexpr double DOUBTFUL_PARTS = 1e6;  // a gain of at most the total over this may be rounding

}  // namespace

Search::Search(Gains gains, const Nodes& block, std::shared_ptr<const Knowledge> knowledge)
    : s_(std::move(gains), block),
      deletes_(s_.n()),
      turns_(s_.n()),
      inserts_(s_.n()),
      admission_(s_.n()),
      is_stale_(s_.n()) {
    s_.knowledge = std::move(knowledge);
    s_.run.held = [this] { return bytes() + (bytes_beside ? bytes_beside() : 0); };
}

double Search::tolerance() const { return 1e-12 * std::max(1.0, std::fabs(total_)); }

bool Search::is_doubtful(double gain) const {
    return gain * DOUBTFUL_PARTS <= std::max(1.0, std::fabs(total_));
}

std::size_t Search::bytes() const {
    constexpr std::size_t SET = 32;  // about what the set of a step takes
    return s_.graph.bytes() + s_.gains.bytes() + s_.barriers.bytes() + inserts_.bytes() + deletes_.bytes() +
           turns_.bytes() + steps_.capacity() * (sizeof(Step) + SET) + touched_.capacity() * sizeof(Node) +
           left_.bytes() + (s_.gains.counted ? s_.gains.counted->bytes() : 0);
}

void Search::set_knowledge(std::shared_ptr<const Knowledge> knowledge) {
    close();
    s_.knowledge = std::move(knowledge);
    admitted_at_ = -1;
    for (Step& step : steps_) step.admitted_at = -1;
}

void Search::start(const std::vector<Edge>& edges, double total) {
    close();
    for (const Edge& old : s_.graph.list_edges()) s_.graph.set_edge(old.u, old.v, NONE);
    for (const Edge& each : edges) s_.graph.set_edge(each.u, each.v, each.kind);
    s_.graph.forget_log(0);
    settled_ = 0;
    steps_.clear();
    touched_.clear();
    left_.clear();
    admitted_at_ = -1;
    capped_ = -1;
    total_ = start_total_ = total;
}

// -- sources ---------------------------------------------------------------------------------------

void Search::close() {
    if (!is_open_) return;
    inserts_.clear();
    deletes_.clear();
    turns_.clear();
    s_.barriers.clear();
    is_open_ = false;
}

// Make the operators of the state for these rules; every view is out of date.
void Search::open(const Rules& rules) {
    if (is_open_ && rules == s_.rules) return;
    close();
    s_.rules = rules;
    s_.tolerance = tolerance();
    stale_.clear();
    is_stale_.clear();
    for (Node y = 0; y < s_.n(); y++) is_stale_.add(y), stale_.push_back(y);
    lost_.clear();
    turned_.clear();
    is_open_ = true;
}

// Bring the operators up to date with the state; then forget gains beyond the limit.
void Search::refresh() {
    refresh_stale();
    if (capped_ < 0 && deletes_.capped_nodes() + turns_.capped_nodes() + inserts_.capped_nodes() > 0)
        capped_ = step_count();
    if (!s_.gains.is_full()) return;
    struct Unchanged {  // asking again does not count as work
        State& s;
        double tolerance = s.tolerance;
        long long work = s.run.work, most_work = std::exchange(s.run.most_work, -1), considered = s.considered;
        ~Unchanged() { s.run.work = work, s.run.most_work = most_work, s.considered = considered; }
    } const until_end{s_};
    const Rules rules = s_.rules;
    close();
    s_.gains.forget();
    open(rules);
    s_.tolerance = until_end.tolerance;
    refresh_stale();
    s_.gains.allow_half_full();
}

void Search::refresh_stale() {
    const Rules& rules = s_.rules;
    if (s_.is_consistent && rules.deletes && filtered_ != s_.graph.fingerprint())  // it depends on the whole state
        for (Node y = 0; y < s_.n(); y++)
            if (s_.graph.degree(y) && is_stale_.add_new(y)) stale_.push_back(y);
    filtered_ = s_.graph.fingerprint();  // or deletes that were rejected there would be offered again
    if (stale_.empty()) return;
    if (rules.inserts != Which::None) inserts_.spread(s_, stale_, is_stale_);
    if (rules.deletes)
        for (Node y : stale_) deletes_.refresh(s_, y);
    if (rules.turns) {
        for (Node y : stale_) turns_.refresh(s_, y);
        turns_.rescore(s_, turned_, is_stale_);
    }
    if (rules.inserts != Which::None)
        for (Node y : stale_) inserts_.refresh(s_, y);
    for (const Edge& gone : lost_)
        s_.barriers.lift(gone.u, gone.v, [&](const Barrier& barrier) {
            if (barrier.source == Barrier::Turns)
                turns_.lift(s_, barrier);
            else
                inserts_.lift(s_, barrier);
        });
    stale_.clear();
    is_stale_.clear();
    lost_.clear();
    turned_.clear();
}

void Search::offer_again() {
    inserts_.offer_again(s_);
    deletes_.offer_again(s_);
    turns_.offer_again(s_);
}

void Search::reject(const Found& found) {
    if (found.op.kind == Move::Delete)
        deletes_.reject(s_, found);
    else if (found.op.kind == Move::Turn)
        turns_.reject(s_, found);
    else
        inserts_.reject(s_, found);
}

// Find the best delete, or else the best turn, or else the best insert.
std::optional<Found> Search::find() {
    std::optional<Found> found;
    if (s_.rules.deletes) found = deletes_.best(s_);
    if (!found && s_.rules.turns) found = turns_.best(s_);
    if (!found && s_.rules.inserts != Which::None) found = inserts_.best(s_);
    return found;
}

// -- views that are out of date --------------------------------------------------------------------

void Search::touch(Node v) {
    if (is_stale_.add_new(v)) stale_.push_back(v);
    touched_.push_back(v);
}

// Find the views that the changes of the log from `first` on make stale.  A change that was undone
// since does not count, and of several changes of one edge only the first.
void Search::note_changes(int first) {
    const auto& log = s_.graph.log();
    auto& all = pairs_;
    all.clear();
    for (int i = first; i < s_.graph.changes(); i++)
        all.push_back({std::min(log[i].u, log[i].v), std::max(log[i].u, log[i].v), i});
    std::sort(all.begin(), all.end(), [](const Changed& a, const Changed& b) {
        return std::tie(a.u, a.v, a.at) < std::tie(b.u, b.v, b.at);
    });
    for (std::size_t i = 0; i < all.size(); i++) {
        if (i > 0 && all[i].u == all[i - 1].u && all[i].v == all[i - 1].v) continue;
        const Change& change = log[all[i].at];
        const int kind = s_.graph.kind(change.u, change.v);
        if (kind == change.before) continue;
        for (Node v : {change.u, change.v}) {
            touch(v);
            turned_.push_back(v);
        }
        const int lost = change.before & ~kind;
        if (lost & TO) lost_.push_back({change.u, change.v, TO});
        if (lost & FROM) lost_.push_back({change.v, change.u, TO});
        if ((change.before == NONE) != (kind == NONE))
            for (Node v : {change.u, change.v})
                for (Node u : s_.graph.neighbors(v)) touch(u);
    }
}

// -- steps -----------------------------------------------------------------------------------------

// Record an operator that was applied: from here on the step counts.
void Search::note_step(const Operator& op, int phase) {
    if (!std::isfinite(total_ + op.gain)) throw BadGain{-1, {}, -1, op.gain};
    steps_.push_back({phase, op, total_ + op.gain, s_.graph.edges(), s_.graph.changes(), touched(), admitted_at_});
    total_ += op.gain;
    settled_ = s_.graph.changes();
}

bool Search::is_admitted() {
    return !s_.knowledge || admission_.admits(s_.graph, *s_.knowledge, admitted_at_);
}

// Take one step, unless no operator is left; return whether it was taken.
//
// Every step improves the score, so no state occurs twice.  But if columns are nearly collinear, gains
// have fewer exact digits than the tolerance assumes, and the computed gains of a step and of the one
// that undoes it may both be above zero.  A step of doubtful gain to a state that the climb has left is
// rejected.  If the gain is certain, the score is not score equivalent, and the climb ends.
bool Search::step(const Climb& how) {
    const bool mixes = s_.rules.turns || (s_.rules.deletes && s_.rules.inserts != Which::None);
    const int before = s_.graph.changes();
    const Word state = s_.graph.fingerprint();
    std::optional<Found> found;
    while (true) {
        s_.run.check();
        refresh();
        found = find();
        if (!found) return false;
        if (found->op.kind == Move::Insert && found->op.gain < how.patience * (how.aim - total_)) return false;
        s_.graph.apply(found->op);
        if (is_admitted()) {
            if (!mixes || !left_.has(s_.graph.fingerprint())) break;
            if (!is_doubtful(found->op.gain)) {
                s_.graph.take_back(before);
                came_back_ = true;
                return false;
            }
        }
        s_.graph.take_back(before);
        reject(*found);
    }
    if (s_.knowledge) admitted_at_ = s_.graph.changes();
    if (mixes) left_.add(state);
    offer_again();
    note_changes(before);
    note_step(found->op, how.phase);
    return true;
}

bool Search::climb(const Rules& rules, const Climb& how) {
    int taken = 0;
    try {
        open(rules);
        left_.clear();
        refresh();
        inserts_.bar(how.bar_x, how.bar_y);
        while ((how.most_steps < 0 || taken < how.most_steps) && step(how)) {
            taken++;
            if (after_step) after_step();
        }
    } catch (...) {
        recover();
        throw;
    }
    return taken > 0;
}

// Make everything consistent after an interruption, at the last complete state.
void Search::recover() {
    close();
    s_.graph.take_back(settled_);
    admitted_at_ = steps_.empty() ? -1 : steps_.back().admitted_at;
}

void Search::apply(const Operator& op, int phase) {
    const int before = s_.graph.changes();
    try {
        s_.graph.apply(op);
        if (is_open_) offer_again();
        note_changes(before);
        note_step(op, phase);
    } catch (...) {
        recover();
        throw;
    }
}

void Search::peek(const Operator& op, const std::function<void()>& look) {
    const int before = s_.graph.changes();
    try {
        s_.graph.apply(op);
        look();
    } catch (...) {
        s_.graph.take_back(before);
        throw;
    }
    s_.graph.take_back(before);
}

bool Search::admits(const Operator& op) {
    bool answer = true;
    if (s_.knowledge) peek(op, [&] { answer = is_admitted(); });
    return answer;
}

bool Search::is_mark(const Mark& mark) const {
    if (mark.steps < 0 || mark.steps > step_count()) return false;
    const Step* last = mark.steps ? &steps_[mark.steps - 1] : nullptr;
    return mark.changes == (last ? last->changes : 0) && mark.total == (last ? last->total : start_total_) &&
           mark.touched >= (last ? last->touched : 0) && mark.touched <= touched();
}

void Search::rewind(const Mark& mark) {
    const int top = s_.graph.changes();
    if (is_open_) offer_again();
    try {
        s_.graph.undo_to(mark.changes);
        note_changes(top);
    } catch (const std::bad_alloc&) {  // without memory: take back all, these changes too
        close();
        s_.graph.take_back(mark.changes);
    }
    s_.graph.forget_log(mark.changes);
    settled_ = mark.changes;
    touched_.resize(static_cast<std::size_t>(mark.touched));
    steps_.resize(static_cast<std::size_t>(mark.steps));
    capped_ = mark.capped;
    total_ = mark.total;
    admitted_at_ = steps_.empty() ? -1 : steps_.back().admitted_at;
}

std::vector<Operator> Search::escapes(const Rules& rules) {
    try {
        open(rules);
        offer_again();
        refresh();
    } catch (...) {
        recover();
        throw;
    }
    std::vector<Operator> all = deletes_.list(s_);
    for (Operator& op : all)
        if (op.x > op.y && s_.graph.kind(op.x, op.y) == LINE) std::swap(op.x, op.y);
    const auto by_key = [](const Operator& a, const Operator& b) {
        if (a.x != b.x) return a.x < b.x;
        if (a.y != b.y) return a.y < b.y;
        return compare_sets(a.set, b.set) < 0;
    };
    std::stable_sort(all.begin(), all.end(), by_key);
    all.erase(std::unique(all.begin(), all.end(),
                          [](const Operator& a, const Operator& b) {
                              return a.x == b.x && a.y == b.y && a.set == b.set;
                          }),
              all.end());
    std::stable_sort(all.begin(), all.end(), [](const Operator& a, const Operator& b) { return a.gain > b.gain; });
    return all;
}

// -- from one DAG to another -----------------------------------------------------------------------
//
//     x → y leaves a member D of the class    Delete(x, y, H), H = NA_{y,x} ∩ children of y in D
//     x → y joins it                          Insert(x, y, T), T = Pa_D(y) ∩ Ne(y) ∖ Adj(x)
//
// Both are valid, and are scored by the parents of y in D, because they can be carried out in the
// member D (Chickering 2002, Theorems 15 and 17).  These families are not counted.

void Search::take_edge(Move kind, Node x, Node y, double gain, Nodes set, int phase) {
    sort_nodes(set);
    s_.run.look();
    apply({kind, x, y, std::move(set), gain}, phase);
    if (after_step) after_step();
}

void Search::walk(const std::vector<Nodes>& from, const std::vector<Nodes>& goal, const Nodes& order, int phase) {
    std::vector<Nodes> member = from;
    const auto is_in = [](const Nodes& sorted, Node v) { return std::binary_search(sorted.begin(), sorted.end(), v); };
    for (Node y = 0; y < s_.n(); y++)
        for (Node x : Nodes(member[y])) {
            if (is_in(goal[y], x)) continue;
            const double gain = s_.gains.single(y, member[y], x, false);
            Nodes h;
            for (Node v : s_.graph.neighbors(y))
                if (v != x && s_.graph.adjacent(v, x) && is_in(member[v], y)) h.push_back(v);
            member[y].erase(std::lower_bound(member[y].begin(), member[y].end(), x));
            take_edge(Move::Delete, x, y, gain, std::move(h), phase);
        }
    std::vector<double> gains;
    for (Node y : order)
        while (member[y].size() < goal[y].size()) {  // the missing parent with the largest gain
            Nodes missing, t;
            std::set_difference(goal[y].begin(), goal[y].end(), member[y].begin(), member[y].end(),
                                std::back_inserter(missing));
            s_.gains.singles(y, member[y], missing, gains);
            const auto best = std::max_element(gains.begin(), gains.end());
            const Node x = missing[static_cast<std::size_t>(best - gains.begin())];
            for (Node v : member[y])
                if (s_.graph.kind(v, y) == LINE && !s_.graph.adjacent(v, x)) t.push_back(v);
            member[y].insert(std::lower_bound(member[y].begin(), member[y].end(), x), x);
            take_edge(Move::Insert, x, y, *best, std::move(t), phase);
        }
}

std::vector<Nodes> Search::member() {
    if (!s_.knowledge) return s_.graph.member(s_.rank);
    Nodes everyone;
    for (Node v = 0; v < s_.n(); v++) everyone.push_back(v);
    std::vector<Nodes> found = s_.knowledge->member(everyone);
    for (Node v = 0; v < s_.n(); v++) {
        const Nodes& parents = s_.graph.parents(v);
        found[v].insert(found[v].end(), parents.begin(), parents.end());
        sort_nodes(found[v]);
    }
    return found;
}

double Search::gain_between(const std::vector<Nodes>& before, const std::vector<Nodes>& after) {
    double sum = 0.0;
    for (Node y = 0; y < s_.n(); y++)
        if (before[y] != after[y]) sum += s_.gains.family(y, after[y]) - s_.gains.family(y, before[y]);
    return sum;
}

}  // namespace sges
