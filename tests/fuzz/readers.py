"""The readers that are fuzzed: a name, valid files to start from, and what reads them."""

import bz2
import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from fuzz.harness import Reader
from sges.data import Dataset, discrete_of_file, moments_of_file


def _table(rows: int) -> pa.Table:
    rng = np.random.default_rng(rows)
    towns = np.array(["Ulm", "Köln", "Bonn", 'say "no"', "two\nlines"])
    holes = rng.random(rows) < 0.1
    return pa.table({
        "size": rng.normal(170, 9, rows),
        "age": rng.integers(0, 90, rows),
        "smoker": rng.random(rows) < 0.3,
        "town": pa.array(towns[rng.integers(0, 5, rows)]).dictionary_encode(),
        "word": towns[rng.integers(0, 5, rows)],
        "holes": pa.array(rng.normal(size=rows), mask=holes),
        "small": pa.array(rng.integers(0, 3, rows), pa.int8()),
    })  # fmt: skip


def _numbers(rows: int) -> pa.Table:
    rng = np.random.default_rng(rows)
    return pa.table({name: rng.normal(size=rows).round(3) for name in ("a", "b", "c")})


def _codes(rows: int) -> pa.Table:
    rng = np.random.default_rng(rows)
    return pa.table({name: rng.integers(0, 3, rows) for name in ("a", "b", "c")})


TABLES = (_table(3), _table(40), _numbers(30), _codes(30))


def _csv(delimiter: str = ",") -> list[bytes]:
    files = []
    for table in TABLES:
        frame = table.to_pandas()
        files.append(frame.to_csv(None, index=False, sep=delimiter).encode())
    return files


def _parquet() -> list[bytes]:
    files = []
    for table in TABLES:
        for compression in ("snappy", "none", "zstd"):
            sink = pa.BufferOutputStream()
            pyarrow.parquet.write_table(table, sink, compression=compression)
            files.append(sink.getvalue().to_pybytes())
    return files


def _feather() -> list[bytes]:
    files = []
    for table in TABLES:
        for compression in ("lz4", "zstd", "uncompressed"):
            sink = pa.BufferOutputStream()
            pyarrow.feather.write_feather(table, sink, compression=compression)  # type: ignore[arg-type]
            files.append(sink.getvalue().to_pybytes())
    return files


def _arrow_stream() -> list[bytes]:
    files = []
    for table in TABLES:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=16)
        files.append(sink.getvalue().to_pybytes())
    return files


def _read_table(path: Path, number: int) -> object:
    """Read a table in one of the ways in which tables are read."""
    if number % 4 == 0:
        return moments_of_file(path, missing="drop", batch_rows=10)
    if number % 4 == 1:
        return discrete_of_file(path, missing="level", batch_rows=10)
    if number % 4 == 2:
        with path.open("rb") as file:
            return Dataset.of(file, missing="drop")
    return Dataset.of(path, missing="drop")


def _compressed(files: Sequence[bytes]) -> list[bytes]:
    return [gzip.compress(file, mtime=0) for file in files]


READERS = {
    "csv": Reader(".csv", _csv, _read_table),
    "tsv": Reader(".tsv", lambda: _csv("\t"), _read_table),
    "csv.gz": Reader(".csv.gz", lambda: _compressed(_csv()), _read_table),
    "csv.bz2": Reader(".csv.bz2", lambda: [bz2.compress(f) for f in _csv()], _read_table),
    "parquet": Reader(".parquet", _parquet, _read_table),
    "feather": Reader(".feather", _feather, _read_table),
    "arrow": Reader(".arrow", _arrow_stream, _read_table),
}
"""Every reader by its name."""
