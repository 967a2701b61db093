"""Strategies: the steps of a search, their order, how it continues, and the search itself.

    "two-phase"      the search of the paper: a forward phase, then deletes
    "turning"        two phases, then turns; all repeated while that improves the score
    "interleaved"    at every step a delete before a turn before an insert
    "conservative"   interleaved; inserts between nodes that the score finds independent come last
    "extended"       interleaved search, once from the start and once from the best order of the
                     variables that is found; then escapes from the better local optimum
    "auto"           extended with bounded work: at most 64 subsets of each clique of neighbors are
                     examined, and orders and escapes take a multiple of the work before them
    "low-order"      first deletes from the complete graph that condition on few variables
                     (``sges.search.low_order``), then as "auto" from the best state of all levels;
                     for dense true graphs and small discrete tables

Each name stands for a ``Strategy``; ``Strategy`` makes other combinations.  Their guarantees are in
``docs/explanation/strategies.md``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Literal, TypeAlias, get_args

from sges.docstrings import documented_like
from sges.errors import InvalidArgument, check_flag, check_number, check_word, shown
from sges.graph.equivalence import dag_to_cpdag
from sges.graph.named import brief
from sges.graph.pdag import PDAG
from sges.operators import Delete
from sges.properties import MaxParents, Property
from sges.result import Result
from sges.score.protocol import Score, total_score
from sges.search.bounds import bound_of
from sges.search.extended import ExtendedSearch
from sges.search.low_order import LowOrder
from sges.search.moves import Constraint, Moves
from sges.search.replay import Replay
from sges.search.run import (
    OPTIONS,
    Budget,
    OnProgress,
    Run,
    Selection,
    effective_jobs,
    gain_between,
    reapply,
)

Forward: TypeAlias = Literal["fes", "poly", "order", "complete"]
"""The forward phases."""

Phases: TypeAlias = Callable[[], None]
"""Goes from the state of a run to the state at which the phases of a search end."""


@dataclass(frozen=True, slots=True, repr=False)
class Strategy:
    """Which steps a search takes, in which order, and how it continues from a local optimum.

    The usual strategies have names, such as "extended": see ``sges.search.STRATEGIES``.

    Parameters
    ----------
    interleaved : bool
        At every step prefer a delete to a turn and a turn to an insert.  Otherwise the search has
        two phases: the forward phase, then deletes.
    conservative : bool
        Consider an insert between two nodes that the score has found independent, given some set,
        only when there is no other insert.
    order : bool
        Also start from the best order of the variables that is found, and continue from the
        better of the two results.
    turning : bool
        Turn edges after the two phases.
    repeat : bool
        Repeat the phases while that improves the score.
    low_order : bool
        Begin with a low-order backward search from the complete graph, or from the given start
        (``sges.search.low_order``); at each level search on in two phases, assuming at most as
        many parents as the level, and continue from the best state of all levels.
    extended : bool
        Escape from the local optimum: force each delete in turn, search on, and keep the result
        if it scores higher.
    patience : float
        Abandon an escape when its best insert regains less than this share of what is still lost.
        0 continues every escape to its own local optimum; 0.1 takes about half the time and
        misses some improvements.
    time_limit : float, optional
        Seconds that the escapes may take; None is no limit.
    max_evaluations : int, optional
        Score evaluations that the escapes may take; None is no limit.
    sets_per_clique : int, optional
        Examine only the smallest and largest subsets of a clique of neighbors that has more
        subsets than this; None examines all of them, which may be exponentially many.
    effort : float, optional
        How much work the search may do beyond interleaved search; None is no limit.  The
        escapes may list three times this multiple of the sets of neighbors and turns that were
        listed before them.  The search for an order may take ten times this multiple of the work
        of its first guess (of one gain for each pair of nodes, if it starts from a given graph).
        It starts again from mixed orders, which may take a fifth of this multiple of the work
        before them.  The second climb may take this multiple of all the work before it.  Work is
        counted in gains computed, sets listed and nodes visited.  None of this depends on the
        machine or on the number of jobs.
    exact : bool
        Test each delete for consistency with the assumed property, and keep only those that pass.
    drop_large : bool
        Omit the sets H that contain a clique larger than the assumed bound.  Like ``exact`` this
        examines fewer deletes, with the same guarantee.
    counting : bool
        Whether to count the unique families that are scored; False saves memory, and the count of
        the result is then None.

    Examples
    --------
    >>> print(Strategy(interleaved=True, order=True, extended=True))
    extended
    >>> print(Strategy(extended=True, time_limit=10))
    Strategy(extended=True, time_limit=10)
    """

    interleaved: bool = False
    conservative: bool = False
    order: bool = False
    turning: bool = False
    repeat: bool = False
    low_order: bool = False
    extended: bool = False
    patience: float = 0.0
    time_limit: float | None = None
    max_evaluations: int | None = None
    sets_per_clique: int | None = None
    effort: float | None = None
    exact: bool = False
    drop_large: bool = False
    counting: bool = field(default=True, compare=False)  # it changes no step

    def __post_init__(self) -> None:
        for option in fields(self):
            if isinstance(option.default, bool):
                check_flag(option.name, getattr(self, option.name))
        check_number("patience", self.patience)
        check_number("sets_per_clique", self.sets_per_clique, least=1, optional=True)
        check_number("time_limit", self.time_limit, optional=True)
        check_number("max_evaluations", self.max_evaluations, whole=True, optional=True)
        check_number("effort", self.effort, optional=True)
        if self.interleaved and (self.turning or self.repeat):
            option_name = "turning" if self.turning else "repeat"
            raise InvalidArgument(
                f"{option_name}=True applies to two-phase search only; interleaved search always "
                "does this"
            )
        if self.order and not self.interleaved:
            raise InvalidArgument(
                'order=True applies to interleaved search only; for two phases use forward="order"'
            )
        if self.low_order and self.order:
            raise InvalidArgument(
                "low_order=True and order=True cannot be combined; choose one of them"
            )
        if not 0 <= self.patience <= 1:
            raise InvalidArgument(
                f"patience = {shown(self.patience)}: it must be a share, from 0 to 1"
            )
        if self.max_evaluations is not None and not self.counting:
            raise InvalidArgument(
                f"max_evaluations = {shown(self.max_evaluations)} needs evaluations to be counted; "
                "leave out counting=False"
            )
        for name in ("time_limit", "max_evaluations", "effort"):
            value = getattr(self, name)
            if value is not None and not self.extended:
                raise InvalidArgument(
                    f"{name} = {value} limits the escapes; give it with extended=True"
                )

    def __str__(self) -> str:
        for word, strategy in STRATEGIES.items():
            if self == strategy:
                return word
        return brief(self)

    __repr__ = brief


STRATEGIES = {
    "two-phase": Strategy(),
    "turning": Strategy(turning=True, repeat=True),
    "interleaved": Strategy(interleaved=True),
    "conservative": Strategy(interleaved=True, conservative=True),
    "extended": Strategy(interleaved=True, order=True, extended=True),
    "auto": Strategy(interleaved=True, order=True, extended=True, sets_per_clique=64, effort=10.0),
    "low-order": Strategy(
        interleaved=True, low_order=True, extended=True, sets_per_clique=64, effort=10.0
    ),
}
"""The strategies that have a name."""

AnyStrategy: TypeAlias = Strategy | str


def as_strategy(strategy: AnyStrategy) -> Strategy:
    """Return the strategy with this name, or the strategy itself."""
    if isinstance(strategy, Strategy):
        return strategy
    check_word("strategy", strategy, STRATEGIES)
    return STRATEGIES[strategy]


@documented_like(OPTIONS)
def search(
    score: Score,
    assume: Property | None = None,
    *,
    strategy: AnyStrategy = "two-phase",
    forward: Forward | None = None,
    start: PDAG | None = None,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: OnProgress | None = None,
    constraint: Constraint | None = None,
    replay: Replay | None = None,
) -> Result:
    """Search with a strategy: a name from ``sges.search.strategy``, or a ``Strategy``.

    Interleaved search inserts by itself, so with it ``forward="fes"`` means no phase before it.

    Parameters
    ----------
    strategy : str or Strategy
        Which steps the search takes, in which order, and how it goes on from a local optimum.
    start : PDAG, optional
        A CPDAG or DAG to start from, such as another method's result.
    n_jobs : int, optional
        How many escapes of an extended search run at once, as in scikit-learn: None is one, -1 as
        many as there are cores.  The result does not depend on it.
    replay : Replay, optional
        The record of an earlier run with the same arguments, to which this run adds its own: see
        ``sges.search.replay``.
    """
    strategy = as_strategy(strategy)
    selection = Selection(assume, exact=strategy.exact, drop_large=strategy.drop_large)
    run = Run(
        score, max_indegree, time_limit, progress, strategy.counting, constraint, n_jobs, replay
    )
    if strategy.low_order and forward is None and start is None:
        forward = "complete"
    graph, phase = start_of(run.n, forward, start)
    return run_strategy(run, strategy, selection, graph, phase)


TWO_PHASES = frozenset(
    Strategy(exact=exact, drop_large=drop_large)
    for exact in (False, True)
    for drop_large in (False, True)
)
"""The strategies of the paper, whose number of evaluations has a bound."""


def run_strategy(
    run: Run, strategy: Strategy, selection: Selection, graph: PDAG | None, forward: str
) -> Result:
    """Run a strategy on an existing run, reusing its stored gains, and return the result."""
    engine, limit = run.engine, strategy.sets_per_clique
    by_rank = strategy.order and limit is not None and forward == "fes"
    ranking = run.ranking() if by_rank else None
    moves = Moves(
        "all",
        turns=True,
        conservative=strategy.conservative,
        sets_per_clique=limit,
        ranking=ranking,
    )
    climb = partial(run.climb, "interleaved", moves, selection)
    extended = ExtendedSearch(run, strategy, moves, selection) if strategy.extended else None

    def two_phases(forward: str) -> None:
        forward_phase(run, forward, conservative=strategy.conservative)
        backward(run, selection)
        if strategy.turning:
            run.climb("turning", Moves(turns=True))

    def phases(forward: str) -> None:
        """Run the strategy from the state of the run, with this forward phase."""
        if strategy.low_order:
            go_to_best_level(run, forward, selection, limit)
            forward = "given"
        if not strategy.interleaved:
            two_phases(forward)
            while strategy.repeat and run.stopped is None:
                before = engine.cpdag
                two_phases("fes" if forward == "fes" else "poly")
                if gain_between(engine, before, engine.cpdag) <= engine.tolerance:
                    break
        elif strategy.order and forward == "fes":
            go_to_better_of_two(run, climb, strategy.effort, ranking)
        else:
            if forward != "fes":
                forward_phase(run, forward)
            if extended is None:  # the escapes begin with a climb of their own
                climb()
        if extended is not None:
            extended()

    repair = partial(phases, "fes" if strategy.interleaved or forward == "fes" else "poly")
    scored = not strategy.low_order or forward not in ("complete", "given")
    search_with_knowledge(run, graph, partial(phases, forward), repair, scored=scored)
    notes = [] if extended is None else [extended.note()]
    if engine.capped is not None:
        notes.append(
            f"from step {engine.capped} on the search was selective: of a clique of neighbors with "
            f"more than {limit} subsets only the smallest and largest subsets were examined; the "
            "large-sample guarantee then assumes that, in the true graph, no two common children "
            "of non-adjacent variables are adjacent (theory, section 10)"
        )
    bound = bound_of(run, forward, selection) if strategy in TWO_PHASES else None
    return run.result(selection.assume, forward, bound, str(strategy), tuple(notes))


# The phases


def forward_phase(
    run: Run, forward: str, *, largest_t: int = 0, conservative: bool = False
) -> None:
    """Run the forward phase of this name; "complete" and "given" starts have none."""
    if forward == "fes":
        run.climb("fes", Moves(inserts="all", conservative=conservative))
    elif forward == "poly":
        run.climb("poly-fes", Moves(inserts="poly", largest_t=largest_t))
    elif forward == "order":
        run.order()


def backward(run: Run, selection: Selection | None = None) -> None:
    """Search backward: BES, or SBES if a property is assumed."""
    selection = selection or Selection()
    run.climb("bes" if selection.assume is None else "sbes", Moves(), selection)


def go_to_best_level(run: Run, forward: str, selection: Selection, limit: int | None) -> None:
    """Go to the best state that a low-order search and two phases after each level find."""
    engine, assume = run.engine, selection.assume
    forward_phase(run, forward)
    begun, first = engine.mark(), engine.step_count
    levels, best, best_state = LowOrder(run), None, PDAG.empty(run.n)
    for k in levels.up_to(assume.k if isinstance(assume, MaxParents) else None):
        levels.descend(k)
        mark, separators = engine.mark(), dict(run.separators)
        with run.quietly():
            run.climb("fes", Moves(inserts="all", sets_per_clique=limit))
            backward(run, Selection(MaxParents(max(k, 1))))
        if best is None or gain_between(engine, best_state, engine.cpdag) > engine.tolerance:
            best, best_state = (engine.steps[first:], separators, engine.capped), engine.cpdag
        engine.rewind(mark)
    if best is not None:
        engine.rewind(begun)
        steps, run.separators, capped = best
        reapply(engine, steps)
        engine.capped = capped


def go_to_better_of_two(
    run: Run,
    climb: Callable[[], object],
    effort: float | None,
    ranking: tuple[int, ...] | None,
) -> None:
    """Climb from the state, and from the best order that is found; go to the better end.

    On dense graphs, greedy search from an empty graph ends in poor local optima more often than
    order search; with few records it may be the other way round.  With limited effort the order
    comes first.  The other climb is then left out if the first one met cliques with too many
    subsets to examine them all: on such tables an order does as well, for a fraction of the work.
    """
    engine = run.engine
    begun, first, before = engine.mark(), engine.step_count, engine.work
    limited = effort is not None

    def climb_anew() -> None:
        if limited:  # so that the work does not depend on what was done, or replayed, before
            engine.forget_paths()
        climb()

    def climb_from_order() -> None:
        if limited:
            engine.forget_paths()
        run.order(effort=effort, ranking=ranking)
        climb_anew()

    first_climb, second_climb = climb_from_order, climb_anew
    if not limited:
        first_climb, second_climb = second_climb, first_climb
    first_climb()
    if run.stopped is not None or (limited and engine.capped is not None):
        return
    total, steps, capped = engine.total, engine.steps[first:], engine.capped
    engine.rewind(begun)
    budget = Budget(work=None if effort is None else effort * (engine.work - before))
    with run.quietly():
        with run.within(budget):
            second_climb()
        ended = engine.stopped is None and not budget.spent and engine.capped is None
        if (ended or not limited) and engine.total > total + engine.tolerance:
            return
        engine.rewind(begun)
        reapply(engine, steps)
    engine.capped = capped


# Options and starts


def check_options(
    strategy: AnyStrategy, forward: Forward | None, max_indegree: int | None, n_jobs: int | None
) -> None:
    """Raise an error if an option of ``search`` is invalid for every score."""
    as_strategy(strategy)
    if forward is not None:
        check_word("forward", forward, get_args(Forward))
    check_number("max_indegree", max_indegree, whole=True, optional=True)
    effective_jobs(n_jobs)


def start_of(n: int, forward: Forward | None, start: PDAG | None) -> tuple[PDAG | None, str]:
    """Return the graph to start from, None for the sparsest, and what to call the forward phase."""
    if forward is None:
        return start, "fes" if start is None else "given"
    check_word("forward", forward, get_args(Forward))
    if forward != "complete":
        return start, forward
    if start is not None:
        raise InvalidArgument(
            'forward = "complete" already determines the start; give forward= or start=, not both'
        )
    return PDAG.complete(n), forward


# Knowledge


def search_with_knowledge(
    run: Run,
    start: PDAG | None,
    phases: Phases,
    repair: Phases | None = None,
    *,
    scored: bool = True,
) -> None:
    """Run the phases from a start, under the run's knowledge if it has any.

    A search in which every step is admissible keeps its guarantee if the knowledge consists of an
    order of groups of variables and of required edges: with a locally consistent score and true
    knowledge it ends in the true class (``docs/theory.md``, section 11).  Other forbidden edges may
    keep the search from the true class: it may have to insert a forbidden edge, which a later
    delete removes.  So, for such knowledge:

    1. search with admissible steps only;
    2. from the state reached, search under the relaxed knowledge: the order and required edges;
    3. if that ends in a class that is not admissible, delete forbidden edges until it is, and
       search once more with admissible steps only;
    4. keep the result of 2 and 3 if it scores higher, else that of 1.

    In any case the result is admissible.  If the knowledge is true and the score locally
    consistent, step 2 ends in the true class, which is admissible and scores best.
    ``repair`` are the phases to run after forbidden edges were deleted, if they differ;
    ``scored`` says whether the start is scored (``Run.start``).
    """
    run.start(start, relaxed=True, scored=scored)
    engine, constraint, before = run.engine, run.constraint, None
    if constraint is None or constraint.relaxed is None:
        phases()
        return
    if constraint.admits(engine.cpdag):
        phases()
        before, state, total = engine.mark(), engine.cpdag, engine.total
    with run.under(constraint.relaxed):
        phases()
    if (before is None or run.stopped is None) and not constraint.admits(engine.cpdag):
        _enforce(run, constraint)
        (repair or phases)()
    if before is not None:
        gained = engine.total - total
        if run.separators and run.stopped is None:  # the totals add up the gains of separators
            gained = gain_between(engine, state, engine.cpdag)
        if run.stopped is not None or gained <= engine.tolerance:
            engine.rewind(before)
    elif not constraint.admits(engine.cpdag):  # stopped too early: delete the rest at once
        dag = constraint.member(engine.cpdag)
        cpdag = dag_to_cpdag(dag.edited(remove=constraint.violations(dag)))
        engine.start(cpdag, total_score(run.score, cpdag))


def _enforce(run: Run, constraint: Constraint) -> None:
    """Delete forbidden edges of one member, the cheapest first, until the class is admissible.

    The member satisfies the relaxed knowledge and, without its forbidden edges, all of the
    knowledge.  So this ends, with at most two families for each edge and step.
    """
    engine = run.engine
    dag = constraint.member(engine.cpdag)

    def gain_of(x: int, y: int) -> float:
        """Return the gain of deleting x → y in the member; counted."""
        parents = dag.parents(y)
        return engine.local(y, parents & ~(1 << x)) - engine.local(y, parents)

    try:
        losses = {edge: gain_of(*edge) for edge in constraint.violations(dag)}
        while run.stopped is None and not constraint.admits(engine.cpdag):
            x, y = max(losses, key=lambda edge: losses[edge])
            h = engine.cpdag.na(y, x) & dag.children(y)  # of x → y in this member
            engine.apply("knowledge", Delete(x, y, h), losses.pop((x, y)))
            run.tell("knowledge")
            dag = dag.edited(remove=[(x, y)])
            losses |= {edge: gain_of(*edge) for edge in losses if edge[1] == y}
    except KeyboardInterrupt:
        engine.stopped = "interrupted"
