"""Low-order search (Chickering 2020) finds the true class from families of few parents."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest

import naive
import naive_low_order as twin
from bridge import arcs_of, frozen, pdag_of
from sges.graph import PDAG, dag_to_cpdag
from sges.network import BayesianNetwork, random_dag
from sges.properties import MaxParents
from sges.score import DiscreteBIC, SeparationOracle
from sges.search import Strategy, poly_fes, search
from studies.paper.low_order_search import Families, LowOrder, low_order, se_ges

SIZES = [3, 4, pytest.param(5, marks=pytest.mark.slow)]


def ordered_dags(n: int) -> Iterator[PDAG]:
    """Yield every DAG with edges to higher nodes only: all DAGs up to relabeling."""
    pairs = list(combinations(range(n), 2))
    for bits in product((False, True), repeat=len(pairs)):
        yield PDAG.from_edges(n, [pair for pair, there in zip(pairs, bits, strict=True) if there])


def up_to_relabeling(n: int) -> list[PDAG]:
    """Return one DAG of each equivalence class, up to relabeling."""
    found: dict[tuple[tuple[int, int], ...], PDAG] = {}
    for dag in ordered_dags(n):
        arcs = naive.cpdag_of(n, arcs_of(dag))
        forms = (sorted((new[x], new[y]) for x, y in arcs) for new in permutations(range(n)))
        found.setdefault(tuple(min(forms)), dag)
    return list(found.values())


def parents_of(dag: PDAG) -> int:
    return max(dag.parents(v).bit_count() for v in range(dag.n))


@cache
def independences(n: int) -> dict[naive.Arcs, int]:
    return {arcs: naive.independences(n, dags[0]) for arcs, dags in naive.all_cpdags(n).items()}


def imaps_of(n: int, truth: naive.Arcs) -> set[naive.Arcs]:
    """Return the CPDAGs of all classes that are IMAPs of the truth."""
    lacking = ~naive.independences(n, truth)
    return {arcs for arcs, holding in independences(n).items() if not holding & lacking}


@pytest.mark.parametrize("n", SIZES)
def test_every_truth_is_found_with_families_of_one_parent_more_than_it_has(n: int) -> None:
    rng = np.random.default_rng(n)
    for truth in ordered_dags(n):
        oracle = SeparationOracle(truth)
        lacking = [e for e in combinations(range(n), 2) if not truth.adjacent(e[0]) >> e[1] & 1]
        extra = [edge for edge in lacking if rng.random() < 0.5]
        for start in (None, truth.edited(direct=extra), poly_fes(oracle).cpdag):
            families = Families(oracle)
            assert low_order(families, start).cpdag == dag_to_cpdag(truth)
            most = max(parents.bit_count() for _, parents in families.asked)
            assert most <= parents_of(truth) + 1


@pytest.mark.parametrize("n", SIZES)
def test_certified_deletes_exist_are_sound_and_are_those_of_the_definition(n: int) -> None:
    """Compared with the twin for every H that the bound k allows, on each truth and IMAP of it."""
    for truth in up_to_relabeling(n):
        cpdag_of_truth = naive.cpdag_of(n, arcs_of(truth))
        k, every = parents_of(truth), imaps_of(n, arcs_of(truth))
        found = twin.separators(n, arcs_of(truth), k)
        for cpdag in every:
            certified = twin.certified_deletes(n, cpdag, found, k)
            assert certified or cpdag == cpdag_of_truth
            assert all(twin.after(n, cpdag, *delete) in every for delete in certified)
            descent = LowOrder(SeparationOracle(truth))
            descent.cpdag = pdag_of(n, cpdag)
            for level in range(k + 1):
                descent.find_separators(level)
            kept = {
                (one.delete.x, one.delete.y, frozen(one.delete.h))
                for one in descent.kept(k)
                if one.separator is not None
            }
            proposed = {
                d for d in certified if twin.order_of(cpdag, *d) > k >= twin.part_of(cpdag, *d)
            }
            assert kept == proposed


@pytest.mark.parametrize("n", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_subsets_of_k_and_of_k_less_one_nodes_are_enough_and_fewer_are_not(n: int) -> None:
    wrong = [0, 0, 0]
    for truth in ordered_dags(n):
        for less in range(3):
            descent = LowOrder(SeparationOracle(truth), less=less)
            assert list(descent.levels())
            wrong[less] += descent.cpdag != dag_to_cpdag(truth)
    assert wrong == [0, 0, {4: 19, 5: 352}[n]]


EXAMPLES = [
    (
        PDAG.from_edges(6, [(2, 1), (3, 1), (1, 0), (0, 5)]),
        PDAG.from_edges(6, [(4, 0), (5, 0), (0, 1), (4, 1), (1, 2), (1, 3)], [(2, 3)]),
    ),
    (
        PDAG.from_edges(8, [(0, 5), (1, 3), (1, 4), (2, 3), (2, 4), (3, 0), (4, 0), (5, 7)]),
        PDAG.from_edges(
            8,
            [(0, 3), (0, 4), (3, 1), (3, 2), (4, 1), (4, 2), (5, 0), (6, 0), (6, 5), (7, 5)],
            [(1, 2), (3, 4)],
        ),
    ),
]


@pytest.mark.parametrize(("truth", "state"), EXAMPLES, ids=["six nodes", "eight nodes"])
def test_the_states_that_refute_theorem_2_as_printed_are_left(truth: PDAG, state: PDAG) -> None:
    assert low_order(SeparationOracle(truth), state).cpdag == dag_to_cpdag(truth)


def test_the_search_after_the_levels_is_never_worse_than_the_levels(seed: int) -> None:
    network = BayesianNetwork.random(random_dag(6, 9, seed=seed), arity=3, seed=seed)
    score = DiscreteBIC(network.sample(300, seed=seed))
    alone = low_order(score, max_order=3)
    both = se_ges(score, MaxParents(3), Strategy(interleaved=True))
    gain = search(score, start=both.cpdag).score - search(score, start=alone.cpdag).score
    assert gain >= -1e-6
    assert both.score_evaluations > alone.score_evaluations
