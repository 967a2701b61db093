"""Meek's rules: the directions that follow when an edge is directed.

Rules R1 to R3 close the v-structures of a class to its CPDAG; R4 is needed as soon as edges
are directed for another reason, such as background knowledge or one of two choices made for
an undirected edge (Meek 1995).  Each rule directs a — b as a → b:

    R1   c → a — b,                     c and b not adjacent
    R2   a → c → b
    R3   a — c → b, a — d → b,          c and d not adjacent
    R4   a — c, c → d → b, a adjacent d,  c and b not adjacent

The non-adjacency in R3 and R4 matters: without it, as in several programs, reversible edges are
directed.

Each rule has an arrow among its conditions, and its instances are found when the last of its
arrows is directed.  So a graph that is already closed costs nothing, and the cost of one more
arrow depends only on the graph around it.  The conclusion of a rule holds in every extension, so
the order does not matter.
"""

from collections.abc import Iterable

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import nodes


def close_under_meek(pdag: PDAG, direct: Iterable[Edge] = ()) -> PDAG:
    """Direct the given edges, then apply Meek's rules until none applies."""
    graph = pdag.edited(direct=direct)
    work = _Closing(graph)
    for u, v in graph.directed_edges():
        work.follow(u, v)
    work.settle()
    return work.graph()


def direct_in_turn(closed: PDAG, arrows: Iterable[Edge]) -> tuple[PDAG, list[Edge]]:
    """Direct edges of a closed PDAG one by one, closing under Meek's rules after each.

    In a PDAG that is closed under Meek's rules and has an extension, each undirected edge is
    directed both ways by extensions (Meek 1995, Theorem 4).  So an arrow contradicts the graph
    and the arrows before it exactly if its edge is already directed the other way when its turn
    comes; no search for an extension is needed.  Such arrows are skipped, and returned.  The cost
    is that of the edges around the arrows, not that of the graph.
    """
    work = _Closing(closed)
    contradicting = []
    for a, b in arrows:
        if not work.out[a] >> b & 1:
            contradicting.append((a, b))
        elif work.into[a] >> b & 1:
            work.settle([(a, b)])
    return work.graph(), contradicting


class _Closing:
    """A graph whose edges are being directed, and the arrows that follow."""

    def __init__(self, pdag: PDAG) -> None:
        self._pdag = pdag
        self.out, self.into = list(pdag.out), list(pdag.into)
        self._todo: list[Edge] = []

    def settle(self, arrows: Iterable[Edge] = ()) -> None:
        """Direct the arrows whose edges are undirected, and all that follows from them."""
        self._todo += arrows
        while self._todo:
            u, v = self._todo.pop()
            if self.out[u] & self.into[u] & 1 << v:
                self.out[v] &= ~(1 << u)
                self.into[u] &= ~(1 << v)
                self.follow(u, v)

    def follow(self, u: int, v: int) -> None:
        """Collect the arrows that follow from u → v."""
        out, into = self.out, self.into
        near_u, near_v = out[u] & into[u], out[v] & into[v]
        far_from_u, far_from_v = ~(out[u] | into[u]), ~(out[v] | into[v])
        above_u, below_v = into[u] & ~out[u], out[v] & ~into[v]
        self._todo += [(v, b) for b in nodes(near_v & far_from_u)]  # R1: c = u, a = v
        self._todo += [(u, b) for b in nodes(near_u & below_v)]  # R2: a = u, c = v
        self._todo += [(a, v) for a in nodes(above_u & near_v)]  # R2: c = u, b = v
        if apart := into[v] & ~out[v] & far_from_u & ~(1 << u):  # R3: c = u, b = v
            self._todo += [(a, v) for a in nodes(near_u & near_v) if out[a] & into[a] & apart]
        for b in nodes(below_v & far_from_u & ~(1 << u)):  # R4: c = u, d = v
            self._todo += [(a, b) for a in nodes(near_u & ~far_from_v & out[b] & into[b])]
        if apart := above_u & far_from_v:  # R4: d = u, b = v
            self._todo += [(a, v) for a in nodes(near_v & ~far_from_u) if out[a] & into[a] & apart]

    def graph(self) -> PDAG:
        """Return the graph as it is now."""
        return PDAG(tuple(self.out), tuple(self.into), self._pdag.names)
