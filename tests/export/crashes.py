"""A writer that a signal ends at one file event after another; run by ``test_crashes``.

    python crashes.py FOLDER SIGNAL MODE

Every event of Python's audit hooks on a path in FOLDER is a place to die: the process is forked,
and the child sends itself the signal before its k-th event, for k = 1, 2, ... until a child
reaches the end.  After each death the folder must hold the old files or the new ones.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from sges.export.writing import write_bytes, write_directory

OLD = {name: f"old {name}".encode() for name in ("graph.json", "graph.dot", "summary.txt")}
NEW = {name: f"new {name}".encode() for name in ("graph.json", "graph.dot", "summary.txt")}
FOREIGN = {"notes.txt": b"mine"}


def run_until_event(folder: Path, number: int, sign: int, work: Callable[[], object]) -> bool:
    """Fork a child that does the work and dies before an event; tell whether it came to the end."""
    child = os.fork()
    if child == 0:
        seen = 0

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal seen
            about_files = event == "open" or event.startswith(("os.", "shutil.", "fcntl."))
            if about_files and any(str(a).startswith(str(folder)) for a in arguments):
                seen += 1
                if seen == number:
                    os.kill(os.getpid(), sign)

        sys.addaudithook(hook)
        try:
            work()
        except KeyboardInterrupt:
            os._exit(0)
        os._exit(0 if seen >= number else 7)
    status = os.waitpid(child, 0)[1]
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def check_directory(root: Path, sign: int, replacing: bool) -> int:
    """Die at every event of ``write_directory``; return how many there are."""
    folder, number = root / "out", 0
    while True:
        number += 1
        shutil.rmtree(folder, ignore_errors=True)
        if replacing:
            write_directory(folder, OLD)
            (folder / "notes.txt").write_bytes(b"mine")
        finished = run_until_event(folder, number, sign, lambda: write_directory(folder, NEW))
        left = content(folder) if folder.exists() else {}
        ours = {name: data for name, data in left.items() if name in OLD}
        kept = FOREIGN if replacing else {}
        assert kept.items() <= left.items(), (number, left)
        generations = {data.split()[0] for data in ours.values()}
        assert len(generations) <= 1, (number, ours)
        assert not ours or "graph.json" in ours, (number, ours)
        assert not replacing or "graph.json" in ours, (number, ours)
        if sign == signal.SIGINT:  # put back, or complete
            assert ours in (OLD if replacing else {}, NEW), (number, ours)
        write_directory(folder, NEW)
        assert content(folder) == {**NEW, **kept}, number
        assert all(not path.name.startswith(".sges-") for path in folder.iterdir()), number
        if finished:
            assert ours == NEW
            return number - 1


def check_file(root: Path, sign: int, replacing: bool) -> int:
    """Die at every event of ``write_bytes``; return how many there are."""
    folder, number = root / "file", 0
    target = folder / "graph.svg"
    while True:
        number += 1
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if replacing:
            target.write_bytes(b"old")
        finished = run_until_event(folder, number, sign, lambda: write_bytes(target, b"new"))
        ours = target.read_bytes() if target.exists() else None
        assert ours in (b"old" if replacing else None, b"new"), (number, ours)
        write_bytes(target, b"new")
        assert [path.name for path in folder.iterdir()] == ["graph.svg"], number
        if finished:
            assert ours == b"new"
            return number - 1


if __name__ == "__main__":
    arguments = (Path(sys.argv[1]), signal.Signals[sys.argv[2]], sys.argv[3] == "replacing")
    sys.stdout.write(f"{check_directory(*arguments)} {check_file(*arguments)}\n")
