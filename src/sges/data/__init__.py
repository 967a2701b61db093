"""Tables in, sufficient statistics out.

Dataset             a table as the scores read it; ``Dataset.of`` makes one from anything
Moments             means and covariances of continuous columns
moments_of_file     moments of a file larger than memory
discrete_of_file    a discrete dataset from a file larger than memory
inspect             a ``Description``: facts about the columns, and findings
"""

from typing import TYPE_CHECKING, Any

from sges.data.dataset import Dataset
from sges.data.moments import Moments
from sges.data.reading import Kind
from sges.data.sources import discrete_of_file, moments_of_file
from sges.toolbox import tool

if TYPE_CHECKING:
    from sges.tools.inspect import Description as Description
    from sges.tools.inspect import Finding as Finding
    from sges.tools.inspect import inspect as inspect

__all__ = [
    "Dataset",
    "Description",
    "Finding",
    "Kind",
    "Moments",
    "discrete_of_file",
    "inspect",
    "moments_of_file",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any of these tools)
    if name in ("Description", "Finding", "inspect"):
        return tool(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
