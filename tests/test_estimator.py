"""The estimators follow the conventions of scikit-learn, and have the results of ``learn``."""

import sys
import warnings
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone  # type: ignore[import-untyped]
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]
from sklearn.utils.estimator_checks import (  # type: ignore[import-untyped]
    check_estimator,
    estimator_checks_generator,
)

import sges
from sges import GES, SGES, Knowledge, MaxParents, MaxVWidth, StructureLearner, examples
from sges.errors import InvalidArgument
from sges.score import BDeu

Frame: TypeAlias = Any  # pandas has no types
Estimator: TypeAlias = Any  # scikit-learn has no types

ESTIMATORS = [GES(), SGES(MaxVWidth(2)), StructureLearner()]


@pytest.fixture(scope="module")
def frame() -> Frame:
    return examples.load("greenhouse").table.to_pandas()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["GES", "SGES", "StructureLearner"])
def test_every_check_of_scikit_learn_passes(estimator: Estimator) -> None:
    """None is expected to fail; the one skipped needs SCIPY_ARRAY_API in the environment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about constant and collinear data of the checks
        report = check_estimator(estimator, on_fail=None)
    by_status = {
        status: {check["check_name"] for check in report if check["status"] == status}
        for status in ("passed", "failed", "xfail", "skipped")
    }
    assert not by_status["failed"]
    assert not by_status["xfail"]
    assert by_status["skipped"] <= {"check_array_api_input"}
    assert len(by_status["passed"]) >= 30
    assert len(report) == len(list(estimator_checks_generator(estimator)))


def test_fitting_returns_itself_and_leaves_what_learn_finds(frame: Frame) -> None:
    model = SGES(MaxParents(3))
    assert model.fit(frame) is model
    result = sges.learn(frame, assume=MaxParents(3), strategy="two-phase", penalty=1)
    assert model.causal_graph_ == result.cpdag == examples.load("greenhouse").truth
    assert model.score_ == result.score
    assert model.n_score_evaluations_ == result.score_evaluations
    assert model.trace_ == result.steps
    assert model.n_features_in_ == 11
    assert list(model.feature_names_in_) == list(frame.columns)
    assert GES().fit(frame).causal_graph_ == result.cpdag


def test_the_general_estimator_finds_what_learn_finds_by_default(frame: Frame) -> None:
    asia = pd.read_csv(examples.load("asia").path)
    for table in (frame, asia):
        model, result = StructureLearner().fit(table), sges.learn(table)
        assert (model.trace_, model.score_) == (result.steps, result.score)
        assert model.result_.strategy == result.strategy == "auto"


def test_ges_and_sges_are_the_two_phases_of_the_paper(frame: Frame) -> None:
    assert GES().fit(frame).result_.strategy == "two-phase"
    assert GES().fit(frame).result_.score_name == "GaussianBIC"
    model = SGES(MaxVWidth(2), forward="poly").fit(frame)
    assert (model.result_.strategy, model.result_.forward) == ("two-phase", "poly")


def test_parameters_have_the_defaults_of_learn() -> None:
    import inspect

    ours = inspect.signature(StructureLearner).parameters
    theirs = inspect.signature(sges.learn).parameters
    for name, parameter in ours.items():
        twin = theirs["score" if name == "scoring_method" else name]
        assert parameter.default == twin.default, name


def test_the_adjacency_matrix_is_labeled_and_reads_from_row_to_column(frame: Frame) -> None:
    model = GES().fit(frame)
    matrix = model.adjacency_matrix_
    assert list(matrix.index) == list(matrix.columns) == list(frame.columns)
    assert matrix.loc["light", "photosynthesis"] == 1
    assert matrix.loc["photosynthesis", "light"] == 0
    assert matrix.loc["light", "temperature"] == matrix.loc["temperature", "light"] == 1
    assert int(matrix.to_numpy().sum()) == 9 + 2 * 3


def test_without_pandas_the_matrix_is_an_array(
    frame: Frame, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = frame.to_numpy()
    labeled = GES().fit(values).adjacency_matrix_
    monkeypatch.setitem(sys.modules, "pandas", None)
    plain = GES().fit(values).adjacency_matrix_
    assert isinstance(plain, np.ndarray)
    assert (plain == labeled.to_numpy()).all()


def test_an_estimator_is_the_last_step_of_a_pipeline(frame: Frame) -> None:
    pipeline = make_pipeline(StandardScaler(), SGES(MaxVWidth(2)))
    truth = examples.load("greenhouse").truth
    assert pipeline.fit(frame)[-1].causal_graph_ == truth
    assert not hasattr(pipeline[-1], "feature_names_in_")
    named = pipeline.set_output(transform="pandas").fit(frame)[-1]
    assert named.causal_graph_.names == tuple(frame.columns)


def test_cloning_keeps_the_parameters_and_drops_what_was_learned(frame: Frame) -> None:
    known = Knowledge(forbidden=[("sugar", "light")])
    model = SGES(MaxParents(2), scoring_method="bge", knowledge=known).fit(frame)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "causal_graph_")
    assert copy.set_params(assume=MaxParents(3)).assume == MaxParents(3)
    assert copy.fit(frame).result_.assume == "MaxParents(k=3)"


def test_discrete_columns_frames_of_any_library_and_scores_of_any_kind_are_taken() -> None:
    example = examples.load("asia")
    expected = sges.learn(example, score="bdeu", penalty=1).cpdag
    for table in (example.table, pl.read_csv(example.path), pd.read_csv(example.path)):
        for scoring in ("bdeu", BDeu):
            model = GES(scoring_method=scoring).fit(table)
            assert model.causal_graph_ == expected
            assert model.causal_graph_.names == example.truth.names


def test_missing_values_are_refused_unless_something_is_said_about_them() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(50, 3))
    values[4, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        GES().fit(values)
    assert GES(missing="drop").fit(values).n_features_in_ == 3


def test_sges_without_an_assumption_is_refused(frame: Frame) -> None:
    with pytest.raises(InvalidArgument, match="SGES needs a property to assume, such as"):
        SGES().fit(frame)


def test_without_scikit_learn_the_name_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess

    script = """
import sys
sys.modules["sklearn"] = None
try:
    from sges import SGES
except ImportError as error:
    assert "pip install scikit-learn" in str(error), error
else:
    raise AssertionError
"""
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
