"""Layers: which nodes stand at the same height, so that arrows point down.

Undirected edges have no direction of their own, but take part as if they had one, so that no edge
lies flat within a layer and runs through the nodes between its ends.  Within a chain component
they lead away from its middle, which keeps the picture low.

The heights are those that make all edges together as short as possible (Gansner et al. 1993): a
linear program whose matrix is totally unimodular, so that its solution is whole numbers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet, nodes


def downward_edges(graph: PDAG) -> list[Edge]:
    """Return every edge as (upper, lower); arrows point down unless they make a cycle."""
    place = {v: k for k, v in enumerate(_order(graph))}
    arrows = [(x, y) if place[x] < place[y] else (y, x) for x, y in graph.directed_edges()]
    lines = [(x, y) if place[x] < place[y] else (y, x) for x, y in graph.undirected_edges()]
    return sorted(arrows + lines)


def layers_of(nodes_here: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    """Return the layer of each node, from 0 at the top, for the least total length of edges."""
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
    found: Any = linprog(cost, A_ub=matrix, b_ub=-ones, bounds=(0, None), method="highs-ds")
    height = np.rint(found.x).astype(int)
    return {v: int(height[k] - height.min()) for v, k in place.items()}


def _order(graph: PDAG) -> list[int]:
    """Return the nodes so that arrows lead forward; where they make cycles, most of them do.

    Whole chain components come one after another where that is possible, as in every CPDAG;
    inside one, nodes near its middle come first.
    """
    left = (1 << graph.n) - 1
    central = _distance_from_middle(graph)
    order: list[int] = []
    while left:
        ready = _ready(graph, left, order)
        v = min(nodes(ready), key=lambda u: (central[u], u))
        order.append(v)
        left ^= 1 << v
    return order


def _ready(graph: PDAG, left: NodeSet, order: list[int]) -> NodeSet:
    """Return the nodes that may come next, the component just begun before all others."""
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
