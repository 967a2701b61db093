"""Rows of results as lines of JSON: appended one by one, so that a run can be resumed.

The file is a history.  A measurement made again is a new line, and the last line counts.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str, int]

RESULTS = Path(__file__).parents[1] / "results"


def read_rows(path: Path) -> list[Row]:
    """Return all lines of a file, none if it is not there; a half-written last line is left out."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def append_row(path: Path, row: Row) -> None:
    """Add a line to a file, after mending a half-written last one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    broken = path.is_file() and not path.read_bytes().endswith((b"\n",)) and path.stat().st_size
    if broken:
        whole = path.read_bytes().rpartition(b"\n")
        path.write_bytes(whole[0] + whole[1])
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def key_of(row: Row) -> Key:
    """Return what the row measures: which program, on which data set, with which seed."""
    return row["peer"], row["dataset"], row["seed"]


def latest(rows: Iterable[Row]) -> list[Row]:
    """Return the last row of each key, in the order in which the keys first came."""
    return list({key_of(row): row for row in rows}.values())


def is_settled(row: Row | None, version: str, limit: float) -> bool:
    """Tell whether a row need not be measured again.

    It must be of this version; and a failure counts only if it was given as much time.
    """
    if row is None or row["version"] != version:
        return False
    return row["failed"] is None or row["limit"] >= limit


def out_of_time(row: Row) -> bool:
    """Tell whether a program was stopped by the clock while it searched."""
    return row["failed"] is not None and row["failed"].startswith("timeout")
