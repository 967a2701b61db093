"""Means and covariances, computed without loss of precision from offsets and scales.

Each column is shifted by one of its own values before anything is squared, so 1e9 ± 1e-3 is as
good as 0 ± 1e-3, and a constant column has variance exactly zero.  The table is cut into
blocks; the sums of two blocks are merged as in Chan, Golub & LeVeque (1983).  A table in memory
and a file read piece by piece go through the same code.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import has_finite_sum
from sges.display import printable
from sges.errors import DataError

if TYPE_CHECKING:
    from sges.data.dataset import Dataset

Floats: TypeAlias = NDArray[np.float64]
Block: TypeAlias = tuple[Floats, NDArray[np.int64] | None]
"""Some rows of a table: values (columns x rows), and how often each row occurs."""

Matrix: TypeAlias = NDArray[Any]
"""Doubles, or singles to save memory."""

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the work done so far and the total work, in the same units."""

PANEL = 512
"""Rows processed together: as fast as all at once, with temporaries of this many rows."""

LOOKED_AT = 1 << 28
"""A smaller matrix, in bytes, is allocated without checking the available memory."""

BLOCK_CELLS = 1 << 19
"""Values processed together: 4 MiB.  Smaller blocks are slower, larger ones are not faster."""

WIDE_CELLS = 1 << 25
"""The same for tables so wide that the products of a block take longer than reading it: 256 MiB."""

EPSILON = float(np.finfo(np.float64).eps)

LEAST_VARIANCE = float(np.finfo(np.float64).tiny) / EPSILON
"""The smallest variance that can be told from a constant, with room for its share of a residual."""

MIN_CLEAR_SQUARES = 1e-250
"""A larger sum of squares shows without a look at the values that a column is not constant."""

SAMPLE = 255
"""Values of a column from which the middle one is taken."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Moments:
    """Means and covariances of continuous columns: all that a Gaussian score needs of a table.

    Parameters
    ----------
    names : tuple of str
        The columns.
    records : int
        The number of records.
    mean : ndarray of float64
        The mean of each column.
    covariance : ndarray of float64
        The maximum likelihood covariance, divided by ``records``.
    notes : tuple of str
        What was decided about the table, one sentence each.
    remainder : ndarray of float64, optional
        The rounding errors of the means, so that merging moments far from zero loses no digits;
        None counts as zero.
    """

    names: tuple[str, ...]
    records: int
    mean: Floats
    covariance: Floats
    notes: tuple[str, ...] = ()
    remainder: Floats | None = None

    def __repr__(self) -> str:
        shown = ", ".join(map(printable, self.names[:6])) + (", ..." if len(self.names) > 6 else "")
        return f"Moments({self.records} records of {len(self.names)} columns: {shown})"

    @classmethod
    def of(cls, dataset: "Dataset") -> "Moments":
        """Return the moments of a dataset with continuous columns only.

        Parameters
        ----------
        dataset : Dataset
            The data.

        Returns
        -------
        Moments
            Its means and covariances.

        Raises
        ------
        DataError
            If a column is discrete.

        Examples
        --------
        >>> from sges.data import Dataset
        >>> Moments.of(Dataset.of({"a": [1e9, 1e9 + 2.0]})).covariance.tolist()
        [[1.0]]
        """
        from sges.data.dataset import check_continuous  # which needs this class

        check_continuous(dataset)
        return moments_of_columns(dataset)

    def merge(self, other: "Moments") -> "Moments":
        """Return the moments of two tables with the same columns together.

        Merging is exact up to rounding, in any order: parts of a table can be summarized on
        several machines, and only their moments need to be transferred.

        Parameters
        ----------
        other : Moments
            The moments of other records of the same columns.

        Returns
        -------
        Moments
            The moments of all records, as one table would have them.

        Raises
        ------
        DataError
            If the columns differ.

        References
        ----------
        Chan, Golub & LeVeque (1983), Algorithms for computing the sample variance, The American
        Statistician 37, 242-247.

        Examples
        --------
        >>> from sges.data import Dataset
        >>> first, second = ({"a": [1.0, 2.0]}, {"a": [3.0, 4.0]})
        >>> both = Moments.of(Dataset.of(first)).merge(Moments.of(Dataset.of(second)))
        >>> both.records, both.mean.tolist(), both.covariance.tolist()
        (4, [2.5], [[1.25]])
        """
        if self.names != other.names:
            odd = sorted({*self.names} ^ {*other.names})
            which = f"{odd[0]!r} is in only one of them" if odd else "their order differs"
            raise DataError(f"moments of different columns cannot be merged: {which}")
        records = self.records + other.records
        share = other.records / records
        step = means_apart(self, other)
        covariance = (1 - share) * self.covariance + share * other.covariance
        covariance += share * (1 - share) * np.outer(step, step)
        notes = (*self.notes, *(note for note in other.notes if note not in self.notes))
        rest = 0.0 if self.remainder is None else self.remainder
        mean, rest = _exact_sum(self.mean, rest + share * step)
        return Moments(self.names, records, mean, covariance, notes, rest)


def means_apart(one: Moments, other: Moments) -> Floats:
    """Return the means of the second table minus those of the first, exact far from zero too."""
    rest, more = (0.0 if m.remainder is None else m.remainder for m in (one, other))
    step: Floats = (other.mean - one.mean) + (more - rest)
    return step


def moments_of_columns(dataset: "Dataset") -> Moments:
    """Return the moments of the continuous columns; of columns with holes, by EM."""
    from sges.data import em

    if dataset.holes is None:
        blocks = blocks_of(dataset.values, dataset.weights)
        moments = moments_of_blocks(dataset.names, blocks, dataset.notes)
        return moments if dataset.unit == 1 else replace(moments, records=dataset.records)
    if dataset.records < 2:
        raise em.too_few_pairs(dataset.records)
    with np.errstate(over="ignore", under="ignore"):
        reach = np.fmax.reduce(dataset.values, axis=1) - np.fmin.reduce(dataset.values, axis=1)
        reach[np.isnan(reach)] = 0.0  # of a column without values
        _check_variances(dataset.names, reach**2, reach)
    estimated = em.estimate(dataset.values, dataset.weights, dataset.unit)
    _check_variances(dataset.names, np.diagonal(estimated.covariance), reach)
    em.warn_of_limits(estimated, dataset.names, ~dataset.holes)
    estimated.mean.flags.writeable = estimated.covariance.flags.writeable = False
    return Moments(
        dataset.names, dataset.records, estimated.mean, estimated.covariance, dataset.notes
    )


def is_plain(table: object) -> TypeGuard[Floats]:
    """Return whether a table is a 2-D array of doubles, all finite, in two rows or more."""
    return (
        type(table) in (np.ndarray, np.memmap)
        and isinstance(table, np.ndarray)
        and table.dtype == np.float64
        and table.ndim == 2
        and len(table) > 1
        and table.shape[1] > 0
        and has_finite_sum(table)
    )


def numbered_names(columns: int) -> list[str]:
    """Return names for columns without names."""
    return [f"x{i}" for i in range(columns)]


def block_rows(columns: int, cells: int = BLOCK_CELLS) -> int:
    """Return how many rows of a table with this many columns are read together.

    At least a few for each column, unless they are many: each block goes over a matrix of
    columns x columns.
    """
    return max(1024, cells // max(columns, 1), min(8 * columns, WIDE_CELLS // max(columns, 1)))


def blocks_of(
    values: Floats, weights: NDArray[np.int64] | None, size: int | None = None
) -> Iterator[Block]:
    """Return the rows of a table (columns x rows) in blocks, of ``size`` rows if that is given."""
    size = size or block_rows(len(values))
    for start in range(0, values.shape[1], size):
        rows = slice(start, start + size)
        yield values[:, rows], None if weights is None else weights[rows]


@dataclass(eq=False, slots=True)
class _Sums:
    """Sums over the rows so far, all relative to one shift per column.

    ``scatter`` holds sums of products of deviations from the mean: of each column with itself,
    or of every column with every other, in the lower triangle.
    """

    shift: Floats  # a value from the middle of each column: no outlier, and one of the values
    scatter: Floats
    records: int
    mean: Floats
    reach: Floats  # largest distance from the mean, where squares do not show that a column varies

    @classmethod
    def of(cls, blocks: Iterable[Block], shape: tuple[int, ...], least: int = 2) -> "_Sums":
        """Return the sums of all blocks of a table, with a scatter of this shape."""
        total: _Sums | None = None
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for values, weights in blocks:
                if total is None:
                    n, sample = len(values), values[:, :: values.shape[1] // SAMPLE + 1]
                    middle = sample.shape[1] // 2
                    shift = np.partition(sample, middle, axis=1)[:, middle].copy()
                    total = cls(shift, np.zeros(shape), 0, np.zeros(n), np.zeros(n))
                total.add(values, weights)
        if total is None or total.records < least:
            records = 0 if total is None else total.records
            raise DataError(f"covariances need at least two rows, but the table has {records}")
        return total

    def add(self, values: Floats, weights: NDArray[np.int64] | None) -> None:
        """Add a block of rows, as in Chan, Golub & LeVeque (1983)."""
        records = values.shape[1] if weights is None else int(weights.sum())
        n, rows = values.shape
        # One place more: the step between two means enters the scatter as one more record.
        block = np.empty((n, rows + 1), order=_order(values))
        shifted = block[:, :rows]
        np.subtract(values, self.shift[:, None], out=shifted)
        mean = _mean(shifted, weights, records)
        shifted -= mean[:, None]
        # The mean is rounded, so what is left has a tiny mean of its own.  The scatter may contain
        # it: the shift is a value of the column, so in 2^19 rows it is less than rounding.
        rest = _mean(shifted, weights, records)
        if weights is not None:
            shifted *= np.sqrt(weights)
        total = self.records + records
        step = mean + rest - self.mean
        block[:, -1] = step * np.sqrt(self.records * (records / total))
        if self.scatter.ndim == 1:
            self.scatter += np.einsum("ij,ij->i", block, block)
        else:
            add_products(self.scatter, block, fresh=self.records == 0)
        self.mean += step * (records / total)
        self.records = total
        squares = self.scatter if self.scatter.ndim == 1 else np.diagonal(self.scatter)
        unclear = np.flatnonzero(~((squares > MIN_CLEAR_SQUARES) & np.isfinite(squares)))
        if len(unclear):
            around = np.maximum(np.abs(shifted[unclear]).max(axis=1), np.abs(step[unclear]))
            self.reach[unclear] = np.maximum(self.reach[unclear], around)


def moments_of_blocks(
    names: Sequence[str], blocks: Iterable[Block], notes: Sequence[str] = (), least: int = 2
) -> Moments:
    """Return the moments of a table that comes in blocks, none of them empty.

    A table must have ``least`` records, a part of one may have a single record.

    The tests compare it with tests/naive_data.py, which sums exact fractions.
    """
    check_matrix_size(len(names), np.dtype(np.float64))
    total = _Sums.of(blocks, (len(names), len(names)), least)
    covariance = total.scatter
    covariance /= total.records
    mirror(covariance)
    _check_variances(names, np.diagonal(covariance), total.reach)
    mean, rest = _exact_sum(total.shift, total.mean)
    mean.flags.writeable = covariance.flags.writeable = rest.flags.writeable = False
    return Moments(tuple(names), total.records, mean, covariance, tuple(notes), rest)


def _exact_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b, rounded, and what rounding took from it (Knuth's TwoSum)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@dataclass(frozen=True, eq=False, slots=True)
class Correlations:
    """Means, variances and correlations of a table; the rows and columns of constants are zero."""

    records: int
    mean: Floats
    variance: Floats
    matrix: Matrix


def correlations_of(
    names: Sequence[str],
    values: Floats,
    weights: NDArray[np.int64] | None,
    dtype: np.dtype[Any],
    progress: Progress | None = None,
) -> Correlations:
    """Return the correlations of a table (columns x rows), all finite, in the given precision."""
    n, rows = values.shape
    check_matrix_size(n, dtype)
    step = max(16, BLOCK_CELLS // n)
    sums = _Sums.of(blocks_of(values, weights, step), (n,))
    variance = sums.scatter / sums.records
    _check_variances(names, variance, sums.reach)
    size = min(rows, block_rows(n))
    factor = np.empty((n, size), dtype, order=_order(values))
    matrix = np.empty((n, n), dtype)
    done, total = 0, rows * sum((p.stop - p.start) * p.stop for p in panels(n))

    def report(entries: int) -> None:
        nonlocal done
        done += own.shape[1] * entries
        if progress is not None:
            progress(done, total)

    norm = np.sqrt(sums.scatter)
    scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
    for i, (block, times) in enumerate(blocks_of(values, weights, size)):
        own = factor[:, : block.shape[1]]
        for at, (rows_of_block, own_times) in enumerate(blocks_of(block, times, step)):
            part = rows_of_block - sums.shift[:, None]
            part -= sums.mean[:, None]
            part *= scale[:, None]  # so that the products of columns are their correlations
            if own_times is not None:
                part *= np.sqrt(own_times)
            own[:, at * step : at * step + part.shape[1]] = part
        add_products(matrix, own, fresh=i == 0, report=report)
    mirror(matrix)
    return Correlations(sums.records, sums.shift + sums.mean, variance, matrix)


def _order(values: Floats) -> Literal["F", "C"]:
    """Return the layout in which an array like this one is read fastest."""
    return "F" if values.strides[0] < values.strides[1] else "C"


def _mean(values: Floats, weights: NDArray[np.int64] | None, records: int) -> Floats:
    if weights is None:  # a product is faster than a mean, and rounding is checked
        plain: Floats = values @ np.full(values.shape[1], 1.0 / records)
        return plain
    total: Floats = (values * weights).sum(axis=1)
    return total / records


def _check_variances(names: Sequence[str], variance: Floats, reach: Floats) -> None:
    """Raise an error if a variance overflows or underflows, rather than use infinity or 0."""
    lost = ~np.isfinite(variance) | ((reach > 0) & (variance < LEAST_VARIANCE))
    if lost.any():
        column = int(lost.argmax())
        raise beyond_squares(names[column], float(reach[column]))


def beyond_squares(name: str, reach: float) -> DataError:
    """Return the error for a column whose variance is outside the range of exact doubles."""
    return DataError(
        f"column {name!r} varies by about {reach:.0e}, but its square is "
        "outside the range of floating-point numbers; rescale it"
    )


# Large symmetric matrices, in place
#
# A columns x columns matrix may take most of the memory, so a second one of its size is never
# allocated, not even as a temporary.  All functions process the matrix in panels: some rows at a
# time, and only the part left of the diagonal if it is symmetric.


def panels(n: int, rows: int = PANEL) -> Iterator[slice]:
    """Return the rows of a matrix in slices, one after the other."""
    for low in range(0, n, rows):
        yield slice(low, min(low + rows, n))


def add_products(
    total: Matrix, factor: Matrix, *, fresh: bool, report: Callable[[int], object] | None = None
) -> None:
    """Add ``factor @ factor.T`` to the lower triangle of ``total``, or write it if ``fresh``.

    ``report`` is called with the number of entries of each panel.  Besides memory, there is another
    reason not to leave products of whole tables to BLAS: the library that comes with NumPy 2
    (OpenBLAS 0.3.31) crashes on ``x.T @ x`` of 1,000 x 20,000 doubles.
    """
    room = None if fresh else np.empty((min(PANEL, len(factor)), len(factor)), total.dtype)
    for rows in panels(len(factor)):
        # Left of the diagonal block, and the block itself, of which BLAS computes one half.
        for columns in (slice(0, rows.start), rows):
            own = total[rows, columns]
            product = own if room is None else room[: len(own), columns]
            np.matmul(factor[rows], factor[columns].T, out=product)
            if room is not None:
                own += product
        if report is not None:
            report((rows.stop - rows.start) * rows.stop)


def mirror(matrix: Matrix) -> None:
    """Copy the lower triangle to the upper one."""
    for rows in panels(len(matrix)):
        matrix[: rows.start, rows] = matrix[rows, : rows.start].T
        own = matrix[rows, rows]
        own[:] = np.tril(own) + np.tril(own, -1).T


def is_positive_definite(matrix: Matrix) -> bool:
    """Return whether Cholesky's factorization of a symmetric matrix, which it overwrites, succeeds.

    In products of panels: the routine of some BLAS libraries is many times slower beside others.
    """
    n = len(matrix)
    for own in panels(n, PANEL // 2):
        upper = np.triu(matrix[own, own], 1)
        for rows in panels(n - own.start) if own.start else ():
            at = slice(own.start + rows.start, own.start + rows.stop)
            matrix[at, own] -= matrix[at, : own.start] @ matrix[own, : own.start].T
        try:
            factor = np.linalg.cholesky(matrix[own, own])
        except np.linalg.LinAlgError:
            matrix[own, own] = upper
            return False
        matrix[own, own] = factor + upper
        if own.stop < n:
            below = matrix[own.stop :, own]
            below[:] = below @ np.linalg.inv(factor).T
    return True


def restore_lower(matrix: Matrix, diagonal: float) -> None:
    """Copy the upper triangle to the lower one, and write the diagonal."""
    mirror(matrix.T)
    np.fill_diagonal(matrix, diagonal)


def symmetrize(matrix: Matrix) -> None:
    """Replace a matrix by the mean of itself and its transpose."""
    for rows in panels(len(matrix)):
        left = slice(0, rows.stop)
        mean = (matrix[rows, left] + matrix[left, rows].T) / 2
        matrix[rows, left] = mean
        matrix[left, rows] = mean.T


def is_finite(matrix: Matrix) -> bool:
    """Return whether every entry is a finite number."""
    return all(bool(np.isfinite(matrix[rows]).all()) for rows in panels(len(matrix)))


def check_matrix_size(columns: int, dtype: np.dtype[Any]) -> None:
    """Raise an error if a columns x columns matrix does not fit in memory."""
    needed = columns * columns * dtype.itemsize
    if needed < LOOKED_AT or (available := available_memory()) is None or needed <= available:
        return
    remedy = "use dtype='float32', or fewer columns" if dtype.itemsize > 4 else "use fewer columns"
    raise DataError(
        f"{columns:,} columns need a correlation matrix of {needed / 1e9:.1f} GB ({dtype.name}), "
        f"but only {available / 1e9:.1f} GB are available; {remedy}"
    )


def available_memory() -> int | None:
    """Return how many bytes can be allocated without swapping, or None if that is not known."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None
