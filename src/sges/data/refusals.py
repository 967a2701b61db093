"""The errors for columns that no variable of a Bayesian network can have.

Whichever adapter meets such a column, its owner reads the same sentence.
"""

from typing import Any

from sges.errors import DataError


def dates(name: str, kind: str) -> DataError:
    """Return the error for a column of dates, times or durations."""
    return DataError(
        f"column {name!r} holds dates or times ({kind}), which are neither numbers nor levels; "
        "turn it into a number (days since a start) or a category (month), or leave it out"
    )


def nested(name: str, kind: str) -> DataError:
    """Return the error for a column whose entries are lists, records or arrays."""
    return DataError(
        f"column {name!r} holds nested values ({kind}); "
        "give each part a column of its own, or leave it out"
    )


def unusable(name: str, kind: str) -> DataError:
    """Return the error for a column of a type of which nothing is known."""
    return DataError(
        f"column {name!r} has a type that cannot be used ({kind}); "
        "turn it into numbers, truth values, text or categories"
    )


def complex_numbers(name: str) -> DataError:
    """Return the error for a column of complex numbers."""
    return DataError(
        f"column {name!r} holds complex numbers; give real and imaginary part a column each"
    )


def mixed_types(name: str, entries: list[Any]) -> DataError:
    """Return the error for a column whose values are of several families."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[type(entry).__name__] = counts.get(type(entry).__name__, 0) + 1
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return DataError(
        f"column {name!r} mixes types ({found}); turn all into numbers, or all into text"
    )
