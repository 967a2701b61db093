"""Other learners, to compare with: the globally optimal network, and the best tree."""

from itertools import combinations
from math import comb, isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from sges.docstrings import documented_like
from sges.errors import ScoreError, check_number
from sges.graph.equivalence import dag_to_cpdag
from sges.graph.pdag import PDAG
from sges.nodeset import nodes, nodeset
from sges.result import Result
from sges.score.protocol import (
    Score,
    dag_score,
    insert_gains,
    score_name,
    total_score,
)

__all__ = ["chow_liu", "exact"]

MAX_VARIABLES = 18
"""The most variables of an exact search: 18 need 2.4 million families and 75 MiB of tables."""

FINITE = "a score must be finite for every family"

Best: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]
"""By the mask of a set of candidates: the best score of parents within it, and these parents."""


def exact(score: Score, max_parents: int | None = None) -> Result:
    """Return the class of a network of highest score, by dynamic programming over subsets.

    Of sets of parents that tie exactly, the smaller is taken.  Time and memory grow as n·2ⁿ.

    Parameters
    ----------
    score : Score
        The score to maximize, on at most 18 variables.
    max_parents : int, optional
        The most parents that a node may have; no limit by default.

    Returns
    -------
    Result
        The class, without steps.

    Raises
    ------
    ScoreError
        If there are too many variables, or the score of a family is not finite.

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
    n = score.n
    if n > MAX_VARIABLES:
        raise ScoreError(
            f"exact: {n} variables need {n}·2^{n - 1} score evaluations; "
            f"at most {MAX_VARIABLES} variables are possible"
        )
    check_number("max_parents", max_parents, whole=True, optional=True)
    most = max(n - 1, 0) if max_parents is None else min(max_parents, max(n - 1, 0))
    tables = [_best_parents(score, y, most) for y in range(n)]
    sinks = _best_sinks(tables)
    remaining, edges = (1 << n) - 1, []
    while remaining:  # from the last variable to the first
        y = int(sinks[remaining])
        remaining ^= 1 << y
        edges += [(x, y) for x in nodes(int(tables[y][1][remaining]))]
    dag = PDAG.from_edges(n, edges)
    return Result(
        cpdag=dag_to_cpdag(dag).named(getattr(score, "names", None)),
        score=dag_score(score, dag),
        score_evaluations=n * sum(comb(n - 1, size) for size in range(most + 1)) if n else 0,
        score_name=score_name(score),
        scorer=score,
    )


def _best_parents(score: Score, y: int, most: int) -> Best:
    """Return, for every set, the best of its subsets: a maximum taken along one bit at a time."""
    best, parents = np.full(1 << score.n, -np.inf), np.arange(1 << score.n, dtype=np.int64)
    others = [v for v in range(score.n) if v != y]
    for size in range(most + 1):
        for family in map(nodeset, combinations(others, size)):
            value = score.local(y, family)
            if not isfinite(value):
                raise ScoreError(f"local({y}, {family:#b}) is {value}; {FINITE}")
            best[family] = value
    for v in range(score.n):
        by_bit, by_bit_parents = best.reshape(-1, 2, 1 << v), parents.reshape(-1, 2, 1 << v)
        better = by_bit[:, 0] >= by_bit[:, 1]  # without the bit: the smaller set wins a tie
        by_bit[:, 1][better] = by_bit[:, 0][better]
        by_bit_parents[:, 1][better] = by_bit_parents[:, 0][better]
    return best, parents


def _best_sinks(tables: list[Best]) -> NDArray[np.int64]:
    """Return, for every set of variables, the last one in an optimal network on them."""
    size = 1 << len(tables)
    total, sink = np.full(size, -np.inf), np.full(size, -1, dtype=np.int64)
    total[0] = 0.0
    masks = np.arange(size)
    counts = sum((masks >> y & 1 for y in range(len(tables))), np.zeros_like(masks))
    for count in range(1, len(tables) + 1):
        layer = masks[counts == count]
        for y, (score, _) in enumerate(tables):
            here = layer[layer >> y & 1 == 1]
            rest = here ^ 1 << y
            value = total[rest] + score[rest]
            better = value > total[here]
            total[here[better]] = value[better]
            sink[here[better]] = y
    return sink


@documented_like(exact)
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
    n = score.n
    gains = np.zeros((n, n))  # of x — y over no edge, for x < y
    for y in range(1, n):
        gains[:y, y] = insert_gains(score, y, 0, np.arange(y))
        if not np.isfinite(gains[:y, y]).all():
            raise ScoreError(f"a gain of node {y} is not finite; {FINITE}")
    # SciPy reads zero as "no edge": shifted, every weight is negative, and the tree the same,
    # as all spanning trees have equally many edges.
    above = np.triu(np.ones_like(gains, dtype=bool), k=1)
    weights = np.where(above, gains[above].min(initial=np.inf) - gains - 1.0, 0.0)
    tree = minimum_spanning_tree(csr_array(weights)).tocoo()
    edges = sorted(zip(tree.row.tolist(), tree.col.tolist(), strict=True))
    edges = [(x, y) for x, y in edges if not forest or gains[x, y] > 0]
    cpdag = PDAG.from_edges(n, undirected=edges, names=getattr(score, "names", None))
    return Result(
        cpdag=cpdag,
        score=total_score(score, cpdag),
        score_evaluations=n + n * (n - 1) // 2,
        score_name=score_name(score),
        scorer=score,
    )
