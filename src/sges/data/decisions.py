"""What is decided about columns: their kinds, and what becomes of missing values.

The kind of a column follows from its type:

    float, decimal                      continuous, unless all values are whole and the rule for
                                        integers makes them discrete: pandas stores integers with
                                        a missing value as floats
    truth value, category, enum         discrete
    text                                discrete; text such as "0.13" or "0,13" in nearly every
                                        row is read as numbers
    integer                             discrete if there are at most two distinct values, or at
                                        most ten, k, in at least k² rows: as many as the cells of
                                        a table of two such columns; else continuous

The option ``kinds`` overrides the rule, for all columns or for those named.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import (
    LEADING_ROWS,
    MAX_NAMES_SHOWN,
    Column,
    are_whole,
    few_distinct_values,
    leave_out,
    listed,
    numbers_of,
    ranks,
)
from sges.data.reading import Kind, Missing
from sges.errors import Argument, DataError, Message

MAX_INTEGER_LEVELS = 10
"""An integer column with more distinct values than this is continuous."""

MAX_COUNTED_VALUES = 100
"""Notes give the number of distinct values of a column up to this many."""

MIN_NUMBERED_ROWS = 10
"""From this many rows on, integers that rise by one from row to row number the rows."""

MAX_COUNT_ROWS = 100_000
"""Up to this many rows, a column is looked at for being the counts of all combinations."""

COUNT_NAMES = frozenset(
    {"freq", "frequency", "count", "counts", "n", "number", "times", "cases", "weight", "weights"}
)
"""Names, in lower case, of columns that often hold how many times a row occurs."""

ROW_NAMES = re.compile(
    r"(?i:id|index|row|rows|rownames?|row\.names|obs|unnamed: 0)|.*(_id|\.id| id|Id|ID)"
)
"""Names of columns that often number the rows, or name them."""


# Kinds


def inferred_kind(column: Column) -> Kind:
    """Return the kind of a column by the rule of this module."""
    if column.labels is not None or column.values.dtype.kind == "b":
        return Kind.DISCRETE
    if column.values.dtype.kind == "f":
        return Kind.DISCRETE if is_code(column) else Kind.CONTINUOUS
    return integer_kind(len(column.distinct()), len(column) - column.missing_count)


def integer_kind(distinct: int, rows: int) -> Kind:
    """Return the kind of integers with this many distinct values in this many rows."""
    few = distinct <= MAX_INTEGER_LEVELS and distinct**2 <= rows
    return Kind.DISCRETE if distinct <= 2 or few else Kind.CONTINUOUS


def is_code(column: Column) -> bool:
    """Tell whether a column holds whole numbers as floats, and they are discrete as integers.

    Unlike integers they have to occur more than once, and a constant is left as it is.
    """
    if column.labels is not None or column.values.dtype.kind != "f":
        return False
    few = few_distinct_values(column.present(), MAX_INTEGER_LEVELS)
    rows = len(column) - column.missing_count
    return few is not None and are_codes(few, rows)


def are_codes(distinct: NDArray[Any], rows: int) -> bool:
    """Tell whether floats with these distinct values in this many rows are codes."""
    return bool(len(distinct) > 1 and len(distinct) ** 2 <= rows and are_whole(distinct))


def hidden_numbers(labels: Sequence[Any], rows: int) -> list[float] | None:
    """Return the numbers that the texts of a column in this many rows hold, if they must be such.

    Whole numbers as text are codes that somebody wrote so on purpose, and so are a few fractions
    that are repeated, such as versions: for these, None.
    """
    if len(labels) <= MAX_INTEGER_LEVELS and 2 * len(labels) <= rows:
        return None
    if not any(str(label).strip("+- 0123456789") for label in labels):
        return None
    return numbers_of(labels)


def _text_as_numbers(column: Column) -> Column | None:
    """Return a column of text as numbers if it can hardly be anything else."""
    if column.labels is None or column.declared:
        return None
    found = hidden_numbers(column.labels, len(column) - column.missing_count)
    if found is None:
        return None
    return Column(column.name, np.array(found)[column.values], missing=column.missing)


def numbers_rows(column: Column) -> bool:
    """Tell whether a column numbers the rows: 1, 2, 3, ..., or is called so and never repeats."""
    values = column.values
    if column.labels is not None or values.dtype.kind not in "iuf" or column.missing is not None:
        return False
    rows = len(values)
    if rows < MIN_NUMBERED_ROWS:
        return False
    if rises_by_one(values):
        return True
    is_named_so = values.dtype.kind != "f" and ROW_NAMES.fullmatch(column.name) is not None
    return is_named_so and len(column.distinct()) == rows


def rises_by_one(values: NDArray[Any]) -> bool:
    """Tell whether each number is one more than the one before it."""
    for part in (values[:LEADING_ROWS], values):
        if not np.array_equal(part[1:], part[:-1] + part.dtype.type(1)):
            return False
    return True


@dataclass(slots=True)
class KindNotes:
    """Collects what users should know about inferred kinds, as one note per case.

    Whole numbers are named whichever kind they were given, other floats if they have few distinct
    values.
    """

    integers: dict[Kind, dict[str, int | None]] = field(default_factory=dict)
    floats: dict[str, int | None] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    row_numbers: list[str] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)

    def as_meant(self, column: Column) -> Column:
        """Return a column whose kind is to be inferred as what its values are.

        Numbers that are stored as text become floats, and codes that are stored as floats integers.
        """
        numbers = _text_as_numbers(column)
        if numbers is not None:
            self.texts.append(column.name)
            column = numbers
        if not is_code(column):
            return column
        values = column.values if column.missing is None else np.where(
            column.missing, 0.0, column.values
        )  # fmt: skip
        return Column(column.name, values.astype(np.int64), missing=column.missing)

    def add(self, column: Column, kind: Kind) -> None:
        """Look at a column whose kind was inferred."""
        if column.labels is not None or column.values.dtype.kind == "b":
            return
        rows = len(column) - column.missing_count
        if numbers_rows(column):
            self.row_numbers.append(column.name)
        elif column.values.dtype.kind in "iu":
            distinct = len(column.distinct())
            self.add_integers(column.name, kind, distinct)
        else:
            self.add_floats(column.name, column.few_distinct(MAX_INTEGER_LEVELS), rows)

    def add_integers(self, name: str, kind: Kind, distinct: int | None) -> None:
        """Take note of integers; ``distinct`` may be None if it exceeds ``MAX_COUNTED_VALUES``."""
        counted = None if distinct is None or distinct > MAX_COUNTED_VALUES else distinct
        self.integers.setdefault(kind, {})[name] = counted

    def add_floats(self, name: str, distinct: int | None, rows: int) -> None:
        """Take note of floats if they repeat few values; None is more than the rule's ten."""
        if distinct is not None and 1 < distinct <= min(MAX_INTEGER_LEVELS, rows // 2):
            self.floats[name] = distinct

    def add_counts(self, columns: list[Column], kinds: list[Kind]) -> None:
        """Take note of a column that may say how often each row of a cross-table occurs.

        All other columns are discrete and no two rows agree in them; and the column is called like
        counts, or the rows are all combinations of levels.
        """
        numeric = [i for i, c in enumerate(columns) if c.labels is None and _may_count(c)]
        beside = [i for i, kind in enumerate(kinds) if kind is Kind.CONTINUOUS]
        if not numeric or len(columns) < 2 or len(columns[0]) > MAX_COUNT_ROWS:
            return
        called = [i for i in numeric if columns[i].name.strip().lower() in COUNT_NAMES]
        for i in called or [j for j in beside if j in numeric][:1]:
            others = [column for j, column in enumerate(columns) if j != i]
            if set(beside) <= {i} and _is_cross_table(others, complete=not called):
                self.counts.append(columns[i].name)
                return

    def notes(self) -> list[str]:
        """Return the notes, one for each case that occurred."""
        notes: list[str] = []
        if self.row_numbers:
            one = len(self.row_numbers) == 1
            notes.append(
                Message(
                    f"{counted_columns(self.row_numbers, 'numbers', 'number')} the rows: "
                    f"{listed(self.row_numbers)}; leave {'it' if one else 'them'} out with ",
                    Argument("exclude", self.row_numbers[:MAX_NAMES_SHOWN]),
                    f" unless {'it is a variable' if one else 'they are variables'}",
                )
            )
        if self.counts:
            name = self.counts[0]
            notes.append(
                Message(
                    f"column {name!r} looks like counts, as all other columns are discrete and no "
                    "two rows agree in them; if it says how often each row occurs, pass ",
                    Argument("weights", name),
                )
            )
        notes += self._on_kinds()
        if self.constant:
            one = len(self.constant) == 1
            notes.append(
                f"{counted_columns(self.constant, 'is', 'are')} constant, so "
                f"{'it has' if one else 'they have'} no edges: {listed(self.constant)}"
            )
        return notes

    def _on_kinds(self) -> Iterator[str]:
        """Yield the notes on numbers whose kind could as well be another."""

        def note(
            names: list[str] | dict[str, int | None], what: str, taken: str, kind: Kind, aim: str
        ) -> str:
            other = Kind.DISCRETE if kind is Kind.CONTINUOUS else Kind.CONTINUOUS
            shown = listed(names) if isinstance(names, list) else _with_counts(names)
            return Message(
                f"{counted_columns(names, 'holds', 'hold')} {what} and "
                f"{'is' if len(names) == 1 else 'are'} {taken}: {shown}; pass ",
                Argument("kinds", {next(iter(names)): str(other)}),
                f" {aim}",
            )

        if self.texts:
            yield note(
                self.texts, "numbers as text", "read as numbers", Kind.CONTINUOUS,
                "to take the texts as levels",
            )  # fmt: skip
        for kind, integers in self.integers.items():
            left = {name: count for name, count in integers.items() if name not in self.counts}
            if left:
                yield note(left, "integers", f"taken as {kind}", kind, "to change that")
        if self.floats:
            yield note(
                self.floats, "floats", "taken as continuous despite few distinct values",
                Kind.CONTINUOUS, "if they are codes",
            )  # fmt: skip


def counted_columns(names: Collection[str], singular: str, plural: str) -> str:
    """Return the number of columns, with a verb."""
    return f"1 column {singular}" if len(names) == 1 else f"{len(names)} columns {plural}"


def _may_count(column: Column) -> bool:
    """Tell whether a column of numbers can be counts: whole, not negative, not all zero or one."""
    values = column.values
    if values.dtype.kind not in "iuf" or column.missing is not None or not len(values):
        return False
    return bool(
        values.min() >= 0 and values.max() > 1 and (values.dtype.kind != "f" or are_whole(values))
    )


def _is_cross_table(columns: list[Column], *, complete: bool) -> bool:
    """Tell whether no two rows of discrete columns agree; if ``complete``, all combinations occur.

    Slow twin: tests/naive_data.py collects the rows in a set.
    """
    if any(column.missing is not None for column in columns):
        return False
    sizes = [len(column.distinct()) for column in columns]
    rows, cells = len(columns[0]), math.prod(sizes)
    if cells < rows or min(sizes) < 2 or (complete and cells != rows):
        return False
    codes = np.array([ranks(column.values, column.distinct()) for column in columns])
    return len(np.unique(codes, axis=1).T) == rows


def _with_counts(found: dict[str, int | None]) -> str:
    """Return names with their numbers of distinct values."""

    def count(number: int | None) -> str:
        if number is None:
            return f"more than {MAX_COUNTED_VALUES}"
        return f"{number} distinct value{'' if number == 1 else 's'}"

    return listed([f"{name!r} ({count(number)})" for name, number in found.items()], quote=False)


# Missing values


def settle_missing(
    columns: list[Column],
    counts: NDArray[np.int64] | None,
    missing: Missing,
    asked: dict[str, Kind],
) -> tuple[list[Column], NDArray[np.int64] | None, list[str]]:
    """Return columns, weights and notes after missing values were dealt with."""
    holes = [column for column in columns if column.missing is not None]
    if not holes:
        return columns, counts, []
    incomplete = np.logical_or.reduce([c.missing for c in holes if c.missing is not None])
    found = {column.name: column.missing_count for column in holes}
    if missing == "error":
        raise missing_values(found, len(incomplete), int(incomplete.sum()))
    if missing == "level":
        for column in holes:
            if (asked.get(column.name) or inferred_kind(column)) is Kind.CONTINUOUS:
                raise _continuous_holes(column)
        return columns, counts, [levels_note(found)]
    if missing == "em":  # only rows without a single value say nothing
        kept = ~np.logical_and.reduce([_missing_rows(column) for column in columns])
        notes = []
    else:
        kept = ~incomplete
        notes = [dropped_note(found, int(incomplete.sum()), len(incomplete))]
    if not kept.all():
        columns = [column.take(kept) for column in columns]
        counts = None if counts is None else counts[kept]
    return columns, counts, notes


def _missing_rows(column: Column) -> NDArray[np.bool_]:
    return np.zeros(len(column), np.bool_) if column.missing is None else column.missing


def stacked_holes(columns: Sequence[Column]) -> NDArray[np.bool_] | None:
    """Return which values are missing (columns x rows), or None if none is."""
    if all(column.missing is None for column in columns):
        return None
    return np.array([_missing_rows(column) for column in columns])


def dropped_note(found: dict[str, int], incomplete: int, rows: int) -> str:
    """Return the note on rows dropped for missing values."""
    return f"{incomplete} of {rows} rows were dropped for missing values in {_with_missing(found)}"


def levels_note(found: dict[str, int]) -> str:
    """Return the note on missing values that are a level."""
    return f"missing values are a level of {_with_missing(found)}"


def _with_missing(found: dict[str, int]) -> str:
    return listed([f"{name!r} ({count})" for name, count in found.items()], quote=False)


def missing_values(found: dict[str, int], rows: int, incomplete: int) -> DataError:
    """Return the error for missing values without a word on what to do about them."""
    shown = listed([f"{name!r} {count}" for name, count in found.items()], quote=False)
    return DataError(
        Message(
            f"missing values in {incomplete} of {rows} rows ({shown}); pass ",
            Argument("missing", "drop"),
            " to drop these rows, ",
            Argument("missing", "em"),
            " to estimate from the values observed, or ",
            Argument("missing", "level"),
            " to make them a level of a discrete column",
        )
    )


def all_missing(name: str, rows: int) -> DataError:
    """Return the error for a column without a single value."""
    return DataError(
        Message(f"column {name!r} has no values, all {rows} are missing; ", leave_out(name))
    )


def _continuous_holes(column: Column) -> DataError:
    return DataError(
        Message(
            f"column {column.name!r} is continuous and {column.missing_count} of its values "
            "are missing; ",
            Argument("missing", "level"),
            " is for discrete columns: pass ",
            Argument("missing", "drop"),
            ", or ",
            Argument("kinds", {column.name: "discrete"}),
            " if its values are codes",
        )
    )
