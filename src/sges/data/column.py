"""A column of a table, in NumPy, before anything has been decided about it.

Every adapter (Arrow, NumPy, lists) ends in a ``Column``, and every decision (kinds, missing
values, levels) starts from one.  So what is decided cannot depend on the library a table
came from.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.distinct import distinct_values, few_distinct_values, has_finite_sum
from sges.errors import DataError

MAX_LEVELS = 65_536
"""The most levels a discrete column may have: as many as two bytes can tell apart."""


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """One column: numbers as they are, or positions in ``labels`` for text and categories.

    ``values`` is float64, int64, uint64, uint8 or bool when ``labels`` is None.  Where ``missing``
    is true, the value means nothing.  ``declared`` labels are levels whether they occur or not,
    in the order given; others are levels if they occur, and are sorted.
    """

    name: str
    values: NDArray[Any]
    labels: tuple[Any, ...] | None = None
    declared: bool = False
    missing: NDArray[np.bool_] | None = None
    _distinct: NDArray[Any] | None = field(default=None, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing_count(self) -> int:
        """The number of rows without a value."""
        return 0 if self.missing is None else int(self.missing.sum())

    def present(self) -> NDArray[Any]:
        """Return the values that are there."""
        return self.values if self.missing is None else self.values[~self.missing]

    def distinct(self) -> NDArray[Any]:
        """Return the distinct values present, sorted; of a column with labels, their positions."""
        if self._distinct is None:  # asked for by several decisions, computed once
            object.__setattr__(self, "_distinct", distinct_values(self.present()))
        assert self._distinct is not None
        return self._distinct

    def few_distinct(self, limit: int) -> int | None:
        """Return the number of distinct values present, or None if they are more than ``limit``."""
        few = few_distinct_values(self.present(), limit)
        return None if few is None else len(few)

    def take(self, rows: NDArray[np.bool_]) -> "Column":
        """Return the column with only the rows for which ``rows`` is true."""
        missing = None if self.missing is None else self.missing[rows]
        if missing is not None and not missing.any():
            missing = None
        return replace(self, values=self.values[rows], missing=missing)


def number_column(
    name: str, values: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> Column:
    """Return a column of numbers or truth values; a NaN among them is a missing value."""
    if values.dtype.kind == "f":
        values = values.astype(np.float64, copy=False)
        if not has_finite_sum(values):
            absent = np.isnan(values)
            missing = absent if missing is None else missing | absent
    elif values.dtype.kind in "iu" and values.dtype not in (np.uint64, np.uint8):
        values = values.astype(np.int64, copy=False)
    return Column(name, values, missing=_unless_none_missing(missing))


def label_column(
    name: str,
    positions: NDArray[Any],
    labels: Sequence[Any],
    *,
    declared: bool = False,
    missing: NDArray[np.bool_] | None = None,
) -> Column:
    """Return a column of labels, each given once; a label None is a missing value."""
    if len(labels) > MAX_LEVELS:
        raise too_many_levels(name, len(labels), len(np.unique(positions)), declared)
    places: dict[Any, int] = {}
    for label in labels:
        if label is not None:
            places.setdefault(label, len(places))
    if len(places) < len(labels):
        moved = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
        positions = moved[positions] if len(moved) else positions
        absent = positions < 0
        missing = absent if missing is None else missing | absent
    missing = _unless_none_missing(missing)
    return Column(name, positions, tuple(places), declared, missing)


def too_many_levels(name: str, levels: int, occurring: int, declared: bool) -> DataError:
    """Return the error for a discrete column with more levels than ``MAX_LEVELS``."""
    if declared and occurring <= MAX_LEVELS:
        remedy = f"only {occurring} of them occur: remove the unused categories"
    else:
        remedy = "it looks like an identifier: leave it out, or merge its rare levels"
    return DataError(
        f"column {name!r} has {levels} levels, and a discrete column may have {MAX_LEVELS}; "
        f"{remedy}"
    )


def _unless_none_missing(missing: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    return missing if missing is not None and missing.any() else None
