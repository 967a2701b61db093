"""To the graph objects of other libraries, where these are installed."""

from typing import Any

from sges.export.optional import need
from sges.graph.pdag import PDAG


def to_pgmpy(graph: PDAG) -> Any:  # noqa: ANN401 (pgmpy has no types)
    """Return a ``pgmpy.base.PDAG`` on the names; ``to_dag()`` of it gives a member."""
    base = need("pgmpy.base", "a pgmpy graph", "pgmpy")
    arrows, lines = (
        [(graph.name(x), graph.name(y)) for x, y in edges]
        for edges in (graph.directed_edges(), graph.undirected_edges())
    )
    made = base.PDAG(directed_ebunch=arrows, undirected_ebunch=lines)
    made.add_nodes_from(graph.name(v) for v in range(graph.n))
    return made


def to_causallearn(graph: PDAG) -> Any:  # noqa: ANN401 (causal-learn has no types)
    """Return a ``GeneralGraph`` of causal-learn on the names."""

    def of(module: str) -> Any:  # noqa: ANN401
        return need(f"causallearn.graph.{module}", "a causal-learn graph", "causal-learn")

    edge, endpoint = of("Edge").Edge, of("Endpoint").Endpoint
    made_nodes = [of("GraphNode").GraphNode(graph.name(v)) for v in range(graph.n)]
    made = of("GeneralGraph").GeneralGraph(made_nodes)
    for x, y in graph.directed_edges():
        made.add_edge(edge(made_nodes[x], made_nodes[y], endpoint.TAIL, endpoint.ARROW))
    for x, y in graph.undirected_edges():
        made.add_edge(edge(made_nodes[x], made_nodes[y], endpoint.TAIL, endpoint.TAIL))
    return made
