"""``sges inspect``, ``sges learn`` and ``sges demo``: a table in, a description or a CPDAG out."""

import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from sges.cli.reading import Table, completion, with_reading_options
from sges.cli.terminal import (
    AsJson,
    at_terminal,
    check_file,
    check_place,
    option,
    page_width,
    print_json,
    print_page,
    remark,
    warnings_as_remarks,
    watching,
    write_file_undisturbed,
    write_undisturbed,
)
from sges.errors import InvalidArgument, in_shell

if TYPE_CHECKING:
    from sges.properties import AtMost
    from sges.result import Result

ASSUMPTION = "What you assume of the truth (at most one)"


_bound = partial(option, "K", rich_help_panel=ASSUMPTION, show_default=False)
"""An option that bounds a property of the truth."""

Score = Annotated[
    str,
    option(
        "NAME",
        "auto (qNML for discrete columns, otherwise the BIC that fits), bic (always the BIC "
        "that fits), gaussian-bic, bge, discrete-bic, qnml, bdeu, degenerate-gaussian, basis "
        "(curved relations) or rank (skew and outliers). With a number as --penalty, auto means "
        "bic.",
        autocompletion=completion("sges.score.named", "SCORE_WORDS"),
    ),
]
StrategyWord = Annotated[
    str,
    option(
        "NAME",
        "auto (best graphs, bounded work), extended (the same without the bound), interleaved "
        "(faster), conservative, turning, low-order (for dense truths and little discrete data), "
        "or two-phase (the search of the paper; auto means this with --forward).",
        autocompletion=completion("sges.search", "STRATEGIES"),
    ),
]
ForwardWord = Annotated[
    str | None,
    option(
        "PHASE",
        "The forward phase of two-phase search: fes, poly (polynomially many score "
        "evaluations), order (the best order of the variables) or complete (start from the "
        "complete graph).",
        autocompletion=completion("sges.search.algorithms", "Forward"),
    ),
]
StartFile = Annotated[
    Path | None, option("FILE", "A graph to start from: JSON, GraphML, DOT or CSV.")
]
MaxParentsBound: TypeAlias = Annotated[int | None, _bound("No variable has more than K parents.")]
MaxCliqueBound: TypeAlias = Annotated[
    int | None, _bound("No more than K variables are mutually adjacent.")
]
MaxVWidthBound: TypeAlias = Annotated[
    int | None,
    _bound(
        "No two non-adjacent variables have more than K mutually adjacent common children.",
        "--max-v-width",
        "--v-width",
    ),
]
MaxTreewidthBound: TypeAlias = Annotated[
    int | None,
    _bound("The treewidth of the moral graph is at most K.", "--max-treewidth", "--treewidth"),
]
MaxVStructuresBound: TypeAlias = Annotated[
    int | None, _bound("There are at most K v-structures.", "--max-v-structures", "--v-structures")
]
AutoBound = Annotated[
    bool,
    option(
        "",
        "Raise a bound on parents until the score no longer improves.",
        "--auto-bound",
        rich_help_panel=ASSUMPTION,
        show_default=False,
    ),
]
MaxIndegree = Annotated[
    int | None,
    option(
        "K",
        "Allow at most K parents of each variable in the graph (--max-parents is an "
        "assumption about the truth and does not limit the graph).",
    ),
]
KnowledgeFile = Annotated[
    Path | None, option("FILE", "Required edges, forbidden edges and tiers: TOML or JSON.")
]
Penalty = Annotated[
    str,
    option(
        "X",
        "auto: prior odds of 1/p per edge, for p variables. A number: the BIC with its "
        "penalty multiplied by X; 1 is the textbook BIC, more gives fewer edges. choose: such a "
        "number, by many searches on parts of the table.",
    ),
]
TimeLimit = Annotated[
    float | None, option("SECONDS", "Stop after SECONDS and return the best graph found so far.")
]
Jobs = Annotated[
    int | None,
    option(
        "N",
        "Run N escapes of the search at once; -1 for as many as there are cores. The result "
        "does not depend on it.",
        "--n-jobs",
        "--jobs",
    ),
]
Out = Annotated[
    Path | None,
    option(
        "DIR",
        "Write graph.json, graph.dot, graph.svg, report.html and summary.txt there: all or none.",
    ),
]
CheckpointFile = Annotated[
    Path | None,
    option(
        "FILE",
        "Save what was done there every few seconds; if the run is killed, the same command "
        "resumes from there.",
    ),
]
Report = Annotated[
    Path | None, option("FILE", "Write one HTML file that shows, explains and replays the result.")
]


@with_reading_options
def learn(
    *,
    table: Table,
    score: Score = "auto",
    max_parents: MaxParentsBound = None,
    max_clique: MaxCliqueBound = None,
    max_v_width: MaxVWidthBound = None,
    max_treewidth: MaxTreewidthBound = None,
    max_v_structures: MaxVStructuresBound = None,
    auto_bound: AutoBound = False,
    knowledge: KnowledgeFile = None,
    strategy: StrategyWord = "auto",
    penalty: Penalty = "auto",
    forward: ForwardWord = None,
    start: StartFile = None,
    max_indegree: MaxIndegree = None,
    time_limit: TimeLimit = None,
    n_jobs: Jobs = None,
    checkpoint: CheckpointFile = None,
    reading: dict[str, Any],
    out: Out = None,
    report: Report = None,
    as_json: AsJson = False,
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
    if out is not None:
        check_place(out)
    if report is not None:
        check_file(report)
    with warnings_as_remarks(), watching(f"reading {table}") as watcher:
        from sges.learning import learn as learn_from

        result = learn_from(
            table,
            score=score,
            assume=assume,
            knowledge=knowledge,
            strategy=strategy,
            penalty=number_or_word(penalty),
            forward=forward,  # type: ignore[arg-type] # which checks it
            start=start,
            max_indegree=max_indegree,
            time_limit=time_limit,
            n_jobs=n_jobs,
            checkpoint=checkpoint,
            progress=watcher.callback,
            **reading,
        )
        result = in_words_of_the_shell(result)
        if out is not None:
            watcher.tell(f"drawing and writing {out}")
            from sges.report import files_of

            files = files_of(result, out, command_line())
            write_undisturbed(out, files)
        if report is not None:
            from sges.report import report_page

            watcher.tell(f"writing {report}")
            page = report_page(result, command_line())
            write_file_undisturbed(report, page.encode("utf-8", errors="surrogatepass"))
    show(result, as_json=as_json)
    if out is not None and at_terminal():
        remark(f"wrote graph.json, graph.dot, graph.svg, report.html and summary.txt to {out}")
    if report is not None and at_terminal():
        remark(f"wrote {report}")


@with_reading_options
def inspect(
    *,
    table: Table,
    reading: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Look at a table before a search: what it holds, and what in it matters.

    Prints the kind of each column and what it holds, and what a statistician would point out:
    missing values, columns that are copies or functions of others, skew and heavy tails, curved
    relations, dependent rows, too few rows. Each finding names the option of sges learn that
    helps. Missing values are described and not refused.
    """
    with warnings_as_remarks(), watching(f"reading {table}"):
        from sges.data import inspect as inspect_table

        found = inspect_table(table, **reading)
    if as_json:
        print_json(found.to_dict())
    else:
        print_page(found.text(page_width(), shell=True))


Picture = Annotated[Path, option("FILE", "Where the picture goes: .svg, .png or .pdf.")]
ExampleName = Annotated[str, option("NAME", "The example: greenhouse or asia.")]


def demo(
    *,
    example: ExampleName = "greenhouse",
    picture: Picture = Path("demo.svg"),
    as_json: AsJson = False,
) -> None:
    """Learn a bundled example, print what was found, and draw it."""
    from sges.examples import load
    from sges.learning import learn as learn_from
    from sges.plot import picture as drawn
    from sges.plot.drawing import format_of

    kind, chosen = format_of(picture), load(example)
    result = learn_from(chosen)
    write_file_undisturbed(picture, drawn(result.cpdag, kind))
    show(result, as_json=as_json)
    remark(comparison_with_truth(chosen.truth, result))
    remark(f"the picture is in {picture}")


def show(result: "Result", *, as_json: bool) -> None:
    """Print a result as JSON or as a page."""
    if as_json:
        print_json(result.to_dict())
    else:
        print_page(result.summary())
    if not result.complete:
        remark(f"not complete ({result.stopped}): this is the best graph found so far")


def in_words_of_the_shell(result: "Result") -> "Result":
    """Return a result whose notes name options of the command, not arguments of the library."""
    return replace(result, notes=tuple(in_shell(note) for note in result.notes))


def comparison_with_truth(truth: Any, result: "Result") -> str:  # noqa: ANN401 (a PDAG)
    """Return in one line how the result compares with the network behind the data."""
    from sges.metrics import compare

    found = compare(truth, result.cpdag)
    if found.same_class:
        return "this is exactly the class of the network that the data were sampled from"
    wrong = found.extra + found.wrong_type
    right = found.true_edges - found.missing
    return (
        f"of the {found.true_edges} edges of the network that the data were sampled from, "
        f"{right} were found; {wrong} edges are wrong"
    )


# Options as the library takes them


def property_of(option: str) -> "type[AtMost]":
    """Return the kind of property that an option bounds: MaxVWidth for --max-v-width."""
    from sges import properties

    kind: type[AtMost] = getattr(properties, option.title().replace("-", ""))
    return kind


def assumption(auto: bool, **bounds: int | None) -> "AtMost | Literal['auto'] | None":
    """Return the property that the options stand for, or None; refuse two of them."""
    given = {f"--{word.replace('_', '-')}": k for word, k in bounds.items() if k is not None}
    options = [*given, *(["--auto-bound"] if auto else [])]
    if len(options) > 1:
        raise InvalidArgument(
            f"{' and '.join(options)} were both given; the search takes one assumption"
        )
    for name, k in given.items():
        return property_of(name)(k)
    return "auto" if auto else None


def number_or_word(text: str) -> Any:  # noqa: ANN401 (a number or a word)
    """Return a number where the text is one, for the library to check."""
    try:
        return float(text)
    except ValueError:
        return text


def command_line() -> str | None:
    """Return the command line, or None if the command was called from Python."""
    program = Path(sys.argv[0])
    is_ours = program.stem == "sges" or (program.name, program.parent.name) == (
        "__main__.py",
        "sges",
    )
    return shlex.join(["sges", *sys.argv[1:]]) if is_ours else None
