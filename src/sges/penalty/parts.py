"""Parts of a table: folds and subsamples, drawn by record and not by row.

A part is an array that says how many records of each row it holds, so that a row which stands
for a thousand records is split like a thousand rows.
"""

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data import Dataset, Moments
from sges.errors import DataError

Counts: TypeAlias = NDArray[np.int64]
"""How many records of each row a part holds."""

MOST_WEIGHTED = 10**9 - 1
"""The most records that weighted rows can be drawn from: the limit of NumPy's generator."""


def folds(data: Dataset, count: int, rng: np.random.Generator) -> list[Counts]:
    """Return a random partition of the records into so many folds of nearly one size."""
    if data.weights is None:
        fold_of = rng.permutation(data.rows) % count
        return [(fold_of == k).astype(np.int64) for k in range(count)]
    left, found = data.weights.copy(), list[Counts]()
    for k in range(count):
        size = data.records // count + (k < data.records % count)
        found.append(_drawn(left, size, rng))
        left -= found[-1]
    return found


def subsample(data: Dataset, size: int, rng: np.random.Generator) -> Counts:
    """Return so many of the records, drawn without replacement."""
    if data.weights is not None:
        return _drawn(data.weights, size, rng)
    counts = np.zeros(data.rows, dtype=np.int64)
    counts[rng.permutation(data.rows)[:size]] = 1
    return counts


def taken(data: Dataset, counts: Counts) -> Dataset:
    """Return the part of a table, without the rows it has no record of."""
    kept = counts > 0
    return replace(
        data,
        values=np.ascontiguousarray(data.values[:, kept]),
        codes=np.ascontiguousarray(data.codes[:, kept]),
        weights=None if data.weights is None else counts[kept],
    )


def records_of(data: Dataset) -> Counts:
    """Return how many records each row stands for."""
    return np.ones(data.rows, dtype=np.int64) if data.weights is None else data.weights


def pooled(a: Moments, b: Moments) -> Moments:
    """Return the moments of two parts together (Chan, Golub & LeVeque 1983)."""
    records = a.records + b.records
    step = b.mean - a.mean
    share = b.records / records
    covariance = (1 - share) * a.covariance + share * b.covariance
    covariance += share * (1 - share) * np.outer(step, step)
    return Moments(a.names, records, a.mean + share * step, covariance)


def _drawn(counts: Counts, size: int, rng: np.random.Generator) -> Counts:
    if (total := int(counts.sum())) > MOST_WEIGHTED:
        raise DataError(
            f"{total} weighted records are more than can be drawn from ({MOST_WEIGHTED}); choose "
            "the penalty on a sample of them"
        )
    return rng.multivariate_hypergeometric(counts, size, method="marginals").astype(np.int64)
