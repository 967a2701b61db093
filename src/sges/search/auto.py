"""A bound chosen from the data: raise k until the score no longer improves.

The forward phase does not depend on k, and runs once.  Then SBES is run from its state with
k = 1, 2, ..., on one engine, which remembers all gains: what a round costs is what no round before
it has asked for.  Interleaved search has no forward phase of its own, and each round is all of it.
The escapes of extended search come once, with the bound chosen.

A heuristic: SBES with a k that is too small may stop early, and so score less, which is how it
is recognised; but nothing says that the next k must improve whenever a larger one would.
"""

from dataclasses import dataclass, replace

from sges.certificate import tie_tolerance
from sges.errors import InvalidArgument, check_number, shown
from sges.graph.pdag import PDAG
from sges.properties import AtMost, MaxParents
from sges.result import Result, Step
from sges.score.protocol import Score
from sges.search.algorithms import Forward, forward_phase, search_on, start_of
from sges.search.moves import Constraint
from sges.search.replay import Replay
from sges.search.run import OnProgress, Run, Selection
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
    forward: Forward | None = None,
    start: PDAG | None = None,
    strategy: AnyStrategy = "two-phase",
    max_bound: int | None = None,
    max_indegree: int | None = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    constraint: Constraint | None = None,
    replay: Replay | None = None,
) -> AutoResult:
    """Search with the smallest bound of this kind beyond which the score does not improve.

    Parameters
    ----------
    score : Score
        The score to maximise.
    kind : type of property
        The kind of bound, such as ``MaxParents``.
    forward, start, strategy, max_indegree, n_jobs, time_limit, progress, constraint, replay
        As in ``sges.search.search``.  The time limit is for all rounds together: the best round
        so far is returned, marked as not complete.
    max_bound : int, optional
        The last bound that is tried; by default the number of variables.  The first one is the
        smallest that the kind has, at least 1.

    Returns
    -------
    AutoResult
        The result of the best round, the property it assumed, and all rounds.
    """
    how = as_strategy(strategy)
    if how.exact or how.drop_large:
        word = "exact" if how.exact else "drop_large"
        raise InvalidArgument(f"{word}=True needs a given property, not one that is chosen")
    if how.low_order:
        raise InvalidArgument(
            "low-order search raises its own bound level by level; give assume=None, or a property"
        )
    if not _is_kind(kind):
        raise InvalidArgument(f"kind = {shown(kind)} is not a kind of bound, such as MaxParents")
    run = Run(
        score,
        max_indegree=max_indegree,
        n_jobs=n_jobs,
        time_limit=time_limit,
        progress=progress,
        counting=how.counting,
        constraint=constraint,
        replay=replay,
    )
    first = max(kind.smallest, 1)
    last = max(score.n, first) if max_bound is None else max_bound
    check_number("max_bound", last, whole=True, least=first)
    if bounds_of(kind(first)) == (None, None):
        raise InvalidArgument(
            f"{kind.__name__} puts no bound on deletes, so there is no bound to choose"
        )
    rounds = _Rounds(run, kind, how, forward, start)
    for k in range(first, last + 1):
        if rounds.run.stopped is not None or not rounds.improve(k):
            break
    chosen = kind(rounds.chosen or first)
    result = rounds.joined(rounds.escape(chosen))
    return AutoResult(replace(result, assume=str(chosen)), chosen, tuple(rounds.tried))


def _is_kind(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, AtMost)


class _Rounds:
    """The rounds so far on one run, and the best of them."""

    def __init__(
        self,
        run: Run,
        kind: type[AtMost],
        how: Strategy,
        forward: Forward | None,
        start: PDAG | None,
    ) -> None:
        self.run, self.kind, self.how = run, kind, how
        self.chosen = 0
        self.best: Result | None = None
        self.tried: list[Round] = []
        self.graph, self.word = start_of(run.n, forward, start)
        self.first = self._go_forward()

    def _go_forward(self) -> Result:
        """Run the phase that all rounds start from; interleaved search has none of its own."""
        run, word = self.run, self.word
        run.start(self.graph, relaxed=True)
        if word == "fes" and self.how.interleaved:
            self.begin = word
        else:
            forward_phase(run, word)
            self.begin, self.graph = "given", run.engine.cpdag
        return run.result(forward=word)

    def improve(self, k: int) -> bool:
        """Run the round of k; tell whether there should be another."""
        plain = replace(
            self.how,
            extended=False,
            time_limit=None,
            max_evaluations=None,
            effort=None,
            patience=0.0,
        )
        found = search_on(self.run, plain, Selection(self.kind(k)), self.graph, self.begin)
        self.tried.append(Round(k, found.score, found.score_evaluations))
        best = self.best
        if best is not None and found.score <= best.score + tie_tolerance(best.score):
            if not found.complete:
                self.best = replace(best, complete=False, stopped=found.stopped)
            return False
        self.best, self.chosen = found, k
        return found.complete

    def escape(self, chosen: AtMost) -> Result | None:
        """Try the escapes from where the best round ended, if there is time for it."""
        best = self.best
        if not self.how.extended or best is None or not best.complete:
            return None
        how = replace(self.how, interleaved=True, turning=False, repeat=False)
        return search_on(self.run, how, Selection(chosen), best.cpdag, "given")

    def joined(self, extended: Result | None) -> Result:
        """Return all as one result: the forward phase, the best round, and what came after it."""
        steps: list[Step] = [] if self.begin == "fes" else list(self.first.steps)
        parts = [part for part in (self.best, extended) if part is not None]
        last = parts[-1] if parts else self.first
        for part in parts:
            steps += part.steps
        tried = ", ".join(f"{r.k}: {r.score:.6g}" for r in self.tried)
        return replace(
            last,
            steps=tuple(steps),
            score_evaluations=self.run.engine.evaluations,
            evaluation_bound=None,
            operators_considered=self.run.engine.considered,
            seconds=self.run.seconds,
            forward=self.word,
            strategy=str(self.how),
            notes=(*last.notes, f"bound chosen by score, k: score = {tried or 'none tried'}"),
        )
