"""Decisions about columns: their kinds, and the treatment of missing values.

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

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import (
    MAX_NAMES_SHOWN,
    NUMBER,
    Column,
    Family,
    are_whole,
    common_family,
    data_error,
    family_of,
    few_distinct_values,
    leave_out,
    listed,
    numbers_of,
)
from sges.data.reading import Kind, Missing
from sges.errors import Argument, DataError, Message, Spelling

MAX_INTEGER_LEVELS = 10
"""An integer column with more distinct values than this is continuous."""

MAX_COUNTED_VALUES = 100
"""Notes give the number of distinct values of a column up to this many."""


# Kinds


@dataclass(frozen=True, eq=False, slots=True)
class Values:
    """The facts about the values of a column, or of a part of it, that decide its kind."""

    name: str
    family: Family
    distinct: NDArray[Any] | None  # None if they are many
    used: int  # rows with a value
    declared: bool = False

    @classmethod
    def of(cls, column: Column, used: int | None = None) -> "Values":
        """Return the facts about some rows of a column, of which ``used`` have a value."""
        family, present = family_of(column), column.present()
        used = len(present) if used is None else used
        distinct: NDArray[Any] | None = np.empty(0)
        if family in ("integers", "floats"):
            limit = MAX_COUNTED_VALUES if family == "integers" else MAX_INTEGER_LEVELS
            if present.dtype.itemsize == 1:  # counting is faster than searching
                distinct = column.distinct() if len(column.distinct()) <= limit else None
            else:
                distinct = few_distinct_values(present, limit)
        return cls(column.name, family, distinct, used, column.declared)

    def merge(self, other: "Values", places: tuple[str, str]) -> "Values":
        """Return the facts about both parts, which are at these places."""
        families = [(self.family, places[0]), (other.family, places[1])]
        family = common_family(self.name, families)
        distinct = None
        if self.distinct is not None and other.distinct is not None:
            distinct = np.union1d(self.distinct, other.distinct)
            if len(distinct) > (MAX_INTEGER_LEVELS if family == "floats" else MAX_COUNTED_VALUES):
                distinct = None
        used = self.used + other.used
        return Values(self.name, family, distinct, used, self.declared or other.declared)

    @property
    def count(self) -> int | None:
        """The number of distinct values; None if they are many."""
        return None if self.distinct is None else len(self.distinct)

    def kind(self) -> Kind:
        """Return the kind of the column by the rule of this module."""
        if self.family in ("truth values", "text"):
            return Kind.DISCRETE
        if self.distinct is None or self.family == "nothing":
            return Kind.CONTINUOUS
        count = len(self.distinct)
        is_discrete = count <= MAX_INTEGER_LEVELS and count**2 <= self.used
        if self.family == "integers":
            is_discrete = is_discrete or count <= 2
        else:  # floats have to occur more than once, and a constant is left as it is
            is_discrete = is_discrete and count > 1 and are_whole(self.distinct)
        return Kind.DISCRETE if is_discrete else Kind.CONTINUOUS

    def may_be(self, kind: Kind) -> bool:
        """Return whether the column may turn out to be of a kind when more rows are known."""
        if self.family == "nothing":
            return True
        if self.family in ("integers", "floats"):
            few = self.distinct is not None and len(self.distinct) <= MAX_INTEGER_LEVELS
            are_like_codes = few and (self.family == "integers" or are_whole(self.distinct))  # type: ignore[arg-type]
            return are_like_codes or kind is Kind.CONTINUOUS
        return self.kind() is kind


def hidden_numbers(labels: Sequence[Any], rows: int) -> list[float] | None:
    """Return the numbers in a text column, or None if its texts are labels or codes."""
    if len(labels) <= MAX_INTEGER_LEVELS and 2 * len(labels) <= rows:
        return None
    if not any(str(label).strip("+- 0123456789") for label in labels):
        return None
    return numbers_of(labels)


SIGNS = "%‰$€£¥₹°"
"""Signs that are written beside numbers."""

GROUPED = re.compile(r"[+-]?\d{1,3}([,.']\d{3})+([.,]\d+)?")
"""A number as text, with thousands separators."""


def _signs_beside(label: str) -> str | None:
    """Return the signs and separators of a text that is a number without them, or None."""
    number = re.sub(rf"[\s{SIGNS}]", "", label)
    if not (NUMBER.fullmatch(number) or GROUPED.fullmatch(number)):
        return None
    signs = "".join(sign for sign in (*SIGNS, ",", "'") if sign in label)
    return signs + " " * (re.search(r"\d\s+\d", label) is not None)


def numbers_in_text(
    labels: Sequence[Any], counts: NDArray[Any], decimal: str = "."
) -> tuple[str, Message] | None:
    """Return what shows that labels are numbers, and what helps; None if they are levels."""
    times = _occurring_texts(labels, counts)
    numbers = {text: signs for text in times if (signs := _signs_beside(text)) is not None}
    words = [text for text in times if text not in numbers]
    beside = sorted({*"".join(numbers.values())} - {decimal})
    count, total = int(sum(times[text] for text in numbers)), int(sum(times.values()))
    are_levels = len(numbers) <= MAX_INTEGER_LEVELS or len(words) > MAX_NAMES_SHOWN
    if are_levels or 2 * count < total or not [*words, *beside]:
        return None
    share = f"all {total:,}" if count == total else f"{count:,} of the {total:,}"
    signs_told = f" written with {listed(beside)}" if beside else ""
    what = f"{share} values are numbers{signs_told}"
    return _with_words(what, _without_signs(beside, list(numbers)), words)


def _occurring_texts(labels: Sequence[Any], counts: NDArray[Any]) -> dict[str, float]:
    """Return how often each label that is a text occurs, if it does."""
    found = zip(labels, counts.tolist(), strict=False)
    return {label: count for label, count in found if isinstance(label, str) and count}


def _without_signs(beside: list[str], numbers: list[str]) -> Message:
    """Return the advice on numbers that are written with signs."""
    with_points = [number for number in numbers if "." in number]
    if not beside:
        return Message()
    if beside == [","] and not with_points:
        mark = " if the comma is a decimal mark, or remove it before the table is read"
        return Message("pass ", Argument("decimal", ","), mark)
    if beside == [","] and any(one.find(".") < one.find(",") for one in with_points):
        return Message("remove '.' from the values, and pass ", Argument("decimal", ","))
    return Message(f"remove {listed(beside)} from the values before the table is read")


def _with_words(what: str, advice: Message, words: list[str]) -> tuple[str, Message]:
    """Add what is to be done with words among numbers."""
    if not words:
        return what, advice
    means, them = ("this means", "it") if len(words) == 1 else ("these mean", "them")
    return f"{what}; the others are {listed(words)}", Message(
        advice, ", and " if advice else "", "pass ", Argument("missing_words", words),
        f" if {means} that a value is missing",
        Spelling(f" (in a file; otherwise replace {them} by None)", ""),
    )  # fmt: skip


@dataclass(slots=True)
class KindNotes:
    """Collects notes on inferred kinds, one for each case."""

    integers: dict[Kind, dict[str, str]] = field(default_factory=dict)
    floats: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    constant: list[str] = field(default_factory=list)
    decimal: str = "."

    def as_meant(self, column: Column) -> tuple[Column, Values]:
        """Return a column converted to the type that its values represent, and facts about them."""
        if column.labels is not None and not column.declared:
            numbers = hidden_numbers(column.labels, len(column) - column.missing_count)
            if numbers is not None:
                self.texts.append(column.name)
                column = Column(
                    column.name, np.array(numbers)[column.values], missing=column.missing
                )
        known = Values.of(column)
        if known.family != "floats" or known.kind() is not Kind.DISCRETE:
            return column, known
        values = column.values
        if column.missing is not None:
            values = np.where(column.missing, 0.0, values)
        column = Column(column.name, values.astype(np.int64), missing=column.missing)
        return column, Values.of(column)

    def add(self, known: Values, kind: Kind) -> None:
        """Take note of numbers whose kind was inferred, unless they are many floats."""
        if known.family not in ("integers", "floats"):
            return
        count = known.count
        words = f"{count} distinct value{'' if count == 1 else 's'}"
        if known.family == "integers" or kind is Kind.DISCRETE:
            words = f"more than {MAX_COUNTED_VALUES}" if count is None else words
            self.integers.setdefault(kind, {})[known.name] = words
        elif count is not None and 1 < count <= known.used // 2:
            self.floats[known.name] = words

    def add_text(self, name: str, levels: Sequence[Any], counts: NDArray[Any]) -> None:
        """Take note of a discrete column of text if most of its values are numbers."""
        if (numbers := numbers_in_text(levels, counts, self.decimal)) is not None:
            what, advice = numbers
            message = f"column {name!r} is read as discrete, although {what}: "
            self.mixed.append(Message(message, advice))

    def notes(self) -> list[str]:
        """Return the notes, one for each case that occurred."""
        notes = list(self.mixed)
        as_text = self.texts, "numbers as text", "read as numbers", Kind.CONTINUOUS
        cases: list[tuple[list[str] | dict[str, str], str, str, Kind, str]] = [
            (*as_text, "to treat the texts as levels")
        ]
        for kind, integers in self.integers.items():
            cases.append((integers, "integers", f"treated as {kind}", kind, "to change that"))
        few = "treated as continuous despite few distinct values"
        cases.append((self.floats, "floats", few, Kind.CONTINUOUS, "if they are codes"))
        for names, what, taken, kind, aim in cases:
            if not names:
                continue
            other_kind = Kind.DISCRETE if kind is Kind.CONTINUOUS else Kind.CONTINUOUS
            notes.append(
                Message(
                    f"{counted_columns(names, 'contains', 'contain')} {what} and "
                    f"{'is' if len(names) == 1 else 'are'} {taken}: {listed(names)}; pass ",
                    Argument("kinds", {next(iter(names)): str(other_kind)}),
                    f" {aim}",
                )
            )
        if self.constant:
            has = "it has" if len(self.constant) == 1 else "they have"
            notes.append(
                f"{counted_columns(self.constant, 'is', 'are')} constant, so {has} no edges: "
                f"{listed(self.constant)}"
            )
        return notes


def counted_columns(names: Collection[str], singular: str, plural: str) -> str:
    """Return the number of columns, with a verb."""
    return f"1 column {singular}" if len(names) == 1 else f"{len(names)} columns {plural}"


# Missing values


@dataclass(frozen=True, eq=False, slots=True)
class Tally:
    """How many rows a table has, how many miss a value, and how many values each column misses."""

    rows: int = 0
    incomplete: int = 0
    missing: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: list[Column], times: NDArray[np.int64] | None = None) -> "Tally":
        """Return the tally of some rows, each of which stands for this many rows of the table."""
        times = np.ones(len(columns[0]), np.int64) if times is None else times
        missing = {c.name: 0 if c.missing is None else int(times[c.missing].sum()) for c in columns}
        incomplete = np.zeros(len(times), np.bool_)
        for column in columns:
            if column.missing is not None:
                incomplete |= column.missing
        return cls(int(times.sum()), int(times[incomplete].sum()), missing)

    def __add__(self, other: "Tally") -> "Tally":
        missing = {name: count + self.missing.get(name, 0) for name, count in other.missing.items()}
        return Tally(self.rows + other.rows, self.incomplete + other.incomplete, missing)

    def check(self, how: Missing) -> None:
        """Raise an error if there are no rows, empty columns, or unexpected missing values."""
        if not self.rows:
            columns = "1 column" if len(self.missing) == 1 else f"{len(self.missing)} columns"
            raise DataError(f"the table has {columns} and no rows; it needs at least two rows")
        for name, count in self.missing.items():
            if count == self.rows:
                message = f"column {name!r} has no values, all {self.rows} are missing; "
                raise data_error(message, leave_out(name))
        if self.incomplete and how == "error":
            missing = [f"{name!r} {count}" for name, count in self.missing.items() if count]
            raise data_error(
                f"missing values in {self.incomplete} of {self.rows} rows "
                f"({listed(missing, quote=False)}); pass ",
                Argument("missing", "drop"),
                " to drop these rows, ",
                Argument("missing", "em"),
                " to estimate from the observed values, or ",
                Argument("missing", "level"),
                " to make them a level of a discrete column",
            )

    def notes(self, how: Missing) -> list[str]:
        """Return the note on missing values that were dropped or made a level, if there are any."""
        if not self.incomplete or how == "em":
            return []
        shown = listed({name: count for name, count in self.missing.items() if count})
        if how == "level":
            return [f"missing values are a level of {shown}"]
        was = "was" if self.incomplete == 1 else "were"
        dropped = f"{self.incomplete} of {self.rows} rows {was} dropped"
        return [f"{dropped} for missing values in {shown}"]


def stacked_holes(columns: Sequence[Column]) -> NDArray[np.bool_]:
    """Return which values are missing (columns x rows)."""
    none = np.zeros(len(columns[0]), np.bool_)
    return np.array([none if column.missing is None else column.missing for column in columns])


def continuous_holes(column: Column) -> DataError:
    """Return the error for missing values of a continuous column, which has no levels."""
    count = column.missing_count
    return data_error(
        f"column {column.name!r} is continuous and {count} of its values "
        f"{'is' if count == 1 else 'are'} missing; ",
        Argument("missing", "level"),
        " is for discrete columns: pass ",
        Argument("missing", "em"),
        " to estimate from the observed values, ",
        Argument("missing", "drop"),
        " to drop these rows, or ",
        Argument("kinds", {column.name: "discrete"}),
        " if its values are codes",
    )
