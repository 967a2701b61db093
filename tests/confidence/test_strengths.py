"""Shares, threshold, averaged class, medoid and JSON of a confidence, for given graphs."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sges import PDAG, Confidence
from sges.errors import DataError, FileError, InvalidArgument
from sges.tools.metrics import shd
from sges.uncertainty.strengths import significance_threshold

NAMES = ("a", "b", "c", "d")


def graph(text: str) -> PDAG:
    """Return the graph of edges such as "a>b c-d"."""
    directed: list[tuple[int, int]] = []
    undirected: list[tuple[int, int]] = []
    for edge in text.split():
        x, y = NAMES.index(edge[0]), NAMES.index(edge[2])
        (directed if edge[1] == ">" else undirected).append((x, y))
    return PDAG.from_edges(4, directed, undirected, names=NAMES)


def of(*texts: str, **more: Any) -> Confidence:  # noqa: ANN401
    graphs = tuple(map(graph, texts))
    options: dict[str, Any] = {"replicates": len(graphs), "draw": "half", "score_name": "BIC"}
    return Confidence(graphs=graphs, strategy="auto", **{**options, **more})


FOUR = of("a>b c>b", "a>b c>b c-d", "b>a", "a-b")


def test_graphs_whose_nodes_are_in_different_orders_have_no_shares() -> None:
    other = graph("a>b").named(["b", "a", "c", "d"])
    with pytest.raises(InvalidArgument, match="the same nodes in one order"):
        replace(FOUR, graphs=(*FOUR.graphs, other))
    with pytest.raises(InvalidArgument, match="at least one replicate"):
        of()


def test_shares_count_replicates_by_the_state_of_the_edge() -> None:
    rows = {(row["a"], row["b"]): row for row in FOUR.rows()}
    assert rows["a", "b"] == {
        "a": "a", "b": "b", "p_edge": 1.0, "p_ab": 0.5, "p_ba": 0.25, "p_undirected": 0.25,
    }  # fmt: skip
    assert rows["b", "c"]["p_ba"] == 0.5
    assert list(rows) == [("a", "b"), ("b", "c"), ("c", "d")]
    assert FOUR.strength("d", "c") == 0.25
    assert FOUR.strength(0, 3) == 0.0


def test_the_frame_has_the_columns_that_are_promised() -> None:
    frame = FOUR.to_frame()
    assert list(frame.columns) == ["a", "b", "p_edge", "p_ab", "p_ba", "p_undirected"]
    assert len(frame) == 3
    assert list(of("", "").to_frame().columns) == list(frame.columns)


def test_one_replicate_is_not_called_replicates() -> None:
    assert repr(of("a>b")) == "Confidence(4 nodes, 1 replicate by draw 'half')"
    assert of("a>b").summary().startswith("1 replicate, draw half; ")
    stopped = of("a>b", replicates=3, stopped="time limit")
    assert repr(stopped) == "Confidence(4 nodes, 1 of 3 replicates by draw 'half')"
    assert stopped.summary().startswith("1 of 3 replicates (time limit), draw half; ")


def brute_force_threshold(strengths: Sequence[float], pairs: int) -> float:
    """Return the threshold, by trying each value of the distribution function of strengths."""
    every = sorted([*strengths, *[0.0] * (pairs - len(strengths))])
    grid = sorted({0.0, 1.0, *every})

    def cdf(x: float) -> float:
        return sum(value <= x for value in every) / pairs

    def distance(t: float) -> float:
        return sum((high - low) * abs(cdf(low) - t) for low, high in pairwise(grid))

    heights = sorted({0.0, *(cdf(x) for x in grid)})
    least = min(distance(t) for t in heights)
    t = min(t for t in heights if distance(t) <= least + 1e-9)
    return 0.0 if t == 0 else min(x for x in every if cdf(x) >= t)


@given(st.lists(st.integers(0, 20).map(lambda k: k / 20), max_size=12), st.integers(1, 15))
def test_the_threshold_minimizes_the_distance_to_an_ideal_distribution(
    strengths: list[float], more: int
) -> None:
    pairs = len(strengths) + more
    found = significance_threshold(strengths, pairs)
    assert found == pytest.approx(brute_force_threshold(strengths, pairs))


def test_the_threshold_of_certain_edges_is_zero() -> None:
    assert significance_threshold([1.0, 1.0], pairs=6) == 0.0
    assert significance_threshold([1.0] * 6, pairs=6) == 0.0
    assert significance_threshold([], pairs=6) == 0.0
    assert significance_threshold([], pairs=0) == 0.0


def test_the_averaged_class_has_the_edges_above_the_threshold() -> None:
    assert FOUR.averaged(0.3).cpdag == graph("a>b c>b")
    assert FOUR.averaged(0.9).cpdag == graph("a-b")  # a single edge is undirected in the class
    assert FOUR.averaged(1.0).cpdag == PDAG.empty(4)
    assert FOUR.averaged(0.3).cpdag.names == NAMES
    with pytest.raises(InvalidArgument, match="threshold = 2: it must be a number, from 0 to 1"):
        FOUR.averaged(2)


def test_an_arrow_that_closes_a_cycle_is_left_out_with_a_note() -> None:
    cyclic = of("a>b b>c", "a>b b>c", "a>b c>a", "b>c c>a")
    averaged = cyclic.averaged(0.4)
    assert averaged.cpdag == graph("a-b b-c")
    assert averaged.notes == (
        "c → a (0.50) was left out: it would close a directed cycle with edges that are at least "
        "as strong",
    )
    assert "at least as strong" in of("a>b b>c", "b>c c>a", "c>a a>b").averaged().notes[0]


def test_lines_without_a_common_dag_are_directed_with_a_note() -> None:
    """Every direction of an undirected cycle of four nodes without a chord has a v-structure."""
    square = of("a-b b-c c-d a-d", "a-b b-c c-d a-d")
    averaged = square.averaged(0.5)
    assert averaged.cpdag.edge_count() == 4
    assert averaged.cpdag.v_structures()
    assert averaged.notes == (
        "the undirected edges were given the direction that is more frequent among the replicates",
    )


TEXTS = st.sampled_from(["", "a-b", "a>b c>b", "a-b b-c", "a>b c>b c-d", "a-c", "a>d b>d c>d"])


@given(st.lists(TEXTS, min_size=1, max_size=7))
def test_the_medoid_is_nearest_to_all_replicates(texts: list[str]) -> None:
    found = of(*texts)
    totals = [sum(shd(one, other) for other in found.graphs) for one in found.graphs]
    assert found.medoid() == found.graphs[int(np.argmin(totals))]


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_json_and_back_is_the_same_value(texts: list[str]) -> None:
    found = of(*texts, penalty=1.5, seed=3, notes=("one",), stopped="time limit", replicates=9)
    again = Confidence.from_json(found.to_json())
    assert again == found
    assert again.names == NAMES
    assert again.to_json() == found.to_json()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "sges-result", "not a confidence of format 'sges-confidence', version 1"),
        ("version", 2, "version 2"),
        ("graphs", [], "a list that is not empty"),
        ("graphs", [[[0, 9, "->"]]], "an edge of a replicate is"),
        ("graphs", [[[0, 1, "=>"]]], "an edge of a replicate is"),
        ("graphs", [[[0, 0, "->"]]], "an edge needs two different nodes"),
        ("graphs", [[]] * 9, "more graphs than replicates"),
        ("nodes", ["a", "a", "c", "d"], "the nodes of the confidence"),
        ("seed", -1, "a whole number"),
        ("seconds", "5", "a number"),
        ("notes", [1], "a list of texts"),
    ],
)
def test_a_damaged_record_is_refused_by_its_entry(key: str, value: object, message: str) -> None:
    record = {**json.loads(FOUR.to_json()), key: value}
    with pytest.raises(DataError, match=message) as caught:
        Confidence.from_json(json.dumps(record))
    assert "\n" not in str(caught.value)


def test_a_cut_off_or_incomplete_text_is_refused() -> None:
    text = FOUR.to_json()
    for end in range(0, len(text), 7):
        with pytest.raises(DataError):
            Confidence.from_json(text[:end])
    record = json.loads(text)
    for key in ("draw", "graphs", "nodes", "notes"):
        with pytest.raises(DataError, match=f"no entry '{key}'"):
            Confidence.from_json(json.dumps({k: v for k, v in record.items() if k != key}))
    with pytest.raises(DataError, match="must be an object"):
        Confidence.from_json("[]")


def test_the_summary_lists_edges_by_strength_and_marks_the_weak() -> None:
    lines = of("a>b c>b", "a>b c>b", "a>b c>b", "a>b c>b a-d").summary().split("\n")
    assert lines[1] == "2 of the 3 pairs that were ever adjacent exceed the threshold of 0.25"
    assert lines[4].split() == ["a", "b", "1.00", "1.00", "0.00", "0.00"]
    assert lines[6].split() == ["a", "d", ".", "0.25", "0.00", "0.00", "0.25"]
    assert "... and 2 weaker pairs" in FOUR.summary(1)


def test_the_notes_of_the_summary_fit_a_terminal() -> None:
    noted = replace(FOUR, notes=("the replicates have notes of many words, " * 5,))
    assert max(map(len, noted.summary().splitlines())) <= 80
    assert of("a>b", notes=("one.", "two.")).summary().endswith("\nnote: one.\nnote: two.\n")


@pytest.mark.parametrize("width", [40, 80, 100])
def test_long_names_are_cut_to_the_width_of_a_terminal(width: int) -> None:
    names = ["a_long_name_" * 20 + end for end in ["one", "two", "three", "four"]]
    graphs = tuple(graph.named(names) for graph in FOUR.graphs)
    found = replace(FOUR, graphs=graphs, notes=("a note of many words, " * 5,))
    assert names[0] in found.summary()
    lines = found.summary(width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert any("…" in line for line in lines)


def test_a_strange_variable_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InvalidArgument, match="did you mean 'a'"):
        FOUR.strength("A", "b")
    with pytest.raises(InvalidArgument, match="4 is out of range"):
        FOUR.strength(4, "b")


def test_pictures_draw_strong_edges_wide_and_weak_ones_dashed(tmp_path: Path) -> None:
    found = of(*["a>b c>b"] * 7, "a>b c>b a-d", "a>b c>b a-d", "a-d")
    picture = tmp_path / "strengths.svg"
    found.plot(picture, least=0.2)
    text = picture.read_text(encoding="utf-8")
    assert text.count("stroke-dasharray") == 2  # the weak edge, and its line in the legend
    assert "not in the averaged class" in text
    dashed = re.findall(r'style="[^"]*stroke-dasharray[^"]*"', text)
    assert len({re.search("stroke: (#[0-9a-f]+)", style)[1] for style in dashed}) == 2  # type: ignore[index]
    with pytest.raises(InvalidArgument, match=r"least = 1\.5: it must be a number, from 0 to 1"):
        found.plot(picture, least=1.5)
    found.plot(picture, least=0.5)
    assert "stroke-dasharray" not in picture.read_text(encoding="utf-8")
    curve = tmp_path / "curve.svg"
    found.plot_curve(curve)
    assert "strength of a pair" in curve.read_text(encoding="utf-8")


def test_an_arrow_left_out_for_a_cycle_is_not_called_weak(tmp_path: Path) -> None:
    cyclic = of("a>b b>c", "b>c c>a", "c>a a>b")
    assert cyclic.threshold < min(cyclic.strengths.values())
    picture = tmp_path / "strengths.svg"
    cyclic.plot(picture)
    text = picture.read_text(encoding="utf-8")
    assert "below the threshold" not in text
    assert "not in the averaged class" in text


def test_saving_writes_four_files(tmp_path: Path) -> None:
    written = FOUR.save(tmp_path / "out")
    assert [path.name for path in written] == [
        "confidence.json", "strengths.csv", "strengths.svg", "summary.txt",
    ]  # fmt: skip
    assert Confidence.from_json(written[0].read_text(encoding="utf-8")) == FOUR
    rows = written[1].read_text(encoding="utf-8").splitlines()
    assert rows[:2] == ["a,b,p_edge,p_ab,p_ba,p_undirected", "a,b,1.0,0.5,0.25,0.25"]
    assert json.loads(written[0].read_text(encoding="utf-8"))["threshold"] == FOUR.threshold


def test_files_of_another_origin_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "summary.txt").write_text("mine")
    with pytest.raises(FileError, match=r"summary\.txt exists and was not written by sges"):
        FOUR.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["summary.txt"]
    (tmp_path / "summary.txt").unlink()
    assert FOUR.save(tmp_path) == FOUR.save(tmp_path)


def test_a_notebook_shows_the_averaged_class_and_the_shares() -> None:
    page = FOUR._repr_html_()
    assert "data:image/svg+xml" in page
    assert "4 replicates" in page
