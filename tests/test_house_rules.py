"""The rules of the house, executed."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "src").rglob("*.py"))


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not drawers & {path.stem for path in FILES}
