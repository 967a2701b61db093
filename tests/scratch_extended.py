"""A plain extended search that generates the operators of every state from scratch.

The twin of ``sges.search.extended``.  It uses the operators, which have exhaustive tests.
"""

from collections.abc import Callable, Iterable

from scratch_engine import selected
from sges.graph import PDAG
from sges.nodeset import nodes
from sges.operators import Delete, Insert, Operator, all_deletes, all_inserts, all_turns
from sges.properties import Property
from sges.score.protocol import Score, tie_tolerance, total_score

Stop = Callable[[float, float], bool]
"""Whether to give up, given the loss so far and the gain of the best insert."""


def extended(
    score: Score, assume: Property | None = None, patience: float = 0.0
) -> tuple[PDAG, int, int]:
    """Return the result of the extended search, and the numbers of escapes tried and kept."""
    deletes = all_deletes if assume is None else selected(assume)
    start = PDAG.empty(score.n)
    tolerance = tie_tolerance(total_score(score, start))

    def give_up(lost: float, gain: float) -> bool:
        return gain < patience * lost

    state, _, _ = climb(score, start, deletes, tolerance)
    failed: dict[Operator, set[int]] = {}  # with the nodes whose views it depends on
    tried = kept = 0
    while True:
        ranked = sorted((-op.gain(score, state), op.sort_key(), op) for op in once(deletes, state))
        for loss, _, op in ranked:
            if op in failed:
                continue
            tried += 1
            after = op.apply(state)
            end, gained, seen = climb(
                score, after, deletes, tolerance, bar={op.x, op.y}, lost=loss, stop=give_up
            )
            if end != after:
                lost = loss - gained
                end, more, also = climb(score, end, deletes, tolerance, lost=lost, stop=give_up)
                gained, seen = gained + more, seen | also
            if gained - loss > tolerance:
                changed = differing(state, end)
                failed = {old: seen for old, seen in failed.items() if not seen & changed}
                state, kept = end, kept + 1
                break
            failed[op] = differing(state, after) | seen
        else:
            return state, tried, kept


def climb(
    score: Score,
    state: PDAG,
    deletes: Callable[[PDAG], Iterable[Operator]],
    tolerance: float,
    *,
    bar: set[int] | None = None,
    lost: float = 0.0,
    stop: Stop | None = None,
) -> tuple[PDAG, float, set[int]]:
    """Climb, preferring deletes, then turns; return the end, the gain and the touched nodes."""
    gained, touched = 0.0, set[int]()
    while True:
        found = best_of(score, state, deletes(state), tolerance, least=-tolerance)
        found = found or best_of(score, state, all_turns(state), tolerance, least=tolerance)
        if found is None:
            free = (op for op in all_inserts(state) if {op.x, op.y} != bar)
            found = best_of(score, state, free, tolerance, least=tolerance)
        if found is None:
            return state, gained, touched
        gain, op = found
        if isinstance(op, Insert) and stop is not None and stop(lost - gained, gain):
            return state, gained, touched
        after = op.apply(state)
        touched |= differing(state, after)
        state, gained = after, gained + gain


def best_of(
    score: Score, state: PDAG, every: Iterable[Operator], tolerance: float, *, least: float
) -> tuple[float, Operator] | None:
    """Return the best operator above the least gain; ties go to the smallest key."""
    scored = [(op.gain(score, state), op) for op in every]
    best = max((gain for gain, _ in scored), default=float("-inf"))
    if best < least or (best == least and least > 0):
        return None
    tied = [pair for pair in scored if pair[0] >= best - tolerance]
    return min(tied, key=lambda pair: pair[1].sort_key())


def once(deletes: Callable[[PDAG], Iterable[Operator]], state: PDAG) -> set[Operator]:
    """Return the deletes, with those of x — y in one order only."""
    lines = set(state.undirected_edges())
    return {Delete(op.y, op.x, op.chosen) if (op.y, op.x) in lines else op for op in deletes(state)}


def view(g: PDAG, v: int) -> object:
    """Return all that the operators into v depend on, except paths."""
    return g.parents(v), g.children(v), [(u, g.adjacent(u)) for u in nodes(g.neighbors(v))]


def differing(before: PDAG, after: PDAG) -> set[int]:
    """Return the nodes whose views differ."""
    return {v for v in range(after.n) if view(before, v) != view(after, v)}
