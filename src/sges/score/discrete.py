"""Scores of discrete data: BIC (which is MDL with our sign) and BDeu.

Both are sums over the cells of a contingency table,

    local(y, parents) = Σ cell(n_jk) − Σ configuration(n_j) − penalty,

where n_jk counts the records with parent configuration j and level k of y, and n_j those with
configuration j.  Both functions vanish at zero, so that only what occurs in the data is looked
at; the number q of possible configurations enters as a number and is never allocated.

The levels of a column are the declared ones: a level that a categorical type lists and no
record has still counts in q and in the number of parameters.

What makes a search fast is that one call gives the gains of every candidate:
``insert_gains`` counts the table of (y, base) with all candidates in one pass over the records
(``sges.score.lanes``), ``delete_gains`` sums out each parent from the occupied cells.
"""

import math
import sys
from abc import ABC, abstractmethod
from functools import cached_property, partial
from typing import Any

import numpy as np

from sges.data.dataset import Dataset
from sges.data.kinds import Kind
from sges.errors import ScoreError
from sges.nodeset import NodeSet, nodes
from sges.score.counts import (
    Cells,
    Floats,
    Grouping,
    Ints,
    leave_one_out,
    occupied_cells,
    refine,
    tally,
    together,
)
from sges.score.lanes import Columns
from sges.score.recent import Recent
from sges.score.terms import Term, Terms, entropy_term, rising_term

TABULATED = 2**16
"""Terms of counts up to this are looked up; beyond, they are computed one by one."""

KEPT = 32 * 2**20
"""Bytes of groupings and of tabulated terms, each, that a score keeps for the next call."""

HUGE = 10**290
"""The number of configurations is cut off here, so that penalties stay finite."""

ROUNDING = 1e-9
"""Relative distance that a bound must keep from what it is compared with."""

LOWEST = -sys.float_info.max
"""Stands for a gain that was not worth computing."""


class DiscreteScore(ABC):
    """What discrete scores share: counting, batching, and the configurations last used.

    A subclass says what counts contribute (``_terms``) and what parameters cost (``_penalty``).
    """

    def __init__(self, data: object) -> None:
        self.data = Dataset.of(data)
        _check_discrete(self.data, type(self).__name__)
        self.names = self.data.names
        self.records = self.data.records
        self._arities = self.data.arities
        self._weights = self.data.weights
        self._columns = Columns(self.data.codes, self._arities, self._weights)
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
        cells, q = self._cells(y, base), self._configurations(base)
        before = self._sum(cells, self._terms(y, q))
        gains = np.full(len(candidates), -math.inf)
        arities = self._arities[candidates]
        for arity in map(int, np.unique(arities)):
            terms, cost = self._terms(y, q * arity), self._penalty_of_more(y, q, arity)
            at = np.flatnonzero(arities == arity)
            if floor > -math.inf:
                slack = ROUNDING * (1 + abs(before) + cost)
                ceiling = self._ceilings(cells, terms, before, candidates[at])
                at = at[ceiling - cost + slack >= floor]
            if len(at):
                gains[at] = self._totals(cells, candidates[at], terms) - before - cost
        return gains

    def insert_gains_above(
        self, y: int, base: NodeSet, candidates: Ints, floor: float, /
    ) -> Floats:
        """Return insert gains; one that cannot exceed the floor may be any lower finite number."""
        gains = self.insert_gains(y, base, candidates, floor=floor)
        return np.maximum(gains, LOWEST)

    def delete_gains(self, y: int, base: NodeSet, candidates: Ints, /) -> Floats:
        r"""Return local(y, base \ x) − local(y, base) for each candidate x, all of them in base."""
        cells, q = self._cells(y, base), self._configurations(base)
        before = self._sum(cells, self._terms(y, q))
        examples, counts = occupied_cells(cells)
        codes = self.data.codes

        def split_by(groups: Grouping, v: int) -> Grouping:
            return refine(groups, codes[v, examples], int(self._arities[v]))

        wanted = {int(x): k for k, x in enumerate(candidates)}
        gains = np.empty(len(candidates))
        everything = together(len(examples))
        for x, rest in leave_one_out(everything, list(nodes(base)), wanted.__contains__, split_by):
            arity = int(self._arities[x])
            joint, margin = tally(split_by(rest, y), counts), tally(rest, counts)
            after = float(self._terms(y, q // arity).total(joint, margin))
            gains[wanted[x]] = after - before + self._penalty_of_more(y, q // arity, arity)
        return gains

    @abstractmethod
    def _terms(self, y: int, q: int) -> Terms:
        """Return what counts contribute when y has q parent configurations."""

    @abstractmethod
    def _penalty(self, y: int, q: int) -> float:
        """Return what the parameters of y cost with q parent configurations."""

    def _ceilings(self, cells: Cells, terms: Terms, before: float, candidates: Ints) -> Floats:
        """Return bounds on what each candidate, all with these terms, can add to the sum.

        At best a parent tells the levels of y apart, so that each cell has a configuration of
        its own.  That is −before for the likelihood (the entropy of y still to be explained),
        and for BDeu a bound too: a record is never predicted better than from all the earlier
        records of its cell and no others.
        """
        best = float(terms.total(cells.counts, cells.counts))
        return np.full(len(candidates), best - before)

    def _penalty_of_more(self, y: int, q: int, arity: int) -> float:
        """Return what it costs to go from q to q · arity configurations.

        Not a difference of two penalties, which would drown in rounding.
        """
        return self._penalty(y, q * (arity - 1))

    def _sum(self, cells: Cells, terms: Terms) -> float:
        return float(terms.total(cells.counts, cells.margin(cells.counts)))

    def _totals(self, cells: Cells, candidates: Ints, terms: Terms) -> Floats:
        """Return the sum of terms of each candidate; all have one arity."""
        totals = np.empty(len(candidates))
        for tables in self._columns.tables(cells, candidates):
            totals[tables.at] = terms.total(tables.joint, tables.margin)
        return totals

    def _configurations(self, base: NodeSet) -> int:
        """Return q, the product of the declared arities."""
        return math.prod(int(self._arities[v]) for v in nodes(base))

    def _cells(self, y: int, base: NodeSet) -> Cells:
        groups = self._groups(base)
        return Cells.of(groups, self.data.codes[y], int(self._arities[y]), self._weights)

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
            groups = refine(groups, self.data.codes[v], int(self._arities[v]))
            known |= 1 << v
            self._recent.put(known, groups)
        return groups

    def _lookup(self, key: float, term: Term) -> Term:
        """Return the term as a table, if the counts of these records are small enough for one."""
        if self.records > TABULATED:
            return term
        if (found := self._tabulated.get(key)) is None:
            found = term(np.arange(self.records + 1)).take
            self._tabulated.put(key, found)
        return found


class DiscreteBIC(DiscreteScore):
    """BIC of discrete data: log-likelihood − penalty · ½ ln m · (r_y − 1) · q.

    m is the number of records, r_y the number of levels of y and q the product of the
    parents' numbers of levels.  Penalty 1.0 is the textbook BIC, and is minus the description
    length in nats (MDL) of Section 5; a larger penalty gives sparser graphs.

    Parameters
    ----------
    data
        A ``Dataset`` or anything that ``Dataset.of`` takes; every column must be discrete.
    penalty
        The multiplier of the textbook penalty, at least zero.

    Examples
    --------
    >>> coins = DiscreteBIC({"a": ["h", "h", "t", "t"], "b": ["h", "h", "t", "t"]})
    >>> round(coins.local(1, 0b01) - coins.local(1, 0), 6)  # 4 ln 2 − ½ ln 4
    2.079442

    Paper: Section 5, minimum description length score.
    """

    def __init__(self, data: object, penalty: float = 1.0) -> None:
        if not (math.isfinite(penalty) and penalty >= 0):
            raise ScoreError(
                f"DiscreteBIC: penalty {penalty!r} is not a finite number of at least 0; "
                "1.0 is the textbook BIC"
            )
        super().__init__(data)
        self.penalty = float(penalty)
        term = self._lookup(0.0, entropy_term)
        self._entropy = Terms(term, term)

    def __repr__(self) -> str:
        return f"DiscreteBIC(n={self.n}, records={self.records}, penalty={self.penalty:g})"

    def __reduce__(self) -> tuple[Any, ...]:
        return DiscreteBIC, (self.data, self.penalty)

    def _terms(self, y: int, q: int) -> Terms:  # noqa: ARG002 the likelihood needs only counts
        return self._entropy

    def _penalty(self, y: int, q: int) -> float:
        free = (int(self._arities[y]) - 1) * min(q, HUGE)
        return self.penalty / 2 * math.log(self.records) * free

    def _ceilings(self, cells: Cells, terms: Terms, before: float, candidates: Ints) -> Floats:  # noqa: ARG002
        """Bound m · I(X; Y | B) by m · H(Y | B), and by m · H(X)."""
        return np.minimum(-before, self._entropies[candidates])

    @cached_property
    def _entropies(self) -> Floats:
        """The entropy of each column, times the records."""
        return np.array([-self._sum(self._cells(x, 0), self._entropy) for x in range(self.n)])


class BDeu(DiscreteScore):
    """BDeu: the log marginal likelihood under uniform Dirichlet priors of one sample size.

    Each parent configuration has a Dirichlet prior with parameters ess / (q · r_y).  The
    graphs of one equivalence class get one score (Heckerman, Geiger & Chickering 1995).  There
    is no prior over graphs.

    Parameters
    ----------
    data
        A ``Dataset`` or anything that ``Dataset.of`` takes; every column must be discrete.
    ess
        The equivalent sample size: how many imaginary records the prior is worth.  The default
        is one record for the whole table.  Results are sensitive to it: smaller values give
        sparser graphs (Steck & Jaakkola 2002), larger ones denser.

    Examples
    --------
    >>> coins = BDeu({"a": ["h", "h", "t", "t"], "b": ["h", "t", "h", "t"]}, ess=2)
    >>> round(math.exp(-coins.local(0, 0)))  # 4 tosses of a coin of uniform bias: 5! / (2! 2!)
    30
    """

    def __init__(self, data: object, ess: float = 1.0) -> None:
        if not (math.isfinite(ess) and ess > 0):
            raise ScoreError(
                f"BDeu: ess {ess!r} is not a finite number above 0; "
                "usual equivalent sample sizes lie between 1 and 10"
            )
        super().__init__(data)
        self.ess = float(ess)

    def __repr__(self) -> str:
        return f"BDeu(n={self.n}, records={self.records}, ess={self.ess:g})"

    def __reduce__(self) -> tuple[Any, ...]:
        return BDeu, (self.data, self.ess)

    def _terms(self, y: int, q: int) -> Terms:
        r = int(self._arities[y])
        log_alpha = math.log(self.ess) - math.log(q)
        return Terms(self._rising(q * r), self._rising(q), -math.log(r), log_alpha)

    def _rising(self, parts: int) -> Term:
        """Return n ↦ ln Γ(n + α) − ln Γ(1 + α) for α = ess / parts and n > 0."""
        alpha = math.exp(math.log(self.ess) - math.log(parts))
        return self._lookup(alpha, partial(rising_term, alpha=alpha))

    def _penalty(self, y: int, q: int) -> float:  # noqa: ARG002 the prior is the penalty
        return 0.0


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
