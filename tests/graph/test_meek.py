"""Meek's rules, compared with all members of a class that have the given directions."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from bridge import arcs_of, pdag_of
from sges.graph import PDAG, dag_to_cpdag, pdag_to_dag
from sges.graph.meek import close_under_meek, direct_in_turn
from sges.network import random_dag
from strategies import dags


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_closure_directs_what_all_agreeing_members_share(n: int) -> None:
    """Including rule 4: each undirected edge of each CPDAG is directed, in both directions."""
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


def one_pass(n: int, arcs: naive.Arcs) -> naive.Arcs:
    """Return the arcs b → a to remove: a rule of Meek directs a — b as a → b."""
    near = {v: naive.neighbors(arcs, v) for v in range(n)}
    up = {v: naive.parents(arcs, v) for v in range(n)}
    linked = {v: naive.adjacent(arcs, v) for v in range(n)}

    def directs(a: int, b: int) -> bool:
        first = any(c not in linked[b] and c != b for c in up[a])
        second = any(a in up[c] for c in up[b])
        third = any(d not in linked[c] for c, d in combinations(near[a] & up[b], 2))
        fourth = any(
            c in up[d] and c not in linked[b] for d in up[b] & linked[a] for c in near[a] - {b}
        )
        return first or second or third or fourth

    return frozenset((b, a) for a in range(n) for b in near[a] if directs(a, b))


@given(dags(max_nodes=9), st.data())
def test_the_list_of_work_misses_no_edge(dag: PDAG, data: st.DataObject) -> None:
    """The twin examines all edges repeatedly; the given directions are those of a member."""
    cpdag = dag_to_cpdag(dag)
    lines = [e for e in dag.directed_edges() if e not in cpdag.directed_edges()]
    known = data.draw(st.lists(st.sampled_from(lines), unique=True)) if lines else []
    arcs = arcs_of(cpdag) - {(y, x) for x, y in known}
    while away := one_pass(dag.n, arcs):
        arcs -= away
    assert arcs_of(close_under_meek(cpdag, known)) == arcs
    closed, contradicting = direct_in_turn(cpdag, known)
    assert (arcs_of(closed), contradicting) == (arcs, [])


@given(dags(max_nodes=6), st.data())
def test_arrows_in_turn_contradict_exactly_if_no_member_has_them_all(
    dag: PDAG, data: st.DataObject
) -> None:
    cpdag = dag_to_cpdag(dag)
    lines = cpdag.undirected_edges()
    wanted = [
        data.draw(st.sampled_from([(x, y), (y, x)])) for x, y in lines if data.draw(st.booleans())
    ]
    closed, contradicting = direct_in_turn(cpdag, wanted)
    every = naive.extensions(dag.n, arcs_of(cpdag))
    agreeing = tuple(e for e in every if set(wanted) - set(contradicting) <= e)
    assert arcs_of(closed) == naive.cpdag_of_members(agreeing)
    assert bool(contradicting) == (not any(set(wanted) <= e for e in every))


def test_closing_finds_what_an_unclosed_graph_leaves_open(seed: int) -> None:
    """Only the v-structures are given; the closure is the CPDAG (Meek 1995)."""
    for i in range(40):
        dag = random_dag(12, 18, seed=seed * 100 + i)
        cpdag = dag_to_cpdag(dag)
        collider = {(p, z) for x, z, y in dag.v_structures() for p in (x, y)}
        pattern = dag.edited(undirect=[e for e in dag.directed_edges() if e not in collider])
        assert close_under_meek(pattern) == cpdag
        assert dag_to_cpdag(pdag_to_dag(pattern)) == cpdag


def test_rule_3_needs_its_two_nodes_not_adjacent() -> None:
    """A mistake of several programs: here c → d, so a — b must remain undirected."""
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
