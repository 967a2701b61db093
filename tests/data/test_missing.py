"""Missing values are an error by default, or their rows are dropped, or they are a level."""

from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_facts import facts
from sges.data import Dataset
from sges.errors import DataError

ROWS = st.lists(
    st.tuples(st.none() | st.sampled_from("abc"), st.none() | st.floats(-9, 9)),
    min_size=3,
    max_size=12,
)


@given(ROWS)
def test_dropping_equals_a_table_without_the_rows(
    rows: list[tuple[str | None, float | None]],
) -> None:
    rows = [*rows, ("a", 1.5), ("b", 2.5)]
    complete = [row for row in rows if None not in row]
    data = Dataset.of(_table(rows), missing="drop")
    assert facts(data) == facts(Dataset.of(_table(complete)))
    lost = len(rows) - len(complete)
    assert any(n.startswith(f"{lost} of {len(rows)} rows") for n in data.notes) == (lost > 0)


def _table(rows: list[tuple[str | None, float | None]]) -> dict[str, list[object]]:
    return {"s": [s for s, _ in rows], "x": [x for _, x in rows]}


@given(st.lists(st.none() | st.sampled_from("abc"), min_size=2, max_size=9))
def test_a_level_for_what_is_missing_comes_last(column: list[str | None]) -> None:
    column = [*column, "b"]
    table = {"s": column}
    for source in (table, pd.DataFrame(table), pl.DataFrame(table)):
        data = Dataset.of(source, missing="level")
        (levels,) = data.levels
        assert levels is not None
        assert [levels[c] for c in data.codes[0]] == column
        assert (levels[-1] is None) == (None in column)


def test_declared_levels_get_one_more_for_what_is_missing() -> None:
    column = pd.Categorical(["b", None], ["c", "b"])
    data = Dataset.of(pd.DataFrame({"s": column}), missing="level")
    assert data.levels == (("c", "b", None),)
    assert data.codes.tolist() == [[1, 2]]


def test_continuous_columns_have_no_level_for_what_is_missing() -> None:
    with pytest.raises(DataError, match="column 'x' is continuous and 1 of its values is miss"):
        Dataset.of({"x": [0.5, None, 1.5]}, missing="level")
    data = Dataset.of({"x": [0.5, None, 1.5]}, missing="level", kinds="discrete")
    assert data.levels == ((0.5, 1.5, None),)


def test_missing_integers_stay_integers() -> None:
    table = pl.DataFrame({"x": [3, None, 2, 2, 3]})
    assert Dataset.of(table, missing="drop").levels == ((2, 3),)
    assert Dataset.of(table, missing="level").levels == ((2, 3, None),)


def test_weights_are_dropped_with_their_rows() -> None:
    data = Dataset.of({"s": ["a", None, "b"]}, weights=[5, 6, 7], missing="drop")
    assert data.weights is not None
    assert data.weights.tolist() == [5, 7]


@pytest.mark.parametrize("weights", [None, [1, 2], [0.5, 1.5]])
def test_too_few_complete_rows_are_refused(weights: list[float] | None) -> None:
    with pytest.raises(DataError, match="0 usable rows; it needs at least two"):
        Dataset.of({"a": [1.0, None], "b": [None, 1.0]}, missing="drop", weights=weights)


def test_the_usual_words_mean_missing_in_text_and_none_is_a_level(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\nx,1.5\nNA,2.5\n,nan\nNone,3.5\n")
    with pytest.raises(DataError, match=r"2 of 4 rows \('a' 2, 'b' 1\)"):
        Dataset.of(path)
    with pytest.raises(DataError, match=r"3 of 4 rows \('a' 3, 'b' 1\)"):
        Dataset.of(path, missing_words=["", "NA", "nan", "None"])
    frame = pd.read_csv(path, keep_default_na=False, na_values=["", "NA", "nan"])
    assert facts(Dataset.of(frame, missing="level", kinds="discrete")) == facts(
        Dataset.of(path, missing="level", kinds="discrete")
    )
