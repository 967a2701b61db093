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

The work is kept as a list of edges to look at: at first all, or none if the graph is closed
already; after u → v is directed, those to which a rule may apply that did not before.
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
    work = _Closing(pdag.edited(direct=direct))
    for v in range(pdag.n):
        work.look_at(v, work.neighbors(v))
    work.settle()
    return work.graph()


def direct_in_turn(closed: PDAG, arrows: Iterable[Edge]) -> tuple[PDAG, list[Edge]]:
    """Direct edges of a closed PDAG one by one, closing after each; return what contradicts.

    The edges exist.  In a PDAG that is closed under Meek's rules and has an extension, each
    undirected edge is directed both ways by extensions (Meek 1995, Theorem 4).  So an arrow
    contradicts the graph and the arrows before it exactly if its edge is found directed the
    other way when its turn comes; no search for an extension is needed.  Such arrows are left
    out, and returned.  The cost is that of the edges around the arrows, not that of the graph.

    >>> chain = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])
    >>> direct_in_turn(chain, [(0, 1), (2, 1)])  # 0 → 1 makes 1 → 2
    (PDAG(3 nodes: 0→1, 1→2), [(2, 1)])
    """
    work = _Closing(closed)
    contradicting = []
    for a, b in arrows:
        if not work.out[a] >> b & 1:
            contradicting.append((a, b))
        elif work.into[a] >> b & 1:
            work.direct(a, b)
            work.settle()
    return work.graph(), contradicting


class _Closing:
    """A graph in the making, and the undirected edges at which a rule may apply."""

    def __init__(self, pdag: PDAG) -> None:
        self._pdag = pdag
        self.out, self.into = list(pdag.out), list(pdag.into)
        self._todo: list[Edge] = []

    def neighbors(self, v: int) -> NodeSet:
        return self.out[v] & self.into[v]

    def look_at(self, a: int, others: NodeSet) -> None:
        """Note the edges between a and others to be looked at."""
        self._todo += [(a, b) for b in nodes(others)]

    def direct(self, u: int, v: int) -> None:
        """Make u — v u → v, and note the edges that this may direct by R1 to R3, or by R4."""
        self.out[v] &= ~(1 << u)
        self.into[u] &= ~(1 << v)
        self.look_at(v, self.neighbors(v))
        self.look_at(u, self.neighbors(u))
        below = self.out[v] & ~self.into[v]
        for a in nodes(self.neighbors(u) & (self.out[v] | self.into[v])):
            self.look_at(a, self.neighbors(a) & below)

    def settle(self) -> None:
        """Apply the rules until none applies."""
        while self._todo:
            a, b = self._todo.pop()
            if self.neighbors(a) >> b & 1:
                if self._directs(a, b):
                    self.direct(a, b)
                elif self._directs(b, a):
                    self.direct(b, a)

    def graph(self) -> PDAG:
        """Return the graph as it is now."""
        return PDAG(tuple(self.out), tuple(self.into), self._pdag.names)

    def _directs(self, a: int, b: int) -> bool:
        """Tell whether some rule makes a — b a → b."""
        out, into = self.out, self.into
        far_from_b = ~(out[b] | into[b] | 1 << b)
        into_b = into[b] & ~out[b]
        near_a = out[a] & into[a]
        return bool(
            into[a] & ~out[a] & far_from_b  # R1
            or out[a] & ~into[a] & into_b  # R2
            or self._two_apart(near_a & into_b)  # R3
            or any(  # R4
                into[d] & ~out[d] & near_a & far_from_b for d in nodes(into_b & (out[a] | into[a]))
            )
        )

    def _two_apart(self, s: NodeSet) -> bool:
        return any(s & ~(self.out[v] | self.into[v] | 1 << v) for v in nodes(s))
