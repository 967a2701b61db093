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
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), sign, mode],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    in_directory, in_file = map(int, ran.stdout.split())
    assert in_directory > 15
    assert in_file > 3
