r"""A result in files: one HTML page that shows, explains and replays it, and a directory.

The page needs no network and no other file.  Its JSON of the result, in a script element, is the
archive that ``read_result`` reads; the view, also JSON, is the data for its script.  The picture in
our layered layout and the tables are complete without scripts.

Names come from data and may be hostile.  In HTML they are escaped; in JSON every "<" is written
as \u003c, so that no name can end a script element.  A content security policy in the page allows
exactly its own script and style, by their hashes, and nothing from the network.
"""

import json
import platform
import re
from ast import Call, Constant, parse, walk
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import pairwise
from math import isfinite
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from sges import __version__
from sges.display import printable
from sges.errors import (
    DataError,
    InvalidArgument,
    Message,
    NoConsistentExtension,
    Spelling,
    check_path,
    shown,
)
from sges.graph.named import LearnedEdge
from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.result import FORMAT, Result, Step
from sges.tools.export.formats import read_text
from sges.tools.export.languages import to_dot
from sges.tools.plot.drawing import picture
from sges.tools.plot.layout import Layout
from sges.tools.report.html import (
    DIRECTED,
    UNDIRECTED,
    Shares,
    between_nodes,
    definitions,
    edge_table,
    image,
    layout_for_page,
    preformatted,
    score_curve,
    short,
    svg_of,
)
from sges.tools.report.text import count, facts, large, summary
from sges.writing import (
    PathLike,
    check_own,
    file_errors,
    has_format,
    will_not_replace,
    write_directory,
    write_text,
)

if TYPE_CHECKING:
    from sges.uncertainty import Confidence

MAX_REPLAYED = 5_000_000
"""The most nodes times steps for which the page replays the search: each step is a graph."""
MAX_CERTIFIED_NODES, MAX_CERTIFIED_OPERATORS = 100, 2_000
"""The largest size for which the page says whether the result is a local optimum, and how many
operators of each kind are scored for this."""
MAX_COUNTED_EDGES = 200
"""With more undirected edges, the members of the class are not counted for the page."""
MAX_DESCRIBED_NODES = 2_000
"""With more columns, the page does not compute their covariances to describe the data."""
MAX_NOTEBOOK_LINES = 20
"""The largest number of lines for each list of edges in the text of a notebook."""
WIDE = 1.6
"""A picture this many times wider than high is printed on a page in landscape."""
NOTEBOOK_HEIGHT = 560
"""The height of the view of a result in a notebook, in pixels; it scrolls."""

RESULT_MARK = '<script type="application/json" id="sges-result">'
"""The text before the result in a page."""

FILES = ("graph.json", "graph.dot", "graph.svg", "report.html", "summary.txt")


def save(result: Result, directory: PathLike) -> list[Path]:
    """Write graph.json, .dot and .svg, report.html and summary.txt: all of them or none."""
    return write_directory(directory, files_of(result, directory))


def files_of(result: Result, directory: PathLike, command: str | None = None) -> dict[str, bytes]:
    """Return the content of the files to be written into a directory, by name."""
    check_directory(directory)
    return {
        "graph.json": (result.to_json() + "\n").encode("utf-8"),
        "graph.dot": to_dot(result.cpdag).encode("utf-8"),
        "graph.svg": picture(result.cpdag, "svg"),
        "report.html": report_page(result, command).encode("utf-8"),
        "summary.txt": summary(result).encode("utf-8"),
    }


def check_directory(directory: PathLike) -> None:
    """Raise an error if a directory contains other files with the names of ours."""
    check_own(directory, FILES, lambda place: has_format(place / FILES[0], FORMAT))


def read_result(path: PathLike) -> Result:
    """Return the result in a file.

    Parameters
    ----------
    path : str or path-like
        A JSON file of a result, a page that ``Result.report`` wrote, a directory that
        ``Result.save`` wrote, or "-" for standard input.

    Returns
    -------
    Result
        The result, without its score object.

    Raises
    ------
    FileError
        If the file cannot be read.
    DataError
        If it does not hold a result.
    """
    check_path("path", path)
    with file_errors("read", Path(path)):
        if str(path) != "-" and Path(path).is_dir():
            path = Path(path) / FILES[0]
    source = "standard input" if str(path) == "-" else repr(str(path))
    text = read_text(path)
    try:
        if text.lstrip()[:9].lower() == "<!doctype":
            _, mark, text = text.partition(RESULT_MARK)
            text, end, _ = text.partition("</script>")
            if not mark or not end:
                raise DataError("this HTML file does not contain a result")
        return Result.from_json(text)
    except DataError as error:
        what = Spelling("a file that Result.save or Result.report wrote", "a result of sges learn")
        raise DataError(Message(f"{source}: {error}; it must be ", what)) from None


def write_report(
    result: Result,
    path: PathLike,
    *,
    command: str | None = None,
    confidence: "Confidence | None" = None,
) -> Path:
    """Write a result as one HTML file, whole or not at all."""
    check_page(path)
    return write_text(path, report_page(result, command, confidence))


def check_page(path: PathLike) -> None:
    """Raise an error if a path does not name an HTML file, or a file there is not a report."""
    check_path("path", path)
    page = Path(path)
    if page.suffix.lower() not in (".html", ".htm"):
        raise InvalidArgument(
            f"a report cannot be written to {str(path)!r}: its extension must be .html or .htm"
        )
    with file_errors("write", page):
        old = page.read_bytes() if page.is_file() else b""
    if old and RESULT_MARK.encode() not in old:
        raise will_not_replace(path, "is not a report of sges")


def report_page(
    result: Result, command: str | None = None, confidence: "Confidence | None" = None
) -> str:
    """Return a result as the text of one HTML file, the same for the same result and versions."""
    if confidence is not None:
        if not all(hasattr(confidence, name) for name in ("graphs", "rows", "threshold")):
            raise InvalidArgument(
                f"confidence = {shown(confidence)}: it must be a Confidence, as sges.confidence "
                "returns"
            )
        if confidence.names != result.names:
            raise InvalidArgument(
                "confidence has other variables than the result; both must be from the same table"
            )
    layout = layout_for_page(result.cpdag)
    return _page(
        result,
        layout,
        confidence,
        kind="report" if layout is None or layout.width < WIDE * layout.height else "report wide",
        stored=_harmless(result.to_json(indent=None)),
        assumed=definitions(_assumptions(result, confidence)),
        again=_again(result, command),
    )


def result_html(result: Result) -> str:
    """Return a result as HTML for a notebook.

    The picture, edges and replay of the report are in a frame, above an image of the graph, which
    remains if the notebook is not trusted and the frame is removed, and the summary; a graph that
    is too large to be drawn has only the summary.
    """
    text = preformatted(summary(result, MAX_NOTEBOOK_LINES))
    layout = layout_for_page(result.cpdag)
    if layout is None:
        return text
    page = _page(result, layout, None, kind="notebook", stored="", assumed="", again="")
    return (
        f'<div style="display: grid">{image(result.cpdag, layout, NOTEBOOK_HEIGHT)}'
        f'<iframe title="{_title(result)}" sandbox="allow-scripts" style="border: 0; '
        f'grid-area: 1 / 1; width: 100%; height: {NOTEBOOK_HEIGHT}px; background: #fff" '
        f'srcdoc="{escape(page)}"></iframe></div>'
        f"<details><summary>The result as text</summary>{text}</details>"
    )


def _page(
    result: Result, layout: Layout | None, confidence: "Confidence | None", **parts: str
) -> str:
    """Return the template filled with a result and with the parts in which pages differ."""
    edges = result.edges
    shares = _shares(edges, confidence)
    replicates = 0 if confidence is None else confidence.done
    view = view_of(result, edges, layout, shares, replicates)
    template, style, script = (
        (files("sges.tools.report") / name).read_text(encoding="utf-8")
        for name in ("page.html", "page.css", "page.js")
    )
    allowed = [b64encode(sha256(part.encode()).digest()).decode() for part in (style, script)]
    graph = result.cpdag
    lead = (
        f"{len(graph.directed_edges()):,} directed and "
        f"{count(len(graph.undirected_edges()), 'undirected edge')}; score {result.score:,.4f}"
        f"{f' ({result.score_name})' if result.score_name else ''}; "
        f"{count(len(result.steps), 'step')}."
    )
    alarm = (
        f'<p class="note">The search is not complete: {escape(printable(str(result.stopped)))}. '
        "This is the best graph found so far.</p>"
    )
    return Template(template).substitute(
        parts,
        version=__version__,
        policy="default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src 'sha256-{allowed[0]}'; script-src 'sha256-{allowed[1]}'",
        title=_title(result),
        lead=escape(printable(lead)),
        alarm="" if result.complete else alarm,
        style=style,
        script=script,
        view=_harmless(json.dumps(view, separators=(",", ":"))),
        picture=svg_of(graph, layout),
        curve=score_curve(result.steps),
        edges=edge_table(edges, shares, replicates),
    )


def _harmless(text: str) -> str:
    """Return JSON in which nothing can end the script element around it."""
    return text.replace("<", "\\u003c")


# The view: the data for the script


def view_of(
    result: Result,
    edges: Sequence[LearnedEdge],
    layout: Layout | None,
    shares: Sequence[Shares | None],
    replicates: int,
) -> dict[str, Any]:
    """Return the data for the script of the page, as plain values."""
    graph, steps = result.cpdag, result.steps
    phases = list(dict.fromkeys(step.phase for step in steps))
    graphs = replay(result) if steps and graph.n * len(steps) <= MAX_REPLAYED else None
    replayed: dict[str, Any] = {"start": None, "changes": []}
    if graphs is not None:
        start = "complete" if graphs[0].edge_count() else "empty"
        replayed = {"start": start, "changes": list(changes([*graphs, graph]))}
    boxes = [] if layout is None else [layout.boxes[v] for v in range(graph.n)]
    return {
        "names": list(map(printable, result.names)),
        "edges": list(_edge_rows(result.names, edges, shares)),
        "replicates": replicates,
        "phases": list(map(printable, phases)),
        "steps": [_step_row(step, phases.index(step.phase)) for step in steps],
        **replayed,
        "boxes": [[short(b.x), short(b.y), short(b.width), short(b.height)] for b in boxes],
    }


def _edge_rows(
    names: Sequence[str], edges: Sequence[LearnedEdge], shares: Sequence[Shares | None]
) -> Iterator[list[Any]]:
    """Yield the two ends, the kind, the numbers and the shares of each edge."""
    number = dict(zip(names, range(len(names)), strict=True))
    for edge, share in zip(edges, shares, strict=True):
        kind = DIRECTED if edge.kind == "directed" else UNDIRECTED
        numbers = [_finite(edge.gain), edge.step, _finite(edge.strength)]
        parts = None if share is None else [round(part, 6) for part in share]
        yield [number[edge.source], number[edge.target], kind, *numbers, parts]


def _step_row(step: Step, phase: int) -> list[Any]:
    """Return a step by the number of its phase, its operator and its numbers."""
    operator = step.operator
    what = [type(operator).__name__, operator.x, operator.y, operator.set_name]
    numbers = [_finite(step.gain), _finite(step.score), step.edges]
    return [phase, *what, list(nodes(operator.chosen)), *numbers]


def replay(result: Result) -> list[PDAG] | None:
    """Return the graphs before and after each step, or None if the start is not known.

    The start is not stored.  An empty or a complete start is recognized by the number of edges
    after the first step.
    """
    for start in (PDAG.empty, PDAG.complete):
        graphs = [start(result.cpdag.n, result.names)]
        for step in result.steps:
            if not step.operator.is_valid(graphs[-1]):
                break
            graphs.append(step.operator.carry_out(graphs[-1]))
            if graphs[-1].edge_count() != step.edges:
                break
        else:
            if graphs[-1].skeleton() == result.cpdag.skeleton():
                return graphs
    return None


def changes(graphs: Sequence[PDAG]) -> Iterator[list[int]]:
    """Yield for each graph except the first how it differs from the previous one.

    Each difference is a flat list of x, y, kind: 0 for no edge, 1 for x → y, 2 for x — y.

    >>> a, b = PDAG.from_edges(3, undirected=[(0, 1)]), PDAG.from_edges(3, [(2, 1)])
    >>> list(changes([a, b]))
    [[0, 1, 0, 2, 1, 1]]
    """
    for before, after in pairwise(graphs):
        difference: list[int] = []
        for x in range(after.n):
            out, into = before.out[x] ^ after.out[x], before.into[x] ^ after.into[x]
            for y in nodes((out | into) >> x << x):
                difference += between_nodes(after, x, y)
        yield difference


def _shares(edges: Sequence[LearnedEdge], confidence: "Confidence | None") -> list[Shares | None]:
    """Return for each edge the shares of replicates, or None for each without a confidence."""
    if confidence is None:
        return [None] * len(edges)
    shares: dict[tuple[str, str], Shares] = {}
    for a, b, joined, forward, backward, line in (row.values() for row in confidence.rows()):
        shares[a, b] = (joined, forward, backward, line)
        shares[b, a] = (joined, backward, forward, line)
    return [shares.get((edge.source, edge.target), (0.0, 0.0, 0.0, 0.0)) for edge in edges]


def _finite(number: float | None) -> float | None:
    return None if number is None or not isfinite(number) else float(f"{number:.10g}")


def _title(result: Result) -> str:
    """Return the title of the page, with the name of the table if ``learn`` found the result."""
    title = f"Equivalence class on {count(result.cpdag.n, 'variable')}"
    name = None if result.call is None else _table_name(result.call)
    return title if name is None else escape(f"{printable(name)}: {title[0].lower()}{title[1:]}")


def _table_name(call: str) -> str | None:
    """Return the name of the table in a call of ``learn``: of its file, or "data".

    >>> _table_name("result = sges.learn('plants/2024.csv', max_indegree=3)")
    '2024.csv'
    >>> _table_name("result = sges.learn(sges.examples.load('asia'))"), _table_name("learn(data)")
    ('asia', 'data')
    """
    try:
        table = next(node for node in walk(parse(call)) if isinstance(node, Call)).args[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError, StopIteration, IndexError):
        return None  # a score object instead of a table, or a file that sges did not write
    if isinstance(table, Call) and table.args:
        table = table.args[0]
    if isinstance(table, Constant) and isinstance(table.value, str) and table.value != "-":
        return re.split(r"[/\\]", table.value.rstrip("/\\"))[-1] or table.value
    return "data"


def _assumptions(result: Result, confidence: "Confidence | None") -> list[tuple[str, str]]:
    """Return the assumptions and whether the result satisfies them, in words."""
    rows = [*_data_facts(result), *facts(result)]
    try:
        rows += [("members", _members(result)), ("local optimum", _local_optimum(result))]
    except NoConsistentExtension:  # a graph from a file need not be a class
        rows.append(("members", "none: no DAG is a consistent extension of this graph"))
    if confidence is not None:
        about = _agreement(result, confidence)
        rows += [("confidence", text) for text in (about, *confidence.notes)]
    if result.cpdag.edge_count():
        text = (
            "an arrow can be interpreted causally only without unmeasured common causes and "
            "without selection bias; the search assumes independent records and a score that fits "
            "the data"
        )
        rows.append(("causal interpretation", text))
    return rows


def _members(result: Result) -> str:
    """Return the number of members of the class, in words."""
    if len(result.cpdag.undirected_edges()) > MAX_COUNTED_EDGES:
        return "not counted; result.class_size() counts them"
    size = result.class_size()
    if not isinstance(size, int):
        return f"between {large(size.low)} and {large(size.high)} DAGs in the class"
    return f"{large(size)} DAG{'' if size == 1 else 's'} in the class"


def _local_optimum(result: Result) -> str:
    """Return whether the class is a local optimum, in words."""
    if result.scorer is None:
        return "not checked: the score is not stored with the result"
    if result.cpdag.n > MAX_CERTIFIED_NODES:
        return "not checked; result.certify() checks it"
    if result.exogenous:
        return "not checked: this is not done with exogenous variables"
    return str(result.certify(limit=MAX_CERTIFIED_OPERATORS))


def _agreement(result: Result, confidence: "Confidence") -> str:
    """Return how far the edges of the graph are those above the threshold, in words."""
    level = confidence.threshold
    adjacent = {frozenset((edge.source, edge.target)) for edge in result.edges}
    rows = confidence.rows()
    strong = {frozenset((str(row["a"]), str(row["b"]))) for row in rows if row["p_edge"] > level}
    return (
        f"{count(confidence.done, 'replicate')}, draw {confidence.draw}; threshold "
        f"{level:.2f}; edges of the graph at or below it: {len(adjacent - strong):,}; pairs "
        f"above it that are not adjacent in the graph: {len(strong - adjacent):,}"
    )


def _data_facts(result: Result) -> list[tuple[str, str]]:
    """Return the size of the data behind the score, and the kinds of their columns."""
    data = _data_of(result)
    if data is None:
        return [("data", "not stored with the result; the notes describe what was read")]
    records = f"{int(data.records):,} records"
    if not hasattr(data, "kinds"):
        return [("data", f"{records} of {len(data.names):,} continuous columns")]
    kinds = [f"{len(data.continuous):,} continuous"] if data.continuous else []
    if not data.discrete:
        return [("data", f"{records}; {kinds[0]} columns")]
    kinds.append(f"{len(data.discrete):,} discrete")
    low, high = data.arities.min(), data.arities.max()
    span = f"{low}" if low == high else f"{low} to {high}"
    levels = ("levels", f"{span} in each discrete column")
    return [("data", f"{records}; {' and '.join(kinds)} columns"), levels]


def _data_of(result: Result) -> Any:  # noqa: ANN401 (a Dataset or Moments)
    """Return the data behind the score, if the score has kept them and they are not too wide."""
    for name in ("data", "moments") if result.cpdag.n <= MAX_DESCRIBED_NODES else ():
        data = getattr(result.scorer, name, None)
        if hasattr(data, "names") and hasattr(data, "records"):
            return data
    return None


# Run it again


def _again(result: Result, command: str | None) -> str:
    """Return how the result was found, and with which versions."""
    text = ""
    if command is not None:
        text += f"<p>The command was</p><pre>{escape(printable(command))}</pre>"
    if result.call is not None:
        intro = "In Python; names without quotes, such as data, are the objects that were passed:"
        text += f"<p>{intro}</p><pre>{escape(printable(result.call))}</pre>"
    rows = [("sges", __version__), ("numpy", np.__version__), ("scipy", scipy.__version__)]
    rows.append(("Python", f"{platform.python_version()}, {platform.machine()}"))
    if result.digest is not None:
        rows.append(("digest of the data", result.digest))
    return text + definitions(rows)
