"""Scores of discrete data: BIC (which is MDL with our sign) and BDeu.

Both are sums over the cells of a contingency table,

    local(y, parents) = Σ cell(n_jk) − Σ configuration(n_j) − penalty,

where n_jk counts the records with parent configuration j and level k of y, and n_j those with
configuration j.  Both functions vanish at zero, so that only what occurs in the data is looked
at; the number q of possible configurations enters as a number and is never allocated.

The levels of a column are the declared ones: a level that a categorical type lists and no
record has still counts in q and in the number of parameters.

``sges.score.tabular`` counts.
"""

import math
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np

from sges.errors import ScoreError
from sges.score import tabular
from sges.score.counts import Cells, Floats, Ints
from sges.score.tabular import DiscreteScore, Part, TermsOf
from sges.score.terms import Term, Terms, entropy_term, rising_term

HUGE = 10**290
"""The number of configurations is cut off here, so that penalties stay finite."""


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
        term = self._lookup(0.0, entropy_term, tabular.TABULATED_ONCE)
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

    def _by_terms(self, part: Part, terms: TermsOf) -> Iterator[tuple[Part, Terms]]:
        """Leave a part whole: the terms are always the same."""
        yield part, terms(1)

    def _ceilings(self, cells: Cells, y: int, q: int, before: float, candidates: Ints) -> Floats:  # noqa: ARG002
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
        return self._lookup(alpha, partial(rising_term, alpha=alpha), tabular.TABULATED)

    def _penalty(self, y: int, q: int) -> float:  # noqa: ARG002 the prior is the penalty
        return 0.0
