"""The matrix behind every Gaussian score: standardized moments, with degenerate columns treated.

Every Gaussian score is a function of log-determinants of submatrices of *one* matrix R:

    log det R[S ∪ x] − log det R[S] = log var(x | S)

so that for any positive definite R the score of a DAG is the same for every member of its class.
Degenerate data are therefore treated by changing R, once, before any family is scored, and never
for a single family:

    constant columns    are given unit variance and no correlation with any other column
    a singular matrix   (collinear or duplicated columns, no more records than columns) becomes
                        (R + t I) / (1 + t) with t = 1e-8: still a correlation matrix, with no
                        eigenvalue below about t (t = 2^-12 if R is kept in single precision)

t balances two errors, and is near the square root of the machine's precision for that reason:
a family that is not degenerate moves by about m t / 2 nats or less (5e-6 at a thousand records),
and the rounding of one that is amounts to about m 1e-16 / t.  A matrix whose smallest eigenvalue
exceeds t is used as it is.

R may take up most of the memory, so it is built and changed in place (``sges.data.moments``).
If it is kept in single precision, the rows that a family needs are widened to doubles first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.data.dataset import as_dataset, check_continuous
from sges.data.moments import (
    LEAST_VARIANCE,
    Correlations,
    Matrix,
    Moments,
    Progress,
    blocks_of,
    correlations_of,
    is_finite,
    is_plain,
    is_positive_definite,
    moments_of_blocks,
    moments_of_columns,
    numbered_names,
    panels,
    restore_lower,
    symmetrize,
)
from sges.errors import DataWarning, ScoreError, is_number, shown, warn_user
from sges.nodeset import NodeSet, nodes, nodeset

Floats: TypeAlias = NDArray[np.float64]

RIDGE = 1e-8  # the ridge t in double precision, and the smallest eigenvalue without one
SINGLE_RIDGE = 2.0**-12  # the same in single precision, in which entries are rounded to about 1e-7
NAMES_SHOWN = 5  # columns or relations that a warning lists
ONE_PASS_COLUMNS = 512  # up to this number, one pass over the table is faster than two


# --- families: what the scores compute from a positive definite R ----------------------------


def factor_of(matrix: Matrix, rows: Sequence[int]) -> Floats:
    """Return the Cholesky factor of R[rows, rows], in doubles."""
    block = matrix.take(rows, axis=0).take(rows, axis=1).astype(np.float64, copy=False)
    return np.linalg.cholesky(block).astype(np.float64, copy=False)


def family_pivots(matrix: Matrix, y: int, parents: NodeSet) -> Floats:
    """Return the Cholesky pivots of R[parents ∪ y], y last: the last is √var(y | parents)."""
    return np.diagonal(factor_of(matrix, [*nodes(parents), y]))


# --- the matrix of a table --------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Standardized:
    """Means, variances and correlations of continuous columns.

    ``correlation`` may still be singular.  The columns in ``constant`` have no correlation with
    any other column, and their ``variance`` is set to one.  ``max_rank`` bounds the rank of the
    correlations where that follows from the number of records.  ``ridge`` is the ridge t that they
    contain.
    """

    names: tuple[str, ...] | None
    records: float
    mean: Floats
    variance: Floats
    correlation: Matrix
    constant: NodeSet
    max_rank: int | None = None
    ridge: float = 0.0

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns, or their numbers where they have no names."""
        return self.names or tuple(map(str, range(len(self.variance))))

    @classmethod
    def of_data(
        cls,
        data: Any,  # noqa: ANN401 (any table for Dataset.of)
        dtype: str = "float64",
        progress: Progress | None = None,
    ) -> "Standardized":
        """Return the moments of a table whose columns are all continuous, or of ``Moments``.

        ``dtype`` is the precision of the correlations.  ``progress`` is called with the work done
        and the total work while the correlations of a wide table are computed.
        """
        if getattr(dtype, "name", dtype) not in ("float64", "float32"):
            raise ScoreError(f"dtype {shown(dtype)}: it must be 'float64' or 'float32'")
        precision = np.dtype(dtype)
        if isinstance(data, Moments):
            if precision != np.float64:
                what = "dtype 'float32': Moments are stored as float64"
                raise ScoreError(f"{what}; give the table itself")
            return cls._of(data.covariance, data.records, data.mean, data.names)
        if is_plain(data):
            names = tuple(numbered_names(data.shape[1]))
            values, weights, records = data.T, None, len(data)
        else:
            # A Gaussian score was asked for: integers are quantities without being declared so.
            dataset = as_dataset(data, kinds="continuous")
            check_continuous(dataset)
            names, records = dataset.names, dataset.records
            values, weights = dataset.values, dataset.weights
            if dataset.holes is not None:
                moments = moments_of_columns(dataset)
                return cls._of(moments.covariance, records, moments.mean, names)
        if precision == np.float64 and len(names) <= ONE_PASS_COLUMNS:
            moments = moments_of_blocks(names, blocks_of(values, weights))
            return cls._of(moments.covariance, records, moments.mean, names)
        table = correlations_of(names, values, weights, precision, progress)
        return cls._of_wide(names, table, records)

    @classmethod
    def of_covariance(
        cls, covariance: ArrayLike, records: float, names: Sequence[str] | None
    ) -> "Standardized":
        """Return the moments with this covariance and means of zero."""
        try:
            matrix = np.asarray(covariance, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ScoreError(
                f"covariance = {shown(covariance)}: it must be a square matrix of numbers"
            ) from None
        _check_symmetric(matrix)
        n = len(matrix)
        labels = None if names is None else tuple(names)
        if labels is not None and len(labels) != n:
            what = f"{len(labels)} names were given for {n} columns"
            raise ScoreError(f"{what}; each column needs one")
        return cls._of(matrix, records, np.zeros(n), labels)

    def conditioned(self) -> "Standardized":
        """Return the moments with a positive definite correlation matrix.

        The matrix is changed in place, as a second one might not fit in memory.
        """
        ridge = condition(self.correlation, self.labels, self.records, self.max_rank)
        return replace(self, ridge=ridge)

    @classmethod
    def _of(
        cls, covariance: Floats, records: float, mean: Floats, names: tuple[str, ...] | None
    ) -> "Standardized":
        labels = names or tuple(map(str, range(len(mean))))
        if not (is_number(records) and 2 <= records < np.inf):
            rule = "a variance needs at least two, and their number must be finite"
            raise ScoreError(f"{shown(records)} records: {rule}")
        variance = np.diagonal(covariance).copy()
        if not is_finite(covariance):
            bad = np.count_nonzero(~np.isfinite(covariance), axis=0)
            bad += len(variance) * ~np.isfinite(variance)
            raise ScoreError(
                f"a covariance of column {labels[int(np.argmax(bad))]!r} is not a finite number; "
                f"remove infinities and missing values, or rescale the column"
            )
        if (variance < 0).any():
            v = int(np.argmin(variance))
            what = f"the variance of column {labels[v]!r} is {variance[v]:.6g}"
            raise ScoreError(f"{what}; it must not be negative")
        return cls._with_constants(names, records, mean, variance, correlation_of(covariance))

    @classmethod
    def _of_wide(cls, names: tuple[str, ...], table: Correlations, records: int) -> "Standardized":
        made = cls._with_constants(names, records, table.mean, table.variance.copy(), table.matrix)
        # m centered records span m − 1 dimensions; each constant column is a dimension of its own.
        rank = min(len(names), table.records - 1 + made.constant.bit_count())
        return replace(made, max_rank=rank)

    @classmethod
    def _with_constants(
        cls,
        names: tuple[str, ...] | None,
        records: float,
        mean: Floats,
        variance: Floats,
        correlation: Matrix,
    ) -> "Standardized":
        """Return the moments, with variances of one and no correlations of constant columns."""
        constant = np.flatnonzero(variance < LEAST_VARIANCE).tolist()
        variance[constant] = 1.0
        correlation[constant, :] = 0.0
        correlation[:, constant] = 0.0
        np.fill_diagonal(correlation, 1.0)
        made = cls(names, records, mean, variance, correlation, nodeset(constant))
        warn_of_constants([made.labels[v] for v in constant])
        return made


def correlation_of(covariance: Floats) -> Floats:
    """Return the correlation matrix; any numbers for columns without variance."""
    matrix = np.array(covariance, dtype=np.float64, order="C")
    variance = np.diagonal(matrix)
    deviation = np.sqrt(np.where(variance < LEAST_VARIANCE, 1.0, variance))
    # Two divisions, because the product of two tiny or two huge deviations may not be a number.
    matrix /= deviation[:, None]
    matrix /= deviation
    symmetrize(matrix)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def warn_of_constants(names: Sequence[str]) -> None:
    """Warn that these columns are constant."""
    if not names:
        return
    listed = ", ".join(map(repr, names[:NAMES_SHOWN]))
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    what = "column" if len(names) == 1 else "columns"
    warn_user(
        f"constant {what} {listed}{more}: no edges can be learned for such a column", DataWarning
    )


# --- singular matrices ------------------------------------------------------------------------


def ridge_of(matrix: Matrix) -> float:
    """Return the ridge t for the precision of a matrix."""
    return RIDGE if matrix.dtype == np.float64 else SINGLE_RIDGE


def condition(
    correlation: Matrix, labels: Sequence[str], records: float, max_rank: int | None = None
) -> float:
    """Add a ridge to the matrix if it is singular, warn of the columns, and return the ridge.

    ``labels`` names the column that each row belongs to; a column may have several rows.  A
    matrix whose ``max_rank`` is less than its size is known to be singular and is not factored.
    """
    if (max_rank is None or max_rank >= len(correlation)) and _is_regular(correlation):
        return 0.0
    ridge = ridge_of(correlation)
    why, relations = _why_singular(correlation, labels, records)
    correlation /= 1 + ridge
    np.fill_diagonal(correlation, 1.0)
    unsure = ", but edges among such columns are unreliable"
    if len(correlation) >= records and not relations:
        unsure = "; without the default penalty of learn, many edges are found by chance"
    listed = "; ".join(_describe(relation, labels) for relation in relations[:NAMES_SHOWN])
    more = f"; {len(relations) - NAMES_SHOWN} more" if len(relations) > NAMES_SHOWN else ""
    warn_user(
        f"{why}{f' ({listed}{more})' if listed else ''}: the correlations are singular; a ridge "
        f"of {ridge:g} keeps every score finite{unsure}",
        DataWarning,
    )
    return ridge


def _is_regular(correlation: Matrix) -> bool:
    """Return whether each eigenvalue exceeds the ridge; raise an error if one is negative."""
    ridge = ridge_of(correlation)
    if _is_definite(correlation, 1.0 - ridge):
        return True
    if not _is_definite(correlation, 1.0 + ridge):
        lowest = float(np.linalg.eigvalsh(correlation)[0])
        raise ScoreError(
            "the covariance matrix is not positive semidefinite: an eigenvalue of its "
            f"correlations is {lowest:.3g}; none may be negative"
        )
    return False


def _why_singular(
    correlation: Matrix, labels: Sequence[str], records: float
) -> tuple[str, "list[Relation]"]:
    """Return why a matrix is singular, and the columns that others determine."""
    if len(correlation) < records:
        relations = linear_relations(correlation)
        if len(relations) == 1:
            return "1 column is a linear function of others", relations
        return f"{len(relations)} columns are linear functions of others", relations
    # Every column is then a function of some others, and only copies are worth naming.
    why = f"{len(set(labels))} columns"
    if len(set(labels)) < len(correlation):
        why += f", represented by {len(correlation)} numeric ones,"
    return f"{why} and only {records:g} records", copies(correlation)


def _is_definite(correlation: Matrix, diagonal: float) -> bool:
    """Return whether the matrix with another diagonal is positive definite; it is restored."""
    np.fill_diagonal(correlation, diagonal)
    definite = is_positive_definite(correlation)  # overwrites the lower triangle
    restore_lower(correlation, 1.0)
    return definite


class Relation(NamedTuple):
    """Column ``dependent`` is, to rounding, a linear function of the columns ``on``."""

    dependent: int
    on: tuple[int, ...]


def linear_relations(correlation: Floats) -> list[Relation]:
    """Return one relation per column that the others determine, by pivoted Cholesky."""
    from scipy.linalg.lapack import dpstrf  # slow to import

    tolerance = 10 * RIDGE
    factor, pivots, rank, _ = dpstrf(correlation, lower=1, tol=tolerance)
    order = pivots - 1
    kept, dropped = order[:rank], order[rank:]
    if not len(dropped):  # no single pivot is small enough: take the combination of least variance
        size = np.abs(np.linalg.eigh(correlation)[1][:, 0])
        others = set(np.flatnonzero(size > size.max() / 10).tolist()) - {int(size.argmax())}
        return [Relation(int(size.argmax()), tuple(sorted(others)))]
    lower = np.tril(factor[:rank, :rank])
    weights = np.linalg.solve(lower.T, np.linalg.solve(lower, correlation[np.ix_(kept, dropped)]))
    significant = np.abs(weights) > sqrt(tolerance)
    return sorted(
        Relation(int(d), tuple(sorted(kept[significant[:, j]].tolist())))
        for j, d in enumerate(dropped)
    )


def copies(correlation: Matrix) -> list[Relation]:
    """Return one relation per column that a single earlier column determines."""
    least = 1 - ridge_of(correlation)
    relations: list[Relation] = []
    for rows in panels(len(correlation)):
        part = correlation[rows, : rows.stop]
        alike = np.abs(part) > least
        alike[:, rows] = np.tril(alike[:, rows], -1)
        some = np.flatnonzero(alike.any(axis=1))
        first = alike[some].argmax(axis=1)
        pairs = zip((some + rows.start).tolist(), first.tolist(), strict=True)
        relations += [Relation(later, (original,)) for later, original in pairs]
    return relations


def _describe(relation: Relation, labels: Sequence[str]) -> str:
    label = labels[relation.dependent]
    on = [name for name in dict.fromkeys(labels[v] for v in relation.on) if name != label]
    if len(on) > NAMES_SHOWN:
        return f"{label!r} of {len(on)} others"
    return f"{label!r} of {', '.join(map(repr, on))}"


# --- checks -----------------------------------------------------------------------------------


def check_penalty(penalty: float) -> None:
    """Raise an error if a penalty is negative or not finite."""
    if not (is_number(penalty) and 0 <= penalty < np.inf):
        raise ScoreError(f"penalty {shown(penalty)}: it must be a finite number, 0 or more")


def check_table(data: object, score: str) -> None:
    """Raise an error for ``Moments``, where the records themselves are needed."""
    if isinstance(data, Moments):
        raise ScoreError(
            f"{score} needs the records, but only means and covariances were given; give the table"
        )


def _check_symmetric(covariance: Floats) -> None:
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1] or not covariance.size:
        raise ScoreError(
            f"a covariance matrix must be square and not empty; this one is {covariance.shape}"
        )
    deviation = np.sqrt(np.abs(np.diagonal(covariance)))
    for rows in panels(len(covariance)) if is_finite(covariance) else ():
        excess = np.abs(covariance[rows] - covariance[:, rows].T)
        excess -= 1e-8 * (deviation[rows, None] * deviation)
        if excess.max() > 0:
            x, y = divmod(rows.start * len(covariance) + int(excess.argmax()), len(covariance))
            raise ScoreError(
                f"the covariance of {x} and {y} is {covariance[x, y]:.6g}, and of {y} and {x} "
                f"{covariance[y, x]:.6g}; a covariance matrix must be symmetric"
            )
