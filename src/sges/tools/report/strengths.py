"""A confidence as text, as pictures and as files: the methods of ``Confidence`` that show it."""

import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from sges.display import cut, display_width, padded, printable, shortened
from sges.errors import check_number
from sges.graph.pdag import PDAG, Edge
from sges.tools.export.formats import csv_text
from sges.tools.plot.drawing import EdgeStyle, draw, draw_steps, picture
from sges.tools.report.html import graph_html
from sges.uncertainty.strengths import (
    COLUMNS,
    FORMAT,
    Confidence,
    distribution,
    searched_in_words,
)
from sges.writing import PathLike, check_own, has_format, write_directory

FILES = ("confidence.json", "strengths.csv", "strengths.svg", "summary.txt")
"""The files that ``Confidence.save`` writes."""

LEAST = 0.2
"""The smallest share of an edge outside the averaged class in the picture that is saved."""

SHARES_WIDTH = 32
"""The characters of a line of the summary besides the two names."""


def confidence_text(found: Confidence, max_lines: int | None, width: int | None) -> str:
    """Return the strongest edges and how they were found, as text."""
    check_number("max_lines", max_lines, whole=True, optional=True)
    check_number("width", width, whole=True, least=1, optional=True)
    rows, level = found.rows(), found.threshold
    shown_rows = rows[:max_lines]
    above = sum(row["p_edge"] > level for row in rows)
    stopped = "" if found.complete else f" ({found.stopped})"
    heads = (
        f"{searched_in_words(found)}{stopped}, draw {found.draw}; {found.score_name}, strategy "
        f"{found.strategy}",
        f"{above} of the {len(rows)} pairs that were ever adjacent exceed the threshold of "
        f"{level:.2f}",
    )
    lines: list[str] = []
    for head in heads:
        lines += wrap(head, width or len(head))
    lines += ["", *_table(shown_rows, level, width)]
    if len(shown_rows) < len(rows):
        lines.append(f"... and {len(rows) - len(shown_rows)} weaker pairs")
    if above < len(rows):
        lines.append(". at or below the threshold")
    for note in found.notes:
        indent = " " * len("note: ")
        lines += wrap(
            f"note: {note}", width or 80, subsequent_indent=indent, break_on_hyphens=False
        )
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _table(rows: Sequence[dict[str, Any]], level: float, width: int | None) -> list[str]:
    """Return one line per pair below the heads of the columns; weak pairs have a point."""
    names = sorted({row[end] for row in rows for end in "ab"})
    most = sys.maxsize if width is None else max(4, (width - SHARES_WIDTH) // 2)
    short = shortened(names, lambda name: cut(printable(name), most))
    labels = dict(zip(names, short, strict=True))
    room = max([1, *map(display_width, short)])
    lines = [f"{'a':{room}}  {'b':{room}}    edge    a→b    b→a    a—b"]
    for row in rows:
        a, b = (padded(labels[row[end]], room) for end in "ab")
        mark = " " if row["p_edge"] > level else "."
        shares = "".join(f"{row[column]:7.2f}" for column in COLUMNS[2:])
        lines.append(f"{a}  {b} {mark}{shares}")
    return lines


def confidence_html(found: Confidence) -> str:
    """Return a confidence as HTML for a notebook."""
    return graph_html(found.averaged().cpdag, confidence_text(found, 20, None))


def draw_confidence(
    found: Confidence,
    path: PathLike | None,
    ax: object,
    least: float,
    title: str | None,
    legend: bool,
) -> Path | None:
    """Draw the averaged class and the weaker edges, in a file or on axes."""
    check_number("least", least, most=1)
    graph, styles = _drawing(found, least)
    draw(graph, path, ax, title=title, legend=legend, styles=styles)
    return None if path is None else Path(path)


def draw_curve(found: Confidence, path: PathLike | None, ax: object) -> Path | None:
    """Draw the share of pairs of at most each strength, in a file or on axes."""
    n = len(found.names)
    levels, below = distribution(found.strengths.values(), n * (n - 1) // 2)
    points = list(zip(levels.tolist(), below.tolist(), strict=True))
    labels = ("strength of a pair", "share of pairs with at most this strength")
    draw_steps(points, path, ax, mark=found.threshold, labels=labels)
    return None if path is None else Path(path)


def _drawing(found: Confidence, least: float) -> tuple[PDAG, dict[Edge, EdgeStyle]]:
    """Return the graph of the averaged class and the weaker edges, and how to draw each."""
    graph, strengths = found.averaged().cpdag, found.strengths
    weak = {
        (a, b): usual
        for (a, b), usual in found._usual.items()
        if strengths[a, b] >= least and not graph.adjacent(a) >> b & 1
    }
    graph = graph.edited(
        direct=[arrow for arrow, is_line in weak.values() if not is_line],
        undirect=[pair for pair, (_, is_line) in weak.items() if is_line],
    )
    styles = {
        pair: EdgeStyle(width=0.5 + 2.5 * share, dashed=pair in weak)
        for pair, share in strengths.items()
    }
    return graph, styles


def check_directory(directory: PathLike) -> None:
    """Raise an error if a directory contains other files with the names of ours."""
    check_own(directory, FILES, lambda place: has_format(place / FILES[0], FORMAT))


def confidence_files(found: Confidence) -> dict[str, bytes]:
    """Return the contents of the files that ``Confidence.save`` writes, by name."""
    graph, styles = _drawing(found, LEAST)
    table = csv_text([list(COLUMNS), *([row[c] for c in COLUMNS] for row in found.rows())])
    contents = (
        found.to_json().encode(),
        table.encode("utf-8", "backslashreplace"),
        picture(graph, "svg", styles=styles),
        confidence_text(found, None, None).encode("utf-8", "backslashreplace"),
    )
    return dict(zip(FILES, contents, strict=True))


def save_confidence(found: Confidence, directory: PathLike) -> list[Path]:
    """Write the files of a confidence to a directory: all or none."""
    check_directory(directory)
    return write_directory(directory, confidence_files(found))
