"""Counting score evaluations as the paper does: unique families, however they were asked for."""

import numpy as np

from sges.errors import check_flag
from sges.nodeset import NodeSet
from sges.score.protocol import (
    Candidates,
    Gains,
    Score,
    batch_method,
    check_is_score,
    documented_score,
    gains_by_local,
)


@documented_score
class CountingScore:
    """A score that counts the unique (node, parent set) pairs it is asked for.

    It wraps any score and answers as that score does, batch methods included.  A batched call
    counts (y, base) and, for each candidate, the family with the candidate added or removed.
    Use one wrapper per run: it keeps every family it was asked for.

    Paper: Section 5, score evaluations.

    Parameters
    ----------
    score
        The score to ask.
    counting
        Whether to count; without it, ``evaluations`` is None.
    caching
        Whether to remember the values of ``local``.

    Attributes
    ----------
    asked
        For each node, the sets of parents that were asked for, if they are counted.

    Examples
    --------
    >>> from sges.score import GaussianBIC
    >>> counter = CountingScore(GaussianBIC.from_covariance([[1.0, 0.5], [0.5, 1.0]], 100))
    >>> _ = counter.local(0, 0b10), counter.local(0, 0b10), counter.local(1, 0b01)
    >>> counter.evaluations
    2
    """

    def __init__(self, score: Score, *, counting: bool = True, caching: bool = True) -> None:
        check_is_score(score)
        check_flag("counting", counting)
        check_flag("caching", caching)
        self.score = score
        self.counting = counting
        self.caching = caching
        self.names: tuple[str, ...] | None = getattr(score, "names", None)
        self.asked: list[set[NodeSet]] = [set() for _ in range(score.n)]
        self._values: dict[tuple[int, NodeSet], float] = {}

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.score.n

    @property
    def evaluations(self) -> int | None:
        """The number of unique families asked for so far; None if they are not counted."""
        return sum(map(len, self.asked)) if self.counting else None

    def local(self, y: int, parents: NodeSet) -> float:
        """Return what the wrapped score gives for a node with some parents."""
        if self.counting:
            self.asked[y].add(parents)
        return self._value(y, parents)

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        """Return the gains of adding each candidate to the parents of a node."""
        return self._gains("insert_gains", y, base, candidates)

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        """Return the gains of removing each candidate from the parents of a node."""
        return self._gains("delete_gains", y, base, candidates)

    def _gains(self, name: str, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        if self.counting:
            self.asked[y].add(base)
            self.asked[y].update(base ^ 1 << x for x in candidates.tolist())
        batch = batch_method(self.score, name)
        if batch is None:
            return gains_by_local(self._value, y, base, candidates)
        return np.ascontiguousarray(batch(y, base, candidates), dtype=np.float64)

    def _value(self, y: int, parents: NodeSet) -> float:
        value = self._values.get((y, parents))
        if value is None:
            value = self.score.local(y, parents)
            if self.caching:
                self._values[y, parents] = value
        return value
