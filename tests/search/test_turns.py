"""The turns of a climb, compared with a list of all turns of the state."""

import random

import numpy as np
import pytest

import engines
from engines import Make
from recording import Refusing
from sges.graph import PDAG
from sges.operators import Delete, Insert, Operator, Turn, all_deletes, all_inserts, all_turns
from sges.score import GaussianBIC
from sges.search.moves import Moves
from worlds import gaussian_score

TURNS = Moves(turns=True)


def best_one_by_one(g: PDAG, score: GaussianBIC, tolerance: float) -> tuple[Operator, float] | None:
    """Score every valid turn, and return the smallest of the best ones."""
    scored = [(turn, turn.gain(score, g)) for turn in all_turns(g)]
    highest = max((gain for _, gain in scored), default=0.0)
    if highest <= tolerance:
        return None
    tied = [pair for pair in scored if pair[1] >= highest - tolerance]
    return min(tied, key=lambda pair: pair[0].sort_key())


@pytest.mark.parametrize("make", engines.EVERY)
@pytest.mark.parametrize("edges", [8, 20, 40])
def test_the_best_turn_along_a_random_walk_is_the_best_of_all(
    make: Make, edges: int, seed: int
) -> None:
    score = gaussian_score(12, edges, 300, seed)
    engine, rng = make(score), random.Random(f"{seed} {edges}")
    tolerance = engine.tolerance
    offered = 0
    for _ in range(60):
        g, mark = engine.cpdag, engine.mark()
        wanted = best_one_by_one(g, score, tolerance)
        assert engine.climb("turning", TURNS, most=1) == (wanted is not None)
        if wanted is not None:
            offered += 1
            assert engine.steps[-1].operator == wanted[0]
            assert engine.steps[-1].gain == pytest.approx(wanted[1], rel=1e-9, abs=1e-7)
        engine.rewind(mark)
        engine.apply("walk", some_step(rng, g, score, wanted[0] if wanted else None), 0.0)
    assert offered


def some_step(rng: random.Random, g: PDAG, score: GaussianBIC, turn: Operator | None) -> Operator:
    """Return the offered turn, a good insert or a random delete."""
    if turn is not None and rng.random() < 0.3:
        return turn
    inserts: list[Insert] = list(all_inserts(g))
    deletes: list[Delete] = list(all_deletes(g))
    if inserts and (not deletes or rng.random() < 0.7):
        some = rng.sample(inserts, min(40, len(inserts)))
        return max(some, key=lambda op: (op.gain(score, g), op.sort_key()))
    return rng.choice(deletes)


@pytest.mark.parametrize("make", engines.EVERY)
def test_a_rejected_turn_is_offered_again_only_after_the_next_start(make: Make, seed: int) -> None:
    """With data from 0 → 2 ← 1, turning an edge of the chain 0 — 2 — 1 improves the score."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(500, 2))
    score = GaussianBIC(np.column_stack([causes, causes.sum(axis=1) + rng.normal(size=500)]))
    chain = PDAG.from_edges(3, undirected=[(0, 2), (1, 2)])
    refusing = Refusing(3)
    engine = make(score, constraint=refusing)
    ends = [turn.apply(chain) for turn in (Turn(0, 2, {1}), Turn(1, 2, {0}))]
    for climbs in (1, 2):
        engine.start(chain, 0.0)
        assert not engine.climb("turning", TURNS)
        assert refusing.refused == ends * climbs
