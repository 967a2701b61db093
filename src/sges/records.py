"""Graphs and other values as plain lists, dicts and strings, as in JSON files.

A graph is ``{"nodes": [names], "edges": [{"source", "target", "type": "directed" |
"undirected"}]}``, with the edges sorted by node.  A result of ``sges`` in JSON has the same two
entries, so a reader of graphs also reads the graph of a result.

Other values have the entries "format" and "version" and those that a table of ``Rules`` names.

All input is checked here; error messages are one line and refer to nodes by their names.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan
from typing import Any, TypeAlias

from sges.errors import DataError, GraphError, as_name, check_number, check_text, shown
from sges.graph.pdag import PDAG, Edge, checked_names

EdgeRecord: TypeAlias = dict[str, str]
"""One edge: its source, its target and its type."""

TYPES = ("directed", "undirected")


def edge_records(graph: PDAG) -> list[EdgeRecord]:
    """Return the edges as records of names, sorted by node."""
    return [{"source": e.source, "target": e.target, "type": e.kind} for e in graph.edges]


def graph_record(graph: PDAG) -> dict[str, Any]:
    """Return the graph as plain lists, dicts and strings."""
    return {"nodes": [graph.name(v) for v in range(graph.n)], "edges": edge_records(graph)}


def graph_of_record(record: object) -> PDAG:
    """Return the graph that ``graph_record`` wrote, or the graph of a result's record."""
    if not isinstance(record, Mapping) or not {"nodes", "edges"} <= record.keys():
        raise GraphError('a graph in JSON must be an object with the entries "nodes" and "edges"')
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
        edges[kind].append((_node(record["source"], number), _node(record["target"], number)))
    return graph_of_edges(names, edges["directed"], edges["undirected"])


def _node(value: object, number: Mapping[str, int]) -> int:
    """Return the number of a node that an edge names."""
    name = node_name(value)
    if name not in number:
        raise GraphError(f"an edge refers to {shown(name)}, which is not among the nodes")
    return number[name]


def graph_of_edges(names: Sequence[str], directed: list[Edge], undirected: list[Edge]) -> PDAG:
    """Return the graph with these edges; the error for an invalid edge names its nodes."""
    checked_names(names, len(names))
    pairs: set[frozenset[int]] = set()
    for x, y in (*directed, *undirected):
        if x == y:
            raise GraphError(f"an edge connects {names[x]!r} with itself; an edge needs two nodes")
        if frozenset((x, y)) in pairs:
            raise GraphError(
                f"there are two edges between {names[x]!r} and {names[y]!r}; at most one is allowed"
            )
        pairs.add(frozenset((x, y)))
    return PDAG.from_edges(len(names), directed, undirected, names=names)


def node_name(name: object) -> str:
    """Return the name of a node as text; raise an error if it cannot be a name."""
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise GraphError(f"the node {shown(name)} is neither text nor a whole number")
    return as_name(name)


def parse_json(text: str) -> object:
    """Return the value in JSON text; raise a one-line error if it cannot be read."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise GraphError("this JSON is nested too deeply to be a graph or a result") from None
    except ValueError as error:  # not JSON, or a number of thousands of digits
        reason = " ".join(str(error).split(";")[0].split())
        raise GraphError(f"this is not JSON: {reason}") from None


# Other values

Rules: TypeAlias = Mapping[str, tuple[Callable[[object], bool], str]]
"""For each entry of a record, a check of its value, and what the value must be in words."""


def to_json(record: Mapping[str, Any], indent: int | None) -> str:
    """Return a record as JSON text."""
    check_number("indent", indent, whole=True, most=100, optional=True)
    text = json.dumps(record, indent=indent, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # half a surrogate pair


def from_json(text: str) -> object:
    """Return the record in JSON text, or raise a ``DataError``."""
    check_text("text", text)
    try:
        return parse_json(text)
    except GraphError as error:
        raise DataError(str(error)) from None


def check_format(record: object, what: str, name: str, version: int) -> Mapping[str, Any]:
    """Return the record if it has this format and version, otherwise raise an error."""
    if not isinstance(record, Mapping):
        raise DataError(f"a {what} in JSON must be an object, not {shown(record)}")
    stated = (record.get("format"), record.get("version"))
    if stated != (name, version):
        has = f"it has format {shown(stated[0])}, version {shown(stated[1])}"
        if stated[0] is None:
            has = "it states no format"
        raise DataError(f"not a {what} of format {name!r}, version {version}: {has}")
    return record


def checked_entries(record: Mapping[str, Any], rules: Rules, what: str) -> dict[str, Any]:
    """Return the entries that the rules name; raise an error if one is missing or invalid."""
    for key, (is_right, needed) in rules.items():
        if key not in record:
            raise DataError(f"{what} has no entry {key!r}; it was not written by sges")
        if not is_right(record[key]):
            raise DataError(
                f"the entry {key!r} of {what} is {shown(record[key])}; it must be {needed}"
            )
    return {key: record[key] for key in rules}


def is_text(value: object) -> bool:
    """Return whether a value is text."""
    return isinstance(value, str)


def is_text_or_none(value: object) -> bool:
    """Return whether a value is text or None."""
    return value is None or isinstance(value, str)


def is_texts(value: object) -> bool:
    """Return whether a value is a list of texts."""
    return isinstance(value, list | tuple) and all(map(is_text, value))


def is_number(value: object) -> bool:
    """Return whether a value is a number that a double can hold, not NaN."""
    if isinstance(value, int):
        return not isinstance(value, bool) and value.bit_length() < 1024
    return isinstance(value, float) and not isnan(value)


def is_count(value: object) -> bool:
    """Return whether a value is a whole number, 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
