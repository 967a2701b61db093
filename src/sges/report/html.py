"""Results in a notebook: the picture, and the summary below it."""

from html import escape

from sges.errors import MissingLibrary
from sges.plot import picture
from sges.report.text import summary
from sges.result import Result

MAX_DRAWN_NODES = 120
"""Larger graphs are shown as text only: their picture belongs in a file."""

MAX_LINES = 20
"""The largest number of lines for each list of edges in a notebook."""

_STYLE = (
    "font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; "
    "white-space: pre; line-height: 1.35; overflow-x: auto"
)


def result_html(result: Result) -> str:
    """Return a result as HTML for a notebook, with every name escaped.

    Parameters
    ----------
    result : Result
        The result to show.

    Returns
    -------
    str
        The picture as inline SVG, if the graph is not too large to draw, and the summary.
    """
    text = preformatted(summary(result, MAX_LINES))
    if not 0 < result.cpdag.n <= MAX_DRAWN_NODES:
        return text
    try:
        svg = picture(result.cpdag, "svg").decode("utf-8")
    except MissingLibrary:
        return text
    inline = svg[svg.index("<svg") :]  # without the prologue, which belongs to a file
    return f'<div style="max-width: 100%; overflow-x: auto">{inline}</div>{text}'


def preformatted(text: str) -> str:
    """Return text as HTML that keeps its columns, also where a style sheet changes ``pre``.

    Parameters
    ----------
    text : str
        Plain text; whatever has a meaning in HTML is escaped.

    Returns
    -------
    str
        A ``pre`` element in a monospaced font.
    """
    return f'<pre style="{_STYLE}">{escape(text)}</pre>'
