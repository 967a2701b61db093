"""Hypothesis strategies for graphs."""

import hypothesis.strategies as st

from sges.graph import PDAG, dag_to_cpdag


@st.composite
def dags(draw: st.DrawFn, max_nodes: int = 8, min_nodes: int = 1) -> PDAG:
    """Draw a DAG: an order of the nodes, and a subset of the forward edges."""
    order = draw(st.permutations(range(draw(st.integers(min_nodes, max_nodes)))))
    pairs = [(x, y) for i, x in enumerate(order) for y in order[i + 1 :]]
    chosen = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    edges = [pair for pair, there in zip(pairs, chosen, strict=True) if there]
    return PDAG.from_edges(len(order), edges)


def cpdags(max_nodes: int = 8, min_nodes: int = 1) -> st.SearchStrategy[PDAG]:
    """Return a strategy for CPDAGs."""
    return dags(max_nodes, min_nodes).map(dag_to_cpdag)


@st.composite
def relabeled(draw: st.DrawFn, max_nodes: int = 7) -> tuple[PDAG, list[int]]:
    """Draw a DAG and a permutation of its nodes."""
    dag = draw(dags(max_nodes))
    return dag, draw(st.permutations(range(dag.n)))


@st.composite
def undirected_graphs(draw: st.DrawFn, max_nodes: int = 8) -> tuple[int, ...]:
    """Draw an undirected graph, as a node set for each node."""
    n = draw(st.integers(0, max_nodes))
    rows = [0] * n
    for x in range(n):
        for y in range(x):
            if draw(st.booleans()):
                rows[x] |= 1 << y
                rows[y] |= 1 << x
    return tuple(rows)
