"""One call for every strategy: the phases that it stands for, on the one greedy loop.

Each ends where no insert improves the score and no generated delete keeps it, so with a locally
consistent score it ends in the truth (``docs/explanation/strategies.md``).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Unpack

from sges.graph.pdag import PDAG
from sges.properties.base import Property
from sges.result import Result
from sges.score.base import Score
from sges.search.algorithms import Forward, bound_of, run_forward, start_of
from sges.search.budget import BudgetedRun
from sges.search.extended import ExtendedSearch
from sges.search.informed import search_informed
from sges.search.order import forward_by_order
from sges.search.phases import Selection, backward, delete_escapes, every_source, turn_edges
from sges.search.run import Options, Run
from sges.search.strategy import AnyStrategy, Strategy, as_strategy


def search(
    score: Score,
    assume: Property | None = None,
    *,
    strategy: AnyStrategy = "two-phase",
    forward: Forward = "fes",
    exact: bool = False,
    drop_large: bool = False,
    **options: Unpack[Options],
) -> Result:
    """Search by a strategy: a word of ``sges.search.strategy``, or a ``Strategy``.

    The other arguments are those of ``sges``.  Interleaved search inserts by itself, so there
    ``forward="fes"`` means no phase before it.
    """
    how = as_strategy(strategy)
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = BudgetedRun(score, **options)
    start, word = start_of(run, forward)
    extended = _extended(run, how, selection) if how.extended else None

    def phases(cpdag: PDAG, begin: str = word) -> PDAG:
        cpdag = _phases(run, cpdag, how, begin, selection)
        return cpdag if extended is None else extended(cpdag)

    mend = partial(phases, begin="fes" if how.interleaved or word == "fes" else "poly")
    cpdag = search_informed(run, start, phases, mend)
    bound = bound_of(run, word, selection) if how == Strategy() else None
    result = run.result(cpdag, assume=assume, forward=word, bound=bound)
    notes = () if extended is None else (extended.note(),)
    return replace(result, strategy=str(how), notes=(*result.notes, *notes))


def interleaved(
    score: Score,
    assume: Property | None = None,
    start: PDAG | None = None,
    *,
    exact: bool = False,
    drop_large: bool = False,
    **options: Unpack[Options],
) -> Result:
    """Search with deletes before turns before inserts, whichever improves the score first.

    On finite data this undoes early mistakes that two-phase search keeps.  Takes the same
    assumptions and options as ``sges``.
    """
    forward: Forward = "fes" if start is None else start
    return search(
        score,
        assume,
        strategy="interleaved",
        forward=forward,
        exact=exact,
        drop_large=drop_large,
        **options,
    )


def _phases(run: Run, cpdag: PDAG, how: Strategy, forward: str, selection: Selection) -> PDAG:
    """Run what comes before the escapes."""
    if how.interleaved:
        climb = partial(_interleaved, run, selection=selection, conservative=how.conservative)
        if forward != "fes":
            cpdag = run_forward(run, cpdag, forward)
        elif how.order:
            return _better_of_two(run, cpdag, climb)
        # the sources of an extended search are those of its escapes
        return cpdag if how.extended else climb(cpdag)
    cpdag = _two_phases(run, cpdag, how, forward, selection)
    while how.repeat and run.stopped is None:
        before = cpdag
        cpdag = _two_phases(run, cpdag, how, "fes" if forward == "fes" else "poly", selection)
        if run.gain_between(before, cpdag) <= run.tolerance:
            break
    return cpdag


def _interleaved(run: Run, cpdag: PDAG, *, selection: Selection, conservative: bool) -> PDAG:
    return run.climb(
        "interleaved",
        cpdag,
        lambda g: every_source(run, g, selection, conservative=conservative),
    )


def _better_of_two(run: Run, start: PDAG, climb: Callable[[PDAG], PDAG]) -> PDAG:
    """Climb from the start, and from the best order that is found; return the better end.

    Where the graph is dense a greedy search from few edges goes astray, and an order does not;
    where data are few it may be the other way round.
    """
    begun = run.mark()
    first = climb(start)
    if run.stopped is not None:
        return first
    point = run.since(begun)
    run.rewind(begun)
    with run.hushed():
        second = climb(forward_by_order(run, start))
    if run.total > point[0].total + run.tolerance:
        return second
    run.rewind(begun)
    run.go_to(point)
    return first


def _two_phases(run: Run, cpdag: PDAG, how: Strategy, forward: str, selection: Selection) -> PDAG:
    """Run the forward phase and the deletes, and turn edges if that is wanted."""
    cpdag = run_forward(run, cpdag, forward, conservative=how.conservative)
    cpdag = backward(run, cpdag, selection)
    return turn_edges(run, cpdag) if how.turning else cpdag


def _extended(run: BudgetedRun, how: Strategy, selection: Selection) -> ExtendedSearch:
    return ExtendedSearch(
        run,
        how,
        lambda g: every_source(run, g, selection, conservative=how.conservative),
        lambda: delete_escapes(run, selection),
    )
