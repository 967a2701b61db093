"""Exact inference: both methods for marginals agree with enumeration, in any order."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import naive_network
from sges.errors import Undecided
from sges.graph import PDAG
from sges.network import (
    BayesianNetwork,
    inference,
    random_dag,
    random_polytree,
    random_structure,
)
from sges.network.inference import Marginals
from sges.nodeset import nodes, nodeset
from strategies import dags


def both(network: BayesianNetwork) -> tuple[Marginals, Marginals]:
    """Return the marginals from the joint distribution, and by elimination."""
    joint = Marginals(network.dag, network._factors(), network.arities)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "MAX_JOINT_CELLS", 0)
        return joint, Marginals(network.dag, network._factors(), network.arities)


def all_agree(network: BayesianNetwork, ways: tuple[Marginals, ...], order: list[int]) -> None:
    parents = [list(nodes(network.dag.parents(v))) for v in range(network.n)]
    full = naive_network.joint(parents, network.arities, [c.tolist() for c in network.cpts])
    for query in order:
        expected = naive_network.marginal(full, nodes(query))
        for way in ways:
            table = way.marginal(query)
            assert table.scope == query
            for row, p in expected.items():
                assert table.values[row] == pytest.approx(p, abs=1e-14)


@given(dags(max_nodes=5))
@settings(max_examples=40)
def test_both_ways_equal_enumeration_for_all_queries_in_any_order(dag: PDAG) -> None:
    rng = np.random.default_rng(dag.edge_count())
    network = BayesianNetwork.random(dag, rng.integers(1, 4, size=dag.n).tolist())
    all_agree(network, both(network), rng.permutation(1 << dag.n).tolist())


def test_answers_stay_right_when_what_is_kept_is_thrown_away(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(inference, "MAX_KEPT_CELLS", 40)
    network = BayesianNetwork.random(random_structure(6, seed=seed), seed=seed)
    all_agree(network, both(network), np.random.default_rng(seed).permutation(64).tolist())


def test_a_large_sparse_network_agrees_with_enumeration_over_ancestors(seed: int) -> None:
    """Sixty variables; the twin enumerates only the ancestors of the query."""
    rng = np.random.default_rng(seed)
    network = BayesianNetwork.random(random_dag(60, 70, seed), seed=seed)
    checked = 0
    for _ in range(300):
        query = nodeset(rng.choice(60, size=3, replace=False).tolist())
        part = list(nodes(network.dag.ancestors(nodes(query))))
        if len(part) > 10:
            continue
        number = {v: i for i, v in enumerate(part)}
        parents = [[number[p] for p in nodes(network.dag.parents(v))] for v in part]
        cpts = [network.cpts[v].tolist() for v in part]
        full = naive_network.joint(parents, [2] * len(part), cpts)
        expected = naive_network.marginal(full, [number[v] for v in nodes(query)])
        found = network.marginal(nodes(query))
        assert [found[row] for row in expected] == pytest.approx(list(expected.values()), abs=1e-14)
        checked += 1
    assert checked > 20


def test_a_long_chain_agrees_with_the_product_of_its_transitions() -> None:
    n = 300
    network = BayesianNetwork.random(PDAG.from_edges(n, [(v, v + 1) for v in range(n - 1)]), 3)
    at = network.cpts[0]
    for v in range(1, n):
        at = at @ network.cpts[v]
    assert network.marginal([n - 1]) == pytest.approx(at, abs=1e-13)
    between = np.linalg.multi_dot([network.cpts[v] for v in range(101, 105)])
    pair = network.marginal([100])[:, None] * between
    assert network.marginal([100, 104]) == pytest.approx(pair, abs=1e-13)


def test_a_polytree_of_hundreds_is_easy_and_consistent(seed: int) -> None:
    """Marginals of overlapping sets agree on the overlap."""
    network = BayesianNetwork.random(random_polytree(200, seed), 3, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(30):
        a, b, c = sorted(rng.choice(200, size=3, replace=False).tolist())
        three = network.marginal([a, b, c])
        assert three.sum() == pytest.approx(1)
        assert three.sum(axis=1) == pytest.approx(network.marginal([a, c]), abs=1e-13)


def test_a_query_that_no_memory_holds_is_refused() -> None:
    network = BayesianNetwork.random(random_polytree(60))
    with pytest.raises(Undecided, match=r"over 60 variables.*ask for the marginal of fewer"):
        network.marginal(range(60))


def test_an_elimination_that_no_memory_holds_is_refused_before_it_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The query has one variable, but the elimination needs a table of seven."""
    band = PDAG.from_edges(40, [(x, y) for y in range(40) for x in range(max(0, y - 6), y)])
    network = BayesianNetwork.random(band)
    assert network.marginal([39]).sum() == pytest.approx(1)
    monkeypatch.setattr(inference, "MAX_TABLE_CELLS", 64)
    with pytest.raises(Undecided, match="needs a table of 128 cells over 7 variables"):
        BayesianNetwork.random(band).marginal([39])


@given(dags(min_nodes=1, max_nodes=5))
@settings(max_examples=40)
def test_a_query_given_levels_is_a_slice_of_the_joint(dag: PDAG) -> None:
    rng = np.random.default_rng(dag.edge_count())
    network = BayesianNetwork.random(dag, rng.integers(1, 4, size=dag.n).tolist(), seed=rng)
    order = rng.permutation(dag.n).tolist()
    for k, v in enumerate(order):
        known = {u: int(rng.integers(network.arities[u])) for u in sorted(order[:k])}
        joint = network.marginal({v, *known})
        row = joint[tuple(known.get(u, slice(None)) for u in sorted({v, *known}))]
        found = network.query(f"x{v}", given={f"x{u}": level for u, level in known.items()})
        assert isinstance(found, dict)
        assert list(found.values()) == pytest.approx((row / row.sum()).tolist())


def test_a_query_may_be_given_any_number_of_levels() -> None:
    """The probability of the given levels may be smaller than any double."""
    n = 600
    star = PDAG.from_edges(n, [(0, v) for v in range(1, n)])
    cpts: list[list[Any]] = [[0.5, 0.5], *[[[0.1, 0.9], [0.2, 0.8]] for _ in range(1, n)]]
    network = BayesianNetwork(star, cpts)
    ones = {f"x{v}": 1 for v in range(1, n)}
    assert network.query("x0=0", given=ones) == pytest.approx(1 / (1 + (8 / 9) ** (n - 1)))
    few = {**ones, **{f"x{v}": 0 for v in range(1, 71)}}
    odds = 0.5**70 * (9 / 8) ** (n - 71)
    assert network.query("x0=0", given=few) == pytest.approx(odds / (1 + odds))
    zeros = dict.fromkeys(ones, 0)
    assert network.query("x0=1", given=zeros) == pytest.approx(1.0)


def test_an_empty_network_and_an_empty_query_have_probability_one() -> None:
    assert BayesianNetwork(PDAG.empty(0), []).marginal([]).tolist() == 1.0
    assert BayesianNetwork.random(random_polytree(60)).marginal([]).tolist() == pytest.approx(1.0)


def test_the_tables_used_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "MAX_KEPT_CELLS", 20)
    kept = inference._Kept()
    table = inference.Table(0, np.zeros(8))
    kept.keep("a", table)
    kept.keep("b", table)
    assert kept.get("a") is table
    kept.keep("c", table)
    assert [key for key in "abc" if kept.get(key) is not None] == ["a", "c"]
