"""The options on how a table is read, which the commands that read one share."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, get_args

from sges.cli.terminal import argument, option
from sges.errors import InvalidArgument

if TYPE_CHECKING:
    from sges.data import Dataset, Moments

READING = "How the table is read"


def completion(module: str, name: str) -> Callable[[str], list[str]]:
    """Return what completes a word in the shell; the words are imported when they are needed."""

    def complete(incomplete: str) -> list[str]:
        words = getattr(import_module(module), name)  # a type of literals, or a collection
        return [word for word in get_args(words) or words if word.startswith(incomplete)]

    return complete


_option = partial(option, rich_help_panel=READING)
"""An option on how the table is read."""

Table = Annotated[
    str,
    argument(
        "TABLE",
        "CSV, TSV (also .gz), Parquet or Feather; a folder or a quoted pattern for several "
        "files; - for standard input.",
    ),
]


@dataclass(frozen=True)
class ReadingOptions:
    """How a table is read, in the words of the command line, which the library checks."""

    kinds: Annotated[
        list[str] | None,
        _option(
            "COLUMN=KIND",
            "Read a column as continuous or discrete; a kind alone is for all columns. Repeatable.",
            show_default=False,
        ),
    ] = None
    missing: Annotated[
        str,
        _option(
            "HOW",
            "Missing values: error (refuse them), drop (their rows), em (estimate from the values "
            "observed) or level (one more level of a discrete column).",
            autocompletion=completion("sges.data", "Missing"),
        ),
    ] = "error"
    columns: Annotated[
        list[str] | None,
        _option("COLUMN", "Read only these columns. Repeatable.", show_default=False),
    ] = None
    exclude: Annotated[
        list[str] | None, _option("COLUMN", "Leave a column out. Repeatable.", show_default=False)
    ] = None
    weights: Annotated[
        str | None,
        _option(
            "COLUMN",
            "The column with the number of times that each row occurs, or with survey weights if "
            "any has a fraction.",
            show_default=False,
        ),
    ] = None
    delimiter: Annotated[
        str | None, _option("CHARACTER", "The character between fields.", show_default=False)
    ] = None
    decimal: Annotated[str, _option("CHARACTER", "The decimal point.", show_default=False)] = "."
    encoding: Annotated[
        str | None,
        _option("NAME", "The encoding of the text; UTF-8 by default.", show_default=False),
    ] = None
    missing_words: Annotated[
        list[str] | None,
        _option(
            "WORD",
            "A field that means a missing value, instead of NA, NaN and the like. Repeatable.",
            show_default=False,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the options as arguments of ``sges.data.Reading``."""
        return {**vars(self), "kinds": parse_kinds(self.kinds)}

    def read(
        self,
        table: str,
        score: str = "auto",
        penalty: Any = 1.0,  # noqa: ANN401 (checked by the library)
        *,
        rows: bool = False,
    ) -> "Dataset | Moments":
        """Return a table as a score takes it: see ``sges.learning.read_table``."""
        from sges.data import Reading
        from sges.learning import read_table

        data = read_table(table, score, penalty, Reading(**self.arguments()), rows=rows)
        assert data is not None  # as the score is named by a word
        return data


def with_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of reading in the place of its ``reading``."""
    options = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=option.type,
        )
        for option in fields(ReadingOptions)
    ]

    @wraps(command)
    def wrapper(**values: Any) -> None:  # noqa: ANN401
        reading = ReadingOptions(**{option.name: values.pop(option.name) for option in options})
        command(reading=reading, **values)

    signature = inspect.signature(command)
    parameters = [
        parameter
        for own in signature.parameters.values()
        for parameter in (options if own.name == "reading" else [own])
    ]
    wrapper.__dict__["__signature__"] = signature.replace(parameters=parameters)
    return wrapper


def parse_kinds(entries: list[str] | None) -> dict[str, str] | str | None:
    """Return kinds as the library takes them: per column, one for all, or None."""
    if not entries:
        return None
    if len(entries) == 1 and "=" not in entries[0]:
        return entries[0]
    kinds: dict[str, str] = {}
    for entry in entries:
        column, equals, kind = entry.rpartition("=")
        if not equals:
            raise InvalidArgument(f"--kinds {entry!r} is not of the form COLUMN=KIND")
        kinds[column] = kind
    return kinds
