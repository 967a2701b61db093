"""Proposition 2: score evaluations are polynomial in n, where BES needs n·2^(n−1)."""

import numpy as np
import pytest

from sges.graph import PDAG, dag_to_cpdag
from sges.network import LinearGaussian, random_structure
from sges.properties import MaxParents, MaxVStructures, MaxVWidth
from sges.score import GaussianOracle
from sges.search import bes, sbes, sges
from sges.search.bounds import poly_fes_bound, sbes_bound
from sges.search.run import Selection


def oracle(n: int, seed: int) -> tuple[PDAG, GaussianOracle]:
    dag = random_structure(n, seed=seed)
    return dag_to_cpdag(dag), GaussianOracle(LinearGaussian.random(dag, seed=seed))


def test_bes_from_the_complete_graph_asks_for_all_families(seed: int) -> None:
    for n in range(3, 11):
        _, score = oracle(n, seed)
        assert bes(score, PDAG.complete(n)).score_evaluations == n * 2 ** (n - 1)


def test_sbes_from_the_complete_graph_grows_as_a_small_power_of_n(seed: int) -> None:
    """For n = 8 to 20, the fitted exponent is far below that of exponential growth."""
    sizes, counts = [8, 12, 16, 20], []
    for n in sizes:
        truth, score = oracle(n, seed)
        result = sbes(score, PDAG.complete(n), MaxParents(2))
        assert result.cpdag == truth
        assert result.score_evaluations is not None
        assert result.evaluation_bound is not None
        assert result.score_evaluations <= result.evaluation_bound
        counts.append(result.score_evaluations)
    exponent = np.polyfit(np.log(sizes), np.log(counts), 1)[0]
    assert 2.0 < exponent < 5.5
    assert counts[-1] < 20 * 2**19 / 50


def test_end_to_end_polynomial_search_recovers_the_truth_within_its_bound(seed: int) -> None:
    for n in (6, 12, 24):
        truth, score = oracle(n, seed)
        result = sges(score, MaxParents(2), forward="poly")
        assert result.cpdag == truth
        assert (result.score_evaluations or 0) <= (result.evaluation_bound or 0)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 50])
def test_the_bounds_are_polynomials_of_the_stated_degree(n: int) -> None:
    """Doubling n multiplies a polynomial of degree d by about 2^d."""
    for k, degree in ((1, 5), (2, 6), (3, 7)):
        once = sbes_bound(100 * n, Selection(MaxParents(k))) or 0
        twice = sbes_bound(200 * n, Selection(MaxParents(k))) or 0
        assert twice / once == pytest.approx(2**degree, rel=0.1)
    assert poly_fes_bound(200 * n) / poly_fes_bound(100 * n) == pytest.approx(2**4, rel=0.1)


def test_only_a_property_with_bounds_gives_a_bound() -> None:
    assert sbes_bound(10, Selection()) is None
    assert sbes_bound(10, Selection(MaxVStructures(1))) is not None
    assert sbes_bound(10, Selection(MaxVWidth(0))) is not None
