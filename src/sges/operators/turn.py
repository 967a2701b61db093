"""Turn(X, Y, C): reverse an edge in some member of the class.

Hauser & Bühlmann (2012), Propositions 31 and 34, for the optional turning phase.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sges.graph.chordal import cliques
from sges.graph.paths import other_ways
from sges.graph.pdag import PDAG
from sges.nodeset import Nodes, NodeSet, nodes, show
from sges.operators.base import Change, Operator, as_mask


@dataclass(frozen=True, slots=True, init=False)
class Turn(Operator):
    """Turn(x, y, C): in a member with y → x where C are y's parents among its neighbors, turn it.

    On y → x: C is a clique of neighbors of y that holds NA_{y,x}, and C ∪ Ne(x) blocks every
    other semi-directed path from y to x.

    On x — y: C is a clique of neighbors of y without x, holds one that is not adjacent to x
    (otherwise the class stays the same), and C ∩ NA separates C ∖ NA from NA ∖ C among the
    neighbors of y.

    >>> g = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])
    >>> print(Turn(0, 1, {2}), Turn(0, 1, {2}).apply(g))
    Turn(0, 1, {2}) PDAG(3 nodes: 0→1, 2→1)
    """

    set_name: ClassVar[str] = "C"
    adds_edges: ClassVar[int] = 0
    x: int
    y: int
    c: NodeSet

    def __init__(self, x: int, y: int, c: Nodes = 0) -> None:
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "c", as_mask(c, "Turn"))

    @property
    def chosen(self) -> NodeSet:
        """The set C."""
        return self.c

    def precondition(self, cpdag: PDAG) -> str | None:
        """Return which condition of Hauser & Bühlmann (2012) fails, or None."""
        x, y = self.x, self.y
        if not cpdag.out[y] >> x & 1:
            return f"needs the edge {y}→{x} or {x}—{y}, and the graph has neither"
        if stray := self.c & ~(cpdag.neighbors(y) & ~(1 << x)):
            return f"{show(stray)} does not belong in C, which may only hold other neighbors of {y}"
        if not cpdag.is_clique(self.c):
            return f"C = {show(self.c)} must be a clique"
        if cpdag.neighbors(y) >> x & 1:
            return self._problem_of_undirected(cpdag)
        return self._problem_of_directed(cpdag)

    def changes(self, cpdag: PDAG) -> tuple[Change, Change]:
        """Return that the parents Pa ∪ C of y are joined by x, and that x loses its parent y."""
        x, y = self.x, self.y
        above_y = cpdag.parents(y) | self.c
        above_x = (cpdag.parents(x) | self.c & cpdag.neighbors(x)) & ~(1 << y)
        return Change(y, above_y, above_y | 1 << x), Change(x, above_x | 1 << y, above_x)

    def edit(self, cpdag: PDAG) -> PDAG:
        """Direct every edge at x and y as in the member that the reversal is made in."""
        x, y = self.x, self.y
        arrows = [(x, y), *((c, y) for c in nodes(self.c))]
        arrows += [(y, v) for v in nodes(cpdag.neighbors(y) & ~self.c & ~(1 << x))]
        at_x = cpdag.neighbors(x) & ~(1 << y)
        arrows += [(v, x) if self.c >> v & 1 else (x, v) for v in nodes(at_x)]
        return cpdag.edited(direct=arrows)

    def path_is_free(self, cpdag: PDAG) -> bool:
        """Tell whether, on y → x, no other semi-directed path from y avoids C ∪ Ne(x)."""
        return not self.blocking_path(cpdag)

    def blocking_path(self, cpdag: PDAG) -> NodeSet:
        """Return a set in which such a path runs, y in it, or the empty set if there is none."""
        x, y = self.x, self.y
        if cpdag.neighbors(y) >> x & 1:
            return 0
        return other_ways(cpdag, y, x, self.c | cpdag.neighbors(x))

    def _problem_of_undirected(self, cpdag: PDAG) -> str | None:
        x, y = self.x, self.y
        na = cpdag.na(y, x)
        if not self.c & ~na:
            return f"C = {show(self.c)} holds no node apart from {x}: the class would stay the same"
        if not _separates(cpdag, x, y, self.c):
            return (
                f"C ∩ NA = {show(self.c & na)} must separate {show(self.c & ~na)} from "
                f"{show(na & ~self.c)} among the neighbors of {y}"
            )
        return None

    def _problem_of_directed(self, cpdag: PDAG) -> str | None:
        x, y = self.x, self.y
        if missing := cpdag.na(y, x) & ~self.c:
            return f"C must hold NA_{{{y},{x}}}, but lacks {show(missing)}"
        if not self.path_is_free(cpdag):
            blocking = self.c | cpdag.neighbors(x)
            return (
                f"another semi-directed path from {y} to {x} avoids C ∪ Ne({x}) = {show(blocking)}"
            )
        return None


def all_turns(cpdag: PDAG) -> Iterator[Turn]:
    """Yield every valid Turn on the graph, lazily, pair by pair."""
    for x in range(cpdag.n):
        for y in nodes(cpdag.into[x]):
            yield from turns(cpdag, x, y)


def turns(cpdag: PDAG, x: int, y: int) -> Iterator[Turn]:
    """Yield every valid Turn(x, y, C) for one edge y → x or x — y, lazily."""
    return (turn for turn in local_turns(cpdag, x, y) if turn.path_is_free(cpdag))


def local_turns(cpdag: PDAG, x: int, y: int) -> Iterator[Turn]:
    """Yield the turns of one edge that meet every condition but that on paths, lazily."""
    directed = not cpdag.neighbors(y) >> x & 1
    for held, free in parts_of_c(cpdag, x, y):
        for v in nodes(held):
            free &= cpdag.adjacent(v)
        for t in cliques(cpdag.skeleton(), free):
            if t or directed:
                yield Turn(x, y, held | t)


def parts_of_c(cpdag: PDAG, x: int, y: int) -> Iterator[tuple[NodeSet, NodeSet]]:
    """Yield the nodes that C must hold, and those of which it may hold more; all form a clique.

    On y → x, C must hold NA.  On x — y it holds more, a part of one connected component K of
    the neighbors of y that are not adjacent to x.  All paths from K to NA begin in K, so C must
    hold what NA has next to K; and it can hold nothing else of NA, as C is a clique.
    """
    near, na = cpdag.neighbors(y), cpdag.na(y, x)
    if not near >> x & 1:
        if cpdag.is_clique(na):
            yield na, near & ~na
        return
    apart = near & ~na & ~(1 << x)
    while apart:
        component = apart & -apart
        while grown := _adjacent_to(cpdag, component) & apart & ~component:
            component |= grown
        apart &= ~component
        held = _adjacent_to(cpdag, component) & na
        if cpdag.is_clique(held):
            yield held, component


def local_turn_sets(cpdag: PDAG, y: int, xs: NodeSet) -> Iterator[tuple[NodeSet, NodeSet]]:
    """Yield each C with those of the X for which Turn(X, y, C) meets every condition but that.

    ``xs`` are some of the X with y → X or y — X.
    """
    near = cpdag.neighbors(y)
    if not near:  # the usual case: all edges are y → X, and C is empty
        yield 0, xs
        return
    rows = {v: cpdag.adjacent(v) for v in nodes(near)}
    for c in cliques(rows, near):
        turned = xs & ~c
        for v in nodes(near & ~c):  # on y → X, NA_{y,X} ⊆ C
            turned &= ~rows[v] | near
        for x in nodes(turned & near):
            if not c & ~rows[x] or not _separates(cpdag, x, y, c):
                turned ^= 1 << x
        if turned:
            yield c, turned


def _separates(cpdag: PDAG, x: int, y: int, c: NodeSet) -> bool:
    """Tell whether, on x — y, C ∩ NA separates C ∖ NA from NA ∖ C among the neighbors of y."""
    near, na = cpdag.neighbors(y), cpdag.na(y, x)
    reached = c & ~na
    while grown := _adjacent_to(cpdag, reached) & near & ~(c & na) & ~reached:
        reached |= grown
    return not reached & na & ~c


def _adjacent_to(cpdag: PDAG, s: NodeSet) -> NodeSet:
    found = 0
    for v in nodes(s):
        found |= cpdag.adjacent(v)
    return found
