"""Searches over equivalence classes: GES, SGES and their phases."""

from sges.search.algorithms import (
    bes,
    fes,
    ges,
    interleaved,
    poly_fes,
    sbes,
    sges,
    turning,
)
from sges.search.run import Progress
from sges.search.strategy import STRATEGIES, Strategy, search

__all__ = [
    "STRATEGIES",
    "Progress",
    "Strategy",
    "bes",
    "fes",
    "ges",
    "interleaved",
    "poly_fes",
    "sbes",
    "search",
    "sges",
    "turning",
]
