r"""The Gaussian BIC: linear regressions with normal errors, scored from the covariance alone.

With m records, σ² = var(y | parents) the maximum-likelihood residual variance of the
regression of y on its parents with an intercept, and ``penalty`` = 1 for the textbook BIC,

    local(y, parents) = −m/2 (log(2π σ²) + 1) − penalty/2 log m (|parents| + 2)

All constants are in: the first term is the maximised log-likelihood itself, and the free
parameters of a family are its weights, its intercept and its variance.  BIC and MDL are the
same number with our sign.  The package ``ges`` leaves out the term −m/2 log 2π and the
intercept's −penalty/2 log m, both of them the same for every graph.

One factorisation scores every candidate of a family: see ``sges.score.correlation``, which
also says what becomes of constant and collinear columns.
"""

from collections.abc import Sequence
from math import log, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.data.products import Progress
from sges.errors import ScoreError
from sges.nodeset import NodeSet
from sges.score import single
from sges.score.base import Candidates, Gains, as_indices
from sges.score.correlation import Floats, family_log_variance, fill_partial_squares, residuals
from sges.score.standardized import Standardized


class GaussianBIC:
    """The BIC of linear Gaussian families, from a table, its ``Moments`` or a covariance.

    Parameters
    ----------
    data
        A ``Dataset`` whose columns are all continuous, anything ``Dataset.of`` makes one of,
        or ``Moments``.
    penalty
        Multiplies the penalty: 1 is the textbook BIC, ½ log m per free parameter.
    dtype
        The precision in which the correlations are kept: "float64", or "float32", which takes
        half the memory and leaves about six digits of each.  Everything else is in doubles.
    progress
        Called with the work done and the work in all while the correlations of a table with
        many columns are computed.

    A constant column gets no edges (every gain is minus the penalty; its variance is written
    as one, which adds a constant to all graphs).  Collinear columns, and tables with no more
    records than columns, are scored from a matrix with a ridge of 1e-8, so that a family
    that determines y exactly is worth about 9 nats per record and not infinitely many.  Both
    are told by a ``DataWarning``, and both leave the score score equivalent.

    >>> score = GaussianBIC.from_covariance([[1.0, 0.8], [0.8, 1.0]], records=100)
    >>> round(score.local(1, 0), 3), round(score.local(1, 0b01), 3)
    (-146.499, -97.719)
    """

    def __init__(
        self,
        data: Any,  # noqa: ANN401 (whatever Dataset.of takes)
        penalty: float = 1.0,
        *,
        dtype: str = "float64",
        progress: Progress | None = None,
    ) -> None:
        self._fill(Standardized.of_data(data, dtype, progress).conditioned(), penalty)

    @classmethod
    def from_covariance(
        cls,
        covariance: ArrayLike,
        records: float,
        penalty: float = 1.0,
        names: Sequence[str] | None = None,
    ) -> "GaussianBIC":
        """Return the score of data with this maximum-likelihood covariance and so many records."""
        moments = Standardized.of_covariance(covariance, records, names)
        return cls._of(moments.conditioned(), penalty)

    @classmethod
    def _of(cls, moments: Standardized, penalty: float) -> "GaussianBIC":
        score = cls.__new__(cls)
        score._fill(moments, penalty)
        return score

    def _fill(self, moments: Standardized, penalty: float) -> None:
        if not 0 <= penalty < np.inf:
            raise ScoreError(f"penalty {penalty}: it must be a finite number, 0 or more")
        self.names = moments.names
        self.records = moments.records
        self.penalty = penalty
        self._moments = moments
        self._correlation = moments.correlation
        self._is_single = moments.correlation.dtype == np.float32
        self._half = moments.records / 2
        self._per_parent = penalty / 2 * log(moments.records)
        fit = -self._half * (np.log(2 * pi) + np.log(moments.variance) + 1)
        self._alone: list[float] = (fit - 2 * self._per_parent).tolist()

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self._alone)

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the BIC of the regression of y on its parents."""
        log_variance = single.family_log_variance if self._is_single else family_log_variance
        explained = -self._half * log_variance(self._correlation, y, parents)
        return self._alone[y] + explained - self._per_parent * parents.bit_count()

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        """Return local(y, base ∪ x) − local(y, base) for each x outside base and y.

        The partial correlation ρ of x and y given base settles it: −m/2 log(1 − ρ²).
        """
        gains = np.empty(len(candidates))
        half, each = self._half, self._per_parent
        fill = single.fill_insert_gains if self._is_single else fill_insert_gains
        fill(self._correlation, y, base, as_indices(candidates), half, each, gains)
        return gains

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        r"""Return local(y, base \ x) − local(y, base) for each x in base.

        One inverse holds the partial correlation of y with each x given the rest of base.
        """
        gains = np.empty(len(candidates))
        half, each = self._half, self._per_parent
        fill = single.fill_delete_gains if self._is_single else fill_delete_gains
        fill(self._correlation, y, base, as_indices(candidates), half, each, gains)
        return gains

    def permuted(self, order: Sequence[int]) -> "GaussianBIC":
        """Return the score of the same data with its columns in another order."""
        return self._of(self._moments.permuted(order), self.penalty)


def fill_insert_gains(
    correlation: Floats,
    y: int,
    base: NodeSet,
    candidates: NDArray[np.intp],
    half: float,
    each: float,
    gains: Gains,
) -> None:
    """Write the gains of adding each candidate, with m = 2 ``half``, ``each`` parent penalised."""
    variance, explained = residuals(correlation, y, base, candidates)
    gains[:] = np.log1p(explained / -variance) * -half - each


def fill_delete_gains(
    correlation: Floats,
    y: int,
    base: NodeSet,
    candidates: NDArray[np.intp],
    half: float,
    each: float,
    gains: Gains,
) -> None:
    """Write the gains of taking each candidate away from the base."""
    fill_partial_squares(correlation, y, base, candidates, gains)
    gains[:] = np.log1p(-gains) * half + each
