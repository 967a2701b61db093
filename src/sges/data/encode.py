"""From a column whose kind is settled to the numbers that scores read."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.column import MAX_LEVELS, Column, too_many_levels
from sges.data.distinct import has_finite_sum, ranks
from sges.data.rows import smallest_unsigned
from sges.errors import DataError


def packed(
    coded: list[NDArray[np.unsignedinteger]], rows: int, levels: Sequence[tuple[Any, ...] | None]
) -> NDArray[np.unsignedinteger]:
    """Return the codes of all discrete columns in the smallest type that fits."""
    largest = max((len(labels) for labels in levels if labels is not None), default=1)
    codes = np.empty((len(coded), rows), smallest_unsigned(largest - 1))
    for row, column in enumerate(coded):
        codes[row] = column
    return codes


def floats(column: Column) -> NDArray[np.float64]:
    """Return the values of a continuous column."""
    values = column.values
    if column.labels is not None:
        if not all(_is_finite(label) for label in column.labels):
            raise DataError(
                f"column {column.name!r} holds text such as {str(column.labels[0])!r} and cannot "
                "be continuous; turn it into numbers, let it be discrete, or leave it out"
            )
        values = np.array(column.labels, np.float64)[values]
    return values.astype(np.float64, copy=False)


def _is_finite(label: object) -> bool:
    return isinstance(label, int | float) and math.isfinite(label)


def refuse_infinities(columns: list[Column], start: int = 0) -> None:
    """Refuse infinite values, naming the first; ``start`` is the number of the first row."""
    for column in columns:
        if column.labels is not None or column.values.dtype.kind != "f":
            continue
        if has_finite_sum(column.values):
            continue
        infinite = np.isinf(column.values)
        if column.missing is not None:
            infinite &= ~column.missing
        if count := int(infinite.sum()):
            raise DataError(
                f"column {column.name!r} holds {count} infinite value{'' if count == 1 else 's'}, "
                f"the first in row {start + int(infinite.argmax())} (counted from 0); "
                "replace them by numbers, or by missing values"
            )


def codes_and_levels(column: Column) -> tuple[NDArray[np.unsignedinteger], tuple[Any, ...]]:
    """Return the codes of a discrete column and the levels they stand for.

    Declared levels keep their order; others are sorted, numbers by value and text by letters.
    A level for missing values comes last, as None.
    """
    found, positions = observed(column)
    declared = column.declared and column.labels is not None
    levels = column.labels if declared and column.labels is not None else tuple(sorted(found))
    if len(levels) + (column.missing is not None) > MAX_LEVELS:
        raise too_many_levels(column.name, len(levels), len(found), column.declared)
    kind = smallest_unsigned(max(len(levels) - (column.missing is None), 0))
    place = {label: i for i, label in enumerate(levels)}
    moved = np.array([place[label] for label in found], kind)
    in_order = np.array_equal(moved, np.arange(len(found)))
    codes = positions.astype(kind, copy=False) if in_order else moved[positions]
    if column.missing is None:
        return codes, levels
    everywhere = np.full(len(column), len(levels), kind)
    everywhere[~column.missing] = codes
    return everywhere, (*levels, None)


def observed(column: Column) -> tuple[list[Any], NDArray[Any]]:
    """Return the labels that occur, each once, and the place among them of every value present."""
    distinct = column.distinct()
    if column.labels is None and len(distinct) > MAX_LEVELS:
        raise too_many_levels(column.name, len(distinct), len(distinct), False)
    present = column.present()
    positions = ranks(present, distinct) if len(distinct) else present
    if column.labels is not None:
        return [column.labels[i] for i in distinct], positions
    if distinct.dtype.kind == "f":
        distinct = distinct + 0.0  # -0.0 is 0.0
    return distinct.tolist(), positions
