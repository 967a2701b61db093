"""Scores that need no data: they ask the generative model itself.

``OracleMDL`` is the expected MDL of a discrete network, by exact inference; ``GaussianOracle``
the Gaussian BIC of a linear model's population covariance; ``SeparationOracle`` knows the
d-separations of a DAG and nothing else.
"""

from sges.score.gaussian_oracle import GaussianOracle
from sges.score.oracle_mdl import OracleMDL
from sges.score.separation_oracle import SeparationOracle

__all__ = ["GaussianOracle", "OracleMDL", "SeparationOracle"]
