"""Drawing replicates of a table, such that the strength of an edge is about its chance to be true.

    bootstrap   records drawn with replacement
    bayesian    random weights of the records (Rubin 1981)
    wishart     a random covariance matrix, drawn from the moments alone
    half        half of the records, drawn without replacement

The table has sampling noise already, and drawing adds more, with v times its variance.  In a plain
bootstrap v is 1, and replicates have many false edges (docs/how-to/confidence.md).  With the edge
prior, the first three ways draw with v = 1/3 (``NOISE``), and the prior expects as many edges as
the estimate has (``edge_cost``).  This is also about the noise with which strengths are calibrated.
Let L be twice the logarithm of the likelihood ratio of an edge in the table, and t what the score
asks for.  The chance that the edge is true rises from one quarter to three quarters while L − t
rises from −2.2 to 2.2; the strength, which is about Φ((√L − √t) / √v), does so at the usual t of 8
to 14 if v is between 1/3 and 1/5.  The calibration is measured: ``studies/results/confidence.md``.

A number as penalty has no such prior.  A replicate is then drawn with v = 1 and searched with twice
the penalty: this compares the same numbers as m/2 records with one penalty, where false edges are
as rare as in a table.  Half of the records is a smaller sample, whose noise is its own.

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

Ints: TypeAlias = NDArray[np.int64]

Draw: TypeAlias = Literal["half", "bootstrap", "bayesian", "wishart"]
"""A way to draw replicates."""

DRAWS: tuple[Draw, ...] = get_args(Draw)

NOISE = 3
"""With the edge prior, a replicate varies like a sample of this many times the records."""

CORRECTION = 2.0
"""The factor on the penalty of a BIC without the edge prior, for draws with full noise."""

MAX_WITHOUT_REPLACEMENT = 10**9 - 1
"""The most weighted records from which NumPy draws without replacement."""

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
        chosen: Draw = _usual_draw(data, penalized, prior) if draw == "auto" else draw  # type: ignore[assignment]
        if problem := _problem(data, chosen, penalized or prior, gaussian):
            raise InvalidArgument(Message(Argument("draw"), f" = {chosen!r}", *problem))
        least, correction, times = 2, CORRECTION, 1
        if prior:
            correction, times = 1.0, NOISE
        if chosen == "half":
            least, correction, times = 4, 1.0, 1
        if data.records < least:
            raise DataError(
                f"draw = {chosen!r} needs at least {least} records, but the table has "
                f"{data.records}"
            )
        if chosen == "wishart":
            moments = data if isinstance(data, Moments) else Moments.of(data)
            return cls(moments, chosen, correction, times, _root(moments.covariance))
        return cls(_to_draw_from(data), chosen, correction, times)

    def drawn(self, rng: np.random.Generator) -> Dataset | Moments:
        """Return one replicate."""
        data = self.data
        if isinstance(data, Moments):
            assert self.root is not None
            return _wishart(data, self.root, self.times, rng)
        counts = _counts(data, self.draw, self.times, rng)
        drawn = taken(data, counts)
        if self.draw == "bayesian" or self.times > 1:  # as many records as before
            total = data.rows if data.weights is None else int(data.weights.sum())
            drawn = replace(drawn, unit=data.unit * (total / int(counts.sum())))
        return drawn


def _usual_draw(data: Dataset | Moments, penalized: bool, prior: bool) -> Draw:
    """Return the way to draw that "auto" stands for."""
    if penalized and isinstance(data, Moments):
        return "wishart"
    if penalized and isinstance(data, Dataset) and not data.discrete:
        return "bayesian"
    return "bootstrap" if prior else "half"


def _problem(
    data: Dataset | Moments, draw: str, corrected: bool, gaussian: bool
) -> tuple[str | Argument, ...] | None:
    """Return why a score cannot be searched on such replicates, or None if it can."""
    is_table, half = isinstance(data, Dataset), Argument("draw", "half")
    if draw == "wishart" and not gaussian:
        why = " draws covariance matrices, but this score needs more of the table; use "
        return why, half if is_table else Argument("score", "bic")
    if draw != "wishart" and not is_table:
        advice = "use draw='wishart'" if gaussian else "give the table itself"
        return " draws records, but Moments contain none; ", advice
    if draw in ("bootstrap", "bayesian") and not corrected:
        why = " needs a BIC, whose penalty can be corrected, or "
        return why, Argument("penalty", "auto"), "; use ", half
    return None


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


def _to_draw_from(data: Dataset | Moments) -> Dataset:
    """Return a table whose rows are drawn: equal ones are merged, but for those of a survey."""
    assert isinstance(data, Dataset)
    if not data.continuous and data.holes is None and data.unit == 1:
        data = data.merged()
    if data.rows < 2:
        raise DataError("all records are the same row; replicates need rows that differ")
    return data


def taken(data: Dataset, counts: Ints) -> Dataset:
    """Return the part of a table that has this many records of each row."""
    kept = counts > 0
    once = data.weights is None and bool((counts[kept] == 1).all())
    return replace(
        data,
        values=np.ascontiguousarray(data.values[:, kept]),
        codes=np.ascontiguousarray(data.codes[:, kept]),
        weights=None if once else counts[kept],
        holes=None if data.holes is None else np.ascontiguousarray(data.holes[:, kept]),
    )


def subsample(weights: Ints | None, rows: int, size: int, rng: np.random.Generator) -> Ints:
    """Return how many of ``size`` records drawn without replacement are of each row."""
    if weights is None:
        return np.bincount(rng.permutation(rows)[:size], minlength=rows)
    drawn = rng.multivariate_hypergeometric(weights, size, method="marginals")
    return drawn.astype(np.int64)


def _counts(data: Dataset, draw: Draw, times: int, rng: np.random.Generator) -> Ints:
    """Return how often each row of a table counts in a replicate of ``times`` as many records."""
    # Survey weights say how many people a row represents, not how often it occurs: rows are drawn.
    weights = None if data.unit != 1 else data.weights
    if draw == "bayesian":
        return _dirichlet(data, weights, times, rng)
    drawn = _drawn(weights, data.rows, draw, times, rng)
    return drawn if data.unit == 1 or data.weights is None else drawn * data.weights


def _drawn(
    weights: Ints | None, rows: int, draw: Draw, times: int, rng: np.random.Generator
) -> Ints:
    """Return how often each row is drawn as a half, or in a bootstrap sample."""
    total = rows if weights is None else int(weights.sum())
    if draw == "half":
        if total > MAX_WITHOUT_REPLACEMENT and weights is not None:
            return rng.binomial(weights, 0.5).astype(np.int64)
        return subsample(weights, rows, total // 2, rng)
    if weights is None:
        return np.bincount(rng.integers(rows, size=times * rows), minlength=rows)
    return rng.multinomial(times * total, weights / total).astype(np.int64)


def _dirichlet(data: Dataset, weights: Ints | None, times: int, rng: np.random.Generator) -> Ints:
    """Return random weights of the rows, in whole numbers."""
    occurrences = np.ones(data.rows) if weights is None else weights.astype(float)
    sizes, total = rng.standard_gamma(times * occurrences), int(occurrences.sum())
    if weights is None and data.weights is not None:
        sizes *= data.weights
    unit = max(WEIGHT_UNIT / total, 64.0)
    whole: Ints = np.rint(sizes * (unit * total / sizes.sum())).astype(np.int64)
    return whole


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
