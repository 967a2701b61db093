"""Tables in files: CSV and TSV (also compressed), Parquet, Feather and Arrow.

``read_table`` reads a whole table; ``open_batches`` reads it piece by piece, for tables larger
than memory.  Both know the same formats and refuse the same files with the same words.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import pyarrow as pa
import pyarrow.csv

from sges.data.reading import MISSING_WORDS, Reading
from sges.errors import DataError

Compression: TypeAlias = Literal["gzip", "bz2", "zstd"]

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
}
"""What the ending of a file's name says about its format."""

COMPRESSED: dict[str, Compression] = {
    ".gz": "gzip",
    ".bz2": "bz2",
    ".zst": "zstd",
}
"""Endings that may follow .csv and .tsv."""

Stream: TypeAlias = Any
"""An open file of ``pyarrow``."""

Reader: TypeAlias = Any
"""A reader of record batches of ``pyarrow``."""

Options: TypeAlias = Any
"""An option of ``pyarrow.csv.ConvertOptions``."""

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_HEAD = 1 << 16  # bytes that are looked at to tell what a file holds


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, or the bytes of one: what to call it, what it is, how to open it."""

    name: str
    format: str
    open: Callable[[], Stream]
    delimiter: str
    decimal: str
    missing_words: tuple[str, ...]

    @property
    def is_text(self) -> bool:
        """Whether it is CSV or TSV."""
        return self.format in _DELIMITERS


def read_table(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    missing_words: Sequence[str] = MISSING_WORDS,
) -> pa.Table:
    """Return the table in a file, in an open binary file, or on standard input (``"-"``).

    Parameters
    ----------
    source
        A path, whose ending tells the format; or bytes to read, whose beginning does.
    format
        ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"feather"``, where it is not evident.
    delimiter, decimal, missing_words
        For CSV and TSV: what separates fields, what marks decimals, what means "no value".
    """
    found = locate(source, format, delimiter, decimal, missing_words)
    with one_line_errors(found):
        return _READERS[found.format](found)


def table_of_file(source: str | os.PathLike[str] | BinaryIO, reading: Reading) -> pa.Table:
    """Return the table in a file, read as asked for."""
    return read_table(
        source,
        format=reading.format,
        delimiter=reading.delimiter,
        decimal=reading.decimal,
        missing_words=MISSING_WORDS if reading.missing_words is None else reading.missing_words,
    )


def locate(
    source: str | os.PathLike[str] | BinaryIO,
    format: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    missing_words: Sequence[str] = MISSING_WORDS,
) -> Source:
    """Return what there is to read, after the checks that need no reading."""
    if format is not None and format not in _READERS:
        raise DataError(f"format {format!r} is not known; it is one of {', '.join(_READERS)}")
    if isinstance(source, str | os.PathLike) and os.fspath(source) != "-":
        path = _checked_path(Path(source))
        name, opener = str(path), _file_opener(path)
        format = format or _format_by_ending(path)
    else:
        name, data = _all_bytes(source)
        opener = _bytes_opener(data)
        format = format or _format_by_content(_head(opener)) or "csv"
    found = Source(
        name, format, opener, delimiter or _DELIMITERS.get(format, ""), decimal,
        tuple(missing_words),
    )  # fmt: skip
    _check_content(found)
    return found


def _checked_path(path: Path) -> Path:
    if path.is_dir():
        raise DataError(f"{path}: is a directory; give the path of one file")
    if not path.exists():
        raise DataError(f"{path}: there is no such file; is the path right?")
    return path


def _format_by_ending(path: Path) -> str:
    endings = [ending.lower() for ending in path.suffixes]
    if len(endings) > 1 and endings[-1] in COMPRESSED and ENDINGS.get(endings[-2]) in _DELIMITERS:
        return ENDINGS[endings[-2]]
    if endings and endings[-1] in ENDINGS:
        return ENDINGS[endings[-1]]
    raise DataError(
        f"{path}: the ending does not tell the format; known are {', '.join(ENDINGS)}, and .gz "
        "after .csv or .tsv; rename it, or read it with sges.data.read_table(path, format=...)"
    )


def _file_opener(path: Path) -> Callable[[], Stream]:
    return _opener(str(path), COMPRESSED.get(path.suffix.lower()))


def _bytes_opener(data: bytes) -> Callable[[], Stream]:
    return _opener(pa.py_buffer(data), "gzip" if data[:2] == b"\x1f\x8b" else None)


def _opener(place: str | pa.Buffer, compression: Compression | None) -> Callable[[], Stream]:
    if compression is None:
        return lambda: (
            pa.OSFile(place, mode="rb") if isinstance(place, str) else pa.BufferReader(place)
        )
    return lambda: pa.input_stream(place, compression=compression)


def _all_bytes(source: str | os.PathLike[str] | BinaryIO) -> tuple[str, bytes]:
    """Return a name for, and the content of, a file that is open."""
    if isinstance(source, str | os.PathLike):
        return "standard input", sys.stdin.buffer.read()
    name, data = str(getattr(source, "name", "table")), source.read()
    if isinstance(data, str):
        raise DataError(f"{name}: is open as text; open it in binary mode ('rb')")
    return name, bytes(data)


def _head(opener: Callable[[], Stream]) -> bytes:
    with opener() as stream:
        return bytes(stream.read(_HEAD))


def _format_by_content(head: bytes) -> str | None:
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff":
        return "feather"
    return None


def _check_content(found: Source) -> None:
    """Refuse a text file that is no text, or is separated by something else."""
    if not found.is_text:
        return
    with one_line_errors(found):
        head = _head(found.open)
    if (other := _format_by_content(head)) is not None:
        raise DataError(f"{found.name}: holds {other}, not {found.format}; read it as {other}")
    header = head.split(b"\n", 1)[0].decode("utf-8", "replace").strip("\r\ufeff")
    _refuse_other_delimiter(found, header)
    _refuse_no_header(found, header)


def _refuse_other_delimiter(found: Source, header: str) -> None:
    if found.delimiter in header:
        return
    for other in (";", "\t", "|", ","):
        if other in header:
            raise DataError(
                f"{found.name}: the header {header[:60]!r} holds no {found.delimiter!r} and seems "
                f"to be separated by {other!r}; read the file with "
                f"sges.data.read_table(path, delimiter={other!r})"
            )


def _refuse_no_header(found: Source, header: str) -> None:
    """Refuse numbers for names, except whole ones, with which libraries number columns."""
    fields = [field.strip(' "') for field in header.split(found.delimiter)]
    if all(map(_is_number, fields)) and not all(field.isdigit() for field in fields):
        raise DataError(
            f"{found.name}: the first line holds numbers ({header[:60]!r}), not names; "
            "add a header row"
        )


def _is_number(field: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", field) is not None


@contextmanager
def one_line_errors(found: Source) -> Iterator[None]:
    """Turn what a reader raises into one line that names the file and the remedy."""
    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, EOFError, ValueError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise DataError(
            f"{found.name}: cannot be read as {found.format} ({reason}); "
            "is it damaged, cut short, or in another format?"
        ) from error


def _read_text(found: Source) -> pa.Table:
    with found.open() as stream:
        return pyarrow.csv.read_csv(
            stream,
            parse_options=parse_options(found),
            convert_options=convert_options(found),
        )


def parse_options(found: Source) -> pyarrow.csv.ParseOptions:
    """Return how the fields of a text file are told apart."""
    return pyarrow.csv.ParseOptions(delimiter=found.delimiter, newlines_in_values=True)


def convert_options(found: Source, **more: Options) -> pyarrow.csv.ConvertOptions:
    """Return what the fields of a text file mean."""
    return pyarrow.csv.ConvertOptions(
        null_values=list(found.missing_words),
        strings_can_be_null=True,
        decimal_point=found.decimal,
        **more,
    )


def _read_parquet(found: Source) -> pa.Table:
    import pyarrow.parquet  # slow to import: only when it is used

    # ParquetFile, because parquet.read_table imports pandas wherever it is installed.
    with found.open() as stream:
        return pyarrow.parquet.ParquetFile(stream).read()


def _read_feather(found: Source) -> pa.Table:
    with found.open() as stream:
        table: pa.Table = open_arrow(stream).read_all()
        return table


def open_arrow(stream: Stream) -> Reader:
    """Return a reader of Feather or of the Arrow file or stream format."""
    head = bytes(stream.read(6))
    stream.seek(0)
    return pa.ipc.open_file(stream) if head == b"ARROW1" else pa.ipc.open_stream(stream)


_READERS: dict[str, Callable[[Source], pa.Table]] = {
    "csv": _read_text,
    "tsv": _read_text,
    "parquet": _read_parquet,
    "feather": _read_feather,
}
