"""Columns: what their values are, which are missing, and the numbers that scores read.

Every adapter (Arrow, frames, NumPy, lists) ends in a ``Column``, and every decision starts from
one, so that no decision can depend on the library that a table came from:

    Column                 one column, before anything has been decided about it
    inferred_kind          continuous or discrete, by the rule below
    KindNotes              what users should know about such decisions, one note per case
    settle_missing         refuse missing values, drop their rows, make them a level, or keep them
    floats                 the values of a continuous column
    codes_and_levels       the codes of a discrete column, and the levels they stand for

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
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.reading import Kind, Missing
from sges.errors import Argument, DataError, Message

MAX_LEVELS = 65_536
"""The largest number of levels of a discrete column: two bytes for each code."""

MAX_INTEGER_LEVELS = 10
"""An integer column with more distinct values than this is continuous."""

MAX_COUNTED_VALUES = 100
"""Notes give the number of distinct values of a column up to this many."""

MAX_NAMES_SHOWN = 5
"""Messages and notes name this many columns and count the others."""

LEADING_ROWS = 256
"""Rows looked at first, which nearly always show that a column has many distinct values."""

CHUNK_ROWS = 1 << 16
"""Rows looked at together afterwards: they stay in the cache."""

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

MAX_COMPARED_FLOATS = 64
"""Up to this many distinct floats are found by comparison with each, without sorting."""

MAX_COUNTED_RANGE = 1 << 16
"""Integers are counted if their range is at most this, or at most the number of rows."""


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """One column: numbers as they are, or positions in ``labels`` for text and categories.

    ``values`` is float64, int64, uint64, uint8 or bool when ``labels`` is None.  Where ``missing``
    is true, the value means nothing.  ``declared`` labels are levels whether they occur or not,
    in the order given; others are levels if they occur, and are sorted.
    """

    name: str
    values: NDArray[Any]
    labels: tuple[Any, ...] | None = None
    declared: bool = False
    missing: NDArray[np.bool_] | None = None
    _distinct: NDArray[Any] | None = field(default=None, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing_count(self) -> int:
        """The number of rows without a value."""
        return 0 if self.missing is None else int(self.missing.sum())

    def present(self) -> NDArray[Any]:
        """Return the values that are there."""
        return self.values if self.missing is None else self.values[~self.missing]

    def distinct(self) -> NDArray[Any]:
        """Return the distinct values present, sorted; of a column with labels, their positions."""
        if self._distinct is None:  # asked for by several decisions, computed once
            object.__setattr__(self, "_distinct", distinct_values(self.present()))
        assert self._distinct is not None
        return self._distinct

    def few_distinct(self, limit: int) -> int | None:
        """Return the number of distinct values present, or None if they are more than ``limit``."""
        few = few_distinct_values(self.present(), limit)
        return None if few is None else len(few)

    def take(self, rows: NDArray[np.bool_]) -> "Column":
        """Return the column with only the rows for which ``rows`` is true."""
        missing = None if self.missing is None else self.missing[rows]
        if missing is not None and not missing.any():
            missing = None
        return replace(self, values=self.values[rows], missing=missing)


def number_column(
    name: str, values: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> Column:
    """Return a column of numbers or truth values; a NaN among them is a missing value."""
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)
        if not has_finite_sum(values):
            absent = np.isnan(values)
            missing = absent if missing is None else missing | absent
    elif values.dtype.kind in "iu" and values.dtype not in (np.uint64, np.uint8):
        values = values.astype(np.int64, copy=False)
    return Column(name, values, missing=_unless_none_missing(missing))


def label_column(
    name: str,
    positions: NDArray[Any],
    labels: Sequence[Any],
    *,
    declared: bool = False,
    missing: NDArray[np.bool_] | None = None,
) -> Column:
    """Return a column of labels, each given once; a label None is a missing value."""
    if len(labels) > MAX_LEVELS:
        raise too_many_levels(name, len(labels), len(np.unique(positions)), declared)
    places: dict[Any, int] = {}
    for label in labels:
        if label is not None:
            places.setdefault(label, len(places))
    if len(places) < len(labels):
        moved = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
        positions = moved[positions] if len(moved) else positions
        absent = positions < 0
        missing = absent if missing is None else missing | absent
    missing = _unless_none_missing(missing)
    return Column(name, positions, tuple(places), declared, missing)


def _unless_none_missing(missing: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    return missing if missing is not None and missing.any() else None


# Parts of columns

Family: TypeAlias = Literal["nothing", "truth values", "integers", "floats", "text"]
"""What the values of a column are; "nothing" if all are missing."""


def family_of(column: Column) -> Family:
    """Return what the values of a column are."""
    if column.missing_count == len(column):
        return "nothing"
    if column.labels is not None:
        return "text"
    kinds: dict[str, Family] = {"b": "truth values", "f": "floats"}
    return kinds.get(column.values.dtype.kind, "integers")


def common_family(name: str, families: Iterable[tuple[Family, str]]) -> Family:
    """Return what the values of a column are that is in several places; refuse different types."""
    places: dict[Family, str] = {}
    for family, place in families:
        places.setdefault(family, place)
    places.pop("nothing", None)
    if "floats" in places:
        places.pop("integers", None)
    if len(places) > 1:
        (one, first), (two, second) = list(places.items())[:2]
        raise DataError(
            f"column {name!r} holds {one} in {first} and {two} in {second}; give it one type "
            "everywhere"
        )
    return next(iter(places), "nothing")


def all_levels(name: str, tables: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Return the levels of a column in several tables: as they are if they agree, else sorted."""
    first = tuple(tables[0])
    if all(tuple(labels) == first for labels in tables):
        return first
    every = sorted({label for labels in tables for label in labels})
    if len(every) > MAX_LEVELS:
        raise too_many_levels(name, len(every), len(every), False)
    return tuple(every)


def joined(parts: list[Column], places: list[str]) -> Column:
    """Return the column whose parts are in several places, one after the other."""
    name = parts[0].name
    families = [family_of(part) for part in parts]
    common = common_family(name, zip(families, places, strict=True))
    missing = np.concatenate(
        [np.zeros(len(p), np.bool_) if p.missing is None else p.missing for p in parts]
    )
    known = [p for p, family in zip(parts, families, strict=True) if family != "nothing"]
    labels, declared = None, any(part.declared for part in known)
    if common == "text":
        labels = all_levels(name, [part.labels or () for part in known])
        place = {label: i for i, label in enumerate(labels)}
    pieces = []
    for part, family in zip(parts, families, strict=True):
        values = part.values
        if common == "text":
            kind = smallest_unsigned(len(place) - 1)
            moved = np.array([place[label] for label in part.labels or () if label in place], kind)
            values = np.zeros(len(part), kind)
            if family != "nothing":
                at = part.values if part.missing is None else np.where(part.missing, 0, part.values)
                values = moved[at]
        elif family == "nothing" and common != "nothing":
            values = np.zeros(len(part), known[0].values.dtype)
        elif common == "floats":
            values = values.astype(np.float64, copy=False)
        pieces.append(values)
    return Column(name, np.concatenate(pieces), labels, declared, _unless_none_missing(missing))


# Distinct values


def distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return what ``np.unique`` returns for an array without NaN: the distinct values, sorted."""
    if not len(values):
        return values
    if values.dtype.kind == "b":
        return np.array([False, True])[[not values.all(), bool(values.any())]]
    if values.dtype.kind == "f":
        few = few_distinct_values(values, MAX_COMPARED_FLOATS)
        return np.unique(values) if few is None else few
    low, high = int(values.min()), int(values.max())
    if high - low > max(MAX_COUNTED_RANGE, len(values)):
        return np.unique(values)
    seen = np.zeros(high - low + 1, np.bool_)
    for start in range(0, len(values), CHUNK_ROWS):
        seen[offsets(values[start : start + CHUNK_ROWS], low)] = True
    found: NDArray[Any] = np.flatnonzero(seen).astype(values.dtype) + values.dtype.type(low)
    return found


def offsets(values: NDArray[Any], low: int) -> NDArray[Any]:
    """Return integers less the lowest of them; themselves if that is zero."""
    return values if low == 0 else values - values.dtype.type(low)


def few_distinct_values(values: NDArray[Any], limit: int) -> NDArray[Any] | None:
    """Return the distinct values, sorted, or None as soon as more than ``limit`` are seen."""
    known = np.unique(values[:LEADING_ROWS])
    start = LEADING_ROWS
    while len(known) <= limit and start < len(values):
        chunk = values[start : start + CHUNK_ROWS]
        at = np.searchsorted(known, chunk)
        at[at == len(known)] = 0
        new = chunk[known[at] != chunk]
        if len(new):
            known = np.unique(np.concatenate([known, np.unique(new)]))
        start += CHUNK_ROWS
    return known if len(known) <= limit else None


def ranks(values: NDArray[Any], distinct: NDArray[Any]) -> NDArray[Any]:
    """Return the place of each value among the distinct ones, which are sorted."""
    low, high = distinct[0], distinct[-1]
    if values.dtype.kind == "b":
        return values.view(np.uint8) if len(distinct) == 2 else np.zeros(len(values), np.uint8)
    small = np.min_scalar_type(len(distinct) - 1)
    span = int(high) - int(low) if values.dtype.kind in "iu" else len(values)
    if span > MAX_COUNTED_RANGE or values.dtype.kind == "f":
        return np.searchsorted(distinct, values).astype(small)
    shifted = offsets(values, int(low))
    if span == len(distinct) - 1:  # without gaps
        return shifted.astype(small, copy=False)
    place = np.zeros(span + 1, small)
    place[offsets(distinct, int(low))] = np.arange(len(distinct), dtype=small)
    placed: NDArray[Any] = place[shifted]
    return placed


def is_constant(values: NDArray[Any]) -> bool:
    """Tell whether all values of an array that is not empty are equal."""
    first = values[0]
    return bool((values[:LEADING_ROWS] == first).all() and (values == first).all())


def has_finite_sum(values: NDArray[np.float64]) -> bool:
    """Tell in one pass that no value is NaN or infinite; False may also mean a sum too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum(axis=0)).all())


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


def are_whole(values: NDArray[Any]) -> bool:
    """Tell whether floats are whole numbers that integers can hold."""
    return bool((np.abs(values) < 2**53).all() and (values == np.floor(values)).all())


NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
"""A number as text, with a decimal point or a decimal comma."""


def numbers_of(labels: Sequence[Any]) -> list[float] | None:
    """Return the numbers that texts hold, with a decimal point or a decimal comma; None if not all.

    Three digits after every comma may also be thousands, so such texts are not taken for numbers.

    >>> numbers_of(["0,13", "2"]), numbers_of(["1,234", "5,678"]), numbers_of(["0.5", "x"])
    ([0.13, 2.0], None, None)
    """
    if not labels or not all(isinstance(one, str) and NUMBER.fullmatch(one) for one in labels):
        return None
    with_comma = [label for label in labels if "," in label]
    if with_comma:
        if any("." in label for label in labels):
            return None
        if all(re.fullmatch(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", label) for label in with_comma):
            return None
    found = [float(label.replace(",", ".")) for label in labels]
    return found if all(map(math.isfinite, found)) else None


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
        """Return the notes, one for each case that there was."""
        notes: list[str] = []
        if self.row_numbers:
            one = len(self.row_numbers) == 1
            notes.append(
                Message(
                    f"{_columns(self.row_numbers, 'numbers', 'number')} the rows: "
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
        if self.texts:
            notes.append(
                Message(
                    f"{_columns(self.texts, 'holds', 'hold')} numbers as text and "
                    f"{'is' if len(self.texts) == 1 else 'are'} read as numbers: "
                    f"{listed(self.texts)}; pass ",
                    _other_kind(self.texts, Kind.CONTINUOUS),
                    " to take the texts as levels",
                )
            )
        for kind, every in self.integers.items():
            found = {name: count for name, count in every.items() if name not in self.counts}
            if not found:
                continue
            notes.append(
                Message(
                    f"{_columns(found, 'holds', 'hold')} integers and "
                    f"{'is' if len(found) == 1 else 'are'} taken as {kind}: "
                    f"{_with_counts(found)}; pass ",
                    _other_kind(found, kind),
                    " to change that",
                )
            )
        if self.floats:
            notes.append(
                Message(
                    f"{_columns(self.floats, 'holds', 'hold')} floats and "
                    f"{'is' if len(self.floats) == 1 else 'are'} taken as continuous despite few "
                    f"distinct values: {_with_counts(self.floats)}; pass ",
                    _other_kind(self.floats, Kind.CONTINUOUS),
                    " if they are codes",
                )
            )
        if self.constant:
            one = len(self.constant) == 1
            notes.append(
                f"{_columns(self.constant, 'is', 'are')} constant, so "
                f"{'it has' if one else 'they have'} no edges: {listed(self.constant)}"
            )
        return notes


def _columns(names: Collection[str], singular: str, plural: str) -> str:
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


def _other_kind(found: Iterable[str], kind: Kind) -> Argument:
    other = Kind.DISCRETE if kind is Kind.CONTINUOUS else Kind.CONTINUOUS
    return Argument("kinds", {next(iter(found)): str(other)})


def listed(names: Sequence[str], *, quote: bool = True) -> str:
    """Return the first few names, and how many more there are."""
    shown = ", ".join(map(repr, names[:MAX_NAMES_SHOWN]) if quote else names[:MAX_NAMES_SHOWN])
    more = len(names) - MAX_NAMES_SHOWN
    return shown + (f" and {more} more" if more > 0 else "")


# Missing and infinite values


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


def refuse_infinities(columns: list[Column], start: int = 0) -> None:
    """Refuse infinite values, naming the first; ``start`` is the number of the first row."""
    for column in columns:
        if column.labels is not None or column.values.dtype.kind != "f":
            continue
        if has_finite_sum(column.values):
            continue
        infinite = np.isinf(column.values)
        if column.missing is not None:
            infinite &= ~column.missing
        if count := int(infinite.sum()):
            raise DataError(
                f"column {column.name!r} holds {count} infinite value{'' if count == 1 else 's'}, "
                f"the first in row {start + int(infinite.argmax())} (counted from 0); "
                "replace them by numbers, or by missing values"
            )


# The numbers that scores read


def floats(column: Column) -> NDArray[np.float64]:
    """Return the values of a continuous column."""
    values = column.values
    if column.labels is not None:
        numbers = numbers_of(column.labels) if not column.declared else None
        if numbers is not None:
            as_floats: NDArray[np.float64] = np.array(numbers, np.float64)[values]
            return as_floats
        if not all(_is_finite(label) for label in column.labels):
            raise DataError(
                Message(
                    f"column {column.name!r} holds text such as {str(column.labels[0])!r} and "
                    "cannot be continuous; turn it into numbers, let it be discrete, or ",
                    leave_out(column.name),
                )
            )
        values = np.array(column.labels, np.float64)[values]
    return values.astype(np.float64, copy=False)


def _is_finite(label: object) -> bool:
    return isinstance(label, int | float) and math.isfinite(label)


def codes_and_levels(column: Column) -> tuple[NDArray[np.unsignedinteger], tuple[Any, ...]]:
    """Return the codes of a discrete column and the levels they stand for.

    Declared levels keep their order; others are sorted, numbers by value and text by letters.
    A level for missing values comes last, as None.
    """
    found, positions = observed(column)
    declared = column.declared and column.labels is not None
    levels = column.labels if declared and column.labels is not None else tuple(sorted(found))
    if len(levels) + (column.missing is not None) > MAX_LEVELS:
        raise too_many_levels(column.name, len(levels), len(found), column.declared)
    kind = smallest_unsigned(max(len(levels) - (column.missing is None), 0))
    place = {label: i for i, label in enumerate(levels)}
    moved = np.array([place[label] for label in found], kind)
    in_order = np.array_equal(moved, np.arange(len(found)))
    codes = positions.astype(kind, copy=False) if in_order else moved[positions]
    if column.missing is None:
        return codes, levels
    everywhere = np.full(len(column), len(levels), kind)
    everywhere[~column.missing] = codes
    return everywhere, (*levels, None)


def observed(column: Column) -> tuple[list[Any], NDArray[Any]]:
    """Return the labels that occur, each once, and the place of every value among them."""
    distinct = column.distinct()
    if column.labels is None and len(distinct) > MAX_LEVELS:
        raise too_many_levels(column.name, len(distinct), len(distinct), False)
    present = column.present()
    positions = ranks(present, distinct) if len(distinct) else np.empty(0, np.int64)
    if column.labels is not None:
        return [column.labels[i] for i in distinct], positions
    if distinct.dtype.kind == "f":
        distinct = distinct + 0.0  # -0.0 is 0.0
    return distinct.tolist(), positions


def packed(
    coded: list[NDArray[np.unsignedinteger]], rows: int, levels: Sequence[tuple[Any, ...] | None]
) -> NDArray[np.unsignedinteger]:
    """Return the codes of all discrete columns in the smallest type that fits."""
    largest = max((len(labels) for labels in levels if labels is not None), default=1)
    codes = np.empty((len(coded), rows), smallest_unsigned(largest - 1))
    for row, column in enumerate(coded):
        codes[row] = column
    return codes


def smallest_unsigned(largest: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest unsigned type that holds the numbers 0 to ``largest``."""
    return next(
        np.dtype(kind)
        for kind in (np.uint8, np.uint16, np.uint32, np.uint64)
        if largest <= np.iinfo(kind).max
    )


# Errors: whichever adapter meets such a column, its owner reads the same sentence


def leave_out(name: str) -> Message:
    """Return the advice to leave a column out."""
    return Message("leave it out with ", Argument("exclude", [name]))


def dates(name: str, kind: str) -> DataError:
    """Return the error for a column of dates, times or durations."""
    return DataError(
        Message(
            f"column {name!r} holds dates or times ({kind}), which are neither numbers nor levels; "
            "turn it into a number (days since a start) or a category (month), or ",
            leave_out(name),
        )
    )


def nested(name: str, kind: str) -> DataError:
    """Return the error for a column whose entries are lists, records or arrays."""
    return DataError(
        Message(
            f"column {name!r} holds nested values ({kind}); "
            "give each part a column of its own, or ",
            leave_out(name),
        )
    )


def unusable(name: str, kind: str) -> DataError:
    """Return the error for a column of an unknown type."""
    return DataError(
        Message(
            f"column {name!r} has a type that cannot be used ({kind}); "
            "turn it into numbers, truth values, text or categories, or ",
            leave_out(name),
        )
    )


def complex_numbers(name: str) -> DataError:
    """Return the error for a column of complex numbers."""
    return DataError(
        f"column {name!r} holds complex numbers; give real and imaginary part a column each"
    )


def mixed_types(name: str, entries: list[Any]) -> DataError:
    """Return the error for a column whose values are of several families."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[type(entry).__name__] = counts.get(type(entry).__name__, 0) + 1
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return DataError(
        f"column {name!r} mixes types ({found}); turn all into numbers, or all into text"
    )


def too_many_levels(name: str, levels: int, occurring: int, declared: bool) -> DataError:
    """Return the error for a discrete column with more levels than ``MAX_LEVELS``."""
    if declared and occurring <= MAX_LEVELS:
        remedy = Message(f"only {occurring} of them occur: remove the unused categories")
    else:
        remedy = Message(
            "it looks like an identifier: ", leave_out(name), ", or merge its rare levels"
        )
    return DataError(
        Message(
            f"column {name!r} has {levels} levels, and a discrete column may have {MAX_LEVELS}; ",
            remedy,
        )
    )


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
