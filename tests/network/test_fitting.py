"""Fitted networks and queries, compared with frequencies, least squares and brute force."""

import pickle
from itertools import product
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import multivariate_normal, norm

from sges.data import Dataset, Moments
from sges.errors import DataError, InvalidArgument, NetworkError, NotADAG, Undecided
from sges.graph import PDAG
from sges.network import BayesianNetwork, LinearGaussian, MixedNetwork, fit, random_dag
from sges.network.mixed import LinearFamily, LogisticFamily


def test_a_discrete_network_is_found_again_from_many_of_its_records(seed: int) -> None:
    names = [f"v{i}" for i in range(5)]
    truth = BayesianNetwork.random(random_dag(5, 6, seed).named(names), [2, 3, 2, 3, 2], 2.0, seed)
    found = fit(truth.dag, truth.sample(100_000, seed))
    assert isinstance(found, BayesianNetwork)
    assert found.names == truth.names
    for one, other in zip(truth.cpts, found.cpts, strict=True):
        assert other == pytest.approx(one, abs=0.05)
    held_out = truth.sample(1000, seed + 1)
    gap = truth.log_probability(held_out).mean() - found.log_probability(held_out).mean()
    assert abs(gap) < 0.02


def test_probabilities_are_smoothed_frequencies() -> None:
    table = {"b": ["p", "q", "q", "q"], "a": ["u", "u", "v", "v"]}
    dag = PDAG.from_edges(2, [(0, 1)], names=["a", "b"])
    found = fit(dag, table)
    assert isinstance(found, BayesianNetwork)
    assert found.names == ("a", "b")
    assert found.levels == (("u", "v"), ("p", "q"))
    assert found.cpts[0].tolist() == [0.5, 0.5]
    assert found.cpts[1] == pytest.approx(np.array([[1.5 / 3, 1.5 / 3], [0.5 / 3, 2.5 / 3]]))
    plain = fit(dag, table, smoothing=0)
    assert isinstance(plain, BayesianNetwork)
    assert plain.cpts[1].tolist() == [[0.5, 0.5], [0.0, 1.0]]


def test_without_smoothing_an_unseen_configuration_is_uniform() -> None:
    dag = PDAG.from_edges(3, [(0, 2), (1, 2)], names=["a", "b", "c"])
    table = {"a": ["u", "v"], "b": ["u", "v"], "c": ["0", "1"]}
    found = fit(dag, table, smoothing=0)
    assert isinstance(found, BayesianNetwork)
    assert found.cpts[2][0, 1].tolist() == [0.5, 0.5]
    assert found.cpts[2][1, 1].tolist() == [0.0, 1.0]


def test_weights_are_those_of_least_squares(seed: int) -> None:
    names = [f"v{i}" for i in range(5)]
    truth = LinearGaussian.random(random_dag(5, 7, seed).named(names), seed=seed)
    shifted = LinearGaussian(truth.dag, truth.weights, truth.variances, np.arange(5.0))
    data = shifted.sample(300, seed)
    found = fit(truth.dag, data)
    assert isinstance(found, LinearGaussian)
    for y in range(5):
        above = np.flatnonzero(truth.weights[:, y])
        design = np.column_stack([np.ones(300), data.values[above].T])
        slopes = np.linalg.lstsq(design, data.values[y], rcond=None)[0]
        assert found.weights[above, y] == pytest.approx(slopes[1:])
        assert found.variances[y] == pytest.approx(np.var(data.values[y] - design @ slopes))
    assert found.means == pytest.approx(data.values.mean(axis=1))
    again = fit(truth.dag, Moments.of(data))
    assert isinstance(again, LinearGaussian)
    assert (again.weights == found.weights).all()


def test_weights_follow_the_units_of_the_columns(seed: int) -> None:
    """A parent with a tiny variance keeps its weight beside one with a large variance."""
    dag = PDAG.from_edges(3, [(0, 2), (1, 2)], names=["a", "b", "y"])
    values = LinearGaussian.random(dag, seed=seed).sample(100, seed).values
    units = np.array([1e7, 1e-4, 10.0])
    plain, scaled = (
        fit(dag, dict(zip("aby", columns, strict=True)))
        for columns in (values, values * units[:, None])
    )
    assert isinstance(plain, LinearGaussian)
    assert isinstance(scaled, LinearGaussian)
    assert scaled.weights * units[:, None] / units == pytest.approx(plain.weights)
    assert scaled.variances / units**2 == pytest.approx(plain.variances)


def test_columns_that_are_not_in_the_dag_are_ignored(seed: int) -> None:
    dag = PDAG.from_edges(2, [(1, 0)], names=["a", "b"])
    a, b = np.random.default_rng(seed).standard_normal((2, 30)).tolist()
    plain = fit(dag, {"a": a, "b": b})
    assert isinstance(plain, LinearGaussian)
    others: dict[str, Any] = {"group": ["u", "v"] * 15, "id": [f"row {i}" for i in range(30)]}
    wide = {"b": b, **others, "missing": [None, *b[1:]], "a": a}
    known = Dataset.of({"group": others["group"], "b": b, "a": a})
    for table in (wide, pd.DataFrame(wide), known):
        found = fit(dag, table)
        assert isinstance(found, LinearGaussian)
        assert found.names == ("a", "b")
        assert found.weights == pytest.approx(plain.weights)


def test_densities_and_queries_are_those_of_the_joint_normal(seed: int) -> None:
    names = [f"v{i}" for i in range(4)]
    plain = LinearGaussian.random(random_dag(4, 5, seed).named(names), seed=seed)
    model = LinearGaussian(plain.dag, plain.weights, plain.variances, [1.0, -2.0, 0.5, 3.0])
    data = model.sample(50, seed)
    joint = multivariate_normal(model.means, model.covariance())
    assert model.log_probability(data) == pytest.approx(joint.logpdf(data.values.T))
    assert model.log_probability(data.values.T) == pytest.approx(joint.logpdf(data.values.T))
    seen, covariance = [0, 2], model.covariance()
    gain = covariance[1, seen] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
    answer = model.query("v1", given={"v2": 0.7, "v0": -1.0})
    assert answer.mean == pytest.approx(-2.0 + gain @ [-1.0 - 1.0, 0.7 - 0.5])
    assert answer.variance == pytest.approx(covariance[1, 1] - gain @ covariance[seen, 1])
    assert model.query("v3") == pytest.approx((3.0, covariance[3, 3]))
    assert model.query("v3", given={"v3": 5}) == (5.0, 0.0)
    assert (pickle.loads(pickle.dumps(model)).means == model.means).all()


@pytest.mark.parametrize("strength", [1.0, 1e6, 1e12])
def test_a_strong_edge_hides_no_noise_in_a_query(strength: float) -> None:
    chain = PDAG.from_edges(3, [(0, 1), (1, 2)], names=["a", "b", "c"])
    weights = np.diag([strength, 1.0], k=1)
    model = LinearGaussian(chain, weights, [1, 1, 1])
    assert model.query("b", given={"a": 2.0}) == pytest.approx((2 * strength, 1.0))
    assert model.query("c", given={"a": 2.0}) == pytest.approx((2 * strength, 2.0))
    assert model.query("c", given={"a": 0.0, "b": 3.0}) == pytest.approx((3.0, 1.0), rel=1e-3)
    back = model.query("a", given={"b": strength})
    explained = strength**2 / (1 + strength**2)
    assert back == pytest.approx((explained, 1 / (1 + strength**2)), rel=1e-3)


def test_discrete_queries_are_conditional_frequencies_of_the_joint(seed: int) -> None:
    names = ["a", "b", "c", "d"]
    levels: list[list[Any]] = [["u", "v"], [0, 1, 2], ["x", "y"], [True, False]]
    dag = random_dag(4, 5, seed).named(names)
    arities = [2, 3, 2, 2]
    cpts = BayesianNetwork.random(dag, arities, seed=seed).cpts
    network = BayesianNetwork(dag, cpts, levels=levels)
    joint = network.marginal(range(4))
    for i, j in product(range(2), range(3)):
        answer = network.query("c", given={"b": j, "a": levels[0][i]})
        wanted = joint[i, j].sum(axis=1) / joint[i, j].sum()
        assert isinstance(answer, dict)
        assert list(answer) == ["x", "y"]
        assert list(answer.values()) == pytest.approx(wanted.tolist())
        assert network.query("c=y", given={"b": str(j), "a": levels[0][i]}) == pytest.approx(
            wanted[1]
        )
    assert network.query("a = u") == pytest.approx(joint[0].sum())
    assert network.query("a", given={"a": "v"}) == {"u": 0.0, "v": 1.0}
    assert network.query("d=True") == pytest.approx(joint[..., 0].sum())


def test_an_event_may_be_an_empty_text_or_one_with_spaces() -> None:
    network = BayesianNetwork(PDAG.empty(1, ["a"]), [[0.5, 0.25, 0.25]], levels=[["", "b ", "c"]])
    assert [network.query(event) for event in ("a=", "a=b ", "a = c")] == [0.5, 0.25, 0.25]


def test_what_cannot_be_fitted_or_asked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    edge = PDAG.from_edges(2, [(0, 1)], names=["a", "b"])
    with pytest.raises(NotADAG):
        fit(PDAG.complete(2), {"a": [1.5, 2.5], "b": [1.5, 2.5]})
    with pytest.raises(DataError, match="no column 'b'"):
        fit(edge, {"a": [1.5, 2.5]})
    with pytest.raises(DataError, match="'b' is constant, or an exact linear function"):
        fit(edge, {"a": [1.5, 2.5, 4.0], "b": [3.0, 5.0, 8.0]})
    with pytest.raises(InvalidArgument, match="smoothing = -1"):
        fit(edge, {"a": ["u", "v"], "b": ["u", "v"]}, smoothing=-1)
    network = fit(edge, {"a": ["u", "v"], "b": ["u", "v"]}, smoothing=0)
    assert isinstance(network, BayesianNetwork)
    with pytest.raises(NetworkError, match="no variable 'B'; did you mean 'b'"):
        network.query("B")
    with pytest.raises(NetworkError, match="variable 'b' has no level 'w'; its levels are 'u'"):
        network.query("b=w")
    with pytest.raises(NetworkError, match="probability zero"):
        network.query("b", given={"a": "u", "b": "v"})
    model = LinearGaussian.random(PDAG.empty(2))
    with pytest.raises(DataError, match="the last axis must have 2 variables"):
        model.log_probability([[1.0, 2.0, 3.0]])
    with pytest.raises(NetworkError, match="means must be 2 finite numbers"):
        LinearGaussian(PDAG.empty(2), np.zeros((2, 2)), [1, 1], [np.nan, 0])
    monkeypatch.setattr("sges.network.fitting.MAX_CELLS", 3)
    with pytest.raises(Undecided, match="needs 4 cells"):
        fit(edge, {"a": ["u", "v"], "b": ["u", "v"]})


def mixed_truth(rows: int, seed: int) -> tuple[PDAG, dict[str, Any]]:
    """Return a DAG, dose → group and both → pain, and random rows."""
    rng = np.random.default_rng(seed)
    dose = rng.normal(2.0, 1.5, rows)
    odds = np.column_stack([np.zeros(rows), 1.0 - dose, 0.5 * dose - 1.0])
    shares = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    level = (rng.random(rows)[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    pain = 3.0 - dose + np.array([0.0, 2.0, -1.0])[level] + rng.normal(0, 0.5, rows)
    dag = PDAG.from_edges(3, [(0, 1), (0, 2), (1, 2)], names=["dose", "group", "pain"])
    return dag, {"dose": dose, "group": np.array(["a", "b", "c"])[level], "pain": pain}


def test_a_mixed_network_has_the_means_and_odds_that_the_rows_were_drawn_with(seed: int) -> None:
    dag, rows = mixed_truth(40_000, seed)
    found = fit(dag, rows)
    assert isinstance(found, MixedNetwork)
    mean = found.expect("pain", given={"dose": 1.0, "group": "b"})
    assert mean == pytest.approx(4.0, abs=0.05)
    shares = found.expect("group", given={"dose": 1.0})
    assert isinstance(shares, dict)
    wanted = np.exp([0.0, 0.0, -0.5]) / np.exp([0.0, 0.0, -0.5]).sum()
    assert [shares[level] for level in "abc"] == pytest.approx(wanted, abs=0.03)
    assert found.expect("dose") == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("value", ["much", None, float("nan"), [1.0, 2.0]])
def test_a_given_value_that_is_not_a_number_is_refused(value: object) -> None:
    dag, rows = mixed_truth(200, 0)
    mixed = fit(dag, rows)
    gaussian = LinearGaussian(PDAG.from_edges(2, [(0, 1)]), [[0, 2], [0, 0]], [1, 1])
    assert isinstance(mixed, MixedNetwork)
    with pytest.raises(InvalidArgument, match=r"given\['dose'\] = "):
        mixed.expect("group", given={"dose": value})
    with pytest.raises(InvalidArgument, match=r"given\['x0'\] = "):
        gaussian.query("x1", given={"x0": value})  # type: ignore[dict-item]


def test_slopes_of_a_mixed_network_are_those_of_least_squares(seed: int) -> None:
    dag, rows = mixed_truth(200, seed)
    found = fit(dag, rows)
    assert isinstance(found, MixedNetwork)
    family = found.families[2]
    assert isinstance(family, LinearFamily)
    design = np.column_stack(
        [np.ones(200), rows["dose"], rows["group"] == "b", rows["group"] == "c"]
    ).astype(float)
    wanted = np.linalg.lstsq(design, rows["pain"], rcond=None)[0]
    assert [family.intercept, *family.slopes] == pytest.approx(wanted)
    assert family.variance == pytest.approx(np.mean((rows["pain"] - design @ wanted) ** 2))


def test_a_mixed_network_follows_the_units_of_the_columns(seed: int) -> None:
    """A parent with a tiny variance keeps its slope beside one with a large variance."""
    names, units = ["a", "b", "y", "group"], np.array([1e9, 1e-9, 1e3])
    dag = PDAG.from_edges(4, [(0, 2), (1, 2), (0, 3), (1, 3)], names=names)
    a, b, noise, odds = np.random.default_rng(seed).normal(size=(4, 300))
    columns, group = np.array([a, b, a + 2 * b + noise]), np.where(a - b + odds > 0, "u", "v")
    tables = [
        {**dict(zip("aby", values, strict=True)), "group": group}
        for values in (columns, columns * units[:, None])
    ]
    densities = [fit(dag, table).log_probability(table) for table in tables]
    assert densities[1] + np.log(units).sum() == pytest.approx(densities[0], abs=1e-5)
    squares = {**tables[0], "a": a * 1e-200}
    with pytest.raises(DataError, match=r"column 'a' varies by about .*; rescale it"):
        fit(dag, squares)


def test_logistic_slopes_are_where_no_nearby_ones_fit_better(seed: int) -> None:
    dag, rows = mixed_truth(300, seed)
    found = fit(dag, rows, smoothing=0)
    assert isinstance(found, MixedNetwork)
    family = found.families[1]
    assert isinstance(family, LogisticFamily)
    design = np.asarray(rows["dose"])[:, None]
    codes = np.array(["abc".index(level) for level in rows["group"]], dtype=float)
    best = family.log_probability(design, codes).sum()
    rng = np.random.default_rng(seed)
    for _ in range(50):
        near = LogisticFamily(family.slopes + rng.normal(0, 0.02, family.slopes.shape))
        assert near.log_probability(design, codes).sum() < best + 1e-6


def test_rows_drawn_from_a_mixed_network_have_its_log_density_on_average(seed: int) -> None:
    dag, rows = mixed_truth(2_000, seed)
    network = fit(dag, rows)
    assert isinstance(network, MixedNetwork)
    drawn = network.sample(20_000, seed)
    again = fit(dag, drawn)
    assert isinstance(again, MixedNetwork)
    gap = network.log_probability(drawn).mean() - again.log_probability(drawn).mean()
    assert abs(gap) < 0.005
    assert network.log_probability(rows).shape == (2_000,)


def test_weights_of_a_mixed_table_are_repeated_rows(seed: int) -> None:
    dag, rows = mixed_truth(50, seed)
    times = np.random.default_rng(seed).integers(1, 4, 50)
    repeated = {name: np.repeat(column, times) for name, column in rows.items()}
    weighted = Dataset.of({**rows, "times": times}, weights="times")
    one, other = fit(dag, weighted), fit(dag, repeated)
    assert isinstance(one, MixedNetwork)
    assert isinstance(other, MixedNetwork)
    assert one.log_probability(rows) == pytest.approx(other.log_probability(rows), abs=1e-4)


def test_survey_weights_of_a_mixed_table_count_as_their_effective_records(seed: int) -> None:
    dag, rows = mixed_truth(48, seed)
    survey = Dataset.of({**rows, "w": np.repeat([1.5, 0.5], 24)}, weights="w")
    counted = Dataset.of({**rows, "w": np.repeat([3, 1], 24)}, weights="w")
    assert (survey.records, counted.records) == (38, 96)
    one, other = fit(dag, survey, smoothing=5.0), fit(dag, counted, smoothing=5.0 * 96 / 38)
    assert isinstance(one, MixedNetwork)
    assert isinstance(other, MixedNetwork)
    assert one.log_probability(rows) == pytest.approx(other.log_probability(rows), abs=1e-4)


def test_a_mixed_network_refuses_what_it_was_not_fitted_to(seed: int) -> None:
    dag, rows = mixed_truth(100, seed)
    network = fit(dag, rows)
    assert isinstance(network, MixedNetwork)
    with pytest.raises(NetworkError, match="exactly the parents of 'pain': dose, group"):
        network.expect("pain", given={"dose": 1.0})
    with pytest.raises(NetworkError, match="has no level 'z'"):
        network.expect("pain", given={"dose": 1.0, "group": "z"})
    with pytest.raises(DataError, match="level 'z'"):
        network.log_probability({**rows, "group": ["z"] * 100})
    holes = Dataset.of({**rows, "dose": [None, *rows["dose"][1:]]}, missing="em")
    with pytest.raises(DataError, match="needs all values, but 1 is missing"):
        fit(dag, holes)
    with pytest.raises(DataError, match="needs all values, but 1 is missing"):
        network.log_probability(holes)
    with pytest.raises(DataError, match="'pain' is constant, or an exact linear function"):
        fit(dag, {**rows, "pain": np.asarray(rows["dose"]) * 2})


def frames(columns: dict[str, list[Any]]) -> list[Any]:
    """Return a table as objects of several libraries, with columns in reverse order."""
    reverse = dict(reversed(columns.items()))
    frame = pd.DataFrame(reverse)
    return [reverse, frame, frame.to_records(), pl.DataFrame(reverse), pa.table(reverse)]


def test_log_probability_of_any_continuous_table_finds_its_columns_by_name(seed: int) -> None:
    dag = PDAG.from_edges(3, [(0, 1), (1, 2)], names=["a", "b", "c"])
    model = LinearGaussian.random(dag, seed=seed)
    rows = model.sample(20, seed)
    columns = {name: values.tolist() for name, values in zip("abc", rows.values, strict=True)}
    for table in frames({**columns, "extra": ["text"] * 20}):
        assert model.log_probability(table) == pytest.approx(model.log_probability(rows))
    assert model.log_probability(rows.values.T) == pytest.approx(model.log_probability(rows))


def test_log_probability_of_any_discrete_table_finds_columns_and_levels_by_name(seed: int) -> None:
    dag = PDAG.from_edges(2, [(0, 1)], names=["rain", "wet"])
    cpts: list[Any] = [[0.75, 0.25], [[0.5, 0.5], [0.1, 0.9]]]
    network = BayesianNetwork(dag, cpts, levels=[["no", "yes"], [1, 2]])
    codes = np.random.default_rng(seed).integers(2, size=(30, 2))
    columns = {"rain": [["no", "yes"][i] for i in codes[:, 0]], "wet": (codes[:, 1] + 1).tolist()}
    for table in frames(columns):
        assert network.log_probability(table) == pytest.approx(network.log_probability(codes))
    with pytest.raises(DataError, match="column 'rain' has the level 'snow'"):
        network.log_probability(pd.DataFrame({"rain": ["snow", "no"], "wet": [1, 1]}))


def test_the_log_density_of_a_continuous_variable_is_that_of_the_normal_distribution() -> None:
    family = LinearFamily(0.5, np.array([2.0]), 0.3)
    design, column = np.array([[1.0], [-1.0]]), np.array([2.0, 0.0])
    wanted = norm.logpdf(column, [2.5, -1.5], 0.3**0.5)
    assert family.log_probability(design, column) == pytest.approx(wanted)
