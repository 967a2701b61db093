"""Insert(X, Y, T): add an edge in some member of the class.

Chickering (2002), Theorem 15, which needs both its conditions.

Paper: Section 3.1, insert operators.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sges.graph.chordal import cliques
from sges.graph.paths import semi_directed_reach
from sges.graph.pdag import PDAG
from sges.nodeset import Nodes, NodeSet, nodes, show
from sges.operators.base import Change, Operator, as_mask


@dataclass(frozen=True, slots=True, init=False)
class Insert(Operator):
    """Insert(x, y, T): add x → y and make every t of T a parent of y.

    Valid iff x and y are not adjacent, T holds neighbors of y that are not adjacent to x,
    NA_{y,x} ∪ T is a clique, and it blocks every semi-directed path from y to x.

    >>> g = PDAG.from_edges(3, undirected=[(1, 2)])
    >>> print(Insert(0, 1, {2}), Insert(0, 1, {2}).apply(g))
    Insert(0, 1, {2}) PDAG(3 nodes: 0→1, 2→1)

    Paper: Section 3.1, insert operators.
    """

    set_name: ClassVar[str] = "T"
    adds_edges: ClassVar[int] = 1
    x: int
    y: int
    t: NodeSet

    def __init__(self, x: int, y: int, t: Nodes = 0) -> None:
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "t", as_mask(t, "Insert"))

    @property
    def chosen(self) -> NodeSet:
        """The set T."""
        return self.t

    def precondition(self, cpdag: PDAG) -> str | None:
        """Return which condition of Chickering (2002), Theorem 15, fails, or None."""
        x, y = self.x, self.y
        if cpdag.adjacent(y) >> x & 1:
            return f"{x} and {y} are adjacent already; an edge can be inserted only where none is"
        if stray := self.t & ~(cpdag.neighbors(y) & ~cpdag.adjacent(x)):
            return (
                f"{show(stray)} does not belong in T, which may only hold neighbors of {y} that "
                f"are not adjacent to {x}"
            )
        blocking = cpdag.na(y, x) | self.t
        if not cpdag.is_clique(blocking):
            return f"NA_{{{y},{x}}} ∪ T = {show(blocking)} must be a clique"
        if semi_directed_reach(cpdag, y, blocking) >> x & 1:
            return (
                f"a semi-directed path from {y} to {x} avoids NA_{{{y},{x}}} ∪ T = {show(blocking)}"
            )
        return None

    def changes(self, cpdag: PDAG) -> tuple[Change]:
        """Return that the parents NA ∪ T ∪ Pa of y are joined by x."""
        base = cpdag.na(self.y, self.x) | self.t | cpdag.parents(self.y)
        return (Change(self.y, base, base | 1 << self.x),)

    def edit(self, cpdag: PDAG) -> PDAG:
        """Add x → y and replace t — y with t → y for every t of T."""
        return cpdag.edited(direct=[(self.x, self.y), *((t, self.y) for t in nodes(self.t))])


def all_inserts(cpdag: PDAG) -> Iterator[Insert]:
    """Yield every valid Insert on the graph, lazily, pair by pair."""
    for x in range(cpdag.n):
        for y in nodes(((1 << cpdag.n) - 1) & ~cpdag.adjacent(x) & ~(1 << x)):
            yield from inserts(cpdag, x, y)


def inserts(cpdag: PDAG, x: int, y: int) -> Iterator[Insert]:
    """Yield every valid Insert(x, y, T) for one pair that is not adjacent, lazily."""
    na = cpdag.na(y, x)
    if not cpdag.is_clique(na):
        return
    allowed = cpdag.neighbors(y) & ~cpdag.adjacent(x)
    for v in nodes(na):
        allowed &= cpdag.adjacent(v)
    rows = {v: cpdag.adjacent(v) for v in nodes(allowed)}
    for t in cliques(rows, allowed):
        if not semi_directed_reach(cpdag, y, na | t) >> x & 1:
            yield Insert(x, y, t)
