"""Graph files: one function that reads what it is given, one that writes what the ending says.

======================  ==========================================================
ending                  holds
======================  ==========================================================
.json                   a result of sges, or ``{"nodes": [...], "edges": [...]}``
.graphml                GraphML
.csv                    a list of edges, or a labelled adjacency matrix
.dot, .gv               DOT: nodes, edges, labels, ``dir=none``
======================  ==========================================================
"""

import sys
from collections.abc import Callable
from pathlib import Path

from sges.errors import FileError, GraphError, InvalidArgument
from sges.export.dot import to_dot
from sges.export.dot_reader import from_dot
from sges.export.graphml import from_graphml, to_graphml
from sges.export.records import from_json, to_json
from sges.export.tables import from_csv, to_csv
from sges.export.writing import PathLike, told_plainly, write_text
from sges.graph.pdag import PDAG

READERS: dict[str, Callable[[str], PDAG]] = {
    ".json": from_json,
    ".graphml": from_graphml,
    ".xml": from_graphml,
    ".csv": from_csv,
    ".dot": from_dot,
    ".gv": from_dot,
}
WRITERS: dict[str, Callable[[PDAG], str]] = {
    ".json": to_json,
    ".graphml": to_graphml,
    ".csv": to_csv,
    ".dot": to_dot,
    ".gv": to_dot,
}


def read_graph(path: PathLike) -> PDAG:
    """Return the graph in a file, told by its ending, or by its beginning; "-" is stdin."""
    name = str(path)
    text = sys.stdin.read() if name == "-" else _read(Path(path))
    ending = Path(name).suffix.lower()
    reader = READERS.get(ending) or _by_content(text)
    try:
        return reader(text)
    except GraphError as error:
        raise GraphError(f"{'standard input' if name == '-' else repr(name)}: {error}") from None


def write_graph(graph: PDAG, path: PathLike) -> Path:
    """Write a graph in the format that the ending of the path says; return the path."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise InvalidArgument(
            f"a graph cannot be written to {str(path)!r}: its ending must be one of "
            f"{', '.join(WRITERS)}"
        )
    return write_text(path, WRITERS[ending](graph))


def _read(path: Path) -> str:
    with told_plainly("read", path):
        content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"cannot read {str(path)!r}: it is not text in UTF-8") from None


def _by_content(text: str) -> Callable[[str], PDAG]:
    """Return the reader for a file whose ending says nothing."""
    start = text.lstrip()[:8].lower()
    if start.startswith("{"):
        return from_json
    if start.startswith("<"):
        return from_graphml
    if start.startswith(("digraph", "graph", "strict", "//", "/*")):
        return from_dot
    return from_csv
