r"""The Gaussian BIC: linear regressions with normal errors, scored from the covariance alone.

With m records, σ² = var(y | parents) the maximum-likelihood residual variance of the
regression of y on its parents with an intercept, and ``penalty`` = 1 for the textbook BIC,

    local(y, parents) = −m/2 (log(2π σ²) + 1) − penalty/2 log m (|parents| + 2)

All constants are included: the first term is the maximized log-likelihood itself, and the free
parameters of a family are its weights, its intercept and its variance.  (The package ``ges`` leaves
out −m/2 log 2π and the intercept's −penalty/2 log m, which are the same for every graph.)
``sges.score.gaussian.matrix`` says how constant and collinear columns are treated.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import log, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sges.data.dataset import Dataset, as_dataset, check_continuous
from sges.data.moments import Moments, Progress
from sges.docstrings import documented_like
from sges.errors import check_word
from sges.nodeset import NodeSet, nodes
from sges.score.gaussian.matrix import (
    RIDGE,
    Floats,
    Standardized,
    check_penalty,
    check_table,
    family_pivots,
)
from sges.score.protocol import Score, text_of

METHODS = ("normal", "spearman")  # the methods of RankBIC
MAX_PROJECTIONS = 200  # rounds of alternating projections to the nearest correlation matrix


class GaussianBIC:
    """The BIC of linear Gaussian families, from a table, its ``Moments`` or a covariance.

    A constant column gets no edges: every gain is minus the penalty (its variance is set to
    one, which adds a constant to the score of every graph).  Collinear columns, and tables with
    no more records than columns, are scored from a matrix with a ridge of 1e-8, so that a family
    that determines y exactly gains about 9 nats per record instead of infinitely many.  Both
    cases give a ``DataWarning``, and in both the score remains score equivalent.

    Parameters
    ----------
    data
        A ``Dataset`` whose columns are all continuous, anything from which ``Dataset.of`` makes
        one, or ``Moments``.
    penalty
        The multiplier of the textbook penalty, ½ log m per free parameter; at least zero.
    dtype
        The precision in which the correlations are kept: "float64", or "float32", which takes
        half the memory and keeps about six digits of each.  All computations are in doubles.
    progress
        Called with the work done and the total work while the correlations of a table with
        many columns are computed.

    Raises
    ------
    ScoreError
        If the penalty or ``dtype`` is invalid, or the moments are not those of a table.
    DataError
        If a column is discrete.

    References
    ----------
    Schwarz (1978), Estimating the dimension of a model.  Annals of Statistics 6(2).

    Examples
    --------
    >>> score = GaussianBIC.from_covariance([[1.0, 0.8], [0.8, 1.0]], records=100)
    >>> round(score.local(1, 0), 3), round(score.local(1, 0b01), 3)
    (-146.499, -97.719)
    """

    def __init__(
        self,
        data: Any,  # noqa: ANN401 (any table for Dataset.of)
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
        """Return the score of data with a given covariance matrix.

        Parameters
        ----------
        covariance
            The maximum-likelihood covariance: sums of products divided by the number of records.
        records
            The number of records, at least two.
        penalty
            The multiplier of the textbook penalty; at least zero.
        names
            The names of the variables.

        Returns
        -------
        GaussianBIC
            The score.

        Raises
        ------
        ScoreError
            If the matrix is not a covariance matrix, or another argument is out of range.
        """
        score = cls.__new__(cls)
        score._fill(Standardized.of_covariance(covariance, records, names).conditioned(), penalty)
        return score

    def _fill(self, moments: Standardized, penalty: float) -> None:
        check_penalty(penalty)
        self.n, self.names = len(moments.variance), moments.names
        self.records, self.penalty = moments.records, penalty
        self._moments = moments
        self._correlation = moments.correlation
        self._half = moments.records / 2
        self._per_parent = penalty / 2 * log(moments.records)
        fit = -self._half * (np.log(2 * pi) + np.log(moments.variance) + 1)
        self._alone: list[float] = (fit - 2 * self._per_parent).tolist()

    @property
    def moments(self) -> Moments:
        """The means and covariances of the table, without the ridge of a singular matrix."""
        standardized = self._moments
        deviation = np.sqrt(standardized.variance)
        deviation[list(nodes(standardized.constant))] = 0.0
        correlation = np.asarray(standardized.correlation, np.float64) * (1 + standardized.ridge)
        np.fill_diagonal(correlation, 1.0)
        covariance = correlation * deviation[:, None] * deviation
        return Moments(
            standardized.labels, int(standardized.records), standardized.mean, covariance
        )

    __repr__ = text_of

    @documented_like(Score.local)
    def local(self, y: int, parents: NodeSet) -> float:
        """Return the BIC of the regression of a node on its parents."""
        explained = -2 * self._half * log(family_pivots(self._correlation, y, parents)[-1])
        return self._alone[y] + explained - self._per_parent * parents.bit_count()


@documented_like(GaussianBIC)
class RankBIC(GaussianBIC):
    """The Gaussian BIC of correlations estimated from ranks (the nonparanormal model).

    It does not change when any column is transformed by an increasing function, and outliers have
    little influence.  It assumes that each variable is an unknown increasing function of one of
    jointly Gaussian variables, whose correlations can be estimated from ranks alone.  A relation
    that is not monotone, such as a parabola, is not detected (see ``BasisBIC``).

    Equal values share the mean of their ranks; many of them weaken the correlations of a column.
    Missing values have no rank; the correlations of the ranks are then estimated by EM.

    Parameters
    ----------
    data
        A ``Dataset`` whose columns are all continuous, or anything from which ``Dataset.of`` makes
        one.
    method
        "spearman": correlations 2 sin(π/6 · ρ) from Spearman's ρ (Liu et al. 2012), replaced by the
        nearest correlation matrix (Higham 2002) if they have negative eigenvalues.  "normal":
        correlations of the normal scores Φ⁻¹(rank / (m + 1)), which are slightly more precise
        without outliers and less robust with them.

    Raises
    ------
    InvalidArgument
        If the method is unknown.
    ScoreError
        If the penalty is out of range.
    DataError
        If a column is discrete.

    References
    ----------
    Liu, Lafferty & Wasserman (2009), The nonparanormal: semiparametric estimation of high
    dimensional undirected graphs.  Journal of Machine Learning Research 10.
    Liu, Han, Yuan, Lafferty & Wasserman (2012), High-dimensional semiparametric Gaussian copula
    graphical models.  Annals of Statistics 40(4).
    Higham (2002), Computing the nearest correlation matrix.  IMA Journal of Numerical Analysis 22.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> y = x + np.random.default_rng(1).normal(size=100)
    >>> plain, bent = RankBIC({"x": x, "y": y}), RankBIC({"x": np.exp(x), "y": y**3})
    >>> bool(plain.local(1, 0b01) == bent.local(1, 0b01))
    True
    """

    def __init__(
        self,
        data: Any,  # noqa: ANN401 (any table for Dataset.of)
        penalty: float = 1.0,
        method: str = "spearman",
    ) -> None:
        check_word("method", method, METHODS)
        check_table(data, "RankBIC")
        dataset = as_dataset(data, kinds="continuous")
        check_continuous(dataset)
        self.method = method
        moments = Standardized.of_data(replace(dataset, values=rank_scores(dataset, method)))
        if method == "spearman":
            correlation: Floats = 2 * np.sin(np.pi / 6 * moments.correlation)
            np.fill_diagonal(correlation, 1.0)
            if float(np.linalg.eigvalsh(correlation)[0]) < -RIDGE:
                correlation = nearest_correlation(correlation)
            moments = replace(moments, correlation=correlation)
        # The variance of ranks is only that of their number: all columns have unit variance.
        moments = replace(moments, variance=np.ones(len(moments.variance)))
        self._fill(moments.conditioned(), penalty)

    @property
    def moments(self) -> Moments:
        """Not available: moments of ranks, and effects, would not be on the scale of the table."""
        raise AttributeError("the moments of ranks are not those of the table")


def rank_scores(dataset: Dataset, method: str) -> Floats:
    """Return the ranks of the values of each column, in (0, 1), or their normal scores."""
    from scipy.special import ndtri  # slow to import

    rows = dataset.values.shape[1]
    weights = np.ones(rows) if dataset.weights is None else dataset.weights.astype(float)
    scores = np.empty_like(dataset.values)
    for column, out in zip(dataset.values, scores, strict=True):
        seen = ~np.isnan(column)
        _, at = np.unique(column[seen], return_inverse=True)
        times = np.bincount(at, weights[seen])
        ranks = (np.cumsum(times) - (times - 1) / 2) / (weights[seen].sum() + 1)
        out[seen] = (ndtri(ranks) if method == "normal" else ranks)[at]
        out[~seen] = np.nan
    return scores


def nearest_correlation(matrix: Floats) -> Floats:
    """Return the correlation matrix nearest to a symmetric one in the Frobenius norm.

    Projections to the matrices with eigenvalues above a small bound and to those with a unit
    diagonal alternate, with Dykstra's correction (Higham 2002, algorithm 3.3).
    """
    floor = 100 * RIDGE
    nearest, correction = matrix.copy(), np.zeros_like(matrix)
    for _ in range(MAX_PROJECTIONS):
        shifted = nearest - correction
        values, vectors = np.linalg.eigh(shifted)
        positive = (vectors * np.maximum(values, floor)) @ vectors.T
        correction = positive - shifted
        nearest = positive.copy()
        np.fill_diagonal(nearest, 1.0)
        if np.abs(nearest - positive).max() < RIDGE:
            break
    # What is left of the last step is scaled away, so that the matrix is definite for certain.
    scale = np.sqrt(np.diagonal(positive))
    result: Floats = positive / scale[:, None] / scale
    np.fill_diagonal(result, 1.0)
    return (result + result.T) / 2
