"""Odd environments: closed or foreign streams, no home, other locales, narrow terminals, signals.

Each command ends with a result or with one line, never with a traceback.
"""

import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.feather
import pyarrow.parquet
import pytest

from sges import PDAG, examples
from sges.cli import INTERRUPTED, INVALID_DATA
from sges.cli.app import run
from sges.errors import need
from sges.tools.export import write_graph

Capture = pytest.CaptureFixture[str]
ASIA = str(examples.load("asia").path)
BASH = shutil.which("bash") or "bash"


def plain_environment(**changed: str | None) -> dict[str, str]:
    """Return the environment with some variables changed, or removed if None."""
    given = {**os.environ, **changed}
    return {name: value for name, value in given.items() if value is not None}


def in_shell(line: str, **changed: str | None) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which $SGES is the command."""
    environment = plain_environment(SGES=f"{sys.executable} -m sges", ASIA=ASIA, **changed)
    return subprocess.run(
        [BASH, "-c", line], env=environment, capture_output=True, check=False, timeout=120
    )


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Callable[..., io.BytesIO]:
    """Return a function that puts bytes in the place of a standard stream."""

    def put(name: str, encoding: str = "utf-8", content: bytes = b"") -> io.BytesIO:
        file = io.BytesIO(content)
        monkeypatch.setattr(f"sys.{name}", io.TextIOWrapper(file, encoding=encoding))
        return file

    return put


@pytest.fixture
def refusal(capsys: Capture) -> Callable[..., str]:
    """Return a function that runs a command; it returns the one line of its error."""

    def told(*words: str) -> str:
        assert run([*words]) == INVALID_DATA
        printed, told = capsys.readouterr()
        assert printed == ""
        assert told.startswith("sges: ")
        assert told.count("\n") == 1
        return told

    return told


def test_a_closed_standard_output_is_one_line(
    monkeypatch: pytest.MonkeyPatch, refusal: Callable[..., str]
) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert "standard output is closed" in refusal("learn", ASIA)


def test_a_closed_standard_error_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("sys.stderr", None)
    assert run(["learn", ASIA, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"] is True
    assert run(["learn", "nowhere.csv"]) == INVALID_DATA


@pytest.mark.parametrize("command", ["learn -", "measure -"])
def test_a_standard_input_that_is_closed_or_not_text_is_one_line(
    command: str,
    stream: Callable[..., io.BytesIO],
    monkeypatch: pytest.MonkeyPatch,
    refusal: Callable[..., str],
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    refusal(*command.split())
    stream("stdin", content=b"a,\xff\xfe\n1,2\n")
    refusal(*command.split())


def test_an_output_without_arrows_gets_plain_signs(stream: Callable[..., io.BytesIO]) -> None:
    printed = stream("stdout", "cp1252")
    assert run(["learn", ASIA]) == 0
    assert b"->" in printed.getvalue()


def test_json_is_json_in_every_encoding(tmp_path: Path, stream: Callable[..., io.BytesIO]) -> None:
    names = ("naïve", "变量")
    table = tmp_path / "t.csv"
    rows = "".join(f"{i % 7}.5,{(i % 7) + (i % 3) / 3:.3f}\n" for i in range(60))
    table.write_text(f"{','.join(names)}\n{rows}", encoding="utf-8")
    printed = stream("stdout", "ascii")
    assert run(["learn", str(table), "--json", "--kinds", "continuous"]) == 0
    assert json.loads(printed.getvalue())["nodes"] == list(names)


ODD: list[dict[str, str | None]] = [
    {
        "HOME": None, "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None, "MPLCONFIGDIR": None,
        "LC_ALL": "C", "LANG": None, "PYTHONUTF8": None, "COLUMNS": "20", "TERM": "dumb",
    },
    {
        "HOME": "/nonexistent", "MPLCONFIGDIR": None, "PATH": "/nonexistent", "LC_ALL": "C",
        "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "0", "TERM": None,
        "PYTHONHASHSEED": "7",
    },
    {
        "LC_ALL": "xx_XX.UTF-8", "COLUMNS": "wide", "TMPDIR": "/nonexistent",
        "PYTHONWARNINGS": "error", "TZ": "garbage", "LANGUAGE": "xx", "OMP_NUM_THREADS": "x",
        "NO_COLOR": "1", "FORCE_COLOR": "1",
    },
    {"PYTHONOPTIMIZE": "2", "PYTHONDEVMODE": "1"},
]  # fmt: skip
"""Independent changes of the environment, several at once."""


@pytest.mark.parametrize("changed", ODD, ids=range(len(ODD)))
def test_an_odd_environment_changes_no_result(
    changed: dict[str, str | None], tmp_path: Path
) -> None:
    done = in_shell(f"$SGES learn $ASIA --json --out {tmp_path / 'out'}", **changed)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert len(json.loads(done.stdout)["edges"]) == 7
    assert (tmp_path / "out" / "graph.json").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("$SGES learn $ASIA > /dev/full", "No space left on device"),
        ("$SGES --help > /dev/full", "No space left on device"),
        ("ulimit -f 1; $SGES learn $ASIA --out out", "cannot write 'out': File too large"),
        ("MPLBACKEND=nonsense $SGES plot graph.json out.svg", "matplotlib, which cannot be"),
    ],
)
def test_a_full_disk_or_a_bad_setting_is_a_one_line_error(
    line: str, said: str, tmp_path: Path
) -> None:
    write_graph(PDAG.complete(12), tmp_path / "graph.json")
    done = in_shell(f"cd {tmp_path}; {line}")
    assert done.returncode == INVALID_DATA, done.stderr
    assert done.stdout == b""
    told = done.stderr.decode()
    assert re.fullmatch(f"sges: .*{re.escape(said)}.*\n", told), told
    assert {path.name for path in tmp_path.iterdir()} == {"graph.json"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["learn", ASIA, "--out", "/proc/out"], "cannot write '/proc/out'"),
        (["learn", ASIA, "--report", "/proc/out.html"], "cannot write '/proc/out.html'"),
        (["learn", ASIA, "--out", "loop"], "cannot write 'loop'"),
        (["plot", "graph.json", "/proc/out.svg"], "cannot write '/proc/out.svg'"),
        (["simulate", "/proc/out"], "cannot write '/proc/out'"),
        (["learn", "/dev/zero"], "/dev/zero: is a device that may never end; give a file"),
        (["learn", "/dev/null"], "/dev/null: is empty; a table needs a header row"),
        (["learn", os.fsdecode(b"\xff.csv")], "there is no such file"),
        (["learn", "two\nlines.csv"], "there is no such file"),
    ],
    ids=lambda words: ascii(words) if isinstance(words, str) else ascii(words[-1]),
)
def test_a_place_that_cannot_be_written_or_read_is_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refusal: Callable[..., str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_graph(PDAG.complete(12), "graph.json")
    Path("loop").symlink_to("loop")
    assert said in refusal(*arguments)
    assert {path.name for path in tmp_path.iterdir()} == {"graph.json", "loop"}


def test_a_directory_that_is_gone_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Callable[..., str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "cannot write 'out'" in refusal("learn", ASIA, "--out", "out")
    assert "t.csv: there is no such file" in refusal("learn", "t.csv")
    assert "cannot write 'demo.svg'" in refusal("demo")


def test_the_name_of_a_file_may_be_any_bytes(tmp_path: Path, capsys: Capture) -> None:
    table, out = tmp_path / os.fsdecode(b"\xff.csv"), tmp_path / os.fsdecode(b"\xfe")
    table.write_bytes(Path(ASIA).read_bytes())
    packed = table.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(table.read_bytes()))
    assert run(["learn", str(table), "--out", str(out)]) == 0
    assert run(["learn", str(packed)]) == 0
    assert capsys.readouterr().err == ""
    assert len(list(out.iterdir())) == 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_command_is_imported_is_one_line(
    number: signal.Signals, tmp_path: Path
) -> None:
    """Typer is the first large library that the command imports; here it sends the signal."""
    (tmp_path / "typer.py").write_text(f"import signal\nsignal.raise_signal({int(number)})\n")
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    done = in_shell("$SGES learn $ASIA", PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (INTERRUPTED, b"")
    assert done.stderr == b"sges: interrupted; nothing was written\n"


UNMAPPED = "libarrow.so: failed to map segment from shared object"


def test_a_library_that_does_not_fit_into_memory_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(f"raise ImportError({UNMAPPED!r})\n")
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    done = in_shell("$SGES learn $ASIA", PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (INVALID_DATA, b"")
    assert done.stderr.decode() == f"sges: not enough memory ({UNMAPPED})\n"


def test_an_optional_library_that_does_not_fit_into_memory_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "too_large.py").write_text(f"raise ImportError({UNMAPPED!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MemoryError, match=r"^not enough memory to import too_large \(libarrow"):
        need("too_large", "a picture")


def test_a_command_that_runs_out_of_memory_says_so_in_one_line() -> None:
    code = (
        "import sys, sges.data.sources; from sges.cli import main\n"
        "def exhausted(*_, **__): raise MemoryError\n"
        "sges.data.sources.statistics_of = exhausted\n"
        "main(['learn', sys.argv[1]])"
    )
    done = subprocess.run([sys.executable, "-c", code, ASIA], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (INVALID_DATA, b"")
    assert done.stderr == b"sges: not enough memory\n"


FILLED = """
import resource, sys
from pathlib import Path
from sges import Dataset
small, large = sys.argv[1:]
Dataset.of(small)  # imports what is needed
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20),) * 2)
try:
    Dataset.of(large)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory")
@pytest.mark.parametrize("ending", ["feather", "parquet"])
def test_a_file_that_does_not_fit_into_memory_is_not_called_damaged(
    ending: str, tmp_path: Path
) -> None:
    for name, rows in (("small", 99), ("large", 1 << 20)):
        table = pyarrow.table({"a": np.arange(rows) / 2, "b": np.arange(rows) ** 0.5})
        if ending == "feather":
            pyarrow.feather.write_feather(table, tmp_path / f"{name}.feather", chunksize=rows)
        else:
            pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    done = subprocess.run(
        [sys.executable, "-c", FILLED, f"small.{ending}", f"large.{ending}"],
        env=plain_environment(ARROW_DEFAULT_MEMORY_POOL="system"),  # does not reserve memory
        cwd=tmp_path, capture_output=True, check=False, text=True,
    )  # fmt: skip
    said = rf"not enough memory to read large\.{ending} \(.+\)\n"
    assert re.fullmatch(said, done.stdout), done


WRITING = """
import signal, sys
import sges.cli.terminal
from sges.cli import main
shown = []
for name in ("say", "print_page", "remark"):
    for module in ("terminal", "learn", "graphs"):
        __import__(f"sges.cli.{module}")
        setattr(sys.modules[f"sges.cli.{module}"], name, lambda *_: signal.raise_signal(2))
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        ("convert graph.json other.dot", "other.dot"),
        ("simulate sampled", "sampled"),
    ],
)
def test_ctrl_c_after_a_file_was_written_does_not_deny_it(
    arguments: str, file: str, tmp_path: Path
) -> None:
    write_graph(PDAG.complete(3), tmp_path / "graph.json")
    done = subprocess.run(
        [sys.executable, "-c", WRITING, *arguments.split()],
        cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")
    assert (tmp_path / file).exists()


@pytest.mark.parametrize("arguments", ["--help", "learn --help", f"learn {ASIA}"])
def test_every_terminal_width_works(
    arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for columns in ("20", "1", "500"):
        monkeypatch.setenv("COLUMNS", columns)
        assert run(arguments.split()) == 0
        printed, told = capsys.readouterr()
        assert printed
        assert told == ""


SIGNALLED = """
import os, signal, sys
from sges.cli import main, terminal
number = int(sys.argv[1])
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), number))

class Watcher(terminal.Watcher):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.callback = begin

def begin(progress):
    if not BEGUN:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
    BEGUN.append(progress)

BEGUN = []

terminal.Watcher = Watcher
main(sys.argv[2:])
"""
"""A program that sends the command a signal during the search."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_search_with_its_result_so_far(
    number: signal.Signals, tmp_path: Path
) -> None:
    """A search from the complete graph of 60 variables takes far longer than 0.05 seconds."""
    assert run(["simulate", str(tmp_path / "s"), "--variables", "60", "--edges", "120"]) == 0
    done = subprocess.run(
        [
            sys.executable, "-c", SIGNALLED, str(int(number)), "learn",
            str(tmp_path / "s" / "data.csv"), "--forward", "complete", "--max-parents", "3",
            "--json", "--time-limit", "300",
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "sges: not complete (interrupted): this is the best graph found so far" in done.stderr
    result = json.loads(done.stdout)
    assert (result["complete"], result["stopped"]) == (False, "interrupted")
