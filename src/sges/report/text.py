"""A result, and a search that is under way, in plain text for a terminal of 80 columns."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from textwrap import wrap
from typing import TYPE_CHECKING

from sges.errors import check_instance, check_number
from sges.graph.named import printable
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.result import Result

if TYPE_CHECKING:
    from sges.search.run import OnProgress, Progress

WIDTH = 80
SECONDS_BETWEEN_LINES = 0.1

PHASES = {
    "fes": "adding edges",
    "poly-fes": "adding edges",
    "bes": "removing edges",
    "sbes": "removing edges selectively",
    "turning": "turning edges",
    "order": "ordering the variables",
    "interleaved": "adding, turning and removing edges",
    "extended": "escaping from the local optimum",
}
"""The phases of a search in words."""


def summary(result: Result, max_lines: int | None = 40) -> str:
    """Return the edges, child by child, and then how they were found.

    Parameters
    ----------
    result : Result
        The result to describe.
    max_lines : int or None
        The largest number of lines for each list of edges or nodes; None shows all.

    Returns
    -------
    str
        Lines of at most 80 columns, in which nothing can control a terminal.
    """
    check_instance("result", result, Result, "a Result")
    check_number("max_lines", max_lines, whole=True, optional=True)
    rows = facts(result)
    label = max(len(key) for key, _ in rows)
    lines = [_title(result)]
    for title, block in _blocks(result.cpdag):
        lines += ["", title, *_cut(block, max_lines)]
    lines += [""]
    for key, value in rows:
        lines += _folded(f"{key:<{label}}  ", printable(value))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def count(number: int, noun: str) -> str:
    """Write a number of things.

    >>> count(1, "node"), count(1200, "edge")
    ('1 node', '1,200 edges')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _title(result: Result) -> str:
    title = f"Equivalence class on {count(result.cpdag.n, 'node')}"
    return title if result.complete else f"{title} (search not complete)"


def facts(result: Result) -> list[tuple[str, str]]:
    """Return what was found and how as pairs of a word and a text."""
    arrows, lines = _counts(result.cpdag)
    bound = result.evaluation_bound
    evaluations = result.score_evaluations
    counted = "not counted" if evaluations is None else f"{evaluations:,} families"
    rows = [
        ("edges", f"{arrows + lines:,} ({arrows:,} directed, {lines:,} undirected)"),
        ("score", f"{result.score:,.4f} ({result.score_name or 'unnamed'}; higher is better)"),
        ("evaluations", counted + ("" if bound is None else f"; proven bound {large(bound)}")),
        ("steps", f"{len(result.steps):,}, chosen among {result.operators_considered:,} operators"),
        ("assumed", result.assume or "nothing"),
        ("forward", result.forward or "none"),
        ("seconds", _seconds(result)),
        ("complete", "yes" if result.complete else f"no: {result.stopped}"),
    ]
    if result.strategy not in (None, "two-phase"):
        rows.insert(6, ("strategy", str(result.strategy)))
    return rows + [("note", note) for note in result.notes]


def large(number: int) -> str:
    """Write a whole number, rounded if it is very large."""
    return f"{number:,}" if number < 10**9 else f"{Decimal(number):.2g}".lower()


def _seconds(result: Result) -> str:
    phases = [f"{phase} {seconds:.3g}" for phase, seconds in result.seconds.items()]
    return ", ".join(phases) or "not measured"


def _counts(graph: PDAG) -> tuple[int, int]:
    return len(graph.directed_edges()), len(graph.undirected_edges())


def _blocks(graph: PDAG) -> Iterable[tuple[str, list[str]]]:
    """Yield titles and lines: the directed edges, the undirected ones, the nodes without any."""
    arrows, lines = _counts(graph)
    into = [(graph.parents(y), y) for y in range(graph.n) if graph.parents(y)]
    if arrows:
        yield (
            "Directed: the same in every member of the class",
            _aligned([(_listed(graph, above), "→", printable(graph.name(y))) for above, y in into]),
        )
    if lines:
        later = [(x, graph.neighbors(x) >> x << x) for x in range(graph.n)]
        yield (
            "Undirected: members direct these both ways",
            _aligned([(printable(graph.name(x)), "—", _listed(graph, s)) for x, s in later if s]),
        )
    alone = [printable(graph.name(v)) for v in range(graph.n) if not graph.adjacent(v)]
    if alone:
        yield f"Without edges: {count(len(alone), 'node')}", _folded("  ", ", ".join(alone))


def _listed(graph: PDAG, s: NodeSet) -> str:
    return ", ".join(printable(graph.name(v)) for v in nodes(s))


def _aligned(edges: list[tuple[str, str, str]]) -> list[str]:
    """Return one entry per line, with the edge signs aligned where that fits."""
    left = min(max(len(first) for first, _, _ in edges), WIDTH // 2 - 4)
    lines: list[str] = []
    for first, sign, second in edges:
        if len(first) <= left:
            lines += _folded(f"  {first:>{left}} {sign} ", second)
        else:
            lines += [*_folded("  ", first)[:-1]]
            last = _folded("  ", first)[-1].strip()
            lines += _folded(f"  {last:>{left}} {sign} ", second)
    return lines


def _folded(head: str, text: str) -> list[str]:
    """Return head and text in lines of at most 80 columns, later lines indented as the first."""
    room = max(WIDTH - len(head), 20)
    parts = wrap(text, room, break_on_hyphens=False) or [""]
    return [(head if not k else " " * len(head)) + part for k, part in enumerate(parts)]


def _cut(lines: list[str], max_lines: int | None) -> list[str]:
    if max_lines is None or len(lines) <= max_lines:
        return lines
    hidden = len(lines) - max_lines + 1
    return [*lines[: max_lines - 1], f"  ... and {count(hidden, 'more line')}"]


# Progress


def progress_in_words(progress: "Progress") -> tuple[str, str]:
    """Return what a search is doing, and its steps, edges and score."""
    facts = f"{count(progress.step, 'step')}  {count(progress.edges, 'edge')}"
    return PHASES.get(progress.phase, progress.phase), f"{facts}  score {progress.score:.1f}"


@contextmanager
def progress_line() -> Iterator["OnProgress"]:
    """Give a callback for a search that writes where the search is, in one line.

    The line is written to standard error, ten times a second at most, and begins with a carriage
    return, so that a terminal and a notebook show one line.
    """
    last, line = 0.0, ""

    def show(now: "Progress") -> None:
        nonlocal last, line
        doing, facts = progress_in_words(now)
        before, line = len(line), f"{now.seconds:.1f} s  {doing}  {facts}"[: WIDTH - 1]
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(f"\r{line:<{before}}", end="", file=sys.stderr, flush=True)  # noqa: T201

    try:
        yield show
    finally:
        if line:
            print(f"\r{line:<{WIDTH - 1}}", file=sys.stderr, flush=True)  # noqa: T201
