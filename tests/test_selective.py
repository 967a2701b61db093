"""FilterCliques, Selective-Generate-Ops and consistency."""

from typing import get_args

import pytest

import naive
from bridge import frozen, pdag_of
from sges.errors import GraphError, InvalidArgument
from sges.graph import PDAG
from sges.nodeset import nodeset
from sges.operators import deletes
from sges.properties import MaxClique, MaxParents
from sges.selective import (
    Reading,
    consistency_set,
    filter_cliques,
    fits,
    is_consistent,
    proposed_sets,
    selective_generate_ops,
)


def edges_of(g: PDAG) -> list[tuple[int, int]]:
    return [(x, y) for x in range(g.n) for y in frozen(g.out[x])]


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_a_slack_bound_proposes_exactly_the_valid_deletes(n: int) -> None:
    """On every CPDAG; the twin tries all subsets of NA and checks Fig. 2."""
    for arcs in naive.all_cpdags(n):
        g = pdag_of(n, arcs)
        for x, y in edges_of(g):
            proposed = {frozen(h) for h in selective_generate_ops(g, x, y, s=n)}
            assert proposed == naive.valid_deletes(arcs, x, y)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_proposal_is_valid_and_every_valid_h_without_a_large_clique_is_proposed(
    n: int,
) -> None:
    for arcs in naive.all_cpdags(n):
        g = pdag_of(n, arcs)
        for x, y in edges_of(g):
            valid = naive.valid_deletes(arcs, x, y)
            for s in range(n):
                proposed = {frozen(h) for h in selective_generate_ops(g, x, y, s)}
                assert proposed <= valid
                assert {h for h in valid if naive.largest_clique(arcs, h) <= s} <= proposed
                assert {frozen(h) for h in proposed_sets(g, x, y, s, None) if fits(g, h, s)} == {
                    h for h in valid if naive.largest_clique(arcs, h) <= s
                }


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_size_bound_proposes_exactly_the_valid_deletes_of_that_size(n: int) -> None:
    for arcs in naive.all_cpdags(n):
        g = pdag_of(n, arcs)
        for x, y in edges_of(g):
            for size in range(n):
                wanted = {h for h in naive.valid_deletes(arcs, x, y) if len(h) <= size}
                assert {frozen(h) for h in proposed_sets(g, x, y, None, size)} == wanted


def test_filter_cliques_looks_at_what_a_clique_leaves_not_at_its_size() -> None:
    big, small = nodeset([0, 1, 2, 3]), nodeset([3, 4])
    assert filter_cliques([big, small], 0) == []
    assert filter_cliques([big, small], 1) == [big]
    assert filter_cliques([big, small], 3) == [big, small]
    assert filter_cliques([0], 0) == [0]


def test_an_edge_without_na_can_be_deleted_under_any_bound() -> None:
    g = PDAG.from_edges(2, undirected=[(0, 1)])
    assert selective_generate_ops(g, 0, 1, 0) == {0}


def test_deletes_of_one_edge_in_the_complete_graph_on_60_nodes_are_few_under_a_bound() -> None:
    assert len(selective_generate_ops(PDAG.complete(60), 0, 1, s=1)) == 59


@pytest.mark.parametrize("n", [3, 4])
def test_the_repaired_set_lies_between_common_children_and_common_descendants(n: int) -> None:
    for arcs in naive.all_cpdags(n):
        g = pdag_of(n, arcs)
        for x, y in edges_of(g):
            for d in deletes(g, x, y):
                after = d.apply(g)
                repaired, children, descendants = (
                    consistency_set(after, x, y, reading) for reading in get_args(Reading)
                )
                assert not children & ~repaired
                assert not repaired & ~descendants
                assert not d.h & ~children


def test_bad_arguments_are_refused() -> None:
    g = PDAG.from_edges(3, [(0, 2), (1, 2)])
    with pytest.raises(GraphError, match="no edge 2→0 or 2—0"):
        selective_generate_ops(g, 2, 0, 1)
    with pytest.raises(GraphError, match="s = -1"):
        selective_generate_ops(g, 0, 2, -1)
    delete = next(deletes(g, 0, 2))
    with pytest.raises(InvalidArgument, match="reading = 'literal' is not one of"):
        is_consistent(delete, g, MaxParents(1), reading="literal")  # type: ignore[arg-type]
    assert is_consistent(delete, g, MaxClique(2))


def test_sets_mixed_from_two_cliques_are_dropped_on_request() -> None:
    """0 and 4 are adjacent to the path 1 — 2 — 3: H = {2, 3} mixes H_0 = {3} with part of C."""
    path, ends = [(1, 2), (2, 3)], [(e, v) for e in (0, 4) for v in (1, 2, 3)]
    g = PDAG.from_edges(5, undirected=[(0, 4), *path, *ends])
    mixed = nodeset({2, 3})
    assert mixed in selective_generate_ops(g, 0, 4, 1)
    kept = [h for h in proposed_sets(g, 0, 4, 1, None) if fits(g, h, 1)]
    assert sorted(kept) == [nodeset({1}), nodeset({3}), nodeset({1, 3})]
