"""From Python values, one by one, to a column.

Lists and object columns have no type of their own, so every entry is looked at.
"""

from collections.abc import Iterable
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.data.column import Column, label_column, number_column
from sges.data.refusals import complex_numbers, dates, mixed_types, nested
from sges.errors import DataError


def list_column(name: str, entries: list[Any]) -> Column:
    """Return a column of Python values, which must all be of one family."""
    missing = np.fromiter((_is_missing(entry) for entry in entries), np.bool_, len(entries))
    families = {_family(name, e) for e, gone in zip(entries, missing, strict=True) if not gone}
    if len(families) > 1 and families != {"integer", "real"}:
        raise mixed_types(name, [e for e, gone in zip(entries, missing, strict=True) if not gone])
    if families == {"text"}:
        return _coded(name, entries, missing)
    filler, dtype = _number_type(name, entries, missing, families)
    values = [filler if gone else e for e, gone in zip(entries, missing, strict=True)]
    return number_column(name, np.array(values, dtype=dtype), missing)


def _number_type(
    name: str, entries: list[Any], missing: NDArray[np.bool_], families: set[str]
) -> tuple[Any, Any]:
    """Return what to write where a value is missing, and the type of the array."""
    if families == {"truth value"}:
        return False, np.bool_
    if families != {"integer"}:
        return np.nan, np.float64
    whole = [e for e, gone in zip(entries, missing, strict=True) if not gone]
    if min(whole) < -(2**63) or max(whole) >= 2**64 or (min(whole) < 0 and max(whole) >= 2**63):
        raise DataError(
            f"column {name!r} holds integers beyond 64 bits ({max(whole, key=abs)}); "
            "give them as text if they are codes, or as floats if they are quantities"
        )
    return 0, np.uint64 if max(whole) >= 2**63 else np.int64


def _coded(name: str, entries: list[Any], missing: NDArray[np.bool_]) -> Column:
    places: dict[str, int] = {}
    positions = [
        0 if gone else places.setdefault(str(entry), len(places))
        for entry, gone in zip(entries, missing, strict=True)
    ]
    return label_column(name, np.array(positions, np.int64), list(places), missing=missing)


def _is_missing(entry: object) -> bool:
    """Tell whether an entry stands for no value: None, NaN, pandas.NA, NaT, numpy.ma.masked."""
    if entry is None or entry is np.ma.masked or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(entry, np.datetime64 | np.timedelta64):
        return bool(np.isnat(entry))
    return isinstance(entry, float | np.floating | Decimal) and bool(entry != entry)


def _family(name: str, entry: object) -> str:
    """Return the family of types an entry is of, or say why there is none."""
    families: list[tuple[Any, str]] = [
        (bool | np.bool_, "truth value"),
        (str, "text"),
        (Integral, "integer"),
        (Real | Decimal | Fraction, "real"),
    ]
    for kind, family in families:
        if isinstance(entry, kind):
            return family
    if isinstance(entry, complex | np.complexfloating):
        raise complex_numbers(name)
    if isinstance(entry, date | time | timedelta | np.datetime64 | np.timedelta64):
        raise dates(name, type(entry).__name__)
    if isinstance(entry, Iterable) and not isinstance(entry, bytes):
        raise nested(name, type(entry).__name__)
    raise DataError(
        f"column {name!r} holds a {type(entry).__name__}, which is neither a number, a truth "
        "value nor text; turn the column into one of these, or leave it out"
    )
