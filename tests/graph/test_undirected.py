"""Undirected graphs, compared with networkx and brute force."""

from itertools import combinations, product

import networkx as nx
import pytest
from hypothesis import given, settings

import naive
from bridge import arcs_of, frozen
from sges.errors import NotChordal
from sges.graph import PDAG, maximal_cliques
from sges.graph.undirected import (
    Between,
    cliques,
    largest_clique,
    maximum_cardinality_search,
    min_fill,
    minor_min_width,
    moral_graph,
    treewidth,
)
from sges.nodeset import nodes
from strategies import dags, undirected_graphs


def as_networkx(rows: tuple[int, ...]) -> "nx.Graph[int]":
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(rows)))
    graph.add_edges_from((x, y) for x, row in enumerate(rows) for y in frozen(row))
    return graph


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 2), (3, 8), (4, 61), (5, 822)])
def test_as_many_graphs_are_accepted_as_there_are_chordal_ones(n: int, count: int) -> None:
    pairs = list(combinations(range(n), 2))
    accepted = 0
    for there in product((0, 1), repeat=len(pairs)):
        rows = [0] * n
        for (x, y), edge in zip(pairs, there, strict=True):
            rows[x] |= edge << y
            rows[y] |= edge << x
        try:
            maximal_cliques(rows, (1 << n) - 1)
        except NotChordal:
            continue
        accepted += 1
    assert accepted == count


@given(undirected_graphs())
def test_maximal_cliques_are_those_of_networkx_and_others_are_refused(
    rows: tuple[int, ...],
) -> None:
    """``find_cliques``, as the chordal functions of networkx accept graphs that are not chordal."""
    graph, everything = as_networkx(rows), (1 << len(rows)) - 1
    if graph and not nx.is_chordal(graph):
        with pytest.raises(NotChordal, match="not chordal"):
            maximal_cliques(rows, everything)
        return
    wanted: set[frozenset[int]] = {frozenset(c) for c in nx.find_cliques(graph)} or {frozenset()}
    found = [frozen(c) for c in maximal_cliques(rows, everything)]
    assert set(found) == wanted
    assert len(found) == len(wanted)


@given(undirected_graphs())
def test_every_clique_is_listed_once_and_the_largest_measured(rows: tuple[int, ...]) -> None:
    everything = (1 << len(rows)) - 1
    found = [frozen(c) for c in cliques(rows, everything)]
    wanted: set[frozenset[int]] = {
        frozenset(c) for c in nx.enumerate_all_cliques(as_networkx(rows))
    } | {frozenset()}
    assert set(found) == wanted
    assert len(found) == len(wanted)
    assert largest_clique(rows, [everything]) == max(map(len, wanted))


def test_the_set_without_nodes_has_one_maximal_clique() -> None:
    """Otherwise an edge whose NA is empty could not be deleted."""
    assert maximal_cliques((), 0) == [0]


def test_the_search_takes_the_node_with_most_neighbors_taken() -> None:
    star_and_edge = (0b01110, 0b00001, 0b01001, 0b00101, 0b00000)
    assert maximum_cardinality_search(star_and_edge, 0b11111) == [0, 1, 2, 3, 4]


@given(dags(max_nodes=7))
def test_the_moral_graph_joins_parents(dag: PDAG) -> None:
    edges = naive.moral_edges(dag.n, arcs_of(dag))
    rows = moral_graph(dag)
    assert edges == {frozenset((x, y)) for x in range(dag.n) for y in nodes(rows[x])}


@given(dags(max_nodes=7))
def test_each_node_of_a_min_fill_order_needs_the_fewest_new_edges(dag: PDAG) -> None:
    """The twin counts the new edges of every remaining node before each elimination."""
    rows = moral_graph(dag)
    edges = {frozenset((x, y)) for x in range(dag.n) for y in nodes(rows[x])}
    left = set(range(dag.n))

    def new_edges(v: int) -> set[frozenset[int]]:
        around = [u for u in left if frozenset((u, v)) in edges]
        return {frozenset((a, b)) for a in around for b in around if a < b} - edges

    for v in min_fill(rows).order:
        assert (len(new_edges(v)), v) == min((len(new_edges(u)), u) for u in left)
        edges |= new_edges(v)
        left.remove(v)
    assert not left


@settings(max_examples=150)
@given(undirected_graphs(max_nodes=6))
def test_treewidth_is_the_best_of_all_elimination_orders(rows: tuple[int, ...]) -> None:
    n = len(rows)
    edges = frozenset(frozenset((x, y)) for x in range(n) for y in frozen(rows[x]))
    wanted = naive.treewidth(n, edges)
    assert treewidth(rows) == wanted
    assert minor_min_width(rows) <= wanted <= min_fill(rows).width


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


def test_the_largest_clique_is_that_of_any_of_the_sets() -> None:
    two_triangles = (0b000110, 0b000101, 0b000011, 0b110000, 0b101000, 0b011000)
    assert largest_clique(two_triangles, [0b000011, 0b111000, 0b001001]) == 3
    assert largest_clique(two_triangles, [0b001001, 0b000011]) == 2
    assert largest_clique(two_triangles, [0, 0b001001]) == 1
    assert largest_clique(two_triangles, []) == 0


def apart_in_threes(parts: int) -> tuple[int, ...]:
    """Return the complete multipartite graph with parts of three nodes."""
    everything = (1 << 3 * parts) - 1
    return tuple(everything & ~(0b111 << v // 3 * 3) for v in range(3 * parts))


def test_the_largest_clique_of_a_multipartite_graph_needs_few_branches() -> None:
    """The graph has 3^40 maximal cliques (Moon & Moser 1965)."""
    assert largest_clique(apart_in_threes(40), [(1 << 120) - 1], allowed_branches=200) == 40


@given(undirected_graphs(max_nodes=8))
def test_a_largest_clique_that_is_not_known_is_an_interval_around_it(rows: tuple[int, ...]) -> None:
    everything = (1 << len(rows)) - 1
    exact = max(c.bit_count() for c in cliques(rows, everything))
    for allowed in range(12):
        size = largest_clique(rows, [everything], allowed)
        if isinstance(size, Between):
            assert size.low < size.high
            assert size.low <= exact <= size.high
        else:
            assert size == exact


def test_contracting_gives_a_better_lower_bound_than_the_least_degrees() -> None:
    """K4 with a node on each edge has nodes of degree 2, but treewidth 3."""
    rows = [0] * 10
    for middle, (x, y) in enumerate(combinations(range(4), 2), start=4):
        rows[middle] = 1 << x | 1 << y
        rows[x] |= 1 << middle
        rows[y] |= 1 << middle
    assert minor_min_width(rows) == treewidth(rows) == 3


@pytest.mark.parametrize(
    ("graph", "width"),
    [
        (nx.petersen_graph(), 4),
        (nx.hypercube_graph(3), 3),
        (nx.octahedral_graph(), 4),
        (nx.complete_bipartite_graph(3, 4), 3),
        (nx.wheel_graph(9), 3),
        (nx.icosahedral_graph(), 6),
        (nx.complete_multipartite_graph(3, 3, 3), 6),
        (nx.mycielski_graph(4), 5),
    ],
)
def test_known_graphs_have_their_known_treewidth(graph: "nx.Graph[int]", width: int) -> None:
    number = {v: i for i, v in enumerate(graph)}
    rows = [sum(1 << number[u] for u in graph[v]) for v in graph]
    assert treewidth(rows) == width
