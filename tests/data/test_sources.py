"""The same table gives the same dataset from every library and file format."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_facts import facts
from sges.data import Dataset, Kind
from sges.errors import DataError

CSV = """height,smoker,visits,town,group
1.81,true,3,Ulm,10
1.62,false,0,Aachen,9
1.75,true,3,Bonn,10
1.7,false,1,Ulm,2
1.68,false,1,Aachen,2
1.91,true,0,Bonn,9
1.64,false,3,Aachen,10
1.77,true,1,Ulm,2
1.69,false,0,Bonn,9
"""


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(CSV)
    return path


def test_every_source_gives_the_same_dataset(csv: Path, tmp_path: Path) -> None:
    table = pyarrow.csv.read_csv(csv)
    pyarrow.parquet.write_table(table, tmp_path / "people.parquet")
    pyarrow.feather.write_feather(table, str(tmp_path / "people.feather"))
    with (
        pa.OSFile(str(tmp_path / "stream.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    (tmp_path / "people.tsv").write_text(CSV.replace(",", "\t"))
    (tmp_path / "people.tsv.gz").write_bytes(gzip.compress(CSV.replace(",", "\t").encode()))
    sources: list[object] = [
        csv, str(csv), tmp_path / "people.csv.gz", tmp_path / "people.tsv",
        tmp_path / "people.tsv.gz", tmp_path / "people.parquet", tmp_path / "people.feather",
        tmp_path / "stream.arrow", table, table.to_batches()[0], pd.read_csv(csv),
        pd.read_csv(csv, dtype_backend="pyarrow"), pd.read_csv(csv, dtype_backend="numpy_nullable"),
        pl.read_csv(csv), pl.scan_csv(csv), pl.read_csv(csv).to_dict(as_series=True),
        table.to_pydict(), dict(zip(table.column_names, table.columns, strict=True)),
        pd.read_csv(csv).to_records(index=False), pd.read_csv(csv).astype({"town": object}),
        io.BytesIO(CSV.encode()), io.BytesIO(gzip.compress(CSV.encode())),
        io.BytesIO((tmp_path / "people.parquet").read_bytes()),
        io.BytesIO((tmp_path / "people.feather").read_bytes()),
    ]  # fmt: skip
    expected = facts(Dataset.of(csv))
    assert expected["kinds"] == (Kind.CONTINUOUS, *[Kind.DISCRETE] * 4)
    assert expected["levels"] == (
        None, (False, True), (0, 1, 3), ("Aachen", "Bonn", "Ulm"), (2, 9, 10),
    )  # fmt: skip
    for source in sources:
        assert facts(Dataset.of(source)) == expected, type(source)


def test_a_numpy_array_with_names_is_the_same_as_the_file(tmp_path: Path) -> None:
    array = np.random.default_rng(1).normal(size=(30, 3))
    path = tmp_path / "a.csv"
    pd.DataFrame(array, columns=["a", "b", "c"]).to_csv(path, index=False)
    for given_array in (array, np.asfortranarray(array), array[:, ::-1][:, ::-1]):
        data = Dataset.of(given_array, names=["a", "b", "c"])
        assert facts(data) == facts(Dataset.of(path))
        assert data.values.flags.c_contiguous


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.integers(-(2**63), 2**63 - 1),
            st.booleans(),
            st.text(st.characters(codec="utf-8"), max_size=3),
        ),
        min_size=2,
        max_size=15,
    )
)
def test_frames_arrow_and_lists_agree_on_any_values(
    rows: list[tuple[float, int, bool, str]],
) -> None:
    columns = dict(zip("abcd", map(list, zip(*rows, strict=True)), strict=True))
    expected = facts(Dataset.of(columns))
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert facts(Dataset.of(table)) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_on_any_system(end: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(end.join(["a,b", "1.5,2", "2.5,1", "0.5,4", ""]).encode())
    assert Dataset.of(path).values.tolist() == [[1.5, 2.5, 0.5], [2.0, 1.0, 4.0]]


def test_standard_input_is_read_as_bytes_of_any_format(csv: Path, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(csv), tmp_path / "p.parquet")
    script = "from sges.data import Dataset; print(Dataset.of('-'))"
    for path in (csv, tmp_path / "p.parquet"):
        with path.open("rb") as stdin:
            done = subprocess.run(
                [sys.executable, "-c", script],
                stdin=stdin,
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.stdout.startswith("Dataset(9 rows: height continuous"), done.stderr


def test_no_frame_library_is_imported_for_files_arrays_and_mappings(csv: Path) -> None:
    script = f"""
import sys, numpy as np
import sges.data
assert "pyarrow" not in sys.modules and "narwhals" not in sys.modules, "import is not light"
from sges.data import Dataset, moments_of_file, discrete_of_file
Dataset.of({str(csv)!r})
Dataset.of(np.eye(3))
Dataset.of({{"a": ["x", "y", None], "b": [1, 2, 3]}}, missing="drop")
discrete_of_file({str(csv)!r})
moments_of_file({str(csv)!r}, columns=["height", "visits"])
import pyarrow.csv
Dataset.of(pyarrow.csv.read_csv({str(csv)!r}))
found = {{"pandas", "polars", "modin", "cudf", "dask", "duckdb"}} & set(sys.modules)
assert not found, found
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_names_that_are_not_text_become_text() -> None:
    frame = pd.DataFrame(np.eye(3))
    data = Dataset.of(frame, kinds={"1": "discrete"})
    assert data.names == ("0", "1", "2")
    assert data.kinds[1] is Kind.DISCRETE


def test_a_pandas_index_is_not_a_column() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[7, 7, 9])
    assert Dataset.of(frame).names == ("a",)


def test_arrays_with_a_mask_have_missing_values_under_it() -> None:
    masked = np.ma.masked_array(
        np.arange(6.0).reshape(3, 2), mask=np.array([[0, 1], [0, 0], [0, 0]], bool)
    )
    assert Dataset.of(masked, missing="drop").values.tolist() == [[2.0, 4.0], [3.0, 5.0]]


def test_chunks_with_dictionaries_of_their_own_are_one_column() -> None:
    chunks = pa.chunked_array([
        pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode(),
    ])  # fmt: skip
    data = Dataset.of({"a": chunks})
    assert data.levels == (("b", "a", "c"),)
    assert data.codes.tolist() == [[0, 1, 2, 0]]


def test_slices_are_read_from_their_own_rows() -> None:
    table = pa.table({"a": [9.5, 1.5, 2.5], "b": [None, True, False], "c": ["z", "y", "x"]})
    data = Dataset.of(table.slice(1))
    assert data.values.tolist() == [[1.5, 2.5]]
    assert data.codes.tolist() == [[1, 0], [1, 0]]
    assert data.levels[2] == ("x", "y")


def test_semicolons_and_decimal_commas_are_read_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b\n1,5;u\n2,5;-\n")
    data = Dataset.of(path, delimiter=";", decimal=",", missing_words=["-"], missing="level")
    assert data.values.tolist() == [[1.5, 2.5]]
    assert data.levels == (None, ("u", None))


def test_a_byte_order_mark_is_not_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1.5,2.5\n2.5,1.5\n")
    assert Dataset.of(path).names == ("a", "b")


def test_a_format_can_be_named_where_the_ending_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "table.dat"
    path.write_text(CSV)
    assert Dataset.of(path, format="csv").n == 5
    with pytest.raises(
        DataError, match=r"the format is not known from the extension; .*format='csv'"
    ):
        Dataset.of(path)
