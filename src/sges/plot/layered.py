"""The layered layout: arrows point down from layer to layer, and no edge runs through a node.

Four steps, after Sugiyama et al. (1981) and Gansner et al. (1993):

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
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import nodes
from sges.plot.layout import Box, Curve, Layout, Point, Size, bounded, downward_edges, packed

Place: TypeAlias = int
"""A node, or a bend of an edge, numbered after the nodes."""
Floats: TypeAlias = NDArray[np.float64]
Spacing: TypeAlias = tuple[int, int, float]
"""Two neighboring columns and how far apart they must be."""
Piece: TypeAlias = tuple[int, int, float]
"""The two ends of a piece of an edge, and its weight."""

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


def layered(graph: PDAG, sizes: Sequence[Size]) -> Layout:
    """Return the layout of a graph whose nodes have these sizes (width, height)."""
    edges = downward_edges(graph)
    parts, isolated = [], []
    for component in _components(graph):
        if len(component) == 1:
            isolated.append(component[0])
        else:
            here = [edge for edge in edges if edge[0] in component]
            parts.append(_component(component, here, sizes))
    parts.sort(key=lambda part: -part.height)
    whole = packed(parts, gap=2 * PLACE_GAP, aspect=ASPECT)
    return _with_isolated(whole, isolated, sizes)


def _with_isolated(whole: Layout, isolated: Sequence[int], sizes: Sequence[Size]) -> Layout:
    """Return the layout with the nodes without edges in rows below it."""
    if not isolated:
        return whole
    area = sum((sizes[v][0] + PLACE_GAP) * (sizes[v][1] + PLACE_GAP) for v in isolated)
    room = max(whole.width, (area * 2 * ASPECT) ** 0.5)
    top = whole.height + (1.5 * MIN_LAYER_GAP if whole.boxes else 0.0)
    boxes = dict(whole.boxes)
    x = row_height = 0.0
    for v in isolated:
        width, height = sizes[v]
        if x and x + width > room:
            x, top, row_height = 0.0, top + row_height + PLACE_GAP, 0.0
        boxes[v] = Box(x + width / 2, top + height / 2, width, height)
        x, row_height = x + width + PLACE_GAP, max(row_height, height)
    return bounded(boxes, whole.curves)


def _components(graph: PDAG) -> list[list[int]]:
    """Return the nodes that edges of any kind join, component by component."""
    components = []
    remaining = (1 << graph.n) - 1
    while remaining:
        reached = todo = remaining & -remaining
        while todo:
            v = todo.bit_length() - 1
            fresh = graph.adjacent(v) & ~reached
            reached |= fresh
            todo = todo ^ 1 << v | fresh
        remaining &= ~reached
        components.append(list(nodes(reached)))
    return components


def _component(members: Sequence[int], edges: Sequence[Edge], sizes: Sequence[Size]) -> Layout:
    """Return the layout of one connected component."""
    layer = layers_of(members, edges)
    graph = layered_graph(layer, edges, first_bend=len(sizes))
    rows = order(graph)

    def width(place: Place) -> float:
        return sizes[place][0] if place < len(sizes) else 0.0

    x = coordinates(graph, rows, width)
    bands = _bands(graph, rows, x, sizes)
    boxes = {v: Box(x[v], sum(bands[layer[v]]) / 2, *sizes[v]) for v in members}
    ports = _ports(graph, x, sizes)
    curves = [_curve(edge, chain, boxes, bands, ports, x) for edge, chain in graph.chains.items()]
    return bounded(boxes, curves)


def layers_of(nodes_here: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    """Return the layer of each node, 0 at the top, with the least total length of edges."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    if not edges:
        return dict.fromkeys(nodes_here, 0)
    place = {v: k for k, v in enumerate(nodes_here)}
    upper, lower = (np.array([place[edge[end]] for edge in edges]) for end in (0, 1))
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


@dataclass(frozen=True, slots=True)
class LayeredGraph:
    """Places in layers, joined only from one layer to the next."""

    layers: list[list[Place]]
    up: dict[Place, list[Place]]
    down: dict[Place, list[Place]]
    chains: dict[Edge, list[Place]]
    """For each edge its places from top to bottom, both ends included."""

    def pieces(self) -> Iterator[tuple[Place, Place]]:
        """Yield each piece of an edge: a place and the one below it."""
        for chain in self.chains.values():
            yield from pairwise(chain)


def layered_graph(layer: dict[int, int], edges: Sequence[Edge], first_bend: int) -> LayeredGraph:
    """Return the places of nodes and bends in their layers, nodes in increasing order."""
    layers: list[list[Place]] = [[] for _ in range(max(layer.values()) + 1)]
    for v in sorted(layer):
        layers[layer[v]].append(v)
    chains: dict[Edge, list[Place]] = {}
    bend = first_bend
    for upper, lower in edges:
        between = range(layer[upper] + 1, layer[lower])
        bends = list(range(bend, bend + len(between)))
        bend += len(bends)
        for place, height in zip(bends, between, strict=True):
            layers[height].append(place)
        chains[upper, lower] = [upper, *bends, lower]
    up: dict[Place, list[Place]] = {place: [] for row in layers for place in row}
    down: dict[Place, list[Place]] = {place: [] for row in layers for place in row}
    for chain in chains.values():
        for above, below in pairwise(chain):
            down[above].append(below)
            up[below].append(above)
    return LayeredGraph(layers, up, down, chains)


def order(graph: LayeredGraph) -> list[list[Place]]:
    """Return the places of each layer in an order with few crossings."""
    best: list[list[Place]] = []
    least = -1
    sweeps = min(max(SWEPT_PLACES // sum(map(len, graph.layers)), MIN_SWEEPS), MAX_SWEEPS)
    for start in (_by_walk(graph), [list(row) for row in graph.layers]):
        rows = start
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
    """Return how many pieces of edges cross in this order."""
    total = 0
    for above, below in pairwise(rows):
        place = {v: k for k, v in enumerate(below)}
        ends = [sorted(place[u] for u in graph.down[v]) for v in above]
        total += _inversions([end for row in ends for end in row], len(below))
    return total


def _inversions(ends: list[int], size: int) -> int:
    """Return the number of inversions, by a Fenwick tree of counts."""
    counts = [0] * (size + 1)
    inversions = 0
    for seen, end in enumerate(ends):
        k, smaller_or_same = end + 1, 0
        while k:
            smaller_or_same += counts[k]
            k &= k - 1
        inversions += seen - smaller_or_same
        k = end + 1
        while k <= size:
            counts[k] += 1
            k += k & -k
    return inversions


def _by_walk(graph: LayeredGraph) -> list[list[Place]]:
    """Return each layer in the order in which a depth-first walk first meets its places."""
    met: dict[Place, None] = {}
    for row in graph.layers:
        for start in row:
            stack = [start]
            while stack:
                place = stack.pop()
                if place not in met:
                    met[place] = None
                    stack += [*reversed(graph.up[place]), *reversed(graph.down[place])]
    rank = {place: k for k, place in enumerate(met)}
    return [sorted(row, key=rank.__getitem__) for row in graph.layers]


def _sweep(
    graph: LayeredGraph, rows: list[list[Place]], *, downward: bool, ties_left: bool
) -> None:
    """Sort the places of each layer by the mean of their neighbors in the layer before."""
    heights = range(1, len(rows)) if downward else range(len(rows) - 2, -1, -1)
    side = graph.up if downward else graph.down
    for height in heights:
        at = _places(rows[height - 1 if downward else height + 1])
        row = rows[height]
        keys = {}
        for k, place in enumerate(row):
            near = [at[u] for u in side[place]]
            mean = sum(near) / len(near) if near else float(k)
            keys[place] = (mean, k if ties_left else -k)
        row.sort(key=keys.__getitem__)


def _places(row: Sequence[Place]) -> dict[Place, int]:
    return {place: k for k, place in enumerate(row)}


def _exchange(graph: LayeredGraph, rows: list[list[Place]]) -> None:
    """Exchange neighboring places while that saves crossings."""
    for _ in range(4):
        saved = 0
        for height, row in enumerate(rows):
            above = _places(rows[height - 1]) if height else {}
            below = _places(rows[height + 1]) if height + 1 < len(rows) else {}
            for k, (left, right) in enumerate(pairwise(list(row))):
                left = row[k]  # the last exchange may have moved it
                gain = _saving(graph.up, above, left, right)
                gain += _saving(graph.down, below, left, right)
                if gain > 0:
                    row[k], row[k + 1] = right, left
                    saved += gain
        if not saved:
            return


def _saving(side: dict[Place, list[Place]], at: dict[Place, int], left: Place, right: Place) -> int:
    """Return how many crossings are saved if two neighboring places change sides."""
    lefts, rights = side[left], side[right]
    if len(lefts) == len(rights) == 1:  # as for all bends
        return 1 if at[lefts[0]] > at[rights[0]] else -(at[lefts[0]] < at[rights[0]])
    pairs = [(at[u], at[w]) for u in lefts for w in rights]
    return sum((a > b) - (a < b) for a, b in pairs)


def coordinates(
    graph: LayeredGraph,
    rows: Sequence[Sequence[Place]],
    width: Callable[[Place], float],
) -> dict[Place, float]:
    """Return the x of each place; boxes of one layer keep their distance."""
    bends = {bend for chain in graph.chains.values() for bend in chain[1:-1]}
    column = _columns(graph, rows, bends)
    distances: dict[tuple[int, int], float] = {}
    for row in rows:
        for a, b in pairwise(row):
            pair = (column[a], column[b])
            room = BEND_GAP if a in bends and b in bends else PLACE_GAP
            distance = (width(a) + width(b)) / 2 + room
            distances[pair] = max(distance, distances.get(pair, 0.0))
    pieces = [
        (column[a], column[b], (1.0, 3.0, 8.0)[(a in bends) + (b in bends)])
        for a, b in graph.pieces()
        if column[a] != column[b]
    ]
    apart = [(a, b, distance) for (a, b), distance in distances.items()]
    x = _straightest(1 + max(column.values()), apart, pieces)
    _centre(x, apart, pieces, list(dict.fromkeys(column[v] for row in rows for v in row)))
    return {place: float(x[k]) for place, k in column.items()}


def _columns(
    graph: LayeredGraph, rows: Sequence[Sequence[Place]], bends: set[Place]
) -> dict[Place, int]:
    """Return a column for each place; bends of one edge share theirs where no two such edges cross.

    Pieces whose ends share a column do not cross one another, so that the order of the columns from
    left to right is free of cycles (Brandes & Köpf 2002), and the program has a solution.
    """
    column = {place: k for k, place in enumerate(rows[0])}
    height = dict.fromkeys(rows[0], 1)
    free = len(column)
    for above, row in pairwise(rows):
        at = _places(above)
        lines = [(v, graph.up[v][0]) for v in row if v in bends]
        lines = [(v, u) for v, u in lines if u in bends and height[u] < MAX_VERTICAL]
        straight = longest_increasing([at[u] for _, u in lines])
        column |= {lines[k][0]: column[lines[k][1]] for k in straight}
        height = dict.fromkeys(row, 1) | {lines[k][0]: height[lines[k][1]] + 1 for k in straight}
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


def _straightest(size: int, apart: list[Spacing], pieces: list[Piece]) -> Floats:
    """Return the x that keep the distances and make the pieces straightest."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []
    limits: list[float] = []

    def at_most(limit: float, *terms: tuple[int, float]) -> None:
        for column, entry in terms:
            rows.append(len(limits))
            columns.append(column)
            entries.append(entry)
        limits.append(limit)

    for a, b, distance in apart:
        at_most(-distance, (a, 1.0), (b, -1.0))
    for k, (a, b, _) in enumerate(pieces):
        at_most(0.0, (a, 1.0), (b, -1.0), (size + k, -1.0))
        at_most(0.0, (a, -1.0), (b, 1.0), (size + k, -1.0))
    if not limits:
        return np.zeros(size)
    cost = np.array([0.0] * size + [weight for _, _, weight in pieces])
    matrix: Any = coo_array((entries, (rows, columns)), shape=(len(limits), len(cost))).tocsr()
    solution: Any = linprog(cost, A_ub=matrix, b_ub=limits, method="highs-ds")
    positions: Floats = np.asarray(solution.x[:size], dtype=np.float64)
    positions -= positions.min()
    return positions


def _centre(x: Floats, apart: list[Spacing], pieces: list[Piece], order: Sequence[int]) -> None:
    """Move each column towards the mean of its neighbors where no edge gets less straight."""
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
            low = max((x[u] + distance for u, distance in left[k]), default=-np.inf)
            high = min((x[u] - distance for u, distance in right[k]), default=np.inf)
            x[k] = min(max(_centred([(x[u], w) for u, w in near[k]], x[k]), low), high)


def _centred(near: list[tuple[float, float]], here: float) -> float:
    """Return the weighted median of the neighbors that is closest to their mean."""
    if not near:
        return here
    total = sum(weight for _, weight in near)
    mean = sum(at * weight for at, weight in near) / total
    before = 0.0
    for k, (at, weight) in enumerate(near := sorted(near)):
        before += weight
        if before > total / 2:
            return at
        if before == total / 2:
            return min(max(mean, at), near[k + 1][0])
    return mean


def _bands(
    graph: LayeredGraph,
    rows: Sequence[Sequence[Place]],
    x: Mapping[Place, float],
    sizes: Sequence[Size],
) -> list[tuple[float, float]]:
    """Return the upper and lower side of each layer."""
    bands = []
    top = 0.0
    for row in rows:
        bottom = top + max((sizes[v][1] for v in row if v < len(sizes)), default=0.0)
        bands.append((top, bottom))
        sideways = [abs(x[v] - x[u]) for v in row for u in graph.down[v]]
        wish = MIN_LAYER_GAP + 0.16 * max(sideways, default=0.0) + 0.6 * len(sideways)
        top = bottom + min(wish, MAX_LAYER_GAP)
    return bands


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


def _curve(
    edge: Edge,
    chain: Sequence[Place],
    boxes: Mapping[int, Box],
    bands: Sequence[tuple[float, float]],
    ports: Mapping[tuple[int, Edge], float],
    x: Mapping[Place, float],
) -> Curve:
    """Return the curve of an edge: sideways in the gaps, straight down through the bands."""
    upper, lower = boxes[chain[0]], boxes[chain[-1]]
    first = next(k for k, band in enumerate(bands) if band[0] <= upper.y <= band[1])
    points: list[Point] = [(ports[chain[0], edge], upper.bottom)]
    _straight(points, (points[0][0], bands[first][1]))
    for height, place in enumerate(chain[1:], start=first + 1):
        is_bend = place != chain[-1]
        across_at = x[place] if is_bend else ports[place, edge]
        _sideways(points, (across_at, bands[height][0]), height > first + 1, is_bend)
        _straight(points, (across_at, bands[height][1] if is_bend else lower.top))
    return Curve(edge, tuple(points))


def _straight(points: list[Point], end: Point) -> None:
    """Add a straight line to a point, or lengthen the vertical line that leads there."""
    if len(points) > 1 and all(abs(x - end[0]) < 1e-9 for x, _ in points[-4:]):
        del points[-3:]
    x, y = points[-1]
    if abs(end[0] - x) + abs(end[1] - y) > 1e-9:
        thirds = [(x + (end[0] - x) * t, y + (end[1] - y) * t) for t in (1 / 3, 2 / 3)]
        points += [*thirds, end]


def _sideways(points: list[Point], end: Point, from_bend: bool, to_bend: bool) -> None:
    """Cross a gap: vertical at bends, and towards the other end at nodes."""
    x, y = points[-1]
    dx, dy = end[0] - x, end[1] - y
    if abs(dx) < 1e-9:
        return _straight(points, end)
    leave = (x if from_bend else x + dx / 3, y + dy * (0.5 if from_bend else 1 / 3))
    arrive = (end[0] if to_bend else end[0] - dx / 3, end[1] - dy * (0.5 if to_bend else 1 / 3))
    points += [leave, arrive, end]
    return None
