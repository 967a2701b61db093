"""Tests for each point of docs/errata.md: errors of the paper and of its sources."""

from collections.abc import Iterator
from pathlib import Path

import naive
from bridge import arcs_of, pdag_of
from sges.errors import NoConsistentExtension
from sges.graph import PDAG, is_dag, pdag_to_cpdag
from sges.nodeset import subsets
from sges.operators import Delete, all_deletes
from sges.properties import MaxVStructures, MaxVWidth
from sges.selective import selective_generate_ops

ROOT = Path(__file__).parents[2]


def deletes_against_the_arrow(n: int) -> Iterator[tuple[PDAG, Delete]]:
    """Yield the deletes that Fig. 2 allows if "adjacent" includes y → x."""
    for arcs in naive.all_cpdags(n):
        g = pdag_of(n, arcs)
        for y, x in g.directed_edges():
            na = g.na(y, x)
            for h in subsets(na):
                if g.is_clique(na & ~h):
                    yield g, Delete(x, y, h)


def test_figure_2_with_an_edge_from_y_to_x_leads_to_graphs_without_extension() -> None:
    """There are no such graphs with four nodes, but some with five."""
    assert not any(has_no_extension(d._edit(g)) for g, d in deletes_against_the_arrow(4))
    assert any(has_no_extension(d._edit(g)) for g, d in deletes_against_the_arrow(5))


def has_no_extension(pdag: PDAG) -> bool:
    try:
        pdag_to_cpdag(pdag)
    except NoConsistentExtension:
        return True
    return False


def test_figure_2_with_an_edge_from_y_to_x_scores_wrongly() -> None:
    """In y → x ← z, x is not in the family of y, and the delete changes the family of x."""
    g = PDAG.from_edges(3, directed=[(1, 0), (2, 0)])
    after = pdag_to_cpdag(Delete(0, 1)._edit(g))
    assert after.parents(0) != g.parents(0)
    assert not g.parents(1) >> 0 & 1


def test_corollary_18_of_chickering_2002_forgets_x_in_the_larger_family() -> None:
    """On x — y, x is not a parent of y: unless it is added, every delete has gain zero."""
    g = PDAG.complete(2)
    asked: list[tuple[int, int]] = []

    class Recording:
        n = 2

        def local(self, y: int, parents: int) -> float:
            asked.append((y, parents))
            return 0.0

    Delete(0, 1).delta(Recording(), g)
    assert g.parents(1) == 0
    assert (1, 0b01) in asked


def test_removing_an_edge_can_raise_the_v_width_and_the_number_of_v_structures() -> None:
    """The argument of the paper for heredity holds for nodes only."""
    before = PDAG.from_edges(3, [(0, 1), (0, 2), (1, 2)])
    after = before.edited(remove=[(0, 1)])
    assert is_dag(after)
    assert (MaxVWidth.measure(before), MaxVWidth.measure(after)) == (0, 1)
    assert (MaxVStructures.measure(before), MaxVStructures.measure(after)) == (0, 1)


def test_k_minus_one_suffices_for_cliques_since_h_and_x_form_a_larger_one() -> None:
    for arcs in naive.all_cpdags(4):
        g = pdag_of(4, arcs)
        for delete in all_deletes(g):
            after = delete.apply(g)
            inside = naive.largest_clique(arcs_of(after), frozenset(range(4)))
            if delete.h:
                assert delete.h in selective_generate_ops(g, delete.x, delete.y, inside - 1)


def test_generation_proposes_some_h_with_a_clique_larger_than_s() -> None:
    """With s = 1, some H combine nodes of H_0 and C to a clique of two."""
    mixed = 0
    for arcs in naive.all_cpdags(5):
        g = pdag_of(5, arcs)
        for x, y in g.undirected_edges():
            for h in selective_generate_ops(g, x, y, 1):
                members = frozenset(v for v in range(5) if h >> v & 1)
                mixed += naive.largest_clique(arcs, members) > 1
    assert mixed > 0


def test_every_erratum_in_the_docs_names_its_test() -> None:
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    sections = text.split("\n## ")[1:]
    assert len(sections) >= 8
    for section in sections:
        assert "Shown by:" in section, section.splitlines()[0]
