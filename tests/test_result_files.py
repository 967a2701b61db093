"""Any damaged or foreign file of a result gives a one-line error."""

import copy
import json
from typing import Any

import pytest

from sges.errors import DataError, GraphError, SgesError
from sges.graph import PDAG
from sges.operators import Delete, Insert, Turn
from sges.result import Result, Step
from sges.tools.export import read_graph
from sges.tools.export.formats import from_json

NESTED = "[" * 100_000 + "]" * 100_000
DIGITS = "7" * 5_000


def result() -> Result:
    graph = PDAG.from_edges(4, [(0, 2), (1, 2)], [(2, 3)], names=["a", "b", "c", "d"])
    steps = (
        Step("fes", Insert(0, 2, {3}), 1.5, -1.5, 3),
        Step("sbes", Delete(0, 1), 0.5, -1.0, 2),
        Step("turning", Turn(0, 2, {1}), 0.25, -0.75, 2),
    )
    return Result(
        graph, -1.5, steps, 12, 10**30, 99, {"fes": 0.5}, False, "time limit", notes=("a note",)
    )


STRANGE: list[Any] = [
    None, True, -1, 0, 3.5, 10**400, float("nan"), float("inf"), "", "x", "\x1b[31m", "\ud800",
    [], {}, [[]], [{}], ["a"], {"a": []}, [None, 1],
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401
    """Return the path to every value in a record, at any depth."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, entry in inner:
        found.append((*path, key))
        if isinstance(entry, dict | list):
            found += places(entry, (*path, key))
    return found


def changed(record: Any, path: tuple[Any, ...], value: Any, *, remove: bool) -> Any:  # noqa: ANN401
    record = copy.deepcopy(record)
    owner = record
    for key in path[:-1]:
        owner = owner[key]
    if remove:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return record


def is_plain(text: str) -> bool:
    """Return whether nothing in a text can control a terminal."""
    return all(c.isprintable() or c == "\n" for c in text)


def read_or_refusal(text: str) -> Result | str:
    try:
        return Result.from_json(text)
    except DataError as error:
        return str(error)


def assert_read_or_refused(text: str) -> bool:
    """Check that a result can be used or gives a one-line error; return whether it was read."""
    back = read_or_refusal(text)
    if isinstance(back, str):
        assert "\n" not in back
        assert len(back) < 400
        return False
    assert is_plain(back.summary())
    assert is_plain(repr(back))
    assert Result.from_json(back.to_json()) == back
    assert back.to_json().encode("utf-8")
    if back.cpdag.n > 1:
        assert is_plain(str(back.explain(0, 1)))
    return True


def test_every_entry_of_every_strange_kind_is_read_or_refused() -> None:
    record = json.loads(result().to_json())
    outcomes = [
        assert_read_or_refused(json.dumps(changed(record, path, value, remove=remove)))
        for path in places(record)
        for remove, values in ((False, STRANGE), (True, [None]))
        for value in values
    ]
    assert len(outcomes) > 1_000
    assert not all(outcomes)


@pytest.mark.parametrize("entry", ["edges", "nodes", "score", "steps", "seconds", "notes"])
@pytest.mark.parametrize("value", [NESTED, DIGITS, f"-{DIGITS}", f"[{DIGITS}]"])
def test_deep_nesting_and_endless_digits_are_refused(entry: str, value: str) -> None:
    record = json.loads(result().to_json())
    record[entry] = "HERE"
    text = json.dumps(record).replace('"HERE"', value)
    assert not assert_read_or_refused(text)
    with pytest.raises(GraphError) as caught:
        from_json(text)
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_not_in_the_way(tmp_path: Any) -> None:  # noqa: ANN401
    assert Result.from_json("\ufeff" + result().to_json()) == result()
    assert from_json("\ufeff" + result().to_json()) == result().cpdag
    path = tmp_path / "graph.json"
    path.write_text("\ufeff" + result().to_json(), encoding="utf-8")
    assert read_graph(path) == result().cpdag


def test_an_edge_whose_type_is_a_list_is_refused() -> None:
    record = result().to_dict()
    record["edges"][0]["type"] = []
    with pytest.raises(DataError, match=r"edge type \[\] is neither 'directed' nor 'undirected'"):
        Result.from_dict(record)


class Closed:
    """Standard input after it was closed."""

    def read(self) -> str:
        raise ValueError("I/O operation on closed file.")


@pytest.mark.parametrize("stdin", [None, Closed()])
def test_a_graph_from_closed_standard_input_is_refused(
    stdin: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(SgesError, match="cannot read standard input: it is closed"):
        read_graph("-")
