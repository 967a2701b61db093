"""Rules on the structure of the package: imports between modules, not their length."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
FILES = sorted(SOURCES.rglob("*.py"))
SMALL = 80  # lines
MOST_IMPORTS = 20

REASONS = {
    "sges.__main__": "python -m sges",
    "sges.graph.completion": "an algorithm with its proof",
    "sges.tools.ancestry": "an algorithm with its proof",
}
"""Small modules with one importer, and the reason for each."""


def name_of(path: Path) -> str:
    name = path.relative_to(SOURCES).with_suffix("").as_posix().replace("/", ".")
    return name.removesuffix(".__init__")


MODULES = {name_of(path): path for path in FILES}


def imports(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in inner)


READERS: dict[str, set[str]] = {name: set() for name in MODULES}
for reader, path in MODULES.items():
    for imported in imports(path):
        READERS[imported].add(reader)


def test_a_small_module_with_one_reader_has_a_reason_to_stand_alone() -> None:
    lonely = {
        name
        for name, path in MODULES.items()
        if path.name != "__init__.py"
        and len(READERS[name]) <= 1
        and path.read_text(encoding="utf-8").count("\n") < SMALL
    }
    assert lonely == set(REASONS)


def test_no_module_imports_many_others() -> None:
    wide = {
        name: len(set(imports(path)) - {name})
        for name, path in MODULES.items()
        if len(set(imports(path)) - {name}) > MOST_IMPORTS
    }
    assert wide == {}


def test_no_module_is_a_collection_of_helpers() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not drawers & {path.stem for path in FILES}


def test_the_picture_of_the_architecture_has_the_layers_of_the_import_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    parts = re.findall(r"sges\.(\w+)", " ".join(layers))
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    boxes = re.findall(r"^\| (.*?) \|", page.split("```")[1], flags=re.MULTILINE)
    assert re.findall(r"(\w+)(?:/|\.py)", " ".join(boxes)) == parts
