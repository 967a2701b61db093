"""BayesianNetwork: validation, exact marginals, sampling, probabilities of rows."""

import pickle
from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import naive_network
from sges.data import Dataset, Kind
from sges.errors import DataError, NetworkError, NotADAG
from sges.graph import PDAG
from sges.network import BayesianNetwork, random_structure
from sges.nodeset import nodes
from strategies import dags

CHAIN = PDAG.from_edges(3, [(2, 0), (0, 1)])
CHAIN_CPTS: list[Any] = [
    [[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]],
    [[0.3, 0.7], [0.6, 0.4]],
    [0.2, 0.3, 0.5],
]


def twin(network: BayesianNetwork) -> naive_network.Distribution:
    parents = [list(nodes(network.dag.parents(v))) for v in range(network.n)]
    return naive_network.joint(parents, network.arities, [cpt.tolist() for cpt in network.cpts])


@st.composite
def networks(draw: st.DrawFn, max_nodes: int = 6) -> BayesianNetwork:
    """Draw a small network with up to three levels per variable."""
    dag = draw(dags(max_nodes))
    arities = draw(st.lists(st.integers(1, 3), min_size=dag.n, max_size=dag.n))
    return BayesianNetwork.random(dag, arities, seed=draw(st.integers(0, 2**20)))


@given(networks(), st.data())
def test_marginals_equal_sums_over_all_configurations(
    network: BayesianNetwork, data: st.DataObject
) -> None:
    kept = data.draw(st.sets(st.integers(0, network.n - 1)))
    expected = naive_network.marginal(twin(network), kept)
    found = network.marginal(kept)
    assert found.shape == tuple(network.arities[v] for v in sorted(kept))
    for row, p in expected.items():
        assert found[row] == pytest.approx(p, abs=1e-14)


@given(networks())
def test_log_probability_is_that_of_the_factors(network: BayesianNetwork) -> None:
    full = twin(network)
    rows = np.array(list(full))
    assert np.exp(network.log_probability(rows)) == pytest.approx(list(full.values()), abs=1e-14)


def test_log_probability_of_one_row_is_a_scalar_and_of_impossible_rows_is_minus_infinity() -> None:
    certain = BayesianNetwork(PDAG.empty(1), [[0.0, 1.0]])
    assert certain.log_probability([1]).shape == ()
    assert certain.log_probability([[0], [1]]).tolist() == [-np.inf, 0.0]


def test_a_sample_is_a_table_with_names_and_levels_that_a_seed_repeats() -> None:
    network = BayesianNetwork(CHAIN, CHAIN_CPTS, ["a", "b", "c"], [["n", "y"], "lh", "xyz"])
    data = network.sample(50, seed=3)
    assert (data.names, data.levels) == (("a", "b", "c"), (("n", "y"), ("l", "h"), tuple("xyz")))
    assert data.codes.dtype == np.uint8
    assert data.records == 50
    assert (data.codes == network.sample(50, np.random.default_rng(3)).codes).all()
    assert (data.codes != network.sample(50, seed=4).codes).any()
    assert network.sample(0).records == 0


def test_sampled_frequencies_approach_the_joint_distribution(seed: int) -> None:
    network = BayesianNetwork.random(random_structure(4, seed=seed), [2, 3, 2, 4], seed=seed)
    m = 200_000
    codes = network.sample(m, seed).codes
    counts = np.zeros(network.arities)
    np.add.at(counts, tuple(codes), 1)
    p = network.marginal(range(4))
    assert (counts[p == 0] == 0).all()
    deviation = np.abs(counts / m - p) / np.sqrt(np.maximum(p * (1 - p), 1 / m) / m)
    assert deviation.max() < 7  # standard errors, over 48 cells


def test_a_level_of_probability_zero_is_never_drawn() -> None:
    thirds = BayesianNetwork(PDAG.empty(1), [[1 / 3, 0, 1 / 3, 1 / 3, 0, 0]])
    assert set(thirds.sample(10_000).codes[0].tolist()) == {0, 2, 3}


@pytest.mark.parametrize("arity", [2, 3])
def test_random_distributions_are_dirichlet(arity: int) -> None:
    """The mean square of a cell under Dirichlet(c, ..., c) is (c + 1) / (r (r c + 1))."""
    star = PDAG.from_edges(12, [(p, 11) for p in range(11)])
    for concentration in (0.5, 2.0):
        network = BayesianNetwork.random(star, arity, concentration, seed=1)
        expected = (concentration + 1) / (arity * (arity * concentration + 1))
        assert (network.cpts[11] ** 2).mean() == pytest.approx(expected, rel=0.05)


def test_random_networks_repeat_with_the_seed_and_keep_the_names() -> None:
    dag = PDAG.from_edges(2, [(1, 0)], names=["u", "v"])
    one, same, other = (BayesianNetwork.random(dag, [2, 3], seed=s) for s in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one.cpts, same.cpts, strict=True))
    assert (one.cpts[0] != other.cpts[0]).any()
    assert one.names == ("u", "v")
    assert [cpt.shape for cpt in one.cpts] == [(3, 2), (3,)]
    assert BayesianNetwork.random(PDAG.empty(2)).names == ("x0", "x1")


def test_a_network_is_a_value_that_nothing_changes() -> None:
    given_cpts = [np.array(cpt) for cpt in CHAIN_CPTS]
    network = BayesianNetwork(CHAIN, given_cpts)
    given_cpts[2][:] = 0
    assert network.cpts[2].tolist() == [0.2, 0.3, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        network.cpts[2][0] = 1
    with pytest.raises(ValueError, match="read-only"):
        network.marginal([0])[0] = 1
    with pytest.raises(AttributeError):
        network.names = ()  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(network))
    assert (copy.marginal([0, 1]) == network.marginal([0, 1])).all()


@pytest.mark.parametrize(
    ("cpts", "message"),
    [
        ([[0.5, 0.5]], "1 distributions were given for 2 variables"),
        ([[0.5, 0.5], [0.5, 0.5]], r"cpts\[b\] has the shape \(2,\); it must have 2 axes"),
        ([[0.5, 0.5], [[0.5, 0.5]]], r"cpts\[b\] has the shape \(1, 2\); .* a .* \(2, 2\)"),
        ([[0.5, 0.6], [[0.5, 0.5]] * 2], r"cpts\[a\]: .* levels \(\) add up to 1.1"),
        ([[0.5, 0.5], [[1, 0], [0, 0.5]]], r"cpts\[b\]: .* levels \(1,\) add up to 0.5"),
        (
            [[1.5, -0.5], [[0.5, 0.5]] * 2],
            r"cpts\[a\] contains -0.5; a probability must be 0 or more",
        ),
        ([[np.nan, 1], [[0.5, 0.5]] * 2], r"cpts\[a\] contains nan"),
        ([[], [[0.5, 0.5]] * 2], r"cpts\[a\] has the shape \(0,\)"),
        ([["x", "y"], [[0.5, 0.5]] * 2], r"cpts\[a\] is not an array of numbers"),
    ],
)
def test_distributions_that_do_not_fit_are_refused(cpts: Sequence[Any], message: str) -> None:
    dag = PDAG.from_edges(2, [(0, 1)], names=["a", "b"])
    with pytest.raises(NetworkError, match=message):
        BayesianNetwork(dag, cpts)


def test_levels_arities_and_sizes_that_do_not_fit_are_refused() -> None:
    coin = [[0.5, 0.5]]
    with pytest.raises(NetworkError, match="needs 2 labels, all different"):
        BayesianNetwork(PDAG.empty(1), coin, levels=[["h", "h"]])
    with pytest.raises(NetworkError, match="levels of 2 variables were given for 1"):
        BayesianNetwork(PDAG.empty(1), coin, levels=[["h", "t"], ["h", "t"]])
    with pytest.raises(NetworkError, match="3 arities were given for 2"):
        BayesianNetwork.random(PDAG.empty(2), [2, 2, 2])
    with pytest.raises(NetworkError, match="arity 0"):
        BayesianNetwork.random(PDAG.empty(2), 0)
    with pytest.raises(NetworkError, match="concentration 0"):
        BayesianNetwork.random(PDAG.empty(2), concentration=0)
    with pytest.raises(NetworkError, match="sample of -1 records"):
        BayesianNetwork(PDAG.empty(1), coin).sample(-1)
    with pytest.raises(NotADAG):
        BayesianNetwork(PDAG.complete(2), coin * 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, 2]], "variable x1: the rows have the levels 2 to 2; its levels are 0 to 1"),
        ([[-1, 0]], "variable x0"),
        ([[0.0, 1.0]], "whole numbers"),
        ([[0, 1, 1]], "each of the 2 variables"),
        (0, "each of the 2 variables"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(DataError, match=message):
        BayesianNetwork.random(PDAG.empty(2)).log_probability(rows)


def test_tables_that_do_not_fit_are_refused() -> None:
    network = BayesianNetwork.random(PDAG.empty(2))
    with pytest.raises(DataError, match="no column 'x1'"):
        network.log_probability(BayesianNetwork.random(PDAG.empty(1)).sample(1))
    with pytest.raises(DataError, match="column 'x0' has the level 2"):
        network.log_probability(BayesianNetwork.random(PDAG.empty(2), 3).sample(1))
    real = Dataset(
        ("x0", "x1"),
        (Kind.CONTINUOUS,) * 2,
        (None, None),
        np.zeros((2, 1)),
        np.empty((0, 1), np.uint8),
    )
    with pytest.raises(DataError, match="column 'x0' is continuous"):
        network.log_probability(real)


def test_rows_that_rounding_left_off_are_made_to_add_up_to_one() -> None:
    network = BayesianNetwork(PDAG.empty(1), [[0.3, 0.7 + 1e-10]])
    assert network.cpts[0].sum() == pytest.approx(1, rel=0, abs=1e-15)
