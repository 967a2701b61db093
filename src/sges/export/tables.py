"""Graphs in CSV: a list of edges, or a labelled adjacency matrix.

A *list of edges* has the header ``source,target,type``; ``type`` is "directed" or "undirected", or
drawn as ``-->`` or ``---``, and a column that is not there means directed.  A node without edges is
a line with only its source.

An *adjacency matrix* has the names in its header, after one empty cell, and at the start of each
line; a 1 in row i and column j is i → j, and both ways i — j (row-to-column).
"""

import csv
from io import StringIO

import numpy as np

from sges.errors import GraphError
from sges.export.matrix import from_numpy, to_numpy
from sges.export.records import edge_records, graph_of_records
from sges.graph.pdag import PDAG

_TYPES = {
    "": "directed",
    "directed": "directed",
    "-->": "directed",
    "->": "directed",
    "undirected": "undirected",
    "---": "undirected",
    "--": "undirected",
}


def to_csv(graph: PDAG) -> str:
    """Return the list of edges as CSV; nodes without edges are lines of their own."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["source", "target", "type"])
    writer.writerows([graph.name(v), "", ""] for v in range(graph.n))
    writer.writerows([e["source"], e["target"], e["type"]] for e in edge_records(graph))
    return text.getvalue()


def to_adjacency_csv(graph: PDAG) -> str:
    """Return the labelled row-to-column adjacency matrix as CSV."""
    names = [graph.name(v) for v in range(graph.n)]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["", *names])
    rows = to_numpy(graph, "row-to-column").tolist()
    writer.writerows([name, *row] for name, row in zip(names, rows, strict=True))
    return text.getvalue()


def from_csv(text: str) -> PDAG:
    """Return the graph of a list of edges or of an adjacency matrix, told by the header."""
    try:
        rows = [row for row in csv.reader(StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise GraphError(f"this is not CSV: {error}") from None
    header = [cell.strip() for cell in rows[0]] if rows else []
    if header[:2] == ["source", "target"]:
        return _of_edges(header, rows[1:])
    if header and header[0] == "":
        return _of_matrix(rows[0][1:], rows[1:])
    raise GraphError(
        "a graph in CSV begins with source,target,type (a list of edges) or with an empty cell "
        f"and the names (an adjacency matrix), not with {','.join(header)[:60]!r}"
    )


def _of_edges(header: list[str], rows: list[list[str]]) -> PDAG:
    names: dict[str, None] = {}
    edges = []
    for line, row in enumerate(rows, start=2):
        cells = dict(zip(header, row, strict=False))
        source, target = cells.get("source", ""), cells.get("target", "")
        kind = _TYPES.get(cells.get("type", "").strip())
        if kind is None:
            raise GraphError(f"line {line}: the type {cells['type']!r} is none of {list(_TYPES)}")
        names[source] = None
        if target:
            names[target] = None
            edges.append({"source": source, "target": target, "type": kind})
    return graph_of_records(list(names), edges)


def _of_matrix(names: list[str], rows: list[list[str]]) -> PDAG:
    if [row[0] for row in rows] != names:
        raise GraphError(
            "the lines of an adjacency matrix must begin with the names of its header, in order"
        )
    for row in rows:
        if len(row) != len(names) + 1:
            raise GraphError(
                f"the line of {row[0]!r} has {len(row) - 1} entries for {len(names)} names"
            )
    cells = [_number(cell, row[0]) for row in rows for cell in row[1:]]
    matrix = np.array(cells, dtype=np.float64).reshape(len(names), len(names))
    return from_numpy(matrix, "row-to-column", names)


def _number(cell: str, name: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise GraphError(
            f"the line of {name!r} holds {cell!r}; entries of an adjacency matrix are 0 or 1"
        ) from None
