"""Coordinates: where in its layer each place stands.

Places keep their order and their distance; within that, edges are made as straight as possible:
the sum of |x - x'| over all pieces of edges is least, long edges counting more so that their
middle parts stand upright (Gansner et al. 1993).  That is a linear program.  Of its many best
solutions one is taken in which nodes are centred over their neighbours, by moving each towards
the mean of its neighbours as far as that costs nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.plot.ordering import Ladder, Place

Floats: TypeAlias = NDArray[np.float64]
Spacing: TypeAlias = tuple[int, int, float]
"""Two neighbouring columns of the program and how far apart they must be."""
Piece: TypeAlias = tuple[int, int, float]
"""The two ends of a piece of an edge, and its weight."""

CENTRING = 12


def across(
    rungs: Ladder, rows: Sequence[Sequence[Place]], width: Callable[[Place], float], gap: float
) -> dict[Place, float]:
    """Return the x of each place; boxes of one layer are at least ``gap`` apart."""
    nodes_first = sorted(place for row in rows for place in row)
    column = {place: k for k, place in enumerate(nodes_first)}
    apart = [
        (column[a], column[b], (width(a) + width(b)) / 2 + gap)
        for row in rows
        for a, b in pairwise(row)
    ]
    bends = {bend for chain in rungs.chains.values() for bend in chain[1:-1]}
    pieces = [
        (column[a], column[b], (1.0, 3.0, 8.0)[(a in bends) + (b in bends)])
        for a, b in rungs.joints()
    ]
    x = _straightest(len(column), apart, pieces)
    _centre(x, apart, pieces, rows, column)
    return {place: float(x[k]) for place, k in column.items()}


def _straightest(size: int, apart: list[Spacing], pieces: list[Piece]) -> Floats:
    """Return the x that keep their distances and make the pieces straightest."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []
    limits: list[float] = []

    def at_most(limit: float, *terms: tuple[int, float]) -> None:
        for column, entry in terms:
            rows.append(len(limits))
            columns.append(column)
            entries.append(entry)
        limits.append(limit)

    for a, b, distance in apart:
        at_most(-distance, (a, 1.0), (b, -1.0))
    for k, (a, b, _) in enumerate(pieces):
        at_most(0.0, (a, 1.0), (b, -1.0), (size + k, -1.0))
        at_most(0.0, (a, -1.0), (b, 1.0), (size + k, -1.0))
    if not limits:
        return np.zeros(size)
    cost = np.array([0.0] * size + [weight for _, _, weight in pieces])
    matrix: Any = coo_array((entries, (rows, columns)), shape=(len(limits), len(cost))).tocsr()
    found: Any = linprog(cost, A_ub=matrix, b_ub=limits, method="highs-ds")
    positions: Floats = np.asarray(found.x[:size], dtype=np.float64)
    positions -= positions.min()
    return positions


def _centre(
    x: Floats,
    apart: list[Spacing],
    pieces: list[Piece],
    rows: Sequence[Sequence[Place]],
    column: Mapping[Place, int],
) -> None:
    """Move each place towards the mean of its neighbours where no edge gets less straight."""
    near: dict[int, list[tuple[int, float]]] = {k: [] for k in column.values()}
    for a, b, weight in pieces:
        near[a].append((b, weight))
        near[b].append((a, weight))
    left = {b: (a, distance) for a, b, distance in apart}
    right = {a: (b, distance) for a, b, distance in apart}
    for turn in range(CENTRING):
        for row in rows if turn % 2 == 0 else list(rows)[::-1]:
            for place in row if turn % 4 < 2 else list(row)[::-1]:
                k = column[place]
                low = x[left[k][0]] + left[k][1] if k in left else -np.inf
                high = x[right[k][0]] - right[k][1] if k in right else np.inf
                x[k] = min(max(_wish([(x[u], w) for u, w in near[k]], x[k]), low), high)


def _wish(near: list[tuple[float, float]], here: float) -> float:
    """Return the mean of the neighbours, or what of their weighted medians is closest to it."""
    if not near:
        return here
    total = sum(weight for _, weight in near)
    mean = sum(at * weight for at, weight in near) / total
    before = 0.0
    for k, (at, weight) in enumerate(near := sorted(near)):
        before += weight
        if before > total / 2:
            return at
        if before == total / 2:
            return min(max(mean, at), near[k + 1][0])
    return mean
