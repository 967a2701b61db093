"""One pass over a file gives the same as reading it into memory."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import naive_data as naive
from data_facts import batches_of, facts
from sges.data import Dataset, Moments, discrete_of_file, moments_of_file
from sges.errors import DataError

FORMATS = ["csv", "csv.gz", "tsv", "parquet", "feather", "arrow"]


def write(table: pa.Table, path: Path) -> Path:
    """Write a table in the format of the path, in small chunks."""
    kind = path.name.split(".", 1)[1]
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=97)
    elif kind == "feather":
        pyarrow.feather.write_feather(table, str(path), chunksize=97)
    elif kind == "arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=97)
    else:
        text = table.to_pandas().to_csv(None, index=False, sep="\t" if kind == "tsv" else ",")
        path.write_bytes(gzip.compress(text.encode()) if kind == "csv.gz" else text.encode())
    return path


def numbers(rows: int = 1000) -> pa.Table:
    rng = np.random.default_rng(7)
    wide = rng.normal(size=(rows, 3)) @ rng.normal(size=(3, 3))
    return pa.table({
        "a": 1e9 + 1e-3 * wide[:, 0],
        "b": wide[:, 1],
        "c": (100 * wide[:, 2]).astype(np.int32),
    })  # fmt: skip


def test_streamed_moments_are_exact_to_1e_12(tmp_path: Path) -> None:
    table = numbers(400)
    _, exact = naive.exact_moments([np.asarray(c).tolist() for c in table.columns])
    with batches_of(10):
        found = moments_of_file(write(table, tmp_path / "t.parquet"))
    expected = np.array([[float(c) for c in row] for row in exact])
    scale = np.sqrt(np.diagonal(expected))
    assert np.abs((found.covariance - expected) / np.outer(scale, scale)).max() < 1e-12


@pytest.mark.parametrize("kind", FORMATS)
def test_missing_values_are_counted_over_the_whole_file(tmp_path: Path, kind: str) -> None:
    table = numbers().to_pandas()
    table.loc[[3, 999], "a"] = None
    table.loc[[3, 500], "b"] = None
    path = write(pa.Table.from_pandas(table, preserve_index=False), tmp_path / f"t.{kind}")
    with batches_of(10):
        with pytest.raises(DataError, match=r"in 3 of 1000 rows \('a' 2, 'b' 2\)"):
            moments_of_file(path)
        found = moments_of_file(path, missing="drop")
    memory = Moments.of(Dataset.of(path, missing="drop", kinds="continuous"))
    assert found.records == 997
    assert np.allclose(found.covariance, memory.covariance, rtol=1e-9, atol=1e-18)
    assert found.notes == ("3 of 1000 rows were dropped for missing values in 'a' (2), 'b' (2)",)
    with pytest.raises(DataError, match="'level' is for discrete columns: pass missing='em'"):
        moments_of_file(path, missing="level")


def test_infinities_in_any_batch_are_refused_with_their_row(tmp_path: Path) -> None:
    values = np.arange(100.0)
    values[57] = np.inf
    path = write(pa.table({"a": values}), tmp_path / "t.parquet")
    message = "column 'a' contains 1 infinite value, the first in row 57"
    with batches_of(10):
        with pytest.raises(DataError, match=message):
            moments_of_file(path)
        with pytest.raises(DataError, match=message):
            discrete_of_file(path)
    with pytest.raises(DataError, match=message):
        Dataset.of(path)


LEVELS: dict[str, list[object]] = {
    "text": ["b", "a", "ß", 'quoted "x"', "with, comma", "two\nlines"],
    "whole": [10, 9, -3],
    "truth": [True, False],
    "real": [0.5, -1.5, 2.25],
}


def levelled(rows: int, seed: int, holes: bool) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {
        name: [levels[i] for i in rng.integers(len(levels), size=rows)]
        for name, levels in LEVELS.items()
    }
    if holes:
        for column in columns.values():
            for i in rng.integers(rows, size=3):
                column[i] = None
    return pa.table(columns)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("missing", ["error", "drop", "level"])
def test_streamed_discrete_data_equal_those_in_memory(
    tmp_path: Path, kind: str, missing: str
) -> None:
    path = write(levelled(600, 1, missing != "error"), tmp_path / f"t.{kind}")
    with batches_of(50):
        streamed = discrete_of_file(path, missing=missing)  # type: ignore[arg-type]
    memory = Dataset.of(path, kinds="discrete", missing=missing).merged()  # type: ignore[arg-type]
    assert facts(streamed) == facts(memory)
    assert f"{memory.records} records were merged into {memory.rows} distinct" in str(
        streamed.notes
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(codec="ascii"), max_size=3), min_size=2))
def test_any_text_means_in_a_stream_what_it_means_in_memory(
    tmp_path: Path, column: list[str]
) -> None:
    """The distinct fields of a CSV column determine the same type as all fields."""
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": column, "b": 1}).to_csv(path, index=False)
    assert _outcome(path, streamed=True) == _outcome(path, streamed=False)


def _outcome(path: Path, *, streamed: bool) -> object:
    try:
        if streamed:
            with batches_of(50):
                return facts(discrete_of_file(path, missing="level"))
        return facts(Dataset.of(path, kinds="discrete", missing="level").merged())
    except DataError as error:
        return str(error).split("(")[0]


def test_declared_levels_survive_the_stream(tmp_path: Path) -> None:
    column = pd.Categorical(["b", "a"] * 200, ["z", "b", "a"])
    table = pa.Table.from_pandas(pd.DataFrame({"a": column}))
    for kind in ("parquet", "feather"):
        path = write(table, tmp_path / f"t.{kind}")
        with batches_of(50):
            streamed = discrete_of_file(path)
        assert facts(streamed) == facts(Dataset.of(path).merged())
    assert discrete_of_file(tmp_path / "t.feather").levels == (("z", "b", "a"),)


def test_many_distinct_rows_are_merged_across_batches(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 3, size=(30_000, 12))
    path = write(pa.table({f"c{i}": rows[:, i] for i in range(12)}), tmp_path / "t.parquet")
    with batches_of(1000):
        found = discrete_of_file(path)
    assert found.weights is not None
    assert dict(
        zip(map(tuple, found.codes.T.tolist()), found.weights.tolist(), strict=True)
    ) == naive.counted_rows(rows.tolist())


def test_an_identifier_is_refused_before_the_stream_ends(tmp_path: Path) -> None:
    path = write(pa.table({"a": np.arange(70_000)}), tmp_path / "t.feather")
    refused = pytest.raises(DataError, match=r"column 'a' has .* levels, .* like an identifier")
    with batches_of(10_000), refused:
        discrete_of_file(path)
