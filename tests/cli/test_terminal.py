"""Colors and progress are shown in a terminal, and nowhere else."""

import os
import pty
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from sges import examples, learn
from sges.cli import SIGNALS, at_signals
from sges.cli.app import run
from sges.cli.terminal import colored, warnings_as_remarks, watching
from sges.search import Progress
from sges.tools.report.text import PHASES, progress_in_words

ASIA = str(examples.load("asia").path)
COMMAND = [sys.executable, "-m", "sges", "learn", ASIA, "--max-parents", "2"]


def at_a_terminal(command: list[str], columns: int = 80) -> str:
    """Run a command with a terminal for all three streams; return its output."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment, close_fds=True
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed: the command has ended
            break
        if not piece:
            break
        shown += piece
    assert process.wait() == 0, shown
    os.close(master)
    return shown.decode()


def test_a_terminal_gets_colors_and_a_spinner() -> None:
    shown = at_a_terminal(COMMAND)
    assert "\x1b[1;36m→" in shown
    assert "reading" in shown
    assert "removing edges" in shown or "local optimum" in shown


def test_sentences_about_effects_are_folded_between_words() -> None:
    table = str(examples.load("greenhouse").path)
    shown = at_a_terminal([sys.executable, "-m", "sges", "effects", table, "--on", "sugar"], 40)
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).splitlines()
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


def test_a_pipe_gets_neither() -> None:
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


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
    for strategy, forward in (("auto", None), ("two-phase", "poly")):
        for knowledge in (None, known):
            learn(
                greenhouse, strategy=strategy, forward=forward, knowledge=knowledge,  # type: ignore[arg-type]
                progress=lambda now: seen.add(now.phase),
            )  # fmt: skip
    assert {"order", "poly-fes"} <= seen <= PHASES.keys()
    assert "knowledge" in PHASES  # the deletes of forbidden edges, which few searches need


def test_a_narrow_terminal_gets_a_narrow_summary() -> None:
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", at_a_terminal(COMMAND, columns=50))
    page = shown[shown.index("Equivalence class") :]
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
def test_the_shell_completes_commands_and_names(words: list[str], expected: str) -> None:
    environment = {
        **os.environ,
        "_SGES_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "sges"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert expected in done.stdout.split(), done.stderr


def test_standard_input_may_be_a_graph(tmp_path: Path) -> None:
    assert run(["simulate", str(tmp_path), "--records", "5"]) == 0
    with (tmp_path / "truth.json").open() as truth:
        done = subprocess.run(
            [sys.executable, "-m", "sges", "measure", "-"],
            stdin=truth, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert "10 nodes, 10 edges" in done.stdout
