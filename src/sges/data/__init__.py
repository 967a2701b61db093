"""Tables in, sufficient statistics out.

Dataset             a table as the scores read it; ``Dataset.of`` makes one from anything
Moments             means and covariances of continuous columns
Counts              distinct rows of discrete columns, with their weights
Reading             the options of reading a table, checked
moments_of_file     moments of a file larger than memory
discrete_of_file    a discrete dataset from a file larger than memory
glance              a quick check: the topics of serious findings
inspect             a ``Description``: facts about the columns, and findings
"""

from sges.data.dataset import Dataset
from sges.data.description import ColumnFacts, Description, Finding
from sges.data.inspection import glance, inspect
from sges.data.moments import Moments
from sges.data.parts import Counts
from sges.data.reading import Format, Kind, Kinds, Missing, Reading
from sges.data.reading import ReadingOptions as ReadingOptions
from sges.data.reading import reading_of_call as reading_of_call
from sges.data.sources import discrete_of_file, moments_of_file

__all__ = [
    "ColumnFacts",
    "Counts",
    "Dataset",
    "Description",
    "Finding",
    "Format",
    "Kind",
    "Kinds",
    "Missing",
    "Moments",
    "Reading",
    "discrete_of_file",
    "glance",
    "inspect",
    "moments_of_file",
]
