"""Properties of the layout of any graph: nothing overlaps, and arrows point down."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sges.graph import PDAG, dag_to_cpdag
from sges.network import random_dag
from sges.tools.plot.layout import (
    Box,
    Curve,
    Layout,
    crossings,
    downward_edges,
    layered,
    layered_graph,
    layers_of,
    longest_increasing,
    order,
)
from strategies import cpdags, dags

Sizes = list[tuple[float, float]]


def sizes_of(n: int) -> Sizes:
    """Return boxes of many widths and of one to three lines."""
    return [(26.0 + 17.0 * (v * 7 % 6), 22.0 + 12.2 * (v % 3)) for v in range(n)]


def overlap(a: Box, b: Box) -> bool:
    wide = abs(a.x - b.x) < (a.width + b.width) / 2 - 1e-6
    return wide and abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-6


def places_on(curve: Curve) -> list[tuple[float, float]]:
    """Return points on a curve, from the formula of a cubic Bézier arc."""
    found = []
    for k in range(0, len(curve.points) - 1, 3):
        p = curve.points[k : k + 4]
        for t in (j / 20 for j in range(21)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            x = sum(w * q[0] for w, q in zip(weights, p, strict=True))
            y = sum(w * q[1] for w, q in zip(weights, p, strict=True))
            found.append((x, y))
    return found


def assert_promises(graph: PDAG, layout: Layout) -> None:
    assert sorted(layout.boxes) == list(range(graph.n))
    assert len(layout.curves) == graph.edge_count()
    for a, b in combinations(layout.boxes.values(), 2):
        assert not overlap(a, b)
    for x, y in graph.directed_edges():
        assert layout.boxes[x].bottom < layout.boxes[y].top
    for curve in layout.curves:
        assert_meets_its_ends_only(curve, layout)


def assert_meets_its_ends_only(curve: Curve, layout: Layout) -> None:
    upper, lower = (layout.boxes[v] for v in curve.edge)
    assert curve.points[0][1] == pytest.approx(upper.bottom)
    assert curve.points[-1][1] == pytest.approx(lower.top)
    for (x, _), box in ((curve.points[0], upper), (curve.points[-1], lower)):
        assert abs(x - box.x) < box.width / 2
    for x, y in places_on(curve):
        assert -1e-6 <= x <= layout.width + 1e-6
        assert -1e-6 <= y <= layout.height + 1e-6
        for box in layout.boxes.values():
            inside = abs(x - box.x) < box.width / 2 - 1e-6
            assert not (inside and abs(y - box.y) < box.height / 2 - 1e-6)


@given(cpdags() | dags())
def test_a_cpdag_or_dag_is_laid_out_without_overlap_with_arrows_down(graph: PDAG) -> None:
    assert_promises(graph, layered(graph, sizes_of(graph.n)))


@pytest.mark.parametrize(("n", "edges"), [(8, 9), (30, 45), (80, 90), (80, 150)])
def test_larger_graphs_are_laid_out_without_overlap(n: int, edges: int, seed: int) -> None:
    graph = dag_to_cpdag(random_dag(n, edges, seed=seed))
    layout = layered(graph, sizes_of(n))
    assert_promises(graph, layout)
    assert 0.3 < layout.width / layout.height < 5


def test_edges_that_pass_many_layers_keep_clear_of_the_nodes_on_their_way() -> None:
    """A chain of 40 nodes, and so 40 layers, with edges of many lengths."""
    chain = [(v, v + 1) for v in range(39)]
    long = [(v, (v * 7) % (39 - v) + v + 1) for v in range(38)]
    graph = PDAG.from_edges(40, {*chain, *long})
    assert_promises(graph, layered(graph, sizes_of(40)))


@given(st.permutations(range(7)))
def test_the_longest_increasing_subsequence_is_the_longest(numbers: list[int]) -> None:
    chosen = [numbers[k] for k in longest_increasing(numbers)]
    assert all(a < b for a, b in pairwise(chosen))
    increasing = (
        len(part)
        for size in range(8)
        for part in combinations(numbers, size)
        if all(a < b for a, b in pairwise(part))
    )
    assert len(chosen) == max(increasing)


def test_a_graph_with_a_directed_cycle_is_laid_out_all_the_same() -> None:
    graph = PDAG.from_edges(4, [(0, 1), (1, 2), (2, 0)], [(2, 3)])
    layout = layered(graph, sizes_of(4))
    assert len(layout.curves) == 4
    upward = [e for e in graph.directed_edges() if layout.boxes[e[0]].y > layout.boxes[e[1]].y]
    assert len(upward) == 1


@pytest.mark.parametrize("n", [0, 1, 2, 40])
def test_nodes_without_edges_stand_in_rows(n: int) -> None:
    assert_promises(PDAG.empty(n), layered(PDAG.empty(n), sizes_of(n)))


def test_an_undirected_chain_hangs_from_its_middle() -> None:
    chain = PDAG.from_edges(9, undirected=[(v, v + 1) for v in range(8)])
    layer = layers_of(range(9), downward_edges(chain))
    assert layer[4] == 0
    assert max(layer.values()) == 4


@given(dags(max_nodes=6))
def test_layers_make_the_edges_shortest(dag: PDAG) -> None:
    """Moving a single node to another layer never makes the edges shorter."""
    edges = dag.directed_edges()
    layer = layers_of(range(dag.n), edges)
    assert all(layer[y] > layer[x] for x, y in edges)
    total = sum(layer[y] - layer[x] for x, y in edges)
    for v in range(dag.n):
        for other in range(-1, dag.n + 1):
            moved = layer | {v: other}
            if all(moved[y] > moved[x] for x, y in edges):
                assert sum(moved[y] - moved[x] for x, y in edges) >= total


@given(dags(max_nodes=7), st.randoms(use_true_random=False))
def test_crossings_are_counted_as_pairs_that_change_sides(dag: PDAG, random: object) -> None:
    edges = dag.directed_edges()
    places = layered_graph(layers_of(range(dag.n), edges), edges, dag.n)
    rows = [list(row) for row in places.layers]
    for row in rows:
        random.shuffle(row)  # type: ignore[attr-defined]
    at = {place: k for row in rows for k, place in enumerate(row)}
    height = {place: h for h, row in enumerate(rows) for place in row}
    pieces = [piece for chain in places.chains.values() for piece in pairwise(chain)]
    by_pairs = sum(
        height[a] == height[c] and (at[a] - at[c]) * (at[b] - at[d]) < 0
        for (a, b), (c, d) in combinations(pieces, 2)
    )
    assert crossings(places, rows) == by_pairs
    assert crossings(places, order(places)) <= crossings(places, places.layers)


def test_a_planar_tree_is_drawn_without_crossings() -> None:
    tree = PDAG.from_edges(15, [((v - 1) // 2, v) for v in range(1, 15)]).relabel(
        [0, 9, 4, 14, 2, 11, 7, 1, 13, 3, 10, 5, 12, 6, 8]
    )
    edges = tree.directed_edges()
    places = layered_graph(layers_of(range(15), edges), edges, 15)
    assert crossings(places, order(places)) == 0
