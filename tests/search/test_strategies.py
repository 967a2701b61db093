"""Searches beyond two phases: same guarantee, better graphs."""

import pytest

import naive
import scratch_engine as scratch
from bridge import pdag_of
from sges.certificate import tie_tolerance
from sges.graph import PDAG, dag_to_cpdag, is_cpdag
from sges.knowledge import Knowledge
from sges.operators import all_turns
from sges.properties import AtMost, MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth
from sges.score import GaussianBIC, SeparationOracle
from sges.score.base import total_score
from sges.search import fes, ges, interleaved, turning
from worlds import gaussian_score, linear_data

PROPERTIES: list[type[AtMost]] = [MaxParents, MaxClique, MaxVWidth, MaxTreewidth, MaxVStructures]


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_interleaved_search_returns_the_class_of_every_dag(n: int) -> None:
    for dags in naive.all_cpdags(n).values():
        dag = pdag_of(n, dags[0])
        score, truth = SeparationOracle(dag), dag_to_cpdag(dag)
        assert interleaved(score).cpdag == truth
        for kind in PROPERTIES:
            assert interleaved(score, kind.of(dag)).cpdag == truth


def test_interleaved_search_ends_where_no_operator_improves(seed: int) -> None:
    score = gaussian_score(12, 24, 300, seed)
    result = interleaved(score)
    assert result.certify().optimal
    assert not turning(score, result.cpdag).steps
    assert not fes(score, result.cpdag).steps


def test_interleaved_search_adds_up_and_stays_among_cpdags(seed: int) -> None:
    score = gaussian_score(12, 24, 300, seed)
    result = interleaved(score)
    cpdag, total = PDAG.empty(12), total_score(score, PDAG.empty(12))
    for step in result.steps:
        cpdag = step.operator.apply(cpdag)
        total += step.gain
        assert is_cpdag(cpdag)
    assert cpdag == result.cpdag
    assert result.score == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("n", [6, 10])
def test_turning_equals_the_engine_that_starts_from_scratch(n: int, seed: int) -> None:
    score = gaussian_score(n, 2 * n, 200, seed)
    start = dag_to_cpdag(linear_data(n, 2 * n, 10, seed + 1)[0])
    tolerance = tie_tolerance(total_score(score, start))
    cpdag, steps, _ = scratch.search(score, start, all_turns, tolerance, least=tolerance)
    result = turning(score, start)
    assert [step.operator for step in result.steps] == [op for op, _ in steps]
    assert result.cpdag == cpdag


def test_interleaved_search_scores_better_than_two_phases_on_most_dense_problems() -> None:
    """Twenty data sets of 20 variables and 50 edges; ties count for neither."""
    better = worse = 0
    for seed in range(20):
        _, data = linear_data(20, 50, 1000, seed)
        score = GaussianBIC(data)
        ours, plain = interleaved(score).score, ges(score).score
        better += ours > plain + 1e-6
        worse += ours < plain - 1e-6
    assert better > 2 * worse


def test_interleaved_search_obeys_and_profits_from_true_knowledge() -> None:
    """A required arrow directs the edge that the data leave undirected; a wrong one is barred."""
    chain = PDAG.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    score = SeparationOracle(chain)
    known = Knowledge(required=[(0, 1)], forbidden=[(3, 2)]).bind(4)
    result = interleaved(score, constraint=known)
    assert result.cpdag == chain
    assert result.certify().optimal
