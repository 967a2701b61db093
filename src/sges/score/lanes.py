"""Counting one contingency table against every column at once.

The rows of a block of columns are held as *lanes*: one small integer per (row, level, column),
one where the row has that level.  Then the counts of (base, y) with every column of the block
are one product

    (cells × rows membership, a single one per row)  @  (rows × lanes)

in which each row adds its lanes to the row of its cell: one pass over contiguous memory, no
sort and no loop over candidates.  The first level of each column has no lane: its count is
what the other levels leave of the cell.

    add_lanes     the product
    count_column  the same for one column of any number of levels
    sum_lanes     from the counts to the sum of tabulated terms
    Counted       counts in lanes, with the sum of any terms
    Thin          counts of one column where most cells are empty

``sges.score.columns`` decides which columns are counted how.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.score.counts import Cells, Codes, Floats, Ints, margin_of
from sges.score.terms import Terms, column_sums


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """The counts of cells with some candidates, in lanes.

    ``at`` says which candidates, and ``places`` holds for each the lane of its second level,
    the distance from there to the lane of the next, and its number of levels.
    """

    cells: Cells
    at: Ints
    sums: NDArray[Any]
    places: Ints

    @staticmethod
    def bare(cells: Cells) -> "Counted":
        """Return the counts of the cells alone: with a column of one level."""
        return Counted(cells, _FIRST, cells.counts[:, None], _ONE_LEVEL)

    @property
    def arities(self) -> Ints:
        """The number of levels of each candidate."""
        arities: Ints = self.places[2]
        return arities

    def only(self, some: Ints) -> "Counted":
        """Return the same for some of the candidates."""
        return Counted(self.cells, self.at[some], self.sums, self.places.take(some, axis=1))

    def total(self, terms: Terms) -> Floats:
        """Return the sum of terms of each candidate."""
        counts, starts = self.cells.counts, self.cells.starts
        if (known := terms.tabulated) is not None:
            found = np.empty((3 if terms.has_constants else 1, len(self.at)))
            sum_lanes(self.sums, counts, starts, self.places, *known, found)
            return terms.with_constants(found)
        totals = np.empty(len(self.at))
        for some, joint, margin in self.tables():
            totals[some] = terms.total(joint, margin)
        return totals

    def tables(self) -> Iterator[tuple[Ints, NDArray[Any], NDArray[Any]]]:
        """Yield candidates of one arity each, and their tables; see ``lane_tables``."""
        return lane_tables(self.sums, self.cells.counts, self.cells.starts, self.places)


@dataclass(frozen=True, eq=False, slots=True)
class Thin:
    """The counts of cells with one candidate, without most of the empty ones."""

    at: Ints
    arities: Ints
    joint: Ints
    margin: Ints

    def only(self, some: Ints) -> "Thin":  # noqa: ARG002 there is but one
        """Return the same for some of the candidates."""
        return self

    def total(self, terms: Terms) -> Floats:
        """Return the sum of terms."""
        (_, joint, margin) = next(self.tables())
        return terms.total(joint, margin)

    def tables(self) -> Iterator[tuple[Ints, NDArray[Any], NDArray[Any]]]:
        """Yield the candidate and its tables."""
        yield np.zeros(1, dtype=np.intp), self.joint[:, None], self.margin[:, None]


_FIRST = np.zeros(1, dtype=np.intp)
_ONE_LEVEL = np.ones((3, 1), dtype=np.intp)


def add_lanes(sums: NDArray[Any], ids: Ints, lanes: NDArray[np.uint8]) -> None:
    """Add the lanes of each row to the sums of its cell, ``ids[row]``."""
    sums += membership(np.ones(len(ids), dtype=sums.dtype), ids, len(sums)) @ lanes


def count_column(table: Ints, ids: Ints, column: Codes) -> None:
    """Add one to ``table[ids[row], column[row]]`` for each row."""
    keys = ids * table.shape[1] + column
    table += np.bincount(keys, minlength=table.size).reshape(table.shape)


def sum_lanes(
    sums: NDArray[Any],
    counts: Ints,
    starts: Ints,
    places: Ints,
    cell: Floats,
    configuration: Floats,
    found: Floats,
) -> None:
    """Fill in the sum of tabulated terms for each candidate.

    If ``found`` has more rows, the second gets the number of cells that hold records, and the
    third that of configurations.
    """
    for at, joint, margin in lane_tables(sums, counts, starts, places):
        found[0, at] = column_sums(cell.take, joint) - column_sums(configuration.take, margin)
        if len(found) > 1:
            found[1, at] = np.count_nonzero(joint, axis=0)
            found[2, at] = np.count_nonzero(margin, axis=0)


def lane_tables(
    sums: NDArray[Any], counts: Ints, starts: Ints, places: Ints
) -> Iterator[tuple[Ints, NDArray[Any], NDArray[Any]]]:
    """Yield the counts of candidates of one arity, a column each: of (base, y, x) and (base, x).

    What comes first says which candidates.  Empty cells may be absent: they have no part in
    any score.
    """
    first, stride, arities = places
    for arity in np.unique(arities):
        at = np.flatnonzero(arities == arity)
        counted = sums[:, first[at] + np.arange(arity - 1)[:, None] * stride[at]]
        table = np.empty((len(counts), arity, len(at)), dtype=sums.dtype)
        table[:, 1:] = counted
        # Unsigned differences wrap, and wrap back: the true count is never negative.
        table[:, 0] = counts.astype(sums.dtype)[:, None]
        for level in range(1, arity):
            table[:, 0] -= table[:, level]
        margin = margin_of(table, starts)
        yield at, table.reshape(-1, len(at)), margin.reshape(-1, len(at))


def membership(amounts: NDArray[Any], ids: Ints, size: int) -> Any:  # noqa: ANN401
    """Return the (cells × rows) matrix that holds the amount of each row in its cell."""
    from scipy.sparse import csc_array

    pointer = np.arange(len(ids) + 1, dtype=np.int32)
    return csc_array((amounts, ids.astype(np.int32), pointer), shape=(size, len(ids)))
