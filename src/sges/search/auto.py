"""A bound chosen from the data: raise k until the score no longer improves.

The forward phase does not depend on k, and runs once.  Then SBES is run from its state with k = 1,
2, ..., on one engine, which stores all gains, so a round evaluates only families that no earlier
round has evaluated.  Each round runs the whole search if it has no separate forward phase
(interleaved search), or a further one for relaxed knowledge (``search_with_knowledge``).  The
escapes of extended search run once, with the chosen bound.

This is a heuristic: SBES with a k that is too small may stop early, with a lower score, and this
is how it is recognized; but a larger k may improve the score even if the next k does not.
"""

from dataclasses import dataclass, replace
from typing import Unpack

from sges.combinations import refuse
from sges.docstrings import documented_like
from sges.errors import InvalidArgument, check_number, shown
from sges.graph.pdag import PDAG
from sges.properties import AtMost, MaxParents
from sges.result import Result
from sges.score.protocol import Score, tie_tolerance
from sges.search.run import Run, SearchOptions, Selection
from sges.search.strategy import (
    AnyStrategy,
    Forward,
    Strategy,
    as_strategy,
    forward_phase,
    run_strategy,
    search,
    start_of,
)
from sges.selective import bounds_of


@dataclass(frozen=True, slots=True)
class Round:
    """One value of k: the score it reached, and the number of families evaluated until then."""

    k: int
    score: float
    score_evaluations: int | None


@dataclass(frozen=True, slots=True)
class AutoResult:
    """The result of the best round, the property it assumed, and all rounds.

    ``result.score_evaluations`` counts the unique families of the forward phase and all rounds.
    """

    result: Result
    assume: AtMost
    rounds: tuple[Round, ...]


@documented_like(search)
def auto_bound(
    score: Score,
    kind: type[AtMost] = MaxParents,
    *,
    forward: Forward | None = None,
    start: PDAG | None = None,
    strategy: AnyStrategy = "two-phase",
    max_bound: int | None = None,
    **options: Unpack[SearchOptions],
) -> AutoResult:
    """Search with the smallest bound of this kind beyond which the score does not improve.

    ``time_limit`` holds for all rounds together: the best round so far is then returned, marked as
    not complete.

    Parameters
    ----------
    kind : type of property
        The kind of bound, such as ``MaxParents``.
    max_bound : int, optional
        The last bound that is tried; by default the number of variables.  The first one is the
        smallest that the kind has, at least 1.

    Returns
    -------
    AutoResult
        The result of the best round, the property it assumed, and all rounds.
    """
    strategy = as_strategy(strategy)
    _check_kind(kind, strategy)
    run = Run(score, **options)
    first = max(kind.smallest, 1)
    last = max(score.n, first) if max_bound is None else max_bound
    check_number("max_bound", last, whole=True, least=first)
    graph, phase = start_of(run.n, forward, start)
    relaxes = run.constraint is not None and run.constraint.relaxed is not None
    parts: list[Result] = []
    begin = phase
    if not relaxes and not (strategy.interleaved and phase == "fes"):
        run.start(graph)
        forward_phase(run, phase)
        begin, graph = "given", run.engine.cpdag
        parts.append(run.result(forward=phase))
    rounds: list[Round] = []
    best, chosen = None, first
    greedy = replace(strategy, extended=False, patience=0.0)
    for k in range(first, last + 1):
        if run.stopped is not None and (parts or rounds):
            break
        result_of_round = run_strategy(run, greedy, Selection(kind(k)), graph, begin)
        rounds.append(Round(k, result_of_round.score, result_of_round.score_evaluations))
        if best is not None and result_of_round.score <= best.score + tie_tolerance(best.score):
            if not result_of_round.complete:
                best = replace(best, complete=False, stopped=result_of_round.stopped)
            break
        best, chosen = result_of_round, k
    assume = kind(chosen)
    if best is not None:
        parts.append(best)
        if strategy.extended and best.complete:
            escaping = replace(strategy, interleaved=True, turning=False, repeat=False)
            parts.append(run_strategy(run, escaping, Selection(assume), best.cpdag, "given"))
    end = parts[-1]
    tried = ", ".join(f"{r.k}: {r.score:.6g}" for r in rounds) or "none tried"
    result = replace(
        end,
        steps=tuple(step for part in parts for step in part.steps),
        score_evaluations=run.engine.evaluations,
        evaluation_bound=None,
        operators_considered=run.engine.considered,
        seconds=run.seconds,
        assume=str(assume),
        forward=phase,
        strategy=str(strategy),
        notes=(*end.notes, f"bound chosen by score, k: score = {tried}"),
    )
    return AutoResult(result, assume, tuple(rounds))


def _check_kind(kind: type[AtMost], strategy: Strategy) -> None:
    """Raise an error unless bounds of this kind can be chosen with this strategy."""
    refuse(exact=strategy.exact, drop_large=strategy.drop_large, bound_from_data=True)
    value: object = kind
    if not (isinstance(value, type) and issubclass(value, AtMost)):
        raise InvalidArgument(f"kind = {shown(kind)} is not a kind of bound, such as MaxParents")
    if bounds_of(kind(max(kind.smallest, 1))) == (None, None):
        raise InvalidArgument(f"{kind.__name__} does not bound deletes, so no bound can be chosen")
