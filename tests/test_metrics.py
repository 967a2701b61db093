"""Distances between graphs, compared with their definitions and bounds."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import arcs_of
from sges.errors import GraphError
from sges.graph import PDAG, dag_to_cpdag, extensions, pdag_to_dag
from sges.graph.meek import close_under_meek
from sges.tools.export import to_numpy
from sges.tools.metrics import adjustment_distances, compare, matched, shd
from strategies import cpdags, dags


@st.composite
def pairs(draw: st.DrawFn) -> tuple[PDAG, PDAG]:
    """Draw two CPDAGs on the same nodes."""
    n = draw(st.integers(1, 7))
    return draw(cpdags(n, n)), draw(cpdags(n, n))


def shd_by_definition(truth: PDAG, found: PDAG) -> int:
    """Return the number of pairs whose arcs differ between the graphs."""
    right, other = arcs_of(truth), arcs_of(found)
    return sum(
        {(x, y), (y, x)} & right != {(x, y), (y, x)} & other
        for x, y in combinations(range(truth.n), 2)
    )


@given(pairs())
def test_shd_counts_the_pairs_in_different_states(graphs: tuple[PDAG, PDAG]) -> None:
    assert shd(*graphs) == shd_by_definition(*graphs)
    found = compare(*graphs)
    assert found.shd == found.missing + found.extra + found.wrong_type
    assert found.same_class == (graphs[0] == graphs[1])


@given(pairs())
def test_shd_is_symmetric_and_zero_only_for_the_same_graph(graphs: tuple[PDAG, PDAG]) -> None:
    truth, found = graphs
    assert shd(truth, found) == shd(found, truth)
    assert (shd(truth, found) == 0) == (truth == found)


@given(pairs())
def test_precision_and_recall_are_shares_and_change_places_with_the_graphs(
    graphs: tuple[PDAG, PDAG],
) -> None:
    there, back = compare(*graphs), compare(*graphs[::-1])
    for ours, theirs in ((there.skeleton, back.skeleton), (there.arrows, back.arrows)):
        assert (ours.precision, ours.recall, ours.f1) == (
            theirs.recall,
            theirs.precision,
            theirs.f1,
        )
        assert all(0 <= share <= 1 for share in (ours.precision, ours.recall, ours.f1))


@given(dags(max_nodes=6))
def test_every_member_is_at_no_distance_from_its_class(dag: PDAG) -> None:
    cpdag = dag_to_cpdag(dag)
    for member in extensions(cpdag):
        found = compare(member, cpdag)
        assert found.shd == 0
        assert found.skeleton == found.arrows
        assert found.arrows.f1 == 1.0
    assert compare(dag, cpdag, classes=False).shd == len(cpdag.undirected_edges())


@given(cpdags(max_nodes=6), st.data())
def test_knowledge_that_holds_in_the_truth_adds_no_distance(
    cpdag: PDAG, data: st.DataObject
) -> None:
    member = pdag_to_dag(cpdag)
    known = data.draw(st.sets(st.sampled_from(member.directed_edges() or [(0, 0)])))
    refined = close_under_meek(cpdag, known & set(member.directed_edges()))
    found = compare(member, refined)
    assert (found.shd, found.same_class, found.arrows.f1) == (0, True, 1.0)
    assert compare(cpdag, refined, classes=False).shd == shd(cpdag, refined)


@given(dags(max_nodes=5), dags(max_nodes=5))
def test_the_class_is_the_same_whatever_else_is_compared(one: PDAG, other: PDAG) -> None:
    if one.n == other.n:
        is_same = dag_to_cpdag(one) == dag_to_cpdag(other)
        assert compare(one, other).same_class == is_same
        assert compare(one, other, classes=False).same_class == is_same
    assert compare(one, dag_to_cpdag(one), classes=False).same_class


def test_a_graph_that_represents_no_class_is_in_no_class() -> None:
    cycle = PDAG.from_edges(3, [(0, 1), (1, 2), (2, 0)])
    found = compare(cycle, cycle)
    assert (found.shd, found.same_class) == (0, False)


def test_undirected_edges_count() -> None:
    """An undirected edge in place of an arrow, and an extra one, which other programs ignore."""
    truth = PDAG.from_edges(4, [(0, 1), (2, 1)])
    found = PDAG.from_edges(4, [], [(0, 1), (1, 2), (2, 3)])
    got = compare(truth, found)
    assert (got.shd, got.missing, got.extra, got.wrong_type) == (3, 0, 1, 2)
    assert (got.skeleton.precision, got.skeleton.recall) == (2 / 3, 1.0)
    assert (got.arrows.precision, got.arrows.recall, got.arrows.f1) == (1.0, 0.0, 0.0)


def test_nodes_are_matched_by_name() -> None:
    truth = PDAG.from_edges(3, [(0, 2), (1, 2)], names=["a", "b", "c"])
    found = PDAG.from_edges(3, [(1, 0), (2, 0)], names=["c", "a", "b"])
    assert compare(truth, found).shd == 0
    assert compare(truth.named(None), found).shd > 0
    assert matched(truth, found)[1].names == ("a", "b", "c")


def test_graphs_on_other_nodes_are_refused() -> None:
    with pytest.raises(GraphError, match="the truth has 2 nodes and the found graph 3"):
        compare(PDAG.empty(2), PDAG.empty(3))
    with pytest.raises(GraphError, match="the node 'b' is only in the truth"):
        compare(PDAG.empty(2, ["a", "b"]), PDAG.empty(2, ["a", "c"]))


@given(pairs())
def test_a_graph_is_at_no_adjustment_distance_from_itself(graphs: tuple[PDAG, PDAG]) -> None:
    pytest.importorskip("gadjid")
    truth, found = graphs
    same = adjustment_distances(truth, truth)
    assert (same.parent, same.ancestor, same.oset) == (0.0, 0.0, 0.0)
    other = compare(truth, found).aid
    assert other is not None
    assert all(0 <= share <= 1 for share in (other.parent, other.ancestor, other.oset))


@given(pairs())
def test_gadjid_counts_the_same_shd(graphs: tuple[PDAG, PDAG]) -> None:
    gadjid = pytest.importorskip("gadjid")
    if graphs[0].n > 1:
        assert gadjid.shd(*(to_numpy(graph, "gadjid") for graph in graphs))[1] == shd(*graphs)


def test_a_reversed_arrow_is_a_wrong_effect() -> None:
    """Reversed arrows give larger distances: gadjid reads our arrows in their direction."""
    pytest.importorskip("gadjid")
    down, up = PDAG.from_edges(2, [(0, 1)]), PDAG.from_edges(2, [(1, 0)])
    assert adjustment_distances(down, up).parent == 1.0
    assert adjustment_distances(down, down).parent == 0.0
    collider = PDAG.from_edges(3, [(0, 1), (2, 1)])
    fork = PDAG.from_edges(3, [(1, 0), (1, 2)])
    assert (
        adjustment_distances(collider, fork).parent
        > adjustment_distances(collider, PDAG.from_edges(3, [(0, 1)])).parent
    )


def test_the_adjustment_distance_needs_a_class_or_a_dag() -> None:
    pytest.importorskip("gadjid")
    refined = PDAG.from_edges(3, [(0, 1)], [(1, 2)])
    with pytest.raises(GraphError, match="the found graph is neither a CPDAG nor a DAG"):
        adjustment_distances(PDAG.empty(3), refined)
    assert compare(PDAG.empty(3), refined).aid is not None
    assert compare(PDAG.empty(3), refined, classes=False).aid is None
