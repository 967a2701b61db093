"""Each invalid graph or file gives a one-line error that says what is wrong."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from sges.errors import FileError, GraphError, InvalidArgument, SgesError
from sges.graph import PDAG
from sges.tools.export import (
    from_networkx,
    from_numpy,
    read_graph,
    to_numpy,
    write_graph,
)
from sges.tools.export.formats import from_csv, from_graphml, from_json
from sges.tools.export.languages import from_dot
from sges.writing import write_directory, write_text

ML = '<graphml><graph edgedefault="directed">{}</graph></graphml>'


def edges(*records: dict[str, str]) -> str:
    return f'{{"nodes": ["a", "b"], "edges": {list(records)}}}'.replace("'", '"')


BAD: dict[str, tuple[Callable[[], object], str]] = {
    "not json": (lambda: from_json("{"), "this is not JSON: Expecting"),
    "json without nodes": (lambda: from_json("{}"), 'an object with the entries "nodes"'),
    "json of a list": (lambda: from_json("[1]"), 'an object with the entries "nodes"'),
    "json nodes no list": (lambda: from_json('{"nodes": 3, "edges": []}'), "must be lists"),
    "json edge no object": (
        lambda: from_json('{"nodes": ["a"], "edges": [1]}'),
        "edge 1 is not an object",
    ),
    "json node an object": (lambda: from_json('{"nodes": [{}], "edges": []}'), "neither text"),
    "json edge without type": (
        lambda: from_json(edges({"source": "a", "target": "b"})),
        "has no 'type'; each edge needs one",
    ),
    "json edge of strange type": (
        lambda: from_json(edges({"source": "a", "target": "b", "type": "odd"})),
        "edge type 'odd' is neither",
    ),
    "json edge to nowhere": (
        lambda: from_json(edges({"source": "a", "target": "z", "type": "directed"})),
        "an edge refers to 'z', which is not among the nodes",
    ),
    "edge to itself": (
        lambda: from_json(edges({"source": "a", "target": "a", "type": "directed"})),
        "an edge connects 'a' with itself",
    ),
    "same name twice": (lambda: from_json('{"nodes": ["a", "a"], "edges": []}'), "given twice"),
    "both directions": (
        lambda: from_networkx(_two_arrows()),
        "there are two edges between 'b' and 'a'; at most one is allowed",
    ),
    "multigraph": (
        lambda: from_networkx(nx.MultiDiGraph()),
        "a multigraph may have several edges per pair",
    ),
    "strange arc": (lambda: from_networkx(_typed("bent")), "has the type 'bent'; it must be"),
    "not square": (lambda: from_numpy([[0, 1]], "pcalg"), r"shape \(1, 2\) is not square"),
    "text in a matrix": (lambda: from_numpy([["x"]], "pcalg"), "does not contain numbers"),
    "loop in a matrix": (lambda: from_numpy([[1]], "pcalg"), r"cell \[0,0\] is 1; the diagonal"),
    "strange number": (
        lambda: from_numpy([[0, 7], [0, 0]], "row-to-column"),
        r"cells \[0,1\] and \[1,0\] are 7 and 0, which is not an edge in the convention",
    ),
    "other convention": (
        lambda: from_numpy([[0, 1], [0, 0]], "causal-learn"),
        "not an edge in the convention 'causal-learn'",
    ),
    "names do not fit": (lambda: from_numpy([[0]], "pcalg", ["a", "b"]), "2 names .* of 1 rows"),
    "not xml": (lambda: from_graphml("<graphml>"), "this is not GraphML"),
    "xml of another kind": (lambda: from_graphml("<svg/>"), "GraphML must have one graph"),
    "document type": (lambda: from_graphml("<!DOCTYPE lolz []><x/>"), "declares a document type"),
    "graphml edge to nowhere": (
        lambda: from_graphml(ML.format('<edge source="a" target="b"/>')),
        "an edge refers to 'a', which is not among the nodes",
    ),
    "graphml edge to a name of thousands of letters": (
        lambda: from_graphml(ML.format(f'<edge source="{"a" * 5000}" target="b"/>')),
        r"an edge refers to 'a{56}\.\.\., which",
    ),
    "graphml edge twice": (
        lambda: from_graphml(
            ML.format('<node id="a"/><node id="b"/>' + '<edge source="a" target="b"/>' * 2)
        ),
        "there are two edges between 'a' and 'b'",
    ),
    "name that xml cannot hold": (
        lambda: PDAG.empty(1, names=["bell\a"]).to_graphml(),
        r"contains '\\x07', which XML does not allow",
    ),
    "csv without header": (lambda: from_csv("a,b\n1,2\n"), "must begin with source,target,type"),
    "empty csv": (lambda: from_csv(""), "must begin with source,target,type"),
    "csv of strange type": (lambda: from_csv("source,target,type\na,b,c\n"), "line 2: the type"),
    "csv with other rows": (lambda: from_csv(",a,b\nb,0,0\na,0,0\n"), "names of its header"),
    "csv with short row": (lambda: from_csv(",a\na\n"), "the line of 'a' has 0 entries for 1"),
    "csv with text": (lambda: from_csv(",a\na,x\n"), "the line of 'a' contains 'x'"),
    "not dot": (lambda: from_dot("a -> b"), "DOT must begin with digraph"),
    "open dot": (lambda: from_dot("digraph { a -> b"), "does not end with a closing brace"),
    "dot with a subgraph": (lambda: from_dot("digraph { a; {b c} -> d }"), "contains a subgraph"),
    "dot with a direction of its own": (
        lambda: from_dot("digraph { a -> b [dir=up] }"),
        "edge a -> b: dir=up is not one of forward, back, both, none",
    ),
    "dot with a circle": (
        lambda: from_dot("digraph { a -> b [arrowtail=odot, dir=both] }"),
        "edge a -> b: the circle odot",
    ),
    "dot with html": (lambda: from_dot("digraph { a [label=<b>] }"), "line 1 near '<b>"),
}


def _two_arrows() -> Any:  # noqa: ANN401
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edge("a", "b", type="directed")
    graph.add_edge("b", "a", type="directed")
    return graph


def _typed(kind: str) -> Any:  # noqa: ANN401
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edge("a", "b", type=kind)
    return graph


@pytest.mark.parametrize("case", BAD)
def test_a_bad_graph_is_refused_in_one_line(case: str) -> None:
    make, message = BAD[case]
    with pytest.raises(GraphError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_an_unknown_convention_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidArgument, match="convention = 'rows' is not one of 'row-to-column'"):
        to_numpy(PDAG.empty(1), "rows")  # type: ignore[arg-type]


def test_an_unknown_ending_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"its extension must be one of \.json, \.graphml"):
        write_graph(PDAG.empty(1), tmp_path / "graph.xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path / "none.json", "No such file"),
        (lambda path: path, "it is a directory; name a file in it"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, make: Callable[[Path], Path], message: str
) -> None:
    with pytest.raises(FileError, match=f"cannot read '.*': {message}"):
        read_graph(make(tmp_path))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="it is not UTF-8 text"):
        read_graph(path)


def test_an_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = write_text(tmp_path / "bad.json", "{}")
    with pytest.raises(GraphError, match=r"bad\.json': a graph in JSON"):
        read_graph(path)


def test_writing_to_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="it is a directory; name a file in it"):
        write_text(tmp_path, "text")


def test_writing_below_a_file_is_refused(tmp_path: Path) -> None:
    path = write_text(tmp_path / "file", "text")
    with pytest.raises(FileError, match="it is a file; name a directory"):
        write_directory(path, {"a": b""})
    with pytest.raises(SgesError, match="cannot write"):
        write_directory(path / "below", {"a": b""})


def full_disk(*_: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_nothing_and_the_old_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_text(tmp_path / "graph.json", "old")
    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(FileError, match="No space left"):
        write_text(path, "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["graph.json"]
    assert path.read_text() == "old"


def test_directories_made_for_files_that_cannot_be_written_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(FileError, match="No space left"):
        write_directory(tmp_path / "made" / "deep", {"a": b""})
    assert list(tmp_path.iterdir()) == []
