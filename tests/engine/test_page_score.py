"""The native score of ``docs/how-to/native-score.md`` is the score that the page defines."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sges.nodeset import nodeset

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "src" / "sges" / "engine"
PAGE = (ROOT / "docs" / "how-to" / "native-score.md").read_text(encoding="utf-8")
CPP = re.findall(r"^```cpp\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
CMAKE = shutil.which("cmake") or ""
COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") or ""

# Reads the records, then questions "y, parents": prints the family, all inserts, all deletes.
PROGRAM = """
#include <cstdio>
#include <iostream>
#include "scores/binary.hpp"
using namespace sges;
int main() {
    BinaryBIC::Data data;
    std::size_t rows;
    std::cin >> data.n >> rows;
    data.records.resize(rows);
    for (Word& record : data.records) std::cin >> record;
    const auto score = BinaryBIC(std::make_shared<BinaryBIC::Data>(data)).clone();
    for (int y, size; std::cin >> y >> size;) {
        Nodes base(size), places, others;
        for (Node& x : base) std::cin >> x;
        for (int i = 0; i < size; i++) places.push_back(i);
        for (Node x = 0; x < data.n; x++)
            if (x != y && !std::binary_search(base.begin(), base.end(), x)) others.push_back(x);
        std::vector<Gain> found;
        std::vector<double> exact(others.size()), deletes(size);
        score->inserts(y, base, {}, 0.0, others, exact.data(), found);
        score->deletes(y, base, places, deletes.data());
        std::printf("%.17g", score->family(y, base));
        for (double gain : exact) std::printf(" %.17g", gain);
        for (double gain : deletes) std::printf(" %.17g", gain);
        std::size_t worth = 0;
        for (double gain : exact) worth += gain > 0.0;
        std::puts(worth == found.size() ? "" : " nan");
    }
}
"""


def page_score() -> Any:  # noqa: ANN401 (a class of the page)
    """Return a score of the class that the page defines."""
    names: dict[str, Any] = {"__name__": "page"}
    exec(PYTHON[0], names)
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, (300, 5))
    table[:, 4] &= table[:, 0] | table[:, 1]
    return names["BinaryBIC"](table)


@pytest.mark.skipif(not COMPILER, reason="there is no C++ compiler")
def test_the_class_of_the_page_says_what_its_definition_says(tmp_path: Path) -> None:
    shutil.copytree(ENGINE, tmp_path / "engine", ignore=shutil.ignore_patterns("*.so", "*.py*"))
    (tmp_path / "engine" / "scores" / "binary.hpp").write_text(CPP[0], encoding="utf-8")
    (tmp_path / "engine" / "page.cpp").write_text(PROGRAM, encoding="utf-8")
    command = [COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Werror"]
    subprocess.run(
        [*command, tmp_path / "engine" / "page.cpp", "-o", tmp_path / "page"], check=True
    )
    score = page_score()
    questions = [(4, []), (4, [0]), (4, [0, 1]), (0, [1, 2, 4]), (2, [0, 1, 3, 4])]
    lines = [f"{score.n} {len(score.records)}", *map(str, score.records.tolist())]
    lines += [" ".join(map(str, [y, len(base), *base])) for y, base in questions]
    told = subprocess.run(
        [tmp_path / "page"], input="\n".join(lines), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(told) == len(questions)
    for (y, base), line in zip(questions, told, strict=True):
        now = score.local(y, nodeset(base))
        others = [x for x in range(score.n) if x != y and x not in base]
        expected = [
            now - score.local(y, 0),
            *[score.local(y, nodeset([*base, x])) - now for x in others],
            *[score.local(y, nodeset(set(base) - {x})) - now for x in base],
        ]
        assert [float(word) for word in line.split()] == pytest.approx(expected, abs=1e-8)


SEARCH = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("sges.engine.native", sys.argv[1])
native = sys.modules["sges.engine.native"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)
import sges
from sges.search.engines import MAKERS, native_of
exec(sys.argv[2])
MAKERS[BinaryBIC] = eval("lambda score: " + sys.argv[3].split("lambda score: ")[1].rstrip(",\\n "))
assert native_of(score)[0] is not None
assert sges.learn(score=score).cpdag == result.cpdag
"""


@pytest.mark.slow
@pytest.mark.skipif(not CMAKE, reason="there is no CMake")
def test_the_engine_is_built_with_the_lines_of_the_page_and_finds_the_same_graph(
    tmp_path: Path,
) -> None:
    source, build = tmp_path / "engine", tmp_path / "build"
    shutil.copytree(ENGINE, source, ignore=shutil.ignore_patterns("*.so", "*.py*"))
    (source / "scores" / "binary.hpp").write_text(CPP[0], encoding="utf-8")
    binding = (source / "binding.cpp").read_text(encoding="utf-8")
    binding = binding.replace('#include "imp', '#include "scores/binary.hpp"\n#include "imp', 1)
    binding = binding.replace("    nb::class_<AnyScore>", CPP[1] + "    nb::class_<AnyScore>", 1)
    (source / "binding.cpp").write_text(binding, encoding="utf-8")
    python = f"-DPython_EXECUTABLE={sys.executable}"
    subprocess.run([CMAKE, "-S", source, "-B", build, python], check=True)
    subprocess.run([CMAKE, "--build", build], check=True)
    (module,) = build.glob("native*.so")
    entry = re.findall(r"^```py\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0]
    subprocess.run([sys.executable, "-c", SEARCH, module, "".join(PYTHON), entry], check=True)
