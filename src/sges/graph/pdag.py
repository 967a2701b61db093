r"""Partially directed graphs as frozen values.

``PDAG(out, into)``: bit y of ``out[x]`` is one for x → y and for x — y, and ``into`` is its
transpose.  The four relations between nodes are then set algebra on two rows, and there is
nothing to keep in step:

    parents(y)   = into[y] & ~out[y]        children(y) = out[y] & ~into[y]
    neighbors(y) = into[y] & out[y]         adjacent(y) = into[y] | out[y]

A DAG, a PDAG and a CPDAG are all values of this one class; ``sges.graph.equivalence`` tells
them apart and turns one into another.

Names are labels for people: they ride along, and take no part in equality.

Paper: Section 3, PDAG.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sges.errors import GraphError
from sges.nodeset import Nodes, NodeSet, as_node, as_nodeset, nodes, nodeset

Edge: TypeAlias = tuple[int, int]
"""(x, y): x → y where directed edges are meant, x — y with x < y where undirected ones are."""


@dataclass(frozen=True, slots=True, repr=False)
class PDAG:
    """A graph on nodes ``0..n-1`` with directed and undirected edges, at most one per pair.

    Build one with ``from_edges``, which validates; the constructor trusts its rows.

    >>> g = PDAG.from_edges(4, directed=[(0, 2), (1, 2)], undirected=[(3, 1)])
    >>> g
    PDAG(4 nodes: 0→2, 1→2, 1—3)
    >>> list(nodes(g.parents(2))), list(nodes(g.neighbors(1)))
    ([0, 1], [3])

    Paper: Section 3, PDAG.
    """

    out: tuple[NodeSet, ...]
    into: tuple[NodeSet, ...]
    names: tuple[str, ...] | None = field(default=None, compare=False)

    @classmethod
    def from_edges(
        cls,
        n: int,
        directed: Iterable[Edge] = (),
        undirected: Iterable[Edge] = (),
        names: Sequence[str] | None = None,
    ) -> "PDAG":
        """Return the graph with these edges; refuse self-loops and a pair given twice."""
        if n < 0:
            raise GraphError(f"a graph cannot have {n} nodes; n must be 0 or more")
        out, into = [0] * n, [0] * n
        for kind, edges in (("→", directed), ("—", undirected)):
            for x, y in edges:
                x, y = as_node(x, n, "edge"), as_node(y, n, "edge")
                _refuse_bad_pair(x, y, kind, out, into)
                _set(out, into, x, y)
                if kind == "—":
                    _set(out, into, y, x)
        return cls(tuple(out), tuple(into), _checked_names(names, n))

    @classmethod
    def empty(cls, n: int, names: Sequence[str] | None = None) -> "PDAG":
        """Return the graph on n nodes without edges: every independence holds."""
        return cls.from_edges(n, names=names)

    @classmethod
    def complete(cls, n: int, names: Sequence[str] | None = None) -> "PDAG":
        """Return the no-independence CPDAG: every pair of the n nodes joined, undirected."""
        rows = tuple(((1 << n) - 1) ^ (1 << v) for v in range(n))
        return cls(rows, rows, _checked_names(names, n))

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.out)

    def parents(self, y: int) -> NodeSet:
        """Return Pa(y): the nodes x with x → y."""
        return self.into[y] & ~self.out[y]

    def children(self, y: int) -> NodeSet:
        """Return the nodes z with y → z."""
        return self.out[y] & ~self.into[y]

    def neighbors(self, y: int) -> NodeSet:
        """Return the nodes joined to y by an undirected edge."""
        return self.out[y] & self.into[y]

    def adjacent(self, y: int) -> NodeSet:
        """Return the nodes joined to y by any edge."""
        return self.out[y] | self.into[y]

    def na(self, y: int, x: int) -> NodeSet:
        """Return NA_{Y,X}: the neighbors of y that are adjacent to x.

        Paper: Section 3, NA.
        """
        return self.neighbors(y) & self.adjacent(x)

    def directed_edges(self) -> list[Edge]:
        """Return the edges x → y as sorted pairs (x, y)."""
        return [(x, y) for x in range(self.n) for y in nodes(self.children(x))]

    def undirected_edges(self) -> list[Edge]:
        """Return the edges x — y as sorted pairs (x, y) with x < y."""
        return [(x, y) for x in range(self.n) for y in nodes(self.neighbors(x) >> x << x)]

    def edge_count(self) -> int:
        """Return the number of edges of both kinds."""
        return sum(self.adjacent(v).bit_count() for v in range(self.n)) // 2

    def skeleton(self) -> tuple[NodeSet, ...]:
        """Return, for each node, the nodes adjacent to it."""
        return tuple(o | i for o, i in zip(self.out, self.into, strict=True))

    def v_structures(self) -> list[tuple[int, int, int]]:
        """Return every (x, z, y) with x → z ← y, x < y, and x, y not adjacent, sorted.

        Paper: Section 3, v-structures.
        """
        found = [
            (x, z, y)
            for z in range(self.n)
            for x in nodes(self.parents(z))
            for y in nodes(self.parents(z) & ~self.adjacent(x) >> x + 1 << x + 1)
        ]
        return sorted(found)

    def is_clique(self, s: NodeSet) -> bool:
        """Tell whether every two nodes of s are adjacent, whatever the direction."""
        return all(not s & ~(self.adjacent(v) | 1 << v) for v in nodes(s))

    def descendants(self, v: int) -> NodeSet:
        """Return v and every node that a directed path from v reaches.

        Paper: Appendix A, descendant.
        """
        return _closure(1 << v, self.children)

    def ancestors(self, s: Nodes) -> NodeSet:
        """Return s and every node from which a directed path reaches s."""
        return _closure(as_nodeset(s, self.n), self.parents)

    def chain_component(self, v: int) -> NodeSet:
        """Return v and every node that a path of undirected edges joins to it."""
        return _closure(1 << v, self.neighbors)

    def induced(self, s: Nodes) -> "PDAG":
        """Return the subgraph induced by s, its nodes renumbered in increasing order.

        Paper: Section 3, induced subgraph.
        """
        kept = list(nodes(as_nodeset(s, self.n)))
        number = {v: i for i, v in enumerate(kept)}

        def restrict(row: NodeSet) -> NodeSet:
            return nodeset(number[v] for v in nodes(row) if v in number)

        return PDAG(
            tuple(restrict(self.out[v]) for v in kept),
            tuple(restrict(self.into[v]) for v in kept),
            None if self.names is None else tuple(self.names[v] for v in kept),
        )

    def relabel(self, new: Sequence[int]) -> "PDAG":
        """Return the graph in which node v is called ``new[v]``, a permutation of the nodes."""
        if sorted(new) != list(range(self.n)):
            raise GraphError(f"relabel: {list(new)} is not a permutation of 0..{self.n - 1}")
        old = sorted(range(self.n), key=new.__getitem__)

        def move(row: NodeSet) -> NodeSet:
            return nodeset(new[v] for v in nodes(row))

        return PDAG(
            tuple(move(self.out[v]) for v in old),
            tuple(move(self.into[v]) for v in old),
            None if self.names is None else tuple(self.names[v] for v in old),
        )

    def edited(
        self,
        remove: Iterable[Edge] = (),
        direct: Iterable[Edge] = (),
        undirect: Iterable[Edge] = (),
    ) -> "PDAG":
        """Return the graph after edges are removed, then pairs (x, y) made x → y or x — y.

        Trusts its arguments: a pair to direct or undirect may or may not be an edge already.
        """
        out, into = list(self.out), list(self.into)
        for x, y in remove:
            _clear(out, into, x, y)
        for x, y in direct:
            _clear(out, into, x, y)
            _set(out, into, x, y)
        for x, y in undirect:
            _set(out, into, x, y)
            _set(out, into, y, x)
        return PDAG(tuple(out), tuple(into), self.names)

    def named(self, names: Sequence[str] | None) -> "PDAG":
        """Return the same graph with other names, or with none."""
        return replace(self, names=_checked_names(names, self.n))

    def name(self, v: int) -> str:
        """Return what to call node v in front of people."""
        return str(v) if self.names is None else self.names[v]

    def show(self, s: NodeSet) -> str:
        """Write a set of nodes by what they are called."""
        return "{" + ", ".join(map(self.name, nodes(s))) + "}"

    def __repr__(self) -> str:
        arrows = [(x, y, "→") for x, y in self.directed_edges()]
        lines = [(x, y, "—") for x, y in self.undirected_edges()]
        edges = ", ".join(f"{self.name(x)}{k}{self.name(y)}" for x, y, k in sorted(arrows + lines))
        plural = "" if self.n == 1 else "s"
        return f"PDAG({self.n} node{plural}{': ' if edges else ''}{edges})"


def _set(out: list[NodeSet], into: list[NodeSet], x: int, y: int) -> None:
    out[x] |= 1 << y
    into[y] |= 1 << x


def _clear(out: list[NodeSet], into: list[NodeSet], x: int, y: int) -> None:
    for rows in (out, into):
        rows[x] &= ~(1 << y)
        rows[y] &= ~(1 << x)


def _closure(start: NodeSet, step: Callable[[int], NodeSet]) -> NodeSet:
    """Return start and all that ``step`` reaches from it."""
    reached = todo = start
    while todo:
        v = todo.bit_length() - 1
        fresh = step(v) & ~reached
        reached |= fresh
        todo = todo ^ 1 << v | fresh
    return reached


def _refuse_bad_pair(x: int, y: int, kind: str, out: list[NodeSet], into: list[NodeSet]) -> None:
    if x == y:
        raise GraphError(f"edge {x}{kind}{y}: a node cannot be joined to itself")
    forward, backward = out[x] >> y & 1, into[x] >> y & 1
    if forward or backward:
        there = f"{x}—{y}" if forward and backward else f"{x}→{y}" if forward else f"{y}→{x}"
        raise GraphError(
            f"edge {x}{kind}{y}: {there} is given already; a pair has one edge at most"
        )


def _checked_names(names: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    found = tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise GraphError(f"names must be a sequence of strings, not {names!r}")
    if len(found) != n:
        raise GraphError(f"{len(found)} names were given for {n} nodes; each node needs one")
    if len(set(found)) != n:
        twice = next(name for name in found if found.count(name) > 1)
        raise GraphError(f"the name {twice!r} is given twice; names must tell nodes apart")
    return found
