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
from sges.search.bounds import order_bound, poly_fes_bound, sbes_bound
from sges.search.run import OnProgress, Progress
from sges.search.strategy import STRATEGIES, Strategy, search

__all__ = [
    "STRATEGIES",
    "OnProgress",
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
