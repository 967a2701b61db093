"""Other learners, to compare with: the globally optimal network, and the best tree.

``exact`` is dynamic programming over subsets of variables (Silander & Myllymäki 2006), in three
sweeps over arrays indexed by a subset's mask:

    local    the score of every family: n·2ⁿ⁻¹ of them
    best     for each y and each set of candidates, the best parents among them: the maximum
             over all subsets, one bit at a time
    sinks    for each set of variables, which of them is last in an optimal network on them

Time and memory grow as n·2ⁿ: it is the yardstick for greedy searches on few variables.

``chow_liu`` is a maximum spanning tree of the gains of single edges (Chow & Liu 1968).
"""

from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from sges.errors import ScoreError, check_flag, check_number
from sges.graph.equivalence import dag_to_cpdag
from sges.graph.pdag import PDAG, Edge
from sges.nodeset import nodes, nodeset
from sges.result import Result
from sges.score.protocol import (
    Score,
    check_is_score,
    dag_score,
    insert_gains,
    score_name,
    total_score,
)

__all__ = ["chow_liu", "exact"]

MAX_VARIABLES = 18
"""The most variables of an exact search: 18 need 2.4 million families and 75 MiB of tables."""

Floats: TypeAlias = NDArray[np.float64]
Masks: TypeAlias = NDArray[np.int64]


class Best(NamedTuple):
    """For each set of candidates: the best parents within it, and their score."""

    score: Floats
    parents: Masks


def exact(score: Score, max_parents: int | None = None) -> Result:
    """Return the class of a network of highest score.

    Of sets of parents that tie exactly, the smaller is taken.

    Parameters
    ----------
    score : Score
        The score to maximise, on at most 18 variables.
    max_parents : int, optional
        The most parents that a node may have; no limit by default.

    Returns
    -------
    Result
        The class, without steps.

    Raises
    ------
    ScoreError
        If there are too many variables.

    References
    ----------
    Silander & Myllymäki (2006), "A simple approach for finding the globally optimal Bayesian
    network structure", UAI.

    Examples
    --------
    >>> from sges.network import LinearGaussian
    >>> from sges.score import GaussianOracle
    >>> collider = PDAG.from_edges(3, [(0, 2), (1, 2)])
    >>> exact(GaussianOracle(LinearGaussian.random(collider, seed=1))).cpdag
    PDAG(3 nodes: x0→x2, x1→x2)
    """
    check_is_score(score)
    n = score.n
    most = _checked(n, max_parents)
    tables = [best_parents(local_scores(score, y, most)) for y in range(n)]
    dag = PDAG.from_edges(n, _edges(tables, best_sinks(tables)))
    return Result(
        cpdag=dag_to_cpdag(dag).named(getattr(score, "names", None)),
        score=dag_score(score, dag),
        score_evaluations=n * sum(1 for _ in _families(n, 0, most)) if n else 0,
        score_name=score_name(score),
        scorer=score,
    )


def local_scores(score: Score, y: int, max_parents: int) -> Floats:
    """Return local(y, ·) by mask; −∞ for sets that contain y or too many nodes."""
    table = np.full(1 << score.n, -np.inf)
    for parents in _families(score.n, y, max_parents):
        table[parents] = score.local(y, parents)
    return table


def best_parents(local: Floats) -> Best:
    """Return, for every set, the best of its subsets: a maximum taken along one bit at a time."""
    score, parents = local.copy(), np.arange(len(local), dtype=np.int64)
    bit = 1
    while bit < len(local):
        by_bit, by_bit_parents = score.reshape(-1, 2, bit), parents.reshape(-1, 2, bit)
        better = by_bit[:, 0] >= by_bit[:, 1]  # without the bit: the smaller set wins a tie
        by_bit[:, 1][better] = by_bit[:, 0][better]
        by_bit_parents[:, 1][better] = by_bit_parents[:, 0][better]
        bit <<= 1
    return Best(score, parents)


def best_sinks(tables: list[Best]) -> Masks:
    """Return, for every set of variables, the last one in an optimal network on them."""
    size = 1 << len(tables)
    total, sink = np.full(size, -np.inf), np.full(size, -1, dtype=np.int64)
    total[0] = 0.0
    masks = np.arange(size)
    counts = sum((masks >> y & 1 for y in range(len(tables))), np.zeros_like(masks))
    for count in range(1, len(tables) + 1):
        layer = masks[counts == count]
        for y, table in enumerate(tables):
            here = layer[layer >> y & 1 == 1]
            rest = here ^ 1 << y
            value = total[rest] + table.score[rest]
            better = value > total[here]
            total[here[better]] = value[better]
            sink[here[better]] = y
    return sink


def _edges(tables: list[Best], sinks: Masks) -> list[Edge]:
    """Return the edges of an optimal network, read off from the last variable to the first."""
    left, edges = (1 << len(tables)) - 1, []
    while left:
        y = int(sinks[left])
        left ^= 1 << y
        edges += [(x, y) for x in nodes(int(tables[y].parents[left]))]
    return edges


def _families(n: int, y: int, most: int) -> list[int]:
    others = [v for v in range(n) if v != y]
    return [nodeset(chosen) for size in range(most + 1) for chosen in combinations(others, size)]


def _checked(n: int, max_parents: int | None) -> int:
    """Return the most parents that a node may have."""
    if n > MAX_VARIABLES:
        raise ScoreError(
            f"exact: {n} variables need {n}·2^{n - 1} score evaluations; "
            f"at most {MAX_VARIABLES} variables are possible"
        )
    check_number("max_parents", max_parents, whole=True, optional=True)
    return max(n - 1, 0) if max_parents is None else min(max_parents, max(n - 1, 0))


def chow_liu(score: Score, *, forest: bool = False) -> Result:
    """Return the tree of highest score: its class, which is its skeleton.

    The gain of an edge is local(y, {x}) − local(y, ∅), the mutual information of x and y less
    the penalty for its parameters; for a score-equivalent score it does not depend on the
    direction, and a tree's score is the sum of its edges' gains.

    Parameters
    ----------
    score : Score
        A score-equivalent score.
    forest : bool, optional
        True to leave out the edges with a negative gain, so that the graph is the best of all
        forests.

    Returns
    -------
    Result
        The class, without steps.

    References
    ----------
    Chow & Liu (1968), "Approximating discrete probability distributions with dependence trees",
    IEEE Transactions on Information Theory 14(3).

    Examples
    --------
    >>> from sges.network import LinearGaussian
    >>> from sges.score import GaussianOracle
    >>> star = PDAG.from_edges(4, [(0, 1), (0, 2), (0, 3)])
    >>> chow_liu(GaussianOracle(LinearGaussian.random(star, seed=1))).cpdag
    PDAG(4 nodes: x0—x1, x0—x2, x0—x3)
    """
    check_is_score(score)
    check_flag("forest", forest)
    n, gains = score.n, edge_gains(score)
    edges = [(x, y) for x, y in spanning_tree(gains) if not forest or gains[x, y] > 0]
    cpdag = PDAG.from_edges(n, undirected=edges, names=getattr(score, "names", None))
    return Result(
        cpdag=cpdag,
        score=total_score(score, cpdag),
        score_evaluations=n + n * (n - 1) // 2,
        score_name=score_name(score),
        scorer=score,
    )


def edge_gains(score: Score) -> NDArray[np.float64]:
    """Return the gain of the edge x — y over no edge, for x < y; zero elsewhere."""
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
