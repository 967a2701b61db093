"""Drawing replicates of a table, such that the strength of an edge is about its chance to be true.

    bootstrap   records drawn with replacement
    bayesian    random weights of the records (Rubin 1981)
    wishart     a random covariance matrix, drawn from the moments alone
    half        half of the records, drawn without replacement

The table has sampling noise already, and drawing adds more.  If x and y are independent given S,
twice the logarithm of the likelihood ratio of an edge between them has mean d for d parameters in
the table, and mean (1 + v) d in a replicate whose noise has v times the variance of the sampling
noise.  In a plain bootstrap v is 1: replicates have many false edges, most of all if an edge has
many parameters.

The first three ways draw with v = 1/3 (``NOISE``): three times as many records, each of which
counts a third, weights that vary as those of three records each, or a covariance of three times as
many.  This is also about the noise with which strengths are calibrated.  Let L be twice the
logarithm of the likelihood ratio of an edge in the table, and t what the score asks for.  The
chance that the edge is true rises from one quarter to three quarters while L − t rises from −2.2 to
2.2; the strength, which is about Φ((√L − √t) / √v), does so at the usual t of 8 to 14 if v is
between 1/3 and 1/5.

Replicates are searched with the edge prior that expects as many edges as the estimate has
(``edge_cost``).  The prior of the estimate itself expects (p − 1)/2 edges in any table, also in one
without any.

A number as penalty has no such prior.  A replicate is then drawn with v = 1, a plain
bootstrap, and searched with twice the penalty: this compares the same numbers as m/2 records with
one penalty, where false edges are as rare as in a table.

The calibration is measured: see ``studies/results/confidence.md``.

Half of the records is a smaller sample, whose noise is its own.  It is for scores that need whole
records; it finds fewer edges than the table has.

Continuous and mixed tables are drawn by record, discrete ones by distinct row, so that the time of
a draw depends on the number of distinct rows, not of records.  Rows with survey weights, equal ones
included, are drawn with equal probability and keep their weights; rows with missing values keep
them, and what the score needs is estimated anew on each replicate.
"""

from dataclasses import dataclass, replace
from math import log
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sges.data import Dataset, Moments
from sges.data.dataset import selected
from sges.errors import Argument, DataError, InvalidArgument, Message

Draw: TypeAlias = Literal["half", "bootstrap", "bayesian", "wishart"]
"""A way to draw replicates."""

DRAWS: tuple[Draw, ...] = get_args(Draw)

NOISE = 3
"""With the edge prior, a replicate varies like a sample of this many times the records."""

CORRECTION = 2.0
"""The factor on the penalty of a BIC without the edge prior, for draws with full noise."""

MAX_WITHOUT_REPLACEMENT = 10**9 - 1
"""The most records from which NumPy draws exactly half; beyond it, each is drawn independently."""

WEIGHT_UNIT = 2**20
"""Random weights are written as whole numbers that add up to about this, or 64 per record."""


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """The data that replicates are drawn from, prepared once."""

    data: Dataset | Moments
    draw: Draw
    correction: float  # the factor on the penalty of a replicate
    times: int  # how many times the records are drawn; each counts one part in ``times``
    root: NDArray[np.float64] | None = None  # times its transpose, the covariance

    @classmethod
    def of(
        cls,
        data: Dataset | Moments,
        draw: str,
        *,
        penalized: bool,
        gaussian: bool = False,
        prior: bool = False,
    ) -> "Source":
        """Return the source for a way to draw; raise an error if it does not fit the score.

        The score may have a penalty to multiply, need only moments, or have the edge prior.
        """
        chosen: Draw = draw  # type: ignore[assignment]
        if draw == "auto":
            if penalized and isinstance(data, Moments):
                chosen = "wishart"
            elif penalized and isinstance(data, Dataset) and not data.discrete:
                chosen = "bayesian"
            else:
                chosen = "bootstrap" if prior else "half"
        option = Message(Argument("draw"), f" = {chosen!r}")
        half, bic = Argument("draw", "half"), Argument("score", "bic")
        if chosen != "wishart" and isinstance(data, Moments):
            advice = "use draw='wishart'" if gaussian else "give the table itself"
            raise InvalidArgument(
                Message(option, " draws records, but Moments contain none; ", advice)
            )
        if chosen == "wishart" and not gaussian:
            why = " draws covariance matrices, but this score needs more of the table; use "
            raise InvalidArgument(Message(option, why, bic if isinstance(data, Moments) else half))
        if chosen in ("bootstrap", "bayesian") and not (penalized or prior):
            why = " needs a BIC, whose penalty can be corrected, or "
            prior_of_edges = Argument("penalty", "auto")
            raise InvalidArgument(Message(option, why, prior_of_edges, "; use ", half))
        least = 4 if chosen == "half" else 2
        if data.records < least:
            raise DataError(
                f"draw = {chosen!r} needs at least {least} records, but the table has "
                f"{data.records}"
            )
        correction = 1.0 if prior or chosen == "half" else CORRECTION
        times = NOISE if prior and chosen != "half" else 1
        if chosen == "wishart":
            moments = data if isinstance(data, Moments) else Moments.of(data)
            return cls(moments, chosen, correction, times, _root(moments.covariance))
        assert isinstance(data, Dataset)
        # Equal rows of a survey are not merged: each is a draw of its own.
        if not data.continuous and data.holes is None and data.unit == 1:
            data = data.merged()
        if data.rows < 2:
            raise DataError("all records are the same row; replicates need rows that differ")
        return cls(data, chosen, correction, times)

    def drawn(self, rng: np.random.Generator) -> Dataset | Moments:
        """Return one replicate."""
        if isinstance(self.data, Moments):
            assert self.root is not None
            return _wishart(self.data, self.root, self.times, rng)
        data, counts = self.data, _counts(self.data, self.draw, self.times, rng)
        kept = counts > 0
        unit = data.unit
        if self.draw == "bayesian" or self.times > 1:  # as many records as before
            total = data.rows if data.weights is None else int(data.weights.sum())
            unit *= total / int(counts.sum())
        once = data.weights is None and bool((counts[kept] == 1).all())
        return replace(
            data,
            values=np.ascontiguousarray(data.values[:, kept]),
            codes=np.ascontiguousarray(data.codes[:, kept]),
            weights=None if once else counts[kept],
            unit=unit,
            holes=None if data.holes is None else np.ascontiguousarray(data.holes[:, kept]),
        )


def edge_cost(pairs: int, edges: int) -> float:
    """Return the cost of an edge, 0 or more, under which this many pairs are expected adjacent."""
    return max(0.0, log((pairs - edges + 0.5) / (edges + 0.5)))


def permuted(data: Dataset | Moments, order: NDArray[np.intp]) -> Dataset | Moments:
    """Return the columns in another order: column i is ``order[i]`` of the table."""
    at = order.tolist()
    if isinstance(data, Moments):
        names = tuple(data.names[v] for v in at)
        covariance = np.ascontiguousarray(data.covariance[np.ix_(at, at)])
        rest = None if data.remainder is None else data.remainder[at]
        return replace(data, names=names, mean=data.mean[at], covariance=covariance, remainder=rest)
    return selected(data, at)


def _counts(data: Dataset, draw: Draw, times: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how often each row of a table counts in a replicate of ``times`` as many records.

    Usually records are drawn.  But survey weights say how many people a row represents, not how
    often it occurs: with these, rows are drawn and keep their weights.
    """
    weights, rows = data.weights, data.rows
    draws_rows = weights is None or data.unit != 1
    if draw == "bayesian":  # Dirichlet weights, in whole numbers
        occurrences = np.ones(rows) if weights is None or draws_rows else weights.astype(float)
        sizes, total = rng.standard_gamma(times * occurrences), int(occurrences.sum())
        if weights is not None and draws_rows:
            sizes *= weights
        unit = max(WEIGHT_UNIT / total, 64.0)
        counts: NDArray[np.int64] = np.rint(sizes * (unit * total / sizes.sum())).astype(np.int64)
        return counts
    if weights is None or draws_rows:
        if draw == "half":
            drawn = np.zeros(rows, np.int64)
            drawn[rng.permutation(rows)[: rows // 2]] = 1
        else:
            records = rng.integers(rows, size=times * rows)
            drawn = np.bincount(records, minlength=rows).astype(np.int64)
        return drawn if weights is None else drawn * weights
    total = int(weights.sum())
    if draw == "bootstrap":
        return rng.multinomial(times * total, weights / total).astype(np.int64)
    if total > MAX_WITHOUT_REPLACEMENT:
        return rng.binomial(weights, 0.5).astype(np.int64)
    half = rng.multivariate_hypergeometric(weights, total // 2, method="marginals")
    return half.astype(np.int64)


def _root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix whose product with its transpose is the covariance, singular or not."""
    deviation = np.sqrt(np.diagonal(covariance))
    scale = np.where(deviation > 0, deviation, 1.0)
    values, vectors = np.linalg.eigh(covariance / scale[:, None] / scale)
    root: NDArray[np.float64] = deviation[:, None] * (vectors * np.sqrt(np.maximum(values, 0.0)))
    return root


def _wishart(
    moments: Moments, root: NDArray[np.float64], times: int, rng: np.random.Generator
) -> Moments:
    """Return the moments of ``times`` as many normal records with the given moments.

    Their scatter matrix has a Wishart distribution with times · (m − 1) degrees of freedom, drawn
    by Bartlett's decomposition, or from records if there are fewer of them than columns.
    """
    n, freedom = len(root), times * (moments.records - 1)
    if freedom < n:
        factor = rng.standard_normal((n, freedom))
    else:
        factor = np.tril(rng.standard_normal((n, n)), -1)
        np.fill_diagonal(factor, np.sqrt(rng.chisquare(freedom - np.arange(n))))
    factor = root @ factor
    covariance = factor @ factor.T / (times * moments.records)
    return replace(moments, covariance=(covariance + covariance.T) / 2)
