"""Adjacency matrices, each in a named convention.

Libraries write the same edge in different cells and with different numbers, and a matrix that is
read in the wrong convention has every arrow reversed without any warning.  So every function that
writes or reads a matrix takes the name of its convention; ``to_numpy`` lists them.

A matrix in the gadjid convention may also hold the 2 of an undirected edge on one side only.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.errors import GraphError, check_word, need
from sges.graph.pdag import PDAG, Edge, as_names
from sges.records import graph_of_edges

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
    """Return the adjacency matrix of a graph in a named convention.

    ===============  ======================  ===============  ================================
    convention       i → j                   i — j            used by
    ===============  ======================  ===============  ================================
    row-to-column    [i,j] = 1               both 1           NumPy, networkx, ges, gies, XGES
    pcalg            [j,i] = 1               both 1           pcalg (amat.cpdag)
    causal-learn     [j,i] = 1, [i,j] = -1   both -1          causal-learn (GeneralGraph.graph)
    gadjid           [i,j] = 1               both 2           gadjid, "from row to column"
    ===============  ======================  ===============  ================================

    Parameters
    ----------
    graph : PDAG
        The graph.
    convention : {"row-to-column", "pcalg", "causal-learn", "gadjid"}
        How cells stand for edges.

    Returns
    -------
    numpy.ndarray
        A square matrix of small integers; row i stands for node i.

    Raises
    ------
    InvalidArgument
        If the convention is unknown.

    Examples
    --------
    >>> to_numpy(PDAG.from_edges(2, directed=[(0, 1)]), "pcalg").tolist()
    [[0, 0], [1, 0]]
    """
    check_word("convention", convention, CONVENTIONS)
    (there, back), line = _CELLS[convention]
    matrix = np.zeros((graph.n, graph.n), dtype=np.int8)
    for i, j in graph.directed_edges():
        matrix[i, j], matrix[j, i] = there, back
    for i, j in graph.undirected_edges():
        matrix[i, j] = matrix[j, i] = line
    return matrix


def from_numpy(
    matrix: ArrayLike, convention: Convention, names: Sequence[str] | None = None
) -> PDAG:
    """Return the graph of an adjacency matrix in a named convention.

    Parameters
    ----------
    matrix : array_like
        A square matrix of numbers.
    convention : {"row-to-column", "pcalg", "causal-learn", "gadjid"}
        How cells stand for edges: see ``to_numpy``.
    names : sequence of str, optional
        The names of the nodes.

    Returns
    -------
    PDAG
        The graph; node i stands for row i.

    Raises
    ------
    GraphError
        If the matrix is not square, or two cells are not an edge in this convention.
    InvalidArgument
        If the convention is unknown.

    Examples
    --------
    >>> from_numpy([[0, 0], [1, 0]], "pcalg", names=["a", "b"])
    PDAG(2 nodes: a→b)
    """
    check_word("convention", convention, CONVENTIONS)
    (there, back), line = _CELLS[convention]
    meanings = {(there, back): "->", (back, there): "<-", (line, line): "--"}
    if convention == "gadjid":
        meanings |= {(line, 0): "--", (0, line): "--"}
    array = _square(matrix)
    node_names = [str(v) for v in range(len(array))] if names is None else as_names(names)
    if len(node_names) != len(array):
        raise GraphError(f"{len(node_names)} names were given for a matrix of {len(array)} rows")
    directed: list[Edge] = []
    undirected: list[Edge] = []
    for i, j in np.argwhere(np.triu(array != 0) | np.triu((array != 0).T)).tolist():
        pair = (array[i, j].item(), array[j, i].item())
        if i == j:
            raise GraphError(
                f"cell [{i},{i}] is {pair[0]:g}; the diagonal must be 0: an edge needs two "
                "different nodes"
            )
        if pair not in meanings:
            raise GraphError(
                f"cells [{i},{j}] and [{j},{i}] are {pair[0]:g} and {pair[1]:g}, which is not an "
                f"edge in the convention {convention!r}"
            )
        if meanings[pair] == "--":
            undirected.append((i, j))
        else:
            directed.append((i, j) if meanings[pair] == "->" else (j, i))
    graph = graph_of_edges(node_names, directed, undirected)
    return graph if names is not None else graph.named(None)


def _square(matrix: ArrayLike) -> NDArray[Any]:
    """Return a square array of numbers."""
    array = np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise GraphError(f"a matrix of shape {array.shape} is not square; it needs a row per node")
    if not np.issubdtype(array.dtype, np.number) and array.dtype != np.bool_:
        raise GraphError(
            f"a matrix of {array.dtype} does not contain numbers; entries must be integers"
        )
    return array.astype(np.int8) if array.dtype == np.bool_ else array


def adjacency_frame(graph: PDAG) -> Any:  # noqa: ANN401 (pandas has no types)
    """Return the row-to-column matrix as a pandas data frame.

    Parameters
    ----------
    graph : PDAG
        The graph.

    Returns
    -------
    pandas.DataFrame
        The matrix of ``to_numpy``, with the names as labels of rows and columns.
    """
    matrix = to_numpy(graph, "row-to-column")
    names = list(map(graph.name, range(graph.n)))
    pandas = need("pandas", "a labeled adjacency matrix")
    return pandas.DataFrame(matrix, index=names, columns=names)
