r"""The Gaussian BIC of ranks, for skewed columns and outliers.

The nonparanormal model (Liu, Lafferty & Wasserman 2009): each variable is an unknown increasing
function of one of jointly Gaussian variables.  Increasing functions do not change ranks, so the
correlations of the Gaussian variables can be estimated from ranks alone.  Missing values have no
rank; the correlations of the ranks are then estimated by EM.

The model assumes that the dependences are those of a Gaussian: monotone, without tail dependence.
A relation that is not monotone, such as a parabola, is not seen (see ``BasisBIC``).  Many equal
values weaken the correlations of a column.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from sges.data.dataset import Dataset
from sges.data.moments import refuse_discrete
from sges.docstrings import documented_like
from sges.errors import check_word
from sges.score.gaussian.bic import GaussianBIC
from sges.score.gaussian.matrix import RIDGE, Floats, Standardized, check_table

METHODS = ("normal", "spearman")

MAX_PROJECTIONS = 200
"""The most rounds of alternating projections to the nearest correlation matrix."""


@documented_like(GaussianBIC)
class RankBIC(GaussianBIC):
    """The Gaussian BIC of correlations estimated from ranks (the nonparanormal model).

    It does not change when any column is transformed by an increasing function, and outliers have
    little influence.  It assumes that some increasing transformation of each column would make
    the columns jointly Gaussian.  Equal values share the mean of their ranks.

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
        data: Any,  # noqa: ANN401 (whatever Dataset.of takes)
        penalty: float = 1.0,
        method: str = "spearman",
    ) -> None:
        check_word("method", method, METHODS)
        check_table(data, "RankBIC")
        dataset = data if isinstance(data, Dataset) else Dataset.of(data, kinds="continuous")
        refuse_discrete(dataset)
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
