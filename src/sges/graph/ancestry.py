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

from sges.graph.equivalence import is_cpdag
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes, nodeset, reach, union


def class_descendants(graph: PDAG, x: int, *, possible: bool) -> NodeSet:
    """Return the nodes other than x that x is an ancestor of in every member, or in some."""
    by_first_node = {a: _walks(graph, x, a) for a in nodes(graph.out[x])}
    reached = union(by_first_node.values())
    if not possible:
        ends, reached = reached, reach(graph.children, 1 << x)
        for y in nodes(ends & ~reached) if is_cpdag(graph) else ():
            first_nodes = nodeset(a for a, walked in by_first_node.items() if walked >> y & 1)
            if not graph.is_clique(first_nodes):
                reached |= 1 << y
    return reached & ~(1 << x)


def class_ancestors(graph: PDAG, y: int, *, possible: bool) -> NodeSet:
    """Return the nodes other than y that are ancestors of y in every member, or in some."""
    candidates = reach(graph.into.__getitem__, 1 << y) & ~(1 << y)
    return nodeset(
        x for x in nodes(candidates) if class_descendants(graph, x, possible=possible) >> y & 1
    )


def _walks(graph: PDAG, x: int, a: int) -> NodeSet:
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
