"""LinearGaussian: the population, samples, and errors."""

from typing import Any

import numpy as np
import pytest

import naive_network
from sges.data import Moments
from sges.errors import NetworkError, NotADAG
from sges.graph import PDAG
from sges.network import LinearGaussian, random_dag


def test_the_covariance_adds_up_all_paths(seed: int) -> None:
    for n in (1, 2, 6, 15):
        model = LinearGaussian.random(random_dag(n, n * (n - 1) // 4, seed), seed=seed)
        expected = naive_network.covariance_by_paths(model.weights, model.variances)
        assert model.covariance() == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_random_weights_are_in_range_and_where_the_edges_are(seed: int) -> None:
    dag = random_dag(12, 30, seed)
    model = LinearGaussian.random(dag, weights=(0.25, 0.5), variances=(1, 2), seed=seed)
    there = {(int(x), int(y)) for x, y in np.argwhere(model.weights)}
    assert there == set(dag.directed_edges())
    sizes = np.abs(model.weights[model.weights != 0])
    assert 0.25 <= sizes.min() <= sizes.max() <= 0.5
    assert (model.weights < 0).any()
    assert (model.weights > 0).any()
    assert 1 <= model.variances.min() <= model.variances.max() <= 2


def test_sampled_moments_approach_the_population(seed: int) -> None:
    dag = random_dag(5, 6, seed).named(["a", "b", "c", "d", "e"])
    model = LinearGaussian.random(dag, seed=seed)
    data = model.sample(200_000, seed)
    assert data.names == ("a", "b", "c", "d", "e")
    found = Moments.of(data)
    population = model.covariance()
    scale = np.sqrt(np.outer(population.diagonal(), population.diagonal()))
    assert np.abs((found.covariance - population) / scale).max() < 0.025  # 7 standard errors
    assert (data.values == model.sample(200_000, seed).values).all()


@pytest.mark.parametrize(
    ("weights", "variances", "message"),
    [
        ([[0, 1]], [1, 1], r"weights have the shape \(1, 2\)"),
        ([[0, 1], [1, 0]], [1, 1], r"weights\[1, 0\] is 1.0, but the DAG has no edge b→a"),
        ([[0, np.nan], [0, 0]], [1, 1], "infinite or missing"),
        ([[0, 1], [0, 0]], [1], r"variances have the shape \(1,\)"),
        ([[0, 1], [0, 0]], [1, 0], "positive"),
    ],
)
def test_models_that_do_not_fit_are_refused(weights: Any, variances: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(NetworkError, match=message):
        LinearGaussian(PDAG.from_edges(2, [(0, 1)], names=["a", "b"]), weights, variances)


def test_a_graph_that_is_not_a_dag_is_refused() -> None:
    with pytest.raises(NotADAG):
        LinearGaussian(PDAG.complete(2), [[0, 1], [1, 0]], [1, 1])
