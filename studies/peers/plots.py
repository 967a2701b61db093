"""Plots of the results: how time grows, who is where on reference networks, time against score."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studies import charts
from studies.peers.medians import Cell, Cells, Family

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OURS = (
    charts.BLUE,
    charts.GREEN,
    charts.VIOLET,
    "#12a5a5",
    "#0b2f5b",
    "#7fb800",
    "#6cc0f5",
    "#b48ad6",
)
PEERS = ("#c23b22", "#c98a00", "#8a8a8a", "#a0522d", "#d26fa0", "#6b7f2a", "#4a4a4a", "#e08a5c")
MARKS = "osD^vP<>X"
TITLE: dict[str, Any] = {"loc": "left", "fontsize": 11, "fontweight": "bold"}


class Look:
    """A colour and a mark per program: ours in cool colours, the same in every plot."""

    def __init__(self, peers: Sequence[str], ours: Sequence[str]) -> None:
        self.ours = list(ours)
        self.others = [peer for peer in peers if peer not in ours]

    def of(self, peer: str) -> dict[str, Any]:
        """Return how the lines and points of a program look."""
        if peer in self.ours:
            place = self.ours.index(peer)
            return {"color": OURS[place % len(OURS)], "marker": "o", "linewidth": 2.2, "zorder": 3}
        place = self.others.index(peer)
        return {
            "color": PEERS[place % len(PEERS)],
            "marker": MARKS[place % len(MARKS)],
            "linewidth": 1.1,
            "zorder": 2,
        }


def growth(families: Sequence[Family], cells: Cells, look: Look, path: Path) -> bool:
    """Draw seconds against variables, one panel per family with several sizes."""
    several = [f for f in families if f.name != "networks" and len(f.datasets) > 1]
    shown = sorted(several, key=lambda family: -len(family.datasets))[:4]
    if not shown:
        return False
    figure = charts.new_figure()
    for axis, family in zip(_grid(figure, len(shown)), shown, strict=True):
        _lines(axis, family, cells, look)
        axis.set_title(_broken(family.title), **TITLE)
        axis.set_xlabel("variables")
        axis.set_ylabel("seconds")
    charts.save(figure, path)
    return True


def _grid(figure: "Figure", count: int) -> "list[Axes]":
    """Return so many axes, two in a row."""
    import matplotlib as mpl

    down = -(-count // 2)
    figure.set_size_inches(6.4 * min(count, 2), 5.2 * down)
    with mpl.rc_context(charts.STYLE):
        found = figure.subplots(down, min(count, 2), squeeze=False)
    flat = list(found.flat)
    for unused in flat[count:]:
        unused.set_axis_off()
    return flat[:count]


def _lines(axis: "Axes", family: Family, cells: Cells, look: Look) -> None:
    sizes = [int(head.removeprefix("d = ")) for head in family.columns]
    axis.set_xscale("log")
    axis.set_yscale("log")
    for peer in _drawn(family, cells, look):
        found = [cells.get((peer, dataset)) for dataset in family.datasets]
        points = [(d, c.seconds) for d, c in zip(sizes, found, strict=True) if c and c.seconds]
        style = look.of(peer)
        xs, ys = [float(d) for d, _ in points], [float(s) for _, s in points]
        charts.line(axis, (xs, ys), peer, style.pop("color"), **style)
    axis.set_xticks(sizes, [str(d) for d in sizes])
    axis.minorticks_off()


def networks(family: Family, cells: Cells, look: Look, path: Path) -> None:
    """Draw the seconds of every program on every reference network, a row for each."""
    figure = charts.new_figure()
    (axis,) = charts.panels(figure)
    figure.set_size_inches(9.0, 1.6 + 0.55 * len(family.datasets))
    for peer in _drawn(family, cells, look):
        found = [(row, cells.get((peer, name))) for row, name in enumerate(family.datasets)]
        points = [(cell.seconds, row) for row, cell in found if cell and cell.seconds]
        style = look.of(peer) | {"linewidth": 0}
        axis.plot([x for x, _ in points], [y for _, y in points], label=peer, alpha=0.9, **style)
    axis.set_xscale("log")
    axis.set_yticks(range(len(family.columns)), family.columns)
    axis.set_ylim(len(family.columns) - 0.5, -0.5)
    axis.grid(axis="x")
    axis.set_xlabel("seconds")
    axis.set_title(family.title, **TITLE)
    figure.legend(loc="outside right center", fontsize=8.5, frameon=False)
    charts.save(figure, path)


def tradeoff(families: Sequence[Family], cells: Cells, look: Look, path: Path) -> bool:
    """Draw time against BIC, both beside ours: the best corner is at the upper left."""
    drawn = [peer for peer in (*look.ours, *look.others) if _points(peer, families, cells)]
    if len(drawn) < 2:
        return False
    figure = charts.new_figure()
    (axis,) = charts.panels(figure)
    figure.set_size_inches(9.0, 5.2)
    for peer in drawn:
        points = _points(peer, families, cells)
        style = look.of(peer) | {"linewidth": 0}
        axis.plot([x for x, _ in points], [y for _, y in points], label=peer, alpha=0.8, **style)
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=0.1)
    axis.axvline(1, color=charts.INK, linewidth=0.7)
    axis.axhline(0, color=charts.INK, linewidth=0.7)
    axis.set_xlabel("time, as a multiple of ours")
    axis.set_ylabel("BIC beyond ours, nats per variable")
    axis.set_title("Each point is a data set: left is faster than ours, above is better", **TITLE)
    axis.margins(0.05)
    figure.legend(loc="outside right center", fontsize=8.5, frameon=False)
    charts.save(figure, path)
    return True


def _points(peer: str, families: Sequence[Family], cells: Cells) -> list[tuple[float, float]]:
    """Return time and score of a program beside ours, on each data set that both finished."""
    found = [(cells.get((peer, name)), name) for family in families for name in family.datasets]
    return [
        (cell.ratio, cell.bic_gain / cell.d)
        for cell, _ in found
        if cell is not None and cell.ratio is not None and cell.bic_gain is not None
    ]


def _drawn(family: Family, cells: Cells, look: Look) -> list[str]:
    """Return the programs that finished any data set of the family, ours last and so on top."""

    def finished(peer: str) -> bool:
        return any(_done(cells.get((peer, dataset))) for dataset in family.datasets)

    return [peer for peer in (*look.ours, *look.others) if finished(peer)]


def _done(cell: Cell | None) -> bool:
    return cell is not None and cell.done > 0


def _broken(title: str) -> str:
    """Return a title on two lines."""
    head, _, tail = title.partition(", ")
    return f"{head}\n{tail}"
