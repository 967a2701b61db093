"""Numbers and pages: means by group, exponents, markdown."""

from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np

from studies.frame import Experiment, Row, Value


def pick(rows: Iterable[Row], **fixed: Value) -> list[Row]:
    """Return the rows that have all of these values."""
    return [row for row in rows if all(row[key] == value for key, value in fixed.items())]


def values(rows: Iterable[Row], column: str) -> list[float]:
    """Return a column, without what was not measured."""
    return [float(row[column]) for row in rows if row[column] != ""]


def mean(rows: Iterable[Row], column: str) -> float:
    """Return the mean of a column; nan if nothing of it was measured."""
    found = values(rows, column)
    return fmean(found) if found else float("nan")


def distinct(rows: Iterable[Row], column: str) -> list[Value]:
    """Return the values of a column, each once, in order of appearance."""
    return list(dict.fromkeys(row[column] for row in rows))


def curve(rows: Sequence[Row], x: str, y: str) -> tuple[list[float], list[float]]:
    """Return the values of x, sorted, and the mean of y for each; for drawing."""
    xs = sorted({float(row[x]) for row in rows if row[y] != ""})
    return xs, [fmean(values([row for row in rows if float(row[x]) == at], y)) for at in xs]


def exponent(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the slope of log y over log x, by least squares: y grows as x to that power.

    >>> round(exponent([2, 4, 8], [12, 48, 192]), 6)
    2.0
    """
    return float(np.polyfit(np.log(xs), np.log(ys), 1)[0])


def number(value: float) -> str:
    """Return a number for people: whole and with separators if large, else to three digits.

    >>> number(12345.6), number(3.14159), number(0.5)
    ('12,346', '3.14', '0.5')
    """
    if value != value:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def grid(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a markdown table, numbers to the right."""
    marks = ["---"] + ["---:"] * (len(header) - 1)
    cells = [[number(c) if isinstance(c, int | float) else str(c) for c in row] for row in lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in [list(header), marks, *cells])


def page(experiment: Experiment, rows: list[Row], *, quick: bool) -> str:
    """Return the one-page summary of an experiment."""
    name, seed = experiment.name, rows[0]["seed"]
    command = f"python -m studies {name} --seed {seed}" + " --quick" * quick
    seconds = sum(values(rows, "seconds")) if "seconds" in experiment.columns else 0.0
    return (
        f"# {experiment.title}\n\n{experiment.summary(rows).strip()}\n\n"
        f"![{experiment.title}]({name}.svg)\n\n"
        f"Made by `{command} --out DIR`: {len(rows)} rows in [{name}.csv]({name}.csv), "
        f"{number(seconds)} seconds of processor time in all.\n"
    )
