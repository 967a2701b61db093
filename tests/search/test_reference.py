"""The reference engine takes the steps of the incremental search, and asks for the same families.

And what is new in it: limits on the sets per clique, and on the number of parents.
"""

from collections.abc import Iterable
from itertools import product

import pytest

import naive
from bridge import pdag_of
from known import true_problem
from sges.graph import PDAG, dag_to_cpdag, pdag_to_dag
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.nodeset import NodeSet
from sges.result import Result
from sges.score import BDeu, DiscreteBIC, GaussianBIC, SeparationOracle
from sges.score.base import Score, total_score
from sges.search.deletes import DeleteSource, Kept
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
