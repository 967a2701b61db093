"""Scores of tables with missing values and of tables with survey weights."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import naive
from sges import confidence, learn
from sges.data import Dataset, Moments
from sges.errors import DataError, DataWarning
from sges.network import LinearGaussian, fit
from sges.score import (
    QNML,
    BasisBIC,
    BDeu,
    BGe,
    DegenerateGaussian,
    DiscreteBIC,
    GaussianBIC,
    RankBIC,
    check_score,
)
from sges.score.protocol import insert_gains
from sges.search.engines import native_of
from sges.tools.metrics import shd
from sges.tools.penalty import choose_penalty

Columns = dict[str, list[Any]]


def table(kinds: str, rows: int = 300, share: float = 0.15, seed: int = 0) -> Columns:
    """Return a chain of columns, "x" continuous and "s" discrete, with missing values."""
    rng = np.random.default_rng(seed)
    last, columns = rng.normal(size=rows), {}
    for i, kind in enumerate(kinds):
        last = 0.8 * last + rng.normal(size=rows)
        values: list[Any] = last.tolist()
        if kind == "s":
            values = ["low" if x < -0.5 else "high" if x > 0.5 else "mid" for x in values]
        for hole in np.flatnonzero(rng.random(rows) < share):
            values[int(hole)] = None
        columns[f"{kind}{i}"] = values
    return columns


SCORES = [
    (GaussianBIC, "xxxxx"),
    (BGe, "xxxxx"),
    (RankBIC, "xxxxx"),
    (DegenerateGaussian, "xsxsx"),
    (lambda data: BasisBIC(data, degree=2), "xsxsx"),
    (DiscreteBIC, "sssss"),
    (QNML, "sssss"),
    (BDeu, "sssss"),
]


# --- missing values ---------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "kinds"), SCORES)
def test_scores_of_tables_with_holes_are_decomposable_and_score_equivalent(
    make: Callable[[Any], Any], kinds: str, seed: int
) -> None:
    data = Dataset.of(table(kinds, seed=seed), missing="em")
    check_score(make(data), seed=seed, pairs=100, tolerance=1e-7)


@pytest.mark.parametrize(("make", "kinds"), SCORES)
def test_members_of_a_class_score_the_same_beside_a_nearly_empty_column(
    make: Callable[[Any], Any], kinds: str, seed: int
) -> None:
    """All 543 DAGs of four columns, of which the last has five values."""
    columns = table(kinds[:4], seed=seed)
    last = columns.popitem()[1]
    columns["empty"] = [value if i % 60 == 0 else None for i, value in enumerate(last)]
    columns["empty"][1:200:60] = [value or last[0] for value in last[1:200:60]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        score = make(Dataset.of(columns, missing="em"))
    for members in naive.classes(4).values():
        totals = [
            sum(score.local(y, sum(1 << x for x in naive.parents(dag, y))) for y in range(4))
            for dag in members
        ]
        assert totals == pytest.approx([totals[0]] * len(totals), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize(("make", "kinds"), SCORES)
def test_scores_of_tables_without_holes_do_not_change(
    make: Callable[[Any], Any], kinds: str
) -> None:
    full = table(kinds, share=0.0)
    em, usual = make(Dataset.of(full, missing="em")), make(Dataset.of(full))
    for parents in (0b0, 0b10, 0b1110):
        assert em.local(0, parents) == usual.local(0, parents)


def test_the_gaussian_score_is_that_of_the_estimated_covariance() -> None:
    data = Dataset.of(table("xxxx"), missing="em")
    moments = Moments.of(data)
    score = GaussianBIC(data)
    twin = GaussianBIC.from_covariance(moments.covariance, data.records)
    assert score.records == data.records < 300
    for parents in range(0, 16, 2):
        assert score.local(0, parents) == pytest.approx(twin.local(0, parents), rel=1e-12)


def test_the_mixed_score_of_continuous_columns_is_the_gaussian_one() -> None:
    data = Dataset.of(table("xxxx"), missing="em")
    mixed, plain = DegenerateGaussian(data), GaussianBIC(data)
    for parents in range(0, 16, 2):
        assert mixed.local(0, parents) == pytest.approx(plain.local(0, parents), rel=1e-4)


def test_few_holes_change_little() -> None:
    full, holes = table("xsxs", share=0.0), table("xsxs", share=0.01)
    assert DegenerateGaussian(Dataset.of(holes, missing="em")).local(1, 0b1) == pytest.approx(
        DegenerateGaussian(Dataset.of(full)).local(1, 0b1), rel=0.1
    )


def test_dropping_misleads_where_em_does_not() -> None:
    """Values of y are missing where x is positive, so that the complete rows are biased."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = x + rng.normal(size=20_000)
    y[(x > 0) & (rng.random(20_000) < 0.9)] = np.nan
    columns = {"x": x, "y": y}
    assert Moments.of(Dataset.of(columns, missing="em")).mean[1] == pytest.approx(0, abs=0.05)
    assert Moments.of(Dataset.of(columns, missing="drop")).mean[1] < -0.4


@pytest.mark.parametrize("kinds", ["xxxx", "xsxs", "ssss"])
def test_a_chain_is_found_through_holes(kinds: str) -> None:
    result = learn(table(kinds, rows=3000, share=0.2), missing="em", penalty=2.0)
    assert shd(result.cpdag, learn(table(kinds, 3000, 0.0), penalty=2.0).cpdag) == 0
    (note,) = [note for note in result.notes if "missing at random" in note]
    assert "effective records" in note


@pytest.mark.parametrize("kinds", ["xxx", "xsx", "sss"])
@pytest.mark.parametrize("draw", ["half", "bootstrap", "bayesian"])
def test_replicates_are_drawn_with_their_holes(kinds: str, draw: str) -> None:
    found = confidence(table(kinds, 800), 6, draw=draw, missing="em", penalty=1.0)
    assert found.strength(0, 1) > 0.5


def test_networks_are_fitted_from_what_is_observed() -> None:
    columns = table("xx", rows=2000, share=0.1)
    result = learn(columns, missing="em")
    network = fit(result.dag(), Dataset.of(columns, missing="em"))
    assert isinstance(network, LinearGaussian)
    discrete = Dataset.of(table("ss", share=0.1), missing="em")
    assert fit(learn(discrete).dag(), discrete).n == 2


def test_what_needs_every_value_says_so_in_one_line() -> None:
    data = Dataset.of(table("xx"), missing="em")
    network = fit(learn(data).dag(), data)
    with pytest.raises(DataError, match="the density of a row needs all values, but"):
        network.log_probability(data)
    with pytest.raises(DataError, match="choosing the penalty on parts of the table needs all"):
        choose_penalty(data)


# --- survey weights ---------------------------------------------------------------------------


def weighted(kinds: str, seed: int = 0, rows: int = 300) -> tuple[Columns, Any]:
    rng = np.random.default_rng(seed)
    return table(kinds, rows, share=0.0, seed=seed), rng.uniform(0.2, 3.0, rows)


@pytest.mark.parametrize(("make", "kinds"), SCORES)
def test_scores_with_survey_weights_are_decomposable_and_score_equivalent(
    make: Callable[[Any], Any], kinds: str, seed: int
) -> None:
    columns, weights = weighted(kinds, seed)
    data = Dataset.of(columns, weights=weights)
    check_score(make(data), seed=seed, pairs=100, tolerance=1e-7)


@pytest.mark.parametrize(("make", "kinds"), SCORES)
@pytest.mark.parametrize("factor", [1e-6, 0.37, 8.0, 1e9])
def test_scaling_survey_weights_changes_nothing(
    make: Callable[[Any], Any], kinds: str, factor: float
) -> None:
    columns, weights = weighted(kinds)
    one = make(Dataset.of(columns, weights=weights))
    other = make(Dataset.of(columns, weights=weights * factor))
    for parents in (0b0, 0b10, 0b1110):
        assert other.local(0, parents) == pytest.approx(one.local(0, parents), rel=1e-6)


@pytest.mark.parametrize(("make", "kinds"), SCORES)
def test_equal_survey_weights_are_no_weights(make: Callable[[Any], Any], kinds: str) -> None:
    columns, _ = weighted(kinds)
    equal = make(Dataset.of(columns, weights=np.full(300, 0.7)))
    without = make(Dataset.of(columns))
    for parents in (0b0, 0b10, 0b1110):
        assert equal.local(0, parents) == without.local(0, parents)


def test_survey_weights_count_as_kish_says() -> None:
    columns, weights = weighted("xx")
    data = Dataset.of(columns, weights=weights)
    assert data.records == round(weights.sum() ** 2 / (weights**2).sum())
    assert data.notes[0] == (
        f"weights with fractions are survey weights: 300 rows count as {data.records} records"
    )


def test_survey_weights_weigh_means_and_covariances() -> None:
    columns, weights = weighted("xx")
    moments = Moments.of(Dataset.of(columns, weights=weights))
    values = np.array([*columns.values()])
    assert moments.mean == pytest.approx(np.average(values, axis=1, weights=weights), rel=1e-6)
    expected = np.cov(values, aweights=weights, bias=True)
    assert moments.covariance == pytest.approx(expected, rel=1e-6)


def test_the_discrete_score_is_that_of_weighted_counts() -> None:
    columns, weights = weighted("ss")
    data = Dataset.of(columns, weights=weights)
    scaled = weights * data.records / weights.sum()
    counts = np.zeros((3, 3))
    np.add.at(counts, (data.codes[0].astype(int), data.codes[1].astype(int)), scaled)
    shares = counts / counts.sum(axis=1, keepdims=True)
    fit_of_y = (counts * np.log(np.where(counts > 0, shares, 1.0))).sum()
    expected = fit_of_y - np.log(data.records) / 2 * 6
    assert DiscreteBIC(data).local(1, 0b1) == pytest.approx(expected, rel=1e-5)


def test_whole_numbers_are_counts_whatever_their_type() -> None:
    columns, _ = weighted("xs")
    times = np.arange(300) % 4
    counted = Dataset.of(columns, weights=times.astype(float))
    assert (counted.unit, counted.records) == (1.0, int(times.sum()))


def test_survey_weights_and_holes_go_together() -> None:
    columns = table("xsx")
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 300)
    data = Dataset.of(columns, weights=weights, missing="em")
    kish = weights.sum() ** 2 / (weights**2).sum()
    assert 0.5 * kish < data.records < 0.9 * kish
    assert np.isfinite(learn(data).score)


@pytest.mark.parametrize("kinds", ["xxx", "xsx", "sss"])
@pytest.mark.parametrize("draw", ["half", "bootstrap", "bayesian"])
def test_replicates_of_a_survey_are_drawn_by_row(kinds: str, draw: str) -> None:
    columns, weights = weighted(kinds, rows=800)
    found = confidence(columns, 6, draw=draw, weights=weights, penalty=1.0)
    assert found.strength(0, 1) > 0.5


def test_zero_survey_weights_leave_rows_out() -> None:
    columns, weights = weighted("xs")
    weights[::2] = 0.0
    left = {name: values[1::2] for name, values in columns.items()}
    data, same = Dataset.of(columns, weights=weights), Dataset.of(left, weights=weights[1::2])
    assert (data.rows, data.records) == (same.rows, same.records)


@pytest.mark.parametrize("kinds", ["xx", "xs", "ss"])
def test_survey_weights_that_are_next_to_nothing_leave_rows_out(kinds: str) -> None:
    """Without these rows a column is constant, and must not be treated as a tiny variance."""
    columns, weights = weighted(kinds)
    columns[next(iter(columns))] = [9.5, *[0.5] * 299] if kinds[0] == "x" else ["u", *"v" * 299]
    weights[0] = 1e-12
    data = Dataset.of(columns, weights=weights)
    assert data.rows == 299
    score = DegenerateGaussian if "x" in kinds else DiscreteBIC
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert score(data).local(1, 0b01) <= score(data).local(1, 0)


def test_weights_with_fractions_are_read_from_a_column_of_a_file(tmp_path: Any) -> None:  # noqa: ANN401
    columns, weights = weighted("xx")
    path = tmp_path / "survey.csv"
    names = [*columns, "w"]
    rows = zip(*columns.values(), weights.tolist(), strict=True)
    path.write_text("\n".join([",".join(names), *(",".join(map(repr, row)) for row in rows)]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = Dataset.of(path, weights="w")
    assert data.records == Dataset.of(columns, weights=weights).records


def test_the_command_line_and_the_estimators_take_holes_and_survey_weights(
    tmp_path: Any,  # noqa: ANN401
    capsys: pytest.CaptureFixture[str],
) -> None:
    from sges.cli.app import run
    from sges.estimator import GES

    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 3))
    values[:, 1] += values[:, 0]
    weights = rng.uniform(0.5, 2.0, 200)
    lines = ["a,b,c,w", *(",".join(map(repr, row)) for row in np.c_[values, weights].tolist())]
    lines[1] = ",1.5,2.5,1.25"
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(lines))
    assert run(["learn", str(path), "--missing", "em", "--weights", "w"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "weights with fractions are survey weights" in shown
    assert "1 of 600 values are missing" in shown
    values[rng.random(values.shape) < 0.1] = np.nan
    assert GES(missing="em").fit(values).result_.cpdag == learn(values, missing="em").cpdag


@pytest.mark.parametrize("make", [DiscreteBIC, QNML, BDeu])
def test_native_and_python_scores_agree_on_imputed_tables(make: Callable[[Any], Any]) -> None:
    score = make(Dataset.of(table("ssss"), missing="em"))
    gains, _ = native_of(score)[0].insert_gains(0, [1])
    assert list(gains.values()) == pytest.approx(
        insert_gains(score, 0, 0b10, np.array([2, 3])), rel=1e-9
    )
