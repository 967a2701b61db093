"""The options on how a table is read, which the commands that read one share."""

import inspect
from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from typing import Annotated, Any, get_args

from sges.cli.terminal import argument, option
from sges.errors import InvalidArgument

READING = "How the table is read"


def completion(module: str, name: str) -> Callable[[str], list[str]]:
    """Return what completes a word in the shell; the words are imported when they are needed."""

    def complete(incomplete: str) -> list[str]:
        words = getattr(import_module(module), name)  # a type of literals, or a collection
        return [word for word in get_args(words) or words if word.startswith(incomplete)]

    return complete


_option = partial(option, rich_help_panel=READING, show_default=False)
"""An option on how the table is read."""

Table = Annotated[
    str,
    argument(
        "TABLE",
        "CSV, TSV (also .gz), Parquet or Feather; a folder or a quoted pattern for several "
        "files; - for standard input.",
    ),
]


def reading_arguments(
    *,
    kinds: Annotated[
        list[str] | None,
        _option(
            "COLUMN=KIND",
            "Read a column as continuous or discrete; a kind alone is for all columns. Repeatable.",
        ),
    ] = None,
    missing: Annotated[
        str,
        _option(
            "HOW",
            "Missing values: error (refuse them), drop (their rows), em (estimate from the values "
            "observed) or level (one more level of a discrete column).",
            autocompletion=completion("sges.data", "Missing"),
            show_default=True,
        ),
    ] = "error",
    columns: Annotated[
        list[str] | None, _option("COLUMN", "Read only these columns. Repeatable.")
    ] = None,
    exclude: Annotated[
        list[str] | None, _option("COLUMN", "Leave a column out. Repeatable.")
    ] = None,
    weights: Annotated[
        str | None,
        _option(
            "COLUMN",
            "The column with the number of times that each row occurs, or with survey weights if "
            "any has a fraction.",
        ),
    ] = None,
    delimiter: Annotated[str | None, _option("CHARACTER", "The character between fields.")] = None,
    decimal: Annotated[str, _option("CHARACTER", "The decimal point.")] = ".",
    encoding: Annotated[
        str | None, _option("NAME", "The encoding of the text; UTF-8 by default.")
    ] = None,
    missing_words: Annotated[
        list[str] | None,
        _option(
            "WORD",
            "A field that means a missing value, instead of NA, NaN and the like. Repeatable.",
        ),
    ] = None,
) -> dict[str, Any]:
    """Return how a table is read, as arguments of ``sges.data.Reading``, which checks them."""
    arguments: dict[str, Any] = dict(locals())
    if kinds and (len(kinds) > 1 or "=" in kinds[0]):
        arguments["kinds"] = {}
        for entry in kinds:
            column, equals, kind = entry.rpartition("=")
            if not equals:
                raise InvalidArgument(f"--kinds {entry!r} is not of the form COLUMN=KIND")
            arguments["kinds"][column] = kind
    else:  # one kind for all columns, or none
        arguments["kinds"] = kinds[0] if kinds else None
    return arguments


def with_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of reading in the place of its ``reading``."""
    options = inspect.signature(reading_arguments).parameters

    @wraps(command)
    def wrapper(**values: Any) -> None:  # noqa: ANN401
        reading = reading_arguments(**{name: values.pop(name) for name in options})
        command(reading=reading, **values)

    signature = inspect.signature(command)
    parameters = [
        parameter
        for own in signature.parameters.values()
        for parameter in (options.values() if own.name == "reading" else [own])
    ]
    wrapper.__dict__["__signature__"] = signature.replace(parameters=parameters)
    return wrapper
