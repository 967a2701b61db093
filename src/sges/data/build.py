"""From a table to a dataset: each step of ``Dataset.of``, in its order."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.column import Column
from sges.data.dataset import Dataset
from sges.data.distinct import LEADING, is_constant
from sges.data.encode import codes_and_levels, floats, packed, refuse_infinities
from sges.data.kinds import (
    MAX_INTEGER_LEVELS,
    inferred_kind,
    kind_note,
)
from sges.data.missing import all_missing, settle_missing
from sges.data.reading import Kind, Reading, Table, is_path
from sges.data.tables import columns_of, plain_floats
from sges.data.weights import split_weights
from sges.errors import DataError

MANY_ROWS = 20
"""From more rows than this, a level per row is taken for an identifier, not a variable."""

COPIED_CELLS = 1 << 16
"""An array of doubles up to this size is copied, so that nobody else can write to it."""


def dataset_of(table: Table, reading: Reading) -> Dataset:
    """Return the dataset of a table; the work behind ``Dataset.of``."""
    if is_path(table):
        from sges.data.files import table_of_file  # pyarrow: only when it is used

        table = table_of_file(table, reading)
    if reading.weights is None and (plain := plain_floats(table)) is not None:
        found, array = plain
        places = reading.places(found)
        asked = reading.kinds_of(list(places))
        if Kind.DISCRETE not in asked.values():
            if list(places.values()) != list(range(len(found))):
                array = array[:, list(places.values())]
            return _dataset_of_floats(array, list(places), asked)
    columns = columns_of(table, reading)
    refuse_infinities(columns)
    columns, counts = split_weights(columns, reading.weights)
    refuse_empty(columns)
    asked = reading.kinds_of([column.name for column in columns])
    columns, counts, notes = settle_missing(columns, counts, reading.missing, asked)
    refuse_few_records(len(columns[0]) if counts is None else int(counts.sum()))
    chosen = [asked.get(column.name) or inferred_kind(column) for column in columns]
    notes += _kind_notes(columns, chosen, asked)
    named = frozenset() if isinstance(reading.kinds, Kind) else frozenset(asked)
    discrete = [c for c, kind in zip(columns, chosen, strict=True) if kind is Kind.DISCRETE]
    _refuse_identifiers(discrete, named, counts)
    return _assembled(columns, chosen, counts, notes)


def _dataset_of_floats(
    table: NDArray[np.float64], names: list[str], asked: dict[str, Kind]
) -> Dataset:
    """Return the dataset of an array of finite doubles, which is read where it lies if it is large.

    Only the leading rows are looked at, and the rest of those columns that repeat a few values
    there.
    """
    leading = np.sort(table[:LEADING], axis=0)
    repeats = (leading[1:] != leading[:-1]).sum(axis=0) < MAX_INTEGER_LEVELS
    columns = [Column(names[i], table[:, i]) for i in np.flatnonzero(repeats).tolist()]
    notes = _kind_notes(columns, [Kind.CONTINUOUS] * len(columns), asked)
    notes += [constant_note(column.name) for column in columns if is_constant(column.values)]
    values = np.array(table.T, order="C") if table.size <= COPIED_CELLS else table.T
    codes = np.empty((0, len(table)), np.uint8)
    values.flags.writeable = codes.flags.writeable = False
    kinds, levels = (Kind.CONTINUOUS,) * len(names), (None,) * len(names)
    return Dataset(tuple(names), kinds, levels, values, codes, None, tuple(notes))


def refuse_empty(columns: list[Column]) -> None:
    """Refuse a table without columns, without rows, or with a column without values."""
    if not columns:
        raise DataError("the table has no columns; it needs one at least")
    rows = len(columns[0])
    if rows == 0:
        raise DataError(f"the table has {len(columns)} columns and no rows; it needs two at least")
    for column in columns:
        if column.missing_count == rows:
            raise all_missing(column.name, rows)


def refuse_few_records(records: int) -> None:
    """Refuse a table from which nothing can be learned."""
    if records < 2:
        raise DataError(
            f"the table has {records} usable row{'' if records == 1 else 's'}; "
            "it needs two at least"
        )


def _kind_notes(columns: list[Column], kinds: list[Kind], asked: dict[str, Kind]) -> list[str]:
    notes = [
        kind_note(column, kind)
        for column, kind in zip(columns, kinds, strict=True)
        if column.name not in asked
    ]
    return [note for note in notes if note is not None]


def _refuse_identifiers(
    columns: list[Column], named: frozenset[str], counts: NDArray[np.int64] | None
) -> None:
    """Refuse a discrete column with a level for each row, unless it was asked for by name."""
    if counts is not None and np.any(counts != 1):
        return  # in a table of counts, a level for each row is nothing special
    for column in columns:
        rows = len(column) - column.missing_count
        if column.name in named or rows <= MANY_ROWS:
            continue
        if len(column.distinct()) == rows:
            raise DataError(
                f"column {column.name!r} has a level of its own for each of {rows} rows, "
                f"so {_what_it_looks_like(column)}"
            )


def _what_it_looks_like(column: Column) -> str:
    if column.labels is not None and all(_is_decimal_comma(label) for label in column.labels):
        return (
            "it looks like numbers with a decimal comma: read the file with "
            "sges.data.read_table(path, decimal=',')"
        )
    return (
        "it looks like an identifier: leave it out, or pass "
        f"kinds={json.dumps({column.name: 'discrete'})} to keep it"
    )


def _is_decimal_comma(label: object) -> bool:
    whole, comma, part = str(label).strip().lstrip("+-").partition(",")
    return bool(comma) and part.isdigit() and (whole.isdigit() or not whole)


def _assembled(
    columns: list[Column],
    kinds: list[Kind],
    counts: NDArray[np.int64] | None,
    notes: list[str],
) -> Dataset:
    rows = len(columns[0])
    values = np.empty((kinds.count(Kind.CONTINUOUS), rows))
    coded: list[NDArray[np.unsignedinteger]] = []
    levels: list[tuple[Any, ...] | None] = []
    row = 0
    for column, kind in zip(columns, kinds, strict=True):
        if kind is Kind.CONTINUOUS:
            values[row] = floats(column)
            notes += [constant_note(column.name)] * is_constant(values[row])
            levels.append(None)
            row += 1
        else:
            codes, labels = codes_and_levels(column)
            notes += [constant_note(column.name)] * is_constant(codes)
            coded.append(codes)
            levels.append(labels)
    names = tuple(column.name for column in columns)
    discrete = packed(coded, rows, levels)
    for array in (values, discrete, counts):
        if array is not None:
            array.flags.writeable = False
    return Dataset(names, tuple(kinds), tuple(levels), values, discrete, counts, tuple(notes))


def constant_note(name: str) -> str:
    """Return the note on a column that tells nothing."""
    return f"{name!r} is constant, so nothing can depend on it"
