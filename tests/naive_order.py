"""The slow twin of the search over orders; imports nothing from sges.

Sets are Python sets, every family is scored by ``local``, and every position of a node is scored by
choosing the parents of all nodes again.
"""

from collections.abc import Callable, Sequence
from math import inf

Local = Callable[[int, frozenset[int]], float]


def grow_shrink(
    local: Local,
    y: int,
    before: frozenset[int],
    tolerance: float,
    required: frozenset[int] = frozenset(),
    most: float = inf,
) -> frozenset[int]:
    """Return the parents of y: add the best predecessor while it gains, then remove some."""
    chosen = required
    while len(chosen) < most and (rest := sorted(before - chosen)):
        gains = [local(y, chosen | {x}) - local(y, chosen) for x in rest]
        if max(gains) <= tolerance:
            break
        chosen |= {_first_near_the_best(rest, gains, tolerance)}
    while rest := sorted(chosen - required):
        gains = [local(y, chosen - {x}) - local(y, chosen) for x in rest]
        if max(gains) < -tolerance:
            break
        chosen -= {_first_near_the_best(rest, gains, tolerance)}
    return chosen


def _first_near_the_best(rest: list[int], gains: list[float], tolerance: float) -> int:
    return next(x for x, gain in zip(rest, gains, strict=True) if gain >= max(gains) - tolerance)


def parents_of_order(
    local: Local, order: Sequence[int], tolerance: float
) -> dict[int, frozenset[int]]:
    """Return the parents of every node under an order."""
    return {v: grow_shrink(local, v, frozenset(order[:i]), tolerance) for i, v in enumerate(order)}


def score_of_order(local: Local, order: Sequence[int], tolerance: float) -> float:
    """Return the score of the DAG of an order."""
    return sum(local(v, s) for v, s in parents_of_order(local, order, tolerance).items())


def moved(order: Sequence[int], v: int, to: int) -> list[int]:
    """Return the order with v moved to another position."""
    rest = [u for u in order if u != v]
    return [*rest[:to], v, *rest[to:]]


def best_move(local: Local, order: list[int], v: int, tolerance: float, reach: float) -> list[int]:
    """Return the order with v at its best position; ties go to the left and the nearest."""
    at = order.index(v)
    here = score_of_order(local, order, tolerance)
    best, found = 0.0, order
    for places in (range(at - 1, -1, -1), range(at + 1, len(order))):
        for to in places:
            other = moved(order, v, to)
            gain = score_of_order(local, other, tolerance) - here
            if gain > best + tolerance:
                best, found = gain, other
            if gain < -reach:
                break
    return found


def best_order(local: Local, order: list[int], tolerance: float, reach: float) -> list[int]:
    """Move each node to its best position in turn, until no node moves."""
    while True:
        before = order
        for v in range(len(order)):
            order = best_move(local, order, v, tolerance, reach)
        if order == before:
            return order
