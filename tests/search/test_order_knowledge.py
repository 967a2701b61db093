"""Search over orders with background knowledge."""

from itertools import product

import pytest

import naive
from bridge import arcs_of, pdag_of
from engines import compiled
from known import false_problem, satisfies, true_problem
from sges.graph import PDAG, dag_to_cpdag, is_imap
from sges.knowledge import Knowledge
from sges.knowledge.indexed import IndexedKnowledge
from sges.network import LinearGaussian
from sges.properties import MaxParents
from sges.score import GaussianBIC, SeparationOracle
from sges.score.protocol import Score, total_score
from sges.search.order import best_order, order_of
from sges.search.run import Run, Selection
from sges.search.strategy import backward, search_with_knowledge


def sges_by_order(score: Score, bound: IndexedKnowledge, dag: PDAG) -> tuple[Run, PDAG]:
    """Search forward over orders and backward selectively, with knowledge."""
    run, selection = Run(score, constraint=bound), Selection(MaxParents.of(dag))

    def phases() -> None:
        run.order()
        backward(run, selection)

    search_with_knowledge(run, None, phases)
    return run, run.result().cpdag


def dag_of_best_order(score: Score, bound: IndexedKnowledge, work: int | None) -> PDAG:
    """Return the DAG of the best order that a search finds within a limit on its work."""
    engine = compiled(score, constraint=bound)
    engine.start(bound.start(score.n), total_score(score, bound.start(score.n)))
    effort, last = (None, None) if work is None else (10.0, engine.work + work)
    found = best_order(engine, engine.cpdag, None, effort, last, None)
    assert found is not None
    return found[0]


def test_true_knowledge_and_an_oracle_give_the_truth(seed: int) -> None:
    for i in range(90):
        dag, known = true_problem(seed * 1000 + i)
        run, found = sges_by_order(SeparationOracle(dag), known.bind(dag.n), dag)
        assert run.engine.cpdag == dag_to_cpdag(dag), (dag, known)
        assert satisfies(arcs_of(known.bind(dag.n).member(found)), known)
        assert run.stopped is None


def test_every_constraint_holds_on_data_whether_the_knowledge_is_true_or_not(seed: int) -> None:
    """For the class found, and for the DAG of the best order."""
    for i in range(60):
        dag, known = false_problem(seed * 1000 + i)
        bound = known.bind(dag.n)
        score = GaussianBIC(LinearGaussian.random(dag, seed=i).sample(60, seed=i))
        run, found = sges_by_order(score, bound, dag)
        assert satisfies(arcs_of(bound.member(found)), known)
        assert run.engine.total == pytest.approx(total_score(score, run.engine.cpdag))
        for work in (0, None):
            assert satisfies(arcs_of(dag_of_best_order(score, bound, work)), known)


def test_steps_under_knowledge_are_admissible_one_by_one(seed: int) -> None:
    for i in range(30):
        dag, known = true_problem(seed * 1000 + i)
        bound = known.bind(dag.n)
        run = Run(SeparationOracle(dag), constraint=bound)
        run.start(None)
        cpdag = run.engine.cpdag
        run.order()
        for step in run.engine.steps:
            cpdag = step.operator.apply(cpdag)
            assert bound.admits(cpdag)
        assert cpdag == run.engine.cpdag


def test_every_order_that_tiers_allow_stands_for_an_imap() -> None:
    """For all DAGs of three nodes and all true tiers; the search keeps to the tiers."""
    for arcs, place in product(naive.all_dags(3), product(range(3), repeat=3)):
        if all(place[x] <= place[y] for x, y in arcs):
            dag = pdag_of(3, arcs)
            tiers = [[v for v in range(3) if place[v] == t] for t in range(3)]
            known = Knowledge(tiers=tiers).bind(3)
            found = dag_of_best_order(SeparationOracle(dag), known, 1000)
            assert all(place[x] <= place[y] for x, y in found.directed_edges())
            assert is_imap(found, dag)


def test_an_order_that_is_dealt_into_piles_still_obeys_the_tiers() -> None:
    best = dag_to_cpdag(PDAG.from_edges(6, [(0, 1), (1, 2), (3, 4), (4, 5)]))
    tiers = Knowledge(tiers=[[0, 1, 3], [2, 4, 5]]).bind(6)
    assert order_of(best, None, piles=1) == [0, 3, 1, 4, 2, 5]
    assert order_of(best, None, piles=2) == [3, 4, 5, 0, 1, 2]
    assert order_of(best, None, piles=3) == [1, 5, 3, 2, 0, 4]
    assert order_of(best, tiers, piles=3) == [1, 3, 0, 5, 4, 2]
