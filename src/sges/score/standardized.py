"""What every Gaussian score starts from: standardised moments, with degenerate columns treated.

The one place where a column is found to be constant or a linear function of others, where
the owner of the table is told so by name, and where the matrix is mended
(``sges.score.correlation`` says how, and why the scores stay score equivalent).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.data.dataset import Dataset
from sges.data.moments import (
    Correlations,
    Moments,
    blocks_of,
    correlations_of,
    is_plain,
    moments_of_blocks,
    numbered_names,
    refuse_discrete,
)
from sges.data.products import Matrix, Progress, is_finite, panels
from sges.errors import DataWarning, ScoreError
from sges.nodeset import NodeSet, nodeset
from sges.score.correlation import (
    Floats,
    Relation,
    add_ridge,
    copies,
    correlation_of,
    is_well_conditioned,
    linear_relations,
    refuse_negative_direction,
    ridge_of,
    set_diagonal,
)

SHOWN = 5
"""How many columns or relations a warning lists before it only counts the rest."""

NARROW = 512
"""Up to so many columns, one pass over the table is faster than two."""


@dataclass(frozen=True, eq=False, slots=True)
class Standardized:
    """Moments of columns brought to unit variance.

    ``correlation`` may still be singular.  The columns in ``constant`` correlate with nothing
    there, and their ``variance`` is written as one.
    """

    names: tuple[str, ...] | None
    records: float
    mean: Floats
    variance: Floats
    correlation: Matrix
    constant: NodeSet
    rank: int | None = None
    """The correlations have this rank at most, if that follows from the number of records."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What to call the columns in front of people."""
        return self.names or tuple(map(str, range(len(self.variance))))

    @classmethod
    def of_data(
        cls,
        data: Any,  # noqa: ANN401 (whatever Dataset.of takes)
        dtype: str = "float64",
        progress: Progress | None = None,
    ) -> "Standardized":
        """Return the moments of a table, all of it continuous, or of given ``Moments``.

        ``dtype`` is the precision of the correlations, "float64" or "float32"; ``progress`` is
        called with the work done and the work in all while those of a wide table are computed.
        """
        precision = _checked_dtype(dtype)
        if isinstance(data, Moments):
            _refuse_single_of_moments(precision)
            return cls._of(data.covariance, data.records, data.mean, data.names)
        names, values, weights = _continuous_columns(data)
        if precision == np.float64 and len(names) <= NARROW:
            found = moments_of_blocks(names, blocks_of(values, weights))
            return cls._of(found.covariance, found.records, found.mean, found.names)
        return cls._of_wide(names, correlations_of(names, values, weights, precision, progress))

    @classmethod
    def of_covariance(
        cls, covariance: ArrayLike, records: float, names: Sequence[str] | None
    ) -> "Standardized":
        """Return the moments with this covariance; the means are taken to be zero."""
        found = np.asarray(covariance, dtype=np.float64)
        _refuse_bad_shape(found)
        return cls._of(found, records, np.zeros(len(found)), _checked_names(names, len(found)))

    def conditioned(self) -> "Standardized":
        """Return the moments with a correlation matrix that is positive definite.

        It is mended in place, as a second one might not fit in memory: this value is used up.
        """
        conditioned(self.correlation, self.labels, self.records, self.rank)
        return self

    def permuted(self, order: Sequence[int]) -> "Standardized":
        """Return the moments of the columns in another order: column i is ``order[i]`` here."""
        at = list(order)
        return Standardized(
            None if self.names is None else tuple(self.names[v] for v in at),
            self.records,
            self.mean[at],
            self.variance[at],
            np.ascontiguousarray(self.correlation[np.ix_(at, at)]),
            nodeset(i for i, v in enumerate(at) if self.constant >> v & 1),
        )

    @classmethod
    def _of(
        cls, covariance: Floats, records: float, mean: Floats, names: tuple[str, ...] | None
    ) -> "Standardized":
        labels = names or tuple(map(str, range(len(mean))))
        if not 2 <= records < np.inf:
            raise ScoreError(f"{records} records: a variance needs at least two, finitely many")
        _refuse_bad_entries(covariance, labels)
        constant = constant_columns(np.diagonal(covariance))
        warn_of_constants([labels[v] for v in constant])
        variance = np.diagonal(covariance).copy()
        variance[constant] = 1.0
        correlation = correlation_of(covariance, constant)
        return cls(names, records, mean, variance, correlation, nodeset(constant))

    @classmethod
    def _of_wide(cls, names: tuple[str, ...], found: Correlations) -> "Standardized":
        constant = constant_columns(found.variance)
        warn_of_constants([names[v] for v in constant])
        variance = found.variance.copy()
        variance[constant] = 1.0
        set_diagonal(found.matrix, constant)
        # Centred records span one dimension less than they are; each constant column is its own.
        rank = min(len(names), found.records - 1 + len(constant))
        mean, own = found.mean, nodeset(constant)
        return cls(names, found.records, mean, variance, found.matrix, own, rank)


def conditioned(
    correlation: Matrix, labels: Sequence[str], records: float, rank: int | None = None
) -> Matrix:
    """Return the matrix itself, after adding a ridge if it is singular and naming the columns.

    ``labels`` names the column that each row stands for; a column may have several rows.  A
    matrix whose ``rank`` is known to be less than its size is not factored to see that.
    """
    if rank is None or rank >= len(correlation):
        if is_well_conditioned(correlation):
            return correlation
        refuse_negative_direction(correlation)
    if len(correlation) >= records:
        # Every column is then a function of some others, and only copies are worth a name.
        relations = copies(correlation)
        why = f"{len(correlation)} columns and only {records:g} records"
    else:
        relations = linear_relations(correlation)
        one = len(relations) == 1
        why = f"{len(relations)} {'column is a' if one else 'columns are'} linear function"
        why += " of others" if one else "s of others"
    add_ridge(correlation)
    listed = "; ".join(_describe(relation, labels) for relation in relations[:SHOWN])
    more = f"; {len(relations) - SHOWN} more" if len(relations) > SHOWN else ""
    warnings.warn(
        f"{why}{f' ({listed}{more})' if listed else ''}: the correlations are singular; a ridge "
        f"of {ridge_of(correlation):g} keeps every score finite, but edges among such columns "
        "mean little",
        DataWarning,
        stacklevel=4,
    )
    return correlation


def _describe(relation: Relation, labels: Sequence[str]) -> str:
    own = labels[relation.dependent]
    on = [name for name in dict.fromkeys(labels[v] for v in relation.on) if name != own]
    if len(on) > SHOWN:
        return f"{own!r} of {len(on)} others"
    return f"{own!r} of {', '.join(map(repr, on))}"


def constant_columns(variance: Floats) -> list[int]:
    """Return the columns without variance, or with less than a double can hold."""
    smallest = np.finfo(np.float64).tiny / np.finfo(np.float64).eps
    found: list[int] = np.flatnonzero(variance <= smallest).tolist()
    return found


def warn_of_constants(names: Sequence[str]) -> None:
    """Tell the owner of the table, by name, which columns are constant."""
    if not names:
        return
    listed = ", ".join(map(repr, names[:SHOWN]))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    what = "column" if len(names) == 1 else "columns"
    warnings.warn(
        f"constant {what} {listed}{more}: nothing can be learnt about such a column, "
        f"and it will have no edges",
        DataWarning,
        stacklevel=5,
    )


def _continuous_columns(
    data: Any,  # noqa: ANN401 (whatever Dataset.of takes)
) -> tuple[tuple[str, ...], Floats, NDArray[np.int64] | None]:
    """Return the names, the values (columns x rows) and the weights of a table of quantities."""
    if is_plain(data):
        return tuple(numbered_names(data.shape[1])), data.T, None
    # Whoever asks for a Gaussian score means quantities: integers need no declaration.
    dataset = data if isinstance(data, Dataset) else Dataset.of(data, kinds="continuous")
    refuse_discrete(dataset)
    return dataset.names, dataset.values, dataset.weights


def _checked_dtype(dtype: str) -> np.dtype[Any]:
    if dtype not in ("float64", "float32"):
        raise ScoreError(f"dtype {dtype!r}: it must be 'float64' or 'float32'")
    return np.dtype(dtype)


def _refuse_single_of_moments(precision: np.dtype[Any]) -> None:
    if precision != np.float64:
        raise ScoreError("dtype 'float32': given Moments are doubles; give the table itself")


def _refuse_bad_shape(covariance: Floats) -> None:
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1] or not covariance.size:
        raise ScoreError(
            f"a covariance matrix must be square and not empty; this one is {covariance.shape}"
        )
    deviation = np.sqrt(np.abs(np.diagonal(covariance)))
    worst, at = 0.0, (0, 0)
    for rows in panels(len(covariance)) if is_finite(covariance) else ():
        excess = np.abs(covariance[rows] - covariance[:, rows].T)
        excess -= 1e-8 * (deviation[rows, None] * deviation)
        if excess.max() > worst:
            place = int(np.argmax(excess))
            worst = float(excess.flat[place])
            at = (rows.start + place // len(covariance), place % len(covariance))
    if worst > 0:
        x, y = at
        raise ScoreError(
            f"the covariance of {x} and {y} is {covariance[x, y]:.6g}, and of {y} and {x} "
            f"{covariance[y, x]:.6g}; a covariance matrix must be symmetric"
        )


def _refuse_bad_entries(covariance: Floats, labels: Sequence[str]) -> None:
    variance = np.diagonal(covariance)
    if not is_finite(covariance):
        bad = np.count_nonzero(~np.isfinite(covariance), axis=0) + len(variance) * ~np.isfinite(
            variance
        )
        raise ScoreError(
            f"a covariance of column {labels[int(np.argmax(bad))]!r} is not a finite number; "
            f"remove infinities and missing values, or rescale the column"
        )
    if (variance < 0).any():
        v = int(np.argmin(variance))
        raise ScoreError(
            f"the variance of column {labels[v]!r} is {variance[v]:.6g}; it must not be negative"
        )


def _checked_names(names: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    if names is not None and len(names) != n:
        raise ScoreError(f"{len(names)} names were given for {n} columns; each column needs one")
    return None if names is None else tuple(names)
