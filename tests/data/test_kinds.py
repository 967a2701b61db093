"""Kinds of columns: codes, row labels, and numbers that are stored as text."""

import io
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sges.data import Dataset, Kind, Moments, discrete_of_file, files, moments_of_file, sources
from sges.data.columns import numbers_of
from sges.data.reading import Missing, Reading
from sges.errors import DataError, in_shell

CONTINUOUS, DISCRETE = Kind.CONTINUOUS, Kind.DISCRETE
RNG = np.random.default_rng(0)


def noted(data: Dataset | Moments, words: str) -> list[str]:
    """Return the notes that contain these words, in the form of the command line."""
    return [in_shell(note) for note in data.notes if words in note]


# Codes


def test_codes_are_discrete_however_a_library_stores_them() -> None:
    codes = [0, 1, 1, 0, 1, 0, 0, 1]
    tables: list[object] = [
        np.array(codes, np.float64)[:, None],
        pd.DataFrame({"x0": codes}, dtype=float),
        pl.DataFrame({"x0": codes}),
        {"x0": [float(code) for code in codes]},
        {"x0": np.array(codes, np.int8)},
    ]
    for table in tables:
        data = Dataset.of(table)
        assert data.levels == ((0, 1),)
        assert [type(level) for level in data.levels[0] or ()] == [int, int]
        assert len(noted(data, "1 column contains integers and is treated as discrete")) == 1


@pytest.mark.parametrize("missing", ["drop", "level"])
def test_a_hole_does_not_change_the_kind_of_codes(missing: Missing) -> None:
    codes = [0, 1, 1, None, 1, 0, 0, 1]
    of_pandas = Dataset.of(pd.DataFrame({"a": codes}), missing=missing)
    of_polars = Dataset.of(pl.DataFrame({"a": codes}), missing=missing)
    assert of_pandas.levels == of_polars.levels
    assert of_pandas.codes.tolist() == of_polars.codes.tolist()
    assert of_pandas.notes == of_polars.notes


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 1.0, 2.5, 0.0, 1.0, 2.5, 0.0, 1.0, 2.5],  # not integers
        [0.0, 1.0],  # each occurs once
        [1.0] * 8,  # constant
        [float(i % 11) for i in range(1000)],  # more than ten
        [1e300, 2e300] * 10,  # larger than integers
    ],
)
def test_other_floats_stay_continuous(values: list[float]) -> None:
    assert Dataset.of({"a": values}).kinds == (CONTINUOUS,)
    assert Dataset.of(np.array(values)[:, None]).kinds == (CONTINUOUS,)


def test_few_integers_are_discrete_only_with_a_row_for_each_pair_of_them() -> None:
    """Likert scales usually are; ``carb`` of mtcars, with 6 values in 32 rows, is not."""
    likert = RNG.integers(1, 8, 500)
    carb = [4, 4, 1, 1, 2, 1, 4, 2, 2, 4, 4, 3, 3, 3, 4, 4, 4, 1, 2, 1, 1, 2, 2, 4, 2, 1, 2, 2]
    carb += [4, 6, 8, 2]
    assert Dataset.of({"answer": likert}).kinds == (DISCRETE,)
    data = Dataset.of({"carb": carb})
    assert data.kinds == (CONTINUOUS,)
    assert noted(data, "treated as continuous: 'carb' (6 distinct values)") == [
        "1 column contains integers and is treated as continuous: 'carb' (6 distinct values); "
        "pass --kinds carb=discrete to change that"
    ]


# Text


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["0.13", "-2"], [0.13, -2.0]),
        (["0,13", " 2 "], [0.13, 2.0]),
        (["1e3", "+.5"], [1000.0, 0.5]),
        (["1,234", "15,678"], None),  # ambiguous: perhaps thousands separators
        (["1,234", "15,67"], [1.234, 15.67]),
        (["1.234,5"], None),
        (["0,1", "0.1"], None),
        (["a", "1"], None),
        (["nan"], None),
        (["1e999"], None),
        ([], None),
    ],
)
def test_numbers_in_text(labels: list[str], expected: list[float] | None) -> None:
    assert numbers_of(labels) == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_any_float_is_a_number_in_text(values: list[float]) -> None:
    assert numbers_of([repr(value) for value in values]) == values


@pytest.mark.parametrize("mark", [".", ","])
def test_fractions_as_text_are_read_as_numbers(mark: str) -> None:
    values = (np.arange(60) * 0.37).round(2)
    texts = [str(value).replace(".", mark) for value in values]
    for table in ({"a": texts}, pd.DataFrame({"a": texts}), pa.table({"a": texts})):
        data = Dataset.of(table)
        assert data.values.tolist() == [values.tolist()]
        assert noted(data, "numbers as text") == [
            "1 column contains numbers as text and is read as numbers: 'a'; "
            "pass --kinds a=discrete to treat the texts as levels"
        ]


def test_decimal_commas_in_a_file_are_read_without_being_declared(tmp_path: Path) -> None:
    path = tmp_path / "europe.csv"
    path.write_text("a;b\n" + "".join(f"{i},5{i};{i % 2}\n" for i in range(30)))
    data = Dataset.of(path, delimiter=";")
    assert data.kinds == (CONTINUOUS, DISCRETE)
    assert data.values.tolist() == Dataset.of(path, delimiter=";", decimal=",").values.tolist()


def test_a_hole_in_numbers_as_text_stays_a_hole() -> None:
    texts = [None if i == 3 else f"{i},25" for i in range(30)]
    data = Dataset.of({"a": texts}, missing="drop")
    assert data.values.tolist() == [[i + 0.25 for i in range(30) if i != 3]]


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "2", "3"] * 20,  # codes
        ["3.9", "3.10", "3.11"] * 20,  # versions
        ["0.5", "1.5", "much"] * 20,
    ],
)
def test_other_texts_are_levels(texts: list[str]) -> None:
    assert Dataset.of({"a": texts}).kinds == (DISCRETE,)


def test_a_category_of_fractions_keeps_its_declared_levels() -> None:
    texts = [f"0.{i}" for i in range(10, 30)]
    frame = pd.DataFrame({"a": pd.Categorical(texts, texts)})
    assert Dataset.of(frame).levels == (tuple(texts),)


def test_whole_numbers_as_text_are_numbers_when_asked_for() -> None:
    texts = {"a": [str(i) for i in range(40)]}
    with pytest.raises(DataError, match=r"kinds=\{'a': 'continuous'\} if these texts are numbers"):
        Dataset.of(texts)
    assert Dataset.of(texts, kinds={"a": "continuous"}).values[0, 7] == 7.0


# Row labels


@pytest.mark.parametrize("read", [Dataset.of, moments_of_file, discrete_of_file])
def test_a_first_column_without_a_name_is_left_out(tmp_path: Path, read: object) -> None:
    path = tmp_path / "r.csv"
    path.write_text(',a,b\n"x",1,2\n"y",2,2\n"z",1,3\n')
    data = read(path)  # type: ignore[operator]
    assert data.names == ("a", "b")
    assert len(noted(data, "the first column has no name")) == 1
    assert read(path, exclude=[""]).names == ("a", "b")  # type: ignore[operator]


def test_a_first_column_is_read_if_it_gets_a_name(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(",a\n0.5,1\n2.5,2\n7.5,1\n")
    data = Dataset.of(path, names=["dose", "a"])
    assert data.names == ("dose", "a")
    assert not noted(data, "has no name")
    assert Dataset.of(pl.read_csv(path)).names == ("a",)


# Streams give the same kinds and notes


def test_a_large_file_gets_the_kinds_and_notes_of_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 3000
    frame = pd.DataFrame(
        {"row": np.arange(rows), "x": RNG.normal(size=rows), "y": RNG.poisson(30, rows)}
    )
    beside: dict[str, dict[str, object]] = {
        "plain": {},
        "codes": {"z": RNG.integers(0, 2, rows).astype(float)},
        "commas": {"z": [f"{i},5" for i in range(rows)]},
    }
    for name, more in beside.items():
        path = tmp_path / f"{name}.parquet"
        frame.assign(**more).to_parquet(path)
        small = Dataset.of(path)
        with monkeypatch.context() as patch:
            patch.setattr(files, "LARGE_FILE_BYTES", 1000)
            patch.setattr(files, "BATCH_CELLS", 4 * 1024)
            large = sources.statistics_of(path, Reading())
        assert isinstance(large, Moments if name == "plain" else Dataset)
        assert large.notes == small.notes


def test_standard_input_may_have_row_labels() -> None:
    data = Dataset.of(io.BytesIO(b'"",a,b\n"1",0.5,2\n"2",1.5,2\n"3",2.5,9\n'))
    assert data.names == ("a", "b")
