"""Graphs for other tools: files, adjacency matrices, data frames, and objects of other libraries.

A graph is exported as text (``to_json``, ``to_graphml``, ``to_csv``, ``to_dot``; ``write_graph`` by
the extension of a file), as a matrix (``to_numpy``, in a named convention) or as an object
(``to_networkx``, ``to_pgmpy``, ...).  The functions ``from_...`` and ``read_graph`` read it back.
"""

from sges.tools.export.dot import to_dot
from sges.tools.export.formats import (
    read_graph,
    to_csv,
    to_gml,
    to_graphml,
    to_json,
    write_graph,
)
from sges.tools.export.matrix import (
    adjacency_frame,
    from_numpy,
    to_numpy,
)
from sges.tools.export.models import to_bnlearn, to_dagitty, to_lavaan
from sges.tools.export.objects import (
    edge_frame,
    from_networkx,
    to_causallearn,
    to_dowhy,
    to_igraph,
    to_networkx,
    to_pgmpy,
    to_pyagrum,
)

__all__ = [
    "adjacency_frame",
    "edge_frame",
    "from_networkx",
    "from_numpy",
    "read_graph",
    "to_bnlearn",
    "to_causallearn",
    "to_csv",
    "to_dagitty",
    "to_dot",
    "to_dowhy",
    "to_gml",
    "to_graphml",
    "to_igraph",
    "to_json",
    "to_lavaan",
    "to_networkx",
    "to_numpy",
    "to_pgmpy",
    "to_pyagrum",
    "write_graph",
]
