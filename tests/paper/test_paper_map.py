"""docs/paper-map.md lists where each part of the paper is implemented, and is up to date."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
script = runpy.run_path(str(ROOT / "scripts" / "paper_map.py"))


def test_every_paper_line_ends_with_a_full_stop() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = re.findall(r"^\s*Paper: ", text, re.MULTILINE)
        assert len(lines) == len(script["LINE"].findall(text)), path


def test_the_map_lists_exactly_what_the_code_says() -> None:
    """If this fails, run ``make docs``."""
    assert (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8") == script["page"]()


def test_every_figure_and_definition_of_an_algorithm_has_a_home() -> None:
    parts = {part for part, _ in script["rows"]()}
    for figure in (1, 2, 3, 4, 6):
        assert any(part.startswith(f"Fig. {figure}") for part in parts), figure
    assert "Definition 1" in parts


def test_every_part_has_one_home() -> None:
    parts = [part for part, _ in script["rows"]()]
    assert sorted(parts) == sorted(set(parts))


def test_every_file_that_the_map_links_exists() -> None:
    for target in re.findall(r"\]\(([^)#]+)", script["page"]()):
        assert (ROOT / "docs" / target).exists(), target
