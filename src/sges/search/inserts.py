"""The inserts of a state, kept up to date from step to step.

For (Y, S) the eligible X are given by three masks, for all X at once:

* not adjacent to Y;
* not adjacent to any v of Ne(Y) outside S (so that NA_{Y,X} ⊆ S, and T = S ∖ NA_{Y,X});
* not reached from Y by a semi-directed path that avoids S.

The first two depend on the view of Y and are made when it changes.  The third depends on the
whole graph, and is asked only of a lane whose best gain would win.

An operator is scored, and counted, once the first two conditions hold.

Paper: Section 3.1, insert operators.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from sges.graph.chordal import cliques
from sges.graph.paths import reach, semi_directed_reach
from sges.graph.pdag import PDAG
from sges.kernels import compiled
from sges.nodeset import NodeSet, Rows, nodes
from sges.operators.base import Operator
from sges.operators.insert import Insert
from sges.search.lanes import NOTHING, Ask, GainTable, Lane, least_tied
from sges.search.source import Check, Scored, go_on, stale_views

FEW = 10
"""So many neighbors have few enough cliques to list them all at once."""


class InsertSource:
    """All valid inserts of the state.

    Paper: Section 3.1, insert operators.
    """

    def __init__(self, cpdag: PDAG, ask: Ask, tolerance: float, *, check: Check = go_on) -> None:
        self.considered = 0
        self._check = check
        self._cpdag = cpdag
        self._tolerance = tolerance
        self._table = GainTable(ask, worth=tolerance)
        self._lanes: list[list[Lane]] = [[] for _ in range(cpdag.n)]
        self._ever_settled: NodeSet = (
            0  # the nodes of which a lane was barred by the path condition
        )
        self._rejected: list[Lane] = []
        self._bound = np.full(cpdag.n, NOTHING)
        for y in range(cpdag.n):
            self._view(y)

    def best(self) -> Scored | None:
        """Return the insert of largest gain; of those that tie, the one with the least key."""
        highest = self._settle_the_highest()
        if highest <= self._tolerance:
            return None
        floor = highest - self._tolerance
        return least_tied(self._settled_down_to(floor), floor, self._operator)

    def reject(self, operator: Operator) -> None:
        """Offer this insert no more at this state."""
        x, y = operator.x, operator.y
        s = self._cpdag.na(y, x) | operator.chosen
        for lane in self._lanes[y]:
            if lane.s == s:
                lane.reject(x)
                self._rejected.append(lane)
        self._rebound(y)

    def move_to(self, cpdag: PDAG) -> None:
        """Make again the lanes of the nodes whose view changed, and doubt the reaches that may."""
        before, self._cpdag = self._cpdag, cpdag
        self._offer_again()
        stale = self._stale(before, cpdag)
        for y in nodes(stale):
            self._view(y)
        self._doubt(before, nodes(stale))

    def _offer_again(self) -> None:
        for lane in self._rejected:
            lane.offer_again()
            self._rebound(lane.y)
        self._rejected.clear()

    def _stale(self, before: PDAG, after: PDAG) -> NodeSet:
        """Return the nodes whose lanes have to be made again."""
        return stale_views(before, after)

    def _view(self, y: int) -> None:
        """Make the lanes of y from its view."""
        g = self._cpdag
        parents = g.parents(y)
        lanes = self._lanes[y] = []
        for s, allowed in self._sets(y, g.neighbors(y)):
            self._check()  # there may be exponentially many S
            self.considered += allowed.bit_count()
            family = self._table.family(y, parents | s, allowed)
            if family.xs:
                lanes.append(Lane(y, s, family, allowed))
        self._rebound(y)

    def _sets(self, y: int, near: NodeSet) -> Iterable[tuple[NodeSet, NodeSet]]:
        """Return the cliques S of y's neighbors to look at, each with its X: here, all."""
        g, apart = self._cpdag, self._apart(y)
        if not near:  # the usual case
            return [(0, apart)] if apart else []
        if near.bit_count() <= FEW:
            return insert_sets(g.out, g.into, near, apart)
        return every_insert_set(g.out, g.into, near, apart)

    def _apart(self, y: int) -> NodeSet:
        g = self._cpdag
        return ((1 << g.n) - 1) & ~(g.adjacent(y) | 1 << y)

    def _doubt(self, before: PDAG, changed: Iterable[int]) -> None:
        """Note where the path condition may answer otherwise than it did.

        While no node of a reach loses an edge leaving it, what was reached stays so, and stays
        barred; a node that gains one may open the way to more.
        """
        lost = gained = 0
        for v in changed:
            old, new = before.out[v], self._cpdag.out[v]
            lost |= (old & ~new != 0) << v
            gained |= (new & ~old != 0) << v
        either = lost | gained
        # what a lane of y reached, y reaches: only nodes from which a change is reached are asked
        for y in nodes(reach(before.into, either, 0) & self._ever_settled):
            for lane in self._lanes[y]:
                if lane.barred & lost:
                    lane.unsettle()
                    self._rebound(y)
                elif lane.barred & gained:
                    lane.is_settled = False

    def _rebound(self, y: int) -> None:
        self._bound[y] = max([lane.best for lane in self._lanes[y]], default=NOTHING)

    def _settle_the_highest(self) -> float:
        """Apply the path condition from the top until the highest bound is attained."""
        while self._bound.size:
            y = int(self._bound.argmax())
            highest = float(self._bound[y])
            if highest == NOTHING or not self._settle(y, highest):
                return highest
        return NOTHING

    def _settle(self, y: int, floor: float) -> bool:
        """Apply the path condition to y's lanes that reach the floor; tell if any was open."""
        opened = [v for v in self._lanes[y] if v.best >= floor and not v.is_settled]
        for lane in opened:
            lane.settle(semi_directed_reach(self._cpdag, y, lane.s))
        if opened:
            self._ever_settled |= 1 << y
            self._rebound(y)
        return bool(opened)

    def _settled_down_to(self, floor: float) -> Iterator[Lane]:
        for y in np.flatnonzero(self._bound >= floor).tolist():
            self._settle(y, floor)
            yield from self._lanes[y]

    def _operator(self, lane: Lane, x: int) -> Insert:
        return Insert(x, lane.y, lane.s & ~self._cpdag.adjacent(x))


@compiled
def insert_sets(
    out: Sequence[NodeSet], into: Sequence[NodeSet], near: NodeSet, apart: NodeSet
) -> list[tuple[NodeSet, NodeSet]]:
    """Return each clique S inside ``near`` with its X of ``apart``, if it has any."""
    return list(every_insert_set(out, into, near, apart))


def every_insert_set(
    out: Sequence[NodeSet], into: Sequence[NodeSet], near: NodeSet, apart: NodeSet
) -> Iterator[tuple[NodeSet, NodeSet]]:
    """Yield the same one by one."""
    adjacent = {v: out[v] | into[v] for v in nodes(near)}
    for s in cliques(adjacent, near):
        if allowed := allowed_for(s, apart, near, adjacent):
            yield s, allowed


def allowed_for(s: NodeSet, apart: NodeSet, near: NodeSet, adjacent: Rows) -> NodeSet:
    """Return the X of ``apart`` with NA_{Y,X} ⊆ S: not adjacent to a neighbor outside S."""
    for v in nodes(near & ~s):
        apart &= ~adjacent[v]
    return apart
