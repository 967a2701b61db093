"""Slow twins of the generative models and oracles; imports nothing from sges.

A network is (parents, arities, cpts): the sorted parents of each variable, its number of
levels, and nested lists indexed by the parents' levels and then its own.  A distribution is
a dictionary from configurations to probabilities.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

Distribution = dict[tuple[int, ...], float]


def probability(parents: Sequence[Sequence[int]], cpts: Sequence[Any], row: Sequence[int]) -> float:
    """Return the probability of one configuration of all variables."""
    total = 1.0
    for v, cpt in enumerate(cpts):
        for level in (*(row[p] for p in parents[v]), row[v]):
            cpt = cpt[level]
        total *= float(cpt)
    return total


def joint(
    parents: Sequence[Sequence[int]], arities: Sequence[int], cpts: Sequence[Any]
) -> Distribution:
    """Return the probability of every configuration."""
    rows = product(*(range(r) for r in arities))
    return {row: probability(parents, cpts, row) for row in rows}


def marginal(full: Distribution, variables: Iterable[int]) -> Distribution:
    """Return the distribution of some variables."""
    kept, found = sorted(variables), Distribution()
    for row, p in full.items():
        key = tuple(row[v] for v in kept)
        found[key] = found.get(key, 0.0) + p
    return found


def expected_mdl(
    full: Distribution, arities: Sequence[int], y: int, parents: Iterable[int], records: float
) -> float:
    """Return m·Σ p(y, parents) ln p(y | parents) − ½ ln m (r − 1) q."""
    given = sorted(parents)
    family, q = marginal(full, [*given, y]), 1
    place = sorted([*given, y]).index(y)
    below = marginal(full, given)
    fit = 0.0
    for row, p in family.items():
        if p > 0:
            fit += p * log(p / below[row[:place] + row[place + 1 :]])
    for v in given:
        q *= arities[v]
    return records * fit - 0.5 * log(records) * (arities[y] - 1) * q


def covariance_by_paths(
    weights: NDArray[np.float64], variances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the covariance as a sum over noise variables and pairs of directed paths."""
    n = len(weights)
    total, step = np.eye(n), np.eye(n)
    for _ in range(n):
        step = step @ weights
        total = total + step
    covariance = np.zeros((n, n))
    for source in range(n):
        covariance += variances[source] * np.outer(total[source], total[source])
    return covariance


def conditional_variance(covariance: NDArray[np.float64], y: int, given: Sequence[int]) -> float:
    """Return the variance of y given others, as a Schur complement."""
    if not given:
        return float(covariance[y, y])
    inside = covariance[np.ix_(given, given)]
    across = covariance[given, y]
    return float(covariance[y, y] - across @ np.linalg.solve(inside, across))
