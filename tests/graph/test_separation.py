"""d-separation and IMAPs, compared with a list of all active paths."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from bridge import frozen, pdag_of
from sges.errors import GraphError, NotADAG
from sges.graph import PDAG, d_separated, is_imap
from strategies import dags


@pytest.mark.parametrize("n", [2, 3, 4])
def test_d_separation_is_the_absence_of_active_paths(n: int) -> None:
    """For every DAG, every pair and every conditioning set."""
    for arcs in naive.all_dags(n):
        dag = pdag_of(n, arcs)
        for x in range(n):
            for y in range(x):
                for given_ in naive.powerset(v for v in range(n) if v not in (x, y)):
                    wanted = naive.d_separated(n, arcs, x, y, frozenset(given_))
                    assert d_separated(dag, {x}, {y}, given_) == wanted


@given(dags(max_nodes=10, min_nodes=2), st.data())
def test_d_separation_of_sets_equals_that_of_networkx(dag: PDAG, data: st.DataObject) -> None:
    part = data.draw(st.lists(st.integers(0, 3), min_size=dag.n, max_size=dag.n))
    sets = [{v for v in range(dag.n) if part[v] == k} for k in range(3)]
    graph = nx.DiGraph(dag.directed_edges())
    graph.add_nodes_from(range(dag.n))
    name = "is_d_separator" if hasattr(nx, "is_d_separator") else "d_separated"  # networkx 3.2
    assert d_separated(dag, *sets) == getattr(nx, name)(graph, *sets)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_an_imap_implies_no_independence_that_the_truth_lacks(n: int) -> None:
    """For every pair of classes."""
    graphs = [
        (pdag_of(n, c), naive.independences(n, dags[0])) for c, dags in naive.all_cpdags(n).items()
    ]
    for h, of_h in graphs:
        for g, of_g in graphs:
            assert is_imap(h, g) == (not of_h & ~of_g)


def test_overlapping_sets_cycles_and_different_sizes_are_refused() -> None:
    with pytest.raises(GraphError, match=r"\{1\} is in two of them"):
        d_separated(PDAG.empty(3), {0, 1}, {1}, {2})
    with pytest.raises(NotADAG, match="directed cycle"):
        d_separated(PDAG.from_edges(3, [(0, 1), (1, 2), (2, 0)]), {0}, {1})
    with pytest.raises(GraphError, match="has 2 nodes and the truth 3"):
        is_imap(PDAG.empty(2), PDAG.empty(3))


def test_a_bare_integer_is_a_node_and_not_a_set() -> None:
    """As node sets, 0 would be the empty set, and 1 the set {0}."""
    edge = PDAG.from_edges(3, [(0, 1)])
    assert not d_separated(edge, 0, 1)
    assert d_separated(edge, 0, 2)
    chain = PDAG.from_edges(3, [(0, 1), (1, 2)])
    assert not d_separated(chain, 0, 2)
    assert d_separated(chain, 0, 2, 1)
    assert frozen(chain.ancestors(1)) == {0, 1}
    assert frozen(chain.descendants(1)) == {1, 2}
    assert frozen(chain.descendants([0, 2])) == {0, 1, 2}
