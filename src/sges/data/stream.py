"""Statistics of files larger than memory, in one pass.

    moments_of_file     means and covariances of continuous columns
    discrete_of_file    discrete columns, identical rows stored once with their weight

Memory holds one batch of rows, and beside it one matrix of products, or the distinct rows.
"""

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from sges.data.arrow import ArrowType, column_of_arrow
from sges.data.columns import (
    MAX_LEVELS,
    Column,
    floats,
    observed,
    refuse_infinities,
    smallest_unsigned,
    too_many_levels,
)
from sges.data.dataset import (
    Dataset,
    checked_weights,
    merge_rows,
    refuse_few_records,
)
from sges.data.decisions import KindNotes, all_missing, dropped_note, missing_values
from sges.data.files import BATCH_CELLS, File, open_file
from sges.data.moments import Block, Moments, block_rows, moments_of_blocks
from sges.data.reading import Format, Kind, Missing, Reading
from sges.errors import Argument, DataError, InvalidArgument, Message, check_number

Batches: TypeAlias = Iterator[list[Column]]
Codes: TypeAlias = NDArray[np.unsignedinteger]
Counts: TypeAlias = NDArray[np.int64]


def moments_of_file(
    path: str | os.PathLike[str],
    *,
    missing: Missing = "error",
    names: Sequence[str] | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    missing_words: Sequence[str] | None = None,
    format: Format | None = None,
    batch_rows: int | None = None,
) -> Moments:
    """Return means and covariances of the columns of a file, in one pass over it.

    The same as ``Moments.of(Dataset.of(path, kinds="continuous", ...))`` up to rounding.

    Parameters
    ----------
    path
        A CSV, TSV, Parquet, Feather or Arrow file of numbers.
    missing, names, weights, columns, exclude, delimiter, decimal, encoding, missing_words, format
        As in ``Dataset.of``; ``missing`` is ``"error"`` or ``"drop"``, and ``weights`` the name
        of a column.
    batch_rows
        Rows held in memory at a time; default: 4 MiB of numbers.

    Returns
    -------
    Moments
        The statistics that Gaussian scores need.

    Raises
    ------
    InvalidArgument
        If an option has a wrong type or is not one of the words allowed.
    FileError
        If the file does not exist or cannot be opened.
    DataError
        If the table cannot be used; the message says why and what would help.
    """
    check_number("batch_rows", batch_rows, whole=True, least=1, most=2**31, optional=True)
    reading = Reading(
        missing=missing, names=names, weights=weights, columns=columns, exclude=exclude,
        delimiter=delimiter, decimal=decimal, encoding=encoding, missing_words=missing_words,
        format=format,
    )  # fmt: skip
    if missing == "level":
        raise DataError(
            Message(
                Argument("missing", "level"),
                " is for discrete columns; pass ",
                Argument("missing", "drop"),
            )
        )
    rows = _Rows(open_file(path, reading), batch_rows, pa.float64())
    moments = moments_of_blocks(rows.names, _float_blocks(rows))
    return replace(moments, notes=rows.notes())


def discrete_of_file(
    path: str | os.PathLike[str],
    *,
    missing: Missing = "error",
    names: Sequence[str] | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    missing_words: Sequence[str] | None = None,
    format: Format | None = None,
    batch_rows: int | None = None,
) -> Dataset:
    """Return the dataset of a file of discrete columns, in one pass, identical rows merged.

    The same as ``Dataset.of(path, kinds="discrete", ...).merged()`` up to notes.

    Parameters
    ----------
    path
        A CSV, TSV, Parquet, Feather or Arrow file.
    missing, names, weights, columns, exclude, delimiter, decimal, encoding, missing_words, format
        As in ``Dataset.of``; ``weights`` is the name of a column.
    batch_rows
        Rows held in memory at a time, beside the distinct rows seen so far.

    Returns
    -------
    Dataset
        The distinct rows, with the number of times that each occurs as weights.

    Raises
    ------
    InvalidArgument
        If an option has a wrong type or is not one of the words allowed.
    FileError
        If the file does not exist or cannot be opened.
    DataError
        If the table cannot be used; the message says why and what would help.
    """
    check_number("batch_rows", batch_rows, whole=True, least=1, most=2**31, optional=True)
    reading = Reading(
        missing=missing, names=names, weights=weights, columns=columns, exclude=exclude,
        delimiter=delimiter, decimal=decimal, encoding=encoding, missing_words=missing_words,
        format=format,
    )  # fmt: skip
    rows = _Rows(open_file(path, reading), batch_rows, pa.string())
    dictionaries = [_Dictionary(name) for name in rows.names]
    distinct = _DistinctRows(dictionaries)
    for batch, counts in rows.usable():
        distinct.add([d.code(c) for d, c in zip(dictionaries, batch, strict=True)], counts)
    return _merged_dataset(rows, dictionaries, distinct)


class _Rows:
    """The usable rows of a file, batch by batch, and a count of what is missing.

    Nothing is said about missing values before the whole file has been seen.
    """

    def __init__(
        self, file: File, batch_rows: int | None, text_type: ArrowType | None = None
    ) -> None:
        reading = file.reading
        if reading.weights is not None and not isinstance(reading.weights, str):
            raise InvalidArgument("weights of a stream must be the name of a column")
        if reading.missing == "em":
            raise InvalidArgument(
                "missing = 'em' needs all rows in memory; read the file with Dataset.of"
            )
        schema = file.schema()
        places = reading.places(list(schema.names))
        self.file = file
        self.label_notes = tuple(reading.label_notes(list(schema.names)))
        self.types = {schema.names[i]: text_type for i in places.values()}
        self.names = [name for name in places if name != reading.weights]
        self.size = batch_rows or block_rows(len(places), BATCH_CELLS)
        self.seen = self.incomplete = self.records = 0
        self.missing: dict[str, int] = {}

    def usable(
        self, batches: Batches | None = None
    ) -> Iterator[tuple[list[Column], Counts | None]]:
        """Yield columns and weights without rows that count zero times or miss a value."""
        batches = batches or self.file.batches(self.size, self.types)
        how = self.file.reading.missing
        for columns, counts in self._weighted(batches):
            kept = self._complete(columns)
            if how == "level" or kept.all():
                yield columns, counts
            elif kept.any():
                kept_counts = None if counts is None else counts[kept]
                yield [column.take(kept) for column in columns], kept_counts
        self._refuse()

    def notes(self) -> tuple[str, ...]:
        """Return the notes on row labels that were left out and on rows that were dropped."""
        if not self.missing or self.file.reading.missing != "drop":
            return self.label_notes
        return (*self.label_notes, dropped_note(self.missing, self.incomplete, self.seen))

    def _weighted(self, batches: Batches) -> Iterator[tuple[list[Column], Counts | None]]:
        start = 0
        for columns in batches:
            refuse_infinities(columns, start)
            start += len(columns[0])
            if self.file.reading.weights is None:
                yield columns, None
                continue
            *columns, weights = columns
            counts = checked_weights(_as_numbers(weights), self.records)
            self.records += int(counts.sum())
            kept = counts > 0
            if kept.any():
                yield [column.take(kept) for column in columns], counts[kept]

    def _complete(self, columns: list[Column]) -> NDArray[np.bool_]:
        """Return which rows miss nothing, and count the others."""
        kept = np.ones(len(columns[0]), np.bool_)
        for column in columns:
            if column.missing is not None:
                kept &= ~column.missing
                count = self.missing.get(column.name, 0) + column.missing_count
                self.missing[column.name] = count
        self.seen += len(kept)
        self.incomplete += int((~kept).sum())
        return kept

    def _refuse(self) -> None:
        if not self.seen:
            raise DataError(f"{self.file.name}: the table has no rows; it needs at least two")
        for name, count in self.missing.items():
            if count == self.seen:
                raise all_missing(name, count)
        if self.missing and self.file.reading.missing == "error":
            raise missing_values(self.missing, self.seen, self.incomplete)


def _as_numbers(column: Column) -> Column:
    """Return a column of weights that was read as text as numbers, where it holds numbers."""
    if column.labels is None:
        return column
    try:
        values = np.array([float(label) for label in column.labels])[column.values]
    except ValueError:
        return column
    return Column(column.name, values, missing=column.missing)


def _float_blocks(rows: _Rows) -> Iterator[Block]:
    for columns, counts in rows.usable():
        yield np.array([floats(column) for column in columns]), counts


@dataclass(slots=True)
class _Dictionary:
    """The levels of one column so far, in the order of their appearance."""

    name: str
    places: dict[Any, int] = field(default_factory=dict)
    declared: bool = False

    def code(self, column: Column) -> NDArray[np.int64]:
        """Return the place of each value's level, after adding the levels that are new."""
        if column.declared and column.labels is not None:
            self.declared = True
            self._add(column.labels)
        found, positions = observed(column)
        self._add(found)
        places = np.array([self.places[label] for label in found], np.int64)
        codes: NDArray[np.int64] = places[positions]
        if column.missing is None:
            return codes
        self._add((None,))
        everywhere = np.full(len(column), self.places[None], np.int64)
        everywhere[~column.missing] = codes
        return everywhere

    def _add(self, labels: Sequence[Any]) -> None:
        for label in labels:
            self.places.setdefault(label, len(self.places))
        if len(self.places) > MAX_LEVELS:
            raise too_many_levels(self.name, len(self.places), len(self.places), False)

    def levels(self, file: File) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
        """Return the new code of each old one, and the levels in their final order."""
        labels = [label for label in self.places if label is not None]
        meant = _as_inferred(file, labels) if file.is_text else labels
        final = tuple(labels) if self.declared else tuple(sorted(set(meant)))
        if None in self.places:
            final = (*final, None)
        place = {label: i for i, label in enumerate(final)}
        by_label = dict(zip(labels, meant, strict=True))
        return np.array([place[by_label.get(old)] for old in self.places], np.int64), final


class _DistinctRows:
    """The distinct rows so far, merged whenever as many again are waiting."""

    def __init__(self, dictionaries: list[_Dictionary]) -> None:
        self.dictionaries = dictionaries
        self.waiting: list[tuple[Codes, Counts]] = []
        self.merged_size = 0

    def add(self, coded: list[NDArray[np.int64]], counts: Counts | None) -> None:
        """Add a batch of rows."""
        kind = smallest_unsigned(max(len(d.places) for d in self.dictionaries) - 1)
        self.waiting.append(merge_rows(np.array(coded, kind), self._arities(), counts))
        if sum(len(w) for _, w in self.waiting[1:]) > max(self.merged_size, 1 << 16):
            self.merge()

    def merge(self) -> tuple[Codes, Counts]:
        """Return the distinct rows seen so far and their weights."""
        codes = np.concatenate([codes for codes, _ in self.waiting], axis=1)
        weights = np.concatenate([weights for _, weights in self.waiting])
        self.waiting = [merge_rows(codes, self._arities(), weights)]
        self.merged_size = len(self.waiting[0][1])
        return self.waiting[0]

    def _arities(self) -> list[int]:
        return [len(d.places) for d in self.dictionaries]


def _as_inferred(file: File, labels: list[str]) -> list[Any]:
    """Return the values that reading the whole column would have made of its texts.

    The type of a CSV column depends on all its fields, but only through the distinct ones; so
    these are written as a column of their own and read back.
    """
    if not labels:
        return []
    quoted = ['"' + label.replace('"', '""') + '"' for label in labels]
    table = pyarrow.csv.read_csv(
        io.BytesIO(("x\n" + "\n".join(quoted) + "\n").encode()),
        read_options=pyarrow.csv.ReadOptions(block_size=1 << 26),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=file.convert_options(),
    )
    column = column_of_arrow("x", table.column(0))
    if column.labels is None:
        return list(column.values.tolist())
    return [column.labels[i] for i in column.values]


def _merged_dataset(
    rows: _Rows, dictionaries: list[_Dictionary], distinct: _DistinctRows
) -> Dataset:
    codes, weights = distinct.merge()
    moved, levels = zip(*(d.levels(rows.file) for d in dictionaries), strict=True)
    kind = smallest_unsigned(max(map(len, levels)) - 1)
    final = np.array([m[column] for m, column in zip(moved, codes, strict=True)], kind)
    final, weights = merge_rows(final, [len(labels) for labels in levels], weights)
    records = int(weights.sum())
    refuse_few_records(records)
    constant = (final == final[:, :1]).all(axis=1)
    names = tuple(rows.names)
    noted = KindNotes(constant=[n for n, same in zip(names, constant, strict=True) if same])
    merged = f"{records} records were merged into {len(weights)} distinct rows"
    notes = (*rows.notes(), merged, *noted.notes())
    final.flags.writeable = weights.flags.writeable = False
    empty = np.empty((0, len(weights)))
    return Dataset(names, (Kind.DISCRETE,) * len(names), levels, empty, final, weights, notes)
