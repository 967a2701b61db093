"""Parts of a table: each is summarized separately, and the summaries are merged.

A part is a batch of a large file, a file of a folder, a partition of a Dask frame, or a batch of a
query of Polars or DuckDB.  The kind of a column depends on all parts: integers are discrete if they
have few distinct values.  So a part keeps moments as long as every column may be continuous, and
distinct rows as long as every column may be discrete.  Merging is associative, so parts may be
summarized anywhere, and merged in any tree.  If the columns turn out to be of both kinds, no
statistics describe the table, and its rows are read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import (
    Column,
    all_levels,
    codes_and_levels,
    floats,
    no_such_column,
    packed,
    recoded,
)
from sges.data.dataset import Dataset, check_levels, check_records, merge_rows, usable_rows
from sges.data.decisions import KindNotes, Tally, Values, hidden_numbers
from sges.data.moments import Moments, check_same_columns, moments_of_blocks
from sges.data.reading import Kind, Reading, kinds_asked
from sges.errors import DataError

Codes: TypeAlias = NDArray[np.unsignedinteger]
Weights: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Counts:
    """The distinct rows of discrete columns and how often each occurs.

    This is all that a discrete score needs of a table.  ``Counts.of`` makes one of a dataset; the
    constructor trusts its arguments.

    Parameters
    ----------
    names : tuple of str
        The columns.
    levels : tuple of tuple
        For each column the labels of its codes; None, for missing values, comes last.
    codes : ndarray of unsigned integers
        The distinct rows, sorted; one row of the array for each column.
    weights : ndarray of int64
        How often each distinct row occurs.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    codes: Codes
    weights: Weights

    @classmethod
    def of(cls, dataset: Dataset) -> "Counts":
        """Return the counts of a dataset with discrete columns only.

        Parameters
        ----------
        dataset : Dataset
            The data.

        Returns
        -------
        Counts
            Its distinct rows.

        Raises
        ------
        DataError
            If a column is continuous.

        Examples
        --------
        >>> counts = Counts.of(Dataset.of({"a": ["u", "v", "u"], "b": [True, True, True]}))
        >>> counts.levels, counts.codes.tolist(), counts.weights.tolist()
        ((('u', 'v'), (True,)), [[0, 1], [0, 0]], [2, 1])
        """
        if dataset.unit != 1:
            raise DataError("Counts are whole numbers, but survey weights have fractions")
        merged = dataset.merged()
        assert merged.weights is not None
        levels = tuple(labels for labels in merged.levels if labels is not None)
        return cls(merged.names, levels, merged.codes, merged.weights)

    @property
    def records(self) -> int:
        """The number of records: each row as often as its weight says."""
        return int(self.weights.sum())

    def merge(self, other: "Counts") -> "Counts":
        """Return the counts of two tables with the same columns together.

        A column has the levels of both tables: in their order if that is the same, else sorted.
        The result does not depend on the order in which parts are merged.

        Parameters
        ----------
        other : Counts
            The counts of other records of the same columns.

        Returns
        -------
        Counts
            The counts of all records, as one table would have them.

        Raises
        ------
        DataError
            If the columns differ, or the levels of a column are of different types.

        Examples
        --------
        >>> first, second = ({"a": ["u", "v"]}, {"a": ["w", "u"]})
        >>> both = Counts.of(Dataset.of(first)).merge(Counts.of(Dataset.of(second)))
        >>> both.levels, both.codes.tolist(), both.weights.tolist()
        ((('u', 'v', 'w'),), [[0, 1, 2]], [2, 1, 1])
        """
        check_same_columns(self.names, other.names, "counts")
        pairs = zip(self.names, self.levels, other.levels, strict=True)
        levels = tuple(_merged_levels(name, mine, others) for name, mine, others in pairs)
        mine, others = (
            np.array([recoded(*row) for row in zip(part.codes, part.levels, levels, strict=True)])
            for part in (self, other)
        )
        codes, weights = merge_rows(
            np.concatenate([mine, others], axis=1),
            [len(labels) for labels in levels],
            np.concatenate([self.weights, other.weights]),
        )
        return Counts(self.names, levels, codes, weights)

    def dataset(self, notes: Sequence[str] = ()) -> Dataset:
        """Return the dataset of the distinct rows, weighted by how often each occurs.

        Parameters
        ----------
        notes : sequence of str
            What was decided about the table.

        Returns
        -------
        Dataset
            The distinct rows and their weights.
        """
        empty = np.empty((0, len(self.weights)))
        for array in (self.codes, self.weights, empty):
            array.flags.writeable = False
        kinds = (Kind.DISCRETE,) * len(self.names)
        arrays = empty, self.codes, self.weights
        return Dataset(self.names, kinds, self.levels, *arrays, tuple(notes))


def _merged_levels(name: str, mine: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the levels of a column in two tables together; that of missing values is the last."""
    own, more = (tuple(label for label in labels if label is not None) for labels in (mine, others))
    levels = all_levels(name, [labels for labels in (own, more) if labels] or [()])
    return (*levels, None) if None in (*mine, *others) else levels


# Summaries of parts


class FractionalWeights(DataError):
    """Weights have fractions, but summaries have counts only: the rows are then read."""


@dataclass(frozen=True, eq=False, slots=True)
class Summary:
    """The contribution of one part of a table to the statistics of the whole."""

    place: str
    values: tuple[Values, ...]
    tally: Tally
    usable: int
    moments: Moments | None
    counts: Counts | None

    @classmethod
    def of(
        cls,
        columns: list[Column],
        reading: Reading,
        place: str = "the table",
        *,
        start: int = 0,
        times: Weights | None = None,
        with_moments: bool = True,
    ) -> "Summary":
        """Return the summary of some rows; the arguments are those of ``usable_rows``."""
        columns, weights, tally = usable_rows(columns, reading, start, times)
        if weights is not None and weights.dtype != np.int64:
            raise FractionalWeights
        keeps_holes = reading.missing == "level"
        usable = tally.rows if keeps_holes else tally.rows - tally.incomplete
        values = tuple(
            Values.of(column, usable - (tally.missing[column.name] if keeps_holes else 0))
            for column in columns
        )
        names = [column.name for column in columns]
        asked = kinds_asked(reading, names)
        may_all_be = {
            kind: usable > 0
            and all(
                asked[known.name] is kind if known.name in asked else known.may_be(kind)
                for known in values
            )
            for kind in Kind
        }
        moments = counts = None
        has_holes = keeps_holes and tally.incomplete > 0
        if may_all_be[Kind.CONTINUOUS] and with_moments and not has_holes:
            block = np.array([floats(column) for column in columns])
            moments = moments_of_blocks(names, [(block, weights)], least=1)
        if may_all_be[Kind.DISCRETE]:
            coded, levels = zip(*map(codes_and_levels, columns), strict=True)
            codes = packed(list(coded), len(columns[0]), levels)
            codes, weights = merge_rows(codes, [len(labels) for labels in levels], weights)
            counts = Counts(tuple(names), levels, codes, weights)
        return cls(place, values, tally, usable, moments, counts)

    @property
    def needs_rows(self) -> bool:
        """Whether the columns are of both kinds, or moments are not wanted."""
        return self.usable > 0 and self.moments is None and self.counts is None

    def merge(self, other: "Summary") -> "Summary":
        """Return the summary of two parts together."""
        mine, others = ([known.name for known in part.values] for part in (self, other))
        for one, two, names in ((self, other, others), (other, self, mine)):
            for known in one.values:
                if known.name not in names:
                    raise no_such_column(two.place, known.name, one.place)
        if mine != others:
            raise DataError(f"the columns of {other.place} are in a different order")
        places = self.place, other.place
        values = tuple(a.merge(b, places) for a, b in zip(self.values, other.values, strict=True))
        moments, counts = self.moments, self.counts
        if not self.usable:
            moments, counts = other.moments, other.counts
        elif other.usable:
            both = moments is not None and other.moments is not None
            moments = moments.merge(other.moments) if both else None  # type: ignore[union-attr, arg-type]
            both = counts is not None and other.counts is not None
            counts = counts.merge(other.counts) if both else None  # type: ignore[union-attr, arg-type]
        tally, usable = self.tally + other.tally, self.usable + other.usable
        return Summary(self.place, values, tally, usable, moments, counts)

    def statistics(self, reading: Reading) -> Dataset | Moments | None:
        """Return the statistics of the whole table; None if its columns are of both kinds."""
        if self.needs_rows:
            return None
        self.tally.check(reading.missing)
        asked = kinds_asked(reading, [known.name for known in self.values])
        if not self.usable:
            check_records(0)
        kinds = {known.name: asked.get(known.name) or known.kind() for known in self.values}
        notes = KindNotes(decimal=reading.decimal)
        for known in self.values:
            if known.name not in asked:
                notes.add(known, kinds[known.name])
        on_missing = self.tally.notes(reading.missing)
        if set(kinds.values()) == {Kind.CONTINUOUS} and self.moments is not None:
            check_records(self.moments.records)
            notes.constant = [known.name for known in self.values if known.count == 1]
            return replace(self.moments, notes=(*on_missing, *notes.notes()))
        if set(kinds.values()) != {Kind.DISCRETE} or self.counts is None:
            return None
        counts = self._with_levels_as_meant(self.counts, asked)
        if counts is None:
            return None
        named = () if isinstance(reading.kinds, Kind) else asked
        are_records = bool((counts.weights == 1).all())
        for name, codes, levels in zip(counts.names, counts.codes, counts.levels, strict=True):
            if are_records and name not in named:
                labels = tuple(label for label in levels if label is not None)
                present = codes[codes < len(labels)]
                texts = labels if isinstance(labels[0], str) else None
                levels_seen = len(np.unique(present))
                check_levels(name, levels_seen, len(present), texts, reading.decimal)
        for known, codes, levels in zip(self.values, counts.codes, counts.levels, strict=True):
            if known.family == "text" and not known.declared and known.name not in asked:
                notes.add_text(known.name, levels, np.bincount(codes, counts.weights, len(levels)))
        check_records(counts.records)
        is_constant = (counts.codes == counts.codes[:, :1]).all(axis=1)
        notes.constant = [counts.names[i] for i in np.flatnonzero(is_constant)]
        size = f"{counts.records} records were merged into {len(counts.weights)} distinct rows"
        return counts.dataset((*on_missing, size, *notes.notes()))

    def _with_levels_as_meant(self, counts: Counts, asked: Mapping[str, Kind]) -> Counts | None:
        """Return counts with codes stored as floats as integers; None if a text holds numbers."""
        levels = []
        for known, labels in zip(self.values, counts.levels, strict=True):
            present = tuple(label for label in labels if label is not None)
            if known.name not in asked and known.family == "floats":
                labels = (*map(int, present), *labels[len(present) :])
            is_text = known.name not in asked and known.family == "text" and not known.declared
            if is_text and hidden_numbers(present, known.used) is not None:
                return None
            levels.append(labels)
        return replace(counts, levels=tuple(levels))


def merged(parts: Iterable[Summary]) -> Summary | None:
    """Return the summary of all parts, or of the first after which the rows are needed."""
    stack: list[tuple[int, Summary]] = []  # of about the same size: rows are sorted a few times
    for part in parts:
        size, total = 1, part
        while stack and stack[-1][0] <= size:
            size, total = size + stack[-1][0], stack.pop()[1].merge(total)
        stack.append((size, total))
        if total.needs_rows:
            break
    while len(stack) > 1:
        _, last = stack.pop()
        stack[-1] = (0, stack[-1][1].merge(last))
    return stack[0][1] if stack else None
