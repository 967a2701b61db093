"""The metadata agree: the version and the dependencies."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest

import sges

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_written_in_one_place_and_cited() -> None:
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "sges.__version__"}
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {sges.__version__}\n" in citation


def test_the_changelog_has_a_section_for_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(sges.__version__)}\b", changelog, flags=re.MULTILINE)


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    recipe = (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("\ntest:")[0]
    listed = set(re.findall(r"- (\S+) >=(\S+)", run))
    needed = {tuple(line.split(">=")) for line in PROJECT["project"]["dependencies"]}
    renamed = {("matplotlib-base" if name == "matplotlib" else name, v) for name, v in needed}
    python = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert listed == {*renamed, ("python", python)}


def test_the_command_is_installed_with_the_package() -> None:
    assert PROJECT["project"]["scripts"] == {"sges": "sges.cli:main"}
    assert metadata("sges")["Name"] == "sges"


@pytest.mark.skipif(os.name == "nt", reason="there the compiler is not named by CC")
def test_without_a_compiler_the_last_line_says_that_one_is_needed(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "sges" / "engine"
    folder.mkdir(parents=True)
    (folder / "tiny.pyx").write_text("cdef int one = 1\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, ROOT / "setup.py", "build_ext", "--inplace"],
        cwd=tmp_path,
        env={**os.environ, "CC": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert run.stderr.splitlines()[-1] == (
        "error: sges needs a C compiler and the headers of Python"
    )
    assert not list(tmp_path.rglob("*.so"))


NO_ENGINE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("sges.engine."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def test_without_the_compiled_engine_one_line_says_so() -> None:
    for use in ("from sges import learn", "from sges.cli import main; main()"):
        run = subprocess.run(
            [sys.executable, "-c", NO_ENGINE + use, "learn", "asia"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        last = run.stderr.splitlines()[-1]
        assert run.returncode != 0
        assert "the compiled engine of sges is missing: install a wheel" in last
        assert "Traceback" not in run.stderr or use.startswith("from sges import")
