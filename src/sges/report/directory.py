"""A result on the disk: the graph, a picture and the summary, all or none, and reading it back."""

import json
from pathlib import Path

from sges.errors import DataError, FileError, check_instance, check_path
from sges.export import PathLike, to_dot
from sges.export.formats import read_text
from sges.plot import picture
from sges.report.page import report_page, result_json_in
from sges.report.text import summary
from sges.result import FORMAT, Result
from sges.writing import file_errors, write_directory

FILES = ("graph.json", "graph.dot", "graph.svg", "report.html", "summary.txt")


def save(result: Result, directory: PathLike) -> list[Path]:
    """Write graph.json, .dot and .svg, report.html and summary.txt: all of them or none.

    Parameters
    ----------
    result : Result
        The result to write.
    directory : str or path-like
        Where to write; it is made if need be.  A result that is there already is replaced.

    Returns
    -------
    list of Path
        The five files.

    Raises
    ------
    FileError
        If the directory cannot be written, or holds one of these files from another origin.
    """
    return write_directory(directory, files_of(result, directory))


def files_of(result: Result, directory: PathLike, command: str | None = None) -> dict[str, bytes]:
    """Return the files to be written into a directory, by name.

    Parameters
    ----------
    result : Result
        The result to write.
    directory : str or path-like
        Where it is to be written.
    command : str, optional
        The command line that led to the result, to be shown in the report.

    Returns
    -------
    dict
        The content of each file.

    Raises
    ------
    FileError
        If the directory holds one of these files from another origin.
    """
    check_instance("result", result, Result, "a Result")
    check_path("directory", directory)
    with file_errors("write", Path(directory)):
        present = [name for name in FILES if (Path(directory) / name).exists()]
    if present:
        try:
            record = json.loads((Path(directory) / FILES[0]).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise FileError(
                f"cannot write {str(directory)!r}: {present[0]} is there and no result of sges is "
                "beside it; move it away, or name another directory"
            )
    return {
        "graph.json": (result.to_json() + "\n").encode("utf-8"),
        "graph.dot": to_dot(result.cpdag).encode("utf-8"),
        "graph.svg": picture(result.cpdag, "svg"),
        "report.html": report_page(result, command).encode("utf-8"),
        "summary.txt": summary(result).encode("utf-8"),
    }


def read_result(path: PathLike) -> Result:
    """Return the result in a file.

    Parameters
    ----------
    path : str or path-like
        A JSON file of a result, a page that ``Result.report`` wrote, a directory that
        ``Result.save`` wrote, or "-" for standard input.

    Returns
    -------
    Result
        The result, without its score object.

    Raises
    ------
    FileError
        If the file cannot be read.
    DataError
        If it does not hold a result.
    """
    check_path("path", path)
    if str(path) != "-" and Path(path).is_dir():
        path = Path(path) / FILES[0]
    source = "standard input" if str(path) == "-" else repr(str(path))
    text = read_text(path)
    try:
        is_page = text.lstrip()[:9].lower() == "<!doctype"
        return Result.from_json(result_json_in(text) if is_page else text)
    except DataError as error:
        raise DataError(f"{source}: {error}") from None
