"""Other libraries read what we hand them as the same graph; each where it is installed."""

import pytest
from hypothesis import given

from sges.errors import MissingLibrary
from sges.export import to_causallearn, to_numpy, to_pgmpy
from sges.export.objects import need
from sges.graph import PDAG
from strategies import cpdags


@given(graph=cpdags())
def test_causal_learn_codes_our_graph_in_the_matrix_that_we_name_after_it(graph: PDAG) -> None:
    pytest.importorskip("causallearn")
    made = to_causallearn(graph)
    assert (made.graph == to_numpy(graph, "causal-learn")).all()
    assert made.get_node_names() == [graph.name(v) for v in range(graph.n)]


@given(graph=cpdags())
def test_pgmpy_has_our_nodes_arrows_and_lines(graph: PDAG) -> None:
    pytest.importorskip("pgmpy.base")
    made = to_pgmpy(graph)
    assert set(made.nodes()) == {graph.name(v) for v in range(graph.n)}
    assert set(made.directed_edges) == {(str(x), str(y)) for x, y in graph.directed_edges()}
    lines = {frozenset(edge) for edge in made.undirected_edges}
    assert lines == {frozenset((str(x), str(y))) for x, y in graph.undirected_edges()}


def test_a_library_that_is_not_there_is_named_with_its_remedy() -> None:
    with pytest.raises(MissingLibrary, match=r"a thing needs nowhere, .*: pip install nowhere"):
        need("nowhere.at.all", "a thing")
