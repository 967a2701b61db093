"""Graphs for other tools: matrices, frames, networkx, JSON, GraphML, DOT, CSV and objects.

Each name is imported when it is first used: a search needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sges.export.dot import to_dot as to_dot
    from sges.export.dot_reader import from_dot as from_dot
    from sges.export.files import read_graph as read_graph
    from sges.export.files import write_graph as write_graph
    from sges.export.frames import adjacency_frame as adjacency_frame
    from sges.export.frames import edge_frame as edge_frame
    from sges.export.frames import from_adjacency_frame as from_adjacency_frame
    from sges.export.frames import from_edge_frame as from_edge_frame
    from sges.export.graphml import from_graphml as from_graphml
    from sges.export.graphml import to_graphml as to_graphml
    from sges.export.matrix import CONVENTIONS as CONVENTIONS
    from sges.export.matrix import Convention as Convention
    from sges.export.matrix import from_numpy as from_numpy
    from sges.export.matrix import to_numpy as to_numpy
    from sges.export.networks import from_networkx as from_networkx
    from sges.export.networks import to_networkx as to_networkx
    from sges.export.peers import to_causallearn as to_causallearn
    from sges.export.peers import to_pgmpy as to_pgmpy
    from sges.export.records import from_json as from_json
    from sges.export.records import to_json as to_json
    from sges.export.tables import from_csv as from_csv
    from sges.export.tables import to_adjacency_csv as to_adjacency_csv
    from sges.export.tables import to_csv as to_csv

_HOMES = {
    "CONVENTIONS": "matrix",
    "Convention": "matrix",
    "adjacency_frame": "frames",
    "edge_frame": "frames",
    "from_adjacency_frame": "frames",
    "from_csv": "tables",
    "from_dot": "dot_reader",
    "from_edge_frame": "frames",
    "from_graphml": "graphml",
    "from_json": "records",
    "from_networkx": "networks",
    "from_numpy": "matrix",
    "read_graph": "files",
    "to_adjacency_csv": "tables",
    "to_causallearn": "peers",
    "to_csv": "tables",
    "to_dot": "dot",
    "to_graphml": "graphml",
    "to_json": "records",
    "to_networkx": "networks",
    "to_numpy": "matrix",
    "to_pgmpy": "peers",
    "write_graph": "files",
}

__all__ = [
    "CONVENTIONS",
    "Convention",
    "adjacency_frame",
    "edge_frame",
    "from_adjacency_frame",
    "from_csv",
    "from_dot",
    "from_edge_frame",
    "from_graphml",
    "from_json",
    "from_networkx",
    "from_numpy",
    "read_graph",
    "to_adjacency_csv",
    "to_causallearn",
    "to_csv",
    "to_dot",
    "to_graphml",
    "to_json",
    "to_networkx",
    "to_numpy",
    "to_pgmpy",
    "write_graph",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any of the names above)
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
