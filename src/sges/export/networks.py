"""To networkx and back.

A ``DiGraph`` whose nodes are the names: x → y is one arc, x — y both arcs, and every arc has the
attribute ``type`` ("directed" or "undirected"), so that drawing and GraphML keep the difference.
"""

from typing import TYPE_CHECKING, Any

from sges.errors import GraphError
from sges.export.optional import need
from sges.export.records import graph_of_edges
from sges.graph.pdag import PDAG, Edge

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: PDAG) -> "networkx.DiGraph[str]":
    """Return the graph as a DiGraph of names; an undirected edge is both arcs.

    >>> arcs = to_networkx(PDAG.from_edges(3, directed=[(0, 1)], undirected=[(1, 2)])).edges
    >>> list(arcs.data("type"))
    [('0', '1', 'directed'), ('1', '2', 'undirected'), ('2', '1', 'undirected')]
    """
    made: networkx.DiGraph[str] = need("networkx", "a networkx graph").DiGraph()
    made.add_nodes_from(graph.name(v) for v in range(graph.n))
    for x, y in graph.directed_edges():
        made.add_edge(graph.name(x), graph.name(y), type="directed")
    for x, y in graph.undirected_edges():
        made.add_edge(graph.name(x), graph.name(y), type="undirected")
        made.add_edge(graph.name(y), graph.name(x), type="undirected")
    return made


def from_networkx(graph: Any) -> PDAG:  # noqa: ANN401 (any networkx graph)
    """Return the PDAG of a networkx graph; its nodes, as text, become the names.

    Both arcs of a pair, an arc of type "undirected", and an edge of a ``Graph`` are undirected
    edges.  Both arcs of a pair called "directed" are a cycle, and refused.
    """
    if graph.is_multigraph():
        raise GraphError("a multigraph may join a pair more than once; pass a DiGraph or a Graph")
    names = [str(node) for node in graph]
    number = {node: v for v, node in enumerate(graph)}
    directed: list[Edge] = []
    undirected: set[Edge] = set()
    for source, target, kind in graph.edges(data="type"):
        x, y = number[source], number[target]
        if _is_line(graph, source, target, kind):
            undirected.add((min(x, y), max(x, y)))
        else:
            directed.append((x, y))
    return graph_of_edges(names, directed, sorted(undirected))


def _is_line(graph: Any, source: object, target: object, kind: object) -> bool:  # noqa: ANN401
    if kind not in (None, "directed", "undirected"):
        raise GraphError(
            f"the arc {source!r} → {target!r} has the type {kind!r}; "
            "it must be 'directed' or 'undirected'"
        )
    if not graph.is_directed():
        return kind != "directed"
    both = graph.has_edge(target, source)
    return kind == "undirected" or (both and kind is None)
