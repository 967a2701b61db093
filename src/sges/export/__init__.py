"""Graphs for other tools: matrices, frames, networkx, JSON, GraphML, DOT, CSV and objects."""

from sges.export.dot import to_dot
from sges.export.dot_reader import from_dot
from sges.export.files import read_graph, write_graph
from sges.export.frames import adjacency_frame, edge_frame, from_adjacency_frame, from_edge_frame
from sges.export.graphml import from_graphml, to_graphml
from sges.export.matrix import CONVENTIONS, Convention, from_numpy, to_numpy
from sges.export.networks import from_networkx, to_networkx
from sges.export.peers import to_causallearn, to_pgmpy
from sges.export.records import from_json, to_json
from sges.export.tables import from_csv, to_adjacency_csv, to_csv

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
