"""To pandas and back: the list of edges, and the labelled adjacency."""

from collections.abc import Sequence
from typing import Any

from sges.errors import GraphError
from sges.export.matrix import from_numpy, to_numpy
from sges.export.optional import need
from sges.export.records import edge_records, graph_of_records
from sges.graph.pdag import PDAG

COLUMNS = ["source", "target", "type"]


def edge_frame(graph: PDAG) -> Any:  # noqa: ANN401 (pandas has no types)
    """Return the edges as a pandas frame with the columns source, target and type."""
    pandas = need("pandas", "a table of edges")
    return pandas.DataFrame(edge_records(graph), columns=COLUMNS, dtype="str")


def from_edge_frame(frame: Any, names: Sequence[str] | None = None) -> PDAG:  # noqa: ANN401
    """Return the graph of a table of edges; ``names`` lists the nodes, also those alone."""
    if missing := [column for column in COLUMNS if column not in frame.columns]:
        raise GraphError(f"the table of edges has no column {missing[0]!r}; it needs {COLUMNS}")
    records = frame[COLUMNS].astype(str).to_dict("records")
    if names is None:
        ends = [record[end] for record in records for end in ("source", "target")]
        names = list(dict.fromkeys(ends))
    return graph_of_records(names, records)


def adjacency_frame(graph: PDAG) -> Any:  # noqa: ANN401
    """Return the row-to-column matrix as a pandas frame, rows and columns labelled."""
    names = [graph.name(v) for v in range(graph.n)]
    pandas = need("pandas", "a labelled adjacency matrix")
    return pandas.DataFrame(to_numpy(graph, "row-to-column"), index=names, columns=names)


def from_adjacency_frame(frame: Any) -> PDAG:  # noqa: ANN401
    """Return the graph of a labelled row-to-column matrix."""
    rows, columns = ([str(name) for name in labels] for labels in (frame.index, frame.columns))
    if rows != columns:
        raise GraphError("the rows and the columns of the frame must have the same names in order")
    return from_numpy(frame.to_numpy(), "row-to-column", columns)
