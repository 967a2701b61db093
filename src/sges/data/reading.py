"""How a table is read: one value that holds every option, checked once.

``Dataset.of`` and the command line both fill in a ``Reading``; whatever reads a table is handed
that value and trusts it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Literal, TypeAlias, get_args

from sges.errors import Argument, DataError, InvalidArgument, Message, not_one_of

Table: TypeAlias = Any
"""A table as people have it: see ``Dataset.of``."""


class Kind(StrEnum):
    """The kind of a column: real numbers, or levels without an order."""

    CONTINUOUS = "continuous"
    DISCRETE = "discrete"


Kinds: TypeAlias = Mapping[str, Kind | str] | Kind | str | None
"""A kind per column name, one kind for every column, or None for the rule."""

Missing: TypeAlias = Literal["error", "drop", "level", "em"]
"""Refuse missing values, drop their rows, make them a level of a discrete column, or estimate what
the scores need from the observed values (EM)."""

Format: TypeAlias = Literal["csv", "tsv", "parquet", "feather"]
"""The format of a file."""

MISSING_WORDS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
)
"""Fields of CSV and TSV that mean a missing value: those of pandas, but "None" is a level."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Reading:
    """The options of reading a table; making one checks their types and words.

    Parameters
    ----------
    kinds, missing, names, weights, columns, exclude, delimiter, decimal, encoding, missing_words, \
format
        As in ``Dataset.of``.

    Raises
    ------
    InvalidArgument
        If an option has a wrong type or is not one of the words allowed.
    """

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

    def __post_init__(self) -> None:
        for option in ("names", "columns", "exclude", "missing_words"):
            object.__setattr__(self, option, _strings(option, getattr(self, option)))
        object.__setattr__(self, "kinds", _checked_kinds(self.kinds))
        _check_word("missing", self.missing, get_args(Missing))
        if self.format is not None:
            _check_word("format", self.format, get_args(Format))
        if self.delimiter is not None:
            _check_character("delimiter", self.delimiter)
        _check_character("decimal", self.decimal)
        _check_encoding(self.encoding)
        _check_weights(self.weights)

    def given(self) -> list[str]:
        """Return the names of the options that differ from their defaults."""
        found = []
        for option in fields(self):
            value = getattr(self, option.name)
            if value is not option.default and not (
                isinstance(value, str) and value == option.default
            ):
                found.append(option.name)
        return found

    def places(self, found: Sequence[str]) -> dict[str, int]:
        """Return which columns of a table are to be read.

        ``names`` renames all columns of the table; ``columns``, ``exclude`` and all other options
        refer to the new names.  A first column without a name holds labels of the rows and is not
        read.

        Parameters
        ----------
        found : sequence of str
            The columns of the table.

        Returns
        -------
        dict of str to int
            The position of each column to read, in the order of reading; a column of weights is
            the last.
        """
        given = list(found if self.names is None else self._renamed(len(found)))
        first = int(has_row_labels(given))
        names = checked_names(given[first:])
        place = {name: i for i, name in enumerate(names, first)}
        for option in ("columns", "exclude"):
            for name in getattr(self, option) or ():
                if name not in place and not (first and option == "exclude" and name == ""):
                    raise unknown_column(option, name, names)
        chosen = names if self.columns is None else checked_names(self.columns)
        left = [name for name in chosen if name not in (self.exclude or ())]
        counts: list[str] = []
        if isinstance(self.weights, str):
            if self.weights not in place:
                raise unknown_column("weights", self.weights, names)
            left, counts = [name for name in left if name != self.weights], [self.weights]
        if not left:
            raise DataError(
                Message(
                    "no column is left to read; ",
                    Argument("columns"),
                    " and ",
                    Argument("exclude"),
                    " must leave one",
                )
            )
        return {name: place[name] for name in (*left, *counts)}

    def label_notes(self, found: Sequence[str]) -> list[str]:
        """Return the note on row labels that are not read, if there are any.

        Parameters
        ----------
        found : sequence of str
            The columns of the table.

        Returns
        -------
        list of str
            One note or none.
        """
        if self.names is not None or not has_row_labels(found):
            return []
        return [
            "the first column has no name, as R and pandas write row labels, and was left out; "
            "give it a name if it is a variable"
        ]

    def kinds_of(self, names: Sequence[str]) -> dict[str, Kind]:
        """Return the kinds that were given for columns.

        Parameters
        ----------
        names : sequence of str
            The columns of the table.

        Returns
        -------
        dict of str to Kind
            The kind of each column for which one was given.
        """
        if self.kinds is None:
            return {}
        if isinstance(self.kinds, Kind):
            return dict.fromkeys(names, self.kinds)
        assert isinstance(self.kinds, dict)
        for name in self.kinds:
            if name not in names:
                raise unknown_column("kinds", name, names)
        return self.kinds

    def _renamed(self, count: int) -> Sequence[str]:
        assert self.names is not None
        if len(self.names) != count:
            raise DataError(f"{len(self.names)} names were given for {count} columns; give {count}")
        return self.names


def is_path(table: Table) -> bool:
    """Tell whether a table is the path of a file, or an open file."""
    return isinstance(table, str | os.PathLike) or hasattr(table, "read")


def has_row_labels(names: Sequence[str]) -> bool:
    """Tell whether the first column, and no other, has no name: R and pandas write row labels so.

    >>> has_row_labels(["", "age", "sex"]), has_row_labels(["age", ""]), has_row_labels([""])
    (True, False, False)
    """
    return len(names) > 1 and names[0] == "" and "" not in names[1:]


def checked_names(names: Sequence[str]) -> list[str]:
    """Return column names, or raise the error for names that are missing or repeated."""
    if not names:
        raise DataError("the table has no columns; it needs at least one")
    refuse_duplicates(names)
    if "" in names:
        raise DataError(
            f"column {list(names).index('') + 1} has no name; name it, or leave it out "
            "(only a first column without a name is taken for row labels)"
        )
    return list(names)


def refuse_duplicates(names: Sequence[str]) -> None:
    """Raise the error for a name that two columns share."""
    if len(set(names)) == len(names):
        return
    name = next(name for i, name in enumerate(names) if name in names[:i])
    raise DataError(
        f"the column name {name!r} occurs {list(names).count(name)} times; rename the columns "
        "apart, and if these are values, not names, add a header row"
    )


def unknown_column(what: str, name: str, known: Sequence[str]) -> DataError:
    """Return the error for a name that no column has."""
    close = get_close_matches(name, known, n=1)
    shown = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
    remedy = f"did you mean {close[0]!r}?" if close else f"the columns are {shown}"
    return DataError(Message(Argument(what), f": there is no column {name!r}; {remedy}"))


def _strings(option: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, str) and isinstance(value, Iterable):
        words = tuple(value)
        if all(isinstance(word, str) for word in words):
            return words
    raise InvalidArgument(f"{option} = {value!r} is not a sequence of strings; give ['...', ...]")


def _checked_kinds(kinds: object) -> dict[str, Kind] | Kind | None:
    if kinds is None:
        return None
    if isinstance(kinds, str):
        return _as_kind(kinds)
    if isinstance(kinds, Mapping):
        return {str(name): _as_kind(kind) for name, kind in kinds.items()}
    raise InvalidArgument(
        f"kinds = {kinds!r} is not a kind or a mapping of column names to kinds; "
        "give 'continuous', 'discrete' or {'column': 'discrete'}"
    )


def _as_kind(kind: object) -> Kind:
    _check_word("kinds", kind, tuple(Kind))
    return Kind(str(kind))


def _check_word(option: str, value: object, words: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in words:
        raise not_one_of(option, value, [str(word) for word in words])


def _check_character(option: str, value: object) -> None:
    if not isinstance(value, str) or len(value) != 1 or not value.isascii():
        raise InvalidArgument(
            Message(Argument(option), f" = {value!r} is not a single ASCII character")
        )


def _check_encoding(encoding: object) -> None:
    if encoding is None:
        return
    try:
        " ".encode(encoding)  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        raise InvalidArgument(
            Message(
                Argument("encoding"),
                f" = {encoding!r} is not a text encoding that Python knows; "
                "give one such as 'utf-8', 'latin-1' or 'cp1252'",
            )
        ) from None


def _check_weights(weights: object) -> None:
    if weights is None or isinstance(weights, str):
        return
    if isinstance(weights, bytes | Mapping) or not hasattr(weights, "__len__"):
        raise InvalidArgument(
            f"weights = {weights!r} is not the name of a column or a sequence of numbers"
        )
