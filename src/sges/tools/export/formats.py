"""Graphs as text in JSON, CSV, GraphML and GML, and graph files in these formats, DOT and BIF."""

import csv
import re
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

import numpy as np

from sges.errors import (
    FileError,
    GraphError,
    InvalidArgument,
    NetworkError,
    check_path,
    need,
    shown,
)
from sges.graph.pdag import PDAG
from sges.network.bif import network_of_bif
from sges.records import (
    edge_records,
    graph_of_record,
    graph_of_records,
    graph_record,
    parse_json,
)
from sges.records import to_json as record_to_json
from sges.result import Result
from sges.tools.export.languages import from_dot, to_dot
from sges.tools.export.matrix import from_numpy
from sges.tools.export.objects import arcs_of, from_networkx
from sges.writing import PathLike, file_errors, opened, write_text

GRAPHML_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_SURROGATE = re.compile("[\ud800-\udfff]")

_CSV_TYPES = dict.fromkeys(("", "directed", "-->", "->"), "directed")
_CSV_TYPES |= dict.fromkeys(("undirected", "---", "--"), "undirected")


def to_json(graph: PDAG, indent: int | None = 2) -> str:
    """Return the graph as JSON text.

    Parameters
    ----------
    graph : PDAG
        The graph.
    indent : int, optional
        Spaces per level; None writes one line.

    Returns
    -------
    str
        ``{"nodes": [names], "edges": [{"source", "target", "type"}]}``, the edges sorted.
    """
    return record_to_json(graph_record(graph), indent)


def from_json(text: str) -> PDAG:
    """Return the graph in JSON text, that of a graph or of a result."""
    return graph_of_record(parse_json(text))


def to_csv(graph: PDAG | Result) -> str:
    """Return the edges as CSV, with a line for each node; of a result, with their numbers."""
    cpdag = graph.cpdag if isinstance(graph, Result) else graph
    names = [cpdag.name(v) for v in range(cpdag.n)]
    for name in names:
        if not name or _SURROGATE.search(name):
            raise GraphError(
                f"a list of edges cannot contain the name {name!r}; rename the column, or write "
                "JSON"
            )
    edges = graph.edges
    if isinstance(graph, Result):
        head = ["source", "target", "type", "strength", "gain", "step"]
        alone = [[name, *[None] * 5] for v, name in enumerate(names) if not cpdag.adjacent(v)]
        rows = [[e.source, e.target, e.kind, e.strength, e.gain, e.step] for e in edges]
        return csv_text([head, *rows, *alone])
    lines = [[name, "", ""] for name in names]
    return csv_text(
        [["source", "target", "type"], *lines, *([e.source, e.target, e.kind] for e in edges)]
    )


def csv_text(rows: list[list[Any]]) -> str:
    """Return rows as CSV whose lines end with a line feed."""
    lines = []
    for row in rows:
        line = StringIO()
        csv.writer(line).writerow(row)  # it quotes any character of its line end, "\r\n"
        lines.append(line.getvalue().removesuffix("\r\n"))
    return "".join(f"{line}\n" for line in lines)


def from_csv(text: str) -> PDAG:
    """Return the graph of a list of edges or of an adjacency matrix in CSV.

    A list of edges has the header ``source,target,type``; ``type`` is "directed" or "undirected",
    or drawn as ``-->`` or ``---``, and without it an edge is directed.  A line with only a source
    is a node.  A header that begins with an empty cell is that of a labeled row-to-column matrix.
    """
    try:
        rows = [row for row in csv.reader(StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise GraphError(f"this is not CSV: {error}") from None
    header = [cell.strip() for cell in rows[0]] if rows else []
    if header[:2] == ["source", "target"]:
        names: dict[str, None] = {}
        edges = []
        for line, row in enumerate(rows[1:], start=2):
            cells = dict(zip(header, row, strict=False))
            source, target = cells.get("source", ""), cells.get("target", "")
            kind = _CSV_TYPES.get(cells.get("type", "").strip())
            if kind is None:
                raise GraphError(
                    f"line {line}: the type {cells['type']!r} is not one of {list(_CSV_TYPES)}"
                )
            names[source] = None
            if target:
                names[target] = None
                edges.append({"source": source, "target": target, "type": kind})
        return graph_of_records(list(names), edges)
    if header and header[0] == "":
        return _of_matrix(rows[0][1:], rows[1:])
    raise GraphError(
        "a graph in CSV must begin with source,target,type (a list of edges) or with an empty cell "
        f"and the names (an adjacency matrix), not with {','.join(header)[:60]!r}"
    )


def _of_matrix(names: list[str], rows: list[list[str]]) -> PDAG:
    """Return the graph of the lines of an adjacency matrix, each with a name and its cells."""
    if [row[0] for row in rows] != names:
        raise GraphError(
            "the lines of an adjacency matrix must begin with the names of its header, in order"
        )
    matrix = np.zeros((len(names), len(names)))
    for k, (name, *cells) in enumerate(rows):
        if len(cells) != len(names):
            raise GraphError(
                f"the line of {name!r} has {len(cells)} entries for {len(names)} names"
            )
        for i, cell in enumerate(cells):
            try:
                matrix[k, i] = float(cell)
            except ValueError:
                rule = "entries of an adjacency matrix must be 0 or 1"
                raise GraphError(f"the line of {name!r} contains {cell!r}; {rule}") from None
    return from_numpy(matrix, "row-to-column", names)


def to_graphml(graph: PDAG) -> str:
    """Return the graph as GraphML, which networkx, igraph, yEd, Gephi and Cytoscape read.

    The ids of the nodes are n0, n1, ..., their names the attribute ``name``.  x → y is one arc and
    x — y both arcs; the attribute ``type`` of an arc is "directed" or "undirected".
    """
    root = ElementTree.Element("graphml", xmlns=GRAPHML_NAMESPACE)
    for key, owner in (("name", "node"), ("type", "edge")):
        declared = {"id": key, "for": owner, "attr.name": key, "attr.type": "string"}
        ElementTree.SubElement(root, "key", declared)
    body = ElementTree.SubElement(root, "graph", id="G", edgedefault="directed")
    ids = {graph.name(v): f"n{v}" for v in range(graph.n)}
    for name, node_id in ids.items():
        if bad := _NOT_IN_XML.search(name):
            raise GraphError(
                f"the name {name!r} contains {bad.group()!r}, which XML does not allow; "
                "rename the column, or write JSON"
            )
        node = ElementTree.SubElement(body, "node", id=node_id)
        ElementTree.SubElement(node, "data", key="name").text = name
    for edge in edge_records(graph):
        ends = (ids[edge["source"]], ids[edge["target"]])
        for source, target in (ends, ends[::-1]) if edge["type"] == "undirected" else (ends,):
            arc = ElementTree.SubElement(body, "edge", source=source, target=target)
            ElementTree.SubElement(arc, "data", key="type").text = edge["type"]
    ElementTree.indent(root)
    # A parser reads a bare carriage return as a line feed; only the reference survives.
    text = ElementTree.tostring(root, encoding="unicode").replace("\r", "&#13;")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def from_graphml(text: str) -> PDAG:
    """Return the graph of GraphML text, whether sges or another program wrote it.

    A node is called by its attribute ``name``, else ``label``, else by its id.  The kind of an edge
    is its attribute ``type``, or else follows from ``directed`` or the graph's ``edgedefault``; two
    opposite arcs, as networkx writes an undirected edge, are one undirected edge.
    """
    root, body = _graph_of_xml(text)
    keys = {key.get("id", ""): key.get("attr.name", "") for key in root.findall("{*}key")}
    names: dict[str, str] = {}
    for node in body.findall("{*}node"):
        data, node_id = _attributes(node, keys), node.get("id", "")
        names[node_id] = data.get("name", data.get("label", node_id))
    default = "true" if body.get("edgedefault", "directed") == "directed" else "false"
    arcs: dict[tuple[str, str], str] = {}
    for edge in body.findall("{*}edge"):
        source, target = edge.get("source", ""), edge.get("target", "")
        for end in (source, target):
            if end not in names:
                raise GraphError(f"an edge refers to {shown(end)}, which is not among the nodes")
        ends = (names[source], names[target])
        if ends in arcs:
            raise GraphError(
                f"there are two edges between {ends[0]!r} and {ends[1]!r}; at most one is allowed"
            )
        kind = _attributes(edge, keys).get("type")
        if kind not in ("directed", "undirected"):
            kind = "directed" if edge.get("directed", default) == "true" else "undirected"
        arcs[ends] = kind
    return graph_of_records(list(names.values()), _records_of_arcs(arcs))


def _graph_of_xml(text: str) -> tuple[ElementTree.Element, ElementTree.Element]:
    """Return the root of GraphML and its only graph."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:  # entities could expand without bound
        raise GraphError("this GraphML declares a document type; remove the declaration")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise GraphError(f"this is not GraphML: {error}") from None
    bodies = root.findall("{*}graph")
    if root.tag.rpartition("}")[2] != "graphml" or len(bodies) != 1:
        raise GraphError(f"GraphML must have one graph; this has {len(bodies)}")
    return root, bodies[0]


def _records_of_arcs(arcs: dict[tuple[str, str], str]) -> list[dict[str, str]]:
    """Return records of edges; two opposite arcs are one undirected edge."""
    records = []
    for (x, y), kind in arcs.items():
        if (y, x) not in arcs:
            records.append({"source": x, "target": y, "type": kind})
        elif x <= y:
            records.append({"source": x, "target": y, "type": "undirected"})
    return records


def _attributes(element: ElementTree.Element, keys: dict[str, str]) -> dict[str, str]:
    """Return the attributes of a node or an edge by their names."""
    data = [(item.get("key", ""), item.text or "") for item in element.findall("{*}data")]
    return {keys.get(key, key): text for key, text in data}


def to_gml(graph: PDAG) -> str:
    """Return the graph as GML: x → y is one arc and x — y both arcs, each with a ``type``."""
    lines = ["graph [", "  directed 1"]
    for v in range(graph.n):  # GML is ASCII, and a quote ends a text
        name = "".join(
            c if " " <= c <= "~" and c not in '"&' else f"&#{ord(c)};" for c in graph.name(v)
        )
        lines.append(f'  node [ id {v} label "{name}" ]')
    for x, y, kind in sorted(arcs_of(graph)):
        lines.append(f'  edge [ source {x} target {y} type "{kind}" ]')
    return "\n".join([*lines, "]", ""])


def from_gml(text: str) -> PDAG:
    """Return the graph of GML text; a node is called by its label."""
    networkx = need("networkx", "GML")
    try:
        parsed = networkx.parse_gml(text)
    except (networkx.NetworkXError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise GraphError(f"this is not GML: {' '.join(str(error).split())[:200]}") from None
    except RecursionError:
        raise GraphError("this GML is nested too deeply to be a graph") from None
    return from_networkx(parsed)


def _from_bif(text: str) -> PDAG:
    """Return the DAG of a network in BIF."""
    try:
        return network_of_bif(text).dag
    except NetworkError as error:
        raise GraphError(f"this is not BIF: {error}") from None


def _from_html(_: str) -> NoReturn:
    """Raise an error for a page, which looks like XML."""
    raise GraphError(
        "this is a page of HTML; a graph is read from JSON, GraphML, GML, CSV, DOT or BIF (the "
        "result in a report of sges from sges.read_result)"
    )


_FORMATS: dict[str, tuple[Callable[[str], PDAG], Callable[[PDAG], str] | None]] = {
    ".json": (from_json, to_json),
    ".graphml": (from_graphml, to_graphml),
    ".xml": (from_graphml, None),
    ".gml": (from_gml, to_gml),
    ".csv": (from_csv, to_csv),
    ".dot": (from_dot, to_dot),
    ".gv": (from_dot, to_dot),
    ".bif": (_from_bif, None),
}
"""The functions that read and write files, by extension."""

_BEGINNINGS: dict[str, Callable[[str], PDAG]] = {
    r"\{": from_json,
    r"<!doctype html|<html": _from_html,
    r"<": from_graphml,
    r"network\s+\S+\s*\{": _from_bif,
    r"(#.*\n|\s|Creator.*\n|Version.*\n)*graph\s*\[": from_gml,
    r"digraph|graph|strict|//|/\*": from_dot,
    "": from_csv,
}
"""The beginning of texts in each format, for files with unknown extensions."""


def read_graph(path: PathLike) -> PDAG:
    """Return the graph in a file.

    Parameters
    ----------
    path : str or path-like
        A file in JSON, GraphML, GML, CSV or DOT, or a network in BIF, of which the DAG is returned;
        "-" for standard input.  The format follows from the extension, or from the first characters
        if the extension is not known.

    Returns
    -------
    PDAG
        The graph.

    Raises
    ------
    FileError
        If the file cannot be read.
    GraphError
        If it does not contain a graph.
    """
    check_path("path", path)
    source = "standard input" if str(path) == "-" else repr(str(path))
    text = read_text(path)
    reader, _ = _FORMATS.get(Path(path).suffix.lower(), (None, None))
    if reader is None:
        starts = (start for start in _BEGINNINGS if re.match(rf"\s*({start})", text[:2000], re.I))
        reader = _BEGINNINGS[next(starts)]
    try:
        return reader(text)
    except GraphError as error:
        raise GraphError(f"{source}: {error}") from None


def write_graph(graph: PDAG, path: PathLike) -> Path:
    """Write a graph to a file, whole or not at all.

    Parameters
    ----------
    graph : PDAG
        The graph.
    path : str or path-like
        The file; its extension (.json, .graphml, .gml, .csv, .dot or .gv) gives the format.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InvalidArgument
        If the extension is not known.
    FileError
        If the file cannot be written.
    """
    return write_text(path, writer_of(path)(graph))


def writer_of(path: PathLike) -> Callable[[PDAG], str]:
    """Return the function that writes a graph in the format of a file, by its extension."""
    check_path("path", path)
    _, writer = _FORMATS.get(Path(path).suffix.lower(), (None, None))
    if writer is None:
        endings = ", ".join(ending for ending, (_, writer) in _FORMATS.items() if writer)
        raise InvalidArgument(
            f"a graph cannot be written to {str(path)!r}: its extension must be one of {endings}"
        )
    return writer


def read_text(path: PathLike) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark; "-" is stdin."""
    source = "standard input" if str(path) == "-" else repr(str(path))
    if str(path) != "-":
        with file_errors("read", Path(path)):
            if Path(path).is_dir():
                raise IsADirectoryError(21, "it is a directory; name a file in it")
            content = opened(Path(path), Path.read_bytes)
    else:
        try:
            content = sys.stdin.buffer.read()
        except (OSError, ValueError, AttributeError):  # closed, or not there at all
            raise FileError("cannot read standard input: it is closed") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"cannot read {source}: it is not UTF-8 text") from None
