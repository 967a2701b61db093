"""Node sets, compared with sets of Python."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sges.errors import GraphError
from sges.nodeset import as_nodeset, by_size_then_nodes, first, nodes, nodeset, show, subsets

sets = st.frozensets(st.integers(0, 200), max_size=8)


@given(sets)
def test_a_mask_holds_exactly_its_nodes_in_increasing_order(members: frozenset[int]) -> None:
    assert list(nodes(nodeset(members))) == sorted(members)


@given(sets, sets)
def test_mask_algebra_is_set_algebra(a: frozenset[int], b: frozenset[int]) -> None:
    x, y = nodeset(a), nodeset(b)
    assert x & y == nodeset(a & b)
    assert x | y == nodeset(a | b)
    assert x & ~y == nodeset(a - b)


@given(sets, st.integers(0, 9))
def test_subsets_come_lazily_by_size_then_nodes(members: frozenset[int], most: int) -> None:
    wanted = [c for k in range(most + 1) for c in combinations(sorted(members), k)]
    found = list(subsets(nodeset(members), at_most=most))
    assert [tuple(nodes(s)) for s in found] == wanted
    assert found == sorted(found, key=by_size_then_nodes)


def test_subsets_of_a_huge_set_start_at_once() -> None:
    assert next(subsets((1 << 5000) - 1)) == 0


def test_a_set_is_written_as_in_the_paper() -> None:
    assert show(nodeset({2, 0})) == "{0, 2}"
    assert first(nodeset({7, 3})) == 3


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (3, "3 is out of range"),
        (None, "None is not a node"),
        ([-1], "-1 is out of range"),
        (["a"], "'a' is not a node"),
        ([0.5], "0.5 is not a node"),
    ],
)
def test_a_node_that_does_not_exist_is_named(members: object, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        as_nodeset(members, 3)  # type: ignore[arg-type]
