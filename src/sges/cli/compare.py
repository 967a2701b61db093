"""``sges compare``: how far one graph is from another."""

from typing import TYPE_CHECKING, Annotated

import typer

from sges.cli.screen import AsJson, grid, print_json, show_table
from sges.errors import InvalidArgument

if TYPE_CHECKING:
    from sges.metrics import Comparison

Truth = Annotated[
    str,
    typer.Argument(
        metavar="TRUTH",
        help="The true graph: JSON, GraphML, DOT or CSV; - for standard input.",
        show_default=False,
    ),
]
Found = Annotated[
    str,
    typer.Argument(
        metavar="FOUND", help="The graph that was found; - for standard input.", show_default=False
    ),
]
AsTheyAre = Annotated[
    bool,
    typer.Option(
        "--as-they-are", metavar="", help="Compare the graphs themselves, a DAG not with its class."
    ),
]


def compare(
    *, truth: Truth, found: Found, as_they_are: AsTheyAre = False, as_json: AsJson = False
) -> None:
    """Compare a found graph with the truth.

    A DAG stands for its class, since data cannot tell the members of a class apart. Nodes are
    matched by name.
    """
    from sges.export import read_graph
    from sges.metrics import compare as compare_graphs

    if truth == found == "-":
        raise InvalidArgument("standard input can be one of the two graphs, not both")
    result = compare_graphs(read_graph(truth), read_graph(found), classes=not as_they_are)
    if as_json:
        print_json({"format": "sges-comparison", "version": 1, **result.to_dict()})
        return
    _print(result)


def _print(result: "Comparison") -> None:
    table = grid("left", "right", "left")
    table.add_row("same class", "yes" if result.same_class else "no", "")
    why = f"{result.missing} missing, {result.extra} extra, {result.wrong_type} of the wrong type"
    table.add_row("structural Hamming distance", str(result.shd), why)
    for what, agreement in (("edges", result.skeleton), ("arrows", result.arrows)):
        share = f"precision {agreement.precision:.3f}, recall {agreement.recall:.3f}"
        table.add_row(f"F1 of {what}", f"{agreement.f1:.3f}", share)
    if result.aid is None:
        table.add_row("adjustment distances", "-", "they need gadjid, and CPDAGs or DAGs")
    else:
        for rule in ("parent", "ancestor", "oset"):
            table.add_row(f"{rule} adjustment distance", f"{getattr(result.aid, rule):.3f}", "")
    show_table(table)
