"""A bound chosen from the data: raise k until the score no longer improves.

The forward phase does not depend on k, and runs once.  Then SBES is run from its state with
k = 1, 2, ..., and every gain that an earlier round computed is remembered: what a round costs is
what no round before it has asked for.  Interleaved search has no forward phase of its own, and
each round is all of it.  The escapes of extended search come once, with the bound chosen.

A heuristic: SBES with a k that is too small may stop early, and so score less, which is how it
is recognised; but nothing says that the next k must improve whenever a larger one would.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from sges.certificate import tie_tolerance
from sges.errors import SgesError
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet
from sges.properties.base import AtMost
from sges.properties.measures import MaxParents
from sges.result import Result
from sges.score.base import Candidates, Gains, Score, total_score
from sges.score.cache import CountingScore
from sges.search.algorithms import FORWARD_WORDS, Forward, fes, poly_fes, run_forward
from sges.search.run import Options, Run
from sges.search.strategies import search
from sges.search.strategy import AnyStrategy, Strategy, as_strategy
from sges.selective import bounds_of


@dataclass(frozen=True, slots=True)
class Round:
    """One value of k: the score it reached, and the families asked for up to its end."""

    k: int
    score: float
    score_evaluations: int | None


@dataclass(frozen=True, slots=True)
class AutoResult:
    """The best round's result, the property it assumed, and all rounds with the last, futile one.

    ``result.score_evaluations`` counts the unique families of the forward phase and all rounds.
    """

    result: Result
    assume: AtMost
    rounds: tuple[Round, ...]


def auto_bound(
    score: Score,
    kind: type[AtMost] = MaxParents,
    *,
    forward: Forward = "fes",
    strategy: AnyStrategy = "two-phase",
    largest: int | None = None,
    **options: Unpack[Options],
) -> AutoResult:
    """Search with the smallest bound of this kind beyond which the score does not improve.

    Starts at the smallest bound the kind has, at least 1; ``largest`` is the last one tried, the
    number of variables if not given.  A time limit holds for the whole; the best round so far is
    returned, marked as not complete.
    """
    first = max(kind.smallest, 1)
    last = max(score.n, first) if largest is None else largest
    if last < first:
        raise SgesError(f"largest = {largest}: {kind.__name__} starts at {first}")
    if bounds_of(kind(first)) == (None, None):
        raise SgesError(f"{kind.__name__} bounds no deletes, so there is no bound to choose")
    how = as_strategy(strategy)
    shared = RememberingScore(score, counting=options.pop("counting", True))
    clock = _Clock(options)
    rounds = _Rounds(shared, kind, how, clock, _start(shared, forward, how, clock.options()))
    while rounds.start.complete and first + len(rounds.tried) <= last:
        if not rounds.improve(first + len(rounds.tried)):
            break
    chosen = kind(rounds.chosen if rounds.tried else first)
    result = rounds.joined(_extended(rounds, chosen) if how.extended else None)
    return AutoResult(replace(result, assume=str(chosen)), chosen, tuple(rounds.tried))


class _Rounds:
    """The rounds so far, and the best of them."""

    def __init__(
        self,
        shared: "RememberingScore",
        kind: type[AtMost],
        how: Strategy,
        clock: "_Clock",
        start: Result,
    ) -> None:
        self.shared, self.kind, self.how, self.clock = shared, kind, how, clock
        self.start = self.best = start
        self.chosen = 0
        self.tried: list[Round] = []

    def improve(self, k: int) -> bool:
        """Run the round of k; tell whether there should be another."""
        plain = replace(self.how, extended=False, seconds=None, evaluations=None)
        begin: Forward = "fes" if self.start.forward is None else self.start.cpdag
        options = self.clock.options()
        found = search(self.shared, self.kind(k), strategy=plain, forward=begin, **options)
        self.tried.append(Round(k, found.score, self.shared.evaluations))
        best = self.best
        if self.chosen and found.score <= best.score + tie_tolerance(best.score):
            if not found.complete:
                self.best = replace(best, complete=False, stopped=found.stopped)
            return False
        self.best, self.chosen = found, k
        return found.complete

    def joined(self, extended: Result | None) -> Result:
        """Return all as one result: the forward phase, the best round, and what came after it."""
        parts = [self.start] if self.best is self.start else [self.start, self.best]
        parts += [] if extended is None else [extended]
        last = parts[-1]
        tried = ", ".join(f"{r.k}: {r.score:.6g}" for r in self.tried)
        return replace(
            last,
            steps=tuple(step for part in parts for step in part.steps),
            score_evaluations=self.shared.evaluations,
            evaluation_bound=None,
            operators_considered=sum(part.operators_considered for part in parts),
            seconds=_added(part.seconds for part in parts),
            forward=self.start.forward or "fes",
            strategy=str(self.how),
            score_name=type(self.shared.score).__name__,
            notes=(*last.notes, f"bound chosen by score, k: score = {tried or 'none tried'}"),
            scorer=self.shared.score,
        )


def _extended(rounds: _Rounds, chosen: AtMost) -> Result | None:
    """Try the escapes from where the best round ended, if there is time for it."""
    best = rounds.best
    if not best.complete:
        return None
    options = rounds.clock.options()
    how = replace(rounds.how, interleaved=True, turning=False, repeat=False)
    return search(rounds.shared, chosen, strategy=how, forward=best.cpdag, **options)


def _added(seconds: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the seconds of each phase over all parts."""
    added: dict[str, float] = {}
    for part in seconds:
        for phase, spent in part.items():
            added[phase] = added.get(phase, 0.0) + spent
    return added


class RememberingScore(CountingScore):
    """A counting score that also remembers the gains of deletes, for runs that share it.

    A search asks for operators by their gains, and for single families only to add up totals:
    these are bookkeeping, and not counted.
    """

    def __init__(self, score: Score, *, counting: bool = True) -> None:
        super().__init__(score, counting=counting)
        self._deletes: dict[tuple[int, NodeSet], dict[int, float]] = {}

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score's own local(y, parents), remembered; not counted."""
        return self._value(y, parents)

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        r"""Return local(y, base \ x) − local(y, base) for each x in base; asked for once."""
        known = self._deletes.setdefault((y, base), {})
        xs = candidates.tolist()
        if fresh := [x for x in xs if x not in known]:
            gains = super().delete_gains(y, base, np.array(fresh, dtype=np.intp))
            known.update(zip(fresh, gains.tolist(), strict=True))
        return np.array([known[x] for x in xs], dtype=np.float64)


class _Clock:
    """The options of each phase, with what is left of the time limit."""

    def __init__(self, options: Options) -> None:
        limit = options.get("time_limit")
        self._options = options
        self._deadline = None if limit is None else time.perf_counter() + limit

    def options(self) -> Options:
        left: Options = {**self._options, "counting": False}  # the shared score counts
        if self._deadline is not None:
            left["time_limit"] = max(self._deadline - time.perf_counter(), 0.0)
        return left


def _start(score: Score, forward: Forward, how: Strategy, options: Options) -> Result:
    """Run the forward phase that all rounds start from; interleaved search has none of its own."""
    if forward == "fes":
        if how.interleaved:
            return Result(PDAG.empty(score.n), total_score(score, PDAG.empty(score.n)))
        return fes(score, **options)
    if forward == "poly":
        return poly_fes(score, **options)
    if forward == "order":
        run = Run(score, **options)
        return run.result(run_forward(run, run.start(None), forward), forward=forward)
    if forward == "complete":
        forward = PDAG.complete(score.n)
    if isinstance(forward, PDAG):
        return Result(forward, total_score(score, forward), forward="given")
    raise SgesError(f"forward = {forward!r} is not known; it is {FORWARD_WORDS} or a PDAG")
