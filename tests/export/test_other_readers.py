"""Other programs read our files with the same meaning; each is tested if it is installed."""

import time
from pathlib import Path

import pytest

from sges.errors import GraphError
from sges.graph import PDAG
from sges.tools.export.formats import from_graphml, to_graphml
from sges.tools.export.languages import from_dot, to_dot


def mixed() -> PDAG:
    return PDAG.from_edges(
        5, [(0, 2), (1, 2)], [(2, 3), (3, 4)], names=["rain", "a b", "x1", "node", "żółć"]
    )


def test_igraph_reads_our_graphml_as_the_same_graph(tmp_path: Path) -> None:
    igraph = pytest.importorskip("igraph")
    path = tmp_path / "graph.graphml"
    path.write_text(to_graphml(mixed()), encoding="utf-8")
    theirs = igraph.Graph.Read_GraphML(str(path))
    assert theirs.is_directed()
    assert tuple(theirs.vs["name"]) == mixed().names
    arcs = {
        (edge.source, edge.target, edge["type"], theirs.is_mutual([edge.index])[0])
        for edge in theirs.es
    }
    directed = {(x, y, "directed", False) for x, y in mixed().directed_edges()}
    both = [pair for x, y in mixed().undirected_edges() for pair in ((x, y), (y, x))]
    assert arcs == directed | {(x, y, "undirected", True) for x, y in both}


def test_graphml_of_earlier_versions_is_read() -> None:
    """They wrote an undirected edge with ``directed="false"``, which networkx refuses."""
    text = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
      <key id="name" for="node" attr.name="name" attr.type="string"/>
      <key id="type" for="edge" attr.name="type" attr.type="string"/>
      <graph id="G" edgedefault="directed">
        <node id="n0"><data key="name">a</data></node>
        <node id="n1"><data key="name">b</data></node>
        <node id="n2"><data key="name">c</data></node>
        <edge source="n0" target="n1" directed="true"><data key="type">directed</data></edge>
        <edge source="n1" target="n2" directed="false"><data key="type">undirected</data></edge>
      </graph></graphml>"""
    assert repr(from_graphml(text)) == "PDAG(3 nodes: a→b, b—c)"


def test_two_opposite_arcs_of_graphml_are_one_line() -> None:
    text = (
        '<graphml><graph><node id="a"/><node id="b"/><edge source="a" target="b"/>'
        '<edge source="b" target="a"/></graph></graphml>'
    )
    assert from_graphml(text).undirected_edges() == [(0, 1)]


@pytest.mark.filterwarnings("ignore")
def test_programs_that_ignore_labels_keep_the_names_of_our_dot() -> None:
    pydot = pytest.importorskip("pydot")
    (theirs,) = pydot.graph_from_dot_data(to_dot(mixed()))
    arcs = {
        (edge.get_source().strip('"'), edge.get_destination().strip('"'))
        for edge in theirs.get_edges()
    }
    edges = [*mixed().directed_edges(), *mixed().undirected_edges()]
    assert arcs == {(mixed().name(x), mixed().name(y)) for x, y in edges}


def test_names_that_are_words_of_dot_are_names() -> None:
    graph = PDAG.from_edges(4, [(0, 1)], names=["node", "edge", "graph", "digraph"])
    assert from_dot(to_dot(graph)).names == graph.names


def test_names_that_dot_cannot_tell_apart_stay_different_nodes() -> None:
    graph = PDAG.from_edges(3, [(0, 2), (1, 2)], names=["a\nb", "a\rb", "c"])
    assert from_dot(to_dot(graph)) == graph


def test_unclosed_comments_are_refused_at_once() -> None:
    start = time.perf_counter()
    with pytest.raises(GraphError, match="unclosed comment: line 2 near"):
        from_dot("digraph {\n" + "a /* " * 200_000 + "}")
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    ("edge", "arrows", "lines"),
    [
        ("a -> b [dir=forward]", [(0, 1)], []),
        ("a -> b [dir=back]", [(1, 0)], []),
        ("a -> b [dir=none]", [], [(0, 1)]),
        ("a -> b [dir=both]", [], [(0, 1)]),
        ("a -> b [arrowhead=none]", [], [(0, 1)]),
        ("a -> b [arrowhead=vee, arrowtail=none]", [(0, 1)], []),
        ("a -> b [dir=both, arrowtail=none, arrowhead=normal]", [(0, 1)], []),  # causal-learn
        ("a -> b [dir=both, arrowtail=none, arrowhead=none]", [], [(0, 1)]),
        ("a -> b [dir=back, arrowtail=none]", [], [(0, 1)]),
        ("edge [dir=back]; a -> b", [(1, 0)], []),
        ("edge [dir=back]; a -> b [dir=forward]", [(0, 1)], []),
    ],
)
def test_an_edge_of_dot_has_the_arrowheads_that_graphviz_draws(
    edge: str, arrows: list[tuple[int, int]], lines: list[tuple[int, int]]
) -> None:
    expected = PDAG.from_edges(2, arrows, lines, names=["a", "b"])
    assert from_dot(f"digraph {{ {edge} }}") == expected


def test_an_edge_of_an_undirected_dot_graph_may_have_an_arrowhead() -> None:
    assert from_dot("graph { a -- b [dir=forward] }").directed_edges() == [(0, 1)]
    assert from_dot("graph { a -- b }").undirected_edges() == [(0, 1)]
