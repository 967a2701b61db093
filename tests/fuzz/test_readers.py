"""Mutated files are read or give a one-line error, and the harness detects other outcomes."""

import os
import time
from pathlib import Path

import pytest

from fuzz import harness
from fuzz.harness import Reader, fuzz, mutated
from fuzz.readers import READERS
from sges.errors import DataError

QUICK = [name for name in READERS if not name.startswith("sges on")]
MANY = [
    pytest.param(name, 300 if name in QUICK else 60, marks=pytest.mark.slow) for name in READERS
]  # a whole command takes longer


@pytest.mark.parametrize(("name", "inputs"), [*((name, 100) for name in QUICK), *MANY])
def test_mutated_files_are_read_or_refused_in_one_line(name: str, inputs: int) -> None:
    report = fuzz(READERS, name, range(inputs))
    assert not report.failures
    assert report.outcomes.total() == inputs
    assert report.peak_bytes < harness.MEMORY_BYTES


@pytest.mark.parametrize("name", READERS)
def test_every_valid_file_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"valid{READERS[name].ending}"
    for content in READERS[name].seeds():
        path.write_bytes(content)
        assert harness.outcome(READERS[name], path, 3) == "read"


class _TwoLines(DataError):
    """An error with a message of two lines, which the package never has."""

    def __str__(self) -> str:
        return "two\nlines"


def _misbehave(_: Path, number: int) -> None:
    if number == 3:
        os.abort()
    if number == 5:
        raise KeyError("x")
    if number == 7:
        time.sleep(60)
    if number == 9:
        raise _TwoLines
    if number == 11:
        bytearray(harness.MEMORY_BYTES)
    if number == 13:
        raise DataError("one line")


def test_the_harness_sees_death_hanging_raw_errors_and_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(harness, "SECONDS", 1.0)
    readers = {"bad": Reader(".txt", lambda: [b"abc"], _misbehave)}
    report = fuzz(readers, "bad", range(20), processes=2)
    what = {failure.number: failure.what for failure in report.failures}
    assert sorted(what) == [3, 5, 7, 9, 11]
    assert what[3].startswith("died with exit code -6")
    assert what[5].startswith("raised KeyError: 'x'")
    assert what[7].startswith("took more than 1 s")
    assert what[9].startswith("many lines")
    assert what[11].startswith("raised MemoryError")
    assert report.outcomes.total() == 20


def test_an_input_is_made_again_from_its_number() -> None:
    seeds = READERS["csv"].seeds()
    inputs = [mutated("csv", seeds, number) for number in range(50)]
    assert inputs == [mutated("csv", seeds, number) for number in range(50)]
    assert len(set(inputs)) > 40
