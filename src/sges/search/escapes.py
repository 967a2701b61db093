"""The escapes from a local optimum: its generated deletes, which all lower the score."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.operators.delete import Delete
from sges.score.base import Score
from sges.search.deletes import Kept
from sges.search.lanes import NOTHING, Ask, GainTable
from sges.search.scratch import Generate
from sges.search.source import Scored, stale_views


class Escapes(Protocol):
    """Where the extended search gets the deletes that it forces."""

    def at(self, cpdag: PDAG, /) -> Iterable[Scored]:
        """Return the escapes of a state, with what they gain or rather lose."""


class DeleteEscapes:
    """The deletes that ``kept`` generates.

    They are made by the view of the node they point into, and again only where that changed.
    """

    def __init__(self, ask: Ask, kept: Kept) -> None:
        self._kept = kept
        self._table = GainTable(ask, worth=NOTHING)
        self._cpdag: PDAG | None = None
        self._into: list[list[Scored]] = []

    def at(self, cpdag: PDAG) -> Iterable[Scored]:
        """Return the escapes of a state, with what they gain or rather lose."""
        if self._cpdag is None:
            self._into = [[] for _ in range(cpdag.n)]
            stale = (1 << cpdag.n) - 1
        else:
            stale = stale_views(self._cpdag, cpdag)
        self._cpdag = cpdag
        for y in nodes(stale):
            self._into[y] = list(self._view(cpdag, y))
        return each_once((scored for found in self._into for scored in found), cpdag)

    def _view(self, g: PDAG, y: int) -> Iterator[Scored]:
        parents = g.parents(y)
        for s, allowed in self._kept(g, y):
            family = self._table.family(y, parents | s, allowed)
            for x, gain in zip(family.xs, family.gains, strict=True):
                if allowed >> x & 1:
                    yield Scored(Delete(x, y, g.na(y, x) & ~s), gain)


class ScratchEscapes:
    """The deletes that ``generate`` yields, scored one by one at every state."""

    def __init__(self, score: Score, generate: Generate) -> None:
        self._score = score
        self._generate = generate

    def at(self, cpdag: PDAG) -> Iterable[Scored]:
        """Return the escapes of a state, with what they gain or rather lose."""
        found = (Scored(op, op.gain(self._score, cpdag)) for op in self._generate(cpdag))
        return each_once(found, cpdag)


def each_once(found: Iterable[Scored], cpdag: PDAG) -> list[Scored]:
    """Return the deletes without their doubles: the two orders of x — y have the same effect."""
    once: dict[Delete, Scored] = {}
    for scored in found:
        op = scored.operator
        x, y = op.x, op.y
        if x > y and cpdag.neighbors(y) >> x & 1:
            x, y = y, x
        delete = Delete(x, y, op.chosen)
        once.setdefault(delete, Scored(delete, scored.gain))
    return list(once.values())
