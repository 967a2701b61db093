"""What the score has answered: gains of operators, asked in batches, counted and remembered."""

import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from sges.errors import OutOfBudget, ScoreError
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes, show
from sges.operators import Operator
from sges.score.counting import CountingScore
from sges.score.protocol import Score

Scored: TypeAlias = tuple[float, Operator]
"""A gain and the operator that has it."""

Question: TypeAlias = tuple[int, NodeSet, bool]
"""A node, a set of parents, and whether nodes are added to it or taken away."""


class TimeUp(Exception):  # not an error: it ends a climb
    """The deadline has passed."""


class AskedGains:
    """A score that is asked until a deadline, and what it has answered.

    ``considered`` is the number of operators of which a gain was wanted.
    """

    def __init__(self, score: Score, *, counting: bool, deadline: float | None) -> None:
        self.counter = CountingScore(score, counting=counting)
        self.considered = self.work = 0
        self._deadline = deadline
        self._until: float | None = None
        self._most: int | None = None
        self._most_work: float | None = None
        self._known: dict[Question, dict[int, float]] = {}

    def check_time(self) -> None:
        """Raise ``TimeUp`` if the deadline has passed, and ``OutOfBudget`` if a limit has."""
        if self._deadline is not None and time.perf_counter() > self._deadline:
            raise TimeUp
        if self._until is not None and time.perf_counter() > self._until:
            raise OutOfBudget
        if self._most_work is not None and self.work > self._most_work:
            raise OutOfBudget

    def limit(self, seconds: float | None, evaluations: int | None, work: float | None) -> None:
        """Limit what follows, in seconds, families asked for, and work; None is no limit."""
        self._most_work = None if work is None else self.work + work
        self._until = None if seconds is None else time.perf_counter() + seconds
        self._most = None
        if evaluations is not None:
            self._most = (self.counter.evaluations or 0) + evaluations

    def _check_budget(self, more: int) -> None:
        if self._most is not None and (self.counter.evaluations or 0) + more > self._most:
            raise OutOfBudget

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score of a family."""
        value = self.counter.local(y, parents)
        if not isfinite(value):
            raise ScoreError(
                f"local({y}, {parents:#b}) is {value}; a score must be finite for every family"
            )
        return value

    def learn(self, y: int, base: NodeSet, xs: NodeSet, *, adds: bool) -> dict[int, float]:
        """Return by how much the score of y changes with each x added to, or taken from, a base.

        What was not asked before is asked in one question, which counts the base and the
        family of each x.
        """
        known = self._known.get((y, base, adds))
        missing = [x for x in nodes(xs) if known is None or x not in known]
        if missing:
            self.check_time()
            self._check_budget(1 + len(missing))
            self.work += len(missing)
            ask = self.counter.insert_gains if adds else self.counter.delete_gains
            gains = ask(y, base, np.array(missing, dtype=np.intp)).tolist()
            for x, gain in zip(missing, gains, strict=True):
                if not isfinite(gain):
                    raise ScoreError(
                        f"the score of node {y} with parents {show(base)} changes by {gain} with "
                        f"node {x}; a score must be finite for every family"
                    )
            known = self._known.setdefault((y, base, adds), {})
            known.update(zip(missing, gains, strict=True))
        return known or {}

    def memory(self) -> dict[str, Any]:
        """Return the families asked for, and the answers, as JSON can hold them."""
        return {
            "asked": [[f"{base:x}" for base in sorted(sets)] for sets in self.counter.asked],
            "known": [
                [y, f"{base:x}", adds, list(gains.items())]
                for (y, base, adds), gains in self._known.items()
            ],
        }

    def remember(self, memory: dict[str, Any]) -> None:
        """Take what ``memory`` returned as asked and answered."""
        for own, sets in zip(self.counter.asked, memory["asked"], strict=True):
            own.update(int(base, 16) for base in sets)
        for y, base, adds, gains in memory["known"]:
            self._known[y, int(base, 16), adds] = dict(gains)

    def scored(self, cpdag: PDAG, operators: Iterable[Operator]) -> Iterator[Scored]:
        """Yield operators with their gains, in one question per parent set where possible."""
        for _, group in groupby(self._generated(operators), key=lambda op: op.y):
            found = [(op, op.changes(cpdag)) for op in group]
            wanted: dict[Question, NodeSet] = {}
            for y, before, after in (change for _, changes in found for change in changes):
                key = y, before, after > before
                wanted[key] = wanted.get(key, 0) | before ^ after
            for (y, base, adds), xs in wanted.items():
                self.learn(y, base, xs, adds=adds)
            for op, changes in found:
                yield sum(self._gain(*change) for change in changes), op

    def _gain(self, y: int, before: NodeSet, after: NodeSet) -> float:
        return self._known[y, before, after > before][(before ^ after).bit_length() - 1]

    def _generated(self, operators: Iterable[Operator]) -> Iterator[Operator]:
        for operator in operators:
            self.check_time()  # there may be exponentially many
            self.considered += 1
            yield operator
