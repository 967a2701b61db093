"""Conversions of a graph for other tools; each is tested if it is installed.

dagitty, bnlearn and lavaan are R packages: their texts are checked against the grammar that they
document, and lavaan's by semopy where that is installed.
"""

import re
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from hypothesis import given

from sges.errors import GraphError
from sges.graph import PDAG, dag_to_cpdag, is_dag
from sges.result import Result
from sges.tools.export import from_networkx
from sges.tools.export.formats import to_gml, to_graphml
from sges.tools.export.languages import to_bnlearn, to_dagitty, to_dot, to_lavaan
from sges.tools.export.matrix import to_numpy
from sges.tools.export.objects import edge_frame, to_dowhy, to_igraph, to_networkx
from strategies import cpdags, dags


@given(cpdags())
def test_networkx_gets_a_member_on_request(graph: PDAG) -> None:
    member = from_networkx(to_networkx(graph, dag=True))
    assert is_dag(member)
    assert dag_to_cpdag(member) == graph
    assert from_networkx(nx.parse_gml(to_gml(graph))) == graph


@pytest.mark.filterwarnings("ignore")  # igraph does not decode &#380;, and warns
def test_igraph_gets_names_arcs_and_types(tmp_path: Path) -> None:
    igraph = pytest.importorskip("igraph")
    graph = PDAG.from_edges(4, [(0, 2), (1, 2)], [(2, 3)], names=["a", "b", "c d", "ż"])
    made = to_igraph(graph)
    assert made.vs["name"] == ["a", "b", "c d", "ż"]
    kinds = {(edge.source, edge.target): edge["type"] for edge in made.es}
    assert kinds == {
        (0, 2): "directed", (1, 2): "directed", (2, 3): "undirected", (3, 2): "undirected",
    }  # fmt: skip
    assert to_igraph(graph, dag=True).is_dag()
    (tmp_path / "graph.gml").write_text(to_gml(graph), encoding="ascii")
    read = igraph.Graph.Read_GML(str(tmp_path / "graph.gml"))
    assert read.vs["label"][:3] == ["a", "b", "c d"]
    assert {(edge.source, edge.target): edge["type"] for edge in read.es} == kinds


@given(cpdags())
def test_dagitty_gets_every_node_and_edge(graph: PDAG) -> None:
    kind, body = re.fullmatch(r"(p?dag) \{\n(.*)\}\n", to_dagitty(graph), re.DOTALL).groups()  # type: ignore[union-attr]
    assert (kind == "pdag") == bool(graph.undirected_edges())
    statements = [re.findall(r'"([^"]*)"|(->|--)', line) for line in body.splitlines()]
    names = [words[0][0] for words in statements if len(words) == 1]
    edges = {(w[0][0], w[1][1], w[2][0]) for w in statements if len(w) == 3}
    assert names == [graph.name(v) for v in range(graph.n)]
    assert edges == {
        *((str(x), "->", str(y)) for x, y in graph.directed_edges()),
        *((str(x), "--", str(y)) for x, y in graph.undirected_edges()),
    }


@given(dags())
def test_a_model_string_of_bnlearn_holds_the_dag(dag: PDAG) -> None:
    terms = re.findall(r"\[([^\[\]|]+)(?:\|([^\[\]]+))?\]", to_bnlearn(dag))
    assert [name for name, _ in terms] == [dag.name(v) for v in range(dag.n)]
    for v, (_, parents) in enumerate(terms):
        assert tuple(filter(None, parents.split(":"))) == dag.names_of(dag.parents(v))


@given(cpdags())
def test_the_regressions_of_lavaan_are_those_of_a_member(graph: PDAG) -> None:
    named = graph.named([f"v{v}" for v in range(graph.n)])
    edges = []
    for line in to_lavaan(named).splitlines():
        child, sign, *parents = re.split(r" (~~|~|\+) ", line)[:1] + re.split(r" ", line)[1:]
        edges += [(int(p[1:]), int(child[1:])) for p in parents if sign == "~" and p != "+"]
    assert dag_to_cpdag(PDAG.from_edges(graph.n, edges)) == graph


def chain() -> tuple[PDAG, pd.DataFrame]:
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    b = 2 * a + rng.normal(size=500)
    c = 3 * b + rng.normal(size=500)
    graph = PDAG.from_edges(3, [(0, 1), (1, 2)], names=["a", "b", "c"])
    return graph, pd.DataFrame({"a": a, "b": b, "c": c})


@pytest.mark.filterwarnings("ignore")
def test_semopy_fits_our_lavaan_model() -> None:
    semopy = pytest.importorskip("semopy")
    graph, frame = chain()
    model = semopy.Model(to_lavaan(graph))
    model.fit(frame)
    table = model.inspect()
    found = {(r.lval, r.rval): float(r.Estimate) for r in table.itertuples() if r.op == "~"}
    assert found == {("b", "a"): pytest.approx(2, abs=0.2), ("c", "b"): pytest.approx(3, abs=0.2)}


@pytest.mark.filterwarnings("ignore")
def test_dowhy_identifies_and_estimates_on_our_graph() -> None:
    pytest.importorskip("dowhy")
    graph, frame = chain()
    model = to_dowhy(graph, frame, "a", "c")
    estimand = model.identify_effect(proceed_when_unidentifiable=True)
    estimate = model.estimate_effect(estimand, method_name="backdoor.linear_regression")
    assert estimate.value == pytest.approx(6, abs=0.5)


def test_dowhy_needs_a_frame_with_a_column_for_every_node() -> None:
    graph, frame = chain()
    with pytest.raises(GraphError, match="is not a pandas data frame"):
        to_dowhy(graph, frame.to_numpy(), "a", "c")
    with pytest.raises(GraphError, match="the data frame has no column 'b', a node of the graph"):
        to_dowhy(graph, frame.drop(columns="b"), "a", "c")


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (to_dagitty, 'say "a"'),
        (to_bnlearn, "a:b"),
        *((to_lavaan, name) for name in ("a b", "1a", ".1a", "_a", "for", "NA")),
    ],
)
def test_names_that_a_language_cannot_hold_are_refused(write: object, name: str) -> None:
    with pytest.raises(GraphError, match="cannot"):
        write(PDAG.empty(1, names=[name]))  # type: ignore[operator]


COLLIDER = PDAG.from_edges(3, [(0, 1), (2, 1)], names=["a", "b", "c"])


@pytest.mark.parametrize("graph", [Result(COLLIDER, 0.0), COLLIDER, Result(COLLIDER, 0.0).dag()])
def test_a_result_a_graph_and_a_member_have_every_hand_over(graph: Result | PDAG) -> None:
    assert graph.to_bnlearn() == "[a][b|a:c][c]"
    assert graph.to_lavaan() == "b ~ a + c\n"
    assert graph.to_dagitty().startswith("dag {")
    assert graph.to_csv().splitlines()[-1].rstrip(",") == "c,b,directed"
    assert graph.to_dot() == to_dot(COLLIDER)
    assert graph.to_graphml() == to_graphml(COLLIDER)
    assert (graph.to_numpy("pcalg") == to_numpy(COLLIDER, "pcalg")).all()
    assert graph.to_pandas()[["source", "target", "type"]].equals(edge_frame(COLLIDER))
    assert nx.is_directed_acyclic_graph(graph.to_networkx(dag=True))
    assert 'label "a"' in graph.to_gml()
    assert [str(edge) for edge in graph.edges] == ["a → b", "c → b"]
