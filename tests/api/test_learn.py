"""sges.learn: its choices, notes, results and errors."""

import logging
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sges
from sges import MaxParents, examples
from sges.data import Dataset, Moments
from sges.errors import FileError, InvalidArgument, SgesError
from sges.graph import PDAG, dag_to_cpdag
from sges.result import Result
from sges.score import QNML, BDeu, DiscreteBIC, EdgePrior, GaussianBIC, Score
from sges.score.named import SCORES
from sges.search import Progress
from sges.search import search as any_search
from sges.search import sges as search
from worlds import linear_data

Columns = dict[str, Any]


def mixed_table(seed: int, rows: int = 400) -> Columns:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, rows)
    dose = rng.normal(size=rows) + 2.0 * group
    effect = dose + 0.5 * rng.normal(size=rows)
    return {"group": np.array(["a", "b"])[group], "dose": dose, "effect": effect}


def test_continuous_columns_get_the_gaussian_bic_and_the_result_says_why(seed: int) -> None:
    dag, data = linear_data(6, 7, 2000, seed)
    result = sges.learn(data)
    assert result.score_name == "GaussianBIC with edge prior"
    assert "score GaussianBIC with edge prior: all 6 columns are continuous" in result.notes
    assert result.names == tuple(f"x{v}" for v in range(dag.n))


def test_discrete_columns_get_qnml_and_mixed_ones_the_degenerate(seed: int) -> None:
    table = mixed_table(seed)
    result = sges.learn(table)
    assert result.score_name == "DegenerateGaussian with edge prior"
    assert any(
        n.endswith("2 columns are continuous and 1 column is discrete") for n in result.notes
    )
    discrete = sges.learn({"group": table["group"], "high": table["dose"] > 1})
    assert discrete.score_name == "QNML with edge prior"
    assert discrete.cpdag.edge_count() == 1


def test_one_column_is_not_a_special_case() -> None:
    result = sges.learn({"a": [1.5, 2.5, 4.0]})
    assert result.cpdag == PDAG.empty(1)
    assert any(note.endswith("the one column is continuous") for note in result.notes)


def test_a_note_states_the_rows_and_the_records_if_they_differ() -> None:
    assert "data: 5,000 rows of 8 columns" in sges.learn(examples.load("asia")).notes
    table = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "times": [500, 400, 5, 5]}
    notes = sges.learn(table, kinds="discrete", weights="times").notes
    assert "data: 4 rows that represent 910 records of 2 columns" in notes


def test_bic_and_a_number_as_penalty_mean_the_bic_that_fits(seed: int) -> None:
    tables = [examples.load("asia"), examples.load("greenhouse"), mixed_table(seed)]
    names = ["DiscreteBIC", "GaussianBIC", "DegenerateGaussian"]
    for table, name in zip(tables, names, strict=True):
        for score in ("auto", "bic"):
            assert sges.learn(table, score=score, penalty=1).score_name == name
        assert sges.learn(table, score="bic").score_name == f"{name} with edge prior"


def test_penalty_1_gives_the_textbook_bic() -> None:
    data = Dataset.of(examples.load("asia"))
    by_hand = any_search(DiscreteBIC(data), strategy="auto")
    assert sges.learn(data, penalty=1).score == by_hand.score
    assert sges.learn(data, penalty=1).cpdag == by_hand.cpdag.named(data.names)


@pytest.mark.parametrize(("name", "make"), [("asia", QNML), ("greenhouse", GaussianBIC)])
def test_the_defaults_are_a_prior_of_edges_and_one_note_says_so(
    name: str, make: Callable[[Dataset], Score]
) -> None:
    data = Dataset.of(examples.load(name))
    by_hand, result = any_search(EdgePrior(make(data)), strategy="auto"), sges.learn(data)
    assert (result.score, result.cpdag) == (by_hand.score, by_hand.cpdag.named(data.names))
    (note,) = (note for note in result.notes if note.startswith("penalty"))
    odds = f"prior odds of 1/{len(data.names)}"
    assert note == f"penalty auto: each edge has {odds}; penalty=1 is the textbook BIC"


@pytest.mark.parametrize("score", ["qnml", "bdeu"])
def test_the_note_on_the_penalty_is_true_of_scores_that_are_not_a_bic(score: str) -> None:
    data = Dataset.of(examples.load("asia"))
    (note,) = (n for n in sges.learn(data, score=score).notes if n.startswith("penalty"))
    assert note.endswith("penalty=1 is the score without this prior")
    alone = any_search(SCORES[score].make(data), strategy="auto")
    assert sges.learn(data, score=score, penalty=1).score == alone.score


def test_the_choice_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="sges"):
        sges.learn(examples.load("asia"))
    assert "score QNML with edge prior: all 8 columns are discrete" in caplog.messages


def test_the_result_is_that_of_the_search_on_the_same_score(seed: int) -> None:
    _, data = linear_data(7, 9, 500, seed)
    by_hand = search(GaussianBIC(data, penalty=2.0), MaxParents(2), forward="poly")
    found = sges.learn(
        data, assume=MaxParents(2), strategy="two-phase", forward="poly", penalty=2.0
    )
    assert found.cpdag == by_hand.cpdag
    assert [step.operator for step in found.steps] == [step.operator for step in by_hand.steps]
    assert [s.gain for s in found.steps] == pytest.approx([s.gain for s in by_hand.steps])


@pytest.mark.parametrize("name", SCORES)
def test_every_score_that_is_named_can_be_asked_for(name: str) -> None:
    discrete = name in ("discrete-bic", "qnml", "bdeu", "bdeu-levels")
    example = examples.load("asia" if discrete else "greenhouse")
    for penalty, more in ((1.0, ""), ("auto", " with edge prior")):
        result = sges.learn(example, score=name, penalty=penalty)  # type: ignore[arg-type]
        assert result.score_name == SCORES[name].class_name + more
        assert f"score {SCORES[name].class_name}{more}: as requested" in result.notes


def test_a_score_may_be_given_as_a_class_a_function_or_itself() -> None:
    example = examples.load("asia")
    by_name = sges.learn(example, score="bdeu", penalty=1)
    assert sges.learn(example, score=BDeu).cpdag == by_name.cpdag
    assert sges.learn(example, score=lambda data: BDeu(data, ess=1.0)).score == by_name.score
    alone = sges.learn(score=BDeu(example))
    assert (alone.cpdag, alone.names) == (by_name.cpdag, by_name.names)
    assert [note for note in alone.notes if not note.startswith("escapes")] == []


def test_a_score_without_names_numbers_its_variables_unless_names_are_given() -> None:
    score = GaussianBIC.from_covariance(np.array([[1.0, 0.8], [0.8, 1.0]]), records=100)
    assert sges.learn(score=score).names == ("0", "1")
    assert sges.learn(score=score, names=["a", "b"]).names == ("a", "b")


def test_moments_are_enough_for_gaussian_scores() -> None:
    data = Dataset.of(examples.load("greenhouse"))
    whole, small = sges.learn(data), sges.learn(Moments.of(data))
    assert small.cpdag == whole.cpdag
    assert small.names == whole.names
    assert "score GaussianBIC with edge prior: all 11 columns are continuous" in small.notes


def test_a_start_is_matched_with_the_columns_by_name() -> None:
    example = examples.load("greenhouse")
    names = example.truth.names
    assert names is not None
    shuffled = example.truth.relabel(list(range(example.truth.n))[::-1])
    result = sges.learn(example, assume=sges.MaxVWidth(2), start=shuffled)
    assert shuffled.names == names[::-1]
    assert result.cpdag == example.truth
    assert not result.steps


def test_a_time_limit_ends_the_search_and_the_result_says_so() -> None:
    result = sges.learn(examples.load("greenhouse"), time_limit=0.0)
    assert (result.complete, result.stopped) == (False, "time limit")


@pytest.mark.parametrize("strategy", ["two-phase", "interleaved"])
def test_progress_is_reported_after_every_step_and_never_goes_back(strategy: str) -> None:
    told: list[Progress] = []
    result = sges.learn(examples.load("asia"), strategy=strategy, progress=told.append)
    assert [p.step for p in told][-1] == len(result.steps)
    assert [p.score for p in told] == sorted(p.score for p in told)


def test_the_default_is_the_extended_search_with_bounded_work() -> None:
    result = sges.learn(examples.load("asia"))
    assert result.strategy == "auto"
    twin = sges.learn(examples.load("asia"), strategy="two-phase")
    assert result.score >= twin.score - 1e-6


def test_on_continuous_tables_auto_takes_the_steps_of_the_rule_of_thumb() -> None:
    from sges.tools.penalty import rule_of_thumb

    data = Dataset.of(examples.load("greenhouse"))
    result, by_rule = sges.learn(data), sges.learn(data, penalty=rule_of_thumb(data))
    assert [step.operator for step in result.steps] == [step.operator for step in by_rule.steps]


def test_a_penalty_is_chosen_with_the_search_it_is_for() -> None:
    from functools import partial

    from sges.tools.penalty import choose_penalty

    data = Dataset.of(examples.load("asia"))
    chosen = sges.learn(data, assume=MaxParents(2), strategy="two-phase", penalty="choose")
    by_hand = choose_penalty(data, search=partial(search, assume=MaxParents(2)))
    again = sges.learn(data, assume=MaxParents(2), strategy="two-phase", penalty=by_hand.penalty)
    assert chosen.cpdag == again.cpdag
    assert any(note.startswith(f"penalty {by_hand.penalty:g}") for note in chosen.notes)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"penalty": "much"},
            "it must be a number of at least 0, 'auto' or 'choose'",
        ),
        ({"penalty": "choose", "score": "bdeu"}, "has no penalty; scores with a penalty are"),
        ({"penalty": "choose", "score": BDeu}, "needs a table and the name of a score"),
    ],
)
def test_a_penalty_that_cannot_be_chosen_is_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        sges.learn(examples.load("asia"), **arguments)


def test_names_kinds_weights_and_missing_reach_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,times\n0,0,50\n1,1,40\n0,1,5\n1,0,5\nNA,1,3\n")
    result = sges.learn(path, kinds="discrete", weights="times", missing="drop")
    assert result.names == ("a", "b")
    assert result.cpdag.edge_count() == 1
    named = sges.learn(np.random.default_rng(1).normal(size=(9, 2)), names=["p", "q"])
    assert named.names == ("p", "q")


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"exclude": ["a"]}, ("b", "c")),
        ({"columns": ["c", "a"]}, ("c", "a")),
        ({"weights": "a"}, ("b", "c")),
        ({"names": iter(["a", "b", "c"])}, ("a", "b", "c")),
        ({"names": ["", "b", "c"]}, ("b", "c")),
    ],
)
def test_new_names_go_with_the_options_that_leave_columns_out(
    options: dict[str, Any], left: tuple[str, ...]
) -> None:
    table = np.random.default_rng(1).integers(1, 50, size=(40, 3))
    assert sges.learn(table, **{"names": ["a", "b", "c"], **options}).names == left


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"score": "mdl"}, "score = 'mdl' is not one of 'auto', 'bic', 'gaussian-bic', 'bge', 'd"),
        ({"score": "bdue"}, "did you mean 'bdeu'?"),
        ({"score": "BIC"}, "did you mean 'bic'?"),
        ({"forward": "FES"}, "did you mean 'fes'?"),
        ({"score": 3}, "score = 3 is neither a name nor a score"),
        ({"score": "bdeu", "penalty": 2.0}, "penalty = 2: score 'bdeu' accepts no penalty"),
        (
            {"forward": "sideways"},
            "forward = 'sideways' is not one of 'fes', 'poly', 'order', 'complete'",
        ),
        ({"start": PDAG.empty(8, [*"abcdefgh"])}, "'a' occurs only in the start"),
        ({"score": BDeu, "penalty": 2.0}, "set its penalty there"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(arguments: Columns, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message) as caught:
        sges.learn(examples.load("asia"), **arguments)
    assert "\n" not in str(caught.value)


def test_a_bound_whose_choice_was_stopped_is_not_called_the_best() -> None:
    stopped = sges.learn(examples.load("asia"), assume="auto", time_limit=0)
    assert any("stopped, so a larger k may improve" in note for note in stopped.notes)
    assert not any("did not improve" in note for note in stopped.notes)
    ended = sges.learn(examples.load("asia"), assume="auto")
    assert any("a larger k did not improve the score" in note for note in ended.notes)


def test_a_table_beside_a_score_object_is_refused() -> None:
    example = examples.load("asia")
    with pytest.raises(
        InvalidArgument, match=r"a table cannot be combined with a score object \(DiscreteBIC\)"
    ):
        sges.learn(example, score=DiscreteBIC(example))
    with pytest.raises(InvalidArgument, match="kinds= cannot be combined with"):
        sges.learn(score=DiscreteBIC(example), kinds="discrete")
    with pytest.raises(InvalidArgument, match="no table was given"):
        sges.learn()


def test_a_score_that_does_not_fit_the_columns_says_so() -> None:
    with pytest.raises(SgesError, match="discrete"):
        sges.learn(examples.load("asia"), score="gaussian-bic")
    with pytest.raises(FileError, match="there is no such file"):
        sges.learn("nowhere.csv")


def test_the_truth_is_found_where_the_data_allow_it() -> None:
    """The edge asia — tub is too weak to be found in 5,000 records of ASIA."""
    greenhouse, asia = examples.load("greenhouse"), examples.load("asia")
    assert sges.learn(greenhouse).cpdag == greenhouse.truth
    found = sges.learn(asia).cpdag
    assert found == dag_to_cpdag(asia.network.dag).edited(remove=[(0, 1)])


def test_importing_the_package_loads_no_heavy_library() -> None:
    script = """
import sys, sges
heavy = {"numpy", "scipy", "pyarrow", "pandas", "polars", "sklearn", "typer", "rich", "matplotlib"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert set(sges.__all__) <= set(dir(sges))
assert all(getattr(sges, name) is not None for name in sges.__all__)
try:
    sges.nonsense
except AttributeError as error:
    assert "nonsense" in str(error)
else:
    raise AssertionError
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_modules_are_attributes_of_the_package_before_anything_else_is_used() -> None:
    names = ["data", "network", "score", "search", "tools", "uncertainty"]
    script = f"import sges; assert all(getattr(sges, name).__file__ for name in {names})"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    for name in ("sccore", "_score", "__wrapped__"):
        assert not hasattr(sges, name)


def test_a_bound_on_parents_can_be_chosen_from_the_data() -> None:
    """ASIA needs two parents: the score is lower with one, and not higher with three."""
    table = sges.examples.load("asia")
    chosen = sges.learn(table, assume="auto", forward="complete", penalty=1)
    given = sges.learn(table, assume=sges.MaxParents(2), forward="complete", penalty=1)
    assert chosen.assume == "MaxParents(k=2)"
    assert chosen.score == pytest.approx(given.score)
    assert chosen.score_name == "DiscreteBIC"
    assert any(note.startswith("assume MaxParents(k=2): chosen") for note in chosen.notes)
    with pytest.raises(InvalidArgument, match="assume = 'k=2': it must be a property"):
        sges.learn(table, assume="k=2")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="exact=True cannot be combined with a bound"):
        sges.learn(table, assume="auto", strategy=sges.Strategy(exact=True))


def test_a_note_says_that_a_graph_exceeds_the_assumption() -> None:
    """The greenhouse has variables with several parents, so the result exceeds a bound of one."""
    table = sges.examples.load("greenhouse")
    for assume in (sges.MaxParents(1), "auto"):
        result = sges.learn(table, assume=assume)
        bound = sges.MaxParents.of(result.cpdag)
        told = [note for note in result.notes if "the assumption restricts" in note]
        within = result.assume in {f"MaxParents(k={k})" for k in range(bound.k, 12)}
        assert len(told) == (not within)
    held = sges.learn(table, assume=bound)
    assert not any("the assumption restricts" in note for note in held.notes)
    (beyond,) = (
        note
        for note in sges.learn(table, assume=sges.MaxParents(1)).notes
        if "more than the 1 assumed" in note
    )
    assert beyond.startswith(
        f"a variable of the graph has {bound.k} parents, more than the 1 assumed"
    )


@pytest.mark.parametrize(
    ("table", "needed"),
    [
        ("np.random.default_rng(0).normal(size=(50, 4))", set()),
        ("np.random.default_rng(0).integers(0, 3, (50, 4))", set()),
        ("{'a': ['u', 'v'] * 20, 'b': [0.5, 1.5, 2.5, 3.5] * 10}", set()),
        ("sges.examples.load('asia')", {"pyarrow"}),
    ],
)
def test_learning_loads_only_the_libraries_that_the_table_needs(
    table: str, needed: set[str]
) -> None:
    script = f"""
import sys, numpy as np, sges
sges.learn({table}, score="gaussian-bic" if {"normal" in table} else "auto")
heavy = {{"pyarrow", "pyarrow.parquet", "narwhals", "pandas", "polars", "scipy.special",
         "scipy.sparse", "scipy.stats", "sklearn", "networkx", "matplotlib"}}
assert heavy & set(sys.modules) == {needed or "set()"}, heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_progress_true_shows_a_line_in_a_terminal_or_a_notebook_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sges.learn(examples.load("asia"), progress=True)
    assert capsys.readouterr() == ("", "")
    with monkeypatch.context() as notebook:
        notebook.setattr("builtins.__IPYTHON__", True, raising=False)
        sges.learn(examples.load("asia"), progress=True)
        assert capsys.readouterr().err.startswith("\r")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    sges.learn(examples.load("asia"), progress=True)
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("\r")
    assert told.err.endswith("\n")
    assert all(len(line) < 80 for line in told.err.rstrip("\n").split("\r"))
    assert re.search(r"\d+ steps  \d+ edges  score -", told.err)
    sges.learn(examples.load("asia"), progress=False)
    assert capsys.readouterr().err == ""


def test_options_on_reading_beside_moments_are_refused() -> None:
    moments = Moments.of(Dataset.of(linear_data(4, 3, 100, 0)[1]))
    with pytest.raises(InvalidArgument, match="kinds= applies to reading a table; Moments have"):
        sges.learn(moments, kinds="continuous")


def test_a_function_that_does_not_make_a_score_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="returned 5, which is not a score"):
        sges.learn(linear_data(4, 3, 100, 0)[1], score=lambda _: 5)  # type: ignore[arg-type, return-value]


def test_learn_reads_a_file_as_a_dataset_is_read(tmp_path: Path) -> None:
    rows = "".join(f"{i % 7},5;{(i % 7) + (i % 3) / 3:.2f}\n".replace(".", ",") for i in range(60))
    (tmp_path / "euro.txt").write_text(f"a;b\n{rows}", encoding="utf-8")
    options: dict[str, Any] = {"delimiter": ";", "decimal": ",", "format": "csv"}
    result = sges.learn(tmp_path / "euro.txt", **options)
    assert result.notes == sges.learn(Dataset.of(tmp_path / "euro.txt", **options)).notes
    names: dict[str, Any] = {"sges": sges}
    exec(result.call or "", names)
    assert names["result"] == result


@pytest.mark.parametrize("function", [sges.learn, sges.confidence])
def test_an_unknown_argument_is_answered_with_the_closest_one(
    function: Callable[..., object],
) -> None:
    table = sges.examples.load("asia")
    for word, close in {"delimeter": "delimiter", "max_indegre": "max_indegree"}.items():
        with pytest.raises(TypeError, match=rf"has no argument '{word}'; did you mean '{close}'\?"):
            function(table, **{word: 1})


# Exogenous columns


def test_exogenous_columns_are_parents_only_and_are_not_scored(tmp_path: Path) -> None:
    table = examples.load("asia")
    result = sges.learn(table, exogenous=["smoke", "asia"], checkpoint=tmp_path / "run.json")
    assert result.exogenous == ("asia", "smoke")
    assert {edge.target for edge in result.edges}.isdisjoint(result.exogenous)
    assert result.children("smoke")
    score, dag = result.scorer, result.dag()
    assert score is not None
    others = [v for v, name in enumerate(result.names) if name not in result.exogenous]
    assert result.score == pytest.approx(sum(score.local(v, dag.parents(v)) for v in others))
    read = sges.Result.from_json(result.to_json())
    assert (read, read.exogenous) == (result, result.exogenous)
    assert "exogenous" not in sges.learn(table).to_dict()
    again = sges.learn(table, exogenous=["asia", "smoke"], start=result.cpdag)
    assert again.cpdag == result.cpdag
    result.report(tmp_path / "report.html")


@pytest.mark.parametrize(
    "ask",
    [
        lambda result: result.fit(),
        lambda result: result.certify(),
        lambda result: result.effects(of="smoke"),
        lambda result: result.effect("smoke", "lung"),
        lambda result: result.explain("smoke", "lung"),
        lambda result: result.confidence(2),
    ],
)
def test_what_needs_the_laws_of_all_columns_is_refused(ask: Callable[[Result], object]) -> None:
    result = sges.learn(examples.load("asia"), exogenous=["smoke"])
    with pytest.raises(InvalidArgument, match="needs a graph of all variables, but 'smoke'"):
        ask(result)


@pytest.mark.parametrize("wrong", ["smoke", ["x"], 3, [0]])
def test_exogenous_columns_must_be_columns(wrong: object) -> None:
    with pytest.raises(InvalidArgument, match=r"^exogenous = "):
        sges.learn(examples.load("asia"), exogenous=wrong)  # type: ignore[arg-type]
