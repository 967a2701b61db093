"""The readers that are fuzzed: a name, valid files to start from, and what reads them."""

import bz2
import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from fuzz.harness import Reader
from sges import PDAG, read_graph, read_result
from sges.data import Dataset, discrete_of_file, moments_of_file
from sges.export import to_adjacency_csv, to_csv, to_dot, to_gml, to_graphml, to_json
from sges.operators import Delete, Insert
from sges.result import Result, Step


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


def _graphs() -> list[PDAG]:
    names = ["a", "b c", 'say "no"', "two\nlines", "d &lt; e", "node"]
    mixed = PDAG.from_edges(6, [(0, 2), (1, 2), (2, 5)], [(3, 4)], names=names)
    return [PDAG.empty(2), PDAG.complete(4), mixed]


def _graph_files(write: Callable[[PDAG], str]) -> list[bytes]:
    return [write(graph).encode() for graph in _graphs()]


def _graph_csv() -> list[bytes]:
    return [*_graph_files(to_csv), *_graph_files(to_adjacency_csv)]


def _results() -> list[bytes]:
    steps = (
        Step("fes", Insert(0, 2, {3}), 1.5, -1.5, 3),
        Step("sbes", Delete(0, 1), 0.5, -1.0, 2),
    )
    results = [Result(graph, -1.5, notes=("a note",)) for graph in _graphs()]
    results.append(Result(_graphs()[1], -1.5, steps, 12, 10**30, 99, {"fes": 0.5}, False, "why"))
    return [result.to_json().encode() for result in results]


def _read_graph(path: Path, number: int) -> object:
    """Read a graph, and show it."""
    return repr(read_graph(path if number % 2 else str(path)))


def _read_result(path: Path, number: int) -> object:
    """Read a result, and show it in one of the ways in which results are shown."""
    result = read_result(path)
    if number % 3 == 0 and result.cpdag.n > 1:
        return str(result.explain(0, 1))
    return result.summary() if number % 3 == 1 else result.edges


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
    "graph.json": Reader(".json", lambda: _graph_files(to_json), _read_graph),
    "graph.graphml": Reader(".graphml", lambda: _graph_files(to_graphml), _read_graph),
    "graph.gml": Reader(".gml", lambda: _graph_files(to_gml), _read_graph),
    "graph.dot": Reader(".dot", lambda: _graph_files(to_dot), _read_graph),
    "graph.csv": Reader(".csv", _graph_csv, _read_graph),
    "result.json": Reader(".json", _results, _read_result),
}
"""Every reader by its name."""
