"""Adjacency matrices, each by the name of its convention.

Libraries write the same edge in different cells and with different numbers, and reading a matrix
in the wrong one turns every arrow round without a word.  So a matrix never goes out or comes in
without the name of its convention:

===============  ======================  ===============  =====================================
convention       i → j                   i — j            used by
===============  ======================  ===============  =====================================
row-to-column    [i,j] = 1               both 1           NumPy, networkx, ges, gies, XGES
pcalg            [j,i] = 1               both 1           pcalg (amat.cpdag)
causal-learn     [j,i] = 1, [i,j] = -1   both -1          causal-learn (GeneralGraph.graph)
gadjid           [i,j] = 1               both 2           gadjid, "from row to column"
===============  ======================  ===============  =====================================

A matrix in the gadjid convention may also hold the 2 of an undirected edge on one side only.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.errors import GraphError, InvalidArgument
from sges.export.records import graph_of_edges
from sges.graph.pdag import PDAG, Edge

Convention: TypeAlias = Literal["row-to-column", "pcalg", "causal-learn", "gadjid"]
"""How the cells of a matrix stand for edges."""

Matrix: TypeAlias = NDArray[np.int8]

CONVENTIONS: tuple[str, ...] = get_args(Convention)

_CELLS: dict[str, tuple[tuple[int, int], int]] = {
    "row-to-column": ((1, 0), 1),
    "pcalg": ((0, 1), 1),
    "causal-learn": ((-1, 1), -1),
    "gadjid": ((1, 0), 2),
}
"""Per convention: the cells [i,j] and [j,i] of i → j, and both cells of i — j."""


def to_numpy(graph: PDAG, convention: Convention = "row-to-column") -> Matrix:
    """Return the graph as a matrix in the named convention; row i stands for node i.

    >>> to_numpy(PDAG.from_edges(2, directed=[(0, 1)]), "pcalg").tolist()
    [[0, 0], [1, 0]]
    """
    (there, back), line = _cells(convention)
    matrix = np.zeros((graph.n, graph.n), dtype=np.int8)
    for i, j in graph.directed_edges():
        matrix[i, j], matrix[j, i] = there, back
    for i, j in graph.undirected_edges():
        matrix[i, j] = matrix[j, i] = line
    return matrix


def from_numpy(
    matrix: ArrayLike, convention: Convention, names: Sequence[str] | None = None
) -> PDAG:
    """Return the graph of a matrix in the named convention.

    >>> from_numpy([[0, 0], [1, 0]], "pcalg", names=["a", "b"])
    PDAG(2 nodes: a→b)
    """
    meanings = _meanings(convention)
    array = _square(matrix)
    called = [str(v) for v in range(len(array))] if names is None else list(names)
    if len(called) != len(array):
        raise GraphError(f"{len(called)} names were given for a matrix of {len(array)} rows")
    directed: list[Edge] = []
    undirected: list[Edge] = []
    for i, j in zip(*np.nonzero(np.triu(array != 0) | np.triu((array != 0).T)), strict=True):
        pair = (array[i, j].item(), array[j, i].item())
        meaning = meanings.get(pair) if i != j else None
        if meaning is None:
            raise GraphError(_bad_cells(int(i), int(j), pair, convention))
        edge = (int(i), int(j)) if meaning != "<-" else (int(j), int(i))
        (undirected if meaning == "--" else directed).append(edge)
    graph = graph_of_edges(called, directed, undirected)
    return graph if names is not None else graph.named(None)


def _cells(convention: str) -> tuple[tuple[int, int], int]:
    if convention not in _CELLS:
        raise InvalidArgument(
            f"there is no matrix convention {convention!r}; choose one of {', '.join(CONVENTIONS)}"
        )
    return _CELLS[convention]


def _meanings(convention: str) -> dict[tuple[int, int], str]:
    """Return what the cells [i,j] and [j,i] mean together."""
    (there, back), line = _cells(convention)
    meanings = {(there, back): "->", (back, there): "<-", (line, line): "--"}
    if convention == "gadjid":
        meanings |= {(line, 0): "--", (0, line): "--"}
    return meanings


def _square(matrix: ArrayLike) -> NDArray[np.generic]:
    array = np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise GraphError(f"a matrix of shape {array.shape} is not square; it needs a row per node")
    if not np.issubdtype(array.dtype, np.number) and array.dtype != np.bool_:
        raise GraphError(f"a matrix of {array.dtype} holds no numbers; entries must be integers")
    return array.astype(np.int8) if array.dtype == np.bool_ else array


def _bad_cells(i: int, j: int, pair: tuple[float, float], convention: str) -> str:
    if i == j:
        return f"cell [{i},{i}] is {pair[0]:g}; the diagonal must be 0, as no node joins itself"
    return (
        f"cells [{i},{j}] and [{j},{i}] are {pair[0]:g} and {pair[1]:g}, which is no edge in the "
        f"convention {convention!r}"
    )
