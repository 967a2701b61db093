"""Invalid commands and files: a one-line error, the right exit code, no partial files."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sges import examples, learn
from sges.cli.app import run

Capture = pytest.CaptureFixture[str]
ASIA = str(examples.load("asia").path)


@pytest.fixture(scope="module")
def result_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a result in a file."""
    path = tmp_path_factory.mktemp("result") / "graph.json"
    path.write_text(learn(examples.load("asia"), strategy="two-phase").to_json(), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty directory with a few bad files in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "unknown.toml").write_text('required = [["asia", "cancer"]]\n')
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "semicolons.csv").write_text("a;b\n1;2\n2;1\n")
    (tmp_path / "spaces.csv").write_text("a b\n1.5 2\n2.5 1\n")
    (tmp_path / "from_r.csv").write_text('"a" "b"\n"1" 1.5 2\n"2" 2.5 1\n')
    (tmp_path / "from_r_commas.csv").write_text('"a","b"\n"1",1.5,2\n"2",2.5,1\n')
    (tmp_path / "book.xlsx").write_bytes(b"PK")
    (tmp_path / "holes.csv").write_text("a,b\n1.5,2\n,1\n2.5,\n0.5,4\n")
    (tmp_path / "numbers.csv").write_text("a,b\n1.5,2.5\n2.5,1.5\n0.5,4.5\n")
    (tmp_path / "kinds.csv").write_text("a,b\n1.5,0\n2.5,1\n0.5,1\n3.5,0\n")
    (tmp_path / "table.txt").write_text("a\tb\n1.5\t2\n2.5\t1\n0.5\t4\n")
    (tmp_path / "no.json").write_text("{")
    (tmp_path / "graph.json").write_text('{"nodes": ["a"], "edges": []}')
    (tmp_path / "page.html").write_text("<!DOCTYPE html>\n<p>")
    (tmp_path / "ab.csv").write_text("source,target,type\na,b,directed\n")
    (tmp_path / "file").write_text("a file, no directory")
    rows = "".join(f"k{i},{i % 2}\n" for i in range(40))
    (tmp_path / "ids.csv").write_text("id,b\n" + rows)
    return tmp_path


def contents(directory: Path) -> dict[Path, bytes | None]:
    """Return every path below a directory, with the content of files."""
    return {path: path.read_bytes() if path.is_file() else None for path in directory.rglob("*")}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("learn nowhere.csv", 1, "nowhere.csv: there is no such file"),
        ("learn nowhere.csv --score bicc", 2, "did you mean 'bic'?"),
        ("learn nowhere.csv --penalty many", 2, "--penalty = 'many'"),
        ("confidence nowhere.csv --n-jobs 0", 2, "--n-jobs = 0"),
        ("learn folder.csv", 1, "folder.csv: is a folder without tables"),
        ("learn semicolons.csv", 1, "pass --delimiter ';'"),
        ("learn spaces.csv", 1, "seems to be separated by spaces; pass --delimiter ' '"),
        ("learn from_r.csv", 1, "write the table with commas (in R with write.csv)"),
        ("learn from_r_commas.csv", 1, "2 fields and the next line 3; if the first is the name of"),
        ("learn book.xlsx", 1, "convert the table to one of them or, if it already is, pass --for"),
        ("learn holes.csv", 1, "pass --missing drop"),
        ("learn ids.csv", 1, "leave it out with --exclude id, or pass --kinds id=discrete"),
        ("learn ASIA --knowledge unknown.toml", 1, "'cancer'"),
        ("learn ASIA --columns asia --columns asia", 2, "--columns: 'asia' is given twice"),
        ("learn ASIA --out file", 1, "'file': it is a file; name a directory"),
        ("learn ASIA --report nowhere/r.html", 1, "there is no directory 'nowhere'"),
        ("measure folder.csv", 1, "'folder.csv': it is a directory; name a file in it"),
        ("report kinds.csv", 1, "'kinds.csv': this is not JSON"),
        ("report page.html", 1, "does not contain a result; it must be a result of sges learn"),
        ("learn ASIA --score bdeu --penalty 3", 2, "--penalty = 3"),
        ("learn ASIA --max-parents 0", 2, "sges: --max-parents 0: the bound must be at least 1"),
        ("confidence ASIA --time-limit 0", 1, "sges: --time-limit = 0: no replicate"),
        ("learn numbers.csv --score qnml", 1, "pass --kinds a=discrete if they are codes"),
        ("learn holes.csv --missing level --kinds continuous", 1, "pass --missing em to estimate"),
        ("learn table.txt", 1, "pass --format csv"),
        ("learn table.txt --format csv", 1, "pass --delimiter tab\n"),
        ("learn ASIA --max-parents 2 --v-width 2", 2, "--max-parents and --max-v-width were both"),
        ("learn ASIA --auto-bound --max-parents 2", 2, "give only one assumption"),
        ("learn", 2, "see sges learn --help"),
        ("learn ASIA --max-parents", 2, "see sges learn --help"),
        ("learn ASIA --max-parents two", 2, "'two'"),
        ("learn holes.csv ids.csv", 2, "quote a pattern of files, as in 'data/*.csv'; see sges"),
        ("lern ASIA", 2, "No such command 'lern'. Did you mean 'learn'? See sges --help"),
        ("report RESULT r.html --confidence RESULT", 1, "must be confidence.json of sges conf"),
        ("measure page.html", 1, "'page.html': this is a page of HTML; a graph is read from JSON"),
        ("effect - - asia tub", 2, "standard input can be the graph or the table, not both"),
        ("effect ab.csv ASIA a b --adjustment best", 2, "--adjustment = 'best' is not one of"),
        ("effects ASIA", 2, "give exactly one of --on and --of"),
        ("effects kinds.csv --on b --kinds b=discrete", 1, "learn from columns of one kind (--col"),
        ("effects ASIA --on asai", 1, "there is no column 'asai'; did you mean 'asia'?"),
        ("effects ASIA --on asia --graph ab.csv --knowledge k.toml", 2, "leave it out with"),
        ("convert ab.csv numbers.csv", 1, "'numbers.csv': it exists and is not a graph"),
        ("convert ab.csv damaged.parquet", 2, "its extension must be one of"),
        ("compare - -", 2, "standard input can be one of the two graphs"),
        ("simulate out --edges 100", 2, "--edges = 100: a DAG on 10 nodes has from 0 to 45"),
        ("simulate out --edges 3 --polytree", 2, "--edges and --polytree were both given"),
        ("simulate out --example asia --variables 5", 2, "--example and --variables were both"),
        ("simulate out --arity 3", 2, "--arity 3 needs --model discrete"),
        ("plot g.json p.svg --depth 1", 2, "--depth 1 needs --around"),
        ("simulate out --model round", 2, "--model = 'round' is not one of"),
        ("demo --picture nowhere/demo.svg", 1, "nowhere"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing_behind(
    capsys: Capture, here: Path, result_file: Path, arguments: str, code: int, said: str
) -> None:
    before = contents(here)
    stored = {"ASIA": ASIA, "RESULT": str(result_file)}
    assert run([stored.get(word, word) for word in arguments.split()]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.fullmatch(r"sges: [^\n]+\n", shown.err)
    assert said in shown.err
    assert contents(here) == before


def test_spaces_in_a_name_or_a_level_do_not_separate_columns(here: Path, capsys: Capture) -> None:
    (here / "one.csv").write_text("home town\nNew York\nLos Angeles\nNew York\n")
    assert run(["inspect", "one.csv"]) == 0
    assert "home town" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["inspect", "learn", "confidence --replicates 2"])
@pytest.mark.parametrize("delimiter", ["tab", r"\t", "\t"])
def test_a_tab_can_be_typed_and_the_format_given(
    here: Path, capsys: Capture, command: str, delimiter: str
) -> None:
    rows = "".join(f"{i % 7}.5\t{i % 5}.25\n" for i in range(60))
    (here / "table.txt").write_text(f"a\tb\n{rows}")
    words = [*command.split(), "table.txt", "--json", "--delimiter", delimiter, "--format", "csv"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)
    assert run([*command.split(), "table.txt", "--format", "tsv"]) == 0


@pytest.mark.parametrize(
    "name",
    [
        'say "no"',
        "<script>alert(1)</script>",
        "naïve → 变量 🌱",
        "a'b\\c",
        "x" * 3000,
        "[red]",
        "a=b",
    ],
)
def test_any_name_is_shown_and_written_as_it_is(here: Path, capsys: Capture, name: str) -> None:
    quoted = name.replace('"', '""')
    rows = "".join(f"{i % 7}.5,{(i % 7) + (i % 3) / 3:.3f}\n" for i in range(60))
    (here / "t.csv").write_text(f'"{quoted}",other\n{rows}', encoding="utf-8")
    arguments = ["learn", "t.csv", "--kinds", f"{name}=continuous", "--out", "out", "--json"]
    assert run(arguments) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == [name, "other"]
    assert run(["learn", "t.csv"]) == 0
    assert run(["measure", "out/graph.json"]) == 0
    assert "<script>" not in (here / "out" / "graph.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("what", "reader", "unbuffered"),
    [
        ("learn ab.csv", "true", ""),
        ("learn ab.csv --json", "head -c 10", "1"),
        ("learn --help", "true", "1"),
    ],
)
def test_a_reader_that_goes_away_is_not_an_error(
    what: str, reader: str, unbuffered: str, here: Path
) -> None:
    (here / "ab.csv").write_text("a,b\n1.5,2.5\n2.5,0.5\n0.5,1.5\n")
    command = f"{sys.executable} -m sges {what} | {reader}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("where", ["exec('raise KeyboardInterrupt')", "press()"])
def test_the_exit_code_of_ctrl_c_is_130_wherever_it_comes(where: str, here: Path) -> None:
    # By default, python -m dies of SIGINT if exec, which imports call, was interrupted.
    (here / "interrupted.py").write_text(
        "import signal, sges.data\n"
        "from sges.cli import main\n"
        "press = lambda: signal.raise_signal(signal.SIGINT)\n"
        f"sges.data.sources.statistics_of = lambda *_, **__: {where}\n"
        f"main(['learn', {ASIA!r}])\n"
    )
    command = [sys.executable, "-m", "interrupted"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (130, "sges: interrupted; nothing was written\n")


def test_signals_after_the_last_line_do_not_change_the_exit_code() -> None:
    code = (
        "import atexit, os, signal\n"
        "from sges.cli import main\n"
        "for number in (signal.SIGINT, signal.SIGTERM):\n"
        "    atexit.register(os.kill, os.getpid(), number)\n"
        f"main(['learn', {ASIA!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")
