"""The experiments by name, and how one is run."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from studies.charts import new_figure, save
from studies.frame import Experiment, ExperimentError, Progress, Report, Row, Task
from studies.pages import page
from studies.paper import (
    dense_states,
    exact_optimum,
    fes_start,
    figure_8,
    finite_data,
    penalty,
    polytrees,
    properties,
    scaling,
)
from studies.table import Table

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        figure_8.EXPERIMENT,
        fes_start.EXPERIMENT,
        dense_states.EXPERIMENT,
        properties.EXPERIMENT,
        polytrees.EXPERIMENT,
        scaling.EXPERIMENT,
        finite_data.EXPERIMENT,
        exact_optimum.EXPERIMENT,
        penalty.EXPERIMENT,
    )
}


def run(
    name: str,
    *,
    out: Path,
    quick: bool = False,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[Progress], object] | None = None,
) -> Report:
    """Run an experiment: measure the tasks that have no row yet, then draw and summarise.

    Writes NAME.csv, NAME.svg and NAME.md into ``out``.  ``quick`` takes few and small tasks;
    ``jobs`` processes share the tasks.  Rows depend on the seed and the task alone, except for
    the seconds.
    """
    experiment = find(name)
    new_figure()  # a missing library is told before hours of work
    if jobs < 1:
        raise ExperimentError(f"jobs = {jobs}: it must be 1 or more processes")
    table = Table(Path(out) / f"{name}.csv", experiment.header)
    tasks = list(experiment.tasks(quick))
    done = {experiment.key(row, row["seed"]) for row in table.rows()}
    missing = [task for task in tasks if experiment.key(task, seed) not in done]
    tell = progress or (lambda _: None)
    tell(Progress(name, len(tasks) - len(missing), len(tasks)))
    for count, row in enumerate(_measured(name, missing, seed, jobs), 1):
        table.append(row)
        tell(Progress(name, len(tasks) - len(missing) + count, len(tasks), row))
    by_key = {experiment.key(row, row["seed"]): row for row in table.rows()}
    rows = [by_key[experiment.key(task, seed)] for task in tasks]
    return _report(experiment, rows, table.path, quick=quick, measured=len(missing))


def find(name: str) -> Experiment:
    """Return the experiment of this name, or say which there are."""
    if name not in EXPERIMENTS:
        raise ExperimentError(f"no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def measure(name: str, task: Task, seed: int) -> Row:
    """Measure one task: what a process is asked to do."""
    return {"seed": seed, **task, **EXPERIMENTS[name].measure(task, seed)}


def _measured(name: str, tasks: list[Task], seed: int, jobs: int) -> Iterator[Row]:
    """Yield the row of each task as it is done."""
    if jobs == 1 or len(tasks) < 2:
        yield from (measure(name, task, seed) for task in tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(measure, name, task, seed) for task in tasks]
        try:
            yield from (future.result() for future in as_completed(futures))
        finally:
            pool.shutdown(cancel_futures=True)


def _report(
    experiment: Experiment, rows: list[Row], table: Path, *, quick: bool, measured: int
) -> Report:
    figure = new_figure()
    experiment.draw(rows, figure)
    plot, summary = table.with_suffix(".svg"), table.with_suffix(".md")
    save(figure, plot)
    summary.write_text(page(experiment, rows, quick=quick), encoding="utf-8")
    return Report(table, plot, summary, tasks=len(rows), measured=measured)
