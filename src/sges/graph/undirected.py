"""Undirected graphs: cliques, chordal graphs, moral graphs, elimination orders, treewidth.

A graph is given as ``adjacent``, one set of nodes per node; functions with an argument ``within``
use only the subgraph that these nodes induce.

The undirected part of a CPDAG is chordal (Andersson et al. 1997), and so is the subgraph that
NA_{Y,X} induces in it.  The generation of deletes uses two facts about chordal graphs: a maximum
cardinality search gives an order whose reverse is a perfect elimination (Tarjan & Yannakakis
1984), and the maximal cliques, at most n, can be read off that order (Blair & Peyton 1993).

The treewidth is the smallest k such that the nodes can be eliminated one by one, each with at
most k neighbors when its turn comes, which are then joined.

    upper bound   eliminate greedily the node that joins the fewest pairs (min-fill)
    lower bound   contract greedily a node of least degree into a neighbor (minor-min-width)
    between       for each k from below, a search over *sets* of eliminated nodes: the remaining
                  graph depends on the set alone, not on its order (Bodlaender et al. 2012), and a
                  node of at most k neighbors that form a clique, or do so without one of them,
                  can always go first (Bodlaender, Koster & van den Eijkhof 2005)

Largest cliques and treewidths are NP-hard: each search has a limit on its work, and returns an
interval if it reaches the limit.

Paper: Section 4.3, maximal cliques.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sges.errors import NotChordal
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, Rows, by_rank, nodes, nodeset, show, union


class Between(NamedTuple):
    """An interval that is known to contain a number which is not known exactly."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"between {self.low} and {self.high}"


def adjacency(graph: PDAG, within: NodeSet) -> dict[int, NodeSet]:
    """Return, for each node of a set, the nodes adjacent to it by edges of any kind."""
    return {v: graph.adjacent(v) for v in nodes(within)}


def maximum_cardinality_search(
    adjacent: Rows, within: NodeSet, ranking: Sequence[int] | None = None
) -> list[int]:
    """Order the nodes so that each, when taken, has the most neighbors taken before it.

    Ties are broken in favor of the first in a ranking of all nodes, or else of the lowest.
    On a chordal graph the earlier neighbors of each node form a clique.
    """
    order = []
    count = dict.fromkeys(by_rank(within, ranking), 0)
    while count:
        v = max(count, key=count.__getitem__)
        del count[v]
        order.append(v)
        for u in nodes(adjacent[v] & within):
            if u in count:
                count[u] += 1
    return order


def maximal_cliques(adjacent: Rows, within: NodeSet) -> list[NodeSet]:
    """Return the maximal cliques of a chordal graph, sorted.

    In the order of a maximum cardinality search, a node that has no more earlier neighbors than
    the node before it starts a new clique: itself and its earlier neighbors.  The graph without
    nodes has one maximal clique, the empty set: without it, an edge whose NA is empty could not
    be deleted.

    Paper: Section 4.3, maximal cliques.

    Parameters
    ----------
    adjacent : sequence or mapping of int
        For each node, the set of the nodes adjacent to it, as a mask.
    within : int
        The set of nodes whose induced subgraph is used, as a mask.

    Returns
    -------
    list of int
        The maximal cliques, as masks.

    Raises
    ------
    NotChordal
        If the graph has a chordless cycle.

    Examples
    --------
    >>> square_with_diagonal = (0b1110, 0b0101, 0b1011, 0b0101)  # 0-1-2-3-0 and 0-2
    >>> [show(c) for c in maximal_cliques(square_with_diagonal, 0b1111)]
    ['{0, 1, 2}', '{0, 2, 3}']
    """
    everywhere = within  # the nodes adjacent to all others, which lie in every maximal clique
    for v in nodes(within):
        if within & ~adjacent[v] != 1 << v:
            everywhere ^= 1 << v
    maximal: list[NodeSet] = []
    current = taken = 0
    for v in maximum_cardinality_search(adjacent, within & ~everywhere):
        earlier = adjacent[v] & taken
        for u in nodes(earlier):
            if apart := earlier & ~(adjacent[u] | 1 << u):
                raise NotChordal(
                    f"the graph is not chordal: {u} and {show(apart)} are not adjacent, although "
                    f"connected by {v} and earlier nodes; maximal cliques can be listed only for "
                    "chordal graphs"
                )
        if earlier != current:  # the clique cannot grow by v: it is maximal
            maximal.append(current)
        current = earlier | 1 << v
        taken |= 1 << v
    return sorted(clique | everywhere for clique in (*maximal, current))


def cliques(adjacent: Rows, within: NodeSet) -> Iterator[NodeSet]:
    """Yield every clique of a graph, the empty one first.

    They come one at a time, in the order of their sorted nodes, and only the path to the current
    one is stored.  The graph need not be chordal.
    """
    stack = [(0, within)]
    while stack:
        clique, candidates = stack.pop()
        yield clique
        grown = []
        for v in nodes(candidates):
            later = candidates >> v + 1 << v + 1
            grown.append((clique | 1 << v, later & adjacent[v]))
        stack += reversed(grown)


def largest_clique(
    adjacent: Rows, sets: Iterable[NodeSet], allowed_branches: int = 20_000
) -> int | Between:
    """Return the size of the largest clique inside any of several sets of nodes.

    Branch and bound.  Color the candidates greedily so that adjacent ones differ: a clique has
    at most one node of each color, so a branch with too few colors cannot beat the best clique
    (Tomita & Seki 2003).  The graph need not be chordal.
    """
    best = expanded = 0
    # a bound on the size, the size of a clique, and the nodes that may join it
    stack = sorted((len({c for _, c in _colored(adjacent, s)}), 0, s) for s in sets)
    while stack:
        bound, size, candidates = stack.pop()
        if bound <= best:
            continue
        if expanded == allowed_branches:
            return Between(best, max(bound, *(other for other, _, _ in stack), best))
        expanded += 1
        best = max(best, size)
        before = 0
        for v, color in _colored(adjacent, candidates):  # the last color is popped first
            stack.append((size + color, size + 1, before & adjacent[v]))
            before |= 1 << v
    return best


def _colored(adjacent: Rows, candidates: NodeSet) -> Iterator[tuple[int, int]]:
    """Yield the candidates with colors 1, 2, ..., such that adjacent ones differ."""
    color = 0
    while candidates:
        color += 1
        fitting = candidates
        while fitting:
            lowest = fitting & -fitting
            v = lowest.bit_length() - 1
            candidates ^= lowest
            fitting &= ~(lowest | adjacent[v])
            yield v, color


def moral_graph(dag: PDAG) -> tuple[NodeSet, ...]:
    """Return the moral graph of a DAG: its skeleton, with every two parents of a node joined."""
    rows = [0] * dag.n
    for v in range(dag.n):
        family = dag.parents(v) | 1 << v
        for u in nodes(family):
            rows[u] |= family & ~(1 << u)
    return tuple(rows)


class Elimination(NamedTuple):
    """An order in which to eliminate nodes, and the most neighbors of a node in its turn."""

    order: list[int]
    width: int


def min_fill(adjacent: Sequence[NodeSet]) -> Elimination:
    """Return the order that eliminates, each time, the node that needs the fewest new edges.

    Ties go to the lowest node.  Only nodes whose surroundings changed are counted again.
    """
    graph = dict(enumerate(adjacent))
    fill = {v: _missing_edges(graph, v) for v in graph}
    order, width = [], 0
    while fill:
        v = min(fill, key=lambda u: (fill[u], u))
        del fill[v]
        order.append(v)
        around = graph[v]
        width = max(width, around.bit_count())
        _eliminate(graph, v)
        changed = around | union(graph[u] for u in nodes(around))
        fill.update((u, _missing_edges(graph, u)) for u in nodes(changed))
    return Elimination(order, width)


def minor_min_width(adjacent: Sequence[NodeSet]) -> int:
    """Return the largest least degree met while contracting: a lower bound on the treewidth."""
    graph = dict(enumerate(adjacent))
    width = 0
    while graph:
        v = min(graph, key=lambda u: (graph[u].bit_count(), u))
        near = graph.pop(v)
        width = max(width, near.bit_count())
        if near:
            into = min(nodes(near), key=lambda u: ((graph[u] & near).bit_count(), u))
            graph[into] |= near
            for u in nodes(near):
                graph[u] = (graph[u] | 1 << into) & ~(1 << v | 1 << u)
    return width


def treewidth(adjacent: Sequence[NodeSet], allowed_sets: int = 20_000) -> int | Between:
    """Return the treewidth of an undirected graph, or an interval that contains it."""
    high = min_fill(adjacent).width
    for k in range(minor_min_width(adjacent), high):
        answer = _can_eliminate(adjacent, k, allowed_sets)
        if answer is None:
            return Between(k, high)
        if answer:
            return k
    return high


def _can_eliminate(adjacent: Sequence[NodeSet], k: int, allowed_sets: int) -> bool | None:
    """Return whether the treewidth is at most k; None if that needs more sets than allowed."""
    seen: set[NodeSet] = set()
    stack = [dict(enumerate(adjacent))]
    while stack:
        graph = stack.pop()
        _eliminate_safe(graph, k)
        if len(graph) <= k + 1:
            return True
        remaining = nodeset(graph)
        if remaining in seen:
            continue
        if len(seen) == allowed_sets:
            return None
        seen.add(remaining)
        for v in sorted(graph, key=lambda u: (-graph[u].bit_count(), u)):
            if graph[v].bit_count() <= k:
                smaller = dict(graph)
                _eliminate(smaller, v)
                stack.append(smaller)
    return False


def _eliminate_safe(graph: dict[int, NodeSet], k: int) -> None:
    """Eliminate, in place, every (almost) simplicial node of at most k neighbors."""
    changed = True
    while changed:
        changed = False
        for v in list(graph):
            if graph[v].bit_count() <= k and _is_almost_clique(graph, graph[v]):
                _eliminate(graph, v)
                changed = True


def _is_almost_clique(graph: dict[int, NodeSet], s: NodeSet) -> bool:
    """Return whether s is a clique, perhaps after one node is left out."""
    apart = [u for u in nodes(s) if (s & ~graph[u]).bit_count() > 1]
    return not apart or any(
        all((s & ~graph[u] & ~(1 << out)).bit_count() <= 1 for u in apart if u != out)
        for out in apart
    )


def _eliminate(graph: dict[int, NodeSet], v: int) -> None:
    """Remove a node, in place, after joining its neighbors."""
    near = graph.pop(v)
    for u in nodes(near):
        graph[u] = (graph[u] | near) & ~(1 << v | 1 << u)


def _missing_edges(graph: dict[int, NodeSet], v: int) -> int:
    """Return how many pairs of neighbors of v are not adjacent."""
    near = graph[v]
    return sum((near & ~graph[u]).bit_count() - 1 for u in nodes(near)) // 2
