"""Drawing with matplotlib: boxes with names, arrows, and dashed lines for undirected edges.

The sheet has the size that the layout needs, so that the type is as large in a picture of 80 nodes
as in one of 8; if the user passes axes, everything is scaled to fit them.  Names are broken into
short lines, and never interpreted as mathematics or markup.  The same graph gives the same file,
byte by byte.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from sges.display import printable, shortened
from sges.docstrings import documented_like
from sges.errors import (
    InvalidArgument,
    check_flag,
    check_number,
    check_path,
    check_word,
    need,
    shown,
)
from sges.graph.named import NamedGraph
from sges.graph.pdag import PDAG, Edge
from sges.nodeset import nodes, union
from sges.tools.export import to_numpy
from sges.tools.plot.layout import Layout, Point, Size, by_graphviz, layered
from sges.writing import PathLike, file_errors, will_not_replace, write_bytes

Axes: TypeAlias = Any
"""``matplotlib.axes.Axes``; matplotlib is imported only when something is drawn."""

Engine: TypeAlias = Literal["auto", "own", "graphviz"]
"""The program that places the nodes: Graphviz, sges itself, or Graphviz if it is installed."""

FORMATS = ("svg", "png", "pdf")
MARK = "drawn by sges"
"""The program that made it, according to every picture file."""
TYPE_SIZE = 10.0
MARGIN = 18.0
TITLE, LEGEND = 26.0, 22.0
BOLD_WIDTH = 1.15  # the width of bold type, relative to regular type
LEGEND_LINE = 46.0  # the width of the line of a legend entry, with the gaps beside it
DPI, MAX_PIXELS = 160, 12_000
MAX_EDGES_AS_LINES, MAX_EDGES_PER_NODE = 500, 4
"""A graph with more edges than both of these allow is drawn as a matrix."""
MAX_LABEL_COLUMNS, MAX_LABEL_LINES = 16, 3
"""The largest number of characters in a line, and of lines in a label."""
INK, PAPER, FRAME = "#1f2937", "#f8fafc", "#64748b"
ARROW, LINE = "#334155", "#b45309"
DASHES = (0, (4, 2.2))
NOT_AVERAGED = "not in the averaged class"
"""What a dashed line means where edges differ in strength."""


@dataclass(frozen=True, slots=True)
class EdgeStyle:
    """How an edge is drawn where edges differ in strength; the width is in points."""

    width: float
    dashed: bool = False


@documented_like(NamedGraph.plot)
def draw(
    graph: PDAG,
    path: PathLike | None = None,
    ax: Axes = None,
    *,
    title: str | None = None,
    legend: bool = True,
    engine: Engine = "auto",
    dpi: int = DPI,
    around: str | int | None = None,
    depth: int = 2,
    styles: Mapping[Edge, EdgeStyle] | None = None,
) -> Axes:
    """Draw a graph with matplotlib, and write the picture if a path is given.

    Without path and axes, a new figure of pyplot is made, which a notebook shows and
    ``matplotlib.pyplot.show()`` opens.

    Parameters
    ----------
    graph : PDAG
        The graph.
    ax : matplotlib.axes.Axes, optional
        The axes to draw into; the graph is scaled to fit.
    styles : mapping of (int, int) to EdgeStyle, optional
        The width of the edge of each pair (x, y), x < y, and whether it is dashed.  Undirected
        edges are then drawn solid, as dashes mean something else.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

    Raises
    ------
    InvalidArgument
        If the extension or the engine is not known.
    FileError
        If the file cannot be written.
    """
    kind = None if path is None else format_of(path)
    check_axes(ax)
    check_number("dpi", dpi, least=1)
    ax = _drawn(
        graph, ax, path is None, title=title, legend=legend, engine=engine, around=around,
        depth=depth, styles=styles,
    )  # fmt: skip
    if path is not None and kind is not None:
        write_bytes(path, _render(ax.figure, kind, dpi))
    return ax


def picture(graph: PDAG, kind: str, *, dpi: int = DPI, **options: Any) -> bytes:  # noqa: ANN401
    """Return the content of a picture file, the same for the same graph, with options of draw."""
    check_word("kind of picture", kind, FORMATS)
    check_number("dpi", dpi, least=1)
    return _render(_drawn(graph, None, False, **options).figure, kind, dpi)


def layout_of(graph: PDAG, sizes: Sequence[Size], engine: Engine = "auto") -> Layout:
    """Return where to draw the nodes and edges of a graph with boxes of these sizes, in points."""
    if engine != "own" and graph.n and (layout := by_graphviz(graph, sizes)) is not None:
        return layout
    if engine == "graphviz":
        raise InvalidArgument(
            "engine = 'graphviz': the program dot is not installed or failed; use 'own'"
        )
    return layered(graph, sizes)


def labels_of(names: Sequence[str]) -> list[str]:
    """Return the labels of the boxes; different names stay different."""
    labels = shortened(names, label_of)
    times = Counter(labels)
    return [f"{label} #{v}" if times[label] > 1 else label for v, label in enumerate(labels)]


def label_of(name: str) -> str:
    """Return a name in short lines that end after a space, a dot or the like if possible."""
    text = printable(name)
    room = MAX_LABEL_COLUMNS * MAX_LABEL_LINES - 6
    if len(text) > room:
        text = f"{text[: room - 13]}…{text[-12:]}"
    lines = [""]
    for piece in re.findall(r"[^\W_]*[\W_]|[^\W_]+", text):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > MAX_LABEL_COLUMNS:
            lines.append("")
        while len(lines[-1]) + len(piece.rstrip()) > MAX_LABEL_COLUMNS:
            lines[-1] += piece[: MAX_LABEL_COLUMNS - len(lines[-1])]
            piece = piece[MAX_LABEL_COLUMNS:]
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.strip() for line in lines if line.strip()) or repr(name)


def is_too_dense(graph: PDAG) -> bool:
    """Return whether a graph has too many edges to be followed, or placed, as lines."""
    return graph.edge_count() > max(MAX_EDGES_AS_LINES, MAX_EDGES_PER_NODE * graph.n)


def _drawn(
    graph: PDAG,
    ax: Axes,
    pyplot: bool,
    *,
    title: str | None = None,
    legend: bool = True,
    engine: Engine = "auto",
    around: str | int | None = None,
    depth: int = 2,
    styles: Mapping[Edge, EdgeStyle] | None = None,
) -> Axes:
    """Check the arguments of a picture, and return axes with it: those given, or new ones."""
    if around is not None:
        check_number("depth", depth, whole=True)
        kept = 1 << graph.node(around)
        for _ in range(min(depth, graph.n)):
            kept |= union(map(graph.adjacent, nodes(kept)))
        graph = graph.named(list(map(graph.name, range(graph.n)))).induced(nodes(kept))
    check_word("engine", engine, get_args(Engine))
    check_flag("legend", legend)
    if title is not None and not isinstance(title, str):
        raise InvalidArgument(f"title = {shown(title)}: it must be a string or None")
    need("matplotlib", "a picture")
    if is_too_dense(graph):
        return _draw_matrix(graph, ax, pyplot, title)
    return _draw_layout(graph, ax, pyplot, title, legend, engine, styles)


def _new_axes(
    size: tuple[float, float], place: tuple[float, float, float, float], pyplot: bool
) -> Axes:
    """Return new axes in a figure of this size in inches, which pyplot shows or nothing does."""
    module = need(f"matplotlib.{'pyplot' if pyplot else 'figure'}", "a picture", "matplotlib")
    make = module.figure if pyplot else module.Figure
    return make(figsize=size).add_axes(place)


def _draw_matrix(graph: PDAG, ax: Axes, pyplot: bool, title: str | None) -> Axes:
    """Draw the adjacency matrix of a dense graph: a cell for each edge, from row to column."""
    from matplotlib.colors import ListedColormap

    points = min(max(4.0 * graph.n, 400.0), 1200.0)
    if ax is None:  # with room for names on two sides
        side = points / 72 + 2
        ax = _new_axes((side, side), (0.14, 0.04, 0.82, 0.82), pyplot)
    colors = ListedColormap(["white", ARROW, LINE])
    cells = to_numpy(graph, "gadjid")  # 1 for an arrow, 2 for a line
    ax.imshow(cells, cmap=colors, vmin=0, vmax=2, interpolation="nearest")
    size = min(TYPE_SIZE, points / graph.n)
    names = list(map(graph.name, range(graph.n)))
    labels = [label.replace("\n", "") for label in labels_of(names)]
    ax.xaxis.tick_top()
    for set_ticks, angle in ((ax.set_xticks, 90), (ax.set_yticks, 0)):
        set_ticks(range(graph.n), labels=labels, rotation=angle, fontsize=size, parse_math=False)
    words = "row to column: dark is directed, orange is undirected"
    ax.set_xlabel(words, color=INK, fontsize=TYPE_SIZE)
    if title:
        ax.set_title(title, color=INK, weight="bold", parse_math=False)
    return ax


def _draw_layout(
    graph: PDAG,
    ax: Axes,
    pyplot: bool,
    title: str | None,
    legend: bool,
    engine: Engine,
    styles: Mapping[Edge, EdgeStyle] | None,
) -> Axes:
    """Draw a graph in its layout, with title and legend, scaled to fit the axes."""
    from matplotlib.patches import FancyBboxPatch

    labels = labels_of(list(map(graph.name, range(graph.n))))
    layout = layout_of(graph, _sizes(labels), engine)
    entries = _legend_of(graph, styles) if legend else []
    top = MARGIN + (TITLE if title else 0.0)
    spaces = [LEGEND_LINE + 0.85 * size for size, _ in _sizes(entries)]
    title_width = 1.25 * BOLD_WIDTH * _sizes([title])[0][0] if title else 0.0
    width = max(layout.width, sum(spaces), title_width, 72.0) + 2 * MARGIN
    height = top + layout.height + MARGIN + (LEGEND if entries else 0.0)
    if ax is None:
        ax = _new_axes((width / 72, height / 72), (0, 0, 1, 1), pyplot)
    extent = ax.get_window_extent()
    points = 72 / ax.figure.dpi
    scale = min(extent.width * points / width, extent.height * points / height)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    layout = layout.moved((width - layout.width) / 2, top)
    _draw_edges(ax, graph, layout, scale, styles)
    frame: dict[str, Any] = {"facecolor": PAPER, "edgecolor": FRAME, "linewidth": 0.9 * scale}
    frame |= {"boxstyle": "round,pad=0,rounding_size=5", "zorder": 3}
    for v, box in layout.boxes.items():
        corner = (box.x - box.width / 2, box.top)
        ax.add_patch(FancyBboxPatch(corner, box.width, box.height, **frame))
        _text(ax, (box.x, box.y), labels[v], scale, zorder=4, linespacing=1.1)
    if title:
        _text(ax, (width / 2, MARGIN), title, 1.25 * scale, weight="bold")
    x, y = (width - sum(spaces)) / 2, height - MARGIN
    for words, space in zip(entries, spaces, strict=True):
        style = None if styles is None else EdgeStyle(1.5, dashed=words == NOT_AVERAGED)
        line = FRAME if words == NOT_AVERAGED else LINE  # edges of both kinds are dashed
        _draw_line(ax, [(x, y), (x + 30, y)], words == "directed", scale, style, line)
        _text(ax, (x + 36, y), words, 0.85 * scale, ha="left", color=FRAME)
        x += space
    return ax


def _legend_of(graph: PDAG, styles: Mapping[Edge, EdgeStyle] | None) -> list[str]:
    """Return the words for the kinds of edges that a graph has."""
    entries = ["directed"] if graph.directed_edges() else []
    entries += ["undirected (direction not determined)"] if graph.undirected_edges() else []
    edges = graph.directed_edges() + graph.undirected_edges()
    if styles and any(styles[min(e), max(e)].dashed for e in edges):
        entries.append(NOT_AVERAGED)
    return entries


def _draw_edges(
    ax: Axes, graph: PDAG, layout: Layout, scale: float, styles: Mapping[Edge, EdgeStyle] | None
) -> None:
    """Draw the edges along their curves."""
    for curve in layout.curves:
        upper, lower = curve.edge
        # an arrow of a directed cycle may point up
        route = curve.points[::-1] if graph.children(lower) >> upper & 1 else curve.points
        style = None if styles is None else styles[min(upper, lower), max(upper, lower)]
        _draw_line(ax, route, not graph.neighbors(upper) >> lower & 1, scale, style)


def _sizes(labels: Sequence[str]) -> list[Size]:
    """Return the width and height of the box around each label, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    measure = TextToPath().get_text_width_height_descent
    font = FontProperties(size=TYPE_SIZE)
    sizes = []
    with _missing_glyphs_shown_as_boxes():
        for label in labels:
            lines = label.split("\n")
            width = max(measure(line, font, False)[0] for line in lines)
            sizes.append((max(width, 12.0) + 14.0, 1.22 * TYPE_SIZE * len(lines) + 10.0))
    return sizes


def _draw_line(
    ax: Axes,
    route: Sequence[Point],
    directed: bool,
    scale: float,
    style: EdgeStyle | None,
    line: str = LINE,
) -> None:
    """Draw an edge along a straight line or along arcs, in its own style or that of its kind."""
    from matplotlib.patches import FancyArrowPatch, PathPatch
    from matplotlib.path import Path as Outline

    arcs = [Outline.MOVETO] + [Outline.CURVE4] * (len(route) - 1)
    outline = Outline(route, arcs if len(route) > 2 else None)
    style = style or (EdgeStyle(1.1) if directed else EdgeStyle(1.5, dashed=True))
    look: dict[str, Any] = {"linewidth": style.width * scale, "zorder": 2}
    if style.dashed:
        look["linestyle"] = DASHES
    if directed:
        size = 10 * scale * max(1.0, style.width / 1.5)
        look |= {"arrowstyle": "-|>", "mutation_scale": size, "shrinkA": 0, "shrinkB": 0}
        ax.add_patch(FancyArrowPatch(path=outline, color=ARROW, joinstyle="miter", **look))
    else:
        look |= {"facecolor": "none", "edgecolor": line, "capstyle": "butt"}
        ax.add_patch(PathPatch(outline, **look))


def _text(ax: Axes, place: Point, text: str, scale: float, **options: object) -> None:
    """Write a text without interpreting it: a dollar sign does not begin a formula."""
    options = {"ha": "center", "va": "center", "color": INK} | options
    ax.text(*place, text, parse_math=False, fontsize=TYPE_SIZE * scale, **options)


def _render(figure: Any, kind: str, dpi: int) -> bytes:  # noqa: ANN401 (a matplotlib figure)
    """Return the content of a file of the figure."""
    from matplotlib import rc_context

    content = BytesIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "sges", "pdf.fonttype": 42}
    facts: dict[str, Any] = {
        "svg": {"Creator": [MARK], "Date": None},
        "png": {"Software": MARK},
        "pdf": {"Creator": MARK, "CreationDate": None},
    }
    with rc_context(settings), _missing_glyphs_shown_as_boxes():
        dots = min(dpi, MAX_PIXELS / max(figure.get_size_inches()))
        figure.savefig(content, format=kind, dpi=dots, metadata=facts[kind])
    return content.getvalue()


def check_axes(ax: object) -> None:
    """Raise an error if a value is neither axes of matplotlib nor None."""
    if ax is not None and (isinstance(ax, type) or not hasattr(ax, "get_window_extent")):
        raise InvalidArgument(f"ax = {shown(ax)}: it must be matplotlib axes, or None")


def format_of(path: PathLike) -> str:
    """Return the format of a path by its extension; raise an error if it is unknown."""
    check_path("path", path)
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InvalidArgument(
            f"a picture cannot be written to {str(path)!r}: its extension must be one of "
            f"{', '.join('.' + kind for kind in FORMATS)}"
        )
    return kind


def check_picture(path: PathLike) -> str:
    """Return the format of a path; raise an error if it would replace a file we did not draw."""
    kind, picture = format_of(path), Path(path)
    with file_errors("write", picture):
        old = picture.read_bytes() if picture.is_file() else b""
    if old and MARK.encode() not in old:
        raise will_not_replace(path, "was not drawn by sges")
    return kind


def draw_steps(
    points: Sequence[tuple[float, float]],
    path: PathLike | None = None,
    ax: Axes = None,
    *,
    mark: float | None = None,
    labels: tuple[str, str] = ("", ""),
) -> Axes:
    """Draw a cumulative distribution on [0, 1] as steps, and write the picture if a path is given.

    The points are values and the share of values up to each; a dashed line marks a value.
    """
    check_axes(ax)
    kind = None if path is None else format_of(path)
    if ax is None:
        ax = _new_axes((5, 3.4), (0.14, 0.16, 0.82, 0.8), path is None)
    at = [(0.0, 0.0), *points, (1.0, 1.0)]
    ax.step([x for x, _ in at], [y for _, y in at], where="post", color=ARROW, linewidth=1.4)
    if mark is not None:
        ax.axvline(mark, color=LINE, linestyle=DASHES, linewidth=1.2)
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(0.0, 1.01)
    ax.set_xlabel(labels[0], color=INK)
    ax.set_ylabel(labels[1], color=INK)
    if path is not None and kind is not None:
        write_bytes(path, _render(ax.figure, kind, DPI))
    return ax


@contextmanager
def _missing_glyphs_shown_as_boxes() -> Iterator[None]:
    """Allow names in scripts that the font lacks; an SVG file shows them in another font."""
    with warnings.catch_warnings():
        missing = "Glyph .* missing from|Matplotlib currently does not support"
        warnings.filterwarnings("ignore", message=missing)
        yield
