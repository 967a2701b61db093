"""Graphs: the PDAG value, equivalence classes, undirected graphs, separation."""

from sges.graph.completion import complete_locally
from sges.graph.counting import class_size, sample_members
from sges.graph.equivalence import (
    covered_edges,
    dag_to_cpdag,
    extensions,
    is_cpdag,
    is_dag,
    maximally_oriented,
    members,
    pdag_to_cpdag,
    pdag_to_dag,
    topological_order,
)
from sges.graph.meek import close_under_meek, direct_in_turn
from sges.graph.pdag import PDAG
from sges.graph.separation import d_separated, is_imap
from sges.graph.undirected import (
    Between,
    maximal_cliques,
    maximum_cardinality_search,
    moral_graph,
    treewidth,
)

__all__ = [
    "PDAG",
    "Between",
    "class_size",
    "close_under_meek",
    "complete_locally",
    "covered_edges",
    "d_separated",
    "dag_to_cpdag",
    "direct_in_turn",
    "extensions",
    "is_cpdag",
    "is_dag",
    "is_imap",
    "maximal_cliques",
    "maximally_oriented",
    "maximum_cardinality_search",
    "members",
    "moral_graph",
    "pdag_to_cpdag",
    "pdag_to_dag",
    "sample_members",
    "topological_order",
    "treewidth",
]
