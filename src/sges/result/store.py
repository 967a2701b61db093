"""Writing a result into a directory: the graph, a picture and the summary, all or nothing."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sges.errors import FileError
from sges.export.dot import to_dot
from sges.export.writing import PathLike, told_plainly, write_directory
from sges.plot import picture
from sges.result.record import FORMAT
from sges.result.summary import summary

if TYPE_CHECKING:
    from sges.result.value import Result

FILES = ("graph.json", "graph.dot", "graph.svg", "summary.txt")


def save(result: "Result", directory: PathLike) -> list[Path]:
    """Write the four files; refuse to replace any that no result of ours left there."""
    target = Path(directory)
    _refuse_foreign(target)
    contents = {
        "graph.json": (result.to_json() + "\n").encode("utf-8"),
        "graph.dot": to_dot(result.cpdag).encode("utf-8"),
        "graph.svg": picture(result.cpdag, "svg"),
        "summary.txt": summary(result).encode("utf-8"),
    }
    return write_directory(target, contents)


def _refuse_foreign(directory: Path) -> None:
    with told_plainly("write", directory):
        there = [name for name in FILES if (directory / name).exists()]
    if there and not _is_ours(directory / "graph.json"):
        raise FileError(
            f"cannot write {str(directory)!r}: {there[0]} is there and no result of sges is beside "
            "it; move it away, or name another directory"
        )


def _is_ours(path: Path) -> bool:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and record.get("format") == FORMAT
