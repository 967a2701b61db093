"""Runs of one program: a process of its own, its clock, and its failures as words.

The clock runs per stage: a slow import or a first call that compiles does not use up the seconds
of the search.  A process that overstays is ended together with all that it started.
"""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
START_LIMIT = 180.0
"""Seconds that importing and warming up may take, and preparing a table."""

THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


SHARED = 5.0
"""The clock may show so many times the limit, which is by the processor, before a run is ended."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the worker told of one table, or why it did not get there."""

    answer: dict[str, Any]
    failed: str | None = None


def measure(peer: str, python: Path, tables: Sequence[Path], limit: float) -> list[Outcome]:
    """Run the worker on one peer and some tables, one thread and so many seconds for each.

    Fewer outcomes than tables come back if the process ended early: the last one says why.
    """
    command = [str(python), "-m", "studies.peers.worker", peer, *map(str, tables)]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **dict.fromkeys(THREAD_LIMITS, "1"), "PYTHONHASHSEED": "0"},
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,
        )
        try:
            return _Watch(process, limit, complaints).outcomes(len(tables))
        finally:
            _end(process)


class _Watch:
    """Follows the stages that a worker tells of, each within its time."""

    def __init__(self, process: subprocess.Popen[bytes], limit: float, complaints: IO[str]) -> None:
        self.process, self.limit, self.complaints = process, limit, complaints
        self.stage = "start"
        self.pending = b""

    def outcomes(self, count: int) -> list[Outcome]:
        """Return what came of each table, up to the one that ended the process."""
        found: list[Outcome] = []
        while len(found) < count:
            told = self._next_line()
            if isinstance(told, str):
                return [*found, Outcome({}, told)]
            if told["stage"] == "failed":
                return [*found, Outcome({}, f"error in {self.stage}: {told['reason']}")]
            if told["stage"] != "done":
                self.stage = told["stage"]
            elif "failed" in told:
                found.append(Outcome({}, f"error in {self.stage}: {told['failed']}"))
            else:
                found.append(Outcome(told))
        return found

    def _next_line(self) -> dict[str, Any] | str:
        """Return what the worker tells next, or how it ended."""
        assert self.process.stdout is not None
        allowed = self.limit if self.stage == "run" else START_LIMIT
        deadline, used = time.monotonic() + SHARED * allowed, cpu_seconds(self.process.pid)
        while b"\n" not in self.pending:
            left = allowed - (cpu_seconds(self.process.pid) - used)
            if left <= 0 or time.monotonic() > deadline:
                return f"timeout: more than {allowed:g} s in {self.stage}"
            if not select.select([self.process.stdout], [], [], min(left, 1.0))[0]:
                continue
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                return self._crash()
            self.pending += chunk
        line, _, self.pending = self.pending.partition(b"\n")
        told: dict[str, Any] = json.loads(line)
        return told

    def _crash(self) -> str:
        """Say how a process ended that had more to tell."""
        code = self.process.wait()
        if code < 0:
            return f"crash in {self.stage}: {signal.Signals(-code).name}"
        self.complaints.seek(0)
        lines = [line.strip() for line in self.complaints.read().splitlines() if line.strip()]
        return f"crash in {self.stage}: {(lines or [f'exit code {code}'])[-1][:300]}"


def cpu_seconds(pid: int) -> float:
    """Return the processor's seconds that a process has had, or else those of the clock.

    By these a limit is fair on a machine that has other work, too.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and everything in its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
