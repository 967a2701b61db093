"""The page of ``studies.peers.engine``: one table per group of measurements."""

from collections.abc import Sequence
from math import log
from typing import Any

from studies.peers.machine import machine, today
from studies.peers.tables import MISSING, digits, markdown, times

Row = dict[str, Any]

TITLES = {
    "2d edges": "Linear Gaussian, 2 edges per variable, 10,000 rows, on a ready score",
    "4d edges": "Linear Gaussian, 4 edges per variable, 10,000 rows, on a ready score",
    "learn": "The same 2 edges per variable, from the array to the graph",
    "complete": "From the complete graph, with a population covariance",
    "discrete": "Reference networks, 5,000 rows, from the table to the graph",
    "python": "Where Python is asked at every turn",
    "busy": "Threads as they come, beside a process that keeps a core busy",
    "threads": "Eight searches, in turn and in eight threads",
    "floor": "Distance to the floor",
    "growth": "Growth of the present package, 1 edge per variable, from the array to the graph",
}

INTRODUCTION = """\
Seconds of the predecessor, which searched in Python, and of the present package, whose two
processes were asked in turn.  A ratio is the median over the repetitions, so it need not be the
quotient of the two medians.  Searches in one thread are timed by the processor's clock, others by
the clock on the wall.  "Same" says whether graph, score and number of score evaluations agree; a
ratio below what was aimed at is bold."""

NOTES = {
    "floor": "The floor is the time of exactly the questions that the search asked the score, when "
    "they are asked again in one native loop.",
    "growth": "Megabytes are the peak of the whole process, the table included; the exponent is "
    "the local one, from the size before.  Threads are not limited.",
}


def page(rows: Sequence[Row]) -> str:
    """Return the rows as a page of Markdown."""
    parts = ["# The compiled engine and its predecessor", f"{machine()}; {today()}.", INTRODUCTION]
    for group, title in TITLES.items():
        if found := [row for row in rows if row["group"] == group]:
            parts += [f"## {title}", *([NOTES[group]] if group in NOTES else []), _table(found)]
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[Row]) -> str:
    if rows[0]["group"] == "floor":
        head = ["search", "variables", "questions", "floor, s", "search, s", "distance"]
        body = [
            [*_head(row), f"{row['questions']:,}", _seconds(row["floor"]),
             _seconds(row["present"]), f"{row['ratio']:.2f}×"]
            for row in rows
        ]  # fmt: skip
    elif rows[0]["group"] == "growth":
        head = ["search", "variables", "seconds", "exponent", "MB"]
        body = [
            [*_head(row), digits(row["present"]), _exponent(rows, row), f"{row['megabytes']:,.0f}"]
            for row in rows
        ]
    else:
        head = ["search", "variables", "predecessor, s", "present, s", "ratio", "runs", "same"]
        body = [
            [*_head(row), _seconds(row["predecessor"]), _seconds(row["present"]), _ratio(row),
             str(row["repetitions"]), same(row)]
            for row in rows
        ]  # fmt: skip
    return markdown(head, body)


def _head(row: Row) -> list[str]:
    return [row["what"], f"{row['n']:,}"]


def _seconds(value: float) -> str:
    """Return seconds, or milliseconds where that reads better.

    >>> _seconds(0.00123), _seconds(1.234)
    ('1.23 ms', '1.23')
    """
    return f"{1000 * value:.3g} ms" if value < 0.1 else digits(value)


def _ratio(row: Row) -> str:
    text = times(row["ratio"])
    return f"**{text}**" if row["target"] and row["ratio"] < row["target"] else text


def same(row: Row) -> str:
    """Return in what two packages agree.

    >>> same({"same_graph": True, "same_score": True, "same_count": False})
    'not count'
    """
    differ = [name for name in ("graph", "score", "count") if not row[f"same_{name}"]]
    return f"not {', '.join(differ)}" if differ else "yes"


def _exponent(rows: Sequence[Row], row: Row) -> str:
    smaller = [r for r in rows if r["what"] == row["what"] and r["n"] < row["n"]]
    if not smaller:
        return MISSING
    last = max(smaller, key=lambda r: int(r["n"]))
    return f"{log(row['present'] / last['present']) / log(row['n'] / last['n']):.2f}"
