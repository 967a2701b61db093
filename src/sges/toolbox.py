"""Where the tools are that values offer by name; each is imported when it is used.

A value never imports what shows it: a method of ``PDAG`` or ``Result`` has the signature, the types
and the docstring of a tool, and looks up its body here.
"""

from functools import cache
from importlib import import_module
from typing import Any

HOMES = {
    "sges.tools.adjustment": ("check_one_kind",),
    "sges.tools.ancestry": ("class_ancestors", "class_descendants", "descendants_in_class"),
    "sges.tools.counting": ("class_size", "sample_members"),
    "sges.tools.curved.score": ("BasisBIC",),
    "sges.tools.effects": ("effect", "effect_over", "effects"),
    "sges.tools.export.formats": ("csv_text", "to_csv", "to_gml", "to_graphml"),
    "sges.tools.export.languages": ("to_bnlearn", "to_dagitty", "to_dot", "to_lavaan"),
    "sges.tools.export.objects": (
        "edge_frame", "to_causallearn", "to_dowhy", "to_igraph", "to_networkx",
    ),
    "sges.tools.inspect": ("Description", "Finding", "inspect"),
    "sges.tools.inspect.inspection": ("describe",),
    "sges.tools.penalty": ("choose_penalty",),
    "sges.tools.plot.drawing": ("draw",),
    "sges.tools.report.explanation": ("explain",),
    "sges.tools.report.html": ("description_html", "graph_html"),
    "sges.tools.report.page": ("result_html", "save", "write_report"),
    "sges.tools.report.strengths": (
        "confidence_html", "confidence_text", "draw_confidence", "draw_curve", "save_confidence",
    ),
    "sges.tools.report.text": ("progress_line", "summary"),
    "sges.uncertainty.replicates": ("confidence_of_result",),
}  # fmt: skip
"""The tools of each module; all other names are those of ``sges.tools.export``."""


@cache
def tool(name: str) -> Any:  # noqa: ANN401 (any function or class)
    """Return a tool by name."""
    home = next((home for home, names in HOMES.items() if name in names), "sges.tools.export")
    return getattr(import_module(home), name)
