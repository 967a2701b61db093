"""A signal at any file event leaves the old files or the new, and the next run leaves no trace."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("crashes.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("mode", ["fresh", "replacing"])
@pytest.mark.parametrize("sign", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_dying_at_any_file_event_leaves_one_generation(
    tmp_path: Path, sign: str, mode: str
) -> None:
    in_directory, in_file = events(tmp_path, sign, mode, "writer")
    assert in_directory > 14
    assert in_file > 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("sign", "mode"),
    [
        ("SIGKILL", "replacing"),
        *(
            pytest.param(sign, mode, marks=pytest.mark.slow)
            for sign in ("SIGINT", "SIGTERM", "SIGKILL")
            for mode in ("fresh", "replacing")
            if (sign, mode) != ("SIGKILL", "replacing")
        ),
    ],
)
def test_learn_that_is_ended_at_any_file_event_leaves_the_old_result_or_the_new(
    tmp_path: Path, sign: str, mode: str
) -> None:
    assert events(tmp_path, sign, mode, "learn")[0] > 15


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("mode", ["fresh", "replacing"])
@pytest.mark.parametrize("sign", ["SIGINT", "SIGTERM", "SIGKILL"])
@pytest.mark.parametrize(
    "command", ["learn --report", "confidence", "convert", "plot", "report", "simulate"]
)
def test_each_command_that_is_ended_at_any_file_event_leaves_old_files_or_new_ones(
    tmp_path: Path, command: str, sign: str, mode: str
) -> None:
    assert events(tmp_path, sign, mode, command)[0] > 2


def events(folder: Path, *arguments: str) -> list[int]:
    """Send the writer a signal at every event; return the numbers of events."""
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return [int(number) for number in ran.stdout.split()]
