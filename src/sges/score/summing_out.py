"""Summing single parents out of the contingency table of a family.

Where the whole table of (base, y) is not much larger than the data, the number of a cell is
all that is needed: it is written in the mixed radix of the arities, y last, and to sum a parent
out is to leave out its digit.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sges.score.counts import (
    Cells,
    Codes,
    Floats,
    Grouping,
    Ints,
    leave_one_out,
    occupied_cells,
    refine,
    tally,
    together,
)
from sges.score.lanes import Thin
from sges.score.terms import Terms, column_sums


@dataclass(frozen=True, eq=False, slots=True)
class SummedOut:
    """The counts of a family without each of some parents.

    ``at`` says which candidates.  ``keys`` are the numbers of the cells and ``counts`` what they
    hold, ``places`` the worth of each parent's digit and its arity, and ``extent`` the size of
    the whole table and the number of levels of y.
    """

    at: Ints
    keys: Ints
    counts: Ints
    places: Ints
    extent: Ints

    @staticmethod
    def of(cells: Cells, family: list[int], arities: Ints, codes: Codes, out: Ints) -> "SummedOut":
        """Make ready to sum out some parents of a family; y is its last member."""
        worth = np.ones(len(family), dtype=np.intp)
        worth[:-1] = np.cumprod(arities[family[:0:-1]])[::-1]
        size = int(worth[0] * arities[family[0]])
        keys, counts = np.arange(size, dtype=np.intp), cells.counts
        if cells.groups.size != size:  # some empty cells were left out
            examples, counts = occupied_cells(cells)
            keys = worth @ codes[family][:, examples].astype(np.intp)
        digit = [family.index(x) for x in out.tolist()]
        places = np.stack([worth[digit], arities[out]])
        extent = np.array([size, arities[family[-1]]], dtype=np.intp)
        return SummedOut(np.arange(len(out), dtype=np.intp), keys, counts, places, extent)

    @property
    def arities(self) -> Ints:
        """The number of levels of each candidate."""
        arities: Ints = self.places[1]
        return arities

    def only(self, some: Ints) -> "SummedOut":
        """Return the same for some of the candidates."""
        places = self.places.take(some, axis=1)
        return SummedOut(self.at[some], self.keys, self.counts, places, self.extent)

    def total(self, terms: Terms) -> Floats:
        """Return the sum of terms without each candidate."""
        if (known := terms.tabulated) is not None:
            found = np.empty((3 if terms.has_constants else 1, len(self.at)))
            sum_out(self.keys, self.counts, self.places, self.extent, *known, found)
            return terms.with_constants(found)
        tables = tables_without(self.keys, self.counts, self.places, self.extent)
        return np.array([terms.total(joint, margin) for joint, margin in tables])


def sum_out(
    keys: Ints,
    counts: Ints,
    places: Ints,
    extent: Ints,
    cell: Floats,
    configuration: Floats,
    found: Floats,
) -> None:
    """Fill in the sum of tabulated terms without each candidate, as ``sum_lanes`` does with."""
    tables = tables_without(keys, counts, places, extent)
    for k, (joint, margin) in enumerate(tables):
        found[0, k] = column_sums(cell.take, joint) - column_sums(configuration.take, margin)
        if len(found) > 1:
            found[1:, k] = np.count_nonzero(joint), np.count_nonzero(margin)


def tables_without(
    keys: Ints, counts: Ints, places: Ints, extent: Ints
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the counts of a family and of its parents without each candidate."""
    size, levels = extent.tolist()
    for worth, arity in places.T.tolist():
        rest = keys // (worth * arity) * worth + keys % worth
        joint = np.bincount(rest, counts, size // arity).astype(np.intp)
        yield joint, joint.reshape(-1, levels).sum(axis=1)


def thin_without(
    cells: Cells, family: list[int], arities: Ints, codes: Codes, out: Ints
) -> Iterator[Thin]:
    """Yield the counts of a family without each of some parents, where tables are too large."""
    examples, counts = occupied_cells(cells)
    wanted = {x: k for k, x in enumerate(out.tolist())}

    def split_by(groups: Grouping, v: int) -> Grouping:
        return refine(groups, codes[v, examples], int(arities[v]))

    everything, y = together(len(examples)), family[-1]
    for x, rest in leave_one_out(everything, family[:-1], wanted.__contains__, split_by):
        joint, margin = tally(split_by(rest, y), counts), tally(rest, counts)
        yield Thin(np.array([wanted[x]]), arities[[x]], joint, margin)
