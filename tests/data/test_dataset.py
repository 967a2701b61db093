"""The contents of a dataset: kinds, levels, codes, weights, notes."""

import pickle

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_data as naive
from data_facts import facts
from sges.data import Dataset, Kind
from sges.errors import DataError, InvalidArgument


@given(st.lists(st.integers(-3, 12), min_size=2, max_size=60))
def test_integers_follow_the_documented_rule(values: list[int]) -> None:
    data = Dataset.of({"a": values})
    assert data.kinds == (naive.integer_rule(values),)
    assert f"is treated as {naive.integer_rule(values)}" in data.notes[0]
    assert f"{len(set(values))} distinct value" in data.notes[0]


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_kinds_override_the_rule_for_one_column_or_for_all(kind: str) -> None:
    table = {"a": [1, 2, 3, 4], "b": [True, False, True, True], "c": [0.5, 0.5, 1.5, 1.5]}
    assert Dataset.of(table, kinds=kind).kinds == (kind,) * 3
    assert Dataset.of(table, kinds={"b": kind}).kinds == ("continuous", kind, "continuous")
    assert Dataset.of(table, kinds=Kind(kind)).notes == ()


def test_truth_values_and_numeric_categories_can_be_continuous() -> None:
    frame = pd.DataFrame({"a": [True, False], "b": pd.Categorical([30, 10], [30, 10])})
    assert Dataset.of(frame, kinds="continuous").values.tolist() == [[1.0, 0.0], [30.0, 10.0]]


def test_fractions_that_look_like_codes_are_pointed_out() -> None:
    data = Dataset.of(np.tile([[0.5], [1.0]], (10, 1)))
    assert data.kinds == (Kind.CONTINUOUS,)
    assert "kinds={'x0': 'discrete'} if they are codes" in data.notes[0]


def test_decimals_are_continuous() -> None:
    table = pa.table({"a": pa.array([1, 2, 3]).cast(pa.decimal128(38, 2))})
    assert Dataset.of(table).values.tolist() == [[1.0, 2.0, 3.0]]


def test_declared_levels_count_and_keep_their_order() -> None:
    sizes = ["small", "medium", "large", "huge"]
    column = ["large", "small", "large"]
    for table in (
        pd.DataFrame({"s": pd.Categorical(column, sizes)}),
        {"s": pd.Categorical(column, sizes)},
        {"s": pd.CategoricalIndex(column, sizes)},
        pd.DataFrame({"s": pd.Categorical(column, sizes, ordered=True)}),
        pl.DataFrame({"s": pl.Series(column, dtype=pl.Enum(sizes))}),
        pa.table({"s": pa.DictionaryArray.from_arrays(pa.array([2, 0, 2]), pa.array(sizes))}),
    ):
        data = Dataset.of(table)
        assert data.levels == (tuple(sizes),)
        assert data.codes.tolist() == [[2, 0, 2]]
        assert data.arities.tolist() == [4]


def test_a_polars_categorical_declares_nothing() -> None:
    with_others = pl.Series(["z", "q"], dtype=pl.Categorical)
    frame = pl.DataFrame({"s": pl.Series(["b", "a", "b"], dtype=pl.Categorical)})
    assert len(with_others) == 2
    assert Dataset.of(frame).levels == (("a", "b"),)


def test_intervals_cut_by_pandas_are_levels_in_their_order() -> None:
    frame = pd.DataFrame({"a": pd.cut([1.0, 9.0, 2.0, 8.0], [0, 5, 10])})
    data = Dataset.of(frame)
    assert data.levels == (("(0, 5]", "(5, 10]"),)
    assert data.codes.tolist() == [[0, 1, 0, 1]]


def test_numbers_are_sorted_by_value_and_text_by_its_letters() -> None:
    data = Dataset.of({"a": [10, 9, 10, 9], "b": ["10", "9", "10", "9"]})
    assert data.levels == ((9, 10), ("10", "9"))


def test_minus_zero_is_zero() -> None:
    data = Dataset.of({"a": [-0.0, 0.0, 1.0]}, kinds="discrete")
    assert data.codes.tolist() == [[0, 0, 1]]
    assert str(data.levels) == "((0.0, 1.0),)"


@pytest.mark.parametrize(("levels", "kind"), [(2, "u1"), (256, "u1"), (257, "u2"), (65_536, "u2")])
def test_codes_use_the_smallest_type_that_fits(levels: int, kind: str) -> None:
    column = pd.Categorical.from_codes([0, levels - 1], categories=range(levels))
    data = Dataset.of(pd.DataFrame({"a": column}))
    assert data.codes.dtype == np.dtype(kind)
    assert data.codes.tolist() == [[0, levels - 1]]


@given(
    st.integers(1, 4).flatmap(
        lambda p: st.lists(st.lists(st.sampled_from("abc"), min_size=p, max_size=p), min_size=2)
    ),
    st.data(),
)
def test_merging_counts_each_distinct_row(rows: list[list[str]], data: st.DataObject) -> None:
    weights = data.draw(
        st.none() | st.lists(st.integers(1, 2**40), min_size=len(rows), max_size=len(rows))
    )
    table = {f"c{i}": list(column) for i, column in enumerate(zip(*rows, strict=True))}
    merged = Dataset.of(table, weights=weights).merged()
    assert merged.weights is not None
    levels = [found for found in merged.levels if found is not None]
    labeled = [
        tuple(found[c] for found, c in zip(levels, row, strict=True)) for row in merged.codes.T
    ]
    assert dict(zip(labeled, merged.weights.tolist(), strict=True)) == naive.counted_rows(
        rows, weights
    )
    assert labeled == sorted(labeled)
    assert merged.records == (len(rows) if weights is None else sum(weights))
    assert facts(merged.merged()) == facts(merged)


def test_rows_of_any_width_are_told_apart() -> None:
    rng = np.random.default_rng(3)
    base = rng.integers(0, 7, size=(40, 200))
    rows = base[rng.integers(0, 40, size=500)]
    rows[0], rows[1] = base[0], base[0]
    rows[1, -1] = (rows[1, -1] + 1) % 7
    merged = Dataset.of(rows, kinds="discrete").merged()
    assert merged.weights is not None
    assert sorted(merged.weights.tolist()) == sorted(naive.counted_rows(rows.tolist()).values())


def test_continuous_rows_are_not_merged() -> None:
    with pytest.raises(DataError, match="all columns are discrete, but 'x0' is continuous"):
        Dataset.of(np.eye(2) / 3).merged()


def test_weights_come_from_a_column_or_from_the_caller() -> None:
    table = {"a": ["u", "v", "w"], "times": [2, 0, 5]}
    data = Dataset.of(table, weights="times")
    assert (data.names, data.rows, data.records) == (("a",), 2, 7)
    assert data.levels == (("u", "w"),)
    assert facts(Dataset.of({"a": table["a"]}, weights=[2, 0, 5])) == facts(data)
    assert facts(Dataset.of({"a": table["a"]}, weights=np.array([2.0, 0.0, 5.0]))) == facts(data)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "weights 'weights' must be finite numbers, 0 or more"),
        ([1, -1.5], "weights 'weights' must be finite numbers, 0 or more"),
        ([1.0, np.inf], "weights 'weights' must be finite numbers, 0 or more"),
        ([0.5, np.inf], "weights 'weights' must be finite numbers, 0 or more"),
        ([1, None], "weights 'weights' must be finite numbers, 0 or more"),
        (["a", "b"], "weights 'weights' must be finite numbers, 0 or more"),
        ([1, 2, 3], "3 weights were given for 2 rows"),
        ("c", "weights: there is no column 'c'; the columns are 'a'"),
    ],
)
def test_weights_that_are_not_numbers_for_each_row_are_refused(
    weights: object, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        Dataset.of({"a": [1.5, 2.5]}, weights=weights)  # type: ignore[arg-type]


def test_a_dataset_is_frozen_through_and_through() -> None:
    data = Dataset.of({"a": [0.5, 1.5], "b": ["x", "y"]}, weights=[1, 2])
    for array in (data.values, data.codes, data.weights):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        data.names = ()  # type: ignore[misc]


def test_the_table_of_the_user_is_neither_shared_nor_frozen() -> None:
    array, weights = np.ones((3, 1)), np.array([1, 2, 3])
    data = Dataset.of(array, weights=weights)
    array[:], weights[:] = 7.0, 7
    assert data.values.tolist() == [[1.0, 1.0, 1.0]]
    assert data.records == 6


def test_a_dataset_passes_through_and_survives_pickling() -> None:
    data = Dataset.of({"a": [0.5, 1.5], "b": ["x", "y"]})
    assert Dataset.of(data) is data
    assert facts(pickle.loads(pickle.dumps(data))) == facts(data)
    with pytest.raises(InvalidArgument, match="give it where the Dataset is made"):
        Dataset.of(data, kinds="discrete")


def test_constant_columns_are_kept_and_noted() -> None:
    data = Dataset.of({"a": [1.5, 1.5], "b": ["x", "x"], "c": [0.5, 1.5]})
    assert data.arities.tolist() == [1]
    assert data.notes == ("2 columns are constant, so they have no edges: 'a', 'b'",)


def test_equal_survey_weights_are_the_same_as_none() -> None:
    table = {"a": [0.5, 1.5, 2.5], "b": [1.0, 4.0, 2.0]}
    assert facts(Dataset.of(table, weights=[0.5, 0.5, 0.5])) == facts(Dataset.of(table))


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([0, 0, 0], "the weights of all 3 rows are zero, so no row is left"),
        ([1000.5, 0.5, 0.5], "the survey weights count as 1 effective record, because nearly all"),
    ],
)
def test_weights_that_leave_no_records_are_refused_for_what_they_are(
    weights: list[float], told: str
) -> None:
    with pytest.raises(DataError, match=told):
        Dataset.of({"a": [0.5, 1.5, 2.5], "b": [1.0, 4.0, 2.0]}, weights=weights)


def test_a_dictionary_may_repeat_a_label_and_hold_a_missing_value() -> None:
    codes = pa.array([0, 1, 2, 3, 0], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["u", "v", None, "u"]))
    table = pa.table({"a": column, "b": ["x", "y", "x", "y", "x"]})
    found = Dataset.of(table, missing="drop")
    assert found.levels[0] == ("u", "v")
    assert found.codes.tolist() == [[0, 1, 0, 0], [0, 1, 1, 0]]


def test_nan_among_the_labels_of_a_dictionary_is_a_missing_value() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array([1.5, np.nan, 0.5]))
    table = pa.table({"a": column})
    assert Dataset.of(table, missing="level").levels == ((1.5, 0.5, None),)
    found = Dataset.of(table, missing="drop", kinds="continuous")
    assert found.values.tolist() == [[1.5, 0.5, 1.5]]
