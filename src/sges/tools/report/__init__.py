"""Output for users: the summary and the explanation of a result, and its files.

A search does not need this part; the methods of ``Result`` import it when they are called.
"""

from sges.tools.report.explanation import Event, Explanation, explain
from sges.tools.report.html import description_html, graph_html, preformatted
from sges.tools.report.page import (
    files_of,
    read_result,
    report_page,
    result_html,
    save,
    write_report,
)
from sges.tools.report.text import summary

__all__ = [
    "Event",
    "Explanation",
    "description_html",
    "explain",
    "files_of",
    "graph_html",
    "preformatted",
    "read_result",
    "report_page",
    "result_html",
    "save",
    "summary",
    "write_report",
]
