"""After every step, all stored values of the compiled engine agree with its state."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from invariants import Checked, check
from sges.errors import InvalidOperator
from sges.graph import PDAG, is_cpdag
from sges.knowledge import Knowledge
from sges.operators import Delete, Insert, Operator, Turn
from sges.search import engines, ges, search, turning
from sges.search.engines import native_of
from sges.search.moves import Moves
from sges.search.run import Run
from strategies import cpdags
from worlds import gaussian_score

MOVES = [
    Moves(inserts="all"),
    Moves(inserts="all", sets_per_clique=2),
    Moves(inserts="poly", largest_t=1),
    Moves(deletes=True),
    Moves(inserts="all", deletes=True, turns=True),
    Moves(inserts="all", deletes=True, turns=True, sets_per_clique=3, max_indegree=3),
    Moves(inserts="poly", deletes=True, clique_bound=1, size_bound=2, drop_large=True),
]


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every search use an engine that is checked at every step."""
    monkeypatch.setattr(engines, "CompiledEngine", Checked)


@pytest.mark.parametrize("moves", MOVES, ids=repr)
@pytest.mark.parametrize("start", ["empty", "complete"])
def test_what_is_kept_agrees_with_the_state_after_every_step(
    moves: Moves, start: str, seed: int
) -> None:
    score = gaussian_score(8, 12, 200, seed)
    engine = Checked(score, native_of(score))
    engine.start(PDAG.complete(8) if start == "complete" else PDAG.empty(8), -1000.0)
    engine.climb("climb", moves)
    check(engine, moves)


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("strategy", ["two-phase", "interleaved", "turning", "extended"])
def test_whole_searches_keep_everything_in_agreement(strategy: str, seed: int) -> None:
    score = gaussian_score(7, 10, 300, seed)
    assert is_cpdag(search(score, strategy=strategy).cpdag)


@pytest.mark.usefixtures("checked")
def test_searches_under_knowledge_keep_everything_in_agreement(seed: int) -> None:
    score = gaussian_score(6, 8, 300, seed)
    names = [f"x{i}" for i in range(6)]
    knowledge = Knowledge(forbidden=[("x0", "x1"), ("x2", "x3")], required=[("x4", "x5")])
    run = ges(score, constraint=knowledge.bind(names))
    assert run.cpdag.out[4] >> 5 & 1


@pytest.mark.usefixtures("checked")
def test_turning_keeps_everything_in_agreement(seed: int) -> None:
    score = gaussian_score(7, 12, 300, seed)
    turning(score, ges(score).cpdag)


@st.composite
def operators(draw: st.DrawFn, n: int) -> Operator:
    """Draw an operator that may be valid or not."""
    kinds: list[type[Insert] | type[Delete] | type[Turn]] = [Insert, Delete, Turn]
    kind = draw(st.sampled_from(kinds))
    x, y = draw(st.permutations(range(n)))[:2]
    return kind(x, y, draw(st.integers(0, 2**n - 1)) & draw(st.integers(0, 2**n - 1)))


@given(st.data())
def test_apply_refuses_exactly_what_the_operators_call_invalid(data: st.DataObject) -> None:
    graph = data.draw(cpdags(7, min_nodes=2))
    run = Run(gaussian_score(graph.n, 0, 50, 1))
    engine = run.engine
    engine.start(graph, 0.0)
    for _ in range(4):
        operator, before = data.draw(operators(graph.n)), engine.cpdag
        if (problem := operator.problem(before)) is None:
            engine.apply("try", operator, 0.0)
            assert engine.cpdag == operator.apply(before)
        else:
            with pytest.raises(InvalidOperator) as refusal:
                engine.apply("try", operator, 0.0)
            assert problem in str(refusal.value)
            assert engine.cpdag == before
        check(engine)


def test_going_back_leads_through_the_same_states(seed: int) -> None:
    score = gaussian_score(8, 14, 300, seed)
    engine = Checked(score, native_of(score))
    engine.start(PDAG.empty(8), 0.0)
    moves = Moves(inserts="all", deletes=True, turns=True)
    states = [(engine.mark(), engine.cpdag)]
    while engine.climb("climb", moves, most=1):
        states.append((engine.mark(), engine.cpdag))
    for mark, cpdag in reversed(states):
        engine.rewind(mark)
        assert engine.cpdag == cpdag
        assert engine.step_count == mark[1]
        engine.climb("climb", moves, most=0)
        check(engine, moves)
    assert np.isfinite(engine.total)
