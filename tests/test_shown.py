"""What the values that users get show in a REPL, in a notebook, and in files."""

import csv
import re
from functools import cache
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sges
from sges.data import Dataset, Moments
from sges.data.reading import Reading
from sges.display import Rows
from sges.graph import PDAG
from sges.network import LinearGaussian
from sges.result import Result
from sges.score import BGe, DegenerateGaussian
from sges.tools.effects import DiscreteEffect, LinearEffect, effect, joint_effect
from sges.tools.report.page import report_page

EVIL = ["<b>", "two\nlines", "\x1b[31mred", 'a "b"']


@cache
def greenhouse() -> Result:
    return sges.learn(sges.examples.load("greenhouse"))


@cache
def asia() -> Result:
    return sges.learn(sges.examples.load("asia"))


def numbers() -> dict[str, list[float]]:
    """Return a table with names that could control a terminal."""
    x = np.random.default_rng(0).normal(size=(200, 4))
    x[:, 1] += x[:, 0]
    x[:, 3] += x[:, 0] + x[:, 1]
    return dict(zip(EVIL, x.T.tolist(), strict=True))


def answers() -> dict[str, Any]:
    """Return a value of each kind that is not a page or a table."""
    result = sges.learn(numbers())
    confidence = result.confidence(5)
    last = EVIL[3]
    return {
        "result": result,
        "plan": result.plan,
        "score": result.scorer,
        "step": result.steps[0],
        "edge": result.edges[0],
        "graph": result.cpdag,
        "network": result.fit(),
        "effect": result.effect(0, last),
        "joint effect": joint_effect(result.cpdag, [0, 1], last, numbers()),
        "discrete effect": asia().effect("smoke", "dysp"),
        "effect in replicates": confidence.effect(0, last, numbers()),
        "certificate": result.certify(),
        "explanation": result.explain(2, 3),
        "confidence": confidence,
        "comparison": sges.compare(result.cpdag, result.dag()),
        "moments": Moments.of(Dataset.of(numbers())),
        "dataset": Dataset.of(numbers()),
        "reading": Reading(missing="em"),
        "strategy": sges.Strategy(extended=True),
        "column": sges.inspect(numbers()).columns[0],
        "other scores": [BGe(numbers()), DegenerateGaussian(numbers())],
    }


def test_an_answer_is_shown_in_a_few_short_lines_that_control_nothing() -> None:
    for kind, answer in answers().items():
        text = repr(answer)
        assert len(text.splitlines()) <= 6, kind
        assert len(text) < 400, kind
        assert all(c.isprintable() or c == "\n" for c in text), kind
        assert not re.search(r"array\(|object at 0x|None", text), kind


def test_options_are_shown_if_they_were_given() -> None:
    assert repr(Reading()) == "Reading()"
    assert repr(Reading(weights=np.ones(2))) == "Reading(weights=array([1., 1.]))"


def test_an_effect_says_its_value_its_interval_and_what_it_was_adjusted_for() -> None:
    found = greenhouse().effect("photosynthesis", "sugar")
    assert isinstance(found, LinearEffect)
    low, high = found.interval()
    assert repr(found) == (
        f"photosynthesis on sugar: {found.minimum:.3g} (95% interval {low:.3g} to {high:.3g}), "
        "adjusted for light, chlorophyll, leaf_area"
    )
    assert repr(greenhouse().effect("sugar", "light")) == "sugar on light: 0, no directed path"
    several = repr(greenhouse().effect("nitrogen", "sugar"))
    assert several.startswith("nitrogen on sugar: 0 to 0.0561 (95% interval ")
    assert several.endswith("), adjusted for 2 sets")


def test_an_effect_in_a_known_model_has_no_interval() -> None:
    model = LinearGaussian(PDAG.from_edges(2, [(0, 1)]), [[0, 2], [0, 0]], [1, 1])
    assert repr(effect(model.dag, 0, 1, model)) == "0 on 1: 2, adjusted for nothing"


def test_a_discrete_effect_shows_the_probabilities_for_each_level() -> None:
    found = asia().effect("tub", "dysp")
    assert isinstance(found, DiscreteEffect)
    first, *others = repr(found).splitlines()
    assert first.startswith("tub on dysp: changes a probability by up to 0.387")
    for level, line, row in zip(("no", "yes"), others, found.minimum, strict=True):
        assert line == f"  p(dysp) when tub = {level}: no {row[0]:.3g}, yes {row[1]:.3g}"


@pytest.mark.parametrize("name", ["effects", "edges", "steps"])
def test_several_answers_are_shown_as_a_table_of_80_columns(name: str) -> None:
    rows: dict[str, Rows[Any]] = {
        "effects": greenhouse().effects(on="fruit_weight"),
        "edges": greenhouse().edges,  # type: ignore[dict-item]
        "steps": greenhouse().steps,  # type: ignore[dict-item]
    }
    lines = repr(rows[name]).splitlines()
    assert len(lines) == 1 + len(rows[name])
    assert max(map(len, lines)) <= 80
    assert len(repr(rows[name][:2]).splitlines()) == 3  # a slice is shown in the same way
    assert rows[name] == tuple(rows[name])


def test_of_many_rows_the_first_are_shown_and_the_others_counted() -> None:
    lines = repr(Rows(range(1_000))).splitlines()
    assert (lines[0], len(lines), lines[-1]) == ("0", 61, "... and 940 more")
    assert repr(Rows()) == "()"


def test_a_plot_leaves_nothing_behind_but_its_figure_or_its_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    confidence = greenhouse().confidence(2)
    for draw in (
        greenhouse().plot,
        greenhouse().dag().plot,
        confidence.plot_curve,
        confidence.plot,
    ):
        pyplot.close("all")
        assert draw() is None
        assert len(pyplot.get_fignums()) == 1  # which a notebook shows
        assert draw(tmp_path / "picture.svg") == tmp_path / "picture.svg"
    pyplot.close("all")


def test_a_result_is_written_as_csv_with_a_row_for_each_edge(tmp_path: Path) -> None:
    path = greenhouse().to_csv(tmp_path / "edges.csv")
    text = path.read_text(encoding="utf-8")
    assert text == greenhouse().to_csv()
    rows = list(csv.DictReader(StringIO(text)))
    assert [row["strength"] for row in rows] == [str(e.strength) for e in greenhouse().edges]
    assert sges.compare(greenhouse().cpdag, sges.read_graph(path)).shd == 0
    alone = Result(PDAG.from_edges(3, [(0, 1)], names=["a", "b", "c"]), 0.0)
    assert alone.to_csv(tmp_path / "edges.csv").read_text() == (
        "source,target,type,strength,gain,step\na,b,directed,,,\nc,,,,,\n"
    )


def test_a_graph_is_written_in_any_text_format(tmp_path: Path) -> None:
    for name in ("to_csv", "to_dot", "to_gml", "to_graphml", "to_dagitty", "to_lavaan"):
        write = getattr(greenhouse().dag(), name)
        assert write(tmp_path / name).read_text(encoding="utf-8") == write()


def test_a_data_frame_of_a_result_has_the_numbers_of_its_edges() -> None:
    pytest.importorskip("pandas")
    frame = greenhouse().to_pandas()
    assert list(frame) == ["source", "target", "type", "strength", "gain", "step"]
    assert frame["strength"].tolist() == [edge.strength for edge in greenhouse().edges]
    assert Result(PDAG.from_edges(2, [(0, 1)]), 0.0).to_pandas()["step"].isna().all()


@pytest.mark.parametrize(
    ("call", "title"),
    [
        ("result = sges.learn('plants/2024 & 25.csv', max_indegree=3)", "2024 &amp; 25.csv: e"),
        ("result = sges.learn('C:\\\\data\\\\plants.csv')", "plants.csv: e"),
        ("result = sges.learn(sges.examples.load('asia'))", "asia: e"),
        ("result = sges.learn(data, names=['x'])", "data: e"),
        ("result = sges.learn('-')", "data: e"),
        ("result = sges.learn(score=score)", "E"),
        ("not Python", "E"),
        (None, "E"),
    ],
)
def test_the_title_of_a_report_names_the_table(call: str | None, title: str) -> None:
    page = report_page(Result(PDAG.empty(1), 0.0, call=call))
    assert f"<title>{title}quivalence class on 1 variable</title>" in page
    assert f"<h1>{title}quivalence class on 1 variable</h1>" in page


def test_the_call_of_an_example_can_be_run_again() -> None:
    names: dict[str, Any] = {"sges": sges}
    exec(asia().call or "", names)
    assert names["result"] == asia()


def test_no_module_has_the_name_of_a_function_of_the_package() -> None:
    """Importing such a module would replace the function."""
    functions = [name for name in sges.__all__ if type(getattr(sges, name)).__name__ == "function"]
    assert {"learn", "inspect", "confidence"} <= set(functions)
    assert [name for name in functions if find_spec(f"sges.{name}")] == []


# sges.inspect


def test_inspect_shows_its_page_and_has_a_row_for_each_column() -> None:
    pytest.importorskip("pandas")
    x = np.random.default_rng(0).normal(size=100)
    found = sges.inspect({"x": x, "low": x < 0, "y": [None, *x[:0:-1]]})
    assert repr(found) == str(found) == found.text()
    frame = found.to_pandas()
    assert frame["name"].tolist() == ["x", "low", "y"]
    assert frame["missing"].tolist() == [0, 0, 1]
    assert frame["findings"].tolist()[1] == "deterministic columns"
    assert len(repr(found.columns).splitlines()) == 4
    assert all(finding.what in repr(found.findings) for finding in found.findings)


def test_inspect_is_a_table_in_a_notebook_whatever_the_names() -> None:
    page = sges.inspect({**numbers(), "half": [None, 1.5] * 100})._repr_html_()
    assert len(re.findall("<tr>", page)) == 6
    assert "missing values</b>" in page
    assert "&lt;b&gt;" in page
    assert "\x1b" not in page
    assert not re.search("<(script|style|b>[^<]*<b)", page)
    assert "missing</th>" not in sges.inspect(numbers())._repr_html_()


@pytest.mark.parametrize(
    "table",
    [
        {"a": [1.0, 2.0, None, None], "b": [None, None, 1.0, 3.0]},
        {"a": [None, None, 1.5], "b": ["x", None, None]},
        {"a": [None] * 4, "b": [1.5, 2.5, 1.0, None]},
        {"a": [None, 1.0, None, 2.5], "b": [None, "u", None, "v"]},
        {"a": [True, None, False], "b": [1, None, None], "c": [None, 2.5, None]},
    ],
)
def test_inspect_does_not_raise_an_error_for_missing_values(table: dict[str, Any]) -> None:
    found = sges.inspect(table)
    assert found.columns
    for shown in (repr(found), found._repr_html_()):
        assert "column" in shown


def test_inspect_says_if_columns_are_never_observed_together() -> None:
    found = sges.inspect({"a": [1.0, 2.0, None, None], "b": [None, None, 1.0, 3.0]})
    assert "Two columns are observed together in 0 rows" in repr(found)
