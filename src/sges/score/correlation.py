"""A positive definite correlation matrix, and the residual variances that Gaussian scores need.

Every Gaussian score is a function of log-determinants of submatrices of *one* matrix R:

    log det R[S ∪ x] − log det R[S] = log var(x | S)

so that whatever positive definite R is used, the score of a DAG is the same for every member
of its class.  That is what makes the treatment of degenerate data sound: it changes R, once,
before any family is scored, and never a single family.

    constant columns    are given unit variance and no correlation with anything
    a singular matrix   (collinear or duplicated columns, no more records than columns) becomes
                        (R + t I) / (1 + t) with t = 1e-8: still a correlation matrix, with no
                        eigenvalue below about t (t = 2^-12 if R is kept in single precision)

t balances two errors, and is near the square root of the machine's precision for that reason:
a family that is not degenerate moves by about m t / 2 nats or less (5e-6 at a thousand
records), and the rounding of one that is amounts to about m 1e-16 / t.  A matrix whose smallest
eigenvalue exceeds t is used as it is.

R may be most of the memory there is.  It is made and mended in place (``sges.data.products``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from sges.data.products import (
    Matrix,
    is_positive_definite,
    panels,
    restore_lower,
    symmetrize,
)
from sges.errors import ScoreError
from sges.nodeset import NodeSet, nodes
from sges.score.base import as_indices

RIDGE = 1e-8
"""What is added to the diagonal of a singular correlation matrix, and when it is."""

SINGLE_RIDGE = 2.0**-12
"""The same for a matrix in single precision, whose entries are rounded to about 1e-7."""

Floats = NDArray[np.float64]


def ridge_of(matrix: Matrix) -> float:
    """Return t for the precision of a matrix: near the root of the machine's in either case."""
    return RIDGE if matrix.dtype == np.float64 else SINGLE_RIDGE


def correlation_of(
    covariance: Floats, constant: Sequence[int] = (), *, overwrite: bool = False
) -> Floats:
    """Return the correlation matrix; the ``constant`` columns correlate with nothing.

    With ``overwrite`` it takes the place of the covariance, and no other matrix is made.
    """
    found = np.array(covariance, dtype=np.float64, order="C", copy=None if overwrite else True)
    deviation = np.sqrt(np.diagonal(found))
    deviation[list(constant)] = 1.0
    # Two divisions, because the product of two tiny or two huge deviations may not be a number.
    found /= deviation[:, None]
    found /= deviation
    symmetrize(found)
    set_diagonal(found, constant)
    return found


def set_diagonal(correlation: Matrix, constant: Sequence[int]) -> None:
    """Write what is known without data: ones, and zeros beside those of constant columns."""
    if len(constant):
        correlation[list(constant), :] = 0.0
        correlation[:, list(constant)] = 0.0
    np.fill_diagonal(correlation, 1.0)


def is_well_conditioned(correlation: Matrix) -> bool:
    """Tell whether every eigenvalue exceeds ``RIDGE``, for the price of one factorisation.

    It is made in the lower triangle, which is then written again from the upper one.
    """
    np.fill_diagonal(correlation, 1.0 - ridge_of(correlation))
    good = is_positive_definite(correlation)
    restore_lower(correlation, 1.0)
    return good


def refuse_negative_direction(correlation: Matrix) -> None:
    """Refuse a matrix that no data can have: one that is not definite even with a ridge."""
    np.fill_diagonal(correlation, 1.0 + ridge_of(correlation))
    good = is_positive_definite(correlation)
    restore_lower(correlation, 1.0)
    if not good:
        lowest = float(np.linalg.eigvalsh(correlation)[0])
        raise ScoreError(
            f"the covariance matrix has a negative direction (its correlations have the "
            f"eigenvalue {lowest:.3g}); a covariance matrix must be positive semidefinite"
        )


def add_ridge(correlation: Matrix) -> None:
    """Replace R by (R + t I) / (1 + t)."""
    correlation /= 1 + ridge_of(correlation)
    np.fill_diagonal(correlation, 1.0)


@dataclass(frozen=True, slots=True)
class Relation:
    """Column ``dependent`` is, to rounding, a linear function of the columns ``on``."""

    dependent: int
    on: tuple[int, ...]


def linear_relations(correlation: Floats) -> list[Relation]:
    """Return one relation per column that the others determine, by pivoted Cholesky."""
    from scipy.linalg.lapack import dpstrf  # scipy is slow to import: only where it is used

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


def copies(correlation: Matrix) -> list[Relation]:
    """Return one relation per column that another one, before it, determines alone."""
    least = 1 - ridge_of(correlation)
    found: list[Relation] = []
    for rows in panels(len(correlation)):
        part = correlation[rows, : rows.stop]
        alike = np.abs(part) > least
        alike[:, rows] = np.tril(alike[:, rows], -1)
        some = np.flatnonzero(alike.any(axis=1))
        first = alike[some].argmax(axis=1)  # of several, the first
        pairs = zip((some + rows.start).tolist(), first.tolist(), strict=True)
        found += [Relation(later, (original,)) for later, original in pairs]
    return found


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


def fill_residuals(
    correlation: Floats,
    y: int,
    base: NodeSet,
    candidates: NDArray[np.intp],
    variance: Floats,
    explained: Floats,
) -> None:
    """Write the same into the last two arguments."""
    from scipy.linalg.blas import dtrsm
    from scipy.linalg.lapack import dpotrf

    rows = [*nodes(base), y]
    block = correlation.take(rows, axis=0)
    factor = dpotrf(block.take(rows, axis=1), lower=1, clean=0)[0]
    # The transposed block is Fortran-ordered, so that the solve runs in place, without a copy.
    block = block.take(candidates, axis=1)
    z = dtrsm(1.0, factor, block.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
    np.multiply(z, z, out=z)
    np.subtract(1.0, z[:-1].sum(axis=0), out=variance)
    explained[:] = z[-1]


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
    from scipy.linalg.lapack import dpotri

    inverse: Floats = dpotri(_factor(correlation, rows), lower=1, overwrite_c=1)[0]
    return inverse


def _factor(correlation: Floats, rows: Sequence[int]) -> Floats:
    """Return the Cholesky factor of R[rows, rows] in the lower triangle; the upper is unused."""
    from scipy.linalg.lapack import dpotrf

    block = correlation.take(rows, axis=0).take(rows, axis=1)
    factor: Floats = dpotrf(block, lower=1, clean=0)[0]
    return factor
