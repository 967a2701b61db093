"""``sges learn``: a table in, a CPDAG out."""

import os
import warnings
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sges.cli.bounds import (
    PANEL,
    MaxCliqueBound,
    MaxParentsBound,
    MaxTreewidthBound,
    MaxVStructuresBound,
    MaxVWidthBound,
    assumed,
)
from sges.cli.screen import AsJson, at_terminal, print_json, remark, say
from sges.cli.table import Decimal, Delimiter, Exclude, KindOf, parsed_kinds, read
from sges.cli.watch import watching
from sges.errors import FileError, InvalidArgument

if TYPE_CHECKING:
    from sges.result import Result

FORWARD = ("fes", "poly", "order", "complete")
STRATEGIES = ("auto", "extended", "interleaved", "conservative", "turning", "two-phase")
MISSING = ("error", "drop", "level")


def _scores(incomplete: str) -> list[str]:
    from sges.score.named import SCORE_WORDS

    return [name for name in SCORE_WORDS if name.startswith(incomplete)]


def _words(words: tuple[str, ...], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV (also .gz), Parquet or Feather; - for standard input.",
        show_default=False,
    ),
]
Score = Annotated[
    str,
    typer.Option(
        autocompletion=_scores,
        metavar="NAME",
        help="auto (by the kinds of the columns), gaussian-bic, bge, discrete-bic, bdeu or "
        "degenerate-gaussian.",
    ),
]
ForwardOption = Annotated[
    str | None,
    typer.Option(
        autocompletion=lambda incomplete: _words(FORWARD, incomplete),
        metavar="HOW",
        help="How edges are first added: fes, poly (polynomially many score evaluations), order "
        "(by the best order of the variables), or complete (start from all edges).",
    ),
]
StartFile = Annotated[
    Path | None,
    typer.Option(
        "--start", metavar="FILE", help="A graph to start from: JSON, GraphML, DOT or CSV."
    ),
]
StrategyOption = Annotated[
    str,
    typer.Option(
        autocompletion=lambda incomplete: _words(STRATEGIES, incomplete),
        metavar="HOW",
        help="How the search goes: auto (best graphs, bounded work), extended (the same without "
        "the bound), interleaved (faster), conservative, turning, or two-phase (the paper's; the "
        "default with --forward).",
    ),
]
AutoBound = Annotated[
    bool,
    typer.Option(
        "--auto-bound",
        metavar="",
        rich_help_panel=PANEL,
        help="Raise a bound on parents until the score no longer improves.",
        show_default=False,
    ),
]
MaxIndegree = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="K",
        help="Allow at most K parents of each variable in the graph (--max-parents is an "
        "assumption about the truth, and does not limit the graph).",
    ),
]
KnowledgeFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Required and forbidden edges and tiers: TOML or JSON."),
]
Penalty = Annotated[
    str,
    typer.Option(
        metavar="X",
        help="Multiplies the penalty of a BIC; more gives fewer edges. Or: rule (by the numbers "
        "of variables and records), or auto (chosen by many searches on parts of the table).",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="SECONDS", help="End after so long with what there is."),
]
MissingWord = Annotated[
    str,
    typer.Option(
        autocompletion=lambda incomplete: _words(MISSING, incomplete),
        metavar="HOW",
        help="Missing values: error (refuse), drop (their rows), or level (one more level).",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column that says how often each row occurs."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write graph.json, graph.dot, graph.svg and summary.txt there: all, or none.",
    ),
]


def learn(
    *,
    table: Table,
    score: Score = "auto",
    max_parents: MaxParentsBound = None,
    max_clique: MaxCliqueBound = None,
    v_width: MaxVWidthBound = None,
    treewidth: MaxTreewidthBound = None,
    v_structures: MaxVStructuresBound = None,
    auto_bound: AutoBound = False,
    strategy: StrategyOption = "auto",
    forward: ForwardOption = None,
    start: StartFile = None,
    max_indegree: MaxIndegree = None,
    knowledge: KnowledgeFile = None,
    penalty: Penalty = "1.0",
    time_limit: TimeLimit = None,
    missing: MissingWord = "error",
    kinds: KindOf = None,
    exclude: Exclude = None,
    weights: Weights = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Learn the class of Bayesian networks that a table supports.

    With a bound (one of --max-parents, --max-clique, --v-width, --treewidth, --v-structures,
    --auto-bound) the search is SGES and looks only at the deletes that the bound leaves. Ctrl-C
    ends the search with what it has.
    """
    assume = assumed(
        auto=auto_bound, max_parents=max_parents, max_clique=max_clique, v_width=v_width,
        treewidth=treewidth, v_structures=v_structures,
    )  # fmt: skip
    if missing not in MISSING:
        raise InvalidArgument(f"--missing {missing}: it is error, drop or level")
    if out is not None:
        _refuse_place(out)
    options: dict[str, Any] = {
        "score": score, "assume": assume, "strategy": _strategy(strategy), "forward": forward,
        "start": start,
        "max_indegree": max_indegree, "knowledge": knowledge, "penalty": _penalty(penalty),
        "time_limit": time_limit,
        "missing": missing, "kinds": parsed_kinds(kinds), "weights": weights,
    }  # fmt: skip
    result = _learned(table, (delimiter, decimal, exclude), options)
    if out is not None:
        result.save(out)
    show(result, as_json=as_json)
    if out is not None and at_terminal():
        remark(f"wrote graph.json, graph.dot, graph.svg and summary.txt to {out}")


def _learned(
    source: str, reading: tuple[str | None, str, list[str] | None], options: dict[str, Any]
) -> "Result":
    """Read and search, showing progress; what the library warns of is told in one line each."""
    with warnings.catch_warnings(record=True) as told, watching(f"reading {source}") as watcher:
        warnings.simplefilter("always")
        from sges.learning import learn as learn_table

        read_options = {name: options.pop(name) for name in ("kinds", "missing", "weights")}
        data = read(source, *reading, **read_options)
        result = learn_table(data, progress=watcher, **options)
    for warning in told:
        remark(f"warning: {' '.join(str(warning.message).split())}")
    return result


def show(result: "Result", *, as_json: bool) -> None:
    """Print a result: as JSON, as a page for the terminal, or as plain text."""
    if as_json:
        print_json(result.to_dict())
    elif at_terminal():
        from sges.cli.page import print_page

        print_page(result.summary())
    else:
        say(result.summary())
    if not result.complete:
        remark(f"not complete ({result.stopped}): this is the last class that was reached")


def _strategy(word: str) -> str:
    if word not in STRATEGIES:
        raise InvalidArgument(f"--strategy {word}: it is {', '.join(STRATEGIES)}")
    return word


def _penalty(word: str) -> float | str:
    """Return a number of at least 0, or one of the words for a choice."""
    if word in ("rule", "auto"):
        return word
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if not 0 <= number < inf:
        raise InvalidArgument(f"--penalty {word}: it is a number of at least 0, rule or auto")
    return number


def _refuse_place(out: Path) -> None:
    """Refuse a place that nothing can be written to, before the search and not after it."""
    if out.exists() and not out.is_dir():
        raise FileError(f"cannot write {str(out)!r}: it is a file; name a directory")
    there = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise FileError(f"cannot write {str(out)!r}: {str(there)!r} cannot be written to")
