"""Make the golden file: the steps of each problem with the installed package.

    cd tests && python -m golden.make

Run it in the environment of the predecessor.  Every problem is run as it is, without the compiled
kernels (``SGES_PURE=1``), and with its table changed in the last digits.  If that changes a step or
a count, the result depends on rounding and may differ between machines, so the problem is refused.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import sges
from golden import tables
from golden.problems import PROBLEMS
from golden.record import Record, difference

FILE = Path(__file__).with_name("steps.json")

LONGEST = 3.0
"""The longest time of a problem, in seconds."""

SHAKES = 6
"""The number of changed tables for each problem."""


def run_all() -> dict[str, Record]:
    """Return the record of every problem, with the seconds it took."""
    records = {}
    for name, problem in PROBLEMS.items():
        begun = time.perf_counter()
        record = problem.record()
        records[name] = {**record, "seconds": round(time.perf_counter() - begun, 2)}
    return records


def run_elsewhere(*words: str, **environment: str) -> dict[str, Record]:
    """Return the records from a new process with one thread."""
    command = [sys.executable, "-m", "golden.make", "--print", *words]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    records: dict[str, Record] = json.loads(done.stdout)
    return records


def commit() -> str:
    """Return the commit of the package, marked if its sources have changes."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    where = Path(sges.__file__).parent
    done = subprocess.run(command, cwd=where, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def write(records: dict[str, Record]) -> None:
    """Write the golden file, with a line for each problem."""
    lines = [f'"commit": {json.dumps(commit())}']
    lines += [
        f"{json.dumps(name)}: {json.dumps(record, separators=(',', ':'))}"
        for name, record in records.items()
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def unfit(records: dict[str, Record]) -> dict[str, str]:
    """Return the problems that take too long or depend on rounding, with the reason."""
    found = {
        name: f"takes {record['seconds']} s"
        for name, record in records.items()
        if record["seconds"] > LONGEST
    }
    for how, others in (
        *((f"shaken {k}", run_elsewhere(f"--shake={k}")) for k in range(1, SHAKES + 1)),
        ("pure", run_elsewhere(SGES_PURE="1")),
    ):
        for name, record in records.items():
            if said := difference(record, others[name]):
                found.setdefault(name, f"{how}: {said}")
    return found


def make() -> None:
    """Make the golden file, or report the problems that are not suitable."""
    records = run_elsewhere()
    refused = unfit(records)
    for name, why in refused.items():
        sys.stderr.write(f"{name}: {why}\n")
    if refused:
        sys.exit(f"{len(refused)} of {len(records)} problems are not fit to be kept")
    write(records)
    seconds = sum(record["seconds"] for record in records.values())
    sys.stderr.write(f"{len(records)} problems, {seconds:.1f} s\n")


if __name__ == "__main__":
    if "--print" in sys.argv:
        tables.SHAKE = int(sys.argv[-1].partition("=")[2] or 0)
        json.dump(run_all(), sys.stdout)
    else:
        make()
