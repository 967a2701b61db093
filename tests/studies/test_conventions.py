"""The matrix or list of edges of a peer is read in its convention; no arrow is reversed."""

import numpy as np
import pytest
from hypothesis import given

from sges.graph import PDAG, dag_to_cpdag
from sges.tools.export.matrix import to_numpy
from strategies import dags
from studies.peers.adapters.conventions import (
    from_endpoints,
    from_names,
    from_ones_and_twos,
    from_row_to_column,
    from_strings,
)
from studies.peers.contract import Found

# 0 → 2 ← 1, 2 → 3 and 4 — 5: the graph is not symmetric.
DIRECTED, UNDIRECTED = ((0, 2), (1, 2), (2, 3)), ((4, 5),)
KNOWN = Found(DIRECTED, UNDIRECTED)
NAMES = [f"x{v}" for v in range(6)]


def test_row_to_column_puts_the_source_in_the_row() -> None:
    matrix = np.zeros((6, 6))
    for x, y in (*DIRECTED, (4, 5), (5, 4)):
        matrix[x, y] = 1
    assert from_row_to_column(matrix) == KNOWN


def test_endpoint_coding_puts_the_arrowhead_in_the_row_of_the_target() -> None:
    """As causal-learn documents it: graph[j, i] = 1 and graph[i, j] = −1 is i → j."""
    matrix = np.zeros((6, 6))
    for i, j in DIRECTED:
        matrix[j, i], matrix[i, j] = 1, -1
    matrix[4, 5] = matrix[5, 4] = -1
    assert from_endpoints(matrix) == KNOWN


def test_flop_writes_ones_from_the_source_and_twos_for_lines() -> None:
    matrix = np.zeros((6, 6))
    for i, j in DIRECTED:
        matrix[i, j] = 1
    matrix[4, 5] = matrix[5, 4] = 2
    assert from_ones_and_twos(matrix) == KNOWN


def test_names_are_places_of_columns_and_lines_have_no_direction() -> None:
    arrows = [("x0", "x2"), ("x2", "x3"), ("x1", "x2")]
    assert from_names(NAMES, arrows, [("x5", "x4"), ("x4", "x5")]) == KNOWN


def test_tetrads_words_are_read_in_both_directions() -> None:
    edges = ["x0 --> x2", "x2 <-- x1", "x2 --> x3", "x5 --- x4"]
    assert from_strings(NAMES, edges) == KNOWN


def test_an_edge_that_no_cpdag_has_is_refused() -> None:
    with pytest.raises(ValueError, match="<->"):
        from_strings(NAMES, ["x0 <-> x1"])


@given(dags())
def test_our_own_exports_are_read_back(dag: PDAG) -> None:
    graph = dag_to_cpdag(dag)
    found = Found(tuple(graph.directed_edges()), tuple(graph.undirected_edges()))
    assert from_row_to_column(to_numpy(graph, "row-to-column")) == found
    assert from_endpoints(to_numpy(graph, "causal-learn")) == found
