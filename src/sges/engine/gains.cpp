#include "gains.hpp"

#include <cmath>
#include <limits>

namespace sges {

void* Arena::take_bytes(std::size_t bytes) {
    const std::size_t wanted = (bytes + 15) & ~std::size_t{15};
    while (current_ < blocks_.size() && blocks_[current_].size - used_ < wanted) current_++, used_ = 0;
    if (current_ == blocks_.size()) {
        const std::size_t size = std::max(wanted, std::clamp(bytes_, FIRST, LARGEST));
        blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
        prefer_large_pages(blocks_.back().at.get(), size);
        bytes_ += size;
        used_ = 0;
    }
    void* found = blocks_[current_].at.get() + used_;
    used_ += wanted;
    held_ += wanted;
    return found;
}

void FamilySet::add(Word key, Word check) {
    if (2 * static_cast<std::size_t>(size_) >= slots_.size()) {
        std::vector<Slot> old(std::max<std::size_t>(1024, 2 * slots_.size()));
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.key | slot.check) {
                std::size_t at = slot.key & (slots_.size() - 1);
                while (slots_[at].key | slots_[at].check) at = (at + 1) & (slots_.size() - 1);
                slots_[at] = slot;
            }
    }
    if (!(key | check)) {
        size_ += !has_zero_;
        has_zero_ = true;
        return;
    }
    std::size_t at = key & (slots_.size() - 1);
    for (; slots_[at].key | slots_[at].check; at = (at + 1) & (slots_.size() - 1))
        if (slots_[at].key == key && slots_[at].check == check) return;
    slots_[at] = {key, check};
    size_++;
}

Gains::Gains(std::unique_ptr<Score> score, std::shared_ptr<const Price> price,
             std::shared_ptr<const std::vector<Nodes>> candidates, std::size_t limit)
    : n_(score->n()),
      score_(std::move(score)),
      price_(std::move(price)),
      candidates_(std::move(candidates)),
      limit_(limit),
      is_costly_(score_->is_costly()),
      slots_(1024),
      key_(n_),
      check_(n_) {
    for (Node v = 0; v < n_; v++) {
        key_[v] = mixed(2 * static_cast<Word>(v) + 1);
        check_[v] = mixed(2 * static_cast<Word>(v) + 2);
    }
}

Gains Gains::another(std::size_t limit) const {
    Gains other(score_->clone(), price_, candidates_, limit);
    other.counted = counted;
    return other;
}

// -- finding records -------------------------------------------------------------------------------

Gains::Keys Gains::keys_of(Node y, NodeSpan base) const {
    Keys keys{mixed(key_[y]), mixed(check_[y])};
    for (Node x : base) keys.key ^= key_[x], keys.check ^= check_[x];
    return keys;
}

Record* Gains::find(Keys keys) const {
    const std::size_t last = slots_.size() - 1;
    for (std::size_t at = keys.key & last; slots_[at].record; at = (at + 1) & last)
        if (slots_[at].key == keys.key && slots_[at].record->check == keys.check) return slots_[at].record;
    return nullptr;
}

void Gains::enter(Record* r) {
    const std::size_t last = slots_.size() - 1;
    std::size_t at = r->key & last;
    while (slots_[at].record) at = (at + 1) & last;
    slots_[at] = {r->key, r};
}

void Gains::grow_table() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
        if (slot.record) enter(slot.record);
}

Record& Gains::of(Node y, NodeSpan base) {
    const Keys keys = keys_of(y, base);
    if (Record* known = find(keys)) return *known;
    if (2 * static_cast<std::size_t>(records_) >= slots_.size()) grow_table();
    Node* at = arena_.take<Node>(base.size());
    std::copy(base.begin(), base.end(), at);
    sort_nodes(at, at + base.size());
    Record* r = arena_.take<Record>(1);
    *r = Record{};
    r->y = y;
    r->number = records_++;
    r->size = static_cast<int>(base.size());
    r->at = at;
    r->key = keys.key;
    r->check = keys.check;
    enter(r);
    return *r;
}

Record& Gains::with(const Record& r, Node x) {
    if (Record* known = find({r.key ^ key_[x], r.check ^ check_[x]})) return *known;
    family_.assign(r.at, r.at + r.size);
    family_.push_back(x);
    return of(r.y, family_);
}

void Gains::forget() {
    arena_.clear();
    std::fill(slots_.begin(), slots_.end(), Slot{0, nullptr});
    records_ = 0;
}

// -- asking ----------------------------------------------------------------------------------------

void Gains::check(const Record& r, Node x, double gain) const {
    if (!std::isfinite(gain)) throw BadGain{r.y, {r.at, r.at + r.size}, x, gain};
}

NodeSpan Gains::among(const Record& r) const {
    return candidates_ ? NodeSpan((*candidates_)[r.y]) : NodeSpan{};
}

void Gains::keep(Record& r, Gain gain) {
    if (r.count == r.room) {
        r.room = std::max(8, 2 * r.room);
        Gain* longer = arena_.take<Gain>(static_cast<std::size_t>(r.room));
        std::copy(r.gains, r.gains + r.count, longer);
        r.gains = longer;
    }
    r.gains[r.count++] = gain;
}

void Gains::keep_exact(Record& r, Gain gain) {
    if (r.exact_count == r.exact_room) {
        r.exact_room = std::max(4, 2 * r.exact_room);
        Gain* longer = arena_.take<Gain>(static_cast<std::size_t>(r.exact_room));
        std::copy(r.exact, r.exact + r.exact_count, longer);
        r.exact = longer;
    }
    int at = r.exact_count++;
    for (; at > 0 && r.exact[at - 1].x > gain.x; at--) r.exact[at] = r.exact[at - 1];
    r.exact[at] = gain;
}

namespace {

const Gain* exact_place(const Record& r, Node x) {
    return std::lower_bound(r.exact, r.exact + r.exact_count, x, [](Gain g, Node v) { return g.x < v; });
}

bool is_exact(const Record& r, Node x) {
    const Gain* at = exact_place(r, x);
    return at != r.exact + r.exact_count && at->x == x;
}

}  // namespace

double Gains::exact_gain(const Record& r, Node x) const { return exact_place(r, x)->gain; }

// Let a native score tell all inserts, and the exact gains of `also`.
void Gains::compute(Record& r, NodeSpan also) {
    found_.clear();
    also_gains_.resize(also.size());
    score_->inserts(r.y, r.base(), among(r), price_->least(), also, also_gains_.data(), found_);
    if (candidates_ && among(r).empty()) found_.clear();  // for a score, no candidates are all nodes
    r.gains = arena_.take<Gain>(found_.size());
    int count = 0;  // not yet in the record: what follows may throw
    for (const Gain& each : found_) {
        const double gain = each.gain - price_->of(each.x, r.y);
        if (gain > 0.0) r.gains[count++] = {each.x, gain};
        if (!std::isfinite(gain)) check(r, each.x, each.gain);
    }
    for (std::size_t i = 0; i < also.size(); i++) {
        check(r, also[i], also_gains_[i]);
        if (!is_exact(r, also[i])) keep_exact(r, {also[i], also_gains_[i] - price_->of(also[i], r.y)});
    }
    r.count = r.room = count;
    r.is_computed = true;
}

void Gains::ask_inserts(Record& r, Row wanted, int wanted_count, NodeSpan also, Run& run) {
    run.work += is_costly_ ? wanted_count : candidates_ ? static_cast<int>(among(r).size()) : n_;
    if (counted) count(r, wanted);
    if (!is_costly_) {
        if (r.is_computed) return;
        run.check();
        compute(r, also);
        return;
    }
    if (!r.told) {
        r.told = arena_.take<Word>(static_cast<std::size_t>(wanted.words));
        std::fill(r.told, r.told + wanted.words, Word{0});
    }
    missing_.clear();
    for (int w = 0; w < wanted.words; w++)
        each_bit(wanted.at[w] & ~r.told[w], w << 6, [&](Node x) { missing_.push_back(x); });
    if (missing_.empty()) return;
    run.check();
    found_.clear();
    score_->inserts(r.y, r.base(), missing_, -std::numeric_limits<double>::infinity(), {}, nullptr, found_);
    for (const Gain& each : found_) check(r, each.x, each.gain);
    for (const Gain& each : found_) {
        const double gain = each.gain - price_->of(each.x, r.y);
        if (gain > 0.0) keep(r, {each.x, gain});
        r.told[each.x >> 6] |= Word{1} << (each.x & 63);
    }
}

void Gains::ask_exact(Record& r, NodeSpan xs, Run& run) {
    run.work += static_cast<long long>(xs.size());
    run.check();
    if (counted) {
        counted->add(r.key, r.check);
        for (Node x : xs) counted->add(r.key ^ key_[x], r.check ^ check_[x]);
    }
    missing_.clear();
    for (Node x : xs)
        if (!is_exact(r, x)) missing_.push_back(x);
    if (missing_.empty()) return;
    if (is_costly_) {
        found_.clear();
        score_->inserts(r.y, r.base(), missing_, -std::numeric_limits<double>::infinity(), {}, nullptr,
                        found_);
        for (const Gain& each : found_) {
            check(r, each.x, each.gain);
            keep_exact(r, {each.x, each.gain - price_->of(each.x, r.y)});
        }
    } else if (!r.is_computed) {
        compute(r, missing_);
    } else {
        for (Node x : Nodes(missing_)) keep_exact(r, {x, single_insert(r, x)});
    }
}

// Return the gain of one insert of a native score: that of the delete which undoes it.
double Gains::single_insert(const Record& r, Node x) {
    if (is_exact(r, x)) return exact_gain(r, x);
    for (const Gain& each : r.inserts())
        if (each.x == x) return each.gain;
    family_.assign(r.at, r.at + r.size);
    family_.insert(std::lower_bound(family_.begin(), family_.end(), x), x);
    const int place = static_cast<int>(std::lower_bound(family_.begin(), family_.end(), x) - family_.begin());
    also_gains_.resize(family_.size());
    score_->deletes(r.y, family_, NodeSpan(&place, 1), also_gains_.data());
    check(r, x, also_gains_[place]);
    return -also_gains_[place] - price_->of(x, r.y);
}

void Gains::compute_deletes(Record& r, NodeSpan places) {
    also_gains_.resize(r.size);
    score_->deletes(r.y, r.base(), places, also_gains_.data());
    if (!r.removals) r.removals = arena_.take<double>(static_cast<std::size_t>(r.size));
    for (int i : places) {
        check(r, r.at[i], also_gains_[i]);
        r.removals[i] = also_gains_[i] + price_->of(r.at[i], r.y);
    }
}

void Gains::ask_deletes(Record& r, Row wanted, Run& run) {
    run.work += is_costly_ ? wanted.count() : r.size;
    if (counted) {
        bool any = false;
        wanted.each([&](int i) {
            counted->add(r.key ^ key_[r.at[i]], r.check ^ check_[r.at[i]]);
            any = true;
        });
        if (any) counted->add(r.key, r.check);
    }
    missing_.clear();
    if (!is_costly_) {
        if (r.removals) return;
        for (int i = 0; i < r.size; i++) missing_.push_back(i);
    } else {
        if (!r.told_removals) {
            r.told_removals = arena_.take<Word>(static_cast<std::size_t>(words_for(r.size)));
            std::fill(r.told_removals, r.told_removals + words_for(r.size), Word{0});
        }
        wanted.each([&](int i) {
            if (!(r.told_removals[i >> 6] >> (i & 63) & 1)) missing_.push_back(i);
        });
        if (missing_.empty()) return;
    }
    run.check();
    compute_deletes(r, missing_);
    if (is_costly_)
        for (int i : missing_) r.told_removals[i >> 6] |= Word{1} << (i & 63);
}

double Gains::single(Node y, NodeSpan base, Node x, bool adds) {
    Record& r = of(y, base);
    double gain;
    if (is_costly_) {
        if (adds) {
            found_.clear();
            score_->inserts(y, r.base(), NodeSpan(&x, 1), -std::numeric_limits<double>::infinity(), {},
                            nullptr, found_);
            gain = found_.at(0).gain - price_->of(x, y);
        } else {
            const int place = r.place_of(x);
            also_gains_.resize(r.size);
            score_->deletes(y, r.base(), NodeSpan(&place, 1), also_gains_.data());
            gain = also_gains_[place] + price_->of(x, y);
        }
        check(r, x, gain);
        return gain;
    }
    if (adds) return single_insert(r, x);
    if (!r.removals) {
        missing_.clear();
        for (int i = 0; i < r.size; i++) missing_.push_back(i);
        compute_deletes(r, missing_);
    }
    return r.removals[r.place_of(x)];
}

void Gains::singles(Node y, NodeSpan base, NodeSpan xs, std::vector<double>& gains) {
    Record& r = of(y, base);
    if (!is_costly_ && xs.size() > 1 && !r.is_computed) compute(r, xs);
    gains.clear();
    for (Node x : xs) gains.push_back(single(y, base, x, true));
}

double Gains::sum_of_inserts(Node y, NodeSpan base, Row wanted, Run& run) {
    const Record& r = of(y, base);
    missing_.clear();
    wanted.each([&](Node x) { missing_.push_back(x); });
    if (missing_.empty()) return 0.0;
    run.work += static_cast<long long>(missing_.size());
    run.check();
    if (counted) count(r, wanted);
    found_.clear();
    score_->inserts(y, r.base(), missing_, -std::numeric_limits<double>::infinity(), {}, nullptr, found_);
    double total = 0.0;
    for (const Gain& each : found_) {
        check(r, each.x, each.gain);
        if (wanted.has(each.x)) total += each.gain - price_->of(each.x, y);
    }
    return total;
}

double Gains::family(Node y, NodeSpan base) {
    double value = base.empty() ? 0.0 : score_->family(y, base);
    for (Node x : base) value -= price_->of(x, y);
    return value;
}

// -- counting --------------------------------------------------------------------------------------

void Gains::count(const Record& r, Row wanted) {
    bool any = false;
    wanted.each([&](Node x) {
        counted->add(r.key ^ key_[x], r.check ^ check_[x]);
        any = true;
    });
    if (any) counted->add(r.key, r.check);
}

void Gains::count_family(Node y, NodeSpan base) {
    const Keys keys = keys_of(y, base);
    if (counted) counted->add(keys.key, keys.check);
}

}  // namespace sges
