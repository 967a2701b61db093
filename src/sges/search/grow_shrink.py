r"""The parents of a node among the nodes before it: grow, then shrink, and remember everything.

*Grow*: from the required parents, add the predecessor of largest gain while that improves the
score.  *Shrink*: take away the parent whose loss gains most while that does not lower the score.
The gains of a base, of all nodes at once, do not depend on who the predecessors are: the winner
is the first of a fixed ranking that is among them.  So each base is ranked once, and growing
under any set of predecessors is a walk along the rankings: the grow-shrink trees of Andrews et
al. (2023).

A walk also tells which other sets of predecessors lead the same way, so that it need not be
walked again:

    grown    the nodes that were added; any other predecessor may leave
    rivals   the nodes that are no predecessors, and would have been added somewhere on the way;
             any other node may join

Twin in the tests: grow and shrink by ``local``, one family at a time.
"""

from dataclasses import dataclass

import numpy as np

from sges.errors import ScoreError
from sges.nodeset import NodeSet, show
from sges.score.base import Candidates, Gains, nodeset_of
from sges.search.lanes import Ask, as_array


@dataclass(frozen=True, slots=True)
class Choice:
    """The parents that grow-shrink chose, and what they gain beyond the required ones."""

    parents: NodeSet
    gain: float
    grown: NodeSet
    rivals: NodeSet


class _Base:
    """Parents on the way: what they gain, who would improve them, and what shrinking leaves."""

    __slots__ = ("gain", "gains", "improving", "ranked", "shrunk")

    def __init__(
        self, gain: float, improving: NodeSet, ranked: list[int], gains: list[float]
    ) -> None:
        self.gain = gain
        self.improving = improving
        self.ranked = ranked
        self.gains = gains
        self.shrunk: tuple[NodeSet, float] | None = None


class GrowShrink:
    """Grow-shrink for one node y, under any set of predecessors.

    ``allowed`` are the nodes that may be parents, ``required`` those that must be.
    """

    def __init__(
        self,
        y: int,
        inserts: Ask,
        deletes: Ask,
        tolerance: float,
        *,
        allowed: NodeSet,
        required: NodeSet = 0,
    ) -> None:
        self._y = y
        self._inserts = inserts
        self._deletes = deletes
        self._tolerance = tolerance
        self._allowed = allowed & ~(1 << y)
        self._required = required
        self._bases: dict[NodeSet, _Base] = {}

    def choose(self, before: NodeSet) -> Choice:
        """Return the parents that grow-shrink chooses among the nodes before y."""
        chosen, rivals = self._required, 0
        base = self._bases.get(chosen) or self._rank(chosen, 0.0)
        while base.improving & before:
            for x, gain in zip(base.ranked, base.gains, strict=True):
                if before >> x & 1:
                    chosen |= 1 << x
                    base = self._bases.get(chosen) or self._rank(chosen, base.gain + gain)
                    break
                rivals |= 1 << x
        parents, gain = base.shrunk or self._shrink(chosen, base)
        return Choice(parents, gain, chosen & ~self._required, rivals | base.improving)

    def _rank(self, chosen: NodeSet, gain: float) -> _Base:
        """Rank all nodes that improve a base, as it is met for the first time."""
        xs = as_array(self._allowed & ~chosen)
        gains = self._inserts(self._y, chosen, xs)
        self._refuse_if_not_finite(chosen, gains)
        improving = nodeset_of(xs[gains > self._tolerance], self._allowed.bit_length())
        base = _Base(gain, improving, *ranking(xs, gains, self._tolerance))
        self._bases[chosen] = base
        return base

    def _shrink(self, chosen: NodeSet, base: _Base) -> tuple[NodeSet, float]:
        """Take parents away while that does not lower the score; the lowest of those that tie."""
        left, total = chosen, base.gain
        while free := left & ~self._required:
            xs = as_array(free)
            gains = self._deletes(self._y, left, xs)
            self._refuse_if_not_finite(left, gains)
            highest = float(gains.max())
            if highest < -self._tolerance:
                break
            first = int(np.argmax(gains >= highest - self._tolerance))
            left ^= 1 << int(xs[first])
            total += float(gains[first])
        base.shrunk = left, total
        return base.shrunk

    def _refuse_if_not_finite(self, base: NodeSet, gains: Gains) -> None:
        if not np.isfinite(gains).all():
            raise ScoreError(
                f"the score of node {self._y} changes from parents {show(base)} by "
                f"{gains[~np.isfinite(gains)][0]}; a score must be finite for every family"
            )


def ranking(xs: Candidates, gains: Gains, tolerance: float) -> tuple[list[int], list[float]]:
    """Rank the nodes that gain more than the tolerance, best first, and return their gains too.

    A node ties with the next one if their gains differ by no more than the tolerance; nodes
    that tie are ranked by their numbers.

    >>> ranking(np.array([1, 2, 5, 6]), np.array([3.0, -1.0, 7.0, 7.0]), 0.5)
    ([5, 6, 1], [7.0, 7.0, 3.0])
    """
    better = np.flatnonzero(gains > tolerance)
    order = better[np.argsort(-gains[better], kind="stable")]
    ranked, values = xs[order], gains[order]
    steps = values[:-1] - values[1:] > tolerance
    if not steps.all():
        ties = np.concatenate([[0], np.cumsum(steps)])
        again = np.lexsort((ranked, ties))
        ranked, values = ranked[again], values[again]
    return ranked.tolist(), values.tolist()
