"""Gaussian BIC in the limit of data: a population's covariance in place of a sample's."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from sges.network.gaussian import LinearGaussian
from sges.score.gaussian import GaussianBIC
from sges.score.standardized import Standardized


class GaussianOracle(GaussianBIC):
    """Expected Gaussian BIC of a linear Gaussian model, or of a population covariance.

    >>> from sges.graph.pdag import PDAG
    >>> model = LinearGaussian(PDAG.from_edges(2, [(0, 1)]), [[0, 2], [0, 0]], [1, 1])
    >>> score = GaussianOracle(model, records=1e6)
    >>> bool(score.local(1, 0b01) > score.local(1, 0))
    True
    """

    def __init__(
        self,
        model: LinearGaussian | ArrayLike,
        records: float = 5e9,
        penalty: float = 1.0,
        names: Sequence[str] | None = None,
    ) -> None:
        if isinstance(model, LinearGaussian):
            names = model.names if names is None else names
            model = model.covariance()
        self._fill(Standardized.of_covariance(model, records, names).conditioned(), penalty)
