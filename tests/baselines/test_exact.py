"""The globally optimal network, compared with an enumeration of all DAGs."""

import numpy as np
import pytest

from naive import all_dags, parents
from sges.certificate import certify
from sges.errors import InvalidArgument, ScoreError
from sges.graph import PDAG, dag_to_cpdag
from sges.network import BayesianNetwork, random_structure
from sges.nodeset import nodeset
from sges.properties import MaxParents
from sges.score import QNML, BDeu, DiscreteBIC, GaussianBIC, OracleMDL, Score, total_score
from sges.search import ges, sges
from sges.tools.baselines import chow_liu, exact
from worlds import gaussian_score


def best_of_all_dags(score: Score, most: int) -> float:
    """Return the highest score of a DAG with at most ``most`` parents per node."""
    return max(
        sum(score.local(y, nodeset(parents(arcs, y))) for y in range(score.n))
        for arcs in all_dags(score.n)
        if all(len(parents(arcs, y)) <= most for y in range(score.n))
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("most", [0, 1, 2, None])
def test_no_dag_of_up_to_four_nodes_scores_higher(n: int, most: int | None, seed: int) -> None:
    limit = n if most is None else most
    for s in range(seed, seed + 5):
        model = BayesianNetwork.random(random_structure(n, 3, seed=s), seed=s)
        for make in (DiscreteBIC, QNML, BDeu):
            score = make(model.sample(60, seed=s))
            found = exact(score, most)
            assert found.score == pytest.approx(best_of_all_dags(score, limit))
            assert found.score == pytest.approx(total_score(score, found.cpdag))


@pytest.mark.parametrize("records", [30, 300])
def test_greedy_search_never_beats_it(records: int, seed: int) -> None:
    for s in range(seed, seed + 8):
        score = gaussian_score(6, 9, records, s)
        best = exact(score).score
        for found in (ges(score), sges(score, MaxParents(2)), sges(score, forward="poly")):
            assert found.score <= best + 1e-9 * abs(best)


def test_a_limit_on_parents_is_kept_and_costs_no_less(seed: int) -> None:
    score = gaussian_score(7, 14, 200, seed)
    scores = [exact(score, most).score for most in range(7)]
    assert scores == sorted(scores)
    assert MaxParents(1).holds(exact(score, 1).cpdag)


def test_the_oracle_s_optimum_scores_no_less_than_the_truth(seed: int) -> None:
    dag = random_structure(7, seed=seed)
    score = OracleMDL(BayesianNetwork.random(dag, seed=seed))
    assert exact(score).score >= total_score(score, dag_to_cpdag(dag)) - 1e-3


@pytest.mark.parametrize(("n", "most", "count"), [(5, None, 80), (5, 1, 25), (0, None, 0)])
def test_evaluations_are_the_number_of_all_families(n: int, most: int | None, count: int) -> None:
    score = GaussianBIC.from_covariance(np.eye(n), 100) if n else ScoreOfNothing()
    assert exact(score, most).score_evaluations == count


class ScoreOfNothing:
    """A score on no variables."""

    n = 0

    def local(self, y: int, parents: int, /) -> float:
        raise AssertionError((y, parents))


def test_independent_variables_give_the_empty_graph() -> None:
    assert exact(GaussianBIC.from_covariance(np.eye(5), 1000)).cpdag == PDAG.empty(5)


def test_too_many_variables_and_a_negative_limit_are_refused() -> None:
    with pytest.raises(ScoreError, match="at most 18"):
        exact(GaussianBIC.from_covariance(np.eye(19), 100))
    with pytest.raises(InvalidArgument, match="0 or more"):
        exact(GaussianBIC.from_covariance(np.eye(3), 100), -1)


class Broken:
    """A score that is not finite for families with parents."""

    n = 3

    def __init__(self, value: float) -> None:
        self.value = value

    def local(self, _: int, parents: int) -> float:
        return self.value if parents else 0.0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_refused(value: float) -> None:
    for method in (exact, chow_liu):
        with pytest.raises(ScoreError, match="a score must be finite for every family"):
            method(Broken(value))


def test_a_certificate_claims_nothing_from_gains_that_are_not_numbers() -> None:
    with pytest.raises(ScoreError, match="gains nan; a score must be finite"):
        certify(PDAG.complete(3), Broken(np.nan))
