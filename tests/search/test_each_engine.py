"""The reference engine takes the steps of the incremental search, and asks for the same families.

And what is new in it: limits on the sets per clique, and on the number of parents.
"""

import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import naive
from bridge import pdag_of
from known import true_problem
from sges.errors import ScoreError
from sges.graph import PDAG, dag_to_cpdag, pdag_to_dag
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.nodeset import NodeSet
from sges.operators import Delete, all_deletes
from sges.properties import MaxParents
from sges.result import Result
from sges.score import BDeu, DiscreteBIC, GaussianBIC, SeparationOracle
from sges.score.base import Candidates, Gains, Score, total_score
from sges.search import Strategy, search
from sges.search.deletes import DeleteSource, Kept
from sges.search.generate import changed_views
from sges.search.informed import informed_deletes
from sges.search.moves import Moves
from sges.search.order import forward_by_order
from sges.search.phases import _poly_source, _without_large, insert_source
from sges.search.priority import PrioritySource
from sges.search.reference import ReferenceEngine
from sges.search.run import Run
from sges.search.source import Source
from sges.search.turns import TurnSource
from sges.selective import every_clique_kept, kept_cliques
from worlds import gaussian_score

INSERTS = [
    Moves(inserts="all"),
    Moves(inserts="all", conservative=True),
    Moves(inserts="poly"),
    Moves(inserts="poly", largest_t=1),
]
DELETES = [
    Moves(deletes=True),
    Moves(deletes=True, clique_bound=0),
    Moves(deletes=True, clique_bound=1),
    Moves(deletes=True, clique_bound=1, drop_large=True),
    Moves(deletes=True, size_bound=1),
    Moves(deletes=True, clique_bound=2, size_bound=2),
]
MIXED = [
    Moves(inserts="all", turns=True, deletes=True),
    Moves(inserts="all", conservative=True, turns=True, deletes=True, clique_bound=1),
    Moves(inserts="poly", deletes=True, size_bound=1),
    Moves(inserts="all", turns=True),
]
TURNS = [Moves(turns=True)]
EVERY = [*INSERTS, *DELETES, *MIXED, *TURNS]


def kept_by(moves: Moves) -> Kept:
    """Return what the deletes keep, as the incremental search lists it."""
    bounds = moves.clique_bound, moves.size_bound

    def kept(g: PDAG, y: int) -> Iterable[tuple[NodeSet, NodeSet]]:
        if bounds == (None, None):
            return every_clique_kept(g, y)
        pairs = kept_cliques(g, y, *bounds).items()
        if not moves.drop_large:
            return pairs
        return ((s, _without_large(g, y, s, xs, bounds[0] or 0)) for s, xs in pairs)

    return kept


def source_of(run: Run, g: PDAG, moves: Moves) -> Source:
    """Return the incremental sources of the moves."""
    sources: list[Source] = []
    if moves.deletes:
        kept = informed_deletes(kept_by(moves), run.constraint)
        sources.append(DeleteSource(g, run.delete_gains, run.tolerance, kept))
    if moves.turns:
        sources.append(TurnSource(g, run, run.tolerance))
    if moves.inserts == "all":
        sources.append(insert_source(run, g, conservative=moves.conservative))
    if moves.inserts == "poly":
        sources.append(_poly_source(run, g, moves.largest_t))
    return PrioritySource(sources)


def assert_same_climb(score: Score, start: PDAG, moves: Moves, constraint: object = None) -> None:
    """Climb both ways, and compare steps, counts and scores."""
    run = Run(score, constraint=constraint)  # type: ignore[arg-type]
    end = run.climb("climb", run.start(start, relaxed=True), lambda g: source_of(run, g, moves))
    today = run.result(end)
    engine = ReferenceEngine(score, constraint=constraint)  # type: ignore[arg-type]
    engine.start(start, total_score(score, start))
    assert engine.climb("climb", moves) == bool(today.steps)
    assert_same(engine, today, end)


def assert_same(engine: ReferenceEngine, today: Result, end: PDAG) -> None:
    assert [s.operator for s in engine.steps] == [s.operator for s in today.steps]
    assert [(s.phase, s.edges) for s in engine.steps] == [(s.phase, s.edges) for s in today.steps]
    assert [s.gain for s in engine.steps] == pytest.approx([s.gain for s in today.steps])
    assert engine.total == pytest.approx(today.score)
    assert engine.evaluations == today.score_evaluations
    assert (engine.cpdag, engine.edges) == (end, end.edge_count())


def classes(n: int) -> list[PDAG]:
    return [pdag_of(n, cpdag) for cpdag in naive.all_cpdags(n)]


@pytest.mark.parametrize("moves", EVERY, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_climb_takes_the_steps_of_the_incremental_search_from_every_class(
    n: int, moves: Moves
) -> None:
    for truth, start in product(classes(n), classes(n)):
        score = SeparationOracle(pdag_to_dag(truth))
        assert_same_climb(score, start, moves)


@pytest.mark.parametrize("moves", EVERY, ids=str)
@pytest.mark.parametrize("start", [PDAG.empty(8), PDAG.complete(8)], ids=["empty", "complete"])
def test_a_climb_takes_the_steps_of_the_incremental_search_on_gaussian_data(
    moves: Moves, start: PDAG, seed: int
) -> None:
    assert_same_climb(gaussian_score(8, 14, 200, seed), start, moves)


@pytest.mark.parametrize("moves", [*INSERTS, *MIXED], ids=str)
def test_a_climb_takes_the_steps_of_the_incremental_search_on_discrete_data(
    moves: Moves, seed: int
) -> None:
    network = BayesianNetwork.random(random_dag(7, 10, seed=seed), arity=3, seed=seed)
    table = network.sample(300, seed=seed)
    assert_same_climb(DiscreteBIC(table), PDAG.empty(7), moves)
    assert_same_climb(BDeu(table), PDAG.empty(7), moves)


@pytest.mark.parametrize("moves", EVERY, ids=str)
@pytest.mark.parametrize("kind", range(6))
def test_a_climb_under_knowledge_takes_the_steps_of_the_incremental_search(
    kind: int, moves: Moves, seed: int
) -> None:
    dag, known = true_problem(6 * seed + kind)
    bound = known.bind(dag.n)
    score = SeparationOracle(dag)
    assert_same_climb(score, bound.start(dag.n), moves, bound)
    assert_same_climb(score, dag_to_cpdag(dag), moves, bound)


def assert_same_order(score: Score, start: PDAG, constraint: object = None) -> None:
    run = Run(score, constraint=constraint)  # type: ignore[arg-type]
    end = forward_by_order(run, run.start(start, relaxed=True))
    today = run.result(end)
    engine = ReferenceEngine(score, constraint=constraint)  # type: ignore[arg-type]
    engine.start(start, total_score(score, start))
    engine.order("order")
    assert_same(engine, today, end)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_search_over_orders_goes_where_today_s_goes_from_every_class(n: int) -> None:
    for truth, start in product(classes(n), classes(n)):
        assert_same_order(SeparationOracle(pdag_to_dag(truth)), start)


@pytest.mark.parametrize("edges", [8, 20])
def test_the_search_over_orders_goes_where_today_s_goes_on_gaussian_data(
    edges: int, seed: int
) -> None:
    for start in (PDAG.empty(9), dag_to_cpdag(random_dag(9, 10, seed=seed)), PDAG.complete(9)):
        assert_same_order(gaussian_score(9, edges, 300, seed), start)


@pytest.mark.parametrize("kind", range(6))
def test_the_search_over_orders_under_knowledge_goes_where_today_s_goes(
    kind: int, seed: int
) -> None:
    dag, known = true_problem(6 * seed + kind)
    bound = known.bind(dag.n)
    for start in (bound.start(dag.n), dag_to_cpdag(dag)):
        assert_same_order(SeparationOracle(dag), start, bound)
        assert_same_order(gaussian_of(dag, seed), start, bound)


def gaussian_of(dag: PDAG, seed: int) -> GaussianBIC:
    covariance = LinearGaussian.random(dag, seed=seed).covariance()
    return GaussianBIC.from_covariance(covariance, 300)


@pytest.mark.parametrize("moves", [MIXED[0], INSERTS[0], DELETES[2]], ids=str)
def test_a_climb_takes_the_same_steps_from_many_classes_of_four_nodes(moves: Moves) -> None:
    four = classes(4)
    for truth, start in zip(four, four[37:] + four[:37], strict=True):
        assert_same_climb(SeparationOracle(pdag_to_dag(truth)), start, moves)


INTERLEAVED = Moves(inserts="all", turns=True, deletes=True)


def extended(engine: ReferenceEngine, moves: Moves, patience: float) -> tuple[int, int]:
    """Force deletes and keep what is better; return how many were tried and kept."""
    engine.climb("interleaved", moves)
    failed: dict[Delete, NodeSet] = {}
    tried = kept = 0
    escapes = engine.escapes(moves)
    while escapes:
        gain, op = escapes.pop(0)
        mark = engine.mark()
        if op in failed:
            continue
        tried += 1
        engine.apply("extended", op, gain)
        bar = (op.y, op.x)
        if engine.climb("extended", moves, bar=bar, patience=patience, aim=mark.total):
            engine.climb("extended", moves, patience=patience, aim=mark.total)
        if engine.gain_between(mark.cpdag, engine.cpdag) > engine.tolerance:
            kept += 1
            seen = changed_views(mark.cpdag, engine.cpdag)
            failed = {old: views for old, views in failed.items() if not views & seen}
            escapes = engine.escapes(moves)
        else:
            failed[op] = engine.touched_since(mark)
            engine.rewind(mark)
    return tried, kept


@pytest.mark.parametrize("patience", [0.0, 0.3])
@pytest.mark.parametrize("assume", [None, MaxParents(2)], ids=str)
def test_escapes_bars_and_patience_make_the_extended_search(
    assume: MaxParents | None, patience: float, seed: int
) -> None:
    """Dense truths and few rows, so that escapes improve the score."""
    moves = replace(INTERLEAVED, clique_bound=assume.clique_bound if assume else None)
    for at in range(4):
        score = gaussian_score(7, 14, 100, seed + at)
        strategy = Strategy(interleaved=True, extended=True, patience=patience)
        today = search(score, assume, strategy=strategy)
        engine = ReferenceEngine(score)
        engine.start(PDAG.empty(7), total_score(score, PDAG.empty(7)))
        tried, kept = extended(engine, moves, patience)
        assert_same(engine, today, today.cpdag)
        assert f"escapes: {tried} tried, {kept} improved" in today.notes[0]


def test_escapes_are_the_deletes_each_once_and_best_first(seed: int) -> None:
    score, start = gaussian_score(6, 8, 300, seed), PDAG.complete(6)
    engine = ReferenceEngine(score)
    engine.start(start, 0.0)
    escapes = engine.escapes(Moves(deletes=True))
    assert [gain for gain, _ in escapes] == sorted((gain for gain, _ in escapes), reverse=True)
    for gain, op in escapes:
        assert op.x < op.y
        assert gain == pytest.approx(op.gain(score, start))
    assert {op for _, op in escapes} == {op for op in all_deletes(start) if op.x < op.y}
    assert len(escapes) == len({op for _, op in escapes})
    assert not engine.steps


def test_steps_since_a_mark_are_dropped_when_it_is_gone_back_to(seed: int) -> None:
    engine = started(gaussian_score(8, 14, 200, seed))
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


def started(score: Score) -> ReferenceEngine:
    engine = ReferenceEngine(score)
    start = PDAG.empty(score.n)
    engine.start(start, total_score(score, start))
    return engine


class Acting:
    """A score that does something when it is asked for the k-th family."""

    def __init__(self, score: Score, at: int, act: Callable[[], object]) -> None:
        self.score, self.n, self.left, self.act = score, score.n, at, act

    def local(self, y: int, parents: NodeSet) -> float:
        self.left -= 1
        if self.left == 0:
            self.act()
        return self.score.local(y, parents)


@pytest.mark.parametrize("moves", [*INSERTS, *MIXED], ids=str)
@pytest.mark.parametrize("at", [40, 150, 350])
def test_ctrl_c_ends_a_climb_at_the_last_state_reached(moves: Moves, at: int, seed: int) -> None:
    score = gaussian_score(8, 12, 300, seed)
    whole = started(score)
    whole.climb("climb", moves)
    start = total_score(score, PDAG.empty(8))
    engine = ReferenceEngine(Acting(score, at, lambda: signal.raise_signal(signal.SIGINT)))
    engine.start(PDAG.empty(8), start)
    engine.climb("climb", moves)
    assert engine.stopped in ("interrupted", None)
    assert at > 40 or engine.stopped is not None
    done = [s.operator for s in engine.steps]
    assert done == [s.operator for s in whole.steps][: len(done)]
    assert replayed(engine) == engine.cpdag
    assert not engine.climb("again", moves) or engine.stopped is None


def replayed(engine: ReferenceEngine) -> PDAG:
    cpdag = PDAG.empty(engine.n)
    for step in engine.steps:
        cpdag = step.operator.apply(cpdag)
        assert step.edges == cpdag.edge_count()
    return cpdag


def test_ctrl_c_while_reporting_a_step_keeps_the_step(seed: int) -> None:
    reports: list[str] = []

    def press(phase: str) -> None:
        reports.append(phase)
        if len(reports) == 5:  # the beginning, and four steps
            raise KeyboardInterrupt

    engine = started(gaussian_score(8, 12, 300, seed))
    engine.report = press
    engine.climb("fes", Moves(inserts="all"))
    assert engine.stopped == "interrupted"
    assert len(engine.steps) == 4
    assert replayed(engine) == engine.cpdag
    assert reports == ["fes"] * 5


def test_no_time_at_all_leaves_everything_as_it_was() -> None:
    engine = ReferenceEngine(gaussian_score(6, 8, 300, 1), deadline=0.0)
    assert not engine.climb("climb", INTERLEAVED)
    assert engine.stopped == "time limit"
    assert (engine.steps, engine.cpdag) == ([], PDAG.empty(6))
    assert engine.escapes(INTERLEAVED) == []
    engine.order("order")
    assert not engine.steps


def test_a_deadline_holds_while_exponentially_many_sets_are_listed() -> None:
    """The complete graph on 40 nodes has 2^39 deletes for each node."""
    score = GaussianBIC.from_covariance(np.eye(40) * 0.5 + 0.5, 1000)
    engine = ReferenceEngine(score, deadline=time.perf_counter() + 0.3)
    engine.start(PDAG.complete(40), 0.0)
    engine.climb("bes", Moves(deletes=True))
    assert engine.stopped == "time limit"
    assert engine.cpdag == PDAG.complete(40)


@pytest.mark.parametrize("at", [10, 100, 400, 700])
def test_ctrl_c_during_the_search_over_orders_goes_to_the_best_so_far(at: int, seed: int) -> None:
    score = gaussian_score(8, 16, 300, seed)
    engine = ReferenceEngine(Acting(score, at, lambda: signal.raise_signal(signal.SIGINT)))
    engine.start(PDAG.empty(8), total_score(score, PDAG.empty(8)))
    engine.order("order")
    assert engine.stopped in ("interrupted", None)
    assert replayed(engine) == engine.cpdag
    assert engine.total == pytest.approx(total_score(score, engine.cpdag))


def test_an_error_of_the_score_passes_through() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    engine = ReferenceEngine(Acting(gaussian_score(6, 8, 300, 1), 20, fail))
    with pytest.raises(ZeroDivisionError):
        engine.climb("fes", Moves(inserts="all"))


class Infinite:
    """A score that is not finite for one family."""

    n = 3

    def local(self, y: int, parents: NodeSet) -> float:
        return float("-inf") if (y, parents) == (2, 0b10) else 0.0


def test_a_gain_that_is_not_finite_is_refused_with_its_family() -> None:
    words = r"node 2 with parents \{\} changes by -inf with node 1; a score must be finite"
    engine = ReferenceEngine(Infinite())
    with pytest.raises(ScoreError, match=words):
        engine.climb("fes", Moves(inserts="all"))
    with pytest.raises(ScoreError, match=words):
        engine.order("order")
    with pytest.raises(ScoreError, match=r"local\(2, 0b10\) is -inf"):
        engine.local(2, 0b10)


def test_families_are_not_counted_if_that_is_not_wanted() -> None:
    engine = ReferenceEngine(gaussian_score(5, 6, 200, 1), counting=False)
    assert engine.climb("fes", Moves(inserts="all"))
    assert engine.evaluations is None


class Flat:
    """All graphs score alike, and every change seems to gain a little."""

    def __init__(self, n: int) -> None:
        self.n = n

    def local(self, _y: int, _parents: NodeSet) -> float:
        return 0.0

    def insert_gains(self, _y: int, _base: NodeSet, candidates: Candidates) -> Gains:
        return np.full(len(candidates), 1e-9)

    delete_gains = insert_gains


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_climb_ends_though_every_change_seems_to_gain(n: int) -> None:
    engine = ReferenceEngine(Flat(n), deadline=time.perf_counter() + 60)
    engine.climb("climb", INTERLEAVED)
    assert engine.stopped is None
