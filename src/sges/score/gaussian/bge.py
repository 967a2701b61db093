r"""BGe: the marginal likelihood of a linear Gaussian network under a normal-Wishart prior.

Geiger & Heckerman (2002), with the formulas as corrected by Kuipers, Moffa & Heckerman (2014,
"Addendum on the scoring of Gaussian directed acyclic graphical models").  For a set S of l
variables, N records, and a = α_w − n,

    p(S) = (α_μ / (N + α_μ))^(l/2) · Γ_l((N + a + l)/2) / (π^(lN/2) Γ_l((a + l)/2))
           · |T_SS|^((a + l)/2) / |R_SS|^((N + a + l)/2)
    R    = T + N Σ + N α_μ / (N + α_μ) (mean − ν)(mean − ν)ᵀ
    local(y, parents) = log p(parents ∪ y) − log p(parents)

where Σ is the maximum-likelihood covariance.  The ratio of the two Γ_l leaves single gamma
functions, and that of the determinants the residual variance of y in R, so that one
factorization scores every candidate, as for the BIC.

T is diagonal with the entries t·(variance of the column), t = α_μ (α_w − n − 1) / (α_μ + 1), so
that it agrees with the prior on the means.  ``standardize=False`` gives T = t·I in the units of
the data, as in most packages (bnlearn and BiDAG among them; the latter with ν = 0): the graph then
depends on whether a length is in metres or in feet.
"""

from dataclasses import replace
from math import lgamma, log, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sges.docstrings import documented_like
from sges.errors import ScoreError, as_numbers, is_number, shown
from sges.nodeset import NodeSet, nodes
from sges.score.gaussian.bic import GaussianBIC
from sges.score.gaussian.matrix import (
    Floats,
    Standardized,
    condition,
    correlation_of,
    family_pivots,
)
from sges.score.protocol import Score, text_of


@documented_like(GaussianBIC)
class BGe:
    """The Bayesian Gaussian equivalent score, from a table or its ``Moments``.

    A constant column is left out of the likelihood, and every edge at it costs ½ log m, so that
    it gets none.  Collinear columns need no treatment: the prior keeps R positive definite.

    Parameters
    ----------
    alpha_mu
        The prior's weight on the means, in records; above zero.
    alpha_w
        The degrees of freedom of the Wishart prior, more than n + 1; n + 2 if not given.
    prior_mean
        ν: the prior means of the columns, one number for all or one each; the sample means
        if not given.
    standardize
        Whether the prior variances are in units of each column's own variance.

    Raises
    ------
    ScoreError
        If a parameter of the prior is out of range.
    DataError
        If a column is discrete.

    References
    ----------
    Geiger & Heckerman (2002), Parameter priors for directed acyclic graphical models and the
    characterization of several probability distributions.  Annals of Statistics 30(5).
    Kuipers, Moffa & Heckerman (2014), Addendum on the scoring of Gaussian directed acyclic
    graphical models.  Annals of Statistics 42(4).

    Examples
    --------
    >>> table = {"x": [0.1, 1.2, 1.9, 3.1, 4.2], "y": [0.3, 0.8, 2.2, 2.9, 4.1]}
    >>> score = BGe(table)
    >>> score.local(1, 0b01) > score.local(1, 0)
    True
    """

    def __init__(
        self,
        data: Any,  # noqa: ANN401 (any table for Dataset.of)
        alpha_mu: float = 1.0,
        alpha_w: float | None = None,
        prior_mean: ArrayLike | None = None,
        standardize: bool = True,
    ) -> None:
        moments = Standardized.of_data(data)
        n = len(moments.variance)
        alpha_w = n + 2.0 if alpha_w is None else alpha_w
        if not (is_number(alpha_mu) and 0 < alpha_mu < np.inf):
            raise ScoreError(f"alpha_mu {shown(alpha_mu)}: it must be a finite number above 0")
        if not (is_number(alpha_w) and n + 1 < alpha_w < np.inf):
            rule = f"it must be finite and above n + 1 = {n + 1}"
            raise ScoreError(f"alpha_w {shown(alpha_w)}: {rule}")
        self.alpha_mu, self.alpha_w = alpha_mu, alpha_w
        self._prior_scale = alpha_mu * (alpha_w - n - 1) / (alpha_mu + 1)  # t
        shift = np.zeros(n)
        if prior_mean is not None:
            means = as_numbers("prior_mean", prior_mean)
            if means.shape not in ((), (n,)) or not np.isfinite(means).all():
                raise ScoreError(
                    f"prior_mean of shape {means.shape}: it must be one finite number, or one for "
                    f"each of the {n} columns"
                )
            shift = moments.mean - means
            shift[list(nodes(moments.constant))] = 0.0
        unit = moments.variance if standardize else np.ones(n)
        deviation, shift, m = (
            np.sqrt(moments.variance / unit),
            shift / np.sqrt(unit),
            moments.records,
        )
        r = m * (moments.correlation * deviation[:, None] * deviation)
        r += m * alpha_mu / (m + alpha_mu) * np.outer(shift, shift)
        r += self._prior_scale * np.eye(n)
        # The prior gives R full rank for any number of records, except for rounding.
        correlation = correlation_of(r)
        condition(correlation, moments.labels, np.inf)
        variance = np.diagonal(r).copy()
        self._fill(replace(moments, variance=variance, correlation=correlation), unit)

    def _fill(self, posterior: Standardized, unit: Floats) -> None:
        """Take R in the given units, as variances and correlations."""
        n, records = len(unit), posterior.records
        self.n, self.names, self.records = n, posterior.names, records
        self._correlation, self._constant = posterior.correlation, posterior.constant
        self._freedom = records + self.alpha_w - n
        self._spread: Floats = np.log(posterior.variance)
        self._by_size = [self._normalizer(size, n) for size in range(n + 2)]
        self._density: list[float] = (-records / 2 * np.log(unit)).tolist()
        self._isolated = -0.5 * log(records)

    def _normalizer(self, size: int, n: int) -> float:
        """Return the part of local that depends only on the family's size, y included."""
        a = self.alpha_w - n
        return (
            0.5 * log(self.alpha_mu / (self.records + self.alpha_mu))
            - self.records / 2 * log(pi)
            + lgamma((self.records + a + size) / 2)
            - lgamma((a + size) / 2)
            + (a + 2 * size - 1) / 2 * log(self._prior_scale)
        )

    __repr__ = text_of

    @documented_like(Score.local)
    def local(self, y: int, parents: NodeSet) -> float:
        """Return the log marginal likelihood of a node given its parents."""
        varied = 0 if self._constant >> y & 1 else parents & ~self._constant
        isolated = self._isolated * (parents.bit_count() - varied.bit_count())
        size = varied.bit_count() + 1
        pivots = np.log(family_pivots(self._correlation, y, varied))
        log_variance = 2 * float(pivots[-1]) + self._spread[y]
        others = 2 * float(pivots[:-1].sum()) + sum(self._spread[x] for x in nodes(varied))
        fit = float((self._freedom + size) / 2 * log_variance + others / 2)
        return self._density[y] + self._by_size[size] - fit + isolated
