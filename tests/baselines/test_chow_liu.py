"""The best tree, compared with an enumeration of all trees."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from sges.graph import PDAG, dag_to_cpdag
from sges.network import BayesianNetwork, LinearGaussian, random_polytree, random_structure
from sges.properties import MaxParents
from sges.score import DiscreteBIC, GaussianBIC, GaussianOracle, Score
from sges.tools.baselines import chow_liu, exact
from worlds import gaussian_score

Edges = tuple[tuple[int, int], ...]


def forests(n: int) -> Iterator[Edges]:
    """Yield every acyclic set of edges on n nodes."""
    for size in range(n):
        for edges in combinations(combinations(range(n), 2), size):
            part = list(range(n))
            for x, y in edges:
                part = [part[x] if p == part[y] else p for p in part]
            if len(set(part)) == n - size:
                yield edges


def value(score: Score, edges: Edges) -> float:
    empty = sum(score.local(v, 0) for v in range(score.n))
    return empty + sum(score.local(y, 1 << x) - score.local(y, 0) for x, y in edges)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_no_tree_and_no_forest_scores_higher(n: int, seed: int) -> None:
    for s in range(seed, seed + 5):
        model = BayesianNetwork.random(random_structure(n, seed=s), seed=s)
        score = DiscreteBIC(model.sample(50, seed=s))
        trees = [value(score, edges) for edges in forests(n) if len(edges) == n - 1]
        assert chow_liu(score).score == pytest.approx(max(trees))
        every = [value(score, edges) for edges in forests(n)]
        assert chow_liu(score, forest=True).score == pytest.approx(max(every))


def test_a_tree_spans_and_a_forest_of_independent_variables_is_empty() -> None:
    score = GaussianBIC.from_covariance(np.eye(6), 1000)
    assert chow_liu(score).cpdag.edge_count() == 5
    assert chow_liu(score, forest=True).cpdag == PDAG.empty(6)


def test_the_skeleton_of_a_polytree_is_recovered(seed: int) -> None:
    """Rebane & Pearl (1987): the maximum-weight tree is the skeleton of a polytree."""
    tree = random_polytree(30, seed=seed)
    score = GaussianOracle(LinearGaussian.random(tree, seed=seed))
    assert chow_liu(score).cpdag.skeleton() == dag_to_cpdag(tree).skeleton()


def test_it_is_the_optimum_with_one_parent_per_node(seed: int) -> None:
    score = gaussian_score(8, 10, 300, seed)
    best = exact(score, 1)
    assert chow_liu(score, forest=True).score == pytest.approx(best.score)
    assert MaxParents(1).holds(chow_liu(score).cpdag)


def test_it_asks_for_one_family_per_pair_and_node() -> None:
    assert chow_liu(GaussianBIC.from_covariance(np.eye(6), 100)).score_evaluations == 21
