"""The distinct values of an array, without sorting it where a look at it is enough.

Integers of a small range are counted.  Of floats, the leading values nearly always show that
there are many distinct ones; only an array that keeps repeating a few is read to its end.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LEADING = 256
"""How many leading values are looked at first."""

CHUNK = 1 << 16
"""How many values are looked at together afterwards: they stay in the cache."""

FEW = 64
"""Up to so many distinct floats are told apart by comparing with each, without a sort."""

COUNTED_RANGE = 1 << 16
"""Integers are counted if their range is no larger than this, or than their number."""


def distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return what ``np.unique`` returns for an array without NaN: the distinct values, sorted."""
    if not len(values):
        return values
    if values.dtype.kind == "b":
        return np.array([False, True])[[not values.all(), bool(values.any())]]
    if values.dtype.kind == "f":
        few = few_distinct_values(values, FEW)
        return np.unique(values) if few is None else few
    low, high = int(values.min()), int(values.max())
    if high - low > max(COUNTED_RANGE, len(values)):
        return np.unique(values)
    seen = np.zeros(high - low + 1, np.bool_)
    for start in range(0, len(values), CHUNK):
        seen[offsets(values[start : start + CHUNK], low)] = True
    found: NDArray[Any] = np.flatnonzero(seen).astype(values.dtype) + values.dtype.type(low)
    return found


def offsets(values: NDArray[Any], low: int) -> NDArray[Any]:
    """Return integers less the lowest of them; themselves if that is zero."""
    return values if low == 0 else values - values.dtype.type(low)


def few_distinct_values(values: NDArray[Any], limit: int) -> NDArray[Any] | None:
    """Return the distinct values, sorted, or None as soon as more than ``limit`` are seen."""
    known = np.unique(values[:LEADING])
    start = LEADING
    while len(known) <= limit and start < len(values):
        chunk = values[start : start + CHUNK]
        at = np.searchsorted(known, chunk)
        at[at == len(known)] = 0
        new = chunk[known[at] != chunk]
        if len(new):
            known = np.unique(np.concatenate([known, np.unique(new)]))
        start += CHUNK
    return known if len(known) <= limit else None


def ranks(values: NDArray[Any], distinct: NDArray[Any]) -> NDArray[Any]:
    """Return the place of each value among the distinct ones, which are sorted."""
    low, high = distinct[0], distinct[-1]
    if values.dtype.kind == "b":
        return values.view(np.uint8) if len(distinct) == 2 else np.zeros(len(values), np.uint8)
    small = np.min_scalar_type(len(distinct) - 1)
    span = int(high) - int(low) if values.dtype.kind in "iu" else len(values)
    if span > COUNTED_RANGE or values.dtype.kind == "f":
        return np.searchsorted(distinct, values).astype(small)
    shifted = offsets(values, int(low))
    if span == len(distinct) - 1:  # without gaps
        return shifted.astype(small, copy=False)
    place = np.zeros(span + 1, small)
    place[offsets(distinct, int(low))] = np.arange(len(distinct), dtype=small)
    placed: NDArray[Any] = place[shifted]
    return placed


def is_constant(values: NDArray[Any]) -> bool:
    """Tell whether all values of an array that is not empty are equal."""
    first = values[0]
    return bool((values[:LEADING] == first).all() and (values == first).all())


def has_finite_sum(values: NDArray[np.float64]) -> bool:
    """Tell in one pass that no value is NaN or infinite; False may also mean a sum too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum(axis=0)).all())
