"""A file as batches of columns, of which only one is in memory at a time."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sges.data.arrow import column_of_arrow, refuse_arrow_type
from sges.data.column import Column
from sges.data.encode import refuse_infinities
from sges.data.files import (
    Options,
    Reader,
    Source,
    Stream,
    convert_options,
    one_line_errors,
    open_arrow,
    parse_options,
)
from sges.data.missing import all_missing, dropped_note, missing_values
from sges.data.reading import Missing, checked_names, unknown_column
from sges.errors import DataError

Batches: TypeAlias = Iterator[Any]
"""Record batches of ``pyarrow``."""

_TEXT_BLOCK = 1 << 22  # bytes of CSV read together
_PAGE = 1 << 16  # bytes of a Parquet column read ahead


def names_to_read(source: Source, columns: Sequence[str] | None) -> list[str]:
    """Return the columns asked for, all if none were, after checking that they are there."""
    with one_line_errors(source):
        schema = _schema(source)
    known = checked_names(list(schema.names))
    for name in columns or ():
        if name not in known:
            raise unknown_column(source.name, name, known)
    names = checked_names(list(columns)) if columns is not None else known
    if not source.is_text:  # the types of text are settled where its values are read
        for name in names:
            refuse_arrow_type(name, schema.field(name).type)
    return names


def column_batches(
    source: Source, names: list[str], rows: int, text_type: pa.DataType
) -> Iterator[list[Column]]:
    """Yield the columns, some rows at a time; the fields of a text file as ``text_type``."""
    batches = _BATCHES[source.format](source, names, rows, text_type)
    while True:
        with one_line_errors(source), _text_errors(source):
            batch = next(batches, None)
        if batch is None:
            return
        for start in range(0, batch.num_rows, rows):
            part = batch.slice(start, rows)
            yield [column_of_arrow(name, part.column(name)) for name in names]


@dataclass(slots=True)
class Tally:
    """Counts what is missing, so that nothing is said before the whole file has been seen."""

    source: Source
    missing: Missing
    rows: int = 0
    incomplete: int = 0
    found: dict[str, int] = field(default_factory=dict)

    def complete(self, batches: Iterator[list[Column]]) -> Iterator[list[Column]]:
        """Yield the batches without rows that miss a value; refuse these rows after the last."""
        for columns in batches:
            refuse_infinities(columns, self.rows)
            kept = self._counted(columns)
            if self.missing == "level" or kept.all():
                yield columns
            elif kept.any():
                yield [column.take(kept) for column in columns]
        self._refuse()

    def notes(self) -> tuple[str, ...]:
        """Return what people should know about the rows that were left out."""
        if not self.found or self.missing != "drop":
            return ()
        return (dropped_note(self.found, self.incomplete, self.rows),)

    def _counted(self, columns: list[Column]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        kept = np.ones(len(columns[0]), np.bool_)
        for column in columns:
            if column.missing is not None:
                kept &= ~column.missing
                self.found[column.name] = self.found.get(column.name, 0) + column.missing_count
        self.rows += len(kept)
        self.incomplete += int((~kept).sum())
        return kept

    def _refuse(self) -> None:
        if not self.rows:
            raise DataError(f"{self.source.name}: the table has no rows; it needs two at least")
        for name, count in self.found.items():
            if count == self.rows:
                raise all_missing(name, count)
        if self.found and self.missing == "error":
            raise missing_values(self.found, self.rows, self.incomplete)


def _schema(source: Source) -> pa.Schema:
    with source.open() as stream:
        schema: pa.Schema
        if source.is_text:
            schema = _csv_reader(source, stream).schema
        elif source.format == "parquet":
            schema = pyarrow.parquet.ParquetFile(stream).schema_arrow
        else:
            schema = open_arrow(stream).schema
        return schema


def _csv_reader(source: Source, stream: Stream, **convert: Options) -> Reader:
    return pyarrow.csv.open_csv(
        stream,
        read_options=pyarrow.csv.ReadOptions(block_size=_TEXT_BLOCK, use_threads=False),
        parse_options=parse_options(source),
        convert_options=convert_options(source, **convert),
    )


def _text_batches(source: Source, names: list[str], _: int, text_type: pa.DataType) -> Batches:
    types = dict.fromkeys(names, text_type)
    with (
        source.open() as stream,
        _csv_reader(source, stream, column_types=types, include_columns=names) as reader,
    ):
        yield from reader


def _parquet_batches(source: Source, names: list[str], rows: int, _: pa.DataType) -> Batches:
    # Buffered and not read ahead: a file that is one row group is no larger in memory for it.
    with source.open() as stream:
        file = pyarrow.parquet.ParquetFile(stream, buffer_size=_PAGE, pre_buffer=False)
        yield from file.iter_batches(batch_size=rows, columns=names, use_threads=False)


def _arrow_batches(source: Source, names: list[str], _: int, __: pa.DataType) -> Batches:
    with source.open() as stream:
        reader = open_arrow(stream)
        if hasattr(reader, "get_batch"):
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i).select(names)
        else:
            for batch in reader:
                yield batch.select(names)


_BATCHES = {
    "csv": _text_batches,
    "tsv": _text_batches,
    "parquet": _parquet_batches,
    "feather": _arrow_batches,
}


@contextmanager
def _text_errors(source: Source) -> Iterator[None]:
    """Name the column in whose text a number was looked for."""
    try:
        yield
    except pa.ArrowInvalid as error:
        found = re.search(r"CSV column #(\d+).*invalid value '(.*)'", str(error))
        if found is None:
            raise
        name = _schema(source).names[int(found[1])]
        raise DataError(
            f"{source.name}: column {name!r} holds {found[2]!r}, which is no number; "
            "leave the column out by passing columns=[...] without it"
        ) from error
