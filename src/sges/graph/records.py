"""A graph as plain lists, dicts and strings, which is what a JSON file of a graph holds.

``{"nodes": [names], "edges": [{"source", "target", "type": "directed" | "undirected"}]}``, with
the edges sorted by node.  A result of ``sges`` in JSON has the same two entries, so whatever reads
graphs also reads the graph of a result.

Everything that comes from outside is checked here, and refused in one line that calls nodes by
their names.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sges.errors import GraphError, shown
from sges.graph.pdag import PDAG, Edge

EdgeRecord: TypeAlias = dict[str, str]
"""One edge: its source, its target and its type."""

TYPES = ("directed", "undirected")


def edge_records(graph: PDAG) -> list[EdgeRecord]:
    """Return the edges as records of names, sorted by node."""
    directed = [(x, y, "directed") for x, y in graph.directed_edges()]
    undirected = [(x, y, "undirected") for x, y in graph.undirected_edges()]
    return [
        {"source": graph.name(x), "target": graph.name(y), "type": kind}
        for x, y, kind in sorted(directed + undirected)
    ]


def graph_record(graph: PDAG) -> dict[str, Any]:
    """Return the graph as plain lists, dicts and strings."""
    return {"nodes": [graph.name(v) for v in range(graph.n)], "edges": edge_records(graph)}


def graph_of_record(record: object) -> PDAG:
    """Return the graph that ``graph_record`` wrote, or the graph of a result's record."""
    if not isinstance(record, Mapping) or not {"nodes", "edges"} <= record.keys():
        raise GraphError('a graph in JSON is an object with the entries "nodes" and "edges"')
    names, edges = record["nodes"], record["edges"]
    if not isinstance(names, list | tuple) or not isinstance(edges, list | tuple):
        raise GraphError('the entries "nodes" and "edges" of a graph in JSON must be lists')
    for edge in edges:
        if not isinstance(edge, Mapping):
            raise GraphError(
                f"edge {shown(edge)} is not an object with the entries source, target and type"
            )
    return graph_of_records([node_name(name) for name in names], edges)


def graph_of_records(names: Sequence[str], records: Iterable[Mapping[str, object]]) -> PDAG:
    """Return the graph on the named nodes with the edges that ``edge_records`` wrote."""
    number = {name: v for v, name in enumerate(names)}
    edges: dict[str, list[Edge]] = {kind: [] for kind in TYPES}
    for record in records:
        if missing := [key for key in ("source", "target", "type") if key not in record]:
            raise GraphError(f"edge {shown(record)} has no {missing[0]!r}; each edge needs one")
        kind = record["type"]
        if not isinstance(kind, str) or kind not in edges:
            raise GraphError(f"edge type {shown(kind)} is neither 'directed' nor 'undirected'")
        ends = (_number(record["source"], number), _number(record["target"], number))
        edges[kind].append(ends)
    return graph_of_edges(names, edges["directed"], edges["undirected"])


def graph_of_edges(names: Sequence[str], directed: list[Edge], undirected: list[Edge]) -> PDAG:
    """Return the graph with these edges; a bad edge is refused by the names of its nodes."""
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise GraphError(f"the name {twice!r} is given twice; names must tell nodes apart")
    pairs: set[frozenset[int]] = set()
    for x, y in (*directed, *undirected):
        if x == y:
            raise GraphError(f"an edge joins {names[x]!r} to itself; an edge needs two nodes")
        if frozenset((x, y)) in pairs:
            raise GraphError(
                f"{names[x]!r} and {names[y]!r} are joined twice; a pair has one edge at most"
            )
        pairs.add(frozenset((x, y)))
    return PDAG.from_edges(len(names), directed, undirected, names=names)


def node_name(name: object) -> str:
    """Return the name of a node as text, or refuse what cannot be a name."""
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise GraphError(f"the node {shown(name)} is neither text nor a whole number")
    return str(name)


def parse_json(text: str) -> object:
    """Return the value in JSON text, or say in one line why it cannot be read."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise GraphError("this JSON is nested too deeply to be a graph or a result") from None
    except ValueError as error:  # not JSON, or a number of thousands of digits
        reason = " ".join(str(error).split(";")[0].split())
        raise GraphError(f"this is not JSON: {reason}") from None


def _number(name: object, number: Mapping[str, int]) -> int:
    if node_name(name) not in number:
        raise GraphError(f"an edge names {shown(name)}, which is not among the nodes")
    return number[node_name(name)]
