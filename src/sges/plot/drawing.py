"""Drawing with matplotlib: boxes with names, arrows, and dashed lines for undirected edges.

The sheet has the size that the layout needs, so that the type has the same size in a picture of
8 nodes and of 80; drawn into axes of the user's, all is scaled to fit.  No name is read as
mathematics or markup, and the same graph gives the same file, byte by byte.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from sges.errors import InvalidArgument
from sges.export.optional import need
from sges.export.writing import PathLike, write_bytes
from sges.graph.pdag import PDAG
from sges.plot.geometry import Curve, Layout, Size
from sges.plot.graphviz import by_graphviz
from sges.plot.labels import labels_of
from sges.plot.layered import layered

Axes: TypeAlias = Any
"""``matplotlib.axes.Axes``; matplotlib is imported only when something is drawn."""

FORMATS = ("svg", "png", "pdf")
TYPE_SIZE = 10.0
MARGIN = 18.0
TITLE, LEGEND = 26.0, 22.0
DPI, MOST_PIXELS = 160, 12_000
INK, PAPER, FRAME = "#1f2937", "#f8fafc", "#64748b"
ARROW, LINE = "#334155", "#b45309"
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}


class Look(TypedDict, total=False):
    """What can be chosen about a picture."""

    title: str | None
    """A line above it."""
    legend: bool
    """Whether to say below it what the two kinds of edges are; True unless told otherwise."""
    engine: Literal["auto", "own", "graphviz"]
    """Who places the nodes: Graphviz if it is installed, or sges itself."""
    dpi: int
    """Dots per inch of a PNG."""


def draw(graph: PDAG, path: PathLike | None = None, ax: Axes = None, **look: Unpack[Look]) -> Axes:
    """Draw a graph and return the axes; write it too, if a path (.svg, .png, .pdf) is given.

    With ``ax`` it is drawn there.  Without path and axes, a new figure of pyplot is made, which
    a notebook shows and ``matplotlib.pyplot.show()`` opens.
    """
    kind = None if path is None else _format(path)
    sheet = _Sheet(graph, **look)
    if ax is None:
        ax = sheet.axes(pyplot=path is None)
    sheet.draw(ax)
    if path is not None and kind is not None:
        write_bytes(path, sheet.render(ax.figure, kind))
    return ax


def picture(graph: PDAG, kind: str, **look: Unpack[Look]) -> bytes:
    """Return the content of a picture file: "svg", "png" or "pdf"."""
    sheet = _Sheet(graph, **look)
    ax = sheet.axes(pyplot=False)
    sheet.draw(ax)
    return sheet.render(ax.figure, kind)


def layout_of(graph: PDAG, sizes: Sequence[Size], engine: str = "auto") -> Layout:
    """Return where to draw everything, by Graphviz or by ourselves."""
    if engine not in ("auto", "own", "graphviz"):
        raise InvalidArgument(f"engine = {engine!r}: it must be 'auto', 'own' or 'graphviz'")
    if engine != "own" and graph.n and (found := by_graphviz(graph, sizes)) is not None:
        return found
    if engine == "graphviz":
        raise InvalidArgument(
            "engine = 'graphviz': its program dot is not there or failed; use 'own'"
        )
    return layered(graph, sizes)


class _Sheet:
    """One picture in the making: the layout, and how to put it onto axes."""

    def __init__(self, graph: PDAG, **look: Unpack[Look]) -> None:
        need("matplotlib", "a picture")
        self.graph = graph
        self.title = look.get("title")
        self.dpi = look.get("dpi", DPI)
        self.labels = labels_of([graph.name(v) for v in range(graph.n)])
        with _missing_glyphs_shown_as_boxes():
            self.sizes = [_size(label) for label in self.labels]
        self.layout = layout_of(graph, self.sizes, look.get("engine", "auto"))
        kinds = _kinds(graph) if look.get("legend", True) else []
        self.legend = kinds
        self.width = max(self.layout.width, 150.0 * len(kinds), 72.0) + 2 * MARGIN
        self.top = MARGIN + (TITLE if self.title else 0.0)
        self.height = self.top + self.layout.height + MARGIN + (LEGEND if kinds else 0.0)
        self.left = (self.width - self.layout.width) / 2

    def axes(self, *, pyplot: bool) -> Axes:
        """Return new axes that fill a figure of the sheet's size."""
        size = (self.width / 72, self.height / 72)
        if pyplot:
            figure = need("matplotlib.pyplot", "a picture", "matplotlib").figure(figsize=size)
        else:
            figure = need("matplotlib.figure", "a picture", "matplotlib").Figure(figsize=size)
        return figure.add_axes((0, 0, 1, 1))

    def draw(self, ax: Axes) -> None:
        """Put everything onto the axes, scaled to fit them."""
        box = ax.get_window_extent()
        points = 72 / ax.figure.dpi
        scale = min(box.width * points / self.width, box.height * points / self.height)
        ax.set_axis_off()
        ax.set_aspect("equal")
        ax.set_xlim(0, self.width)
        ax.set_ylim(self.height, 0)
        layout = self.layout.moved(self.left, self.top)
        for curve in layout.curves:
            _draw_edge(ax, self.graph, curve, scale)
        for v, node in layout.boxes.items():
            _draw_node(ax, self.labels[v], (node.x, node.y), (node.width, node.height), scale)
        if self.title:
            place = (self.width / 2, MARGIN)
            _text(ax, place, self.title, 1.25 * scale, va="center", weight="bold")
        for k, kind in enumerate(self.legend):
            middle = self.width / 2 + 150 * (k - (len(self.legend) - 1) / 2)
            _draw_legend(ax, kind, (middle - 62, self.height - MARGIN), scale)

    def render(self, figure: Any, kind: str) -> bytes:  # noqa: ANN401 (a matplotlib figure)
        """Return the content of a file of the figure."""
        if kind not in FORMATS:
            raise InvalidArgument(f"a picture is one of {', '.join(FORMATS)}, not {kind!r}")
        rc_context = need("matplotlib", "a picture").rc_context
        inches = max(figure.get_size_inches())
        dpi = min(self.dpi, MOST_PIXELS / inches)
        content = BytesIO()
        settings = {"svg.fonttype": "none", "svg.hashsalt": "sges", "pdf.fonttype": 42}
        with rc_context(settings), _missing_glyphs_shown_as_boxes():
            figure.savefig(content, format=kind, dpi=dpi, metadata=_METADATA[kind])
        return content.getvalue()


def _format(path: PathLike) -> str:
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InvalidArgument(
            f"a picture cannot be written to {str(path)!r}: its ending must be one of "
            f"{', '.join('.' + kind for kind in FORMATS)}"
        )
    return kind


def _kinds(graph: PDAG) -> list[str]:
    both = {"directed": graph.directed_edges(), "undirected": graph.undirected_edges()}
    return [kind for kind, edges in both.items() if edges]


def _size(label: str) -> Size:
    """Return the width and height of the box around a label, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    measure = TextToPath().get_text_width_height_descent
    font = FontProperties(size=TYPE_SIZE)
    lines = label.split("\n")
    width = max(measure(line, font, False)[0] for line in lines)
    return (max(width, 12.0) + 14.0, 1.22 * TYPE_SIZE * len(lines) + 10.0)


def _draw_node(ax: Axes, label: str, centre: tuple[float, float], size: Size, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (centre[0] - size[0] / 2, centre[1] - size[1] / 2)
    style = "round,pad=0,rounding_size=5"
    frame: dict[str, Any] = {
        "facecolor": PAPER,
        "edgecolor": FRAME,
        "linewidth": 0.9 * scale,
        "zorder": 3,
    }
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=style, **frame))
    _text(ax, centre, label, scale, ha="center", va="center", zorder=4, linespacing=1.1)


def _text(ax: Axes, place: tuple[float, float], text: str, scale: float, **how: object) -> None:
    """Write a text as it is: a dollar sign begins no formula."""
    defaults: dict[str, object] = {"ha": "center", "color": INK, "fontsize": TYPE_SIZE * scale}
    ax.text(*place, text, parse_math=False, **(defaults | how))


def _draw_edge(ax: Axes, graph: PDAG, curve: Curve, scale: float) -> None:
    from matplotlib.path import Path as Outline

    upper, lower = curve.edge
    points = list(curve.points)
    if graph.children(lower) >> upper & 1:
        points.reverse()  # an arrow of a directed cycle, which points up
    outline = Outline(points, [Outline.MOVETO] + [Outline.CURVE4] * (len(points) - 1))
    directed = not graph.neighbors(upper) >> lower & 1
    _draw_way(ax, outline, directed, scale)


def _draw_way(ax: Axes, outline: Any, directed: bool, scale: float) -> None:  # noqa: ANN401
    from matplotlib.patches import FancyArrowPatch, PathPatch

    if directed:
        look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 10 * scale}
        look |= {"shrinkA": 0, "shrinkB": 0, "color": ARROW, "linewidth": 1.1 * scale}
        ax.add_patch(FancyArrowPatch(path=outline, zorder=2, joinstyle="miter", **look))
    else:
        dashes = (0, (4, 2.2))
        look = {"edgecolor": LINE, "linewidth": 1.5 * scale, "linestyle": dashes}
        ax.add_patch(PathPatch(outline, facecolor="none", zorder=2, capstyle="butt", **look))


def _draw_legend(ax: Axes, kind: str, start: tuple[float, float], scale: float) -> None:
    from matplotlib.path import Path as Outline

    x, y = start
    _draw_way(ax, Outline([(x, y), (x + 30, y)]), kind == "directed", scale)
    words = {"directed": "directed", "undirected": "undirected: either way"}[kind]
    _text(ax, (x + 36, y), words, 0.85 * scale, ha="left", va="center", color=FRAME)


@contextmanager
def _missing_glyphs_shown_as_boxes() -> Iterator[None]:
    """Let names in scripts that the font lacks pass; SVG shows them all the same."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield
