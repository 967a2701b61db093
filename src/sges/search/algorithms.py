"""The algorithms of the paper and what goes beyond them, each a few lines on one greedy climb.

    ges      Fig. 1: FES, then BES
    sges     Fig. 3: a forward phase, then SBES with an assumed property
    sbes     Fig. 4: selective backward search, from any CPDAG
    fes, bes, poly_fes, turning: the phases alone
    search   every strategy (``sges.search.strategy``), on the same phases

Scores are maximised.  An insert is applied when it gains more than the tolerance
(``sges.certificate.tie_tolerance``), a delete when it does not lose more: the sparser graph wins
a tie.  Ties between operators go to the smallest (x, y, size of the set, its nodes).

Every strategy ends where no insert improves the score and no generated delete keeps it, so with a
locally consistent score it ends in the truth (``docs/explanation/strategies.md``).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Literal, TypeAlias, get_args

from sges.errors import InvalidArgument, check_instance, check_number, check_word
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet
from sges.properties import MaxParents, Property
from sges.result import Result, Step
from sges.score.protocol import Score
from sges.search.engines import gain_between
from sges.search.extended import ExtendedSearch
from sges.search.low_order import LowOrder
from sges.search.moves import Constraint, Moves
from sges.search.reference_order import ROUNDS
from sges.search.replay import Replay
from sges.search.run import Budget, OnProgress, Run, Selection
from sges.search.strategy import AnyStrategy, Strategy, as_strategy
from sges.search.with_knowledge import SEARCHES, search_with_knowledge

Forward: TypeAlias = Literal["fes", "poly", "order", "complete"]
"""The forward phases."""


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

    Parameters
    ----------
    score : Score
        The score to maximise.
    max_indegree : int, optional
        The largest number of parents that an insert or a turn may give a node.
    time_limit : float, optional
        Seconds after which the search stops and returns the best state so far.
    progress : callable, optional
        Called with a ``Progress`` at the start of each phase and after each step.
    counting : bool
        Whether to count the unique families that are scored; False saves memory.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``: a step to a class that
        it does not admit is never taken, and the result is refined by it.

    Returns
    -------
    Result
        The class that was found, its score, the steps that led to it and what they cost.

    References
    ----------
    Chickering (2002), Optimal structure identification with greedy search, JMLR 3, 507-554.
    """
    run = Run(
        score,
        max_indegree=max_indegree,
        time_limit=time_limit,
        progress=progress,
        counting=counting,
        constraint=constraint,
    )

    def phases() -> None:
        forward_phase(run, "fes")
        backward(run)

    search_with_knowledge(run, None, phases)
    return run.result(forward="fes")


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
    """Run Selective Greedy Equivalence Search: a forward phase, then only deletes that matter.

    Paper: Fig. 3, SGES.

    Parameters
    ----------
    score : Score
        The score to maximise.
    assume : Property, optional
        A property that is assumed to hold for the truth; None means GES.
    forward : {"fes", "poly", "order", "complete"}, optional
        The forward phase: "fes"; "poly" (polynomially many score evaluations); "order" (the best
        order of the variables that is found, and the parents it gives them); or "complete" (the
        no-independence class, which costs nothing).  The default is "fes" without a ``start``,
        and no forward phase with one.
    start : PDAG, optional
        A CPDAG or DAG to start from, such as another method's result.
    exact : bool
        Test each delete for consistency with the assumed property, and keep only those that pass.
    drop_large : bool
        Omit the sets H that contain a clique larger than the bound.  Like ``exact`` this examines
        fewer deletes, with the same guarantee.
    max_indegree : int, optional
        The largest number of parents that an insert or a turn may give a node.
    time_limit : float, optional
        Seconds after which the search stops and returns the best state so far.
    progress : callable, optional
        Called with a ``Progress`` at the start of each phase and after each step.
    counting : bool
        Whether to count the unique families that are scored; False saves memory.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``: a step to a class that
        it does not admit is never taken, and the result is refined by it.

    Returns
    -------
    Result
        The class that was found, its score, the steps that led to it and what they cost.

    References
    ----------
    Chickering & Meek (2015), Selective Greedy Equivalence Search, UAI.
    """
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = Run(
        score,
        max_indegree=max_indegree,
        time_limit=time_limit,
        progress=progress,
        counting=counting,
        constraint=constraint,
    )
    graph, word = start_of(run.n, forward, start)

    def phases(word: str = word) -> None:
        forward_phase(run, word)
        backward(run, selection)

    search_with_knowledge(run, graph, phases, partial(phases, "fes" if word == "fes" else "poly"))
    bound = bound_of(run, word, selection)
    return run.result(assume=assume, forward=word, bound=bound)


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

    Parameters
    ----------
    score : Score
        The score to maximise.
    start : PDAG, optional
        A CPDAG or DAG to start from; by default the graph without edges.
    max_indegree : int, optional
        The largest number of parents that an insert or a turn may give a node.
    time_limit : float, optional
        Seconds after which the search stops and returns the best state so far.
    progress : callable, optional
        Called with a ``Progress`` at the start of each phase and after each step.
    counting : bool
        Whether to count the unique families that are scored; False saves memory.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``: a step to a class that
        it does not admit is never taken, and the result is refined by it.

    Returns
    -------
    Result
        The class that was found, its score, the steps that led to it and what they cost.
    """
    run = Run(
        score,
        max_indegree=max_indegree,
        time_limit=time_limit,
        progress=progress,
        counting=counting,
        constraint=constraint,
    )
    run.start(start)
    forward_phase(run, "fes")
    return run.result(forward="fes")


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
    score : Score
        The score to maximise.
    start : PDAG, optional
        A CPDAG or DAG to start from; by default the graph without edges.
    max_t : int
        The largest size of the set T of an insert that is examined beyond the member's own.
    max_indegree : int, optional
        The largest number of parents that an insert or a turn may give a node.
    time_limit : float, optional
        Seconds after which the search stops and returns the best state so far.
    progress : callable, optional
        Called with a ``Progress`` at the start of each phase and after each step.
    counting : bool
        Whether to count the unique families that are scored; False saves memory.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``: a step to a class that
        it does not admit is never taken, and the result is refined by it.

    Returns
    -------
    Result
        The class that was found, its score, the steps that led to it and what they cost.
    """
    check_number("max_t", max_t, whole=True)
    run = Run(
        score,
        max_indegree=max_indegree,
        time_limit=time_limit,
        progress=progress,
        counting=counting,
        constraint=constraint,
    )
    max_t = min(max_t, run.n)  # no set T is larger
    run.start(start)
    forward_phase(run, "poly", largest_t=max_t)
    return run.result(forward="poly", bound=poly_fes_bound(run.n, max_t))


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

    Parameters
    ----------
    score : Score
        The score to maximise.
    start : PDAG
        The CPDAG or DAG to start from.
    max_indegree : int, optional
        The largest number of parents that an insert or a turn may give a node.
    time_limit : float, optional
        Seconds after which the search stops and returns the best state so far.
    progress : callable, optional
        Called with a ``Progress`` at the start of each phase and after each step.
    counting : bool
        Whether to count the unique families that are scored; False saves memory.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``: a step to a class that
        it does not admit is never taken, and the result is refined by it.

    Returns
    -------
    Result
        The class that was found, its score, the steps that led to it and what they cost.
    """
    run = Run(
        score,
        max_indegree=max_indegree,
        time_limit=time_limit,
        progress=progress,
        counting=counting,
        constraint=constraint,
    )
    search_with_knowledge(run, start, lambda: backward(run))
    return run.result()


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
    """Search backward selectively: BES with the deletes that the assumed property leaves.

    A finishing step for any graph: from an IMAP of the truth it ends in the truth.

    Paper: Fig. 4, SBES.

    Parameters
    ----------
    score : Score
        The score to maximise.
    start : PDAG
        The CPDAG or DAG to start from.
    assume : Property
        A property that is assumed to hold for the truth.
    exact : bool
        Test each delete for consistency with the assumed property, and keep only those that pass.
    drop_large : bool
        Omit the sets H that contain a clique larger than the bound.  Like ``exact`` this examines
        fewer deletes, with the same guarantee.
    max_indegree : int, optional
        The largest number of parents that an insert or a turn may give a node.
    time_limit : float, optional
        Seconds after which the search stops and returns the best state so far.
    progress : callable, optional
        Called with a ``Progress`` at the start of each phase and after each step.
    counting : bool
        Whether to count the unique families that are scored; False saves memory.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``: a step to a class that
        it does not admit is never taken, and the result is refined by it.

    Returns
    -------
    Result
        The class that was found, its score, the steps that led to it and what they cost.
    """
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = Run(
        score,
        max_indegree=max_indegree,
        time_limit=time_limit,
        progress=progress,
        counting=counting,
        constraint=constraint,
    )
    search_with_knowledge(run, start, lambda: backward(run, selection))
    return run.result(assume=assume, bound=bound_of(run, "given", selection))


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

    Parameters
    ----------
    score : Score
        The score to maximise.
    start : PDAG
        The CPDAG or DAG to start from.
    max_indegree : int, optional
        The largest number of parents that an insert or a turn may give a node.
    time_limit : float, optional
        Seconds after which the search stops and returns the best state so far.
    progress : callable, optional
        Called with a ``Progress`` at the start of each phase and after each step.
    counting : bool
        Whether to count the unique families that are scored; False saves memory.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``: a step to a class that
        it does not admit is never taken, and the result is refined by it.

    Returns
    -------
    Result
        The class that was found, its score, the steps that led to it and what they cost.

    References
    ----------
    Hauser & Bühlmann (2012), Characterization and greedy learning of interventional Markov
    equivalence classes of directed acyclic graphs, JMLR 13, 2409-2464: the third phase of GIES.
    """
    run = Run(
        score,
        max_indegree=max_indegree,
        time_limit=time_limit,
        progress=progress,
        counting=counting,
        constraint=constraint,
    )
    run.start(start)
    run.climb("turning", Moves(turns=True))
    return run.result()


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
    """Search by a strategy: a word of ``sges.search.strategy``, or a ``Strategy``.

    Interleaved search inserts by itself, so with it ``forward="fes"`` means no phase before it.

    Parameters
    ----------
    score : Score
        The score to maximise.
    assume : Property, optional
        A property that is assumed to hold for the truth; None means GES.
    strategy : str or Strategy
        Which steps the search takes, in which order, and how it goes on from a local optimum.
    forward : {"fes", "poly", "order", "complete"}, optional
        The forward phase: "fes"; "poly" (polynomially many score evaluations); "order" (the best
        order of the variables that is found, and the parents it gives them); or "complete" (the
        no-independence class, which costs nothing).  The default is "fes" without a ``start``,
        and no forward phase with one.
    start : PDAG, optional
        A CPDAG or DAG to start from, such as another method's result.
    max_indegree : int, optional
        The largest number of parents that an insert or a turn may give a node.
    time_limit : float, optional
        Seconds after which the search stops and returns the best state so far.
    n_jobs : int, optional
        How many escapes of an extended search run at once, as in scikit-learn: None is one, -1 as
        many as there are cores.  The result does not depend on it.
    progress : callable, optional
        Called with a ``Progress`` at the start of each phase and after each step.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``: a step to a class that
        it does not admit is never taken, and the result is refined by it.
    replay : Replay, optional
        What an earlier run with the same arguments has done, and where this one stores what it
        does: see ``sges.search.replay``.

    Returns
    -------
    Result
        The class that was found, its score, the steps that led to it and what they cost.
    """
    how = as_strategy(strategy)
    selection = Selection(assume, exact=how.exact, drop_large=how.drop_large)
    run = Run(
        score,
        max_indegree=max_indegree,
        time_limit=time_limit,
        n_jobs=n_jobs,
        progress=progress,
        counting=how.counting,
        constraint=constraint,
        replay=replay,
    )
    if how.low_order and forward is None and start is None:
        forward = "complete"
    graph, word = start_of(run.n, forward, start)
    return search_on(run, how, selection, graph, word)


TWO_PHASES = frozenset(
    Strategy(exact=exact, drop_large=drop_large)
    for exact in (False, True)
    for drop_large in (False, True)
)
"""The strategies of the paper, whose number of evaluations has a bound."""


def search_on(
    run: Run, how: Strategy, selection: Selection, graph: PDAG | None, word: str
) -> Result:
    """Search by a strategy on a run, which keeps what the score has said; return the result."""
    strategic = _Strategic(run, how, selection)
    mend = partial(strategic.phases, "fes" if how.interleaved or word == "fes" else "poly")
    scored = not how.low_order or word not in ("complete", "given")
    search_with_knowledge(run, graph, partial(strategic.phases, word), mend, scored=scored)
    bound = bound_of(run, word, selection) if how in TWO_PHASES else None
    return run.result(
        assume=selection.assume,
        forward=word,
        bound=bound,
        strategy=str(how),
        notes=strategic.notes(),
    )


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

    Parameters
    ----------
    score : Score
        The score to maximise.
    assume : Property, optional
        A property that is assumed to hold for the truth; None means GES.
    start : PDAG, optional
        A CPDAG or DAG to start from; by default the graph without edges.
    exact : bool
        Test each delete for consistency with the assumed property, and keep only those that pass.
    drop_large : bool
        Omit the sets H that contain a clique larger than the bound.  Like ``exact`` this examines
        fewer deletes, with the same guarantee.
    max_indegree : int, optional
        The largest number of parents that an insert or a turn may give a node.
    time_limit : float, optional
        Seconds after which the search stops and returns the best state so far.
    progress : callable, optional
        Called with a ``Progress`` at the start of each phase and after each step.
    counting : bool
        Whether to count the unique families that are scored; False saves memory.
    constraint : Constraint, optional
        Background knowledge with nodes as numbers, from ``Knowledge.bind``: a step to a class that
        it does not admit is never taken, and the result is refined by it.

    Returns
    -------
    Result
        The class that was found, its score, the steps that led to it and what they cost.
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


def forward_phase(run: Run, word: str, *, largest_t: int = 0, conservative: bool = False) -> None:
    """Run the forward phase of this name; "complete" and "given" starts have none.

    Paper: Section 3.1, FES; Section 4, poly-FES.
    """
    if word == "fes":
        run.climb("fes", Moves(inserts="all", conservative=conservative))
    elif word == "poly":
        run.climb("poly-fes", Moves(inserts="poly", largest_t=largest_t))
    elif word == "order":
        run.order()


def backward(run: Run, selection: Selection | None = None) -> None:
    """BES, or SBES if a property is assumed.

    Paper: Fig. 4, SBES.
    """
    selection = selection or Selection()
    run.climb("bes" if selection.assume is None else "sbes", Moves(), selection)


@dataclass(frozen=True, slots=True)
class _Level:
    """Where a level of low-order search led to."""

    state: PDAG
    steps: list[Step]
    separators: dict[int, NodeSet]
    capped: int | None


class _Strategic:
    """The phases of a strategy, on one run."""

    def __init__(self, run: Run, how: Strategy, selection: Selection) -> None:
        self._run, self._how, self._selection = run, how, selection
        self._moves = Moves(
            inserts="all",
            turns=True,
            conservative=how.conservative,
            sets_per_clique=how.sets_per_clique,
        )
        self._extended: ExtendedSearch | None = None
        if how.extended:
            self._extended = ExtendedSearch(run, how, self._moves, selection)

    def notes(self) -> tuple[str, ...]:
        """Return what to say of the search."""
        notes = () if self._extended is None else (self._extended.note(),)
        capped = self._run.engine.capped
        if capped is None:
            return notes
        limit = self._how.sets_per_clique
        return (
            *notes,
            f"from step {capped} on the search was selective: of a clique of neighbors with more "
            f"than {limit} subsets only the smallest and largest subsets were examined; the "
            "large-sample guarantee then assumes that, in truth, no two adjacent variables are "
            "common children of two non-adjacent ones (theory, section 10)",
        )

    def phases(self, word: str) -> None:
        """Run the strategy from the state of the run, with this forward phase."""
        run, how = self._run, self._how
        if how.low_order:
            self._low_order(word)
            word = "given"
        if how.interleaved:
            self._interleave(word)
        else:
            self._two_phases(word)
            while how.repeat and run.stopped is None:
                before = run.engine.cpdag
                self._two_phases("fes" if word == "fes" else "poly")
                if gain_between(run.engine, before, run.engine.cpdag) <= run.engine.tolerance:
                    break
        if self._extended is not None:
            self._extended()

    def _interleave(self, word: str) -> None:
        """Run what comes before the escapes, which begin with a climb of their own."""
        run, how = self._run, self._how
        if word != "fes":
            forward_phase(run, word)
        elif how.order and how.effort is not None:
            order_first(run, self._climb, how.effort)
            return
        elif how.order:
            better_of_two(run, self._climb)
            return
        if not how.extended:
            self._climb()

    def _low_order(self, word: str) -> None:
        """Go to the best state that a low-order search and two phases after each level find."""
        run, engine = self._run, self._run.engine
        forward_phase(run, word)
        begun, first = engine.mark(), engine.step_count
        levels, assume = LowOrder(run), self._selection.assume
        best: _Level | None = None
        for k in levels.up_to(assume.k if isinstance(assume, MaxParents) else None):
            levels.descend(k)
            mark, separators = engine.mark(), dict(run.separators)
            with run.quietly():
                run.climb("fes", Moves(inserts="all", sets_per_clique=self._how.sets_per_clique))
                backward(run, Selection(MaxParents(max(k, 1))))
            if best is None or gain_between(engine, best.state, engine.cpdag) > engine.tolerance:
                best = _Level(engine.cpdag, engine.steps[first:], separators, engine.capped)
            engine.rewind(mark)
        if best is None:
            return
        engine.rewind(begun)
        for step in best.steps:
            engine.apply(step.phase, step.operator, step.gain)
        run.separators, engine.capped = best.separators, best.capped

    def _climb(self) -> None:
        self._run.climb("interleaved", self._moves, self._selection)

    def _two_phases(self, word: str) -> None:
        """Run the forward phase and the deletes, and turn edges if that is wanted."""
        run, how = self._run, self._how
        forward_phase(run, word, conservative=how.conservative)
        backward(run, self._selection)
        if how.turning:
            run.climb("turning", Moves(turns=True))


def better_of_two(run: Run, climb: Callable[[], None]) -> None:
    """Climb from the state, and from the best order that is found; go to the better end.

    Where the graph is dense a greedy search from few edges goes astray, and an order does not;
    where data are few it may be the other way round.
    """
    engine = run.engine
    begun, first = engine.mark(), engine.step_count
    climb()
    if run.stopped is not None:
        return
    total, steps, capped = engine.total, engine.steps[first:], engine.capped
    engine.rewind(begun)
    with run.quietly():
        run.order()
        climb()
        if engine.total > total + engine.tolerance:
            return
        engine.rewind(begun)
        for step in steps:
            engine.apply(step.phase, step.operator, step.gain)
    engine.capped = capped


def order_first(run: Run, climb: Callable[[], None], effort: float) -> None:
    """Climb from the best order that is found and then from the state; go to the better end.

    The second climb is left out where the first one met too many cliques to look at all of their
    subsets: on such tables an order does as well, for a fraction of the work.
    """
    engine = run.engine
    begun, first, before = engine.mark(), engine.step_count, engine.work
    run.order(effort=effort)
    climb()
    if run.stopped is not None or engine.capped is not None:
        return
    total, steps = engine.total, engine.steps[first:]
    engine.rewind(begun)
    budget = Budget(work=effort * (engine.work - before))
    with run.quietly():
        with run.within(budget):
            climb()
        whole = engine.stopped is None and not budget.spent and engine.capped is None
        if whole and engine.total > total + engine.tolerance:
            return
        engine.rewind(begun)
        for step in steps:
            engine.apply(step.phase, step.operator, step.gain)


# Starts and bounds


def start_of(n: int, forward: Forward | None, start: PDAG | None) -> tuple[PDAG | None, str]:
    """Return the graph to start from, None for the sparsest, and what to call the forward phase."""
    if forward is None:
        return start, "fes" if start is None else "given"
    check_word("forward", forward, get_args(Forward))
    if forward != "complete":
        return start, forward
    if start is not None:
        raise InvalidArgument(
            'forward = "complete" is itself a graph to start from; give forward= or start=, not '
            "both"
        )
    return PDAG.complete(n), forward


def bound_of(run: Run, word: str, selection: Selection) -> int | None:
    """Return the bound on score evaluations of a whole run, or None if it has none."""
    relaxes = run.constraint is not None and run.constraint.relaxed is not None
    backward_bound = sbes_bound(run.n, selection)
    if backward_bound is None or word == "fes":
        return None
    poly = poly_fes_bound(run.n)
    forward_bound = {"poly": poly, "order": order_bound(run.n), "complete": 0, "given": 0}[word]
    if relaxes:  # mending takes a polynomial forward phase, whatever the first one was
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
