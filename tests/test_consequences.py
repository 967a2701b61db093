"""From a result to the size of its class, effects and a fitted network."""

import pickle
from copy import copy, deepcopy

import pytest

from sges import learn
from sges.errors import DataError, InvalidArgument
from sges.graph import PDAG
from sges.network import BayesianNetwork, LinearGaussian
from sges.result import Result
from sges.score import DiscreteBIC, GaussianBIC
from sges.search import ges
from sges.tools.effects import LinearEffect

NAMES = ["a", "b", "c", "d"]
DAG = PDAG.from_edges(4, [(0, 1), (1, 2), (3, 2)], names=NAMES)


@pytest.fixture(scope="module")
def linear() -> tuple[Result, LinearGaussian]:
    model = LinearGaussian.random(DAG, seed=3)
    return ges(GaussianBIC(model.sample(2000, seed=3))), model


@pytest.fixture(scope="module")
def discrete() -> tuple[Result, BayesianNetwork]:
    network = BayesianNetwork.random(DAG, 3, 0.5, seed=3)
    return ges(DiscreteBIC(network.sample(3000, seed=3))), network


def test_effects_use_the_data_of_the_score_or_those_given(
    linear: tuple[Result, LinearGaussian],
) -> None:
    result, model = linear
    found, exact = result.effect("b", "c"), result.effect("b", "c", data=model)
    assert isinstance(found, LinearEffect)
    assert isinstance(exact, LinearEffect)
    assert found.minimum == pytest.approx(model.weights[1, 2], abs=0.1)
    assert exact.values == pytest.approx([model.weights[1, 2]] * 2)
    again = result.effect("b", "c", data=model.sample(2000, seed=3))
    assert isinstance(again, LinearEffect)
    assert again.values == pytest.approx(found.values)
    assert again.standard_errors == pytest.approx(found.standard_errors)
    optimal = result.effect("b", "c", adjustment="optimal")
    assert isinstance(optimal, LinearEffect)
    assert set(optimal.adjustment) == {("d",)}
    assert {e.treatment for e in result.effects(on="c")} == {"a", "b", "d"}
    assert {e.outcome for e in result.effects(of="b", data=model)} == {"a", "c", "d"}


def test_a_discrete_result_has_effects_and_a_network(
    discrete: tuple[Result, BayesianNetwork],
) -> None:
    result, truth = discrete
    found = result.effect("d", "c")
    exact = result.effect("d", "c", data=truth)
    assert not isinstance(found, LinearEffect)
    assert not isinstance(exact, LinearEffect)
    assert found.distributions[0] == pytest.approx(exact.distributions[0], abs=0.05)
    network = result.fit()
    assert isinstance(network, BayesianNetwork)
    test = truth.sample(1000, seed=9)
    gap = truth.log_probability(test).mean() - network.log_probability(test).mean()
    assert abs(gap) < 0.05
    assert isinstance(network.query("c=1", given={"d": 0}), float)


def test_a_linear_result_has_a_network(linear: tuple[Result, LinearGaussian]) -> None:
    result, truth = linear
    network = result.fit()
    assert isinstance(network, LinearGaussian)
    assert network.names == tuple(NAMES)
    assert network.covariance() == pytest.approx(truth.covariance(), rel=0.2, abs=0.2)


def test_a_copy_of_a_result_keeps_its_data_and_a_pickle_says_that_it_does_not() -> None:
    result = learn(LinearGaussian.random(DAG, seed=3).sample(500, seed=3))
    for again in (copy(result), deepcopy(result)):
        assert again == result
        assert again.effect("b", "c") == result.effect("b", "c")
        assert again.confidence(2) == result.confidence(2)
    stored = pickle.loads(pickle.dumps(result))
    with pytest.raises(InvalidArgument, match="read from a file or a pickle; pass data="):
        stored.effect("b", "c")
    with pytest.raises(InvalidArgument, match="read from a file or a pickle, or not made by"):
        stored.confidence()


@pytest.mark.parametrize("score", ["auto", "basis"])
def test_a_result_of_a_mixed_table_says_at_once_that_it_has_no_effects(score: str) -> None:
    numbers = LinearGaussian.random(DAG, seed=3).sample(200, seed=3).values
    table = {"a": numbers[0], "b": numbers[1], "c": numbers[2] > 0}
    result = learn(table, score=score)
    for data in (None, table):
        with pytest.raises(DataError, match="effects need columns of one kind"):
            result.effect("a", "c", data)
        with pytest.raises(DataError, match="effects need columns of one kind"):
            result.effects(on="c", data=data)
    assert result.fit(table).names == ("a", "b", "c")


def test_a_result_without_its_score_needs_the_data(linear: tuple[Result, LinearGaussian]) -> None:
    result, model = linear
    stored = Result.from_json(result.to_json())
    with pytest.raises(InvalidArgument, match="pass data="):
        stored.effect("b", "c")
    with pytest.raises(InvalidArgument, match="pass data="):
        stored.fit()
    assert isinstance(stored.effect("b", "c", data=model), LinearEffect)
    with pytest.raises(InvalidArgument, match="exactly one of of= and on="):
        result.effects()
    with pytest.raises(InvalidArgument, match="exactly one of of= and on="):
        result.effects(of="a", on="b")
