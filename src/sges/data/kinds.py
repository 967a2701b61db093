"""Which columns are continuous and which are discrete, and why.

The rule, by type:

    float, decimal                          continuous
    truth value, text, category, enum       discrete
    integer                                 discrete if it has at most two distinct values, or at
                                            most ten that occur twice or more on average;
                                            else continuous

``kinds`` overrides it, for all columns or for those named.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeAlias

from sges.data.column import Column
from sges.errors import DataError

MAX_INTEGER_LEVELS = 10
"""An integer column with more distinct values than this is taken for a quantity."""


class Kind(StrEnum):
    """What the values of a column are: real numbers, or levels without an order."""

    CONTINUOUS = "continuous"
    DISCRETE = "discrete"


Kinds: TypeAlias = Mapping[str, Kind | str] | Kind | str | None
"""What users give: a kind per name, one kind for every column, or nothing."""


def checked_kinds(kinds: Kinds, names: Iterable[str]) -> dict[str, Kind]:
    """Return the kind asked for, per column for which one was."""
    known = list(names)
    if kinds is None:
        return {}
    if isinstance(kinds, str):
        return dict.fromkeys(known, _as_kind(kinds))
    asked = {str(name): _as_kind(kind) for name, kind in kinds.items()}
    for name in asked:
        if name not in known:
            raise unknown_column("kinds", name, known)
    return asked


def unknown_column(what: str, name: str, known: list[str]) -> DataError:
    """Return the error for a name that no column has."""
    close = get_close_matches(name, known, n=1)
    shown = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
    remedy = f"did you mean {close[0]!r}?" if close else f"the columns are {shown}"
    return DataError(f"{what}: there is no column {name!r}; {remedy}")


def _as_kind(kind: str) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        raise DataError(
            f"kinds: {kind!r} is not a kind; a column is 'continuous' or 'discrete'"
        ) from None


def inferred_kind(column: Column) -> Kind:
    """Return the kind of a column by the rule above."""
    if column.labels is not None or column.values.dtype.kind == "b":
        return Kind.DISCRETE
    if column.values.dtype.kind == "f":
        return Kind.CONTINUOUS
    distinct = len(column.distinct())
    few = distinct <= MAX_INTEGER_LEVELS and 2 * distinct <= len(column) - column.missing_count
    return Kind.DISCRETE if distinct <= 2 or few else Kind.CONTINUOUS


def kind_note(column: Column, kind: Kind) -> str | None:
    """Return what the owner of a column should know about the kind inferred for it."""
    if column.labels is not None or column.values.dtype.kind == "b":
        return None
    rows = len(column) - column.missing_count
    other = Kind.DISCRETE if kind is Kind.CONTINUOUS else Kind.CONTINUOUS
    override = f"kinds={{{column.name!r}: '{other}'}}"
    if column.values.dtype.kind in "iu":
        distinct = len(column.distinct())
        values = "value" if distinct == 1 else "values"
        return (
            f"{column.name!r} holds integers with {distinct} distinct {values} in {rows} "
            f"rows and is taken as {kind}; pass {override} to change that"
        )
    count = column.few_distinct(min(MAX_INTEGER_LEVELS, rows // 2))
    if count is not None and count > 1:
        return (
            f"{column.name!r} holds floats and is taken as {kind}, though it has only {count} "
            f"distinct values; pass {override} if they are codes"
        )
    return None
