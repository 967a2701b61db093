"""Plain charts: lines on logarithmic axes, each labeled where it ends."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sges.errors import MissingLibrary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#222222", "#d9d9d9"
BLUE, RED, GREEN, GOLD, VIOLET, GREY = (
    "#1f5fa8",
    "#c23b22",
    "#2e8b57",
    "#c98a00",
    "#7a4fa3",
    "#8a8a8a",
)
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "svg.hashsalt": "sges",  # the same rows give the same file
}


def new_figure(width: float = 7.2, height: float = 4.2) -> "Figure":
    """Return an empty figure, or raise an error if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingLibrary(
            "studies are drawn by matplotlib, which is not installed: pip install matplotlib"
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


class Looks:
    """A color and a marker for each program: ours in cool colors, drawn above the others."""

    OURS = (BLUE, GREEN, VIOLET, "#12a5a5", "#0b2f5b", "#7fb800", "#6cc0f5", "#b48ad6")
    OTHERS = (RED, GOLD, GREY, "#a0522d", "#d26fa0", "#6b7f2a", "#4a4a4a", "#e08a5c")
    MARKS = "osD^vP<>X"

    def __init__(self, programs: Sequence[str], is_ours: Callable[[str], bool]) -> None:
        self.ours = [program for program in programs if is_ours(program)]
        self.programs = [p for p in programs if not is_ours(p)] + self.ours

    def of(self, program: str) -> dict[str, Any]:
        """Return the style of a program's lines and points."""
        if program in self.ours:
            color = self.OURS[self.ours.index(program) % len(self.OURS)]
            return {"color": color, "marker": "o", "linewidth": 2.2, "zorder": 3}
        place = self.programs.index(program)
        color, mark = self.OTHERS[place % len(self.OTHERS)], self.MARKS[place % len(self.MARKS)]
        return {"color": color, "marker": mark, "linewidth": 1.1, "zorder": 2}


def axes_grid(figure: "Figure", count: int, columns: int = 2) -> "list[Axes]":
    """Return ``count`` axes in rows of at most ``columns``."""
    import matplotlib as mpl

    across, down = min(count, columns), max(-(-count // columns), 1)
    figure.set_size_inches(5.2 * max(across, 1), 4.6 * down)
    with mpl.rc_context(STYLE):
        every = list(figure.subplots(down, max(across, 1), squeeze=False).flat)
    for unused in every[count:]:
        unused.set_axis_off()
    return every[:count]


def intervals(
    axes: "Axes",
    ends: Mapping[str, tuple[float, float, float] | None],
    is_ours: Callable[[str], bool],
) -> None:
    """Draw the interval and the middle of each name, one below the other; None leaves a gap."""
    for place, (name, spread) in enumerate(ends.items()):
        if spread is not None:
            low, mid, high = spread
            color = BLUE if is_ours(name) else RED
            axes.plot([low, high], [place, place], color=color, linewidth=1.4)
            axes.plot([mid], [place], "o", color=color, markersize=4)
    axes.set_xscale("symlog", linthresh=1.0)
    axes.set_yticks(range(len(ends)), list(ends), fontsize=7)
    axes.set_ylim(len(ends) - 0.5, -0.5)
    axes.axvline(0, color=FAINT, linewidth=0.9, zorder=0)  # so that zero is always visible
    axes.grid(axis="x")


def panels(figure: "Figure", count: int = 1, **options: Any) -> "list[Axes]":  # noqa: ANN401
    """Return ``count`` axes side by side, in the style of all charts."""
    import matplotlib as mpl

    figure.set_size_inches(7.2 if count == 1 else 4.9 * count, 4.2)
    with mpl.rc_context(STYLE):
        found = figure.subplots(1, count, squeeze=False, **options)
    return list(found[0])


def line(
    axes: "Axes",
    points: tuple[Sequence[float], Sequence[float]],
    label: str,
    color: str,
    **style: Any,  # noqa: ANN401 (whatever matplotlib takes)
) -> None:
    """Draw one line; ``save`` adds the label at its end."""
    xs, ys = points
    if xs:
        options: dict[str, Any] = {"marker": "o", "linewidth": 1.6, "markersize": 3.5, **style}
        axes.plot(xs, ys, color=color, label=label, clip_on=False, **options)


def label_ends(axes: "Axes") -> None:
    """Write the label of each line at its end; labels that would overlap are moved apart."""
    by_end: dict[float, list[tuple[float, str, Any]]] = {}
    for drawn in axes.get_lines():
        if not str(drawn.get_label()).startswith("_"):
            x, y = float(drawn.get_xdata()[-1]), float(drawn.get_ydata()[-1])  # type: ignore[index, arg-type]
            by_end.setdefault(x, []).append((y, str(drawn.get_label()), drawn.get_color()))
    points = axes.get_window_extent().height * 72 / axes.figure.dpi
    for x, ends in by_end.items():
        ends.sort(key=lambda end: end[0])
        to_axes = axes.transData + axes.transAxes.inverted()
        heights = [points * float(to_axes.transform((x, y))[1]) for y, _, _ in ends]
        for (y, name, color), was, now in zip(ends, heights, spread(heights), strict=True):
            place: dict[str, Any] = {"xytext": (7, now - was), "textcoords": "offset points"}
            place["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
            axes.annotate(name, (x, y), color=color, va="center", annotation_clip=False, **place)


def spread(heights: Sequence[float], gap: float = 14.5) -> list[float]:
    """Return sorted heights, moved as little as possible to be at least ``gap`` apart.

    >>> spread([0.0, 10.0, 11.0, 50.0], gap=10.0)
    [-3.0, 7.0, 17.0, 50.0]
    """
    blocks: list[list[float]] = []  # heights minus i * gap: equal if exactly the gap apart
    for i, height in enumerate(heights):
        blocks.append([height - gap * i])
        while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    level = [fmean(block) for block in blocks for _ in block]
    return [at + gap * i for i, at in enumerate(level)]


def dots(axes: "Axes", points: Mapping[str, Sequence[float]], color: str) -> None:
    """Draw the single trials as faint dots."""
    axes.plot(points["x"], points["y"], ".", color=color, alpha=0.25, markersize=4, zorder=1)


def label(axes: "Axes", x: str, y: str, title: str = "") -> None:
    """Label the axes; without a title, the label of the y axis is written above the chart."""
    axes.set_xlabel(x)
    axes.set_title(title or y, loc="left", fontsize=10.5, fontweight="bold")
    if title:
        axes.set_ylabel(y)


def whole_numbers(axes: "Axes") -> None:
    """Place the ticks of the x axis at integers."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def plain_ticks(axes: "Axes", ticks: Sequence[float]) -> None:
    """Set the ticks of a logarithmic x axis, labeled with plain numbers."""
    axes.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
    axes.xaxis.minorticks_off()


def save(figure: "Figure", path: Path) -> None:
    """Write the figure; the same rows give the same bytes."""
    import matplotlib as mpl

    figure.draw_without_rendering()  # computes the layout, and so where the lines end
    for axes in figure.axes:
        if not figure.legends:
            label_ends(axes)
        axes.yaxis.set_minor_formatter("")  # on a logarithmic axis, label powers of ten only
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with mpl.rc_context(STYLE):
        figure.savefig(path, metadata=metadata, dpi=150)
