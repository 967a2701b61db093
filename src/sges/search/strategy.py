"""Strategies: the steps of a search, their order, how it continues, and the search itself.

    "two-phase"      the search of the paper: a forward phase, then deletes
    "turning"        two phases, then turns; all repeated while that improves the score
    "interleaved"    at every step a delete before a turn before an insert
    "extended"       interleaved search, once from the start and once from the best order of the
                     variables that is found; then escapes from the better local optimum
    "auto"           extended with bounded work: at most 64 subsets of each clique of neighbors are
                     examined, and orders and escapes take a multiple of the work before them

Each name stands for a ``Strategy``; ``Strategy`` makes other combinations.  Their guarantees are in
``docs/explanation/strategies.md``.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Literal, TypeAlias, Unpack, get_args

from sges.display import brief
from sges.docstrings import documented_like
from sges.errors import InvalidArgument, check_flag, check_number, check_word, shown
from sges.graph.equivalence import dag_to_cpdag
from sges.graph.pdag import PDAG
from sges.operators import Delete
from sges.properties import Property
from sges.result import Result
from sges.score.protocol import Score, total_score
from sges.search.bounds import bound_of
from sges.search.extended import ExtendedSearch
from sges.search.moves import Constraint, Moves
from sges.search.run import (
    OPTIONS,
    Budget,
    Run,
    SearchOptions,
    Selection,
    gain_between,
)

Forward: TypeAlias = Literal["fes", "poly", "order", "complete"]
"""The forward phases."""

EFFORT = 10.0
"""How much work a bounded search may do beyond interleaved search, as a multiple.

The escapes may list three times this multiple of the sets of neighbors and turns that were listed
before them.  The search for an order may take ten times this multiple of the work of its first
guess (of one gain for each pair of nodes, if it starts from a given graph).  It starts again from
mixed orders, which may take a fifth of this multiple of the work before them.  The second climb may
take this multiple of all the work before it.  Work is counted in gains computed, sets listed and
nodes visited, so it does not depend on the machine.
"""

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
    order : bool
        Also start from the best order of the variables that is found, and continue from the
        better of the two results.
    turning : bool
        Turn edges after the two phases.
    repeat : bool
        Repeat the phases while that improves the score.
    extended : bool
        Escape from the local optimum: force each delete in turn, search on, and keep the result
        if it scores higher.
    patience : float
        Abandon an escape when its best insert regains less than this share of what is still lost.
        0 continues every escape to its own local optimum; 0.1 takes about half the time and
        misses some improvements.
    sets_per_clique : int, optional
        Examine only the smallest and largest subsets of a clique of neighbors that has more
        subsets than this, and bound the work of orders and escapes (``EFFORT``); None examines all
        of them, which may be exponentially many.
    exact : bool
        Test each delete for consistency with the assumed property, and keep only those that pass.
    drop_large : bool
        Omit the sets H that contain a clique larger than the assumed bound.  Like ``exact`` this
        examines fewer deletes, with the same guarantee.

    Examples
    --------
    >>> print(Strategy(interleaved=True, order=True, extended=True))
    extended
    >>> print(Strategy(extended=True, patience=0.1))
    Strategy(extended=True, patience=0.1)
    """

    interleaved: bool = False
    order: bool = False
    turning: bool = False
    repeat: bool = False
    extended: bool = False
    patience: float = 0.0
    sets_per_clique: int | None = None
    exact: bool = False
    drop_large: bool = False

    def __post_init__(self) -> None:
        for option in fields(self):
            if isinstance(option.default, bool):
                check_flag(option.name, getattr(self, option.name))
        check_number("patience", self.patience)
        check_number("sets_per_clique", self.sets_per_clique, least=1, optional=True)
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
        if not 0 <= self.patience <= 1:
            raise InvalidArgument(
                f"patience = {shown(self.patience)}: it must be a share, from 0 to 1"
            )

    @property
    def effort(self) -> float | None:
        """The work that a bounded search may do beyond interleaved search; None for no bound."""
        return EFFORT if self.extended and self.sets_per_clique is not None else None

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
    "extended": Strategy(interleaved=True, order=True, extended=True),
    "auto": Strategy(interleaved=True, order=True, extended=True, sets_per_clique=64),
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
    **options: Unpack[SearchOptions],
) -> Result:
    """Search with a strategy: a name from ``sges.search.strategy``, or a ``Strategy``.

    Interleaved search inserts by itself, so with it ``forward="fes"`` means no phase before it.

    Parameters
    ----------
    strategy : str or Strategy
        Which steps the search takes, in which order, and how it goes on from a local optimum.
    start : PDAG, optional
        A CPDAG or DAG to start from, such as another method's result.
    """
    strategy = as_strategy(strategy)
    selection = Selection(assume, exact=strategy.exact, drop_large=strategy.drop_large)
    run = Run(score, **options)
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
    moves = Moves("all", turns=True, sets_per_clique=limit, ranking=ranking)
    climb = partial(run.climb, "interleaved", moves, selection)
    extended = ExtendedSearch(run, strategy, moves, selection) if strategy.extended else None

    def two_phases(forward: str) -> None:
        forward_phase(run, forward)
        backward(run, selection)
        if strategy.turning:
            run.climb("turning", Moves(turns=True))

    def phases(forward: str) -> None:
        """Run the strategy from the state of the run, with this forward phase."""
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
    search_with_knowledge(run, graph, partial(phases, forward), repair)
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


def forward_phase(run: Run, forward: str, *, largest_t: int = 0) -> None:
    """Run the forward phase of this name; "complete" and "given" starts have none."""
    if forward == "fes":
        run.climb("fes", Moves(inserts="all"))
    elif forward == "poly":
        run.climb("poly-fes", Moves(inserts="poly", largest_t=largest_t))
    elif forward == "order":
        run.order()


def backward(run: Run, selection: Selection | None = None) -> None:
    """Search backward: BES, or SBES if a property is assumed."""
    selection = selection or Selection()
    run.climb("bes" if selection.assume is None else "sbes", Moves(), selection)


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
        if limited:  # so that the work does not depend on what was done before
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
        for step in steps:
            engine.apply(step.phase, step.operator, step.gain)
    engine.capped = capped


# Starts


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
    ``repair`` are the phases to run after forbidden edges were deleted, if they differ.
    """
    run.start(start, relaxed=True)
    engine, constraint, before = run.engine, run.constraint, None
    if constraint is None or constraint.relaxed is None:
        phases()
        return
    if constraint.admits(engine.cpdag):
        phases()
        before, total = engine.mark(), engine.total
    with run.under(constraint.relaxed):
        phases()
    if (before is None or run.stopped is None) and not constraint.admits(engine.cpdag):
        _enforce(run, constraint)
        (repair or phases)()
    if before is not None:
        gained = engine.total - total
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
