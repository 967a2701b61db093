"""The report: the page contains the result, with any names."""

import json
import random
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sges
from sges.errors import DataError, FileError, InvalidArgument
from sges.graph import PDAG
from sges.knowledge import Knowledge
from sges.network import LinearGaussian, random_dag
from sges.operators import Insert
from sges.result import Result, Step
from sges.tools.report import read_result
from sges.tools.report.page import replay, report_page

HOSTILE = [
    "<script>alert(1)</script>", "</script><script>boom()</script>", "<!--", "-->", "]]>",
    "\"'><img src=x onerror=alert(1)>", "&amp;", "a\u2028b", "\x00", "\ud800", "\u202eabc", "${x}",
    "$result", "<svg onload=alert(1)>", "javascript:alert(1)", "ümlaut 漢字 🙂", " ", "\n",
]  # fmt: skip


class Page(HTMLParser):
    """The elements, attributes and texts of a page, as a browser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        (self.scripts if self.tags[-1:] == ["script"] else self.texts).append(data)


def view_in(text: str) -> Any:  # noqa: ANN401 (the view, as JSON)
    start = text.index('id="sges-view">') + len('id="sges-view">')
    return json.loads(text[start : text.index("</script>", start)])


def learned(n: int, edges: int, seed: int, **options: Any) -> Result:  # noqa: ANN401
    network = LinearGaussian.random(random_dag(n, edges, seed), seed=seed)
    return sges.learn(network.sample(400, seed), strategy="two-phase", **options)


def random_result(seed: int) -> Result:
    """Return a random result with unusual names, steps and numbers."""
    rng = random.Random(seed)
    n = rng.randrange(0, 9)
    names = rng.sample([*HOSTILE, *"abcdefgh"], n)
    pairs = [(x, y) for x in range(n) for y in range(x + 1, n) if rng.random() < 0.4]
    kinds = [rng.random() < 0.5 for _ in pairs]
    graph = PDAG.from_edges(
        n,
        [pair for pair, is_directed in zip(pairs, kinds, strict=True) if is_directed],
        [pair for pair, is_directed in zip(pairs, kinds, strict=True) if not is_directed],
        names=names,
    )
    numbers = [0.1, -1e300, 1e-300, inf, -inf, 12345.6789]
    steps = [
        Step(rng.choice(["fes", "</script>"]), Insert(x, y), rng.choice(numbers), 1.5, 3)
        for x, y in pairs
    ]
    stopped = rng.choice([None, "<b>time</b>"])
    return Result(
        graph, rng.choice(numbers), tuple(steps), 3, 10**40, 7, {"fes": 0.25}, stopped is None,
        stopped, "MaxParents(k=2)", "fes", "auto", "<i>", ("<script>",),
    )  # fmt: skip


def readable(result: Result) -> bool:
    """Return whether a result equals its JSON round trip, which half a surrogate pair does not."""
    return Result.from_json(result.to_json()) == result


@pytest.mark.parametrize("seed", range(24))
def test_a_result_is_read_back_from_its_page(seed: int, tmp_path: Path) -> None:
    result = random_result(seed)
    path = result.report(tmp_path / "report.html")
    again = read_result(path)
    assert again == Result.from_json(result.to_json())
    assert again.seconds == result.seconds
    if readable(result):
        assert again == result
        assert again.names == result.names


@pytest.mark.parametrize("seed", range(4))
def test_names_are_text_and_nothing_else(seed: int) -> None:
    n = len(HOSTILE)
    rng = random.Random(seed)
    names = rng.sample(HOSTILE, n)
    graph = PDAG.from_edges(n, [(v, v + 1) for v in range(n - 1)], names=names)
    plain = graph.named([f"x{v}" for v in range(n)])
    hostile, harmless = (Page(report_page(Result(g, 1.0))) for g in (graph, plain))
    assert hostile.tags.count("script") == harmless.tags.count("script") == 3
    assert hostile.tags.count("g") == harmless.tags.count("g")
    assert set(hostile.tags) == set(harmless.tags)
    assert {key for key, _ in hostile.attributes} == {key for key, _ in harmless.attributes}
    assert any("<script>alert(1)</script>" in text for text in hostile.texts)


def test_a_page_refers_to_nothing_outside() -> None:
    page = Page(report_page(learned(8, 10, 1)))
    links = [value for key, value in page.attributes if key in ("href", "src", "action", "data")]
    assert {link for link in links if not str(link).startswith("#")} == {"data:,"}
    policy = next(
        str(value) for _, value in page.attributes if str(value).startswith("default-src 'none'")
    )
    assert "unsafe" not in policy


def graph_after(view: Any, step: int, names: tuple[str, ...]) -> PDAG:  # noqa: ANN401
    """Return the graph after a step, computed from the data in the page."""
    n = len(names)
    edges: dict[frozenset[int], tuple[int, int, int]] = {}
    if view["start"] == "complete":
        edges = {frozenset((x, y)): (x, y, 2) for x in range(n) for y in range(x + 1, n)}
    for change in view["changes"][:step]:
        for x, y, kind in zip(change[::3], change[1::3], change[2::3], strict=True):
            edges.pop(frozenset((x, y)), None)
            if kind:
                edges[frozenset((x, y))] = (x, y, kind)
    return PDAG.from_edges(
        n,
        [(x, y) for x, y, kind in edges.values() if kind == 1],
        [(x, y) for x, y, kind in edges.values() if kind == 2],
    )


@pytest.mark.parametrize("forward", ["fes", "complete"])
@pytest.mark.parametrize("seed", range(3))
def test_the_replay_shows_the_graphs_of_the_library(seed: int, forward: Any) -> None:  # noqa: ANN401
    result = learned(9, 16, seed, forward=forward)
    view = view_in(report_page(result))
    graphs = replay(result)
    assert graphs is not None
    assert len(view["steps"]) == len(result.steps) == len(graphs) - 1
    for step, graph in enumerate(graphs):
        assert graph_after(view, step, result.names) == graph
        if step:
            assert graph.edge_count() == result.steps[step - 1].edges
    assert graph_after(view, len(graphs), result.names) == result.cpdag


def test_what_knowledge_directs_at_the_end_is_the_last_change() -> None:
    values = np.random.default_rng(1).normal(size=(300, 1))
    data = {"a": values[:, 0], "b": values[:, 0] + np.random.default_rng(2).normal(size=300)}
    knowledge = Knowledge(tiers=[["b"], ["a"]])
    result = sges.learn(data, knowledge=knowledge, strategy="two-phase")
    assert result.cpdag.directed_edges() == [(1, 0)]
    view = view_in(report_page(result))
    assert view["changes"] == [[0, 1, 2], [1, 0, 1]]


def test_without_the_start_there_are_steps_and_no_graphs() -> None:
    result = learned(6, 8, 3)
    shifted = replace(result, steps=result.steps[1:])
    view = view_in(report_page(shifted))
    assert view["start"] is None
    assert view["changes"] == []
    assert len(view["steps"]) == len(result.steps) - 1


def test_the_edges_of_the_view_and_of_the_table_are_those_of_the_result() -> None:
    result = learned(10, 14, 5)
    text = report_page(result)
    view = view_in(text)
    kinds = {1: "directed", 2: "undirected"}
    shown = [(view["names"][x], view["names"][y], kinds[kind]) for x, y, kind, *_ in view["edges"]]
    assert shown == [(edge.source, edge.target, edge.kind) for edge in result.edges]
    assert [edge[4] for edge in view["edges"]] == [edge.step for edge in result.edges]
    assert text.count("<tr data-e=") == result.cpdag.edge_count()
    assert text.count('<path class="edge directed" data-x') == len(result.cpdag.directed_edges())


@pytest.mark.parametrize("n", [0, 1, 2])
def test_small_graphs_have_a_page(n: int) -> None:
    result = Result(PDAG.empty(n), 0.0)
    assert "no edges" in report_page(result)


def test_one_thing_is_not_written_as_several() -> None:
    data = LinearGaussian.random(PDAG.from_edges(2, [(0, 1)]), seed=1).sample(100, 1)
    result = sges.learn(data, strategy="two-phase")
    assert len(result.steps) == result.cpdag.edge_count() == 1
    text = report_page(result, confidence=sges.confidence(data, replicates=1))
    assert "0 directed and 1 undirected edge;" in text
    assert not re.search(r"\b1 (steps|edges|undirected edges|replicates|variables|pairs)", text)
    assert "1 DAG in the class" in report_page(Result(PDAG.empty(1), 0.0))


def many_steps(n: int, edges: int, seed: int) -> Result:
    """Return a result whose steps insert random edges one by one."""
    rng = random.Random(seed)
    graph = PDAG.empty(n, [f"variable_{v}" for v in range(n)])
    steps: list[Step] = []
    while len(steps) < edges:
        x, y = rng.sample(range(n), 2)
        operator = Insert(x, y)
        if operator.is_valid(graph):
            graph = operator.apply(graph)
            steps.append(Step("fes", operator, 1 / 3, len(steps) / 3, graph.edge_count()))
    return Result(graph, 1.0, tuple(steps))


def test_a_page_of_many_nodes_and_steps_is_small() -> None:
    assert len(report_page(many_steps(300, 300, 1)).encode()) < 900_000


def test_a_page_without_a_result_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "other.html"
    page.write_text("<!DOCTYPE html><title>other</title>", encoding="utf-8")
    with pytest.raises(DataError, match="does not contain a result"):
        read_result(page)


def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    result = Result(PDAG.empty(1), 0.0)
    for use in (sges.read_result, sges.read_graph, result.report, result.save, result.plot):
        with pytest.raises(InvalidArgument, match="a path cannot contain a null character"):
            use(str(tmp_path / "a\0b.html"))
    for use in (sges.read_result, sges.read_graph, result.report, result.save):
        with pytest.raises(FileError, match=r"cannot (read|write) "):
            use(tmp_path / f"{'x' * 300}.html")


def test_a_search_too_long_to_be_replayed_keeps_its_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = learned(8, 10, 1)
    assert view_in(report_page(result))["start"] == "empty"
    monkeypatch.setattr("sges.tools.report.page.MAX_REPLAYED", 8 * len(result.steps) - 1)
    view = view_in(report_page(result))
    assert view["start"] is None
    assert len(view["steps"]) == len(result.steps)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"penalty": 2, "max_indegree": 3},
        {"assume": sges.MaxParents(2), "strategy": "two-phase"},
        {"strategy": sges.Strategy(interleaved=True, order=True)},
        {"knowledge": Knowledge(tiers=[["light"], ["sugar"]], forbidden=[("pests", "sugar")])},
        {"columns": ["light", "sugar", "pests"], "score": sges.score.GaussianBIC},
    ],
    ids=["defaults", "penalty", "assume", "strategy", "knowledge", "columns"],
)
def test_the_recorded_call_finds_the_same_graph(options: dict[str, Any], tmp_path: Path) -> None:
    table = tmp_path / "it's a table.csv"
    table.write_bytes((files("sges.examples") / "greenhouse.csv").read_bytes())
    result = sges.learn(table, **options)
    names: dict[str, Any] = {"sges": sges}
    assert result.call is not None
    exec(result.call, names)
    assert names["result"] == result
    again = read_result(result.report(tmp_path / "report.html"))
    assert (again.call, again.digest) == (result.call, result.digest)
    assert str(result.digest) in report_page(again)


def test_arguments_that_cannot_be_written_are_named_in_the_call() -> None:
    data = sges.examples.load("asia").table
    names = [f"a long name of a column, number {k}" * 20 for k in range(8)]
    result = sges.learn(data, score=sges.score.BDeu, names=names, progress=lambda _: None)
    assert result.call == "result = sges.learn(data, score=sges.score.BDeu, names=names)"


def test_the_digest_is_that_of_the_data() -> None:
    one, other = (np.random.default_rng(seed).normal(size=(60, 3)) for seed in (1, 2))
    digests = [sges.learn(values, strategy="two-phase").digest for values in (one, other, one)]
    assert digests[0] == digests[2] != digests[1]
    mixed = {"a": one[:, 0], "b": [str(value > 0) for value in one[:, 1]]}
    assert sges.learn(mixed).digest is not None


def test_a_confidence_adds_the_shares_of_replicates() -> None:
    data = LinearGaussian.random(random_dag(8, 12, 3), seed=3).sample(60, 3)
    result, found = sges.learn(data), sges.confidence(data, replicates=20)
    text = report_page(result, confidence=found)
    view = view_in(text)
    assert view["replicates"] == 20
    for edge, row in zip(result.edges, view["edges"], strict=True):
        joined, forward, backward, line = row[6]
        assert joined == pytest.approx(found.strength(edge.source, edge.target))
        assert joined == pytest.approx(forward + backward + line)
    assert "share of 20 replicates" in text
    assert "20 replicates, draw bayesian; threshold" in text
    assert "share of 20" not in report_page(result)


def test_a_confidence_of_other_variables_is_refused() -> None:
    result, found = learned(4, 3, 1), sges.confidence(sges.examples.load("asia"), replicates=2)
    with pytest.raises(InvalidArgument, match="other variables"):
        report_page(result, confidence=found)
    with pytest.raises(InvalidArgument, match="must be a Confidence"):
        report_page(result, confidence=5)  # type: ignore[arg-type]
