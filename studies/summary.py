"""From rows to numbers and Markdown: selections, means, quartiles, exponents, tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, quantiles
from typing import Any

import numpy as np

from studies.frame import Row

MISSING = "–"


def pick(rows: Iterable[Row], **fixed: object) -> list[Row]:
    """Return the rows that have all of these values."""
    return [row for row in rows if all(row[key] == value for key, value in fixed.items())]


def values(rows: Iterable[Row], column: str) -> list[float]:
    """Return the measured values of a column."""
    return [float(row[column]) for row in rows if row[column] is not None]


def mean(rows: Iterable[Row], column: str) -> float:
    """Return the mean of a column; nan if it was not measured."""
    known = values(rows, column)
    return fmean(known) if known else float("nan")


def distinct(rows: Iterable[Row], column: str) -> list[Any]:
    """Return the distinct values of a column, in order of appearance."""
    return list(dict.fromkeys(row[column] for row in rows))


def curve(rows: Sequence[Row], x: str, y: str) -> tuple[list[float], list[float]]:
    """Return the sorted values of x, and the mean of y at each."""
    xs = sorted({float(row[x]) for row in rows if row[y] is not None})
    return xs, [fmean(values([row for row in rows if float(row[x]) == at], y)) for at in xs]


def exponent(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the slope of log y over log x by least squares: y grows as x to that power.

    >>> round(exponent([2, 4, 8], [12, 48, 192]), 6)
    2.0
    """
    return float(np.polyfit(np.log(xs), np.log(ys), 1)[0])


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some values and the quartiles around it."""

    low: float
    mid: float
    high: float


def spread_of(numbers: Sequence[float]) -> Spread | None:
    """Return the median and the quartiles, interpolated as by NumPy, or None without values.

    >>> spread_of([1.0, 2.0, 3.0, 10.0])
    Spread(low=1.75, mid=2.5, high=4.75)
    """
    if len(numbers) < 2:
        return Spread(*[numbers[0]] * 3) if numbers else None
    return Spread(*quantiles(numbers, n=4, method="inclusive"))


# Text of numbers, and tables.


def number(value: float) -> str:
    """Return the text of a number: an integer with separators if large, else three digits.

    >>> number(12345.6), number(3.14159), number(0.5)
    ('12,346', '3.14', '0.5')
    """
    if value != value:
        return MISSING
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def seconds(value: float) -> str:
    """Return the text of seconds: three digits, but at most three decimals, with separators.

    >>> [seconds(value) for value in (0.0012, 0.1234, 12.34, 1234.5)]
    ['0.001', '0.123', '12.3', '1,234']
    """
    decimals = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{decimals}f}"


def times(ratio: float) -> str:
    """Return the text of a ratio; two digits below 1, one decimal below 10.

    >>> [times(value) for value in (0.00456, 0.5, 3.14, 250.3)]
    ['0.0046×', '0.5×', '3.1×', '250×']
    """
    if ratio < 1:
        return f"{ratio:.2g}×"
    return f"{ratio:,.{1 if ratio < 10 else 0}f}×"


def grid(header: Sequence[str], lines: Iterable[Sequence[object]], left: int = 1) -> str:
    """Return a Markdown table with the first columns aligned left, and the others right.

    >>> print(grid(["program", "s"], [["ges", 1.25]]))
    | program | s |
    | :--- | ---: |
    | ges | 1.25 |
    """
    rule = [*[":---"] * left, *["---:"] * (len(header) - left)]
    body = [[_cell(value) for value in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(header), rule, *body])


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return number(value)
    return " ".join(str(value).replace("|", "/").split())
