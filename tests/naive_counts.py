"""Slow twins of the discrete scores: dictionaries of counts, one record at a time.

Rows are tuples of levels, ``arities`` are the numbers of levels of the columns, and parents are any
iterable of columns.  Nothing is batched, coded or packed, or imported from sges.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import factorial, log, prod

Row = tuple[int, ...]


def counts(
    rows: Sequence[Row], columns: Iterable[int], times: Sequence[int] | None = None
) -> Counter[Row]:
    """Return the number of records with each combination of levels of the given columns."""
    chosen = sorted(columns)
    found: Counter[Row] = Counter()
    for row, weight in zip(rows, times or [1] * len(rows), strict=True):
        found[tuple(row[c] for c in chosen)] += weight
    return found


def log_likelihood(rows: Sequence[Row], y: int, parents: Iterable[int]) -> float:
    """Return Σ n_jk ln (n_jk / n_j) over the configurations j and levels k that occur."""
    chosen = sorted(parents)
    family = Counter((tuple(row[c] for c in chosen), row[y]) for row in rows)
    configuration = Counter(tuple(row[c] for c in chosen) for row in rows)
    return sum(n * log(n / configuration[j]) for (j, _), n in family.items())


def parameters(arities: Sequence[int], y: int, parents: Iterable[int]) -> int:
    return (arities[y] - 1) * prod(arities[p] for p in parents)


def bic(
    rows: Sequence[Row], arities: Sequence[int], y: int, parents: Iterable[int], penalty: float
) -> float:
    chosen = list(parents)
    cost = penalty * log(len(rows)) / 2 * parameters(arities, y, chosen)
    return log_likelihood(rows, y, chosen) - cost


@cache
def regret(m: int, categories: int) -> float:
    """Return the logarithm of Σ m! / (h₁! ⋯ h_K!) Π (h_k / m)^h_k over all counts that add up to m.

    The sum is m! / m^m times the coefficient of z^m in (Σ h^h / h! z^h)^K, computed exactly.
    """
    one = [Fraction(h**h, factorial(h)) for h in range(m + 1)]
    power, square = [Fraction(1)] + [Fraction(0)] * m, one
    while categories:
        if categories % 2:
            power = _product(power, square)
        square, categories = _product(square, square), categories // 2
    total = power[m] * factorial(m) / m**m
    return log(total.numerator) - log(total.denominator)


def _product(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    return [sum((a[i] * b[k - i] for i in range(k + 1)), Fraction(0)) for k in range(len(a))]


def qnml(rows: Sequence[Row], arities: Sequence[int], y: int, parents: Iterable[int]) -> float:
    chosen = list(parents)
    q = prod(arities[p] for p in chosen)
    beyond = regret(len(rows), q * arities[y]) - regret(len(rows), q)
    return log_likelihood(rows, y, chosen) - beyond


def bdeu_probability(
    rows: Sequence[Row], arities: Sequence[int], y: int, parents: Iterable[int], ess: Fraction
) -> Fraction:
    """Return the probability of column y, with each record predicted from those before it.

    A record with configuration j has level k with probability (n_jk + α/r) / (n_j + α), where
    α = ess/q and the counts are those of the records before.  The product is exact.
    """
    chosen = sorted(parents)
    alpha = ess / prod(arities[p] for p in chosen)
    family: Counter[tuple[Row, int]] = Counter()
    configuration: Counter[Row] = Counter()
    probability = Fraction(1)
    for row in rows:
        j, k = tuple(row[p] for p in chosen), row[y]
        probability *= (family[j, k] + alpha / arities[y]) / (configuration[j] + alpha)
        family[j, k] += 1
        configuration[j] += 1
    return probability


def bdeu(
    rows: Sequence[Row], arities: Sequence[int], y: int, parents: Iterable[int], ess: Fraction
) -> float:
    exact = bdeu_probability(rows, arities, y, parents, ess)
    return log(exact.numerator) - log(exact.denominator)
