"""Treewidth against all elimination orders and known graphs."""

import pytest
from hypothesis import given, settings

import naive
from bridge import frozen
from sges.errors import Undecided
from sges.graph import PDAG
from sges.properties import Between, MaxTreewidth, treewidth
from sges.properties.treewidth import min_fill_width, minor_min_width
from strategies import undirected_graphs


@settings(max_examples=150)
@given(undirected_graphs(max_nodes=6))
def test_treewidth_is_the_best_of_all_elimination_orders(rows: tuple[int, ...]) -> None:
    n = len(rows)
    edges = frozenset(frozenset((x, y)) for x in range(n) for y in frozen(rows[x]))
    wanted = naive.treewidth(n, edges)
    assert treewidth(rows) == wanted
    assert minor_min_width(rows) <= wanted <= min_fill_width(rows)


def grid(side: int) -> tuple[int, ...]:
    rows = [0] * side**2
    for v in range(side**2):
        for u in (v + 1 if (v + 1) % side else -1, v + side if v + side < side**2 else -1):
            if u >= 0:
                rows[v] |= 1 << u
                rows[u] |= 1 << v
    return tuple(rows)


@pytest.mark.parametrize("side", [2, 3, 4, 5])
def test_the_grid_has_the_treewidth_of_its_side(side: int) -> None:
    assert treewidth(grid(side)) == side


def test_what_is_not_settled_is_an_interval_around_the_truth() -> None:
    width = treewidth(grid(6), allowed_sets=10)
    assert isinstance(width, Between)
    assert width.low <= 6 <= width.high


def test_a_property_answers_outside_the_interval_and_refuses_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sges.properties.measures.treewidth", lambda _: Between(3, 5))
    dag = PDAG.empty(2)
    assert not MaxTreewidth(2).holds(dag)
    assert MaxTreewidth(5).holds(dag)
    assert MaxTreewidth.measure(dag) == Between(3, 5)
    assert MaxTreewidth.of(dag) == MaxTreewidth(5)
    with pytest.raises(Undecided, match="between 3 and 5: whether it is at most 4"):
        MaxTreewidth(4).holds(dag)
