"""Comparison with the package ``ges``, which its author has compared with pcalg."""

import numpy as np
import pytest

from sges.graph import PDAG
from sges.score import GaussianBIC
from sges.score.protocol import total_score
from sges.search import ges
from worlds import linear_data

peer = pytest.importorskip("ges")


def graph_of(adjacency: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> PDAG:
    n = len(adjacency)
    there = adjacency != 0
    directed = [(x, y) for x in range(n) for y in range(n) if there[x, y] and not there[y, x]]
    undirected = [(x, y) for x in range(n) for y in range(x) if there[x, y] and there[y, x]]
    return PDAG.from_edges(n, directed, undirected)


@pytest.mark.parametrize("tables", [14, pytest.param(50, marks=pytest.mark.slow)])
def test_never_worse_than_ges_and_the_same_graph_where_nothing_ties(tables: int) -> None:
    """On random data sets, with the forward and the backward phase."""
    same = 0
    for seed in range(tables):
        n = 4 + seed % 7
        _, data = linear_data(n, min(n + seed % 5, n * (n - 1) // 2), 150 + 50 * (seed % 6), seed)
        score = GaussianBIC(data)
        ours = ges(score)
        adjacency, _ = peer.fit_bic(data, phases=["forward", "backward"])
        theirs = graph_of(adjacency)
        assert ours.score >= total_score(score, theirs) - 1e-6, seed
        same += ours.cpdag == theirs
    assert same == tables
