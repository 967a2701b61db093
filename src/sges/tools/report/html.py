"""The pieces of pages: a graph as SVG in our layered layout, the curve of the score, tables.

Names come from data, so all of them are escaped.  A notebook that does not trust its outputs
removes scripts, style sheets and inline SVG, but keeps images; so a picture in a notebook is an
image whose content is part of its address.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from math import isfinite
from typing import TypeAlias

from sges.display import printable
from sges.graph.named import LearnedEdge
from sges.graph.pdag import PDAG
from sges.result import Step
from sges.tools.inspect.description import MAX_COLUMNS_SHOWN, Description
from sges.tools.plot.drawing import labels_of
from sges.tools.plot.layout import Box, Layout, Point, layered
from sges.tools.report.text import count

MAX_DRAWN_NODES, MAX_DRAWN_EDGES = 400, 500
"""Larger graphs are shown one neighborhood at a time, and in a notebook as text."""

TYPE_SIZE, LINE_HEIGHT = 12.0, 15.0
MARGIN = 12.0
NONE, DIRECTED, UNDIRECTED = 0, 1, 2
"""The states of a pair of nodes."""
CURVE_WIDTH, CURVE_HEIGHT = 1000.0, 100.0

Shares: TypeAlias = tuple[float, float, float, float]
"""The shares of replicates with any edge between a and b, with a → b, with b → a, with a — b."""

_TEXT_STYLE = (
    "font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; "
    "white-space: pre; line-height: 1.35; overflow-x: auto"
)
_DESCRIPTION_STYLE = "font: 13px/1.45 system-ui, -apple-system, 'Segoe UI', sans-serif"
_DESCRIPTION_STYLE += "; max-width: 60rem; overflow-x: auto"
_FINDING_STYLE = "margin: .5em 0; padding: 0 .8em; border-left: 3px solid"
_CELL_STYLE = "text-align: left; vertical-align: top; padding: .15em .9em .15em 0; "
_CELL_STYLE += "border-bottom: 1px solid rgba(128, 128, 128, .3)"
_IMAGE_STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;"
    "fill:#1b2430;text-anchor:middle}rect{fill:#f8fafc;stroke:#64748b}"
    ".edge{fill:none;stroke:#334155;stroke-width:1.3}.directed{marker-end:url(#arrow)}"
    ".undirected{stroke:#b45309;stroke-width:1.7;stroke-dasharray:5 3}#arrow path{fill:#334155}"
)


def graph_html(graph: PDAG, text: str) -> str:
    """Return a graph with a text in columns below it as HTML for a notebook."""
    layout = layout_for_page(graph)
    return preformatted(text) if layout is None else image(graph, layout) + preformatted(text)


def preformatted(text: str) -> str:
    """Return text as HTML that keeps its columns, also where a style sheet changes ``pre``."""
    return f'<pre style="{_TEXT_STYLE}">{escape(text)}</pre>'


def description_html(description: Description) -> str:
    """Return the description of a table as HTML for a light or dark notebook, without scripts."""
    findings = "".join(
        f'<p style="{_FINDING_STYLE} {"#dc2626" if found.serious else "#94a3b8"}">'
        f"<b>{escape(found.topic)}</b>{' (serious)' if found.serious else ''}: "
        f"{escape(printable(f'{found.what} {found.advice}'))}</p>"
        for found in description.findings
    )
    below, more = "", len(description.columns) - MAX_COLUMNS_SHOWN
    if more > 0:
        below += f"<p>and {count(more, 'more column')}</p>"
    if description.notes:
        notes = "".join(f"<li>{escape(printable(note))}</li>" for note in description.notes)
        below += f"<details><summary>How it was read</summary><ul>{notes}</ul></details>"
    return (
        f'<div style="{_DESCRIPTION_STYLE}"><p><b>{escape(description.size)}</b></p>'
        f"{findings or '<p>Nothing unusual was found.</p>'}"
        '<table style="border-collapse: collapse; font-size: inherit">'
        f"{_column_rows(description)}</table>{below}</div>"
    )


def _column_rows(description: Description) -> str:
    """Return the first columns as rows of a table; how many values are missing, if any are."""
    shown = description.columns[:MAX_COLUMNS_SHOWN]
    rows = [("column", "kind", "missing", "values"), *(column._cells() for column in shown)]
    if not any(column.missing for column in shown):
        rows = [(*cells[:2], *cells[3:]) for cells in rows]
    text = ""
    for tag, cells in zip(["th", *["td"] * len(shown)], rows, strict=True):
        written = (f'<{tag} style="{_CELL_STYLE}">{escape(cell)}</{tag}>' for cell in cells)
        text += f"<tr>{''.join(written)}</tr>"
    return text


def image(graph: PDAG, layout: Layout, max_height: int | None = None) -> str:
    """Return the picture of a graph as an ``img`` element that holds all of it."""
    limit = f"; max-height: {max_height}px; object-fit: contain; grid-area: 1 / 1"
    width, height = (short(side + 2 * MARGIN) for side in (layout.width, layout.height))
    size = f'width="{width}" height="{height}"'
    drawn = svg_of(graph, layout).replace(">", f" {size}><style>{_IMAGE_STYLE}</style>", 1)
    coded = b64encode(drawn.encode()).decode()
    return (
        f'<img alt="{escape(about(graph))}" {size} style="max-width: 100%; height: auto; '
        f'background: #fff{limit if max_height else ""}" src="data:image/svg+xml;base64,{coded}">'
    )


def about(graph: PDAG) -> str:
    """Return a description of a picture of the graph."""
    directed, undirected = len(graph.directed_edges()), len(graph.undirected_edges())
    edges = f"{directed:,} directed and {count(undirected, 'undirected edge')}"
    return f"A graph of {count(graph.n, 'variable')}: {edges}"


def layout_for_page(graph: PDAG) -> Layout | None:
    """Return where to draw the graph, or None if it is too large to be drawn whole.

    The boxes are wide enough for any common font of a browser.
    """
    if not 0 < graph.n <= MAX_DRAWN_NODES or graph.edge_count() > MAX_DRAWN_EDGES:
        return None
    sizes = []
    for label in labels_of(list(map(graph.name, range(graph.n)))):
        lines = label.split("\n")
        width = max(sum(map(_advance, line)) for line in lines) * TYPE_SIZE
        sizes.append((max(width, 14.0) + 16.0, LINE_HEIGHT * len(lines) + 9.0))
    return layered(graph, sizes).moved(MARGIN, MARGIN)


def _advance(character: str) -> float:
    """Return about how wide a character is, in units of the type size."""
    if character in "iljtf.,:;'|!()[] ":
        return 0.36
    if character in "mwMW@%—":
        return 0.92
    if ord(character) >= 0x1100:
        return 1.05
    return 0.7 if character.isupper() else 0.6


def svg_of(graph: PDAG, layout: Layout | None) -> str:
    """Return the picture of a graph as an ``svg`` element, empty for a graph that is not drawn."""
    head = (
        '<svg class="graph" id="drawing" role="group" tabindex="0" '
        'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
        f"<title>{about(graph)}, listed below</title>"
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="9" '
        'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
        '<path d="M0 1L10 5L0 9z"/></marker></defs>'
    )
    if layout is None:
        why = "The graph has no variables."
        if graph.n:
            why = (
                "The graph is too large for one picture: find or choose a variable, and "
                "its neighborhood is drawn."
            )
        empty = '<g id="extra"></g><g id="nodes"></g></svg>'
        return f"<p>{why}</p>{head.format(width=900, height=500)}{empty}"
    width, height = (short(side + 2 * MARGIN) for side in (layout.width, layout.height))
    lines = [head.format(width=width, height=height), '<g id="lines">']
    for curve in layout.curves:
        x, y, kind = between_nodes(graph, *curve.edge)
        points = curve.points if (x, y) == curve.edge else curve.points[::-1]
        word = "directed" if kind == DIRECTED else "undirected"
        lines.append(
            f'<path class="edge {word}" data-x="{x}" data-y="{y}" data-kind="{kind}" '
            f'd="{_outline(points)}"/>'
        )
    lines.append('</g><g id="extra"></g><g id="nodes">')
    for v, label in enumerate(labels_of(list(map(graph.name, range(graph.n))))):
        lines.append(_node_box(graph, v, label, layout.boxes[v]))
    return "\n".join([*lines, "</g></svg>"])


def _outline(points: Sequence[Point]) -> str:
    """Return a curve as the data of a path; vertical arcs are written as lines."""
    outline = "M{} {}".format(*map(short, points[0]))
    for k in range(1, len(points), 3):
        numbers = [short(number) for point in points[k - 1 : k + 3] for number in point]
        if len(set(numbers[::2])) == 1:
            outline += f"V{numbers[-1]}"
        else:
            outline += "C{} {} {} {} {} {}".format(*numbers[2:])
    return outline


def _node_box(graph: PDAG, v: int, label: str, box: Box) -> str:
    """Return the box of a node with its label, and with words for a screen reader."""
    lines = label.split("\n")
    y = box.y - LINE_HEIGHT * (len(lines) - 1) / 2 + TYPE_SIZE * 0.35
    texts = ""
    for k, line in enumerate(lines):
        place = f'x="{short(box.x)}" y="{short(y + k * LINE_HEIGHT)}"'
        texts += f"<text {place}>{escape(line)}</text>"
    name = escape(printable(graph.name(v)))
    children = graph.children(v).bit_count()
    related = (
        f"{count(graph.parents(v).bit_count(), 'parent')}, "
        f"{children} child{'' if children == 1 else 'ren'}, "
        f"{count(graph.neighbors(v).bit_count(), 'undirected edge')}"
    )
    return (
        f'<g class="node" data-v="{v}" tabindex="0" role="button" '
        f'aria-label="{name}: {related}"><title>{name}</title>'
        f'<rect x="{short(box.x - box.width / 2)}" y="{short(box.top)}" rx="5" '
        f'width="{short(box.width)}" height="{short(box.height)}"/>{texts}</g>'
    )


def score_curve(steps: Sequence[Step]) -> str:
    """Return the score after each step as SVG, with the phases below it."""
    scores = [step.score for step in steps]
    if len(scores) < 2 or not all(map(isfinite, scores)):
        return ""
    scores = [scores[0] - steps[0].gain, *scores] if isfinite(steps[0].gain) else scores
    low, high = min(scores), max(scores)
    first = len(steps) + 1 - len(scores)
    points = [
        f"{short(CURVE_WIDTH * (k + first) / len(steps))} "
        f"{short(4 + (CURVE_HEIGHT - 8) * (high - score) / ((high - low) or 1.0))}"
        for k, score in enumerate(scores)
    ]
    lengths, bounds, at = [], "", 0
    for phase, group in groupby(step.phase for step in steps):
        if at:
            place = short(CURVE_WIDTH * at / len(steps))
            bounds += f'<path class="phase" d="M{place} 0V{CURVE_HEIGHT:g}"/>'
        lengths.append(f"{printable(phase)} {(length := len(list(group)))}")
        at += length
    caption = (
        f"The score goes from {scores[0]:,.6g} to {scores[-1]:,.6g} in {len(steps)} steps: "
        f"{', '.join(lengths)}"
    )
    return (
        f'<svg class="curve" id="curve" viewBox="0 0 {CURVE_WIDTH:g} {CURVE_HEIGHT:g}" '
        f'preserveAspectRatio="none" role="img"><title>{escape(caption)}</title>{bounds}'
        f'<path class="score" d="M{"L".join(points)}"/>'
        f'<path class="here" id="here" d="M{CURVE_WIDTH:g} 0V{CURVE_HEIGHT:g}"/></svg>'
        f'<p class="legend">{escape(caption)}.</p>'
    )


def edge_table(
    edges: Sequence[LearnedEdge], shares: Sequence[Shares | None], replicates: int
) -> str:
    """Return the edges as a table, with the gain and the certainty of each."""
    if not edges:
        return "<p>The graph has no edges.</p>"
    formats = {"gain": ",.6g", "step": "d", "strength": ",.6g", "share": ".2f"}
    about = (
        "An arrow → has the same direction in every member of the class; the direction "
        "of — differs between members. <i>Gain</i> is the amount by which the score increased at "
        "the step that inserted the edge."
    )
    if any(edge.strength is not None for edge in edges):
        about += (
            " <i>Strength</i> is the amount by which the score of one member of the class "
            "decreases when the edge is removed from it."
        )
    else:
        del formats["strength"]
    if replicates:
        about += (
            f" <i>Share</i> is the share of {count(replicates, 'replicate')} of the table in "
            "which the two are adjacent."
        )
    else:
        del formats["share"]
    heads = "".join(f'<th scope="col" class="text">{name}</th>' for name in ("from", "edge", "to"))
    heads += "".join(f'<th scope="col" class="number">{name}</th>' for name in formats)
    rows = "".join(
        f'<tr data-e="{k}">{_edge_cells(edge, share, formats)}</tr>'
        for k, (edge, share) in enumerate(zip(edges, shares, strict=True))
    )
    return (
        f"<p>{about}</p>"
        f'<div class="scroll"><table id="edge-table"><caption>{count(len(edges), "edge")}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _edge_cells(edge: LearnedEdge, share: Shares | None, formats: Mapping[str, str]) -> str:
    """Return the cells of an edge: its ends, its kind and those numbers that have a format."""
    sign = "→" if edge.kind == "directed" else "—"
    cells = (
        f"<td>{escape(printable(edge.source))}</td>"
        f'<td><span title="{edge.kind}">{sign}</span></td>'
        f"<td>{escape(printable(edge.target))}</td>"
    )
    values = {"gain": edge.gain, "step": edge.step, "strength": edge.strength}
    values["share"] = None if share is None else share[0]
    for column, spec in formats.items():
        text = "" if values[column] is None else format(values[column], spec)
        cells += f'<td class="number">{text}</td>'
    return cells


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a list of words and texts; a word with several texts is written once."""
    rows, last = "", ""
    for key, text in pairs:
        rows += "" if key == last else f"<dt>{escape(key)}</dt>"
        rows += f"<dd>{escape(printable(text))}</dd>"
        last = key
    return f"<dl>{rows}</dl>"


def between_nodes(graph: PDAG, x: int, y: int) -> tuple[int, int, int]:
    """Return the state of a pair of nodes as x, y, kind: x → y, x — y, or no edge."""
    forward, backward = graph.out[x] >> y & 1, graph.out[y] >> x & 1
    if forward and backward:
        return (x, y, UNDIRECTED)
    if backward:
        return (y, x, DIRECTED)
    return (x, y, DIRECTED if forward else NONE)


def short(number: float) -> float:
    """Return a coordinate in tenths of a point."""
    return int(number) if round(number, 1) == int(number) else round(number, 1)
