"""Searches over equivalence classes: GES, SGES and their phases.

Paper: Fig. 1; Fig. 3; Fig. 4.
"""

from sges.search.algorithms import bes, fes, ges, poly_fes, sbes, sges, turning
from sges.search.order import order_bound
from sges.search.phases import sbes_bound
from sges.search.poly import poly_fes_bound
from sges.search.run import Progress
from sges.search.strategies import interleaved, search
from sges.search.strategy import STRATEGIES, Strategy

__all__ = [
    "STRATEGIES",
    "Progress",
    "Strategy",
    "bes",
    "fes",
    "ges",
    "interleaved",
    "order_bound",
    "poly_fes",
    "poly_fes_bound",
    "sbes",
    "sbes_bound",
    "search",
    "sges",
    "turning",
]
