"""The data of the comparisons are the same on every machine, and are what their names say."""

from dataclasses import replace

import numpy as np
import pytest

from studies.peers.problems import Spec, make_problem

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


def test_gaussian_tables_are_standardized_and_have_the_asked_edges(seed: int) -> None:
    problem = make_problem(Spec("er", 12, 200, 2), seed)
    assert problem.truth.edge_count() == 24
    assert np.allclose(problem.table.values.mean(axis=0), 0)
    assert np.allclose(problem.table.values.std(axis=0), 1)


@pytest.mark.parametrize("arity", [0, 4])
def test_independent_columns_have_a_truth_without_edges(arity: int, seed: int) -> None:
    problem = make_problem(Spec("null", 5, 200, arity=arity), seed)
    assert problem.truth.edge_count() == 0
    assert problem.table.values.shape == (200, 5)
    assert problem.table.kind == ("discrete" if arity else "gaussian")


def test_a_table_with_missing_values_is_the_whole_one_elsewhere(seed: int) -> None:
    spec = Spec("er", 6, 300, 2)
    whole, problem = make_problem(spec, seed), make_problem(replace(spec, flaw="missing"), seed)
    assert problem.truth == whole.truth
    assert (problem.table.values == whole.table.values).all()
    assert problem.given is not None
    changed = problem.given.values != whole.table.values
    assert changed.any()
    assert np.isnan(problem.given.values[changed]).all()
