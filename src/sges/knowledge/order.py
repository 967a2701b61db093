"""The order that knowledge implies among all variables.

Search under knowledge keeps the guarantee of GES when what is forbidden amounts to an order in
steps: groups, none of whose edges points back to an earlier group (``docs/how-to/knowledge.md``
has the proof).  Any knowledge implies one such order, perhaps of a single group: two variables
belong together if allowed edges lead from each to the other.
"""

from collections.abc import Sequence

from sges.nodeset import NodeSet, nodes


def implied_groups(allowed: Sequence[NodeSet]) -> list[NodeSet]:
    """Return the strongly connected components of the allowed edges, sources first.

    Kosaraju's two searches.  An edge that points back over this order is not allowed.

    >>> [list(nodes(group)) for group in implied_groups([0b110, 0b100, 0b010])]
    [[0], [1, 2]]
    """
    into = [0] * len(allowed)
    for x, row in enumerate(allowed):
        for y in nodes(row):
            into[y] |= 1 << x
    left = (1 << len(allowed)) - 1
    groups = []
    for v in reversed(_by_finish(allowed)):
        if left >> v & 1:
            groups.append(_reached(into, v, left))
            left &= ~groups[-1]
    return groups


def pointing_back(groups: Sequence[NodeSet], n: int) -> list[NodeSet]:
    """Return, for each node, the nodes of all earlier groups."""
    rows, before = [0] * n, 0
    for group in groups:
        for v in nodes(group):
            rows[v] = before
        before |= group
    return rows


def descendants_of(rows: Sequence[NodeSet]) -> list[NodeSet]:
    """Return, for each node, the others that directed paths reach from it."""
    everything = (1 << len(rows)) - 1
    return [_reached(rows, v, everything) & ~(1 << v) if rows[v] else 0 for v in range(len(rows))]


def _by_finish(rows: Sequence[NodeSet]) -> list[int]:
    """Return the nodes in the order in which a depth-first search is done with them."""
    order: list[int] = []
    fresh = (1 << len(rows)) - 1
    while fresh:
        path = [(fresh & -fresh).bit_length() - 1]
        fresh &= fresh - 1
        while path:
            ahead = rows[path[-1]] & fresh
            if ahead:
                lowest = ahead & -ahead
                fresh ^= lowest
                path.append(lowest.bit_length() - 1)
            else:
                order.append(path.pop())
    return order


def _reached(rows: Sequence[NodeSet], start: int, within: NodeSet) -> NodeSet:
    reached = todo = 1 << start
    while todo:
        v = todo.bit_length() - 1
        fresh = rows[v] & within & ~reached
        reached |= fresh
        todo = todo ^ 1 << v | fresh
    return reached
