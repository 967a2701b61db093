"""Strategies: the phases of a search, and the search itself.

    "two-phase"      the search of the paper: a forward phase, then deletes
    "turning"        two phases, then turns; all repeated while that improves the score
    "interleaved"    at every step a delete before a turn before an insert
    "extended"       interleaved search; then the search for a better order of the variables, and
                     escapes from the local optimum
    "auto"           extended with bounded work and from shuffled orders: at most 64 subsets of each
                     clique of neighbors are examined

Each name stands for a ``Strategy``; ``Strategy`` makes other combinations.  Their guarantees are in
``docs/explanation/strategies.md``.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Literal, TypeAlias, Unpack, get_args

from sges.combinations import refuse
from sges.display import brief
from sges.docstrings import documented_like
from sges.errors import InvalidArgument, check_flag, check_number, check_word, shown
from sges.graph.pdag import PDAG
from sges.operators import Delete
from sges.properties import Property
from sges.result import Result
from sges.score.protocol import Score
from sges.search.bounds import bound_of
from sges.search.moves import Constraint, Moves, Policy
from sges.search.run import (
    OPTIONS,
    Run,
    SearchOptions,
    Selection,
    gain_between,
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
    order : bool
        From the local optimum, search for the best order of the variables, and go on from there
        while that improves the score.
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
        subsets than this, bound the work of each part of the search by constants, and let it start
        again from shuffled orders; None examines all subsets, which may be exponentially many.
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
        refuse(
            interleaved=self.interleaved,
            two_phases=not self.interleaved,
            turning=self.turning,
            repeat=self.repeat,
            order=self.order,
        )
        if not 0 <= self.patience <= 1:
            raise InvalidArgument(
                f"patience = {shown(self.patience)}: it must be a share, from 0 to 1"
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
    "extended": Strategy(interleaved=True, order=True, extended=True),
    "auto": Strategy(interleaved=True, order=True, extended=True, patience=0.3, sets_per_clique=64),
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
    run.notes = []
    if strategy.order and forward == "fes":
        run.rank()
    repair = "fes" if strategy.interleaved or forward == "fes" else "poly"
    search_with_knowledge(
        run,
        graph,
        partial(run_phases, run, strategy, selection, forward),
        partial(run_phases, run, strategy, selection, repair),
    )
    if run.engine.capped is not None:
        run.notes.append(
            f"from step {run.engine.capped} on the search was selective: of a clique of neighbors "
            f"with more than {strategy.sets_per_clique} subsets only the smallest and largest "
            "subsets were examined; the large-sample guarantee then assumes that, in the true "
            "graph, no two common children of non-adjacent variables are adjacent (theory, "
            "section 10)"
        )
    bound = bound_of(run, forward, selection) if strategy in TWO_PHASES else None
    return run.result(selection.assume, forward, bound, str(strategy))


def run_phases(run: Run, strategy: Strategy, selection: Selection, forward: str) -> None:
    """Run the phases of a strategy from the state of a run, with this forward phase."""
    for phase in phases_of(strategy, selection, forward):
        phase(run)
    while strategy.repeat and run.stopped is None:
        before = run.engine.cpdag
        for phase in phases_of(strategy, selection, "fes" if forward == "fes" else "poly"):
            phase(run)
        if gain_between(run.engine, before, run.engine.cpdag) <= run.engine.tolerance:
            break


def phases_of(
    strategy: Strategy, selection: Selection, forward: str
) -> list[Callable[[Run], object]]:
    """Return the phases of a strategy, with this forward phase."""
    limit = strategy.sets_per_clique
    moves = Moves("all", turns=True, sets_per_clique=limit)
    phases: list[Callable[[Run], object]] = []
    if not strategy.interleaved or forward != "fes":
        phases.append(lambda run: forward_phase(run, forward))
    if not strategy.interleaved:
        phases.append(lambda run: backward(run, selection))
    if strategy.turning:
        phases.append(lambda run: run.climb("turning", Moves(turns=True)))
    if strategy.extended or strategy.order:
        orders = strategy.order and forward == "fes"
        policy = Policy(
            moves,
            orders=orders,
            shuffles=orders and limit is not None,
            escapes=strategy.extended,
            is_bounded=limit is not None,
            patience=strategy.patience,
        )
        phases.append(lambda run: run.improve(policy, selection))
    elif strategy.interleaved:
        phases.append(lambda run: run.climb("interleaved", moves, selection))
    return phases


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


# Starts


def start_of(n: int, forward: Forward | None, start: PDAG | None) -> tuple[PDAG | None, str]:
    """Return the graph to start from, None for the sparsest, and what to call the forward phase."""
    if forward is None:
        return start, "fes" if start is None else "given"
    check_word("forward", forward, get_args(Forward))
    if forward != "complete":
        return start, forward
    refuse(forward_complete=True, start=start)
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
        dag = constraint.member(engine.cpdag, None, engine.ranking)
        cpdag = run.class_of(dag.edited(remove=constraint.violations(dag)))
        engine.start(cpdag, run.score_of(cpdag) or 0.0)


def _enforce(run: Run, constraint: Constraint) -> None:
    """Delete forbidden edges of one member, the cheapest first, until the class is admissible.

    The member satisfies the relaxed knowledge and, without its forbidden edges, all of the
    knowledge.  So this ends, with at most two families for each edge and step.
    """
    engine = run.engine
    dag = constraint.member(engine.cpdag, None, engine.ranking)

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
            dag = dag.edited(remove=[(x, y)])
            losses |= {edge: gain_of(*edge) for edge in losses if edge[1] == y}
    except KeyboardInterrupt:
        engine.stopped = "interrupted"
