"""Other libraries get the same graph from us; each is tested if it is installed."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from sges.errors import InvalidArgument, MissingLibrary, need
from sges.graph import PDAG, dag_to_cpdag
from sges.network import BayesianNetwork, LinearGaussian
from sges.result import Result
from sges.tools.export import to_numpy, to_pgmpy, to_pyagrum
from strategies import cpdags


@given(graph=cpdags())
def test_causal_learn_codes_our_graph_in_the_matrix_that_we_name_after_it(graph: PDAG) -> None:
    pytest.importorskip("causallearn")
    made = graph.to_causallearn()
    assert (made.graph == to_numpy(graph, "causal-learn")).all()
    assert made.get_node_names() == [graph.name(v) for v in range(graph.n)]


@given(graph=cpdags())
def test_pgmpy_has_our_nodes_arrows_and_lines(graph: PDAG) -> None:
    pytest.importorskip("pgmpy.base")
    made = to_pgmpy(graph)
    assert set(made.nodes()) == {graph.name(v) for v in range(graph.n)}
    assert set(made.directed_edges) == {(str(x), str(y)) for x, y in graph.directed_edges()}
    lines = {frozenset(edge) for edge in made.undirected_edges}
    assert lines == {frozenset((str(x), str(y))) for x, y in graph.undirected_edges()}


@pytest.mark.filterwarnings("ignore")
def test_pgmpy_gets_a_fitted_discrete_network(seed: int) -> None:
    inference = pytest.importorskip("pgmpy.inference")
    names = ["a", "b", "c d"]
    dag = PDAG.from_edges(3, [(0, 2), (1, 2)], names=names)
    table = BayesianNetwork.random(dag, [2, 3, 4], seed=seed).sample(500, seed=seed)
    result = Result(dag_to_cpdag(dag), 0.0)
    ours = result.fit(table)
    assert isinstance(ours, BayesianNetwork)
    made = result.to_pgmpy(fit=table)
    assert made.check_model()
    assert set(made.edges()) == {("a", "c d"), ("b", "c d")}
    posterior = inference.VariableElimination(made).query(
        ["a"], evidence={"c d": ours.levels[2][1]}, show_progress=False
    )
    wanted = ours.query("a", given={"c d": ours.levels[2][1]})
    assert isinstance(wanted, dict)
    assert {level: posterior.get_value(a=level) for level in wanted} == pytest.approx(wanted)


@pytest.mark.filterwarnings("ignore")
def test_pgmpy_gets_a_fitted_linear_network(seed: int) -> None:
    pytest.importorskip("pgmpy.models")
    dag = PDAG.from_edges(4, [(0, 2), (1, 2), (2, 3)], names=["a", "b", "c", "d"])
    truth = LinearGaussian(
        dag, LinearGaussian.random(dag, seed=seed).weights, [1, 2, 3, 4], [5, 6, 7, 8]
    )
    data = truth.sample(200, seed=seed)
    result = Result(dag_to_cpdag(dag), 0.0)
    ours = result.fit(data)
    assert isinstance(ours, LinearGaussian)
    made = result.to_pgmpy(fit=data)
    assert made.check_model()
    mean, covariance = made.to_joint_gaussian()
    order = [ours.names.index(name) for name in nx.topological_sort(made)]
    assert mean == pytest.approx(ours.means[order], abs=1e-3)
    assert covariance == pytest.approx(ours.covariance()[np.ix_(order, order)], abs=1e-3)


def test_pyagrum_gets_a_fitted_discrete_network(seed: int) -> None:
    gum = pytest.importorskip("pyagrum")
    dag = PDAG.from_edges(4, [(3, 0), (1, 0), (2, 0)], names=["a", "b", "c d", "e"])
    table = BayesianNetwork.random(dag, [2, 3, 4, 2], seed=seed).sample(500, seed=seed)
    result = Result(dag_to_cpdag(dag), 0.0)
    ours = result.fit(table)
    assert isinstance(ours, BayesianNetwork)
    made = result.to_pyagrum(fit=table)
    arcs = {(made.variable(x).name(), made.variable(y).name()) for x, y in made.arcs()}
    assert arcs == {("e", "a"), ("b", "a"), ("c d", "a")}
    inference = gum.LazyPropagation(made)
    inference.setEvidence({"a": str(ours.levels[0][1])})
    inference.makeInference()
    for name in ("b", "c d", "e"):
        wanted = ours.query(name, given={"a": ours.levels[0][1]})
        assert isinstance(wanted, dict)
        assert inference.posterior(name).toarray() == pytest.approx(list(wanted.values()))
        assert made.variable(name).labels() == tuple(map(str, wanted))


def test_pyagrum_needs_discrete_parameters() -> None:
    pytest.importorskip("pyagrum")
    graph = PDAG.from_edges(2, [(0, 1)])
    with pytest.raises(InvalidArgument, match="needs discrete parameters, but PDAG"):
        to_pyagrum(graph)
    with pytest.raises(InvalidArgument, match="needs discrete parameters, but LinearGaussian"):
        graph.to_pyagrum(fit=LinearGaussian.random(graph, seed=0).sample(50))


def test_a_library_that_is_not_there_is_named_with_its_remedy() -> None:
    with pytest.raises(MissingLibrary, match=r"a thing needs nowhere, .*: pip install nowhere"):
        need("nowhere.at.all", "a thing")
