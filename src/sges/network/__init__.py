"""Generative models: Bayesian networks, linear Gaussian models, random structures, BIF files."""

from sges.network.bif import read_bif, write_bif
from sges.network.discrete import BayesianNetwork
from sges.network.gaussian import LinearGaussian
from sges.network.structures import random_dag, random_polytree, random_structure

__all__ = [
    "BayesianNetwork",
    "LinearGaussian",
    "random_dag",
    "random_polytree",
    "random_structure",
    "read_bif",
    "write_bif",
]
