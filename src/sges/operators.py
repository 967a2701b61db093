"""Operators on equivalence classes: Insert, Delete and Turn, and generators of all valid ones.

An operator is a frozen value: two nodes and a set, which is named as in its paper: T for Insert,
H for Delete, C for Turn.  It can say why it is not valid on a CPDAG (``problem``), how much it
changes the score there (``delta``), and which CPDAG it leads to (``apply``).  Sets of nodes are
masks, the bits of an integer; constructors also accept an iterable of nodes.

    Insert(x, y, T)   add an edge in some member of the class        Chickering (2002), Theorem 15
    Delete(x, y, H)   remove an edge in some member of the class     Fig. 2
    Turn(x, y, C)     reverse an edge in some member of the class    Hauser & Bühlmann (2012),
                                                                     Propositions 31 and 34

Fig. 2 says "X and Y are adjacent".  It means X → Y or X — Y: with Y → X allowed the score change
is wrong, and some results have no consistent extension (``docs/errata.md``).

A path from y is *semi-directed* if no edge on it is directed against it: each step follows u → v
or u — v.  Insert and Turn require that a set blocks all such paths from y to x.  This is a question
of reachability; listing the paths, as several programs do, takes exponential time on dense graphs.

Paper: Fig. 2; Section 3.1, insert operators.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import ClassVar, NamedTuple, TypeVar

from sges.docstrings import documented_like, documented_like_base
from sges.errors import InvalidOperator
from sges.graph.completion import complete_locally
from sges.graph.pdag import ANSWER, GRAPHS, PDAG
from sges.graph.undirected import adjacency, cliques
from sges.nodeset import (
    NodeSet,
    by_size_then_nodes,
    components,
    nodes,
    nodeset,
    reach,
    show,
    union,
)
from sges.score.protocol import Score

__all__ = [
    "Delete",
    "Insert",
    "Turn",
    "all_deletes",
    "all_inserts",
    "all_turns",
    "deletes",
    "inserts",
    "turns",
]


GENERATOR = """Sections that generators of operators share.

Parameters
----------
cpdag : PDAG
    A CPDAG.
x : int
    The first node of the operator.
y : int
    The second node of the operator.

Yields
------
Insert, Delete or Turn
    Each valid operator, once.
"""


class Change(NamedTuple):
    """The parents of y before and after an operator: one more, or one fewer."""

    y: int
    before: NodeSet
    after: NodeSet


@documented_like(GENERATOR)
@dataclass(frozen=True, slots=True)
class Operator(ABC):
    """One step in the space of equivalence classes, on a pair of nodes."""

    set_name: ClassVar[str]
    adds_edges: ClassVar[int]
    x: int
    y: int

    def __init_subclass__(cls) -> None:
        documented_like_base(cls)

    def _fill(self, x: int, y: int, members: NodeSet | Iterable[int]) -> None:
        """Set the two nodes and the set, which is a mask or an iterable of nodes."""
        s = members if isinstance(members, int) else nodeset(members)
        if s < 0:
            raise InvalidOperator(f"{type(self).__name__}: {s} is not a set of nodes")
        object.__setattr__(self, "x", int(x))  # NumPy's integers would overflow at 64 nodes
        object.__setattr__(self, "y", int(y))
        object.__setattr__(self, self.set_name.lower(), s)

    @property
    def chosen(self) -> NodeSet:
        """The set that distinguishes the operators on one pair, T, H or C, as a mask."""
        chosen: NodeSet = getattr(self, self.set_name.lower())
        return chosen

    @abstractmethod
    @documented_like(GRAPHS)
    def precondition(self, cpdag: PDAG) -> str | None:
        """Return which precondition fails on a graph that has the operator's nodes.

        Returns
        -------
        str or None
            The reason in one line, or None if every precondition holds.
        """

    @abstractmethod
    @documented_like(GRAPHS)
    def changes(self, cpdag: PDAG) -> tuple[Change, ...]:
        """Return the families that a valid operator changes in one member of the class.

        Returns
        -------
        tuple of Change
            For each changed node, its parents before and after.
        """

    @abstractmethod
    def _edit(self, cpdag: PDAG) -> PDAG:
        """Return the PDAG that a valid operator makes, before it is completed."""

    @documented_like(precondition)
    def problem(self, cpdag: PDAG) -> str | None:
        """Return why the operator is not valid on a graph."""
        n = cpdag.n
        if not (0 <= self.x < n and 0 <= self.y < n) or self.chosen >> n:
            return f"nodes must be in 0..{n - 1}"
        if self.x == self.y:
            return "x and y must be two different nodes"
        return self.precondition(cpdag)

    @documented_like(ANSWER, GRAPHS)
    def is_valid(self, cpdag: PDAG) -> bool:
        """Return whether every precondition holds on a graph."""
        return self.problem(cpdag) is None

    @documented_like(GRAPHS)
    def gain(self, score: Score, cpdag: PDAG) -> float:
        """Return the score change of an operator that is known to be valid; this is not checked.

        Parameters
        ----------
        score : Score
            The score.

        Returns
        -------
        float
            How much higher the score is afterwards.
        """
        changes = self.changes(cpdag)
        return sum(score.local(y, after) - score.local(y, before) for y, before, after in changes)

    @documented_like(gain, GRAPHS)
    def delta(self, score: Score, cpdag: PDAG) -> float:
        """Return how much the score of the class changes when the operator is applied.

        Raises
        ------
        InvalidOperator
            If the operator is not valid on the graph.
        """
        self._check(cpdag)
        return self.gain(score, cpdag)

    @documented_like(GRAPHS)
    def apply(self, cpdag: PDAG) -> PDAG:
        """Return the CPDAG after the operator.

        Returns
        -------
        PDAG
            The CPDAG of the new class.

        Raises
        ------
        InvalidOperator
            If the operator is not valid on the graph.
        """
        self._check(cpdag)
        return self.carry_out(cpdag)

    @documented_like(apply, GRAPHS)
    def carry_out(self, cpdag: PDAG) -> PDAG:
        """Return the CPDAG after an operator that is known to be valid; this is not checked."""
        return complete_locally(cpdag, self._edit(cpdag), self.x, self.y)

    def sort_key(self) -> tuple[int, ...]:
        """Return the key by which ties are broken: (x, y, size of the set, its nodes)."""
        return (self.x, self.y, *by_size_then_nodes(self.chosen))

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.x}, {self.y}, {show(self.chosen)})"

    def _check(self, cpdag: PDAG) -> None:
        if problem := self.problem(cpdag):
            raise InvalidOperator(f"{self}: {problem}")


@documented_like(GENERATOR)
@dataclass(frozen=True, slots=True, init=False)
class Insert(Operator):
    """Insert(x, y, T): add x → y and make every node of T a parent of y.

    Valid iff x and y are not adjacent, T contains only neighbors of y that are not adjacent to x,
    NA_{y,x} ∪ T is a clique, and it blocks every semi-directed path from y to x.

    Paper: Section 3.1, insert operators.

    Parameters
    ----------
    t : int or iterable of int, optional
        The set T: a mask, or its nodes.  Empty by default.

    References
    ----------
    Chickering (2002), "Optimal structure identification with greedy search", JMLR 3, Theorem 15.

    Examples
    --------
    >>> g = PDAG.from_edges(3, undirected=[(1, 2)])
    >>> print(Insert(0, 1, {2}), Insert(0, 1, {2}).apply(g))
    Insert(0, 1, {2}) PDAG(3 nodes: 0→1, 2→1)
    """

    set_name: ClassVar[str] = "T"
    adds_edges: ClassVar[int] = 1
    t: NodeSet

    def __init__(self, x: int, y: int, t: NodeSet | Iterable[int] = 0) -> None:
        self._fill(x, y, t)

    def precondition(self, cpdag: PDAG) -> str | None:
        """Return which condition of Chickering (2002), Theorem 15, fails."""
        x, y = self.x, self.y
        if cpdag.adjacent(y) >> x & 1:
            return f"{x} and {y} are already adjacent; an insert needs two non-adjacent nodes"
        if stray := self.t & ~(cpdag.neighbors(y) & ~cpdag.adjacent(x)):
            return (
                f"{show(stray)} does not belong in T, which may only contain neighbors of {y} "
                f"that are not adjacent to {x}"
            )
        blocking = cpdag.na(y, x) | self.t
        if not cpdag.is_clique(blocking):
            return f"NA_{{{y},{x}}} ∪ T = {show(blocking)} must be a clique"
        if reach(cpdag.out.__getitem__, 1 << y, blocking) >> x & 1:
            return (
                f"a semi-directed path from {y} to {x} avoids NA_{{{y},{x}}} ∪ T = {show(blocking)}"
            )
        return None

    def changes(self, cpdag: PDAG) -> tuple[Change]:
        """Return the change: y, with the parents NA ∪ T ∪ Pa, gains the parent x."""
        base = cpdag.na(self.y, self.x) | self.t | cpdag.parents(self.y)
        return (Change(self.y, base, base | 1 << self.x),)

    def _edit(self, cpdag: PDAG) -> PDAG:
        """Add x → y, and replace t — y with t → y for every node t of T."""
        return cpdag.edited(direct=[(self.x, self.y), *((t, self.y) for t in nodes(self.t))])


@documented_like(GENERATOR)
def all_inserts(cpdag: PDAG) -> Iterator[Insert]:
    """Yield every valid Insert on a graph lazily, pair by pair."""
    everything = (1 << cpdag.n) - 1
    for x in range(cpdag.n):
        for y in nodes(everything & ~(cpdag.adjacent(x) | 1 << x)):
            yield from inserts(cpdag, x, y)


@documented_like(GENERATOR)
def inserts(cpdag: PDAG, x: int, y: int) -> Iterator[Insert]:
    """Yield every valid Insert(x, y, T) for one pair lazily."""
    na = cpdag.na(y, x)
    if cpdag.is_clique(na):
        free = cpdag.neighbors(y) & ~cpdag.adjacent(x)
        candidates = (Insert(x, y, t) for t in _cliques_joined_to(cpdag, na, free))
        yield from (insert for insert in candidates if not insert.precondition(cpdag))


def _cliques_joined_to(cpdag: PDAG, clique: NodeSet, free: NodeSet) -> Iterator[NodeSet]:
    """Yield every set of free nodes, the empty one first, that extends a clique to a clique."""
    for v in nodes(clique):
        free &= cpdag.adjacent(v)
    return cliques(adjacency(cpdag, free), free)


@documented_like(GENERATOR)
@dataclass(frozen=True, slots=True, init=False)
class Delete(Operator):
    """Delete(x, y, H): remove the edge between x and y and make H their common children.

    Valid iff x → y or x — y, H ⊆ NA_{y,x}, and NA_{y,x} ∖ H is a clique.

    Paper: Fig. 2.

    Parameters
    ----------
    h : int or iterable of int, optional
        The set H: a mask, or its nodes.  Empty by default.

    Examples
    --------
    >>> g = PDAG.complete(3)
    >>> print(Delete(0, 1, {2}), Delete(0, 1, {2}).apply(g))
    Delete(0, 1, {2}) PDAG(3 nodes: 0→2, 1→2)
    """

    set_name: ClassVar[str] = "H"
    adds_edges: ClassVar[int] = -1
    h: NodeSet

    def __init__(self, x: int, y: int, h: NodeSet | Iterable[int] = 0) -> None:
        self._fill(x, y, h)

    def precondition(self, cpdag: PDAG) -> str | None:
        """Return which precondition of Fig. 2 fails."""
        x, y = self.x, self.y
        if not cpdag.out[x] >> y & 1:
            return f"needs the edge {x}→{y} or {x}—{y} (Fig. 2), but the graph has neither"
        na = cpdag.na(y, x)
        if stray := self.h & ~na:
            return (
                f"{show(stray)} lies outside NA_{{{y},{x}}} = {show(na)}; H may only contain "
                f"neighbors of {y} that are adjacent to {x} (Fig. 2)"
            )
        if not cpdag.is_clique(na & ~self.h):
            return f"NA_{{{y},{x}}} ∖ H = {show(na & ~self.h)} must be a clique (Fig. 2)"
        return None

    def changes(self, cpdag: PDAG) -> tuple[Change]:
        """Return the change: y, with the parents Pa ∪ H̄ ∪ x and H̄ = NA ∖ H, loses the parent x.

        The larger family contains x also when x — y is undirected, so that x is not a parent of
        y in the CPDAG; Chickering (2002), Corollary 18, omits that.
        """
        kept = cpdag.parents(self.y) | cpdag.na(self.y, self.x) & ~self.h
        x = 1 << self.x
        return (Change(self.y, kept | x, kept & ~x),)

    def _edit(self, cpdag: PDAG) -> PDAG:
        """Remove the edge; replace y — h with y → h, and x — h with x → h, for every h of H."""
        below_x = self.h & cpdag.neighbors(self.x)
        arrows = [(self.y, h) for h in nodes(self.h)] + [(self.x, h) for h in nodes(below_x)]
        return cpdag.edited(remove=[(self.x, self.y)], direct=arrows)


@documented_like(GENERATOR)
def all_deletes(cpdag: PDAG) -> Iterator[Delete]:
    """Yield every valid Delete on a graph lazily; x — y in both orders.

    The two orders have the same effect and score, but use different families; both are generated
    and counted, as in the paper.
    """
    for x in range(cpdag.n):
        for y in nodes(cpdag.out[x]):
            yield from deletes(cpdag, x, y)


@documented_like(GENERATOR)
def deletes(cpdag: PDAG, x: int, y: int) -> Iterator[Delete]:
    """Yield every valid Delete(x, y, H) for one edge lazily."""
    na = cpdag.na(y, x)
    for kept in cliques(adjacency(cpdag, na), na):
        yield Delete(x, y, na & ~kept)


@documented_like(GENERATOR)
@dataclass(frozen=True, slots=True, init=False)
class Turn(Operator):
    """Turn(x, y, C): reverse y → x in a member in which C are y's parents among its neighbors.

    On y → x: C is a clique of neighbors of y that contains NA_{y,x}, and C ∪ Ne(x) blocks every
    other semi-directed path from y to x.

    On x — y: C is a clique of neighbors of y without x, contains one that is not adjacent to x
    (otherwise the class stays the same), and C ∩ NA separates C ∖ NA from NA ∖ C among the
    neighbors of y.

    Parameters
    ----------
    c : int or iterable of int, optional
        The set C: a mask, or its nodes.  Empty by default.

    References
    ----------
    Hauser & Bühlmann (2012), "Characterization and greedy learning of interventional Markov
    equivalence classes of directed acyclic graphs", JMLR 13, Propositions 31 and 34.

    Examples
    --------
    >>> g = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])
    >>> print(Turn(0, 1, {2}), Turn(0, 1, {2}).apply(g))
    Turn(0, 1, {2}) PDAG(3 nodes: 0→1, 2→1)
    """

    set_name: ClassVar[str] = "C"
    adds_edges: ClassVar[int] = 0
    c: NodeSet

    def __init__(self, x: int, y: int, c: NodeSet | Iterable[int] = 0) -> None:
        self._fill(x, y, c)

    def precondition(self, cpdag: PDAG) -> str | None:
        """Return which condition of Hauser & Bühlmann (2012) fails."""
        x, y, c, na = self.x, self.y, self.c, cpdag.na(self.y, self.x)
        if not cpdag.out[y] >> x & 1:
            return f"needs the edge {y}→{x} or {x}—{y}, but the graph has neither"
        if stray := c & ~(cpdag.neighbors(y) & ~(1 << x)):
            return (
                f"{show(stray)} does not belong in C, which may only contain other neighbors of {y}"
            )
        if not cpdag.is_clique(c):
            return f"C = {show(c)} must be a clique"
        if cpdag.neighbors(y) >> x & 1:
            if not c & ~na:
                return f"C = {show(c)} has only nodes adjacent to {x}: the class would not change"
            if reach(cpdag.adjacent, c & ~na, c & na | ~cpdag.neighbors(y)) & na:
                return (
                    f"C ∩ NA = {show(c & na)} must separate {show(c & ~na)} from "
                    f"{show(na & ~c)} among the neighbors of {y}"
                )
        elif missing := na & ~c:
            return f"C must contain NA_{{{y},{x}}}, but lacks {show(missing)}"
        else:
            blocking = c | cpdag.neighbors(x)
            others = cpdag.out[y] & ~(blocking | 1 << x)
            if reach(cpdag.out.__getitem__, others, blocking | 1 << y) >> x & 1:
                return (
                    f"another semi-directed path from {y} to {x} avoids C ∪ Ne({x}) = "
                    f"{show(blocking)}"
                )
        return None

    def changes(self, cpdag: PDAG) -> tuple[Change, Change]:
        """Return the changes: y, with the parents Pa ∪ C, gains the parent x, and x loses y."""
        x, y = self.x, self.y
        above_y = cpdag.parents(y) | self.c
        above_x = (cpdag.parents(x) | self.c & cpdag.neighbors(x)) & ~(1 << y)
        return Change(y, above_y, above_y | 1 << x), Change(x, above_x | 1 << y, above_x)

    def _edit(self, cpdag: PDAG) -> PDAG:
        """Direct every edge at x and y as in the member in which the edge is reversed."""
        x, y = self.x, self.y
        arrows = [(x, y), *((c, y) for c in nodes(self.c))]
        arrows += [(y, v) for v in nodes(cpdag.neighbors(y) & ~self.c & ~(1 << x))]
        at_x = cpdag.neighbors(x) & ~(1 << y)
        arrows += [(v, x) if self.c >> v & 1 else (x, v) for v in nodes(at_x)]
        return cpdag.edited(direct=arrows)


@documented_like(GENERATOR)
def all_turns(cpdag: PDAG) -> Iterator[Turn]:
    """Yield every valid Turn on a graph lazily, pair by pair."""
    for x in range(cpdag.n):
        for y in nodes(cpdag.into[x]):
            yield from turns(cpdag, x, y)


@documented_like(GENERATOR)
def turns(cpdag: PDAG, x: int, y: int) -> Iterator[Turn]:
    """Yield every valid Turn(x, y, C) for one edge y → x or x — y lazily."""
    for required, free in parts_of_c(cpdag, x, y):
        candidates = (Turn(x, y, required | t) for t in _cliques_joined_to(cpdag, required, free))
        yield from (turn for turn in candidates if not turn.precondition(cpdag))


def parts_of_c(cpdag: PDAG, x: int, y: int) -> Iterator[tuple[NodeSet, NodeSet]]:
    """Yield the nodes that C must contain, and the other nodes that it may contain.

    On y → x, C must contain NA.  On x — y it contains more, a part of one connected component K
    of the neighbors of y that are not adjacent to x.  All paths from K to NA begin in K, so C must
    contain the nodes of NA that are adjacent to K; and it can contain nothing else of NA, as C is
    a clique.  The nodes that C must contain form a clique: two of them that are not adjacent would
    close a chordless cycle with x and a shortest path through K.
    """
    near, na = cpdag.neighbors(y), cpdag.na(y, x)
    if not near >> x & 1:
        if cpdag.is_clique(na):
            yield na, near & ~na
        return
    for component in components(cpdag.adjacent, near & ~na & ~(1 << x)):
        yield union(map(cpdag.adjacent, nodes(component))) & na, component


AnyOperator = TypeVar("AnyOperator", bound=Operator)


def by_falling_gain(
    scored: Iterable[tuple[float, AnyOperator]],
) -> list[tuple[float, AnyOperator]]:
    """Return operators with their gains, best first; those of equal gain by their keys.

    There may be many operators and few ties, so keys are made only where they decide.
    """
    ranked: list[tuple[float, AnyOperator]] = []
    gain = itemgetter(0)
    for _, ties in groupby(sorted(scored, key=gain, reverse=True), key=gain):
        tied = list(ties)
        ranked += tied if len(tied) == 1 else sorted(tied, key=lambda pair: pair[1].sort_key())
    return ranked
