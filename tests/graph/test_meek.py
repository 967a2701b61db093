"""Meek's rules against all members of a class that agree with what was directed."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from bridge import arcs_of, pdag_of
from sges.graph import PDAG, close_under_meek, dag_to_cpdag
from strategies import dags


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_closure_directs_what_all_agreeing_members_share(n: int) -> None:
    """R4 included: one edge of the CPDAG is directed from outside, both ways."""
    for cpdag, members in naive.all_cpdags(n).items():
        for x, y in {a for a in cpdag if a[::-1] in cpdag}:
            agreeing = tuple(dag for dag in members if (x, y) in dag)
            closed = close_under_meek(pdag_of(n, cpdag), [(x, y)])
            assert arcs_of(closed) == naive.cpdag_of_members(agreeing)


@given(dags(max_nodes=6), st.data())
def test_the_closure_is_maximal_for_two_edges_directed_at_once(
    dag: PDAG, data: st.DataObject
) -> None:
    cpdag = dag_to_cpdag(dag)
    lines = [e for e in dag.directed_edges() if e not in cpdag.directed_edges()]
    known = data.draw(st.sampled_from([(), *combinations(lines, 2)]))
    extensions = naive.extensions(dag.n, arcs_of(cpdag))
    agreeing = tuple(e for e in extensions if set(known) <= e)
    assert arcs_of(close_under_meek(cpdag, known)) == naive.cpdag_of_members(agreeing)


def test_rule_3_needs_its_two_nodes_not_adjacent() -> None:
    """The slip of several programs: here c → d, and a — b must stay."""
    a, b, c, d = range(4)
    pdag = PDAG.from_edges(
        4, directed=[(c, b), (d, b), (c, d)], undirected=[(a, b), (a, c), (a, d)]
    )
    assert (a, b) in close_under_meek(pdag).undirected_edges()


def test_rule_4_directs_what_the_other_rules_leave() -> None:
    a, b, c, d = range(4)
    lines = [(a, b), (a, c), (a, d), (c, d)]
    pdag = PDAG.from_edges(4, directed=[(d, b)], undirected=lines)
    assert (a, b) in close_under_meek(pdag, [(c, d)]).directed_edges()
