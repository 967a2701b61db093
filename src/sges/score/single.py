"""Gaussian gains from correlations that are kept in single precision.

Only the matrix is in singles, because it may be all that fits in memory.  The few of its rows
that a family needs are widened to doubles before anything is computed from them.
"""

from math import log

import numpy as np
from numpy.typing import NDArray

from sges.nodeset import NodeSet, nodes
from sges.score.base import Gains

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


def family_log_variance(correlation: Singles, y: int, parents: NodeSet) -> float:
    """Return log var(y | parents), y being standardised."""
    rows = [*nodes(parents), y]
    return 2.0 * log(float(np.linalg.cholesky(_submatrix(correlation, rows))[-1, -1]))


def fill_insert_gains(
    correlation: Singles,
    y: int,
    base: NodeSet,
    candidates: NDArray[np.intp],
    half: float,
    each: float,
    gains: Gains,
) -> None:
    """Write the gains of adding each candidate, with m = 2 ``half``, ``each`` parent penalised."""
    from scipy.linalg import solve_triangular

    rows = [*nodes(base), y]
    factor = np.linalg.cholesky(_submatrix(correlation, rows))
    against = correlation.take(rows, axis=0).take(candidates, axis=1).astype(np.float64)
    squares = solve_triangular(factor, against, lower=True, check_finite=False) ** 2
    gains[:] = np.log1p(-squares[-1] / (1.0 - squares[:-1].sum(axis=0))) * -half - each


def fill_delete_gains(
    correlation: Singles,
    y: int,
    base: NodeSet,
    candidates: NDArray[np.intp],
    half: float,
    each: float,
    gains: Gains,
) -> None:
    """Write the gains of taking each candidate away from the base."""
    rows = [*nodes(base), y]
    omega = np.linalg.inv(_submatrix(correlation, rows))
    at = np.searchsorted(rows[:-1], candidates)
    gains[:] = np.log1p(-(omega[-1, at] ** 2) / (omega[-1, -1] * omega[at, at])) * half + each


def _submatrix(correlation: Singles, rows: list[int]) -> Floats:
    return correlation[np.ix_(rows, rows)].astype(np.float64)
