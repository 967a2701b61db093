"""Random data and truths for the tests of searches."""

import numpy as np
from numpy.typing import NDArray

from sges.graph import PDAG
from sges.network import LinearGaussian, random_dag
from sges.score import GaussianBIC

Floats = NDArray[np.float64]


def linear_data(n: int, edges: int, records: int, seed: int) -> tuple[PDAG, Floats]:
    """Return a random DAG and standardized data of a linear Gaussian model on it."""
    dag = random_dag(n, edges, seed=seed)
    model = LinearGaussian.random(dag, seed=seed)
    rng = np.random.default_rng(seed)
    data = rng.multivariate_normal(np.zeros(n), model.covariance(), size=records)
    return dag, (data - data.mean(axis=0)) / data.std(axis=0)


def gaussian_score(n: int, edges: int, records: int, seed: int) -> GaussianBIC:
    """Return the BIC of data from ``linear_data``."""
    _, data = linear_data(n, edges, records, seed)
    return GaussianBIC.from_covariance(np.cov(data.T, bias=True), records)
