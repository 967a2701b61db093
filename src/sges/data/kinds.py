"""Which columns are continuous and which are discrete, and why.

The rule, by type:

    float, decimal                          continuous
    truth value, text, category, enum       discrete
    integer                                 discrete if it has at most two distinct values, or at
                                            most ten that occur twice or more on average;
                                            else continuous

``kinds`` overrides it, for all columns or for those named.
"""

from sges.data.column import Column
from sges.data.reading import Kind

MAX_INTEGER_LEVELS = 10
"""An integer column with more distinct values than this is taken for a quantity."""


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
