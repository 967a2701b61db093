"""Operators generated anew at every state: for what is rare, and as the twin of what is not.

Used for deletes that are filtered one by one (an exact property, a property without bounds).
Families already scored are remembered by the score.
"""

from collections.abc import Callable, Iterable
from itertools import chain

from sges.graph.pdag import PDAG
from sges.operators.base import Operator
from sges.score.base import Score
from sges.search.source import Scored

Generate = Callable[[PDAG], Iterable[Operator]]


class ScratchSource:
    """All operators that ``generate`` yields, scored one by one at every state.

    ``keep_ties`` says whether an operator that changes nothing within the tolerance is worth
    applying: a delete is, as the sparser graph wins a tie.
    """

    def __init__(
        self, cpdag: PDAG, score: Score, tolerance: float, generate: Generate, *, keep_ties: bool
    ) -> None:
        self.considered = 0
        self._tolerance = tolerance
        self._cpdag = cpdag
        self._score = score
        self._generate = generate
        self._keep_ties = keep_ties
        self._rejected: set[Operator] = set()

    def best(self) -> Scored | None:
        """Return the operator of largest gain; of those that tie, the one with the least key."""
        g, tolerance = self._cpdag, self._tolerance
        found = [Scored(op, op.gain(self._score, g)) for op in self._offered(g)]
        self.considered += len(found)
        highest = max((scored.gain for scored in found), default=float("-inf"))
        if highest < -tolerance or (highest <= tolerance and not self._keep_ties):
            return None
        tied = (scored for scored in found if scored.gain >= highest - tolerance)
        return min(tied, key=lambda scored: scored.operator.sort_key())

    def reject(self, operator: Operator) -> None:
        """Offer this operator no more at this state."""
        self._rejected.add(operator)

    def move_to(self, cpdag: PDAG) -> None:
        """Take note of the state after an operator was applied."""
        self._cpdag = cpdag
        self._rejected.clear()

    def _offered(self, cpdag: PDAG) -> Iterable[Operator]:
        return (op for op in self._generate(cpdag) if op not in self._rejected)


def over_all_edges(per_edge: Callable[[PDAG, int, int], Iterable[Operator]]) -> Generate:
    """Return a generator over the edges x → y and x — y (in both orders) of a state."""

    def generate(cpdag: PDAG) -> Iterable[Operator]:
        arrows, lines = cpdag.directed_edges(), cpdag.undirected_edges()
        edges = chain(arrows, lines, ((y, x) for x, y in lines))
        return chain.from_iterable(per_edge(cpdag, x, y) for x, y in edges)

    return generate
