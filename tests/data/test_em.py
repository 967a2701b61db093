"""EM for the Gaussian with missing values."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive_data
from sges import learn
from sges.data import Dataset, Moments, em
from sges.data.em import estimate
from sges.errors import DataError, DataWarning

Floats = NDArray[np.float64]


def with_holes(rows: int, columns: int, share: float, seed: int = 0) -> Floats:
    """Return correlated columns of different units with missing values (rows x columns)."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(rows, columns)) @ (
        np.eye(columns) + np.triu(rng.uniform(-1, 1, (columns, columns)), 1)
    )
    table: Floats = mixed * 10.0 ** rng.integers(-3, 4, columns) + rng.normal(size=columns) * 50
    table[rng.random(table.shape) < share] = np.nan
    return table[~np.isnan(table).all(axis=1)]


# --- the Gaussian -----------------------------------------------------------------------------


def test_without_holes_the_estimate_is_the_mean_and_the_covariance() -> None:
    table = with_holes(50, 4, 0.0)
    found = estimate(table.T)
    assert found.mean == pytest.approx(table.mean(axis=0))
    assert found.covariance == pytest.approx(np.cov(table.T, bias=True), rel=1e-9)
    assert found.settled
    assert not found.has_prior


def test_one_column_with_holes_worked_by_hand() -> None:
    """If y is complete, the rows with both give the slope and the residual variance of x on y.

    These rows are (0, 0), (1, 2), (2, 1), (3, 3): the slope is 0.8, the residual variance 0.45.
    All rows have y = 0, 2, 1, 3, 4, 8, with mean 3 and variance 20/3.
    """
    x = np.array([0.0, 1.0, 2.0, 3.0, np.nan, np.nan])
    y = np.array([0.0, 2.0, 1.0, 3.0, 4.0, 8.0])
    found = estimate(np.array([x, y]))
    variance = 0.8**2 * 20 / 3 + 0.45
    assert found.mean == pytest.approx([1.5 + 0.8 * (3 - 1.5), 3.0], abs=1e-3)
    expected = [[variance, 0.8 * 20 / 3], [0.8 * 20 / 3, 20 / 3]]
    assert found.covariance == pytest.approx(np.array(expected), abs=1e-3)


@pytest.mark.parametrize(("share", "steps"), [(0.05, 40), (0.2, 120), (0.4, 400)])
def test_the_estimate_is_that_of_the_slow_twin(share: float, steps: int, seed: int) -> None:
    """With more missing values, the twin needs more steps to converge."""
    table = with_holes(80, 4, share, seed)
    found = estimate(table.T)
    mean, covariance, likelihoods = naive_data.em_of_gaussian(table.tolist(), steps)
    scale = np.nanstd(table, axis=0)
    assert (found.mean - mean) / scale == pytest.approx(0, abs=1e-3)
    apart = (found.covariance - np.array(covariance)) / scale[:, None] / scale
    assert apart == pytest.approx(0, abs=2e-3)
    assert found.log_likelihoods[-1] == pytest.approx(likelihoods[-1], abs=1e-2)


@pytest.mark.parametrize("noise", [1e-1, 1e-2, 1e-3])
def test_the_residuals_of_nearly_collinear_columns_settle(
    noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=500)
    table = np.array([first, first + noise * rng.normal(size=500), first + rng.normal(size=500)])
    table[rng.random(table.shape) < 0.2] = np.nan
    table = table[:, ~np.isnan(table).all(axis=0)]
    found = estimate(table)
    monkeypatch.setattr(em, "TOLERANCE", 0.0)
    limit = estimate(table)
    residual, expected = (1 / np.linalg.inv(one.covariance)[1, 1] for one in (found, limit))
    assert found.settled
    assert residual == pytest.approx(expected, rel=1e-3)
    assert found.log_likelihoods[-1] == pytest.approx(max(limit.log_likelihoods), abs=1e-3)


def test_each_step_has_the_likelihood_of_the_slow_twin() -> None:
    table = with_holes(60, 4, 0.2)
    twin = naive_data.em_of_gaussian(table.tolist(), 5)[2]
    # Both start with the observed means and variances, without correlations.
    assert estimate(table.T).log_likelihoods[:5] == pytest.approx(twin, rel=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_the_likelihood_never_falls(share: float, seed: int) -> None:
    likelihoods = estimate(with_holes(60, 6, share, seed).T).log_likelihoods
    assert len(likelihoods) > 3
    assert np.diff(likelihoods).min() > -1e-8 * abs(likelihoods[-1])


def test_a_row_counts_as_often_as_its_weight_says(seed: int) -> None:
    table = with_holes(40, 3, 0.2, seed)
    times = np.random.default_rng(seed).integers(1, 5, len(table))
    weighted, repeated = estimate(table.T, times), estimate(np.repeat(table, times, axis=0).T)
    assert weighted.mean == pytest.approx(repeated.mean)
    assert weighted.covariance == pytest.approx(repeated.covariance)


def test_units_and_offsets_change_nothing_but_units_and_offsets() -> None:
    table = with_holes(70, 3, 0.2)
    scale, shift = np.array([1e6, 1.0, 1e-6]), np.array([0.0, 1e5, -3.0])
    plain, moved = estimate(table.T), estimate((table * scale + shift).T)
    assert moved.mean == pytest.approx(plain.mean * scale + shift)
    assert moved.covariance == pytest.approx(plain.covariance * scale[:, None] * scale, rel=1e-5)


# --- degenerate tables -------------------------------------------------------------------------


def degenerate(kind: str, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    table = with_holes(60, 4, 0.15, seed)
    if kind == "constant":
        table[:, 1] = np.where(np.isnan(table[:, 1]), np.nan, 7.0)
    elif kind == "copy":
        table[:, 1] = np.where(rng.random(len(table)) < 0.1, np.nan, 2 * table[:, 0])
    elif kind == "apart":
        seen = rng.random(len(table)) < 0.5
        table[:, :2] = rng.normal(size=(len(table), 2))
        table[seen, 0] = table[~seen, 1] = np.nan
    elif kind == "wide":
        table = with_holes(12, 30, 0.15, seed)
    elif kind == "one value":
        table[1:, 1] = np.nan
        table[0, 1] = 5.0
    return table


@pytest.mark.parametrize("kind", ["constant", "copy", "apart", "wide", "one value"])
@pytest.mark.parametrize("score", ["bic", "bge", "rank", "basis"])
def test_degenerate_tables_end_with_a_finite_score(kind: str, score: str, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        result = learn(degenerate(kind, seed), missing="em", score=score)
    assert np.isfinite(result.score)


@pytest.mark.parametrize(
    ("kind", "message"),
    [("copy", "columns are collinear, or"), ("apart", "no row has both 'x0' and 'x1'")],
)
def test_a_warning_names_what_the_data_do_not_determine(kind: str, message: str) -> None:
    data = Dataset.of(degenerate(kind), missing="em")
    with pytest.warns(DataWarning, match=message):
        Moments.of(data)


def test_the_prior_is_worth_one_record_among_survey_weights() -> None:
    table = with_holes(60, 3, 0.1)
    table[:, 1] = 2 * table[:, 0]
    weights = np.linspace(0.99, 1.01, len(table))
    with pytest.warns(DataWarning, match="columns are collinear"):
        plain, survey = (
            Moments.of(Dataset.of(table, missing="em", **options)).covariance  # type: ignore[arg-type]
            for options in ({}, {"weights": weights})
        )
    assert np.linalg.det(survey) == pytest.approx(np.linalg.det(plain), rel=0.1)


def test_a_column_without_values_is_refused_in_one_line() -> None:
    with pytest.raises(DataError, match="column 'b' has no values, all 3 are missing"):
        Dataset.of({"a": [1.0, 2.5, 3.5], "b": [np.nan] * 3}, missing="em")


def test_columns_hardly_ever_observed_together_are_refused_in_one_line() -> None:
    apart = {"a": [1.0, 2.5, 3.5, None, None], "b": [None, None, None, 1.5, 2.5]}
    with pytest.raises(DataError, match="observed together in 0 rows on average"):
        learn(apart, missing="em")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_holes_in_any_small_table_give_finite_scores_or_one_line(data: st.DataObject) -> None:
    rows = data.draw(st.integers(2, 12))
    value: dict[str, st.SearchStrategy[Any]] = {
        "x": st.none() | st.sampled_from([0.5, 1.5, 2.25, 1e6]),
        "s": st.none() | st.sampled_from("abc"),
    }
    kinds = data.draw(st.text("xs", min_size=1, max_size=5))
    table = {
        f"{kind}{i}": data.draw(st.lists(value[kind], min_size=rows, max_size=rows))
        for i, kind in enumerate(kinds)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            score = learn(table, missing="em").score
        except DataError:  # a one-line error
            return
    assert np.isfinite(score)


# --- reading ----------------------------------------------------------------------------------


def test_holes_are_kept_and_the_note_counts_them() -> None:
    table = {"a": [0.5, None, 2.5, 3.5], "s": ["u", "v", None, "v"]}
    data = Dataset.of(table, missing="em")
    assert data.holes is not None
    assert data.holes.tolist() == [[False, True, False, False], [False, False, True, False]]
    assert np.isnan(data.values[0, 1])
    assert data.levels == (None, ("u", "v"))
    assert data.records == 2  # the rows with both values
    (note,) = [note for note in data.notes if "missing" in note]
    assert note.startswith("2 of 8 values are missing (25.0%)")
    assert "2 effective records" in note


def test_effective_records_are_the_mean_of_the_pairwise_counts(seed: int) -> None:
    table = with_holes(100, 5, 0.2, seed)
    seen = (~np.isnan(table)).astype(int)
    pairs = [seen[:, i] @ seen[:, j] for i in range(5) for j in range(i)]
    assert Dataset.of(table, missing="em").records == round(float(np.mean(pairs)))


@pytest.mark.parametrize("kind", ["one level", "three levels", "numbers", "complete constant"])
def test_a_column_with_next_to_no_information_does_not_lower_the_effective_records(
    kind: str, seed: int
) -> None:
    table = with_holes(500, 4, 0.1, seed)
    columns: dict[str, list[Any]] = {f"x{v}": column.tolist() for v, column in enumerate(table.T)}
    others = Dataset.of(columns, missing="em").records
    added: list[Any] = [None] * len(table)
    for i in range(3):
        added[50 * i] = {"one level": "u", "three levels": "uvw"[i], "numbers": i + 0.5}.get(kind)
    columns["empty"] = ["u"] * len(table) if kind == "complete constant" else added
    data = Dataset.of(columns, missing="em")
    assert data.records == others
    (note,) = [note for note in data.notes if "effective records" in note]
    assert "not counting columns with next to no information ('empty')" in note
    (found,) = [one for one in data.describe().findings if one.topic == "missing values"]
    assert "exclude=['empty']" in found.advice


def test_two_columns_are_counted_however_empty_they_are() -> None:
    table = {"a": ["u", "v"] * 20, "b": ["u", "v", "u"] + [None] * 37}
    data = Dataset.of(table, missing="em")
    assert data.records == 3
    assert "exclude" not in " ".join(one.advice for one in data.describe().findings)


def test_effective_records_do_not_depend_on_the_order_of_the_rows(seed: int) -> None:
    """Their number is 732.5, halfway to the next."""
    lost = np.repeat([0, 1, 2, 3, 4, 5], [293, 384, 218, 87, 16, 2])
    table = np.where(np.arange(8) < lost[:, None], np.nan, np.arange(1000)[:, None] + 0.5)
    rng = np.random.default_rng(seed)
    found = [Dataset.of(rng.permutation(table), missing="em").records for _ in range(40)]
    assert found == [732] * 40


def test_rows_without_any_value_are_dropped() -> None:
    table = {"a": [0.5, None, 1.5, 2.0], "b": [1.0, None, None, 3.0]}
    assert Dataset.of(table, missing="em").rows == 3


def test_a_table_without_holes_is_read_as_usual() -> None:
    table = {"a": [0.5, 1.5, 2.5], "s": ["u", "v", "u"]}
    data, usual = Dataset.of(table, missing="em"), Dataset.of(table)
    assert data.holes is None
    assert (data.records, data.notes) == (usual.records, usual.notes)


def test_em_refuses_more_columns_than_it_can_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(em, "MAX_COLUMNS", 3)
    with pytest.raises(DataError, match="4 columns are too many for EM, which allows at most 3"):
        estimate(with_holes(20, 4, 0.1).T)


def test_em_that_has_not_settled_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(em, "MAX_ITERATIONS", 1)
    with pytest.warns(DataWarning, match="EM was stopped after 1 iterations before convergence"):
        learn(with_holes(200, 3, 0.2), missing="em")
