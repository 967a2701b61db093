"""Whatever an engine did before, its next step is that of the reference and of a new engine."""

import re
from typing import Any

import numpy as np
import pytest

from sges.errors import InvalidOperator
from sges.graph import PDAG, is_cpdag
from sges.knowledge import Knowledge
from sges.network import random_dag
from sges.operators import Delete, Insert, Turn, all_deletes, all_inserts, all_turns
from sges.score import EdgePrior
from sges.score.protocol import Score, total_score
from sges.search import reference
from sges.search.engines import Engine
from sges.search.moves import Moves
from worlds import gaussian_score

EVERYTHING = Moves(inserts="all", deletes=True, turns=True)
MOVES = [
    Moves(inserts="all"),
    Moves(inserts="all", sets_per_clique=2),
    Moves(inserts="poly", largest_t=1),
    Moves(deletes=True),
    Moves(inserts="all", turns=True),
    EVERYTHING,
    Moves(inserts="all", deletes=True, turns=True, sets_per_clique=3, max_indegree=3),
    Moves(inserts="poly", deletes=True, clique_bound=1, size_bound=2, drop_large=True),
]


def assert_goes_on_like_a_new_one(engine: Engine, moves: Moves, **options: Any) -> None:  # noqa: ANN401
    """Compare the next step with that of a new engine and of the reference, and go back."""
    graph, total, mark, count = engine.cpdag, engine.total, engine.mark(), engine.step_count
    assert is_cpdag(graph)
    assert engine.edges == graph.edge_count()
    new = Engine(engine.score, constraint=engine.constraint, **options)
    new.start(graph, total)
    new.climb("next", moves, most=1)
    engine.climb("next", moves, most=1)
    found = [step.operator for step in engine.steps[count:]]
    assert (found, engine.cpdag) == ([step.operator for step in new.steps], new.cpdag)
    expected = reference.climb(engine.score, graph, moves, constraint=engine.constraint, most=1)
    assert found == [step.operator for step in expected.steps]
    engine.rewind(mark)
    assert (engine.cpdag, engine.total, engine.step_count) == (graph, total, count)


@pytest.mark.parametrize("kind", ["native", "Python", "prior", "knowledge", "small memory"])
def test_after_any_calls_an_engine_goes_on_like_a_new_one(kind: str, seed: int) -> None:
    """Climbs with other moves, operators of a caller, and going back."""
    rng, n = np.random.default_rng(seed), 9
    score: Score = gaussian_score(n, 14, 300, seed)
    options: dict[str, Any] = {}
    if kind == "prior":
        score = EdgePrior(score)
    if kind == "Python":
        options["as_native"] = False
    if kind == "small memory":
        options["limit"] = 500
    constraint = None
    if kind == "knowledge":
        dag = random_dag(n, 12, seed=rng)
        constraint = Knowledge(forbidden=dag.directed_edges()[::3], required=[(0, 1)]).bind(n)
    start = PDAG.empty(n) if constraint is None else constraint.start(n)
    engine = Engine(score, constraint=constraint, **options)
    engine.start(start, total_score(score, start))
    states = [(engine.mark(), engine.cpdag, engine.total, engine.step_count)]
    for _ in range(60):
        moves = MOVES[int(rng.integers(len(MOVES)))]
        match int(rng.integers(4)):
            case 0:
                at = int(rng.integers(len(states)))
                engine.rewind(states[at][0])
                assert (engine.cpdag, engine.total, engine.step_count) == states[at][1:]
                del states[at + 1 :]
                continue
            case 1:
                graph = engine.cpdag
                x, y = rng.permutation(n)[:2].tolist()
                for other in (
                    make(x, y, int(rng.integers(2**n))) for make in (Insert, Delete, Turn)
                ):
                    if problem := other.problem(graph):
                        with pytest.raises(InvalidOperator, match=re.escape(problem)):
                            engine.apply("call", other, 0.0)
                choices = [*all_inserts(graph), *all_deletes(graph), *all_turns(graph)]
                chosen = choices[int(rng.integers(len(choices)))]
                if engine.admits(chosen):
                    expected = chosen.apply(graph)
                    assert engine.peek(chosen) == expected
                    engine.apply("call", chosen, float(rng.normal()))
                    assert engine.cpdag == expected
            case _:
                engine.climb("climb", moves, most=int(rng.integers(5)))
        states.append((engine.mark(), engine.cpdag, engine.total, engine.step_count))
        assert_goes_on_like_a_new_one(engine, moves, **options)
