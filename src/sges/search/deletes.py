r"""The deletes of a state, kept up to date from step to step.

An operator is thought of by what it keeps.  For a clique S among the neighbors of Y and
B = Pa(Y) ∪ S, one batched call gives the gain of removing each X of B:

* X → Y: every neighbor of Y is a child of X, so NA_{Y,X} = Ne(Y), and H = Ne(Y) \ S;
* X — Y with X in S: H = (Ne(Y) ∩ Adj(X)) \ S.

In a dense state every step changes some NA everywhere, but few operators keep another set than
before: their gains are looked up by (Y, B).

Which S and X are generated is decided by ``sges.selective.kept_cliques``.

Paper: Fig. 2; Section 4.3, generating deletions.
"""

from collections.abc import Callable, Iterable

import numpy as np

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.operators.base import Operator
from sges.operators.delete import Delete
from sges.search.lanes import NOTHING, Ask, GainTable, Lane, least_tied
from sges.search.source import Check, Scored, go_on, stale_views

Kept = Callable[[PDAG, int], Iterable[tuple[NodeSet, NodeSet]]]
"""For a node Y: each clique S to keep of its neighbors, and the X that may then be deleted."""


class DeleteSource:
    """The valid deletes of the state that ``kept`` generates.

    Paper: Fig. 2; Section 4.3, generating deletions.
    """

    def __init__(
        self, cpdag: PDAG, ask: Ask, tolerance: float, kept: Kept, *, check: Check = go_on
    ) -> None:
        self.considered = 0
        self._check = check
        self._cpdag = cpdag
        self._tolerance = tolerance
        self._kept = kept
        self._table = GainTable(ask, worth=-2 * tolerance)
        self._lanes: list[list[Lane]] = [[] for _ in range(cpdag.n)]
        self._rejected: list[Lane] = []
        self._bound = np.full(cpdag.n, NOTHING)
        for y in range(cpdag.n):
            self._view(y)

    def best(self) -> Scored | None:
        """Return the delete of largest gain; of those that tie, the one with the least key."""
        highest = float(self._bound.max(initial=NOTHING))
        if highest < -self._tolerance:
            return None
        floor = highest - self._tolerance
        near = np.flatnonzero(self._bound >= floor).tolist()
        lanes = (lane for y in near for lane in self._lanes[y])
        return least_tied(lanes, floor, self._operator)

    def reject(self, operator: Operator) -> None:
        """Offer this delete no more at this state."""
        g, x, y = self._cpdag, operator.x, operator.y
        kept = (g.na(y, x) & ~operator.chosen) | 1 << x & g.neighbors(y)
        for lane in self._lanes[y]:
            if lane.s == kept:
                lane.reject(x)
                self._rejected.append(lane)
        self._rebound(y)

    def move_to(self, cpdag: PDAG) -> None:
        """Make again the lanes of the nodes whose view changed."""
        before, self._cpdag = self._cpdag, cpdag
        for lane in self._rejected:
            lane.offer_again()
            self._rebound(lane.y)
        self._rejected.clear()
        for y in nodes(stale_views(before, cpdag)):
            self._view(y)

    def _view(self, y: int) -> None:
        parents = self._cpdag.parents(y)
        lanes = []
        for s, allowed in self._kept(self._cpdag, y):
            self._check()  # there may be exponentially many S
            self.considered += allowed.bit_count()
            family = self._table.family(y, parents | s, allowed)
            if family.xs:
                lanes.append(Lane(y, s, family, allowed))
        self._lanes[y] = lanes
        self._rebound(y)

    def _rebound(self, y: int) -> None:
        self._bound[y] = max([lane.best for lane in self._lanes[y]], default=NOTHING)

    def _operator(self, lane: Lane, x: int) -> Delete:
        return Delete(x, lane.y, self._cpdag.na(lane.y, x) & ~lane.s)
