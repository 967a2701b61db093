"""The output of each command, as text and as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

import sges
from sges import MaxParents, MaxTreewidth, MaxVWidth, examples
from sges.cli.app import app, run
from sges.cli.learn import in_words_of_the_shell
from sges.graph import PDAG
from sges.result import Result
from sges.score.named import SCORES
from sges.tools.export import read_graph, write_graph
from sges.tools.metrics import compare

Capture = pytest.CaptureFixture[str]
ASIA = str(examples.load("asia").path)
GREENHOUSE = str(examples.load("greenhouse").path)


def json_of(capsys: Capture, *arguments: str) -> dict[str, Any]:
    """Run a command with --json; return the document that it prints."""
    assert run([*arguments, "--json"]) == 0
    out = capsys.readouterr().out
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def essence(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "seconds": None}


def test_learn_prints_the_summary_and_nothing_else(capsys: Capture) -> None:
    assert run(["learn", ASIA, "--max-parents", "2"]) == 0
    shown = capsys.readouterr()
    expected = in_words_of_the_shell(sges.learn(ASIA, assume=MaxParents(2))).summary()
    strip = [line for line in shown.out.splitlines() if not line.startswith("seconds")]
    assert strip == [line for line in expected.splitlines() if not line.startswith("seconds")]
    assert shown.err == ""


def test_learn_prints_exactly_the_json_of_the_result(capsys: Capture) -> None:
    printed = json_of(capsys, "learn", GREENHOUSE, "--v-width", "2", "--penalty", "2")
    expected = sges.learn(GREENHOUSE, assume=MaxVWidth(2), penalty=2.0)
    assert essence(printed) == essence(expected.to_dict())
    assert Result.from_dict(printed).cpdag == expected.cpdag


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--max-parents", "MaxParents(k=3)"),
        ("--max-clique", "MaxClique(k=3, tight=False)"),
        ("--v-width", "MaxVWidth(k=3)"),
        ("--treewidth", "MaxTreewidth(k=3)"),
        ("--v-structures", "MaxVStructures(k=3)"),
    ],
)
def test_each_bound_is_the_property_of_its_name(capsys: Capture, option: str, said: str) -> None:
    assert json_of(capsys, "learn", GREENHOUSE, option, "3")["assume"] == said


def test_learn_passes_on_its_options(capsys: Capture, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = [f"{i};{i % 2};{(i * 7) % 3};{i / 3:.2f};2" for i in range(60)]
    table.write_text("id;a;b;c;times\n" + "\n".join(rows).replace(".", ",") + "\n;1;1;1,5;1\n")
    known = tmp_path / "known.toml"
    known.write_text('required = [["a", "b"]]\n')
    options = (
        f"--delimiter ; --decimal , --exclude id --weights times --kinds b=continuous "
        f"--knowledge {known} --score degenerate-gaussian --forward poly --missing drop"
    )
    found = json_of(capsys, "learn", str(table), *options.split())
    assert found["nodes"] == ["a", "b", "c"]
    assert found["forward"] == "poly"
    assert found["score_name"] == "DegenerateGaussian with edge prior"
    assert {"source": "a", "target": "b", "type": "directed"} in found["edges"]


def test_a_kind_may_be_given_for_all_columns_but_not_beside_others(
    capsys: Capture, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(30)))
    found = json_of(capsys, "learn", str(table), "--kinds", "continuous")
    assert found["score_name"] == "GaussianBIC with edge prior"
    assert run(["learn", str(table), "--kinds", "a=continuous", "--kinds", "discrete"]) == 2
    assert "--kinds 'discrete' is not of the form COLUMN=KIND" in capsys.readouterr().err


def test_learn_may_start_from_a_graph_file(capsys: Capture, tmp_path: Path) -> None:
    truth = examples.load("greenhouse").truth
    start = write_graph(truth.relabel(list(range(truth.n))[::-1]), tmp_path / "start.json")
    found = json_of(capsys, "learn", GREENHOUSE, "--start", str(start), "--v-width", "1")
    assert found["forward"] == "given"
    assert Result.from_dict(found).cpdag == truth


def test_out_holds_all_five_files(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "results"
    found = json_of(capsys, "learn", ASIA, "--out", str(out))
    assert {path.name for path in out.iterdir()} == {
        "graph.json", "graph.dot", "graph.svg", "report.html", "summary.txt",
    }  # fmt: skip
    assert json.loads((out / "graph.json").read_text()) == found
    assert read_graph(out / "graph.dot") == Result.from_dict(found).cpdag


def test_what_the_library_warns_of_is_one_line_on_stderr(capsys: Capture, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "".join(f"1.5,{i / 7:.3f}\n" for i in range(30)))
    assert run(["learn", str(table)]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("sges: warning: ") for line in lines)


def test_inspect_prints_the_description_in_the_words_of_the_shell(
    capsys: Capture, tmp_path: Path
) -> None:
    path = tmp_path / "births.csv"
    weights = [1500 + 17 * (i * 37 % 211) for i in range(211)]
    lines = [f"{w},{'yes' if w < 2500 else 'no'},{i % 2}" for i, w in enumerate(weights)]
    path.write_text("\n".join(["weight,low,sex", *lines, ""]))
    assert run(["inspect", str(path), "--exclude", "sex"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("211 rows, 2 columns (1 continuous, 1 discrete)\n\nColumns:\n")
    assert "'low' is a function of 'weight' (yes up to" in " ".join(shown.out.split())
    assert "--exclude low." in shown.out
    assert shown.err == ""
    assert run(["inspect", str(path), "--json", "--kinds", "sex=continuous"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "sges-description"
    assert [column["kind"] for column in document["columns"]] == [
        "continuous", "discrete", "continuous",
    ]  # fmt: skip
    assert document["columns"][2]["why"] == "integers, 2 distinct, as requested"


def test_learn_points_to_inspect(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "births.csv"
    rows = [f"{w},{2 * w + w % 7}" for w in range(1500, 4500, 13)]
    path.write_text("\n".join(["weight,again", *rows, ""]))
    assert run(["learn", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "before interpreting the edges (collinear columns): sges inspect" in shown


def test_exogenous_columns_and_a_limit_of_memory_are_those_of_learn(capsys: Capture) -> None:
    options = ["--exogenous", "smoke,asia", "--memory-limit", "1GB"]
    printed = json_of(capsys, "learn", ASIA, *options)
    expected = sges.learn(ASIA, exogenous=("smoke", "asia"), memory_limit="1GB")
    assert essence(printed) == essence(in_words_of_the_shell(expected).to_dict())
    assert printed["exogenous"] == ["asia", "smoke"]
    assert run(["learn", ASIA, "--memory-limit", "1kB"]) == 2
    assert "a search over 8 variables needs at least" in capsys.readouterr().err
    assert run(["learn", ASIA, "--exogenous", "smoke,x"]) == 2
    assert capsys.readouterr().err.startswith("sges: --exogenous = 'x': ")


def test_a_message_says_that_the_time_limit_ended_the_search(capsys: Capture) -> None:
    assert run(["learn", GREENHOUSE, "--time-limit", "0", "--verbose"]) == 0
    shown = capsys.readouterr()
    assert "strategy  auto\n" in shown.out
    assert shown.err == ("sges: not complete (time limit): this is the best graph found so far\n")


def test_measure_gives_every_measure_and_the_bound_it_implies(
    capsys: Capture, tmp_path: Path
) -> None:
    bat = PDAG.from_edges(4, [(0, 2), (1, 2), (0, 3), (1, 3), (2, 3)])
    path = write_graph(bat, tmp_path / "bat.json")
    found = json_of(capsys, "measure", str(path))
    rows = {row["option"]: (row["value"], row["clique_bound"]) for row in found["measures"]}
    assert (found["format"], found["nodes"], found["edges"]) == ("sges-measures", 4, 5)
    assert rows == {
        "--max-parents": (3, 2), "--max-clique": (3, 3), "--max-v-width": (2, 2),
        "--max-treewidth": (3, 2), "--max-v-structures": (2, None),
    }  # fmt: skip
    assert found["measures"][-1]["size_bound"] == 2
    assert run(["measure", str(path)]) == 0
    assert "--max-v-width 2" in capsys.readouterr().out


def test_a_measure_that_is_an_interval_is_shown_as_one(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sges.graph.undirected import Between

    monkeypatch.setattr(MaxTreewidth, "measure", classmethod(lambda _, __: Between(3, 5)))
    path = write_graph(PDAG.complete(4), tmp_path / "g.json")
    rows = json_of(capsys, "measure", str(path))["measures"]
    assert next(row["value"] for row in rows if row["option"] == "--max-treewidth") == [3, 5]
    assert run(["measure", str(path)]) == 0
    assert "3 to 5" in capsys.readouterr().out


def test_compare_prints_what_the_library_finds(capsys: Capture, tmp_path: Path) -> None:
    truth = PDAG.from_edges(3, [(0, 1), (2, 1)], names=["a", "b", "c"])
    found = PDAG.from_edges(3, undirected=[(0, 1), (1, 2)], names=["a", "b", "c"])
    paths = [str(write_graph(g, tmp_path / f"{i}.json")) for i, g in enumerate((truth, found))]
    printed = json_of(capsys, "compare", *paths)
    expected = {"format": "sges-comparison", "version": 1, **compare(truth, found).to_dict()}
    assert printed == expected
    assert run(["compare", *paths]) == 0
    assert "structural Hamming distance" in capsys.readouterr().out
    assert json_of(capsys, "compare", paths[0], paths[0], "--as-they-are")["shd"] == 0


def test_simulate_writes_a_table_and_the_truth_that_belong_together(
    capsys: Capture, tmp_path: Path
) -> None:
    told = json_of(capsys, "simulate", str(tmp_path / "s"), "--max-parents", "2", "--seed", "7",
                   "--records", "4000", "--variables", "6")  # fmt: skip
    assert (told["variables"], told["records"], told["seed"]) == (6, 4000, 7)
    data, truth = (Path(path) for path in told["files"])
    graph = read_graph(truth)
    assert graph.edge_count() == told["edges"]
    assert MaxParents(2).holds(graph)
    assert compare(graph, sges.learn(data).cpdag).skeleton.f1 > 0.7
    again = json_of(capsys, "simulate", str(tmp_path / "t"), "--max-parents", "2", "--seed", "7",
                    "--records", "4000", "--variables", "6")  # fmt: skip
    assert [Path(p).read_bytes() for p in again["files"]] == [
        Path(p).read_bytes() for p in told["files"]
    ]


@pytest.mark.parametrize(
    ("options", "edges"),
    [(["--polytree"], 9), (["--edges", "13"], 13), ([], 10), (["--variables", "2"], 1)],
)
def test_simulate_draws_the_structure_that_was_asked_for(
    capsys: Capture, tmp_path: Path, options: list[str], edges: int
) -> None:
    told = json_of(capsys, "simulate", str(tmp_path), *options, "--records", "5")
    assert told["edges"] == edges


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_a_picture_replaces_nothing_but_a_picture_of_ours(
    kind: str, capsys: Capture, tmp_path: Path
) -> None:
    graph, picture = tmp_path / "g.csv", tmp_path / f"p.{kind}"
    write_graph(PDAG.from_edges(2, [(0, 1)], names=["a", "b"]), graph)
    for command in (["plot", str(graph), str(picture)], ["demo", "--picture", str(picture)]):
        picture.write_text("")  # an empty file may be replaced
        assert run(command) == run(command) == 0
        picture.write_text("a photograph")
        assert run(command) == 1
        assert picture.read_text() == "a photograph"
        assert "exists and was not drawn by sges; move it" in capsys.readouterr().err


def test_simulate_replaces_its_own_files_and_no_others(capsys: Capture, tmp_path: Path) -> None:
    for options in (["--variables", "3"], ["--variables", "1"]):
        assert run(["simulate", str(tmp_path), "--records", "5", *options]) == 0
    assert "5 records of 1 variable, 0 edges: " in capsys.readouterr().out
    for name in ("data.csv", "truth.json", ""):
        if name:
            (tmp_path / name).write_text("mine\n1\n")
        else:
            (tmp_path / "truth.json").unlink()
        before = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
        capsys.readouterr()
        assert run(["simulate", str(tmp_path)]) == 1
        assert "exists and was not written by sges" in capsys.readouterr().err
        assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == before


def test_a_report_replaces_nothing_but_a_report(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine, page = tmp_path / "mine.csv", tmp_path / "page.html"
    mine.write_bytes(Path(ASIA).read_bytes())
    page.write_text("<!doctype html>my page")
    assert run(["learn", ASIA, "--out", "found"]) == 0
    for words, code, said in (
        ("learn mine.csv --report mine.csv", 2, "its extension must be .html or .htm"),
        ("learn mine.csv --report page.html", 1, "it exists and is not a report of sges"),
        ("report found mine.csv", 2, "its extension must be .html or .htm"),
        ("report found page.html", 1, "it exists and is not a report of sges"),
        ("report found/report.html found/report.html", 2, "is both RESULT and PAGE"),
    ):
        capsys.readouterr()
        assert run(words.split()) == code
        assert said in capsys.readouterr().err
    assert mine.read_bytes() == Path(ASIA).read_bytes()
    assert page.read_text() == "<!doctype html>my page"
    for _ in range(2):
        assert run(["report", "found", "again.HTM"]) == 0


def test_files_of_others_are_refused_before_the_search(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sges.learning.learn", lambda *_, **__: pytest.fail("searched"))
    (tmp_path / "summary.txt").write_text("mine")
    assert run(["learn", ASIA, "--out", str(tmp_path)]) == 1
    assert "summary.txt exists and was not written by sges" in capsys.readouterr().err


def test_simulate_samples_discrete_networks_and_the_examples(
    capsys: Capture, tmp_path: Path
) -> None:
    json_of(capsys, "simulate", str(tmp_path / "d"), "--model", "discrete", "--arity", "3")
    assert sges.learn(tmp_path / "d" / "data.csv").score_name == "QNML with edge prior"
    told = json_of(capsys, "simulate", str(tmp_path / "a"), "--example", "asia")
    assert read_graph(told["files"][1]) == examples.asia().dag
    assert sges.learn(told["files"][0]).names == examples.asia().names


@pytest.mark.parametrize("example", examples.NAMES)
def test_demo_learns_an_example_and_draws_it(capsys: Capture, tmp_path: Path, example: str) -> None:
    picture = tmp_path / "demo.svg"
    assert run(["demo", "--example", example, "--picture", str(picture), "--json"]) == 0
    shown = capsys.readouterr()
    table = examples.load(example)
    printed = json.loads(shown.out)
    assert printed["nodes"] == list(table.truth.names or ())
    assert any("--penalty 1 is the textbook BIC" in note for note in printed["notes"])
    assert "<svg" in picture.read_text(encoding="utf-8")
    exact = example == "greenhouse"
    assert ("this is exactly the class" in shown.err) == exact
    assert (
        "of the 8 edges" in shown.err and "7 were found; 0 edges are wrong" in shown.err
    ) != exact


def test_learn_and_report_write_a_page_that_is_read_as_the_result(
    capsys: Capture, tmp_path: Path
) -> None:
    page, again = tmp_path / "asia.html", tmp_path / "again.html"
    printed = json_of(capsys, "learn", ASIA, "--report", str(page))
    result = sges.read_result(page)
    assert essence(result.to_dict()) == essence(printed)
    assert json_of(capsys, "report", str(page), str(again))["files"] == [str(again)]
    assert sges.read_result(again) == result


def test_report_adds_the_shares_of_a_confidence(capsys: Capture, tmp_path: Path) -> None:
    out = str(tmp_path / "sure")
    assert run(["confidence", ASIA, "--replicates", "4", "--out", out]) == 0
    said = capsys.readouterr().out
    assert "4 replicates" in said
    assert "--penalty 1 is the textbook BIC" in " ".join(said.split())
    run(["learn", ASIA, "--out", str(tmp_path / "result")])
    capsys.readouterr()
    page, sure = tmp_path / "page.html", str(Path(out) / "confidence.json")
    json_of(capsys, "report", str(tmp_path / "result"), str(page), "--confidence", sure)
    assert "share of 4 replicates" in page.read_text(encoding="utf-8")
    assert sges.read_result(page) == sges.read_result(tmp_path / "result")


def test_the_call_of_a_command_finds_the_same_graph(capsys: Capture, tmp_path: Path) -> None:
    table = tmp_path / "semicolons.csv"
    table.write_text(Path(ASIA).read_text(encoding="utf-8").replace(",", ";"), encoding="utf-8")
    options = ["--delimiter", ";", "--exclude", "xray", "--penalty", "2", "--max-parents", "2"]
    printed = json_of(capsys, "learn", str(table), *options)
    names: dict[str, Any] = {"sges": sges}
    exec(printed["call"], names)
    assert names["result"].to_dict()["edges"] == printed["edges"]
    assert names["result"].digest == printed["digest"]


def test_every_command_takes_json_and_has_help(capsys: Capture) -> None:
    import typer

    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert set(commands) == {
        "inspect", "learn", "confidence", "effect", "effects", "measure", "compare", "convert",
        "plot", "report", "simulate", "demo",
    }  # fmt: skip
    for name in commands:
        assert run([name, "--help"]) == 0
        shown = capsys.readouterr().out
        assert "--json" in shown
        assert "bool" not in shown.lower()
        if name == "learn":
            assert all(score in " ".join(shown.replace("│", " ").split()) for score in SCORES)
    assert run(["--help"]) == 0
    assert "bool" not in capsys.readouterr().out.lower()


def test_the_version_is_printed(capsys: Capture) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"sges {sges.__version__}\n"


def test_effect_prints_what_the_library_finds(capsys: Capture, tmp_path: Path) -> None:
    result = sges.learn(GREENHOUSE)
    path = str(write_graph(result.cpdag, tmp_path / "graph.json"))
    wanted = result.effect("light", "temperature", GREENHOUSE, adjustment="optimal")
    printed = json_of(
        capsys, "effect", path, GREENHOUSE, "light", "temperature", "--adjustment", "optimal"
    )
    assert printed == {"format": "sges-effect", "version": 1, **wanted.to_dict()}
    assert run(["effect", path, GREENHOUSE, "light", "temperature"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("light on temperature: 0 to 0.02")
    assert "0  temperature\n" in shown
    assert "no hidden common causes" in shown


def test_effect_prints_distributions_of_discrete_data(capsys: Capture, tmp_path: Path) -> None:
    result = sges.learn(ASIA)
    path = str(write_graph(result.cpdag, tmp_path / "graph.json"))
    wanted = result.effect("smoke", "bronc", ASIA)
    printed = json_of(capsys, "effect", path, ASIA, "smoke", "bronc")
    assert printed == {"format": "sges-effect", "version": 1, **wanted.to_dict()}
    assert run(["effect", path, ASIA, "smoke", "bronc"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"p(bronc) when smoke is set ({len(printed['adjustment'])} sets of parents)"
    assert shown[1].split() == ["no", "yes"]
    assert run(["effect", path, ASIA, "smoke", "bronc", "--adjustment", "optimal"]) == 2
    refused = capsys.readouterr().err
    assert "--adjustment = 'optimal' is for continuous data" in refused
    assert "use --adjustment parents" in refused


def test_effects_show_hostile_names_and_levels_on_one_line(capsys: Capture, tmp_path: Path) -> None:
    names, graph, table = ["two\nlines", "\x1b[31mred"], tmp_path / "g.json", tmp_path / "t.csv"
    write_graph(PDAG.from_edges(2, [(0, 1)], names=names), graph)
    for rows in (["1.5,2.5", "2.5,3.0", "3.5,5.5", "4.0,1.5"], ['u,"p\nq"', "v,r", "u,r", "v,r"]):
        table.write_text("\n".join([f'"{names[0]}",{names[1]}', *rows]) + "\n")
        for words in (["effect", str(graph), str(table), *names], ["effects", str(table), "--on",
                      names[0], "--graph", str(graph)]):  # fmt: skip
            assert run(words) == 0
            shown = capsys.readouterr().out
            assert "two\\nlines" in shown
            assert "\\x1b[31mred" in shown
            assert "two\nlines" not in shown
            assert "\x1b" not in shown


def test_an_effect_that_is_zero_in_every_member_is_one_number(
    capsys: Capture, tmp_path: Path
) -> None:
    graph, table = tmp_path / "g.json", tmp_path / "t.csv"
    write_graph(PDAG.from_edges(3, undirected=[(0, 1)], names=["a", "b", "c"]), graph)
    table.write_text("a,b,c\n1.5,2.5,1\n2.5,3.0,2.5\n3.5,5.5,0.5\n4.0,1.5,0.2\n9.5,2.1,0.9\n")
    assert run(["effect", str(graph), str(table), "a", "c"]) == 0
    assert capsys.readouterr().out.startswith("a on c: 0 (2 sets of parents), per unit of a\n")


def test_effects_ranks_the_causes_or_the_effects_of_a_variable(
    capsys: Capture, tmp_path: Path
) -> None:
    result = sges.learn(GREENHOUSE)
    wanted = [found.to_dict() for found in result.effects(on="fruit_weight", data=GREENHOUSE)]
    printed = json_of(capsys, "effects", GREENHOUSE, "--on", "fruit_weight")
    assert (printed["format"], printed["on"], printed["of"]) == (
        "sges-effects", "fruit_weight", None,
    )  # fmt: skip
    assert printed["effects"] == wanted
    known = tmp_path / "known.toml"
    known.write_text('required = [["light", "temperature"]]\n')
    printed = json_of(capsys, "effects", GREENHOUSE, "--of", "light", "--knowledge", str(known))
    assert all(found["adjustment"] == [[]] for found in printed["effects"])
    path = str(write_graph(result.cpdag, tmp_path / "graph.json"))
    printed = json_of(capsys, "effects", GREENHOUSE, "--of", "light", "--graph", path)
    assert printed["effects"] == [
        found.to_dict() for found in result.effects(of="light", data=GREENHOUSE)
    ]
    assert run(["effects", GREENHOUSE, "--on", "fruit_weight", "--graph", path]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "Effects on fruit_weight, the largest lower bound first"
    assert [row.split()[0] for row in rows[2:-1]] == [found["treatment"] for found in wanted]


def test_effects_of_discrete_tables_are_ranked_by_changes_of_probability(
    capsys: Capture,
) -> None:
    result = sges.learn(ASIA)
    wanted = result.effects(on="dysp", data=ASIA)
    printed = json_of(capsys, "effects", ASIA, "--on", "dysp")
    assert printed["effects"] == [found.to_dict() for found in wanted]
    assert run(["effects", ASIA, "--on", "dysp"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows[2:-2]] == [found.treatment for found in wanted]


def test_effect_adds_an_interval_over_the_replicates_of_confidence(
    capsys: Capture, tmp_path: Path
) -> None:
    found = sges.confidence(GREENHOUSE, replicates=10)
    (tmp_path / "confidence.json").write_text(found.to_json())
    path = str(write_graph(sges.learn(GREENHOUSE).cpdag, tmp_path / "graph.json"))
    where = ["--confidence", str(tmp_path / "confidence.json")]
    printed = json_of(capsys, "effect", path, GREENHOUSE, "light", "fruit_weight", *where)
    wanted = found.effect("light", "fruit_weight", GREENHOUSE)
    assert printed["over_replicates"] == wanted.to_dict()
    assert run(["effect", path, GREENHOUSE, "light", "fruit_weight", *where]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Over 10 replicates: values ")


def test_a_graph_is_converted_to_other_formats(capsys: Capture, tmp_path: Path) -> None:
    graph = PDAG.from_edges(3, [(0, 1)], [(1, 2)], names=["a", "b c", "ż"])
    last = write_graph(graph, tmp_path / "graph.json")
    for ending in (".graphml", ".csv", ".json"):
        goal = tmp_path / f"new{ending}"
        assert run(["convert", str(last), str(goal)]) == 0
        assert capsys.readouterr().out.strip() == str(goal)
        assert (read_graph(goal), read_graph(goal).names) == (graph, graph.names)
        last = goal


def test_a_graph_is_drawn_whole_or_around_a_node(capsys: Capture, tmp_path: Path) -> None:
    names = [f"node{v}" for v in range(6)]
    path = write_graph(
        PDAG.from_edges(6, [(v, v + 1) for v in range(5)], names=names), tmp_path / "g.json"
    )
    picture = tmp_path / "graph.svg"
    assert run(["plot", str(path), str(picture)]) == 0
    assert all(name in picture.read_text() for name in names)
    assert run(["plot", str(path), str(picture), "--around", "node2", "--depth", "1"]) == 0
    drawn = picture.read_text()
    assert [name in drawn for name in names] == [False, True, True, True, False, False]
    capsys.readouterr()
    assert run(["plot", str(path), str(picture), "--around", "node9"]) == 1
    assert "there is no node 'node9'" in capsys.readouterr().err
