"""The degenerate Gaussian score, compared with one that has explicit indicator columns."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import naive_score
from naive_score import Table
from sges.data.dataset import Dataset
from sges.errors import DataWarning, ScoreError
from sges.nodeset import nodes
from sges.score.conformance import check_score
from sges.score.gaussian.bic import GaussianBIC
from sges.score.gaussian.mixed import DegenerateGaussian
from sges.score.protocol import insert_gains
from sges.uncertainty.draws import permuted

DISCRETE = (1, 3, 4)


def mixed(records: int = 200, n: int = 6, seed: int = 7) -> Table:
    """Return a table with levels 0, 1, ... in the discrete columns, of arity 2, 3 and 5."""
    rng = np.random.default_rng(seed)
    weights = np.eye(n) + np.triu(rng.uniform(-1, 1, (n, n)), 1)
    table: Table = rng.normal(size=(records, n)) @ weights
    for column, arity in zip(DISCRETE, (2, 3, 5), strict=True):
        cuts = np.quantile(table[:, column], np.arange(1, arity) / arity)
        table[:, column] = np.digitize(table[:, column], cuts)
    return table


def dataset(table: Table) -> Dataset:
    kinds = {f"x{v}": "discrete" for v in DISCRETE}
    return Dataset.of(table, kinds=kinds)


@pytest.mark.parametrize("penalty", [1.0, 2.0])
def test_local_is_that_of_every_indicator_written_out(penalty: float) -> None:
    table = mixed()
    score = DegenerateGaussian(dataset(table), penalty)
    for parents in range(2**6):
        for y in range(6):
            if not parents >> y & 1:
                twin = naive_score.degenerate_gaussian(
                    table, DISCRETE, y, [*nodes(parents)], penalty
                )
                assert score.local(y, parents) == pytest.approx(twin, rel=1e-9)


def test_the_score_conforms(seed: int) -> None:
    data = dataset(mixed(400, seed=seed))
    check_score(
        DegenerateGaussian(data),
        seed=seed,
        permuted=lambda order: DegenerateGaussian(permuted(data, np.array(order))),
    )


def test_with_continuous_columns_only_it_is_the_gaussian_bic() -> None:
    table = np.random.default_rng(1).normal(size=(50, 4)) @ np.diag([1, 1e6, 1e-6, 2]) + 1e3
    one, two = DegenerateGaussian(table), GaussianBIC(table)
    for parents in (0, 0b10, 0b1110):
        assert one.local(0, parents) == pytest.approx(two.local(0, parents), rel=1e-9)


def test_a_mean_far_from_zero_costs_no_digits() -> None:
    table = np.random.default_rng(2).normal(size=(50, 2))
    table[:, 1] += table[:, 0]
    table[:, 0] = 1e9 + 1e-7 * np.rint(10 * table[:, 0])
    blocks, gaussian = DegenerateGaussian(table), GaussianBIC(table)
    for parents in (0b00, 0b10):
        assert blocks.local(0, parents) == pytest.approx(gaussian.local(0, parents), rel=1e-12)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_units_whose_squares_no_double_holds_change_no_gain(unit: float) -> None:
    table = np.random.default_rng(2).normal(size=(50, 2))
    table[:, 1] += table[:, 0]
    expected = DegenerateGaussian(table)
    found = DegenerateGaussian(table * [unit, 1.0])
    gain = expected.local(1, 0b01) - expected.local(1, 0)
    assert found.local(1, 0b01) - found.local(1, 0) == pytest.approx(gain)
    assert found.local(0, 0) == pytest.approx(expected.local(0, 0) - 50 * np.log(unit))


def test_repeated_rows_count_as_often_as_their_weights_say() -> None:
    table, weights = mixed(60), np.arange(60) % 4 + 1
    kinds = {f"x{v}": "discrete" for v in DISCRETE}
    weighted = DegenerateGaussian(Dataset.of(table, kinds=kinds, weights=weights))
    repeated = DegenerateGaussian(dataset(np.repeat(table, weights, axis=0)))
    assert weighted.records == repeated.records == weights.sum()
    assert weighted.local(0, 0b111110) == pytest.approx(repeated.local(0, 0b111110), rel=1e-9)


def test_many_chunks_of_records_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = DegenerateGaussian(dataset(mixed())).local(0, 0b111110)
    monkeypatch.setattr("sges.score.gaussian.mixed.CHUNK_ROWS", 7)
    assert DegenerateGaussian(dataset(mixed())).local(0, 0b111110) == pytest.approx(whole)


def test_the_names_of_levels_and_their_order_do_not_matter() -> None:
    table = mixed()
    other = table.copy()
    other[:, 4] = np.array([3, 0, 4, 1, 2])[table[:, 4].astype(int)]
    one, two = DegenerateGaussian(dataset(table)), DegenerateGaussian(dataset(other))
    assert one.local(0, 0b11000) == pytest.approx(two.local(0, 0b11000), rel=1e-12)
    assert one.local(4, 0b01001) == pytest.approx(two.local(4, 0b01001), rel=1e-12)


def test_a_declared_level_without_records_is_not_written() -> None:
    frame = pl.DataFrame({"x": [0.1, 2.0, 0.3, 5.0, 2.2, 0.2, 4.0, 1.0], "k": list("abacbacb")})
    declared = frame.with_columns(pl.col("k").cast(pl.Enum(list("zabyc"))))
    assert Dataset.of(declared).levels[1] == tuple("zabyc")
    one, two = DegenerateGaussian(frame), DegenerateGaussian(declared)
    assert one.local(1, 0b01) == pytest.approx(two.local(1, 0b01), rel=1e-12)


def test_constant_columns_of_both_kinds_are_named_and_get_no_edges() -> None:
    table = mixed()
    table[:, 2], table[:, 3] = 1e9, 1.0
    with pytest.warns(DataWarning, match="constant columns 'x2', 'x3'") as told:
        score = DegenerateGaussian(dataset(table))
    assert Path(told[0].filename).name == Path(__file__).name
    for y in range(6):
        gains = insert_gains(score, y, 0, np.array([x for x in (2, 3) if x != y]))
        assert gains.max() < 0
    check_score(score, pairs=100)


def test_a_column_that_determines_another_is_named_and_scored_finitely() -> None:
    table = mixed()
    table[:, 1] = table[:, 4] >= 2
    with pytest.warns(DataWarning, match=r"'x[14]' of 'x[14]'"):
        score = DegenerateGaussian(dataset(table))
    assert insert_gains(score, 1, 0, np.array([4])).item() > 500
    check_score(score, pairs=200, tolerance=1e-7)


def test_exclusive_or_is_beyond_second_moments() -> None:
    """A known limitation of the score, which the module documents."""
    a, b = np.tile([0, 0, 1, 1], 50), np.tile([0, 1, 0, 1], 50)
    score = DegenerateGaussian(Dataset.of({"a": a, "b": b, "c": a ^ b}, kinds="discrete"))
    gains = insert_gains(score, 2, 0b01, np.array([1]))
    assert gains == pytest.approx([-np.log(200) / 2])


def test_too_many_levels_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sges.score.gaussian.mixed.MAX_COLUMNS", 6)
    with pytest.raises(ScoreError, match="represented by 10 columns, 4 of them for 'x4'"):
        DegenerateGaussian(dataset(mixed()))


@pytest.mark.parametrize("penalty", [-1.0, np.nan])
def test_an_invalid_penalty_is_refused(penalty: float) -> None:
    with pytest.raises(ScoreError, match=r"penalty .* 0 or more"):
        DegenerateGaussian(dataset(mixed()), penalty)


def test_a_discrete_column_with_a_level_for_nearly_every_record_is_refused() -> None:
    rng = np.random.default_rng(0)
    table = {"light": rng.normal(size=600), "heat": rng.normal(size=600)}
    named = Dataset.of(table, kinds={"light": "discrete"})
    with pytest.raises(ScoreError, match="600 levels in 600 records, like an identifier") as told:
        DegenerateGaussian(named)
    assert "kinds={'light': 'continuous'}" in str(told.value)
    texts = [f"{value:.4f} %" for value in table["light"]]
    percent = Dataset.of(table | {"light": texts}, kinds={"light": "discrete"})
    with pytest.raises(ScoreError, match="all 600 values are numbers written with '%'"):
        DegenerateGaussian(percent)
    few = {"light": [f"l{i % 40}" for i in range(60)], "heat": table["heat"][:60]}
    assert DegenerateGaussian(Dataset.of(few)).n == 2


def test_a_warning_counts_the_columns_of_the_table_not_those_that_represent_them() -> None:
    rng = np.random.default_rng(0)
    table = {f"c{j}": [f"l{i}" for i in rng.integers(0, 12, 30)] for j in range(4)}
    with pytest.warns(DataWarning, match=r"^5 columns, represented by 4\d numeric ones, and only"):
        DegenerateGaussian(table | {"x": rng.normal(size=30)})
