"""The data of the comparisons are the same on every machine, and are what their names say."""

from dataclasses import replace

import numpy as np
import pytest

from sges.graph import PDAG, is_dag
from sges.network import BayesianNetwork, random_dag
from studies.paper.models import relabeled
from studies.peers.problems import (
    NETWORKS,
    PRESETS,
    Flaw,
    Preset,
    Spec,
    make_problem,
    random_edges,
    reference_network,
)

SPECS = [
    Spec("er", 12, 200, 2),
    Spec("sf", 12, 200, 2),
    Spec("cpt", 12, 200),
    Spec("cpt", 12, 200, arity=3),
    Spec("network", 8, 200, network="asia"),
]

KNOWN_EDGES = [(0, 3), (1, 0), (1, 2), (2, 3), (4, 3)]
KNOWN_ROW = [-0.460109, 0.086965, 0.850998, -1.098872, -0.77585]
KNOWN_LEVELS = [0, 2, 2, 1, 1]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_seed_gives_the_same_table_and_another_seed_another(spec: Spec, seed: int) -> None:
    once, again, other = (make_problem(spec, s) for s in (seed, seed, seed + 1))
    assert np.array_equal(once.table.values, again.table.values)
    assert once.truth == again.truth
    assert not np.array_equal(once.table.values, other.table.values)


def test_the_tables_of_seed_zero_never_change() -> None:
    """The stored results refer to these data, so the generators must not change."""
    gaussian = make_problem(Spec("er", 5, 100, 1), 0)
    assert gaussian.truth.directed_edges() == KNOWN_EDGES
    assert gaussian.table.values[0].round(6).tolist() == KNOWN_ROW
    assert make_problem(Spec("cpt", 5, 100), 0).table.values[0].tolist() == KNOWN_LEVELS


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_table_has_the_size_of_its_name_and_the_truth_is_a_dag(spec: Spec, seed: int) -> None:
    problem = make_problem(spec, seed)
    assert problem.table.values.shape == (spec.rows, spec.d)
    assert is_dag(problem.truth)
    most = max(problem.truth.parents(v).bit_count() for v in range(spec.d))
    assert problem.table.max_parents == most


def test_gaussian_tables_are_standardized_and_have_the_asked_edges(seed: int) -> None:
    problem = make_problem(Spec("er", 12, 200, 2), seed)
    assert problem.truth.edge_count() == 24
    assert np.allclose(problem.table.values.mean(axis=0), 0)
    assert np.allclose(problem.table.values.std(axis=0), 1)


def test_every_level_of_a_discrete_table_occurs(seed: int) -> None:
    problem = make_problem(Spec("cpt", 12, 200), seed)
    seen = [np.unique(column).tolist() for column in problem.table.values.T]
    assert seen == [list(range(arity)) for arity in problem.table.arities]
    assert problem.table.max_parents <= 3


def test_scale_free_graphs_give_every_late_node_the_asked_parents(seed: int) -> None:
    dag = PDAG.from_edges(30, random_edges("sf", 30, 2, np.random.default_rng(seed)))
    assert is_dag(dag)
    assert sorted(dag.parents(v).bit_count() for v in range(30)) == [0, 1, *[2] * 28]
    assert max(dag.children(v).bit_count() for v in range(30)) > 4


def test_relabeling_a_network_moves_its_distribution_along(seed: int) -> None:
    network = BayesianNetwork.random(random_dag(4, 5, seed=seed), (2, 3, 2, 4), seed=seed)
    place = np.random.default_rng(seed).permutation(4).tolist()
    moved = relabeled(network, place)
    joint = network.marginal(range(4)).transpose(np.argsort(place))
    assert np.allclose(moved.marginal(range(4)), joint)


@pytest.mark.parametrize("name", ["asia", "child"])
def test_reference_networks_have_the_listed_size(name: str) -> None:
    assert reference_network(name).n == NETWORKS[name]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_names_of_data_sets_are_unique_and_small_ones_come_first(preset: Preset) -> None:
    ordered = preset.ordered()
    names = [spec.name for spec, _ in ordered]
    assert len(names) == len(set(names))
    for kind in ("gaussian", "discrete"):
        sizes = [spec.d for spec, _ in ordered if spec.kind == kind]
        assert sizes == sorted(sizes)


def test_what_is_no_harder_is_smaller_in_every_respect() -> None:
    small = Spec("er", 50, 500, 2)
    assert small.no_harder_than(small)
    assert small.no_harder_than(Spec("sf", 100, 10_000, 4))
    assert not small.no_harder_than(Spec("er", 25, 10_000, 4))
    assert not small.no_harder_than(Spec("cpt", 100, 5_000))
    asia, child = (Spec("network", NETWORKS[n], 5_000, network=n) for n in ("asia", "child"))
    assert asia.no_harder_than(child)
    assert not child.no_harder_than(asia)
    assert not asia.no_harder_than(Spec("cpt", 100, 5_000))


@pytest.mark.parametrize("flaw", ["missing", "constant", "copied", "text"])
def test_a_flawed_table_is_the_whole_one_but_for_its_flaw(flaw: Flaw, seed: int) -> None:
    spec = Spec("cpt", 6, 300) if flaw == "text" else Spec("er", 6, 300, 2)
    whole, problem = make_problem(spec, seed), make_problem(replace(spec, flaw=flaw), seed)
    assert problem.truth == whole.truth
    assert (problem.table.values == whole.table.values).all()
    assert problem.given is not None
    before, after = whole.table.values, problem.given.values
    if flaw == "text":
        assert after.tolist() == [[f"level {level}" for level in row] for row in before.tolist()]
        return
    changed = before != after
    assert changed.any()
    if flaw == "missing":
        assert np.isnan(np.asarray(after, dtype=float)[changed]).all()
    else:
        assert not changed[:, 1:].any()
        assert (after[:, 0] == (1.0 if flaw == "constant" else before[:, 1])).all()


def test_what_is_slow_on_a_flawed_table_is_tried_on_all_others() -> None:
    whole = Spec("er", 10, 100, 2)
    missing = replace(whole, flaw="missing")
    assert missing.no_harder_than(missing)
    assert not missing.no_harder_than(replace(whole, d=20))
    assert not whole.no_harder_than(missing)


@pytest.mark.parametrize("arity", [0, 4])
def test_independent_columns_have_a_truth_without_edges(arity: int, seed: int) -> None:
    problem = make_problem(Spec("null", 5, 200, arity=arity), seed)
    assert problem.truth.edge_count() == 0
    assert problem.table.values.shape == (200, 5)
    assert problem.table.kind == ("discrete" if arity else "gaussian")
