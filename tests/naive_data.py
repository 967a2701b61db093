"""Slow twins of the data layer, directly from the definitions; imports nothing from sges."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def exact_moments(
    columns: Sequence[Sequence[float]], weights: Sequence[int] | None = None
) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Return the mean and the maximum-likelihood covariance in exact arithmetic."""
    rows = [[Fraction(x) for x in column] for column in columns]
    times = [1] * len(rows[0]) if weights is None else list(weights)
    records = sum(times)
    mean = [sum((x * w for x, w in zip(c, times, strict=True)), Fraction()) / records for c in rows]
    covariance = [
        [
            sum(
                (
                    (x - mean[i]) * (y - mean[j]) * w
                    for x, y, w in zip(a, b, times, strict=True)
                ),
                Fraction(),
            )
            / records
            for j, b in enumerate(rows)
        ]
        for i, a in enumerate(rows)
    ]  # fmt: skip
    return mean, covariance


def counted_rows(
    rows: Sequence[Sequence[object]], weights: Sequence[int] | None = None
) -> dict[tuple[object, ...], int]:
    """Return the number of times that each row occurs."""
    counts: Counter[tuple[object, ...]] = Counter()
    for i, row in enumerate(rows):
        counts[tuple(row)] += 1 if weights is None else weights[i]
    return dict(counts)


def integer_rule(values: Sequence[int]) -> str:
    """Return the kind of an integer column by the documented rule."""
    distinct = len(set(values))
    if distinct <= 2:
        return "discrete"
    if distinct <= 10 and len(values) >= distinct * distinct:
        return "discrete"
    return "continuous"


def em_of_gaussian(
    rows: Sequence[Sequence[float]], iterations: int
) -> tuple[list[float], list[list[float]], list[float]]:
    """Return mean, covariance and log-likelihoods by EM, row by row; NaN is a missing value."""
    table = np.array(rows, dtype=float)
    n, p = table.shape
    mean, covariance = np.nanmean(table, axis=0), np.diag(np.nanvar(table, axis=0))
    likelihoods = []
    for _ in range(iterations):
        filled, spread, likelihood = table.copy(), np.zeros((p, p)), 0.0
        for i, row in enumerate(table):
            gone, seen = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
            inverse = np.linalg.inv(covariance[np.ix_(seen, seen)])
            rest = row[seen] - mean[seen]
            slopes = covariance[np.ix_(gone, seen)] @ inverse
            filled[i, gone] = mean[gone] + slopes @ rest
            own = covariance[np.ix_(gone, gone)] - slopes @ covariance[np.ix_(seen, gone)]
            spread[np.ix_(gone, gone)] += own
            likelihood -= 0.5 * (len(seen) * np.log(2 * np.pi) + rest @ inverse @ rest)
            likelihood += 0.5 * np.linalg.slogdet(inverse)[1]
        likelihoods.append(float(likelihood))
        mean = filled.mean(axis=0)
        covariance = ((filled - mean).T @ (filled - mean) + spread) / n
    return mean.tolist(), covariance.tolist(), likelihoods


def completions(
    rows: Sequence[Sequence[int | None]], arities: Sequence[int], iterations: int
) -> dict[tuple[int, ...], float]:
    """Return how often each complete row is expected, from the Gaussian of the indicators.

    The holes of a row are filled in from the first column to the last, with probabilities that are
    conditional means given all values known so far.
    """
    places = [(v, level) for v, r in enumerate(arities) for level in range(r - 1)]

    def coded(row: Sequence[int | None]) -> list[float]:
        return [np.nan if row[v] is None else float(row[v] == level) for v, level in places]

    mean, covariance, _ = em_of_gaussian([coded(row) for row in rows], iterations)
    counts: dict[tuple[int, ...], float] = defaultdict(float)
    open_rows = [(list(row), 1.0) for row in rows]
    while open_rows:
        row, share = open_rows.pop()
        if None not in row:
            counts[tuple(level for level in row if level is not None)] += share
            continue
        v, known = row.index(None), np.array(coded(row))
        seen = np.flatnonzero(~np.isnan(known))
        own = np.array([i for i, (u, _) in enumerate(places) if u == v])
        matrix, center = np.array(covariance), np.array(mean)
        slopes = matrix[np.ix_(own, seen)] @ np.linalg.inv(matrix[np.ix_(seen, seen)])
        guess = (center[own] + slopes @ (known - center)[seen]).tolist()
        chances = [max(p, 0.0) for p in [*guess, 1 - sum(guess)]]
        for level, chance in enumerate(chances):
            filled = [*row[:v], level, *row[v + 1 :]]
            if chance:
                open_rows.append((filled, share * chance / sum(chances)))
    return dict(counts)


def em_of_counts(
    rows: Sequence[Sequence[int | None]], arities: Sequence[int], iterations: int
) -> NDArray[np.float64]:
    """Return the expected counts of all cells at the maximum of the multinomial likelihood."""
    shares = np.full(tuple(arities), 1 / np.prod(arities))
    for _ in range(iterations):
        counts = np.zeros(shares.shape)
        for row in rows:
            fits = tuple(slice(None) if level is None else slice(level, level + 1) for level in row)
            counts[fits] += shares[fits] / shares[fits].sum()
        shares = counts / len(rows)
    return counts
