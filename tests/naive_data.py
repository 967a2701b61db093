"""Slow twins of the data layer, directly from the definitions; imports nothing from sges."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np


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
