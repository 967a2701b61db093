"""The decorator that attaches options to commands, and the options that commands share.

A command is a function with plain arguments.  ``@takes`` gives each of them its option, with the
text of the help: from the options of the command, or by its name from those here.  In a command
``**reading`` stands for all options on how a table is read, and ``**search`` for these and those on
how it is searched.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from sges.errors import InvalidArgument


def option(metavar: str, text: str, *names: str, **more: Any) -> Any:  # noqa: ANN401
    """Return an option of a command, with a placeholder for its value, its help, and its names."""
    return typer.Option(*names, metavar=metavar, help=text, **more)


def argument(metavar: str, text: str, *, show_default: bool = False) -> Any:  # noqa: ANN401
    """Return an argument of a command, with its placeholder and its help."""
    return typer.Argument(metavar=metavar, help=text, show_default=show_default)


def completion(module: str, name: str) -> Callable[[str], list[str]]:
    """Return a function that completes a word in the shell; words are imported when needed."""

    def complete(incomplete: str) -> list[str]:
        words = getattr(import_module(module), name)  # a type of literals, or a collection
        return [word for word in get_args(words) or words if word.startswith(incomplete)]

    return complete


TABS = ("tab", "\\t")
"""Words for a tab, which is hard to type in a shell."""

_reading = partial(option, rich_help_panel="How the table is read", show_default=False)
"""An option on how the table is read."""

SHARED: dict[str, Any] = {
    "table": argument(
        "TABLE",
        "CSV, TSV (also .gz), Parquet or Feather; a folder or a quoted pattern for several "
        "files; - for standard input.",
    ),
    "graph": argument(
        "GRAPH", "JSON (also of a result), GraphML, GML, DOT, CSV or BIF; - for standard input."
    ),
    "score": option(
        "NAME",
        "auto (qNML for discrete columns, or bdeu-levels if the two with the most levels leave "
        "fewer than 4 records per combination of levels; otherwise the BIC for the kinds of "
        "columns), bic (always that BIC), gaussian-bic, bge, discrete-bic, qnml, bdeu, bdeu-levels "
        "(BDeu whose equivalent sample size is the largest number of levels), "
        "degenerate-gaussian, basis (for curved relations) or rank (for skew and outliers). With a "
        "number as --penalty, auto means bic.",
        autocompletion=completion("sges.score.named", "SCORE_WORDS"),
    ),
    "strategy": option(
        "NAME",
        "auto (best graphs, bounded work), extended (the same without the bound), interleaved "
        "(faster), turning, or two-phase (the search of the paper; with --forward, auto means "
        "this).",
        autocompletion=completion("sges.search", "STRATEGIES"),
    ),
    "penalty": option(
        "X",
        "auto (prior odds of 1/p for each edge, with p variables), a number by which the penalty "
        "of the BIC is multiplied (1 is the textbook BIC, more gives fewer edges), or choose (find "
        "such a number by many searches on parts of the table).",
    ),
    "max_indegree": option(
        "K",
        "Allow each variable at most K parents in the graph (--max-parents is an assumption about "
        "the true graph and does not limit the result).",
    ),
    "knowledge": option("FILE", "Required edges, forbidden edges and tiers: TOML or JSON."),
    "time_limit": option("SECONDS", "Stop after SECONDS and return what was found so far."),
    "n_jobs": option(
        "N",
        "Run N searches at once; -1 is one for each core. The result does not depend on it.",
        *("--n-jobs", "--jobs"),
    ),
    "checkpoint": option(
        "FILE",
        "Save the best graph (of confidence: the replicates) to FILE from time to time; if the run "
        "is killed, the same command goes on from there.",
    ),
    "as_json": option("", "Print one JSON document instead of text.", "--json"),
    "kinds": _reading(
        "COLUMN=KIND",
        "Treat a column as continuous or discrete; KIND alone applies to all columns. Repeatable.",
    ),
    "missing": _reading(
        "HOW",
        "Missing values: error (stop with an error), drop (drop their rows), em (estimate from the "
        "observed values) or level (an additional level of a discrete column).",
        autocompletion=completion("sges.data.reading", "Missing"),
        show_default=True,
    ),
    "columns": _reading("COLUMN", "Read only these columns. Repeatable."),
    "exclude": _reading("COLUMN", "Leave a column out. Repeatable."),
    "weights": _reading(
        "COLUMN",
        "The column with the number of times that each row occurs; if any value is fractional, all "
        "are survey weights.",
    ),
    "delimiter": _reading(
        "CHARACTER", "The character between fields, or tab; a comma by default, a tab in TSV."
    ),
    "decimal": _reading("CHARACTER", "The decimal mark.", show_default=True),
    "encoding": _reading("NAME", "The encoding of the text; UTF-8 by default."),
    "missing_words": _reading(
        "WORD",
        "A string that marks a missing value; replaces the defaults (NA, NaN, ...). Repeatable.",
    ),
    "format": _reading(
        "FORMAT",
        "csv, tsv, parquet or feather, for a file whose extension does not show it.",
        autocompletion=completion("sges.data.reading", "Format"),
    ),
}


def reading_arguments(
    *,
    kinds: list[str] | None = None,
    missing: str = "error",
    columns: list[str] | None = None,
    exclude: list[str] | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    missing_words: list[str] | None = None,
    format: str | None = None,
) -> dict[str, Any]:
    """Return how a table is read, as arguments of the library, which checks them."""
    arguments: dict[str, Any] = dict(locals())
    if delimiter in TABS:
        arguments["delimiter"] = "\t"
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


def search_arguments(
    *,
    score: str = "auto",
    strategy: str = "auto",
    penalty: str = "auto",
    knowledge: Path | None = None,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    checkpoint: Path | None = None,
    **reading: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Return how a table is read and searched, as arguments of the library, which checks them."""
    arguments: dict[str, Any] = dict(locals())
    arguments |= reading_arguments(**arguments.pop("reading"))
    with suppress(ValueError):  # a word
        arguments["penalty"] = float(penalty)
    return arguments


def check_one(options: Mapping[str, object], rule: str) -> None:
    """Raise an error if more than one of these options has a value."""
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise InvalidArgument(f"{given[0]} and {given[1]} were both given; {rule}")


BUNDLES = {"search": search_arguments, "reading": reading_arguments}
"""The functions whose arguments ``**search`` and ``**reading`` of a command stand for."""


def takes(**own: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:  # noqa: ANN401
    """Give the arguments of a command their options: its own, and those that several share."""

    def arguments(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                yield from arguments(BUNDLES[parameter.name])
            else:
                annotation = Annotated[parameter.annotation, (SHARED | own)[parameter.name]]  # type: ignore[name-defined]
                yield parameter.replace(annotation=annotation)

    def complete(command: Callable[..., None]) -> Callable[..., None]:
        command.__dict__["__signature__"] = inspect.Signature(list(arguments(command)))
        return command

    return complete
