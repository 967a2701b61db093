"""The rank score: closed forms, invariance, ties, outliers, and the nearest correlation matrix."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm, rankdata, spearmanr

import sges
from sges.data import Dataset
from sges.errors import DataError, InvalidArgument
from sges.graph import PDAG, dag_to_cpdag
from sges.score import GaussianBIC, RankBIC, check_score
from sges.score.gaussian.bic import METHODS, nearest_correlation
from sges.search import ges
from sges.tools.effects import LinearEffect
from sges.tools.metrics import shd

Table = NDArray[np.float64]


def chain(records: int, n: int = 6, seed: int = 0) -> Table:
    table = np.random.default_rng(seed).normal(size=(records, n))
    for v in range(1, n):
        table[:, v] += 0.9 * table[:, v - 1]
    return table


def correlations(table: Table, method: str) -> Table:
    """Return the rank correlations of a method, computed with SciPy."""
    if method == "normal":
        scores = norm.ppf(rankdata(table, axis=0) / (len(table) + 1))
        return np.asarray(np.corrcoef(scores.T))
    return np.asarray(2 * np.sin(np.pi / 6 * spearmanr(table).statistic))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ties", [False, True])
def test_the_score_is_the_gaussian_bic_of_rank_correlations(method: str, ties: bool) -> None:
    table = chain(300)
    if ties:
        table = np.round(table)
    expected = GaussianBIC.from_covariance(correlations(table, method), 300, penalty=1.5)
    score = RankBIC(table, 1.5, method)
    for y, parents in [(0, 0), (1, 0b1), (3, 0b110110)]:
        assert score.local(y, parents) == pytest.approx(expected.local(y, parents), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_the_score_keeps_the_contract(method: str, seed: int) -> None:
    table = chain(100, 7, seed)

    def permuted(order: Sequence[int]) -> RankBIC:
        return RankBIC(table[:, order], method=method)

    check_score(permuted(range(7)), seed=seed, permuted=permuted)


@pytest.mark.parametrize("method", METHODS)
def test_increasing_transformations_change_nothing(method: str, seed: int) -> None:
    table = chain(500, seed=seed)
    bent = np.array(
        [np.exp(table[:, 0]), table[:, 1] ** 3, np.arctan(table[:, 2]), *table[:, 3:].T * 1e6]
    ).T
    one, two = RankBIC(table, method=method), RankBIC(bent, method=method)
    assert np.array_equal(one._correlation, two._correlation)
    assert ges(one).cpdag == ges(two).cpdag


@pytest.mark.parametrize("method", METHODS)
def test_repeated_rows_count_as_often_as_their_weights_say(method: str) -> None:
    table, weights = chain(60), np.arange(60) % 4 + 1
    weighted = RankBIC(Dataset.of(table, weights=weights), method=method)
    repeated = RankBIC(np.repeat(table, weights, axis=0), method=method)
    assert weighted.records == repeated.records
    assert weighted.local(0, 0b110) == pytest.approx(repeated.local(0, 0b110), rel=1e-10)


def test_outliers_hardly_change_the_graph_where_the_linear_score_loses_it() -> None:
    """About 2% of the records are replaced by outliers of ten standard deviations."""
    truth = dag_to_cpdag(PDAG.from_edges(6, [(v, v + 1) for v in range(5)]))
    rank, linear, clean = [], [], []
    for seed in range(15):
        table = chain(1000, seed=seed)
        clean.append(shd(truth, ges(RankBIC(table, 2.0)).cpdag))
        rng = np.random.default_rng([seed, 1])
        bad = rng.random(1000) < 0.02
        table[bad] = 10 * table.std(axis=0) * rng.choice([-1, 1], size=(bad.sum(), 6))
        rank.append(shd(truth, ges(RankBIC(table, 2.0)).cpdag))
        linear.append(shd(truth, ges(GaussianBIC(table, 2.0)).cpdag))
    assert np.median(clean) == 0
    assert np.median(rank) <= 2
    assert np.median(linear) >= 4 + np.median(rank)


@given(n=st.integers(2, 8), seed=st.integers(0, 10**6))
def test_the_nearest_correlation_matrix_is_one_and_no_projection_is_nearer(
    n: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.tril(rng.uniform(-1, 1, (n, n)), -1)
    matrix += matrix.T + np.eye(n)
    nearest = nearest_correlation(matrix)
    assert np.array_equal(nearest, nearest.T)
    assert np.array_equal(np.diagonal(nearest), np.ones(n))
    assert np.linalg.eigvalsh(nearest)[0] > 0
    values, vectors = np.linalg.eigh(matrix)
    clipped = (vectors * np.maximum(values, 1e-6)) @ vectors.T
    clipped /= np.sqrt(np.diagonal(clipped))[:, None] * np.sqrt(np.diagonal(clipped))
    assert np.linalg.norm(nearest - matrix) <= np.linalg.norm(clipped - matrix) + 1e-6


def test_highams_example() -> None:
    """The example of Higham (2002), to the four digits printed there."""
    matrix = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    nearest = nearest_correlation(matrix)
    assert nearest[0, 1] == pytest.approx(0.7607, abs=1e-4)
    assert nearest[0, 2] == pytest.approx(0.1573, abs=1e-4)


def test_rank_correlations_that_are_not_positive_definite_are_repaired() -> None:
    """With few records, 2 sin(π/6 ρ) often has a negative eigenvalue; every score is finite."""
    mended = 0
    for seed in range(20):
        table = np.random.default_rng(seed).normal(size=(8, 7))
        table[:, 5] = table[:, 0] + table[:, 1]
        table[:, 6] = table[:, 0] - table[:, 1]
        mended += np.linalg.eigvalsh(correlations(table, "spearman"))[0] < -1e-6
        check_score(RankBIC(table), pairs=20, tolerance=1e-6)
    assert mended > 5


def test_a_wrong_method_and_a_discrete_column_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"method = 'spearmen' .*did you mean 'spearman'"):
        RankBIC(chain(20), method="spearmen")
    with pytest.raises(DataError, match="'kind' is discrete"):
        RankBIC(Dataset.of({"x": [0.5, 1.5, 2.5], "kind": ["a", "b", "a"]}))


def test_effects_and_models_are_not_estimated_from_ranks() -> None:
    """Slopes of ranks are not in the units of the table, so the data must be given."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    table = {"a": 100 * a, "b": 7 * a + rng.normal(size=300), "c": rng.normal(size=300)}
    result = sges.learn(table, score="rank")
    with pytest.raises(InvalidArgument, match="pass data="):
        result.effect("a", "b")
    with pytest.raises(InvalidArgument, match="pass data="):
        result.fit()
    found = result.effect("a", "b", data=table)
    assert isinstance(found, LinearEffect)
    assert max(map(abs, found.values)) < 0.2
    with pytest.raises(InvalidArgument, match="does not keep the data"):
        result.confidence()
