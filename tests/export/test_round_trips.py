"""A graph that is exported and read again is the same graph, with the same names."""

import io
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from sges import examples
from sges.errors import GraphError
from sges.graph import PDAG
from sges.network import write_bif
from sges.result import Result
from sges.tools.export import (
    adjacency_frame,
    from_networkx,
    from_numpy,
    read_graph,
    to_json,
    to_numpy,
    write_graph,
)
from sges.tools.export.formats import (
    from_csv,
    from_gml,
    from_graphml,
    from_json,
    to_csv,
    to_gml,
    to_graphml,
)
from sges.tools.export.languages import from_dot, to_dot
from sges.tools.export.matrix import CONVENTIONS, Convention
from sges.tools.export.objects import to_networkx
from strategies import cpdags

AWKWARD = [
    'say "hi"',
    "back\\slash",
    "two\nlines",
    "<script>alert(1)</script>",
    "żółć 変数 🎲",
    "a & b &lt; c",
    "x" * 300,
    " ",
]
"""Names with a special meaning in some format; as many as the largest graph has nodes."""

XML_TEXT = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1)


@st.composite
def named_cpdags(draw: st.DrawFn) -> PDAG:
    """Draw a CPDAG with awkward names, or with any text as names."""
    graph = draw(cpdags())
    texts = st.lists(XML_TEXT, min_size=graph.n, max_size=graph.n, unique=True)
    return graph.named(draw(texts | st.permutations(AWKWARD).map(lambda p: p[: graph.n])))


def assert_same(back: PDAG, graph: PDAG) -> None:
    assert back.names == graph.names
    assert back == graph


@pytest.mark.parametrize("convention", CONVENTIONS)
@given(graph=named_cpdags())
def test_each_matrix_convention_returns_the_graph(graph: PDAG, convention: Convention) -> None:
    assert graph.names is not None
    assert_same(from_numpy(to_numpy(graph, convention), convention, graph.names), graph)


FORMATS: dict[str, tuple[Callable[[PDAG], Any], Callable[[Any], PDAG]]] = {
    "JSON": (to_json, from_json),
    "GraphML": (to_graphml, from_graphml),
    "networkx": (to_networkx, from_networkx),
    "DOT": (to_dot, from_dot),
    "GML": (to_gml, from_gml),
    "CSV": (to_csv, from_csv),
    "CSV of a matrix": (lambda graph: adjacency_frame(graph).to_csv(), from_csv),
}


@pytest.mark.parametrize("kind", FORMATS)
@given(graph=named_cpdags())
def test_each_format_returns_the_graph(graph: PDAG, kind: str) -> None:
    write, read = FORMATS[kind]
    assert_same(read(write(graph)), graph)


@pytest.mark.parametrize("name", ["\r", "a\rb", "a\r\nb", "\n", '"', ","])
def test_csv_keeps_names_with_line_breaks(name: str) -> None:
    graph = PDAG.from_edges(2, [(0, 1)], names=["a", name])
    assert_same(from_csv(to_csv(graph)), graph)
    assert "\r" in name or "\r" not in to_csv(graph)


@pytest.mark.parametrize("name", ["", "\ud800"])
def test_a_list_of_edges_refuses_names_that_would_not_come_back(name: str) -> None:
    with pytest.raises(GraphError, match="a list of edges cannot contain the name"):
        to_csv(PDAG.from_edges(2, [(0, 1)], names=["a", name]))


@given(named_cpdags())
def test_networkx_reads_our_graphml_and_we_read_that_of_networkx(graph: PDAG) -> None:
    theirs = nx.read_graphml(io.BytesIO(to_graphml(graph).encode()))
    assert from_networkx(theirs) == graph
    assert tuple(theirs.nodes[v]["name"] for v in theirs) == graph.names
    written = io.BytesIO()
    nx.write_graphml(to_networkx(graph), written)
    assert_same(from_graphml(written.getvalue().decode()), graph)


@pytest.mark.parametrize("ending", [".json", ".graphml", ".gml", ".csv", ".dot", ".gv"])
def test_a_file_is_read_as_it_was_written(tmp_path: Path, ending: str) -> None:
    graph = PDAG.from_edges(8, [(0, 2), (1, 2)], [(3, 4)], names=AWKWARD)
    path = write_graph(graph, tmp_path / f"graph{ending}")
    assert_same(read_graph(path), graph)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    other = path.rename(tmp_path / "graph.unknown")
    assert_same(read_graph(other), graph)


@pytest.mark.skipif(os.name == "nt", reason="permissions of Unix")
def test_a_file_that_is_replaced_keeps_its_permissions_and_links(tmp_path: Path) -> None:
    graph = PDAG.from_edges(2, [(0, 1)], names=["a", "b"])
    path, link = tmp_path / "graph.json", tmp_path / "link.json"
    write_graph(graph.edited(undirect=[(0, 1)]), path)
    path.chmod(0o600)
    link.symlink_to(path.name)
    assert write_graph(graph, link) == link
    assert link.is_symlink()
    assert_same(read_graph(path), graph)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for written in Result(graph, 0.0).save(tmp_path / "result"):
        written.chmod(0o600)
    again = Result(graph, 0.0).save(tmp_path / "result")
    assert {stat.S_IMODE(written.stat().st_mode) for written in again} == {0o600}


def test_half_a_surrogate_pair_in_a_name_survives_a_json_file(tmp_path: Path) -> None:
    graph = PDAG.from_edges(2, [(0, 1)], names=["a", "\ud800"])
    assert_same(read_graph(write_graph(graph, tmp_path / "graph.json")), graph)


@pytest.mark.parametrize("writer", [to_json, to_graphml, to_gml, to_csv, to_dot])
def test_the_format_of_standard_input_is_detected_from_its_beginning(
    writer: Callable[[PDAG], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = PDAG.from_edges(3, [(0, 1)], [(1, 2)], names=["a", "b", "c"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(writer(graph).encode())))
    assert_same(read_graph("-"), graph)


def test_the_conventions_are_those_of_their_libraries() -> None:
    """The graph 0 → 1 — 2 in the matrix of each library."""
    graph = PDAG.from_edges(3, [(0, 1)], [(1, 2)])
    expected = {
        "row-to-column": [[0, 1, 0], [0, 0, 1], [0, 1, 0]],
        "pcalg": [[0, 0, 0], [1, 0, 1], [0, 1, 0]],
        "causal-learn": [[0, -1, 0], [1, 0, -1], [0, -1, 0]],
        "gadjid": [[0, 1, 0], [0, 0, 2], [0, 2, 0]],
    }
    assert set(expected) == set(CONVENTIONS)
    for convention, matrix in expected.items():
        assert to_numpy(graph, convention).tolist() == matrix  # type: ignore[arg-type]
    one_sided = np.array([[0, 1, 0], [0, 0, 2], [0, 0, 0]])
    assert from_numpy(one_sided, "gadjid") == graph


@pytest.mark.parametrize("name", ["asia.bif", "network"])
def test_the_dag_of_a_network_in_bif_is_read(tmp_path: Path, name: str) -> None:
    network = examples.asia()
    write_bif(network, tmp_path / name)
    assert_same(read_graph(tmp_path / name), network.dag)
    text = (tmp_path / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(text[: len(text) // 2], encoding="utf-8")
    with pytest.raises(GraphError, match="this is not BIF: ") as caught:
        read_graph(tmp_path / name)
    assert "\n" not in str(caught.value)
