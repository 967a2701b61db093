"""How a result shows itself in a notebook: the picture, and the summary below it."""

from html import escape
from typing import TYPE_CHECKING

from sges.errors import MissingLibrary
from sges.plot import picture
from sges.result.summary import summary

if TYPE_CHECKING:
    from sges.result.value import Result

MOST_NODES = 120
"""Larger graphs are shown as text only: their picture belongs into a file."""


def as_html(result: "Result") -> str:
    """Return HTML of the result, with every name escaped."""
    text = f"<pre>{escape(summary(result, most=20))}</pre>"
    if not 0 < result.cpdag.n <= MOST_NODES:
        return text
    try:
        svg = picture(result.cpdag, "svg").decode("utf-8")
    except MissingLibrary:
        return text
    drawn = svg[svg.index("<svg") :]  # without the prologue, which belongs to a file
    return f'<div style="max-width: 100%; overflow-x: auto">{drawn}</div>{text}'
