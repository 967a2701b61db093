"""Graphs: the PDAG value, equivalence classes, undirected graphs, separation."""

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
from sges.graph.pdag import PDAG
from sges.graph.separation import d_separated, is_imap
from sges.graph.undirected import (
    maximal_cliques,
)

__all__ = [
    "PDAG",
    "class_size",
    "covered_edges",
    "d_separated",
    "dag_to_cpdag",
    "extensions",
    "is_cpdag",
    "is_dag",
    "is_imap",
    "maximal_cliques",
    "maximally_oriented",
    "members",
    "pdag_to_cpdag",
    "pdag_to_dag",
    "sample_members",
    "topological_order",
]
