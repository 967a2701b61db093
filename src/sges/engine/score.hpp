// The interface of a score: the gains of all operators into one node at once.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "nodes.hpp"

namespace sges {

struct Gain {
    Node x;
    double gain;
};

// A score whose value is not finite; the message is made by the binding.
struct BadGain {
    Node y;
    Nodes base;
    Node x;  // -1: unknown
    double gain;
};

// One thread's view of a score: the data are shared, the scratch memory is its own.
class Score {
public:
    virtual ~Score() = default;
    virtual int n() const = 0;
    virtual std::unique_ptr<Score> clone() const = 0;
    // Append {x, local(y, base + x) − local(y, base)} by x, for every candidate x whose gain exceeds
    // `worth`, and perhaps others.  The base is sorted.  `among` are the candidates, sorted; if it is
    // empty, they are all other nodes.  `also` are sorted nodes outside the base whose exact gains are
    // written to `also_gains` whatever they are.
    virtual void inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also,
                         double* also_gains, std::vector<Gain>& out) = 0;
    // Write local(y, base − base[i]) − local(y, base) to gains[i], for at least the given places i.
    virtual void deletes(Node y, NodeSpan base, NodeSpan places, double* gains) = 0;
    // Return local(y, base) − local(y, {}); unless it is overridden, by one delete for each parent.
    virtual double family(Node y, NodeSpan base) {
        std::vector<double> gains(base.size());
        double sum = 0.0;
        for (std::size_t size = base.size(); size > 0; size--) {
            const Node place = static_cast<Node>(size) - 1;
            deletes(y, base.first(size), NodeSpan(&place, 1), gains.data());
            sum -= gains[size - 1];
        }
        return sum;
    }
    // Whether each family costs so much that nothing is asked for that is not wanted.
    virtual bool is_costly() const { return false; }
    // About how many bytes the scratch memory takes.
    virtual std::size_t bytes() const { return 0; }
};

// A score that only tells single families; each gain is a difference of two.  A new score begins as
// one of these, and overrides `inserts` when it can share work among the candidates.
class FamilyScore : public Score {
public:
    virtual double local(Node y, NodeSpan parents) = 0;  // the parents are sorted

    void inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also, double* also_gains,
                 std::vector<Gain>& out) override {
        const double now = local(y, base);
        const auto offer = [&](Node x) {
            if (x == y || holds(base, x)) return;
            const double gain = local(y, with(base, x)) - now;
            if (!(gain <= worth)) out.push_back({x, gain});  // also a value that is not a number
        };
        if (among.empty())
            for (Node x = 0; x < n(); x++) offer(x);
        for (Node x : among) offer(x);
        for (std::size_t i = 0; i < also.size(); i++) also_gains[i] = local(y, with(base, also[i])) - now;
    }
    void deletes(Node y, NodeSpan base, NodeSpan places, double* gains) override {
        const double now = local(y, base);
        for (int i : places) {
            family_.assign(base.begin(), base.end());
            family_.erase(family_.begin() + i);
            gains[i] = local(y, family_) - now;
        }
    }
    double family(Node y, NodeSpan base) override { return local(y, base) - local(y, {}); }

private:
    NodeSpan with(NodeSpan base, Node x) {
        family_.assign(base.begin(), base.end());
        family_.insert(std::upper_bound(family_.begin(), family_.end(), x), x);
        return family_;
    }
    Nodes family_;
};

}  // namespace sges
