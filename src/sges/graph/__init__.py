"""Graphs: the PDAG value, equivalence classes, undirected graphs, separation.

``class_size`` and ``sample_members`` are tools, imported when they are first used.
"""

from typing import TYPE_CHECKING, Any

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
from sges.graph.undirected import maximal_cliques
from sges.toolbox import tool

if TYPE_CHECKING:
    from sges.tools.counting import class_size as class_size
    from sges.tools.counting import sample_members as sample_members

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


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any of these tools)
    if name in ("class_size", "sample_members"):
        return tool(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
