"""Programs in separate processes: environments, time limits, and descriptions of failures.

Each peer has its own virtual environment, because the required versions conflict.  Environments are
made on first use in ``studies/.envs`` and kept; delete the folder to make them again.  If an
installation fails, the message of pip is the reason in the rows of the peer.

Each stage has its own time limit: a slow import or a first call that compiles does not reduce the
time of the search.  A process that exceeds its limit is killed, together with its children.
"""

import hashlib
import json
import os
import platform
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import IO, Any

from studies.peers.contract import Environment

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "sges"
FOLDER = ROOT / "studies" / ".envs"
INSTALL_LIMIT = 900.0
"""The time limit for making an environment, in seconds."""


def machine() -> str:
    """Return the model of the processor and the number of cores, but not the name of the host."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"


def today() -> str:
    """Return the date, in UTC."""
    return datetime.now(UTC).date().isoformat()


def digest_of(folder: Path = SOURCES) -> str:
    """Return eight characters that change with any source file."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".pyx", ".pxd", ".c", ".cpp", ".h", ".hpp"}:
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


# Environments.

ERROR = re.compile(r"(cmake )?error(?!: subprocess-exited)|fatal error|.*: error:", re.IGNORECASE)


class NotInstallable(Exception):
    """The environment could not be made; the message is that of pip."""


def interpreter(environment: Environment | None, folder: Path = FOLDER) -> Path:
    """Return the interpreter of an environment, making it first if it does not exist."""
    if environment is None:
        return Path(sys.executable)
    home = folder / environment.name
    if _stamp(environment) != _read(home / "made.json").get("stamp"):
        _make(environment, home)
    failed = _read(home / "made.json").get("failed")
    if failed:
        raise NotInstallable(failed)
    return home / "bin" / "python"


def version(environment: Environment | None, python: Path) -> str:
    """Return the version of the package of an environment, from its metadata."""
    package = "sges" if environment is None else environment.package
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _stamp(environment: Environment) -> str:
    """Return a stamp that changes when the environment has to be made again."""
    said = json.dumps([environment.install, environment.first, sys.version_info[:2]])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _read(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _make(environment: Environment, home: Path) -> None:
    """Make the environment, or record why that failed, so that it is not tried again."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    print(f"making the environment of {environment.name}", file=sys.stderr, flush=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check"]
    failed = _run([sys.executable, "-m", "venv", str(home)])
    if not failed and environment.first:
        failed = _run([*pip, *_placed(environment.first)])
    if not failed:
        failed = _run([*pip, *_placed(environment.install)])
    made = {"stamp": _stamp(environment), "failed": failed}
    (home / "made.json").write_text(json.dumps(made), encoding="utf-8")


def _placed(arguments: tuple[str, ...]) -> list[str]:
    """Return arguments of pip, with {here} replaced by the root of the repository."""
    return [argument.replace("{here}", str(ROOT)) for argument in arguments]


def _run(command: list[str]) -> str:
    """Run a command; return its error message, empty if it succeeded."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"not installed within {INSTALL_LIMIT:.0f} s"
    if done.returncode == 0:
        return ""
    return complaint(done.stderr + done.stdout)


def complaint(said: str) -> str:
    r"""Return the first error in the output of pip, with the home folder as "~".

    >>> complaint("noise\nERROR: No matching distribution found for nonsense\n")
    'No matching distribution found for nonsense'
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.match(line)]
    line = (errors or lines or ["no reason given"])[0]
    return line.removeprefix("ERROR: ").removeprefix("error: ").replace(str(Path.home()), "~")[:200]


# Runs of one program.

START_LIMIT = 180.0
"""The time limit for each of importing, warming up and preparing a table, in seconds."""

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
"""The limit is processor time; a run also ends after this multiple of it in elapsed time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of the worker for one table, or the reason why there is none."""

    answer: dict[str, Any]
    failed: str | None = None


def measure(
    peer: str,
    python: Path,
    tables: Sequence[Path],
    limit: float,
    *,
    once: bool = False,
    total: float = inf,
) -> list[Outcome]:
    """Run a peer on some tables, with one thread and at most ``limit`` seconds for each.

    With ``once``, there is no warm-up, and short runs are not repeated.  Once the runs have used
    ``total`` seconds of processor time, the other tables are not tried.

    If the process ends early, there are fewer outcomes than tables, and the last one says why.
    """
    command = [str(python), "-m", "studies.peers.worker", *["--once"] * once, peer]
    command += map(str, tables)
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
            return _Watch(process, limit, complaints).outcomes(len(tables), total)
        finally:
            _end(process)


class _Watch:
    """Follows the stages that a worker reports, and enforces the time limit of each."""

    def __init__(self, process: subprocess.Popen[bytes], limit: float, complaints: IO[str]) -> None:
        self.process, self.limit, self.complaints = process, limit, complaints
        self.stage = "start"
        self.pending = b""

    def outcomes(self, count: int, total: float) -> list[Outcome]:
        """Return the outcome of each table, up to the one that ended the process."""
        found: list[Outcome] = []
        while len(found) < count:
            if sum(outcome.answer.get("cpu_seconds", 0.0) for outcome in found) > total:
                enough = Outcome({}, f"not tried: the other seeds took more than {total:g} s")
                return found + [enough] * (count - len(found))
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
        """Return the next report of the worker, or how it ended."""
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
        """Return how a process ended before its last report."""
        code = self.process.wait()
        if code < 0:
            return f"crash in {self.stage}: {signal.Signals(-code).name}"
        self.complaints.seek(0)
        lines = [line.strip() for line in self.complaints.read().splitlines() if line.strip()]
        return f"crash in {self.stage}: {(lines or [f'exit code {code}'])[-1][:300]}"


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process, or the elapsed time if it is not known.

    A limit on processor time is fair on a machine with other work.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and all processes of its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
