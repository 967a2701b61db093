"""BGe compared with a product of predictive densities, its gains, and degenerate data."""

import warnings
from collections.abc import Sequence

import numpy as np
import pytest

import naive_score
from naive_score import Table
from sges.errors import DataWarning, ScoreError
from sges.nodeset import nodes
from sges.score.conformance import check_score
from sges.score.gaussian.bge import BGe
from sges.score.protocol import delete_gains, insert_gains


def linear(n: int = 4, records: int = 40, seed: int = 3) -> Table:
    rng = np.random.default_rng(seed)
    weights = np.eye(n) + np.triu(rng.uniform(-1, 1, (n, n)), 1)
    table: Table = rng.normal(size=(records, n)) @ weights + rng.normal(size=n)
    return table


def assert_equals_twin(
    table: Table, score: BGe, *, alpha_mu: float, alpha_w: float, nu: Table, t: Table
) -> None:
    n = table.shape[1]
    for y in range(n):
        for parents in range(2**n):
            if not parents >> y & 1:
                twin = naive_score.bge(
                    table, y, [*nodes(parents)], alpha_mu=alpha_mu, alpha_w=alpha_w, nu=nu, t=t
                )
                assert score.local(y, parents) == pytest.approx(twin, rel=1e-9)


def test_local_is_the_product_of_the_predictive_densities() -> None:
    table = linear()
    t = 0.5 * np.diag(table.var(axis=0))
    mean = table.mean(axis=0)
    assert_equals_twin(table, BGe(table), alpha_mu=1, alpha_w=6, nu=mean, t=t)


def test_the_prior_of_most_packages_is_the_one_without_standardizing() -> None:
    """T = t I with t = alpha_mu (alpha_w − n − 1) / (alpha_mu + 1), as in bnlearn and BiDAG."""
    table = linear()
    score = BGe(table, alpha_mu=2.5, alpha_w=9.5, prior_mean=0, standardize=False)
    t = 2.5 * 4.5 / 3.5 * np.eye(4)
    assert_equals_twin(table, score, alpha_mu=2.5, alpha_w=9.5, nu=np.zeros(4), t=t)


def test_a_prior_mean_may_be_given_per_column() -> None:
    table, nu = linear(), np.array([1.0, -2.0, 0.0, 3.0])
    score = BGe(table, prior_mean=nu)
    t = 0.5 * np.diag(table.var(axis=0))
    assert_equals_twin(table, score, alpha_mu=1, alpha_w=6, nu=nu, t=t)


@pytest.mark.parametrize("standardize", [True, False])
def test_the_score_conforms(standardize: bool, seed: int) -> None:
    table = linear(8, 200, seed)

    def permuted(order: Sequence[int]) -> BGe:
        return BGe(table[:, order], standardize=standardize)

    check_score(permuted(range(8)), seed=seed, permuted=permuted)


def test_gains_depend_on_units_only_without_standardizing() -> None:
    table, at = linear(), np.array([2, 3])
    scaled = table * np.array([1e-5, 1e5, 1.0, 3.0]) + 1e4
    plain = insert_gains(BGe(table), 0, 0b10, at)
    assert insert_gains(BGe(scaled), 0, 0b10, at) == pytest.approx(plain, rel=1e-6)
    in_units = insert_gains(BGe(table, standardize=False), 0, 0b10, at)
    scaled_units = insert_gains(BGe(scaled, standardize=False), 0, 0b10, at)
    assert np.abs(in_units - scaled_units).max() > 0.1


def test_the_gain_of_an_edge_approaches_that_of_the_bic_with_many_records() -> None:
    """The difference is a few nats, for any number of records."""
    from sges.score.gaussian.bic import GaussianBIC

    table, at = linear(4, 20_000), np.array([1, 2, 3])
    gap = insert_gains(BGe(table), 0, 0, at) - insert_gains(GaussianBIC(table), 0, 0, at)
    assert np.abs(gap).max() < 10


def test_a_constant_column_is_named_and_gets_no_edges() -> None:
    table = linear(6)
    table[:, 2] = 7.0
    with pytest.warns(DataWarning, match="constant column 'x2'"):
        score = BGe(table)
    price = -np.log(40) / 2
    as_child = insert_gains(score, 2, 0b1001, np.array([1, 4, 5]))
    mixed = insert_gains(score, 0, 0b1000, np.array([1, 2, 4]))
    assert [*as_child, mixed[1]] == pytest.approx([price] * 4)
    assert delete_gains(score, 0, 0b1100, np.array([2])) == pytest.approx([-price])
    assert delete_gains(score, 2, 0b1001, np.array([0, 3])) == pytest.approx([-price] * 2)
    check_score(score, pairs=200)


def test_collinear_columns_and_few_records_need_no_special_care() -> None:
    table = linear(8, 5)
    table[:, 3] = table[:, 0] + table[:, 1]
    table[:, 6] = table[:, 4]
    check_score(BGe(table), pairs=200)


def test_a_prior_lost_to_rounding_gives_a_warning_and_a_valid_score() -> None:
    """If the data are huge, the prior cannot separate collinear columns."""
    table = linear(5, 50) * 1e9
    table[:, 3] = table[:, 0] + table[:, 1]
    with pytest.warns(DataWarning, match="'x1' of 'x0', 'x3'"):
        score = BGe(table, standardize=False)
    check_score(score, pairs=200, tolerance=1e-7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha_mu": 0.0}, "alpha_mu 0.0"),
        ({"alpha_mu": np.inf}, "alpha_mu inf"),
        ({"alpha_w": 5.0}, r"alpha_w 5.0: .* above n \+ 1 = 5"),
        ({"prior_mean": [1.0, 2.0]}, r"prior_mean of shape \(2,\)"),
        ({"prior_mean": np.nan}, "prior_mean"),
    ],
)
def test_an_invalid_prior_is_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ScoreError, match=message), warnings.catch_warnings():
        BGe(linear(), **options)  # type: ignore[arg-type]
