"""Run one program on some tables, with the interpreter of its own environment.

Called by ``measure`` as ``python -m studies.peers.worker [--once] PEER TABLE...`` in the root of
the repository.  It writes a line of JSON to standard output for each stage that begins, and one
with the graph for each table; all other output goes to standard error.  The tables of one call have
the same size, and share the import and the warm-up.
"""

import gc
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import numpy as np

from studies.peers.adapters import peer_named
from studies.peers.contract import Kind, Peer, Prepare, Table

Tell: TypeAlias = Callable[[dict[str, Any]], None]

REPEAT_FOR = 0.5
"""A shorter run is repeated until this many seconds have passed."""
MOST_REPEATS = 5


def main() -> None:
    """Run the stages and report each; with ``--once``, no warm-up and a single run."""
    once = "--once" in sys.argv
    name, *paths = (word for word in sys.argv[1:] if word != "--once")
    with quiet() as tell:
        try:
            peer = peer_named(name)
            tables = [read_table(Path(path)) for path in paths]
            prepare, started = start(peer, tables[0].kind, tell, warm=not once)
        except Exception as error:
            tell({"stage": "failed", "reason": one_line(error)})
            return
        for table in tables:
            try:
                tell(
                    {
                        "stage": "done",
                        **started,
                        **run(prepare, table, tell, 1 if once else MOST_REPEATS),
                    }
                )
            except Exception as error:
                tell({"stage": "done", "failed": one_line(error)})


def start(peer: Peer, kind: Kind, tell: Tell, warm: bool = True) -> tuple[Prepare, dict[str, Any]]:
    """Import and warm up a program, reporting each stage before it begins."""
    tell({"stage": "import"})
    prepare, importing = timed(peer.load)
    tell({"stage": "warm-up"})
    small = small_table(kind)
    _, warming = timed(lambda: [prepare(small)() for _ in range(peer.warmups * warm)])
    return prepare, {
        "import_seconds": importing,
        "warmup_seconds": warming,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def run(prepare: Prepare, table: Table, tell: Tell, repeats: int = MOST_REPEATS) -> dict[str, Any]:
    """Run a program on one table, reporting each stage before it begins."""
    tell({"stage": "prepare"})
    go, preparing = timed(lambda: prepare(table))
    before = memory("VmRSS")
    _forget_peak()
    tell({"stage": "run"})
    gc.collect()
    begun = time.process_time()
    found, seconds = timed(go)
    cpu, peak = time.process_time() - begun, memory("VmHWM")
    times = [seconds]
    while len(times) * (seconds + preparing) < REPEAT_FOR and len(times) < repeats:
        again = prepare(table)  # prepared again, as a library may cache counts
        gc.collect()
        times.append(timed(again)[1])
    return {
        "directed": found.directed,
        "undirected": found.undirected,
        "seconds": median(times),
        "cpu_seconds": cpu,
        "repeats": len(times),
        "prepare_seconds": preparing,
        "megabytes": peak,
        "megabytes_before": before,
    }


def timed(
    call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> tuple[Any, float]:
    """Return the value of a call, and its time."""
    begun = clock()
    answer = call()
    return answer, clock() - begun


def read_table(path: Path) -> Table:
    """Read a table that ``write_table`` wrote."""
    with np.load(path) as stored:
        kind: Kind = "discrete" if int(stored["discrete"]) else "gaussian"
        return Table(
            kind=kind,
            values=stored["values"],
            arities=tuple(stored["arities"].tolist()),
            max_parents=int(stored["max_parents"]),
        )


def write_table(table: Table, path: Path) -> None:
    """Write a table to a file that any version of NumPy can read."""
    np.savez(
        path,
        values=table.values,
        arities=np.array(table.arities, dtype=np.int64),
        max_parents=table.max_parents,
        discrete=table.kind == "discrete",
    )


def small_table(kind: Kind) -> Table:
    """Return six dependent columns, enough to run inserts, deletes and all compiled code."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 6))
    for v in range(2, 6):
        values[:, v] += values[:, v - 1] - values[:, v - 2]
    values /= values.std(axis=0)
    if kind == "gaussian":
        return Table(kind, values, max_parents=2)
    levels = (values > 0).astype(np.int64)
    return Table(kind, levels, arities=(2,) * 6, max_parents=2)


def memory(field: str) -> float:
    """Return VmRSS, or the peak VmHWM, in megabytes.

    ``ru_maxrss`` is used only without /proc: on Linux, a child inherits the peak of its parent.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _forget_peak() -> None:
    """Reset the peak memory, if the system allows it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def one_line(error: Exception) -> str:
    """Return the type and the message of an error, at most 300 characters."""
    return f"{type(error).__name__}: {error}"[:300]


@contextmanager
def quiet() -> Iterator[Tell]:
    """Redirect standard output to standard error, and yield a function that writes reports."""
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(line: dict[str, Any]) -> None:
        said.write(json.dumps(line) + "\n")
        said.flush()

    yield tell
    said.close()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # the threads of a JVM may keep the process alive
