"""Ancestors in a class of DAGs: in every member (certain), or in at least one (possible).

If there is a directed path from x to y, x is an ancestor of y in every member, but such a path is
not necessary.  With x — a → y ← b — x and a, b not adjacent, no member directs both a → x and
b → x, so x is always an ancestor of y.

Close the graph under Meek's rules, walk from x along x → v and x — v, and never from u over v to a
node that is adjacent to u.  If a member directs the first edge of such a walk away from x, it
directs all others along the walk, as it would have a v-structure otherwise.  And the shortest
directed path from x to y in a member has no chord, so it is such a walk.  Let C be the first nodes
of the walks that reach y.  Then x is an ancestor of y in a member iff it directs x → c for some c
in C.  Every edge of a closed graph may be directed the way it is walked, so the nodes that walks
reach are the possible descendants of x.  They are certain unless some member directs c → x for all
of C, which ``direct_in_turn`` decides.  (In a CPDAG it does iff C is a clique without children of
x: Fang, Liu, Geng, Zhu & He 2022.)

No walk returns to a node that it has visited, as a member that follows it would have a cycle; so
the nodes that walks with a given first step reach follow from the possible next steps.
"""

from collections.abc import Iterable, Iterator

from sges.graph.equivalence import maximally_oriented
from sges.graph.meek import direct_in_turn
from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet, nodes, nodeset, reach, union


def class_descendants(graph: PDAG, x: int, *, possible: bool) -> NodeSet:
    """Return the nodes other than x that x is an ancestor of in every member, or in some."""
    return next(descendants_in_class(graph, [x]))[possible]


def class_ancestors(graph: PDAG, y: int, *, possible: bool) -> NodeSet:
    """Return the nodes other than y that are ancestors of y in every member, or in some."""
    candidates = list(nodes(reach(graph.into.__getitem__, 1 << y) & ~(1 << y)))
    below = descendants_in_class(graph, candidates)
    return nodeset(x for x, s in zip(candidates, below, strict=True) if s[possible] >> y & 1)


def descendants_in_class(graph: PDAG, xs: Iterable[int]) -> Iterator[tuple[NodeSet, NodeSet]]:
    """Yield the certain and the possible descendants of each given node, without the node."""
    closed, known = maximally_oriented(graph), dict[Edge, NodeSet]()
    for x in xs:
        walked = {a: _walks(closed, (x, a), known) for a in nodes(closed.out[x])}
        certain, possible = 0, union(walked.values())
        ends: dict[NodeSet, NodeSet] = {}  # by the first nodes of the walks that reach them
        for y in nodes(possible):
            first_nodes = nodeset(a for a, reached in walked.items() if reached >> y & 1)
            ends[first_nodes] = ends.get(first_nodes, 0) | 1 << y
        for first_nodes, reached in ends.items():
            if direct_in_turn(closed, [(a, x) for a in nodes(first_nodes)])[1]:
                certain |= reached
        yield certain, possible


def _walks(closed: PDAG, step: Edge, known: dict[Edge, NodeSet]) -> NodeSet:
    """Return the nodes that walks with this first step reach; ``known`` stores all results."""
    todo = [step]
    while todo:
        u, v = todo[-1]
        after = [(v, w) for w in nodes(closed.out[v] & ~closed.adjacent(u) & ~(1 << u))]
        unknown = [later for later in after if later not in known]
        todo += unknown
        if not unknown:
            known[todo.pop()] = union(known[later] for later in after) | 1 << v
    return known[step]
