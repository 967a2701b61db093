"""Ancestors in a class of DAGs: in every member (certain), or in at least one (possible).

A directed path makes an ancestor of every member, but it is not needed.  With x — a → y ← b — x
and a, b not adjacent, no member directs both a → x and b → x, so x is always an ancestor of y.

Walk from x along x → v and x — v, and never from u over v to a node that is adjacent to u.  The
nodes that such walks reach are the possible descendants of x: the shortest directed path in a
member has no chord.  Let C be the first nodes of the walks that reach y.  In a CPDAG, x is an
ancestor of y in every member iff C holds a child of x or is not a clique (Fang, Liu, Geng, Zhu &
He 2022); otherwise a member exists in which all of C are parents of x.

In a class refined by background knowledge, only directed paths are counted as certain, and
possible means not excluded by the walks.
"""

from typing import TYPE_CHECKING

from sges.nodeset import NodeSet, nodes, reach

if TYPE_CHECKING:
    from sges.graph.pdag import PDAG


def class_descendants(graph: "PDAG", x: int, *, possible: bool) -> NodeSet:
    """Return the nodes other than x that x is an ancestor of in every member, or in some."""
    directed = reach(graph.children, 1 << x)
    by_first_node = {a: _walks(graph, x, a) for a in nodes(graph.out[x])}
    reached = 0
    for ends in by_first_node.values():
        reached |= ends
    if not possible:
        reached = (
            directed
            if not _is_cpdag(graph)
            else directed | _in_every_member(graph, reached & ~directed, by_first_node)
        )
    return reached & ~(1 << x)


def class_ancestors(graph: "PDAG", y: int, *, possible: bool) -> NodeSet:
    """Return the nodes other than y that are ancestors of y in every member, or in some."""
    candidates = reach(lambda v: graph.into[v], 1 << y) & ~(1 << y)
    return sum(
        1 << x for x in nodes(candidates) if class_descendants(graph, x, possible=possible) >> y & 1
    )


def _in_every_member(graph: "PDAG", ends: NodeSet, by_first_node: dict[int, NodeSet]) -> NodeSet:
    """Return those of the ends whose first nodes are not a clique, of a node of a CPDAG."""
    certain = 0
    for y in nodes(ends):
        first_nodes = sum(1 << a for a, reached in by_first_node.items() if reached >> y & 1)
        if not graph.is_clique(first_nodes):
            certain |= 1 << y
    return certain


def _walks(graph: "PDAG", x: int, a: int) -> NodeSet:
    """Return the nodes that walks from x over a reach, without a step that has a chord."""
    reached = 1 << a
    seen = {(x, a)}
    todo = [(x, a)]
    while todo:
        u, v = todo.pop()
        for w in nodes(graph.out[v] & ~graph.adjacent(u) & ~(1 << u)):
            if (v, w) not in seen:
                seen.add((v, w))
                reached |= 1 << w
                todo.append((v, w))
    return reached


def _is_cpdag(graph: "PDAG") -> bool:
    from sges.graph.equivalence import is_cpdag

    return is_cpdag(graph)
