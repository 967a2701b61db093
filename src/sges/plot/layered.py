"""The layered layout: layers, orders, coordinates, then the ways of the edges.

Every layer is a horizontal band, and between two bands is a gap.  An edge crosses a band only at
a bend, straight down, and moves sideways only in gaps: so no edge runs through a node.
"""

from collections.abc import Mapping, Sequence

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import nodes
from sges.plot.coordinates import across
from sges.plot.geometry import Box, Curve, Layout, Point, Size, bounded, packed
from sges.plot.layering import downward_edges, layers_of
from sges.plot.ordering import Ladder, Place, ladder, order

BESIDE = 14.0
"""Points between two places of a layer."""
LEAST_GAP, MOST_GAP = 30.0, 120.0
"""Points between two layers: more where edges run far sideways."""
ASPECT = 1.5


def layered(graph: PDAG, sizes: Sequence[Size]) -> Layout:
    """Return where to draw nodes of these sizes (width, height) and the edges between them."""
    edges = downward_edges(graph)
    parts, alone = [], []
    for component in _components(graph):
        if len(component) == 1:
            alone.append(component[0])
        else:
            here = [edge for edge in edges if edge[0] in component]
            parts.append(_component(component, here, sizes))
    parts.sort(key=lambda part: -part.height)
    whole = packed(parts, gap=2 * BESIDE, aspect=ASPECT)
    return _with_alone(whole, alone, sizes)


def _with_alone(whole: Layout, alone: Sequence[int], sizes: Sequence[Size]) -> Layout:
    """Return the layout with the nodes that have no edge in rows below it."""
    if not alone:
        return whole
    area = sum((sizes[v][0] + BESIDE) * (sizes[v][1] + BESIDE) for v in alone)
    room = max(whole.width, (area * 2 * ASPECT) ** 0.5)
    top = whole.height + (1.5 * LEAST_GAP if whole.boxes else 0.0)
    boxes = dict(whole.boxes)
    x = shelf = 0.0
    for v in alone:
        width, height = sizes[v]
        if x and x + width > room:
            x, top, shelf = 0.0, top + shelf + BESIDE, 0.0
        boxes[v] = Box(x + width / 2, top + height / 2, width, height)
        x, shelf = x + width + BESIDE, max(shelf, height)
    return bounded(boxes, whole.curves)


def _components(graph: PDAG) -> list[list[int]]:
    """Return the nodes that edges of any kind join, component by component."""
    found = []
    left = (1 << graph.n) - 1
    while left:
        reached = todo = left & -left
        while todo:
            v = todo.bit_length() - 1
            fresh = graph.adjacent(v) & ~reached
            reached |= fresh
            todo = todo ^ 1 << v | fresh
        left &= ~reached
        found.append(list(nodes(reached)))
    return found


def _component(members: Sequence[int], edges: Sequence[Edge], sizes: Sequence[Size]) -> Layout:
    """Return the layout of one connected component."""
    layer = layers_of(members, edges)
    rungs = ladder(layer, edges, first_bend=len(sizes))
    rows = order(rungs)

    def width(place: Place) -> float:
        return sizes[place][0] if place < len(sizes) else 0.0

    x = across(rungs, rows, width, BESIDE)
    bands = _bands(rungs, rows, x, sizes)
    boxes = {v: Box(x[v], sum(bands[layer[v]]) / 2, *sizes[v]) for v in members}
    ports = _ports(rungs, x, sizes)
    curves = [_curve(edge, chain, boxes, bands, ports, x) for edge, chain in rungs.chains.items()]
    return bounded(boxes, curves)


def _bands(
    rungs: Ladder,
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
        sideways = [abs(x[v] - x[u]) for v in row for u in rungs.down[v]]
        wish = LEAST_GAP + 0.16 * max(sideways, default=0.0) + 0.6 * len(sideways)
        top = bottom + min(wish, MOST_GAP)
    return bands


def _ports(
    rungs: Ladder, x: Mapping[Place, float], sizes: Sequence[Size]
) -> dict[tuple[int, Edge], float]:
    """Return where at its ends each edge begins, edges of one side next to each other."""
    ports: dict[tuple[int, Edge], float] = {}
    sides: dict[tuple[int, bool], list[tuple[float, Edge]]] = {}
    for edge, chain in rungs.chains.items():
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
    """Return the way of an edge: sideways in the gaps, straight down through the bands."""
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
    """Go straight to a point, unless that is here."""
    x, y = points[-1]
    if abs(end[0] - x) + abs(end[1] - y) > 1e-9:
        thirds = [(x + (end[0] - x) * t, y + (end[1] - y) * t) for t in (1 / 3, 2 / 3)]
        points += [*thirds, end]


def _sideways(points: list[Point], end: Point, from_bend: bool, to_bend: bool) -> None:
    """Cross a gap: upright at bends, and towards the other end at nodes."""
    x, y = points[-1]
    dx, dy = end[0] - x, end[1] - y
    leave = (x if from_bend else x + dx / 3, y + dy * (0.5 if from_bend else 1 / 3))
    arrive = (end[0] if to_bend else end[0] - dx / 3, end[1] - dy * (0.5 if to_bend else 1 / 3))
    points += [leave, arrive, end]
