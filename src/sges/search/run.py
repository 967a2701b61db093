"""One run of a search: its engine, its clock, its knowledge, and its result."""

import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from math import inf, isfinite
from typing import TypeAlias, TypedDict

from sges.combinations import refuse
from sges.errors import (
    Argument,
    InvalidArgument,
    Message,
    NotACPDAG,
    ScoreError,
    check_callable,
    check_number,
    is_number,
    shown,
    warn_user,
)
from sges.graph.equivalence import dag_to_cpdag, is_cpdag, is_dag, pdag_to_cpdag, pdag_to_dag
from sges.graph.meek import close_under_meek
from sges.graph.pdag import PDAG, subgraph
from sges.nodeset import NodeSet, nodes
from sges.operators import Delete, Operator
from sges.properties import (
    MaxClique,
    MaxParents,
    MaxTreewidth,
    Property,
    check_is_property,
    text_of,
)
from sges.result import Result, Step
from sges.score.protocol import (
    Score,
    check_is_score,
    family_score,
    score_name,
    tie_tolerance,
)
from sges.search.engines import Engine
from sges.search.exogenous import block_of, checked_class, class_with, constraint_beside
from sges.search.moves import Constraint, Moves, Policy
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
    * memory_limit (int or str): the memory that the search may hold, in bytes or as "200MB" or
      "2GB"; with more it stops and returns the best state so far.
    * exogenous (sequence of int): nodes that may be parents, but to which no edge points; their
      own families are not scored, and there are no edges among them.
    * progress (callable): called with a ``Progress`` at the start of each phase and after each
      step.
    * counting (bool): whether to count the unique families that are scored, as by default; False
      saves memory.
    * constraint (Constraint): background knowledge with nodes as numbers, from ``Knowledge.bind``:
      a step to a class that it does not admit is never taken, and the result is refined by it.
    * keep (callable): called with the engine now and then, at a state that may be worth keeping.

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
"""Called with the engine now and then, and ``at_once`` at the end of a phase."""


class SearchOptions(TypedDict, total=False):
    """The options that every search takes, as ``OPTIONS`` describes them."""

    max_indegree: int | None
    time_limit: float | None
    memory_limit: int | str | None
    exogenous: Sequence[int]
    progress: OnProgress | None
    counting: bool
    constraint: Constraint | None
    keep: Keep | None


@dataclass(frozen=True, slots=True)
class Selection:
    """The deletes that a backward phase examines: all, or those that a property selects."""

    assume: Property | None = None
    exact: bool = False
    drop_large: bool = False

    def __post_init__(self) -> None:
        if self.assume is not None:
            check_is_property("assume", self.assume)
        refuse(
            exact=self.exact,
            drop_large=self.drop_large,
            no_property=self.assume is None,
            no_bound_on_cliques=self.drop_large and self.bounds[0] is None,
            assume=None if self.assume is None else text_of(self.assume),
        )

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """The bounds on the cliques in H and on the size of H; None where there is no bound."""
        return (None, None) if self.assume is None else bounds_of(self.assume)

    @property
    def block_bound(self) -> int | None:
        """The bound on the cliques in H of an exogenous x, for a property of the other nodes.

        With y, or among each other, the nodes of such a clique have k variables as parents or
        neighbors, but x is none of them.
        """
        if type(self.assume) in (MaxParents, MaxTreewidth):
            return int(self.assume.k)  # type: ignore[union-attr]
        return max(self.assume.k - 1, 0) if type(self.assume) is MaxClique else None

    @property
    def one_by_one(self) -> bool:
        """Whether each delete is tested for consistency by itself."""
        return self.assume is not None and (self.exact or self.bounds == (None, None))


GRACE = 0.1
"""Seconds after a time limit in which the score of a complete start may still be computed."""

BETWEEN_REPORTS = 0.1
"""Seconds between two reports of a search that is not reported step by step."""


class Run:
    """One search: a clock, an engine, and the knowledge that it respects."""

    def __init__(
        self,
        score: Score,
        max_indegree: int | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        exogenous: Sequence[int] = (),
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
        limit = bytes_of(memory_limit)
        self.score = score
        self.n = score.n
        self.block = block_of(exogenous, self.n)
        constraint = constraint_beside(constraint, self.block, self.n)
        self.max_indegree = max_indegree
        self._without_edges: float | None = None  # the score of that graph, once it is known
        self.seconds: dict[str, float] = {}
        """The seconds of each phase so far."""
        self.notes: list[str] = []
        """What the phases have to say."""
        self._started = time.perf_counter()
        deadline = None if time_limit is None else self._started + time_limit
        self._memory_limit = memory_limit
        self._deadline = inf if deadline is None else deadline
        self.engine = Engine(
            score,
            counting=counting,
            deadline=deadline,
            memory_limit=limit,
            block=self.block,
            constraint=constraint,
        )
        if limit is not None and (needed := self.engine.bytes) > limit:
            raise InvalidArgument(
                f"memory_limit = {shown(memory_limit)}: a search over {self.n:,} variables needs "
                f"at least {needed:,} bytes to begin; allow more"
            )
        self.constraint = constraint
        self._keep, self._progress = keep, progress
        self._reported = self._started
        if progress is not None:
            self.engine.report = self._report
        if keep is not None or progress is not None:
            self.engine.on_tick(self._tick)
        self.engine.on_explosion(warn_of_explosion)

    @property
    def stopped(self) -> str | None:
        """Why the search ended early, such as "time limit"; None if it did not."""
        return self.engine.stopped

    def start(self, graph: PDAG | None, *, relaxed: bool = False) -> None:
        """Go to the CPDAG to start from, and take its score as the running total.

        With ``relaxed`` it need only satisfy the relaxed constraint; the search ensures the rest.
        """
        constraint = self.constraint
        if graph is None:
            cpdag = PDAG.empty(self.n) if constraint is None else constraint.start(self.n)
            if constraint is not None and self.block:
                cpdag = self.class_of(constraint.member(cpdag))
        else:
            cpdag = as_cpdag(graph, self.n, self.block, refined=constraint is not None)
            weaker = constraint.relaxed if constraint is not None and relaxed else None
            rules = [rule for rule in (constraint, weaker) if rule is not None]
            if rules and not any(rule.admits(cpdag) for rule in rules):
                raise NotACPDAG(
                    "no member of the start's class satisfies the background knowledge: it lacks "
                    "a required edge, or has a directed edge that the knowledge forbids"
                )
        self._check_indegree(cpdag, given=graph is not None)
        total: float | None = 0.0
        try:
            total = self.score_of(
                cpdag, until=self._deadline + GRACE if is_complete(cpdag) else inf
            )
            if total is None:  # the complete graph takes too long: fall back to the sparsest
                self.engine.stopped = "time limit"
                self.start(None)
                return
            if cpdag.edge_count() == 0:
                self._without_edges = total
        except KeyboardInterrupt:
            self.engine.stopped = "interrupted"
        if not isfinite(total or 0.0):
            raise ScoreError(f"the score of the start is {total}; a score must be finite")
        self.engine.start(cpdag, total or 0.0)

    def score_of(self, cpdag: PDAG, *, until: float = inf) -> float | None:
        """Return the score of a class, not counted; None if it takes longer than until a time."""
        dag = pdag_to_dag(cpdag) if cpdag.undirected_edges() else cpdag
        total = 0.0
        for y in range(self.n):
            if not self.block >> y & 1:
                total += family_score(self.score, y, dag.parents(y))
                if time.perf_counter() > until:
                    return None
        return total

    def class_of(self, dag: PDAG) -> PDAG:
        """Return the class of a DAG."""
        return class_with(dag, self.block) if self.block else dag_to_cpdag(dag)

    def _check_indegree(self, start: PDAG, *, given: bool) -> None:
        """Raise an error if a node of the start has more parents than allowed."""
        if self.max_indegree is None:
            return
        most = MaxParents.of(start).k if start.edge_count() else 0  # k is at least 1
        if most <= self.max_indegree:
            return
        from_complete = given and is_complete(start)
        refuse(
            required_edges=not given,
            forward_complete=from_complete,
            start=given and not from_complete,
            max_indegree=Argument("max_indegree", self.max_indegree),
            most=most,
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

    def climb(self, phase: str, moves: Moves, selection: Selection | None = None) -> bool:
        """Take the best operator until there is none; return whether a step was taken.

        ``selection`` says which deletes to examine, if any.
        """
        with self._phase(phase, selection):
            return self.engine.climb(phase, self.allowed(moves, selection))
        return False

    def improve(self, policy: Policy, selection: Selection | None = None) -> None:
        """Climb to a local optimum, and from there to better ones."""
        policy = replace(policy, moves=self.allowed(policy.moves, selection))
        with self._phase("extended", selection):
            tried, kept, _, _, is_cut, is_spent = self.engine.improve(policy)
            if policy.escapes:
                ended = "; their budget was used up" if is_spent else ""
                self.notes.append(f"escapes: {tried:,} tried, {kept:,} improved the score{ended}")
            if is_cut:
                self.notes.append(
                    "a climb was ended by its limit of work, so another step might improve the "
                    "score, and the large-sample guarantee is not claimed"
                )

    def order(self) -> None:
        """Go to the class of the best order of the nodes that is found."""
        fixed = () if self.constraint is None else self.constraint.fixed
        with self._phase("order"):
            moves = Moves(inserts="poly", max_indegree=self.max_indegree)
            self.engine.rank()
            if self.engine.edges == sum(map(int.bit_count, fixed)):  # a first guess
                self.engine.climb("order", moves)
            self.engine.go_to_best_order(Policy(moves))

    def rank(self) -> None:
        """Let the result not depend on how the nodes are numbered."""
        with self._phase("order"):
            self.engine.rank()

    def allowed(self, moves: Moves, selection: Selection | None) -> Moves:
        """Return moves within the limit on parents, with the deletes that the bounds select."""
        if selection is None:
            return replace(moves, max_indegree=self.max_indegree)
        if self.block:
            refuse(
                exogenous=True,
                exact=selection.exact,
                own_property=text_of(selection.assume) if selection.one_by_one else None,
            )
        cliques, size = selection.bounds
        return replace(
            moves,
            deletes=True,
            clique_bound=cliques,
            size_bound=size,
            block_bound=selection.block_bound,
            drop_large=selection.drop_large,
            max_indegree=self.max_indegree,
        )

    @contextmanager
    def _phase(self, name: str, selection: Selection | None = None) -> Iterator[None]:
        """Add the seconds of the block to a phase; offer the state to be kept at its end."""
        begun = time.perf_counter()
        one_by_one = selection is not None and selection.one_by_one
        self.engine.only(consistent_only(self.engine, selection) if one_by_one else None)
        try:
            yield
        finally:
            spent = time.perf_counter() - begun
            self.seconds[name] = self.seconds.get(name, 0.0) + spent
            if self._keep is not None and self.engine.step_count:
                self._keep(self.engine, at_once=True)

    def _tick(self) -> None:
        """Report the state now and then, and offer it to be kept."""
        if self._keep is not None and self.engine.step_count:  # before, it may have no start yet
            self._keep(self.engine)
        if self._progress is not None and time.perf_counter() - self._reported > BETWEEN_REPORTS:
            self._report("extended")

    def result(
        self,
        assume: object = None,
        forward: str | None = None,
        bound: int | None = None,
        strategy: str | None = None,
    ) -> Result:
        """Return the result of the run."""
        engine = self.engine
        cpdag = engine.cpdag
        steps = engine.steps
        score = self._final_score(steps)
        notes = list(self.notes)
        if self.stopped == "memory limit":
            limit = f"held more than memory_limit = {shown(self._memory_limit)}"
            why = "found no more memory" if self._memory_limit is None else limit
            notes.append(f"the search {why} and was stopped: this is the best class by then")
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
            notes=tuple(notes),
            score_name=score_name(self.score),
            scorer=self.score,
            exogenous=tuple(map(refined.named(names).name, nodes(self.block))),
        )

    def _final_score(self, steps: Sequence[Step]) -> float:
        """Return the score of the class; warn if the score is not score equivalent.

        Ctrl-C ends a search, but not the few families that its result needs; pressed again it
        raises ``KeyboardInterrupt``.
        """
        engine = self.engine
        if self.stopped == "time limit":  # the families of a dense graph may take long
            return engine.total
        try:
            score = engine.member_score(self._without_edges)
            if steps and engine.native is None:  # native scores are known
                first = steps[0].operator
                warn_if_not_score_equivalent(self.score, first, came_back=engine.came_back)
        except KeyboardInterrupt:
            if engine.stopped == "interrupted":
                raise
            engine.stopped = "interrupted"
            score = engine.member_score(self._without_edges)
        return score

    def _report(self, phase: str) -> None:
        assert self._progress is not None
        engine, self._reported = self.engine, time.perf_counter()
        seconds = self._reported - self._started
        self._progress(Progress(phase, engine.step_count, engine.total, engine.edges, seconds))


def bytes_of(limit: int | str | None) -> int | None:
    """Return a limit of memory in bytes.

    >>> bytes_of("2GB"), bytes_of(5000)
    (2000000000, 5000)
    """
    if limit is None:
        return None
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?\s*", limit.lower())
        if found and (size := float(found[1]) * 1000 ** " kmgt".index(found[2] or " ")) < 2**63:
            return int(size)
    elif is_number(limit, whole=True) and not isinstance(limit, bool) and 0 <= limit < 2**63:
        return int(limit)
    rule = f" = {shown(limit)}: it must be a number of bytes, or a text such as '200MB' or '2GB'"
    raise InvalidArgument(Message(Argument("memory_limit"), rule))


def is_complete(graph: PDAG) -> bool:
    """Return whether all nodes are adjacent, by undirected edges."""
    return graph.n > 1 and graph == PDAG.complete(graph.n)


def warn_of_explosion(y: int, neighbors: int) -> None:
    """Warn once that an explicit choice leads to exponentially many operators."""
    warn_user(
        f"the {neighbors} neighbors of node {y} form cliques with more than 100,000 subsets, and "
        'this search examines all of them, so it may not finish; strategy="auto" bounds the '
        "work, assume= bounds that of deletes, and time_limit= the time"
    )


def gain_between(engine: Engine, before: PDAG, after: PDAG) -> float:
    """Return the score difference of two classes, from their families; counted.

    Unlike the sum of the gains on the way it does not accumulate rounding.
    """
    old, new = pdag_to_dag(before), pdag_to_dag(after)
    return sum(
        engine.local(y, new.parents(y)) - engine.local(y, old.parents(y))
        for y in range(engine.n)
        if new.parents(y) != old.parents(y)
    )


def consistent_only(engine: Engine, selection: Selection | None) -> Callable[[Delete], bool]:
    """Return a function that tests a delete of the engine's state for consistency.

    The property is evaluated once for each induced graph, as the same few graphs occur again and
    again, and a graph is made only for nodes and edges that have not occurred before.
    """
    assert selection is not None
    assert selection.assume is not None
    holds = cache(selection.assume.holds)
    known: dict[tuple[NodeSet, ...], bool] = {}

    def is_consistent(delete: Delete) -> bool:
        after = engine.after(delete)
        kept = consistency_set(after, delete.x, delete.y)
        within = list(nodes(kept))
        part = kept, *[after.out[v] & kept for v in within]
        if part not in known:
            known[part] = holds(subgraph(after, within))
        return known[part]

    return is_consistent


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


def as_cpdag(graph: PDAG, n: int, block: NodeSet = 0, *, refined: bool = False) -> PDAG:
    """Return a start as a CPDAG: itself, or that of a DAG; raise an error for any other graph.

    ``refined`` says that it may also be a class refined by knowledge, as results are.
    """
    if not isinstance(graph, PDAG):
        raise InvalidArgument(f"start = {shown(graph)} is not a graph; give a PDAG")
    if graph.n != n:
        raise NotACPDAG(f"the start has {graph.n} nodes, but the score has {n} variables")
    if block:
        return checked_class(graph, block)
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
