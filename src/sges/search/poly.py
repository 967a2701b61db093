r"""A polynomial forward phase: the inserts that one member of the class needs.

The paper leaves poly-FES open.  Ours takes, at each state, one member DAG G' and looks at the
single-edge additions to G' only: for each Y the one clique S = Pa_{G'}(Y) ∩ Ne(Y), so at most
n(n − 1) operators.  When none improves, every node is independent of each non-descendant given
its parents in G' (local consistency), hence of all of them (composition): G' is an IMAP, and
Theorem 3 asks no more of a forward phase.  The proof is in ``docs/theory.md``.

Inserts with a small T, at most ``largest_t`` nodes, are looked at as well: still polynomially
many, and often better.

The member is the one that directs each chain component by maximum cardinality search, which
depends on that component alone, so it is kept up to date locally.

Paper: Section 4, poly-FES.
"""

from collections.abc import Iterable
from math import comb

from sges.graph.chordal import maximum_cardinality_search
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes, subsets
from sges.search.inserts import InsertSource, allowed_for
from sges.search.lanes import Ask


class PolySource(InsertSource):
    """The inserts of one member of the class, and those with a small T.

    Paper: Section 4, poly-FES.
    """

    def __init__(self, cpdag: PDAG, ask: Ask, tolerance: float, largest_t: int) -> None:
        self._largest_t = largest_t
        self._above = [0] * cpdag.n  # Pa_{G'}(y) ∩ Ne(y)
        self._direct(cpdag, (1 << cpdag.n) - 1)
        super().__init__(cpdag, ask, tolerance)

    def _stale(self, before: PDAG, after: PDAG) -> NodeSet:
        """Return the nodes whose view or whose place in the member DAG may have changed."""
        return self._direct(after, super()._stale(before, after))

    def _sets(self, y: int, near: NodeSet) -> Iterable[tuple[NodeSet, NodeSet]]:
        """Yield S of the member with every X, and NA ∪ T for each X with the small T."""
        g = self._cpdag
        above = self._above[y]
        apart = self._apart(y)
        adjacent = {v: g.adjacent(v) for v in nodes(near)}
        if allowed := allowed_for(above, apart, near, adjacent):
            yield above, allowed
        rest: dict[NodeSet, NodeSet] = {}
        for na, xs in by_na(g, apart, near).items():
            for t in subsets(near & ~na, at_most=self._largest_t):
                s = na | t
                if s != above and all(not s & ~(adjacent[v] | 1 << v) for v in nodes(s)):
                    rest[s] = rest.get(s, 0) | xs
        yield from rest.items()

    def _direct(self, cpdag: PDAG, where: NodeSet) -> NodeSet:
        """Direct the chain components of the given nodes; return all of their nodes."""
        done = 0
        for v in nodes(where):
            if not done >> v & 1:
                component = cpdag.chain_component(v)
                done |= component
                lines = {u: cpdag.neighbors(u) for u in nodes(component)}
                earlier = 0
                for u in maximum_cardinality_search(lines, component):
                    self._above[u] = lines[u] & earlier
                    earlier |= 1 << u
        return done


def by_na(cpdag: PDAG, apart: NodeSet, near: NodeSet) -> dict[NodeSet, NodeSet]:
    """Return the X that are apart from a node, by their NA: its neighbors adjacent to X."""
    groups = {0: apart}
    for v in nodes(near):
        row = cpdag.adjacent(v)
        split: dict[NodeSet, NodeSet] = {}
        for na, xs in groups.items():
            if with_v := xs & row:
                split[na | 1 << v] = with_v
            if without_v := xs & ~row:
                split[na] = without_v
        groups = split
    return groups


def poly_fes_bound(n: int, largest_t: int = 0) -> int:
    """Return a bound on the unique families that ``poly_fes`` asks for on n variables.

    At most n(n−1)/2 + 1 states; at each, for each ordered pair, one operator of the member and
    one for each T; two families per operator.
    """
    states = n * (n - 1) // 2 + 1
    per_pair = 1 + sum(comb(max(n - 2, 0), j) for j in range(largest_t + 1))
    return 2 * states * n * (n - 1) * per_pair
