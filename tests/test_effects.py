"""Effects over a class, compared with the effects in each of its members."""

import json
from collections.abc import Callable
from itertools import combinations, product
from math import factorial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive
import sges
from bridge import frozen, pdag_of
from sges.data import Dataset, Moments
from sges.errors import DataError, GraphError, InvalidArgument, Undecided, in_shell
from sges.graph import PDAG, dag_to_cpdag, extensions, members, pdag_to_dag, sample_members
from sges.graph.meek import close_under_meek
from sges.network import BayesianNetwork, LinearGaussian, fit, random_dag
from sges.nodeset import nodes
from sges.score import DegenerateGaussian, GaussianBIC
from sges.tools.effects import (
    DiscreteEffect,
    LinearEffect,
    effect,
    effect_over,
    effects,
    joint_effect,
    multiplicities,
    possible_parents,
)
from strategies import cpdags

Floats = NDArray[np.float64]


def weights_in(dag: PDAG, covariance: Floats) -> Floats:
    """Return the edge weights of a DAG, from regressions of the nodes on their parents."""
    weights = np.zeros((dag.n, dag.n))
    for y in range(dag.n):
        if above := list(nodes(dag.parents(y))):
            weights[above, y] = np.linalg.solve(
                covariance[np.ix_(above, above)], covariance[above, y]
            )
    return weights


def total_effects(dag: PDAG, covariance: Floats, fixed: tuple[int, ...] = ()) -> Floats:
    """Return all total effects, summed over directed paths that enter no fixed node."""
    weights = weights_in(dag, covariance)
    weights[:, list(fixed)] = 0.0
    return np.linalg.inv(np.eye(dag.n) - weights).astype(np.float64)


def distinct(values: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Return the sorted values, without duplicates up to rounding."""
    return sorted({tuple(round(v, 6) + 0.0 for v in value) for value in values})


def assert_all_effects(graph: PDAG, every: list[PDAG], seed: int) -> None:
    model = LinearGaussian.random(every[seed % len(every)].named(None), seed=seed)
    covariance = model.covariance()
    brute = [total_effects(dag, covariance) for dag in every]
    for x, y in product(range(graph.n), repeat=2):
        if x == y:
            continue
        wanted = distinct([(float(b[x, y]),) for b in brute])
        for adjustment in ("parents", "optimal"):
            found = effect(graph, x, y, model, adjustment=adjustment)
            assert isinstance(found, LinearEffect)
            assert distinct([(v,) for v in found.values]) == wanted
            assert max(found.standard_errors) == 0


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_effects_over_every_class_are_those_in_its_members(n: int, seed: int) -> None:
    for number, arcs in enumerate(naive.all_cpdags(n)):
        graph = pdag_of(n, arcs)
        assert_all_effects(graph, list(members(graph)), seed + number)


def refined(cpdag: PDAG, seed: int) -> PDAG:
    lines = cpdag.undirected_edges()
    arrows = sample_members(cpdag, 1, seed)[0].directed_edges()
    chosen = [e for e in arrows if e in lines or e[::-1] in lines]
    return close_under_meek(cpdag, chosen[seed % 3 :: 3])


@settings(max_examples=30)
@given(cpdags(max_nodes=6, min_nodes=2), st.integers(0, 10**6))
def test_effects_over_a_refined_class_are_those_in_its_members(cpdag: PDAG, seed: int) -> None:
    graph = refined(cpdag, seed)
    assert_all_effects(graph, list(extensions(graph)), seed)


@settings(max_examples=60)
@given(cpdags(max_nodes=7), st.integers(0, 10**6))
def test_possible_parents_are_the_parents_in_some_member(cpdag: PDAG, seed: int) -> None:
    for graph in (cpdag, refined(cpdag, seed)):
        every = list(extensions(graph))
        for x in range(graph.n):
            sets = possible_parents(graph, x)
            assert len(set(sets)) == len(sets)
            assert set(sets) == {dag.parents(x) for dag in every}


@settings(max_examples=40)
@given(cpdags(max_nodes=6, min_nodes=3), st.integers(0, 10**6))
def test_joint_effects_are_those_along_paths_that_avoid_other_treatments(
    cpdag: PDAG, seed: int
) -> None:
    every = list(members(cpdag))
    model = LinearGaussian.random(every[seed % len(every)], seed=seed)
    *xs, y = np.random.default_rng(seed).permutation(cpdag.n)[: 3 + seed % 2 * (cpdag.n > 3)]
    brute = [total_effects(dag, model.covariance(), tuple(xs)) for dag in every]
    wanted = distinct([tuple(b[x, y] for x in xs) for b in brute])
    found = joint_effect(cpdag, [int(x) for x in xs], int(y), model)
    assert distinct(list(found.values)) == wanted


@settings(max_examples=40)
@given(cpdags(max_nodes=6, min_nodes=3), st.integers(0, 10**6))
def test_a_joint_effect_is_zero_exactly_if_other_treatments_cut_all_paths(
    cpdag: PDAG, seed: int
) -> None:
    """The estimates are from few records, so that no other one is exactly zero."""
    every = list(members(cpdag))
    data = LinearGaussian.random(every[seed % len(every)].named(None), seed=seed).sample(50, seed)
    order = np.random.default_rng(seed).permutation(cpdag.n).tolist()
    *xs, y = order[: 2 + seed % min(3, cpdag.n - 1)]
    found = joint_effect(cpdag, xs, y, data)
    choices = zip(found.parents, found.values, found.standard_errors, strict=True)
    for parents, values, errors in choices:
        dag = next(d for d in every if parents == tuple(d.names_of(d.parents(x)) for x in xs))
        for x, value, error in zip(xs, values, errors, strict=True):
            others = {v for v in xs if v != x}
            reached, todo = set[int](), [x]
            while todo:
                new = set(nodes(dag.children(todo.pop()))) - reached - others
                reached |= new
                todo += new
            assert (y in reached) == (value != 0) == (error != 0)


def test_a_treatment_without_a_path_of_its_own_does_not_change_the_others() -> None:
    """The effect of 0 is through 1, and 3 has no effect."""
    dag = PDAG.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    data = LinearGaussian.random(dag, seed=1).sample(60, seed=1)
    alone, joint = joint_effect(dag, [1], 2, data), joint_effect(dag, [0, 1, 3], 2, data)
    ((value,),), ((error,),) = alone.values, alone.standard_errors
    assert (joint.values, joint.standard_errors) == (((0.0, value, 0.0),), ((0.0, error, 0.0),))


def test_one_joint_treatment_is_a_plain_effect() -> None:
    model = LinearGaussian.random(random_dag(6, 9, seed=2), seed=2)
    cpdag = dag_to_cpdag(model.dag)
    plain = effect(cpdag, 1, 4, model)
    assert isinstance(plain, LinearEffect)
    joint = joint_effect(cpdag, [1], 4, model)
    assert [v for (v,) in joint.values] == pytest.approx(list(plain.values))
    assert tuple(p for (p,) in joint.parents) == plain.adjustment
    data = model.sample(100_000, seed=2)
    plain, joint = effect(cpdag, 1, 4, data), joint_effect(cpdag, [1], 4, data)
    assert isinstance(plain, LinearEffect)
    assert [e for (e,) in joint.standard_errors] == pytest.approx(plain.standard_errors, rel=1e-4)


def test_standard_errors_of_joint_effects_are_the_spread_over_data_sets() -> None:
    dag = PDAG.from_edges(5, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (1, 4)])
    model = LinearGaussian.random(dag, seed=4)
    found = [joint_effect(dag, [1, 3], 4, model.sample(400, seed=i)) for i in range(400)]
    values = np.array([effects.values[0] for effects in found])
    errors = np.array([effects.standard_errors[0] for effects in found])
    assert values.std(axis=0) == pytest.approx(errors.mean(axis=0), rel=0.12)
    (exact,) = joint_effect(dag, [1, 3], 4, model).values
    covered = (np.abs(values - exact) < 1.96 * errors).mean(axis=0)
    assert np.all(np.abs(covered - 0.95) < 0.035)  # three standard deviations of a share of 400


def test_effects_are_those_that_pcalg_documents() -> None:
    """The example of jointIda in pcalg, with the expected values of its test."""
    arcs = {
        (1, 3): 1.1, (1, 4): 0.3, (2, 6): 0.4, (3, 2): 0.6, (3, 4): 0.8, (3, 6): 0.9,
        (4, 2): 0.5, (5, 1): 0.2, (5, 4): 0.7,
    }  # fmt: skip
    dag = PDAG.from_edges(6, [(x - 1, y - 1) for x, y in arcs], names=list("123456"))
    weights = np.zeros((6, 6))
    for (x, y), weight in arcs.items():
        weights[x - 1, y - 1] = weight
    model = LinearGaussian(dag, weights, np.ones(6))
    found = joint_effect(dag_to_cpdag(dag), ["1", "2"], "6", model)
    assert distinct(list(found.values)) == [(0.0, 0.4), (0.99, 0.4)]
    assert set(found.parents) == {(z, ("3", "4")) for z in [("5",), (), ("3",)]}
    known = close_under_meek(dag_to_cpdag(dag), [(0, 2)])
    assert distinct(list(joint_effect(known, ["1", "2"], "6", model).values)) == [(0.99, 0.4)]


@settings(max_examples=60)
@given(cpdags(max_nodes=6), st.integers(0, 10**6))
def test_multiplicities_are_the_members_with_each_set_of_parents(cpdag: PDAG, seed: int) -> None:
    for graph in (cpdag, refined(cpdag, seed)):
        every = list(extensions(graph))
        for x in range(graph.n):
            above = [dag.parents(x) for dag in every]
            counted = [above.count(z) for z in possible_parents(graph, x)]
            assert multiplicities(graph, x) == counted


def test_multiplicities_of_a_large_class_are_exact() -> None:
    numbers = multiplicities(PDAG.complete(10), 0)
    assert all(isinstance(number, int) for number in numbers)
    assert sum(map(int, numbers)) == factorial(10)  # type: ignore[arg-type]


def test_effects_are_plain_values_on_request() -> None:
    model = LinearGaussian.random(random_dag(4, 4, seed=1), seed=1)
    found = effect(dag_to_cpdag(model.dag), 0, 3, model.sample(100))
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert isinstance(found, LinearEffect)
    assert again["values"] == list(found.values)
    assert again["interval"] == list(found.interval())
    network = BayesianNetwork.random(PDAG.from_edges(3, [(0, 1), (0, 2), (1, 2)]), seed=1)
    table = network.sample(6, seed=1)
    discrete = effect(network.dag, 1, 2, table, smoothing=0)
    again = json.loads(json.dumps(discrete.to_dict(), allow_nan=False))
    assert np.shape(again["distributions"]) == (1, 2, 2)
    assert again["adjustment"] == [["0"]]


def truncated(network: BayesianNetwork, x: int, y: int) -> Floats:
    """Return p(y | do(x)) by the truncated factorization, summed over all configurations."""
    arities = network.arities
    table = np.zeros((arities[x], arities[y]))
    for levels in product(*map(range, arities)):
        rest = [
            network.cpts[v][(*(levels[p] for p in nodes(network.dag.parents(v))), levels[v])]
            for v in range(network.n)
            if v != x
        ]
        table[levels[x], levels[y]] += np.prod(rest)
    return table


def as_in(dag: PDAG, network: BayesianNetwork) -> BayesianNetwork:
    """Return the same distribution, factorized by an equivalent DAG."""
    joint = network.marginal(range(network.n))
    cpts = []
    for v in range(dag.n):
        family = [*nodes(dag.parents(v)), v]
        out = tuple(u for u in range(dag.n) if u not in family)
        table = np.moveaxis(joint.sum(axis=out), sorted(family).index(v), -1)
        cpts.append(table / table.sum(axis=-1, keepdims=True))
    return BayesianNetwork(dag, cpts)


@settings(max_examples=25)
@given(cpdags(max_nodes=5, min_nodes=2), st.integers(0, 10**6))
def test_discrete_effects_are_the_truncated_factorizations_of_the_members(
    cpdag: PDAG, seed: int
) -> None:
    arities = [2 + (v + seed) % 2 for v in range(cpdag.n)]
    network = BayesianNetwork.random(pdag_to_dag(cpdag), arities, 2.0, seed=seed)
    x, y = np.random.default_rng(seed).permutation(cpdag.n)[:2].tolist()
    found = effect(cpdag, x, y, network)
    assert isinstance(found, DiscreteEffect)
    sets = map(frozen, possible_parents(cpdag, x))
    by_parents = dict(zip(sets, found.distributions, strict=True))
    for dag in members(cpdag):
        wanted = truncated(as_in(dag, network), x, y)
        assert by_parents[frozen(dag.parents(x))] == pytest.approx(wanted, abs=1e-9)


def test_discrete_effects_from_records_approach_those_of_the_network() -> None:
    dag = PDAG.from_edges(3, [(0, 1), (0, 2), (1, 2)], names=["a", "b", "c"])
    network = BayesianNetwork.random(dag, [2, 3, 2], 2.0, seed=4)
    found = effect(dag, "b", "c", network.sample(200_000, seed=1))
    assert isinstance(found, DiscreteEffect)
    assert found.adjustment == (("a",),)
    assert found.levels == ((0, 1, 2), (0, 1))
    assert found.minimum == pytest.approx(truncated(network, 1, 2), abs=0.01)
    assert (found.minimum == found.maximum).all()


def test_a_configuration_that_never_occurs_is_smoothed_or_not_a_number() -> None:
    table = {"z": ["0", "0", "1"], "x": ["0", "1", "1"], "y": ["0", "1", "1"]}
    dag = PDAG.from_edges(3, [(0, 1), (0, 2), (1, 2)], names=["z", "x", "y"])
    plain = effect(dag, "x", "y", table, smoothing=0)
    smoothed = effect(dag, "x", "y", table)
    assert isinstance(plain, DiscreteEffect)
    assert isinstance(smoothed, DiscreteEffect)
    assert np.isnan(plain.distributions[0][0]).all()
    assert plain.distributions[0][1].tolist() == [0, 1]
    assert smoothed.distributions[0].sum(axis=1) == pytest.approx(1)
    assert smoothed.distributions[0][0, 0] == pytest.approx(2 / 3 * 0.75 + 1 / 3 * 0.5)


def test_all_members_of_a_class_are_smoothed_alike(seed: int) -> None:
    """A huge pseudo-count makes every distribution uniform, with and without a path."""
    either_way = PDAG.from_edges(2, [], [(0, 1)], names=["x", "y"])
    rng = np.random.default_rng(seed)
    table = {"x": rng.choice(["a", "b"], 9), "y": rng.choice(["c", "d", "e"], 9)}
    drowned = effect(either_way, "x", "y", table, smoothing=1e12)
    assert isinstance(drowned, DiscreteEffect)
    assert len(drowned.distributions) == 2
    assert np.allclose(drowned.distributions, 1 / len(drowned.levels[1]))
    for dag, found in ((dag, effect(dag, "x", "y", table)) for dag in extensions(either_way)):
        assert isinstance(found, DiscreteEffect)
        fitted = effect(dag, "x", "y", fit(dag, table))
        assert isinstance(fitted, DiscreteEffect)
        assert np.allclose(found.distributions, fitted.distributions)


def test_a_pseudo_count_is_spread_over_the_levels_of_the_outcome() -> None:
    table = {"z": ["0", "0", "1"], "x": ["0", "1", "1"], "y": ["0", "1", "2"]}
    dag = PDAG.from_edges(3, [(0, 1), (0, 2), (1, 2)], names=["z", "x", "y"])
    found = effect(dag, "x", "y", table)
    assert isinstance(found, DiscreteEffect)
    assert found.distributions[0][0, 0] == pytest.approx(2 / 3 * (1 + 1 / 3) / 2 + 1 / 3 * 1 / 3)


def test_coefficients_and_standard_errors_are_those_of_least_squares() -> None:
    model = LinearGaussian.random(random_dag(5, 8, seed=3), seed=3)
    data = model.sample(80, seed=5)
    x, y = 1, 0
    found = effect(model.dag, x, y, data)
    assert isinstance(found, LinearEffect)
    above = list(nodes(model.dag.parents(x)))
    design = np.column_stack([np.ones(80), data.values[[x, *above]].T])
    slopes, (rest,), _, _ = np.linalg.lstsq(design, data.values[y], rcond=None)
    free = 80 - design.shape[1]
    variance = rest / free * np.linalg.inv(design.T @ design)[1, 1]
    assert found.values == pytest.approx([slopes[1]])
    assert found.standard_errors == pytest.approx([variance**0.5])
    assert found.degrees_of_freedom == (free,)
    moments = effect(model.dag, x, y, Moments.of(data))
    assert isinstance(moments, LinearEffect)
    assert moments.values == found.values


def test_confidence_intervals_cover_the_effect_as_often_as_they_say() -> None:
    dag = PDAG.from_edges(4, [(0, 1), (1, 2), (0, 2), (3, 2)])
    model = LinearGaussian.random(dag, seed=8)
    (truth,) = effect(dag, 1, 2, model).values  # type: ignore[union-attr]
    covered = 0
    for seed in range(500):
        found = effect(dag, 1, 2, model.sample(40, seed=seed))
        assert isinstance(found, LinearEffect)
        low, high = found.interval()
        covered += low <= truth <= high
    assert 0.925 <= covered / 500 <= 0.975


def test_an_effect_that_the_graph_excludes_is_zero_and_not_estimated() -> None:
    dag = PDAG.from_edges(4, [(0, 1), (0, 2), (1, 3), (2, 3)])  # 1 and 2 have a common cause
    model = LinearGaussian.random(dag, seed=2)
    found = effect(dag, 1, 2, model.sample(50, seed=2))
    assert isinstance(found, LinearEffect)
    assert (found.values, found.standard_errors, found.interval()) == ((0.0,), (0.0,), (0.0, 0.0))
    network = BayesianNetwork.random(dag, 3, seed=2)
    table = network.sample(50, seed=2)
    discrete = effect(dag, 1, 2, table)
    assert isinstance(discrete, DiscreteEffect)
    assert discrete.changes == (0.0,)
    shares = (np.bincount(table.codes[2], minlength=3) + 1 / 3) / 51  # one pseudo-count
    assert discrete.distributions[0] == pytest.approx(np.tile(shares, (3, 1)))


def test_optimal_adjustment_has_the_smaller_standard_error() -> None:
    dag = PDAG.from_edges(4, [(0, 1), (1, 2), (3, 2)])  # adjust for 3, but not for 0
    data = LinearGaussian.random(dag, (1.0, 1.5), seed=1).sample(400, seed=1)
    parents = effect(dag, 1, 2, data)
    optimal = effect(dag, 1, 2, data, adjustment="optimal")
    assert isinstance(parents, LinearEffect)
    assert isinstance(optimal, LinearEffect)
    assert (parents.adjustment, optimal.adjustment) == ((("0",),), (("3",),))
    assert optimal.standard_errors[0] < parents.standard_errors[0]
    backwards = effect(dag, 2, 1, data, adjustment="optimal")
    assert isinstance(backwards, LinearEffect)
    assert backwards.values == (0.0,)


def test_rankings_are_by_the_smallest_absolute_value() -> None:
    model = LinearGaussian.random(random_dag(7, 10, seed=6), seed=6)
    cpdag = dag_to_cpdag(model.dag)
    on, of = effects(cpdag, model, on=3), effects(cpdag, model, of=3)
    for ranked in (on, of):
        assert len(ranked) == 6
        bounds = [found.lower_bound for found in ranked]
        assert bounds == sorted(bounds, reverse=True)
    assert {found.outcome for found in on} == {found.treatment for found in of} == {"3"}
    for found in on:
        assert isinstance(found, LinearEffect)
        assert found == effect(cpdag, found.treatment, 3, model)
        assert found.lower_bound == min(abs(value) for value in found.values)


def test_of_effects_that_may_be_zero_the_largest_possible_one_is_ranked_first() -> None:
    line = PDAG.from_edges(4, undirected=[(1, 2), (2, 3)])  # 0 has no effect at all
    model = LinearGaussian(PDAG.from_edges(4, [(1, 2), (2, 3)]), np.diag([0, 0.5, 1], 1), [1] * 4)
    ranked = effects(line, model, on=3)
    assert [found.treatment for found in ranked] == ["2", "1", "0"]
    assert {found.lower_bound for found in ranked} == {0.0}


def test_discrete_rankings_are_by_the_smallest_change_of_a_probability(seed: int) -> None:
    network = BayesianNetwork.random(random_dag(5, 6, seed=seed), seed=seed)
    cpdag = dag_to_cpdag(network.dag)
    on, of = effects(cpdag, network, on=2), effects(cpdag, network, of=2)
    for ranked in (on, of):
        assert len(ranked) == 4
        bounds = [found.lower_bound for found in ranked]
        assert bounds == sorted(bounds, reverse=True)
    for found in on:
        assert isinstance(found, DiscreteEffect)
        plain = effect(cpdag, found.treatment, 2, network)
        assert isinstance(plain, DiscreteEffect)
        events = [
            list(some) for k in (1, 2) for some in combinations(range(len(found.levels[1])), k)
        ]
        widest = []
        for table in plain.distributions:
            tops = [table[:, event].sum(axis=1) for event in events]
            widest.append(max(float(top.max() - top.min()) for top in tops))
        assert found.changes == pytest.approx(widest)
        assert found.lower_bound == min(found.changes)


def test_effects_over_replicates_hold_what_each_graph_allows(seed: int) -> None:
    model = LinearGaussian.random(random_dag(5, 6, seed=seed), seed=seed)
    data = model.sample(300, seed)
    found = sges.confidence(data, replicates=20, seed=seed)
    over = found.effect("x0", "x4", data)
    each = [effect(graph, "x0", "x4", data) for graph in found.graphs]
    values = [one.values for one in each if isinstance(one, LinearEffect)]
    assert over.minima == tuple(min(some) for some in values)
    assert over.maxima == tuple(max(some) for some in values)
    low, high = over.interval(0.8)
    assert sum(one < low for one in over.minima) <= 2
    assert sum(one > high for one in over.maxima) <= 2
    assert over.interval(0.999) == (min(over.minima), max(over.maxima))
    assert over.share_nonzero == sum(0.0 not in some for some in values) / 20


def test_replicates_with_their_nodes_in_different_orders_are_told_apart() -> None:
    """The edges of the two graphs are the same by number, but opposite by name."""
    forth, back = (PDAG.from_edges(2, [(0, 1)], names=names) for names in (["a", "b"], ["b", "a"]))
    over = effect_over([forth, back, forth], "a", "b", LINES)
    (slope,) = effect(forth, "a", "b", LINES).values  # type: ignore[union-attr]
    assert over.minima == (slope, 0.0, slope)


def test_effects_over_replicates_of_discrete_data_are_changes_of_probabilities() -> None:
    line = PDAG.from_edges(2, undirected=[(0, 1)], names=["a", "b"])
    over, found = effect_over([line], "a", "b", WORDS), effect(line, "a", "b", WORDS)
    assert isinstance(found, DiscreteEffect)
    assert (over.minima, over.maxima) == ((min(found.changes),), (max(found.changes),))
    assert over.minima < over.maxima


def test_effects_of_both_signs_are_not_zero() -> None:
    dag = PDAG.from_edges(4, [(1, 0), (0, 3), (1, 3), (2, 3)])
    model = LinearGaussian(
        dag, [[0, 0, 0, -1], [1, 0, 0, 4], [0, 0, 0, 1], [0, 0, 0, 0]], [1, 1, 1, 1]
    )
    found = effect_over([dag_to_cpdag(dag)], 0, 3, model)
    assert (*found.minima, *found.maxima) == pytest.approx((-1.0, 1.0))
    assert found.share_nonzero == 1.0
    assert effect_over([dag, PDAG.empty(4)], 0, 3, model).share_nonzero == 0.5


def test_the_sign_is_certain_only_if_all_values_agree() -> None:
    def of(*values: float) -> LinearEffect:
        zeros = (0.0,) * len(values)
        return LinearEffect("x", "y", values, zeros, ((),) * len(values), zeros)

    assert of(1, 2).sign == 1
    assert of(-1, -2).sign == -1
    assert of(0, 0).sign == 0
    assert of(0, 2).sign is of(-1, 2).sign is None
    assert (of(-1, 2).minimum, of(-1, 2).maximum) == (-1, 2)
    assert str(of(1)) == "x on y: 1, adjusted for nothing"


LINES = {"a": [0.5, 1.5, 2.0, 3.0], "b": [1.0, 1.5, 4.0, 3.5]}
WORDS = {"a": ["u", "v", "u"], "b": ["u", "v", "v"]}
AB = PDAG.from_edges(2, [(0, 1)], names=["a", "b"])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: effect(AB, "a", "a", LINES), InvalidArgument, "are both 'a'"),
        (lambda: effect(AB, "a", "bb", LINES), GraphError, "'bb'; did you mean 'b'"),
        (lambda: effect(AB, "a", "b", LINES, adjustment="o"), InvalidArgument, "ment = 'o' is not"),  # type: ignore[arg-type]
        (lambda: effect(AB, "a", "b", LINES, smoothing=-1), InvalidArgument, "smoothing = -1"),
        (lambda: effect(AB, "a", "b", {"a": [1.5, 2]}), DataError, "no column 'b'"),
        (
            lambda: effect(AB.named(None), 0, 1, {"a": [1.5, 2]}),
            DataError,
            "number of nodes is 2, but the number of columns of the data is 1",
        ),
        (lambda: effect(AB, 0, 1, {"a": [1.5, 2.5], "b": ["u", "v"]}), DataError, "one kind"),
        (
            lambda: effect(AB, "a", "b", WORDS, adjustment="optimal"),
            InvalidArgument,
            "'optimal' is for continuous data, but these are discrete; use adjustment='parents'",
        ),
        (lambda: joint_effect(AB, ["a", "a"], "b", LINES), InvalidArgument, "all be different"),
        (lambda: joint_effect(AB, ["a"], "b", WORDS), DataError, "need continuous data"),
        (lambda: effect_over([AB], "a", "b", LINES).interval(0), InvalidArgument, "level = 0"),
        (lambda: effect_over([AB], "a", "b", LINES).interval(1), InvalidArgument, "level = 1"),
        (lambda: effects(AB, LINES, on="b")[0].interval(2), InvalidArgument, "level = 2"),  # type: ignore[union-attr]
    ],
)
def test_what_does_not_fit_is_refused(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("table", [LINES, WORDS])
def test_columns_that_are_not_in_the_graph_are_ignored(table: dict[str, list[Any]]) -> None:
    records = len(table["a"])
    more = {
        "word": [*"uvvw"][:records], "b": table["b"], "number": [0.5, 1.5, 2.5, 9.0][:records],
        "a": table["a"],
    }  # fmt: skip
    gaps = {**more, "number": [None, *more["number"][1:]]}
    wanted = effect(AB, "a", "b", table)
    for data in (more, Dataset.of(more), Dataset.of(gaps, missing="em"), gaps):
        found = effect(AB, "a", "b", data)
        assert (type(found), found.adjustment) == (type(wanted), wanted.adjustment)
        assert found.lower_bound == pytest.approx(wanted.lower_bound)


@pytest.mark.parametrize(
    "call",
    [
        lambda table: effect(AB, "a", "b", table),
        lambda table: fit(AB, table),
        lambda table: fit(AB, {"a": [0.5, 1.5, 2.5], "b": [1.0, 2.5, 0.5]}).log_probability(table),
        GaussianBIC,
        DegenerateGaussian,
    ],
)
def test_advice_of_a_function_without_the_option_says_where_the_option_is(
    call: Callable[[Any], object],
) -> None:
    gaps = {"a": [0.5, 1.5, None, 2.5, 3.0], "b": [1.0, 2.0, 2.5, 2.0, 9.5]}
    with pytest.raises(DataError) as caught:
        call(gaps)
    assert "pass missing='drop'" in str(caught.value)
    assert "an option of sges.data.Dataset.of" in str(caught.value)
    assert "Dataset.of" not in in_shell(caught.value)  # commands have all options
    call(Dataset.of(gaps, missing="drop"))
    with pytest.raises(DataError) as caught:
        sges.learn(gaps)
    assert "Dataset.of" not in str(caught.value)


def test_a_node_is_named_or_numbered() -> None:
    assert multiplicities(AB, "b") == multiplicities(AB, 1) == [1]
    assert possible_parents(AB, "b") == possible_parents(AB, 1) == [0b01]
    with pytest.raises(GraphError, match="there is no node 'bb'; did you mean 'b'"):
        multiplicities(AB, "bb")


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e5])
def test_a_treatment_that_its_parents_determine_is_refused_whatever_rounding_leaves(
    unit: float, seed: int
) -> None:
    a, b, noise = np.random.default_rng(seed).standard_normal((3, 500))
    table = {"a": a * unit, "b": b, "sum": a + b, "y": a + b + noise}
    dag = PDAG.from_edges(4, [(0, 2), (1, 2), (2, 3)], names=list(table))
    assert effect(dag, "a", "y", table).lower_bound == pytest.approx(1 / unit, rel=0.3)
    with pytest.raises(DataError, match="linear combinations"):
        effect(dag, "sum", "y", table)
    with pytest.raises(DataError, match="linear combinations"):
        joint_effect(dag, ["a", "sum"], "y", table)


def test_too_few_records_dependent_columns_and_too_many_parents_or_cells_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dag = PDAG.from_edges(3, [(0, 1), (2, 1), (0, 2)])
    few = {"a": [1.5, 2.0, 4.0], "b": [1.0, 3.5, 2.5], "c": [0.5, 0.1, 7.5]}
    with pytest.raises(DataError, match="3 records are too few to adjust for 1 variables"):
        effect(dag, 2, 1, few)
    equal = {name: [1.0, 2.0, 4.0, 8.0, 9.5] for name in "abc"}
    with pytest.raises(DataError, match="linear combinations"):
        effect(dag, 2, 1, equal)
    monkeypatch.setattr("sges.tools.counting.MAX_PARENT_SETS", 3)
    star = PDAG.from_edges(5, undirected=[(0, v) for v in range(1, 5)])
    with pytest.raises(Undecided, match="0 has more than 3 possible sets of parents"):
        possible_parents(star, 0)
    monkeypatch.setattr("sges.tools.adjustment.MAX_CELLS", 3)
    with pytest.raises(Undecided, match="adjusting for 0 variables needs 4 cells, more than 3"):
        effect(AB, "a", "b", WORDS)
