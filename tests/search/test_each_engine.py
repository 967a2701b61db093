"""Methods of each engine other than climbing: escapes, marks, early ends, errors."""

import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import engines
from engines import Engine, Make
from recording import Refusing
from sges.errors import ScoreError
from sges.graph import PDAG
from sges.nodeset import NodeSet
from sges.operators import Delete, Turn, all_deletes
from sges.properties import MaxParents
from sges.score import GaussianBIC
from sges.score.protocol import Score, total_score
from sges.search import Strategy, search
from sges.search.generate import changed_views
from sges.search.moves import Moves
from sges.search.run import gain_between
from worlds import gaussian_score

pytestmark = pytest.mark.parametrize("make", engines.EVERY)

INTERLEAVED = Moves(inserts="all", turns=True, deletes=True)


def extended(engine: Engine, moves: Moves, patience: float) -> tuple[int, int]:
    """Force deletes and keep better states; return the numbers of escapes tried and kept."""
    engine.climb("interleaved", moves)
    failed: dict[Delete, NodeSet] = {}
    tried = kept = 0
    escapes = engine.escapes(moves)
    while escapes:
        gain, op = escapes.pop(0)
        mark, before, total = engine.mark(), engine.cpdag, engine.total
        if op in failed:
            continue
        tried += 1
        engine.apply("extended", op, gain)
        bar = (op.y, op.x)
        if engine.climb("extended", moves, bar=bar, patience=patience, aim=total):
            engine.climb("extended", moves, patience=patience, aim=total)
        if gain_between(engine, before, engine.cpdag) > engine.tolerance:  # type: ignore[arg-type]
            kept += 1
            seen = changed_views(before, engine.cpdag)
            failed = {old: views for old, views in failed.items() if not views & seen}
            escapes = engine.escapes(moves)
        else:
            failed[op] = engine.touched_since(mark)
            engine.rewind(mark)
    return tried, kept


@pytest.mark.parametrize("patience", [0.0, 0.3])
@pytest.mark.parametrize("assume", [None, MaxParents(2)], ids=str)
def test_escapes_bars_and_patience_make_the_extended_search(
    make: Make, assume: MaxParents | None, patience: float, seed: int
) -> None:
    """Dense truths and few rows, so that escapes improve the score."""
    moves = replace(INTERLEAVED, clique_bound=assume.clique_bound if assume else None)
    for at in range(4):
        score = gaussian_score(7, 14, 100, seed + at)
        strategy = Strategy(interleaved=True, extended=True, patience=patience)
        wanted = search(score, assume, strategy=strategy)
        engine = make(score)
        engine.start(PDAG.empty(7), total_score(score, PDAG.empty(7)))
        tried, kept = extended(engine, moves, patience)
        assert [s.operator for s in engine.steps] == [s.operator for s in wanted.steps]
        assert engine.cpdag == wanted.cpdag
        assert engine.evaluations == wanted.score_evaluations
        assert f"escapes: {tried} tried, {kept} improved" in wanted.notes[0]


def test_escapes_are_the_deletes_each_once_and_best_first(make: Make, seed: int) -> None:
    score, start = gaussian_score(6, 8, 300, seed), PDAG.complete(6)
    engine = make(score)
    engine.start(start, 0.0)
    escapes = engine.escapes(Moves(deletes=True))
    assert [gain for gain, _ in escapes] == sorted((gain for gain, _ in escapes), reverse=True)
    for gain, op in escapes:
        assert op.x < op.y
        assert gain == pytest.approx(op.gain(score, start))
    assert {op for _, op in escapes} == {op for op in all_deletes(start) if op.x < op.y}
    assert len(escapes) == len({op for _, op in escapes})
    assert not engine.steps


def test_steps_since_a_mark_are_dropped_when_it_is_gone_back_to(make: Make, seed: int) -> None:
    engine = started(make, gaussian_score(8, 14, 200, seed))
    engine.climb("fes", Moves(inserts="all"))
    mark, steps, total = engine.mark(), list(engine.steps), engine.total
    assert engine.touched_since(mark) == 0
    engine.apply("forced", *engine.escapes(Moves(deletes=True))[0][::-1])
    assert engine.touched_since(mark)
    assert engine.edges == steps[-1].edges - 1
    engine.climb("fes", Moves(inserts="all"))
    engine.rewind(mark)
    assert (engine.mark(), engine.steps, engine.total) == (mark, steps, total)
    assert engine.cpdag.edge_count() == engine.edges == steps[-1].edges


def started(make: Make, score: Score) -> Engine:
    engine = make(score)
    start = PDAG.empty(score.n)
    engine.start(start, total_score(score, start))
    return engine


class Acting:
    """A score that acts when the k-th family is evaluated."""

    def __init__(self, score: Score, at: int, act: Callable[[], object]) -> None:
        self.score, self.n, self.left, self.act = score, score.n, at, act

    def local(self, y: int, parents: NodeSet) -> float:
        self.left -= 1
        if self.left == 0:
            self.act()
        return self.score.local(y, parents)


@pytest.mark.parametrize("moves", [Moves(inserts="poly"), INTERLEAVED], ids=str)
@pytest.mark.parametrize("at", [40, 350])
def test_ctrl_c_ends_a_climb_at_the_last_state_reached(
    make: Make, moves: Moves, at: int, seed: int
) -> None:
    score = gaussian_score(8, 12, 300, seed)
    whole = started(make, score)
    whole.climb("climb", moves)
    start = total_score(score, PDAG.empty(8))
    engine = make(Acting(score, at, lambda: signal.raise_signal(signal.SIGINT)))
    engine.start(PDAG.empty(8), start)
    engine.climb("climb", moves)
    assert engine.stopped in ("interrupted", None)
    assert at > 40 or engine.stopped is not None
    done = [s.operator for s in engine.steps]
    assert done == [s.operator for s in whole.steps][: len(done)]
    assert replayed(engine) == engine.cpdag
    assert not engine.climb("again", moves) or engine.stopped is None


def replayed(engine: Engine) -> PDAG:
    cpdag = PDAG.empty(engine.n)
    for step in engine.steps:
        cpdag = step.operator.apply(cpdag)
        assert step.edges == cpdag.edge_count()
    return cpdag


def test_ctrl_c_while_reporting_a_step_keeps_the_step(make: Make, seed: int) -> None:
    reports: list[str] = []

    def press(phase: str) -> None:
        reports.append(phase)
        if len(reports) == 5:  # the start and four steps
            raise KeyboardInterrupt

    engine = started(make, gaussian_score(8, 12, 300, seed))
    engine.report = press
    engine.climb("fes", Moves(inserts="all"))
    assert engine.stopped == "interrupted"
    assert len(engine.steps) == 4
    assert replayed(engine) == engine.cpdag
    assert reports == ["fes"] * 5


@pytest.mark.filterwarnings("ignore:.* form cliques with more than")
def test_a_deadline_holds_while_exponentially_many_sets_are_listed(make: Make) -> None:
    """In the complete graph on 40 nodes, each ordered pair has 2^38 deletes."""
    score = GaussianBIC.from_covariance(np.eye(40) * 0.5 + 0.5, 1000)
    engine = make(score, deadline=time.perf_counter() + 0.3)
    engine.start(PDAG.complete(40), 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the large cliques
        engine.climb("bes", Moves(deletes=True))
    assert engine.stopped == "time limit"
    assert engine.cpdag == PDAG.complete(40)


def test_an_error_of_the_score_passes_through(make: Make) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    engine = make(Acting(gaussian_score(6, 8, 300, 1), 20, fail))
    with pytest.raises(ZeroDivisionError):
        engine.climb("fes", Moves(inserts="all"))


class Infinite:
    """A score that is not finite for one family."""

    n = 3

    def local(self, y: int, parents: NodeSet) -> float:
        return float("-inf") if (y, parents) == (2, 0b10) else 0.0


def test_a_gain_that_is_not_finite_is_refused_with_its_family(make: Make) -> None:
    words = r"node 2 with parents \{\} changes by -inf with node 1; a score must be finite"
    engine = make(Infinite())
    with pytest.raises(ScoreError, match=words):
        engine.climb("fes", Moves(inserts="all"))
    with pytest.raises(ScoreError, match=r"local\(2, 0b10\) is -inf"):
        engine.local(2, 0b10)


def test_a_climb_reports_its_steps_and_a_step_from_outside_is_not_reported(make: Make) -> None:
    """A search that applies operators itself can then report each of them once."""
    engine, reports = make(gaussian_score(5, 6, 200, 1)), list[tuple[str, int]]()
    engine.report = lambda phase: reports.append((phase, engine.step_count))
    engine.climb("fes", Moves(inserts="all"))
    assert reports == [("fes", i) for i in range(engine.step_count + 1)]
    gain, delete = engine.escapes(Moves(deletes=True))[0]
    reports.clear()
    engine.apply("extended", delete, gain)
    assert not reports


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
        assert not engine.climb("turning", Moves(turns=True))
        assert refusing.refused == ends * climbs
