"""Orders within layers, such that few edges cross.

A long edge is cut into pieces from layer to layer by *bends*: places that it passes on its way, so
that it takes part in the ordering like a node and later runs around the nodes between its ends.
Sweeps down and up put each place near the mean of its neighbours (Sugiyama et al. 1981), then
neighbouring places change sides while that saves crossings (Gansner et al. 1993); the best order
seen wins.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sges.graph.pdag import Edge

SWEEPS = 24
Place = int
"""A node, or a bend of an edge, numbered after the nodes."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Places in layers, joined only from one layer to the next."""

    layers: list[list[Place]]
    up: dict[Place, list[Place]]
    down: dict[Place, list[Place]]
    chains: dict[Edge, list[Place]]
    """For each edge its places from top to bottom, both ends included."""

    def joints(self) -> Iterator[tuple[Place, Place]]:
        """Yield each piece of an edge: a place and the one below it."""
        for chain in self.chains.values():
            yield from pairwise(chain)


def ladder(layer: dict[int, int], edges: Sequence[Edge], first_bend: int) -> Ladder:
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
    return Ladder(layers, up, down, chains)


def order(rungs: Ladder) -> list[list[Place]]:
    """Return the layers in an order with few crossings."""
    best: list[list[Place]] = []
    least = -1
    for start in (_by_walk(rungs), [list(row) for row in rungs.layers]):
        rows = start
        for sweep in range(SWEEPS):
            _sweep(rungs, rows, downward=sweep % 2 == 0, ties_left=sweep % 4 < 2)
            _exchange(rungs, rows)
            found = crossings(rungs, rows)
            if least < 0 or found < least:
                best, least = [list(row) for row in rows], found
            if least == 0:
                return best
    return best


def crossings(rungs: Ladder, rows: Sequence[Sequence[Place]]) -> int:
    """Return how many pieces of edges cross in this order."""
    total = 0
    for above, below in pairwise(rows):
        place = {v: k for k, v in enumerate(below)}
        ends = [sorted(place[u] for u in rungs.down[v]) for v in above]
        total += _inversions([end for row in ends for end in row], len(below))
    return total


def _inversions(ends: list[int], size: int) -> int:
    """Return how many pairs stand in the wrong order, with a tree of counts."""
    counts = [0] * (size + 1)
    found = 0
    for seen, end in enumerate(ends):
        k, smaller_or_same = end + 1, 0
        while k:
            smaller_or_same += counts[k]
            k &= k - 1
        found += seen - smaller_or_same
        k = end + 1
        while k <= size:
            counts[k] += 1
            k += k & -k
    return found


def _by_walk(rungs: Ladder) -> list[list[Place]]:
    """Return each layer in the order in which a walk along the edges first meets its places."""
    met: dict[Place, None] = {}
    for row in rungs.layers:
        for start in row:
            stack = [start]
            while stack:
                place = stack.pop()
                if place not in met:
                    met[place] = None
                    stack += [*reversed(rungs.up[place]), *reversed(rungs.down[place])]
    rank = {place: k for k, place in enumerate(met)}
    return [sorted(row, key=rank.__getitem__) for row in rungs.layers]


def _sweep(rungs: Ladder, rows: list[list[Place]], *, downward: bool, ties_left: bool) -> None:
    """Put the places of each layer by the mean of their neighbours in the layer before."""
    heights = range(1, len(rows)) if downward else range(len(rows) - 2, -1, -1)
    side = rungs.up if downward else rungs.down
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


def _exchange(rungs: Ladder, rows: list[list[Place]]) -> None:
    """Let neighbouring places change sides while that saves crossings."""
    for _ in range(4):
        saved = 0
        for height, row in enumerate(rows):
            above = _places(rows[height - 1]) if height else {}
            below = _places(rows[height + 1]) if height + 1 < len(rows) else {}
            for k, (left, right) in enumerate(pairwise(list(row))):
                left = row[k]  # it may have changed sides just now
                gain = _saving(rungs.up, above, left, right)
                gain += _saving(rungs.down, below, left, right)
                if gain > 0:
                    row[k], row[k + 1] = right, left
                    saved += gain
        if not saved:
            return


def _saving(side: dict[Place, list[Place]], at: dict[Place, int], left: Place, right: Place) -> int:
    """Return how many crossings two neighbouring places save by changing sides."""
    pairs = [(at[u], at[w]) for u in side[left] for w in side[right]]
    return sum((a > b) - (a < b) for a, b in pairs)
