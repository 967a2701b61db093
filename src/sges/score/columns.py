"""The discrete columns of a table, ready to be counted with the cells of any family.

Columns of few levels are laid out in blocks of lanes (``sges.score.lanes``), and a block is
counted in one pass.  Lanes are a byte each, and are kept as packed bits when the table is so
large that bytes would cost too much memory; their sums are 16 bits wide where counts fit.
Columns of many levels, and single ones, are counted alone.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.nodeset import NodeSet, nodes
from sges.score.counts import SMALL, Cells, Codes, Grouping, Ints, Weights, refine, tally
from sges.score.lanes import Counted, Thin, add_lanes, count_column, membership
from sges.score.summing_out import SummedOut, thin_without

MEMORY = 256 * 2**20
"""Bytes that the lanes of a table may take before they are packed."""

WIDEST = 16
"""Columns with more levels than this are counted alone."""

BLOCK = 256
"""Lanes in one block, or a few more: enough to drown the overhead of a pass."""

LARGEST = 2**22
"""Entries of one table of counts; beyond, columns are counted alone."""

PAYS = 12
"""One column counted alone costs about as much as so many lanes of a block."""

ALONE = -1
"""The block of a column that is in none."""


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """Which block each column is in, and where its lanes are.

    A block holds its columns by arity, and those of one arity level by level.  ``places`` has
    for each column the lane of its second level, the distance from there to the lane of the
    next, and its arity; ``widths`` the lanes of each block, filled up to a multiple of eight,
    so that no pass has a ragged end.
    """

    block: Ints
    places: Ints
    widths: list[int]

    @staticmethod
    def of(arities: Ints) -> "Layout":
        """Lay out the columns that are not too wide, in the order of their arities."""
        block = np.full(len(arities), ALONE)
        places = np.stack([np.ones_like(arities), np.ones_like(arities), arities])
        narrow = np.flatnonzero((arities > 1) & (arities <= WIDEST))
        narrow = narrow[np.argsort(arities[narrow], kind="stable")]
        block[narrow] = (np.cumsum(arities[narrow] - 1) - 1) // BLOCK
        widths = []
        for number in range(block.max(initial=ALONE) + 1):
            width = 0
            for arity in np.unique(arities[block == number]):
                columns = np.flatnonzero((block == number) & (arities == arity))
                places[0, columns] = width + np.arange(len(columns))
                places[1, columns] = len(columns)
                width += len(columns) * int(arity - 1)
            widths.append(-(-width // 8) * 8)
        return Layout(block, places, widths)


class Columns:
    """The discrete columns of a table; ``counted`` counts the cells of a family with any."""

    def __init__(self, codes: Codes, arities: NDArray[np.int64], weights: Weights) -> None:
        self.codes = codes
        self.arities: Ints = arities.astype(np.intp)
        self.weights = weights
        self.layout = Layout.of(self.arities)
        rows = codes.shape[1]
        self._room: int = max(4 * rows, SMALL)
        whole = len(self.layout.widths) == 1 and ALONE not in self.layout.block
        self._widest = int(self.arities.max()) if whole else sys.maxsize  # if in one block
        total = rows if weights is None else int(weights.sum())
        # Without weights a count grows by one per row, so that 16 bits last for 65,535 rows:
        # longer tables are cut.  Weights may jump by any amount, so all of them must fit.
        short = weights is None or total <= 0xFFFF
        self._dtype = np.dtype(np.uint16 if short else np.intp)
        self._packed = sum(self.layout.widths) * rows > MEMORY
        self._step = 4096 if self._packed else (0xFFFF if weights is None else max(rows, 1))
        self._lanes: dict[int, NDArray[Any]] = {}

    def counted(self, cells: Cells, candidates: Ints) -> Iterator[Counted | Thin]:
        """Count the cells with each candidate: all of them, in parts."""
        most = self._most(cells)
        if self._widest <= most and self._pays(cells, 0, len(candidates)):
            yield self._together(cells, np.arange(len(candidates)), candidates, 0)
            return
        dense = self.arities[candidates] <= most
        block = np.where(dense, self.layout.block[candidates], ALONE)
        alone = block == ALONE
        for number in range(len(self.layout.widths)):
            at = np.flatnonzero(block == number)
            if self._pays(cells, number, len(at)):
                yield self._together(cells, at, candidates[at], number)
            else:
                alone[at] = True
        for k in np.flatnonzero(alone):
            yield (self._alone if dense[k] else self._thin)(cells, int(candidates[k]), int(k))

    def summed_out(
        self, cells: Cells, y: int, base: NodeSet, out: Ints
    ) -> Iterator[SummedOut | Thin]:
        """Count the family of y and base without each of some parents, in parts."""
        family = [*nodes(base), y]
        size = math.prod(self.arities[family].tolist())
        if size <= self._room:
            yield SummedOut.of(cells, family, self.arities, self.codes, out)
        else:
            yield from thin_without(cells, family, self.arities, self.codes, out)

    def _most(self, cells: Cells) -> int:
        """Return the arity up to which the whole table of (base, y, x) is worth its memory.

        It is if few of its cells are empty.
        """
        return self._room // cells.groups.size

    def _pays(self, cells: Cells, number: int, count: int) -> bool:
        """Return whether so many columns of a block are counted faster together than alone."""
        width = self.layout.widths[number]
        return width <= PAYS * count and 2 * cells.groups.size * width <= LARGEST

    def _together(self, cells: Cells, at: Ints, columns: Ints, number: int) -> Counted:
        """Count some columns of one block."""
        places = self.layout.places.take(columns, axis=1)
        return Counted(cells, at, self._sums(cells, number), places)

    def _alone(self, cells: Cells, x: int, k: int) -> Counted:
        """Count one column."""
        table = np.zeros((cells.groups.size, self.arities[x]), dtype=np.intp)
        if self.weights is None:
            count_column(table, cells.groups.ids, self.codes[x])
        else:
            keys = cells.groups.ids * table.shape[1] + self.codes[x]
            groups = Grouping(keys, table.size, full=False)
            table += tally(groups, self.weights).reshape(table.shape)
        places = np.array([[1], [1], [self.arities[x]]], dtype=np.intp)
        return Counted(cells, np.array([k]), table, places)

    def _thin(self, cells: Cells, x: int, k: int) -> Thin:
        """Count one column, without most of the empty cells."""
        arity = int(self.arities[x])
        finer = refine(cells.groups, self.codes[x], arity)
        wider = refine(cells.configurations, self.codes[x], arity)
        tallies = tally(finer, self.weights), tally(wider, self.weights)
        return Thin(np.array([k]), np.array([arity]), *tallies)

    def _sums(self, cells: Cells, number: int) -> NDArray[Any]:
        """Return, for each cell and lane of a block, the records of the cell in the lane."""
        ids, rows = cells.groups.ids, self.codes.shape[1]
        shape = cells.groups.size, self.layout.widths[number]
        total = np.zeros(shape, dtype=self._dtype if rows <= self._step else np.intp)
        for low in range(0, rows, self._step):
            high = min(low + self._step, rows)
            part = total if rows <= self._step else np.zeros(shape, dtype=self._dtype)
            self._add(part, ids[low:high], number, low, high)
            if part is not total:
                total += part
        return total

    def _add(self, sums: NDArray[Any], ids: Ints, number: int, low: int, high: int) -> None:
        """Add the lanes of some rows to the sums of their cells."""
        lanes = self._block(number)[low:high]
        if self._packed:
            lanes = np.unpackbits(lanes, axis=1)
        if self.weights is None:
            add_lanes(sums, ids, lanes)
        else:
            amounts = self.weights[low:high].astype(self._dtype)
            sums += membership(amounts, ids, len(sums)) @ lanes

    def _block(self, number: int) -> NDArray[Any]:
        """Return the lanes of a block, (rows × lanes), written when first asked for."""
        if number not in self._lanes:
            rows, width = self.codes.shape[1], self.layout.widths[number]
            shape = (rows, width // 8 if self._packed else width)
            lanes = np.empty(shape, dtype=np.uint8)
            for low in range(0, rows, 4096):
                flat = self._flat(number, low, min(low + 4096, rows))
                lanes[low : low + 4096] = np.packbits(flat, axis=1) if self._packed else flat
            self._lanes[number] = lanes
        return self._lanes[number]

    def _flat(self, number: int, low: int, high: int) -> NDArray[np.bool_]:
        """Write the lanes of some rows of a block."""
        flat = np.zeros((high - low, self.layout.widths[number]), dtype=np.bool_)
        for arity in np.unique(self.arities[self.layout.block == number]):
            columns = np.flatnonzero((self.layout.block == number) & (self.arities == arity))
            first = self.layout.places[0, columns[0]]
            levels = self.codes[columns, low:high].T[:, None, :] == np.arange(1, arity)[:, None]
            flat[:, first : first + levels[0].size] = levels.reshape(high - low, -1)
        return flat
