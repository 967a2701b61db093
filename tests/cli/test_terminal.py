"""Colors and progress are shown in a terminal, and nowhere else."""

import os
import pty
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from sges import examples, learn
from sges.cli import SIGNALS, at_signals
from sges.cli.app import run
from sges.cli.terminal import colored, warnings_as_remarks, watching
from sges.search import Progress
from sges.tools.report.text import PHASES, progress_in_words

ASIA = str(examples.load("asia").path)
LEARN = ["learn", ASIA, "--max-parents", "2"]
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Return a function that runs a command as at a terminal; it returns the plain text."""

    def shown(words: list[str], columns: int) -> str:
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLUMNS", str(columns))
        for stream in (sys.stdout, sys.stderr):
            monkeypatch.setattr(stream, "isatty", lambda: True)
        assert run(words) == 0
        return ANSI.sub("", capsys.readouterr().out)

    return shown


def test_a_terminal_gets_colors_a_spinner_and_the_elapsed_time() -> None:
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "20"}
    process = subprocess.Popen(
        [sys.executable, "-m", "sges", *LEARN],
        stdin=slave, stdout=slave, stderr=slave, env=environment, close_fds=True,
    )  # fmt: skip
    os.close(slave)
    shown = b""
    with suppress(OSError):  # the other end is closed: the command has ended
        while piece := os.read(master, 65536):
            shown += piece
    assert process.wait() == 0, shown
    os.close(master)
    text = shown.decode()
    assert "\x1b[1;36m→" in text
    assert "0:00:0" in text
    assert "reading" in text


def test_sentences_about_effects_are_folded_between_words(terminal: Callable[..., str]) -> None:
    table = str(examples.load("greenhouse").path)
    lines = terminal(["effects", table, "--on", "sugar"], 40).splitlines()
    start = lines.index("Assumed: the graph is correct, no hidden")
    assert lines[start + 1 :] == ["common causes, no selection bias, linear", "relations."]


def test_what_a_library_deprecates_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings_as_remarks():
        warnings.warn("call me by my new name", DeprecationWarning, stacklevel=1)
        warnings.warn("column 'a' is constant", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "sges: warning: column 'a' is constant\n"


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with at_signals(signal.default_int_handler, *SIGNALS):
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_pipe_gets_neither(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(LEARN) == 0
    printed, told = capsys.readouterr()
    assert "\x1b" not in printed
    assert told == ""


def test_colors_do_not_change_the_text() -> None:
    summary = learn(ASIA).summary()
    assert colored(summary).plain == summary.rstrip("\n")


def test_progress_says_phase_steps_edges_and_score() -> None:
    assert progress_in_words(Progress("fes", 1, -12.34, 1, 0.1)) == (
        "adding edges  1 step  1 edge  score -12.3"
    )
    assert progress_in_words(Progress("sbes", 9, -2.0, 7, 0.1)).endswith(
        "  9 steps  7 edges  score -2.0"
    )


def test_every_phase_of_a_search_has_words() -> None:
    greenhouse = examples.load("greenhouse")
    known = {"forbidden": [("photosynthesis", "sugar"), ("sugar", "photosynthesis")]}
    seen: set[str] = set()
    for strategy, forward in (("auto", None), ("two-phase", "poly"), ("two-phase", "order")):
        for knowledge in (None, known):
            learn(
                greenhouse, strategy=strategy, forward=forward, knowledge=knowledge,  # type: ignore[arg-type]
                progress=lambda now: seen.add(now.phase),
            )  # fmt: skip
    assert {"order", "poly-fes"} <= seen <= PHASES.keys()
    assert "knowledge" in PHASES  # the deletes of forbidden edges, which few searches need


def test_a_narrow_terminal_gets_a_narrow_summary(terminal: Callable[..., str]) -> None:
    page = terminal(LEARN, 50)
    assert page.startswith("Equivalence class")
    assert "5,000 rows" in page
    assert max(len(line) for line in page.splitlines()) <= 50


def test_progress_is_not_shown_without_a_terminal() -> None:
    with watching("reading") as watcher:
        assert watcher.callback is None


def test_help_and_completion_load_nothing_heavy() -> None:
    script = """
import sys
from sges.cli.app import run
assert run(["--help"]) == 0
heavy = {"numpy", "scipy", "pyarrow", "pandas", "sklearn", "matplotlib", "networkx"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["sges", "learn", "t.csv", "--score", "bd"], "bdeu"),
        (["sges", "learn", "t.csv", "--forward", "p"], "poly"),
        (["sges", "learn", "t.csv", "--strategy", "ext"], "extended"),
        (["sges", "inspect", "t.csv", "--missing", "l"], "level"),
        (["sges", "mea"], "measure"),
    ],
)
def test_the_shell_completes_commands_and_names(
    words: list[str],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("_SGES_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    with pytest.raises(SystemExit):
        run([])
    assert expected in capsys.readouterr().out.split()


def test_standard_input_may_be_a_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", str(tmp_path), "--records", "5"]) == 0
    with (tmp_path / "truth.json").open() as truth:
        monkeypatch.setattr("sys.stdin", truth)
        assert run(["measure", "-"]) == 0
    assert "10 nodes, 10 edges" in capsys.readouterr().out
