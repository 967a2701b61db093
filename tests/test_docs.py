"""Every page of the documentation runs as it is written.

On each page, top to bottom, in an empty directory:

    ```python    is executed, in one namespace per page
    ```output    is the output of the block before it
    ```console   each line that begins with "$ " is run by a shell if it calls sges; the lines
                 below it are its output

"..." matches any text.  The README finds a table data.csv in the directory.
"""

import doctest
import os
import pydoc
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import util
from io import StringIO
from pathlib import Path

import pytest

from sges import examples

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCE = ROOT / "src" / "sges"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NOT_INSTALLED = {"sachs.md": "cdt"}  # `make site` runs these pages, with these packages
SLOW = {"wide.md"}
SHELL = f'sges() {{ "{sys.executable}" -m sges "$@"; }}; '


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def assert_printed(expected: str, printed: str) -> None:
    """Compare two outputs; "..." matches anything, and spaces at line ends are ignored."""
    want, got = (
        "\n".join(map(str.rstrip, text.splitlines())).rstrip() + "\n"
        for text in (expected, printed)
    )
    same = doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)
    assert same, f"the page says\n{want}\nand it prints\n{got}"


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block that calls sges, and its expected output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        if re.search(r"\bsges ", command):
            yield command, expected


def run_command(command: str) -> str:
    environment = {**os.environ, "COLUMNS": "80", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        ["bash", "-c", SHELL + command],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.stdout


def runnable() -> Iterator[object]:
    """Yield the pages with code, with marks for slow ones and for missing packages."""
    for page in PAGES:
        needed = NOT_INSTALLED.get(page.name)
        marks = [pytest.mark.slow] if page.name in SLOW else []
        if needed is not None and util.find_spec(needed) is None:
            marks.append(pytest.mark.skip(reason=f"{needed} is not installed; make site runs it"))
        if blocks(page):
            yield pytest.param(page, marks=marks, id=name_of(page))


@pytest.mark.parametrize("page", list(runnable()))
def test_the_page_runs_as_it_is_written(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    if page.name == "README.md":
        shutil.copy(examples.load("greenhouse").path, tmp_path / "data.csv")
    names: dict[str, object] = {"__name__": "page"}
    printed = ""
    for language, block in blocks(page):
        if language == "python":
            with redirect_stdout(StringIO()) as out:
                exec(compile(block, name_of(page), "exec"), names)
            printed = out.getvalue()
        elif language == "output":
            assert_printed(block, printed)
        elif language == "console":
            for command, expected in commands(block):
                assert_printed(expected, run_command(command))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target, _, anchor in re.findall(r"\]\(([^)#\s]*)(#([^)\s]*))?\)", text):
        if "://" not in target:
            aim = page.parent / target if target else page
            assert aim.exists(), target
            assert not anchor or anchor in anchors(aim), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the anchors that the headings of a page get on GitHub."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    }


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_and_files_that_a_page_mentions_exist(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for name in re.findall(r"`(sges(?:\.\w+)+)", text):
        assert pydoc.locate(name) is not None, name
    for path in re.findall(r"`((?:tests|studies|src|search|scripts)/[\w/.\-]+\.\w+)`", text):
        assert (ROOT / path).exists() or (SOURCE / path).exists(), path
    for name in re.findall(r"`((?:\w+/)?\w+\.[ch]pp)`", text):
        name = name.removeprefix("engine/")
        assert (SOURCE / "engine" / name).exists() or name == "scores/binary.hpp", name


CITATION = re.compile(
    r"\b([A-ZŁ][\w\-]+)(?:, [A-Z][\w\-]+)*(?:,? (?:&|and) (?:van den )?[A-Z][\w\-]+| et al\.)?"
    r",? \(?((?:19|20)\d\d)\b"
)
NOT_AUTHORS = {"UAI", "JMLR", "Python", "Measured", "NeurIPS", "PMLR"}


def citations(text: str) -> set[tuple[str, str]]:
    """Return the first author and the year of each citation, such as "Meek (1995)"."""
    joined = re.sub(r"\s*\n[\s#>*]*", " ", text)
    return {found for found in CITATION.findall(joined) if found[0] not in NOT_AUTHORS}


def test_every_work_that_is_cited_is_in_the_references() -> None:
    page = ROOT / "docs" / "references.md"
    listed = {
        (line.split(",")[0].removeprefix("* "), year)
        for line in page.read_text(encoding="utf-8").splitlines()
        for year in re.findall(r"\((\d{4})\)", line)
    }
    sources = [path for end in ("py", "hpp", "cpp") for path in SOURCE.rglob(f"*.{end}")]
    missing = {
        (name_of(path), *found)
        for path in [*sources, *(each for each in PAGES if each != page)]
        for found in citations(path.read_text(encoding="utf-8")) - listed
    }
    assert not missing, sorted(missing)


def test_citations_are_recognized_in_the_forms_that_we_use() -> None:
    text = "Meek (1995), Chow & Liu 1968; (Andrews et al. 2023), Liu, Roeder & Wasserman (2010)"
    assert citations(text) == {
        ("Meek", "1995"),
        ("Chow", "1968"),
        ("Andrews", "2023"),
        ("Liu", "2010"),
    }


def test_a_page_that_says_the_wrong_thing_is_caught() -> None:
    with pytest.raises(AssertionError, match="and it prints"):
        assert_printed("1\n", "2\n")
    assert_printed("1 ... 3\n", "1 and 2 and 3 \n")


def test_the_reference_of_the_command_line_is_up_to_date() -> None:
    spec = util.spec_from_file_location("cli_reference", ROOT / "scripts" / "cli_reference.py")
    assert spec is not None
    assert spec.loader is not None
    script = util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == script.page()
