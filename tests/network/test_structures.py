"""Random structures: all graphs that their descriptions allow, and no others."""

from collections import Counter

import pytest

import naive
from bridge import arcs_of
from sges.errors import InvalidArgument, NetworkError
from sges.graph import is_dag
from sges.network import random_dag, random_polytree, random_structure


@pytest.mark.parametrize("max_parents", [0, 1, 2, 4])
def test_a_random_structure_is_a_dag_within_its_bound(max_parents: int, seed: int) -> None:
    for n in (0, 1, 2, 5, 20):
        dag = random_structure(n, max_parents, seed)
        assert dag.n == n
        assert is_dag(dag)
        assert all(dag.parents(v).bit_count() <= max_parents for v in range(n))


def test_every_dag_within_the_bound_can_be_drawn() -> None:
    found = {arcs_of(random_structure(3, 2, seed)) for seed in range(1500)}
    assert found == set(naive.all_dags(3))
    narrow = {arcs_of(random_structure(3, 1, seed)) for seed in range(1500)}
    assert narrow == {
        dag for dag in naive.all_dags(3) if all(len(naive.parents(dag, v)) <= 1 for v in range(3))
    }


def test_a_pair_of_nodes_is_joined_half_the_time_in_either_direction() -> None:
    drawn = Counter(arcs_of(random_structure(2, 2, seed)) for seed in range(4000))
    none, forth, back = (drawn[frozenset(e)] for e in ([], [(0, 1)], [(1, 0)]))
    assert abs(none - 2000) < 160  # five standard deviations
    assert abs(forth - 1000) < 140
    assert abs(back - 1000) < 140


def test_a_structure_has_about_as_many_edges_as_the_bound_lets_attempts_add() -> None:
    """Without a bound, half of all pairs are adjacent."""
    edges = [random_structure(20, 20, seed).edge_count() for seed in range(100)]
    assert abs(sum(edges) / 100 - 95) < 4  # 190 pairs; standard error 0.7


def test_a_random_dag_has_exactly_the_edges_asked_for(seed: int) -> None:
    for n, edges in ((0, 0), (1, 0), (5, 0), (5, 10), (30, 60)):
        dag = random_dag(n, edges, seed)
        assert dag.edge_count() == edges
        assert is_dag(dag)
    drawn = {arcs_of(random_dag(3, 2, s)) for s in range(400)}
    assert drawn == {dag for dag in naive.all_dags(3) if len(dag) == 2}


def test_a_random_polytree_is_a_tree_with_any_directions(seed: int) -> None:
    for n in (0, 1, 2, 3, 50):
        dag = random_polytree(n, seed)
        assert dag.edge_count() == max(n - 1, 0)
        assert is_dag(dag)
        assert n == 0 or _connected(dag.skeleton(), n)


def test_labeled_trees_are_drawn_uniformly() -> None:
    """By Cayley's formula there are 16 trees on four nodes, each with eight directions."""
    drawn = Counter(random_polytree(4, seed).skeleton() for seed in range(3200))
    assert len(drawn) == 16
    assert all(abs(count - 200) < 70 for count in drawn.values())  # five standard deviations
    assert len({arcs_of(random_polytree(4, seed)) for seed in range(3200)}) == 128


def test_the_same_seed_draws_the_same_structure() -> None:
    for draw in (random_structure, random_polytree, lambda n, seed: random_dag(n, 12, seed)):
        assert draw(10, seed=3) == draw(10, seed=3)
        assert draw(10, seed=3) != draw(10, seed=4)


def test_impossible_structures_are_refused() -> None:
    with pytest.raises(NetworkError, match="a structure cannot have -1 nodes"):
        random_structure(-1)
    with pytest.raises(NetworkError, match="max_parents -1"):
        random_structure(3, -1)
    with pytest.raises(InvalidArgument, match="edges = 4: a DAG on 3 nodes has from 0 to 3"):
        random_dag(3, 4)
    with pytest.raises(NetworkError, match="-2 nodes"):
        random_polytree(-2)


def _connected(rows: tuple[int, ...], n: int) -> bool:
    reached = 1
    for _ in range(n):
        for v in range(n):
            if reached >> v & 1:
                reached |= rows[v]
    return reached == (1 << n) - 1
