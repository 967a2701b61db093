"""Each invalid table gives a one-line error that names the column and the remedy."""

import datetime as dt
import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from data_facts import batches_of
from sges.data import Dataset, moments_of_file
from sges.data.reading import Kinds
from sges.errors import DataError, FileError, InvalidArgument

DAY = dt.datetime(2020, 1, 1)
DATES = "column 'a' contains dates or times .*; convert it to numbers .* or leave it out"
NESTED = "column 'a' contains nested values .*; give each part its own column"
MIXED = "column 'a' mixes types .*; convert all values to numbers, or all to text"
UNKNOWN_FORMAT = "the format is not known from the extension; supported are .csv"
COMPLEX = "column 'a' contains complex numbers; give the real and the imaginary part a column each"


def refusal(table: object, kinds: Kinds = None) -> str:
    """Return the one-line error for a table."""
    with pytest.raises(DataError) as caught:
        Dataset.of(table, kinds=kinds)
    message = str(caught.value)
    assert "\n" not in message
    return message


def pandas_twice() -> object:
    return pd.DataFrame(np.eye(2), columns=["a", "a"])


BAD: dict[str, tuple[Callable[[], object], str]] = {
    "no columns": (dict, "no columns; it needs at least one"),
    "no columns in pandas": (pd.DataFrame, "no columns; it needs at least one"),
    "no columns in numpy": (lambda: np.zeros((3, 0)), "no columns; it needs at least one"),
    "no rows": (lambda: {"a": [], "b": []}, "2 columns and no rows; it needs at least two"),
    "one row": (lambda: {"a": [1.5]}, "1 usable row; it needs at least two"),
    "twice the same name": (
        pandas_twice,
        "name 'a' occurs 2 times; give the columns different names",
    ),
    "same name after becoming text": (
        lambda: pd.DataFrame(np.eye(2), columns=[1, "1"]),
        "name '1' occurs 2 times",
    ),
    "no name": (lambda: {"": [1, 2]}, "column 1 has no name; name it, or leave it out"),
    "mixed list": (lambda: {"a": [1, "x", 2.5]}, r"mixes types \(1 float, 1 int, 1 str\); convert"),
    "truth values and numbers": (lambda: {"a": [True, 2]}, MIXED),
    "infinities": (
        lambda: {"a": [1.0, np.inf, -np.inf]},
        r"column 'a' contains 2 infinite values, the first in row 1 \(counted from 0\); replace",
    ),
    "NaN": (
        lambda: np.array([[1.0, np.nan], [np.nan, np.nan], [1.0, 2.0]]),
        r"missing values in 2 of 3 rows \('x0' 1, 'x1' 2\); pass missing='drop'",
    ),
    "null": (
        lambda: pl.DataFrame({"a": [1, None, 2], "b": ["x", "y", None]}),
        r"missing values in 2 of 3 rows \('a' 1, 'b' 1\); pass missing='drop'",
    ),
    "nothing but missing": (
        lambda: {"a": [None, None], "b": [1, 2]},
        "column 'a' has no values, all 2 are missing; leave it out",
    ),
    "a million levels": (
        lambda: {"a": pa.array(np.arange(1_000_000)).cast(pa.string())},
        "column 'a' has 1000000 levels, but a discrete column may have at most 65536; it looks "
        "like an id",
    ),
    "a million declared levels": (
        lambda: pd.DataFrame({"a": pd.Categorical.from_codes([1, 2], range(1_000_000))}),
        "has 1000000 levels, .*; only 2 of them occur: remove the unused categories",
    ),
    "a level per row": (
        lambda: {"a": [f"id{i}" for i in range(100)]},
        "column 'a' has a different level in each of 100 rows, so it looks like an identifier: "
        "leave it out with exclude=.*, or pass kinds=",
    ),
    "decimal commas": (
        lambda: {"a": [f"{i},500" for i in range(100, 200)]},
        "all 100 values are numbers written with ','; pass decimal=',' if the comma is a decimal "
        "mark, or remove it",
    ),
    "points between thousands": (
        lambda: {"a": [f"{i}.250,5" for i in range(100, 200)]},
        "all 100 values are numbers written with ','; remove '.' from the values, and pass dec",
    ),
    "commas between thousands": (
        lambda: {"a": [f"{i},250.5" for i in range(100, 200)]},
        "all 100 values are numbers written with ','; remove ',' from the values before",
    ),
    "dates in pandas": (lambda: pd.DataFrame({"a": [pd.Timestamp(DAY)] * 2}), DATES),
    "dates in numpy": (lambda: {"a": np.array(["2020-01-01"] * 2, "M8[D]")}, DATES),
    "dates in lists": (lambda: {"a": [DAY, DAY]}, DATES),
    "durations": (lambda: pd.DataFrame({"a": [pd.Timedelta(1, "s")] * 2}), DATES),
    "dates as categories": (
        lambda: {"a": pa.array([DAY.date()] * 2).dictionary_encode()},
        DATES,
    ),
    "lists in lists": (lambda: {"a": [[1], [2]]}, NESTED),
    "lists in polars": (lambda: pl.DataFrame({"a": [[1], [2]]}), NESTED),
    "records in arrow": (lambda: pa.table({"a": [{"b": 1}] * 2}), NESTED),
    "arrays in numpy": (lambda: np.zeros(2, [("a", "f8", (2,))]), NESTED),
    "complex numpy": (lambda: {"a": np.array([1j, 2])}, COMPLEX),
    "complex list": (lambda: {"a": [1j, 2j]}, COMPLEX),
    "bytes": (lambda: pa.table({"a": [b"x", b"y"]}), "column 'a' contains bytes .*; decode it"),
    "objects": (
        lambda: {"a": [object(), object()]},
        "column 'a' contains a value of type object, which is neither",
    ),
    "periods": (
        lambda: pd.DataFrame({"a": pd.period_range("2020", periods=2)}),
        "column 'a' has a type that cannot be used .*period.*; convert it to",
    ),
    "huge integers": (lambda: {"a": [2**70, 1]}, "column 'a' contains integers beyond 64 bits"),
    "huge integers among floats": (
        lambda: {"a": [10**400, 0.5]},
        "column 'a' contains numbers beyond the range of floating-point numbers; rescale it, or",
    ),
    "unequal lengths": (
        lambda: {"a": [1, 2], "b": [1]},
        "column 'b' has 1 row and 'a' has 2; all columns need the same number",
    ),
    "a number for a column": (lambda: {"a": 1}, "column 'a' is a single int; give one value"),
    "a text for a column": (lambda: {"a": "xy"}, "column 'a' is a single str; give one value"),
    "one dimension": (lambda: np.zeros(3), r"shape \(3,\) is not a table; give rows x columns"),
    "three dimensions": (lambda: np.zeros((2, 2, 2)), r"shape \(2, 2, 2\) is not a table"),
    "a list": (lambda: [[1, 2]], "type list is not a table; give a pandas, polars or pyarrow"),
    "a number": (lambda: 3, "a value of type int is not a table; give a pandas, polars or"),
    "a pandas series": (lambda: pd.Series([1, 2]), "type Series is not a table"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused_in_one_line(case: str) -> None:
    make, expected = BAD[case]
    assert pd.Series([refusal(make())]).str.contains(expected, regex=True).all(), refusal(make())


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({"heigth": "discrete"}, "kinds: there is no column 'heigth'; did you mean 'height'?"),
        ({"zzz": "discrete"}, "kinds: there is no column 'zzz'; the columns are 'height', 'b'"),
        ({"b": "continuous"}, "column 'b' contains text such as 'x' and cannot be continuous"),
    ],
)
def test_invalid_kinds_are_refused(kinds: Kinds, expected: str) -> None:
    assert expected in refusal({"height": [1.5, 2.5], "b": ["0.5", "x"]}, kinds)


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("kinds", {"b": "nominal"}, "kinds = 'nominal' is not one of 'continuous', 'discrete'"),
        ("kinds", "discret", "did you mean 'discrete'?"),
        ("kinds", 5, "kinds = 5 is not a kind or a mapping"),
        ("missing", "impute", "missing = 'impute' is not one of 'error', 'drop', 'level'"),
        ("names", "ab", "names = 'ab' is not a sequence of strings"),
        ("weights", 3, "weights = 3 is not the name of a column or a sequence of numbers"),
        ("delimiter", ";;", "delimiter = ';;' is not a single ASCII character"),
        ("decimal", None, "decimal = None is not a single ASCII character"),
        ("encoding", "latin-99", "encoding = 'latin-99' is not a text encoding known to Python"),
        ("format", "xls", "format = 'xls' is not one of 'csv', 'tsv', 'parquet', 'feather'"),
    ],
)
def test_options_of_a_wrong_type_or_word_are_refused_in_one_line(
    option: str, value: object, expected: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Dataset.of({"a": [1.5, 2.5], "b": ["x", "y"]}, **{option: value})  # type: ignore[arg-type]
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a"], "1 names were given for 2 columns; give 2"),
        (["a", "a"], "the column name 'a' occurs 2 times"),
    ],
)
def test_names_that_do_not_fit_are_refused(names: list[str], expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        Dataset.of(np.eye(2), names=names)


def test_a_level_per_row_is_fine_when_asked_for_by_name_or_counted() -> None:
    table = {"a": [f"id{i}" for i in range(100)]}
    assert Dataset.of(table, kinds={"a": "discrete"}).arities.tolist() == [100]
    assert Dataset.of(table, weights=[2] * 100).arities.tolist() == [100]
    # Where all columns get one kind, there is none to add.
    assert refusal(table, "discrete").endswith("identifier: leave it out with exclude=['a']")


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def whole(kind: str) -> bytes:
    table = pa.table({"a": np.arange(10_000) * 1.5, "b": np.arange(10_000) % 7})
    sink = pa.BufferOutputStream()
    if kind == "parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        pyarrow.feather.write_feather(table, sink)  # type: ignore[arg-type]
    return sink.getvalue().to_pybytes()


def many_lines() -> bytes:
    return b"a,b\n" + b"".join(b"%d,%d\n" % (i * 7919 % 1000, i) for i in range(50_000))


FILES: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "cut gzip": ("t.csv.gz", lambda: gzip.compress(many_lines())[:-5000], "cannot be read as csv"),
    "no gzip": ("t.csv.gz", many_lines, "cannot be read as csv"),
    "cut parquet": ("t.parquet", lambda: whole("parquet")[:-100], "cannot be read as parquet"),
    "no parquet": ("t.parquet", many_lines, "cannot be read as parquet"),
    "cut feather": ("t.feather", lambda: whole("feather")[:-100], "cannot be read as feather"),
    "no feather": ("t.feather", many_lines, "cannot be read as feather"),
    "empty csv": ("t.csv", lambda: b"", "is empty; a table needs a header row"),
    "empty parquet": ("t.parquet", lambda: b"", "cannot be read as parquet"),
    "cut line": ("t.csv", lambda: b"a,b\n1,2\n3", "cannot be read as csv .*Expected 2 columns"),
    "header alone": ("t.csv", lambda: b"a,b\n", "no rows; it needs at least"),
    "no header": (
        "t.csv",
        lambda: b"1.5,2\n3,4\n",
        "first line contains numbers .* add a header row",
    ),
    "no header, twice the same": ("t.csv", lambda: b"1,1\n3,4\n", "'1' occurs 2 times; .*header"),
    "no name": ("t.csv", lambda: b"a,,b\n0,1,2\n1,2,3\n", "column 2 has no name; name it, or"),
    "semicolons": ("t.csv", lambda: b"a;b\n1;2\n3;4\n", "separated by ';'; .*delimiter=';'"),
    "decimal commas": ("t.csv", lambda: b"a;b\n1,5;2\n3;4\n", "separated by ';'; .*delimiter=';'"),
    "tabs": ("t.csv", lambda: b"a\tb\n1\t2\n3\t4\n", r"separated by '\\t'; .*delimiter='\\t'"),
    "commas": ("t.tsv", lambda: b"a,b\n1,2\n3,4\n", "separated by ','; .*delimiter=','"),
    "parquet called csv": ("t.csv", lambda: whole("parquet"), "contains parquet, not csv"),
    "unknown ending": ("t.xlsx", many_lines, UNKNOWN_FORMAT),
    "no ending": ("t", many_lines, UNKNOWN_FORMAT),
    "compressed parquet": ("t.parquet.gz", many_lines, UNKNOWN_FORMAT),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, case: str) -> None:
    name, content, expected = FILES[case]
    path = write(tmp_path / name, content())
    with pytest.raises(DataError, match=expected) as caught:
        Dataset.of(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value) or "column" in str(caught.value)


def test_a_header_of_very_many_digits_is_read_in_linear_time(tmp_path: Path) -> None:
    name = "7" * 60_000 + "x"  # takes minutes in quadratic time
    path = write(tmp_path / "t.csv", f"{name},b\n1,2\n3,5\n".encode())
    assert Dataset.of(path).names == (name, "b")


def test_a_path_without_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no such file; is the path right\?"):
        Dataset.of(tmp_path / "t.csv")


def test_a_file_open_as_text_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", b"a,b\n1,2\n")
    with path.open() as file:
        assert "is open as text; open it in binary mode" in refusal(file)


def test_moments_of_text_are_refused_with_the_column(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", b"a,b\n1,2\n3,x\n")
    for rows in (1, 10):
        with batches_of(rows), pytest.raises(DataError, match="column 'b' contains text such as"):
            moments_of_file(path)
