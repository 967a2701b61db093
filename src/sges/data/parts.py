"""Parts of a table: each is summarized separately, and the summaries are merged.

A part is a batch of a large file, a file of a folder, a partition of a Dask frame, or a batch of a
query of Polars or DuckDB.  The kind of a column depends on all parts: integers are discrete if they
have few distinct values.  So a part keeps moments as long as every column may be continuous, and
distinct rows as long as every column may be discrete.  Merging is associative, so parts may be
summarized anywhere, and merged in any tree.  If the columns turn out to be of both kinds, no
statistics describe the table, and its rows are read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import (
    Column,
    all_levels,
    check_same_columns,
    floats,
    is_constant,
    recoded,
)
from sges.data.dataset import Dataset, assembled, check_levels, check_records, usable_rows
from sges.data.decisions import KindNotes, Tally, Values, hidden_numbers
from sges.data.moments import Moments, moments_of_blocks
from sges.data.reading import Kind, Reading, kinds_asked
from sges.errors import DataError

Weights: TypeAlias = NDArray[np.int64]


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
    counts: Dataset | None

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
        usable = tally.rows - (0 if keeps_holes else tally.incomplete)
        values = tuple(
            Values.of(column, usable - keeps_holes * tally.missing[column.name])
            for column in columns
        )
        names = tuple(column.name for column in columns)
        asked = kinds_asked(reading, names)
        moments = counts = None
        if usable and _may_be(Kind.DISCRETE, values, asked):
            counts = assembled(columns.copy(), [Kind.DISCRETE] * len(columns), weights).merged()
        with_moments = with_moments and usable > 0 and not (keeps_holes and tally.incomplete)
        if with_moments and _may_be(Kind.CONTINUOUS, values, asked):
            block = np.array([floats(column) for column in columns])
            moments = moments_of_blocks(names, [(block, weights)], least=1)
        return cls(place, values, tally, usable, moments, counts)

    @property
    def names(self) -> list[str]:
        """The columns."""
        return [known.name for known in self.values]

    @property
    def needs_rows(self) -> bool:
        """Whether the columns are of both kinds, or moments are not wanted."""
        return self.usable > 0 and self.moments is None and self.counts is None

    def merge(self, other: "Summary") -> "Summary":
        """Return the summary of two parts together."""
        check_same_columns(self.place, self.names, other.place, other.names)
        if self.names != other.names:
            raise DataError(f"the columns of {other.place} are in a different order")
        places = self.place, other.place
        values = tuple(a.merge(b, places) for a, b in zip(self.values, other.values, strict=True))
        moments, counts = self.moments, self.counts
        if not self.usable:
            moments, counts = other.moments, other.counts
        elif other.usable:
            moments = moments and other.moments and moments.merge(other.moments)
            counts = counts and other.counts and merged_counts(counts, other.counts)
        tally, usable = self.tally + other.tally, self.usable + other.usable
        return Summary(self.place, values, tally, usable, moments, counts)

    def statistics(self, reading: Reading) -> Dataset | Moments | None:
        """Return the statistics of the whole table; None if its columns are of both kinds."""
        if self.needs_rows:
            return None
        self.tally.check(reading.missing)
        asked = kinds_asked(reading, self.names)
        if not self.usable:
            check_records(0)
        kinds = {asked.get(known.name) or known.kind() for known in self.values}
        notes = KindNotes(decimal=reading.decimal)
        for known in self.values:
            if known.name not in asked:
                notes.add(known, known.kind())
        found: Dataset | Moments | None = None
        noted = self.tally.notes(reading.missing)
        if kinds == {Kind.CONTINUOUS}:
            found = self.moments
            notes.constant = [known.name for known in self.values if known.count == 1]
        elif kinds == {Kind.DISCRETE} and self.counts is not None:
            found = self._counts_as_meant(self.counts, asked, reading, notes)
            size = f"{self.counts.records} records were merged into {self.counts.rows} distinct"
            noted.append(f"{size} rows")
        if found is None:
            return None
        check_records(found.records)
        return replace(found, notes=(*noted, *notes.notes()))

    def _counts_as_meant(
        self, counts: Dataset, asked: Mapping[str, Kind], reading: Reading, notes: KindNotes
    ) -> Dataset | None:
        """Return counts with codes stored as floats as integers; None if a text holds numbers."""
        levels = []
        are_records = counts.records == counts.rows
        for known, codes, labels in zip(self.values, counts.codes, counts.levels, strict=True):
            labels = labels or ()
            present = tuple(label for label in labels if label is not None)
            is_text = known.name not in asked and known.family == "text" and not known.declared
            if is_text and hidden_numbers(present, known.used) is not None:
                return None
            if are_records:
                coded = codes[codes < len(present)]
                check_levels(known.name, len(np.unique(coded)), len(coded), present, reading)
            if is_text:
                notes.add_text(known.name, labels, np.bincount(codes, counts.weights, len(labels)))
            if known.name not in asked and known.family == "floats":
                labels = (*map(int, present), *labels[len(present) :])
            if is_constant(codes):
                notes.constant.append(known.name)
            levels.append(labels)
        return replace(counts, levels=tuple(levels))


def _may_be(kind: Kind, values: Iterable[Values], asked: Mapping[str, Kind]) -> bool:
    """Return whether all columns may turn out to be of a kind."""
    return all(
        asked[known.name] is kind if known.name in asked else known.may_be(kind) for known in values
    )


def merged_counts(one: Dataset, other: Dataset) -> Dataset:
    """Return the distinct rows of two discrete tables, in any order the same."""
    pairs = zip(one.names, one.levels, other.levels, strict=True)
    levels = tuple(_merged_levels(name, mine or (), others or ()) for name, mine, others in pairs)
    codes: list[NDArray[Any]] = []
    weights: list[Any] = []
    for part in (one, other):
        rows = zip(part.codes, part.levels, levels, strict=True)
        codes.append(np.array([recoded(row, old or (), new) for row, old, new in rows]))
        weights.append(part.weights)
    together = np.concatenate(codes, axis=1)
    return replace(one, levels=levels, codes=together, weights=np.concatenate(weights)).merged()


def _merged_levels(name: str, mine: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the levels of a column in two tables together; that of missing values is the last."""
    own, more = (tuple(label for label in labels if label is not None) for labels in (mine, others))
    levels = all_levels(name, [labels for labels in (own, more) if labels] or [()])
    return (*levels, None) if None in (*mine, *others) else levels


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
