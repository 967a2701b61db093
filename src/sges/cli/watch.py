"""Progress of long work, on standard error, and only if a person is looking at it.

How many steps a greedy search will take is not known beforehand, so there is no bar that
pretends to: a spinner, the phase, the steps so far, the edges, the score and the time.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from sges.search import Progress

PHASES = {
    "fes": "adding edges",
    "poly-fes": "adding edges",
    "bes": "removing edges",
    "sbes": "removing edges, selectively",
    "turning": "turning edges",
    "order": "ordering the variables",
    "interleaved": "adding, turning and removing edges",
    "extended": "looking for a way out of the local optimum",
}

Watcher = Callable[["Progress"], object]


@contextmanager
def watching(first: str) -> Iterator[Watcher | None]:
    """Give a callback that shows where a search is, or None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    with _bar() as bar:
        task = bar.add_task(first, total=None, facts="")

        def show(progress: "Progress") -> None:
            what = PHASES.get(progress.phase, progress.phase)
            bar.update(task, description=what, facts=facts_of(progress))

        yield show


def facts_of(progress: "Progress") -> str:
    """Return what there is to say about a search that is under way."""
    steps = f"{progress.step} step{'' if progress.step == 1 else 's'}"
    edges = f"{progress.edges} edge{'' if progress.edges == 1 else 's'}"
    return f"{steps}  {edges}  score {progress.score:.1f}"


def _bar() -> "Bar":
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    return Bar(
        SpinnerColumn(style="cyan"),
        TextColumn("{task.description}", markup=False, style="bold"),
        TextColumn("{task.fields[facts]}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True, highlight=False),
        transient=True,
    )
