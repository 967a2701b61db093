"""Conversion of tables to frames, and of matrices and lists of edges to graphs.

A matrix read in the wrong convention reverses every arrow silently, so each convention is a named
function, tested on a graph that is not symmetric.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from studies.peers.contract import Edge, Found, Table


def from_row_to_column(matrix: ArrayLike) -> Found:
    """Read [i, j] ≠ 0 as i → j, and both [i, j] and [j, i] as i — j: ges, XGES, gCastle."""
    there = np.asarray(matrix) != 0
    return Found(_pairs(there & ~there.T), _pairs(np.triu(there & there.T, 1)))


def from_endpoints(matrix: ArrayLike) -> Found:
    """Read [j, i] = 1 with [i, j] = −1 as i → j, and both −1 as i — j: causal-learn."""
    marks = np.asarray(matrix)
    tails, arrows = marks == -1, marks == 1
    return Found(_pairs(tails & arrows.T), _pairs(np.triu(tails & tails.T, 1)))


def from_ones_and_twos(matrix: ArrayLike) -> Found:
    """Read [i, j] = 1 as i → j, and [i, j] = [j, i] = 2 as i — j: FLOP."""
    marks = np.asarray(matrix)
    return Found(_pairs(marks == 1), _pairs(np.triu(marks == 2, 1)))


def from_names(
    columns: Sequence[str],
    directed: Iterable[Sequence[Any]],
    undirected: Iterable[Sequence[Any]] = (),
) -> Found:
    """Read pairs of column names: pgmpy, pybnesian."""
    place = {name: v for v, name in enumerate(columns)}
    lines = {_ordered(place[x], place[y]) for x, y in undirected}
    return Found(
        tuple(sorted((place[x], place[y]) for x, y in directed)),
        tuple(sorted(lines)),
    )


def from_strings(columns: Sequence[str], edges: Iterable[str]) -> Found:
    """Read "x0 --> x1" and "x0 --- x1", ignoring what Tetrad may write after them."""
    directed: list[tuple[str, str]] = []
    undirected: list[tuple[str, str]] = []
    for x, mark, y in (edge.split()[:3] for edge in edges):
        if mark not in ("-->", "<--", "---"):
            raise ValueError(f"{x} {mark} {y} is an edge that no CPDAG has")
        (undirected if mark == "---" else directed).append((y, x) if mark == "<--" else (x, y))
    return from_names(columns, directed, undirected)


def _pairs(there: NDArray[np.bool_]) -> tuple[Edge, ...]:
    return tuple((int(x), int(y)) for x, y in np.argwhere(there))


def _ordered(x: int, y: int) -> Edge:
    return (x, y) if x < y else (y, x)


def frame_of(table: Table, labels: bool = False) -> Any:  # noqa: ANN401 (pandas, where it is)
    """Return a frame of floats or of categories, which are level numbers or labels."""
    import pandas as pd  # type: ignore[import-untyped]

    if table.kind == "gaussian" or table.values.dtype.kind == "U":
        return pd.DataFrame(table.values, columns=table.columns)
    columns = {}
    for name, codes, arity in zip(table.columns, table.values.T, table.arities, strict=True):
        levels = [f"v{level}" for level in range(arity)] if labels else list(range(arity))
        columns[name] = pd.Categorical.from_codes(codes.astype(int), categories=levels)
    return pd.DataFrame(columns)
