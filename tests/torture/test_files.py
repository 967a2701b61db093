"""A signal or a failure at a file event leaves the old files or the new, and the next run heals.

This is the short form; ``make torture`` takes every event of every command.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("names", "ends", "stride"),
    [
        (["write_directory", "write_bytes"], ["SIGKILL", "EIO"], 9),
        (["confidence --checkpoint", "report"], ["ENOSPC"], 23),
        (["learn"], ["SIGKILL"], 37),
    ],
)
def test_an_end_at_any_file_event_leaves_the_old_files_or_the_new(
    names: list[str], ends: list[str], stride: int
) -> None:
    command = [sys.executable, "-m", "torture", *names, "--ends", *ends, "--stride", str(stride)]
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    lines = ran.stdout.splitlines()
    assert len(lines) == 2 * len(names) * len(ends)  # fresh, and replacing
    for line in lines:
        _, events, left = re.split(r" (\d+) events; ", line)
        assert int(events) > (9 if line.startswith(("write_bytes", "report")) else 30)
        assert re.search(r"\d (old|nothing).* new", left), line
