"""A large file is read in batches, and gives the same dataset or its moments."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet
import pytest

import sges
from data.test_stream import FORMATS, levelled, numbers, write
from data_facts import facts
from sges.data import Dataset, Moments, files
from sges.data.reading import Kinds, Missing, Reading
from sges.data.sources import statistics_of


@pytest.fixture
def _all_files_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGE_FILE_BYTES", 0)
    monkeypatch.setattr(files, "_TEXT_BLOCK_BYTES", 400)


def small(path: Path, **options: object) -> Dataset:
    """Return the dataset of a file that is read at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "LARGE_FILE_BYTES", 1 << 40)
        patch.setattr(files, "_TEXT_BLOCK_BYTES", 1 << 22)
        return Dataset.of(path, **options)  # type: ignore[arg-type]


def mixed(rows: int) -> pa.Table:
    rng = np.random.default_rng(rows)
    table = levelled(rows, 3, holes=True)
    for name, column in {
        "float": rng.normal(size=rows),
        "wide": rng.integers(-(2**40), 2**40, rows),
        "byte": rng.integers(0, 250, rows),
        "grows": np.arange(rows) * 3,
        "category": pd.Categorical.from_codes(rng.integers(0, 3, rows), ["z", "b", "a"]),
    }.items():
        table = table.append_column(name, pa.array(column))
    return table


@pytest.mark.usefixtures("_all_files_are_large")
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("missing", ["drop", "level"])
def test_a_file_read_in_batches_is_the_same_dataset(
    tmp_path: Path, kind: str, missing: Missing
) -> None:
    path = write(mixed(1500), tmp_path / f"t.{kind}")
    kinds = {"real": "discrete", "whole": "discrete"}
    batched = Dataset.of(path, missing=missing, kinds=kinds)
    whole = small(path, missing=missing, kinds=kinds)
    assert facts(batched) == facts(whole)
    assert batched.notes == whole.notes


LATE: dict[str, tuple[str, str]] = {
    "integers, then floats": ("7", "1.5"),
    "integers, then more than 64 bits": ("7", "9" * 25),
    "integers, then text": ("7", "x"),
    "zeros, then truth values": ("0", "true"),
    "truth values, then text": ("true", "maybe"),
    "floats, then text": ("1.5", "x"),
    "dates, then text": ("2020-01-01", "x"),
    "nothing, then floats": ("", "1.5"),
    "text, then floats": ("x", "1.5"),
}


@pytest.mark.usefixtures("_all_files_are_large")
@pytest.mark.parametrize("declared", [False, True])
def test_a_batch_without_a_value_adds_no_level(tmp_path: Path, declared: bool) -> None:
    labels = pa.array([*[None] * 1200, *["u", "w"] * 400], pa.string())
    column = labels.dictionary_encode() if declared else labels
    number = np.arange(2000) % 7 + 0.5
    path = write(pa.table({"a": column, "b": number}), tmp_path / "t.feather")
    batched = Dataset.of(path, missing="em")
    assert facts(batched) == facts(small(path, missing="em"))
    assert batched.levels[0] == ("u", "w")


@pytest.mark.usefixtures("_all_files_are_large")
@pytest.mark.parametrize("case", LATE)
def test_the_type_of_text_is_that_of_the_whole_column(tmp_path: Path, case: str) -> None:
    first, last = LATE[case]
    path = tmp_path / "t.csv"
    lines = [f"{first},{i}.5" for i in range(300)] + [f"{last},{i}.5" for i in range(300)]
    path.write_text("a,b\n" + "\n".join(lines) + "\n")
    assert facts(Dataset.of(path, missing="drop")) == facts(small(path, missing="drop"))


@pytest.mark.usefixtures("_all_files_are_large")
@pytest.mark.parametrize("kind", FORMATS)
def test_the_statistics_of_a_large_file_of_numbers_are_moments(tmp_path: Path, kind: str) -> None:
    table = numbers(2000).append_column("few", pa.array(np.arange(2000) % 4 / 2))
    table = table.append_column("same", pa.array(np.full(2000, 3.25)))
    path = write(table, tmp_path / f"t.{kind}")
    found = statistics_of(path, Reading())
    assert isinstance(found, Moments)
    whole = small(path)
    memory = Moments.of(whole)
    scale = np.sqrt(np.diagonal(memory.covariance)) + (np.diagonal(memory.covariance) == 0)
    assert np.abs((found.covariance - memory.covariance) / np.outer(scale, scale)).max() < 1e-12
    assert (found.names, found.records) == (memory.names, memory.records)
    assert found.notes == whole.notes
    assert len(found.notes) == 3


@pytest.mark.usefixtures("_all_files_are_large")
@pytest.mark.parametrize(
    ("column", "kinds"),
    [
        (["u", "v"] * 1000, None),
        ([0, 1, 2, 3] * 500, None),
        ([True, False] * 1000, None),
        (list(np.arange(2000) / 7), {"c": "discrete"}),
        ([7] * 1999 + ["x"], None),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_statistics_of_a_file_with_a_discrete_column_are_its_dataset(
    tmp_path: Path, kind: str, column: list[object], kinds: Kinds
) -> None:
    values = [str(value) for value in column] if "x" in column else column
    table = pa.table({"a": np.arange(2000.0), "c": values})
    path = write(table, tmp_path / f"t.{kind}")
    found = statistics_of(path, Reading(kinds=kinds))
    assert isinstance(found, Dataset)
    assert facts(found) == facts(small(path, kinds=kinds))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_learning_from_a_large_file_holds_its_moments_only(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    a = rng.normal(size=1000)
    table = pa.table({"a": a, "b": a + rng.normal(size=1000), "c": rng.normal(size=1000)})
    path = write(table, tmp_path / f"t.{kind}")
    expected = sges.learn(path)
    monkeypatch.setattr(files, "LARGE_FILE_BYTES", 0)
    monkeypatch.setattr(Dataset, "of", None)
    monkeypatch.setattr(files.File, "read", None)
    found = sges.learn(path)
    assert found.cpdag == expected.cpdag
    assert found.notes[:-1] == expected.notes[:-1]
    assert np.isclose(found.score, expected.score, rtol=1e-12)


@pytest.mark.slow
def test_a_million_rows_of_100_columns_are_learnt_from_in_half_a_gigabyte(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    path = tmp_path / "t.parquet"
    schema = pa.schema([(f"x{i}", pa.float64()) for i in range(100)])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for _ in range(20):
            part = rng.normal(size=(50_000, 100))
            writer.write_table(pa.table(list(part.T), schema=schema))
    script = f"""
import sges
sges.learn({str(path)!r}, max_indegree=1)
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 500 * 1024
