"""Figures of the quality experiment: a panel per setting, a row per program, quartiles as bars."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log10, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from studies import charts
from studies.peers.quality_facts import DEFAULT, Line, Results, Spread, described, is_ours
from studies.peers.suite import Spec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

COLUMNS = 5
ROW, EDGES = 0.158, 0.78
"""Inches that a program takes, and that the title and axis of a panel take."""

LINEAR = 0.5
"""How much of a decade the differences from 0 to 1 take."""

BEST, OURS, FAINT = "#0b3c7d", "#3f8fc4", "#777777"
WARM = {
    "xges": "#c23b22",
    "tetrad": "#d9822b",
    "pgmpy": "#a8688a",
    "pybnesian": "#8c6d46",
    "pyagrum": "#b09a2e",
}
"""Peers by the beginning of their names; all others are grey."""
GREY = "#8a8a8a"


@dataclass(frozen=True, slots=True)
class Measure:
    """What a figure shows: a value of each line, how its axis is scaled, and how to read it."""

    title: str
    reading: str
    value: Callable[[Line], Spread | None]
    scale: Callable[["Axes", Sequence[Spread]], None]


def distance(results: Results, path: Path) -> None:
    """Draw the distance to the truth of every program on every setting."""
    reading = "left of the blue line: closer to the truth\nthan our default"
    _draw(results, Measure("SHD", reading, lambda line: line.spread("shd"), _square_roots), path)


def score(results: Results, path: Path) -> None:
    """Draw the BIC of every program on every setting, beyond that of the true graph."""
    reading = "right of the blue line: a higher BIC\nthan our default\ngrey line: the true graph"
    _draw(results, Measure("BIC − BIC of the true graph", reading, lambda x: x.bic, _powers), path)


def _draw(results: Results, measure: Measure, path: Path) -> None:
    """Draw the settings of each kind of data below each other, all their programs in each panel."""
    import matplotlib as mpl

    blocks = _blocks(results)
    heights = [ceil(len(specs) / COLUMNS) * _height(names) for specs, names in blocks]
    figure = charts.new_figure(11.4, sum(heights))
    with mpl.rc_context(charts.STYLE | {"axes.grid.axis": "x", "font.size": 8.5}):
        parts = figure.subfigures(len(blocks), 1, squeeze=False, height_ratios=heights)
        for (specs, names), part in zip(blocks, parts.flat, strict=True):
            _block(part, results, measure, specs, names)
    _save(figure, path)


def _blocks(results: Results) -> list[tuple[list[Spec], list[str]]]:
    """Return the settings of each kind with the programs that take it, our default first."""
    found = []
    for kind in ("gaussian", "discrete"):
        specs = [spec for spec in results.settings if spec.kind == kind]
        taken = {line.program for spec in specs for line in results.of(spec.name)}
        names = [name for name in results.programs if name in taken]
        names.sort(key=lambda name: name != DEFAULT)
        if specs and names:
            found.append((specs, names))
    return found


def _height(names: Sequence[str]) -> float:
    return EDGES + ROW * len(names)


def _block(
    part: "SubFigure", results: Results, measure: Measure, specs: list[Spec], names: list[str]
) -> None:
    grid = part.subplots(ceil(len(specs) / COLUMNS), COLUMNS, squeeze=False, sharey=True)
    for place, (axes, spec) in enumerate(zip(grid.flat, specs, strict=False)):
        _panel(axes, [results.lines.get((spec.name, name)) for name in names], measure)
        what, many = described(spec)
        axes.set_title(f"{what}\n{many}", loc="left", fontsize=8.5, fontweight="bold")
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.axhline(sum(map(is_ours, names)) - 0.5, color=charts.FAINT, linewidth=0.8, zorder=0)
        if place % COLUMNS == 0:
            _name(axes, names)
    for axes in grid.flat[len(specs) :]:
        axes.set_axis_off()
    if len(specs) < grid.size:
        _explain(grid.flat[len(specs)], measure)


def _name(axes: "Axes", names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    for text, name in zip(axes.get_yticklabels(), names, strict=True):
        text.set_color(_color(name))
        text.set_fontweight("bold" if name == DEFAULT else "normal")


def _panel(axes: "Axes", lines: Sequence[Line | None], measure: Measure) -> None:
    axes.tick_params(axis="y", length=0)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    shown = [None if line is None else measure.value(line) for line in lines]
    measure.scale(axes, [spread for spread in shown if spread is not None])
    for row, (line, spread) in enumerate(zip(lines, shown, strict=True)):
        if spread is not None and line is not None:
            _bar(axes, row, line, spread)
        else:
            _note(axes, row, _why(line))
    first = lines[0]
    if first is not None and first.program == DEFAULT and shown[0] is not None:
        axes.axvline(shown[0].mid, color=BEST, linewidth=0.9, alpha=0.55, zorder=1)


def _bar(axes: "Axes", row: int, line: Line, spread: Spread) -> None:
    """Draw the quartiles as a bar and the median as a point, hollow if seeds are missing."""
    color = _color(line.program)
    axes.plot(
        (spread.low, spread.high), (row, row), color=color, linewidth=3.4, alpha=0.38,
        solid_capstyle="butt", zorder=2,
    )  # fmt: skip
    style: dict[str, Any] = {"markersize": 5.6 if line.program == DEFAULT else 4.4}
    style |= {"markerfacecolor": color if line.finished else "white", "markeredgewidth": 1.1}
    axes.plot([spread.mid], [row], "o", color=color, zorder=3, clip_on=False, **style)
    if not line.finished:
        axes.annotate(
            f"{len(line.done)} of {line.seeds}", (spread.high, row), (5, 0), va="center",
            textcoords="offset points", fontsize=6.5, color=FAINT,
        )  # fmt: skip


def _note(axes: "Axes", row: int, text: str) -> None:
    axes.annotate(
        text, (0.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=6.5,
        color="#999999", style="italic", zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
    )  # fmt: skip


def _why(line: Line | None) -> str:
    """Return the first word of why there is no result."""
    if line is None:
        return "not measured"
    if line.done:
        return "no DAG"
    return (line.rows[0]["failed"] or "").partition(":")[0].partition(" in ")[0]


def _explain(axes: "Axes", measure: Measure) -> None:
    """Say in an empty panel how to read the others."""
    text = (
        "point: median over the seeds\nbar: quartiles\nhollow: not all seeds finished\n\n"
        f"blue: ours, the darkest our default\n{measure.reading}"
    )
    place: dict[str, Any] = {"transform": axes.transAxes, "va": "top", "linespacing": 1.5}
    axes.text(0.04, 1.0, measure.title, fontsize=11, weight="bold", **place).set_in_layout(False)
    axes.text(0.04, 0.9, text, fontsize=8.5, **place).set_in_layout(False)


def _color(program: str) -> str:
    if is_ours(program):
        return BEST if program == DEFAULT else OURS
    return next((color for start, color in WARM.items() if program.startswith(start)), GREY)


def _square_roots(axes: "Axes", spreads: Sequence[Spread]) -> None:
    """Scale counts by their square roots: 0 has a place, and large ones do not take all."""
    most = max((spread.high for spread in spreads), default=1.0)
    axes.set_xscale("function", functions=(_root, _square))
    axes.set_xlim(-(0.05**2) * (most + 1), 1.06**2 * (most + 1))
    ticks: list[int] = []
    for tick in (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000):
        far = not ticks or sqrt(tick) - sqrt(ticks[-1]) > 0.15 * sqrt(most + 1)
        ticks += [tick] if far and tick <= most + 1 else []
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.xaxis.minorticks_off()


def _root(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sign(x) * np.sqrt(np.abs(x))


def _square(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sign(x) * np.square(x)


def _powers(axes: "Axes", spreads: Sequence[Spread]) -> None:
    """Scale differences of scores by their logarithms on both sides of 0, evenly up to 1."""
    low = min((spread.low for spread in spreads), default=-1.0)
    high = max((spread.high for spread in spreads), default=1.0)
    axes.set_xscale("symlog", linthresh=1.0, linscale=LINEAR)
    axes.set_xlim(min(-1.0, 2.5 * low), max(2.0, 2.5 * high))
    ticks = _outward(*axes.get_xlim())
    axes.set_xticks(ticks, [_power(tick) for tick in ticks])
    axes.xaxis.minorticks_off()
    axes.axvline(0, color="#bbbbbb", linewidth=0.9, zorder=0)


def _outward(low: float, high: float) -> list[float]:
    """Return 0 and powers of ten on both sides of it, as many as have room for their labels.

    >>> _outward(-5000.0, 30.0)
    [-1000.0, -10.0, 0.0, 10.0]
    """
    even = LINEAR / 0.9  # where 1 is drawn, in decades from 0
    reach = {-1: even + log10(max(-low, 1.0)), 1: even + log10(max(high, 1.0))}
    room = 0.2 * (reach[-1] + reach[1])
    ticks = [0.0]
    for side, most in reach.items():
        last = 0.0
        for power in range(1, 9):
            if last + room <= even + power <= most:
                ticks.append(side * 10.0**power)
                last = even + power
    return sorted(ticks)


def _power(value: float) -> str:
    if value == 0:
        return "0"
    sign, power = "−" if value < 0 else "+", round(log10(abs(value)))
    return f"{sign}{10**power}" if power < 3 else f"{sign}$10^{power}$"


def _save(figure: "Figure", path: Path) -> None:
    """Write the figure; the same rows give the same bytes."""
    import matplotlib as mpl

    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with mpl.rc_context(charts.STYLE):
        figure.savefig(path, metadata=metadata, dpi=110)
