"""The turns of a state, kept up to date from step to step.

A turn changes two families: Turn(X, Y, C) adds X to the parents Pa(Y) ∪ C of Y, and takes Y from
the parents of X.  So its gain is that of an insert and that of a delete, each asked in batches,
over all X for one (Y, C), and over all Y for one X, and remembered by what they depend on.

Which turns of an edge there are depends on the view of Y, and what they gain also on the parents
and neighbors of X: a step that changes those alone finds the turns, and what they gain at Y, as
they were.  The path condition depends on the whole graph, and is asked only of a turn that would
win.  Few turns improve the score, and only those are kept.
"""

from collections.abc import Iterator
from typing import Protocol

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.operators.base import Operator
from sges.operators.turn import Turn, local_turn_sets
from sges.score.base import Candidates, Gains
from sges.search.lanes import GainMemory
from sges.search.source import Scored, stale_views


class Asked(Protocol):
    """Who knows the gains: a run."""

    def exact_insert_gains(self, y: int, base: NodeSet, xs: Candidates, /) -> Gains:
        """Return local(y, base ∪ x) − local(y, base) for each x."""

    def delete_gains(self, y: int, base: NodeSet, xs: Candidates, /) -> Gains:
        """Return local(y, base ∖ x) − local(y, base) for each x."""


Proposed = dict[int, list[tuple[NodeSet, float]]]
"""For one y: for each x, the sets C that y allows, and what y gains by x as a parent."""


class TurnSource:
    """All valid turns of the state that improve the score."""

    def __init__(self, cpdag: PDAG, asked: Asked, tolerance: float) -> None:
        self.considered = 0
        self._cpdag = cpdag
        self._tolerance = tolerance
        self._added = GainMemory(asked.exact_insert_gains)
        self._taken = GainMemory(asked.delete_gains)
        self._improving: dict[tuple[int, int], list[tuple[float, Turn]]] = {}
        self._blocked: dict[Operator, NodeSet] = {}  # by a path inside such a set
        self._rejected: set[Operator] = set()
        self._proposed = [self._propose(y) for y in range(cpdag.n)]
        for x, ys in enumerate(cpdag.into):
            self._score(x, ys)

    def best(self) -> Scored | None:
        """Return the turn of largest gain; of those that tie, the one with the least key."""
        ranked = self._ranked()
        first = next(ranked, None)
        if first is None:
            return None
        tied = [first]
        for gain, turn in ranked:
            if gain < first[0] - self._tolerance:
                break
            tied.append((gain, turn))
        gain, turn = min(tied, key=lambda pair: pair[1].sort_key())
        return Scored(turn, gain)

    def reject(self, operator: Operator) -> None:
        """Offer this turn no more at this state."""
        self._rejected.add(operator)

    def move_to(self, cpdag: PDAG) -> None:
        """Make again the turns of the edges that see a change at either end."""
        before, self._cpdag = self._cpdag, cpdag
        self._rejected.clear()
        stale = stale_views(before, cpdag)
        above = _other_parents(before, cpdag, stale)
        self._improving = {
            (x, y): turns
            for (x, y), turns in self._improving.items()
            if not (above >> x | stale >> y) & 1
        }
        self._unblock(before, stale)
        wanted = {x: cpdag.into[x] for x in nodes(above)}
        for y in nodes(stale):
            self._proposed[y] = self._propose(y)
            for x in nodes(cpdag.out[y] & ~above):
                wanted[x] = wanted.get(x, 0) | 1 << y
        for x, ys in wanted.items():
            self._score(x, ys)

    def _unblock(self, before: PDAG, stale: NodeSet) -> None:
        """Forget which turns a path blocked, but those whose path is there for certain."""
        after = self._cpdag
        lost = sum(1 << v for v in nodes(stale) if before.out[v] & ~after.out[v])
        self._blocked = {
            turn: path
            for turn, path in self._blocked.items()
            if not path & lost and not (stale >> turn.x | stale >> turn.y) & 1
        }

    def _propose(self, y: int) -> Proposed:
        """Return the turns of y → x or x — y that the view of y allows, by x."""
        g = self._cpdag
        parents, found = g.parents(y), Proposed()
        for c, turned in local_turn_sets(g, y, g.out[y]):
            added = self._added.learn(y, parents | c, turned)
            for x in nodes(turned):
                found.setdefault(x, []).append((c, added[x]))
        return found

    def _score(self, x: int, ys: NodeSet) -> None:
        """Score the proposed turns of x with these y, by the parents of x, y among them."""
        g = self._cpdag
        parents, near = g.parents(x), g.neighbors(x)
        together: dict[NodeSet, list[tuple[int, NodeSet, float]]] = {}
        for y in nodes(ys):
            with_y = parents | 1 << y
            for c, added in self._proposed[y].get(x, ()):
                together.setdefault(with_y | c & near, []).append((y, c, added))
        for above, turns in together.items():
            self.considered += len(turns)
            asked = 0
            for y, _, _ in turns:  # spelled out: nearly always one or two
                asked |= 1 << y
            taken = self._taken.learn(x, above, asked)
            for y, c, added in turns:
                if (gain := added + taken[y]) > self._tolerance:
                    self._improving.setdefault((x, y), []).append((gain, Turn(x, y, c)))

    def _ranked(self) -> Iterator[tuple[float, Turn]]:
        """Yield the improving turns that are valid, best first."""
        every = [pair for found in self._improving.values() for pair in found]
        every.sort(key=lambda pair: -pair[0])
        for gain, turn in every:
            if turn not in self._rejected and turn not in self._blocked:
                if path := turn.blocking_path(self._cpdag):
                    self._blocked[turn] = path
                else:
                    yield gain, turn


def _other_parents(before: PDAG, after: PDAG, among: NodeSet) -> NodeSet:
    """Return the nodes whose parents or neighbors differ."""
    return sum(
        1 << v
        for v in nodes(among)
        if before.into[v] != after.into[v] or before.neighbors(v) != after.neighbors(v)
    )
