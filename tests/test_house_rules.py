"""The rules of the house, executed: small functions, small files, typed, documented."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "src").rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> list[Function]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def body_lines(function: Function) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_file_is_on_one_subject_and_its_functions_fit_in_view(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= 450
    for function in functions(path):
        assert body_lines(function) <= 40, function.name
        arguments = [*function.args.posonlyargs, *function.args.args]
        assert len(arguments) <= 7, function.name


def test_most_functions_are_short() -> None:
    sizes = sorted(body_lines(f) for path in FILES for f in functions(path))
    assert sizes[len(sizes) // 2] <= 10
    assert sizes[len(sizes) * 9 // 10] <= 25


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not drawers & {path.stem for path in FILES}
