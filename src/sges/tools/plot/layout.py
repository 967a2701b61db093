"""Positions of the nodes and edges of a graph: our layered layout, and that of Graphviz.

A layout is boxes and curves on a sheet, in points, with y growing downward.  Arrows point down.
Undirected edges have no direction, but are also drawn downward, so that no edge lies within a layer
and runs through the nodes between its ends; within a chain component they lead away from its
middle, which keeps the picture low.

Our layered layout has four steps, after Sugiyama et al. (1981) and Gansner et al. (1993):

    layers        heights that make all edges together as short as possible; a linear program
                  whose matrix is totally unimodular, so that its solution is whole numbers
    order         orders within the layers with few crossings: sweeps down and up put each place
                  near the mean of its neighbors, then neighboring places change sides while
                  that saves crossings, and the best order seen is kept
    coordinates   places keep their order and their distance, and the sum of |x - x'| over all
                  pieces of edges is least, with long edges counting more; again a linear
                  program.  Long edges run vertically from bend to bend unless two of them cross
                  there, and nodes are centered over their neighbors as far as that costs nothing
    routes        every layer is a horizontal band with a gap below it; an edge crosses a band
                  only at a bend, straight down, and moves sideways only in gaps

A long edge is cut into pieces from layer to layer by *bends*: places that it passes on its way,
which take part in the ordering like nodes, so that the edge later runs around the nodes between
its ends.

Graphviz is used if its program ``dot`` is installed.  Nodes are passed as n0, n1, ... with their
sizes, so that ``dot`` never reads a name, and its plain output, one node or edge per line, is read
back.
"""

import shutil
import subprocess
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import components, nodes

Point: TypeAlias = tuple[float, float]
Size: TypeAlias = tuple[float, float]
Place: TypeAlias = int
"""A node, or a bend of an edge, numbered after the nodes."""

MAX_SWEEPS, MIN_SWEEPS = 24, 4
SWEPT_PLACES = 50_000
"""About how many places all sweeps from one start may visit."""
CENTERING_ROUNDS = 12
PLACE_GAP, BEND_GAP = 14.0, 6.0
"""Points between two places of a layer, and between two edges that pass it."""
MIN_LAYER_GAP, MAX_LAYER_GAP = 30.0, 220.0
"""Points between two layers: more where edges run far sideways."""
MAX_VERTICAL = 8
"""The number of layers after which an edge may move sideways again; more makes wide pictures."""
ASPECT = 1.5
POINTS_PER_INCH = 72.0
GRAPHVIZ_SECONDS = 20
"""How long to wait for ``dot``."""


@dataclass(frozen=True, slots=True)
class Box:
    """The box of a node, in points: its center and size; y grows downward."""

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
    """The curve of an edge, from its upper to its lower node.

    The points are the start, then three control points per cubic Bézier arc.
    """

    edge: Edge
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of boxes and curves on a sheet, in points."""

    width: float
    height: float
    boxes: dict[int, Box]
    curves: tuple[Curve, ...]

    def moved(self, dx: float, dy: float) -> "Layout":
        """Return the layout with everything on the sheet moved to the right and down."""
        boxes = {v: replace(b, x=b.x + dx, y=b.y + dy) for v, b in self.boxes.items()}
        curves = [
            replace(curve, points=tuple((x + dx, y + dy) for x, y in curve.points))
            for curve in self.curves
        ]
        return replace(self, boxes=boxes, curves=tuple(curves))


def bounded(boxes: dict[int, Box], curves: Sequence[Curve]) -> Layout:
    """Return the layout on the smallest sheet that holds it."""
    corners = []
    for box in boxes.values():
        corners += [(box.x - box.width / 2, box.top), (box.x + box.width / 2, box.bottom)]
    for curve in curves:
        corners += curve.points
    left, top = np.min(corners, axis=0).tolist()
    right, bottom = np.max(corners, axis=0).tolist()
    return Layout(right - left, bottom - top, boxes, tuple(curves)).moved(-left, -top)


def layered(graph: PDAG, sizes: Sequence[Size]) -> Layout:
    """Return the layered layout of a graph whose nodes have these sizes (width, height).

    Connected components stand side by side in rows, and the nodes without edges below them.
    """
    edges = downward_edges(graph)
    parts: list[Layout] = []
    isolated: list[Layout] = []
    for component in components(graph.adjacent, (1 << graph.n) - 1):
        here = [edge for edge in edges if component >> edge[0] & 1]
        if here:
            parts.append(_component(list(nodes(component)), here, sizes))
        else:
            v = component.bit_length() - 1
            isolated.append(bounded({v: Box(0.0, 0.0, *sizes[v])}, []))
    parts.sort(key=lambda part: -part.height)
    above = _in_rows(parts, 2 * PLACE_GAP, ASPECT)
    below = _in_rows(isolated, PLACE_GAP, 2 * ASPECT, above.width)
    return _in_rows([part for part in (above, below) if part.boxes], 1.5 * MIN_LAYER_GAP, 0.0)


def _in_rows(parts: Sequence[Layout], gap: float, aspect: float, room: float = 0.0) -> Layout:
    """Return layouts side by side in rows, together about ``aspect`` times wider than high.

    A row is at least as wide as ``room`` and the widest layout.
    """
    area = 0.0
    for part in parts:
        room = max(room, part.width)
        area += (part.width + gap) * (part.height + gap)
    room = max(room, (area * aspect) ** 0.5)
    boxes: dict[int, Box] = {}
    curves: list[Curve] = []
    x = top = width = height = 0.0
    for part in parts:
        if x and x + part.width > room:
            x, top = 0.0, height + gap
        placed = part.moved(x, top)
        boxes |= placed.boxes
        curves += placed.curves
        width, height = max(width, x + part.width), max(height, top + part.height)
        x += part.width + gap
    return Layout(width, height, boxes, tuple(curves))


def downward_edges(graph: PDAG) -> list[Edge]:
    """Return every edge as (upper, lower); arrows point down unless they make a cycle.

    Whole chain components come one after another where that is possible, as in every CPDAG;
    inside one, nodes near its middle come first.
    """
    from_middle: dict[int, int] = {}
    for component in components(graph.neighbors, (1 << graph.n) - 1):
        steps: dict[int, dict[int, int]] = {}  # the undirected edges between each two nodes
        for start in nodes(component):
            steps[start] = {start: 0}
            queue = [start]
            for v in queue:
                for u in nodes(graph.neighbors(v)):
                    if u not in steps[start]:
                        steps[start][u] = steps[start][v] + 1
                        queue.append(u)
        from_middle |= steps[min(steps, key=lambda v: max(steps[v].values()))]
    place: dict[int, int] = {}
    remaining = (1 << graph.n) - 1
    begun = 0  # the chain component of the last node
    while remaining:
        # a node without parents; in a directed cycle, one to which the fewest arrows point up
        node = min(
            nodes(remaining),
            key=lambda v: (
                (graph.parents(v) & remaining).bit_count(), not begun >> v & 1, from_middle[v], v
            ),
        )  # fmt: skip
        place[node] = len(place)
        remaining ^= 1 << node
        begun = graph.chain_component(node)
    edges = [*graph.directed_edges(), *graph.undirected_edges()]
    return sorted((x, y) if place[x] < place[y] else (y, x) for x, y in edges)


def _component(members: Sequence[int], edges: Sequence[Edge], sizes: Sequence[Size]) -> Layout:
    """Return the layout of one connected component."""
    layer = layers_of(members, edges)
    graph = layered_graph(layer, edges, first_bend=len(sizes))
    rows = order(graph)
    x = coordinates(graph, rows, sizes)
    bands: list[tuple[float, float]] = []  # the upper and lower side of each layer
    top = 0.0
    for row in rows:
        bottom = top + max(sizes[v][1] for v in row if v < len(sizes))
        bands.append((top, bottom))
        sideways = [abs(x[v] - x[u]) for v in row for u in graph.down[v]]
        wish = MIN_LAYER_GAP + 0.16 * max(sideways, default=0.0) + 0.6 * len(sideways)
        top = bottom + min(wish, MAX_LAYER_GAP)
    boxes = {v: Box(x[v], sum(bands[layer[v]]) / 2, *sizes[v]) for v in members}
    ports = _ports(graph, x, boxes)
    curves = []
    for edge, (upper, *bends, lower) in graph.chains.items():
        start, end = ports[upper, edge], ports[lower, edge]
        way = [(start, boxes[upper].bottom), (start, bands[layer[upper]][1])]
        for bend, (top, bottom) in zip(bends, bands[layer[upper] + 1 :], strict=False):
            way += [(x[bend], top), (x[bend], bottom)]
        way += [(end, bands[layer[lower]][0]), (end, boxes[lower].top)]
        curves.append(Curve(edge, _route(way)))
    return bounded(boxes, curves)


# Layers


@dataclass(frozen=True, slots=True)
class LayeredGraph:
    """Places in layers, joined only from one layer to the next."""

    layers: list[list[Place]]
    up: dict[Place, list[Place]]
    down: dict[Place, list[Place]]
    chains: dict[Edge, list[Place]]
    """For each edge its places from top to bottom, both ends included."""


def layers_of(nodes_here: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    """Return the layer of each of these sorted nodes, 0 at the top.

    The total length of the edges is the least.
    """
    from scipy.optimize import linprog
    from scipy.sparse import eye_array

    if not edges:
        return dict.fromkeys(nodes_here, 0)
    columns: Any = eye_array(len(nodes_here), format="csr")
    upper, lower = np.searchsorted(nodes_here, edges).T
    lengths = columns[lower] - columns[upper]
    solution: Any = linprog(
        lengths.sum(axis=0), A_ub=-lengths, b_ub=-np.ones(len(edges)), method="highs-ds"
    )
    height = np.rint(solution.x).astype(int)
    return dict(zip(nodes_here, (height - height.min()).tolist(), strict=True))


def layered_graph(layer: dict[int, int], edges: Sequence[Edge], first_bend: int) -> LayeredGraph:
    """Return the places of nodes and bends in their layers, nodes in increasing order."""
    layers: list[list[Place]] = [[] for _ in range(max(layer.values()) + 1)]
    for v in sorted(layer):
        layers[layer[v]].append(v)
    up: dict[Place, list[Place]] = defaultdict(list)
    down: dict[Place, list[Place]] = defaultdict(list)
    chains: dict[Edge, list[Place]] = {}
    bend = first_bend
    for upper, lower in edges:
        bends = range(bend, bend + layer[lower] - layer[upper] - 1)
        bend = bends.stop
        for height, place in enumerate(bends, start=layer[upper] + 1):
            layers[height].append(place)
        chains[upper, lower] = [upper, *bends, lower]
        for above, below in pairwise(chains[upper, lower]):
            down[above].append(below)
            up[below].append(above)
    return LayeredGraph(layers, up, down, chains)


# Order


def order(graph: LayeredGraph) -> list[list[Place]]:
    """Return the places of each layer in an order with few crossings.

    The search starts from the order in which a depth-first walk first meets the places, and then
    once more from their numbers.
    """
    met = _walk(graph)
    best: list[list[Place]] = []
    least = -1
    sweeps = min(max(SWEPT_PLACES // len(met), MIN_SWEEPS), MAX_SWEEPS)
    for rank in (met.__getitem__, None):
        rows = [sorted(row, key=rank) for row in graph.layers]
        for sweep in range(sweeps):
            _sweep(graph, rows, downward=sweep % 2 == 0, ties_left=sweep % 4 < 2)
            _exchange(graph, rows)
            crossed = crossings(graph, rows)
            if least < 0 or crossed < least:
                best, least = [list(row) for row in rows], crossed
            if least == 0:
                return best
    return best


def _walk(graph: LayeredGraph) -> dict[Place, int]:
    """Return when a depth-first walk first meets each place."""
    met: dict[Place, int] = {}
    stack = [place for row in reversed(graph.layers) for place in reversed(row)]
    while stack:
        place = stack.pop()
        if place not in met:
            met[place] = len(met)
            stack += [*reversed(graph.up[place]), *reversed(graph.down[place])]
    return met


def crossings(graph: LayeredGraph, rows: Sequence[Sequence[Place]]) -> int:
    """Return how many pieces of edges cross in this order.

    Between two layers these are the inversions of the lower ends, if the pieces are sorted by
    their upper ends.
    """
    total = 0
    for above, below in pairwise(rows):
        at = dict(zip(below, range(len(below)), strict=True))
        ends: list[int] = []  # those seen so far, sorted
        for place in above:
            for end in sorted(map(at.__getitem__, graph.down[place])):
                total += len(ends) - bisect_right(ends, end)
                insort(ends, end)
    return total


def _sweep(graph: LayeredGraph, rows: list[list[Place]], downward: bool, ties_left: bool) -> None:
    """Sort the places of each layer by the mean of their neighbors in the layer before."""
    side = graph.up if downward else graph.down
    for before, row in pairwise(rows if downward else rows[::-1]):
        at = dict(zip(before, range(len(before)), strict=True))
        keys = {}
        for k, place in enumerate(row):
            near = side[place]
            mean = sum(map(at.__getitem__, near)) / len(near) if near else k
            keys[place] = (mean, k if ties_left else -k)
        row.sort(key=keys.__getitem__)


def _exchange(graph: LayeredGraph, rows: list[list[Place]]) -> None:
    """Exchange neighboring places while that saves crossings."""
    at = {place: k for row in rows for k, place in enumerate(row)}
    for _ in range(4):
        saved = 0
        for row in rows:
            for k in range(len(row) - 1):
                left, right = row[k], row[k + 1]
                gain = 0
                for side in (graph.up, graph.down):
                    for u, w in product(side[left], side[right]):
                        gain += (at[u] > at[w]) - (at[u] < at[w])
                if gain > 0:
                    row[k], row[k + 1] = right, left
                    at[left], at[right] = k + 1, k
                    saved += gain
        if not saved:
            return


# Coordinates


def coordinates(
    graph: LayeredGraph, rows: Sequence[Sequence[Place]], sizes: Sequence[Size]
) -> dict[Place, float]:
    """Return the x of each place; boxes of one layer keep their distance."""
    from scipy.optimize import linprog
    from scipy.sparse import block_array, eye_array

    column = _columns(graph, rows, first_bend=len(sizes))
    distances: dict[tuple[int, int], float] = {}
    for row in rows:
        for a, b in pairwise(row):
            distance = BEND_GAP if min(a, b) >= len(sizes) else PLACE_GAP
            for place in (a, b):
                distance += sizes[place][0] / 2 if place < len(sizes) else 0.0
            pair = (column[a], column[b])
            distances[pair] = max(distance, distances.get(pair, 0.0))
    apart = np.array(list(distances), dtype=int).reshape(-1, 2)
    least = np.array(list(distances.values()))
    ends, weights = [], []  # of the pieces of edges
    for chain in graph.chains.values():
        for a, b in pairwise(chain):
            if column[a] != column[b]:
                ends.append((column[a], column[b]))
                weights.append((1.0, 3.0, 8.0)[(a >= len(sizes)) + (b >= len(sizes))])
    pieces, weight = np.array(ends), np.array(weights)
    # Unknown are the x of the columns, and |x - x'| of each piece: at least x - x' and x' - x.
    columns: Any = eye_array(1 + max(column.values()), format="csr")
    twice: Any = eye_array(len(pieces), format="csr")[np.repeat(np.arange(len(pieces)), 2)]
    gaps = columns[apart[:, 0]] - columns[apart[:, 1]]
    slopes = columns[pieces.ravel()] - columns[pieces[:, ::-1].ravel()]
    solution: Any = linprog(
        np.r_[np.zeros(columns.shape[0]), weight],
        A_ub=block_array([[gaps, None], [slopes, -twice]]),
        b_ub=np.r_[-least, np.zeros(slopes.shape[0])],
        method="highs-ds",
    )
    x = solution.x[: columns.shape[0]]
    x -= x.min()
    _center(x, apart, least, pieces, weight)
    return dict(zip(column, x[list(column.values())].tolist(), strict=True))


def _columns(
    graph: LayeredGraph, rows: Sequence[Sequence[Place]], first_bend: int
) -> dict[Place, int]:
    """Return a column for each place; bends of one edge share theirs where no two such edges cross.

    Pieces whose ends share a column do not cross one another, so that the order of the columns from
    left to right is free of cycles (Brandes & Köpf 2002), and the program has a solution.
    """
    column: dict[Place, int] = {}
    lengths: list[int] = []  # how many places a column has
    for above, row in pairwise([[], *rows]):
        at = dict(zip(above, range(len(above)), strict=True))
        lines = []  # bends below bends
        for v in row:
            u = graph.up[v][0] if v >= first_bend else -1
            if u >= first_bend and lengths[column[u]] < MAX_VERTICAL:
                lines.append(v)
        for k in longest_increasing([at[graph.up[v][0]] for v in lines]):
            v = lines[k]
            column[v] = column[graph.up[v][0]]
            lengths[column[v]] += 1
        for v in row:
            if v not in column:
                column[v] = len(lengths)
                lengths.append(1)
    return column


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Return the places of a longest increasing subsequence of different numbers.

    >>> longest_increasing([3, 8, 4, 6, 1])
    [0, 2, 3]
    """
    runs: list[list[int]] = []  # of those of length k + 1, runs[k] has the smallest end
    for place, number in enumerate(numbers):
        k = bisect_left(runs, number, key=lambda run: numbers[run[-1]])
        runs[k : k + 1] = [[*(runs[k - 1] if k else []), place]]
    return runs[-1] if runs else []


def _center(
    x: NDArray[np.float64],
    apart: NDArray[np.intp],
    least: NDArray[np.float64],
    pieces: NDArray[np.intp],
    weight: NDArray[np.float64],
) -> None:
    """Move each column toward the mean of its neighbors where no edge gets less straight.

    The edges of a column are straightest at the weighted medians of its neighbors; of these, the
    one that is closest to their mean is taken.
    """
    (left, right), (upper, lower) = apart.T, pieces.T
    around = []
    for k in range(len(x)):
        near = np.r_[lower[upper == k], upper[lower == k]]
        weights = np.r_[weight[upper == k], weight[lower == k]]
        before, after = right == k, left == k
        around.append((k, near, weights, left[before], least[before], right[after], least[after]))
    for turn in range(CENTERING_ROUNDS):
        way = around if turn % 2 == 0 else around[::-1]
        for k, near, weights, before, to_left, after, to_right in way:
            rising = np.argsort(x[near])
            at, passed = x[near][rising], np.cumsum(weights[rising])
            middle = int(np.searchsorted(passed, passed[-1] / 2))
            wish = at[middle]
            if passed[middle] == passed[-1] / 2:  # every x up to the next neighbor is as straight
                wish = np.clip(x[near] @ weights / passed[-1], wish, at[middle + 1])
            low = np.max(x[before] + to_left, initial=-np.inf)
            high = np.min(x[after] - to_right, initial=np.inf)
            x[k] = min(max(wish, low), high)


# Routes


def _ports(
    graph: LayeredGraph, x: dict[Place, float], boxes: dict[int, Box]
) -> dict[tuple[int, Edge], float]:
    """Return the x at which each edge meets its two nodes, edges of one side spread out."""
    ports: dict[tuple[int, Edge], float] = {}
    sides: dict[tuple[int, bool], list[tuple[float, Edge]]] = defaultdict(list)
    for edge, chain in graph.chains.items():
        sides[chain[0], True].append((x[chain[1]], edge))
        sides[chain[-1], False].append((x[chain[-2]], edge))
    for (v, _), ends in sides.items():
        room = min(0.62 * boxes[v].width, 9.0 * (len(ends) - 1))
        spread = np.linspace(x[v] - room / 2, x[v] + room / 2, len(ends)).tolist()
        for (_, edge), port in zip(sorted(ends), spread, strict=True):
            ports[v, edge] = port
    return ports


def _route(way: Sequence[Point]) -> tuple[Point, ...]:
    """Return the curve through points, by turns straight down a band and sideways in a gap."""
    points = [way[0]]
    for k, ((x, y), (to_x, to_y)) in enumerate(pairwise(way)):
        dx, dy = to_x - x, to_y - y
        if abs(dx) > 1e-9:  # vertical at bends, and toward the other end at nodes
            leave = (x, y + dy / 2) if k > 1 else (x + dx / 3, y + dy / 3)
            is_last = k == len(way) - 3
            arrive = (to_x - dx / 3, to_y - dy / 3) if is_last else (to_x, to_y - dy / 2)
            points += [leave, arrive, (to_x, to_y)]
        elif dy > 1e-9:
            if len(points) > 1 and np.ptp(points[-4:], axis=0)[0] < 1e-9:
                del points[-3:]  # lengthen the vertical line that leads here
            y = points[-1][1]
            points += [(x, y + (to_y - y) / 3), (x, y + (to_y - y) * 2 / 3), (to_x, to_y)]
    return tuple(points)


# Graphviz


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
    for v, (width, height) in enumerate(np.asarray(sizes) / POINTS_PER_INCH):
        lines.append(f"n{v} [width={width:.4f}, height={height:.4f}];")
    lines += [f"n{x} -> n{y};" for x, y in downward_edges(graph)]
    return "\n".join([*lines, "}"])


def layout_of_plain(plain: str, graph: PDAG, sizes: Sequence[Size]) -> Layout:
    """Return the layout in the plain output of ``dot``; raise an error if it is incomplete."""
    boxes: dict[int, Box] = {}
    curves = []
    for line in plain.splitlines():
        words = line.split()
        if words[:1] == ["node"]:
            v, (x, y) = int(words[1][1:]), np.array(words[2:4], dtype=float) * POINTS_PER_INCH
            boxes[v] = Box(float(x), float(y), *sizes[v])
        elif words[:1] == ["edge"]:
            numbers = np.array(words[4 : 4 + 2 * int(words[3])], dtype=float) * POINTS_PER_INCH
            points = tuple((x, y) for x, y in numbers.reshape(-1, 2).tolist())
            curves.append(Curve((int(words[1][1:]), int(words[2][1:])), points))
    if len(boxes) != graph.n or len(curves) != graph.edge_count():
        raise ValueError("the layout is not complete")
    return bounded(boxes, curves)
