"""Chordal graphs against networkx and brute force."""

from itertools import combinations, product

import networkx as nx
import pytest
from hypothesis import given

from bridge import frozen
from sges.errors import NotChordal
from sges.graph import maximal_cliques, maximum_cardinality_search
from sges.graph.chordal import cliques, largest_clique
from strategies import undirected_graphs


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
    """``find_cliques`` is the oracle: networkx's chordal functions accept some that are not."""
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
    assert largest_clique(rows, everything) == max(map(len, wanted))


def test_the_set_without_nodes_has_one_maximal_clique() -> None:
    """Otherwise an edge whose NA is empty could not be deleted."""
    assert maximal_cliques((), 0) == [0]


def test_the_search_takes_the_node_with_most_neighbors_taken() -> None:
    star_and_edge = (0b01110, 0b00001, 0b01001, 0b00101, 0b00000)
    assert maximum_cardinality_search(star_and_edge, 0b11111) == [0, 1, 2, 3, 4]
