"""The slow twin of the search over orders; imports nothing from sges.

Sets are Python sets, every family is scored by ``local``, and every position of a node is scored by
choosing the parents of all nodes again.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf

Local = Callable[[int, frozenset[int]], float]
Parents = dict[int, frozenset[int]]


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
    local: Local,
    order: Sequence[int],
    tolerance: float,
    *,
    required: Mapping[int, frozenset[int]] | None = None,
    forbidden: Mapping[int, frozenset[int]] | None = None,
    most: float = inf,
) -> Parents:
    """Return the parents of every node under an order; forbidden are those that may not be."""
    required, forbidden, none = required or {}, forbidden or {}, frozenset[int]()
    return {
        v: grow_shrink(
            local,
            v,
            frozenset(order[:i]) - forbidden.get(v, none),
            tolerance,
            required.get(v, none),
            most,
        )
        for i, v in enumerate(order)
    }


def score_of_order(local: Local, order: Sequence[int], tolerance: float) -> float:
    """Return the score of the DAG of an order."""
    return sum(local(v, s) for v, s in parents_of_order(local, order, tolerance).items())


def moved(order: Sequence[int], v: int, to: int) -> list[int]:
    """Return the order with v moved to another position."""
    rest = [u for u in order if u != v]
    return [*rest[:to], v, *rest[to:]]


def best_neighbor(local: Local, order: Sequence[int], tolerance: float) -> float:
    """Return the score of the best order that differs by the position of one node."""
    places = range(len(order))
    return max(
        score_of_order(local, moved(order, v, to), tolerance) for v in order for to in places
    )
