"""Pictures: formats, labels, names with special characters, and reproducible files."""

import re
import stat
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from sges.errors import FileError, InvalidArgument, MissingLibrary
from sges.graph import PDAG, dag_to_cpdag
from sges.network import random_dag
from sges.tools.plot import draw
from sges.tools.plot.drawing import (
    MAX_LABEL_COLUMNS,
    MAX_LABEL_LINES,
    label_of,
    labels_of,
    layout_of,
    picture,
)
from sges.tools.plot.layout import by_graphviz, graphviz_input, layout_of_plain

AWKWARD = [
    '"quoted"',
    "$x^2$ and \\frac",
    "<script>x</script>",
    "a & b",
    "two\nlines",
    "żółć 変数",
    "-->",
    " ",
]
STARTS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture(autouse=True)
def _no_window() -> None:
    mpl.use("agg")


def texts(svg: bytes) -> list[str]:
    """Return the texts in a picture."""
    return ["".join(e.itertext()) for e in ElementTree.fromstring(svg).iter() if _is_text(e)]


def _is_text(element: ElementTree.Element) -> bool:
    return element.tag.endswith("}text")


def small() -> PDAG:
    return PDAG.from_edges(4, [(0, 2), (1, 2)], [(2, 3)], names=["a", "b", "c", "d"])


@pytest.mark.parametrize("kind", STARTS)
def test_the_ending_says_the_format(tmp_path: Path, kind: str) -> None:
    draw(small(), tmp_path / f"graph.{kind.upper()}")
    assert (tmp_path / f"graph.{kind.upper()}").read_bytes().startswith(STARTS[kind])
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("kind", STARTS)
def test_the_same_graph_gives_the_same_bytes(kind: str) -> None:
    graph = dag_to_cpdag(random_dag(12, 16, seed=1))
    assert picture(graph, kind) == picture(graph, kind)


@pytest.mark.parametrize(("n", "edges"), [(8, 9), (80, 100)])
def test_every_label_is_there(n: int, edges: int, seed: int) -> None:
    graph = dag_to_cpdag(random_dag(n, edges, seed=seed))
    written = texts(picture(graph.named([f"node {v}" for v in range(n)]), "svg", legend=False))
    assert sorted(written) == sorted(f"node {v}" for v in range(n))


def test_arrows_and_lines_look_different() -> None:
    arrow = picture(PDAG.from_edges(2, [(0, 1)]), "svg", legend=False).decode()
    line = picture(PDAG.from_edges(2, [], [(0, 1)]), "svg", legend=False).decode()
    assert "stroke-dasharray" in line
    assert "stroke-dasharray" not in arrow
    assert "directed" in "".join(texts(picture(small(), "svg")))
    assert "undirected" not in "".join(texts(picture(PDAG.from_edges(2, [(0, 1)]), "svg")))


@pytest.mark.parametrize("kind", STARTS)
def test_names_that_mean_something_elsewhere_are_drawn_as_they_are(kind: str) -> None:
    graph = PDAG.from_edges(8, [(0, 2), (1, 2)], [(2, 3), (5, 6)], names=AWKWARD)
    content = picture(graph, kind)
    assert content.startswith(STARTS[kind])
    if kind == "svg":
        assert b"<script" not in content
        lines = {line.strip() for label in labels_of(AWKWARD) for line in label.split("\n")}
        assert lines <= {text.strip() for text in texts(content)} | {""}
        assert "$x^2$ and \\frac" in lines


def test_long_names_are_cut_and_stay_apart() -> None:
    names = ["x" * 200 + end for end in ("1", "2")] + ["y" * 90 + "z" * 90, "y" * 91 + "z" * 89]
    labels = labels_of(names)
    assert len(set(labels)) == 4
    for label in labels:
        assert len(label.split("\n")) <= MAX_LABEL_LINES + 1
        assert max(map(len, label.split("\n"))) <= MAX_LABEL_COLUMNS + 4


def test_long_names_that_differ_in_the_middle_are_drawn_by_their_differences() -> None:
    asked = "How often during the past four weeks have you felt {} (1 = never, 5 = always)?"
    assert labels_of([asked.format(how) for how in ("nervous", "calm and peaceful")] + ["age"]) == [
        "…nervous…", "…calm and\npeaceful…", "age",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", " ", "\n", "a\tb", "\x1b[31mred"])
def test_nothing_that_cannot_be_seen_is_drawn(name: str) -> None:
    assert all(c.isprintable() or c == "\n" for c in label_of(name))
    assert label_of(name).strip()


def test_it_draws_into_axes_that_are_given() -> None:
    figure, axes = plt.subplots(1, 2)
    assert draw(small(), ax=axes[1]) is axes[1]
    assert {text.get_text() for text in axes[1].texts} >= {"a", "b", "c", "d"}
    assert not axes[0].texts
    plt.close(figure)


def test_without_a_path_pyplot_has_the_figure_and_with_one_it_has_not(tmp_path: Path) -> None:
    before = len(plt.get_fignums())
    draw(small(), tmp_path / "graph.svg")
    assert len(plt.get_fignums()) == before
    ax = draw(small())
    assert len(plt.get_fignums()) == before + 1
    plt.close(ax.figure)


@pytest.mark.parametrize("n", [0, 1])
def test_graphs_without_edges_are_drawn(n: int) -> None:
    assert picture(PDAG.empty(n), "svg").startswith(STARTS["svg"])


def test_a_title_is_written_above() -> None:
    assert "my $title$" in texts(picture(small(), "svg", title="my $title$"))


def test_the_sheet_is_as_wide_as_the_title() -> None:
    ax = draw(small(), title="WHY A LONG TITLE MUST NOT BE CUT OFF " * 3)
    title = next(text for text in ax.texts if text.get_text().startswith("WHY"))
    extent = title.get_window_extent()
    assert extent.x0 >= 0
    assert extent.x1 <= ax.figure.bbox.width
    plt.close(ax.figure)


def test_a_huge_picture_stays_within_what_a_png_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sges.tools.plot.drawing.MAX_PIXELS", 900)
    content = picture(PDAG.empty(100), "png", dpi=5000)
    assert max(int.from_bytes(content[k : k + 4]) for k in (16, 20)) == 900


def test_bad_choices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"its extension must be one of \.svg, \.png, \.pdf"):
        draw(small(), tmp_path / "graph.bmp")
    with pytest.raises(
        InvalidArgument, match="kind of picture = 'gif' is not one of 'svg', 'png', 'pdf'"
    ):
        picture(small(), "gif")
    with pytest.raises(InvalidArgument, match="engine = 'neato'"):
        picture(small(), "svg", engine="neato")
    with pytest.raises(FileError, match=r"cannot write .*: No such file or directory"):
        draw(small(), tmp_path / "nowhere" / "graph.svg")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingLibrary, match=r"a picture needs matplotlib.*pip install matplotlib"):
        picture(small(), "svg")


PLAIN = """graph 1 2 2
node n0 0.5 0.25 0.5 0.3 "" solid box black lightgrey
node n1 1.5 0.25 0.5 0.3 "" solid box black lightgrey
node n2 1 1.25 0.5 0.3 "" solid box black lightgrey
edge n0 n2 4 0.5 0.4 0.6 0.6 0.8 0.9 1 1.1 solid black
edge n1 n2 4 1.5 0.4 1.4 0.6 1.2 0.9 1 1.1 solid black
stop
"""
SIZES = [(36.0, 21.6)] * 3


def test_positions_of_graphviz_are_read() -> None:
    graph = PDAG.from_edges(3, [(0, 2), (1, 2)])
    layout = layout_of_plain(PLAIN, graph, SIZES)
    assert layout.boxes[2].y - layout.boxes[0].y == pytest.approx(72.0)
    assert layout.boxes[1].x - layout.boxes[0].x == pytest.approx(72.0)
    assert [curve.edge for curve in layout.curves] == [(0, 2), (1, 2)]
    assert len(layout.curves[0].points) == 4


def test_graphviz_reads_no_names() -> None:
    graph = PDAG.from_edges(2, [(0, 1)], names=["<script>", '"; rm'])
    assert re.fullmatch(r"[\w\s{};\[\]=,.>\"-]*", graphviz_input(graph, SIZES[:2]))
    assert "script" not in graphviz_input(graph, SIZES[:2])


def a_dot(folder: Path, text: str) -> None:
    """Write a program called dot to a folder."""
    program = folder / "dot"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\n{text}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_graphviz_is_used_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_dot(tmp_path, f"cat <<'END'\n{PLAIN}END")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    graph = PDAG.from_edges(3, [(0, 2), (1, 2)])
    assert (
        layout_of(graph, SIZES) == by_graphviz(graph, SIZES) == layout_of_plain(PLAIN, graph, SIZES)
    )
    assert layout_of(graph, SIZES, "own") != layout_of(graph, SIZES, "graphviz")


@pytest.mark.parametrize("text", ["exit 1", "echo nonsense", "echo node nx", ":"])
def test_a_graphviz_that_fails_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    a_dot(tmp_path, text)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    graph = PDAG.from_edges(3, [(0, 2), (1, 2)])
    assert layout_of(graph, SIZES) == layout_of(graph, SIZES, "own")
    with pytest.raises(InvalidArgument, match="the program dot is not installed or failed"):
        layout_of(graph, SIZES, "graphviz")


def test_a_dense_graph_is_drawn_as_a_matrix_within_seconds() -> None:
    """An interrupted search may return such a graph; drawing all its edges would take minutes."""
    import time

    from sges.tools.plot.drawing import is_too_dense

    dense = PDAG.complete(150)
    assert is_too_dense(dense)
    assert not is_too_dense(PDAG.complete(30))
    begun = time.process_time()
    first, second = (picture(dense, "svg") for _ in range(2))
    assert time.process_time() - begun < 30
    assert first == second
    assert b"row to column: dark is directed, orange is undirected" in first
