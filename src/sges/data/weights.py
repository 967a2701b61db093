"""How often each row of a table occurs, when the table says so."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.column import Column
from sges.data.tables import column_of
from sges.errors import DataError


def split_weights(
    columns: list[Column], weights: str | Sequence[int] | NDArray[Any] | None
) -> tuple[list[Column], NDArray[np.int64] | None]:
    """Return the columns that are variables, and the weights of the rows."""
    if weights is None:
        return columns, None
    if isinstance(weights, str):
        names = [column.name for column in columns]
        place = names.index(weights)
        given = columns[place]
        columns = columns[:place] + columns[place + 1 :]
    else:
        given = column_of("weights", weights)
    counts = _checked_weights(given)
    if columns and len(counts) != len(columns[0]):
        raise DataError(
            f"{len(counts)} weights were given for {len(columns[0])} rows; each row needs one"
        )
    kept = counts > 0
    return [column.take(kept) for column in columns], counts[kept]


def _checked_weights(column: Column) -> NDArray[np.int64]:
    values = column.values
    usable = column.labels is None and column.missing is None and values.dtype.kind in "iuf"
    if not usable or np.any(values < 0) or np.any(values != np.floor(values)):
        raise DataError(
            f"weights {column.name!r} must be whole numbers, 0 or more, one for each row; "
            "round them, or repeat the rows"
        )
    return values.astype(np.int64)
