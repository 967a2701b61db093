"""DAG → CPDAG, PDAG → DAG and the members of a class, exhaustively on small graphs."""

import pytest

import naive
from bridge import arcs_of, pdag_of
from sges.errors import NoConsistentExtension, NotADAG
from sges.graph import (
    PDAG,
    covered_edges,
    dag_to_cpdag,
    extensions,
    is_cpdag,
    is_dag,
    members,
    pdag_to_cpdag,
    pdag_to_dag,
    topological_order,
)


@pytest.mark.parametrize(
    ("n", "dags", "cpdags"),
    [(1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185), (5, 29281, 8782)],
)
def test_there_are_as_many_dags_and_cpdags_as_known(n: int, dags: int, cpdags: int) -> None:
    """The numbers of Robinson (1973) and Gillispie & Perlman (2001)."""
    graphs = [pdag_of(n, arcs) for arcs in naive.all_dags(n)]
    assert len(graphs) == dags
    assert len({dag_to_cpdag(g) for g in graphs}) == cpdags


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_a_cpdag_directs_exactly_the_edges_that_all_members_share(n: int) -> None:
    for cpdag, dags in naive.all_cpdags(n).items():
        wanted = pdag_of(n, cpdag)
        for dag in dags:
            assert dag_to_cpdag(pdag_of(n, dag)) == wanted


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_is_cpdag_is_true_of_the_cpdags_only(n: int) -> None:
    known = naive.all_cpdags(n)
    for arcs in naive.all_pdags(n):
        assert is_cpdag(pdag_of(n, arcs)) == (arcs in known)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_members_are_the_class_each_once(n: int) -> None:
    for cpdag, dags in naive.all_cpdags(n).items():
        found = [arcs_of(dag) for dag in members(pdag_of(n, cpdag))]
        assert len(found) == len(set(found))
        assert set(found) == set(dags)


def test_members_of_a_huge_class_come_lazily() -> None:
    dag = next(members(PDAG.complete(40)))
    assert is_dag(dag)
    assert dag.edge_count() == 780


@pytest.mark.parametrize("n", [2, 3, 4])
def test_covered_edges_are_those_whose_reversal_stays_in_the_class(n: int) -> None:
    for arcs in naive.all_dags(n):
        wanted = {
            (x, y)
            for x, y in arcs
            if naive.is_acyclic(n, turned := arcs - {(x, y)} | {(y, x)})
            and naive.class_of(turned) == naive.class_of(arcs)
        }
        assert set(covered_edges(pdag_of(n, arcs))) == wanted


def test_dor_and_tarsi_accept_what_the_summary_of_chickering_2002_rejects() -> None:
    """Its Appendix C requires the parents and neighbors of a sink to be a clique: too strict.

    Here 2 is the only possible first sink: its neighbor 3 is adjacent to both its parents,
    but the parents 0 and 1 are not adjacent to each other.
    """
    pdag = PDAG.from_edges(4, directed=[(0, 2), (1, 2), (0, 3), (1, 3)], undirected=[(2, 3)])
    assert is_cpdag(pdag)
    assert naive.class_of(arcs_of(pdag_to_dag(pdag))) == naive.class_of(arcs_of(pdag))


def test_a_pdag_without_an_extension_raises_and_never_loops() -> None:
    square = PDAG.from_edges(4, undirected=[(0, 1), (1, 2), (2, 3), (0, 3)])
    with pytest.raises(NoConsistentExtension, match="cannot be directed"):
        pdag_to_cpdag(square)
    with pytest.raises(NoConsistentExtension):
        next(members(square))


def test_a_cycle_in_a_dag_is_named() -> None:
    g = PDAG.from_edges(4, [(3, 0), (0, 1), (1, 2), (2, 0)])
    with pytest.raises(NotADAG, match=r"directed cycle (0→1→2→0|1→2→0→1|2→0→1→2)"):
        dag_to_cpdag(g)
    g = PDAG.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)])  # 0 is not on it
    with pytest.raises(NotADAG, match=r"directed cycle (1→2→3→1|2→3→1→2|3→1→2→3)"):
        dag_to_cpdag(g)


def test_an_undirected_edge_in_a_dag_is_named() -> None:
    with pytest.raises(NotADAG, match="0—1 is undirected"):
        topological_order(PDAG.from_edges(2, undirected=[(0, 1)]))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_extensions_of_any_pdag_are_those_found_by_trying_all_directions(n: int) -> None:
    """On every PDAG, closed under Meek's rules or not."""
    for arcs in naive.all_pdags(n):
        pdag, wanted = pdag_of(n, arcs), naive.extensions(n, arcs)
        if not wanted:
            with pytest.raises(NoConsistentExtension, match="no consistent extension"):
                pdag_to_dag(pdag)
            with pytest.raises(NoConsistentExtension, match="no consistent extension"):
                extensions(pdag)
            continue
        assert arcs_of(pdag_to_dag(pdag)) in wanted
        found = [arcs_of(dag) for dag in extensions(pdag)]
        assert sorted(found, key=sorted) == sorted(wanted, key=sorted)
