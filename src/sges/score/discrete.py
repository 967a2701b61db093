"""Scores of discrete data: BIC (which is MDL with our sign), qNML and BDeu.

Let n_jk be the number of records with parent configuration j and level k of y, and n_j the number
of records with configuration j.  Let r be the number of levels of y, q the number of possible
parent configurations (the product of the parents' numbers of levels), and m the number of records.
Then local(y, parents) is

    BIC     Σ_jk n_jk ln n_jk − Σ_j n_j ln n_j − penalty · ½ ln m · (r − 1) q
    qNML    Σ_jk n_jk ln n_jk − Σ_j n_j ln n_j − [ln C(m, r q) − ln C(m, q)]
    BDeu    Σ_jk ln Γ(n_jk + a/r) / Γ(a/r) − Σ_j ln Γ(n_j + a) / Γ(a)        with a = ess / q

where ln C(m, K) is the regret of a multinomial of K categories (``exact_regrets``).

All terms of the sums vanish at a count of zero, so only configurations that occur in the data are
counted, and q enters as a number: time and memory are proportional to the records, also for
thirty parents of ten levels each.  The levels of a column are the declared ones: a level that a
categorical type lists but no record has still counts in q and r.

With survey weights or missing values, counts need not be whole numbers, and m is the effective
number of records.  Rows with missing values are divided among their completions
(``sges.data.completion``): still one table for all families, so the scores stay score equivalent.

These classes count one family at a time.  Searches read the same table through
``sges/engine/scores/discrete.hpp``, which counts all candidates in one pass.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.completion import completed
from sges.data.dataset import as_dataset
from sges.docstrings import documented_like
from sges.errors import Argument, Message, ScoreError, is_number, shown
from sges.nodeset import NodeSet, nodes
from sges.score.protocol import Score, text_of

Ints: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]

MAX_CONFIGURATIONS = 10**290  # the largest q in the penalty, so that it stays finite
DENSE_GROUPS = 256  # up to this number, empty groups are kept; beyond it, only up to four per row


# --- the scores ------------------------------------------------------------------------------


class DiscreteScore:
    """A sum over the counts of a contingency table, the log-likelihood, minus a penalty."""

    def __init__(self, data: object) -> None:
        table, score = as_dataset(data), type(self).__name__
        if stray := table.continuous:
            name, more = table.names[stray[0]], f", and {len(stray) - 1} more" if stray[1:] else ""
            raise ScoreError(
                Message(
                    f"{score}: column {name!r} is continuous{more}; it scores discrete columns "
                    "only: discretize them, pass ", Argument("kinds", {name: "discrete"}),
                    " if they are codes, or use a Gaussian or mixed score",
                )
            )  # fmt: skip
        if table.records < 1:
            raise ScoreError(f"{score}: the table has no records; at least one is needed")
        self.table, self.data = table, completed(table)
        self.names = self.data.names
        self.records = self.data.records
        self._arities: list[int] = self.data.arities.tolist()
        self.n = len(self._arities)

    __repr__ = text_of

    @documented_like(Score.local)
    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the score of a node with some parents."""
        q = math.prod(self._arities[v] for v in nodes(parents))
        groups = grouped(self.data.codes, self._arities, nodes(parents))
        cells = refine(groups, self.data.codes[y], self._arities[y])
        fit = self._terms(self._counts(cells), self._counts(groups), self._arities[y], q)
        return fit - self._penalty(y, q)

    def _counts(self, groups: Ints) -> Counts:
        """Return the numbers of records of the groups that have any."""
        counts = np.bincount(groups, self.data.weights)
        return counts[counts > 0] * np.float64(self.data.unit)

    def _terms(self, joint: Counts, margin: Counts, r: int, q: int) -> float:  # noqa: ARG002
        """Return the sum of terms of the counts n_jk and n_j, all of them above zero."""
        return float((joint * np.log(joint)).sum() - (margin * np.log(margin)).sum())

    def _penalty(self, y: int, q: int) -> float:  # noqa: ARG002
        """Return the penalty for the parameters of y with q parent configurations, if any."""
        return 0.0


class DiscreteBIC(DiscreteScore):
    """BIC of discrete data: log-likelihood − penalty · ½ ln m · (r − 1) · q.

    m is the number of records, r the number of levels of y and q the product of the parents'
    numbers of levels.  Penalty 1.0 is the textbook BIC, which is minus the description length in
    nats (MDL) of Section 5; a larger penalty gives sparser graphs.

    Paper: Section 5, minimum description length score.

    Parameters
    ----------
    data
        A ``Dataset`` or anything that ``Dataset.of`` accepts; every column must be discrete.
    penalty
        The multiplier of the textbook penalty, at least zero.

    Raises
    ------
    ScoreError
        If a column is continuous, the table has no records, or the penalty is out of range.

    References
    ----------
    Schwarz (1978), Estimating the dimension of a model.  Annals of Statistics 6(2).

    Examples
    --------
    >>> coins = DiscreteBIC({"a": ["h", "h", "t", "t"], "b": ["h", "h", "t", "t"]})
    >>> round(coins.local(1, 0b01) - coins.local(1, 0), 6)  # 4 ln 2 − ½ ln 4
    2.079442
    """

    def __init__(self, data: object, penalty: float = 1.0) -> None:
        if not (is_number(penalty) and 0 <= penalty < math.inf):
            raise ScoreError(
                f"DiscreteBIC: penalty {shown(penalty)} is not a finite number of at least 0; "
                "1.0 is the textbook BIC"
            )
        super().__init__(data)
        self.penalty = float(penalty)

    def _penalty(self, y: int, q: int) -> float:
        free = (self._arities[y] - 1) * min(q, MAX_CONFIGURATIONS)
        return self.penalty / 2 * math.log(self.records) * free


@documented_like(DiscreteBIC)
class QNML(DiscreteScore):
    """Quotient normalized maximum likelihood: log-likelihood − [ln C(m, r q) − ln C(m, q)].

    m is the number of records, r the number of levels of y, q the product of the parents' numbers
    of levels, and ln C(m, K) the regret of a multinomial of K categories: how much longer the
    shortest universal code of m records is than the code that fits them best.  A node is charged
    for the regret of its family beyond that of its parents.

    The score has no parameters.  With many records it is close to the BIC, whose penalty is the
    regret to the first order.  With few records per configuration its penalty is smaller:
    it never exceeds m ln r, the length of a code that does not look at the parents, whereas that
    of the BIC grows with q.  All graphs of an equivalence class have the same score.

    Raises
    ------
    ScoreError
        If a column is continuous or the table has no records.

    References
    ----------
    Silander, Leppä-aho, Jääsaari & Roos (2018), Quotient normalized maximum likelihood criterion
    for learning Bayesian network structures.  AISTATS, PMLR 84.

    Examples
    --------
    >>> coins = QNML({"a": ["h", "t"], "b": ["h", "t"]})
    >>> round(math.exp(-coins.local(0, 0)), 6)  # C(2, 2) / ¼, with C(2, 2) = 1 + ½ + 1
    10.0
    """

    def __init__(self, data: object) -> None:
        super().__init__(data)
        self._exact = exact_regrets(self.records)

    def _penalty(self, y: int, q: int) -> float:
        q = min(q, MAX_CONFIGURATIONS)
        return self._regret(q * self._arities[y]) - self._regret(q)

    def _regret(self, categories: int) -> float:
        if categories <= len(self._exact):
            return float(self._exact[categories - 1])
        return approximate_regret(self.records, categories)


EXACT_REGRETS = 1000  # categories; with more, the error of the approximation is below 0.0002
MANY_RECORDS = 10_000  # from this number on, C(m, 2) is computed by its expansion


@lru_cache(maxsize=8)
def exact_regrets(m: int) -> NDArray[np.float64]:
    """Return the regrets of multinomials of 1, 2, ... categories with m records.

    The regret is the logarithm of C(m, K), the sum of the maximum likelihoods of all sequences of
    m records: Σ m! / (h₁! ⋯ h_K!) Π (h_k / m)^h_k over all counts that add up to m.  C(m, 1) is 1,
    and C(m, K + 2) = C(m, K + 1) + (m / K) C(m, K), which is a recurrence of their ratios.

    References
    ----------
    Kontkanen & Myllymäki (2007), A linear-time algorithm for computing the multinomial stochastic
    complexity.  Information Processing Letters 103(6).
    """
    ratio = _two_categories(m)
    ratios = [1.0, ratio]
    for k in range(1, EXACT_REGRETS - 1):
        ratio = 1 + m / k / ratio
        ratios.append(ratio)
    regrets: NDArray[np.float64] = np.log(ratios).cumsum()
    regrets.flags.writeable = False
    return regrets


def _two_categories(m: int) -> float:
    """Return C(m, 2), which is 1 + Σ m! / ((m − k)! m^k) over k = 1 ... m: 1 + Ramanujan's Q."""
    if m < MANY_RECORDS:
        return 1 + float(np.cumprod(1 - np.arange(m) / m).sum())
    side = math.sqrt(math.pi / (2 * m))
    return m * side + 2 / 3 + side / 12 - 4 / (135 * m) + side / (288 * m)


def approximate_regret(m: int, categories: float) -> float:
    """Return the regret of a multinomial, approximated for any number of categories.

    With α = K/m and C = ½ + ½ √(1 + 4/α) it is m (ln α + (α + 2) ln C − 1/C) − ½ ln (C + 2/α),
    written here so that nothing cancels for small or large α.

    References
    ----------
    Szpankowski & Weinberger (2012), Minimax pointwise redundancy for memoryless models over large
    alphabets.  IEEE Transactions on Information Theory 58(7).
    """
    alpha = categories / m
    side, root = math.sqrt(alpha), math.sqrt(alpha + 4)
    log_c = math.log1p(2 / (alpha + side * root))
    inverse = 2 * side / (side + root)  # 1/C
    per_record = 2 * math.asinh(side / 2) + alpha * log_c - inverse  # ln α + 2 ln C is 2 asinh ½√α
    return m * per_record - 0.5 * math.log(1 / inverse + 2 / alpha)


@documented_like(DiscreteBIC)
class BDeu(DiscreteScore):
    """BDeu: the log marginal likelihood under uniform Dirichlet priors of one sample size.

    Each parent configuration has a Dirichlet prior with parameters ess / (q r), for q possible
    configurations and r levels of y.  All graphs of an equivalence class have the same score.
    There is no prior over graphs.

    Parameters
    ----------
    ess
        The equivalent sample size: the number of records that the prior counts for.  The default
        is one record for the whole table.  Results are sensitive to it: smaller values give
        sparser graphs (Steck & Jaakkola 2002), larger ones denser graphs.  "levels" is the largest
        number of levels: the prior of that column alone is then uniform.

    Raises
    ------
    ScoreError
        If a column is continuous, the table has no records, or ``ess`` is out of range.

    References
    ----------
    Heckerman, Geiger & Chickering (1995), Learning Bayesian networks: the combination of
    knowledge and statistical data.  Machine Learning 20.

    Examples
    --------
    >>> coins = BDeu({"a": ["h", "h", "t", "t"], "b": ["h", "t", "h", "t"]}, ess=2)
    >>> round(math.exp(-coins.local(0, 0)))  # 4 tosses of a coin of uniform bias: 5! / (2! 2!)
    30
    """

    def __init__(self, data: object, ess: float | Literal["levels"] = 1.0) -> None:
        by_levels = isinstance(ess, str) and ess == "levels"
        if not by_levels and not (is_number(ess) and 0 < ess < math.inf):  # type: ignore[operator]
            raise ScoreError(
                f"BDeu: ess {shown(ess)} is not a finite number above 0, or 'levels'; "
                "usual equivalent sample sizes lie between 1 and 10"
            )
        super().__init__(data)
        self.ess = float(max(self._arities) if by_levels else ess)

    def _terms(self, joint: Counts, margin: Counts, r: int, q: int) -> float:
        """Return the sums of ln Γ(n + α) / Γ(α), written as ln Γ(n + α) / Γ(1 + α) + ln α.

        α = ess / q may be smaller than any floating-point number, while its logarithm is not; and
        the logarithms of all cells and configurations nearly cancel, so they are added up apart.
        """
        log_alpha = math.log(self.ess) - math.log(q)
        alpha = math.exp(log_alpha)
        cell = math.exp(log_alpha - math.log(r))
        rising = _log_rising(joint, cell) - _log_rising(margin, alpha)
        constants = (len(joint) - len(margin)) * log_alpha - len(joint) * math.log(r)
        return float(rising + constants)


def _log_rising(counts: Counts, alpha: float) -> float:
    """Return the sum of ln Γ(n + α) − ln Γ(1 + α) over counts n; SciPy would be slow to import."""
    values, times = np.unique(counts, return_counts=True)
    log_gamma_one = math.lgamma(1 + alpha)
    terms = (math.lgamma(n + alpha) - log_gamma_one for n in values.tolist())
    return math.fsum(k * term for k, term in zip(times.tolist(), terms, strict=True))


# --- the counts ------------------------------------------------------------------------------


def grouped(codes: Codes, arities: Sequence[int], columns: Iterable[int]) -> Ints:
    """Return a number for the group of each row, by its values in some columns."""
    groups = np.zeros(codes.shape[1], dtype=np.intp)
    for v in columns:
        groups = refine(groups, codes[v], arities[v])
    return groups


def refine(groups: Ints, column: Codes, arity: int) -> Ints:
    """Return the groups split by the levels of a column, ordered by (group, level).

    Empty groups are dropped if there would be more than four groups per row, so that memory is
    proportional to the rows and does not depend on the product of the arities.
    """
    groups = groups * arity + column.astype(np.intp)
    if groups.max(initial=0) < max(DENSE_GROUPS, 4 * len(groups)):
        return groups
    return np.unique(groups, return_inverse=True)[1]
