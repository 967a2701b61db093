"""The PDAG value."""

import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from bridge import arcs_of, frozen, pdag_of
from sges.errors import GraphError
from sges.graph import PDAG
from strategies import cpdags


@pytest.mark.parametrize("n", [1, 2, 3])
def test_relations_are_those_of_the_definitions_on_every_pdag(n: int) -> None:
    for arcs in naive.all_pdags(n):
        g = pdag_of(n, arcs)
        assert arcs_of(g) == arcs
        for v in range(n):
            assert frozen(g.parents(v)) == naive.parents(arcs, v)
            assert frozen(g.neighbors(v)) == naive.neighbors(arcs, v)
            assert frozen(g.adjacent(v)) == naive.adjacent(arcs, v)
            assert frozen(g.children(v)) == {b for a, b in arcs if a == v and (b, a) not in arcs}
            assert frozen(g.descendants(v)) == naive.descendants(n, arcs, v)


@pytest.mark.parametrize("n", [3, 4])
def test_v_structures_are_those_of_the_definition_on_every_dag(n: int) -> None:
    for arcs in naive.all_dags(n):
        found = {(frozenset((x, y)), z) for x, z, y in pdag_of(n, arcs).v_structures()}
        assert found == naive.class_of(arcs)[1]


@given(cpdags(), st.data())
def test_an_induced_subgraph_has_just_the_edges_inside(g: PDAG, data: st.DataObject) -> None:
    kept = sorted(data.draw(st.sets(st.integers(0, g.n - 1))))
    part = g.named([f"v{v}" for v in range(g.n)]).induced(kept)
    inside = {(x, y) for x, y in arcs_of(g) if x in kept and y in kept}
    assert {(kept[x], kept[y]) for x, y in arcs_of(part)} == inside
    assert part.names == tuple(f"v{v}" for v in kept)


@given(cpdags())
def test_a_graph_is_a_value(g: PDAG) -> None:
    again = PDAG.from_edges(g.n, g.directed_edges(), g.undirected_edges())
    assert again == g
    assert hash(again) == hash(g)
    assert pickle.loads(pickle.dumps(g)) == g


def test_names_are_shown_and_take_no_part_in_equality() -> None:
    g = PDAG.from_edges(3, [(0, 1)], [(1, 2)], names=["rain", "wet", "slip"])
    assert repr(g) == "PDAG(3 nodes: rain→wet, wet—slip)"
    assert g == PDAG.from_edges(3, [(0, 1)], [(1, 2)])


def test_the_complete_graph_joins_all_pairs_and_the_empty_one_none() -> None:
    assert PDAG.complete(5).undirected_edges() == [
        (x, y) for x in range(5) for y in range(x + 1, 5)
    ]
    assert PDAG.empty(5).edge_count() == 0
    assert PDAG.empty(0).n == 0


@pytest.mark.parametrize(
    ("directed", "undirected", "words"),
    [
        ([(1, 1)], [], "edge 1→1: an edge needs two different nodes"),
        ([], [(2, 2)], "edge 2—2: an edge needs two different nodes"),
        ([(0, 1), (0, 1)], [], "edge 0→1: 0→1 was already given"),
        ([(0, 1), (1, 0)], [], "edge 1→0: 0→1 was already given"),
        ([(0, 1)], [(1, 0)], "edge 1—0: 0→1 was already given"),
        ([], [(0, 1), (1, 0)], "edge 1—0: 1—0 was already given"),
        ([(0, 3)], [], "3 is out of range; nodes are the integers 0..2"),
        ([], [(-1, 0)], "-1 is out of range"),
        ([("a", 0)], [], "'a' is not a node"),
    ],
)
def test_a_bad_edge_is_refused_by_name(
    directed: list[tuple[int, int]], undirected: list[tuple[int, int]], words: str
) -> None:
    with pytest.raises(GraphError, match=words):
        PDAG.from_edges(3, directed, undirected)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PDAG.empty(3, names=["a", "b"]), "2 names were given for 3 nodes"),
        (lambda: PDAG.empty(3, names=["a", "b", "a"]), "the name 'a' is given twice"),
        (lambda: PDAG.empty(3, names=["a", "b", 3]), "sequence of strings"),  # type: ignore[list-item]
        (lambda: PDAG.empty(3, names="abc"), "sequence of strings"),
        (lambda: PDAG.from_edges(-1), "cannot have -1 nodes"),
        (lambda: PDAG.empty(3).relabel([0, 0, 1]), r"\[0, 0, 1\] is not a permutation"),
    ],
)
def test_names_sizes_and_orders_that_do_not_fit_are_refused(
    make: Callable[[], PDAG], words: str
) -> None:
    with pytest.raises(GraphError, match=words):
        make()
