"""The methods of knowledge that a search uses, compared with all members of a class."""

from itertools import permutations

import numpy as np
import pytest

import naive
from bridge import arcs_of, pdag_of
from known import KINDS, Rng, satisfies, some
from sges.errors import KnowledgeError
from sges.graph import PDAG, dag_to_cpdag, extensions, is_dag, members, topological_order
from sges.knowledge import Knowledge
from sges.knowledge.indexed import IndexedKnowledge
from sges.network import random_dag
from sges.operators import all_deletes, all_inserts


def random_knowledge(n: int, rng: Rng) -> Knowledge:
    """Return random knowledge of a random kind that some DAG satisfies."""
    pairs = n * (n - 1) // 2
    dag = random_dag(n, int(rng.integers(pairs + 1)), seed=rng)
    return KINDS[int(rng.integers(len(KINDS)))](dag, rng)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_class_is_admitted_and_refined_as_its_members_say(n: int, seed: int) -> None:
    """Every CPDAG of n nodes, each with its own random knowledge, ten times."""
    rng = np.random.default_rng(seed)
    admitted = 0
    for _ in range(10):
        for cpdag, dags in naive.all_cpdags(n).items():
            known = random_knowledge(n, rng)
            bound, graph = known.bind(n), pdag_of(n, cpdag)
            fitting = tuple(dag for dag in dags if satisfies(dag, known))
            assert bound.admits(graph) == bool(fitting), (known, graph)
            if fitting:
                admitted += 1
                assert arcs_of(bound.refine(graph)) == naive.cpdag_of_members(fitting)
                assert arcs_of(bound.member(graph)) in fitting
    assert admitted > 10


def test_the_members_of_a_refined_class_are_the_members_that_satisfy_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        dag = random_dag(6, int(rng.integers(5, 12)), seed=rng)
        known = KINDS[int(rng.integers(len(KINDS)))](dag, rng)
        refined = known.bind(6).refine(dag_to_cpdag(dag))
        fitting = {arcs_of(g) for g in members(dag) if satisfies(arcs_of(g), known)}
        assert {arcs_of(g) for g in extensions(refined)} == fitting


@pytest.mark.parametrize("n", [3, 4])
def test_every_dag_that_satisfies_knowledge_satisfies_what_it_relaxes_to(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    relaxing = 0
    for _ in range(60):
        known = random_knowledge(n, rng)
        bound = known.bind(n)
        weaker = bound.relaxed
        for dag in naive.all_dags(n):
            graph = pdag_of(n, dag)
            if weaker is not None and satisfies(dag, known):
                assert set(known.required) <= dag
                assert not weaker.violations(graph)
        relaxing += weaker is not None
    assert relaxing > 3


@pytest.mark.parametrize("n", [3, 4])
def test_relaxed_knowledge_is_an_order_of_groups_and_required_edges(n: int, seed: int) -> None:
    """By definition: what it forbids, other than by required paths, follows from a ranking."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        bound = random_knowledge(n, rng).bind(n)
        weaker = bound.relaxed or bound
        arrows = {(x, y) for x, y in permutations(range(n), 2) if weaker.forbidden[x] >> y & 1}
        below = PDAG.from_edges(n, bound.required)
        ranked = {(x, y) for x, y in arrows if not below.descendants(y) >> x & 1}
        # if x → y is forbidden by rank, then x → z or z → y is forbidden for every z
        for x, y in ranked:
            assert all((x, z) in arrows or (z, y) in arrows for z in range(n) if z not in (x, y))


@pytest.mark.parametrize("n", [3, 4])
def test_a_member_of_a_class_that_is_not_admitted_satisfies_the_relaxed_part(
    n: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    met = 0
    for _ in range(100 if n == 3 else 10):
        for cpdag, dags in naive.all_cpdags(n).items():
            bound, graph = random_knowledge(n, rng).bind(n), pdag_of(n, cpdag)
            if bound.relaxed is None or bound.admits(graph) or not bound.relaxed.admits(graph):
                continue
            met += 1
            member = bound.member(graph)
            assert arcs_of(member) in dags
            assert not bound.relaxed.violations(member)
            left = member.edited(remove=bound.violations(member))
            assert bound.admits(dag_to_cpdag(left))
    assert met > 10


def test_the_start_is_the_class_of_the_required_edges_and_admitted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(50):
        known = random_knowledge(6, rng)
        bound = known.bind(6)
        start = bound.start(6)
        assert start == dag_to_cpdag(PDAG.from_edges(6, bound.required))
        assert bound.admits(start)


def test_after_a_step_it_is_enough_to_look_at_what_differs(seed: int) -> None:
    """For every insert and delete from an admitted class, the local check equals the full one."""
    rng = np.random.default_rng(seed)
    answers = set()
    for _ in range(60):
        dag = random_dag(6, int(rng.integers(3, 10)), seed=rng)
        bound, cpdag = KINDS[int(rng.integers(len(KINDS)))](dag, rng).bind(6), dag_to_cpdag(dag)
        assert bound.admits(cpdag)
        for operator in (*all_inserts(cpdag), *all_deletes(cpdag)):
            after = operator.apply(cpdag)
            answers.add(bound.admits(after, cpdag))
            assert bound.admits(after, cpdag) == bound.admits(after)
    assert answers == {True, False}


def test_a_component_is_directed_alike_alone_and_with_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(40):
        dag = random_dag(12, 12, seed=rng)
        bound, cpdag = KINDS[int(rng.integers(len(KINDS)))](dag, rng).bind(12), dag_to_cpdag(dag)
        whole = bound.member(cpdag)
        for v in range(12):
            component = cpdag.chain_component(v)
            assert bound.member(cpdag, component).parents(v) == whole.parents(v)


def test_full_tiers_and_required_edges_relax_to_nothing_weaker(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        dag = random_dag(7, 9, seed=rng)
        order = topological_order(dag)
        known = Knowledge(
            required=some(dag.directed_edges(), 0.5, rng), tiers=[order[:3], order[3:]]
        )
        assert known.bind(7).relaxed is None


def test_an_order_that_forbidden_edges_spell_out_is_recognized() -> None:
    spelled = Knowledge(forbidden=[(2, 0), (2, 1), (1, 0)])
    assert spelled.bind(3).relaxed is None
    assert spelled.bind(3) == Knowledge(tiers=[[0], [1], [2]]).bind(3)


def test_one_forbidden_adjacency_relaxes() -> None:
    bound = Knowledge(not_adjacent=[(0, 1)]).bind(3)
    assert bound.relaxed == IndexedKnowledge(3, (), (0, 0, 0))


def test_a_class_that_is_not_admitted_is_not_refined() -> None:
    bound = Knowledge(required=[(0, 1)]).bind(2)
    with pytest.raises(KnowledgeError, match="no member of the class"):
        bound.refine(PDAG.empty(2))


def test_knowledge_bound_to_other_data_is_refused() -> None:
    bound = Knowledge(required=[(0, 1)]).bind(2)
    with pytest.raises(KnowledgeError, match="about 2 variables, but the graph has 3"):
        bound.admits(PDAG.empty(3))
    with pytest.raises(KnowledgeError, match="about 2 variables, but the graph has 3"):
        bound.start(3)


def test_arrows_that_contradict_each_other_only_together_are_found() -> None:
    """On a — b — c each direction alone is possible, but a → b ← c is a new v-structure."""
    chain = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)])
    assert Knowledge(forbidden=[(1, 0)]).bind(3).admits(chain)
    assert Knowledge(forbidden=[(1, 2)]).bind(3).admits(chain)
    assert not Knowledge(forbidden=[(1, 0), (1, 2)]).bind(3).admits(chain)


def test_a_cycle_of_forbidden_directions_is_found() -> None:
    wishes = Knowledge(forbidden=[(1, 0), (2, 1), (0, 2)]).bind(3)
    assert not wishes.admits(PDAG.complete(3))
    assert wishes.admits(PDAG.from_edges(3, undirected=[(0, 1), (1, 2)]))


def test_a_member_is_a_dag_of_the_class_on_larger_graphs_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        dag = random_dag(40, 70, seed=rng)
        known = KINDS[int(rng.integers(len(KINDS)))](dag, rng)
        bound, cpdag = known.bind(40), dag_to_cpdag(dag)
        member = bound.member(cpdag)
        assert is_dag(member)
        assert dag_to_cpdag(member) == cpdag
        assert satisfies(arcs_of(member), known)
