"""The readers that are fuzzed: names, valid files, and functions that read them."""

import bz2
import gzip
import io
import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from data_facts import batches_of
from fuzz.harness import Reader
from sges import (
    PDAG,
    Confidence,
    Knowledge,
    checkpoint,
    confidence,
    examples,
    learn,
    read_graph,
    read_result,
)
from sges.cli import INVALID_DATA
from sges.cli.app import run
from sges.data import Dataset, discrete_of_file, moments_of_file
from sges.errors import DataError
from sges.network import BayesianNetwork, read_bif, write_bif
from sges.operators import Delete, Insert
from sges.result import Result, Step
from sges.tools.export import adjacency_frame
from sges.tools.export.formats import to_csv, to_gml, to_graphml, to_json
from sges.tools.export.languages import to_dot
from sges.tools.report.page import report_page
from studies.frame import Table, amount, natural, one_of, optional, real, words


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
    """Read a table in one of four ways."""
    if number % 4 == 0:
        with batches_of(10):
            return moments_of_file(path, missing="drop")
    if number % 4 == 1:
        with batches_of(10):
            return discrete_of_file(path, missing="level")
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
    return [*_graph_files(to_csv), *_graph_files(lambda graph: adjacency_frame(graph).to_csv())]


def _results() -> list[bytes]:
    steps = (
        Step("fes", Insert(0, 2, {3}), 1.5, -1.5, 3),
        Step("sbes", Delete(0, 1), 0.5, -1.0, 2),
    )
    results = [Result(graph, -1.5, notes=("a note",)) for graph in _graphs()]
    results.append(Result(_graphs()[1], -1.5, steps, 12, 10**30, 99, {"fes": 0.5}, False, "why"))
    return [result.to_json().encode() for result in results]


def _read_graph(path: Path, number: int) -> object:
    """Read a graph, and return its representation."""
    return repr(read_graph(path if number % 2 else str(path)))


def _read_result(path: Path, number: int) -> object:
    """Read a result, and return an explanation, its summary or its edges."""
    result = read_result(path)
    if number % 3 == 0 and result.cpdag.n > 1:
        return str(result.explain(0, 1))
    return result.summary() if number % 3 == 1 else result.edges


def _compressed(files: Sequence[bytes]) -> list[bytes]:
    return [gzip.compress(file, mtime=0) for file in files]


# Knowledge, networks and checkpoints.

NAMES = ("a", "b", "c")
KNOWN = {
    "required": [["a", "b"]], "forbidden": [["c", "a"], ["c", "b"]], "not_adjacent": [["a", "c"]],
    "tiers": [["a"], ["b", "c"]], "forbid_within": [1],
}  # fmt: skip


def _knowledge_toml() -> list[bytes]:
    lines = [f"{key} = {json.dumps(value)}" for key, value in KNOWN.items()]
    return ["\n".join(lines).encode(), b'tiers = [["a", "b"], ["c"]]\nforbid_within = true\n']


def _knowledge_json() -> list[bytes]:
    return [json.dumps(KNOWN).encode(), b'{"required": [["a", "c"]], "tiers": [["a", "b"]]}']


def _read_knowledge(path: Path, _: int) -> object:
    return Knowledge.of(path).bind(NAMES)


def _bif() -> list[bytes]:
    networks = [examples.asia(), BayesianNetwork.random(PDAG.empty(2), 3, seed=1)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.bif"
        files = []
        for network in networks:
            write_bif(network, path)
            files.append(path.read_bytes())
    table = b"""network "n" { property x; }
variable a { type discrete [ 2 ] { no, yes }; } // a comment
variable b { type discrete [ 3 ] { "0", 1, much }; }
probability ( a ) { table 0.4, 0.6; }
probability ( b | a ) { default 0.2, 0.3, 0.5; (yes) 0.1, 0.1, 0.8; } /* the end */
"""
    return [*files, table]


def _read_bif(path: Path, _: int) -> object:
    return read_bif(path).sample(2, seed=0)


@cache
def _resampled() -> Dataset:
    return Dataset.of(_numbers(30))


def _confidences() -> list[bytes]:
    return [confidence(_resampled(), count).to_json().encode() for count in (1, 3)]


def _read_confidence(path: Path, number: int) -> object:
    read = Confidence.from_json(path.read_text(encoding="utf-8", errors="replace"))
    return (read.summary(), read.strength(0, 1)) if number % 2 else read.to_json()


def _checkpoints() -> list[bytes]:
    files = []
    for count in (1, 3):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.json"
            confidence(_resampled(), count, checkpoint=path)
            files.append(path.read_bytes())
    return files


def _search_checkpoints() -> list[bytes]:
    """Return the checkpoints of a search in the middle and at the end."""
    states = list[bytes]()

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "SECONDS_BETWEEN", -1.0)
        path = Path(folder) / "run.json"

        def keep(_: object) -> None:
            if path.exists():
                states.append(path.read_bytes())

        learn(_resampled(), checkpoint=path, progress=keep)
        keep(None)
    return [states[len(states) // 2], states[-1]]


def _reseal(path: Path, number: int) -> None:
    """Correct the checksum of half of the damaged checkpoints."""
    if number % 2:
        try:
            record = json.loads(path.read_bytes())
            record.pop("checksum")
            body = json.dumps(record, sort_keys=True).encode()
            sealed = json.dumps({**record, "checksum": sha256(body).hexdigest()})
            path.write_text(sealed, encoding="utf-8")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            pass


def _resume(path: Path, number: int) -> object:
    """Resume a confidence run from a checkpoint."""
    _reseal(path, number)
    return confidence(_resampled(), 3, checkpoint=path).summary()


def _resume_search(path: Path, number: int) -> object:
    """Resume a search from a checkpoint."""
    _reseal(path, number)
    return learn(_resampled(), checkpoint=path).summary()


COLUMNS = {
    "seed": natural, "method": one_of("bes", "sbes"), "gain": real, "seconds": optional(amount),
    "note": optional(words),
}  # fmt: skip


def _study_tables() -> list[bytes]:
    header = ",".join(COLUMNS)
    rows = '0,bes,1.5,0.25,\n1,sbes,-2e-05,,"why, so"\n2,bes,3,1,x\n'
    return [f"{header}\n{rows}".encode(), f"{header}\n".encode()]


def _read_study(path: Path, number: int) -> object:
    """Read the table of a study, and append a row to every second one."""
    table = Table(path, COLUMNS)
    row = {"seed": 3, "method": "bes", "gain": 0.5, "seconds": None, "note": "resumed"}
    rows = table.rows()
    if number % 2:
        table.append(row)
        assert len(table.rows()) == len(rows) + 1
    return rows


def _pages() -> list[bytes]:
    """Return a complete page, and the results of several pages with little around them."""
    pages = [report_page(Result.from_json(text.decode())) for text in _results()]
    mark = '<script type="application/json" id="sges-result">'
    return [
        pages[-1].encode(),
        *(("<!doctype html>" + page[page.index(mark) :]).encode() for page in pages),
    ]


# Commands that read a file and show its contents.


def _command(*commands: str) -> Callable[[Path, int], object]:
    """Return a reader that runs commands on the file; they succeed or print a one-line error."""

    def read(path: Path, number: int) -> object:
        line = commands[number % len(commands)]
        table = path.parent / "table.csv"
        if "{table}" in line and not table.exists():
            table.write_bytes(_csv()[2])
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run(
                [word.format(path=path, folder=path.parent, table=table) for word in line.split()]
            )
        if code == 0:
            return out.getvalue()
        assert code == INVALID_DATA, (line, code, err.getvalue())
        assert err.getvalue().startswith("sges: "), (line, err.getvalue())
        raise DataError(err.getvalue().splitlines()[-1])

    return read


TABLE_COMMANDS = (
    "confidence {path} --replicates 2 --time-limit 2",
    "learn {path} --missing level --json --kinds discrete --time-limit 2",
    "learn {path} --exclude a --out {folder}/out --time-limit 2",
    "learn {path} --missing drop --time-limit 2",
)
GRAPH_COMMANDS = (
    "measure {path}",
    "compare {path} {path}",
    "convert {path} {folder}/out.dot",
    "convert {path} {folder}/out.graphml --json",
    "plot {path} {folder}/out.svg",
)

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
    "graph.bif": Reader(".bif", _bif, _read_graph),
    "result.json": Reader(".json", _results, _read_result),
    "report.html": Reader(".html", _pages, _read_result),
    "bif": Reader(".bif", _bif, _read_bif),
    "knowledge.toml": Reader(".toml", _knowledge_toml, _read_knowledge),
    "knowledge.json": Reader(".json", _knowledge_json, _read_knowledge),
    "confidence.json": Reader(".json", _confidences, _read_confidence),
    "checkpoint": Reader(".json", _checkpoints, _resume),
    "learn checkpoint": Reader(".json", _search_checkpoints, _resume_search),
    "study.csv": Reader(".csv", _study_tables, _read_study),
    "sges on csv": Reader(".csv", _csv, _command(*TABLE_COMMANDS)),
    "sges on parquet": Reader(".parquet", _parquet, _command(*TABLE_COMMANDS)),
    "sges on graphs": Reader(".json", lambda: _graph_files(to_json), _command(*GRAPH_COMMANDS)),
    "sges on results": Reader(
        ".json", _results, _command("report {path} {folder}/out.html", *GRAPH_COMMANDS)
    ),
    "sges on knowledge": Reader(
        ".toml", _knowledge_toml, _command("learn {table} --knowledge {path}")
    ),
}
"""Every reader by its name."""
