"""``sges inspect``, ``learn``, ``confidence`` and ``demo``: commands that read a table."""

import json
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sges.cli.options import (
    check_one,
    completion,
    option,
    reading_arguments,
    search_arguments,
    takes,
)
from sges.cli.terminal import (
    page_width,
    print_json,
    print_page,
    remark,
    undisturbed,
    warnings_as_remarks,
    watching,
)
from sges.errors import in_shell
from sges.writing import check_writable, write_bytes, write_directory, write_text

if TYPE_CHECKING:
    from sges.properties import AtMost
    from sges.result import Result
    from sges.uncertainty import Confidence

_Found = TypeVar("_Found", "Result", "Confidence")

_assumed = partial(
    option, rich_help_panel="Assumptions about the true graph (at most one)", show_default=False
)
"""An option that bounds a property of the true graph."""


@takes(
    max_parents=_assumed("K", "No variable has more than K parents."),
    max_clique=_assumed("K", "No more than K variables are mutually adjacent."),
    max_v_width=_assumed(
        "K",
        "No two non-adjacent variables have more than K mutually adjacent common children.",
        *("--max-v-width", "--v-width"),
    ),
    max_treewidth=_assumed(
        "K",
        "The treewidth of the moral graph is at most K.",
        *("--max-treewidth", "--treewidth"),
    ),
    max_v_structures=_assumed(
        "K", "There are at most K v-structures.", "--max-v-structures", "--v-structures"
    ),
    auto_bound=_assumed(
        "", "Raise a bound on parents until the score no longer improves.", "--auto-bound"
    ),
    forward=option(
        "PHASE",
        "The forward phase of two-phase search: fes, poly (polynomially many score evaluations), "
        "order (a search over orders of the variables) or complete (start from the complete "
        "graph).",
        autocompletion=completion("sges.search.strategy", "Forward"),
    ),
    start=option("FILE", "A graph to start from: JSON, GraphML, DOT or CSV."),
    exogenous=option(
        "COLUMNS",
        "Columns, separated by commas, that may be parents of the others, but to which no edge "
        "points; their own laws are not modelled. Repeatable.",
    ),
    memory_limit=option("SIZE", "Stop when the search holds more than SIZE, such as 200MB or 2GB."),
    out=option(
        "DIR",
        "Write graph.json, graph.dot, graph.svg, report.html and summary.txt to DIR: all of them "
        "or none.",
    ),
    report=option("FILE", "Write one HTML file that shows, explains and replays the result."),
    verbose=option("", "Say how the search went: operators, strategy, phases.", "--verbose"),
)
def learn(
    *,
    table: str,
    max_parents: int | None = None,
    max_clique: int | None = None,
    max_v_width: int | None = None,
    max_treewidth: int | None = None,
    max_v_structures: int | None = None,
    auto_bound: bool = False,
    forward: str | None = None,
    start: Path | None = None,
    exogenous: list[str] | None = None,
    memory_limit: str | None = None,
    out: Path | None = None,
    report: Path | None = None,
    verbose: bool = False,
    as_json: bool = False,
    **search: Any,  # noqa: ANN401
) -> None:
    """Learn the equivalence class of Bayesian networks that a table supports.

    With an assumption (one of --max-parents, --max-clique, --max-v-width, --max-treewidth,
    --max-v-structures, --auto-bound) the search is SGES and skips deletions that would violate
    it. Ctrl-C stops the search and returns the best graph found so far.
    """
    assume = assumption(
        auto_bound, max_parents=max_parents, max_clique=max_clique, max_v_width=max_v_width,
        max_treewidth=max_treewidth, max_v_structures=max_v_structures,
    )  # fmt: skip
    from sges.learning import learn as learn_from
    from sges.tools.report import page

    if out is not None:
        page.check_directory(out)
    if report is not None:
        check_writable(report, is_directory=False)
        page.check_page(report)
    with warnings_as_remarks(), watching(f"reading {table}") as watcher:
        result = learn_from(
            table,
            assume=assume,
            forward=forward,  # type: ignore[arg-type] # which checks it
            start=start,
            exogenous=tuple(name for names in exogenous or () for name in names.split(",")),
            memory_limit=memory_limit,
            progress=watcher.callback,
            **search_arguments(**search),
        )
        result = in_words_of_the_shell(result)
        if out is not None:
            watcher.tell(f"drawing and writing {out}")
            write_directory(out, page.files_of(result, out, command_line()), undisturbed)
        if report is not None:
            watcher.tell(f"writing {report}")
            write_text(report, page.report_page(result, command_line()), undisturbed)
    show(result, as_json=as_json, verbose=verbose)
    if out is not None and sys.stdout.isatty():
        remark(f"wrote graph.json, graph.dot, graph.svg, report.html and summary.txt to {out}")
    if report is not None and sys.stdout.isatty():
        remark(f"wrote {report}")


@takes(
    replicates=option("N", "The number of replicates to search."),
    draw=option(
        "HOW",
        "How a replicate is drawn: auto, half (of the records), bootstrap, bayesian (random "
        "weights) or wishart (random covariances).",
    ),
    seed=option("N", "The same seed gives the same replicates."),
    out=option(
        "DIR",
        "Write confidence.json, strengths.csv, strengths.svg and summary.txt to DIR: all of them "
        "or none.",
    ),
)
def confidence(
    *,
    table: str,
    replicates: int = 200,
    draw: str = "auto",
    seed: int = 0,
    out: Path | None = None,
    as_json: bool = False,
    **search: Any,  # noqa: ANN401
) -> None:
    """Estimate the confidence in each edge, by searching many replicates of a table.

    Prints for each pair of variables the share of replicates in which they are adjacent, and the
    shares in which the edge points either way or is undirected. Ctrl-C stops the search and uses
    the replicates done so far.
    """
    if out is not None:
        from sges.tools.report.strengths import check_directory

        check_directory(out)
    with warnings_as_remarks(), watching(f"reading {table}") as watcher:
        from sges.uncertainty import confidence as confidence_in

        result = confidence_in(
            table,
            replicates,
            draw=draw,
            seed=seed,
            progress=watcher.callback,
            **search_arguments(**search),
        )
        result = in_words_of_the_shell(result)
        if out is not None:
            from sges.tools.report.strengths import confidence_files

            watcher.tell(f"drawing and writing {out}")
            write_directory(out, confidence_files(result), undisturbed)
    if as_json:
        print_json(json.loads(result.to_json()))
    else:
        print_page(result.summary(width=page_width() if sys.stdout.isatty() else None))
    if not result.complete:
        remark(f"{result.stopped}: {result.done} of {result.replicates} replicates were counted")
    if out is not None and sys.stdout.isatty():
        remark(f"wrote confidence.json, strengths.csv, strengths.svg and summary.txt to {out}")


@takes()
def inspect(*, table: str, as_json: bool = False, **reading: Any) -> None:  # noqa: ANN401
    """Describe the columns of a table and report problems before learning from it.

    Prints the kind and content of each column, and reports missing values, columns that are
    copies or functions of others, a common factor of all columns, skew and heavy tails, curved
    relations, dependent rows and too few rows. Each finding says what helps, such as an option of
    sges learn. Missing values are reported and are not an error.
    """
    with warnings_as_remarks(), watching(f"reading {table}"):
        from sges.data import inspect as inspect_table

        description = inspect_table(table, **reading_arguments(**reading))
    if as_json:
        print_json(description.to_dict())
    else:
        print_page(description.text(page_width(), shell=True))


@takes(
    example=option("NAME", "The example: greenhouse or asia."),
    picture=option("FILE", "The picture to write: .svg, .png or .pdf."),
)
def demo(
    *, example: str = "greenhouse", picture: Path = Path("demo.svg"), as_json: bool = False
) -> None:
    """Learn a bundled example, print what was found, and draw it."""
    from sges.examples import load
    from sges.learning import learn as learn_from
    from sges.tools.metrics import compare
    from sges.tools.plot.drawing import check_picture
    from sges.tools.plot.drawing import picture as drawn

    kind, chosen = check_picture(picture), load(example)
    result = in_words_of_the_shell(learn_from(chosen))
    write_bytes(picture, drawn(result.cpdag, kind), undisturbed)
    show(result, as_json=as_json)
    found = compare(chosen.truth, result.cpdag)
    if found.same_class:
        remark("this is exactly the class of the network that the data were sampled from")
    else:
        remark(
            f"of the {found.true_edges} edges of the network that the data were sampled from, "
            f"{found.true_edges - found.missing} were found; {found.extra + found.wrong_type} "
            "edges are wrong"
        )
    remark(f"wrote the picture to {picture}")


def show(result: "Result", *, as_json: bool, verbose: bool = False) -> None:
    """Print a result as JSON or as a page."""
    if as_json:
        print_json(result.to_dict())
    else:
        from sges.tools.report.text import summary

        print_page(summary(result, width=page_width(), verbose=verbose))
    if not result.complete:
        remark(f"not complete ({result.stopped}): this is the best graph found so far")


def in_words_of_the_shell(result: _Found) -> _Found:
    """Return a result whose notes name options of the command, not arguments of the library."""
    return replace(result, notes=tuple(in_shell(note) for note in result.notes))


# Options as the library takes them


def property_of(option: str) -> "type[AtMost]":
    """Return the kind of property that an option bounds: MaxVWidth for --max-v-width."""
    from sges import properties

    kind: type[AtMost] = getattr(properties, option.title().replace("-", ""))
    return kind


def assumption(auto: bool, **bounds: int | None) -> "AtMost | Literal['auto'] | None":
    """Return the property that the options select, or None; raise an error if they select two."""
    options = {f"--{word.replace('_', '-')}": k for word, k in bounds.items()}
    check_one({**options, "--auto-bound": auto or None}, "give only one assumption")
    for name, k in options.items():
        if k is not None:
            return property_of(name)(k)
    return "auto" if auto else None


def command_line() -> str | None:
    """Return the command line, or None if the command was called from Python."""
    program = Path(sys.argv[0])
    is_ours = program.stem == "sges" or program.parts[-2:] == ("sges", "__main__.py")
    return shlex.join(["sges", *sys.argv[1:]]) if is_ours else None
