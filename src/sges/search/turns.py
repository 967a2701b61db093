"""The turns of a state, kept up to date from step to step.

The turns of an edge depend on the views of its two ends; the path condition depends on the whole
graph, and is asked only of a turn that would win.  Few turns improve the score, and only those
are kept.
"""

from collections.abc import Iterator

from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.operators.base import Operator
from sges.operators.turn import Turn, local_turns
from sges.score.base import Score
from sges.search.source import Scored, stale_views


class TurnSource:
    """All valid turns of the state that improve the score."""

    def __init__(self, cpdag: PDAG, score: Score, tolerance: float) -> None:
        self.considered = 0
        self._cpdag = cpdag
        self._score = score
        self._tolerance = tolerance
        self._improving: dict[tuple[int, int], list[tuple[float, Turn]]] = {}
        self._rejected: set[Operator] = set()
        for x in range(cpdag.n):
            for y in nodes(cpdag.into[x]):
                self._view(x, y)

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
        for v in nodes(stale):
            for u in nodes(before.adjacent(v) | cpdag.adjacent(v)):
                self._improving.pop((u, v), None)
                self._improving.pop((v, u), None)
        for v in nodes(stale):
            for u in nodes(cpdag.into[v]):
                self._view(v, u)
            for u in nodes(cpdag.out[v] & ~stale):
                self._view(u, v)

    def _view(self, x: int, y: int) -> None:
        """Score the turns of y → x or x — y that meet the local conditions."""
        found = []
        for turn in local_turns(self._cpdag, x, y):
            self.considered += 1
            gain = turn.gain(self._score, self._cpdag)
            if gain > self._tolerance:
                found.append((gain, turn))
        if found:
            self._improving[x, y] = found

    def _ranked(self) -> Iterator[tuple[float, Turn]]:
        """Yield the improving turns that are valid, best first."""
        every = [pair for found in self._improving.values() for pair in found]
        every.sort(key=lambda pair: -pair[0])
        for gain, turn in every:
            if turn not in self._rejected and turn.path_is_free(self._cpdag):
                yield gain, turn
