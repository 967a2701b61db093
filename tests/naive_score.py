"""Slow twins of the scores; imports nothing from sges.

Data are plain arrays (records x columns), parents any collection of column numbers.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from math import lgamma, log, pi

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multivariate_t

Table = NDArray[np.float64]


def gaussian_bic(table: Table, y: int, parents: Collection[int], penalty: float = 1.0) -> float:
    """Return the BIC by least squares on the raw data."""
    m = len(table)
    design = np.column_stack([np.ones(m), *(table[:, p] for p in parents)])
    weights = np.linalg.lstsq(design, table[:, y], rcond=None)[0]
    variance = float(np.mean((table[:, y] - design @ weights) ** 2))
    densities = -0.5 * np.log(2 * pi * variance) - (table[:, y] - design @ weights) ** 2 / (
        2 * variance
    )
    return float(densities.sum()) - penalty / 2 * log(m) * (len(parents) + 2)


def bge(
    table: Table,
    y: int,
    parents: Collection[int],
    *,
    alpha_mu: float,
    alpha_w: float,
    nu: Table,
    t: Table,
) -> float:
    """Return log p(parents ∪ y) − log p(parents), each a product of predictive densities."""
    n = table.shape[1]

    def marginal(columns: list[int]) -> float:
        if not columns:
            return 0.0
        freedom = alpha_w - n + len(columns)
        at = np.ix_(columns, columns)
        return sequential(table[:, columns], alpha_mu, freedom, nu[columns], t[at])

    return marginal([*parents, y]) - marginal([*parents])


def sequential(
    table: Table, kappa: float, freedom: float, location: Table, scatter: Table
) -> float:
    """Return the sum of the log densities of the records, each given those before it.

    The predictive density of a normal-Wishart is a multivariate t (Bernardo & Smith 1994).
    """
    total, width = 0.0, table.shape[1]
    for record in table:
        df = freedom - width + 1
        shape = scatter * (kappa + 1) / (kappa * df)
        total += float(multivariate_t.logpdf(record, loc=location, shape=shape, df=df))
        step = record - location
        scatter = scatter + kappa / (kappa + 1) * np.outer(step, step)
        location = location + step / (kappa + 1)
        kappa, freedom = kappa + 1, freedom + 1
    return total


def degenerate_gaussian(
    table: Table, discrete: Collection[int], y: int, parents: Collection[int], penalty: float = 1.0
) -> float:
    """Return L(parents ∪ y) − L(parents) with explicit indicator columns."""

    def joint(columns: Iterable[int]) -> float:
        written = [w for c in columns for w in indicators(table[:, c], c in discrete)]
        if not written:
            return 0.0
        m, d = len(table), len(written)
        deviations = np.array([w - w.mean() for w in written])
        _, log_det = np.linalg.slogdet(deviations @ deviations.T / m)
        free = d + d * (d + 1) / 2
        return float(-m / 2 * (log_det + d * log(2 * pi) + d)) - penalty / 2 * log(m) * free

    return joint([*parents, y]) - joint(parents)


def indicators(column: Table, is_discrete: bool) -> list[Table]:
    """Return the column itself, or one indicator for each level but the first."""
    if not is_discrete:
        return [column]
    return [(column == level).astype(float) for level in sorted(set(column.tolist()))[1:]]


def k2(table: NDArray[np.int64], y: int, parents: Collection[int]) -> float:
    """Return K2 (Cooper & Herskovits 1992): all Dirichlet parameters are one."""
    arity = int(table[:, y].max()) + 1
    cells: Counter[tuple[tuple[int, ...], int]] = Counter()
    for record in table.tolist():
        cells[tuple(record[p] for p in sorted(parents)), record[y]] += 1
    totals: Counter[tuple[int, ...]] = Counter()
    for (configuration, _), count in cells.items():
        totals[configuration] += count
    return sum(lgamma(count + 1) for count in cells.values()) + sum(
        lgamma(arity) - lgamma(total + arity) for total in totals.values()
    )
