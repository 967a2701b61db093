"""Graphs for other tools: files, adjacency matrices, data frames, and objects of other libraries.

What is common is a method of graphs and results (``to_dot``, ``to_networkx``, ...).  Here are
besides files (``read_graph``, ``write_graph``), matrices in named conventions, and fitted networks.
"""

from sges.tools.export.formats import read_graph, to_json, write_graph
from sges.tools.export.matrix import adjacency_frame, from_numpy, to_numpy
from sges.tools.export.objects import from_networkx, to_pgmpy, to_pyagrum

__all__ = [
    "adjacency_frame",
    "from_networkx",
    "from_numpy",
    "read_graph",
    "to_json",
    "to_numpy",
    "to_pgmpy",
    "to_pyagrum",
    "write_graph",
]
