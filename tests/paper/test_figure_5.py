"""Fig. 5: two DAGs with similar cliques and parents, but different v-widths."""

import pytest

from sges.graph import PDAG
from sges.properties import MaxClique, MaxParents, MaxVWidth


def figure_5a(k: int) -> PDAG:
    """Return a clique of k nodes: all nodes are adjacent, so the v-width is zero."""
    return PDAG.from_edges(k, [(x, y) for x in range(k) for y in range(x + 1, k)])


def figure_5b(k: int) -> PDAG:
    """Return a clique of k nodes with two common parents X and Y that are not adjacent."""
    clique = [(2 + x, 2 + y) for x in range(k) for y in range(x + 1, k)]
    return PDAG.from_edges(k + 2, clique + [(v, 2 + x) for v in (0, 1) for x in range(k)])


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_the_two_dags_have_the_v_widths_the_paper_gives(k: int) -> None:
    a, b = figure_5a(k), figure_5b(k)
    assert (MaxClique.measure(a), MaxParents.measure(a), MaxVWidth.measure(a)) == (k, k - 1, 0)
    assert (MaxClique.measure(b), MaxParents.measure(b), MaxVWidth.measure(b)) == (k + 1, k + 1, k)
