"""Output for users: the summary and the explanation of a result, and its files.

A search does not need this part; the methods of ``Result`` import it when they are called.
"""

from sges.tools.report.explanation import Explanation, explain
from sges.tools.report.page import (
    read_result,
    save,
    write_report,
)
from sges.tools.report.text import summary

__all__ = [
    "Explanation",
    "explain",
    "read_result",
    "save",
    "summary",
    "write_report",
]
