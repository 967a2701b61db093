"""Means and covariances compared with exact arithmetic, at any offset and scale."""

import re
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive_data as naive
from sges.data import Dataset, Moments
from sges.data import moments as module
from sges.errors import DataError


def error(found: Moments, exact: list[list[Fraction]]) -> float:
    """Return the largest error of a covariance, relative to the scale of its two columns."""
    scale = [Fraction(float(row[i]) ** 0.5) or Fraction(1) for i, row in enumerate(exact)]
    return max(
        float(abs(Fraction(float(found.covariance[i, j])) - c) / (scale[i] * scale[j]))
        for i, row in enumerate(exact)
        for j, c in enumerate(row)
    )


def mean_error(found: Moments, exact: list[Fraction]) -> float:
    """Return the largest error of a mean, relative to the size of the values."""
    size = np.sqrt(np.diagonal(found.covariance)) + np.abs(found.mean)
    off = [float(Fraction(float(m)) - e) for m, e in zip(found.mean, exact, strict=True)]
    return float(np.max(np.abs(off) / size))


def columns(rows: int, offset: float, scale: float, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(3, 3)) @ rng.normal(size=(3, rows))
    shifted: NDArray[np.float64] = offset + scale * mixed
    return shifted


@pytest.mark.parametrize("rows", [2, 3, 700])
@pytest.mark.parametrize(
    ("offset", "scale"),
    [(0, 1), (1e9, 1e-3), (-1e9, 1e-3), (1e15, 1), (0, 1e-120), (0, 1e120), (1e3, 1e-9)],
)
def test_moments_are_exact_to_1e_12_at_any_offset_and_scale(
    rows: int, offset: float, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = columns(rows, offset, scale, seed=rows)
    mean, covariance = naive.exact_moments(values.tolist())
    for block in (1024, 64):  # one block, and several to be merged
        monkeypatch.setattr(module, "block_rows", lambda _, size=block: size)
        found = Moments.of(Dataset.of(values.T, kinds="continuous"))
        assert found.records == rows
        assert error(found, covariance) < 1e-12
        assert mean_error(found, mean) < 1e-13


def test_a_drift_and_an_outlier_in_front_cost_no_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    values = columns(600, 0, 1, seed=5)
    values[0] += np.linspace(-1e9, 1e9, 600)
    values[1, 0] = 1e12
    _, covariance = naive.exact_moments(values.tolist())
    monkeypatch.setattr(module, "block_rows", lambda _: 50)
    assert error(Moments.of(Dataset.of(values.T)), covariance) < 1e-12


@given(st.floats(-1e300, 1e300), st.integers(2, 40))
def test_a_constant_column_has_variance_exactly_zero(value: float, rows: int) -> None:
    other = [0.1 * i for i in range(rows)]
    found = Moments.of(Dataset.of({"a": [value] * rows, "b": other}))
    assert found.covariance[0].tolist() == [0.0, 0.0]
    assert found.mean[0] == value


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30))
def test_weights_count_as_repeated_rows(weights: list[int]) -> None:
    values = columns(len(weights), 1e6, 1, seed=2)
    found = Moments.of(Dataset.of(values.T, kinds="continuous", weights=weights))
    mean, covariance = naive.exact_moments(values.tolist(), weights)
    assert found.records == sum(weights)
    assert error(found, covariance) < 1e-12
    assert mean_error(found, mean) < 1e-13


def test_the_covariance_is_exactly_symmetric() -> None:
    found = Moments.of(Dataset.of(columns(5000, 3, 1, seed=1).T))
    assert np.array_equal(found.covariance, found.covariance.T)
    assert not found.covariance.flags.writeable


@pytest.mark.parametrize("hole", [3.0, np.nan])
@pytest.mark.parametrize("scale", [1e200, 1e-148, 1e-200, 1e308])
def test_variances_beyond_floating_point_are_refused(scale: float, hole: float) -> None:
    """A column that varies is never treated as constant, also with EM."""
    table = np.array([[1.0, scale], [2.0, -scale], [4.0, scale], [hole, scale]])
    with pytest.raises(DataError, match=r"column 'x1' varies by about .*; rescale it"):
        Moments.of(Dataset.of(table, missing="em"))


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("wide", [False, True])
def test_a_column_that_varies_only_between_blocks_is_not_a_constant(
    scale: float, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each block of 50 rows has one value, whose distance from the next is lost when squared."""
    values = columns(200, 0, 1, seed=7)
    values[0] = scale * (np.arange(200) // 50)
    values[1] = 3.0
    monkeypatch.setattr(module, "block_rows", lambda _: 50)
    monkeypatch.setattr(module, "BLOCK_CELLS", 50 * len(values))
    names = module.numbered_names(len(values))

    def compute() -> object:
        if wide:
            return module.correlations_of(names, values, None, np.dtype(np.float64))
        return module.moments_of_blocks(names, module.blocks_of(values, None))

    exponent = re.escape(f"{scale:.0e}"[1:])
    with pytest.raises(DataError, match=rf"column 'x0' varies by about [1-3]{exponent}, but"):
        compute()


def test_discrete_columns_have_no_covariance() -> None:
    with pytest.raises(DataError, match=r"column 'b' is discrete .* kinds={'b': 'continuous'}"):
        Moments.of(Dataset.of({"a": [0.5, 1.5], "b": [0, 1]}))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_an_array_read_where_it_lies_has_exact_moments(
    order: Literal["C", "F"], offset: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = np.array(columns(700, offset, 1e-3, seed=3).T, order=order)
    mean, covariance = naive.exact_moments(table.T.tolist())
    monkeypatch.setattr(module, "block_rows", lambda _: 64)
    names = module.numbered_names(table.shape[1])
    assert module.is_plain(table)
    found = module.moments_of_blocks(names, module.blocks_of(table.T, None))
    assert found.names == Dataset.of(table, kinds="continuous").names
    assert found.records == 700
    assert error(found, covariance) < 1e-12
    assert mean_error(found, mean) < 1e-13


@pytest.mark.parametrize(
    "table",
    [
        np.array([[1.0, 2.0], [np.nan, 3.0]]),
        np.array([[1.0, 2.0], [np.inf, 3.0], [-np.inf, 4.0]]),
        np.array([[1.0, 2.0]]),
        np.zeros((3, 0)),
        np.zeros(3),
        np.zeros((3, 2), dtype=np.float32),
        np.zeros((3, 2), dtype=np.int64),
        np.ma.masked_array(np.zeros((3, 2)), mask=np.eye(3, 2) > 0),
        [[1.0, 2.0], [3.0, 4.0]],
    ],
)
def test_an_array_with_anything_to_decide_is_left_to_the_dataset(table: Any) -> None:  # noqa: ANN401
    assert not module.is_plain(table)
