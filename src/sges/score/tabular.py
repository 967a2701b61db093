"""What scores of discrete data share: counting, batching, and the configurations last used.

What makes a search fast is that one call gives the gains of every candidate:
``insert_gains`` counts the table of (y, base) with all candidates in one pass over the records
(``sges.score.columns``), ``delete_gains`` sums each parent out of it (``sges.score.summing_out``).
"""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np

from sges.data.dataset import Dataset
from sges.data.reading import Kind
from sges.errors import ScoreError
from sges.nodeset import NodeSet, nodes
from sges.score.base import as_indices
from sges.score.columns import Columns
from sges.score.counts import Cells, Floats, Grouping, Ints, plain_codes, refine, together
from sges.score.lanes import Counted, Thin
from sges.score.recent import Recent
from sges.score.summing_out import SummedOut
from sges.score.terms import Tabulated, Term, Terms

Part: TypeAlias = Counted | Thin | SummedOut
"""The counts of some candidates."""

TermsOf: TypeAlias = Callable[[int], Terms]
"""The terms of a candidate, by its arity."""

TABULATED = 2**16
"""Terms of counts up to this are looked up; beyond, they are computed one by one."""

TABULATED_ONCE = 2**20
"""The same for a term that all families share: its table is made but once."""

KEPT = 32 * 2**20
"""Bytes of groupings and of tabulated terms, each, that a score keeps for the next call."""

ROUNDING = 1e-9
"""Relative distance that a bound must keep from what it is compared with."""

LOWEST = -sys.float_info.max
"""Stands for a gain that was not worth computing."""


class DiscreteScore(ABC):
    """A score that is a sum over the cells of a contingency table, less a penalty.

    A subclass says what counts contribute (``_terms``) and what parameters cost (``_penalty``).
    """

    def __init__(self, data: object) -> None:
        self.data = Dataset.of(data)
        _check_discrete(self.data, type(self).__name__)
        self.names = self.data.names
        self.records = self.data.records
        self._arities = self.data.arities
        self._weights = self.data.weights
        self._distinct = sorted({int(arity) for arity in self._arities})
        self._codes = plain_codes(self.data.codes)
        self._columns = Columns(self._codes, self._arities, self._weights)
        self._recent = Recent[NodeSet, Grouping](KEPT // (8 * self.data.rows))
        self._tabulated = Recent[float, Term](KEPT // (8 * min(self.records, TABULATED)))

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self._arities)

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the score of y with the given parents."""
        cells = self._cells(y, parents)
        q = self._configurations(parents)
        return self._sum(cells, self._terms(y, q)) - self._penalty(y, q)

    def insert_gains(
        self, y: int, base: NodeSet, candidates: Ints, /, *, floor: float = -math.inf
    ) -> Floats:
        """Return local(y, base ∪ x) − local(y, base) for each candidate x.

        With a ``floor``, a candidate whose gain provably cannot exceed it may get −inf
        instead, uncounted; every other gain is exact.
        """
        candidates = as_indices(candidates)
        cells, q = self._cells(y, base), self._configurations(base)
        before = self._sum(cells, self._terms(y, q))
        costs = self._costs(y, q)[self._arities[candidates]]
        if floor > -math.inf:
            ceilings = self._ceilings(cells, y, q, before, candidates)
            slack = ROUNDING * (1 + abs(before))
            at = np.flatnonzero(ceilings + slack >= floor + (1 - ROUNDING) * costs)
            if len(at) < len(candidates):
                gains = np.full(len(candidates), -math.inf)
                gains[at] = self._with(cells, y, q, candidates[at]) - before - costs[at]
                return gains
        return self._with(cells, y, q, candidates) - before - costs

    def insert_gains_above(
        self, y: int, base: NodeSet, candidates: Ints, floor: float, /
    ) -> Floats:
        """Return insert gains; one that cannot exceed the floor may be any lower finite number."""
        gains = self.insert_gains(y, base, candidates, floor=floor)
        return np.maximum(gains, LOWEST)

    def delete_gains(self, y: int, base: NodeSet, candidates: Ints, /) -> Floats:
        r"""Return local(y, base \ x) − local(y, base) for each candidate x, all of them in base."""
        candidates = as_indices(candidates)
        cells, q = self._cells(y, base), self._configurations(base)
        before = self._sum(cells, self._terms(y, q))
        saved = self._by_arity(lambda arity: self._penalty_of_more(y, q // arity, arity))
        parts = self._columns.summed_out(cells, y, base, candidates)
        after = self._totals(parts, len(candidates), lambda arity: self._terms(y, q // arity))
        return after - before + saved[self._arities[candidates]]

    @abstractmethod
    def _terms(self, y: int, q: int) -> Terms:
        """Return what counts contribute when y has q parent configurations."""

    @abstractmethod
    def _penalty(self, y: int, q: int) -> float:
        """Return what the parameters of y cost with q parent configurations."""

    def _ceilings(self, cells: Cells, y: int, q: int, before: float, candidates: Ints) -> Floats:
        """Return bounds on what each candidate can add to the sum of terms.

        At best a parent tells the levels of y apart, so that each cell has a configuration of
        its own.  That is −before for the likelihood (the entropy of y still to be explained),
        and for BDeu a bound too: a record is never predicted better than from all the earlier
        records of its cell and no others.
        """
        best = self._by_arity(
            lambda arity: float(self._terms(y, q * arity).total(cells.counts, cells.counts))
        )
        return best[self._arities[candidates]] - before

    def _costs(self, y: int, q: int) -> Floats:
        """Return what the parameters of one more parent cost, by its arity."""
        return self._by_arity(lambda arity: self._penalty_of_more(y, q, arity))

    def _by_arity(self, value: Callable[[int], float]) -> Floats:
        """Return an array that holds a value at every arity that a column has."""
        values = np.zeros(self._distinct[-1] + 1)
        for arity in self._distinct:
            values[arity] = value(arity)
        return values

    def _penalty_of_more(self, y: int, q: int, arity: int) -> float:
        """Return what it costs to go from q to q · arity configurations.

        Not a difference of two penalties, which would drown in rounding.
        """
        return self._penalty(y, q * (arity - 1))

    def _sum(self, cells: Cells, terms: Terms) -> float:
        return float(Counted.bare(cells).total(terms)[0])

    def _with(self, cells: Cells, y: int, q: int, candidates: Ints) -> Floats:
        """Return the sum of terms of y with each candidate as one more parent."""
        parts = self._columns.counted(cells, candidates)
        return self._totals(parts, len(candidates), lambda arity: self._terms(y, q * arity))

    def _totals(self, parts: Iterable[Part], count: int, terms: TermsOf) -> Floats:
        """Return the sum of terms of each candidate."""
        totals = np.empty(count)
        for part in parts:
            for same, own in self._by_terms(part, terms):
                totals[same.at] = same.total(own)
        return totals

    def _by_terms(self, part: Part, terms: TermsOf) -> Iterator[tuple[Part, Terms]]:
        """Split a part by the terms of its candidates, which depend on the arity."""
        for arity in np.unique(part.arities):
            yield part.only(np.flatnonzero(part.arities == arity)), terms(int(arity))

    def _configurations(self, base: NodeSet) -> int:
        """Return q, the product of the declared arities."""
        return math.prod(int(self._arities[v]) for v in nodes(base))

    def _cells(self, y: int, base: NodeSet) -> Cells:
        groups = self._groups(base)
        return Cells.of(groups, self._codes[y], int(self._arities[y]), self._weights)

    def _groups(self, base: NodeSet) -> Grouping:
        """Return the rows grouped by the configuration of base.

        Columns are added in increasing order to the longest beginning that is still known, so
        that neither groups nor rounding depend on what was asked before.
        """
        known, added = base, list[int]()
        groups = self._recent.get(known) if known else together(self.data.rows)
        while groups is None:
            added.append(known.bit_length() - 1)
            known ^= 1 << added[-1]
            groups = self._recent.get(known) if known else together(self.data.rows)
        for v in reversed(added):
            groups = refine(groups, self._codes[v], int(self._arities[v]))
            known |= 1 << v
            self._recent.put(known, groups)
        return groups

    def _lookup(self, key: float, term: Term, most: int) -> Term:
        """Return the term as a table, if the counts of these records are small enough for one."""
        if self.records > most:
            return term
        if (found := self._tabulated.get(key)) is None:
            found = Tabulated(term(np.arange(self.records + 1)))
            self._tabulated.put(key, found)
        return found


def _check_discrete(data: Dataset, score: str) -> None:
    """Refuse columns that have no levels, and tables without records."""
    stray = [
        name for name, kind in zip(data.names, data.kinds, strict=True) if kind is not Kind.DISCRETE
    ]
    if stray:
        raise ScoreError(
            f"{score}: column {stray[0]!r} is continuous"
            + (f", and {len(stray) - 1} more" if stray[1:] else "")
            + "; it scores discrete columns only: discretise them, pass kinds= to Dataset.of, "
            "or use a Gaussian or mixed score"
        )
    if data.records < 1:
        raise ScoreError(f"{score}: the table has no records; at least one is needed")
