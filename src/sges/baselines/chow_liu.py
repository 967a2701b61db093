"""The best tree (Chow & Liu 1968): a maximum spanning tree of what each edge gains."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from sges.graph.pdag import PDAG, Edge
from sges.result import Result
from sges.score.base import Score, insert_gains, total_score


def chow_liu(score: Score, *, forest: bool = False) -> Result:
    """Return the tree of highest score: its class, which is its skeleton.

    The gain of an edge is local(y, {x}) − local(y, ∅), the mutual information of x and y less
    what its parameters cost; for a score-equivalent score it has no direction, and a tree's
    score is the sum of its edges' gains.  ``forest`` leaves out the edges that lose, so that the
    graph is the best of all forests.

    >>> from sges.network import LinearGaussian
    >>> from sges.score import GaussianOracle
    >>> star = PDAG.from_edges(4, [(0, 1), (0, 2), (0, 3)])
    >>> chow_liu(GaussianOracle(LinearGaussian.random(star, seed=1))).cpdag
    PDAG(4 nodes: x0—x1, x0—x2, x0—x3)
    """
    n, gains = score.n, edge_gains(score)
    edges = [(x, y) for x, y in spanning_tree(gains) if not forest or gains[x, y] > 0]
    cpdag = PDAG.from_edges(n, undirected=edges, names=getattr(score, "names", None))
    return Result(
        cpdag=cpdag,
        score=total_score(score, cpdag),
        score_evaluations=n + n * (n - 1) // 2,
        score_name=type(score).__name__,
        scorer=score,
    )


def edge_gains(score: Score) -> NDArray[np.float64]:
    """Return what the edge x — y gains over none, for x < y; zero elsewhere."""
    gains = np.zeros((score.n, score.n))
    for y in range(1, score.n):
        gains[:y, y] = insert_gains(score, y, 0, np.arange(y))
    return gains


def spanning_tree(gains: NDArray[np.float64]) -> list[Edge]:
    """Return the pairs (x, y), x < y, of a spanning tree of largest total gain, sorted."""
    if len(gains) < 2:
        return []
    # SciPy reads zero as "no edge": shifted, every weight is negative, and the tree the same,
    # as all spanning trees have equally many edges.
    above = np.triu(np.ones_like(gains, dtype=bool), k=1)
    weights = np.where(above, gains[above].min() - gains - 1.0, 0.0)
    tree = minimum_spanning_tree(csr_array(weights)).tocoo()
    return sorted(zip(tree.row.tolist(), tree.col.tolist(), strict=True))
