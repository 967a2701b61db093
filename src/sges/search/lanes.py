r"""Operators kept by what their score depends on.

The unit of work is the pair (Y, S): a node and a clique S among its neighbors that become its
parents.  With B = Pa(Y) ∪ S,

    Insert(X, Y, T)   with NA_{Y,X} ∪ T = S        gains local(Y, B ∪ X) − local(Y, B)
    Delete(X, Y, H)   with NA_{Y,X} \ H = S \ X    gains local(Y, B \ X) − local(Y, B)

so one batched call gives the gains of all X at once, and they depend on (Y, B) alone:
``GainTable`` keeps them for the whole run.  Which X are *eligible* depends on the view of Y
(its parents, its neighbors and what these are adjacent to): ``Lane`` is one (Y, S) with its
eligible X, made again only when the view of Y changes.

Nothing here knows whether the operators insert or delete.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sges.errors import ScoreError
from sges.nodeset import NodeSet, nodes, show
from sges.operators.base import Operator
from sges.score.base import Candidates, Gains
from sges.search.source import Scored

NOTHING = float("-inf")
Ask = Callable[[int, NodeSet, Candidates], Gains]


def as_array(s: NodeSet) -> NDArray[np.intp]:
    """Return the nodes of a set as an array."""
    if s.bit_count() < 12:
        return np.fromiter(nodes(s), dtype=np.intp)
    size = s.bit_length() + 7 >> 3
    bits = np.frombuffer(s.to_bytes(size, "little"), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(bits, bitorder="little"))


@dataclass(slots=True)
class Family:
    """What is known of one (Y, B): which X were asked for, and those worth taking, best first."""

    asked: NodeSet = 0
    xs: list[int] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)


class GainTable:
    """The gains of every (Y, B) that was asked for; only those above ``worth`` are kept."""

    def __init__(self, ask: Ask, worth: float) -> None:
        self._ask = ask
        self._worth = worth
        self._known: dict[tuple[int, NodeSet], Family] = {}

    def family(self, y: int, base: NodeSet, wanted: NodeSet) -> Family:
        """Return what is known of (y, base) after asking for each wanted X once."""
        family = self._known.get((y, base))
        if family is None:
            family = self._known[y, base] = Family()
        if missing := wanted & ~family.asked:
            family.asked |= missing
            self._add(family, y, base, as_array(missing))
        return family

    def _add(self, family: Family, y: int, base: NodeSet, xs: Candidates) -> None:
        gains = self._ask(y, base, xs)
        worth = gains > self._worth
        if not worth.any() and np.isfinite(gains).all():
            return
        if not np.isfinite(gains).all():
            _refuse(y, base, xs, gains)
        all_gains = np.concatenate([gains[worth], family.gains])
        all_xs = np.concatenate([xs[worth], np.array(family.xs, dtype=np.intp)])
        order = np.lexsort((all_xs, -all_gains))
        family.gains = all_gains[order].tolist()
        family.xs = all_xs[order].tolist()


@dataclass(slots=True, eq=False)
class Lane:
    """One (Y, S): a family, which X its view allows, and which of these are barred now."""

    y: int
    s: NodeSet
    family: Family
    allowed: NodeSet
    barred: NodeSet = 0
    rejected: NodeSet = 0
    top: int = 0

    def free(self) -> NodeSet:
        """Return the X that are allowed and not barred."""
        return self.allowed & ~(self.barred | self.rejected)

    def best(self) -> float:
        """Return the gain of the best X that is allowed and not barred; −∞ if there is none."""
        xs, top, free = self.family.xs, self.top, self.free()
        while top < len(xs) and not free >> xs[top] & 1:
            top += 1
        self.top = top
        return self.family.gains[top] if top < len(xs) else NOTHING

    def down_to(self, floor: float) -> Iterator[tuple[float, int]]:
        """Yield the (gain, X) of those whose gain is at least the floor."""
        xs, gains, free = self.family.xs, self.family.gains, self.free()
        for i in range(self.top, len(xs)):
            if gains[i] < floor:
                return
            if free >> xs[i] & 1:
                yield gains[i], xs[i]


def least_tied(
    lanes: Iterable[Lane], floor: float, operator: Callable[[Lane, int], Operator]
) -> Scored:
    """Return, of the operators whose gain is at least the floor, the one with the least key.

    The key begins with (x, y), so operators are made only for the least pair: with an oracle
    thousands tie at every step.
    """
    least: tuple[int, int] | None = None
    tied: list[tuple[float, int, Lane]] = []
    for lane in lanes:
        for gain, x in lane.down_to(floor):
            pair = (x, lane.y)
            if least is None or pair < least:
                least = pair
                tied.clear()
            if pair == least:
                tied.append((gain, x, lane))
    found = (Scored(operator(lane, x), gain) for gain, x, lane in tied)
    return min(found, key=lambda scored: scored.operator.sort_key())


def _refuse(y: int, base: NodeSet, xs: Candidates, gains: Gains) -> None:
    x = int(xs[~np.isfinite(gains)][0])
    bad = float(gains[~np.isfinite(gains)][0])
    raise ScoreError(
        f"the score of node {y} with parents {show(base)} changes by {bad} with node {x}; "
        "a score must be finite for every family"
    )
