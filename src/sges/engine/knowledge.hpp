// Background knowledge: forbidden and required edges, and whether it admits a state.
//
// `sges.knowledge.indexed` defines this.  No arrow may be forbidden, required pairs must be adjacent,
// and each chain component must have a member without forbidden edges.  Chain components are directed
// independently of each other, so after a step only those that it changed are examined.
#pragma once

#include <functional>

#include "cpdag.hpp"

namespace sges {

struct Knowledge {
    BitMatrix barred;    // row y: the x for which x → y is forbidden
    BitMatrix required;  // row y: the x for which x → y is required; y → x is then barred
    BitMatrix later;     // row u: the nodes that come after u in every order
    bool has_order = false;
    // A caller's own constraint, which judges every state; empty for the rules above.
    std::function<bool()> judge;
    // The parents of nodes among their neighbors in a member of the class that satisfies the knowledge,
    // for the chain components of `within`.
    std::function<std::vector<Nodes>(const Nodes& within)> member;
};

class Admission {
public:
    explicit Admission(int n) : seen_(n), gone_(n) {}

    // Return whether knowledge admits the state, if it admitted the one at `since` in the log; -1 if
    // no such state is known.
    bool admits(Cpdag& g, const Knowledge& knowledge, int since);

private:
    bool component_is_admitted(const Cpdag& g, const Knowledge& knowledge, Node v);
    bool can_come_last(const Cpdag& g, const Knowledge& knowledge, Node x);

    Marks seen_;  // in this question
    Marks gone_;
    Nodes component_, todo_, left_;
};

}  // namespace sges
