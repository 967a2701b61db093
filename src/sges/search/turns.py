"""The turns of a state, kept up to date from step to step.

A turn changes two families: Turn(X, Y, C) adds X to the parents Pa(Y) ∪ C of Y, and takes Y from
the parents of X.  So its gain is that of an insert and that of a delete, each asked in batches,
over all X for one (Y, C), and over all Y for one X, and remembered by what they depend on.

The turns of an edge depend on the views of its two ends; the path condition depends on the whole
graph, and is asked only of a turn that would win.  Few turns improve the score, and only those
are kept.
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


class TurnSource:
    """All valid turns of the state that improve the score."""

    def __init__(self, cpdag: PDAG, asked: Asked, tolerance: float) -> None:
        self.considered = 0
        self._cpdag = cpdag
        self._tolerance = tolerance
        self._added = GainMemory(asked.exact_insert_gains)
        self._taken = GainMemory(asked.delete_gains)
        self._improving: dict[tuple[int, int], list[tuple[float, Turn]]] = {}
        self._rejected: set[Operator] = set()
        self._view(dict(enumerate(cpdag.out)))

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
        """Make again the turns of the edges at nodes whose view changed."""
        before, self._cpdag = self._cpdag, cpdag
        self._rejected.clear()
        stale = stale_views(before, cpdag)
        wanted: dict[int, NodeSet] = {}
        for v in nodes(stale):
            wanted[v] = cpdag.out[v]
            for u in nodes(cpdag.into[v] & ~stale):
                wanted[u] = wanted.get(u, 0) | 1 << v
        self._improving = {
            (x, y): turns
            for (x, y), turns in self._improving.items()
            if not (stale >> x | stale >> y) & 1
        }
        self._view(wanted)

    def _view(self, wanted: dict[int, NodeSet]) -> None:
        """Score the turns of y → x or x — y that meet the local conditions, for each y and its x."""
        proposed = list(self._proposed(wanted))
        self.considered += len(proposed)
        self._learn(proposed)
        for x, y, c, above_y, above_x in proposed:
            gain = self._added.gain(y, above_y, x) + self._taken.gain(x, above_x, y)
            if gain > self._tolerance:
                self._improving.setdefault((x, y), []).append((gain, Turn(x, y, c)))

    def _proposed(
        self, wanted: dict[int, NodeSet]
    ) -> Iterator[tuple[int, int, NodeSet, NodeSet, NodeSet]]:
        """Yield x, y, C, what y has as parents besides x, and what x has, y among them."""
        g = self._cpdag
        for y, xs in wanted.items():
            parents = g.parents(y)
            for c, turned in local_turn_sets(g, y, xs):
                for x in nodes(turned):
                    above_x = g.parents(x) | c & g.neighbors(x) | 1 << y
                    yield x, y, c, parents | c, above_x

    def _learn(self, proposed: list[tuple[int, int, NodeSet, NodeSet, NodeSet]]) -> None:
        """Ask for all the gains at once that belong to one family."""
        added: dict[tuple[int, NodeSet], NodeSet] = {}
        taken: dict[tuple[int, NodeSet], NodeSet] = {}
        for x, y, _, above_y, above_x in proposed:
            added[y, above_y] = added.get((y, above_y), 0) | 1 << x
            taken[x, above_x] = taken.get((x, above_x), 0) | 1 << y
        for (y, above), xs in added.items():
            self._added.learn(y, above, xs)
        for (x, above), ys in taken.items():
            self._taken.learn(x, above, ys)

    def _ranked(self) -> Iterator[tuple[float, Turn]]:
        """Yield the improving turns that are valid, best first."""
        every = [pair for found in self._improving.values() for pair in found]
        every.sort(key=lambda pair: -pair[0])
        for gain, turn in every:
            if turn not in self._rejected and turn.path_is_free(self._cpdag):
                yield gain, turn
