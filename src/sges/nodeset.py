"""Sets of nodes as the bits of a Python integer.

Node ``v`` is in the set ``s`` iff bit ``v`` of ``s`` is one.  Integers have no 64-node limit,
hash and compare by value, and their algebra reads like the paper: ``&`` is ∩, ``|`` is ∪,
``& ~`` is ∖.  A set of parents is therefore its own canonical cache key.

Public functions take any iterable of nodes where a set is meant, or a mask; ``as_nodeset``
is where that is settled, and where a node that does not exist is refused.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Protocol, TypeAlias

from sges.errors import GraphError

NodeSet: TypeAlias = int
"""A set of nodes: bit ``v`` is one for each node ``v`` in it."""

Nodes: TypeAlias = NodeSet | Iterable[int]
"""What public functions accept for a set of nodes: a mask, or the nodes one by one."""


class Rows(Protocol):
    """One node set per node: a sequence, or a mapping from nodes."""

    def __getitem__(self, v: int, /) -> NodeSet:
        """Return the set of node v."""


def nodes(s: NodeSet) -> Iterator[int]:
    """Yield the nodes of s in increasing order.

    >>> list(nodes(0b10110))
    [1, 2, 4]
    """
    while s:
        lowest = s & -s
        yield lowest.bit_length() - 1
        s ^= lowest


def nodeset(members: Iterable[int]) -> NodeSet:
    """Return the set of the given nodes.

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


def subsets(s: NodeSet, at_most: int | None = None) -> Iterator[NodeSet]:
    """Yield the subsets of s with at most so many nodes, small ones first, lazily.

    Among sets of one size the order is that of the sorted nodes, so that the whole order is
    the one in which ties between operators are broken.

    >>> [sorted(nodes(t)) for t in subsets(0b1011, at_most=2)]
    [[], [0], [1], [3], [0, 1], [0, 3], [1, 3]]
    """
    bits = [1 << v for v in nodes(s)]
    largest = len(bits) if at_most is None else min(at_most, len(bits))
    for size in range(largest + 1):
        for chosen in combinations(bits, size):
            yield sum(chosen)


def by_size_then_nodes(s: NodeSet) -> tuple[int, ...]:
    """Return a key that sorts sets as ``subsets`` yields them."""
    return (s.bit_count(), *nodes(s))


def show(s: NodeSet) -> str:
    """Write a set as the paper does.

    >>> show(0b101), show(0)
    ('{0, 2}', '{}')
    """
    return "{" + ", ".join(map(str, nodes(s))) + "}"


def as_nodeset(members: Nodes, n: int, what: str = "node set") -> NodeSet:
    """Return the mask of the given nodes of a graph on ``0..n-1``, or say which is not one.

    >>> as_nodeset({0, 2}, 3) == as_nodeset(0b101, 3) == 0b101
    True
    """
    if isinstance(members, int):
        if members < 0 or members >> n:
            raise GraphError(f"{what}: the mask {members:#b} has bits outside the nodes 0..{n - 1}")
        return members
    s = 0
    for v in members:
        s |= 1 << as_node(v, n, what)
    return s


def as_node(v: int, n: int, what: str = "node") -> int:
    """Return v if it is a node of a graph on ``0..n-1``, or say why it is not."""
    try:
        node = v.__index__()
    except AttributeError:
        raise GraphError(
            f"{what}: {v!r} is not a node; nodes are the integers 0..{n - 1}"
        ) from None
    if not 0 <= node < n:
        raise GraphError(f"{what}: {node} is out of range; nodes are the integers 0..{n - 1}")
    return node
