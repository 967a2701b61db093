"""The five properties: values, equivalence invariance, heredity, errors."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given

import naive
from bridge import measured, pdag_of
from sges import examples, learn
from sges.errors import GraphError, InvalidProperty, Undecided
from sges.graph import PDAG, covered_edges, dag_to_cpdag, members
from sges.graph.undirected import Between
from sges.properties import (
    AtMost,
    MaxClique,
    MaxParents,
    MaxTreewidth,
    MaxVStructures,
    MaxVWidth,
    Property,
    check_property,
)
from strategies import dags

ALL: list[type[AtMost]] = [MaxParents, MaxClique, MaxVWidth, MaxTreewidth, MaxVStructures]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_measures_are_those_of_the_definitions_on_every_dag(n: int) -> None:
    for arcs in naive.all_dags(n):
        dag, everything = pdag_of(n, arcs), frozenset(range(n))
        assert MaxParents.measure(dag) == max(len(naive.parents(arcs, v)) for v in range(n))
        assert MaxClique.measure(dag) == naive.largest_clique(arcs, everything)
        assert MaxVWidth.measure(dag) == naive.v_width(n, arcs)
        assert MaxTreewidth.measure(dag) == naive.treewidth(n, naive.moral_edges(n, arcs))
        assert MaxVStructures.measure(dag) == len(naive.class_of(arcs)[1])


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_every_measure_is_equivalence_invariant_and_hereditary(n: int, kind: type[AtMost]) -> None:
    """On every DAG: reversing a covered edge keeps the measure, removing a node never raises it."""
    values = [measured(kind, pdag_of(n, arcs)) for arcs in naive.all_dags(n)]
    smaller = [measured(kind, pdag_of(n - 1, arcs)) for arcs in naive.all_dags(n - 1)]
    for value, (equivalent, parts) in zip(values, one_change_away(n), strict=True):
        assert all(values[i] == value for i in equivalent)
        assert all(smaller[i] <= value for i in parts)


@cache
def one_change_away(n: int) -> list[tuple[list[int], list[int]]]:
    """Return for each DAG the DAGs with a covered edge reversed, and those without a node.

    They are given as places in ``naive.all_dags``.
    """
    place, smaller = (
        {arcs: i for i, arcs in enumerate(naive.all_dags(size))} for size in (n, n - 1)
    )
    found = []
    for arcs in place:
        covered = covered_edges(pdag_of(n, arcs))
        equivalent = [place[arcs - {(x, y)} | {(y, x)}] for x, y in covered]
        parts = []
        for gone in range(n):
            kept = [v for v in range(n) if v != gone]
            part = frozenset((kept.index(x), kept.index(y)) for x, y in arcs if gone not in (x, y))
            parts.append(smaller[part])
        found.append((equivalent, parts))
    return found


@given(dags())
def test_a_cpdag_measures_as_each_of_its_members(dag: PDAG) -> None:
    cpdag = dag_to_cpdag(dag)
    for kind in ALL:
        assert kind.measure(cpdag) == kind.measure(dag)
        assert kind.of(dag).holds(cpdag)


def test_the_bound_holds_in_every_member_of_the_class() -> None:
    """The limit on parents of a peer is off by one, and counts directed parents only."""
    cpdag = PDAG.complete(4)
    assert MaxParents.measure(cpdag) == 3
    for dag in members(cpdag):
        assert max(dag.parents(v).bit_count() for v in range(4)) == 3


@pytest.mark.parametrize(
    ("prop", "clique", "size"),
    [
        (MaxParents(1), 0, None),
        (MaxParents(3), 2, None),
        (MaxClique(0), 0, None),
        (MaxClique(3), 3, None),
        (MaxClique(3, tight=True), 2, None),
        (MaxClique(0, tight=True), 0, None),
        (MaxVWidth(0), 0, None),
        (MaxVWidth(2), 2, None),
        (MaxTreewidth(0), 0, None),
        (MaxTreewidth(3), 2, None),
        (MaxVStructures(0), None, 0),
        (MaxVStructures(5), None, 5),
    ],
)
def test_each_property_bounds_h_as_decided(
    prop: AtMost, clique: int | None, size: int | None
) -> None:
    assert (prop.clique_bound, prop.size_bound) == (clique, size)


@pytest.mark.parametrize("kind", ALL)
def test_a_bound_that_no_graph_can_meet_is_refused(kind: type[AtMost]) -> None:
    with pytest.raises(
        InvalidProperty, match=rf"{kind.__name__}\(-1\): the bound must be at least"
    ):
        kind(-1)
    with pytest.raises(InvalidProperty, match="must be an integer"):
        kind(1.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidProperty, match="must be an integer"):
        kind(True)


def test_zero_parents_are_refused_since_there_would_be_nothing_to_learn() -> None:
    with pytest.raises(InvalidProperty, match="with no parents there are no edges"):
        MaxParents(0)


def test_a_measure_refuses_a_graph_without_members() -> None:
    with pytest.raises(GraphError):
        MaxParents.measure(PDAG.from_edges(3, [(0, 1), (1, 2), (2, 0)]))


def test_the_inclusions_between_properties_are_the_corrected_ones() -> None:
    """PS^k ⊆ CL^{k+1}, TW^k ⊆ CL^{k+1}, CL^k ⊆ VW^{k−1}; the printed PS^k ⊆ CL^{k−1} is false."""
    for arcs in naive.all_dags(4):
        dag = pdag_of(4, arcs)
        clique = measured(MaxClique, dag)
        assert clique <= measured(MaxParents, dag) + 1
        assert clique <= measured(MaxTreewidth, dag) + 1
        assert measured(MaxVWidth, dag) <= clique - 1
    edge = PDAG.from_edges(2, [(0, 1)])
    assert MaxParents(1).holds(edge)
    assert not MaxClique(0).holds(edge)


class LongestPathAtMostOne:
    """The paper's own example of a property that is not equivalence invariant."""

    def holds(self, graph: PDAG) -> bool:
        """Return whether no directed path has two edges."""
        return all(not graph.children(y) for _, y in graph.directed_edges())


class AtLeastOneParent:
    """The paper's own example of a property that is not hereditary."""

    def holds(self, graph: PDAG) -> bool:
        """Return whether some node has a parent."""
        return graph.edge_count() > 0


class SparseAndNarrow:
    """A custom property that is EIH."""

    def holds(self, graph: PDAG) -> bool:
        """Return whether there are at most three edges and the v-width is at most one."""
        return graph.edge_count() <= 3 and MaxVWidth(1).holds(graph)


def test_check_property_shows_a_counter_example() -> None:
    with pytest.raises(
        InvalidProperty, match=r"not equivalence invariant: it holds for .* but not"
    ):
        check_property(LongestPathAtMostOne())
    with pytest.raises(
        InvalidProperty, match=r"not hereditary: it holds for .* but not for the subgraph without"
    ):
        check_property(AtLeastOneParent())


@pytest.mark.parametrize("kind", ALL)
def test_a_bound_may_be_an_integer_of_numpy(kind: type[AtMost]) -> None:
    prop = kind(np.int64(2))  # type: ignore[arg-type]
    assert prop == kind(2)
    assert str(prop) == str(kind(2))


@pytest.mark.parametrize("answer", [None, 1, "yes"])
def test_check_property_refuses_an_answer_that_is_not_true_or_false(answer: object) -> None:
    class Mine:
        def holds(self, _graph: PDAG) -> object:
            return answer

    with pytest.raises(InvalidProperty, match=r"^Mine.holds\(.*\) is .*; it must be True or False"):
        check_property(Mine())  # type: ignore[arg-type]


@pytest.mark.parametrize("prop", [*(kind(1) for kind in ALL), SparseAndNarrow()])
def test_check_property_accepts_what_is_eih(prop: Property) -> None:
    check_property(prop)


@pytest.mark.parametrize("edge", [(0, 1), (1, 0)])
def test_the_counter_example_names_the_dag_for_which_the_property_holds(
    edge: tuple[int, int],
) -> None:
    class Mine:
        def holds(self, graph: PDAG) -> bool:
            return graph.directed_edges() in ([], [edge])

    (x, y), message = edge, "holds for PDAG.2 nodes: {}→{}. but not for .*2 nodes: {}→{}"
    with pytest.raises(InvalidProperty, match=message.format(x, y, y, x)):
        check_property(Mine())


def test_a_property_answers_outside_the_interval_and_refuses_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sges.properties.treewidth", lambda _: Between(3, 5))
    dag = PDAG.empty(2)
    assert not MaxTreewidth(2).holds(dag)
    assert MaxTreewidth(5).holds(dag)
    assert MaxTreewidth.measure(dag) == Between(3, 5)
    assert MaxTreewidth.of(dag) == MaxTreewidth(5)
    for k in (3, 4):
        with pytest.raises(
            Undecided, match=f"between 3 and 5, so it is not known whether it is at most {k}"
        ):
            MaxTreewidth(k).holds(dag)


@pytest.mark.parametrize("bound", ["x", -1, 1.5])
@pytest.mark.parametrize("name", ["clique_bound", "size_bound"])
def test_a_bound_of_an_own_property_must_be_a_number(name: str, bound: object) -> None:
    class Own:
        def holds(self, graph: PDAG) -> bool:  # noqa: ARG002
            return True

    setattr(Own, name, bound)
    with pytest.raises(InvalidProperty, match=f"Own.{name} is .*; it must be a whole number"):
        learn(examples.load("asia"), assume=Own())
