"""Graph files: ``sges measure``, ``compare``, ``convert``, ``plot``, ``report``, ``simulate``."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sges.cli.learn import property_of
from sges.cli.options import argument, check_one, option, takes
from sges.cli.terminal import grid, print_json, print_table, say, undisturbed
from sges.errors import DataError, InvalidArgument, SgesError, check_word
from sges.writing import (
    check_own,
    opened,
    will_not_replace,
    write_bytes,
    write_directory,
    write_text,
)

if TYPE_CHECKING:
    from sges.data import Dataset
    from sges.graph import PDAG
    from sges.uncertainty import Confidence

MEASURES = {
    "--max-parents": "parents of a variable",
    "--max-clique": "mutually adjacent variables",
    "--max-v-width": "v-width",
    "--max-treewidth": "treewidth",
    "--max-v-structures": "v-structures",
}
"""The measure of each assumption, in words."""


@takes()
def measure(*, graph: str, as_json: bool = False) -> None:
    """Report the complexity of a graph and the bounds it satisfies.

    Each row gives the tightest bound of its kind that holds for the graph, as an option of sges
    learn. The last column shows how this bound limits H, the common neighbors that a deletion
    makes common children.
    """
    from sges.tools.export import read_graph
    from sges.tools.report.text import count

    measured = read_graph(graph)
    document: dict[str, Any] = {
        "format": "sges-measures", "version": 1, "nodes": measured.n,
        "edges": measured.edge_count(), "measures": [],
    }  # fmt: skip
    for name, what in MEASURES.items():
        kind = property_of(name)
        tightest, value = kind.of(measured), kind.measure(measured)
        document["measures"].append({
            "property": kind.__name__,
            "option": name,
            "what": what,
            "value": value if isinstance(value, int) else [value.low, value.high],
            "k": tightest.k,
            "clique_bound": tightest.clique_bound,
            "size_bound": tightest.size_bound,
        })  # fmt: skip
    if as_json:
        print_json(document)
        return
    say(f"{count(measured.n, 'node')}, {count(measured.edge_count(), 'edge')}")
    table = grid("left", "right", "left", "left", header=("", "value", "option", "H in SBES"))
    for row in document["measures"]:
        value, cliques = row["value"], row["clique_bound"]
        table.add_row(
            row["what"],
            f"{value[0]} to {value[1]}" if isinstance(value, list) else str(value),
            f"{row['option']} {row['k']}",
            f"at most {count(row['size_bound'], 'node')}"
            if cliques is None
            else f"cliques of at most {cliques}",
        )
    print_table(table)


@takes(
    truth=argument("TRUTH", "The true graph, in any format of sges convert; - for standard input."),
    found=argument("FOUND", "The graph that was found; - for standard input."),
    as_they_are=option(
        "", "Compare the graphs themselves, not their equivalence classes.", "--as-they-are"
    ),
)
def compare(*, truth: str, found: str, as_they_are: bool = False, as_json: bool = False) -> None:
    """Compare a found graph with the truth.

    A DAG, or a class refined by background knowledge, is replaced by its equivalence class,
    because data cannot tell the members of a class apart. Nodes are matched by name.
    """
    from sges.tools.export import read_graph
    from sges.tools.metrics import compare as compare_graphs

    if truth == found == "-":
        raise InvalidArgument("standard input can be one of the two graphs, not both")
    result = compare_graphs(read_graph(truth), read_graph(found), classes=not as_they_are)
    if as_json:
        print_json({"format": "sges-comparison", "version": 1, **result.to_dict()})
        return
    table = grid("left", "right", "left")
    table.add_row("same class", "yes" if result.same_class else "no", "")
    why = f"{result.missing} missing, {result.extra} extra, {result.wrong_type} of the wrong type"
    table.add_row("structural Hamming distance", str(result.shd), why)
    for what, agreement in (("edges", result.skeleton), ("arrows", result.arrows)):
        share = f"precision {agreement.precision:.3f}, recall {agreement.recall:.3f}"
        table.add_row(f"F1 of {what}", f"{agreement.f1:.3f}", share)
    if result.aid is None:
        table.add_row(
            "adjustment distances", "-", "not computed: needs gadjid and two CPDAGs or DAGs"
        )
    else:
        for rule in ("parent", "ancestor", "oset"):
            table.add_row(f"{rule} adjustment distance", f"{getattr(result.aid, rule):.3f}", "")
    print_table(table)


@takes(
    out=argument(
        "OUT",
        "The file to write; the extension gives the format: .json, .graphml, .gml, .dot, .gv or "
        ".csv.",
    )
)
def convert(*, graph: str, out: Path, as_json: bool = False) -> None:
    """Convert a graph to another format."""
    from sges.tools.export import read_graph
    from sges.tools.export.formats import writer_of

    read, writer = read_graph(graph), writer_of(out)
    _check_graph(out)
    write_text(out, writer(read), undisturbed)
    _name_file(out, as_json)


def _check_graph(path: Path) -> None:
    """Raise an error if a file to be replaced is not a graph, but for example a table in CSV."""
    from sges.tools.export import read_graph

    try:
        if path.is_file() and path.stat().st_size:
            read_graph(path)
    except SgesError:
        raise will_not_replace(path, "is not a graph") from None


@takes(
    picture=argument("PICTURE", "The file to write: .svg, .png or .pdf."),
    around=option("NAME", "Draw only the nodes near this one."),
    depth=option("K", "With --around: at most K edges away from it; 2 by default.", min=0),
)
def plot(
    *,
    graph: str,
    picture: Path,
    around: str | None = None,
    depth: int | None = None,
    as_json: bool = False,
) -> None:
    """Draw a graph, or the part of it around a node."""
    from sges.tools.export import read_graph
    from sges.tools.plot.drawing import check_picture
    from sges.tools.plot.drawing import picture as drawn

    if depth is not None and around is None:
        raise InvalidArgument(f"--depth {depth} needs --around: it is the distance from that node")
    kind, away = check_picture(picture), 2 if depth is None else depth
    content = drawn(read_graph(graph), kind, around=around, depth=away)
    write_bytes(picture, content, undisturbed)
    _name_file(picture, as_json)


def read_confidence(path: Path) -> "Confidence":
    """Return the result of ``sges confidence``; an error names the file."""
    from sges.tools.export.formats import read_text
    from sges.uncertainty import Confidence

    text = read_text(path)
    try:
        return Confidence.from_json(text)
    except DataError as error:
        what = "it must be confidence.json of sges confidence"
        raise DataError(f"{str(path)!r}: {error}; {what}") from None


def _name_file(path: Path, as_json: bool) -> None:
    """Print the name of a file that was written."""
    if as_json:
        print_json({"format": "sges-files", "version": 1, "files": [str(path)]})
    else:
        say(str(path))


@takes(
    result=argument(
        "RESULT",
        "A result of sges learn: graph.json, a report, or their directory; - for standard input.",
    ),
    page=argument("PAGE", "The HTML file to write.", show_default=True),
    confidence=option(
        "FILE",
        "confidence.json of sges confidence: adds the share of replicates that have each edge.",
    ),
)
def report(
    *,
    result: str,
    page: Path = Path("report.html"),
    confidence: Path | None = None,
    as_json: bool = False,
) -> None:
    """Write a result as one HTML file that shows, explains and replays it.

    The file is self-contained and includes the result itself, which this command and
    sges.read_result can read back.
    """
    from sges.tools.report import read_result
    from sges.tools.report.page import check_page, report_page

    check_page(page)
    if page.exists() and Path(result).exists() and page.samefile(result):
        raise InvalidArgument(f"{result!r} is both RESULT and PAGE; give another name as PAGE")
    sure = None if confidence is None else read_confidence(confidence)
    page_text = report_page(read_result(result), confidence=sure)
    write_text(page, page_text, undisturbed)
    _name_file(page, as_json)


@takes(
    out=argument("DIR", "The directory for data.csv and truth.json: both are written, or neither."),
    variables=option("N", "The number of variables; 10 by default.", min=1),
    edges=option("N", "A random DAG with N edges; by default one edge per variable.", min=0),
    max_parents=option(
        "K",
        "Instead of --edges: a random structure with at most K parents, as in the paper.",
        min=0,
    ),
    polytree=option(
        "",
        "Instead of --edges: a random polytree (a tree whose edges are directed at random).",
        "--polytree",
    ),
    model=option(
        "KIND",
        "gaussian (linear; the default) or discrete (random conditional probability tables).",
    ),
    arity=option(
        "N", "With --model discrete: the number of levels of a variable; 2 by default.", min=2
    ),
    example=option(
        "NAME",
        "Sample from the network of an example (asia or greenhouse) instead of a random one.",
    ),
    records=option("N", "The number of records.", min=2),
    seed=option("N", "The same seed gives the same files.", min=0),
)
def simulate(
    *,
    out: Path,
    variables: int | None = None,
    edges: int | None = None,
    max_parents: int | None = None,
    polytree: bool = False,
    model: str | None = None,
    arity: int | None = None,
    example: str | None = None,
    records: int = 1000,
    seed: int = 0,
    as_json: bool = False,
) -> None:
    """Draw a random network and sample data from it.

    Writes the records as data.csv and the DAG as truth.json, which sges compare and sges measure
    read.
    """
    from sges.examples import load
    from sges.network import BayesianNetwork, LinearGaussian
    from sges.tools.export import to_json
    from sges.tools.report.text import count

    structures = {"--edges": edges, "--max-parents": max_parents, "--polytree": polytree or None}
    rest = {"--variables": variables, "--model": model, "--arity": arity}
    if example is not None:
        given = {"--example": example, **structures, **rest}
        check_one(given, "an example has its own network")
    check_one(structures, "give one kind of structure")
    check_word("model", model or "gaussian", ("gaussian", "discrete"))
    if arity is not None and model != "discrete":
        raise InvalidArgument(f"--arity {arity} needs --model discrete: gaussian has no levels")
    check_own(out, ("data.csv", "truth.json"), _is_simulation)
    network: BayesianNetwork | LinearGaussian
    if example is not None:
        network = load(example).network
    else:
        dag = _structure(variables, edges, max_parents, seed, polytree=polytree)
        if model == "discrete":
            network = BayesianNetwork.random(dag, arity=arity or 2, seed=seed)
        else:
            network = LinearGaussian.random(dag, seed=seed)
    dag = network.dag.named(network.names)
    files = {
        "truth.json": (to_json(dag) + "\n").encode(),
        "data.csv": _csv_of(network.sample(records, seed)).encode(),
    }
    written = sorted(map(str, write_directory(out, files, undisturbed)))
    if as_json:
        print_json(
            {
                "format": "sges-simulation", "version": 1, "files": written, "variables": dag.n,
                "edges": dag.edge_count(), "records": records, "seed": seed,
            }
        )  # fmt: skip
    else:
        what = f"{records} records of {count(dag.n, 'variable')}, {count(dag.edge_count(), 'edge')}"
        say(f"{what}: {' and '.join(written)}")


def _structure(
    variables: int | None, edges: int | None, max_parents: int | None, seed: int, *, polytree: bool
) -> "PDAG":
    """Return a random DAG of the kind that the options ask for."""
    from sges.network import random_dag, random_polytree, random_structure

    n = 10 if variables is None else variables
    if polytree:
        return random_polytree(n, seed)
    if max_parents is not None:
        return random_structure(n, max_parents, seed)
    return random_dag(n, min(n, n * (n - 1) // 2) if edges is None else edges, seed)


def _is_simulation(directory: Path) -> bool:
    """Return whether a directory can hold an earlier simulation: a graph and data of its nodes."""
    from sges.tools.export import read_graph

    try:
        names = read_graph(directory / "truth.json").names
        return opened(directory / "data.csv", _header) == list(names or ())
    except (OSError, ValueError, csv.Error):
        return False


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as table:
        return next(csv.reader(table), [])


def _csv_of(data: "Dataset") -> str:
    """Return a dataset as CSV, with the labels of levels."""
    from sges.tools.export.formats import csv_text

    columns = dict(zip(data.continuous, data.values.tolist(), strict=True))
    for v, codes in zip(data.discrete, data.codes.tolist(), strict=True):
        labels = data.levels[v] or ()
        columns[v] = [labels[code] for code in codes]
    rows = zip(*(columns[v] for v in range(data.n)), strict=True)
    return csv_text([list(data.names), *map(list, rows)])
