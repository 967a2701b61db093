"""Generative models: Bayesian networks, linear Gaussian models, random structures, BIF files."""

from sges.network.bif import read_bif, write_bif
from sges.network.discrete import BayesianNetwork
from sges.network.fitting import fit
from sges.network.gaussian import LinearGaussian, Normal
from sges.network.mixed import MixedNetwork
from sges.network.structures import random_dag, random_polytree, random_structure

__all__ = [
    "BayesianNetwork",
    "LinearGaussian",
    "MixedNetwork",
    "Normal",
    "fit",
    "random_dag",
    "random_polytree",
    "random_structure",
    "read_bif",
    "write_bif",
]
