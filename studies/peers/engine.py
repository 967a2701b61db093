"""The compiled engine against its predecessor, which searched in Python: both in one run.

    python -m studies.peers.engine [--quick] [--large] [--only NAME ...]

Two processes, one with the predecessor (a commit of this repository, in an environment of its own)
and one with the present package, are asked in turn, so that whatever else the machine does slows
both alike; a ratio is the median over the repetitions.  Searches in one thread are timed by the
processor's clock, which leaves out the time that others had it; those in several, and those beside
a busy core, by the clock on the wall.  ``floor`` and ``growth`` are about the present package only.

Writes engine.csv and engine.md into studies/results; what was not measured now stays as it was.
``--quick`` takes a minute on small data, and writes only where ``--out`` says.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from math import ceil, isclose
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeAlias

from studies.peers.contract import Environment
from studies.peers.engine_cases import Case, all_cases
from studies.peers.environments import interpreter
from studies.peers.machine import digest_of
from studies.peers.measure import ROOT, THREAD_LIMITS
from studies.peers.rows import RESULTS

PREDECESSOR = "de3e27f8e322a490a5fc5763d6a0e78babb3eb1b"
"""The last commit whose search was interpreted."""

ENOUGH = 0.05
"""Seconds that one timing should take at least: shorter searches are run several times in it."""
MOST_LOOPS = 20
REPETITIONS = 7
SPENT = 20.0
"""No more repetitions after so many seconds; a search that takes longer is run once."""

Row: TypeAlias = dict[str, Any]
COLUMNS = (
    *("group", "what", "n", "predecessor", "present", "ratio", "target", "repetitions"),
    *("same_graph", "same_score", "same_count", "megabytes", "floor", "questions", "sources"),
)
ALONE = ("floor", "growth")
"""Groups that are about the present package alone."""


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

    def ask(self, case: Case, table: Path, loops: int = 1) -> Row:
        """Return what a search on a table took and found."""
        assert self._process.stdin is not None
        given = {"do": case.do, "table": str(table), "options": case.options}
        request = {**given, "loops": loops, "wall": case.wall}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._next()

    def _next(self) -> Row:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerFailed(f"the worker ended with code {self._process.wait()}")
        answer: Row = json.loads(line)
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
    """Return a worker with the predecessor, which is installed if it is not there."""
    same = tuple(f"{package}=={version(package)}" for package in ("numpy", "scipy"))
    where = f"git+file://{{here}}/..@{PREDECESSOR}"
    environment = Environment("predecessor", (where,), "sges", same)
    return Worker(interpreter(environment), None, limited=limited)


def compare(case: Case, before: Worker, now: Worker, folder: Path) -> Row:
    """Return the row of a case, from both workers asked in turn."""
    tables = [case.data.write(seed, folder) for seed in range(case.seeds)]
    pairs, loops = [(before.ask(case, tables[0]), now.ask(case, tables[0]))], [1, 1]
    spent = pairs[0][0]["seconds"]
    if spent < SPENT:  # then the first of each was the warm-up
        loops = [_loops(worker.ask(case, tables[0])) for worker in (before, now)]
        pairs, spent = [], 0.0
    while spent < SPENT and len(pairs) < REPETITIONS:
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
        "same_count": all(old["count"] == new["count"] for old, new in pairs),
    }


def _loops(answer: Row) -> int:
    seconds: float = answer["seconds"]
    return min(ceil(ENOUGH / max(seconds, 1e-6)), MOST_LOOPS)


def alone(case: Case, folder: Path) -> Row:
    """Return the row of a case of the present package, in a process of its own."""
    table = case.data.write(0, folder)
    with present_worker(limited=case.group == "floor") as now:
        answer = now.ask(case, table)
    row = {"present": answer["seconds"], "repetitions": 1}
    if case.group == "floor":
        ratio = answer["seconds"] / answer["floor"]
        return {**row, "ratio": ratio, "floor": answer["floor"], "questions": answer["questions"]}
    if table.stat().st_size > 1 << 28:
        table.unlink()
    return {**row, "megabytes": answer["megabytes"]}


@contextmanager
def busy_core() -> Iterator[None]:
    """Keep a core busy, no longer than this process is there."""
    code = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def measure(cases: Sequence[Case], *, against_itself: bool = False) -> Iterator[Row]:
    """Yield a row per case.

    ``against_itself`` puts the present package in the predecessor's place, to test this file.
    """
    old_worker = present_worker if against_itself else predecessor_worker
    with TemporaryDirectory() as name:
        folder = Path(name)
        for is_busy in (False, True):
            chosen = [case for case in cases if case.busy == is_busy and case.group not in ALONE]
            if not chosen:
                continue
            with ExitStack() as stack:
                before = stack.enter_context(old_worker(limited=not is_busy))
                now = stack.enter_context(present_worker(limited=not is_busy))
                if is_busy:
                    stack.enter_context(busy_core())
                for case in chosen:
                    yield _row(case, compare(case, before, now, folder))
        for case in cases:
            if case.group in ALONE:
                yield _row(case, alone(case, folder))


def _row(case: Case, measured: Row) -> Row:
    head = {"group": case.group, "what": case.what, "n": case.n, "target": case.target}
    return dict.fromkeys(COLUMNS) | head | measured | {"sources": digest_of()}


def read(path: Path) -> list[Row]:
    """Return the rows of a file, none if it is not there; an empty field is None."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> Any:  # noqa: ANN401 (what the text stands for)
    known = {"": None, "True": True, "False": False}
    if text in known:
        return known[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def write(rows: Sequence[Row], folder: Path) -> None:
    """Write the rows, and a page with their tables; rows of the same case are replaced."""
    from studies.peers.engine_page import page

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "engine.csv"
    kept = {(row["group"], row["what"], row["n"]): row for row in [*read(path), *rows]}
    order = {
        (case.group, case.what, case.n): place for place, case in enumerate(all_cases(large=True))
    }
    ordered = sorted(kept.values(), key=lambda r: order.get((r["group"], r["what"], r["n"]), -1))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _short(value) for name, value in row.items()} for row in ordered)
    (folder / "engine.md").write_text(page(read(path)), encoding="utf-8")


def _short(value: Any) -> Any:  # noqa: ANN401
    return float(f"{value:.4g}") if isinstance(value, float) else value


def chosen_cases(cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """Return the cases whose group, or what is searched, begins with one of these names."""
    if not only:
        return list(cases)
    return [case for case in cases if any(f"{case.group}: {case.what}".startswith(o) for o in only)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is asked for, print it and write it."""
    parser = argparse.ArgumentParser(prog="python -m studies.peers.engine", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data only")
    parser.add_argument("--large", action="store_true", help="also what needs 12 GB and minutes")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="a group, or 'group: what'"
    )
    parser.add_argument("--largest", type=int, help="no more variables than this")
    parser.add_argument("--out", type=Path, help="the folder of engine.csv and engine.md")
    asked = parser.parse_args(arguments)
    cases = chosen_cases(all_cases(quick=asked.quick, large=asked.large), asked.only)
    if asked.largest:
        cases = [case for case in cases if case.n <= asked.largest]
    out = asked.out or (None if asked.quick else RESULTS)
    for row in measure(cases):
        print(as_line(row), flush=True)
        if out is not None:
            write([row], out)


def as_line(row: Row) -> str:
    """Return a row in a line, for people who watch."""
    head = f"{row['group']:9} {row['what']:40} {row['n']:6}"
    if row["megabytes"] is not None:
        return f"{head} {row['present']:9.3f} s {row['megabytes']:8,.0f} MB"
    other = row["predecessor"] if row["floor"] is None else row["floor"]
    low = " BELOW" if row["target"] and row["ratio"] < row["target"] else ""
    differs = [name for name in ("graph", "score", "count") if row[f"same_{name}"] is False]
    more = f" differs: {', '.join(differs)}" if differs else ""
    return f"{head} {other:9.4f} {row['present']:9.4f} s {row['ratio']:7.2f}×{low}{more}"


if __name__ == "__main__":
    main()
