"""Treewidth: exact where feasible, otherwise an interval.

The treewidth is the smallest k such that the nodes can be eliminated one by one, each with at
most k neighbors when its turn comes, its neighbors then being joined.

    upper bound   eliminate greedily the node that joins the fewest pairs (min-fill)
    lower bound   contract greedily a node of least degree into a neighbor (minor-min-width)
    between       for each k from below, a search over *sets* of eliminated nodes: what is left
                  depends on the set alone, not on its order (Bodlaender et al. 2012), and a
                  node of at most k neighbors that form a clique, or do so without one of them,
                  can always go first (Bodlaender, Koster & van den Eijkhof 2005)

The search gives up after so many sets, and what is known then is an interval.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sges.nodeset import NodeSet, nodes


class Between(NamedTuple):
    """An interval that holds a number which was not settled."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"between {self.low} and {self.high}"


def treewidth(adjacent: Sequence[NodeSet], allowed_sets: int = 20_000) -> int | Between:
    """Return the treewidth of a graph, or an interval if the search would look at more sets.

    >>> cycle = (0b1010, 0b0101, 0b1010, 0b0101)
    >>> treewidth(cycle)
    2
    """
    high = min_fill_width(adjacent)
    low = minor_min_width(adjacent)
    for k in range(low, high):
        answer = _can_eliminate(tuple(adjacent), k, allowed_sets)
        if answer is None:
            return Between(k, high)
        if answer:
            return k
    return high


def min_fill_width(adjacent: Sequence[NodeSet]) -> int:
    """Return the width of a greedy elimination: an upper bound on the treewidth."""
    graph = dict(enumerate(adjacent))
    width = 0
    while graph:
        v = min(graph, key=lambda u: (_missing_pairs(graph, graph[u]), u))
        width = max(width, graph[v].bit_count())
        _eliminate(graph, v)
    return width


def minor_min_width(adjacent: Sequence[NodeSet]) -> int:
    """Return the largest least degree met while contracting: a lower bound on the treewidth."""
    graph = dict(enumerate(adjacent))
    width = 0
    while graph:
        v = min(graph, key=lambda u: (graph[u].bit_count(), u))
        width = max(width, graph[v].bit_count())
        near = graph.pop(v)
        for u in nodes(near):
            graph[u] &= ~(1 << v)
        if near:
            into = min(nodes(near), key=lambda u: ((graph[u] & near).bit_count(), u))
            graph[into] |= near & ~(1 << into)
            for u in nodes(near & ~(1 << into)):
                graph[u] |= 1 << into
    return width


def _can_eliminate(adjacent: tuple[NodeSet, ...], k: int, allowed_sets: int) -> bool | None:
    """Tell whether the treewidth is at most k; None if that needs more sets than allowed."""
    seen: set[NodeSet] = set()
    stack = [dict(enumerate(adjacent))]
    while stack:
        graph = stack.pop()
        _eliminate_safe(graph, k)
        if len(graph) <= k + 1:
            return True
        left = sum(1 << v for v in graph)
        if left in seen:
            continue
        if len(seen) == allowed_sets:
            return None
        seen.add(left)
        for v in sorted(graph, key=lambda u: (-graph[u].bit_count(), u)):
            if graph[v].bit_count() <= k:
                smaller = dict(graph)
                _eliminate(smaller, v)
                stack.append(smaller)
    return False


def _eliminate_safe(graph: dict[int, NodeSet], k: int) -> None:
    """Eliminate, in place, every (almost) simplicial node of at most k neighbors."""
    found = True
    while found:
        found = False
        for v in list(graph):
            if graph[v].bit_count() <= k and _is_almost_clique(graph, graph[v]):
                _eliminate(graph, v)
                found = True


def _is_almost_clique(graph: dict[int, NodeSet], s: NodeSet) -> bool:
    """Tell whether s is a clique, perhaps after one node is left out."""
    apart = [u for u in nodes(s) if (s & ~graph[u]).bit_count() > 1]
    return not apart or any(
        all((s & ~graph[u] & ~(1 << out)).bit_count() <= 1 for u in apart if u != out)
        for out in apart
    )


def _eliminate(graph: dict[int, NodeSet], v: int) -> None:
    near = graph.pop(v)
    for u in nodes(near):
        graph[u] = (graph[u] | near) & ~(1 << v | 1 << u)


def _missing_pairs(graph: dict[int, NodeSet], s: NodeSet) -> int:
    return sum((s & ~graph[u]).bit_count() - 1 for u in nodes(s)) // 2
