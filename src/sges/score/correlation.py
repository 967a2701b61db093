"""A positive definite correlation matrix, and the residual variances that Gaussian scores need.

Every Gaussian score is a function of log-determinants of submatrices of *one* matrix R:

    log det R[S ∪ x] − log det R[S] = log var(x | S)

so that whatever positive definite R is used, the score of a DAG is the same for every member
of its class.  That is what makes the treatment of degenerate data sound: it changes R, once,
before any family is scored, and never a single family.

    constant columns    are given unit variance and no correlation with anything
    a singular matrix   (collinear or duplicated columns, no more records than columns) becomes
                        (R + t I) / (1 + t) with t = 1e-8: still a correlation matrix, with no
                        eigenvalue below about t

t balances two errors, and is near the square root of the machine's precision for that reason:
a family that is not degenerate moves by about m t / 2 nats or less (5e-6 at a thousand
records), and the rounding of one that is amounts to about m 1e-16 / t.  A matrix whose smallest
eigenvalue exceeds t is used as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotri, dpstrf

from sges.errors import ScoreError
from sges.kernels import compiled
from sges.nodeset import NodeSet, nodes
from sges.score.base import as_indices

RIDGE = 1e-8
"""What is added to the diagonal of a singular correlation matrix, and when it is."""

Floats = NDArray[np.float64]


def correlation_of(covariance: Floats, constant: Sequence[int] = ()) -> Floats:
    """Return the correlation matrix; the ``constant`` columns correlate with nothing."""
    covariance = np.asarray(covariance, dtype=np.float64)
    deviation = np.sqrt(np.diagonal(covariance))
    deviation[list(constant)] = 1.0
    # Two divisions, because the product of two tiny or two huge deviations may not be a number.
    found = covariance / deviation[:, None] / deviation
    found = (found + found.T) / 2
    found[list(constant), :] = 0.0
    found[:, list(constant)] = 0.0
    np.fill_diagonal(found, 1.0)
    return np.ascontiguousarray(found)


def is_well_conditioned(correlation: Floats) -> bool:
    """Tell whether every eigenvalue exceeds ``RIDGE``, for the price of one factorisation."""
    shifted = correlation - RIDGE * np.eye(len(correlation))
    return bool(dpotrf(shifted, lower=1)[1] == 0)


def with_ridge(correlation: Floats) -> Floats:
    """Return (R + t I) / (1 + t), or refuse a matrix that no data can have."""
    mended = correlation / (1 + RIDGE)
    np.fill_diagonal(mended, 1.0)
    if dpotrf(mended, lower=1)[1] != 0:
        lowest = float(np.linalg.eigvalsh(correlation)[0])
        raise ScoreError(
            f"the covariance matrix has a negative direction (its correlations have the "
            f"eigenvalue {lowest:.3g}); a covariance matrix must be positive semidefinite"
        )
    return mended


@dataclass(frozen=True, slots=True)
class Relation:
    """Column ``dependent`` is, to rounding, a linear function of the columns ``on``."""

    dependent: int
    on: tuple[int, ...]


def linear_relations(correlation: Floats) -> list[Relation]:
    """Return one relation per column that the others determine, by pivoted Cholesky."""
    tolerance = 10 * RIDGE
    factor, pivots, rank, _ = dpstrf(correlation, lower=1, tol=tolerance)
    order = pivots - 1
    kept, dropped = order[:rank], order[rank:]
    if not len(dropped):
        return [_weakest_direction(correlation)]
    lower = np.tril(factor[:rank, :rank])
    weights = np.linalg.solve(lower.T, np.linalg.solve(lower, correlation[np.ix_(kept, dropped)]))
    significant = np.abs(weights) > sqrt(tolerance)
    return sorted(
        (
            Relation(int(d), tuple(sorted(kept[significant[:, j]].tolist())))
            for j, d in enumerate(dropped)
        ),
        key=lambda relation: relation.dependent,
    )


def copies(correlation: Floats) -> list[Relation]:
    """Return one relation per column that another one, before it, determines alone."""
    alike = np.argwhere(np.tril(np.abs(correlation), -1) > 1 - RIDGE).tolist()
    originals = {pair[0]: pair[1] for pair in reversed(alike)}  # of several, the first
    return [Relation(later, (originals[later],)) for later in sorted(originals)]


def _weakest_direction(correlation: Floats) -> Relation:
    """Return what is most nearly a relation where no single pivot is small enough to be one."""
    weights = np.abs(np.linalg.eigh(correlation)[1][:, 0])
    members = np.flatnonzero(weights > weights.max() / 10).tolist()
    dependent = int(np.argmax(weights))
    return Relation(dependent, tuple(v for v in members if v != dependent))


def family_log_variance(correlation: Floats, y: int, parents: NodeSet) -> float:
    """Return log var(y | parents), y being standardised: the last pivot of one factorisation."""
    if not parents:
        return 0.0
    return 2.0 * log(last_pivot(correlation, y, parents))


@compiled
def last_pivot(correlation: Floats, y: int, parents: NodeSet) -> float:
    """Return the square root of var(y | parents)."""
    return float(_factor(correlation, [*nodes(parents), y])[-1, -1])


def family_log_variances(correlation: Floats, y: int, parents: NodeSet) -> tuple[float, float]:
    """Return log var(y | parents) and log det R[parents, parents], of one factorisation."""
    pivots = np.log(np.diagonal(_factor(correlation, [*nodes(parents), y])))
    return 2.0 * float(pivots[-1]), 2.0 * float(pivots[:-1].sum())


def residuals(
    correlation: Floats, y: int, base: NodeSet, candidates: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return var(x | base) and var(x | base) − var(x | base, y) for each candidate x.

    One factor of R[base ∪ y, base ∪ y], y last, and one triangular solve against the columns
    of all candidates replace a factorisation per candidate: the square of the last row of the
    solution is what y explains of x beyond ``base``.
    """
    if not base:
        row = correlation[y].take(candidates)
        return np.ones(len(row)), row * row
    variance, explained = np.empty(len(candidates)), np.empty(len(candidates))
    fill_residuals(correlation, y, base, as_indices(candidates), variance, explained)
    return variance, explained


@compiled
def fill_residuals(
    correlation: Floats,
    y: int,
    base: NodeSet,
    candidates: NDArray[np.intp],
    variance: Floats,
    explained: Floats,
) -> None:
    """Write the same into the last two arguments."""
    rows = [*nodes(base), y]
    block = correlation.take(rows, axis=0)
    factor = dpotrf(block.take(rows, axis=1), lower=1, clean=0)[0]
    # The transposed block is Fortran-ordered, so that the solve runs in place, without a copy.
    block = block.take(candidates, axis=1)
    z = dtrsm(1.0, factor, block.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
    np.multiply(z, z, out=z)
    np.subtract(1.0, z[:-1].sum(axis=0), out=variance)
    explained[:] = z[-1]


@compiled
def fill_partial_squares(
    correlation: Floats, y: int, base: NodeSet, candidates: NDArray[np.intp], squares: Floats
) -> None:
    """Write the squared partial correlation of y with each candidate given the rest of base."""
    rows = [*nodes(base), y]
    omega = precision(correlation, rows)
    at = np.searchsorted(rows[:-1], candidates)
    squares[:] = omega[-1, at] ** 2 / (omega[-1, -1] * omega[at, at])


def precision(correlation: Floats, rows: Sequence[int]) -> Floats:
    """Return the inverse of R[rows, rows]; only its lower triangle is filled in."""
    inverse: Floats = dpotri(_factor(correlation, rows), lower=1, overwrite_c=1)[0]
    return inverse


def _factor(correlation: Floats, rows: Sequence[int]) -> Floats:
    """Return the Cholesky factor of R[rows, rows] in the lower triangle; the upper is unused."""
    block = correlation.take(rows, axis=0).take(rows, axis=1)
    factor: Floats = dpotrf(block, lower=1, clean=0)[0]
    return factor
