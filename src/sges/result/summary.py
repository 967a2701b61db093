"""A result in plain text, for a terminal of 80 columns."""

from collections.abc import Iterable
from decimal import Decimal
from textwrap import wrap
from typing import TYPE_CHECKING

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes

if TYPE_CHECKING:
    from sges.result.value import Result

WIDTH = 80
MOST_LINES = 40
"""How many lines of edges, and as many of nodes, are shown."""


def summary(result: "Result", most: int = MOST_LINES) -> str:
    """Return what was found and how, then the edges, child by child."""
    facts = _facts(result)
    label = max(len(key) for key, _ in facts)
    lines = [_title(result), ""]
    for key, value in facts:
        lines += _folded(f"{key:<{label}}  ", value)
    for title, block in _blocks(result.cpdag):
        lines += ["", title, *_cut(block, most)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def one_line(result: "Result") -> str:
    """Return the result in a line, for ``repr``."""
    arrows, lines = _counts(result.cpdag)
    score = f"{result.score_name or 'score'} {result.score:.10g}"
    ended = "" if result.complete else f", stopped: {result.stopped}"
    return (
        f"Result({count(result.cpdag.n, 'node')}, {arrows} directed and {lines} undirected "
        f"{'edge' if arrows + lines == 1 else 'edges'}, {score}, "
        f"{count(len(result.steps), 'step')}{ended})"
    )


def count(number: int, noun: str) -> str:
    """Write a number of things.

    >>> count(1, "node"), count(1200, "edge")
    ('1 node', '1,200 edges')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def printable(name: str) -> str:
    r"""Return a name on one line, what a terminal would obey made visible.

    >>> printable("two\nlines")
    'two\\nlines'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _title(result: "Result") -> str:
    title = f"Equivalence class on {count(result.cpdag.n, 'node')}"
    return title if result.complete else f"{title} (search not complete)"


def _facts(result: "Result") -> list[tuple[str, str]]:
    arrows, lines = _counts(result.cpdag)
    bound = result.evaluation_bound
    evaluations = result.score_evaluations
    counted = "not counted" if evaluations is None else f"{evaluations:,} families"
    facts = [
        ("edges", f"{arrows + lines:,} ({arrows:,} directed, {lines:,} undirected)"),
        ("score", f"{result.score:,.4f} ({result.score_name or 'unnamed'}; higher is better)"),
        ("evaluations", counted + ("" if bound is None else f"; proven bound {_large(bound)}")),
        ("steps", f"{len(result.steps):,}, chosen among {result.operators_considered:,} operators"),
        ("assumed", result.assume or "nothing"),
        ("forward", result.forward or "none"),
        ("seconds", _seconds(result)),
        ("complete", "yes" if result.complete else f"no: {result.stopped}"),
    ]
    if result.strategy not in (None, "two-phase"):
        facts.insert(6, ("strategy", str(result.strategy)))
    return facts + [("note", note) for note in result.notes]


def _large(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"{Decimal(number):.2g}".lower()


def _seconds(result: "Result") -> str:
    phases = [f"{phase} {seconds:.3g}" for phase, seconds in result.seconds.items()]
    return ", ".join(phases) or "not measured"


def _counts(graph: PDAG) -> tuple[int, int]:
    return len(graph.directed_edges()), len(graph.undirected_edges())


def _blocks(graph: PDAG) -> Iterable[tuple[str, list[str]]]:
    """Yield the titled lists: who points at whom, what is undirected, who is alone."""
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
    """Return one entry per line, the signs below each other where that fits."""
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
    """Return head and text in lines of at most 80 columns, the text below itself."""
    room = max(WIDTH - len(head), 20)
    parts = wrap(text, room, break_on_hyphens=False) or [""]
    return [(head if not k else " " * len(head)) + part for k, part in enumerate(parts)]


def _cut(lines: list[str], most: int) -> list[str]:
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"  ... and {count(len(lines) - most + 1, 'more line')}"]
