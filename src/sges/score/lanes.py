"""Counting one contingency table against every column at once.

The rows of a block of columns are held as *lanes*: one small integer per (row, level, column),
one where the row has that level.  Then the counts of (base, y) with every column of the block
are one product

    (cells × rows membership, sparse, a single one per row)  @  (rows × lanes)

in which each row adds its lanes to the row of its cell: one pass over contiguous memory, no
sort and no loop over candidates.  The first level of each column has no lane: its count is
what the other levels leave of the cell.

Lanes are 16 bits wide where counts fit, and are kept as packed bits, an eighth of a byte each,
when the table is so large that keeping them as integers would cost too much memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.score.counts import SMALL, Cells, Codes, Ints, Weights, refine, sum_levels, tally

MEMORY = 256 * 2**20
"""Bytes that the lanes of a table may take before they are packed."""

WIDEST = 16
"""Columns with more levels than this are counted one at a time."""

BLOCK = 256
"""Lanes in one block: enough to drown the overhead of a product."""

LARGEST = 2**22
"""Entries of one table of counts; beyond, columns are counted one at a time."""

PAYS = 12
"""One column counted alone costs about as much as so many lanes of a block."""


@dataclass(frozen=True, eq=False, slots=True)
class Tables:
    """Counts of some candidates, one column each: of (base, y, x), and of (base, x).

    ``at`` says which candidates.  Empty cells may be absent: they have no part in any score.
    """

    at: Ints
    joint: NDArray[Any]
    margin: NDArray[Any]


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """The lanes of some columns of one arity, level by level: (rows × (arity - 1) · columns)."""

    columns: Ints
    arity: int
    lanes: NDArray[Any]
    packed: bool

    @property
    def width(self) -> int:
        """How many lanes a row has."""
        return len(self.columns) * (self.arity - 1)

    def rows(self, low: int, high: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the lanes of some rows as integers."""
        if not self.packed:
            return self.lanes[low:high]
        bits = np.unpackbits(self.lanes[low:high], axis=1, count=self.width)
        return bits.astype(dtype)


class Columns:
    """The discrete columns of a table, ready to be counted against any ``Cells``."""

    def __init__(self, codes: Codes, arities: NDArray[np.int64], weights: Weights) -> None:
        self.codes = codes
        self.arities = arities
        self.weights = weights
        rows = codes.shape[1]
        total = rows if weights is None else int(weights.sum())
        # Without weights a count grows by one per row, so that 16 bits last for 65,535 rows:
        # longer tables are cut.  Weights may jump by any amount, so all of them must fit.
        self._dtype = np.min_scalar_type(0xFFFF if weights is None else max(total, 0xFFFF))
        narrow = arities[(arities > 1) & (arities <= WIDEST)]
        lanes = int((narrow - 1).sum())
        self._packed = lanes * rows * self._dtype.itemsize > MEMORY
        self._step = 4096 if self._packed else (0xFFFF if weights is None else max(rows, 1))
        self._blocks: dict[int, list[Block]] = {}
        self._place = np.zeros((2, len(arities)), dtype=np.intp)

    def tables(self, cells: Cells, candidates: Ints) -> Iterator[Tables]:
        """Yield the counts of the cells with each candidate; all candidates have one arity."""
        arity = int(self.arities[candidates[0]])
        if not 1 < arity <= WIDEST:
            yield from self._one_by_one(cells, candidates, np.arange(len(candidates)))
            return
        thin = not self._dense(cells, arity)
        blocks = self._blocks_of(arity)
        block_of, place = self._place[:, candidates]
        for number in np.unique(block_of):
            at = np.flatnonzero(block_of == number)
            block = blocks[number]
            large = cells.groups.size * (block.width + len(block.columns)) > LARGEST
            if thin or large or block.width > PAYS * len(at):
                yield from self._one_by_one(cells, candidates, at)
            else:
                yield self._together(cells, block, at, place[at])

    def _dense(self, cells: Cells, arity: int) -> bool:
        """Return whether a whole table of (base, y, x) is worth its memory: few empty cells."""
        rows: int = self.codes.shape[1]
        return cells.groups.size * arity <= max(4 * rows, SMALL)

    def _together(self, cells: Cells, block: Block, at: Ints, place: Ints) -> Tables:
        """Count all columns of a block in one pass, and keep those asked for."""
        size, wide = cells.groups.size, len(block.columns)
        counted = self._sums(cells, block).reshape(size, block.arity - 1, wide)
        table = np.empty((size, block.arity, wide), dtype=counted.dtype)
        table[:, 1:] = counted
        # Unsigned differences wrap, and wrap back: the true count is never negative.
        np.subtract(
            cells.counts.astype(counted.dtype)[:, None],
            sum_levels(counted),
            out=table[:, 0],
        )
        if not np.array_equal(place, np.arange(wide)):
            table = table[:, :, place]
        margin = cells.margin(table)
        return Tables(at, table.reshape(-1, len(at)), margin.reshape(-1, len(at)))

    def _sums(self, cells: Cells, block: Block) -> NDArray[Any]:
        """Return, for each cell and lane, the number of records of the cell in the lane."""
        from scipy.sparse import csc_array

        ids = cells.groups.ids.astype(np.int32)
        rows, size = len(ids), cells.groups.size
        total: NDArray[Any] | None = None
        for low in range(0, rows, self._step):
            high = min(low + self._step, rows)
            once = self._amounts(low, high)
            pointer = np.arange(high - low + 1, dtype=np.int32)
            member = csc_array((once, ids[low:high], pointer), shape=(size, high - low))
            part = member @ block.rows(low, high, self._dtype)
            if rows > self._step:
                part = part.astype(np.int64)
            total = part if total is None else total + part
        assert total is not None  # a table has at least one row
        return total

    def _amounts(self, low: int, high: int) -> NDArray[Any]:
        if self.weights is None:
            return np.ones(high - low, dtype=self._dtype)
        return self.weights[low:high].astype(self._dtype)

    def _one_by_one(self, cells: Cells, candidates: Ints, at: Ints) -> Iterator[Tables]:
        """Count candidates one at a time: few of them, or with many levels, or many cells."""
        for k in at:
            column, arity = self.codes[candidates[k]], int(self.arities[candidates[k]])
            joint, margin = self._counts(cells, column, arity)
            yield Tables(np.array([k]), joint[:, None], margin[:, None])

    def _counts(self, cells: Cells, column: Codes, arity: int) -> tuple[Ints, Ints]:
        """Return the counts of (base, y, x) and (base, x), without most of the empty cells."""
        if not self._dense(cells, arity):
            finer = refine(cells.groups, column, arity)
            wider = refine(cells.configurations, column, arity)
            return tally(finer, self.weights), tally(wider, self.weights)
        keys = cells.groups.ids * arity
        keys += column
        size = cells.groups.size * arity
        joint = np.bincount(keys, self.weights, size).astype(np.intp, copy=False)
        return joint, cells.margin(joint.reshape(-1, arity)).ravel()

    def _blocks_of(self, arity: int) -> list[Block]:
        """Return the blocks of the columns of one arity, built when first asked for."""
        if arity not in self._blocks:
            columns = np.flatnonzero(self.arities == arity)
            wide = max(1, BLOCK // (arity - 1))
            parts = [columns[low : low + wide] for low in range(0, len(columns), wide)]
            for number, part in enumerate(parts):
                self._place[0, part] = number
                self._place[1, part] = np.arange(len(part))
            self._blocks[arity] = [self._block(part, arity) for part in parts]
        return self._blocks[arity]

    def _block(self, columns: Ints, arity: int) -> Block:
        """Write the lanes of some columns of one arity, so many rows at a time."""
        rows, width = self.codes.shape[1], len(columns) * (arity - 1)
        shape = (rows, -(-width // 8) if self._packed else width)
        lanes = np.empty(shape, dtype=np.uint8 if self._packed else self._dtype)
        levels = np.arange(1, arity)[:, None]
        for low in range(0, rows, 4096):
            codes = self.codes[columns, low : low + 4096].T
            flat = (codes[:, None, :] == levels).reshape(len(codes), width)
            lanes[low : low + 4096] = np.packbits(flat, axis=1) if self._packed else flat
        return Block(columns, arity, lanes, self._packed)
