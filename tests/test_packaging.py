"""The metadata agree: the version and the dependencies."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest

import sges
from sges import engine
from sges.engine import native

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_written_in_one_place_and_cited() -> None:
    assert "version" in PROJECT["project"]["dynamic"]
    (provider,) = PROJECT["tool"]["dynamic-metadata"]
    assert (provider["field"], provider["input"]) == ("version", "src/sges/__init__.py")
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


def copy_of_the_source(folder: Path) -> Path:
    """Return a folder with the files from which a wheel is built."""
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    return folder


def built(kind: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Return the run of a hook of the build backend, as pip and `build` call it."""
    call = f"import scikit_build_core.build as b; b.build_{kind}({str(folder / 'dist')!r})"
    return subprocess.run(
        [sys.executable, "-c", call], cwd=folder, env={**os.environ, **env},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="there the compiler is not named by CXX")
def test_without_a_compiler_the_last_line_says_that_one_is_needed(tmp_path: Path) -> None:
    pytest.importorskip("scikit_build_core")
    run = built("wheel", copy_of_the_source(tmp_path), CXX="false")
    assert run.returncode != 0
    assert run.stdout.strip().splitlines()[-1] == (
        "error: sges needs a C++20 compiler (such as g++) and the headers of Python"
    )
    assert not list(tmp_path.rglob("*.so"))


def test_the_source_distribution_has_every_file_that_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("scikit_build_core")
    if not (ROOT / ".git").exists():
        pytest.skip("needs the list of files of a checkout")
    call = f"import scikit_build_core.build as b; b.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", call], cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        packed = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    kept = {name for name in listed if (ROOT / name).exists()}
    assert {name for name in kept - packed if not name.startswith(".")} == set()
    assert "PKG-INFO" in packed
    assert not [name for name in packed if name.endswith((".so", ".pyd", ".pyc"))]


def signatures(source: str) -> dict[str, str]:
    """Return the parameters of each function and method of a stub, without their types."""
    found = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = "class"
                visit(node.body, f"{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                for each in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
                    each.annotation = None
                kinds = [ast.unparse(each) for each in node.decorator_list]
                found["@".join([prefix + node.name, *kinds])] = ast.unparse(node.args)

    visit(ast.parse(source).body, "")
    return found


def test_the_stub_has_every_name_and_parameter_of_the_compiled_module() -> None:
    stubgen = pytest.importorskip("nanobind.stubgen")
    maker = stubgen.StubGen(native)
    maker.put(native)
    kept = Path(str(engine.__file__)).with_name("native.pyi").read_text(encoding="utf-8")
    assert signatures(kept) == signatures(maker.get())


NO_ENGINE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "sges.engine.native":
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
