"""Queries by name, and ancestors in a class, compared with the members of the class."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from bridge import pdag_of
from sges.errors import GraphError, NoConsistentExtension
from sges.graph import PDAG, extensions, members
from sges.graph.meek import close_under_meek, direct_in_turn
from sges.nodeset import nodes
from sges.tools.ancestry import class_ancestors, class_descendants
from strategies import cpdags


def assert_as_in_the_members(graph: PDAG) -> None:
    dags = list(extensions(graph))
    for y in range(graph.n):
        above = [dag.ancestors(y) & ~(1 << y) for dag in dags]
        below = [dag.descendants(y) & ~(1 << y) for dag in dags]
        for sets, of_class in ((above, class_ancestors), (below, class_descendants)):
            certain, possible = sets[0], 0
            for s in sets:
                certain, possible = certain & s, possible | s
            assert of_class(graph, y, possible=False) == certain, (graph, y)
            assert of_class(graph, y, possible=True) == possible, (graph, y)


@pytest.mark.slow
def test_ancestors_of_every_class_of_five_nodes_are_those_of_its_members() -> None:
    for arcs in naive.all_cpdags(5):
        assert_as_in_the_members(pdag_of(5, arcs))


def refinements(graph: PDAG) -> set[PDAG]:
    """Return the class and all its refinements by background knowledge."""
    found, todo = {graph}, [graph]
    while todo:
        refined = todo.pop()
        for x, y in refined.undirected_edges():
            new = {direct_in_turn(refined, [arrow])[0] for arrow in ((x, y), (y, x))} - found
            found |= new
            todo += new
    return found


@pytest.mark.parametrize("n", [2, 3, 4])
def test_ancestors_of_every_refined_class_are_those_of_its_members(n: int) -> None:
    for arcs in naive.all_cpdags(n):
        for graph in refinements(pdag_of(n, arcs)):
            assert_as_in_the_members(graph)


@given(cpdags(min_nodes=5, max_nodes=6), st.data())
def test_ancestors_of_a_refined_class_are_those_of_its_members(
    graph: PDAG, data: st.DataObject
) -> None:
    """Both for a graph that is closed under the rules of Meek and for one that is not."""
    closed = graph
    for _ in range(data.draw(st.integers(0, 4))):
        if not (lines := closed.undirected_edges()):
            break
        x, y = data.draw(st.sampled_from(lines))
        arrow = data.draw(st.sampled_from([(x, y), (y, x)]))
        graph, closed = graph.edited(direct=[arrow]), close_under_meek(closed, [arrow])
    assert_as_in_the_members(graph)
    assert_as_in_the_members(closed)


def test_knowledge_makes_certain_ancestors_without_a_directed_path() -> None:
    graph = PDAG.from_edges(5, [(1, 4), (2, 0), (3, 0), (3, 4)], [(1, 2), (1, 3)], names=[*"abcde"])
    assert graph.descendants("b") == ("a", "e")


def test_a_graph_that_represents_no_class_has_no_ancestors_by_name() -> None:
    graph = PDAG.from_edges(3, [(0, 1), (1, 2), (2, 0)], names=["x", "y", "z"])
    assert graph.ancestors(0) == 0b111
    with pytest.raises(NoConsistentExtension, match="no consistent extension"):
        graph.ancestors("x")


def test_an_ancestor_of_every_member_may_have_no_directed_path() -> None:
    graph = PDAG.from_edges(4, [(1, 3), (2, 3)], [(0, 1), (0, 2)], names=["x", "a", "b", "y"])
    assert graph.ancestors("y") == ("x", "a", "b")
    assert graph.ancestors(3) == 0b1110
    assert graph.descendants("x") == ("y",)
    assert graph.descendants("x", possible=True) == ("a", "b", "y")


@given(cpdags())
def test_names_are_answered_with_names(graph: PDAG) -> None:
    named = graph.named([f"v{v}" for v in range(graph.n)])
    for v in range(graph.n):
        for view in ("parents", "children", "neighbors", "adjacent", "markov_blanket"):
            by_number = getattr(graph, view)(v)
            assert getattr(named, view)(f"v{v}") == tuple(f"v{u}" for u in nodes(by_number))
            assert getattr(graph, view)(str(v)) == tuple(map(str, nodes(by_number)))


@given(cpdags(max_nodes=5))
def test_the_markov_blanket_is_that_of_every_member(graph: PDAG) -> None:
    for dag in members(graph):
        for v in range(graph.n):
            assert dag.markov_blanket(v) == graph.markov_blanket(v)


def test_unknown_names_are_answered_with_the_closest() -> None:
    graph = PDAG.from_edges(2, [(0, 1)], names=["rain", "wet"])
    assert graph.has_edge("wet", "rain")
    assert graph.has_edge(0, "wet")
    assert not graph.has_edge("rain", "rain")
    with pytest.raises(GraphError, match="there is no node 'Rain'; did you mean 'rain'"):
        graph.parents("Rain")
    with pytest.raises(GraphError, match="there is no node 'snow'; the nodes are 'rain', 'wet'"):
        graph.has_edge("rain", "snow")


def test_a_name_cannot_control_a_terminal_in_repr() -> None:
    assert "\x1b" not in repr(PDAG.from_edges(2, [(0, 1)], names=["\x1b[31m", "b"]))
