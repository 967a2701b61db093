"""The options of reading a table: one value that holds all of them, checked once.

``Dataset.of`` and the command line both make a ``Reading``; functions that read a table take it and
do not check it again.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from inspect import signature
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from sges.data.columns import data_error
from sges.display import brief
from sges.errors import (
    Argument,
    DataError,
    InvalidArgument,
    Message,
    as_name,
    check_word,
    shown,
    suggestion,
)

Table: TypeAlias = Any
"""A table in any form that ``Dataset.of`` accepts."""


class Kind(StrEnum):
    """The kind of a column: real numbers, or levels without an order."""

    CONTINUOUS = "continuous"
    DISCRETE = "discrete"


Kinds: TypeAlias = Mapping[str, Kind | str] | Kind | str | None
"""A kind per column name, one kind for every column, or None for the rule."""

Missing: TypeAlias = Literal["error", "drop", "level", "em"]
"""Raise an error for missing values, drop their rows, make them a level of a discrete column, or
estimate what the scores need from the observed values (EM)."""

Format: TypeAlias = Literal["csv", "tsv", "parquet", "feather"]
"""The format of a file."""

MISSING_WORDS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
)
"""Fields of CSV and TSV that mean a missing value: those of pandas, but "None" is a level."""


class ReadingOptions(TypedDict, total=False):
    """The options of ``Dataset.of`` besides ``kinds`` and ``missing``, as ``**reading``."""

    names: Sequence[str] | None
    weights: Any
    columns: Sequence[str] | None
    exclude: Sequence[str] | None
    delimiter: str | None
    decimal: str
    encoding: str | None
    missing_words: Sequence[str] | None
    format: Format | None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True, repr=False)
class Reading:
    """The options of reading a table, as in ``Dataset.of``; making one checks types and words."""

    kinds: Kinds = None
    missing: Missing = "error"
    names: Sequence[str] | None = None
    weights: str | Sequence[float] | Any | None = None
    columns: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    missing_words: Sequence[str] | None = None
    format: Format | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        put = object.__setattr__  # how a frozen value is filled
        for option in ("names", "columns", "exclude", "missing_words"):
            put(self, option, _checked_words(option, getattr(self, option)))
        twice = [name for name, times in Counter(self.columns).items() if times > 1]
        if twice:
            what = f": {twice[0]!r} is given twice; name each column once"
            raise InvalidArgument(Message(Argument("columns"), what))
        put(self, "kinds", _checked_kinds(self.kinds))
        check_word("missing", self.missing, get_args(Missing))
        if self.format is not None:
            check_word("format", self.format, get_args(Format))
        if self.delimiter is not None:
            _check_mark("delimiter", self.delimiter)
        _check_mark("decimal", self.decimal)
        if self.encoding is not None:
            _check_encoding(self.encoding)
        weights = self.weights
        has_length = hasattr(weights, "__len__") and not isinstance(weights, bytes | Mapping)
        if weights is not None and not has_length:
            raise InvalidArgument(
                f"weights = {shown(weights)} is not the name of a column or a sequence of numbers"
            )

    @property
    def has_weight_column(self) -> bool:
        """Whether the weights, if there are any, are a column of the table."""
        return self.weights is None or isinstance(self.weights, str)

    def given(self) -> list[str]:
        """Return the names of the options that differ from their defaults."""
        values = [(option, getattr(self, option.name)) for option in fields(self)]
        return [
            option.name
            for option, value in values
            if type(value) is not type(option.default) or value != option.default
        ]


def _checked_words(option: str, words: object) -> tuple[str, ...] | None:
    if words is None:
        return None
    strings = tuple(words) if isinstance(words, Iterable) and not isinstance(words, str) else (0,)
    if not all(isinstance(word, str) for word in strings):
        raise InvalidArgument(
            f"{option} = {shown(words)} is not a sequence of strings; give ['...', ...]"
        )
    return strings


def _check_mark(option: str, mark: object) -> None:
    if not isinstance(mark, str) or len(mark) != 1 or not mark.isascii():
        what = f" = {shown(mark)} is not a single ASCII character"
        raise InvalidArgument(Message(Argument(option), what))


def _check_encoding(encoding: str) -> None:
    try:
        " ".encode(encoding)
    except (LookupError, TypeError, ValueError):
        what = f" = {shown(encoding)} is not a text encoding known to Python; "
        advice = "give one such as 'utf-8', 'latin-1' or 'cp1252'"
        raise InvalidArgument(Message(Argument("encoding"), what + advice)) from None


def _checked_kinds(kinds: object) -> dict[str, Kind] | Kind | None:
    if kinds is None:
        return None
    if not isinstance(kinds, str | Mapping):
        raise InvalidArgument(
            f"kinds = {shown(kinds)} is not a kind or a mapping of column names to kinds; "
            "give 'continuous', 'discrete' or {'column': 'discrete'}"
        )
    words = kinds if isinstance(kinds, Mapping) else {"": kinds}
    for word in words.values():
        check_word("kinds", word, [str(kind) for kind in Kind])
    if isinstance(kinds, str):
        return Kind(kinds)
    return {as_name(name): Kind(str(word)) for name, word in words.items()}


def reading_of_call(
    function: Callable[..., object], kinds: Kinds, missing: Missing, reading: ReadingOptions
) -> Reading:
    """Return the options with which a function that takes ``**reading`` was called."""
    if unknown := sorted(reading.keys() - ReadingOptions.__annotations__.keys()):
        named = list(signature(function).parameters)[:-1]
        hint = suggestion(unknown[0], [*named, *ReadingOptions.__annotations__], "its arguments")
        raise TypeError(f"{function.__name__}() has no argument {unknown[0]!r}; {hint}")
    return Reading(kinds=kinds, missing=missing, **reading)


def places_to_read(reading: Reading, found: Sequence[str]) -> dict[str, int]:
    """Return the positions of the columns to read, in the order of reading, weights last."""
    all_names = found if reading.names is None else reading.names
    if len(all_names) != len(found):
        count = f"{len(all_names)} names were given for {len(found)} columns"
        raise DataError(f"{count}; give {len(found)}")
    has_labels = has_row_labels(all_names)
    names = checked_names(all_names[has_labels:])
    place = {name: i for i, name in enumerate(names, has_labels)}
    weights = [reading.weights] if isinstance(reading.weights, str) else []
    # Row labels are left out anyway.
    exclude = [name for name in reading.exclude or () if name or not has_labels]
    chosen = names if reading.columns is None else checked_names(reading.columns)
    for option, asked in (("columns", chosen), ("exclude", exclude), ("weights", weights)):
        for name in asked:
            if name not in place:
                raise unknown_column(option, name, names)
    remaining = [name for name in chosen if name not in exclude and name not in weights]
    if not remaining:
        options = Argument("columns"), " and ", Argument("exclude"), " must leave one"
        raise data_error("no column is left to read; ", *options)
    return {name: place[name] for name in (*remaining, *weights)}


def label_notes(reading: Reading, found: Sequence[str]) -> list[str]:
    """Return the note on row labels that are not read, if the columns found begin with some."""
    if reading.names is not None or not has_row_labels(found):
        return []
    return [
        "the first column has no name, like row labels of R and pandas, and was left out; "
        "give it a name if it is a variable"
    ]


def kinds_asked(reading: Reading, names: Sequence[str]) -> dict[str, Kind]:
    """Return the kind of each column for which one was given."""
    if reading.kinds is None:
        return {}
    if isinstance(reading.kinds, Kind):
        return dict.fromkeys(names, reading.kinds)
    assert isinstance(reading.kinds, dict)
    for name in reading.kinds:
        if name not in names:
            raise unknown_column("kinds", name, names)
    return reading.kinds


def is_path(table: Table) -> bool:
    """Return whether a table is the path of a file, or an open file."""
    return isinstance(table, str | os.PathLike) or hasattr(table, "read")


def has_row_labels(names: Sequence[str]) -> bool:
    """Return whether only the first column has no name, as R and pandas write row labels."""
    return len(names) > 1 and names[0] == "" and "" not in names[1:]


def checked_names(names: Sequence[str]) -> list[str]:
    """Return column names, or raise the error for names that are missing or repeated."""
    if not names:
        raise DataError("the table has no columns; it needs at least one")
    check_unique_names(names)
    if "" in names:
        raise DataError(
            f"column {list(names).index('') + 1} has no name; name it, or leave it out "
            "(only a first column without a name is treated as row labels)"
        )
    return list(names)


def check_unique_names(names: Sequence[str]) -> None:
    """Raise the error for a name that two columns share."""
    if len(set(names)) == len(names):
        return
    name = next(name for i, name in enumerate(names) if name in names[:i])
    raise DataError(
        f"the column name {name!r} occurs {list(names).count(name)} times; give the columns "
        "different names or, if these are values, not names, add a header row"
    )


def unknown_column(what: str, name: str, known: Sequence[str]) -> DataError:
    """Return the error for a name that no column has."""
    hint = suggestion(name, known, "the columns")
    return data_error(Argument(what), f": there is no column {name!r}; {hint}")
