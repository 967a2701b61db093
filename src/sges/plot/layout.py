"""Where the nodes and edges of a graph are drawn: the layered layout, and Graphviz's.

A layout is boxes and curves on a sheet, in points, with y growing downward.  Arrows point down.
Undirected edges have no direction of their own, but are drawn downward too, so that no edge lies
flat within a layer and runs through the nodes between its ends; within a chain component they
lead away from its middle, which keeps the picture low.

Our layered layout has four steps, after Sugiyama et al. (1981) and Gansner et al. (1993):

    layers        heights that make all edges together as short as possible; a linear program
                  whose matrix is totally unimodular, so that its solution is whole numbers
    order         orders within the layers with few crossings: sweeps down and up put each place
                  near the mean of its neighbors, then neighboring places change sides while
                  that saves crossings, and the best order seen is kept
    coordinates   places keep their order and their distance, long edges run vertically from bend to
                  bend unless two of them cross there, and edges are as straight as possible
                  otherwise: the sum of |x - x'| over all pieces of edges is least, with long edges
                  counting more; again a linear program, with one column per vertical line.
                  Of its many solutions, one is taken in which nodes are centred over their
                  neighbors, by moving each towards their mean as far as that costs nothing
    routes        every layer is a horizontal band with a gap below it; an edge crosses a band
                  only at a bend, straight down, and moves sideways only in gaps

A long edge is cut into pieces from layer to layer by *bends*: places that it passes on its way,
which take part in the ordering like nodes, so that the edge later runs around the nodes between
its ends.

Graphviz is used where its program ``dot`` is installed.  Nodes go out as n0, n1, ... with their
sizes, so that no name is ever part of what ``dot`` reads, and its plain output, one node or edge
per line, is read back.
"""

import shutil
import subprocess
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import components, nodes

Point: TypeAlias = tuple[float, float]
Size: TypeAlias = tuple[float, float]
Place: TypeAlias = int
"""A node, or a bend of an edge, numbered after the nodes."""
Link: TypeAlias = tuple[int, int, float]
"""Two columns, and their least distance, or the weight of the piece of an edge between them."""

MAX_SWEEPS, MIN_SWEEPS = 24, 4
SWEPT_PLACES = 50_000
"""About how many places all sweeps from one start may visit."""
CENTRING_ROUNDS = 12
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


def bounded(boxes: dict[int, Box], curves: Sequence[Curve]) -> Layout:
    """Return the layout on the smallest sheet that holds it."""
    xs, ys = [], []
    for box in boxes.values():
        xs += [box.x - box.width / 2, box.x + box.width / 2]
        ys += [box.top, box.bottom]
    for curve in curves:
        for x, y in curve.points:
            xs.append(x)
            ys.append(y)
    left, top = min(xs, default=0.0), min(ys, default=0.0)
    width, height = max(xs, default=0.0) - left, max(ys, default=0.0) - top
    return Layout(width, height, boxes, tuple(curves)).moved(-left, -top)


def layered(graph: PDAG, sizes: Sequence[Size]) -> Layout:
    """Return the layered layout of a graph whose nodes have these sizes (width, height).

    Connected components stand side by side in rows, and the nodes without edges below them.
    """
    edges = downward_edges(graph)
    parts: list[Layout] = []
    isolated: list[int] = []
    for component in components(graph.adjacent, (1 << graph.n) - 1):
        members = list(nodes(component))
        if len(members) == 1:
            isolated += members
        else:
            here = [edge for edge in edges if component >> edge[0] & 1]
            parts.append(_component(members, here, sizes))
    parts.sort(key=lambda part: -part.height)
    boxes: dict[int, Box] = {}
    curves: list[Curve] = []
    widest = max((part.width for part in parts), default=0.0)
    corners = _in_rows([(p.width, p.height) for p in parts], 2 * PLACE_GAP, ASPECT, widest)
    for part, corner in zip(parts, corners, strict=True):
        placed = part.moved(*corner)
        boxes |= placed.boxes
        curves += placed.curves
    whole = bounded(boxes, curves)
    if not isolated:
        return whole
    top = whole.height + (1.5 * MIN_LAYER_GAP if boxes else 0.0)
    alone = [sizes[v] for v in isolated]
    boxes = dict(whole.boxes)
    for v, (x, y) in zip(
        isolated, _in_rows(alone, PLACE_GAP, 2 * ASPECT, whole.width, top), strict=True
    ):
        width, height = sizes[v]
        boxes[v] = Box(x + width / 2, y + height / 2, width, height)
    return bounded(boxes, whole.curves)


def _in_rows(
    sizes: Sequence[Size], gap: float, aspect: float, room: float, top: float = 0.0
) -> list[Point]:
    """Return the upper left corners of boxes in rows, about ``aspect`` times wider than high."""
    area = sum((width + gap) * (height + gap) for width, height in sizes)
    room = max(room, (area * aspect) ** 0.5)
    corners = []
    x = row_height = 0.0
    for width, height in sizes:
        if x and x + width > room:
            x, top, row_height = 0.0, top + row_height + gap, 0.0
        corners.append((x, top))
        x, row_height = x + width + gap, max(row_height, height)
    return corners


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
        from_middle |= steps[min(steps, key=lambda v: (max(steps[v].values()), v))]
    place: dict[int, int] = {}
    remaining = (1 << graph.n) - 1
    begun = 0  # the chain component of the last node
    while remaining:
        sources = [v for v in nodes(remaining) if not graph.parents(v) & remaining]
        if sources:
            ready = [v for v in sources if begun >> v & 1] or sources
            node = min(ready, key=lambda v: (from_middle[v], v))
        else:  # a directed cycle: break it where the fewest arrows point up
            node = min(
                nodes(remaining), key=lambda v: ((graph.parents(v) & remaining).bit_count(), v)
            )
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
        bottom = top + max((sizes[v][1] for v in row if v < len(sizes)), default=0.0)
        bands.append((top, bottom))
        sideways = [abs(x[v] - x[u]) for v in row for u in graph.down[v]]
        wish = MIN_LAYER_GAP + 0.16 * max(sideways, default=0.0) + 0.6 * len(sideways)
        top = bottom + min(wish, MAX_LAYER_GAP)
    boxes = {v: Box(x[v], sum(bands[layer[v]]) / 2, *sizes[v]) for v in members}
    ports = _ports(graph, x, sizes)
    curves = []
    for edge, (upper, *bends, lower) in graph.chains.items():
        start = (ports[upper, edge], boxes[upper].bottom)
        end = (ports[lower, edge], boxes[lower].top)
        route = _route(start, [x[bend] for bend in bends], end, bands[layer[upper] :])
        curves.append(Curve(edge, route))
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
    """Return the layer of each node, 0 at the top, with the least total length of edges."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    if not edges:
        return dict.fromkeys(nodes_here, 0)
    place = {v: k for k, v in enumerate(nodes_here)}
    upper, lower = np.array([(place[x], place[y]) for x, y in edges]).T
    row = np.arange(len(edges))
    ones = np.ones(len(edges))
    matrix: Any = coo_array(
        (np.r_[ones, -ones], (np.r_[row, row], np.r_[upper, lower])),
        shape=(len(edges), len(place)),
    ).tocsr()
    cost = np.bincount(lower, minlength=len(place)) - np.bincount(upper, minlength=len(place))
    solution: Any = linprog(cost, A_ub=matrix, b_ub=-ones, bounds=(0, None), method="highs-ds")
    height = np.rint(solution.x).astype(int)
    return {v: int(height[k] - height.min()) for v, k in place.items()}


def layered_graph(layer: dict[int, int], edges: Sequence[Edge], first_bend: int) -> LayeredGraph:
    """Return the places of nodes and bends in their layers, nodes in increasing order."""
    layers: list[list[Place]] = [[] for _ in range(max(layer.values()) + 1)]
    for v in sorted(layer):
        layers[layer[v]].append(v)
    chains: dict[Edge, list[Place]] = {}
    bend = first_bend
    for upper, lower in edges:
        chains[upper, lower] = [upper]
        for height in range(layer[upper] + 1, layer[lower]):
            layers[height].append(bend)
            chains[upper, lower].append(bend)
            bend += 1
        chains[upper, lower].append(lower)
    up: dict[Place, list[Place]] = {place: [] for row in layers for place in row}
    down: dict[Place, list[Place]] = {place: [] for place in up}
    for chain in chains.values():
        for above, below in pairwise(chain):
            down[above].append(below)
            up[below].append(above)
    return LayeredGraph(layers, up, down, chains)


# Order


def order(graph: LayeredGraph) -> list[list[Place]]:
    """Return the places of each layer in an order with few crossings.

    The search starts from the order in which a depth-first walk first meets the places, and then
    once more from their numbers.
    """
    met: dict[Place, int] = {}
    for start in [place for row in graph.layers for place in row]:
        stack = [start]
        while stack:
            place = stack.pop()
            if place not in met:
                met[place] = len(met)
                stack += [*reversed(graph.up[place]), *reversed(graph.down[place])]
    best: list[list[Place]] = []
    least = -1
    sweeps = min(max(SWEPT_PLACES // len(met), MIN_SWEEPS), MAX_SWEEPS)
    for rank in (met, {}):
        rows = [sorted(row, key=lambda place: rank.get(place, place)) for row in graph.layers]
        for sweep in range(sweeps):
            _sweep(graph, rows, downward=sweep % 2 == 0, ties_left=sweep % 4 < 2)
            _exchange(graph, rows)
            crossed = crossings(graph, rows)
            if least < 0 or crossed < least:
                best, least = [list(row) for row in rows], crossed
            if least == 0:
                return best
    return best


def crossings(graph: LayeredGraph, rows: Sequence[Sequence[Place]]) -> int:
    """Return how many pieces of edges cross in this order.

    Between two layers these are the inversions of the lower ends, if the pieces are sorted by
    their upper ends; they are counted by a Fenwick tree of the ends seen so far.
    """
    total = 0
    for above, below in pairwise(rows):
        at = {v: k for k, v in enumerate(below, start=1)}
        counts = [0] * (len(below) + 1)
        seen = 0
        for v in above:
            for end in sorted(at[u] for u in graph.down[v]):
                total += seen
                seen += 1
                k = end
                while k:
                    total -= counts[k]
                    k &= k - 1
                k = end
                while k <= len(below):
                    counts[k] += 1
                    k += k & -k
    return total


def _sweep(
    graph: LayeredGraph, rows: list[list[Place]], *, downward: bool, ties_left: bool
) -> None:
    """Sort the places of each layer by the mean of their neighbors in the layer before."""
    side = graph.up if downward else graph.down
    for before, row in pairwise(rows if downward else rows[::-1]):
        at = {v: k for k, v in enumerate(before)}
        keys = {}
        for k, place in enumerate(row):
            near = [at[u] for u in side[place]]
            mean = sum(near) / len(near) if near else float(k)
            keys[place] = (mean, k if ties_left else -k)
        row.sort(key=keys.__getitem__)


def _exchange(graph: LayeredGraph, rows: list[list[Place]]) -> None:
    """Exchange neighboring places while that saves crossings."""
    for _ in range(4):
        saved = 0
        for height, row in enumerate(rows):
            above = rows[height - 1] if height else []
            below = rows[height + 1] if height + 1 < len(rows) else []
            at = {place: k for near in (above, below) for k, place in enumerate(near)}
            for k in range(len(row) - 1):
                left, right = row[k], row[k + 1]
                gain = 0
                for side in (graph.up, graph.down):
                    for u in side[left]:
                        for w in side[right]:
                            gain += (at[u] > at[w]) - (at[u] < at[w])
                if gain > 0:
                    row[k], row[k + 1] = right, left
                    saved += gain
        if not saved:
            return


# Coordinates


def coordinates(
    graph: LayeredGraph, rows: Sequence[Sequence[Place]], sizes: Sequence[Size]
) -> dict[Place, float]:
    """Return the x of each place; boxes of one layer keep their distance."""
    column = _columns(graph, rows, first_bend=len(sizes))
    distances: dict[tuple[int, int], float] = {}
    for row in rows:
        for a, b in pairwise(row):
            widths = [sizes[v][0] if v < len(sizes) else 0.0 for v in (a, b)]
            room = BEND_GAP if min(a, b) >= len(sizes) else PLACE_GAP
            pair = (column[a], column[b])
            distances[pair] = max(sum(widths) / 2 + room, distances.get(pair, 0.0))
    apart = [(a, b, distance) for (a, b), distance in distances.items()]
    pieces = []
    for chain in graph.chains.values():
        for a, b in pairwise(chain):
            if column[a] != column[b]:
                bends = (a >= len(sizes)) + (b >= len(sizes))
                pieces.append((column[a], column[b], (1.0, 3.0, 8.0)[bends]))
    x = _straightest(1 + max(column.values()), apart, pieces)
    _centre(x, apart, pieces, list(dict.fromkeys(column[v] for row in rows for v in row)))
    return {place: float(x[k]) for place, k in column.items()}


def _columns(
    graph: LayeredGraph, rows: Sequence[Sequence[Place]], first_bend: int
) -> dict[Place, int]:
    """Return a column for each place; bends of one edge share theirs where no two such edges cross.

    Pieces whose ends share a column do not cross one another, so that the order of the columns from
    left to right is free of cycles (Brandes & Köpf 2002), and the program has a solution.
    """
    column = {place: k for k, place in enumerate(rows[0])}
    height = dict.fromkeys(rows[0], 1)
    free = len(column)
    for above, row in pairwise(rows):
        at = {place: k for k, place in enumerate(above)}
        lines = [(v, graph.up[v][0]) for v in row if v >= first_bend]
        lines = [(v, u) for v, u in lines if u >= first_bend and height[u] < MAX_VERTICAL]
        fresh = dict.fromkeys(row, 1)
        for k in longest_increasing([at[u] for _, u in lines]):
            v, u = lines[k]
            column[v] = column[u]
            fresh[v] = height[u] + 1
        height = fresh
        for v in row:
            if v not in column:
                column[v] = free
                free += 1
    return column


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Return the places of a longest increasing subsequence of different numbers.

    >>> longest_increasing([3, 8, 4, 6, 1])
    [0, 2, 3]
    """
    ends: list[int] = []  # ends[k] is the smallest end of an increasing run of k + 1 numbers
    places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        k = bisect_left(ends, number)
        before.append(places[k - 1] if k else -1)
        ends[k : k + 1] = [number]
        places[k : k + 1] = [place]
    chosen = []
    place = places[-1] if places else -1
    while place >= 0:
        chosen.append(place)
        place = before[place]
    return chosen[::-1]


def _straightest(size: int, apart: list[Link], pieces: list[Link]) -> NDArray[np.float64]:
    """Return the x that keep the distances and make the pieces straightest."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    # Columns ``size`` and on are the |x - x'| of the pieces.  Each row is at most its limit.
    rows = [[(a, 1.0), (b, -1.0)] for a, b, _ in apart]
    limits = [-distance for _, _, distance in apart] + [0.0, 0.0] * len(pieces)
    for k, (a, b, _) in enumerate(pieces, start=size):
        rows += [[(a, 1.0), (b, -1.0), (k, -1.0)], [(a, -1.0), (b, 1.0), (k, -1.0)]]
    if not rows:
        return np.zeros(size)
    terms = [(i, column, entry) for i, row in enumerate(rows) for column, entry in row]
    at, columns, entries = zip(*terms, strict=True)
    cost = np.array([0.0] * size + [weight for _, _, weight in pieces])
    matrix: Any = coo_array((entries, (at, columns)), shape=(len(rows), len(cost))).tocsr()
    solution: Any = linprog(cost, A_ub=matrix, b_ub=limits, method="highs-ds")
    positions: NDArray[np.float64] = solution.x[:size]
    positions -= positions.min()
    return positions


def _centre(
    x: NDArray[np.float64], apart: list[Link], pieces: list[Link], order: Sequence[int]
) -> None:
    """Move each column towards the mean of its neighbors where no edge gets less straight.

    The edges of a column are straightest at the weighted medians of its neighbors; of these, the
    one that is closest to their mean is taken.
    """
    near: list[list[tuple[int, float]]] = [[] for _ in x]
    for a, b, weight in pieces:
        near[a].append((b, weight))
        near[b].append((a, weight))
    left: list[list[tuple[int, float]]] = [[] for _ in x]
    right: list[list[tuple[int, float]]] = [[] for _ in x]
    for a, b, distance in apart:
        left[b].append((a, distance))
        right[a].append((b, distance))
    for turn in range(CENTRING_ROUNDS):
        for k in order if turn % 2 == 0 else order[::-1]:
            ends = [(x[u], weight) for u, weight in near[k]]
            total = sum(weight for _, weight in ends)
            mean = sum(at * weight for at, weight in ends) / total if ends else 0.0
            wish, before = x[k], 0.0
            for i, (at, weight) in enumerate(ends := sorted(ends)):
                before += weight
                if before >= total / 2:
                    wish = at if before > total / 2 else min(max(mean, at), ends[i + 1][0])
                    break
            low = max((x[u] + distance for u, distance in left[k]), default=-np.inf)
            high = min((x[u] - distance for u, distance in right[k]), default=np.inf)
            x[k] = min(max(wish, low), high)


# Routes


def _ports(
    graph: LayeredGraph, x: Mapping[Place, float], sizes: Sequence[Size]
) -> dict[tuple[int, Edge], float]:
    """Return the x at which each edge meets its two nodes, edges of one side spread out."""
    ports: dict[tuple[int, Edge], float] = {}
    sides: dict[tuple[int, bool], list[tuple[float, Edge]]] = {}
    for edge, chain in graph.chains.items():
        sides.setdefault((chain[0], True), []).append((x[chain[1]], edge))
        sides.setdefault((chain[-1], False), []).append((x[chain[-2]], edge))
    for (v, _), ends in sides.items():
        room = min(0.62 * sizes[v][0], 9.0 * (len(ends) - 1))
        step = room / (len(ends) - 1) if len(ends) > 1 else 0.0
        for k, (_, edge) in enumerate(sorted(ends)):
            ports[v, edge] = x[v] - room / 2 + k * step
    return ports


def _route(
    start: Point, bends: Sequence[float], end: Point, bands: Sequence[tuple[float, float]]
) -> tuple[Point, ...]:
    """Return the curve of an edge: sideways in the gaps, straight down through the bands.

    ``bands`` begin with that of the start.
    """
    points = [start]
    _straight(points, (start[0], bands[0][1]))
    for k, across in enumerate([*bends, end[0]]):
        from_bend, to_bend = k > 0, k < len(bends)
        top, bottom = bands[k + 1]
        x, y = points[-1]
        dx, dy = across - x, top - y
        if abs(dx) < 1e-9:
            _straight(points, (across, top))
        else:  # vertical at bends, and towards the other end at nodes
            leave = (x if from_bend else x + dx / 3, y + dy * (0.5 if from_bend else 1 / 3))
            arrive = (
                across if to_bend else across - dx / 3,
                top - dy * (0.5 if to_bend else 1 / 3),
            )
            points += [leave, arrive, (across, top)]
        _straight(points, (across, bottom if to_bend else end[1]))
    return tuple(points)


def _straight(points: list[Point], end: Point) -> None:
    """Add a straight line to a point, or lengthen the vertical line that leads there."""
    if len(points) > 1 and all(abs(x - end[0]) < 1e-9 for x, _ in points[-4:]):
        del points[-3:]
    x, y = points[-1]
    if abs(end[0] - x) + abs(end[1] - y) > 1e-9:
        thirds = [(x + (end[0] - x) * t, y + (end[1] - y) * t) for t in (1 / 3, 2 / 3)]
        points += [*thirds, end]


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
