"""The oracles: exact values, the limit of many records, and exact d-separation."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

import naive
import naive_network
from bridge import pdag_of
from sges.errors import NotADAG, ScoreError, Undecided
from sges.graph import PDAG, d_separated
from sges.graph.separation import markov_boundary
from sges.network import BayesianNetwork, LinearGaussian, random_dag, random_structure
from sges.nodeset import NodeSet, nodes, nodeset, subsets
from sges.score.conformance import check_score
from sges.score.discrete import DiscreteBIC
from sges.score.gaussian.bic import GaussianBIC
from sges.score.oracles import RECORDS, GaussianOracle, OracleMDL, SeparationOracle
from sges.score.protocol import dag_score
from strategies import dags


def families(n: int) -> list[tuple[int, NodeSet]]:
    """Return every (y, parents) on n variables."""
    everything = (1 << n) - 1
    return [(y, s) for y in range(n) for s in subsets(everything & ~(1 << y))]


def permuted(network: BayesianNetwork, order: Sequence[int]) -> BayesianNetwork:
    """Return the network in which variable i is the old variable order[i]."""
    new = [order.index(v) for v in range(network.n)]
    cpts = []
    for old in order:
        parents = list(nodes(network.dag.parents(old)))
        axes = sorted(range(len(parents)), key=lambda i: new[parents[i]])
        cpts.append(network.cpts[old].transpose([*axes, len(axes)]))
    return BayesianNetwork(network.dag.relabel(new), cpts)


# --- OracleMDL


@given(dags(max_nodes=4, min_nodes=1))
@settings(max_examples=40)
def test_the_oracle_is_the_expected_mdl_of_every_family(dag: PDAG) -> None:
    rng = np.random.default_rng(dag.edge_count())
    arities = rng.integers(1, 4, size=dag.n).tolist()
    network = BayesianNetwork.random(dag, arities, seed=dag.n)
    parents = [list(nodes(dag.parents(v))) for v in range(dag.n)]
    full = naive_network.joint(parents, arities, [cpt.tolist() for cpt in network.cpts])
    for records in (1.0, 1000.0, 5e9):
        score = OracleMDL(network, records)
        for y, given_set in families(dag.n):
            expected = naive_network.expected_mdl(full, arities, y, nodes(given_set), records)
            assert score.local(y, given_set) == pytest.approx(
                expected, rel=1e-12, abs=1e-13 * records
            )


def test_the_oracle_keeps_the_contract_of_a_score(seed: int) -> None:
    network = BayesianNetwork.random(random_structure(8, 3, seed), [2, 3] * 4, seed=seed)
    check_score(
        OracleMDL(network),
        seed=seed,
        permuted=lambda order: OracleMDL(permuted(network, list(order))),
    )


def test_from_the_joint_and_from_buckets_the_oracle_is_the_same(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    dag = random_structure(7, 2, seed)
    one = OracleMDL(BayesianNetwork.random(dag, seed=seed))
    monkeypatch.setattr("sges.network.inference.MAX_JOINT_CELLS", 1)
    other = OracleMDL(BayesianNetwork.random(dag, seed=seed))
    for y, parents in families(7):
        assert one.local(y, parents) == pytest.approx(other.local(y, parents), abs=1e-3)


def test_the_oracle_is_the_limit_of_the_score_of_data(seed: int) -> None:
    """|oracle − BIC(m)| / m decreases as 1/√m for every family."""
    network = BayesianNetwork.random(random_structure(4, 2, seed), [2, 3, 2, 2], seed=seed)
    errors = []
    for m in (1_000, 16_000, 256_000):
        oracle, sampled = OracleMDL(network, m), DiscreteBIC(network.sample(m, seed))
        differences = [oracle.local(y, p) - sampled.local(y, p) for y, p in families(4)]
        errors.append(max(map(abs, differences)) / m)
    assert errors[0] < 0.25
    assert errors[1] < 0.06
    assert errors[2] < 0.015


def test_the_oracle_needs_no_table_of_all_variables() -> None:
    """Sixty variables: a true parent gains much, a separated one costs the penalty."""
    dag = PDAG.from_edges(60, [(v, v + 1) for v in range(59)])
    flip = [[0.9, 0.1], [0.2, 0.8]]
    score = OracleMDL(BayesianNetwork(dag, [[0.5, 0.5], *[flip] * 59]))
    alone, true, both = (score.local(30, s) for s in (0, 1 << 29, 1 << 29 | 1 << 10))
    assert true - alone > 1e8
    assert both - true == pytest.approx(-0.5 * np.log(5e9) * 2, abs=1e-3)


def test_entropies_of_a_set_are_computed_once_for_all_its_families() -> None:
    network = BayesianNetwork.random(random_structure(6))
    score = OracleMDL(network)
    for y, parents in families(6):
        score.local(y, parents)
    assert len(score._entropies) == 2**6


@pytest.mark.parametrize("records", [0, 0.5, -1, float("inf"), float("nan")])
def test_invalid_numbers_of_records_are_refused(records: float) -> None:
    with pytest.raises(ScoreError, match="records"):
        OracleMDL(BayesianNetwork.random(PDAG.empty(1)), records)


# --- GaussianOracle


def test_the_gaussian_oracle_is_the_bic_of_the_population(seed: int) -> None:
    model = LinearGaussian.random(random_dag(5, 6, seed), seed=seed)
    covariance = naive_network.covariance_by_paths(model.weights, model.variances)
    score, m = GaussianOracle(model, records=1e6), 1e6
    for y, parents in families(5):
        variance = naive_network.conditional_variance(covariance, y, list(nodes(parents)))
        fit = -m / 2 * (np.log(2 * np.pi * variance) + 1)
        expected = fit - 0.5 * np.log(m) * (parents.bit_count() + 2)
        assert score.local(y, parents) == pytest.approx(expected, rel=1e-11)
    check_score(score, seed=seed)


def test_the_gaussian_oracle_takes_a_model_or_its_covariance() -> None:
    model = LinearGaussian.random(random_dag(4, 4).named(["a", "b", "c", "d"]))
    by_model, by_covariance = GaussianOracle(model), GaussianOracle(model.covariance())
    assert by_model.names == ("a", "b", "c", "d")
    assert by_model.records == 5e9
    assert all(by_model.local(y, p) == by_covariance.local(y, p) for y, p in families(4))


def test_the_gaussian_oracle_is_the_limit_of_the_score_of_data(seed: int) -> None:
    model = LinearGaussian.random(random_dag(5, 6, seed), seed=seed)
    errors = []
    for m in (1_000, 256_000):
        oracle, sampled = GaussianOracle(model, m), GaussianBIC(model.sample(m, seed))
        errors.append(
            max(abs(oracle.local(y, p) - sampled.local(y, p)) for y, p in families(5)) / m
        )
    assert errors[0] < 0.25
    assert errors[1] < 0.016


# --- SeparationOracle


@pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_a_separated_parent_costs_the_penalty_exactly_and_any_other_gains(n: int) -> None:
    """For all x, y and sets on every DAG (on every 13th of 5 nodes); the twin lists all paths."""
    for arcs in naive.all_dags(n)[:: 13 if n == 5 else 1]:
        score = SeparationOracle(pdag_of(n, arcs))
        for x, y in combinations(range(n), 2):
            for others in naive.powerset(v for v in range(n) if v not in (x, y)):
                s = nodeset(others)
                forth = score.local(y, s | 1 << x) - score.local(y, s)
                back = score.local(x, s | 1 << y) - score.local(x, s)
                if naive.d_separated(n, arcs, x, y, frozenset(others)):
                    assert forth == back == -score.penalty, (arcs, x, y, others)
                else:
                    assert min(forth, back) > 1e5 * score.penalty, (arcs, x, y, others)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_equivalent_dags_have_the_same_score_on_every_truth(n: int) -> None:
    """For every class and every truth, up to the rounding of likelihoods."""
    members = [
        [[(y, nodeset(naive.parents(arcs, y))) for y in range(n)] for arcs in dags]
        for dags in naive.classes(n).values()
    ]
    for truth in naive.all_dags(n):
        score = SeparationOracle(pdag_of(n, truth))
        local = {family: score.local(*family) for family in families(n)}
        for equivalent in members:
            totals = [sum(local[family] for family in dag) for dag in equivalent]
            assert max(totals) - min(totals) <= 1e-12 * RECORDS


def test_the_truth_alone_has_the_best_score_and_denser_imaps_lose_a_penalty_per_edge() -> None:
    for truth in naive.all_dags(3):
        score = SeparationOracle(pdag_of(3, truth))
        totals = {arcs: dag_score(score, pdag_of(3, arcs)) for arcs in naive.all_dags(3)}
        best = max(totals.values())
        found = {arcs for arcs, total in totals.items() if total > best - 0.5 * score.penalty}
        assert found == set(naive.classes(3)[naive.class_of(truth)])
        complete = max(total for arcs, total in totals.items() if len(arcs) == 3)
        assert best - complete == pytest.approx((3 - len(truth)) * score.penalty, abs=1e-3)


@given(dags(max_nodes=7))
@settings(max_examples=60)
def test_the_markov_boundary_is_the_parents_that_separation_needs(dag: PDAG) -> None:
    rng = np.random.default_rng(dag.edge_count())
    for y in range(dag.n):
        candidates = int(rng.integers(1 << dag.n)) & ~(1 << y)
        needed = [
            p
            for p in nodes(candidates)
            if not d_separated(dag, p, y, nodes(candidates & ~(1 << p)))
        ]
        found = markov_boundary(dag, 1 << y, candidates)
        assert found == nodeset(needed)
        assert d_separated(dag, y, nodes(candidates & ~found), nodes(found))


def test_the_separation_oracle_keeps_the_contract_on_many_nodes(seed: int) -> None:
    check_score(SeparationOracle(random_structure(15, 2, seed)), seed=seed, pairs=200)


def test_on_many_nodes_separation_is_seen_too(seed: int) -> None:
    dag = random_structure(20, 2, seed)
    score = SeparationOracle(dag)
    rng = np.random.default_rng(seed)
    separated = 0
    for _ in range(500):
        x, y, *others = rng.permutation(20)[: rng.integers(2, 7)].tolist()
        s = nodeset(others)
        gain = score.local(y, s | 1 << x) - score.local(y, s)
        if d_separated(dag, x, y, nodes(s)):
            assert gain == -score.penalty
            separated += 1
        else:
            assert gain > score.penalty
    assert 0 < separated < 500


def test_a_dependence_too_weak_to_be_seen_is_refused_not_guessed() -> None:
    far = PDAG.from_edges(150, [(v, v + 1) for v in range(149)])
    score = SeparationOracle(far)
    assert score.local(1, 0b1) > score.local(1, 0)
    with pytest.raises(Undecided, match=r"0 and 149 are d-connected given \{\}"):
        score.local(149, 0b1)


def test_the_separation_oracle_is_the_same_every_time_and_other_seeds_agree_on_signs() -> None:
    dag = random_dag(5, 6)
    one, same, other = SeparationOracle(dag), SeparationOracle(dag), SeparationOracle(dag, seed=1)
    values = [[score.local(y, p) for y, p in families(5)] for score in (one, same, other)]
    assert values[0] == values[1]
    assert values[0] != values[2]


def test_a_graph_that_is_not_a_dag_is_refused() -> None:
    with pytest.raises(NotADAG):
        SeparationOracle(PDAG.complete(3))
