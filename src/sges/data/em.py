r"""Missing values: means and covariances of the observed values by EM.

All of it assumes that values are *missing at random* (MAR): whether a value is missing may depend
on values that are observed in the same row, but not on the missing value itself once these are
known.

**EM of the saturated Gaussian model.**
The observed values of each row are treated as a draw from one Gaussian over all columns, with the
missing ones integrated out.  With Σ the current covariance, K its inverse, and M the missing
columns of a row, the E step fills them in by

    E[z_M | z_O] = −K_MM⁻¹ (K z⁰)_M        cov[z_M | z_O] = K_MM⁻¹

where z⁰ is the centered row with zeros for its missing values; so a row costs the inverse of a
matrix of the size of its holes, not of its values.  Rows with the same holes share it, and the rows
without holes are summed up once.  The M step takes the mean and covariance of the filled rows plus
the conditional covariances.  The log-likelihood of the observed values never falls (Dempster, Laird
& Rubin 1977); it is computed with det Σ_OO = det Σ · det K_MM.

Iterations end when no mean and no covariance has moved by more than ``TOLERANCE``, or after
``MAX_ITERATIONS``.  Both are measured in coordinates in which the columns are uncorrelated with
unit variance: in the units of the columns, the small residuals of nearly collinear ones would not
count.

The likelihood has no maximum if columns are collinear, or if there are at least as many columns as
rows.  For such a table a prior is added that counts as one record of uncorrelated columns,
Σ = (S + D) / (m + 1) with D their observed variances, which keeps everything finite; other tables
have no prior.  If two columns are never observed together, the data do not determine their
covariance: it starts at zero, then follows from the other columns, and ``warn_of_limits`` names
the pair.

The holes of discrete tables are filled in from the same model of their indicators
(``sges.data.completion``).

References
----------
Dempster, Laird & Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
Journal of the Royal Statistical Society B 39, 1-38.
Little & Rubin (2019), Statistical Analysis with Missing Data, 3rd edition, section 11.2.  Wiley.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, pi
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.errors import DataError, DataWarning, warn_user

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

TOLERANCE = 1e-5
"""EM ends when nothing moves by more than this, in coordinates with unit covariance."""

MAX_ITERATIONS = 500
"""The most iterations of EM."""

PRIOR_RECORDS = 1.0
"""The weight, in records, of the prior for tables whose likelihood has no maximum.

For more than 1e8 records it is their number times ``SMALLEST_EIGENVALUE``; less would be lost in
rounding.
"""

SMALLEST_EIGENVALUE = 1e-8
"""A correlation matrix with a smaller eigenvalue than this counts as singular."""

MAX_COLUMNS = 5_000
"""The most columns whose covariance EM estimates."""

CHUNK_CELLS = 1 << 22
"""The number of values that are filled in at a time."""


@dataclass(frozen=True, eq=False, slots=True)
class Estimate:
    """The mean and covariance estimated by EM.

    ``log_likelihoods`` has that of the observed values before each iteration, with the prior's
    log-density if there is one; ``settled`` says whether EM ended before the limit of iterations.
    """

    mean: Floats
    covariance: Floats
    log_likelihoods: tuple[float, ...]
    settled: bool
    has_prior: bool


def estimate(values: Floats, weights: NDArray[Any] | None = None, unit: float = 1.0) -> Estimate:
    """Return the maximum-likelihood mean and covariance of columns (columns x rows) with NaN holes.

    A weight of one stands for ``unit`` records.  Columns without variance have a covariance of zero
    with all others.  The tests compare it with tests/naive_data.py, which inverts the covariance of
    the observed columns, row by row.
    """
    if len(values) > MAX_COLUMNS:
        raise DataError(
            f"{len(values):,} columns are too many for EM, which allows at most {MAX_COLUMNS:,}; "
            "leave columns out, merge levels, or drop the rows with missing values"
        )
    times = np.ones(values.shape[1]) if weights is None else weights * unit
    seen = ~np.isnan(values)
    shift, scale = _spread(values, seen, times)
    varied = np.flatnonzero(scale > 0)
    rows = np.flatnonzero(seen[varied].any(axis=0))
    standard = (values[np.ix_(varied, rows)] - shift[varied, None]) / scale[varied, None]
    table = _Table.of(standard, times[rows])
    fitted = None
    if len(varied) < table.records:
        fitted = _iterate(table, prior=0.0)
    if fitted is None:
        fitted = _iterate(table, max(PRIOR_RECORDS, SMALLEST_EIGENVALUE * table.records))
        assert fitted is not None
    mean, covariance = shift.copy(), np.zeros((len(values), len(values)))
    mean[varied] += fitted.mean * scale[varied]
    covariance[np.ix_(varied, varied)] = fitted.covariance * scale[varied, None] * scale[varied]
    # The likelihood of the values themselves, not of the standardized ones.
    unit = float((seen[np.ix_(varied, rows)] @ times[rows]) @ np.log(scale[varied]))
    likelihoods = tuple(likelihood - unit for likelihood in fitted.log_likelihoods)
    return Estimate(mean, covariance, likelihoods, fitted.settled, fitted.has_prior)


def warn_of_limits(found: Estimate, names: Sequence[str], seen: Mask) -> None:
    """Warn if the likelihood of a table has no unique maximum, or if EM did not reach it."""
    together = seen.astype(np.float64) @ seen.T.astype(np.float64)
    for first, second in np.argwhere(np.triu(together == 0, 1))[:1].tolist():
        warn(
            f"no row has both {names[first]!r} and {names[second]!r}: the data contain no "
            "information about an edge between them; the result depends on the other columns",
        )
    if found.has_prior:
        warn(
            "columns are collinear, or at least as many as the rows, so EM has no unique solution; "
            "a prior worth one record keeps it finite, but edges among such columns are unreliable",
        )
    elif not found.settled:
        warn(f"EM was stopped after {MAX_ITERATIONS} iterations before convergence")


def warn(message: str) -> None:
    """Warn about a table with missing values."""
    warn_user(message, DataWarning)


def too_few_pairs(records: int) -> DataError:
    """Return the error for a table in which hardly any two columns are observed together."""
    return DataError(
        f"two columns are observed together in {records} row{'' if records == 1 else 's'} on "
        "average, but covariances need at least two; leave out columns with many missing values"
    )


def _spread(values: Floats, seen: Mask, times: Floats) -> tuple[Floats, Floats]:
    """Return the mean and deviation of the observed values; zeros for a column without any."""
    counts = np.maximum(seen @ times, np.finfo(np.float64).tiny)
    first = np.where(seen.any(axis=1), values[np.arange(len(values)), seen.argmax(axis=1)], 0.0)
    # Shifted by one of the values first: a mean of 1e9 would swallow a spread of 1e-3.
    centered = np.where(seen, values - first[:, None], 0.0)
    mean = centered @ times / counts
    deviation = np.sqrt(np.where(seen, centered - mean[:, None], 0.0) ** 2 @ times / counts)
    reach = np.abs(centered).max(axis=1)
    return first + mean, np.where(deviation > 1e-12 * reach, deviation, 0.0)


@dataclass(frozen=True, eq=False, slots=True)
class _Group:
    """The rows with k holes each: their values with zeros for holes, and their patterns."""

    values: Floats  # rows x columns
    times: Floats
    pattern: NDArray[np.intp]  # of each row
    holes: NDArray[np.intp]  # patterns x k
    records: Floats  # of each pattern


@dataclass(frozen=True, eq=False, slots=True)
class _Table:
    """The standardized rows: those without holes as sums, the others by number of holes."""

    n: int
    records: float
    seen_cells: float
    complete: float
    total: Floats
    products: Floats
    groups: tuple[_Group, ...]

    @classmethod
    def of(cls, standard: Floats, times: Floats) -> "_Table":
        holes = np.isnan(standard)
        whole = ~holes.any(axis=0)
        rows = standard[:, whole]
        weighted = rows * times[whole]
        return cls(
            len(standard),
            float(times.sum()),
            float((~holes).sum(axis=0) @ times),
            float(times[whole].sum()),
            weighted.sum(axis=1),
            weighted @ rows.T,
            tuple(_groups(standard[:, ~whole], times[~whole], holes[:, ~whole])),
        )


def _groups(standard: Floats, times: Floats, holes: Mask) -> Iterator[_Group]:
    if not holes.shape[1]:
        return
    patterns, pattern = np.unique(holes.T, axis=0, return_inverse=True)
    pattern = pattern.ravel()
    counts = patterns.sum(axis=1)
    filled = np.where(holes, 0.0, standard).T
    for count in np.unique(counts).tolist():
        chosen = np.flatnonzero(counts == count)
        place = np.full(len(patterns), -1)
        place[chosen] = np.arange(len(chosen))
        in_group = place[pattern] >= 0
        at = place[pattern[in_group]]
        places = np.nonzero(patterns[chosen])[1].reshape(len(chosen), count)
        records = np.bincount(at, times[in_group], len(chosen)).astype(np.float64)
        yield _Group(np.ascontiguousarray(filled[in_group]), times[in_group], at, places, records)


def _iterate(table: _Table, prior: float) -> Estimate | None:
    """Return the estimate of EM; None if the covariance becomes singular without a prior."""
    n = table.n
    mean, covariance = np.zeros(n), np.eye(n)
    likelihoods: list[float] = []
    settled = not n
    while not settled and len(likelihoods) < MAX_ITERATIONS:
        if not prior and _is_singular(covariance):
            return None
        total, products, likelihood = _expected(table, mean, covariance)
        if prior:
            log_determinant, inverse = np.linalg.slogdet(covariance)[1], np.linalg.inv(covariance)
            likelihood -= float(prior / 2 * (log_determinant + inverse.trace()))
        likelihoods.append(likelihood)
        step = total / table.records
        updated = products / table.records - np.outer(step, step)
        updated = (table.records * updated + prior * np.eye(n)) / (table.records + prior)
        whiten = np.linalg.inv(np.linalg.cholesky(covariance))
        change = whiten @ np.column_stack([step, (updated - covariance) @ whiten.T])
        moved = float(np.abs(change).max())
        mean, covariance = mean + step, (updated + updated.T) / 2
        settled = moved < TOLERANCE
    if not prior and _is_singular(covariance):
        return None
    return Estimate(mean, covariance, tuple(likelihoods), settled, prior > 0)


def _is_singular(covariance: Floats) -> bool:
    deviation = np.sqrt(np.diagonal(covariance))
    if not (deviation > SMALLEST_EIGENVALUE).all():
        return bool(len(deviation))
    correlation = covariance / deviation[:, None] / deviation
    try:
        np.linalg.cholesky(correlation - SMALLEST_EIGENVALUE * np.eye(len(correlation)))
    except np.linalg.LinAlgError:
        return True
    return False


def _expected(table: _Table, mean: Floats, covariance: Floats) -> tuple[Floats, Floats, float]:
    """Return the E step: the expected sums and products of the rows around the mean."""
    precision = np.linalg.inv(covariance)
    precision = (precision + precision.T) / 2
    determinant = float(np.linalg.slogdet(covariance)[1])
    total = table.total - table.complete * mean
    products = table.products - np.outer(table.total, mean) - np.outer(mean, table.total)
    products += table.complete * np.outer(mean, mean)
    fit = float((precision * products).sum()) + table.records * determinant
    for group in table.groups:
        filled, more, sums = _filled(group, mean, precision)
        total = total + group.times @ filled
        products = products + (filled * group.times[:, None]).T @ filled + sums
        fit += more
    return total, products, -0.5 * (fit + table.seen_cells * log(2 * pi))


def _filled(group: _Group, mean: Floats, precision: Floats) -> tuple[Floats, float, Floats]:
    """Return centered rows with filled holes, −2 log-likelihood, and conditional covariances."""
    n, holes = len(mean), group.holes
    conditional = np.linalg.inv(precision[holes[:, :, None], holes[:, None, :]])
    fit = -float(np.linalg.slogdet(conditional)[1] @ group.records)
    filled = group.values - mean
    k = holes.shape[1]
    size = max(1, CHUNK_CELLS // (k * k + n))
    for start in range(0, len(filled), size):
        rows = slice(start, start + size)
        pattern, part = group.pattern[rows], filled[rows]
        at = holes[pattern]
        np.put_along_axis(part, at, 0.0, axis=1)
        weighed = part @ precision
        missing = np.take_along_axis(weighed, at, axis=1)
        guess = -np.einsum("rij,rj->ri", conditional[pattern], missing)
        squares = (part * weighed).sum(axis=1) + (guess * missing).sum(axis=1)
        fit += float(squares @ group.times[rows])
        np.put_along_axis(part, at, guess, axis=1)
    places = holes[:, :, None] * n + holes[:, None, :]
    amounts = conditional * group.records[:, None, None]
    sums = np.bincount(places.ravel(), amounts.ravel(), n * n).astype(np.float64).reshape(n, n)
    return filled, fit, sums
