"""``sges measure``: the properties of a graph, and the bound that each would give SGES."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sges.cli.bounds import options
from sges.cli.screen import AsJson, grid, print_json, say, show_table

if TYPE_CHECKING:
    from sges.graph import PDAG, Between
    from sges.properties import AtMost

WHAT = {
    "--max-parents": "parents of a variable",
    "--max-clique": "variables pairwise adjacent",
    "--v-width": "v-width",
    "--treewidth": "treewidth",
    "--v-structures": "v-structures",
}

Graph = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="A graph file: JSON (a result, too), GraphML, DOT or CSV; - for standard input.",
        show_default=False,
    ),
]


def measure(*, graph: Graph, as_json: AsJson = False) -> None:
    """Measure how complex a graph is, and what SGES could make of knowing it.

    Each row is an assumption that holds for the graph, as tight as can be: with it, SBES looks
    only at deletes whose set H holds no larger clique, or is itself no larger.
    """
    from sges.export import read_graph

    found = read_graph(graph)
    document = measures(found)
    if as_json:
        print_json(document)
        return
    lines = f"{document['nodes']} nodes, {document['edges']} edges"
    table = grid("left", "right", "left", "left", header=("", "value", "option", "H in SBES"))
    for row in document["measures"]:
        table.add_row(row["what"], _value(row["value"]), _option(row), _bound(row))
    say(lines)
    show_table(table)


def measures(graph: "PDAG") -> dict[str, Any]:
    """Return every measure of a graph: the JSON of the command."""
    return {
        "format": "sges-measures",
        "version": 1,
        "nodes": graph.n,
        "edges": graph.edge_count(),
        "measures": [_measured(option, kind, graph) for option, kind in options().items()],
    }


def _measured(option: str, kind: "type[AtMost]", graph: "PDAG") -> dict[str, Any]:
    tightest = kind.of(graph)
    return {
        "property": kind.__name__,
        "option": option,
        "what": WHAT[option],
        "value": _plain(kind.measure(graph)),
        "k": tightest.k,
        "clique_bound": tightest.clique_bound,
        "size_bound": tightest.size_bound,
    }


def _plain(value: "int | Between") -> int | list[int]:
    """Return a measure, or the interval in which it is known to lie."""
    return value if isinstance(value, int) else [value.low, value.high]


def _value(value: int | list[int]) -> str:
    return f"{value[0]} to {value[1]}" if isinstance(value, list) else str(value)


def _option(row: dict[str, Any]) -> str:
    return f"{row['option']} {row['k']}"


def _bound(row: dict[str, Any]) -> str:
    if row["clique_bound"] is not None:
        return f"cliques of at most {row['clique_bound']}"
    return f"at most {row['size_bound']} nodes"
