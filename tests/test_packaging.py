"""The metadata agree: the version and the dependencies."""

import re
import tomllib
from importlib.metadata import metadata
from pathlib import Path

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
