"""The engine in C++ compared with its predecessor, which was written in Cython, in one run.

Two processes, one with the predecessor (a commit of this repository, in its own environment) and
one with the present package, run in turn, so that other work on the machine slows both equally.
A ratio is the median over the repetitions.  Searches in one thread are timed by processor
time; those in several threads, those beside a busy core, and those of ``growth`` by elapsed time.
The groups ``threads`` and ``growth`` measure the present package only.  Nothing is counted in
searches of either package.

The predecessor is installed once from its commit; if the environment variable
``SGES_PREDECESSOR`` names a folder that contains it, already built, that one is measured instead.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from math import ceil, isclose, log
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from studies.frame import (
    Key,
    Options,
    Read,
    Row,
    Study,
    Task,
    amount,
    boolean,
    duration,
    optional,
    positive,
    real,
    words,
)
from studies.peers.contract import Environment, Table
from studies.peers.problems import NETWORKS, Spec, make_problem
from studies.peers.processes import ROOT, THREAD_LIMITS, digest_of, interpreter, machine, today
from studies.peers.worker import write_table
from studies.summary import MISSING, distinct, grid, pick, times
from studies.summary import seconds as short_seconds

PREDECESSOR = "7c83080b5a73e2f50bab35675a8e0134ba85345e"
"""The last commit with an engine in Cython."""
GIVEN = "SGES_PREDECESSOR"

LONG_ENOUGH = 0.05
"""The least duration of one timing, in seconds: shorter searches are repeated within it."""
MOST_LOOPS = 20
REPETITIONS = 7
TIME_PER_CASE = 20.0
"""The repetitions end after this many seconds; a search that takes longer is run once."""

ALONE = ("threads", "growth")
"""Groups that measure the present package only."""

# The cases: data, searches, and targets for the speed-up.

Values: TypeAlias = NDArray[np.float64]
Sort: TypeAlias = Literal["suite", "covariance", "sparse"]
"""A data set of the suite, a population covariance, or a table too wide for the suite."""


@dataclass(frozen=True, slots=True)
class Data:
    """A data set, apart from its seed."""

    spec: Spec
    sort: Sort = "suite"

    def write(self, seed: int, folder: Path) -> Path:
        """Write the table unless the file exists, and return its path."""
        path = folder / f"{self.sort}-{self.spec.name}-{seed}.npz"
        if not path.exists():
            write_table(self._table(seed), path)
        return path

    def _table(self, seed: int) -> Table:
        if self.sort == "sparse":
            return Table("gaussian", sparse_gaussian(self.spec.d, self.spec.rows, seed))
        if self.sort == "covariance":
            return Table("gaussian", population_covariance(self.spec.d, seed))
        return make_problem(self.spec, seed).table


def sparse_gaussian(d: int, rows: int, seed: int) -> Values:
    """Return records of a random DAG with d edges, drawn without listing all pairs."""
    rng = np.random.default_rng([seed, d])
    edges: set[tuple[int, int]] = set()
    while len(edges) < d:
        low, high = sorted(rng.integers(d, size=2).tolist())
        if low < high:
            edges.add((low, high))
    values = rng.normal(size=(d, rows))
    for x, y in sorted(edges, key=lambda edge: edge[1]):  # parents before children
        values[y] += rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 2.0) * values[x]
    values /= values.std(axis=1, keepdims=True)
    return np.ascontiguousarray(values[rng.permutation(d)].T)


def population_covariance(d: int, seed: int) -> Values:
    """Return the covariance of a linear Gaussian model with at most two parents per node."""
    rng = np.random.default_rng([seed, d])
    weights, order = np.zeros((d, d)), rng.permutation(d)
    for place in range(1, d):
        parents = order[rng.choice(place, size=min(place, int(rng.integers(3))), replace=False)]
        sign = rng.choice([-1.0, 1.0], len(parents))
        weights[parents, order[place]] = sign * rng.uniform(0.5, 2.0, len(parents))
    effects = np.linalg.inv(np.eye(d) - weights)
    covariance: Values = effects.T @ effects
    return covariance


@dataclass(frozen=True, slots=True)
class Case:
    """One measurement: a search on a data set, and the target for its ratio."""

    group: str
    what: str
    data: Data
    do: str
    options: dict[str, Any] = field(default_factory=dict)
    target: float | None = None
    seeds: int = 1
    busy: bool = False
    """Whether threads are not limited while another process keeps a core busy."""

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.data.spec.d

    @property
    def limited(self) -> bool:
        """Whether BLAS is limited to one thread."""
        return not self.busy

    @property
    def wall(self) -> bool:
        """Whether the case is timed by elapsed time: beside a busy core, or to measure growth."""
        return self.busy or self.group == "growth"


def er(d: int, edges: int = 2, rows: int = 10_000) -> Data:
    """Return linear Gaussian data over an Erdős–Rényi graph."""
    return Data(Spec("er", d, rows, edges))


def network(name: str) -> Data:
    """Return records of a reference network."""
    return Data(Spec("network", NETWORKS[name], 5_000, network=name))


SIZES = (25, 50, 100, 200, 500, 1000, 2000)
SIX_NETWORKS = ("asia", "sachs", "child", "insurance", "alarm", "hailfinder")
QUICK = 50
"""The largest number of variables with ``--quick``."""


def all_cases(*, quick: bool = False, large: bool = False) -> list[Case]:
    """Return the cases; ``quick`` keeps small data only, ``large`` adds cases of many minutes."""
    cases = [*_gaussian(), *_complete(quick), *_discrete(), *_default(), *_python(), *_busy()]
    cases += [*_threads(), *_growth(large)]
    return [case for case in cases if case.n <= QUICK] if quick else cases


def _gaussian() -> Iterator[Case]:
    for strategy, largest in (("two-phase", 2000), ("interleaved", 2000), ("auto", 500)):
        for d in SIZES:
            if d <= largest:
                yield _search("2d edges", er(d), strategy, 1.0)
    for strategy, target in (("two-phase", 1.0), ("interleaved", 1.0), ("auto", 1 / 0.6)):
        for d in (50, 100, 200):
            yield _search("4d edges", er(d, 4), strategy, target)
    for d in SIZES[:5]:
        options = {"strategy": "interleaved"}
        yield Case("learn", "interleaved", er(d), "learn", options, 1.0, _seeds(d))


def _search(group: str, data: Data, strategy: str, target: float) -> Case:
    options = {"strategy": strategy}
    return Case(group, strategy, data, "search", options, target, _seeds(data.spec.d))


def _seeds(d: int) -> int:
    return 3 if d <= 200 else 1


def _complete(quick: bool) -> Iterator[Case]:
    data = Data(Spec("er", 12 if quick else 50, 10_000, 1), "covariance")
    what = "from the complete graph, MaxParents(2)"
    yield Case("complete", what, data, "complete", {"parents": 2}, 1.0)


def _discrete() -> Iterator[Case]:
    for strategy, names, target in (
        ("two-phase", SIX_NETWORKS, 1.0),
        ("extended", SIX_NETWORKS, 1.0),
    ):
        for name in names:
            options = {"strategy": strategy, "score": "discrete-bic", "kinds": "discrete"}
            what = f"{strategy}, {name}"
            yield Case("discrete", what, network(name), "learn", options, target, 3)


def _default() -> Iterator[Case]:
    """Yield searches without options; the default search of the predecessor is another one."""
    for d in SIZES[:5]:
        yield Case("default", "Gaussian", er(d), "default", seeds=_seeds(d))
    for name in SIX_NETWORKS:
        given = {"kinds": "discrete"}
        yield Case("default", name, network(name), "default", given, 1 / 0.9, 3)


def _python() -> Iterator[Case]:
    """Yield searches that call Python code, which must not be slower than before."""
    make = partial(Case, "python", target=1.0)
    for strategy in ("two-phase", "interleaved", "extended"):
        for d in (10, 25, 50) if strategy != "extended" else (10, 25):
            what = f"custom score, {strategy}"
            yield make(what, er(d), "custom", {"strategy": strategy})
    for d in (10, 25, 50):
        for strategy in ("two-phase", "interleaved"):
            bound: dict[str, Any] = {"parents": 3, "strategy": strategy}
            yield make(f"exact, {strategy}", er(d), "assuming", {**bound, "exact": True})
            yield make(f"no bounds, {strategy}", er(d), "assuming", {**bound, "bounds": False})
            yield make(f"drop_large, {strategy}", er(d), "assuming", {**bound, "drop_large": True})


def _busy() -> Iterator[Case]:
    for d in (25, 50, 100):
        for strategy in ("two-phase", "interleaved"):
            options = {"strategy": strategy, "score": "bge"}
            yield Case("busy", f"BGe, {strategy}", er(d), "learn", options, 1.0, busy=True)
            if d <= 50:
                what, given = f"mixed, {strategy}", {"strategy": strategy}
                yield Case("busy", what, er(d), "mixed", given, 1.0, busy=True)


def _threads() -> Iterator[Case]:
    for strategy, sizes in (("auto", (25, 50)), ("interleaved", (25, 50, 200))):
        for d in sizes:
            options = {"strategy": strategy}
            yield Case("threads", f"{strategy}, eight threads", er(d), "throughput", options, 1.6)


def _growth(large: bool) -> Iterator[Case]:
    for d in (1000, 2000, 5000) if large else (1000,):
        data = Data(Spec("er", d, 10_000, 1), "sparse")
        yield Case("growth", "default, 10,000 rows", data, "default")
    for strategy in ("two-phase", "interleaved"):
        for d in (1000, 2000, 5000):
            if d <= 2000 or large:
                data = Data(Spec("er", d, 10_000, 1), "sparse")
                yield Case(
                    "growth", f"{strategy}, 10,000 rows", data, "learn", {"strategy": strategy}
                )
        for d in (5000, 10_000, 20_000) if large else ():
            data = Data(Spec("er", d, 1_000, 1), "sparse")
            options = {"strategy": strategy, "penalty": "rule"}
            yield Case("growth", f"{strategy}, 1,000 rows", data, "learn", options)
        for d in (10_000, 20_000, 50_000) if large else ():
            data = Data(Spec("er", d, 1_000, 1), "sparse")
            what = f"{strategy}, 1,000 rows, float32"
            yield Case("growth", what, data, "single", {"strategy": strategy})


# The two processes.

Answer: TypeAlias = dict[str, Any]


class WorkerFailed(Exception):
    """A worker could not answer; the message says why."""


class Worker:
    """A process that answers requests, one after the other."""

    def __init__(self, python: Path, sources: Path | None, *, limited: bool = True) -> None:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        if limited:
            env |= dict.fromkeys(THREAD_LIMITS, "1")
        if sources is not None:
            env["PYTHONPATH"] = str(sources)
        self._process = subprocess.Popen(
            [str(python), "-m", "studies.peers.engine_worker"],
            cwd=ROOT,
            env={**env, "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.home = Path(self._next()["ready"]).parent

    def ask(self, case: Case, table: Path, loops: int = 1) -> Answer:
        """Return the time and the result of a search on a table."""
        assert self._process.stdin is not None
        given = {"do": case.do, "table": str(table), "options": case.options}
        request = {**given, "loops": loops, "wall": case.wall}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._next()

    def _next(self) -> Answer:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerFailed(f"the worker ended with code {self._process.wait()}")
        answer: Answer = json.loads(line)
        if "failed" in answer:
            raise WorkerFailed(answer["failed"])
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def present_worker(*, limited: bool = True) -> Worker:
    """Return a worker with the package of this checkout."""
    return Worker(Path(sys.executable), ROOT / "src", limited=limited)


def predecessor_worker(*, limited: bool = True) -> Worker:
    """Return a worker with the predecessor, installing it first if necessary."""
    if given := os.environ.get(GIVEN):
        return Worker(Path(sys.executable), Path(given), limited=limited)
    same = tuple(f"{package}=={version(package)}" for package in ("numpy", "scipy"))
    where = f"git+file://{{here}}@{PREDECESSOR}"
    environment = Environment("predecessor", (where,), "sges", same)
    return Worker(interpreter(environment), None, limited=limited)


def compare(case: Case, before: Worker, now: Worker, folder: Path) -> Answer:
    """Return the row of a case, measured with both workers in turn."""
    tables = [case.data.write(seed, folder) for seed in range(case.seeds)]
    pairs, loops = [(before.ask(case, tables[0]), now.ask(case, tables[0]))], [1, 1]
    spent = pairs[0][0]["seconds"]
    if spent < TIME_PER_CASE:  # the first run of each was the warm-up
        loops = [_loops(worker.ask(case, tables[0])) for worker in (before, now)]
        pairs, spent = [], 0.0
    while spent < TIME_PER_CASE and len(pairs) < REPETITIONS:
        table = tables[len(pairs) % len(tables)]
        pair = before.ask(case, table, loops[0]), now.ask(case, table, loops[1])
        pairs.append(pair)
        spent += sum(answer["seconds"] * k for answer, k in zip(pair, loops, strict=True))
    return {
        "predecessor": median(old["seconds"] for old, _ in pairs),
        "present": median(new["seconds"] for _, new in pairs),
        "ratio": median(old["seconds"] / new["seconds"] for old, new in pairs),
        "repetitions": len(pairs),
        "same_graph": all(old["graph"] == new["graph"] for old, new in pairs),
        "same_score": all(isclose(old["score"], new["score"], rel_tol=1e-9) for old, new in pairs),
        "score_change": min(new["score"] - old["score"] for old, new in pairs),
    }


def _loops(answer: Answer) -> int:
    seconds: float = answer["seconds"]
    return min(ceil(LONG_ENOUGH / max(seconds, 1e-6)), MOST_LOOPS)


def alone(case: Case, folder: Path) -> Answer:
    """Return the row of a case with the present package only, measured in a new process."""
    table = case.data.write(0, folder)
    with present_worker(limited=False) as now:
        answer = now.ask(case, table)
    row = {"present": answer["seconds"], "repetitions": 1}
    if case.group == "threads":
        return {**row, "ratio": answer["ratio"]}
    if table.stat().st_size > 1 << 28:
        table.unlink()
    return {**row, "megabytes": answer["megabytes"]}


@contextmanager
def busy_core() -> Iterator[None]:
    """Keep a core busy, but not longer than this process runs."""
    code = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def measure(cases: Sequence[Case], *, against_itself: bool = False) -> Iterator[Row]:
    """Yield a row per case.

    ``against_itself`` uses the present package in place of the predecessor, to test this module.
    """
    old_worker = present_worker if against_itself else predecessor_worker
    with TemporaryDirectory() as name:
        folder = Path(name)
        compared = [case for case in cases if case.group not in ALONE]
        for limited, is_busy in ((True, False), (False, False), (False, True)):
            chosen = [case for case in compared if (case.limited, case.busy) == (limited, is_busy)]
            if not chosen:
                continue
            with ExitStack() as stack:
                before = stack.enter_context(old_worker(limited=limited))
                now = stack.enter_context(present_worker(limited=limited))
                if is_busy:
                    stack.enter_context(busy_core())
                for case in chosen:
                    yield _row(case, compare(case, before, now, folder))
        for case in cases:
            if case.group in ALONE:
                yield _row(case, alone(case, folder))


def _row(case: Case, measured: Answer) -> Row:
    head = {"group": case.group, "what": case.what, "n": case.n, "target": case.target}
    return (
        dict.fromkeys(COLUMNS)
        | head
        | measured
        | {
            "sources": digest_of(),
            "machine": machine(),
            "date": today(),
        }
    )


# The study.

COLUMNS: dict[str, Read] = {
    "predecessor": optional(duration),
    "present": duration,
    "ratio": optional(duration),
    "target": optional(amount),
    "repetitions": positive,
    "same_graph": optional(boolean),
    "same_score": optional(boolean),
    "score_change": optional(real),
    "megabytes": optional(amount),
    "sources": words,
    "machine": words,
    "date": words,
}


def needs(row: Row) -> tuple[str, ...]:
    """Return the columns that a row of this group must have."""
    if row["group"] == "growth":
        return ("megabytes",)
    if row["group"] == "threads":
        return ("ratio",)
    return ("predecessor", "ratio", "same_graph", "same_score", "score_change")


def tasks(options: Options) -> Iterator[Task]:
    """Yield the keys of all cases."""
    for case in all_cases(quick=options.quick, large=not options.quick):
        yield {"group": case.group, "what": case.what, "n": case.n}


def rows_of(_: Sequence[Task], known: Mapping[Key, Row], options: Options) -> Iterator[Row]:
    """Yield the rows of the cases that were not yet measured with the present sources."""
    cases = chosen_cases(all_cases(quick=options.quick, large=options.large), options.only)
    now = digest_of()
    settled = {key for key, row in known.items() if row["sources"] == now and not options.again}
    return measure([case for case in cases if (case.group, case.what, case.n) not in settled])


def chosen_cases(cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """Return the cases whose "group: what" begins with one of the words, or all without words."""
    if not only:
        return list(cases)
    return [case for case in cases if f"{case.group}: {case.what}".startswith(tuple(only))]


TITLES = {
    "2d edges": "Linear Gaussian, 2 edges per variable, 10,000 rows, on a ready score",
    "4d edges": "Linear Gaussian, 4 edges per variable, 10,000 rows, on a ready score",
    "learn": "The same 2 edges per variable, from the array to the graph",
    "complete": "From the complete graph, with a population covariance",
    "discrete": "Reference networks, 5,000 rows, from the table to the graph",
    "default": "Without options, from the table to the graph",
    "python": "Where Python is called during the search",
    "busy": "Threads as they come, beside a process that keeps a core busy",
    "threads": "Throughput of eight threads, relative to one",
    "growth": "Growth of the present package, 1 edge per variable, from the array to the graph",
}

NOTES = {
    "default": "The default search was changed together with the engine, so it is judged by score.",
    "threads": "The tables are learned from, not only searched, and the threads of BLAS are not "
    "limited.",
    "growth": "Megabytes are the peak memory of the process, including the table; the exponent is "
    "computed from this and the preceding size. The number of threads is not limited.",
}


def facts(rows: list[Row]) -> dict[str, object]:
    """Return one table per group."""
    parts = []
    for group, title in TITLES.items():
        if own := pick(rows, group=group):
            parts += [f"## {title}", *([NOTES[group]] if group in NOTES else []), _table(own)]
    return {"groups": "\n\n".join(parts), "circumstances": _circumstances(rows)}


def _circumstances(rows: Sequence[Row]) -> str:
    """Return the dates and the machines of the measurements."""
    dates = sorted(set(distinct(rows, "date")))
    span = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    return f"Measured {span} on {'; '.join(sorted(set(distinct(rows, 'machine'))))}."


def _table(rows: Sequence[Row]) -> str:
    if rows[0]["group"] == "growth":
        head: Sequence[str] = ("seconds", "exponent", "MB")
        body: list[Sequence[object]] = [
            (row["what"], f"{row['n']:,}", short_seconds(row["present"]), _exponent(rows, row),
             f"{row['megabytes']:,.0f}")
            for row in rows
        ]  # fmt: skip
        return grid(("search", "variables", *head), body)
    if rows[0]["group"] == "threads":
        body = [
            (row["what"], f"{row['n']:,}", _seconds(row["present"]), _ratio(row)) for row in rows
        ]
        return grid(("search", "variables", "one call, s", "throughput"), body)
    head = ("predecessor, s", "present, s", "ratio", "runs", "same")
    body = [
        (row["what"], f"{row['n']:,}", _seconds(row["predecessor"]), _seconds(row["present"]),
         _ratio(row), row["repetitions"], same(row))
        for row in rows
    ]  # fmt: skip
    return grid(("search", "variables", *head), body)


def _seconds(value: float | None) -> str:
    """Return the text of a duration in seconds, or in milliseconds if it is short.

    >>> _seconds(0.00123), _seconds(1.234)
    ('1.23 ms', '1.23')
    """
    if value is None:
        return MISSING
    return f"{1000 * value:.3g} ms" if value < 0.1 else short_seconds(value)


def _ratio(row: Row) -> str:
    text = times(row["ratio"])
    return f"**{text}**" if row["target"] and row["ratio"] < row["target"] else text


def same(row: Row) -> str:
    """Return "yes" if two packages find the same, or else how the score changed on the worst table.

    >>> same({"same_graph": False, "same_score": False, "score_change": -3.61})
    'score -3.61'
    >>> same({"same_graph": False, "same_score": True, "score_change": 0.0})
    'not graph'
    """
    if not row["same_score"]:
        return f"score {row['score_change']:+.3g}"
    return "yes" if row["same_graph"] else "not graph"


def _exponent(rows: Sequence[Row], row: Row) -> str:
    smaller = [r for r in rows if r["what"] == row["what"] and r["n"] < row["n"]]
    if not smaller:
        return MISSING
    last = max(smaller, key=lambda r: int(r["n"]))
    return f"{log(row['present'] / last['present']) / log(row['n'] / last['n']):.2f}"


STUDY = Study(
    "engine",
    "The engine in C++ and its predecessor",
    {"group": words, "what": words, "n": positive},
    COLUMNS,
    tasks,
    rows_of,
    facts,
    needs=needs,
)
