"""Tables in, sufficient statistics out.

Dataset             a table as the scores read it; ``Dataset.of`` makes one from anything
Moments             means and covariances of continuous columns
Counts              distinct rows of discrete columns, with their weights
moments_of_file     moments of a file larger than memory
discrete_of_file    a discrete dataset from a file larger than memory
inspect             a ``Description``: facts about the columns, and findings
"""

from sges.data.dataset import Dataset
from sges.data.description import Description, Finding
from sges.data.inspection import inspect
from sges.data.moments import Moments
from sges.data.parts import Counts
from sges.data.reading import Kind
from sges.data.sources import discrete_of_file, moments_of_file

__all__ = [
    "Counts",
    "Dataset",
    "Description",
    "Finding",
    "Kind",
    "Moments",
    "discrete_of_file",
    "inspect",
    "moments_of_file",
]
