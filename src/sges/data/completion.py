r"""Discrete tables with missing values: every row with holes becomes weighted complete rows.

The saturated model of discrete columns has a parameter for each cell, far too many.  So the holes
are filled in from the Gaussian of their indicators, whose mean and covariance EM estimates
(``sges.data.em``, with its assumption that values are missing at random).  The holes of a row are
filled in one after the other.  The conditional means of the indicators, given the observed levels
of the row and those filled in before, are the probabilities of the levels (negative ones count as
zero), and the row is divided among its levels in these proportions:

    p(z_M | z_O) = Π_j p(z_j | z_O, z_1, ..., z_{j-1})

This is exact, without drawing, as long as a row has no more than some number of possible
completions, the limit.  Beyond it, the row is divided into as many equal parts as the limit, and
these are distributed over the levels by systematic sampling: at random, but so that each level
receives its expected number of parts, rounded up or down.  Every count is then an average over all
completions.  With two columns of which one has holes, the counts are those of maximum likelihood,
and nearly so if both have holes.

The result is a function of the records: it depends neither on the order of the rows nor on that of
the columns, nor on their names.  Before anything is computed, the columns are put into an order
that depends on their contents alone, then the rows are sorted and equal ones merged, and random
numbers are drawn in this order.

Structural EM (Friedman 1997), which fills in from a network found in the completed table and
searches again, did not come clearly closer to the truth when it was measured
(studies/results/missing.md); it would need a search inside the score.

References
----------
Friedman (1997), Learning belief networks in the presence of missing values and hidden variables.
International Conference on Machine Learning.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data.dataset import Dataset, merge_rows
from sges.data.em import CHUNK_CELLS, Floats, Mask, estimate, too_few_pairs, warn_of_limits

Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
Ints: TypeAlias = NDArray[np.int64]

COMPLETED_ROWS = 1 << 16
"""About how many completions there are at most, ``MIN_COMPLETIONS`` per row aside."""

MIN_COMPLETIONS, MAX_COMPLETIONS = 10, 1_000
"""The bounds of the limit, the number of completions of a row up to which all are enumerated."""

WEIGHT_UNIT = 1 << 20
"""The weights of the completed rows add up to at least about this, or to 64 per row."""


def completed(dataset: Dataset) -> Dataset:
    """Return a discrete dataset in which rows with holes are divided among their completions.

    Rows are sorted and merged.  A weight of one stands for fewer records accordingly; the number of
    records is the effective one.  A dataset without holes is returned as it is.  The tests compare
    it with tests/naive_data.py, which enumerates the completions row by row.
    """
    if dataset.holes is None:
        return dataset
    if dataset.records < 2:
        raise too_few_pairs(dataset.records)
    order, codes, weights, levels = _sorted(dataset)
    names = [dataset.names[v] for v in order]
    scale = max(1, max(WEIGHT_UNIT, 64 * len(weights)) // int(weights.sum()))
    partial = (codes == [[len(own)] for own in levels]).any(axis=0)
    parts = [(codes[:, ~partial], weights[~partial] * scale)]
    parts += _completions(codes, weights, levels, scale, dataset.unit, names)
    arities = [max(len(own), 1) for own in levels]
    full, times = merge_rows(
        np.concatenate([rows for rows, _ in parts], axis=1),
        arities,
        np.concatenate([share for _, share in parts]),
    )
    named = np.zeros_like(dataset.codes, shape=full.shape)
    for v, row, own in zip(order, full, levels, strict=True):
        if len(own):
            named[v] = own[row]
    return replace(
        dataset,
        values=np.empty((0, len(times))),
        codes=named,
        weights=times,
        unit=dataset.records / int(times.sum()),
        holes=None,
    )


def _sorted(dataset: Dataset) -> tuple[list[int], Codes, Ints, list[Codes]]:
    """Return the columns and rows in the order of their contents, with equal rows merged."""
    assert dataset.holes is not None
    weights = np.ones(dataset.rows, np.int64) if dataset.weights is None else dataset.weights
    levels = [np.unique(row[~hole]) for row, hole in zip(dataset.codes, dataset.holes, strict=True)]
    kind = np.min_scalar_type(max(map(len, levels)))
    codes = np.empty(dataset.codes.shape, kind)
    for v, own in enumerate(levels):
        codes[v] = np.where(dataset.holes[v], len(own), np.searchsorted(own, dataset.codes[v]))
    hashes = _hashes(codes, weights)
    places = range(dataset.n)
    order = sorted(places, key=lambda v: (len(levels[v]), hashes[v], dataset.names[v]))
    levels = [levels[v] for v in order]
    rows, times = merge_rows(codes[order], [len(own) + 1 for own in levels], weights)
    return order, rows, times, levels


def _hashes(codes: Codes, weights: Ints) -> list[int]:
    """Return a number per column that any order of rows and columns leaves as it is.

    A row is described by the values of its columns, a column by those of its rows, in turn; with
    sums, which do not depend on the order.
    """
    columns = np.zeros(len(codes), np.uint64)
    times = weights.astype(np.uint64)
    for _ in range(3):
        rows = np.zeros(len(times), np.uint64)
        for row, column in zip(codes, columns, strict=True):
            rows += _mixed(row + column)
        columns = np.array([times @ _mixed(row + _mixed(rows)) for row in codes], np.uint64)
    return [int(column) for column in columns]


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64-bit numbers in which all bits depend on all bits of those given (SplitMix64)."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


def _completions(
    codes: Codes, weights: Ints, levels: list[Codes], scale: int, unit: float, names: list[str]
) -> Iterator[tuple[Codes, Ints]]:
    """Yield the completions of the rows with holes, and their weights."""
    widths = np.array([max(len(own) - 1, 0) for own in levels])  # indicators of all but one level
    holes: Mask = codes == np.array([[len(own)] for own in levels])
    columns = np.concatenate(
        [row == np.arange(width)[:, None] for row, width in zip(codes, widths, strict=True)]
    ).astype(np.float64)
    columns[np.repeat(holes, widths, axis=0)] = np.nan
    model = estimate(columns, weights, unit)
    warn_of_limits(model, names, ~holes)
    precision = np.linalg.inv(model.covariance).astype(np.float64, copy=False)
    rows = np.flatnonzero(holes.any(axis=0))
    limit = min(max(MIN_COMPLETIONS, COMPLETED_ROWS // max(len(rows), 1)), MAX_COMPLETIONS)
    rng = np.random.default_rng(0)
    distinct, kind = np.unique(widths, return_inverse=True)
    counts = np.array([holes[kind == k][:, rows].sum(axis=0) for k in range(len(distinct))])
    for group in np.unique(counts, axis=1).T:
        own = np.repeat(distinct, group)
        cells = int(own.sum() * own.max())
        most = min(limit, max(MIN_COMPLETIONS, CHUNK_CELLS // max(cells, 1)))
        size = max(1, CHUNK_CELLS // (most * (len(codes) + cells)))
        members = rows[(counts == group[:, None]).all(axis=0)]
        for start in range(0, len(members), size):
            some = members[start : start + size]
            row, filled, mass = _filled(
                codes[:, some], np.nonzero(holes[:, some].T)[1].reshape(len(some), len(own)), own,
                columns[:, some].T - model.mean, model.mean, precision, most, rng,
            )  # fmt: skip
            times = _parts(mass, row, weights[some] * scale, rng).astype(np.int64)
            yield filled[:, times > 0], times[times > 0]


def _filled(
    codes: Codes,
    places: NDArray[np.intp],
    widths: Ints,
    centered: Floats,
    mean: Floats,
    precision: Floats,
    limit: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], Codes, Floats]:
    """Return the completions of rows: the row of each, its codes, and its share of the row."""
    gone = np.isnan(centered)
    patterns, pattern = np.unique(gone, axis=0, return_inverse=True)
    pattern = pattern.ravel()
    missing = np.nonzero(patterns)[1].reshape(len(patterns), widths.sum())
    weighed = np.where(gone, 0.0, centered) @ precision
    weighed = np.take_along_axis(weighed, missing[pattern], axis=1)
    row, mass = np.arange(len(places)), np.ones(len(places))
    for j, width in enumerate(widths.tolist()):
        own, rest = missing[:, :width], missing[:, width:]
        # The formula of the E step, for the first of the holes that are left.
        slopes = np.linalg.inv(precision[missing[:, :, None], missing[:, None, :]])[:, :width]
        guess = mean[own][pattern] - np.einsum("pij,pj->pi", slopes[pattern], weighed)
        chances = np.maximum(np.column_stack([guess, 1 - guess.sum(axis=1)]), 0.0)
        chances *= (mass / chances.sum(axis=1))[:, None]
        if prod((widths[: j + 1] + 1).tolist()) > limit:
            every = np.repeat(row, width + 1)
            equal = _parts(chances.ravel(), every, np.full(len(places), limit), rng) / limit
            chances = equal.reshape(chances.shape)
        child, level = np.nonzero(chances)
        row, mass, codes = row[child], chances[child, level], codes[:, child]
        pattern = pattern[child]
        codes[places[row, j], np.arange(len(child))] = level
        known = (level[:, None] == np.arange(width)) - mean[own][pattern]
        steps = precision[rest[:, :, None], own[:, None, :]]
        weighed = weighed[child, width:] + np.einsum("pij,pj->pi", steps[pattern], known)
        missing = rest
    return row, codes, mass


def _parts(shares: Floats, row: NDArray[np.intp], parts: Ints, rng: np.random.Generator) -> Floats:
    """Return how many of the parts of its row each completion gets, by systematic sampling."""
    start = rng.random(len(parts))[row]
    upto = np.cumsum(shares * parts[row])
    before = np.concatenate([[0.0], upto[:-1]])
    found: Floats = np.floor(upto + start) - np.floor(before + start)
    return found
