"""ASIA, the chest clinic of Lauritzen & Spiegelhalter (1988), with its published parameters.

A visit to Asia raises the risk of tuberculosis, smoking that of lung cancer and bronchitis.
``either`` is tuberculosis or cancer; the x-ray cannot tell which.  Shortness of breath
(dyspnoea) has either of them or bronchitis for a cause.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sges.graph.pdag import PDAG
from sges.network import BayesianNetwork

NAMES = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")

PARENTS = {
    "asia": (),
    "tub": ("asia",),
    "smoke": (),
    "lung": ("smoke",),
    "bronc": ("smoke",),
    "either": ("tub", "lung"),
    "xray": ("either",),
    "dysp": ("bronc", "either"),
}

# The chance of "yes" for each configuration of the parents, "no" before "yes", the last parent
# fastest: for dysp (no bronc, not either), (no bronc, either), (bronc, not either), both.
YES = {
    "asia": (0.01,),
    "tub": (0.01, 0.05),
    "smoke": (0.5,),
    "lung": (0.01, 0.1),
    "bronc": (0.3, 0.6),
    "either": (0.0, 1.0, 1.0, 1.0),
    "xray": (0.05, 0.98),
    "dysp": (0.1, 0.7, 0.8, 0.9),
}


@cache
def asia() -> BayesianNetwork:
    """Return the ASIA network, its levels "no" and "yes".

    >>> network = asia()
    >>> network
    BayesianNetwork(8 variables, 8 edges, 18 parameters)
    >>> [round(float(network.marginal({v})[1]), 4) for v in range(3, 8)]
    [0.055, 0.45, 0.0648, 0.1103, 0.436]
    """
    number = {name: v for v, name in enumerate(NAMES)}
    edges = [(number[p], number[name]) for name, parents in PARENTS.items() for p in parents]
    dag = PDAG.from_edges(len(NAMES), edges, names=NAMES)
    cpts = [_table(name) for name in NAMES]
    return BayesianNetwork(dag, cpts, levels=[("no", "yes")] * len(NAMES))


def _table(name: str) -> NDArray[np.float64]:
    """Return p(name | parents), one axis per parent and a last one for the variable."""
    yes = np.array(YES[name]).reshape([2] * len(PARENTS[name]))
    return np.stack([1 - yes, yes], axis=-1)
