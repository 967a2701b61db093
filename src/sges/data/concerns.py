"""What a search has to know about a table: few records, heavy tails, copies.

These findings change what an edge means, so ``learn`` notes their topics; ``sges.tools.inspect``
explains them, and makes all others.  Thresholds are such that tables of independent records with
ordinary columns give no serious finding.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.columns import few_distinct_values
from sges.data.dataset import MAX_ROWS_OF_LABELS, Dataset
from sges.data.moments import Moments
from sges.data.reading import Kind

Floats: TypeAlias = NDArray[np.float64]

MAX_SKEWNESS, MAX_KURTOSIS = 2.0, 7.0
"""Beyond these, tests that assume Gaussian data are unreliable (West, Finch & Curran 1995)."""

HEAVY_SKEWNESS, HEAVY_KURTOSIS = 4.0, 25.0
"""Beyond these, correlations depend on a few records."""

HEAVY_SHARE = 0.02
"""The least share of such columns that is serious: fewer cannot change most of a graph."""

FEW_VALUES = 10
"""The tails of columns with no more distinct values than this are not examined."""

MIN_PER_CELL = 5
"""Records per combination of levels that two discrete columns need."""

SERIOUSLY_FEW = 25
"""With fewer records than this, and than twice the columns, a fifth of the edges or more is false.

So it was by default on random linear graphs with 5 to 500 columns.
"""

MAX_PAIR_COLUMNS = 200
"""Pairs of columns are compared among this many, the first of their kind."""

MAX_CORRELATIONS = 400
"""Collinear columns are searched among this many numeric ones, the first."""

MIN_R2 = 0.99
"""A column is collinear if the others explain this share of its variance, adjusted for chance."""

MOST_LUCK = 5
"""Chance may make the unexplained share of a column this many times too small, but not more."""

RIDGE = 1e-10
"""Added to the variances, so that correlations of exact functions have an inverse."""

CHANCE = math.log(1e-6)
"""The log probability, over all pairs compared, below which a relation is not due to chance."""

GLANCE_ROWS = 1_000
"""The rows on which ``concerns`` compares columns, and the fewest whose tails it examines."""

GLANCE_VALUES = 1 << 21
"""It examines the tails of more rows if these have no more values than this in all."""

GLANCE_COLUMNS = 60
"""In wider tables it does not search for copies of discrete columns."""


def concerns(data: Dataset | Moments) -> tuple[str, ...]:
    """Return the topics of serious findings, from checks that take a few hundredths of a second."""
    topics = list(_concerns_of_rows(data) if isinstance(data, Dataset) else ())
    if isinstance(data, Moments):
        related = LinearRelations.of_covariance(data.names, data.covariance, data.records)
        topics += [related.topic] if related.close else []
    few = few_records(data.records, len(data.names))
    return (*topics, few[0]) if few is not None and few[1] else tuple(topics)


def _concerns_of_rows(data: Dataset) -> Iterator[str]:
    sample = without_holes(some_rows(data, GLANCE_ROWS))
    if data.n <= GLANCE_COLUMNS and copies(sample):
        yield "duplicated columns"
    if data.n <= MAX_CORRELATIONS and (related := LinearRelations.of(sample)).close:
        yield related.topic
    if far_from_gaussian(some_rows(data, max(GLANCE_ROWS, GLANCE_VALUES // data.n)))[1]:
        yield "skew and heavy tails"
    if data.rows <= GLANCE_ROWS or data.records_per_cell < MIN_PER_CELL:
        counts = level_counts_of(data)
        if crowded_columns(data, counts):
            yield "nearly a level per row"
        if sparse_columns(data, counts):
            yield "few rows per cell"


# Parts of a dataset


def take_rows(data: Dataset, rows: Any) -> Dataset:  # noqa: ANN401 (any index of an array)
    """Return some rows of a dataset."""
    weights = None if data.weights is None else data.weights[rows]
    holes = None if data.holes is None else data.holes[:, rows]
    # Copied, because checks go over the values many times, which takes longer with gaps.
    values, codes = (np.ascontiguousarray(part[:, rows]) for part in (data.values, data.codes))
    return replace(data, values=values, codes=codes, weights=weights, holes=holes)


def some_rows(data: Dataset, most: int) -> Dataset:
    """Return the rows of a dataset, or this many of them, chosen at random, in their order."""
    if data.rows <= most:
        return data
    chosen = np.random.default_rng(0).choice(data.rows, most, replace=False, shuffle=False)
    return take_rows(data, np.sort(chosen))


def without_holes(data: Dataset) -> Dataset:
    """Return the complete rows if they are at least half; else all, with means in the holes."""
    holes = data.holes
    if holes is None:
        return data
    complete = ~holes.any(axis=0)
    if 2 * complete.sum() >= data.rows:
        return replace(take_rows(data, complete), holes=None)
    mean = np.nanmean(data.values, axis=1, keepdims=True) if len(data.values) else data.values
    return replace(data, values=np.where(np.isnan(data.values), mean, data.values), holes=None)


def observed_values(data: Dataset, v: int) -> tuple[NDArray[Any], Floats | None]:
    """Return the observed values of a column, or the codes of its levels, and their weights."""
    kind = data.kinds[v]
    place = data.kinds[:v].count(kind)
    row: NDArray[Any] = (data.values if kind is Kind.CONTINUOUS else data.codes)[place]
    weights = None if data.weights is None else data.weights.astype(np.float64)
    if data.holes is None or not data.holes[v].any():
        return row, weights
    seen = ~data.holes[v]
    return row[seen], None if weights is None else weights[seen]


def level_counts(data: Dataset, v: int) -> Floats:
    """Return how many records have each level of a discrete column."""
    codes, weights = observed_values(data, v)
    counts = np.bincount(codes, weights, minlength=len(data.levels[v] or ())).astype(np.float64)
    counts *= data.unit
    return counts


# Few records


def few_records(records: int, columns: int) -> tuple[str, bool] | None:
    """Return the topic, and whether most edges may be false, if there are few records."""
    is_serious = records < SERIOUSLY_FEW and records < 2 * columns
    if records <= columns:
        return "fewer rows than columns", is_serious
    if records < 10 * columns and columns > 2:
        return "few rows per column", is_serious
    return ("few rows", is_serious) if records < 50 else None


def level_counts_of(data: Dataset) -> dict[int, Floats]:
    """Return the records of each level that occurs, of discrete columns that are not constant."""
    counts = {v: level_counts(data, v) for v in data.discrete}
    return {v: sizes[sizes > 0] for v, sizes in counts.items() if (sizes > 0).sum() > 1}


def crowded_columns(data: Dataset, counts: dict[int, Floats]) -> list[int]:
    """Return the discrete columns with fewer than two records per level."""
    if data.records <= MAX_ROWS_OF_LABELS:
        return []
    return [v for v, sizes in counts.items() if 2 * len(sizes) > data.records]


def sparse_columns(data: Dataset, counts: dict[int, Floats]) -> list[int]:
    """Return the columns with few records per cell of a table with any other discrete column."""
    if len(counts) < 2:
        return []
    least, second = sorted(map(len, counts.values()))[:2]
    arity = {v: len(sizes) for v, sizes in counts.items() if len(sizes) > 2}
    cells = {v: k * (second if k == least else least) for v, k in arity.items()}
    crowded = crowded_columns(data, counts)
    return [v for v, k in cells.items() if MIN_PER_CELL * k > data.records and v not in crowded]


# Heavy tails


def shape(values: Floats, weights: NDArray[Any] | None) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean, standard deviation, skewness and excess kurtosis along the last axis."""
    mean = np.average(values, axis=-1, weights=weights)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        z = values - mean[..., None]
        scale = np.maximum(z.max(axis=-1), -z.min(axis=-1))
        is_usable = np.isfinite(scale) & (scale > 0)
        z /= scale[..., None]
        squares = z * z
        weighted = squares if weights is None else squares * weights
        total = values.shape[-1] if weights is None else weights.sum()
        second = weighted.sum(axis=-1) / total
        third, fourth = (np.einsum("...i,...i", weighted, x) / total for x in (z, squares))
        statistics = scale * np.sqrt(second), third / second**1.5, fourth / second**2 - 3.0
    deviation, skewness, kurtosis = (np.where(is_usable, part, 0.0) for part in statistics)
    return mean, deviation, skewness, kurtosis


def far_from_gaussian(data: Dataset) -> tuple[dict[str, str], bool]:
    """Return columns that are skewed or have heavy tails, and whether enough are heavy."""
    found: dict[str, str] = {}
    heavy = 0
    for v, row in zip(data.continuous, data.values, strict=True):
        seen = slice(None) if data.holes is None else ~data.holes[v]
        values, weights = row[seen], None if data.weights is None else data.weights[seen]
        if len(values) < 20:
            continue
        skewness, kurtosis = map(float, shape(values, weights)[2:])
        is_skewed = abs(skewness) >= MAX_SKEWNESS
        if not (is_skewed or kurtosis >= MAX_KURTOSIS):
            continue
        if few_distinct_values(values, FEW_VALUES) is None:
            text = f"skewness {skewness:.1f}" if is_skewed else f"kurtosis {kurtosis:.1f}"
            found[data.names[v]] = text
            heavy += abs(skewness) >= HEAVY_SKEWNESS or kurtosis >= HEAVY_KURTOSIS
    return found, heavy > 0 and heavy >= HEAVY_SHARE * data.n


# Copies, exact or nearly so


def log_chance(counts: NDArray[Any]) -> float:
    """Return the log probability that rows in random order have the levels of another column."""
    logs = [math.lgamma(count + 1) for count in counts.tolist()]
    return sum(logs) - math.lgamma(counts.sum() + 1)


def copies(data: Dataset) -> list[list[str]]:
    """Return groups of discrete columns that are the same up to the names of their levels."""
    groups: dict[bytes, list[str]] = {}
    for v, codes in zip(data.discrete[:MAX_PAIR_COLUMNS], data.codes, strict=False):
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        chance = 2 * math.log(len(data.discrete)) + log_chance(np.bincount(inverse))
        if len(first) > 1 and chance <= CHANCE:  # levels are numbered as they first appear
            key = np.argsort(np.argsort(first)).astype(np.int32)[inverse].tobytes()
            groups.setdefault(key, []).append(data.names[v])
    return [group for group in groups.values() if len(group) > 1]


@dataclass(frozen=True, eq=False, slots=True)
class LinearRelations:
    """How much of each numeric column the others explain: continuous ones, and codes of levels."""

    names: list[str]
    correlations: Floats
    explained: Floats  # the share of the variance of each column, adjusted for chance
    records: int
    coded: frozenset[str] = frozenset()

    @classmethod
    def of(cls, data: Dataset) -> "LinearRelations":
        """Return the relations in a table without holes."""
        coded, codes = _numbers_of_levels(data)
        names = [*(data.names[v] for v in data.continuous), *coded]
        if not names:
            return cls.of_covariance(names, np.empty((0, 0)), data.records)
        with np.errstate(over="ignore", invalid="ignore"):
            deviations = np.concatenate([data.values, *codes])
            deviations -= np.average(deviations, axis=1, weights=data.weights)[:, None]
            weighted = deviations if data.weights is None else deviations * data.weights
            times = data.rows if data.weights is None else data.weights.sum()
            covariance = weighted @ deviations.T / times
        return cls.of_covariance(names, covariance, data.records, frozenset(coded))

    @classmethod
    def of_covariance(
        cls,
        names: Sequence[str],
        covariance: Floats,
        records: int,
        coded: frozenset[str] = frozenset(),
    ) -> "LinearRelations":
        """Return the relations of columns with this covariance, of none if fewer than two vary."""
        variance = np.diagonal(covariance)
        usable = np.flatnonzero(np.isfinite(variance) & (variance > 0))[:MAX_CORRELATIONS]
        if len(usable) < 2 or not np.isfinite(covariance[np.ix_(usable, usable)]).all():
            return cls([], np.empty((0, 0)), np.empty(0), records)
        deviation = np.sqrt(variance[usable])
        matrix = covariance[np.ix_(usable, usable)] / deviation[:, None] / deviation
        explained = _explained_shares(matrix, records)
        return cls([names[v] for v in usable], matrix, explained, records, coded)

    @property
    def close(self) -> list[int]:
        """The columns that are nearly linear functions of the others."""
        return np.flatnonzero(self.explained >= MIN_R2).tolist()

    @property
    def is_coded(self) -> bool:
        """Whether these columns are all discrete."""
        return self.coded >= {self.names[v] for v in self.close}

    @property
    def is_exact(self) -> bool:
        """Whether they are exactly linear functions, which codes of levels never are called."""
        return not self.is_coded and bool(self.explained[self.close].min() > 1 - 1e-9)

    @property
    def topic(self) -> str:
        """The topic of the finding that there are such columns."""
        return "nearly determined columns" if self.is_coded else "collinear columns"


def _numbers_of_levels(data: Dataset) -> tuple[list[str], list[Floats]]:
    """Return the discrete columns with two levels, or numbers as levels, as numbers."""
    names, rows = [], []
    for codes, v in zip(data.codes, data.discrete, strict=True):
        levels = data.levels[v] or ()
        is_number = all(isinstance(level, int | float) for level in levels)
        if len(levels) == 2 or is_number:
            scale = np.array(levels if is_number else range(len(levels)), np.float64)
            rows.append(scale[codes][None, :])
            names.append(data.names[v])
    return names, rows


def _explained_shares(matrix: Floats, records: float) -> Floats:
    """Return the share of each column that the others explain, adjusted for chance."""
    p = len(matrix)
    left: Floats = 1.0 - (np.abs(matrix) - np.eye(p)).max(axis=1) ** 2
    left *= (records - 1) / _freedom(records - 2, p * p)
    if records > p + 1:
        inverse = np.linalg.inv(matrix + RIDGE * np.eye(p))
        given_all = 1.0 / np.maximum(np.diagonal(inverse), 1.0)
        left = np.minimum(left, given_all * (records - 1) / _freedom(records - p, p))
    return 1.0 - left


def _freedom(degrees: float, count: int) -> float:
    """Return the degrees of freedom, or less if they are so few that chance has large effects."""
    # A mean of k squares of Gaussian numbers is below u with a probability of at most
    # (e u)^(k/2) (Chernoff), so that none of ``count`` of them is likely to be below ``least``.
    degrees = max(degrees, 1.0)
    least = math.exp(2 / degrees * math.log(1e-3 / count) - 1)
    return degrees * min(1.0, MOST_LUCK * least)
