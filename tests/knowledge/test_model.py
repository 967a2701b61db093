"""Knowledge as users write it: valid forms, and one-line errors for invalid ones."""

import pickle
from typing import Any

import numpy as np
import pytest

from sges.errors import KnowledgeError
from sges.graph import PDAG, dag_to_cpdag
from sges.knowledge import Knowledge

NAMES = ["age", "smoking", "cancer", "tiredness"]
MANY = [f"x{i}" for i in range(200)]


@pytest.mark.parametrize(("kind", "edge"), [("required", (1, 2)), ("forbidden", (2, 1))])
def test_an_edge_is_directed_as_required_or_against_what_is_forbidden(
    kind: str, edge: tuple[int, int]
) -> None:
    bound = Knowledge(**{kind: [("smoking", "cancer")]}).bind(NAMES)  # type: ignore[arg-type]
    assert bound.refine(PDAG.from_edges(4, undirected=[(1, 2)])).directed_edges() == [edge]


@pytest.mark.parametrize(
    "known",
    [
        Knowledge(not_adjacent=[("smoking", "cancer")]),
        Knowledge(forbidden=[("smoking", "cancer"), ("cancer", "smoking")]),
    ],
)
def test_adjacency_is_forbidden_by_both_directions(known: Knowledge) -> None:
    assert not known.bind(NAMES).admits(PDAG.from_edges(4, undirected=[(1, 2)]))
    assert known == Knowledge(not_adjacent=[("cancer", "smoking")])


def test_tiers_direct_edges_between_them_and_leave_others_free() -> None:
    bound = Knowledge(tiers=[["age"], ["smoking", "cancer"]]).bind(NAMES)
    lines = [(0, 1), (2, 3)]
    refined = bound.refine(PDAG.from_edges(4, undirected=lines))
    assert (refined.directed_edges(), refined.undirected_edges()) == ([(0, 1)], [(2, 3)])
    assert not bound.admits(dag_to_cpdag(PDAG.from_edges(4, [(1, 0), (2, 0)])))


@pytest.mark.parametrize(
    ("within", "closed"), [(True, {0, 1}), ([1], {1}), ([], set()), (False, set())]
)
def test_edges_within_tiers_can_be_forbidden(within: Any, closed: set[int]) -> None:  # noqa: ANN401
    known = Knowledge(tiers=[["age", "smoking"], ["cancer", "tiredness"]], forbid_within=within)
    for tier, line in enumerate([(0, 1), (2, 3)]):
        graph = PDAG.from_edges(4, undirected=[line])
        assert known.bind(NAMES).admits(graph) == (tier not in closed)


def test_positions_do_where_there_are_no_names_and_where_there_are() -> None:
    counted: list[Any] = [[0], list(np.arange(1, 2))]
    known = Knowledge(required=[(1, 2)], tiers=counted)
    assert known.bind(4) == known.bind(NAMES)
    assert known.bind(4).required == ((1, 2),)


def test_knowledge_is_a_value() -> None:
    known = Knowledge([("a", "b"), ("a", "b")], tiers=[["a", "c"], ["b"]])
    same = Knowledge({("a", "b")}, tiers=({"c", "a"}, ("b",)))
    assert known == same
    assert hash(known) == hash(same)
    assert pickle.loads(pickle.dumps(known)) == known
    assert known
    assert not Knowledge()
    assert Knowledge(tiers=[["a"], ["b"]])
    with pytest.raises(AttributeError):
        known.required = ()  # type: ignore[misc]


def test_knowledge_prints_as_it_is_written() -> None:
    known = Knowledge([("a", "b")], [("b", "c")], [["a"], ["c"]], forbid_within=True)
    text = "Knowledge(required=[a→b], forbidden=[b→c], tiers=[[a], [c]], forbid_within=[0, 1])"
    assert repr(known) == text


CONFLICTS: list[tuple[dict[str, Any], str]] = [
    ({"required": [("a", "b"), ("b", "a")]}, "required edges form the cycle a→b→a"),
    (
        {"required": [("d", "a"), ("a", "b"), ("b", "c"), ("c", "a")]},
        "required edges form the cycle a→b→c→a",
    ),
    (
        {"required": [("a", "b")], "forbidden": [("a", "b")]},
        "a→b is both required and forbidden",
    ),
    (
        {"required": [("a", "b")], "not_adjacent": [("b", "a")]},
        "a→b is both required and forbidden",
    ),
    (
        {"required": [("a", "b")], "tiers": [["b"], [], ["a"]]},
        "a→b is required, but a is in tier 2 and b in the earlier tier 0",
    ),
    (
        {"required": [("a", "b")], "tiers": [["b", "a"]], "forbid_within": True},
        "a→b is required, but both are in tier 0",
    ),
    ({"tiers": [["a", "b"], ["c", "a"]]}, "a is in the tiers 0 and 1"),
    ({"required": [("a", "a")]}, r"required\[0\]: a→a connects a variable with itself"),
    (
        {"forbidden": [("a", "b"), ("b", "b")]},
        r"forbidden\[1\]: b→b connects a variable with itself",
    ),
    ({"required": [("a", "b", "c")]}, r"required\[0\]: \('a', 'b', 'c'\) is not an edge"),
    ({"required": ["ab"]}, r"required\[0\]: expected a list, not 'ab'"),
    ({"required": "ab"}, "required: expected a list, not 'ab'"),
    ({"tiers": [[["a"]]]}, r"tiers\[0\]: \['a'\] is not a variable"),
    ({"required": [(True, 2)]}, r"required\[0\]: True is not a variable"),
    ({"required": [(-1, 2)]}, r"required\[0\]: -1 is not a variable"),
    ({"required": [("a", 1)]}, "'a' by name and 1 by position"),
    ({"required": [("a", 10**5000)]}, "'a' by name and an integer of about 5,000 digits by"),
    ({"forbid_within": True}, "and there are none; give tiers"),
    ({"tiers": [["a"]], "forbid_within": [1]}, "there are 1, counted from 0"),
    ({"tiers": [["a"]], "forbid_within": ["a"]}, "must be true, or numbers of tiers"),
]


@pytest.mark.parametrize(("given", "message"), CONFLICTS)
def test_invalid_knowledge_is_refused_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(KnowledgeError, match=message) as caught:
        Knowledge(**given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("smokng", "knowledge names 'smokng', which is not a column; did you mean 'smoking'"),
        ("SMOKING", "which is not a column; did you mean 'smoking'"),
        ("zzz", "which is not a column; the columns are 'age', 'smoking', 'cancer', 'tiredness'"),
    ],
)
def test_an_unknown_column_is_named_with_the_closest_one(name: str, message: str) -> None:
    with pytest.raises(KnowledgeError, match=message):
        Knowledge(forbidden=[("age", name)]).bind(NAMES)


@pytest.mark.parametrize(
    ("known", "names", "message"),
    [
        (Knowledge(required=[(0, 9)]), 4, "variable 9, but there are 4; positions are 0..3"),
        (Knowledge(required=[(0, 9)]), NAMES, "variable 9, but there are 4"),
        (Knowledge(required=[("age", "sex")]), 4, "'age', but the 4 variables have no names"),
        (Knowledge(forbidden=[("age", "sex")]), MANY, "'x7' and 192 more"),
        (Knowledge(required=[("a", "b")]), "ab", "a list of strings, not 'ab'"),
        (Knowledge(required=[("a", "b")]), ["a", "b", "a"], "two variables have the same name"),
    ],
)
def test_knowledge_that_does_not_fit_the_variables_is_refused(
    known: Knowledge,
    names: Any,  # noqa: ANN401
    message: str,
) -> None:
    with pytest.raises(KnowledgeError, match=message):
        known.bind(names)


def test_a_long_required_chain_is_accepted() -> None:
    chain = [(i, i + 1) for i in range(3000)]
    Knowledge(required=chain)
    with pytest.raises(KnowledgeError, match="cycle"):
        Knowledge(required=[*chain, (3000, 0)])
