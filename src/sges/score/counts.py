"""Counting discrete rows: which records share a configuration, and how many do.

Everything a discrete score needs from a table is a count, and every count starts from a
``Grouping``: one small integer per row, equal for rows that agree on some columns.

    refine        split the groups of a grouping by one more column
    tally         how many records each group holds
    Cells         the groups of (base, y), with the groups of base they belong to
    leave_one_out the groupings of all columns but one, for every column

A grouping never has many more groups than rows, whatever the product of the arities: when the
product grows beyond the rows, groups that hold no row are left out.  So memory is proportional
to the rows, also for thirty columns of ten levels each.

``sges.score.columns`` counts one ``Cells`` against many columns at once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
Weights: TypeAlias = NDArray[np.int64] | None

SMALL = 256
"""So few groups are never worth renumbering, occupied or not."""


@dataclass(frozen=True, eq=False, slots=True)
class Grouping:
    """The rows sorted into groups ``0..size-1``; ``full`` if no group is known to be empty."""

    ids: Ints
    size: int
    full: bool


def plain_codes(codes: NDArray[Any]) -> Codes:
    """Return codes in rows of the smallest unsigned type, as they nearly always are."""
    if codes.dtype not in (np.uint8, np.uint16, np.uint32):
        codes = codes.astype(np.min_scalar_type(int(codes.max(initial=0))))
    return np.ascontiguousarray(codes)


def together(rows: int) -> Grouping:
    """Return the grouping of all rows into one group."""
    return Grouping(np.zeros(rows, dtype=np.intp), 1, full=True)


def refine(groups: Grouping, column: NDArray[Any], arity: int) -> Grouping:
    """Return the groups split by the levels of a column, ordered by (group, level)."""
    return _split(groups, column, arity).groups


@dataclass(frozen=True, eq=False, slots=True)
class _Split:
    """The refined grouping, where the parts of each old group begin, and rows per group."""

    groups: Grouping
    starts: Ints
    rows: Ints | None = None


def _split(groups: Grouping, column: NDArray[Any], arity: int) -> _Split:
    size, rows = groups.size * arity, len(groups.ids)
    if arity == 1 or (groups.full and groups.size == rows):
        return _Split(groups, np.arange(groups.size, dtype=np.intp))  # one level, or one row each
    if size > max(SMALL, 4 * rows):
        occupied, ids = np.unique(groups.ids * arity + column, return_inverse=True)
        return _Split(Grouping(ids, len(occupied), full=True), _starts(occupied // arity))
    finer, counts = np.empty(rows, dtype=np.intp), np.zeros((groups.size, arity), dtype=np.intp)
    split_rows(counts, groups.ids, column, finer)
    if size <= SMALL:
        return _Split(
            Grouping(finer, size, full=False),
            np.arange(0, size, arity, dtype=np.intp),
            counts.ravel(),
        )
    return _without_empty(finer, counts)


def split_rows(counts: Ints, ids: Ints, column: Codes, finer: Ints) -> None:
    """Write the group of each row among (group, level), and add how many rows each holds."""
    np.multiply(ids, counts.shape[1], out=finer)
    np.add(finer, column, out=finer, casting="unsafe")
    counts += np.bincount(finer, minlength=counts.size).reshape(counts.shape)


def _without_empty(ids: Ints, counts: Ints) -> _Split:
    """Renumber without the empty groups, unless most groups hold a row."""
    size, arity, rows = counts.size, counts.shape[1], counts.ravel()
    occupied = np.flatnonzero(rows)
    if size <= len(ids) and 2 * len(occupied) >= size:
        groups = Grouping(ids, size, full=len(occupied) == size)
        return _Split(groups, np.arange(0, size, arity, dtype=np.intp), rows)
    number = np.empty(size, dtype=np.intp)
    number[occupied] = np.arange(len(occupied))
    groups = Grouping(number[ids], len(occupied), full=True)
    return _Split(groups, _starts(occupied // arity), rows[occupied])


def _starts(origin: Ints) -> Ints:
    """Return where runs of one number begin."""
    return np.flatnonzero(np.diff(origin, prepend=-1))


def tally(groups: Grouping, weights: Weights) -> Ints:
    """Return how many records each group holds; weights say how many each row stands for."""
    if weights is None:
        return np.bincount(groups.ids, minlength=groups.size)
    # Sums of integer weights are exact in floating point up to 2**53 records.
    return np.bincount(groups.ids, weights, groups.size).astype(np.intp)


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """The contingency table of (base, y): one cell per configuration of base and level of y.

    Cells are ordered by configuration, so those of one configuration are a run, and
    ``starts`` holds where each run begins.  Configurations without a record may be absent.
    """

    configurations: Grouping
    groups: Grouping
    counts: Ints
    starts: Ints

    @staticmethod
    def of(configurations: Grouping, column: Codes, arity: int, weights: Weights) -> "Cells":
        """Split the configurations of base by the levels of y, and count."""
        split = _split(configurations, column, arity)
        counts = split.rows if weights is None else None
        counts = tally(split.groups, weights) if counts is None else counts
        return Cells(configurations, split.groups, counts, split.starts)


def margin_of(table: NDArray[Any], starts: Ints) -> NDArray[Any]:
    """Sum the runs of a table with one row per cell: one row per configuration is left."""
    width, rest = divmod(len(table), len(starts))
    if rest or not np.array_equal(starts, np.arange(0, len(table), width)):
        return np.add.reduceat(table, starts, axis=0)
    # Runs of one length, the usual case for small tables, are a reshape: much faster.
    return sum_levels(table.reshape(len(starts), width, *table.shape[1:]))


def sum_levels(table: NDArray[Any]) -> NDArray[Any]:
    """Sum a table over its second axis, in its own type.

    That axis is short, and adding its few slices is faster than a reduction over it.
    """
    total: NDArray[Any]
    if table.shape[1] > 16:
        total = table.sum(axis=1, dtype=table.dtype)
        return total
    total = table[:, 0].copy()
    for level in range(1, table.shape[1]):
        total += table[:, level]
    return total


def occupied_cells(cells: Cells) -> tuple[Ints, Ints]:
    """Return one row out of each cell that holds records, and how many records it holds."""
    example = np.empty(cells.groups.size, dtype=np.intp)
    example[cells.groups.ids] = np.arange(len(cells.groups.ids))
    kept = np.flatnonzero(cells.counts)
    return example[kept], cells.counts[kept]


def leave_one_out(
    groups: Grouping,
    columns: Sequence[int],
    wanted: Callable[[int], bool],
    split_by: Callable[[Grouping, int], Grouping],
) -> Iterator[tuple[int, Grouping]]:
    """Yield, for each wanted column, the groups split by all the other columns.

    Each half of the columns is added once for all of the other half, so that k columns take
    about k log2 k refinements instead of k², and log2 k groupings are held at a time.
    """
    if not any(map(wanted, columns)):
        return
    if len(columns) == 1:
        yield columns[0], groups
        return
    middle = len(columns) // 2
    for kept, added in (
        (columns[:middle], columns[middle:]),
        (columns[middle:], columns[:middle]),
    ):
        finer = groups
        for column in added:
            finer = split_by(finer, column)
        yield from leave_one_out(finer, kept, wanted, split_by)
