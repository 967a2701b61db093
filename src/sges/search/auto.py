"""A bound chosen from the data: raise k until the score no longer improves.

The forward phase does not depend on k, and runs once.  Then SBES is run from its state with
k = 1, 2, ..., and every gain that an earlier round computed is remembered: what a round costs is
what no round before it has asked for.

A heuristic: SBES with a k that is too small may stop early, and so score less, which is how it
is recognised; but nothing says that the next k must improve whenever a larger one would.
"""

import time
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
from sges.search.algorithms import Forward, fes, poly_fes, sbes
from sges.search.run import Options
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
    largest: int | None = None,
    **options: Unpack[Options],
) -> AutoResult:
    """Run SGES with the smallest bound of this kind beyond which the score does not improve.

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
    shared = RememberingScore(score, counting=options.pop("counting", True))
    clock = _Clock(options)
    start = _forward(shared, forward, clock.options())
    best, chosen, rounds = start, first, list[Round]()
    while start.complete and first + len(rounds) <= last:
        k = first + len(rounds)
        found = sbes(shared, start.cpdag, kind(k), **clock.options())
        rounds.append(Round(k, found.score, shared.evaluations))
        if k > first and found.score <= best.score + tie_tolerance(best.score):
            best = best if found.complete else replace(best, complete=False, stopped=found.stopped)
            break
        best, chosen = found, k
        if not found.complete:
            break
    result = _joined(start, best, shared, rounds)
    return AutoResult(replace(result, assume=str(kind(chosen))), kind(chosen), tuple(rounds))


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


def _forward(score: Score, forward: Forward, options: Options) -> Result:
    """Run the forward phase that all rounds start from."""
    if forward == "fes":
        return fes(score, **options)
    if forward == "poly":
        return poly_fes(score, **options)
    if forward == "complete":
        forward = PDAG.complete(score.n)
    if isinstance(forward, PDAG):
        return Result(forward, total_score(score, forward), forward="given")
    raise SgesError(
        f"forward = {forward!r} is not known; it is 'fes', 'poly', 'complete' or a PDAG"
    )


def _joined(start: Result, best: Result, shared: CountingScore, rounds: list[Round]) -> Result:
    """Return the best round as one result: with the forward phase, and what all rounds cost."""
    tried = ", ".join(f"{r.k}: {r.score:.6g}" for r in rounds)
    alone = best is start
    return replace(
        best,
        steps=start.steps if alone else start.steps + best.steps,
        score_evaluations=shared.evaluations,
        operators_considered=best.operators_considered + (not alone) * start.operators_considered,
        seconds=dict(start.seconds) if alone else {**start.seconds, **best.seconds},
        forward=start.forward,
        score_name=type(shared.score).__name__,
        notes=(*best.notes, f"bound chosen by score, k: score = {tried or 'none tried'}"),
        scorer=shared.score,
    )
