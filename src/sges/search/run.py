"""One run of a search: its engine, its clock, its knowledge, and its result."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from math import isfinite
from typing import TypeAlias, TypedDict

from sges.errors import (
    Argument,
    InvalidArgument,
    Message,
    NotACPDAG,
    OutOfBudget,
    ScoreError,
    check_callable,
    check_number,
    is_number,
    shown,
    warn_user,
)
from sges.graph.equivalence import dag_to_cpdag, is_cpdag, is_dag, pdag_to_cpdag, pdag_to_dag
from sges.graph.meek import close_under_meek
from sges.graph.pdag import PDAG, Edge, subgraph
from sges.nodeset import NodeSet, nodes
from sges.operators import Delete, Operator
from sges.properties import MaxParents, Property, check_is_property, text_of
from sges.result import Result, Step
from sges.score.protocol import (
    Score,
    check_is_score,
    dag_score,
    score_name,
    tie_tolerance,
    total_score,
)
from sges.search.engines import CompiledEngine, make_engine
from sges.search.generate import TimeUp, deletes_of
from sges.search.moves import Constraint, Moves, best_first, each_edge_once
from sges.search.order import go_to_best_order, ranked
from sges.selective import bounds_of, consistency_set

OPTIONS = """Sections that searches share.

Parameters
----------
score : Score
    The score to maximize.
assume : Property, optional
    A property that is assumed to hold for the true graph; None means GES.
forward : {"fes", "poly", "order", "complete"}, optional
    The forward phase: "fes"; "poly" (polynomially many score evaluations); "order" (search for the
    best order of the variables); or "complete" (start from the complete graph, without any score
    evaluation).  The default is "fes" without a ``start``, and no forward phase with one.
start : PDAG, optional
    A CPDAG or DAG to start from; by default the graph without edges.
exact : bool
    Test each delete for consistency with the assumed property, and keep only those that pass.
drop_large : bool
    Omit the sets H that contain a clique larger than the bound.  Like ``exact`` this examines
    fewer deletes, with the same guarantee.
**options : optional
    What every search takes:

    * max_indegree (int): the largest number of parents that a node may have; a start with more is
      an error.
    * time_limit (float): seconds after which the search stops and returns the best state so far.
    * progress (callable): called with a ``Progress`` at the start of each phase and after each
      step.
    * counting (bool): whether to count the unique families that are scored, as by default; False
      saves memory.
    * constraint (Constraint): background knowledge with nodes as numbers, from ``Knowledge.bind``:
      a step to a class that it does not admit is never taken, and the result is refined by it.
    * keep (callable): called with the engine after each step that may be worth keeping.

Returns
-------
Result
    The class that was found, its score, the steps that led to it and what they cost.
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a running search, passed to the ``progress`` callback.

    Parameters
    ----------
    phase : str
        The name of the phase, such as "fes" or "sbes".
    step : int
        The number of steps taken so far.
    score : float
        The score of the current class.
    edges : int
        The number of edges of the current class.
    seconds : float
        Seconds since the search began.
    """

    phase: str
    step: int
    score: float
    edges: int
    seconds: float


OnProgress: TypeAlias = Callable[[Progress], object]
"""A callback that is called with the progress of a search."""


Keep: TypeAlias = Callable[..., object]
"""Called with the engine after each step that may be worth keeping, and ``at_once`` at the end."""


class SearchOptions(TypedDict, total=False):
    """The options that every search takes, as ``OPTIONS`` describes them."""

    max_indegree: int | None
    time_limit: float | None
    progress: OnProgress | None
    counting: bool
    constraint: Constraint | None
    keep: Keep | None


@dataclass(slots=True)
class Budget:
    """How much a part of a run may still use: work, and sets listed; None means no limit.

    ``spent`` is true once the budget has ended a part of the run.
    """

    work: float | None = None
    listed: float | None = None
    spent: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """The deletes that a backward phase examines: all, or those that a property selects."""

    assume: Property | None = None
    exact: bool = False
    drop_large: bool = False

    def __post_init__(self) -> None:
        if self.assume is not None:
            check_is_property("assume", self.assume)
        for option, value in (("exact", self.exact), ("drop_large", self.drop_large)):
            if value and self.assume is None:
                raise InvalidArgument(f"{option}=True needs a property; pass it as assume=")
        if self.drop_large and self.bounds[0] is None:
            raise InvalidArgument(
                f"drop_large=True needs a bound on cliques, which {text_of(self.assume)} does not "
                "have"
            )

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """The bounds on the cliques in H and on the size of H; None where there is no bound."""
        return (None, None) if self.assume is None else bounds_of(self.assume)

    @property
    def one_by_one(self) -> bool:
        """Whether each delete is tested for consistency by itself."""
        return self.assume is not None and (self.exact or self.bounds == (None, None))


class Run:
    """One search: its engine, its clock, and the knowledge that it respects."""

    def __init__(
        self,
        score: Score,
        max_indegree: int | None = None,
        time_limit: float | None = None,
        progress: OnProgress | None = None,
        counting: bool = True,
        constraint: Constraint | None = None,
        keep: Keep | None = None,
    ) -> None:
        check_is_score(score)
        check_number("max_indegree", max_indegree, whole=True, optional=True)
        check_number("time_limit", time_limit, optional=True)
        if progress is not None:
            check_callable("progress", progress)
        if constraint is not None and not hasattr(constraint, "admits"):
            raise InvalidArgument(
                f"constraint = {shown(constraint)} is not bound to the variables; give "
                "Knowledge(...).bind(names)"
            )
        self.score = score
        self.n = score.n
        self.max_indegree = max_indegree
        self._without_edges: float | None = None  # the score of that graph, once it is known
        self.seconds: dict[str, float] = {}
        """The seconds of each phase so far."""
        self._started = time.perf_counter()
        self._deadline = deadline = None if time_limit is None else self._started + time_limit
        self.engine = make_engine(
            score, counting=counting, deadline=deadline, constraint=constraint
        )
        self.constraint = constraint
        self._is_native = getattr(self.engine, "native", None) is not None
        self._keep = keep
        self._is_quiet = False
        if progress is not None:
            self.engine.report = partial(self._report, progress)

    @property
    def stopped(self) -> str | None:
        """Why the search ended early: "time limit" or "interrupted"; None if it did not."""
        return self.engine.stopped

    def start(self, graph: PDAG | None, *, relaxed: bool = False) -> None:
        """Go to the CPDAG to start from, and take its score as the running total.

        With ``relaxed`` it need only satisfy the relaxed constraint; the search ensures the rest.
        """
        constraint = self.constraint
        if graph is None:
            cpdag = PDAG.empty(self.n) if constraint is None else constraint.start(self.n)
        else:
            cpdag = as_cpdag(graph, self.n, refined=constraint is not None)
            weaker = constraint.relaxed if constraint is not None and relaxed else None
            rules = [rule for rule in (constraint, weaker) if rule is not None]
            if rules and not any(rule.admits(cpdag) for rule in rules):
                raise NotACPDAG(
                    "no member of the start's class satisfies the background knowledge: it lacks "
                    "a required edge, or has a directed edge that the knowledge forbids"
                )
        self._check_indegree(cpdag, given=graph is not None)
        total = 0.0
        try:
            if graph is None and constraint is None:
                self._without_edges = total = dag_score(self.score, PDAG.empty(self.n))
            else:
                total = total_score(self.score, cpdag)  # bookkeeping: not counted
        except KeyboardInterrupt:
            self.engine.stopped = "interrupted"
        if not isfinite(total):
            raise ScoreError(f"the score of the start is {total}; a score must be finite")
        self.engine.start(cpdag, total)

    def _check_indegree(self, start: PDAG, *, given: bool) -> None:
        """Raise an error if a node of the start has more parents than allowed."""
        if self.max_indegree is None:
            return
        most = MaxParents.of(start).k if start.edge_count() else 0  # k is at least 1
        if most <= self.max_indegree:
            return
        if not given:
            what, instead = "the required edges give", "require fewer edges"
        elif start == PDAG.complete(self.n):
            what, instead = (
                "the complete graph, from which this search starts, gives",
                "start from a sparser graph",
            )
        else:
            what, instead = "the start gives", "give a sparser start"
        raise InvalidArgument(
            Message(
                f"{what} a variable {most} parents, more than ",
                Argument("max_indegree", self.max_indegree),
                f" allows; {instead}, or allow more",
            )
        )

    @contextmanager
    def under(self, constraint: Constraint | None) -> Iterator[None]:
        """Use another constraint inside the block."""
        previous, self.constraint = self.constraint, constraint
        self.engine.constraint = constraint
        try:
            yield
        finally:
            self.constraint = self.engine.constraint = previous

    def climb(
        self,
        phase: str,
        moves: Moves,
        selection: Selection | None = None,
        *,
        bar: Edge | None = None,
        patience: float = 0.0,
        aim: float = 0.0,
    ) -> bool:
        """Take the best operator until there is none; return whether a step was taken.

        ``selection`` says which deletes to examine, if any.
        """
        if self.stopped is not None:
            return False
        moves = self.allowed(moves, selection)
        climb: Callable[..., object] = partial(self.engine.climb, phase, moves)
        if selection is not None and selection.one_by_one:
            climb = partial(climb_one_by_one, self, phase, moves, selection)
        before = self.engine.step_count
        with self.phase(phase), self._kept():
            climb(bar=bar, patience=patience, aim=aim)
        return self.engine.step_count > before

    def allowed(self, moves: Moves, selection: Selection | None) -> Moves:
        """Return moves within the limit on parents, with the deletes that the bounds select."""
        if selection is None or selection.one_by_one:
            return replace(moves, max_indegree=self.max_indegree)
        cliques, size = selection.bounds
        return replace(
            moves,
            deletes=True,
            clique_bound=cliques,
            size_bound=size,
            drop_large=selection.drop_large,
            max_indegree=self.max_indegree,
        )

    def check_time(self) -> None:
        """Leave the phase if the time limit has passed."""
        if self._deadline is not None and time.perf_counter() > self._deadline:
            raise TimeUp

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """End the block at the time limit or at Ctrl-C, and add its seconds to a phase."""
        begun = time.perf_counter()
        try:
            yield
        except TimeUp:
            self.engine.stopped = "time limit"
        except KeyboardInterrupt:
            self.engine.stopped = "interrupted"
        finally:
            spent = time.perf_counter() - begun
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def ranking(self) -> tuple[int, ...]:
        """Return the nodes in an order that depends on the scores and not on their numbers."""
        order = list(range(self.n))
        with self.phase("order"):
            order = ranked(self.engine.strengths())
        return tuple(order)

    def order(self, *, effort: float | None = None, ranking: tuple[int, ...] | None = None) -> None:
        """Go to the class of the best order of the nodes that is found."""
        if self.stopped is not None:
            return
        with self.phase("order"), self._kept():
            go_to_best_order(
                self.engine, "order", max_indegree=self.max_indegree, effort=effort, ranking=ranking
            )

    def escapes(self, moves: Moves, selection: Selection) -> list[tuple[float, Delete]]:
        """Return the deletes of the state with their gains, best first, each x — y once."""
        engine, moves = self.engine, self.allowed(moves, selection)
        if not selection.one_by_one:
            return engine.escapes(moves)
        return each_edge_once(engine.cpdag, consistent_deletes(engine, selection)())

    @contextmanager
    def within(self, budget: Budget) -> Iterator[None]:
        """End the block when the budget is spent, and subtract what it used from the budget."""
        engine = self.engine
        work, listed = engine.work, engine.listed
        engine.limit(work=budget.work, listed=budget.listed)
        try:
            yield
        except OutOfBudget:
            budget.spent = True
        finally:
            engine.limit()
            if budget.work is not None:
                budget.work -= engine.work - work
            if budget.listed is not None:
                budget.listed -= engine.listed - listed

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Report and keep nothing inside the block: its steps may be undone."""
        before = self.engine.report, self._is_quiet
        self.engine.report, self._is_quiet = None, True
        try:
            yield
        finally:
            self.engine.report, self._is_quiet = before

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Offer the state after each step of the block, and at its end, to be kept."""
        keep, report = self._keep, self.engine.report
        if keep is None or self._is_quiet:
            yield
            return

        def offer(phase: str) -> None:
            if report is not None:
                report(phase)
            keep(self.engine)

        self.engine.report = offer
        try:
            yield
        finally:
            self.engine.report = report
            keep(self.engine, at_once=True)

    def tell(self, phase: str) -> None:
        """Report the progress of the run, and offer its state to be kept."""
        if self.engine.report is not None:
            self.engine.report(phase)
        if self._keep is not None and not self._is_quiet:
            self._keep(self.engine)

    def result(
        self,
        assume: object = None,
        forward: str | None = None,
        bound: int | None = None,
        strategy: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> Result:
        """Return the result of the run."""
        engine = self.engine
        cpdag = engine.cpdag
        steps = engine.steps
        score = self._final_score(steps)
        names = cpdag.names or getattr(self.score, "names", None)
        refined = cpdag if self.constraint is None else self.constraint.refine(cpdag)
        return Result(
            cpdag=refined.named(names),
            score=score,
            steps=tuple(steps),
            score_evaluations=engine.evaluations,
            evaluation_bound=bound,
            operators_considered=engine.considered,
            seconds=dict(self.seconds),
            complete=self.stopped is None,
            stopped=self.stopped,
            assume=None if assume is None else text_of(assume),
            forward=forward,
            strategy=strategy,
            notes=notes,
            score_name=score_name(self.score),
            scorer=self.score,
        )

    def _final_score(self, steps: Sequence[Step]) -> float:
        """Return the score of the class; warn if the score is not score equivalent.

        Ctrl-C ends a search, but not the few families that its result needs; pressed again it
        raises ``KeyboardInterrupt``.
        """
        engine = self.engine
        try:
            score = engine.member_score(self._without_edges)
            if steps and not self._is_native:  # native scores are known
                first = steps[0].operator
                warn_if_not_score_equivalent(self.score, first, came_back=engine.came_back)
        except KeyboardInterrupt:
            if engine.stopped == "interrupted":
                raise
            engine.stopped = "interrupted"
            score = engine.member_score(self._without_edges)
        return score

    def _report(self, progress: OnProgress, phase: str) -> None:
        engine, seconds = self.engine, time.perf_counter() - self._started
        progress(Progress(phase, engine.step_count, engine.total, engine.edges, seconds))


def gain_between(engine: CompiledEngine, before: PDAG, after: PDAG) -> float:
    """Return the score difference of two classes, from their families; counted.

    Unlike the sum of the gains on the way it does not accumulate rounding.
    """
    old, new = pdag_to_dag(before), pdag_to_dag(after)
    return sum(
        engine.local(y, new.parents(y)) - engine.local(y, old.parents(y))
        for y in range(engine.n)
        if new.parents(y) != old.parents(y)
    )


def climb_one_by_one(
    run: Run, phase: str, moves: Moves, selection: Selection, bar: Edge | None, **limits: float
) -> None:
    """Climb with deletes that are each tested for consistency with the assumption.

    This is used for an exact property and for one without bounds.  The best consistent delete is
    applied, or else one step of the other moves, until there is none.
    """
    engine, visited = run.engine, set[PDAG]()
    find, tolerance = consistent_deletes(engine, selection), engine.tolerance
    others = moves.turns or moves.inserts is not None
    while engine.stopped is None:
        before = engine.cpdag
        if others:  # evaluate all kinds at every state, whichever is applied
            engine.climb(phase, moves, most=0)
        for gain, delete in best_first(find(), tolerance):
            if engine.admits(delete):
                engine.apply(phase, delete, gain)
                run.tell(phase)
                break
        else:
            if not others or not engine.climb(phase, moves, bar=bar, most=1, **limits):
                break
        visited.add(before)
        if others and engine.cpdag in visited:  # it came back by rounding errors
            break


def consistent_deletes(
    engine: CompiledEngine, selection: Selection
) -> Callable[[], list[tuple[float, Delete]]]:
    """Return a function that finds and scores the consistent deletes of the engine's state.

    The property is evaluated once for each induced graph, as the same few graphs occur again and
    again, and a graph is made only for nodes and edges that have not occurred before.
    """
    assert selection.assume is not None
    holds, (clique, size) = cache(selection.assume.holds), selection.bounds
    moves = Moves(clique_bound=clique, size_bound=size)
    known: dict[tuple[NodeSet, ...], bool] = {}

    def is_consistent(delete: Delete) -> bool:
        after = engine.peek(delete)
        kept = consistency_set(after, delete.x, delete.y)
        within = list(nodes(kept))
        part = kept, *[after.out[v] & kept for v in within]
        if part not in known:
            known[part] = holds(subgraph(after, within))
        return known[part]

    def find() -> list[tuple[float, Delete]]:
        graph = engine.cpdag
        consistent = filter(is_consistent, deletes_of(graph, moves))
        return [(delete.gain(engine, graph), delete) for delete in consistent]

    return find


ALWAYS_ALLOWED_JOBS = 8
"""This many jobs are allowed on every machine, even if it has fewer cores."""


def effective_jobs(n_jobs: int | None) -> int:
    """Return how many jobs ``n_jobs`` stands for, as in scikit-learn.

    None is one job, unless a ``joblib.parallel_config`` says otherwise; -1 is one for each core,
    -2 for each core but one, and so on.  The number is limited: many more jobs than cores (or
    workers of a cluster) would only use memory, and the result does not depend on it.

    >>> effective_jobs(None), effective_jobs(3)
    (1, 3)
    """
    is_whole = is_number(n_jobs, whole=True) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_whole or n_jobs == 0):
        rule = (
            f" = {shown(n_jobs)}: it must be a number of jobs, or -1 for as many as there are cores"
        )
        raise InvalidArgument(Message(Argument("n_jobs"), rule))
    if n_jobs is None and "joblib" not in sys.modules:
        return 1
    if n_jobs is not None and 0 < n_jobs <= ALWAYS_ALLOWED_JOBS:
        return int(n_jobs)
    from joblib import effective_n_jobs

    if n_jobs is not None and n_jobs > 0:
        return min(int(n_jobs), max(int(effective_n_jobs(-1)), ALWAYS_ALLOWED_JOBS))
    return int(effective_n_jobs(n_jobs))


def as_cpdag(graph: PDAG, n: int, *, refined: bool = False) -> PDAG:
    """Return a start as a CPDAG: itself, or that of a DAG; raise an error for any other graph.

    ``refined`` says that it may also be a class refined by knowledge, as results are.
    """
    if not isinstance(graph, PDAG):
        raise InvalidArgument(f"start = {shown(graph)} is not a graph; give a PDAG")
    if graph.n != n:
        raise NotACPDAG(f"the start has {graph.n} nodes, but the score has {n} variables")
    if is_cpdag(graph):
        return graph
    if is_dag(graph):
        return dag_to_cpdag(graph)
    if refined and close_under_meek(graph) == graph:
        return pdag_to_cpdag(graph)
    raise NotACPDAG(
        f"the start {graph!r} is neither a CPDAG nor a DAG; complete it first with pdag_to_cpdag"
    )


def warn_if_not_score_equivalent(
    score: Score, operator: Operator, *, came_back: bool = False
) -> None:
    """Warn if a score was found not to be score equivalent.

    This is so if the equivalent DAGs x → y and y → x, for the first operator of a search, have
    different scores, or if a climb has come back to a class that it had left.
    """
    x, y = operator.x, operator.y
    forward = score.local(x, 0) + score.local(y, 1 << x)
    backward = score.local(y, 0) + score.local(x, 1 << y)
    if abs(forward - backward) > max(tie_tolerance(forward), 1e-9 * abs(forward)):
        shown_by = f"{x}→{y} scores {forward:.6g} and {y}→{x} scores {backward:.6g}"
    elif came_back:
        shown_by = "the search came back to a class by steps that all gain, and ended there"
    else:
        return
    warn_user(
        f"{type(score).__name__} is not score equivalent: {shown_by}; the search assumes that "
        "equivalent DAGs have equal scores"
    )
