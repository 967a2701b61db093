"""Searches over equivalence classes: GES, SGES and their phases.

Paper: Fig. 1; Fig. 3; Fig. 4.
"""

from sges.search.algorithms import bes, fes, ges, poly_fes, sbes, sges, turning
from sges.search.phases import sbes_bound
from sges.search.poly import poly_fes_bound
from sges.search.run import Progress
from sges.search.strategies import interleaved

__all__ = [
    "Progress",
    "bes",
    "fes",
    "ges",
    "interleaved",
    "poly_fes",
    "poly_fes_bound",
    "sbes",
    "sbes_bound",
    "sges",
    "turning",
]
