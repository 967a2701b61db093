"""Tables in, sufficient statistics out.

Dataset            a table as the scores read it; ``Dataset.of`` makes one from anything
Moments            means and covariances of continuous columns
read_table         a table from a file whose format or separators need saying
moments_of_file    moments of a file larger than memory
discrete_of_file   a discrete dataset from a file larger than memory
"""

from typing import TYPE_CHECKING

from sges.data.dataset import Dataset, discrete_of_file
from sges.data.moments import Moments, moments_of_file
from sges.data.reading import Kind, Kinds, Missing, Reading

__all__ = [
    "Dataset",
    "Kind",
    "Kinds",
    "Missing",
    "Moments",
    "Reading",
    "discrete_of_file",
    "moments_of_file",
    "read_table",
]

if TYPE_CHECKING:
    from sges.data.files import read_table


def __getattr__(name: str) -> object:
    """Import ``read_table`` when it is asked for: pyarrow is slow to import."""
    if name == "read_table":
        from sges.data.files import read_table

        return read_table
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
