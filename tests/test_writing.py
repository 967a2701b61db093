"""Writing in folders that other users and processes share; tests/torture lets writers die."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

import sges
from processes import started
from sges import writing
from sges.data import Dataset
from sges.errors import FileError
from sges.graph import PDAG
from sges.tools.export import read_graph, to_json
from sges.writing import write_bytes, write_directory, write_text

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links and locks")
FILES = {"graph.json": b"a graph", "summary.txt": b"a summary"}


def files_in(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_what_users_have_under_names_like_those_of_drafts_is_kept(tmp_path: Path) -> None:
    mine = [
        tmp_path / name for name in (".sges-venv", ".sges-drafts", writing._draft_name("7" * 16))
    ]
    for folder in mine:
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").write_text("mine")
    (tmp_path / ".sges-notes.txt").write_text("mine")
    (tmp_path / f".sges-{sha256(b'graph.json').hexdigest()[:12]}").write_text("mine")
    before = files_in(tmp_path)
    for _ in range(2):
        write_directory(tmp_path, FILES)
        write_text(tmp_path / "graph.json", "a graph")
    assert files_in(tmp_path) == {**before, **FILES}
    assert all((folder / "bin" / "python").read_text() == "mine" for folder in mine)


def test_a_link_that_was_planted_under_the_name_of_a_draft_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim, shared = tmp_path / "victim", tmp_path / "shared"
    victim.write_text("mine")
    shared.mkdir()
    for name in (f".sges-{sha256(b'page.html').hexdigest()[:12]}", writing._draft_name("5" * 16)):
        (shared / name).symlink_to(victim)
    write_text(shared / "page.html", "page")
    (shared / writing._draft_name("5" * 16)).unlink(missing_ok=True)
    (shared / writing._draft_name("5" * 16)).symlink_to(victim)
    monkeypatch.setattr(Path, "glob", lambda *_: [])  # it is planted after old drafts are removed
    monkeypatch.setattr(writing, "token_hex", lambda _: "5" * 16)  # and was guessed
    with pytest.raises(FileError, match="File exists"):
        write_text(shared / "page.html", "new page")
    assert victim.read_text() == "mine"
    assert (shared / "page.html").read_text() == "page"


def test_a_draft_of_a_private_file_is_private_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    path.write_text("old")
    path.chmod(0o600)
    modes: list[int] = []
    real = writing._locked  # entered when a draft is made, and before anything is written to it

    @contextmanager
    def recorded(draft: Path) -> Iterator[None]:
        modes.append(draft.stat().st_mode & 0o777)
        with real(draft):
            yield

    monkeypatch.setattr(writing, "_locked", recorded)
    monkeypatch.setattr("os.fsync", lambda file: modes.append(os.fstat(file).st_mode & 0o777))
    write_bytes(path, b"new")
    assert modes[:2] == [0o600, 0o600]
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o664)
    write_bytes(path, b"new")
    assert path.stat().st_mode & 0o777 == 0o664


def test_a_link_is_followed_unless_another_user_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    file, folder = tmp_path / "page.html", tmp_path / "out"
    file.symlink_to("folder/real.html")
    folder.symlink_to("folder")
    write_text(file, "page")
    write_directory(folder, FILES)
    assert files_in(tmp_path / "folder") == {"real.html": b"page", **FILES}
    if os.geteuid() == 0:  # links of root are followed
        for link in (file, folder):
            os.lchown(link, 12345, 12345)
    else:
        monkeypatch.setattr(writing, "_user", lambda: os.geteuid() + 1)
    with pytest.raises(FileError, match=r"page\.html' is a link of another user"):
        write_text(file, "new page")
    with pytest.raises(FileError, match="out' is a link of another user"):
        write_directory(folder, {**FILES, "graph.json": b"new"})
    assert files_in(tmp_path / "folder") == {"real.html": b"page", **FILES}


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def test_a_folder_that_stays_locked_is_one_line_that_says_by_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(writing, "PATIENCE", 0.2)
    monkeypatch.setattr(writing, "SECONDS_BEFORE_TELLING", 0.05)
    write_directory(tmp_path, FILES)
    with (
        locked(tmp_path),
        caplog.at_level(logging.WARNING),
        pytest.raises(FileError, match="which has locked it; try again later") as caught,
    ):
        write_directory(tmp_path, {**FILES, "graph.json": b"new"})
    assert "\n" not in str(caught.value)
    assert len(caplog.records) == 1
    who = f"process {os.getpid()} (" if Path("/proc/locks").exists() else "another process"
    assert f"sges: waiting for {who}" in caplog.text
    assert f"waited 0.2 seconds for {who}" in str(caught.value)
    assert files_in(tmp_path) == FILES
    with locked(tmp_path):
        write_text(tmp_path / "alone.txt", "one file needs no lock")
    write_directory(tmp_path, {**FILES, "graph.json": b"new"})
    assert (tmp_path / "graph.json").read_bytes() == b"new"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_waits_for_a_locked_folder_can_be_interrupted(
    number: signal.Signals, tmp_path: Path
) -> None:
    line = (
        "from sges import writing; from sges.cli import main; import sys; "
        "writing.SECONDS_BEFORE_TELLING = 0; writing.PATIENCE = 60; main(sys.argv[1:])"
    )
    with (
        locked(tmp_path),
        started([sys.executable, "-c", line, "simulate", str(tmp_path)]) as process,
    ):
        assert process.stderr is not None
        assert process.stderr.readline().startswith("sges: waiting for ")
        process.send_signal(number)
        _, told = process.communicate(timeout=20)
    assert (process.returncode, told) == (130, "sges: interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_readers_find_what_a_process_that_died_had_still_to_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def generation(names: list[str]) -> dict[str, bytes]:
        result = sges.learn(dict(zip(names, ([0.5, 1.5, 2.5, 3.0], [1, 0, 2, 4]), strict=True)))
        table = ",".join(names) + "\n1,2\n2,3\n4,5\n"
        graph = to_json(PDAG.from_edges(2, [(0, 1)], names=names))
        files = {"graph.json": result.to_json(), "truth.json": graph, "data.csv": table}
        return {name: text.encode() for name, text in files.items()}

    real = writing._move_in

    def dies(folder: Path) -> None:
        if writing._pending(folder):
            raise OSError("the process died")
        real(folder)

    old, new = generation(["a", "b"]), generation(["c", "d"])
    write_directory(tmp_path, old)
    monkeypatch.setattr(writing, "_move_in", dies)
    with pytest.raises(FileError, match="died"):
        write_directory(tmp_path, new)
    monkeypatch.undo()
    assert old.items() <= files_in(tmp_path).items()
    assert sges.read_result(tmp_path).names == ("c", "d")
    assert read_graph(tmp_path / "truth.json").names == ("c", "d")
    assert Dataset.of(tmp_path / "data.csv").names == ("c", "d")
    write_text(tmp_path / "truth.json", "newer")  # is not replaced by what was to be moved
    assert files_in(tmp_path) == {**new, "truth.json": b"newer"}


def test_what_many_processes_write_is_of_one_of_them(tmp_path: Path) -> None:
    line = (
        "import sys; from sges.writing import write_bytes, write_directory\n"
        "folder, content = sys.argv[1], sys.argv[2].encode() * 1000\n"
        "for _ in range(20):\n"
        "    write_bytes(f'{folder}/graph.svg', content)\n"
        "    write_directory(folder, {'graph.json': content, 'summary.txt': content})"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", line, str(tmp_path), letter], stderr=subprocess.PIPE
        )
        for letter in "abc"
    ]
    assert [process.communicate()[1] for process in running] == [b""] * 3
    left = files_in(tmp_path)
    whole = {letter * 1000 for letter in (b"a", b"b", b"c")}
    assert left.keys() == {"graph.json", "graph.svg", "summary.txt"}
    assert left["graph.json"] == left["summary.txt"]
    assert {left["graph.json"], left["graph.svg"]} <= whole


def test_files_obey_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        for path in write_directory(tmp_path, FILES):
            assert path.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)
