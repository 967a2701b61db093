"""The measures of the comparisons are the same for a whole class, and equal our metrics."""

import numpy as np
import pytest

from sges.data import Dataset
from sges.graph import PDAG, dag_to_cpdag
from sges.network import random_dag
from sges.score import DiscreteBIC, GaussianBIC, total_score
from sges.tools.metrics import compare
from studies.peers.contract import Found, Table
from studies.peers.judge import bic, judge
from studies.peers.problems import Problem, Spec, make_problem

GAUSSIAN, DISCRETE = Spec("er", 7, 300, 1), Spec("cpt", 7, 300)


def found_of(graph: PDAG) -> Found:
    return Found(tuple(graph.directed_edges()), tuple(graph.undirected_edges()))


@pytest.mark.parametrize("spec", [GAUSSIAN, DISCRETE], ids=lambda spec: spec.kind)
def test_the_truth_gets_full_marks_as_a_dag_and_as_a_class(spec: Spec, seed: int) -> None:
    problem = make_problem(spec, seed)
    for graph in (problem.truth, dag_to_cpdag(problem.truth)):
        verdict = judge(problem, found_of(graph))
        assert (verdict.shd, verdict.skeleton_f1, verdict.arrow_f1) == (0, 1.0, 1.0)
        assert verdict.bic == pytest.approx(bic(problem.table, problem.truth))
        assert verdict.edges == problem.truth.edge_count()


@pytest.mark.parametrize("spec", [GAUSSIAN, DISCRETE], ids=lambda spec: spec.kind)
def test_the_marks_of_any_other_graph_are_those_of_our_metrics(spec: Spec, seed: int) -> None:
    problem = make_problem(spec, seed)
    for edges in (0, 5, 12, 21):
        other = random_dag(7, edges, seed=seed)
        verdict, expected = judge(problem, found_of(other)), compare(problem.truth, other)
        assert verdict.shd == expected.shd
        assert verdict.skeleton_f1 == expected.skeleton.f1
        assert verdict.arrow_f1 == expected.arrows.f1


def test_the_judges_bic_is_the_textbook_one_by_our_scores_too(seed: int) -> None:
    for spec in (GAUSSIAN, DISCRETE):
        problem = make_problem(spec, seed)
        values = problem.table.values
        score = (
            GaussianBIC(values)
            if spec is GAUSSIAN
            else DiscreteBIC(Dataset.of(values, kinds="discrete"))
        )
        ours = total_score(score, problem.truth)
        assert bic(problem.table, problem.truth) == pytest.approx(ours, rel=1e-9)


def test_configurations_are_counted_right_beyond_what_a_whole_number_holds() -> None:
    """Forty parents of four levels have 2^80 configurations, of which few occur in a table."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 4, size=(50, 41))
    table = Table("discrete", values, arities=(4,) * 41)
    dag = PDAG.from_edges(41, [(x, 40) for x in range(40)])
    fitted = bic(table, dag) - bic(table, PDAG.empty(41))
    alone = np.bincount(values[:, 40])
    likelihood = -float(alone @ np.log(alone / 50))  # each configuration occurs once
    parameters = 3 * (4.0**40 - 1)
    assert fitted == pytest.approx(likelihood - np.log(50) / 2 * parameters, rel=1e-9)


@pytest.mark.parametrize(
    "found",
    [
        Found(((0, 1), (1, 2), (2, 0))),
        Found((), ((0, 1), (1, 2), (2, 3), (0, 3))),
    ],
    ids=["cycle", "chordless"],
)
def test_a_graph_that_no_dag_extends_has_distances_but_no_score(found: Found) -> None:
    truth = PDAG.from_edges(4, [(0, 1)])
    table = Table("gaussian", np.random.default_rng(0).normal(size=(50, 4)))
    verdict = judge(Problem(table, truth), found)
    assert verdict.bic is None
    assert verdict.shd >= verdict.edges - 1
