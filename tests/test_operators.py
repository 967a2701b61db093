"""Exhaustive tests of Insert, Delete and Turn: results, score changes, and errors."""

import random
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from bridge import arcs_of, pdag_of
from naive import Arcs
from sges.errors import InvalidOperator
from sges.graph import PDAG, is_cpdag, pdag_to_dag
from sges.nodeset import NodeSet
from sges.operators import (
    Delete,
    Insert,
    Operator,
    Turn,
    all_deletes,
    all_inserts,
    all_turns,
    by_falling_gain,
)

ALL_SIZES = [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)]


class RandomPotential:
    """A random decomposable, score-equivalent score: local(y, P) = f(P ∪ y) − f(P)."""

    def __init__(self, n: int, seed: int) -> None:
        rng = random.Random(seed)
        self.n = n
        self.f = [rng.gauss(0, 1) for _ in range(1 << n)]

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the increase of the potential by y."""
        return self.f[parents | 1 << y] - self.f[parents]

    def total(self, dag: PDAG) -> float:
        """Return the score of a DAG as the sum over its families."""
        return sum(self.local(v, dag.parents(v)) for v in range(dag.n))


def one_more_edge(n: int, dag: Arcs) -> Iterator[Arcs]:
    yield from (
        dag | {(x, y)}
        for x in range(n)
        for y in range(n)
        if x != y and (x, y) not in dag and (y, x) not in dag
    )


def one_edge_less(n: int, dag: Arcs) -> Iterator[Arcs]:  # noqa: ARG001  # the signature of the others
    yield from (dag - {edge} for edge in dag)


def one_edge_turned(n: int, dag: Arcs) -> Iterator[Arcs]:  # noqa: ARG001
    yield from (dag - {edge} | {edge[::-1]} for edge in dag)


KINDS = [
    pytest.param(all_inserts, one_more_edge, {4: 1128, 5: 79480}, id="Insert"),
    pytest.param(all_deletes, one_edge_less, {4: 1128, 5: 79480}, id="Delete"),
    pytest.param(all_turns, one_edge_turned, {4: 576, 5: 44720}, id="Turn"),
]
Generator = Callable[[PDAG], Iterator[Operator]]
Change = Callable[[int, Arcs], Iterator[Arcs]]


@cache
def cpdag_by_class(n: int) -> dict[naive.Class, Arcs]:
    return {naive.class_of(dags[0]): cpdag for cpdag, dags in naive.all_cpdags(n).items()}


@pytest.mark.parametrize("n", ALL_SIZES)
@pytest.mark.parametrize(("generate", "change", "counts"), KINDS)
def test_operators_reach_exactly_the_classes_that_one_change_of_a_member_reaches(
    n: int, generate: Generator, change: Change, counts: dict[int, int]
) -> None:
    """On every CPDAG; the total number of operators is checked as well."""
    total = 0
    for cpdag, dags in naive.all_cpdags(n).items():
        changed = (new for dag in dags for new in change(n, dag) if naive.is_acyclic(n, new))
        wanted = {cpdag_by_class(n)[naive.class_of(new)] for new in changed} - {cpdag}
        g = pdag_of(n, cpdag)
        operators = list(generate(g))
        total += len(operators)
        assert {arcs_of(op.apply(g)) for op in operators} == wanted
    assert total == counts.get(n, total)


@pytest.mark.parametrize("n", ALL_SIZES)
@pytest.mark.parametrize(("generate", "change", "counts"), KINDS)
def test_apply_and_delta_are_those_of_the_members_before_and_after(
    n: int, generate: Generator, change: Change, counts: dict[int, int], seed: int
) -> None:
    """The result is a CPDAG, and the gain is the difference of the scores of two members."""
    del change, counts
    score = RandomPotential(n, seed)
    for cpdag in naive.all_cpdags(n):
        g = pdag_of(n, cpdag)
        before = score.total(pdag_to_dag(g))
        for op in generate(g):
            after = op.apply(g)
            assert is_cpdag(after)
            assert op.delta(score, g) == pytest.approx(score.total(pdag_to_dag(after)) - before)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_generators_yield_exactly_the_valid_operators_each_once(n: int) -> None:
    """Every x, y and set is tried on every CPDAG."""
    for cpdag in naive.all_cpdags(n):
        g = pdag_of(n, cpdag)
        for kind, generate in ((Insert, all_inserts), (Delete, all_deletes), (Turn, all_turns)):
            found = list(generate(g))
            wanted = {
                kind(x, y, s)
                for x in range(n)
                for y in range(n)
                for s in range(1 << n)
                if kind(x, y, s).is_valid(g)
            }
            assert set(found) == wanted
            assert len(found) == len(wanted)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_both_orders_of_an_undirected_edge_delete_alike(n: int, seed: int) -> None:
    score = RandomPotential(n, seed)
    for cpdag in naive.all_cpdags(n):
        g = pdag_of(n, cpdag)
        for op in all_deletes(g):
            if g.out[op.y] >> op.x & 1:
                other = Delete(op.y, op.x, op.h)
                assert other.apply(g) == op.apply(g)
                assert other.delta(score, g) == pytest.approx(op.delta(score, g))


def test_backward_from_the_complete_graph_can_reach_the_empty_one() -> None:
    """The backward phase of a peer never deleted an edge, which went unnoticed for years."""
    g = PDAG.complete(5)
    while deletes := list(all_deletes(g)):
        g = deletes[0].apply(g)
    assert g == PDAG.empty(5)


def test_a_v_structure_can_be_reached_from_a_chain_by_an_insert() -> None:
    """A — B becomes A → B ← C, which is impossible for programs that search DAGs."""
    g = PDAG.from_edges(3, undirected=[(0, 1)])
    assert Insert(2, 1, {0}).apply(g) == PDAG.from_edges(3, [(0, 1), (2, 1)])


def test_operators_are_values_with_a_readable_text_and_an_order() -> None:
    assert str(Delete(0, 1, {3, 2})) == "Delete(0, 1, {2, 3})"
    assert Delete(0, 1, [2]) == Delete(0, 1, 0b100)
    assert len({Insert(0, 1), Insert(0, 1, ()), Insert(1, 0)}) == 2
    ops = [Delete(0, 2, {3}), Delete(0, 1, {2, 3}), Delete(0, 1, {4}), Delete(0, 1)]
    assert [str(op) for op in sorted(ops, key=Delete.sort_key)] == [
        "Delete(0, 1, {})",
        "Delete(0, 1, {4})",
        "Delete(0, 1, {2, 3})",
        "Delete(0, 2, {3})",
    ]


def test_names_survive_an_operator() -> None:
    g = PDAG.complete(3, names=["a", "b", "c"])
    assert repr(Delete(0, 1, {2}).apply(g)) == "PDAG(3 nodes: a→c, b→c)"


PATH = PDAG.from_edges(4, undirected=[(0, 1), (1, 2)])
ARROWS = PDAG.from_edges(4, directed=[(0, 1), (2, 1), (1, 3)])
DIAMOND = PDAG.from_edges(4, undirected=[(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)])


@pytest.mark.parametrize(
    ("graph", "operator", "words"),
    [
        (PATH, Insert(0, 9), r"Insert\(0, 9, \{\}\): nodes must be in 0\.\.3"),
        (PATH, Delete(1, 1), "x and y must be two different nodes"),
        (PATH, Insert(0, 1), "0 and 1 are already adjacent"),
        (PATH, Insert(0, 3, {2}), r"\{2\} does not belong in T"),
        (PATH, Insert(3, 1, {0, 2}), r"NA_\{1,3\} ∪ T = \{0, 2\} must be a clique"),
        (ARROWS, Insert(3, 0), "semi-directed path from 0 to 3 avoids"),
        (ARROWS, Delete(1, 0), "needs the edge 1→0 or 1—0"),
        (ARROWS, Delete(0, 3), "needs the edge 0→3 or 0—3"),
        (PATH, Delete(0, 1, {2}), r"\{2\} lies outside NA_\{1,0\} = \{\}"),
        (DIAMOND, Delete(0, 2), r"NA_\{2,0\} ∖ H = \{1, 3\} must be a clique"),
        (ARROWS, Turn(0, 1), "needs the edge 1→0 or 0—1"),
        (PATH, Turn(0, 1), "the class would not change"),
        (PATH, Turn(0, 1, {3}), r"\{3\} does not belong in C"),
        (DIAMOND, Turn(2, 0, {1, 3}), r"C = \{1, 3\} must be a clique"),
        (DIAMOND, Turn(1, 0, {3}), r"must separate \{3\} from \{2\}"),
    ],
)
def test_an_operator_that_is_not_valid_says_which_rule_on_which_values(
    graph: PDAG, operator: Operator, words: str
) -> None:
    assert not operator.is_valid(graph)
    with pytest.raises(InvalidOperator, match=words):
        operator.apply(graph)
    with pytest.raises(InvalidOperator, match=words):
        operator.delta(RandomPotential(4, 0), graph)


def test_a_negative_set_is_refused() -> None:
    with pytest.raises(InvalidOperator, match="-1 is not a set of nodes"):
        Delete(0, 1, -1)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 1.5]), st.integers(0, 2), st.sets(st.integers(4, 6)))
    )
)
def test_operators_are_ranked_by_gain_and_then_by_key(
    rows: list[tuple[float, int, set[int]]],
) -> None:
    scored = [(gain, Delete(x, 3, h)) for gain, x, h in rows]
    expected = sorted(scored, key=lambda pair: (-pair[0], pair[1].sort_key()))
    assert by_falling_gain(scored) == expected
