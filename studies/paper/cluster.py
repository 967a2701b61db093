"""A table larger than memory: statistics of its partitions on a local Dask cluster.

Partitions of 250,000 rows are generated on the workers, which compute and merge their statistics:
20 continuous columns, each of which depends on the one before.  Workers are processes with
one thread.  Their processor time is measured in addition to the elapsed time, which depends on
other work on the machine; both include generating the rows.
"""

import resource
from collections.abc import Iterator
from importlib import import_module
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from sges.data import Moments
from sges.data.reading import Reading
from sges.data.sources import statistics_of
from studies.charts import BLUE, GREEN, GREY, label, line, panels
from studies.frame import Row, StudyError, Task, amount, experiment, positive
from studies.summary import curve, distinct, grid, number, pick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 20
PARTITION = 250_000
WORKERS = (1, 2)


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the numbers of rows and of workers."""
    for rows in (500_000,) if quick else (1_000_000, 10_000_000, 100_000_000):
        for workers in WORKERS:
            yield {"records": rows, "workers": workers}


def measure(task: Task, seed: int) -> Row:
    """Start a cluster, and compute the statistics in one pass over all partitions."""
    try:
        dd: Any = import_module("dask.dataframe")
        distributed: Any = import_module("distributed")
    except ImportError:
        raise StudyError("the study cluster needs Dask: pip install 'sges[dask]'") from None
    options: dict[str, Any] = {
        "n_workers": int(task["workers"]), "threads_per_worker": 1, "dashboard_address": None,
        "memory_limit": 0,
    }  # fmt: skip
    names = [f"x{i}" for i in range(COLUMNS)]

    def part(number: int) -> Any:  # noqa: ANN401 (a pandas frame)
        import pandas as pd  # type: ignore[import-untyped]

        rng = np.random.default_rng((seed, number))
        values = rng.standard_normal((PARTITION, COLUMNS))
        values[:, 1:] += 0.5 * values[:, :-1]
        return pd.DataFrame(values, columns=names)

    count = int(task["records"]) // PARTITION
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        frame = dd.from_map(part, range(count), meta=part(0).iloc[:0])
        before, begun = sum(client.run(process_time).values()), perf_counter()
        found = statistics_of(frame, Reading())
        seconds = perf_counter() - begun
        assert isinstance(found, Moments)
        assert found.records == task["records"]
        spent = sum(client.run(process_time).values()) - before
        peak = max(client.run(peak_megabytes).values())
    return {"seconds": seconds, "cpu": spent, "worker_mb": peak, "client_mb": peak_megabytes()}


def peak_megabytes() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def draw(rows: list[Row], figure: "Figure") -> None:
    """Draw rows per second over the number of workers, for each size of the table."""
    (axes,) = panels(figure, 1)
    for size, color in zip(distinct(rows, "records"), (GREY, BLUE, GREEN), strict=False):
        xs, seconds = curve(pick(rows, records=size), "workers", "seconds")
        line(axes, (xs, [size / s / 1e6 for s in seconds]), f"{size:,} rows", color)
    axes.set_xticks(list(WORKERS))
    label(axes, "workers", "million rows per second of elapsed time")


def facts(rows: list[Row]) -> dict[str, object]:
    """Return seconds, rows per second of processor time, and memory."""
    lines = []
    for row in sorted(rows, key=lambda row: (row["records"], row["workers"])):
        rate = number(row["records"] / row["cpu"])
        memory = number(row["worker_mb"]), number(row["client_mb"])
        size = f"{row['records']:,}"
        lines.append(
            (size, row["workers"], number(row["seconds"]), number(row["cpu"]), rate, *memory)
        )
    header = (
        "rows", "workers", "seconds", "processor seconds of the workers",
        "rows per processor second", "largest worker, MB", "client, MB",
    )  # fmt: skip
    return {
        "columns": COLUMNS,
        "partition": f"{PARTITION:,}",
        "table": grid(header, lines),
        "gigabytes": number(max(row["records"] for row in rows) * COLUMNS * 8 / 1e9),
    }


STUDY = experiment(
    "cluster",
    "Statistics of partitions on a Dask cluster of one machine",
    keys={"records": positive, "workers": positive},
    columns={"seconds": amount, "cpu": amount, "worker_mb": amount, "client_mb": amount},
    tasks=tasks,
    measure=measure,
    facts=facts,
    draw=draw,
)
