"""Means and covariances, computed so that offsets and scales do not cost digits.

Each column is shifted by one of its own values before anything is squared, so 1e9 ± 1e-3 is as
good as 0 ± 1e-3, and a constant column has variance exactly zero.  The table is cut into
blocks; the sums of two blocks are merged as in Chan, Golub & LeVeque (1983).  A table in memory
and a file read piece by piece go through the same code.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.errors import DataError

if TYPE_CHECKING:
    from sges.data.dataset import Dataset, Missing

Floats: TypeAlias = NDArray[np.float64]
Block: TypeAlias = tuple[Floats, NDArray[np.int64] | None]
"""Some rows of a table: values (columns x rows), and how often each row occurs."""

BLOCK_CELLS = 1 << 17
"""Values looked at together: 1 MiB, which stays in the cache while it is gone over."""

SAMPLE = 255
"""Values of a column of which the middle one is taken."""


@dataclass(frozen=True, eq=False, slots=True)
class Moments:
    """Mean and maximum likelihood covariance (divided by ``records``) of continuous columns."""

    names: tuple[str, ...]
    records: int
    mean: Floats
    covariance: Floats
    notes: tuple[str, ...] = ()
    """What was decided about the table, one sentence each."""

    @classmethod
    def of(cls, dataset: "Dataset") -> "Moments":
        """Return the moments of a dataset of which every column is continuous.

        >>> from sges.data import Dataset
        >>> Moments.of(Dataset.of({"a": [1e9, 1e9 + 2.0]})).covariance.tolist()
        [[1.0]]
        """
        if dataset.discrete:
            name = dataset.names[dataset.discrete[0]]
            raise DataError(
                f"column {name!r} is discrete and has no covariance; leave it out, or pass "
                f"kinds={{{name!r}: 'continuous'}} if it holds quantities"
            )
        return moments_of_blocks(dataset.names, _blocks(dataset), dataset.notes)


def moments_of_array(table: object) -> Moments | None:
    """Return the moments of a 2-D array of doubles, read where it lies, or None.

    None where ``Dataset.of`` has something to decide or to refuse: another type of number, a
    value that is missing or infinite, fewer than two rows.
    """
    if type(table) is not np.ndarray or table.dtype != np.float64 or table.ndim != 2:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        usable = len(table) > 1 and table.shape[1] and np.isfinite(table.sum(axis=0)).all()
    if not usable:
        return None
    size = block_rows(table.shape[1])
    blocks = ((table[start : start + size].T, None) for start in range(0, len(table), size))
    return moments_of_blocks(numbered_names(table.shape[1]), blocks)


def moments_of_file(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    missing: "Missing" = "error",
    batch_rows: int | None = None,
) -> Moments:
    """Return the moments of a CSV, Parquet or Feather file in one pass, whatever its size.

    The same as ``Moments.of(Dataset.of(path, kinds="continuous", missing=missing))`` up to
    rounding.  Memory holds ``batch_rows`` rows at a time (default: 4 MiB of numbers) and one
    matrix of columns x columns.
    """
    from sges.data.stream import stream_moments  # pyarrow: only when it is used

    return stream_moments(path, columns, missing, batch_rows)


def numbered_names(columns: int) -> list[str]:
    """Return the names of columns that have none of their own."""
    return [f"x{i}" for i in range(columns)]


def block_rows(columns: int, cells: int = BLOCK_CELLS) -> int:
    """Return how many rows of so many columns are looked at together."""
    return max(1024, cells // max(columns, 1))


def _blocks(dataset: "Dataset") -> Iterator[Block]:
    size = block_rows(dataset.n)
    for start in range(0, dataset.rows, size):
        rows = slice(start, start + size)
        yield dataset.values[:, rows], None if dataset.weights is None else dataset.weights[rows]


@dataclass(frozen=True, eq=False, slots=True)
class _Sums:
    """What is known of some rows: all relative to one shift per column."""

    records: int
    mean: Floats
    scatter: Floats  # sums of products of deviations from the mean
    reach: Floats  # largest distance from the shift; zero only for a constant column


def moments_of_blocks(
    names: Sequence[str], blocks: Iterable[Block], notes: Sequence[str] = ()
) -> Moments:
    """Return the moments of a table that comes in blocks, none of them empty, two rows or more.

    Slow twin: tests/naive_data.py sums exact fractions.
    """
    shift: Floats | None = None
    total: _Sums | None = None
    for values, weights in blocks:
        if shift is None:
            shift = _middle_values(values)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            sums = _sums(values, weights, shift)
            total = sums if total is None else _merged(total, sums)
    if shift is None or total is None or total.records < 2:
        records = 0 if total is None else total.records
        raise DataError(f"covariances need two rows at least, and the table has {records}")
    covariance = total.scatter / total.records
    _refuse_out_of_range(names, covariance, total.reach)
    mean = shift + total.mean
    mean.flags.writeable = covariance.flags.writeable = False
    return Moments(tuple(names), total.records, mean, covariance, tuple(notes))


def _middle_values(values: Floats) -> Floats:
    """Return a value from the middle of each column: no outlier, and itself one of the values."""
    sample = values[:, :: values.shape[1] // SAMPLE + 1]
    middle = sample.shape[1] // 2
    return np.partition(sample, middle, axis=1)[:, middle].copy()


def _sums(values: Floats, weights: NDArray[np.int64] | None, shift: Floats) -> _Sums:
    shifted = values - shift[:, None]
    reach = np.abs(shifted).max(axis=1)
    records = values.shape[1] if weights is None else int(weights.sum())
    mean = _mean(shifted, weights, records)
    shifted -= mean[:, None]
    # The mean is rounded, so what is left has a tiny mean of its own: it is taken out as well.
    rest = _mean(shifted, weights, records)
    weighted = shifted if weights is None else shifted * weights
    scatter = weighted @ shifted.T - records * np.outer(rest, rest)
    return _Sums(records, mean + rest, (scatter + scatter.T) / 2, reach)


def _mean(values: Floats, weights: NDArray[np.int64] | None, records: int) -> Floats:
    if weights is None:
        plain: Floats = values.mean(axis=1)
        return plain
    total: Floats = (values * weights).sum(axis=1)
    return total / records


def _merged(a: _Sums, b: _Sums) -> _Sums:
    records = a.records + b.records
    step = b.mean - a.mean
    mean = a.mean + step * (b.records / records)
    between = np.outer(step, step) * (a.records * (b.records / records))
    return _Sums(records, mean, a.scatter + b.scatter + between, np.maximum(a.reach, b.reach))


def _refuse_out_of_range(names: Sequence[str], covariance: Floats, reach: Floats) -> None:
    """Refuse variances that floating point cannot hold, instead of calling them 0 or infinite."""
    variance = np.diagonal(covariance)
    lost = ~np.isfinite(variance) | ((reach > 0) & (variance < np.finfo(np.float64).tiny))
    if lost.any():
        column = int(lost.argmax())
        raise DataError(
            f"column {names[column]!r} varies by about {reach[column]:.0e}, and its square is "
            "beyond floating point; rescale it"
        )
