"""Missing values: refused, left out with their rows, or made a level."""

import numpy as np
from numpy.typing import NDArray

from sges.data.column import Column
from sges.data.kinds import inferred_kind
from sges.data.reading import Kind, Missing
from sges.errors import DataError


def settle_missing(
    columns: list[Column],
    counts: NDArray[np.int64] | None,
    missing: Missing,
    asked: dict[str, Kind],
) -> tuple[list[Column], NDArray[np.int64] | None, list[str]]:
    """Return columns, weights and notes after missing values were dealt with."""
    holes = [column for column in columns if column.missing is not None]
    if not holes:
        return columns, counts, []
    incomplete = np.logical_or.reduce([c.missing for c in holes if c.missing is not None])
    found = {column.name: column.missing_count for column in holes}
    if missing == "error":
        raise missing_values(found, len(incomplete), int(incomplete.sum()))
    if missing == "level":
        _refuse_continuous_holes(holes, asked)
        return columns, counts, [f"missing values are a level of {_listed(found)}"]
    kept = ~incomplete
    note = dropped_note(found, int(incomplete.sum()), len(incomplete))
    rest = [column.take(kept) for column in columns]
    return rest, None if counts is None else counts[kept], [note]


def missing_values(found: dict[str, int], rows: int, incomplete: int) -> DataError:
    """Return the error for missing values nobody said what to do about."""
    shown = [f"{name!r} {count}" for name, count in list(found.items())[:5]]
    shown += [f"and {len(found) - 5} more columns"] * (len(found) > 5)
    return DataError(
        f"missing values in {incomplete} of {rows} rows ({', '.join(shown)}); pass missing='drop' "
        "to leave these rows out, or missing='level' to make them a level of a discrete column"
    )


def dropped_note(found: dict[str, int], incomplete: int, rows: int) -> str:
    """Return the note on rows that were left out for what is missing in them."""
    return f"{incomplete} of {rows} rows were left out for missing values in {_listed(found)}"


def _listed(found: dict[str, int]) -> str:
    shown = ", ".join(f"{name!r} ({count})" for name, count in list(found.items())[:5])
    return shown + (f" and {len(found) - 5} more columns" if len(found) > 5 else "")


def _refuse_continuous_holes(holes: list[Column], asked: dict[str, Kind]) -> None:
    for column in holes:
        if (asked.get(column.name) or inferred_kind(column)) is Kind.CONTINUOUS:
            raise DataError(
                f"column {column.name!r} is continuous and {column.missing_count} of its values "
                "are missing; missing='level' is for discrete columns: pass missing='drop', or "
                f"kinds={{{column.name!r}: 'discrete'}} if its values are codes"
            )


def all_missing(name: str, rows: int) -> DataError:
    """Return the error for a column without a single value."""
    return DataError(f"column {name!r} has no values, all {rows} are missing; leave it out")
