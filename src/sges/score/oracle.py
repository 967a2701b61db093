"""Scores that need no data: they ask the generative model itself.

    OracleMDL          expected MDL of a discrete network, by exact inference
    GaussianOracle     Gaussian BIC of a linear model's population covariance
    SeparationOracle   a DAG's d-separations and nothing else

Paper: Section 5, oracle score.
"""

from sges.score.gaussian_oracle import GaussianOracle
from sges.score.oracle_mdl import OracleMDL
from sges.score.separation_oracle import SeparationOracle

__all__ = ["GaussianOracle", "OracleMDL", "SeparationOracle"]
