"""The unit tests of the engine in C++ (``tests/native``), which know nothing of Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_unit_tests_in_cpp_pass(tmp_path: Path) -> None:
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    cmake, compiler = (shutil.which(name, path=here) for name in ("cmake", "c++"))
    if cmake is None or compiler is None:
        pytest.skip("needs CMake and a C++ compiler")
    options = ("SGES_TESTS=ON", "SGES_MODULE=OFF", "CMAKE_BUILD_TYPE=Debug")
    settings = [f"-D{each}" for each in (*options, "CMAKE_CXX_FLAGS_DEBUG=-O1")]
    calls: tuple[list[str | Path], ...] = (
        [cmake, "-S", ROOT / "src/sges/engine", "-B", tmp_path, *settings],
        [cmake, "--build", tmp_path, "--parallel", "2"],
        [tmp_path / "engine_tests"],
    )
    for call in calls:
        run = subprocess.run(
            call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert run.returncode == 0, run.stdout
    assert run.stdout.splitlines()[-1].endswith(" tests passed")
