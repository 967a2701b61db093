"""Graphs as the model strings of R packages: dagitty, bnlearn and lavaan.

dagitty has undirected edges and represents the whole class.  bnlearn's model strings and lavaan's
regressions describe a DAG, so one member of a class is written.
"""

import re

from sges.errors import GraphError
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG
from sges.records import edge_records

_LAVAAN_NAME = re.compile(r"(?:[A-Za-z]|\.(?![0-9]))[A-Za-z0-9._]*")
_R_WORDS = frozenset({
    "if", "else", "repeat", "while", "function", "for", "in", "next", "break", "TRUE", "FALSE",
    "NULL", "Inf", "NaN", "NA", "NA_integer_", "NA_real_", "NA_complex_", "NA_character_",
})  # fmt: skip
"""The reserved words of R."""


def to_dagitty(graph: PDAG) -> str:
    """Return the class in the language of dagitty, as ``dagitty::dagitty()`` takes it."""
    _check_names(graph, '"\n\r\\', "dagitty")
    names = [f'"{graph.name(v)}"' for v in range(graph.n)]
    edges = [
        f'"{edge["source"]}" {"->" if edge["type"] == "directed" else "--"} "{edge["target"]}"'
        for edge in edge_records(graph)
    ]
    kind = "dag" if not graph.undirected_edges() else "pdag"
    return "\n".join([f"{kind} {{", *names, *edges, "}", ""])


def to_bnlearn(graph: PDAG) -> str:
    """Return a member as a model string of bnlearn, as ``bnlearn::model2network()`` takes it."""
    _check_names(graph, "[]|:\n\r", "a model string of bnlearn")
    dag = pdag_to_dag(graph)
    terms = []
    for v in range(dag.n):
        parents = ":".join(dag.names_of(dag.parents(v)))
        terms.append(f"[{dag.name(v)}|{parents}]" if parents else f"[{dag.name(v)}]")
    return "".join(terms)


def to_lavaan(graph: PDAG) -> str:
    """Return a member as a path model in the syntax of lavaan, which semopy reads too."""
    for v in range(graph.n):
        name = graph.name(v)
        if not _LAVAAN_NAME.fullmatch(name) or name in _R_WORDS:
            raise GraphError(
                f"lavaan cannot use the name {name!r}: it needs letters, digits, dots and "
                "underscores, a letter first, and not a reserved word of R; rename the column"
            )
    dag = pdag_to_dag(graph)
    lines = []
    for v in range(dag.n):
        if dag.parents(v):
            lines.append(f"{dag.name(v)} ~ {' + '.join(dag.names_of(dag.parents(v)))}")
        elif not dag.adjacent(v):
            lines.append(f"{dag.name(v)} ~~ {dag.name(v)}")
    return "".join(f"{line}\n" for line in lines)


def _check_names(graph: PDAG, characters: str, what: str) -> None:
    """Raise an error if a name has a character that the language cannot quote."""
    for v in range(graph.n):
        if bad := next((c for c in graph.name(v) if c in characters), None):
            raise GraphError(
                f"{what} cannot contain the name {graph.name(v)!r}, because of {bad!r}; rename the "
                "column"
            )
