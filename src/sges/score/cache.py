r"""Counting score evaluations as the paper does: unique families, whatever was batched.

A family is a pair (y, set of parents).  A batched call asks for a *fan* of them, all the
families base ∪ x at once, and a run on 1,000 variables asks for 10^8 in 10^5 calls: too many to
keep one by one.  So a fan is kept as one mask of the x that were asked, and a family is counted
only if no earlier question holds it, in any of the ways in which it can have been asked:

    as a single family                  of ``local``, as a base, or after a deletion
    in the fan of the same base         (base, x)
    in the fan of a base next to it     (base \ z ∪ x, z) for some z in base: the same set

The count is exact: the tests compare it with a plain set of all families.

Paper: Section 5, score evaluations.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from sges.nodeset import NodeSet, nodes
from sges.score.base import (
    Candidates,
    Gains,
    Score,
    as_indices,
    batch_method,
    gains_by_local,
    nodeset_of,
)

AboveMethod: TypeAlias = Callable[[int, NodeSet, Candidates, float], Gains]


class Families:
    """The distinct parent sets of one node that were asked for, and how many they are."""

    __slots__ = ("_fans", "_fans_by_size", "_singles", "count")

    def __init__(self) -> None:
        self.count = 0
        self._singles: defaultdict[int, set[NodeSet]] = defaultdict(set)  # by size
        self._fans: dict[NodeSet, NodeSet] = {}  # base -> the x asked for together with it
        self._fans_by_size: dict[int, list[NodeSet]] = {}

    def add(self, parents: NodeSet) -> None:
        """Count one family, unless it was asked for before."""
        same_size = self._singles[parents.bit_count()]
        if parents in same_size or in_a_fan(self._fans, parents):
            return
        same_size.add(parents)
        self.count += 1

    def add_fan(self, base: NodeSet, tips: NodeSet) -> None:
        """Count base ∪ x for each x of ``tips``, none of them in base, unless asked before."""
        known = self._fans.get(base)
        fresh = tips if known is None else tips & ~known
        if not fresh:
            return
        if known is None:
            self._fans_by_size.setdefault(base.bit_count(), []).append(base)
        self._fans[base] = fresh | (known or 0)
        fresh &= ~self._tips_in_singles(base, fresh)
        fresh &= ~self._tips_in_other_fans(base, fresh)
        self.count += fresh.bit_count()

    def _tips_in_singles(self, base: NodeSet, tips: NodeSet) -> NodeSet:
        """Return the x of ``tips`` for which base ∪ x was asked for as a single family."""
        singles = self._singles.get(base.bit_count() + 1)
        if not singles:
            return 0
        if len(singles) < tips.bit_count():
            near = (single ^ base for single in singles if single & base == base)
            return sum(near) & tips
        return sum(1 << x for x in nodes(tips) if base | 1 << x in singles)

    def _tips_in_other_fans(self, base: NodeSet, tips: NodeSet) -> NodeSet:
        r"""Return the x of ``tips`` for which base ∪ x lies in the fan of base \ z ∪ x."""
        if not base:  # no other base has its size
            return 0
        others = self._fans_by_size[base.bit_count()]
        if len(others) <= tips.bit_count() * base.bit_count():
            return self._by_neighbours(base, tips, others)
        return sum(1 << x for x in nodes(tips) if self._in_a_fan_but(base, 1 << x))

    def _by_neighbours(self, base: NodeSet, tips: NodeSet, others: list[NodeSet]) -> NodeSet:
        found, fans = 0, self._fans
        for other in others:
            apart = base ^ other
            if apart.bit_count() == 2 and other & apart & tips and fans[other] & base & apart:
                found |= other & apart
        return found

    def _in_a_fan_but(self, base: NodeSet, tip: NodeSet) -> bool:
        return any(self._fans.get(base ^ 1 << z ^ tip, 0) >> z & 1 for z in nodes(base))


def in_a_fan(fans: dict[NodeSet, NodeSet], parents: NodeSet) -> bool:
    """Tell whether some fan, of a base with one parent less, holds the family."""
    return any(fans.get(parents ^ 1 << x, 0) >> x & 1 for x in nodes(parents))


class CountingScore:
    """A score that counts the unique (node, parent set) pairs it is asked for.

    Wraps any score, is one itself, batch methods included, and remembers the values of
    ``local``.  Use one per run.  With ``counting=False`` nothing is counted and
    ``evaluations`` is None; with ``caching=False`` no value is kept.

    A batched call counts (y, base) and, for each candidate, the family with it added or
    taken away.

    Paper: Section 5, score evaluations.
    """

    def __init__(self, score: Score, *, counting: bool = True, caching: bool = True) -> None:
        self.score = score
        self.counting = counting
        self.caching = caching
        self.names: tuple[str, ...] | None = getattr(score, "names", None)
        self._families = [Families() for _ in range(score.n)] if counting else []
        self._values: list[dict[NodeSet, float]] = [{} for _ in range(score.n)]
        self._batch_inserts = batch_method(score, "insert_gains")
        self._batch_deletes = batch_method(score, "delete_gains")
        self._batch_above: AboveMethod | None = getattr(score, "insert_gains_above", None)

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.score.n

    @property
    def evaluations(self) -> int | None:
        """The number of unique families asked for so far; None if they are not counted."""
        return sum(f.count for f in self._families) if self.counting else None

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score's own local(y, parents), remembered."""
        if self.counting:
            self._families[y].add(parents)
        return self._value(y, parents)

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        """Return local(y, base ∪ x) − local(y, base) for each x outside base and y."""
        self._count_inserts(y, base, candidates)
        if self._batch_inserts is not None:
            return as_gains(self._batch_inserts(y, base, candidates))
        added = (base | 1 << x for x in candidates.tolist())
        return gains_by_local(self._value, y, base, added)

    def insert_gains_above(
        self, y: int, base: NodeSet, candidates: Candidates, floor: float
    ) -> Gains:
        """Return the same, where a gain that cannot exceed the floor may be any lower number.

        A score that offers ``insert_gains_above`` itself can skip the work where a bound shows
        that no candidate wins.  What was skipped counts as asked for all the same.
        """
        if self._batch_above is None:
            return self.insert_gains(y, base, candidates)
        self._count_inserts(y, base, candidates)
        return as_gains(self._batch_above(y, base, candidates, floor))

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        r"""Return local(y, base \ x) − local(y, base) for each x in base."""
        if self.counting:
            self._count_deletes(y, base, candidates)
        if self._batch_deletes is not None:
            return as_gains(self._batch_deletes(y, base, candidates))
        left = (base & ~(1 << x) for x in candidates.tolist())
        return gains_by_local(self._value, y, base, left)

    def _count_inserts(self, y: int, base: NodeSet, candidates: Candidates) -> None:
        if self.counting:
            self._families[y].add(base)
            self._families[y].add_fan(base, nodeset_of(as_indices(candidates), self.n))

    def _count_deletes(self, y: int, base: NodeSet, candidates: Candidates) -> None:
        families = self._families[y]
        families.add(base)
        for x in candidates.tolist():
            families.add(base & ~(1 << x))

    def _value(self, y: int, parents: NodeSet) -> float:
        values = self._values[y]
        found = values.get(parents)
        if found is None:
            found = self.score.local(y, parents)
            if self.caching:
                values[parents] = found
        return found


def as_gains(found: Gains) -> Gains:
    """Return what a score made as doubles in a row, whatever it made them of."""
    return np.ascontiguousarray(found, dtype=np.float64)
