"""Output for users: the summary and the explanation of a result, and its files.

A search does not need this part; the methods of ``Result`` import it when they are called.
"""

from sges.tools.report.explanation import Explanation
from sges.tools.report.page import read_result

__all__ = ["Explanation", "read_result"]
