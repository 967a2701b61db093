"""What can be learned from a file larger than memory, in one pass over it.

    stream_moments     means and covariances of continuous columns
    stream_discrete    discrete columns, identical rows stored once with their weight

Memory holds one batch of rows, and beside it one matrix of products, or the distinct rows.
"""

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from sges.data.batches import Tally, column_batches, names_to_read
from sges.data.build import constant_note, refuse_few_records
from sges.data.column import MAX_LEVELS, Column, too_many_levels
from sges.data.dataset import Dataset
from sges.data.encode import floats, observed
from sges.data.files import Source, convert_options, locate
from sges.data.moments import Block, Moments, block_rows, moments_of_blocks
from sges.data.reading import Kind, Missing, Reading
from sges.data.rows import merge_rows, smallest_unsigned
from sges.errors import DataError

Codes = NDArray[np.unsignedinteger]


BATCH_CELLS = 1 << 19
"""Values read together: 4 MiB of numbers."""


def stream_moments(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None,
    missing: Missing,
    batch_rows: int | None,
) -> Moments:
    """Return means and covariances; the work behind ``sges.data.moments_of_file``."""
    Reading(missing=missing, columns=columns)
    if missing == "level":
        raise DataError("missing='level' is for discrete columns; pass missing='drop'")
    source = locate(path)
    names = names_to_read(source, columns)
    tally = Tally(source, missing)
    rows = batch_rows or block_rows(len(names), BATCH_CELLS)
    batches = tally.complete(column_batches(source, names, rows, pa.float64()))
    moments = moments_of_blocks(names, _float_blocks(batches))
    return replace(moments, notes=tally.notes())


def _float_blocks(batches: Iterator[list[Column]]) -> Iterator[Block]:
    for columns in batches:
        yield np.array([floats(column) for column in columns]), None


def stream_discrete(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None,
    missing: Missing,
    batch_rows: int | None,
) -> Dataset:
    """Return the distinct rows; the work behind ``sges.data.discrete_of_file``."""
    Reading(missing=missing, columns=columns)
    source = locate(path)
    names = names_to_read(source, columns)
    tally = Tally(source, missing)
    rows = batch_rows or block_rows(len(names), BATCH_CELLS)
    dictionaries = [_Dictionary(name) for name in names]
    distinct = _DistinctRows(dictionaries)
    for batch in tally.complete(column_batches(source, names, rows, pa.string())):
        distinct.add([d.code(column) for d, column in zip(dictionaries, batch, strict=True)])
    return _finished(source, dictionaries, distinct, tally)


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

    def levels(self, source: Source) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
        """Return the new code of each old one, and the levels in their final order."""
        labels = [label for label in self.places if label is not None]
        meant = _as_inferred(source, labels) if source.is_text else labels
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
        self.waiting: list[tuple[Codes, NDArray[np.int64]]] = []
        self.merged_size = 0

    def add(self, coded: list[NDArray[np.int64]]) -> None:
        kind = smallest_unsigned(max(len(d.places) for d in self.dictionaries) - 1)
        self.waiting.append(merge_rows(np.array(coded, kind), self._arities()))
        if sum(len(w) for _, w in self.waiting[1:]) > max(self.merged_size, 1 << 16):
            self.merge()

    def merge(self) -> tuple[Codes, NDArray[np.int64]]:
        """Return the distinct rows seen so far and their weights."""
        codes = np.concatenate([codes for codes, _ in self.waiting], axis=1)
        weights = np.concatenate([weights for _, weights in self.waiting])
        self.waiting = [merge_rows(codes, self._arities(), weights)]
        self.merged_size = len(self.waiting[0][1])
        return self.waiting[0]

    def _arities(self) -> list[int]:
        return [len(d.places) for d in self.dictionaries]


def _as_inferred(source: Source, labels: list[str]) -> list[Any]:
    """Return the values that reading the whole column would have made of its texts.

    The type of a CSV column depends on all its fields, but only through the distinct ones; so
    these are written as a column of their own and read back.
    """
    if not labels:
        return []
    buffer = io.BytesIO(("x\n" + "\n".join(map(_quoted, labels)) + "\n").encode())
    options = convert_options(source)
    table = pyarrow.csv.read_csv(
        buffer,
        read_options=pyarrow.csv.ReadOptions(block_size=1 << 26),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=options,
    )
    column = table.column(0)
    from sges.data.arrow import column_of_arrow

    return _labels_in_order(column_of_arrow("x", column))


def _quoted(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


def _labels_in_order(column: Column) -> list[Any]:
    if column.labels is None:
        return list(column.values.tolist())
    return [column.labels[i] for i in column.values]


def _finished(
    source: Source, dictionaries: list[_Dictionary], distinct: _DistinctRows, tally: Tally
) -> Dataset:
    codes, weights = distinct.merge()
    moved, levels = zip(*(d.levels(source) for d in dictionaries), strict=True)
    kind = smallest_unsigned(max(map(len, levels)) - 1)
    final = np.array([m[column] for m, column in zip(moved, codes, strict=True)], kind)
    final, weights = merge_rows(final, [len(labels) for labels in levels], weights)
    records = int(weights.sum())
    refuse_few_records(records)
    names = tuple(d.name for d in dictionaries)
    notes = [*tally.notes(), f"{records} records were merged into {len(weights)} distinct rows"]
    constant = (final == final[:, :1]).all(axis=1)
    notes += [constant_note(name) for name, same in zip(names, constant, strict=True) if same]
    final.flags.writeable = weights.flags.writeable = False
    empty = np.empty((0, len(weights)))
    kinds = (Kind.DISCRETE,) * len(names)
    return Dataset(names, kinds, tuple(levels), empty, final, weights, tuple(notes))
