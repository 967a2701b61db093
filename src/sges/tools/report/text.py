"""A result, and the progress of a search, in plain text for a terminal."""

import builtins
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from textwrap import wrap
from typing import Any

from sges.display import display_width, printable
from sges.errors import check_flag, check_number
from sges.nodeset import nodes
from sges.result import Result

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
    "knowledge": "removing forbidden edges",
}
"""The phases of a search in words."""


def summary(
    result: Result, max_lines: int | None = 40, width: int = WIDTH, *, verbose: bool = False
) -> str:
    """Return the edges, child by child, and then how they were found, in lines of a width."""
    check_number("max_lines", max_lines, whole=True, optional=True)
    check_flag("verbose", verbose)
    page = [f"Equivalence class on {count(result.cpdag.n, 'node')}"]
    if not result.complete:
        page[0] += " (search not complete)"
    for title, lines in _edges(result, width):
        page += ["", *_folded(width, "", title)]
        if max_lines is not None and len(lines) > max_lines:
            kept = max(max_lines - 1, 0)
            lines[kept:] = [f"  ... and {count(len(lines) - kept, 'more line')}"]
        page += lines
    page += [""]
    rows = facts(result, verbose=verbose)
    label = max(len(key) for key, _ in rows)
    for key, value in rows:
        page += _folded(width, f"{key:<{label}}  ", printable(value))
    return "\n".join(line.rstrip() for line in page) + "\n"


def _edges(result: Result, width: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the directed edges, the undirected ones, and the nodes without, each with a title."""
    graph, names = result.cpdag, list(map(printable, result.names))
    arrows, lines = [], []
    for v, name in enumerate(names):
        if above := graph.parents(v):
            arrows.append((", ".join(map(names.__getitem__, nodes(above))), "→", name))
        if later := graph.neighbors(v) >> v << v:
            lines.append((name, "—", ", ".join(map(names.__getitem__, nodes(later)))))
    if arrows:
        yield "Directed: the same in every member of the class", _aligned(width, arrows)
    if lines:
        title = "Undirected: the direction differs between members of the class"
        yield title, _aligned(width, lines)
    if alone := [name for v, name in enumerate(names) if not graph.adjacent(v)]:
        title = f"Without edges: {count(len(alone), 'node')}"
        yield title, _folded(width, "  ", ", ".join(alone))


def count(number: int, noun: str) -> str:
    """Return a number and the things that it counts, as text.

    >>> count(1, "node"), count(1200, "edge")
    ('1 node', '1,200 edges')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def facts(result: Result, *, verbose: bool = True) -> list[tuple[str, str]]:
    """Return facts about the result and the search as pairs of a word and a text.

    Without ``verbose``, how the search went is left out, and what is as usual.
    """
    arrows, lines = len(result.cpdag.directed_edges()), len(result.cpdag.undirected_edges())
    operators = count(result.operators_considered, "operator")
    rows: dict[str, str | None] = {
        "edges": f"{arrows + lines:,} ({arrows:,} directed, {lines:,} undirected)",
        "score": f"{result.score:,.4f} ({result.score_name or 'unnamed'}; higher is better)",
        "evaluations": _families(result),
        "steps": f"{len(result.steps):,}, chosen among {operators}",
        "assumed": result.assume,
        **_strategy(result),
        "seconds": _seconds(result, verbose=verbose),
        "complete": None if result.complete else f"no: {result.stopped}",
    }
    usual, hidden = (AS_USUAL, set[str]()) if verbose else ({}, HOW_IT_WENT)
    found = {word: text or usual.get(word) for word, text in rows.items() if word not in hidden}
    shown = [(word, text) for word, text in found.items() if text is not None]
    return shown + [("note", note) for note in result.notes]


HOW_IT_WENT = {"evaluations", "steps", "forward", "strategy"}
AS_USUAL = {"assumed": "nothing", "seconds": "not measured", "complete": "yes"}


def _families(result: Result) -> str | None:
    """Return how many families were scored, if they were counted."""
    counted, bound = result.score_evaluations, result.evaluation_bound
    if counted is None:
        return None
    text = f"{counted:,} {'family' if counted == 1 else 'families'}"
    return text if bound is None else f"{text}; proven bound {large(bound)}"


def _strategy(result: Result) -> dict[str, str | None]:
    """Return the strategy and the forward phase, without a phase that did not insert the edges."""
    is_elsewhere = result.forward == "fes" and "fes" not in result.seconds
    return {
        "forward": None if is_elsewhere else result.forward or "none",
        "strategy": None if result.strategy == "two-phase" else result.strategy,
    }


def _seconds(result: Result, *, verbose: bool) -> str | None:
    """Return the time of the search, and of each phase if asked for."""
    if not result.seconds:
        return None
    phases = ", ".join(f"{phase} {spent:.3g}" for phase, spent in result.seconds.items())
    total = f"{sum(result.seconds.values()):.3g}"
    return f"{total} ({phases})" if verbose else total


def large(number: int) -> str:
    """Write a whole number, rounded if it is very large."""
    return f"{number:,}" if number < 10**9 else f"{Decimal(number):.2g}".lower()


def _aligned(width: int, edges: list[tuple[str, str, str]]) -> list[str]:
    """Return one entry per line, with the edge signs aligned.

    A list of nodes that is too long is folded, and a name that is too long has its own line.
    """
    left = min(max(display_width(first) for first, _, _ in edges), width // 2 - 4)
    lines: list[str] = []
    for first, sign, second in edges:
        parts = [first]
        if display_width(first) > left:
            parts = [*wrap(first, left, break_on_hyphens=False, break_long_words=False)]
            parts += [""] if not parts or display_width(parts[-1]) > left else []
        padded = [" " * (2 + left - display_width(part)) + part for part in parts]
        for part, line in zip(parts[:-1], padded[:-1], strict=True):
            lines += _folded(width, "  ", part) if display_width(part) > left else [line]
        lines += _folded(width, f"{padded[-1]} {sign} ", second)
    return lines


def _folded(width: int, head: str, text: str) -> list[str]:
    """Return head and text in lines of a width, later lines indented as the first."""
    room, later = max(width, len(head) + 20), " " * display_width(head)
    lines = wrap(text, room, initial_indent=head, subsequent_indent=later, break_on_hyphens=False)
    return lines or [head]


# Progress


def progress_in_words(now: Any) -> str:  # noqa: ANN401 (a Progress or a ReplicateProgress)
    """Return how far a search or a run over replicates is, in words."""
    if not hasattr(now, "phase"):
        return (
            f"{now.done} of {now.total} replicates  {now.edges:.1f} edges on average  "
            f"about {now.remaining:.0f} s left"
        )
    phase, facts = PHASES.get(now.phase, now.phase), count(now.step, "step")
    return f"{phase}  {facts}  {count(now.edges, 'edge')}  score {now.score:.1f}"


@contextmanager
def progress_line() -> "Iterator[Callable[[Any], None] | None]":
    """Yield a progress callback that writes one line, or None if it would not be seen.

    The line is written to standard error, ten times a second at most, and begins with a carriage
    return, so that a terminal and a notebook show one line.
    """
    is_notebook = hasattr(builtins, "__IPYTHON__")
    if sys.stderr is None or not (sys.stderr.isatty() or is_notebook):
        yield None
        return
    last, line = 0.0, ""

    def show(now: Any) -> None:  # noqa: ANN401
        nonlocal last, line
        before, line = len(line), f"{now.seconds:.1f} s  {progress_in_words(now)}"[: WIDTH - 1]
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(f"\r{line:<{before}}", end="", file=sys.stderr, flush=True)  # noqa: T201

    try:
        yield show
    finally:
        if line:
            print(f"\r{line:<{WIDTH - 1}}", file=sys.stderr, flush=True)  # noqa: T201
