"""Chordal graphs: maximum cardinality search and maximal cliques.

The undirected part of a CPDAG is chordal (Andersson et al. 1997), and so is what NA_{Y,X}
induces in it.  Generating deletes rests on two facts about chordal graphs, each a function:

    maximum_cardinality_search   an order whose reverse eliminates perfectly
                                 (Tarjan & Yannakakis 1984)
    maximal_cliques              the at most n maximal cliques, read off that order
                                 (Blair & Peyton 1993)

A graph is given as ``adjacent``, one node set per node, of which only what lies inside
``within`` is looked at.  Nothing here knows about directed edges, scores or operators.

Paper: Section 4.3, maximal cliques.
"""

from collections.abc import Iterator

from sges.errors import NotChordal
from sges.nodeset import NodeSet, Rows, nodes, show


def maximum_cardinality_search(adjacent: Rows, within: NodeSet) -> list[int]:
    """Return the nodes so that each, when taken, has the most neighbors taken before it.

    Ties go to the lowest node.  On a chordal graph the earlier neighbors of each node form a
    clique.
    """
    order = []
    count = dict.fromkeys(nodes(within), 0)
    while count:
        v = max(count, key=count.__getitem__)
        del count[v]
        order.append(v)
        for u in nodes(adjacent[v] & within):
            if u in count:
                count[u] += 1
    return order


def maximal_cliques(adjacent: Rows, within: NodeSet) -> list[NodeSet]:
    """Return the maximal cliques of a chordal graph, sorted; refuse one that is not chordal.

    In the order of the search a node that has no more earlier neighbors than the node before
    it starts a new clique: itself and its earlier neighbors.  The graph without nodes has one
    maximal clique, the empty set: without it, an edge whose NA is empty could not be deleted.

    >>> square_with_diagonal = (0b1110, 0b0101, 0b1011, 0b0101)  # 0-1-2-3-0 and 0-2
    >>> [show(c) for c in maximal_cliques(square_with_diagonal, 0b1111)]
    ['{0, 1, 2}', '{0, 2, 3}']

    Paper: Section 4.3, maximal cliques.
    """
    cliques: list[NodeSet] = []
    current = taken = 0
    for v in maximum_cardinality_search(adjacent, within):
        earlier = adjacent[v] & taken
        _refuse_if_not_a_clique(adjacent, earlier, v)
        if earlier != current:  # the clique cannot grow by v: it is maximal
            cliques.append(current)
        current = earlier | 1 << v
        taken |= 1 << v
    return sorted([*cliques, current])


def _refuse_if_not_a_clique(adjacent: Rows, s: NodeSet, v: int) -> None:
    for u in nodes(s):
        if apart := s & ~(adjacent[u] | 1 << u):
            raise NotChordal(
                f"the graph is not chordal: {u} and {show(apart)} are not adjacent, though {v} "
                "and a path of earlier nodes join them; maximal cliques are read off chordal "
                "graphs only"
            )


def cliques(adjacent: Rows, within: NodeSet) -> Iterator[NodeSet]:
    """Yield every clique inside ``within``, the empty one first; any graph will do.

    One at a time, in the order of their sorted nodes, without ever holding more than the
    path to the current one.

    >>> path = (0b010, 0b101, 0b010)
    >>> [show(c) for c in cliques(path, 0b111)]
    ['{}', '{0}', '{0, 1}', '{1}', '{1, 2}', '{2}']
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


def largest_clique(adjacent: Rows, within: NodeSet) -> int:
    """Return the size of the largest clique inside ``within``; any graph will do.

    Branch and bound: a branch is left when even all its candidates would not beat the best.
    """
    best = 0
    stack = [(0, within)]
    while stack:
        size, candidates = stack.pop()
        if size + candidates.bit_count() <= best:
            continue
        if not candidates:
            best = size
            continue
        v = max(nodes(candidates), key=lambda u: (adjacent[u] & candidates).bit_count())
        rest = candidates ^ 1 << v
        if rest & ~adjacent[v]:  # otherwise v belongs to some largest clique
            stack.append((size, rest))
        stack.append((size + 1, rest & adjacent[v]))
    return best
