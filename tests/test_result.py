"""The contents of a result, its copies and its files."""

import json
import pickle
import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations, islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given

from sges import MaxParents, compare, examples, learn, read_result
from sges.errors import DataError, FileError, GraphError, InvalidArgument, SgesError
from sges.graph import PDAG, dag_to_cpdag, is_dag
from sges.operators import Delete, Insert
from sges.result import Result, Step
from sges.score.protocol import total_score
from sges.search import bes, ges, sges
from sges.tools.baselines import exact
from sges.tools.export import from_networkx, from_numpy, read_graph
from sges.tools.export.formats import from_graphml
from sges.tools.report import Explanation
from sges.tools.report.text import summary
from strategies import dags
from worlds import gaussian_score

EVIL = ["<script>alert(1)</script>", 'a "b" & c', "\x1b[31mred\n", "plain"]


def learned(seed: int, n: int = 8) -> Result:
    """Return a result with names and steps."""
    found = sges(gaussian_score(n, n + 4, 2_000, seed), MaxParents(2))
    return replace(found, cpdag=found.cpdag.named([f"v{v}" for v in range(n)]))


def evil() -> Result:
    graph = PDAG.from_edges(4, [(0, 2), (1, 2)], [(2, 3)], names=EVIL)
    return Result(graph, -1.5, steps=(Step("fes", Insert(0, 2, {3}), 1.0, -1.5, 3),))


def test_json_goes_out_and_comes_back_whole(seed: int) -> None:
    result = learned(seed)
    back = Result.from_json(result.to_json())
    assert back == result
    assert back.names == result.names
    assert back.seconds == dict(result.seconds)
    assert back.to_json() == result.to_json()
    assert json.loads(result.to_json())["format"] == "sges-result"


@given(dags())
def test_any_class_goes_to_json_and_back(dag: PDAG) -> None:
    result = Result(dag_to_cpdag(dag), 0.5, notes=("a note",), complete=False, stopped="why")
    assert Result.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"format": "other"},
            "not a result of format 'sges-result', version 1: it has format 'other'",
        ),
        ({"version": 9}, "version 9"),
        ({"steps": [{"operator": "Jump"}]}, "the entry 'operator' of step 1 is 'Jump'"),
        ({"steps": [{}]}, "step 1 has no entry 'operator'"),
        ({"edges": [{"source": "x", "target": "y", "type": "directed"}]}, "an edge refers to 'x'"),
    ],
)
def test_what_is_not_a_result_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(SgesError, match=re.escape(message)):
        Result.from_dict(Result(PDAG.empty(2), 0.0).to_dict() | change)


def test_invalid_json_or_a_missing_entry_is_refused() -> None:
    record = Result(PDAG.empty(2), 0.0).to_dict()
    del record["assume"]
    with pytest.raises(SgesError, match="has no entry 'assume'"):
        Result.from_dict(record)
    for text in ("{", "[]"):
        with pytest.raises(DataError, match="JSON"):
            Result.from_json(text)


def test_it_pickles_without_the_score(seed: int) -> None:
    result = learned(seed)
    back = pickle.loads(pickle.dumps(result))
    assert back == result
    assert back.scorer is None
    assert result.scorer is not None


def test_it_pickles_whatever_property_was_assumed(seed: int) -> None:
    class FewEdges:
        """A property whose class is local, so that it does not pickle."""

        def holds(self, graph: PDAG) -> bool:
            return graph.edge_count() <= 3

    rows = np.random.default_rng(seed).normal(size=(50, 3))
    result = learn(rows, assume=FewEdges())
    back = pickle.loads(pickle.dumps(result))
    assert back == result
    assert back.plan is None


def test_every_export_is_of_the_class_it_holds(seed: int) -> None:
    result = learned(seed)
    graph = result.cpdag
    assert from_networkx(result.to_networkx()) == graph
    assert from_numpy(result.to_numpy("pcalg"), "pcalg") == graph
    assert from_numpy(result.to_numpy(), "row-to-column") == graph
    assert from_graphml(result.to_graphml()) == graph
    assert len(result.to_pandas()) == graph.edge_count()
    assert result.to_dot().count("->") == graph.edge_count()


def test_dag_and_members_are_of_the_class_and_keep_the_names(seed: int) -> None:
    result = learned(seed)
    assert dag_to_cpdag(result.dag()) == result.cpdag
    assert result.dag().names == result.names
    for member in islice(result.members(), 50):
        assert dag_to_cpdag(member) == result.cpdag
        assert member.names == result.names


def test_members_of_a_refined_class_keep_what_was_decided() -> None:
    """0 → 1 is not in the CPDAG of a triangle: knowledge directed it."""
    refined = PDAG.from_edges(3, [(0, 1)], [(0, 2), (1, 2)])
    result = Result(refined, 0.0)
    members = list(result.members())
    assert len(members) == 3
    assert all(is_dag(member) and member.children(0) >> 1 & 1 for member in members)
    assert result.dag() in members


def test_a_result_counts_and_draws_its_members(seed: int) -> None:
    result = learned(seed)
    members = list(result.members())
    assert result.class_size() == len(members)
    drawn = result.sample_members(5, seed)
    assert len(drawn) == 5
    assert all(dag in members and dag.names == result.names for dag in drawn)


def test_members_are_lazy() -> None:
    """The class has 14!, about 9e10, members."""
    assert is_dag(next(Result(PDAG.complete(14), 0.0).members()))


def test_the_summary_fits_a_terminal_and_names_every_edge(seed: int) -> None:
    result = learned(seed, n=12)
    text = result.summary(verbose=True)
    assert max(map(len, text.splitlines())) <= 80
    for name in result.names:
        assert re.search(rf"\b{name}\b", text)
    assert f"{result.score_evaluations:,} families" in text
    assert text.index("Directed:") < text.index("evaluations")
    assert "MaxParents(k=2)" in text


@pytest.mark.parametrize("n", [0, 1, 3])
def test_the_summary_of_an_empty_class_is_short(n: int) -> None:
    text = Result(PDAG.empty(n), 0.0, complete=False, stopped="time limit").summary()
    assert "no: time limit" in text
    assert ("Without edges" in text) == (n > 0)


def test_long_lists_are_cut_with_a_count_as_long_as_asked() -> None:
    star = PDAG.from_edges(200, undirected=[(0, v) for v in range(1, 200)])
    pairs = PDAG.from_edges(200, undirected=[(v, v + 1) for v in range(0, 200, 2)])
    assert len(Result(star, 0.0).summary().splitlines()) < 60
    assert "... and 61 more lines" in Result(pairs, 0.0).summary()
    assert len(Result(pairs, 0.0).summary(max_lines=5).splitlines()) < 20
    assert "  ... and 100 more lines\n" in Result(pairs, 0.0).summary(max_lines=0)
    text = Result(pairs, 0.0).summary(max_lines=None)
    assert "more lines" not in text
    assert all(f"{v} — {v + 1}" in text for v in range(0, 200, 2))


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_the_summary_aligns_arrows_and_breaks_no_word_at_any_width(width: int) -> None:
    names = [f"measurement_{i}" for i in range(12)] + ["outcome", "yield"]
    endless = PDAG.from_edges(3, [(0, 2), (1, 2)], names=["word " * 30, "x" * 200, "short"])
    assert max(map(len, summary(Result(endless, 0.0), width=width).splitlines())) <= width
    edges = [(i, 12) for i in range(9)] + [(9, 13)]
    notes = (
        "a note with plain words of some length that is longer than any terminal is wide, " * 2,
    )
    text = summary(Result(PDAG.from_edges(14, edges, names=names), 0.0, notes=notes), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert len({line.index("→") for line in text.splitlines() if "→" in line}) == 1
    assert set(re.findall(r"[a-z_]+\d*", text)) >= {*names, *re.findall(r"[a-z]+", notes[0])}


def test_characters_that_take_two_columns_do_not_shift_the_arrows() -> None:
    graph = PDAG.from_edges(4, [(0, 2), (1, 2), (2, 3)], names=["圧力", "größe", "🐟", "y"])
    lines = Result(graph, 0.0).summary().splitlines()
    assert "  圧力, größe → 🐟" in lines
    assert "           🐟 → y" in lines


def test_the_summary_names_a_forward_phase_only_if_it_ran() -> None:
    table = examples.load("asia")
    assert "forward" not in learn(table).summary(verbose=True)
    two_phase, poly = learn(table, strategy="two-phase"), learn(table, forward="poly")
    assert "\nforward   fes\n" in two_phase.summary(verbose=True)
    assert "\nforward   poly\n" in poly.summary(verbose=True)


def test_the_summary_ends_at_what_a_user_needs_and_verbose_adds_the_search() -> None:
    result = learn(examples.load("asia"))
    about_search = r"(?m)^(evaluations|steps|strategy|forward|assumed|complete) "
    assert not re.search(about_search, result.summary())
    assert len(re.findall(about_search, result.summary(verbose=True))) == 4  # not counted
    for text in (result.summary(), result.summary(verbose=True)):
        assert len(re.findall(r"(?m)^seconds +\d", text)) == 1
    assert "order" not in result.summary().partition("\nedges")[2]
    stopped = Result(
        PDAG.empty(2), 0.0, complete=False, stopped="time limit", assume="MaxParents(k=1)"
    )
    assert re.search(
        r"(?m)^assumed +MaxParents\(k=1\)\ncomplete +no: time limit$", stopped.summary()
    )


def test_a_summary_and_an_explanation_do_not_control_a_terminal() -> None:
    hostile = replace(evil(), notes=("\x1b[2Jgone",), score_name="\x1b]0;title\a", scorer=None)
    assert all(c.isprintable() or c == "\n" for c in hostile.summary())
    for a, b in combinations(range(4), 2):
        told = hostile.explain(a, b)
        assert all(c.isprintable() or c == "\n" for c in str(told))
        assert "<script>" not in told._repr_html_()


def test_text_in_a_notebook_is_monospaced_whatever_the_style_sheet_says() -> None:
    for page in (evil()._repr_html_(), evil().explain(0, 2)._repr_html_()):
        assert re.search(r'<pre style="font-family: [^"]*monospace; white-space: pre', page)


def test_repr_is_one_line(seed: int) -> None:
    assert "\n" not in repr(learned(seed))
    assert repr(Result(PDAG.empty(1), 0.0)).startswith("Result(1 node, 0 directed and 0 undirected")
    assert "stopped: time limit" in repr(
        Result(PDAG.empty(1), 0.0, complete=False, stopped="time limit")
    )


class Tags(HTMLParser):
    """Collects the tags of a page and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: dict[str, dict[str, str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] = {name: value or "" for name, value in attrs}


def test_a_notebook_shows_an_image_a_frame_over_it_and_the_summary() -> None:
    page = evil()._repr_html_()
    seen = Tags(page).seen
    assert {"img", "iframe", "pre"} <= set(seen)
    assert not {"script", "svg", "style"} & set(seen)  # which untrusted notebooks remove
    assert seen["iframe"]["sandbox"] == "allow-scripts"
    assert not any("id" in attributes for attributes in seen.values())  # ids could collide
    assert "&lt;script&gt;" in page
    assert set(Tags(Result(PDAG.empty(500), 0.0)._repr_html_()).seen) == {"pre"}


def test_the_image_in_a_notebook_is_a_drawing_of_every_edge_with_names_escaped() -> None:
    source = Tags(evil()._repr_html_()).seen["img"]["src"]
    drawing = ElementTree.fromstring(b64decode(source.removeprefix("data:image/svg+xml;base64,")))
    svg = "{http://www.w3.org/2000/svg}"
    edges = [path for path in drawing.iter(f"{svg}path") if "edge" in path.get("class", "")]
    assert len(edges) == evil().cpdag.edge_count()
    assert not list(drawing.iter(f"{svg}script"))


def test_the_frame_in_a_notebook_holds_the_view_but_not_the_archive() -> None:
    inner = Tags(evil()._repr_html_()).seen["iframe"]["srcdoc"]
    assert '<body class="notebook">' in inner
    assert '<script type="application/json" id="sges-result"></script>' in inner


# explain


def test_every_pair_of_a_search_has_an_explanation(seed: int) -> None:
    """The last event of each pair is the edge in the graph."""
    result = learned(seed)
    for a, b in combinations(range(result.cpdag.n), 2):
        told = result.explain(a, b)
        on_pair = [
            k for k, s in enumerate(result.steps, 1) if {s.operator.x, s.operator.y} == {a, b}
        ]
        assert [event.step for event in told.events if event.on_pair] == on_pair
        if told.events:
            assert told.events[-1].edge == told.edge
        else:
            assert told.edge == f"no edge between v{a} and v{b}"
        assert told.best_operator is not None or "no edge" in told.edge


def test_no_change_of_one_pair_would_gain_after_ges(seed: int) -> None:
    result = ges(gaussian_score(7, 10, 2_000, seed))
    for a, b in combinations(range(7), 2):
        gain = result.explain(a, b).best_gain
        if gain is not None and result.cpdag.adjacent(a) >> b & 1:
            assert gain < 1e-6


def test_an_operator_without_gain_does_not_lower_the_score() -> None:
    told = str(Explanation("a — b", (), "", "Delete(a, b, H = {})", 0.0))
    assert told.endswith("Delete(a, b, H = {}), would not change the score")


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.longdouble, int])
def test_a_score_of_any_kind_of_number_can_be_stored(kind: Callable[[float], Any]) -> None:
    class Own:
        n = 2

        def local(self, _: int, parents: int) -> Any:  # noqa: ANN401
            return kind(3 * parents.bit_count())

    for search in (ges, exact):
        result = search(Own())
        assert result.cpdag.edge_count() == 1
        assert Result.from_json(result.to_json()) == result


def test_an_edge_that_was_deleted_says_when() -> None:
    steps = (
        Step("fes", Insert(0, 1), 5.0, 5.0, 1),
        Step("sbes", Delete(0, 1), 0.25, 5.25, 0),
    )
    result = Result(PDAG.empty(2, names=["a", "b"]), 5.25, steps, forward="fes")
    told = str(result.explain("a", "b"))
    assert told.splitlines() == [
        "no edge between a and b.",
        "  step 1 (fes): Insert(a, b, T = {}) gained 5; after this step: a — b",
        "  step 2 (sbes): Delete(a, b, H = {}) gained 0.25; after this step: no edge between a "
        "and b",
        "  it was deleted at step 2, which changed the score by 0.25",
    ]


def test_an_explanation_includes_a_step_elsewhere_that_directs_the_edge() -> None:
    steps = (
        Step("fes", Insert(0, 2), 5.0, 5.0, 1),
        Step("fes", Insert(1, 2, {0}), 4.0, 9.0, 2),
    )
    graph = PDAG.from_edges(3, [(0, 2), (1, 2)], names=["a", "b", "c"])
    told = Result(graph, 9.0, steps, forward="fes").explain("c", "a")
    assert [(event.step, event.on_pair) for event in told.events] == [(1, True), (2, False)]
    assert told.events[1].edge == "a → c"
    assert "directed: it has this direction in every member" in told.ending


def test_a_backward_search_tells_of_what_it_started_with(seed: int) -> None:
    score = gaussian_score(6, 6, 2_000, seed)
    result = bes(score, PDAG.complete(6))
    for a, b in combinations(range(6), 2):
        told = result.explain(a, b)
        if result.cpdag.adjacent(a) >> b & 1:
            assert told.ending == "it was in the graph at the start, and no step removed it"
        else:
            assert "it was deleted at step" in told.ending
    stored = Result.from_json(result.to_json())
    assert stored.explain(0, 1).best_gain is None


def test_a_search_from_another_graph_tells_of_its_own_steps_only() -> None:
    """From 0 — 1 — 2, which is not in the result, to 0 — 1."""
    step = Step("bes", Delete(1, 2), 1.0, 1.0, 1)
    result = Result(PDAG.from_edges(3, [], [(0, 1)], names=["a", "b", "c"]), 1.0, (step,))
    assert result.explain("a", "b").events == ()
    assert "in the graph at the start" in result.explain("a", "b").ending
    (event,) = result.explain("b", "c").events
    assert event.edge == "no edge between b and c"


def test_a_method_without_steps_says_so() -> None:
    told = Result(PDAG.from_edges(2, [], [(0, 1)]), 0.0).explain(0, 1)
    assert told.ending == "the steps of this search were not recorded"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda r: r.explain("v0", "nobody"),
            "there is no node 'nobody'; the nodes are 'v0', 'v1'",
        ),
        (lambda r: r.explain("v0", 0), "'v0' is given twice; give two different nodes"),
        (lambda r: r.explain("v0", 99), "99 is out of range"),
        (lambda r: r.parents("V1"), "there is no node 'V1'; did you mean 'v1'"),
    ],
)
def test_nodes_that_are_not_there_are_refused(
    ask: Callable[[Result], object], message: str
) -> None:
    with pytest.raises((InvalidArgument, GraphError), match=message):
        ask(learned(0))


# save


def test_saving_writes_five_files_that_can_be_read_again(tmp_path: Path, seed: int) -> None:
    result = learned(seed)
    written = result.save(tmp_path / "new" / "out")
    names = ["graph.json", "graph.dot", "graph.svg", "report.html", "summary.txt"]
    assert [path.name for path in written] == names
    assert sorted(path.name for path in (tmp_path / "new" / "out").iterdir()) == sorted(names)
    assert Result.from_json(written[0].read_text(encoding="utf-8")) == result
    assert read_graph(written[0]) == read_graph(written[1]) == result.cpdag
    assert written[2].read_text(encoding="utf-8").startswith("<?xml")
    assert read_result(written[3]) == result
    assert written[4].read_text(encoding="utf-8") == result.summary()


def test_saving_replaces_a_result_of_ours_and_leaves_other_files(tmp_path: Path) -> None:
    Result(PDAG.empty(2), 0.0).save(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    evil().save(tmp_path)
    assert read_graph(tmp_path / "graph.json") == evil().cpdag
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["graph.json", "graph.dot", "summary.txt"])
def test_saving_does_not_replace_a_file_of_somebody_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"precious": 1}')
    with pytest.raises(FileError, match=f"{name} exists and was not written by sges"):
        evil().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == '{"precious": 1}'


# names


def test_edges_tell_their_kind_step_gain_and_strength(seed: int) -> None:
    result = learned(seed)
    assert len(result.edges) == result.cpdag.edge_count()
    dag = result.dag()
    for edge in result.edges:
        x, y = (result.names.index(name) for name in (edge.source, edge.target))
        assert (edge.kind == "directed") == bool(result.cpdag.children(x) >> y & 1)
        assert edge.step is not None
        step = result.steps[edge.step - 1]
        assert (edge.gain, {x, y}) == (step.gain, {step.operator.x, step.operator.y})
        z, w = (x, y) if dag.children(x) >> y & 1 else (y, x)
        without = total_score(result.scorer, dag.edited(remove=[(z, w)]))  # type: ignore[arg-type]
        assert edge.strength == pytest.approx(result.score - without)
    assert all(edge.strength is None for edge in replace(result, scorer=None).edges)


def test_a_result_answers_names_with_names() -> None:
    result = evil()
    assert result.parents(EVIL[2]) == (EVIL[0], EVIL[1])
    assert result.children(0) == (EVIL[2],)
    assert result.neighbors("plain") == (EVIL[2],)
    assert result.markov_blanket(0) == (EVIL[1], EVIL[2])
    assert result.ancestors("plain") == tuple(EVIL[:3])  # in every member
    assert result.has_edge("plain", EVIL[2])
    assert not result.has_edge(0, 1)
    assert [str(edge) for edge in result.edges][1] == 'a "b" & c → \\x1b[31mred\\n'
    assert result.dag().parents("plain") == (EVIL[2],)


def test_a_saved_result_is_read_from_its_folder_or_its_file(tmp_path: Path, seed: int) -> None:
    result = learned(seed)
    result.save(tmp_path)
    assert read_result(tmp_path) == read_result(tmp_path / "graph.json") == result
    assert compare(result, read_graph(tmp_path / "graph.json")).same_class
    with pytest.raises(FileError, match=r"cannot read .*graph\.json'"):
        read_result(tmp_path / "nowhere" / "graph.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(DataError, match=r"bad\.json': not a result of format"):
        read_result(tmp_path / "bad.json")
