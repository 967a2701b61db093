"""One run: the greedy loop, the clock, the counter, and what they leave behind.

The loop is the same for every phase: take the best operator that the source offers, apply it,
note it, go on; stop when there is none.  Time limits and Ctrl-C end it between two steps, or
inside the scoring of one: the state is always the last CPDAG reached.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypedDict

from sges.certificate import tie_tolerance
from sges.errors import NotACPDAG, ScoreError
from sges.graph.equivalence import dag_to_cpdag, is_cpdag, is_dag, pdag_to_cpdag, pdag_to_dag
from sges.graph.meek import close_under_meek
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet
from sges.operators.base import Operator
from sges.result import Result, Step
from sges.score.base import Candidates, Gains, Score, total_score
from sges.score.cache import CountingScore
from sges.search.circles import Circle
from sges.search.constraint import Constraint
from sges.search.source import Scored, Source


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search is: what the ``progress`` callback is called with."""

    phase: str
    step: int
    score: float
    edges: int
    seconds: float


class Options(TypedDict, total=False):
    """What every search takes, by keyword."""

    time_limit: float | None
    """Seconds after which the search ends with what it has."""
    progress: Callable[[Progress], object] | None
    """Called at the start of each phase and after each step."""
    counting: bool
    """Whether to count unique families; False saves memory, and the count is then None."""
    constraint: Constraint | None
    """Operators whose result it does not admit are never applied; the result is refined by it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of a run to which it can go back."""

    total: float
    steps: int
    edges: int


class TimeUp(Exception):  # not an error: it ends a phase and never leaves this module
    """The time limit has passed."""


class Run:
    """The state of one search run: a score that counts, a clock, and the steps so far."""

    def __init__(
        self,
        score: Score,
        *,
        time_limit: float | None = None,
        progress: Callable[[Progress], object] | None = None,
        counting: bool = True,
        constraint: Constraint | None = None,
    ) -> None:
        if time_limit is not None and not time_limit >= 0:
            raise ScoreError(f"time_limit = {time_limit}: it must be 0 or more seconds, or None")
        self.plain = score
        self.n = score.n
        self.counter = CountingScore(score, counting=counting)
        self.constraint = constraint
        self.stopped: str | None = None
        self.total = 0.0
        self._steps: list[Step] = []
        self._edges = 0
        self._considered = 0
        self._seconds: dict[str, float] = {}
        self._progress = progress
        self._started = time.perf_counter()
        self._deadline = None if time_limit is None else self._started + time_limit

    def start(self, graph: PDAG | None, *, relaxed: bool = False) -> PDAG:
        """Return the CPDAG to start from, and take its score as the running total.

        ``relaxed`` says that the relaxed constraint is enough, as the search will see to the rest.
        """
        constraint = self.constraint
        if constraint is None:
            cpdag = PDAG.empty(self.n) if graph is None else as_cpdag(graph, self.n)
        else:
            cpdag = self._admissible_start(constraint, graph, relaxed=relaxed)
        self._edges = cpdag.edge_count()
        try:
            self.total = total_score(self.plain, cpdag)  # bookkeeping: not counted as evaluations
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        if self.total - self.total != 0.0:
            raise ScoreError(f"the score of the start is {self.total}; a score must be finite")
        return cpdag

    def _admissible_start(
        self, constraint: Constraint, graph: PDAG | None, *, relaxed: bool
    ) -> PDAG:
        if graph is None:
            return constraint.start(self.n)
        cpdag = as_cpdag(graph, self.n, refined=True)
        weaker = constraint.relaxed if relaxed else None
        if not constraint.admits(cpdag) and not (weaker is not None and weaker.admits(cpdag)):
            raise NotACPDAG(
                "no member of the start's class satisfies the background knowledge: it lacks a "
                "required edge, or has an arrow that the knowledge rules out"
            )
        return cpdag

    @contextmanager
    def under(self, constraint: Constraint | None) -> Iterator[None]:
        """Search under another constraint for a while."""
        own, self.constraint = self.constraint, constraint
        try:
            yield
        finally:
            self.constraint = own

    def mark(self) -> Mark:
        """Return the point at which the run is."""
        return Mark(self.total, len(self._steps), self._edges)

    def rewind(self, mark: Mark) -> None:
        """Go back to an earlier point: what was tried since is no part of the result."""
        self.total, self._edges = mark.total, mark.edges
        del self._steps[mark.steps :]

    def since(self, mark: Mark) -> tuple[Mark, list[Step]]:
        """Return the point at which the run is, and the steps that lead to it from a mark."""
        return self.mark(), self._steps[mark.steps :]

    def go_to(self, point: tuple[Mark, list[Step]]) -> None:
        """Go, from the mark where they begin, to where these steps lead."""
        mark, steps = point
        self._steps += steps
        self.total, self._edges = mark.total, mark.edges

    @property
    def tolerance(self) -> float:
        """How far apart two gains may be and still tie."""
        return tie_tolerance(self.total)

    def gain_between(self, before: PDAG, after: PDAG) -> float:
        """Return by how much one state scores higher than another: the sum of no gains.

        Gains that were added up on the way hold the rounding of each; this depends on the two
        states alone, so that nothing can seem to improve for ever.
        """
        old, new = pdag_to_dag(before), pdag_to_dag(after)
        return sum(
            self.counter.local(y, new.parents(y)) - self.counter.local(y, old.parents(y))
            for y in range(self.n)
            if new.parents(y) != old.parents(y)
        )

    def climb(self, phase: str, cpdag: PDAG, open_source: Callable[[PDAG], Source]) -> PDAG:
        """Apply the best operator of the source until there is none; return the last state.

        Paper: Fig. 4, the loop of SBES.
        """
        if self.stopped is not None:
            return cpdag
        begun = time.perf_counter()
        source: Source | None = None
        circle = Circle()
        try:
            self.report(phase)
            source = open_source(cpdag)
            while (found := source.best()) is not None:
                self.check_time()
                after = found.operator.carry_out(cpdag)
                barred = self.constraint is not None and not self.constraint.admits(after, cpdag)
                if barred or circle.is_closed_by(found.gain, self.total, cpdag, after):
                    source.reject(found.operator)
                    continue
                cpdag = after
                self.note(phase, found)  # Ctrl-C in the progress callback finds the step taken
                source.move_to(cpdag)
        except TimeUp:
            self.stopped = "time limit"
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        self._considered += source.considered if source else 0
        self._seconds[phase] = self._seconds.get(phase, 0.0) + time.perf_counter() - begun
        return cpdag

    def insert_gains(self, y: int, base: NodeSet, xs: Candidates) -> Gains:
        """Return the counted gains of inserts, unless time is up."""
        self.check_time()
        return self.counter.insert_gains_above(y, base, xs, self.tolerance)

    def exact_insert_gains(self, y: int, base: NodeSet, xs: Candidates) -> Gains:
        """Return the same where those that are not worth taking matter as well."""
        self.check_time()
        return self.counter.insert_gains(y, base, xs)

    def delete_gains(self, y: int, base: NodeSet, xs: Candidates) -> Gains:
        """Return the counted gains of deletes, unless time is up."""
        self.check_time()
        return self.counter.delete_gains(y, base, xs)

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the counted score of one family, unless time is up."""
        self.check_time()
        value = self.counter.local(y, parents)
        if value - value != 0.0:
            raise ScoreError(
                f"local({y}, {parents:#b}) is {value}; a score must be finite for every family"
            )
        return value

    def check_time(self) -> None:
        """End the phase if the time limit has passed."""
        if self._deadline is not None and time.perf_counter() > self._deadline:
            raise TimeUp

    def result(
        self,
        cpdag: PDAG,
        *,
        assume: object = None,
        forward: str | None = None,
        bound: int | None = None,
    ) -> Result:
        """Return what the run found."""
        names = cpdag.names or getattr(self.plain, "names", None)
        refined = cpdag if self.constraint is None else self.constraint.refine(cpdag)
        return Result(
            cpdag=refined.named(names),
            score=total_score(self.plain, cpdag),
            steps=tuple(self._steps),
            score_evaluations=self.counter.evaluations,
            evaluation_bound=bound,
            operators_considered=self._considered,
            seconds=dict(self._seconds),
            complete=self.stopped is None,
            stopped=self.stopped,
            assume=None if assume is None else str(assume),
            forward=forward,
            score_name=type(self.plain).__name__,
            scorer=self.plain,
        )

    def note(self, phase: str, found: Scored) -> None:
        """Take note of an operator that is applied."""
        if not self._steps:
            warn_if_not_score_equivalent(self.plain, found.operator, self.tolerance)
        self.total += found.gain
        self._edges += found.operator.adds_edges
        self._steps.append(Step(phase, found.operator, found.gain, self.total, self._edges))
        self.report(phase)

    @contextmanager
    def hushed(self) -> Iterator[None]:
        """Report nothing for a while: of steps that may be taken back."""
        own, self._progress = self._progress, None
        try:
            yield
        finally:
            self._progress = own

    def report(self, phase: str) -> None:
        """Tell whoever listens where the run is."""
        if self._progress is not None:
            seconds = time.perf_counter() - self._started
            where = Progress(phase, len(self._steps), self.total, self._edges, seconds)
            self._progress(where)


def as_cpdag(graph: PDAG, n: int, *, refined: bool = False) -> PDAG:
    """Return a start as a CPDAG: itself, or that of a DAG; refuse anything else.

    ``refined`` says that it may also be a class refined by knowledge, as results are.
    """
    if graph.n != n:
        raise NotACPDAG(f"the start has {graph.n} nodes and the score {n} variables")
    if is_cpdag(graph):
        return graph
    if is_dag(graph):
        return dag_to_cpdag(graph)
    if refined and close_under_meek(graph) == graph:
        return pdag_to_cpdag(graph)
    raise NotACPDAG(
        f"the start {graph!r} is neither a CPDAG nor a DAG; complete it first with pdag_to_cpdag"
    )


def warn_if_not_score_equivalent(score: Score, operator: Operator, tolerance: float) -> None:
    """Warn if x → y and y → x, the first equivalent pair met, do not score alike."""
    x, y = operator.x, operator.y
    forward = score.local(x, 0) + score.local(y, 1 << x)
    backward = score.local(y, 0) + score.local(x, 1 << y)
    if abs(forward - backward) > max(tolerance, 1e-9 * abs(forward)):
        warnings.warn(
            f"{type(score).__name__} is not score equivalent: {x}→{y} scores {forward:.6g} and "
            f"{y}→{x} scores {backward:.6g}; the search assumes that equivalent graphs score alike",
            stacklevel=4,
        )
