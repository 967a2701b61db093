"""Fast reading of columns gives the codes, levels and notes that sorting them gives."""

import re
from typing import Any, Literal

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sges.data import Dataset
from sges.data.columns import CHUNK_ROWS as CHUNK
from sges.data.columns import LEADING_ROWS as LEADING
from sges.data.columns import distinct_values, few_distinct_values, ranks
from sges.data.dataset import COPIED_CELLS
from sges.data.reading import Reading
from sges.data.tables import columns_of

TYPES = [np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float64, np.bool_]


def arrays(seed: int) -> list[NDArray[Any]]:
    """Return arrays of all types and several ranges, some longer than the leading rows."""
    rng = np.random.default_rng(seed)
    found: list[NDArray[Any]] = []
    for rows in (1, 7, LEADING + 5, CHUNK + LEADING + 9):
        for kind in TYPES:
            for low, high in ((0, 2), (0, 5), (3, 120)):
                found.append(rng.integers(low, high, rows).astype(kind))
        for low, high in ((-4, 3), (-(2**40), 2**40), (2**62, 2**62 + 9)):
            found.append(rng.integers(low, high, rows))
        found.append(rng.integers(2**63, 2**63 + 9, rows, dtype=np.uint64))
        found.append(rng.normal(size=rows))
    return found


def test_distinct_values_and_ranks_are_those_of_a_sort(seed: int) -> None:
    for values in arrays(seed):
        expected, places = np.unique(values, return_inverse=True)
        found = distinct_values(values)
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
        assert np.array_equal(ranks(values, found), places)


@pytest.mark.parametrize("limit", [1, 2, 10, 64])
def test_few_distinct_values_are_found_wherever_they_are(limit: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for rows in (LEADING, 2 * CHUNK + LEADING + 3):
        for levels in (limit, limit + 1):
            values = np.zeros(rows)
            values[rng.choice(rows, levels - 1, replace=False)] = 1.0 + np.arange(levels - 1)
            found = few_distinct_values(values, limit)
            if levels > limit:
                assert found is None
            else:
                assert found is not None
                assert found.tolist() == np.unique(values).tolist()


@given(
    st.lists(st.lists(st.integers(-3, 300), min_size=3, max_size=3), min_size=2, max_size=40),
    st.sampled_from([np.int64, np.int16, np.float64]),
    st.sampled_from(["C", "F"]),
)
def test_an_array_of_integers_has_the_codes_levels_and_notes_of_its_columns(
    rows: list[list[int]], kind: type[np.generic], order: Literal["C", "F"]
) -> None:
    table = np.array(rows, dtype=kind, order=order)
    one = Dataset.of(table, missing="drop")
    other = Dataset.of({f"x{i}": column.tolist() for i, column in enumerate(table.T)})
    assert (one.names, one.kinds, one.notes) == (other.names, other.kinds, other.notes)
    assert repr(one.levels) == repr(other.levels)
    assert one.codes.dtype == other.codes.dtype
    assert np.array_equal(one.codes, other.codes)
    assert np.array_equal(one.values, other.values)


def test_small_integers_are_coded_in_bytes_in_the_order_of_their_values(seed: int) -> None:
    table = np.random.default_rng(seed).choice([7, 2, 200, 9], (5000, 3))
    data = Dataset.of(table)
    levels, codes = np.unique(table, return_inverse=True)
    assert data.levels == (tuple(levels.tolist()),) * 3
    assert all(type(level) is int for level in data.levels[0] or ())
    assert data.codes.dtype == np.uint8
    assert data.codes.flags.c_contiguous
    assert np.array_equal(data.codes, codes.reshape(table.shape).T)


def test_a_dataset_never_shares_codes_with_the_table() -> None:
    table = np.asfortranarray(np.arange(40, dtype=np.uint8).reshape(20, 2) % 3)
    data = Dataset.of(table)
    before = data.codes.tolist()
    table[:] = 2
    assert data.codes.tolist() == before


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_array_of_doubles_is_read_where_it_lies(order: Literal["C", "F"]) -> None:
    table = np.array(np.random.default_rng(1).normal(size=(COPIED_CELLS, 2)), order=order)
    for given_table in (table, pd.DataFrame(table, columns=["a", "b"], copy=False)):
        data = Dataset.of(given_table)
        assert np.shares_memory(data.values, table)
        assert not data.values.flags.writeable
        assert np.array_equal(data.values, table.T)
    assert table.flags.writeable


def test_an_array_and_its_columns_one_by_one_have_the_same_notes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = 2 * CHUNK
    table = rng.normal(size=(rows, 6))
    table[:, 1] = 3.0
    table[:, 2] = rng.integers(0, 10, rows)
    table[:, 3] = rng.integers(0, 11, rows)
    table[:, 4] = 0.0
    table[-1, 4] = 1.0  # not constant, but only in the last row
    table[:, 5] = np.arange(rows) // (rows // 12)  # the first rows have one of its many values
    one = Dataset.of(table)
    other = Dataset.of({f"x{i}": table[:, i] for i in range(6)})
    assert one.notes == other.notes
    assert [re.findall("'(x[0-9])' ?[^:]", note + ".") for note in one.notes] == [
        ["x2", "x4"], ["x1"]
    ]  # fmt: skip


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_value_that_is_not_a_number_is_found_in_a_large_array(bad: float) -> None:
    table = np.zeros((COPIED_CELLS, 2))
    table[-1, 1] = bad
    with pytest.raises(ValueError, match=r"missing values in 1 of|column 'x1' contains 1 infinite"):
        Dataset.of(table)


def test_finite_values_whose_sum_is_not_finite_are_not_refused() -> None:
    table = np.full((3, 2), 1.7e308)
    table[0] = -1.0
    assert np.array_equal(Dataset.of(table).values, table.T)


@pytest.mark.parametrize(("largest", "kind"), [(255, np.uint8), (256, np.int64)])
def test_an_array_of_integers_that_fit_in_a_byte_is_read_as_bytes(largest: int, kind: type) -> None:
    (column,) = columns_of(np.array([[0], [largest]]), Reading())
    assert column.values.dtype == kind
