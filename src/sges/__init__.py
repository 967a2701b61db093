"""Selective Greedy Equivalence Search: learn the equivalence class of a Bayesian network.

An implementation of Chickering & Meek, "Selective Greedy Equivalence Search: Finding Optimal
Bayesian Networks Using a Polynomial Number of Score Evaluations" (UAI 2015).
``docs/paper-map.md`` lists where each definition, figure and theorem of the paper lives.
"""

from sges.graph import PDAG
from sges.properties import MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth

__version__ = "0.1.0"

__all__ = [
    "PDAG",
    "MaxClique",
    "MaxParents",
    "MaxTreewidth",
    "MaxVStructures",
    "MaxVWidth",
    "__version__",
]
