"""The same table gives the same result, in whatever form it is passed."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow.csv
import pyarrow.parquet
import pytest

import sges
from sges import MaxParents, examples
from sges.cli.learn import in_words_of_the_shell
from sges.result import Result


def essence(result: Result) -> dict[str, object]:
    """Return a result as a dictionary without its times and its call."""
    return {**result.to_dict(), "seconds": None, "call": None}


def from_stdin(path: Path) -> Result:
    command = [sys.executable, "-m", "sges", "learn", "-", "--max-parents", "3", "--json"]
    with path.open("rb") as stdin:
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=True)
    return Result.from_dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", examples.NAMES)
def test_every_way_in_gives_the_same_result(name: str, tmp_path: Path) -> None:
    path = examples.load(name).path
    frame = pd.read_csv(path)
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(path), tmp_path / "t.parquet")
    tables: list[object] = [
        str(path), examples.load(name), pyarrow.csv.read_csv(path), frame, pl.read_csv(path),
        tmp_path / "t.parquet", frame.to_dict("list"),
    ]  # fmt: skip
    expected = essence(sges.learn(path, assume=MaxParents(3)))
    for table in tables:
        assert essence(sges.learn(table, assume=MaxParents(3))) == expected, type(table)
    by_array = sges.learn(frame.to_numpy(), names=list(frame.columns), assume=MaxParents(3))
    assert essence(by_array) == expected
    in_shell = in_words_of_the_shell(sges.learn(path, assume=MaxParents(3)))
    assert essence(from_stdin(path)) == essence(in_shell)
