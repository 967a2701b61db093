"""What a layout is, which way its edges point, and layouts made by Graphviz.

A layout is boxes and curves on a sheet, in points, with y growing downward.  Arrows point down.
Undirected edges have no direction of their own, but are drawn downward too, so that no edge lies
flat within a layer and runs through the nodes between its ends; within a chain component they
lead away from its middle, which keeps the picture low.

Graphviz is used where its program ``dot`` is installed.  Nodes go out as n0, n1, ... with their
sizes, so that no name is ever part of what ``dot`` reads, and its plain output, one node or edge
per line, is read back.
"""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet, nodes

POINTS_PER_INCH = 72.0
GRAPHVIZ_SECONDS = 20
"""How long to wait for ``dot``."""

Point: TypeAlias = tuple[float, float]
Size: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """The box of a node, in points.

    Parameters
    ----------
    x, y : float
        The centre; y grows downward.
    width, height : float
        The size.
    """

    x: float
    y: float
    width: float
    height: float

    @property
    def top(self) -> float:
        """The y of its upper side."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """The y of its lower side."""
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Curve:
    """The curve of an edge, from its upper to its lower end.

    Parameters
    ----------
    edge : (int, int)
        The upper and the lower node.
    points : tuple of (float, float)
        The start, then three control points per cubic Bézier arc.
    """

    edge: Edge
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is drawn on a sheet, in points.

    Parameters
    ----------
    width, height : float
        The size of the sheet.
    boxes : dict of int to Box
        The box of each node.
    curves : tuple of Curve
        The curves of the edges.
    """

    width: float
    height: float
    boxes: dict[int, Box]
    curves: tuple[Curve, ...]

    def moved(self, dx: float, dy: float) -> "Layout":
        """Return the layout with everything on the sheet moved.

        Parameters
        ----------
        dx, dy : float
            How far to the right, and how far down.

        Returns
        -------
        Layout
            The same boxes and curves elsewhere on a sheet of the same size.
        """
        boxes = {v: replace(b, x=b.x + dx, y=b.y + dy) for v, b in self.boxes.items()}
        curves = [
            replace(curve, points=tuple((x + dx, y + dy) for x, y in curve.points))
            for curve in self.curves
        ]
        return replace(self, boxes=boxes, curves=tuple(curves))


def bounded(boxes: dict[int, Box], curves: Sequence[Curve], margin: float = 0.0) -> Layout:
    """Return the layout on the smallest sheet that holds it, with a margin."""
    points = [point for curve in curves for point in curve.points]
    xs = [x for x, _ in points] + [b.x + s * b.width / 2 for b in boxes.values() for s in (-1, 1)]
    ys = [y for _, y in points] + [side for b in boxes.values() for side in (b.top, b.bottom)]
    left, top = min(xs, default=0.0), min(ys, default=0.0)
    size = (max(xs, default=0.0) - left, max(ys, default=0.0) - top)
    whole = Layout(size[0] + 2 * margin, size[1] + 2 * margin, boxes, tuple(curves))
    return whole.moved(margin - left, margin - top)


def packed(parts: Sequence[Layout], gap: float, aspect: float) -> Layout:
    """Return the parts side by side in rows, about ``aspect`` times wider than high."""
    area = sum((part.width + gap) * (part.height + gap) for part in parts)
    room = max(max((p.width for p in parts), default=0.0), (area * aspect) ** 0.5)
    x = y = row_height = 0.0
    boxes: dict[int, Box] = {}
    curves: list[Curve] = []
    for part in parts:
        if x and x + part.width > room:
            x, y, row_height = 0.0, y + row_height + gap, 0.0
        placed = part.moved(x, y)
        boxes |= placed.boxes
        curves += placed.curves
        x, row_height = x + part.width + gap, max(row_height, part.height)
    return bounded(boxes, curves)


def downward_edges(graph: PDAG) -> list[Edge]:
    """Return every edge as (upper, lower); arrows point down unless they make a cycle."""
    place = {v: k for k, v in enumerate(_order(graph))}
    arrows = [(x, y) if place[x] < place[y] else (y, x) for x, y in graph.directed_edges()]
    lines = [(x, y) if place[x] < place[y] else (y, x) for x, y in graph.undirected_edges()]
    return sorted(arrows + lines)


def _order(graph: PDAG) -> list[int]:
    """Return the nodes so that arrows lead forward; where they make cycles, most of them do.

    Whole chain components come one after another where that is possible, as in every CPDAG;
    inside one, nodes near its middle come first.
    """
    remaining = (1 << graph.n) - 1
    central = _distance_from_middle(graph)
    order: list[int] = []
    while remaining:
        ready = _ready(graph, remaining, order)
        v = min(nodes(ready), key=lambda u: (central[u], u))
        order.append(v)
        remaining ^= 1 << v
    return order


def _ready(graph: PDAG, left: NodeSet, order: list[int]) -> NodeSet:
    """Return the nodes that may come next; the component just begun comes before others."""
    sources = sum(1 << v for v in nodes(left) if not graph.parents(v) & left)
    if not sources:  # a directed cycle: break it where the fewest arrows point up
        v = min(nodes(left), key=lambda u: ((graph.parents(u) & left).bit_count(), u))
        return 1 << v
    begun = graph.chain_component(order[-1]) if order else 0
    return sources & begun or sources


def _distance_from_middle(graph: PDAG) -> dict[int, int]:
    """Return for each node how far it is from the middle of its chain component."""
    distance: dict[int, int] = {}
    left = (1 << graph.n) - 1
    while left:
        component = graph.chain_component((left & -left).bit_length() - 1)
        left &= ~component
        reached = {v: _steps_from(graph, v) for v in nodes(component)}
        middle = min(reached, key=lambda v: (max(reached[v].values()), v))
        distance |= reached[middle]
    return distance


def _steps_from(graph: PDAG, start: int) -> dict[int, int]:
    steps = {start: 0}
    queue = [start]
    for v in queue:
        for u in nodes(graph.neighbors(v)):
            if u not in steps:
                steps[u] = steps[v] + 1
                queue.append(u)
    return steps


def by_graphviz(graph: PDAG, sizes: Sequence[Size]) -> Layout | None:
    """Return the layout that ``dot`` makes, or None if it is not installed or fails."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        ran = subprocess.run(
            [program, "-Tplain", "-y"],
            input=graphviz_input(graph, sizes),
            capture_output=True,
            check=True,
            text=True,
            timeout=GRAPHVIZ_SECONDS,
        )
        return layout_of_plain(ran.stdout, graph, sizes)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def graphviz_input(graph: PDAG, sizes: Sequence[Size]) -> str:
    """Return the input for ``dot``: the graph without names, every edge pointing down."""
    lines = ["digraph {", 'node [shape=box, fixedsize=true, label=""]; edge [arrowhead=none];']
    for v, (width, height) in enumerate(sizes):
        lines.append(
            f"n{v} [width={width / POINTS_PER_INCH:.4f}, height={height / POINTS_PER_INCH:.4f}];"
        )
    lines += [f"n{x} -> n{y};" for x, y in downward_edges(graph)]
    return "\n".join([*lines, "}"])


def layout_of_plain(plain: str, graph: PDAG, sizes: Sequence[Size]) -> Layout:
    """Return the layout in the plain output of ``dot``; refuse one that is not complete."""
    boxes: dict[int, Box] = {}
    curves = []
    for line in plain.splitlines():
        words = line.split()
        if words[:1] == ["node"]:
            v = int(words[1].removeprefix("n"))
            boxes[v] = Box(
                float(words[2]) * POINTS_PER_INCH, float(words[3]) * POINTS_PER_INCH, *sizes[v]
            )
        elif words[:1] == ["edge"]:
            ends = [int(word.removeprefix("n")) for word in words[1:3]]
            numbers = [float(word) * POINTS_PER_INCH for word in words[4 : 4 + 2 * int(words[3])]]
            points = tuple(zip(numbers[::2], numbers[1::2], strict=True))
            curves.append(Curve((ends[0], ends[1]), points))
    if len(boxes) != graph.n or len(curves) != graph.edge_count():
        raise ValueError("the layout is not complete")
    return bounded(boxes, curves)
