"""Graphs as objects of other libraries: networkx, igraph, pandas, pgmpy, ...

Each library is imported when it is needed; if it is not installed, the error names the command that
installs it.
"""

from math import sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sges.errors import GraphError, InvalidArgument, check_flag, need, shown
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG, Edge
from sges.network import BayesianNetwork, LinearGaussian, MixedNetwork
from sges.network import fit as fit_network
from sges.nodeset import nodes
from sges.records import edge_records, graph_of_edges

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: PDAG, *, dag: bool = False) -> "networkx.DiGraph[str]":
    """Return the graph as a networkx ``DiGraph`` of names."""
    check_flag("dag", dag)
    graph = pdag_to_dag(graph) if dag else graph
    made: networkx.DiGraph[str] = need("networkx", "a networkx graph").DiGraph()
    made.add_nodes_from(graph.name(v) for v in range(graph.n))
    for x, y, kind in arcs_of(graph):
        made.add_edge(graph.name(x), graph.name(y), type=kind)
    return made


def arcs_of(graph: PDAG) -> list[tuple[int, int, str]]:
    """Return the edges as arcs with their type; an undirected edge is both arcs."""
    arcs = [(x, y, "directed") for x, y in graph.directed_edges()]
    for x, y in graph.undirected_edges():
        arcs += [(x, y, "undirected"), (y, x, "undirected")]
    return arcs


def from_networkx(graph: Any) -> PDAG:  # noqa: ANN401 (any networkx graph)
    """Return the graph of a networkx graph.

    An edge of a ``Graph``, an arc of type "undirected", and two opposite arcs without a type are
    undirected edges.

    Parameters
    ----------
    graph : networkx.DiGraph or networkx.Graph
        Its nodes, as text, become the names.

    Returns
    -------
    PDAG
        The graph, its nodes in the order of networkx.

    Raises
    ------
    GraphError
        For a multigraph, an unknown type, and two opposite arcs of type "directed".
    """
    if graph.is_multigraph():
        raise GraphError("a multigraph may have several edges per pair; pass a DiGraph or a Graph")
    names = [str(node) for node in graph]
    number = {node: v for v, node in enumerate(graph)}
    directed: list[Edge] = []
    undirected: set[Edge] = set()
    for source, target, kind in graph.edges(data="type"):
        if kind not in (None, "directed", "undirected"):
            raise GraphError(
                f"the arc {source!r} → {target!r} has the type {kind!r}; "
                "it must be 'directed' or 'undirected'"
            )
        x, y = number[source], number[target]
        both_ways = not graph.is_directed() or graph.has_edge(target, source)
        if kind == "undirected" or (kind is None and both_ways):
            undirected.add((min(x, y), max(x, y)))
        else:
            directed.append((x, y))
    return graph_of_edges(names, directed, sorted(undirected))


def to_igraph(graph: PDAG, *, dag: bool = False) -> Any:  # noqa: ANN401 (igraph has no types)
    """Return the graph as a directed ``igraph.Graph``, its vertices called by their names."""
    igraph = need("igraph", "an igraph graph", "igraph")
    check_flag("dag", dag)
    graph = pdag_to_dag(graph) if dag else graph
    arcs = arcs_of(graph)
    return igraph.Graph(
        n=graph.n,
        edges=[(x, y) for x, y, _ in arcs],
        directed=True,
        vertex_attrs={"name": [graph.name(v) for v in range(graph.n)]},
        edge_attrs={"type": [kind for _, _, kind in arcs]},
    )


def to_dowhy(graph: PDAG, data: Any, treatment: str, outcome: str) -> Any:  # noqa: ANN401
    """Return a ``dowhy.CausalModel`` on a member of the class."""
    for name in (treatment, outcome):
        graph.node(name)
    if isinstance(data, type) or not all(hasattr(data, w) for w in ("index", "columns", "loc")):
        raise GraphError(f"{shown(data)} is not a pandas data frame")
    for v in range(graph.n):
        if graph.name(v) not in data.columns:
            raise GraphError(f"the data frame has no column {graph.name(v)!r}, a node of the graph")
    dowhy = need("dowhy", "a causal model of DoWhy")
    member = to_networkx(graph, dag=True)
    return dowhy.CausalModel(data=data, treatment=treatment, outcome=outcome, graph=member)


def edge_frame(graph: PDAG) -> Any:  # noqa: ANN401 (pandas has no types)
    """Return the edges as a pandas data frame: source, target and type."""
    pandas = need("pandas", "a table of edges")
    return pandas.DataFrame(edge_records(graph), columns=["source", "target", "type"], dtype="str")


Network: TypeAlias = BayesianNetwork | LinearGaussian | MixedNetwork


def to_pgmpy(graph: PDAG | Network, fit: Any = None) -> Any:  # noqa: ANN401
    """Return a graph or a network as an object of pgmpy.

    Parameters
    ----------
    graph : PDAG, BayesianNetwork or LinearGaussian
        The graph, or a network with its parameters.
    fit : table, Dataset or Moments, optional
        Data from which the parameters of a member of the graph are estimated.

    Returns
    -------
    pgmpy.base.PDAG, DiscreteBayesianNetwork or LinearGaussianBayesianNetwork
        The same graph or network, its nodes called by their names; levels of discrete variables
        are the state names.  ``to_dag()`` of a PDAG gives a member.
    """
    graph = graph if fit is None else _fitted(graph, fit)
    if isinstance(graph, BayesianNetwork | LinearGaussian):
        return _pgmpy_network(graph)
    if isinstance(graph, MixedNetwork):
        raise InvalidArgument(
            "pgmpy has no network of continuous and discrete variables; export the graph alone"
        )
    base = need("pgmpy.base", "a pgmpy graph", "pgmpy")
    directed, undirected = (
        [(graph.name(x), graph.name(y)) for x, y in edges]
        for edges in (graph.directed_edges(), graph.undirected_edges())
    )
    made = base.PDAG(directed_ebunch=directed, undirected_ebunch=undirected)
    made.add_nodes_from(graph.name(v) for v in range(graph.n))
    return made


def _fitted(graph: Any, data: Any) -> Network:  # noqa: ANN401
    """Return a member of a graph as a network, with parameters estimated from data."""
    return fit_network(pdag_to_dag(graph), data)


def _pgmpy_network(network: BayesianNetwork | LinearGaussian) -> Any:  # noqa: ANN401
    """Return a network of pgmpy with the same parameters."""
    models, factors = (
        need(f"pgmpy.{m}", "a pgmpy network", "pgmpy") for m in ("models", "factors")
    )
    if isinstance(network, BayesianNetwork):
        made = models.DiscreteBayesianNetwork()
    else:
        made = models.LinearGaussianBayesianNetwork()
    made.add_nodes_from(network.names)
    for v, name in enumerate(network.names):
        above = list(nodes(network.dag.parents(v)))
        evidence = [network.names[p] for p in above]
        made.add_edges_from((parent, name) for parent in evidence)
        if isinstance(network, BayesianNetwork):
            cpt = network.cpts[v]
            cpd = factors.discrete.TabularCPD(
                name,
                cpt.shape[-1],
                cpt.reshape(-1, cpt.shape[-1]).T,
                evidence=evidence,
                evidence_card=list(cpt.shape[:-1]),
                state_names={network.names[u]: list(network.levels[u]) for u in [v, *above]},
            )
        else:
            slopes = network.weights[above, v]
            intercept = float(network.means[v] - slopes @ network.means[above])
            cpd = factors.continuous.LinearGaussianCPD(
                name, [intercept, *slopes.tolist()], sqrt(network.variances[v]), evidence
            )
        made.add_cpds(cpd)
    return made


def to_pyagrum(graph: PDAG | BayesianNetwork, fit: Any = None) -> Any:  # noqa: ANN401
    """Return a discrete network as a ``BayesNet`` of pyAgrum.

    Parameters
    ----------
    graph : PDAG or BayesianNetwork
        The network, or a graph whose parameters are estimated from ``fit``.
    fit : table or Dataset, optional
        Discrete data from which the parameters of a member of the graph are estimated.

    Returns
    -------
    pyagrum.BayesNet
        The same network, with the names of the variables and the levels, as text, as labels.

    Raises
    ------
    InvalidArgument
        If the network is not discrete, or a graph comes without data.
    """
    network: object = graph if fit is None else _fitted(graph, fit)
    if not isinstance(network, BayesianNetwork):
        raise InvalidArgument(
            f"a network of pyAgrum needs discrete parameters, but {shown(network)} has none; "
            "pass a BayesianNetwork, or a graph with fit= discrete data"
        )
    gum = need("pyagrum", "a network of pyAgrum", "pyagrum")
    made = gum.BayesNet()
    for name, levels in zip(network.names, network.levels, strict=True):
        made.add(gum.LabelizedVariable(name, name, [str(level) for level in levels]))
    for v, cpt in enumerate(network.cpts):
        above = list(nodes(network.dag.parents(v)))
        for p in above:
            made.addArc(network.names[p], network.names[v])
        table = made.cpt(network.names[v])
        order = [network.names.index(name) for name in reversed(table.names[1:])]
        axes = [*(above.index(p) for p in order), len(above)]
        table[:] = np.ascontiguousarray(cpt.transpose(axes))
    return made


def to_causallearn(graph: PDAG) -> Any:  # noqa: ANN401 (causal-learn has no types)
    """Return the graph as a ``GeneralGraph`` of causal-learn."""
    edges, endpoints, single, general = (
        need(f"causallearn.graph.{name}", "a causal-learn graph", "causal-learn")
        for name in ("Edge", "Endpoint", "GraphNode", "GeneralGraph")
    )
    edge, endpoint = edges.Edge, endpoints.Endpoint
    made_nodes = [single.GraphNode(graph.name(v)) for v in range(graph.n)]
    made = general.GeneralGraph(made_nodes)
    for x, y in graph.directed_edges():
        made.add_edge(edge(made_nodes[x], made_nodes[y], endpoint.TAIL, endpoint.ARROW))
    for x, y in graph.undirected_edges():
        made.add_edge(edge(made_nodes[x], made_nodes[y], endpoint.TAIL, endpoint.TAIL))
    return made
