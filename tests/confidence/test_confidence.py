"""``sges.confidence`` and related functions: jobs, the search of replicates, time limits."""

import os
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import joblib
import numpy as np
import pytest
from sklearn.base import clone  # type: ignore[import-untyped]

import sges
import sges.errors
from sges import BayesianNetwork, Confidence, EdgeConfidence, confidence, learn
from sges.cli.app import run as run_command
from sges.data import Dataset, Moments
from sges.errors import InvalidArgument, KnowledgeError, Undecided
from sges.network.gaussian import LinearGaussian
from sges.network.structures import random_dag
from sges.score import BDeu, EdgePrior, GaussianBIC
from sges.uncertainty.replicates import ReplicateProgress

GAUSSIAN = LinearGaussian.random(random_dag(8, 10, 1), (0.2, 0.9), seed=1).sample(300, seed=1)
DISCRETE = BayesianNetwork.random(random_dag(6, 7, 1), seed=1).sample(400, seed=1)


@pytest.mark.parametrize("data", [GAUSSIAN, DISCRETE], ids=["gaussian", "discrete"])
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_result_is_the_same_for_any_number_of_jobs_and_backend(
    data: Dataset, backend: str
) -> None:
    alone = confidence(data, 12, seed=5)
    with joblib.parallel_config(backend=backend):
        assert confidence(data, 12, seed=5, n_jobs=2) == alone
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert confidence(data, 12, seed=5) == alone


def test_more_replicates_begin_with_the_same_ones() -> None:
    few, many = confidence(GAUSSIAN, 5), confidence(GAUSSIAN, 9)
    assert many.graphs[:5] == few.graphs
    assert confidence(GAUSSIAN, 5, seed=1).graphs != few.graphs


def test_strengths_do_not_depend_on_the_order_of_the_columns() -> None:
    """Apart from ties: here the edges are strong."""
    data = LinearGaussian.random(random_dag(6, 6, 3), (0.8, 1.2), seed=3).sample(2000, seed=3)
    names = list(data.names)
    table = dict(zip(names, data.values, strict=True))
    turned = {name: table[name] for name in reversed(names)}
    here, there = confidence(table, 20), confidence(turned, 20)
    for a, b in [(a, b) for a in names for b in names if a < b]:
        assert here.strength(a, b) == pytest.approx(there.strength(a, b), abs=0.3)
    assert here.averaged().cpdag.edge_count() == there.averaged().cpdag.edge_count()


def test_two_tied_columns_share_their_edges() -> None:
    """A copy of a column is as good a parent as the original: neither may get all the edges."""
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 2, 500)
    noisy = np.where(rng.random(500) < 0.85, levels, 1 - levels)
    table = {"first": levels.astype(str), "copy": levels.astype(str), "child": noisy.astype(str)}
    found = confidence(table, 60)
    assert 0.2 < found.strength("first", "child") < 0.8
    assert 0.2 < found.strength("copy", "child") < 0.8


def test_each_replicate_is_searched_as_the_estimate_was() -> None:
    """With many records and strong effects, all replicates equal the estimate."""
    data = LinearGaussian.random(random_dag(7, 8, 2), (0.8, 1.2), seed=2).sample(50_000, seed=2)
    estimate = learn(data)
    found = confidence(data, 5)
    assert all(graph == estimate.cpdag for graph in found.graphs)
    assert found.averaged().cpdag == estimate.cpdag
    assert found.medoid() == estimate.cpdag
    assert found.strategy == estimate.strategy


def test_knowledge_holds_in_every_replicate() -> None:
    names = GAUSSIAN.names
    knowledge = {
        "required": [[names[0], names[7]]],
        "forbidden": [[names[b], names[a]] for b in range(8) for a in range(b)][1:],
    }
    found = confidence(GAUSSIAN, 8, knowledge=knowledge)
    for graph in found.graphs:
        assert graph.children(0) >> 7 & 1
        assert all(x < y or (x, y) == (1, 0) for x, y in graph.directed_edges())
    with pytest.raises(KnowledgeError):
        confidence(GAUSSIAN, 2, knowledge={"required": [["nobody", names[0]]]})


@pytest.mark.parametrize(
    ("score", "name"),
    [("bdeu", "BDeu"), (BDeu, "BDeu"), (partial(BDeu, ess=2.0), "BDeu"), ("qnml", "QNML")],
)
def test_scores_without_a_penalty_are_searched_on_half_samples(score: object, name: str) -> None:
    found = confidence(DISCRETE, 4, score=score, penalty=1)  # type: ignore[arg-type]
    assert (found.draw, found.score_name, found.penalty) == ("half", name, None)
    for draw in ("bootstrap", "bayesian"):
        with pytest.raises(InvalidArgument, match="use draw='half'"):
            confidence(DISCRETE, 4, score=score, penalty=1, draw=draw)  # type: ignore[arg-type]


def test_other_scores_and_options_go_through() -> None:
    assert confidence(GAUSSIAN, 2, score="bge").draw == "bootstrap"
    mixed = {"x": GAUSSIAN.values[0], "d": GAUSSIAN.values[1] > 0, "y": GAUSSIAN.values[2]}
    assert confidence(mixed, 3).score_name == "DegenerateGaussian with edge prior"
    found = confidence(GAUSSIAN, 3, max_indegree=1, strategy="two-phase", penalty="choose")
    assert all(g.parents(v).bit_count() <= 1 for g in found.graphs for v in range(g.n))
    assert isinstance(found.penalty, float)
    assert any("chosen by held-out" in note for note in found.notes)
    assert confidence(GAUSSIAN, 2, assume=sges.MaxParents(2), forward="poly").strategy


def test_moments_are_drawn_by_their_covariance() -> None:
    moments = Moments.of(GAUSSIAN)
    found = confidence(moments, 10)
    assert found.draw == "wishart"
    assert found == confidence(GAUSSIAN, 10, draw="wishart")
    with pytest.raises(InvalidArgument, match="Moments contain none"):
        confidence(moments, 10, draw="half")


def test_strengths_after_streaming_are_those_of_the_table(tmp_path: Path) -> None:
    from sges.data import moments_of_file

    path = tmp_path / "table.csv"
    rows = np.column_stack(list(GAUSSIAN.values))
    np.savetxt(path, rows, delimiter=",", header=",".join(GAUSSIAN.names), comments="")
    streamed = confidence(moments_of_file(path), 10)
    assert streamed.graphs == confidence(GAUSSIAN, 10, draw="wishart").graphs


def test_a_result_of_learn_knows_how_to_search_again() -> None:
    result = learn(DISCRETE, strategy="interleaved", penalty=1.5)
    assert result.confidence(6) == confidence(DISCRETE, 6, strategy="interleaved", penalty=1.5)
    knowledge = {"forbidden": [["x0", "x1"], ["x1", "x0"]]}
    names = [f"x{i}" for i in range(8)]
    table = dict(zip(names, GAUSSIAN.values, strict=True))
    gaussian = learn(table, knowledge=knowledge).confidence(6)
    assert gaussian.draw == "wishart"
    assert gaussian.names == tuple(names)
    assert gaussian.strength("x0", "x1") == 0.0
    assert gaussian.graphs == confidence(table, 6, knowledge=knowledge, draw="wishart").graphs
    assert learn(DISCRETE, score=partial(BDeu, ess=3)).confidence(3).score_name == "BDeu"


@pytest.mark.parametrize("score", ["bdeu", "qnml", "discrete-bic"])
@pytest.mark.parametrize("penalty", ["auto", 1])
def test_a_result_with_any_discrete_score_knows_how_to_search_again(
    score: str, penalty: Literal["auto", 1]
) -> None:
    options: dict[str, Any] = {"score": score, "penalty": penalty}
    found = learn(DISCRETE, **options).confidence(4)
    assert found.graphs == confidence(DISCRETE, 4, **options).graphs


def test_a_constant_column_has_no_edge_in_any_replicate() -> None:
    table = np.column_stack([*GAUSSIAN.values, np.ones(300)])
    with pytest.warns(sges.errors.DataWarning, match="constant column"):
        result = learn(table)
    assert all(8 not in pair for pair in result.confidence(20).strengths)


def test_a_result_that_has_lost_its_statistics_says_so() -> None:
    result = learn(GAUSSIAN)
    for lost in (replace(result, scorer=None), sges.Result.from_json(result.to_json())):
        with pytest.raises(InvalidArgument, match=r"call sges\.confidence"):
            lost.confidence()
    with pytest.raises(InvalidArgument, match="BGe object does not keep the data"):
        learn(GAUSSIAN, score="bge").confidence()


def test_a_start_is_not_used_for_replicates() -> None:
    start = learn(GAUSSIAN).cpdag
    warm = learn(GAUSSIAN, start=start).confidence(4)
    assert warm.graphs == learn(GAUSSIAN).confidence(4).graphs
    assert "unlike the estimate, replicates were not searched from the start graph" in warm.notes


def test_a_score_object_is_enough_where_it_keeps_its_data() -> None:
    score = GaussianBIC(GAUSSIAN, penalty=2.0)
    found = confidence(score=score, replicates=4)
    assert found.penalty == 2.0
    assert found.graphs == confidence(GAUSSIAN, 4, draw="wishart", penalty=2.0).graphs
    with pytest.raises(InvalidArgument, match="set its penalty there"):
        confidence(score=score, penalty=2.0)


def test_a_time_limit_is_kept_and_finished_replicates_count() -> None:
    begun = time.perf_counter()
    found = confidence(GAUSSIAN, 100_000, time_limit=1.0)
    assert time.perf_counter() - begun < 20
    assert 0 < found.done < 100_000
    assert (found.stopped, found.complete, found.replicates) == ("time limit", False, 100_000)
    assert f"{found.done} of 100000" in repr(found)
    assert found.graphs == confidence(GAUSSIAN, found.done).graphs
    with pytest.raises(Undecided, match="no replicate was finished"):
        confidence(GAUSSIAN, 5, time_limit=0.0)


def test_an_interruption_counts_what_is_done() -> None:
    def stop(progress: ReplicateProgress) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    found = confidence(GAUSSIAN, 50, progress=stop)
    assert (found.done, found.stopped) == (3, "interrupted")


def test_progress_true_shows_a_line_in_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    confidence(GAUSSIAN, 3, progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for searched in (
        confidence(GAUSSIAN, 3, progress=True),
        learn(GAUSSIAN).confidence(3, progress=True),
    ):
        assert searched.done == 3
    told = capsys.readouterr().err
    assert told.count("\n") == 2
    assert "3 of 3 replicates  " in told
    confidence(GAUSSIAN, 3, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"replicates": 0}, "replicates = 0: it must be a whole number, from 1 to 1,000,000"),
        ({"seed": 2**63}, "it must be a whole number, from 0 to 9,223,372,036,854,775,807"),
        ({"draw": "jackknife"}, "draw = 'jackknife' is not one of"),
        ({"score": "bdeuu"}, "did you mean 'bdeu'"),
        ({"score": BDeu, "penalty": 2.0}, "penalty = 2"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(
    arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message) as caught:
        confidence(DISCRETE, **{"replicates": 3, **arguments})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_the_estimator_wraps_any_of_our_searches() -> None:
    table = GAUSSIAN.values.T
    model = EdgeConfidence(sges.GES(penalty=2.0), n_resamples=6, random_state=3)
    fitted = clone(model).fit(table)
    expected = confidence(table, 6, strategy="two-phase", penalty=2.0, seed=3)
    assert fitted.confidence_ == expected
    assert fitted.n_features_in_ == 8
    assert fitted.strengths_[0].tolist() == [expected.strength(0, v) if v else 0 for v in range(8)]
    assert fitted.threshold_ == expected.threshold
    assert fitted.causal_graph_ == expected.averaged().cpdag
    assert EdgeConfidence(n_resamples=2).fit(table).confidence_.strategy == "auto"
    with pytest.raises(InvalidArgument, match="not one of StructureLearner, GES and SGES"):
        EdgeConfidence("ges").fit(table)
    with pytest.raises(InvalidArgument, match="n_resamples = 0: it must be a whole number, from 1"):
        EdgeConfidence(n_resamples=0).fit(table)


def test_the_command_prints_shares_and_writes_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "table.csv", tmp_path / "out"
    rows = np.column_stack(list(GAUSSIAN.values))
    np.savetxt(path, rows, delimiter=",", header=",".join(GAUSSIAN.names), comments="")
    base = ["confidence", os.fspath(path), "--replicates", "5"]
    assert run_command([*base, "--out", os.fspath(out)]) == 0
    assert (
        "5 replicates, draw bayesian; GaussianBIC with edge prior, strategy auto"
        in capsys.readouterr().out
    )
    assert sorted(p.name for p in out.iterdir()) == [
        "confidence.json", "strengths.csv", "strengths.svg", "summary.txt",
    ]  # fmt: skip
    assert run_command([*base, "--json", "--draw", "wishart", "--n-jobs", "2"]) == 0
    found = Confidence.from_json(capsys.readouterr().out)
    assert found.graphs == confidence(rows, 5, draw="wishart", names=GAUSSIAN.names).graphs
    assert run_command([*base, "--draw", "jackknife"]) == 2
    assert "--draw = 'jackknife' is not one of" in capsys.readouterr().err
    assert run_command(["confidence", os.fspath(tmp_path / "none.csv")]) == 1


@pytest.mark.parametrize("table", [GAUSSIAN, DISCRETE])
def test_the_defaults_are_those_of_learn(table: Dataset) -> None:
    found, estimate = confidence(table, 6), learn(table)
    assert (found.score_name, found.penalty) == (estimate.score_name, "auto")
    assert Confidence.from_json(found.to_json()).penalty == "auto"
    draw = "wishart" if table is GAUSSIAN else "bootstrap"
    assert estimate.confidence(6).graphs == confidence(table, 6, draw=draw).graphs
    edges = [graph.edge_count() for graph in found.graphs]
    assert abs(np.mean(edges) - estimate.cpdag.edge_count()) <= 3


def test_any_cost_of_edges_is_that_of_the_replicates() -> None:
    sparse, dense = (
        learn(score=EdgePrior(BDeu(DISCRETE, ess=2.0), cost)).confidence(4) for cost in (1e6, 0.0)
    )
    assert all(graph.edge_count() == 0 for graph in sparse.graphs)
    assert dense.graphs == learn(score=BDeu(DISCRETE, ess=2.0)).confidence(4).graphs
