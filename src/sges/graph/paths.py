"""Semi-directed paths: reachability, never a list of paths.

A path from y is semi-directed if no edge on it is directed against it: each step follows
u → v or u — v.  Insert and Turn ask whether all such paths from y to x are blocked by a set;
listing the paths, as several programs do, takes exponential time on dense graphs.
"""

from collections.abc import Sequence

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet


def semi_directed_reach(graph: PDAG, start: int, avoiding: NodeSet) -> NodeSet:
    """Return start and all nodes that a semi-directed path from it reaches around the set."""
    return reach(graph.out, 1 << start, avoiding)


def other_ways(graph: PDAG, y: int, x: int, avoiding: NodeSet) -> NodeSet:
    """Return y and all that semi-directed paths other than y → x reach, if they reach x, or none.

    The paths go around the set.
    """
    first = graph.out[y] & ~(1 << x | avoiding)
    reached = reach(graph.out, first, avoiding | 1 << y)
    return reached | 1 << y if reached >> x & 1 else 0


def reach(out: Sequence[NodeSet], start: NodeSet, avoiding: NodeSet) -> NodeSet:
    """Return the start and all that is reached from it along the rows, around a set."""
    unreached = ~(avoiding | start)
    todo = start
    reached = 0
    while todo:
        reached |= todo
        found = 0
        while todo:  # spelled out: this is the innermost loop of a search
            lowest = todo & -todo
            found |= out[lowest.bit_length() - 1]
            todo ^= lowest
        todo = found & unreached
        unreached ^= todo
    return reached
