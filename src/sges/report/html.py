"""Results in a notebook: the picture, and the summary below it."""

from html import escape

from sges.errors import MissingLibrary
from sges.graph.pdag import PDAG
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
    """Return a result as HTML for a notebook.

    Parameters
    ----------
    result : Result
        The result to show.

    Returns
    -------
    str
        The picture, if the graph is not too large to draw, and the summary.
    """
    return graph_html(result.cpdag, summary(result, MAX_LINES))


def graph_html(graph: PDAG, text: str) -> str:
    """Return a graph with a text below it as HTML for a notebook, with every name escaped.

    Parameters
    ----------
    graph : PDAG
        The graph to draw, unless it is too large or matplotlib is not installed.
    text : str
        Plain text in columns.

    Returns
    -------
    str
        An inline SVG picture and a ``pre`` element.
    """
    if not 0 < graph.n <= MAX_DRAWN_NODES:
        return preformatted(text)
    try:
        svg = picture(graph, "svg").decode("utf-8")
    except MissingLibrary:
        return preformatted(text)
    inline = svg[svg.index("<svg") :]  # without the prologue, which belongs to a file
    return f'<div style="max-width: 100%; overflow-x: auto">{inline}</div>{preformatted(text)}'


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
