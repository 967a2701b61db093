"""Writing a result into a directory: the graph, a picture and the summary, all or none."""

import json
from pathlib import Path

from sges.errors import FileError
from sges.export import PathLike, to_dot
from sges.export.writing import file_errors, write_directory
from sges.plot import picture
from sges.report.text import summary
from sges.result import FORMAT, Result

FILES = ("graph.json", "graph.dot", "graph.svg", "summary.txt")


def save(result: Result, directory: PathLike) -> list[Path]:
    """Write graph.json, graph.dot, graph.svg and summary.txt: all of them or none.

    Parameters
    ----------
    result : Result
        The result to write.
    directory : str or path-like
        Where to write; it is made if need be.  A result that is there already is replaced.

    Returns
    -------
    list of Path
        The four files.

    Raises
    ------
    FileError
        If the directory cannot be written, or holds one of these files from another origin.
    """
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
    """Refuse to replace a file that no result of ours has left there."""
    with file_errors("write", directory):
        present = [name for name in FILES if (directory / name).exists()]
    if present and not _is_ours(directory / "graph.json"):
        raise FileError(
            f"cannot write {str(directory)!r}: {present[0]} is there and no result of sges is "
            "beside it; move it away, or name another directory"
        )


def _is_ours(path: Path) -> bool:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(record, dict) and record.get("format") == FORMAT
