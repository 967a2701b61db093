"""The size of a class and uniform draws from it, compared with a list of all members."""

import random
import subprocess
import sys
from collections import Counter
from itertools import combinations, permutations
from math import factorial

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import naive
from bridge import pdag_of
from sges.errors import InvalidArgument, NoConsistentExtension, Undecided
from sges.graph import (
    PDAG,
    class_size,
    dag_to_cpdag,
    extensions,
    is_dag,
    members,
    sample_members,
)
from sges.graph.meek import close_under_meek
from sges.graph.undirected import Between
from sges.network import random_dag, random_polytree
from sges.tools import counting
from strategies import cpdags


@pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_the_size_of_every_class_is_the_number_of_its_members(n: int) -> None:
    for arcs, dags in naive.all_cpdags(n).items():
        assert class_size(pdag_of(n, arcs)) == len(dags)


CONNECTED_CHORDAL_GRAPHS = {1: 1, 2: 1, 3: 2, 4: 5, 5: 15, 6: 58, 7: 272}
"""The number of these graphs up to isomorphism, by the number of nodes."""


@pytest.mark.parametrize("n", [3, 4, 5, 6, pytest.param(7, marks=pytest.mark.slow)])
def test_the_size_of_every_chain_component_is_the_number_of_its_orientations(
    n: int, seed: int
) -> None:
    """The size of a class is the product over its chain components, so this covers all classes."""
    rng = random.Random(seed)
    components = [
        graph
        for graph in nx.graph_atlas_g()
        if len(graph) == n and nx.is_connected(graph) and nx.is_chordal(graph)
    ]
    assert len(components) == CONNECTED_CHORDAL_GRAPHS[n]
    for graph in components:
        lines = {frozenset(edge) for edge in graph.edges}
        orientations = set()
        for order in permutations(range(n)):
            earlier = [{u for u in order[:i] if {u, v} in lines} for i, v in enumerate(order)]
            if all({u, w} in lines for p in earlier for u, w in combinations(p, 2)):
                parents = dict(zip(order, map(frozenset, earlier), strict=True))
                orientations.add(tuple(parents[v] for v in range(n)))
        new = rng.sample(range(n), n)
        edges = [(new[u], new[v]) for u, v in graph.edges]
        assert class_size(PDAG.from_edges(n, undirected=edges)) == len(orientations)


def refined(cpdag: PDAG, seed: int) -> PDAG:
    """Return a class with up to two edges directed as in one member, closed under Meek's rules."""
    rng = random.Random(seed)
    lines = cpdag.undirected_edges()
    member = sample_members(cpdag, 1, seed)[0]
    chosen = [e for e in member.directed_edges() if e in lines or e[::-1] in lines]
    return close_under_meek(cpdag, rng.sample(chosen, min(len(chosen), rng.randint(0, 2))))


@settings(max_examples=60)
@given(cpdags(max_nodes=6), st.integers(0, 2**32))
def test_the_size_of_a_refined_class_is_the_number_of_its_extensions(
    cpdag: PDAG, seed: int
) -> None:
    graph = refined(cpdag, seed)
    wanted = list(extensions(graph))
    assert class_size(graph) == len(wanted)
    for dag in sample_members(graph, 3, seed):
        assert dag in wanted


def test_trees_and_complete_graphs_have_known_sizes() -> None:
    for n in range(1, 30):
        tree = dag_to_cpdag(random_polytree(n))
        undirected = PDAG(tree.skeleton(), tree.skeleton())
        assert class_size(undirected) == n
        assert class_size(PDAG.complete(n)) == factorial(n)


def test_a_class_of_more_than_1e30_members_is_counted_and_drawn_from() -> None:
    cpdag = PDAG.complete(30)
    assert class_size(cpdag) == factorial(30) > 1e30
    first, second = sample_members(cpdag, 2, seed=1)
    assert is_dag(first)
    assert dag_to_cpdag(first) == dag_to_cpdag(second) == cpdag
    assert first != second


def chordal(n: int, width: int, seed: int) -> PDAG:
    """Return a random chordal graph: each new node is connected to an earlier clique."""
    rng = random.Random(seed)
    edges = list(combinations(range(width), 2))
    earlier = [tuple(range(width))]
    for v in range(width, n):
        clique = rng.choice(earlier)
        edges += [(u, v) for u in clique]
        earlier += [(*(w for w in clique if w != u), v) for u in clique]
    return PDAG.from_edges(n, undirected=edges)


def test_sizes_are_those_of_the_package_of_the_inventors() -> None:
    peer = pytest.importorskip("cliquepicking")
    for seed in range(60):
        n = 5 + seed % 30
        dag = random_dag(n, n + seed % 5, seed=seed)
        for graph in (dag_to_cpdag(dag), chordal(n, 1 + seed % 4, seed)):
            lines = graph.undirected_edges()
            arcs = [*graph.directed_edges(), *lines, *((y, x) for x, y in lines)]
            assert class_size(graph) == peer.mec_size(arcs)


TWO_TRIANGLES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)]


@pytest.mark.parametrize("arrows", [[], [(1, 3)]])
def test_members_are_drawn_uniformly(arrows: list[tuple[int, int]], seed: int) -> None:
    cpdag = close_under_meek(PDAG.from_edges(5, undirected=TWO_TRIANGLES), arrows)
    counts = Counter(sample_members(cpdag, 3000, seed))
    every = list(extensions(cpdag))
    assert set(counts) == set(every)
    assert chisquare([counts[dag] for dag in every]).pvalue > 1e-4


def test_a_refined_class_beyond_the_limit_is_an_interval_around_its_size() -> None:
    graph = close_under_meek(PDAG.complete(5), [(0, 1)])
    assert class_size(graph) == 60
    size = class_size(graph, limit=20)
    assert size == Between(21, 120)


def test_draws_by_rejection_are_extensions_and_are_given_up_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = close_under_meek(PDAG.complete(7), [(0, 1)])  # 2,520 members
    for dag in sample_members(graph, 5):
        assert is_dag(dag)
        assert dag.out[0] >> 1 & 1
    monkeypatch.setattr(counting, "MAX_TRIES", 0)
    with pytest.raises(Undecided, match="too few for rejection sampling"):
        sample_members(graph, 1)


def test_names_are_kept_and_bad_arguments_refused() -> None:
    chain = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)], names=["a", "b", "c"])
    assert sample_members(chain, 1)[0].names == ("a", "b", "c")
    assert sample_members(chain, 0) == []
    assert set(sample_members(chain, 60)) == set(members(chain))
    with pytest.raises(InvalidArgument, match="k = -1"):
        sample_members(chain, -1)
    with pytest.raises(NoConsistentExtension):
        class_size(PDAG.from_edges(4, undirected=[(0, 1), (1, 2), (2, 3), (3, 0)]))


def test_the_package_of_graphs_offers_them_without_importing_a_tool() -> None:
    code = (
        "import sges.graph as g, sys; print({*g.__all__} - {*dir(g)}, 'sges.tools' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set() False\n"
