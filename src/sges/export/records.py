"""Graphs as plain lists, dicts and strings: what goes into JSON.

``{"nodes": [names], "edges": [{"source", "target", "type": "directed" | "undirected"}]}``, the
edges sorted by node.  A result of ``sges`` in JSON holds the same two entries, so whatever reads
the one reads the graph of the other.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sges.errors import GraphError
from sges.graph.pdag import PDAG, Edge

EdgeRecord: TypeAlias = dict[str, str]
"""One edge: its source, its target and its type."""

TYPES = ("directed", "undirected")


def edge_records(graph: PDAG) -> list[EdgeRecord]:
    """Return the edges as records of names, sorted by node."""
    arrows = [(x, y, "directed") for x, y in graph.directed_edges()]
    lines = [(x, y, "undirected") for x, y in graph.undirected_edges()]
    return [
        {"source": graph.name(x), "target": graph.name(y), "type": kind}
        for x, y, kind in sorted(arrows + lines)
    ]


def graph_of_records(names: Sequence[str], records: Iterable[Mapping[str, str]]) -> PDAG:
    """Return the graph that ``edge_records`` wrote."""
    number = {name: v for v, name in enumerate(names)}
    edges: dict[str, list[Edge]] = {kind: [] for kind in TYPES}
    for record in records:
        if missing := [key for key in ("source", "target", "type") if key not in record]:
            raise GraphError(f"edge {dict(record)!r} has no {missing[0]!r}; each edge needs one")
        if record["type"] not in edges:
            raise GraphError(f"edge type {record['type']!r} is neither 'directed' nor 'undirected'")
        ends = (_number(record["source"], number), _number(record["target"], number))
        edges[record["type"]].append(ends)
    return graph_of_edges(names, edges["directed"], edges["undirected"])


def graph_of_edges(names: Sequence[str], directed: list[Edge], undirected: list[Edge]) -> PDAG:
    """Return the graph; whoever reads of a bad edge reads names, not numbers."""
    seen: set[frozenset[int]] = set()
    for x, y in (*directed, *undirected):
        if x == y:
            raise GraphError(f"an edge joins {names[x]!r} to itself; an edge needs two nodes")
        if frozenset((x, y)) in seen:
            raise GraphError(
                f"{names[x]!r} and {names[y]!r} are joined twice; a pair has one edge at most"
            )
        seen.add(frozenset((x, y)))
    return PDAG.from_edges(len(names), directed, undirected, names=names)


def graph_record(graph: PDAG) -> dict[str, Any]:
    """Return the graph as plain lists, dicts and strings."""
    return {
        "nodes": [graph.name(v) for v in range(graph.n)],
        "edges": edge_records(graph),
    }


def graph_of_record(record: Any) -> PDAG:  # noqa: ANN401 (whatever JSON holds)
    """Return the graph of ``graph_record``, or of a result's JSON."""
    if not isinstance(record, Mapping) or not {"nodes", "edges"} <= record.keys():
        raise GraphError('a graph in JSON is an object with the entries "nodes" and "edges"')
    names, edges = record["nodes"], record["edges"]
    if not isinstance(names, list) or not isinstance(edges, list):
        raise GraphError('the entries "nodes" and "edges" of a graph in JSON must be lists')
    if bad := [edge for edge in edges if not isinstance(edge, Mapping)]:
        raise GraphError(f"edge {bad[0]!r} is no object with source, target and type")
    return graph_of_records([_name(name) for name in names], edges)


def to_json(graph: PDAG, indent: int | None = 2) -> str:
    """Return the graph as JSON text."""
    return json.dumps(graph_record(graph), indent=indent, ensure_ascii=False)


def from_json(text: str) -> PDAG:
    """Return the graph that ``to_json`` wrote, or that of a result in JSON."""
    try:
        return graph_of_record(json.loads(text))
    except json.JSONDecodeError as error:
        raise GraphError(f"this is not JSON: {error}") from None


def _name(name: object) -> str:
    if not isinstance(name, str | int):
        raise GraphError(f"the node {name!r} is neither text nor a whole number")
    return str(name)


def _number(name: object, number: Mapping[str, int]) -> int:
    if str(name) not in number:
        raise GraphError(f"an edge names {name!r}, which is not among the nodes")
    return number[str(name)]
