"""Meek's rules: what directing one edge says about others.

Rules R1 to R3 close the v-structures of a class to its CPDAG; R4 is needed as soon as edges
are directed for another reason, such as background knowledge or one of two choices made for
an undirected edge (Meek 1995).  Each rule directs a — b as a → b:

    R1   c → a — b,                     c and b not adjacent
    R2   a → c → b
    R3   a — c → b, a — d → b,          c and d not adjacent
    R4   a — c, c → d → b, a adjacent d,  c and b not adjacent

With the non-adjacency in R3 and R4: without it (a slip of several programs) edges are
directed that are reversible.
"""

from collections.abc import Iterable

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet, nodes


def close_under_meek(pdag: PDAG, direct: Iterable[Edge] = ()) -> PDAG:
    """Direct the given edges, then all that Meek's rules direct, until no rule applies.

    >>> chain = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])
    >>> close_under_meek(chain, [(0, 1)])
    PDAG(3 nodes: 0→1, 1→2)
    """
    graph = pdag.edited(direct=direct)
    while arrows := _first_arrows(graph):
        graph = graph.edited(direct=arrows)
    return graph


def _first_arrows(graph: PDAG) -> list[Edge]:
    """Return all that the rules direct now (each pair once: its rules can only agree)."""
    found = []
    for a in range(graph.n):
        found += [(a, b) for b in nodes(graph.neighbors(a)) if _directs(graph, a, b)]
    seen = set(found)
    return [(a, b) for a, b in found if a < b or (b, a) not in seen]


def _directs(graph: PDAG, a: int, b: int) -> bool:
    """Tell whether some rule makes a — b a → b."""
    far_from_b = ~(graph.adjacent(b) | 1 << b)
    into_b = graph.parents(b)
    return bool(
        graph.parents(a) & far_from_b  # R1
        or graph.children(a) & into_b  # R2
        or _two_apart(graph, graph.neighbors(a) & into_b)  # R3
        or any(  # R4
            graph.parents(d) & graph.neighbors(a) & far_from_b
            for d in nodes(into_b & graph.adjacent(a))
        )
    )


def _two_apart(graph: PDAG, s: NodeSet) -> bool:
    return not graph.is_clique(s)
