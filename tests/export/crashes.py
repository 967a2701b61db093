"""A writer that a signal ends at each of its file events in turn; run by ``test_crashes``.

    python crashes.py FOLDER SIGNAL fresh|replacing writer|COMMAND

The writer is ``write_directory`` and ``write_bytes``, or a whole command such as
``sges learn --out``.  The events are those of the audit hooks of Python on a path in FOLDER.  The
process is forked, and the child sends itself the signal before its k-th event, for k = 1, 2, ...
until a child reaches the end.  Afterwards, the folder must contain the old files or the new ones.
"""

import io
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sges.cli import INTERRUPTED
from sges.cli.app import run
from sges.report import read_result
from sges.writing import write_bytes, write_directory

OLD = {name: f"old {name}".encode() for name in ("graph.json", "graph.dot", "summary.txt")}
NEW = {name: f"new {name}".encode() for name in ("graph.json", "graph.dot", "summary.txt")}
FOREIGN = {"notes.txt": b"mine"}
ROWS = "0.5,1\n1.5,0\n2,2.5\n4,3.5\n3,1.5\n"


NOT_REACHED, FAILED = 70, 71


def run_until_event(folder: Path, number: int, sign: int, work: Callable[[], object]) -> int:
    """Fork a child that does the work and gets the signal before an event; return its status.

    That is the negative number of the signal, or ``NOT_REACHED`` if there are fewer events, or the
    integer that the work returns.
    """
    child = os.fork()
    if child == 0:
        code: object = FAILED
        try:
            code = _work_with_signal(folder, number, sign, work)
        except KeyboardInterrupt:
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status != FAILED, number
    return status


def _work_with_signal(folder: Path, number: int, sign: int, work: Callable[[], object]) -> object:
    seen = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        about_files = event == "open" or event.startswith(("os.", "shutil.", "fcntl."))
        if about_files and any(str(a).startswith(str(folder)) for a in arguments):
            seen += 1
            if seen == number:
                os.kill(os.getpid(), sign)

    sys.addaudithook(hook)
    code = work()
    return code if seen >= number else NOT_REACHED


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def check_directory(root: Path, sign: int, replacing: bool) -> int:
    """Send the signal at every event of ``write_directory``; return the number of events."""
    folder, number = root / "out", 0
    while True:
        number += 1
        shutil.rmtree(folder, ignore_errors=True)
        if replacing:
            write_directory(folder, OLD)
            (folder / "notes.txt").write_bytes(b"mine")
        work = partial(write_directory, folder, NEW)
        finished = run_until_event(folder, number, sign, work) == NOT_REACHED
        left = content(folder) if folder.exists() else {}
        ours = {name: data for name, data in left.items() if name in OLD}
        kept = FOREIGN if replacing else {}
        assert kept.items() <= left.items(), (number, left)
        generations = {data.split()[0] for data in ours.values()}
        assert len(generations) <= 1, (number, ours)
        assert not ours or "graph.json" in ours, (number, ours)
        assert not replacing or "graph.json" in ours, (number, ours)
        if sign == signal.SIGINT:  # the old files are restored, or the new ones complete
            assert ours in (OLD if replacing else {}, NEW), (number, ours)
        write_directory(folder, NEW)
        assert content(folder) == {**NEW, **kept}, number
        assert all(not path.name.startswith(".sges-") for path in folder.iterdir()), number
        if finished:
            assert ours == NEW
            return number - 1


def check_file(root: Path, sign: int, replacing: bool) -> int:
    """Send the signal at every event of ``write_bytes``; return the number of events."""
    folder, number = root / "file", 0
    target = folder / "graph.svg"
    while True:
        number += 1
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if replacing:
            target.write_bytes(b"old")
        work = partial(write_bytes, target, b"new")
        finished = run_until_event(folder, number, sign, work) == NOT_REACHED
        ours = target.read_bytes() if target.exists() else None
        assert ours in (b"old" if replacing else None, b"new"), (number, ours)
        write_bytes(target, b"new")
        assert [path.name for path in folder.iterdir()] == ["graph.svg"], number
        if finished:
            assert ours == b"new"
            return number - 1


COMMANDS = {
    "learn": "learn {table} --out {folder}",
    "learn --report": "learn {table} --report {folder}/report.html",
    "confidence": "confidence {table} --replicates 2 --out {folder}",
    "convert": "convert {graph} {folder}/graph.graphml",
    "plot": "plot {graph} {folder}/graph.svg",
    "report": "report {graph} {folder}/report.html",
    "simulate": "simulate {folder} --variables 3 --records 5 --seed {seed}",
}
"""All commands that write files; most files contain the name of a column of the table."""


def run_command(root: Path, command: str, generation: str) -> int:
    """Run the command on the table or graph of this generation."""
    table, graph = root / f"{generation}.csv", root / generation / "graph.json"
    seed, folder = ("old", "new").index(generation), root / "command"
    words = COMMANDS[command].split()
    return run([w.format(table=table, graph=graph, folder=folder, seed=seed) for w in words])


def check_command(root: Path, command: str, sign: int, replacing: bool) -> int:
    """Send the signal at every event of a command; return the number of events."""
    folder, number = root / "command", 0
    complete = {}
    for generation in ("old", "new"):
        table = root / f"{generation}.csv"
        table.write_text(f"{generation}_x,{generation}_y\n" + ROWS)
        assert run(["learn", str(table), "--out", str(root / generation)]) == 0
        folder.mkdir()
        assert run_command(root, command, generation) == 0
        complete[generation] = content(folder)
        folder.replace(root / f"{generation} files")
    files = sorted(complete["new"])
    while True:
        number += 1
        shutil.rmtree(folder, ignore_errors=True)
        if replacing:
            shutil.copytree(root / "old files", folder)
        else:
            folder.mkdir()
        before = content(folder)
        status = run_until_event(folder, number, sign, partial(run_command, root, command, "new"))
        left = content(folder)
        left = {name: data for name, data in left.items() if not name.startswith(".sges-")}
        generations = generations_of(left, complete)
        assert generations <= ({"old", "new"} if replacing else {"new"}), (number, left)
        assert len(generations) == 1 or not (generations or replacing), (number, left)
        if left and command == "learn":
            assert f"{read_result(folder).names[0]}"[:3] in generations, number
        if sign != signal.SIGKILL:  # a regular end, with all files of one generation
            assert status in (0, INTERRUPTED, NOT_REACHED), (number, status)
            assert left == before if status == INTERRUPTED else sorted(left) == files, number
            assert status == INTERRUPTED or generations == {"new"}, (number, status)
            assert names_in(folder) == sorted(left), number
        assert run_command(root, command, "new") == 0, number
        assert names_in(folder) == files, number
        assert generations_of(content(folder), complete) == {"new"}, number
        if status == NOT_REACHED:
            return number - 1


def generations_of(files: dict[str, bytes], complete: dict[str, dict[str, bytes]]) -> set[str]:
    """Return the generations of the files, leaving out files that are the same in both.

    A file that contains times differs between runs, but contains the name of a column.
    """
    found = set()
    for name, data in files.items():
        same = [generation for generation in complete if complete[generation][name] == data]
        if len(same) < 2:
            found.add(same[0] if same else data.partition(b"_x")[0][-3:].decode())
    return found


if __name__ == "__main__":
    root, sign, replacing = (
        Path(sys.argv[1]),
        signal.Signals[sys.argv[2]],
        sys.argv[3] == "replacing",
    )
    if sys.argv[4] != "writer":
        told, sys.stdout = sys.stdout, io.StringIO()
        told.write(f"{check_command(root, sys.argv[4], sign, replacing)}\n")
    else:
        writer = (check_directory(root, sign, replacing), check_file(root, sign, replacing))
        sys.stdout.write(f"{writer[0]} {writer[1]}\n")
