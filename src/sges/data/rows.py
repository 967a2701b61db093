"""Identical rows, merged by weight."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_KEYS = 2**62
"""Keys stay below this, so that they fit into 64 bits with a sign."""


def merge_rows(
    codes: NDArray[np.unsignedinteger],
    arities: Sequence[int],
    weights: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
    """Return the distinct rows of ``codes`` (columns x rows), sorted, and their weights.

    Slow twin: tests/naive_data.py counts the rows in a dictionary.
    """
    keys = _row_keys(codes, arities)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if weights is None:
        merged = np.bincount(group, minlength=len(first)).astype(np.int64)
    else:
        merged = np.zeros(len(first), np.int64)
        np.add.at(merged, group, weights)
    return np.ascontiguousarray(codes[:, first]), merged


def smallest_unsigned(largest: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest unsigned type that holds the numbers 0 to ``largest``."""
    return next(
        np.dtype(kind)
        for kind in (np.uint8, np.uint16, np.uint32, np.uint64)
        if largest <= np.iinfo(kind).max
    )


def _row_keys(codes: NDArray[np.unsignedinteger], arities: Sequence[int]) -> NDArray[np.int64]:
    """Return one number per row, equal for equal rows and in the order of the rows.

    The number is the row read in mixed radix; where it would outgrow 64 bits the keys so far
    are replaced by their ranks, of which there are no more than rows.
    """
    keys = np.zeros(codes.shape[1], np.int64)
    size = 1
    for column, arity in zip(codes, arities, strict=True):
        if size * arity > _KEYS:
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        keys = keys * arity + column.astype(np.int64)
        size *= arity
    return keys
