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
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from sges.errors import ScoreError
from sges.kernels import compiled
from sges.nodeset import NodeSet, show
from sges.operators.base import Operator
from sges.score.base import Candidates, Gains
from sges.search.source import Scored

NOTHING = float("-inf")
Ask = Callable[[int, NodeSet, Candidates], Gains]


def as_array(s: NodeSet) -> NDArray[np.intp]:
    """Return the nodes of a set as an array."""
    array = np.empty(s.bit_count(), dtype=np.intp)
    fill_nodes(s, array)
    return array


@compiled
def fill_nodes(s: NodeSet, array: NDArray[np.intp]) -> int:
    """Write the nodes of a set into an array of their number, which is returned."""
    size = s.bit_length() + 7 >> 3
    bits = np.frombuffer(s.to_bytes(size, "little"), dtype=np.uint8)
    array[:] = np.flatnonzero(np.unpackbits(bits, bitorder="little"))
    return len(array)


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
        best = best_above(xs, gains, self._worth)
        if best is None:
            _refuse(y, base, xs, gains)
        elif not family.xs:
            family.xs, family.gains = best
        elif best[0]:
            pairs = [*zip(family.gains, family.xs, strict=True), *zip(*reversed(best), strict=True)]
            pairs.sort(key=lambda pair: (-pair[0], pair[1]))
            family.gains, family.xs = map(list, zip(*pairs, strict=True))


class GainMemory:
    """Every gain that was asked for, by (Y, B) and X."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[tuple[int, NodeSet], tuple[NodeSet, dict[int, float]]] = {}

    def learn(self, y: int, base: NodeSet, wanted: NodeSet) -> dict[int, float]:
        """Return what is known of (y, base) after asking for each wanted X once."""
        asked, known = self._known.get((y, base)) or (0, {})
        if missing := wanted & ~asked:
            xs = as_array(missing)
            gains = self._ask(y, base, xs)
            values = gains.tolist()
            if not isfinite(sum(values)) and not np.isfinite(gains).all():
                _refuse(y, base, xs, gains)
            known.update(zip(xs.tolist(), values, strict=True))
            self._known[y, base] = asked | missing, known
        return known


@compiled
def best_above(xs: Candidates, gains: Gains, worth: float) -> tuple[list[int], list[float]] | None:
    """Return the X whose gain is above ``worth``, best first, and their gains.

    None if some gain is not finite.
    """
    if not np.isfinite(gains).all():
        return None
    above = gains > worth
    xs, gains = xs[above], gains[above]
    order = np.lexsort((xs, -gains))
    return xs[order].tolist(), gains[order].tolist()


@compiled
def first_free(
    xs: list[int], top: int, allowed: NodeSet, barred: NodeSet, rejected: NodeSet
) -> int:
    """Return where, from ``top`` on, the first X stands that is allowed and nothing else."""
    free = allowed & ~(barred | rejected)
    while top < len(xs) and not free >> xs[top] & 1:
        top += 1
    return top


class Lane:
    """One (Y, S): a family, which X its view allows, and which of these are barred now.

    ``best`` is the gain of the best X that is allowed and neither barred nor rejected, −∞ if
    there is none.  ``is_settled`` says that those that are barred are all that have to be.
    """

    __slots__ = (
        "_allowed",
        "_rejected",
        "_top",
        "barred",
        "best",
        "family",
        "is_settled",
        "s",
        "y",
    )

    def __init__(self, y: int, s: NodeSet, family: Family, allowed: NodeSet) -> None:
        self.y = y
        self.s = s
        self.family = family
        self._allowed = allowed
        self.barred = self._rejected = 0
        self.is_settled = False
        self._find_best(0)

    def settle(self, xs: NodeSet) -> None:
        """Bar these X, and no others."""
        more = self.barred & ~xs == 0  # then the best cannot be better than it was
        self.barred = xs
        self.is_settled = True
        self._find_best(self._top if more else 0)

    def unsettle(self) -> None:
        """Bar no X, until it is known again which."""
        self.barred = 0
        self.is_settled = False
        self._find_best(0)

    def reject(self, x: int) -> None:
        """Leave out one X until they are all offered again."""
        self._rejected |= 1 << x
        self._find_best(self._top)

    def offer_again(self) -> None:
        """Offer again every X that was rejected."""
        self._rejected = 0
        self._find_best(0)

    def _find_best(self, top: int) -> None:
        family = self.family
        self._top = top = first_free(family.xs, top, self._allowed, self.barred, self._rejected)
        self.best = family.gains[top] if top < len(family.gains) else NOTHING

    def down_to(self, floor: float) -> Iterator[tuple[float, int]]:
        """Yield the (gain, X) of those whose gain is at least the floor."""
        xs, gains = self.family.xs, self.family.gains
        free = self._allowed & ~(self.barred | self._rejected)
        for i in range(self._top, len(xs)):
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
        if lane.best < floor:
            continue
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
