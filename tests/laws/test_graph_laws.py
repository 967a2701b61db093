"""Laws of graphs and operators, on random graphs."""

import random

from hypothesis import given
from hypothesis import strategies as st

from bridge import frozen
from sges.graph import (
    PDAG,
    covered_edges,
    d_separated,
    dag_to_cpdag,
    is_cpdag,
    is_dag,
    is_imap,
    maximal_cliques,
    members,
    pdag_to_cpdag,
    pdag_to_dag,
)
from sges.nodeset import nodes, nodeset
from sges.operators import Delete, Insert, Operator, Turn, all_deletes, all_inserts, all_turns
from sges.properties import AtMost, MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth
from sges.selective import consistency_set, selective_generate_ops
from strategies import cpdags, dags, relabeled

PROPERTIES: list[type[AtMost]] = [MaxParents, MaxClique, MaxVWidth, MaxTreewidth, MaxVStructures]


@given(dags())
def test_cpdag_survives_every_covered_edge_reversal(dag: PDAG) -> None:
    """Chickering (1995): reversing a covered edge does not change the equivalence class."""
    for x, y in covered_edges(dag):
        assert dag_to_cpdag(dag.edited(direct=[(y, x)])) == dag_to_cpdag(dag)


@given(dags())
def test_completing_twice_is_completing_once(dag: PDAG) -> None:
    cpdag = dag_to_cpdag(dag)
    assert is_cpdag(cpdag)
    assert pdag_to_cpdag(cpdag) == cpdag


@given(cpdags(max_nodes=6))
def test_every_member_has_the_cpdag_of_its_class(cpdag: PDAG) -> None:
    for dag in members(cpdag):
        assert is_dag(dag)
        assert dag_to_cpdag(dag) == cpdag


@given(cpdags())
def test_a_class_is_an_imap_of_itself_and_the_complete_graph_of_all(cpdag: PDAG) -> None:
    assert is_imap(cpdag, pdag_to_dag(cpdag))
    assert is_imap(PDAG.complete(cpdag.n), cpdag)
    assert is_imap(cpdag, PDAG.empty(cpdag.n))


@given(cpdags(max_nodes=9), st.integers(0, 2**32))
def test_a_random_sequence_of_operators_never_leaves_the_cpdags(g: PDAG, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        generate = rng.choice([all_inserts, all_deletes, all_turns])
        operators: list[Operator] = list(generate(g))
        if operators:
            g = rng.choice(operators).apply(g)
            assert is_cpdag(g)


@given(cpdags(max_nodes=7))
def test_an_insert_loses_independences_and_a_delete_loses_dependences(g: PDAG) -> None:
    for insert in all_inserts(g):
        assert is_imap(insert.apply(g), g)
    for delete in all_deletes(g):
        assert is_imap(g, delete.apply(g))


def moved(s: int, new: list[int]) -> int:
    return nodeset(new[v] for v in nodes(s))


@given(relabeled())
def test_relabeling_commutes_with_completion_and_measures(case: tuple[PDAG, list[int]]) -> None:
    dag, new = case
    other = dag.relabel(new)
    assert dag_to_cpdag(other) == dag_to_cpdag(dag).relabel(new)
    assert [p.measure(other) for p in PROPERTIES] == [p.measure(dag) for p in PROPERTIES]
    assert set(covered_edges(other)) == {(new[x], new[y]) for x, y in covered_edges(dag)}


@given(relabeled(max_nodes=6))
def test_relabeling_commutes_with_every_operator(case: tuple[PDAG, list[int]]) -> None:
    g, new = dag_to_cpdag(case[0]), case[1]
    other = g.relabel(new)
    for kind, generate in ((Insert, all_inserts), (Delete, all_deletes), (Turn, all_turns)):
        found: list[Operator] = list(generate(g))
        renamed = {kind(new[op.x], new[op.y], moved(op.chosen, new)): op for op in found}
        assert set(renamed) == set(generate(other))
        for theirs, ours in renamed.items():
            assert theirs.apply(other) == ours.apply(g).relabel(new)


@given(relabeled(max_nodes=6), st.integers(0, 3))
def test_relabeling_commutes_with_selective_generation(
    case: tuple[PDAG, list[int]], s: int
) -> None:
    g, new = dag_to_cpdag(case[0]), case[1]
    other = g.relabel(new)
    for x in range(g.n):
        for y in frozen(g.out[x]):
            ours = {moved(h, new) for h in selective_generate_ops(g, x, y, s)}
            assert ours == selective_generate_ops(other, new[x], new[y], s)
        for y in range(g.n):
            if x != y:
                ours_set = moved(consistency_set(g, x, y), new)
                assert ours_set == consistency_set(other, new[x], new[y])


@given(relabeled(), st.data())
def test_relabeling_commutes_with_separation_and_cliques(
    case: tuple[PDAG, list[int]], data: st.DataObject
) -> None:
    dag, new = case
    part = data.draw(st.lists(st.integers(0, 3), min_size=dag.n, max_size=dag.n))
    sets = [nodeset(v for v in range(dag.n) if part[v] == k) for k in range(3)]
    other = dag.relabel(new)
    assert d_separated(dag, *map(nodes, sets)) == d_separated(
        other, *(nodes(moved(s, new)) for s in sets)
    )
    g = dag_to_cpdag(dag)
    for v in range(g.n):
        ours = maximal_cliques(g.skeleton(), g.neighbors(v))
        theirs = maximal_cliques(g.relabel(new).skeleton(), moved(g.neighbors(v), new))
        assert {moved(c, new) for c in ours} == set(theirs)


@given(relabeled())
def test_relabeling_and_its_inverse_cancel(case: tuple[PDAG, list[int]]) -> None:
    dag, new = case
    back = [new.index(v) for v in range(dag.n)]
    assert dag.relabel(new).relabel(back) == dag
