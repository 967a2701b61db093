"""``sges reproduce``: the experiments of the paper, and ours."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sges.cli.screen import AsJson, grid, print_json, say, show_table
from sges.errors import InvalidArgument

if TYPE_CHECKING:
    from sges.experiments import Progress


def _names(incomplete: str) -> list[str]:
    from sges.experiments import EXPERIMENTS

    return [name for name in EXPERIMENTS if name.startswith(incomplete)]


Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        autocompletion=_names,
        help="The experiment; without, they are listed.",
        show_default=False,
    ),
]
Out = Annotated[
    Path, typer.Option(metavar="DIR", help="Where the table, the plot and the page go.")
]
Quick = Annotated[
    bool, typer.Option("--quick", metavar="", help="Few and small tasks: minutes, not hours.")
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The same seed, the same rows.")]
Jobs = Annotated[int, typer.Option(min=1, metavar="N", help="Processes that share the tasks.")]


def reproduce(
    *,
    name: Name = None,
    out: Out = Path("experiments"),
    quick: Quick = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Run an experiment, or list what there is.

    Rows that are in the table already are not measured again: a run that was interrupted goes on
    where it was.
    """
    from sges.experiments import EXPERIMENTS, run

    if name is None:
        _print_list(as_json)
        return
    if name not in EXPERIMENTS:
        raise InvalidArgument(
            f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}"
        )
    out.mkdir(parents=True, exist_ok=True)
    with _counting(name) as progress:
        report = run(name, out=out, quick=quick, seed=seed, jobs=jobs, progress=progress)
    files = [str(path) for path in (report.rows, report.plot, report.summary)]
    if as_json:
        counts = {"tasks": report.tasks, "measured": report.measured}
        print_json({"format": "sges-report", "version": 1, "name": name, "files": files, **counts})
    else:
        say("\n".join(files))


def _print_list(as_json: bool) -> None:
    from sges.experiments import EXPERIMENTS

    told = {name: experiment.title for name, experiment in EXPERIMENTS.items()}
    if as_json:
        print_json({"format": "sges-experiments", "version": 1, "experiments": told})
        return
    table = grid("left", "left")
    for name, title in told.items():
        table.add_row(name, title)
    show_table(table)


@contextmanager
def _counting(name: str) -> "Iterator[Callable[[Progress], object] | None]":
    """Give a callback that shows how many tasks are done, or None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda progress: bar.update(task, completed=progress.done, total=progress.total)
