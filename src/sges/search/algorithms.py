"""The algorithms of the paper and extensions of them, built on one greedy climb.

    ges      Fig. 1: FES, then BES
    sges     Fig. 3: a forward phase, then SBES with an assumed property
    sbes     Fig. 4: selective backward search, from any CPDAG
    fes, bes, poly_fes, turning: the phases alone
    search   every strategy (``sges.search.strategy``), on the same phases

Scores are maximized.  An insert is applied when it gains more than the tolerance
(``sges.score.protocol.tie_tolerance``), a delete when it does not lose more: the sparser graph wins
a tie.  Ties between operators go to the smallest (x, y, size of the set, its nodes).

Every strategy ends in a state in which no insert improves the score and every generated delete
lowers it, so with a locally consistent score it ends in the true class (``docs/theory.md``,
section 13).
"""

from collections.abc import Callable
from functools import partial
from math import comb
from typing import Literal, TypeAlias, get_args

from sges.docstrings import documented_like
from sges.errors import InvalidArgument, check_instance, check_number, check_word
from sges.graph.pdag import PDAG
from sges.properties import MaxParents, Property
from sges.result import Result
from sges.score.protocol import Score
from sges.search.engines import gain_between, reapply
from sges.search.extended import ExtendedSearch
from sges.search.low_order import LowOrder
from sges.search.moves import Constraint, Moves
from sges.search.order import ROUNDS
from sges.search.replay import Replay
from sges.search.run import OPTIONS, Budget, OnProgress, Run, Selection, effective_jobs
from sges.search.strategy import AnyStrategy, Strategy, as_strategy
from sges.search.with_knowledge import SEARCHES, search_with_knowledge

Forward: TypeAlias = Literal["fes", "poly", "order", "complete"]
"""The forward phases."""

FROM_START = """A search that needs a start.

Parameters
----------
start : PDAG
    The CPDAG or DAG to start from.
"""


@documented_like(OPTIONS)
def ges(
    score: Score,
    *,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    counting: bool = True,
    constraint: Constraint | None = None,
) -> Result:
    """Run Greedy Equivalence Search: insert while that improves the score, then delete.

    Paper: Fig. 1, GES.

    References
    ----------
    Chickering (2002), Optimal structure identification with greedy search, JMLR 3, 507-554.
    """
    run = Run(score, max_indegree, time_limit, progress, counting, constraint)

    def phases() -> None:
        forward_phase(run, "fes")
        backward(run)

    search_with_knowledge(run, None, phases)
    return run.result(forward="fes")


@documented_like(OPTIONS)
def sges(
    score: Score,
    assume: Property | None = None,
    *,
    forward: Forward | None = None,
    start: PDAG | None = None,
    exact: bool = False,
    drop_large: bool = False,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    counting: bool = True,
    constraint: Constraint | None = None,
) -> Result:
    """Run Selective Greedy Equivalence Search: a forward phase, then selected deletes.

    Paper: Fig. 3, SGES.

    Parameters
    ----------
    start : PDAG, optional
        A CPDAG or DAG to start from, such as another method's result.

    References
    ----------
    Chickering & Meek (2015), Selective Greedy Equivalence Search, UAI.
    """
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = Run(score, max_indegree, time_limit, progress, counting, constraint)
    graph, phase = start_of(run.n, forward, start)

    def phases(phase: str = phase) -> None:
        forward_phase(run, phase)
        backward(run, selection)

    repair = partial(phases, "fes" if phase == "fes" else "poly")
    search_with_knowledge(run, graph, phases, repair)
    return run.result(assume=assume, forward=phase, bound=bound_of(run, phase, selection))


@documented_like(OPTIONS)
def fes(
    score: Score,
    start: PDAG | None = None,
    *,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    counting: bool = True,
    constraint: Constraint | None = None,
) -> Result:
    """Search forward: apply the best insert while it improves the score.

    Paper: Section 3.1, FES.
    """
    run = Run(score, max_indegree, time_limit, progress, counting, constraint)
    run.start(start)
    forward_phase(run, "fes")
    return run.result(forward="fes")


@documented_like(OPTIONS)
def poly_fes(
    score: Score,
    start: PDAG | None = None,
    *,
    max_t: int = 0,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    counting: bool = True,
    constraint: Constraint | None = None,
) -> Result:
    """Search forward with polynomially many score evaluations, still to an IMAP.

    Paper: Section 4, poly-FES.

    Parameters
    ----------
    max_t : int
        Inserts with a set T of at most this size are examined besides those of one member.
    """
    check_number("max_t", max_t, whole=True)
    run = Run(score, max_indegree, time_limit, progress, counting, constraint)
    max_t = min(max_t, run.n)  # no set T is larger
    run.start(start)
    forward_phase(run, "poly", largest_t=max_t)
    return run.result(forward="poly", bound=poly_fes_bound(run.n, max_t))


@documented_like(FROM_START, OPTIONS)
def bes(
    score: Score,
    start: PDAG,
    *,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    counting: bool = True,
    constraint: Constraint | None = None,
) -> Result:
    """Search backward: apply the best delete while it does not lower the score.

    Paper: Section 3.1, BES.
    """
    run = Run(score, max_indegree, time_limit, progress, counting, constraint)
    search_with_knowledge(run, start, lambda: backward(run))
    return run.result()


@documented_like(FROM_START, OPTIONS)
def sbes(
    score: Score,
    start: PDAG,
    assume: Property,
    *,
    exact: bool = False,
    drop_large: bool = False,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    counting: bool = True,
    constraint: Constraint | None = None,
) -> Result:
    """Search backward selectively: BES with only the deletes that the assumed property allows.

    It can follow any method: from an IMAP of the true graph it ends in the true class.

    Paper: Fig. 4, SBES.

    Parameters
    ----------
    assume : Property
        A property that is assumed to hold for the true graph.
    """
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = Run(score, max_indegree, time_limit, progress, counting, constraint)
    search_with_knowledge(run, start, lambda: backward(run, selection))
    return run.result(assume=assume, bound=bound_of(run, "given", selection))


@documented_like(FROM_START, OPTIONS)
def turning(
    score: Score,
    start: PDAG,
    *,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    counting: bool = True,
    constraint: Constraint | None = None,
) -> Result:
    """Turn edges while that improves the score.

    References
    ----------
    Hauser & Bühlmann (2012), Characterization and greedy learning of interventional Markov
    equivalence classes of directed acyclic graphs, JMLR 13, 2409-2464: the third phase of GIES.
    """
    run = Run(score, max_indegree, time_limit, progress, counting, constraint)
    run.start(start)
    run.climb("turning", Moves(turns=True))
    return run.result()


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
    extended = ExtendedSearch(run, strategy, moves, selection) if strategy.extended else None

    def climb() -> None:
        run.climb("interleaved", moves, selection)

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


@documented_like(OPTIONS)
def interleaved(
    score: Score,
    assume: Property | None = None,
    start: PDAG | None = None,
    *,
    exact: bool = False,
    drop_large: bool = False,
    max_indegree: int | None = None,
    time_limit: float | None = None,
    progress: OnProgress | None = None,
    counting: bool = True,
    constraint: Constraint | None = None,
) -> Result:
    """Search with deletes before turns before inserts, whichever improves the score first.

    On finite data this undoes early mistakes that two-phase search keeps.
    """
    return search(
        score,
        assume,
        strategy=Strategy(interleaved=True, exact=exact, drop_large=drop_large, counting=counting),
        start=start,
        max_indegree=max_indegree,
        time_limit=time_limit,
        progress=progress,
        constraint=constraint,
    )


# The phases


def forward_phase(
    run: Run, forward: str, *, largest_t: int = 0, conservative: bool = False
) -> None:
    """Run the forward phase of this name; "complete" and "given" starts have none.

    Paper: Section 3.1, FES; Section 4, poly-FES.
    """
    if forward == "fes":
        run.climb("fes", Moves(inserts="all", conservative=conservative))
    elif forward == "poly":
        run.climb("poly-fes", Moves(inserts="poly", largest_t=largest_t))
    elif forward == "order":
        run.order()


def backward(run: Run, selection: Selection | None = None) -> None:
    """BES, or SBES if a property is assumed.

    Paper: Fig. 4, SBES.
    """
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
    climb: Callable[[], None],
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

    def climb_from_order() -> None:
        run.order(effort=effort, ranking=ranking)
        climb()

    limited = effort is not None
    first_climb, second_climb = (climb_from_order, climb) if limited else (climb, climb_from_order)
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


# Options, starts and bounds


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


def bound_of(run: Run, forward: str, selection: Selection) -> int | None:
    """Return the bound on score evaluations of a whole run, or None if it has none."""
    relaxes = run.constraint is not None and run.constraint.relaxed is not None
    backward_bound = sbes_bound(run.n, selection)
    if backward_bound is None or forward == "fes":
        return None
    poly = poly_fes_bound(run.n)
    forward_bound = {"poly": poly, "order": order_bound(run.n), "complete": 0, "given": 0}[forward]
    if relaxes:  # the repair uses a polynomial forward phase, whatever the first one was
        return SEARCHES * (max(poly, forward_bound) + backward_bound)
    return forward_bound + backward_bound


def sbes_bound(n: int, selection: Selection) -> int | None:
    """Return a bound on the number of unique families that SBES evaluates.

    There are at most n(n−1)/2 + 1 states; in each at most n(n−1) edges, counting both orders;
    for each edge at most n maximal cliques, and the subsets of up to s nodes of one; and two
    families per operator.

    Paper: Proposition 2.

    Parameters
    ----------
    n : int
        The number of variables.
    selection : Selection
        The assumed property, which bounds s.

    Returns
    -------
    int or None
        The bound, or None if the property has no bound on the set H of a delete.
    """
    check_number("n", n, whole=True)
    check_instance("selection", selection, Selection, "a Selection")
    cliques, size = selection.bounds
    limits = [bound for bound in (cliques, size) if bound is not None]
    if not limits:
        return None
    states = n * (n - 1) // 2 + 1
    subsets = sum(comb(max(n - 2, 0), j) for j in range(min(limits) + 1))
    return 2 * states * n * (n - 1) * n * subsets


def poly_fes_bound(n: int, largest_t: int = 0) -> int:
    """Return a bound on the number of unique families that ``poly_fes`` evaluates.

    There are at most n(n−1)/2 + 1 states; in each, for each ordered pair, one operator of the
    member DAG and one for each set T; and two families per operator.

    Parameters
    ----------
    n : int
        The number of variables.
    largest_t : int
        The largest size of the set T of the other inserts that are examined.

    Returns
    -------
    int
        The bound.
    """
    check_number("n", n, whole=True)
    check_number("largest_t", largest_t, whole=True)
    states = n * (n - 1) // 2 + 1
    per_pair = 1 + sum(comb(max(n - 2, 0), j) for j in range(min(largest_t, max(n - 2, 0)) + 1))
    return 2 * states * n * (n - 1) * per_pair


def order_bound(n: int, rounds: int = ROUNDS) -> int:
    """Return a bound on the number of unique families that ``forward="order"`` evaluates.

    The first order costs at most the bound of poly-FES.  Each restart then chooses parents for n
    nodes, and each round twice for every node and position; there are at most as many restarts as
    rounds.  A choice adds and removes at most n − 1 parents, with at most n families each time.

    Parameters
    ----------
    n : int
        The number of variables.
    rounds : int
        The largest number of rounds.

    Returns
    -------
    int
        The bound.
    """
    check_number("n", n, whole=True)
    check_number("rounds", rounds, whole=True)
    choices = (rounds + 1) * n + rounds * n * 2 * max(n - 1, 0)
    return poly_fes_bound(n) + choices * 2 * n * n
