r"""Partially directed graphs as frozen values.

``PDAG(out, into)``: bit y of ``out[x]`` is one for x → y and for x — y, and ``into`` is its
transpose.  The four relations between nodes are then set operations on these two rows:

    parents(y)   = into[y] & ~out[y]        children(y) = out[y] & ~into[y]
    neighbors(y) = into[y] & out[y]         adjacent(y) = into[y] | out[y]

A DAG, a PDAG and a CPDAG are all values of this one class; ``sges.graph.equivalence``
distinguishes and converts them.  Names are labels for users: they are stored with the graph, but
ignored when two graphs are compared.

Paper: Section 3, PDAG.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, TypeAlias, overload

from sges.display import printable
from sges.docstrings import documented_like
from sges.errors import (
    GraphError,
    InvalidArgument,
    check_flag,
    is_number,
    shown,
    suggestion,
)
from sges.graph.named import NamedGraph
from sges.nodeset import (
    SETS,
    Nodes,
    NodeSet,
    as_node,
    as_nodeset,
    as_permutation,
    check_mask,
    nodes,
    nodeset,
    reach,
    union,
)
from sges.toolbox import tool

Edge: TypeAlias = tuple[int, int]
"""(x, y): x → y where directed edges are meant, x — y with x < y where undirected ones are."""


GRAPHS = """Sections that functions about graphs share.

Parameters
----------
graph : PDAG
    Any graph.
pdag : PDAG
    Any graph.
dag : PDAG
    A DAG.
cpdag : PDAG
    A CPDAG.
"""

ANSWER = """The result of a test.

Returns
-------
bool
    True if the condition holds.
"""

RELATION = """The nodes that are related to a node.

Parameters
----------
y : int or str
    A node, by number or name.

Returns
-------
int or tuple of str
    These nodes: as a mask, or as names if the node is given by name.
"""


@dataclass(frozen=True, slots=True, repr=False)
class PDAG(NamedGraph):
    """A graph on nodes ``0..n-1`` with directed and undirected edges, at most one per pair.

    Build one with ``from_edges``, which validates; the constructor trusts its arguments.  Methods
    that return several nodes return them as a mask, the bits of an integer
    (``sges.nodeset.nodes`` lists them).  Those that take one node by its name return names.

    Paper: Section 3, PDAG.

    Parameters
    ----------
    out : tuple of int
        For each node x, the set of the y with x → y or x — y, as a mask.
    into : tuple of int
        For each node y, the set of the x with x → y or x — y, as a mask.
    names : tuple of str, optional
        The names of the nodes.

    Examples
    --------
    >>> g = PDAG.from_edges(4, directed=[(0, 2), (1, 2)], undirected=[(3, 1)])
    >>> g
    PDAG(4 nodes: 0→2, 1→2, 1—3)
    >>> list(nodes(g.parents(2))), list(nodes(g.neighbors(1)))
    ([0, 1], [3])
    >>> PDAG.from_edges(2, directed=[(0, 1)], names=["rain", "wet"]).parents("wet")
    ('rain',)
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
        """Return the graph with these edges.

        Parameters
        ----------
        n : int
            The number of nodes.
        directed : iterable of (int, int), optional
            The edges x → y as pairs (x, y).
        undirected : iterable of (int, int), optional
            The edges x — y as pairs in either order.
        names : sequence of str, optional
            One name per node, all different.

        Returns
        -------
        PDAG
            The graph.

        Raises
        ------
        GraphError
            If an edge joins a node to itself or to a node that does not exist, if a pair is
            given twice, or if the names do not fit.
        """
        n = _checked_size(n)
        out, into = [0] * n, [0] * n
        for kind, what, edges in (("→", "directed", directed), ("—", "undirected", undirected)):
            for x, y in _pairs(what, edges):
                x, y = as_node(x, n, "edge"), as_node(y, n, "edge")
                if x == y:
                    raise GraphError(f"edge {x}{kind}{y}: an edge needs two different nodes")
                forward, backward = out[x] >> y & 1, into[x] >> y & 1
                if forward or backward:
                    there = f"{x}{'—' if backward else '→'}{y}" if forward else f"{y}→{x}"
                    raise GraphError(
                        f"edge {x}{kind}{y}: {there} was already given; there is at most one edge "
                        "per pair"
                    )
                out[x] |= 1 << y
                into[y] |= 1 << x
                if kind == "—":
                    out[y] |= 1 << x
                    into[x] |= 1 << y
        return cls(tuple(out), tuple(into), checked_names(names, n))

    @classmethod
    @documented_like(from_edges)
    def empty(cls, n: int, names: Sequence[str] | None = None) -> "PDAG":
        """Return the graph without edges, in which every independence holds."""
        return cls.from_edges(n, names=names)

    @classmethod
    @documented_like(from_edges)
    def complete(cls, n: int, names: Sequence[str] | None = None) -> "PDAG":
        """Return the no-independence CPDAG, in which every pair is joined by an undirected edge."""
        n = _checked_size(n)
        rows = tuple(((1 << n) - 1) ^ (1 << v) for v in range(n))
        return cls(rows, rows, checked_names(names, n))

    def _named_graph(self) -> "PDAG":
        return self

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.out)

    @overload
    def parents(self, y: int) -> NodeSet: ...
    @overload
    def parents(self, y: str) -> tuple[str, ...]: ...
    @documented_like(RELATION)
    def parents(self, y: int | str) -> NodeSet | tuple[str, ...]:
        """Return Pa(y), the set of the nodes x with x → y."""
        if type(y) is not int or not 0 <= y < len(self.out):
            return self._by_node(self.parents, y)
        return self.into[y] & ~self.out[y]

    @overload
    def children(self, y: int) -> NodeSet: ...
    @overload
    def children(self, y: str) -> tuple[str, ...]: ...
    @documented_like(RELATION)
    def children(self, y: int | str) -> NodeSet | tuple[str, ...]:
        """Return the set of the nodes z with y → z."""
        if type(y) is not int or not 0 <= y < len(self.out):
            return self._by_node(self.children, y)
        return self.out[y] & ~self.into[y]

    @overload
    def neighbors(self, y: int) -> NodeSet: ...
    @overload
    def neighbors(self, y: str) -> tuple[str, ...]: ...
    @documented_like(RELATION)
    def neighbors(self, y: int | str) -> NodeSet | tuple[str, ...]:
        """Return Ne(y), the set of the nodes joined to y by an undirected edge."""
        if type(y) is not int or not 0 <= y < len(self.out):
            return self._by_node(self.neighbors, y)
        return self.out[y] & self.into[y]

    @overload
    def adjacent(self, y: int) -> NodeSet: ...
    @overload
    def adjacent(self, y: str) -> tuple[str, ...]: ...
    @documented_like(RELATION)
    def adjacent(self, y: int | str) -> NodeSet | tuple[str, ...]:
        """Return Adj(y), the set of the nodes joined to y by any edge."""
        if type(y) is not int or not 0 <= y < len(self.out):
            return self._by_node(self.adjacent, y)
        return self.out[y] | self.into[y]

    def _by_node(
        self, relation: Callable[[int], NodeSet], node: int | str
    ) -> NodeSet | tuple[str, ...]:
        """Return the nodes related to a node, by name if the node is given by name."""
        related = relation(self.node(node))
        return self.names_of(related) if isinstance(node, str) else related

    @documented_like(SETS)
    def na(self, y: int, x: int) -> NodeSet:
        """Return NA_{Y,X}, the set of the neighbors of y that are adjacent to x.

        Paper: Section 3, NA.

        Parameters
        ----------
        y : int
            The node whose neighbors are returned.
        x : int
            The node to which they must be adjacent.
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
        """Return, for each node, the set of the nodes adjacent to it, as a mask."""
        return tuple(o | i for o, i in zip(self.out, self.into, strict=True))

    def v_structures(self) -> list[tuple[int, int, int]]:
        """Return every (x, z, y) with x → z ← y, x < y, and x, y not adjacent, sorted.

        Paper: Section 3, v-structures.
        """
        return sorted(
            (x, z, y)
            for z in range(self.n)
            for x in nodes(self.parents(z))
            for y in nodes(self.parents(z) & ~self.adjacent(x) >> x + 1 << x + 1)
        )

    @documented_like(ANSWER, SETS)
    def is_clique(self, s: NodeSet) -> bool:
        """Return whether every two nodes of a set are adjacent, by edges of any kind."""
        return all(not s & ~(self.out[v] | self.into[v] | 1 << v) for v in nodes(s))

    @overload
    def descendants(self, of: Nodes) -> NodeSet: ...
    @overload
    def descendants(self, of: str, *, possible: bool = False) -> tuple[str, ...]: ...
    def descendants(self, of: Nodes | str, *, possible: bool = False) -> NodeSet | tuple[str, ...]:
        """Return the descendants of nodes: all nodes that a directed path from them reaches.

        If the node is given by name, its descendants in the class that the graph represents are
        returned; the graph may have no directed path to them.

        Paper: Appendix A, descendant.

        Parameters
        ----------
        of : int, iterable of int, or str
            One node or several nodes by number, or one node by name.
        possible : bool
            By name: whether to return what holds in at least one member of the class, rather than
            in every member.

        Returns
        -------
        int or tuple of str
            These nodes and the given ones, as a mask; or the names of the others.

        Raises
        ------
        NoConsistentExtension
            By name: if the graph represents no class.
        """
        check_flag("possible", possible)
        if isinstance(of, str):
            return self.names_of(tool("class_descendants")(self, self.node(of), possible=possible))
        return reach(self.children, as_nodeset(of, self.n, "descendants"))

    @overload
    def ancestors(self, of: Nodes) -> NodeSet: ...
    @overload
    def ancestors(self, of: str, *, possible: bool = False) -> tuple[str, ...]: ...
    @documented_like(descendants)
    def ancestors(self, of: Nodes | str, *, possible: bool = False) -> NodeSet | tuple[str, ...]:
        """Return the ancestors of nodes: all nodes from which a directed path reaches them.

        If the node is given by name, its ancestors in the class that the graph represents are
        returned; the graph may have no directed path from them.
        """
        check_flag("possible", possible)
        if isinstance(of, str):
            return self.names_of(tool("class_ancestors")(self, self.node(of), possible=possible))
        return reach(self.parents, as_nodeset(of, self.n, "ancestors"))

    @overload
    def markov_blanket(self, y: int) -> NodeSet: ...
    @overload
    def markov_blanket(self, y: str) -> tuple[str, ...]: ...
    @documented_like(RELATION)
    def markov_blanket(self, y: int | str) -> NodeSet | tuple[str, ...]:
        """Return the Markov blanket: the adjacent nodes, and the other parents of children.

        Given its Markov blanket, a node is independent of all other nodes.  It is the same in
        every member of a class.
        """
        if type(y) is not int:
            return self._by_node(self.markov_blanket, y)
        spouses = union(self.parents(z) for z in nodes(self.children(y)))
        return (self.adjacent(y) | spouses) & ~(1 << y)

    @documented_like(ANSWER)
    def has_edge(self, a: int | str, b: int | str) -> bool:
        """Return whether two nodes are adjacent, by an edge of any kind and direction.

        Parameters
        ----------
        a, b : int or str
            Two nodes, by number or name.
        """
        return bool(self.adjacent(self.node(a)) >> self.node(b) & 1)

    @documented_like(SETS)
    def chain_component(self, v: int) -> NodeSet:
        """Return a node and all nodes that a path of undirected edges joins to it."""
        return reach(self.neighbors, 1 << as_node(v, self.n))

    def induced(self, kept: Iterable[int]) -> "PDAG":
        """Return the subgraph induced by some nodes, renumbered in increasing order.

        Paper: Section 3, induced subgraph.

        Parameters
        ----------
        kept : iterable of int
            The nodes to keep.

        Returns
        -------
        PDAG
            The subgraph, on nodes ``0..k-1`` if k nodes are kept.
        """
        return subgraph(self, list(nodes(as_nodeset(kept, self.n, "induced"))))

    def relabel(self, new: Sequence[int]) -> "PDAG":
        """Return the graph in which node v has the number ``new[v]``.

        Parameters
        ----------
        new : sequence of int
            The new number of each node: a permutation of ``0..n-1``.

        Returns
        -------
        PDAG
            The same graph, renumbered; names stay with their nodes.

        Raises
        ------
        GraphError
            If the numbers are not a permutation of the nodes.
        """
        numbers = as_permutation(new, self.n, "relabel")
        return subgraph(self, sorted(range(self.n), key=numbers.__getitem__))

    def edited(
        self,
        remove: Iterable[Edge] = (),
        direct: Iterable[Edge] = (),
        undirect: Iterable[Edge] = (),
    ) -> "PDAG":
        """Return the graph after edges are removed, and then directed and undirected.

        The arguments are trusted.  A pair to direct or to undirect need not be an edge already.

        Parameters
        ----------
        remove : iterable of (int, int), optional
            Pairs in either order, whose edges are removed.
        direct : iterable of (int, int), optional
            Pairs (x, y) that become x → y.
        undirect : iterable of (int, int), optional
            Pairs (x, y) that become x — y.

        Returns
        -------
        PDAG
            The edited graph.
        """
        out, into = list(self.out), list(self.into)
        for x, y in remove:
            for rows in (out, into):
                rows[x] &= ~(1 << y)
                rows[y] &= ~(1 << x)
        for x, y in direct:
            out[x] |= 1 << y
            into[y] |= 1 << x
            out[y] &= ~(1 << x)
            into[x] &= ~(1 << y)
        for x, y in undirect:
            for rows in (out, into):
                rows[x] |= 1 << y
                rows[y] |= 1 << x
        return PDAG(tuple(out), tuple(into), self.names)

    def named(self, names: Sequence[str] | None) -> "PDAG":
        """Return the graph with other names for its nodes, or without names.

        Parameters
        ----------
        names : sequence of str or None
            One name per node, all different.

        Returns
        -------
        PDAG
            The graph with these names.
        """
        return replace(self, names=checked_names(names, self.n))

    @documented_like(SETS)
    def name(self, v: int) -> str:
        """Return the name of a node, or its number as text if the graph has no names.

        Returns
        -------
        str
            The name.
        """
        v = as_node(v, self.n)
        return str(v) if self.names is None else self.names[v]

    def node(self, node: int | str) -> int:
        """Return the number of a node.

        Parameters
        ----------
        node : int or str
            A node, by number or name.

        Returns
        -------
        int
            Its number.

        Raises
        ------
        GraphError
            If the graph has no such node.
        """
        if not isinstance(node, str):
            return as_node(node, self.n)
        names = [self.name(v) for v in range(self.n)]
        if node not in names:
            raise GraphError(f"there is no node {node!r}; {suggestion(node, names, 'the nodes')}")
        return names.index(node)

    @documented_like(SETS)
    def names_of(self, s: NodeSet) -> tuple[str, ...]:
        """Return the names of a set of nodes.

        Returns
        -------
        tuple of str
            Their names, in the order of the nodes.
        """
        check_mask(s, self.n)
        return tuple(map(self.name, nodes(s)))

    @documented_like(SETS)
    def show(self, s: NodeSet) -> str:
        """Write a set of nodes by their names.

        Returns
        -------
        str
            The names between braces.
        """
        return "{" + ", ".join(self.names_of(s)) + "}"

    def __repr__(self) -> str:
        arrows = [(x, y, "→") for x, y in self.directed_edges()]
        lines = [(x, y, "—") for x, y in self.undirected_edges()]
        name = [printable(self.name(v)) for v in range(self.n)]
        edges = ", ".join(f"{name[x]}{k}{name[y]}" for x, y, k in sorted(arrows + lines))
        plural = "" if self.n == 1 else "s"
        return f"PDAG({self.n} node{plural}{': ' if edges else ''}{edges})"


def check_graph(what: str, value: object) -> None:
    """Raise an error if a value is not a ``PDAG``."""
    if not isinstance(value, PDAG):
        raise InvalidArgument(f"{what} = {shown(value)} is not a graph; give a PDAG")


def _checked_size(n: int) -> int:
    """Return a number of nodes as an ``int``."""
    if not is_number(n, whole=True):
        raise GraphError(f"n = {shown(n)}: the number of nodes must be a whole number, 0 or more")
    if not 0 <= n < 1 << 31:
        raise GraphError(
            f"a graph cannot have {shown(n)} nodes; n must be 0 or more, and below 2**31"
        )
    return int(n)


def _pairs(what: str, edges: object) -> Iterator[tuple[int, int]]:
    """Iterate over edges; raise an error if one is not a pair."""
    if isinstance(edges, str | bytes | Mapping) or not isinstance(edges, Iterable):
        raise GraphError(f"{what} = {shown(edges)}: expected a list of edges, pairs (x, y)")
    for edge in edges:
        try:
            x, y = edge
        except (TypeError, ValueError):
            raise GraphError(
                f"{what}: {shown(edge)} is not an edge; an edge is a pair (x, y) of nodes"
            ) from None
        yield x, y


def as_names(names: object) -> list[str]:
    """Return names as a list; raise an error if they are not a sequence of strings."""
    result: list[Any] = list(names) if isinstance(names, Iterable) else [names]
    if isinstance(names, str) or not all(map(isinstance, result, repeat(str))):
        raise GraphError(f"names must be a sequence of strings, not {shown(names)}")
    return result


def checked_names(names: object, n: int) -> tuple[str, ...] | None:
    """Return the names of n nodes as a tuple; raise an error if they are not n distinct names."""
    if names is None:
        return None
    result = tuple(as_names(names))
    if len(result) != n:
        raise GraphError(f"{len(result)} names were given for {n} nodes; each node needs one")
    if len(set(result)) != n:
        twice = next(name for name in result if result.count(name) > 1)
        raise GraphError(f"the name {twice!r} is given twice; the names must all be different")
    return result


def subgraph(graph: PDAG, old: list[int]) -> PDAG:
    """Return the subgraph induced by some nodes, numbered in their order; not checked."""
    place, kept = {v: i for i, v in enumerate(old)}, nodeset(old)

    def rows(of: Sequence[NodeSet]) -> tuple[NodeSet, ...]:
        return tuple(nodeset(place[u] for u in nodes(of[v] & kept)) for v in old)

    names = None if graph.names is None else tuple(graph.names[v] for v in old)
    return PDAG(rows(graph.out), rows(graph.into), names)
