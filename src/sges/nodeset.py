"""Sets of nodes as the bits of a Python integer.

Node ``v`` is in the set ``s`` iff bit ``v`` of ``s`` is one.  Integers have no 64-node limit,
hash and compare by value, and their algebra reads like the paper: ``&`` is ∩, ``|`` is ∪,
``& ~`` is ∖.  A set of parents is therefore its own canonical cache key.

An integer can thus be a node or a set.  The rows of a graph, operators and scores work with sets:
there an integer is a set of nodes.  Functions about variables, such as ``d_separated``, take a
node or several nodes: there an integer is a node, and ``as_nodeset`` turns it into a set.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from operator import index
from typing import Protocol, TypeAlias

from sges.docstrings import documented_like
from sges.errors import GraphError, is_number, shown

__all__ = [
    "NodeSet",
    "nodes",
    "nodeset",
    "show",
    "subsets",
]

NodeSet: TypeAlias = int
"""A set of nodes: bit ``v`` is one for each node ``v`` in it."""

Nodes: TypeAlias = int | Iterable[int]
"""One node, or several nodes: what functions about variables accept."""


SETS = """Sections that functions about sets of nodes share.

Parameters
----------
v : int
    A node.
s : int
    A set of nodes, as a mask.

Returns
-------
int
    The set, as a mask.
"""


class Rows(Protocol):
    """One node set per node: a sequence, or a mapping from nodes."""

    def __getitem__(self, v: int, /) -> NodeSet:
        """Return the set of node v."""


@documented_like(SETS)
def nodes(s: NodeSet) -> Iterator[int]:
    """Yield the nodes of a set in increasing order.

    Yields
    ------
    int
        Each node of the set.

    Examples
    --------
    >>> list(nodes(0b10110))
    [1, 2, 4]
    """
    while s:
        lowest = s & -s
        yield lowest.bit_length() - 1
        s ^= lowest


def by_rank(s: NodeSet, ranking: Sequence[int] | None) -> Iterator[int]:
    """Yield the nodes of a set in the order of a ranking of all nodes; None means by number."""
    return nodes(s) if ranking is None else (v for v in ranking if s >> v & 1)


@documented_like(SETS)
def nodeset(members: Iterable[int]) -> NodeSet:
    """Return the set of the given nodes.

    Parameters
    ----------
    members : iterable of int
        The nodes, in any order; they are not checked.

    Examples
    --------
    >>> nodeset([4, 1, 2]) == 0b10110
    True
    """
    s = 0
    for v in members:
        s |= 1 << int(v)  # NumPy's integers would overflow at 64 nodes
    return s


def first(s: NodeSet) -> int:
    """Return the lowest node of a set that is not empty."""
    return (s & -s).bit_length() - 1


def union(sets: Iterable[NodeSet]) -> NodeSet:
    """Return the union of sets of nodes."""
    total = 0
    for s in sets:
        total |= s
    return total


@documented_like(SETS)
def subsets(s: NodeSet, at_most: int | None = None) -> Iterator[NodeSet]:
    """Yield the subsets of a set lazily, small ones first.

    Among sets of one size the order is that of the sorted nodes, so that the whole order is
    the one in which ties between operators are broken.

    Parameters
    ----------
    at_most : int, optional
        The size of the largest subsets; all subsets by default.

    Yields
    ------
    int
        Each subset, as a mask.

    Examples
    --------
    >>> [sorted(nodes(t)) for t in subsets(0b1011, at_most=2)]
    [[], [0], [1], [3], [0, 1], [0, 3], [1, 3]]
    """
    bits = [1 << v for v in nodes(s)]
    largest = len(bits) if at_most is None else min(at_most, len(bits))
    for size in range(largest + 1):
        for chosen in combinations(bits, size):
            yield sum(chosen)


def by_size_then_nodes(s: NodeSet) -> tuple[int, ...]:
    """Return a key that sorts sets in the order in which ``subsets`` yields them."""
    return (s.bit_count(), *nodes(s))


@documented_like(SETS)
def show(s: NodeSet) -> str:
    """Write a set as the paper does.

    Returns
    -------
    str
        The nodes between braces.

    Examples
    --------
    >>> show(0b101), show(0)
    ('{0, 2}', '{}')
    """
    return "{" + ", ".join(map(str, nodes(s))) + "}"


def reach(step: Callable[[int], NodeSet], start: NodeSet, avoiding: NodeSet = 0) -> NodeSet:
    """Return a set and all nodes that can be reached from it."""
    reached = todo = start
    allowed = ~(avoiding | start)
    while todo:
        lowest = todo & -todo
        fresh = step(lowest.bit_length() - 1) & allowed
        allowed ^= fresh
        reached |= fresh
        todo ^= lowest | fresh
    return reached


def components(step: Callable[[int], NodeSet], within: NodeSet) -> Iterator[NodeSet]:
    """Yield the connected components of an undirected graph, that of the lowest node first."""
    remaining = within
    while remaining:
        component = reach(step, remaining & -remaining, ~within)
        yield component
        remaining &= ~component


def as_nodeset(members: Nodes, n: int, what: str = "nodes") -> NodeSet:
    """Return the set of the given nodes of a graph; raise an error if one is not a node."""
    if not isinstance(members, Iterable):
        members = (members,)
    return nodeset(as_node(v, n, what) for v in members)


def as_node(v: int, n: int, what: str = "node") -> int:
    """Return a node of a graph as an ``int``; raise an error if it is not a node."""
    try:
        node = index(v)
    except TypeError:
        raise GraphError(
            f"{what}: {shown(v)} is not a node; nodes are the integers 0..{n - 1}"
        ) from None
    if not 0 <= node < n:
        raise GraphError(
            f"{what}: {shown(node)} is out of range; nodes are the integers 0..{n - 1}"
        )
    return node


def check_mask(s: NodeSet, n: int, what: str = "nodes") -> None:
    """Raise an error if a value is not a set of nodes of a graph, as a mask."""
    if not is_number(s, whole=True) or not 0 <= s < 1 << n:
        raise GraphError(
            f"{what}: {shown(s)} is not a set of the nodes 0..{n - 1}; bit v of a mask stands for "
            "node v"
        )


def as_permutation(order: object, n: int, what: str) -> list[int]:
    """Return the numbers ``0..n-1`` in a given order; raise an error if it is not a permutation."""
    try:
        numbers = [index(v) for v in order]  # type: ignore[attr-defined]
    except TypeError:
        numbers = []
    if sorted(numbers) != list(range(n)):
        raise GraphError(f"{what}: {shown(order)} is not a permutation of 0..{n - 1}")
    return numbers
