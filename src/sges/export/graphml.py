"""GraphML, the XML format that yEd, Gephi, Cytoscape and networkx read.

x → y is one directed edge, x — y one with ``directed="false"``; the attribute ``type`` of an edge
says the same in words, for readers that treat all edges of a file alike.  Written and read with
the standard library's XML, which escapes every name.
"""

import re
from xml.etree import ElementTree

from sges.errors import GraphError
from sges.export.records import edge_records, graph_of_records
from sges.graph.pdag import PDAG

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_graphml(graph: PDAG) -> str:
    """Return the graph as GraphML text; the id of a node is n0, n1, ..., its name an attribute."""
    root = ElementTree.Element("graphml", xmlns=NAMESPACE)
    for key, owner in (("name", "node"), ("type", "edge")):
        declared = {"id": key, "for": owner, "attr.name": key, "attr.type": "string"}
        ElementTree.SubElement(root, "key", declared)
    body = ElementTree.SubElement(root, "graph", id="G", edgedefault="directed")
    ids = {graph.name(v): f"n{v}" for v in range(graph.n)}
    for name, node_id in ids.items():
        _data(ElementTree.SubElement(body, "node", id=node_id), "name", _writable(name))
    for edge in edge_records(graph):
        ends = {"source": ids[edge["source"]], "target": ids[edge["target"]]}
        directed = "true" if edge["type"] == "directed" else "false"
        _data(ElementTree.SubElement(body, "edge", ends, directed=directed), "type", edge["type"])
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + _text(root) + "\n"


def from_graphml(text: str) -> PDAG:
    """Return the graph of GraphML text, of ours or another program's.

    A node is called by its attribute ``name``, else ``label``, else by its id.  An edge is of
    its attribute ``type``, else as ``directed`` or the graph's ``edgedefault`` say; two arcs
    between a pair, as networkx writes an undirected edge, count as one undirected edge.
    """
    body = _body(text)
    keys = {key.get("id", ""): key.get("attr.name", "") for key in _all(body[0], "key")}
    names = {}
    for node in _all(body[1], "node"):
        told = _told(node, keys)
        names[node.get("id", "")] = told.get("name", told.get("label", node.get("id", "")))
    default = body[1].get("edgedefault", "directed")
    arcs: dict[tuple[str, str], str] = {}
    for edge in _all(body[1], "edge"):
        _add_arc(arcs, _ends(edge, names), _type(edge, keys, default))
    records = [{"source": x, "target": y, "type": kind} for (x, y), kind in arcs.items()]
    return graph_of_records(list(names.values()), records)


def _add_arc(arcs: dict[tuple[str, str], str], ends: tuple[str, str], kind: str) -> None:
    """Add an edge; the second of two opposite arcs makes the first undirected."""
    if ends[::-1] in arcs:
        arcs[ends[::-1]] = "undirected"
    elif ends in arcs:
        raise GraphError(f"{ends[0]!r} and {ends[1]!r} are joined twice; a pair has one edge")
    else:
        arcs[ends] = kind


def _body(text: str) -> tuple[ElementTree.Element, ElementTree.Element]:
    """Return the document and its graph; refuse what could expand without bound."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise GraphError("this GraphML declares a document type; remove the declaration")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise GraphError(f"this is not GraphML: {error}") from None
    graphs = _all(root, "graph")
    if _tag(root) != "graphml" or len(graphs) != 1:
        raise GraphError(f"GraphML with one graph is needed; this has {len(graphs)}")
    return root, graphs[0]


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _all(element: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return [child for child in element if _tag(child) == tag]


def _told(element: ElementTree.Element, keys: dict[str, str]) -> dict[str, str]:
    """Return the attributes of a node or an edge by their names."""
    data = _all(element, "data")
    return {keys.get(item.get("key", ""), item.get("key", "")): item.text or "" for item in data}


def _ends(edge: ElementTree.Element, names: dict[str, str]) -> tuple[str, str]:
    ends = (edge.get("source", ""), edge.get("target", ""))
    for end in ends:
        if end not in names:
            raise GraphError(f"an edge names the node {end!r}, which the file does not have")
    return names[ends[0]], names[ends[1]]


def _type(edge: ElementTree.Element, keys: dict[str, str], default: str) -> str:
    told = _told(edge, keys).get("type")
    if told in ("directed", "undirected"):
        return told
    directed = edge.get("directed", "true" if default == "directed" else "false")
    return "directed" if directed == "true" else "undirected"


def _data(element: ElementTree.Element, key: str, text: str) -> None:
    ElementTree.SubElement(element, "data", key=key).text = text


def _text(root: ElementTree.Element) -> str:
    # A parser reads a bare carriage return as a line feed; only the reference survives.
    return ElementTree.tostring(root, encoding="unicode").replace("\r", "&#13;")


def _writable(name: str) -> str:
    if found := _NOT_IN_XML.search(name):
        raise GraphError(
            f"the name {name!r} holds the character {found.group()!r}, which XML cannot hold; "
            "rename the column, or write JSON"
        )
    return name
