"""Tables in files: CSV and TSV (also compressed), Parquet, Feather and Arrow.

``open_file`` detects the format of a file, and raises an error if it cannot be read.  The ``File``
is then read whole, or in batches of rows of which only one is in memory at a time; both give
columns, and both raise the same errors.  ``open_files`` does the same for the files of a folder or
a pattern.
"""

import codecs
import csv
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv

from sges.data.arrow import ArrowType, column_of_arrow
from sges.data.columns import Column, check_same_columns, data_error, joined_tables
from sges.data.reading import (
    MISSING_WORDS,
    Format,
    Reading,
    check_unique_names,
    label_notes,
    places_to_read,
)
from sges.errors import (
    Argument,
    DataError,
    FileError,
    SgesError,
    Spelling,
    out_of_memory,
)
from sges.writing import opened

Compression: TypeAlias = Literal["gzip", "bz2", "zstd"]

ENDINGS: dict[str, Format] = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".feather": "feather", ".arrow": "feather", ".ipc": "feather",
}  # fmt: skip
"""The format of a file, by its extension."""

COMPRESSED: dict[str, Compression] = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""Extensions that may follow .csv and .tsv."""

Stream: TypeAlias = Any
"""An open file of ``pyarrow``."""

Batch: TypeAlias = Any
"""A table or record batch of ``pyarrow``."""

LARGE_FILE_BYTES = 1 << 25
"""Files of this size or more, when decompressed, are read in batches."""

BATCH_CELLS = 1 << 19
"""Values read together: 4 MiB of numbers."""

MIN_BATCH_ROWS = 1024
"""The least number of rows read together, however wide the table is."""

Consumed = TypeVar("Consumed")

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_HEAD_BYTES = 1 << 16  # examined to detect the format of a file
_TEXT_BLOCK_BYTES = 1 << 22  # bytes of CSV parsed together
_PAGE_BYTES = 1 << 16  # bytes read ahead from each column of a large Parquet file
_MOST_EXPANDED = 100_000  # times its size that a file may hold
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


LOOSER_TYPES: dict[ArrowType, ArrowType] = {
    pa.null(): pa.int64(), pa.int64(): pa.bool_(), pa.bool_(): pa.float64(),
    pa.float64(): pa.string(),
}  # fmt: skip
"""The type of a text column of which a field does not have the type on the left."""


class NotOfType(DataError):
    """A field of a text file that is not of the type of ``column``, its name in the file."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


@dataclass(frozen=True)
class File:
    """A file to read: its name in messages, its format, its path or content, how to read it.

    ``size`` is the number of bytes as they are stored, which may be compressed.
    """

    name: str
    format: Format
    source: str | pa.Buffer
    compression: Compression | None
    size: int
    reading: Reading

    def open(self) -> Stream:
        """Return the bytes of the file, decompressed."""
        if isinstance(self.source, pa.Buffer):
            stream: Stream = pa.BufferReader(self.source)
        else:
            stream = opened(Path(self.source), lambda path: pa.OSFile(_native(path), mode="rb"))
        if self.compression is None:
            return stream
        return pa.input_stream(stream, compression=self.compression)

    def head(self) -> bytes:
        """Return the first bytes, which show the format of a file."""
        with _one_line_errors(self), self.open() as stream:
            return bytes(stream.read(_HEAD_BYTES))

    @property
    def is_text(self) -> bool:
        """Whether it is CSV or TSV."""
        return self.format in _DELIMITERS

    @property
    def delimiter(self) -> str:
        """The character between the fields of a text file."""
        return self.reading.delimiter or _DELIMITERS[self.format]

    @cached_property
    def schema(self) -> pa.Schema:
        """The names and types of all columns; those of a text file by its first block."""
        with _one_line_errors(self), self.open() as stream:
            schema: pa.Schema
            if self.is_text:
                schema = self._csv(pyarrow.csv.open_csv, stream).schema
            elif self.format == "parquet":
                schema = _open_parquet(stream).schema_arrow
            else:
                schema = _open_arrow(stream).schema
            assert all(isinstance(name, str) for name in schema.names)  # decodes them
            return schema

    @cached_property
    def places(self) -> dict[str, int]:
        """The places of the columns to read."""
        found = list(self.schema.names)
        check_unique_names(found)  # columns are read by the names in the file
        return places_to_read(self.reading, found)

    def leave_out(self, name: str) -> None:
        """Do not read a column."""
        vars(self)["places"] = {one: place for one, place in self.places.items() if one != name}

    def notes(self) -> list[str]:
        """Return the notes on columns of the file that are not read."""
        return label_notes(self.reading, list(self.schema.names))

    def memory(self) -> int:
        """Return about how many bytes of memory the table takes."""
        if self.format == "parquet":
            with _one_line_errors(self), self.open() as stream:
                metadata = _open_parquet(stream).metadata
                return int(metadata.num_rows * metadata.num_columns * 8)
        return self.size if self.compression is None and self.is_text else 4 * self.size

    def read(self) -> list[Column]:
        """Return the columns to read, all their rows; a large table is not in memory twice."""
        if are_large([self]):
            parts = self.consumed(lambda batches: [list(map(_compact, batch)) for batch in batches])
            if parts:
                return joined_tables(parts, [self.name] * len(parts))
        names = [self.schema.names[place] for place in self.places.values()]
        with _one_line_errors(self), self.open() as stream:
            if self.is_text:
                table = self._csv(pyarrow.csv.read_csv, stream, include_columns=names)
            elif self.format == "parquet":
                table = _open_parquet(stream).read(columns=names)
            else:
                table = _open_arrow(stream).read_all().select(names)
        return self._columns(table)

    def _parts(self, types: Mapping[str, ArrowType]) -> Iterator[list[Column]]:
        """Yield some rows at a time; ``types`` are by the names of columns in a text file."""
        rows = max(MIN_BATCH_ROWS, BATCH_CELLS // len(self.places))
        batches = self._batches(rows, dict(types))
        while True:
            with _one_line_errors(self):
                try:
                    batch = next(batches, None)
                except pa.ArrowInvalid as error:
                    match = re.search(r"CSV column #(\d+).*invalid value", str(error))
                    if match is None:
                        raise
                    raise NotOfType(self.schema.names[int(match[1])]) from error
            if batch is None:
                return
            for start in range(0, batch.num_rows, rows):
                yield self._columns(batch.slice(start, rows))

    def consumed(self, consume: Callable[[Iterator[list[Column]]], Consumed]) -> Consumed | None:
        """Return what a function returns for the batches; None if the file must be read whole."""
        schema, places = self.schema, self.places.values()
        first = {schema.names[i]: schema.types[i] for i in places} if self.is_text else {}
        if any(map(pa.types.is_temporal, first.values())):
            return None
        types = dict(first)
        while True:
            try:
                return consume(self._parts(types))
            except NotOfType as error:
                types[error.column] = LOOSER_TYPES[types[error.column]]
                if pa.types.is_null(first[error.column]) and types[error.column] == pa.string():
                    return None

    def _csv(self, read: Callable[..., Any], stream: Stream, **convert: Any) -> Any:  # noqa: ANN401
        """Open or read a text file with its options; ``read`` is a function of ``pyarrow``."""
        words = self.reading.missing_words
        return read(
            stream,
            read_options=pyarrow.csv.ReadOptions(
                block_size=_TEXT_BLOCK_BYTES,
                use_threads=read is pyarrow.csv.read_csv,
                encoding=self.reading.encoding or "utf8",
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                null_values=list(MISSING_WORDS if words is None else words),
                strings_can_be_null=True,
                decimal_point=self.reading.decimal,
                **convert,
            ),
        )

    def _columns(self, batch: Batch) -> list[Column]:
        columns = []
        for name, array in zip(self.places, batch.columns, strict=True):
            if self.is_text and pa.types.is_binary(array.type):
                raise _not_utf8(f"{self.name}: column {name!r}")
            if not self.is_text:
                with _one_line_errors(self):
                    array.validate(full=True)  # a damaged file may hold what would crash a reader
            columns.append(column_of_arrow(name, array))
        return columns

    def _batches(self, rows: int, types: dict[str, ArrowType]) -> Iterator[Batch]:
        names = [self.schema.names[place] for place in self.places.values()]
        with self.open() as stream:
            if self.is_text:
                options = {"column_types": types, "include_columns": names}
                with self._csv(pyarrow.csv.open_csv, stream, **options) as reader:
                    yield from reader
            elif self.format == "parquet":
                yield from _open_parquet(stream).iter_batches(
                    batch_size=rows, columns=names, use_threads=False
                )
            else:
                reader = _open_arrow(stream)
                batches = (
                    map(reader.get_batch, range(reader.num_record_batches))
                    if hasattr(reader, "get_batch")
                    else reader
                )
                for batch in batches:
                    yield batch.select(names)


def _native(path: Path) -> Any:  # noqa: ANN401 (what pyarrow accepts)
    """Return a path as pyarrow takes it: it takes text for UTF-8, which a name need not be."""
    return os.fsencode(path) if os.name == "posix" else str(path)


def open_file(source: str | os.PathLike[str] | BinaryIO, reading: Reading) -> File:
    """Return the file at a path, an open binary file, or standard input (``"-"``)."""
    if not isinstance(source, str | os.PathLike):
        file = _file_of_bytes(str(getattr(source, "name", "table")), source, reading)
    elif not os.fspath(source):  # which stands for the current folder
        raise FileError("the path of the table is empty; give the path of a file")
    elif os.fspath(source) == "-":
        stdin = None if sys.stdin is None else sys.stdin.buffer
        file = _file_of_bytes("standard input", stdin, reading)
    else:
        file = _file_at(Path(os.fsdecode(source)), reading)
    if file.is_text:
        _check_text(file)
    return file


def _file_at(path: Path, reading: Reading) -> File:
    """Return the file at a path; a stream, which can be read only once, is read immediately."""
    name = _shown(path)
    try:
        if path.is_dir():
            raise FileError(f"{name}: is a directory; give the path of one file")
        if path.is_file() or not path.exists():
            with opened(path, lambda place: place.open("rb")) as file:
                size = os.fstat(file.fileno()).st_size
            compression = COMPRESSED.get(path.suffix.lower())
            format = reading.format or _format_by_ending(path, name)
            return File(name, format, str(path), compression, size, reading)
        with path.open("rb") as pipe:
            if path.is_char_device() and not (pipe.isatty() or path.samefile(os.devnull)):
                raise FileError(f"{name}: is a device that may never end; give a file")
            return _file_of_bytes(name, pipe, reading)
    except SgesError:
        raise
    except (FileNotFoundError, ValueError):
        raise FileError(f"{name}: there is no such file; is the path right?") from None
    except OSError as error:
        raise FileError(f"{name}: cannot be opened ({error.strerror})") from None


def open_files(source: str | os.PathLike[str] | BinaryIO, reading: Reading) -> list[File]:
    """Return the file at a path, or the files of a folder or a pattern, sorted by name."""
    paths = _paths_of(source, reading)
    if not paths:
        return [open_file(source, reading)]
    first, *others = files = [open_file(path, reading) for path in paths]
    for file in others:
        if file.format != first.format:
            raise DataError(
                f"{file.name}: is {file.format}, but {first.name} is {first.format}; the parts of "
                "a table need the same format"
            )
        check_same_columns(first.name, first.places, file.name, file.places)
        vars(file)["places"] = {name: file.places[name] for name in first.places}
    return files


def _paths_of(source: str | os.PathLike[str] | BinaryIO, reading: Reading) -> list[Path]:
    """Return the files of a folder or a pattern; none if the source is one file."""
    if not isinstance(source, str | os.PathLike) or os.fspath(source) in ("", "-"):
        return []
    path = Path(os.fsdecode(source))
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError):  # open_file says what is wrong with the path
        return []
    if is_folder:
        return _paths_in(path, reading)
    if exists or not set("*?[") & set(str(path)):
        return []
    matches = glob(str(path), recursive=True)  # noqa: PTH207 (may be absolute)
    if paths := sorted(Path(match) for match in matches if not Path(match).is_dir()):
        return paths
    raise FileError(f"{_shown(path)}: no file matches this pattern; is the path right?")


def _paths_in(folder: Path, reading: Reading) -> list[Path]:
    """Return the tables in a folder; files whose names begin with . or _ are ignored."""
    name = _shown(folder)
    try:
        entries = sorted(entry for entry in folder.iterdir() if entry.name[0] not in "._")
    except OSError as error:
        raise FileError(f"{name}: cannot be opened ({error.strerror})") from None
    for entry in entries:
        if entry.is_dir():
            raise FileError(
                f"{name}: contains a folder, {entry.name!r}; give a pattern such as "
                f"{str(folder / '**' / '*.parquet')!r} for the files in it"
            )
        if reading.format is None:
            try:
                _format_by_ending(entry, name)
            except DataError:
                raise FileError(
                    f"{name}: contains {entry.name!r}, which does not have the extension of a "
                    f"table; give a pattern such as {str(folder / '*.csv')!r}"
                ) from None
    if not entries:
        raise FileError(f"{name}: is a folder without tables; is the path right?")
    return entries


def are_large(files: list[File]) -> bool:
    """Return whether the rows of a table are too large to be in memory at once, or twice."""
    return sum(file.memory() for file in files) >= LARGE_FILE_BYTES


def read_files(files: list[File]) -> list[Column]:
    """Return the columns of files, those of the first file in its order, with the rows of all."""
    if len(files) == 1:
        return files[0].read()
    return joined_tables([file.read() for file in files], [file.name for file in files])


def _compact(column: Column) -> Column:
    """Return a part of a column in as little memory as holds it."""
    values, kind = column.values, column.values.dtype
    if column.labels is not None:
        kind = np.min_scalar_type(len(column.labels))
    elif kind.kind in "iu" and len(values) and 0 <= values.min() <= values.max() < 256:
        kind = np.dtype(np.uint8)
    return replace(column, values=values.astype(kind, copy=False))


def _shown(path: Path) -> str:
    """Return a path as messages show it, always on one line."""
    return str(path) if str(path).isprintable() else repr(str(path))


def _format_by_ending(path: Path, name: str) -> Format:
    endings = [ending.lower() for ending in path.suffixes]
    if len(endings) > 1 and endings[-1] in COMPRESSED and ENDINGS.get(endings[-2]) in _DELIMITERS:
        return ENDINGS[endings[-2]]
    if endings and endings[-1] in ENDINGS:
        return ENDINGS[endings[-1]]
    what = f"{name}: the format is not known from the extension; supported are "
    what += f"{', '.join(ENDINGS)}, and .gz after .csv or .tsv; "
    remedy = "convert the table to one of them or, if it already is, pass "
    raise data_error(what, remedy, Argument("format", "csv"), " or another")


def _file_of_bytes(name: str, file: BinaryIO | None, reading: Reading) -> File:
    """Return the content of an open file, whose beginning shows the format."""
    try:
        if file is None:
            raise ValueError
        content = file.read()
    except OSError as error:
        raise FileError(f"{name}: cannot be read ({error.strerror or error})") from None
    except ValueError:
        raise FileError(f"{name}: is closed; give an open file or a path") from None
    if not isinstance(content, bytes | bytearray | memoryview):
        raise DataError(f"{name}: is open as text; open it in binary mode ('rb')")
    data = pa.py_buffer(bytes(content))
    compression: Compression | None = "gzip" if bytes(content[:2]) == b"\x1f\x8b" else None
    result = File(name, reading.format or "csv", data, compression, len(content), reading)
    if reading.format is not None:
        return result
    return replace(result, format=_format_by_content(result.head()) or "csv")


def _open_parquet(stream: Stream) -> Any:  # noqa: ANN401 (of pyarrow)
    import pyarrow.parquet  # slow to import: only when it is used

    # ParquetFile, because parquet.read_table imports pandas wherever it is installed.  A large file
    # is buffered, so that one of a single row group is not held in memory; not a small one,
    # because pyarrow takes a minute to see that a damaged page is shorter than its header says.
    buffer = _PAGE_BYTES if stream.size() >= LARGE_FILE_BYTES else 0
    return pyarrow.parquet.ParquetFile(stream, buffer_size=buffer, pre_buffer=False)


def _open_arrow(stream: Stream) -> Any:  # noqa: ANN401 (of pyarrow)
    """Return a reader of Feather, or of the Arrow file or stream format."""
    head = bytes(stream.read(6))
    stream.seek(0)
    return pa.ipc.open_file(stream) if head == b"ARROW1" else pa.ipc.open_stream(stream)


def _format_by_content(head: bytes) -> Format | None:
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff":
        return "feather"
    return None


def _check_text(file: File) -> None:
    """Raise an error if a file is not text, has no header, or has another delimiter."""
    head = file.head()
    if not head.strip():
        raise DataError(f"{file.name}: is empty; a table needs a header row and at least two rows")
    if (actual_format := _format_by_content(head)) is not None:
        what = f"{file.name}: contains {actual_format}, not {file.format}; pass "
        raise data_error(what, Argument("format", actual_format))
    lines = (_decoded(file, head) + "\n\n").split("\n")
    header, first = (line.strip("\r\ufeff") for line in lines[:2])
    if file.delimiter not in header:
        _check_delimiter(file, header)
    if file.delimiter not in header + first:
        _check_spaces(file, header, first)
    _check_header(file, header, first)


def _decoded(file: File, head: bytes) -> str:
    """Return the first lines as text."""
    encoding = file.reading.encoding
    if encoding is None and head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise _not_utf8(f"{file.name}: the header", "utf-16")
    if encoding is None and b"\0" in head:
        raise DataError(
            f"{file.name}: contains null bytes and is not {file.format}; is it damaged?"
        )
    try:
        return codecs.getincrementaldecoder(encoding or "utf-8")().decode(head)
    except UnicodeError as error:
        good = head[: getattr(error, "start", 0)]
        if encoding is not None or b"\n" not in good:
            raise _not_decodable(file, error) from None
        return good.decode()  # the header, at least, is UTF-8


def _check_delimiter(file: File, header: str) -> None:
    """Raise an error if a header without the delimiter seems to have another one."""
    mark = next((mark for mark in (";", "\t", "|", ",") if mark in header), None)
    if mark is None:
        return
    what = f"{file.name}: the header {header[:60]!r} contains no {file.delimiter!r} and seems "
    tab = Spelling(r"delimiter='\t'", "--delimiter tab")
    advice = tab if mark == "\t" else Argument("delimiter", mark)
    raise data_error(what, f"to be separated by {mark!r}; pass ", advice)


def _check_header(file: File, header: str, first: str) -> None:
    """Raise an error if the header contains values, or fewer fields than the first row."""
    fields = [field.strip(' "') for field in header.split(file.delimiter)]
    # Whole numbers are names with which libraries number columns.
    if all(map(_NUMBER.fullmatch, fields)) and not all(field.isdigit() for field in fields):
        raise DataError(
            f"{file.name}: the first line contains numbers ({header[:60]!r}), not names; "
            "add a header row"
        )
    try:  # one row if a name in quotes continues on the next line
        names, *rows = csv.reader([header, first], delimiter=file.delimiter)
    except csv.Error:  # lines that end in another way
        return
    if len(names) > 1 and [len(row) for row in rows] == [len(names) + 1]:
        raise DataError(
            f"{file.name}: the header has {len(names)} fields and the next line {len(rows[0])}; if "
            "the first is the name of the row, as written by write.table in R, write the table "
            "with write.csv"
        )


def _check_spaces(file: File, header: str, first: str) -> None:
    """Raise an error if the header and the first row seem to be separated by spaces."""
    fields, more = header.split(), len(first.split()) - len(header.split())
    if len(fields) < 2 or more not in (0, 1) or not any(map(_NUMBER.fullmatch, first.split())):
        return
    what = f"{file.name}: the header {header[:60]!r} seems to be separated by spaces; "
    if more or "  " in header + first:  # as by write.table in R, which adds the names of the rows
        raise DataError(f"{what}write the table with commas (in R with write.csv)")
    raise data_error(what, "pass ", Argument("delimiter", " "))


def _not_utf8(what: str, encoding: str = "latin-1") -> DataError:
    remedy = "; pass ", Argument("encoding", encoding), ", or the encoding that it was written in"
    return data_error(f"{what} is not UTF-8 text", *remedy)


def _not_decodable(file: File, error: UnicodeError) -> DataError:
    if file.reading.encoding is None:
        return _not_utf8(f"{file.name}: the header")
    what = f"{file.name}: cannot be decoded ({' '.join(str(error).split())[:200]}); "
    encoding = Argument("encoding", file.reading.encoding)
    return data_error(what, "it is not written in ", encoding)


@contextmanager
def _one_line_errors(file: File) -> Iterator[None]:
    """Turn an error of a reader into one line that names the file and the likely cause."""
    try:
        yield
    except SgesError:
        raise
    except UnicodeError as error:
        raise _not_decodable(file, error) from error
    except (
        pa.ArrowException, OSError, EOFError, ValueError, KeyError, OverflowError, MemoryError,
    ) as error:  # fmt: skip
        exhausted = out_of_memory(error, f" to read {file.name}")
        if exhausted and not _claims_too_much(file, error):
            raise exhausted from error
        reason = " ".join(str(error).split())[:200].rstrip(".")
        if file.is_text and "UTF8" in reason.upper().replace("-", ""):
            raise _not_utf8(f"{file.name}: a column") from error
        raise DataError(
            f"{file.name}: cannot be read as {file.format} ({reason}); "
            "is it damaged, cut short, or in another format?"
        ) from error


def _claims_too_much(file: File, error: BaseException) -> bool:
    """Return whether more memory was asked for than a file of this size can fill: it is damaged."""
    size = re.search(r"alloc of size (\d+) failed", str(error))
    return size is not None and int(size[1]) > _MOST_EXPANDED * max(file.size, 1)
