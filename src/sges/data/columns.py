"""Columns: their values, which of them are missing, and the numbers that scores read.

Every adapter (Arrow, frames, NumPy, lists) ends in a ``Column``, and every decision
(``sges.data.decisions``) starts from one, so that no decision can depend on the library that a
table came from.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.errors import Argument, DataError, Message, Spelling

MAX_LEVELS = 65_536
"""The largest number of levels of a discrete column: two bytes for each code."""

MAX_NAMES_SHOWN = 5
"""Messages and notes name this many columns and count the others."""

LEADING_ROWS = 256
"""Rows examined first, which nearly always show that a column has many distinct values."""

CHUNK_ROWS = 1 << 16
"""Rows examined together afterwards: they stay in the cache."""

MAX_COMPARED_FLOATS = 64
"""Up to this many distinct floats are found by comparison with each, without sorting."""

MAX_COUNTED_RANGE = 1 << 16
"""Integers are counted if their range is at most this, or at most the number of rows."""


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """One column: numbers, or positions in ``labels`` for text and categories.

    ``values`` is float64, int64, uint64, uint8 or bool when ``labels`` is None.  Where ``missing``
    is true, the value has no meaning.  ``declared`` labels are levels whether they occur or not,
    in the order given; others are levels if they occur, and are sorted.
    """

    name: str
    values: NDArray[Any]
    labels: tuple[Any, ...] | None = None
    declared: bool = False
    missing: NDArray[np.bool_] | None = None
    _distinct: NDArray[Any] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.missing is not None and not self.missing.any():
            object.__setattr__(self, "missing", None)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def holes(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return np.zeros(len(self), np.bool_) if self.missing is None else self.missing

    @property
    def missing_count(self) -> int:
        """The number of rows without a value."""
        return 0 if self.missing is None else int(self.missing.sum())

    def present(self) -> NDArray[Any]:
        """Return the values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]

    def distinct(self) -> NDArray[Any]:
        """Return the distinct values present, sorted; of a column with labels, their positions."""
        if self._distinct is None:  # used by several decisions, computed once
            object.__setattr__(self, "_distinct", distinct_values(self.present()))
        assert self._distinct is not None
        return self._distinct

    def take(self, rows: NDArray[np.bool_]) -> "Column":
        """Return the column with only the rows for which ``rows`` is true."""
        missing = None if self.missing is None else self.missing[rows]
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
    return Column(name, values, missing=missing)


def label_column(
    name: str,
    positions: NDArray[Any],
    levels: Any,  # noqa: ANN401 (a list, or an array of pyarrow)
    *,
    declared: bool = False,
    missing: NDArray[np.bool_] | None = None,
) -> Column:
    """Return a column of labels; a label None or NaN is a missing value."""
    if len(levels) > MAX_LEVELS:  # before a million Python strings are made
        raise too_many_levels(name, len(levels), len(np.unique(positions)), declared)
    labels = levels if isinstance(levels, list) else levels.to_pylist()
    places: dict[Any, int] = {}
    for label in labels:
        if label is not None and label == label:
            places.setdefault(label, len(places))
    if len(places) < len(labels):
        moved = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
        positions = moved[positions] if len(moved) else positions
        absent = positions < 0
        missing = absent if missing is None else missing | absent
    return Column(name, positions, tuple(places), declared, missing)


# Parts of columns

Family: TypeAlias = Literal["nothing", "truth values", "integers", "floats", "text"]
"""The type of the values of a column; "nothing" if all are missing."""


def family_of(column: Column) -> Family:
    """Return the type of the values of a column."""
    if column.missing_count == len(column):
        return "nothing"
    if column.labels is not None:
        return "text"
    kinds: dict[str, Family] = {"b": "truth values", "f": "floats"}
    return kinds.get(column.values.dtype.kind, "integers")


def common_family(name: str, families: Iterable[tuple[Family, str]]) -> Family:
    """Return the common type of a column split over several places; raise if the types differ."""
    places: dict[Family, str] = {}
    for family, place in families:
        places.setdefault(family, place)
    places.pop("nothing", None)
    if "floats" in places:
        places.pop("integers", None)
    if len(places) > 1:
        (one, first), (two, second) = list(places.items())[:2]
        raise DataError(
            f"column {name!r} contains {one} in {first} and {two} in {second}; give it one type "
            "everywhere"
        )
    return next(iter(places), "nothing")


def all_levels(name: str, tables: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Return the levels of a column in several tables: as they are if they agree, else sorted."""
    examples = {_label_type(label): label for labels in tables for label in labels}
    if len(examples) > 1:  # they cannot be sorted, and True would be the same as 1
        one, two = list(examples.values())[:2]
        raise DataError(
            f"column {name!r} has levels of different types in two parts of the table, such as "
            f"{one!r} and {two!r}; give it one type everywhere"
        )
    first = tuple(tables[0])
    if all(tuple(labels) == first for labels in tables):
        return first
    together = sorted({label for labels in tables for label in labels})
    if len(together) > MAX_LEVELS:
        raise too_many_levels(name, len(together), len(together), False)
    return tuple(together)


def _label_type(label: object) -> str:
    """Return the type of a label in one word; numbers of all types can be compared."""
    return "text" if isinstance(label, str) else "bool" if isinstance(label, bool) else "number"


def recoded(codes: NDArray[Any], old: Sequence[Any], new: Sequence[Any]) -> NDArray[Any]:
    """Translate codes from the labels ``old`` to the labels ``new``."""
    place = {label: i for i, label in enumerate(new)}
    moved = np.array([place[label] for label in old], np.min_scalar_type(max(len(new) - 1, 0)))
    return moved[codes]  # type: ignore[no-any-return]


def joined_tables(parts: list[list[Column]], places: list[str]) -> list[Column]:
    """Return the columns whose parts are in several places; the lists of parts are emptied."""
    return [joined([part.pop(0) for part in parts], places) for _ in range(len(parts[0]))]


def joined(parts: list[Column], places: list[str]) -> Column:
    """Return the column whose parts are in several places, one after the other."""
    name, families = parts[0].name, [family_of(part) for part in parts]
    common = common_family(name, zip(families, places, strict=True))
    known = [p for p, family in zip(parts, families, strict=True) if family != "nothing"] or parts
    labels = all_levels(name, [p.labels or () for p in known]) if common == "text" else None
    values = np.concatenate([_values_as(common, labels, part, known[0]) for part in parts])
    missing = np.concatenate([part.holes for part in parts])
    return Column(name, values, labels, any(part.declared for part in known), missing)


def _values_as(
    family: Family, labels: tuple[Any, ...] | None, part: Column, model: Column
) -> NDArray[Any]:
    """Return the values of a part of a column as those of the whole, of which one part is given."""
    if part.missing_count == len(part):
        return np.zeros(len(part), np.uint8 if labels is not None else model.values.dtype)
    if labels is not None:
        return recoded(np.where(part.holes, 0, part.values), part.labels or (), labels)
    return part.values.astype(np.float64, copy=False) if family == "floats" else part.values


# Distinct values


def distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values of an array without NaN, sorted, like ``np.unique``."""
    if values.dtype.kind == "f":
        few = few_distinct_values(values, MAX_COMPARED_FLOATS)
        return np.unique(values) if few is None else few
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, -1)
    if 0 <= high - low <= 1:
        return np.array([low, high] if low < high else [low], values.dtype)
    if high - low > max(MAX_COUNTED_RANGE, len(values)):
        return np.unique(values)
    seen = np.zeros(high - low + 1, np.bool_)
    for start in range(0, len(values), CHUNK_ROWS):
        seen[_offsets(values[start : start + CHUNK_ROWS], low)] = True
    distinct: NDArray[Any] = np.flatnonzero(seen).astype(values.dtype) + values.dtype.type(low)
    return distinct


def _offsets(values: NDArray[Any], low: int) -> NDArray[Any]:
    """Return integers, or truth values as such, less the lowest of them."""
    values = values.view(np.uint8) if values.dtype.kind == "b" else values
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
    small = np.min_scalar_type(len(distinct) - 1)
    low, high = (0, -1) if values.dtype.kind == "f" else (int(distinct[0]), int(distinct[-1]))
    if not 0 <= high - low <= MAX_COUNTED_RANGE:
        return np.searchsorted(distinct, values).astype(small)
    shifted = _offsets(values, low)
    if high - low == len(distinct) - 1:  # without gaps
        return shifted.astype(small, copy=False)
    place = np.zeros(high - low + 1, small)
    place[_offsets(distinct, low)] = np.arange(len(distinct), dtype=small)
    placed: NDArray[Any] = place[shifted]
    return placed


def is_constant(values: NDArray[Any]) -> bool:
    """Return whether all values of an array that is not empty are equal."""
    first = values[0]
    return bool((values[:LEADING_ROWS] == first).all() and (values == first).all())


def has_finite_sum(values: NDArray[np.float64]) -> bool:
    """Return True only if all values are finite; may return False if the sum overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum(axis=0)).all())


def are_whole(values: NDArray[Any]) -> bool:
    """Return whether floats are whole numbers that integers can hold."""
    return bool((np.abs(values) < 2**53).all() and (values == np.floor(values)).all())


NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
"""A number as text, with a decimal point or a decimal comma."""

THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")
"""A number as text, in which a comma may as well separate thousands."""


def numbers_of(labels: Sequence[Any]) -> list[float] | None:
    """Return the numbers that texts hold, with a decimal point or comma; None if not all."""
    if not labels or not all(isinstance(one, str) and NUMBER.fullmatch(one) for one in labels):
        return None
    with_comma = [label for label in labels if "," in label]
    has_points = "." in "".join(labels)
    if with_comma and (has_points or all(map(THOUSANDS.fullmatch, with_comma))):
        return None
    numbers = [float(label.replace(",", ".")) for label in labels]
    return numbers if all(map(math.isfinite, numbers)) else None


def listed(names: Sequence[str] | Mapping[str, object], *, quote: bool = True) -> str:
    """Return the first few names, and how many more there are; a mapping adds a word to each."""
    if isinstance(names, Mapping):
        shown = [f"{name!r} ({word})" for name, word in names.items()]
    else:
        shown = list(map(repr, names)) if quote else list(names)
    more = len(shown) - MAX_NAMES_SHOWN
    return ", ".join(shown[:MAX_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def check_finite(columns: list[Column], start: int = 0) -> None:
    """Raise an error for the first infinite value; ``start`` is the number of the first row."""
    for column in columns:
        if column.values.dtype.kind != "f" or has_finite_sum(column.values):
            continue
        infinite = np.isinf(column.values) & ~column.holes
        if count := int(infinite.sum()):
            values, them = ("value", "it") if count == 1 else ("values", "them")
            number = (
                "a number, or by a missing value" if count == 1 else "numbers, or by missing values"
            )
            raise unusable_column(
                column.name,
                f"contains {count} infinite {values}, the first in row "
                f"{start + int(infinite.argmax())} (counted from 0)",
                f"replace {them} by {number}",
            )


# The numbers that scores read


def floats(column: Column) -> NDArray[np.float64]:
    """Return the values of a continuous column."""
    values, labels = column.values, column.labels
    if labels is not None:
        numbers = None if column.declared else numbers_of(labels)
        if numbers is None:
            if not all(isinstance(one, int | float) and math.isfinite(one) for one in labels):
                raise _not_numbers(column.name, labels)
            numbers = list(labels)
        values = np.array(numbers, np.float64)[values]
    return values.astype(np.float64, copy=False)


def _not_numbers(name: str, labels: Sequence[Any]) -> DataError:
    texts = [label for label in labels if isinstance(label, str)]
    words = [text for text in texts if numbers_of([text]) is None]
    word = str((words or texts or labels)[0])
    return data_error(
        f"column {name!r} contains text such as {word!r} and "
        "cannot be continuous; convert it to numbers, make it discrete, or ",
        leave_out(name),
    )


def codes_and_levels(column: Column) -> tuple[NDArray[np.unsignedinteger], tuple[Any, ...]]:
    """Return the codes of a discrete column and the levels they stand for."""
    distinct, labels = column.distinct(), column.labels
    if labels is None:
        levels = occurring = (distinct + distinct.dtype.type(0)).tolist()  # not -0.0
    else:
        occurring = [labels[i] for i in distinct]
        levels = labels if column.declared else sorted(occurring)
    has_holes = column.missing is not None
    if len(levels) + has_holes > MAX_LEVELS:
        raise too_many_levels(column.name, len(levels), len(occurring), column.declared)
    kind = np.min_scalar_type(max(len(levels) - 1 + has_holes, 0))
    codes = ranks(column.present(), distinct) if occurring else np.empty(0, kind)
    codes = codes.astype(kind, copy=False)
    if list(levels) != occurring:
        codes = recoded(codes, occurring, levels).astype(kind, copy=False)
    if column.missing is None:
        return codes, tuple(levels)
    everywhere = np.full(len(column), len(levels), kind)
    everywhere[~column.missing] = codes
    return everywhere, (*levels, None)


def packed(
    coded: list[NDArray[np.unsignedinteger]], rows: int, levels: Sequence[tuple[Any, ...] | None]
) -> NDArray[np.unsignedinteger]:
    """Return the codes of all discrete columns in the smallest type that fits."""
    largest = max(map(len, filter(None, levels)), default=1)
    codes = np.empty((len(coded), rows), np.min_scalar_type(largest - 1))
    for row, column in enumerate(coded):
        codes[row] = column
    return codes


# Errors that all adapters share


def data_error(*parts: str | Spelling) -> DataError:
    """Return the error with this message; parts of it may be arguments that it recommends."""
    return DataError(Message(*parts))


class UnusableColumn(DataError):
    """A column that cannot be used; ``inspect`` reports it and leaves it out."""

    column: str
    what: str
    remedy: Message


def unusable_column(name: str, what: str, *remedy: str | Spelling) -> UnusableColumn:
    """Return the error for a column that cannot be used: the problem, and what would help."""
    error = UnusableColumn(Message(f"column {name!r} {what}; ", *remedy))
    # Not arguments of the error, which a cluster would have to call again.
    error.column, error.what, error.remedy = name, what, Message(*remedy)
    return error


def leave_out(name: str) -> Message:
    """Return the advice to leave a column out."""
    return Message("leave it out with ", Argument("exclude", [name]))


Problem: TypeAlias = Literal["type", "dates", "nested", "entry"]
"""Why the values of a column cannot be used."""


def unusable(name: str, kind: str, problem: Problem = "type") -> UnusableColumn:
    """Return the error for a column whose values cannot be used."""
    what, remedy = {
        "type": (
            f"has a type that cannot be used ({kind})",
            "convert it to numbers, truth values, text or categories",
        ),
        "dates": (
            f"contains dates or times ({kind}), which are neither numbers nor levels",
            "convert it to numbers (days since a start) or categories (month)",
        ),
        "nested": (f"contains nested values ({kind})", "give each part its own column"),
        "entry": (
            f"contains a value of type {kind}, which is neither a number, a truth value nor text",
            "convert the column to one of these",
        ),
    }[problem]
    return unusable_column(name, what, f"{remedy}, or ", leave_out(name))


def complex_numbers(name: str) -> DataError:
    """Return the error for a column of complex numbers."""
    remedy = "give the real and the imaginary part a column each"
    return unusable_column(name, "contains complex numbers", remedy)


def too_many_levels(name: str, levels: int, occurring: int, declared: bool) -> DataError:
    """Return the error for a discrete column with more levels than ``MAX_LEVELS``."""
    what = f"has {levels} levels, but a discrete column may have at most {MAX_LEVELS}"
    if declared and occurring <= MAX_LEVELS:
        remedy = f"only {occurring} of them occur: remove the unused categories"
        return unusable_column(name, what, remedy)
    looks = "it looks like an identifier: "
    return unusable_column(name, what, looks, leave_out(name), ", or merge its rare levels")


def check_same_columns(
    one: str, names: Collection[str], other: str, others: Collection[str]
) -> None:
    """Raise an error if two parts of a table, named first, have different columns."""
    if set(names) == set(others):
        return
    name = next(name for name in (*names, *others) if name not in names or name not in others)
    without, place = (other, one) if name in names else (one, other)
    raise DataError(
        f"{without}: has no column {name!r}, which {place} has; all parts of a table need the same "
        "columns"
    )
