"""Files are written to the end, or a signal or a failure comes at one of their file events.

A file event is an audit event of Python on a path in the folder, a lock, or a wait for the disk.  A
forked child does the work, and at its k-th event it gets a signal or the event fails, for k = 1, 2,
... until a child reaches the end.  After each child, a reader must find the old files or the new
ones, the child must have ended with one line, and the next run must leave exactly the new files.
"""

import errno
import io
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from sges.cli import INTERRUPTED
from sges.cli.app import run
from sges.errors import FileError
from sges.tools.report import read_result
from sges.uncertainty import replicates
from sges.writing import opened, write_bytes, write_directory

ENDS = ("SIGKILL", "SIGINT", "SIGTERM", "ENOSPC", "EIO")
FRESH, REPLACING = "fresh", "replacing"
FOREIGN = {".sges-notes.txt": b"mine", ".sges-venv": None, "notes.txt": b"mine"}
"""What users have in the folder: files, and a directory."""
ROWS = "0.5,1\n1.5,0\n2,2.5\n4,3.5\n3,1.5\n"
FINISHED, FAILED = 70, 71
"""The status of a child that had fewer events, and of one that ended with an unknown error."""


def _written(folder: Path, generation: str) -> int:
    """Write a directory as a command does; return an exit code."""
    names = "first.json", "second.txt", "third.svg"
    files = {name: f"{generation} {name}".encode() for name in names}
    return _ended(lambda: write_directory(folder, files))


def _written_file(folder: Path, generation: str) -> int:
    return _ended(lambda: write_bytes(folder / "graph.svg", generation.encode()))


def _ended(work: Callable[[], object]) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        work()
    except FileError as error:
        sys.stderr.write(f"sges: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("sges: interrupted\n")
        return INTERRUPTED
    return 0


def _command(words: str) -> Callable[[Path, str], int]:
    """Return the work of a command on the table or graph of a generation."""

    def work(folder: Path, generation: str) -> int:
        inputs, number = folder.parent / generation, ("old", "between", "new").index(generation)
        line = words.format(inputs=inputs, folder=folder, seed=number, number=number + 1)
        with redirect_stdout(io.StringIO()):
            return run(line.split())

    return work


WORKS: dict[str, Callable[[Path, str], int]] = {
    "write_directory": _written,
    "write_bytes": _written_file,
    "learn": _command("learn {inputs}.csv --out {folder}"),
    "learn --report": _command("learn {inputs}.csv --report {folder}/report.html"),
    "confidence": _command("confidence {inputs}.csv --replicates 2 --out {folder}"),
    "confidence --checkpoint": _command(
        "confidence {folder}/../old.csv --replicates {number} --checkpoint {folder}/run.json"
    ),
    "convert": _command("convert {inputs}/graph.json {folder}/graph.graphml"),
    "plot": _command("plot {inputs}/graph.json {folder}/graph.svg"),
    "report": _command("report {inputs}/graph.json {folder}/report.html"),
    "simulate": _command("simulate {folder} --variables 3 --records 5 --seed {seed}"),
}
"""What is tortured, by name; each writes the files of a generation into a folder."""


@dataclass
class Outcome:
    """The numbers of children by what they left: old or new files, or visible names of both."""

    events: int = 0
    left: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        """Count one child."""
        self.left[what] = self.left.get(what, 0) + 1

    def __str__(self) -> str:
        return f"{self.events} events; " + ", ".join(f"{n} {what}" for what, n in self.left.items())


@contextmanager
def _without_time_and_disk() -> Iterator[None]:
    """Let two runs write the same files, quickly, and save after each replicate."""
    with (
        patch.object(time, "perf_counter", lambda: 0.0),
        patch.object(os, "fsync", lambda _: None),  # no child ends the machine
        patch.object(replicates, "SECONDS_BETWEEN", -1.0),
    ):
        yield


@_without_time_and_disk()
def torture(root: Path, name: str, end: str, mode: str, stride: int = 1) -> Outcome:
    """Let a work end at every event, or at every ``stride``-th; return what was left."""
    folder, work, outcome = root / "folder", WORKS[name], Outcome()
    known = _generations(root, work)
    for number in _numbers(stride):
        _start(folder)
        if mode == REPLACING:
            _add(folder, known["old"])
        status, told, events = _child(root, number, end, lambda: work(folder, "new"))
        here = f"{name}, {end} at event {number}, {mode}: status {status}, {told!r}"
        finished = status == FINISHED
        assert status != FAILED, here
        found = _found(folder, known["new"])
        generation = next((g for g, files in known.items() if files == found), None)
        assert generation or (mode == FRESH and not found), (here, sorted(found))
        assert end != "SIGKILL" or finished or status == -signal.SIGKILL, here
        if end != "SIGKILL":
            lines = told.splitlines()
            ended_later = end.startswith("SIG") and status == -signal.Signals[end]
            assert status in (0, 1, INTERRUPTED, FINISHED) or ended_later, here
            is_stopped = name == "confidence --checkpoint" and end.startswith("SIG")
            is_told = status in (1, INTERRUPTED) or (is_stopped and generation != "new")
            assert len(lines) == is_told, here
            assert all(line.startswith("sges: ") for line in lines), here
            assert status in (1, INTERRUPTED) or generation == "new" or is_stopped, here
            may_be_done = is_stopped or name.startswith("write")  # no promise that nothing is
            assert status != INTERRUPTED or generation != "new" or may_be_done, here
        if found and name == "learn":
            assert read_result(folder).names[0].startswith(str(generation)), here
        visible = {n: (folder / n).read_bytes() for n in found if (folder / n).exists()}
        assert mode == FRESH or len(visible) == len(found), here  # nothing is missing
        outcome.count(generation or "nothing")
        if visible != found:
            outcome.count("of these not yet under all names")
        assert work(folder, "new") == 0, here
        assert {p.name for p in folder.iterdir()} == {*FOREIGN, *known["new"]}, here
        assert _found(folder, known["new"]) == known["new"], here
        assert all((folder / n).read_bytes() == mine for n, mine in FOREIGN.items() if mine), here
        outcome.events = max(outcome.events, events)
        if finished:
            return outcome
    raise AssertionError


def _numbers(stride: int) -> Iterator[int]:
    number = 1
    while True:
        yield number
        number += stride


def _start(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / ".sges-venv").mkdir()
    _add(folder, {name: mine for name, mine in FOREIGN.items() if mine})


def _add(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _found(folder: Path, names: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of these names as a reader finds them."""
    found = {}
    for name in names:
        try:
            found[name] = opened(folder / name, Path.read_bytes)
        except FileNotFoundError:
            continue
    return found


def _generations(root: Path, work: Callable[[Path, str], int]) -> dict[str, dict[str, bytes]]:
    """Return the files of each generation; the reports need graphs to be made of."""
    known, folder = {}, root / "folder"
    for generation in ("old", "between", "new"):
        table = root / f"{generation}.csv"
        if not table.exists():
            table.write_text(f"{generation}_x,{generation}_y\n" + ROWS)
            assert _command("learn {inputs}.csv --out {inputs}")(folder, generation) == 0
        _start(folder)
        assert work(folder, generation) == 0
        mine = {path.name: path for path in folder.iterdir() if path.name not in FOREIGN}
        known[generation] = {name: path.read_bytes() for name, path in sorted(mine.items())}
    assert known["old"].keys() == known["new"].keys()
    assert known["old"] != known["new"]
    return known


def _child(root: Path, number: int, end: str, work: Callable[[], int]) -> tuple[int, str, int]:
    """Do the work in a child that ends at an event; return its status, its words, its events."""
    words, count = root / "stderr", root / "events"
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            handle = os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, 2)
            sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
            seen = _at_event(root / "folder", number, end)
            code = work()
            code = code if seen[0] >= number else FINISHED
            count.write_text(json.dumps(seen[0]))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    events = json.loads(count.read_text()) if status == FINISHED else 0
    return status, words.read_text(), events


def _at_event(folder: Path, number: int, end: str) -> list[int]:
    """Let this process end at an event from now on; return the number of events, in a list."""
    seen = [0]

    def event() -> None:
        seen[0] += 1
        if seen[0] != number:
            return
        if end.startswith("SIG"):
            os.kill(os.getpid(), signal.Signals[end])
        else:
            code = getattr(errno, end)
            raise OSError(code, os.strerror(code))

    def hook(name: str, arguments: tuple[object, ...]) -> None:
        about_files = name == "open" or name.startswith(("os.", "fcntl."))
        if about_files and name != "os.kill":
            is_inside = any(str(a).startswith(str(folder)) for a in arguments)
            if name.startswith("fcntl.") or is_inside:
                event()

    os.fsync = lambda fd: event()  # noqa: ARG005
    sys.addaudithook(hook)
    return seen
