"""Build the compiled engine (``src/sges/engine``), where there is a compiler.

It is optional: without one the package installs all the same and searches with the reference
engine, in plain Python.  Everything else about the package is said in ``pyproject.toml``.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

FOLDER = Path("src/sges/engine")
FLAGS = os.environ.get("SGES_CFLAGS", "").split()
# Whoever chooses flags or builds wheels wants to know if the compiler fails.
IS_OPTIONAL = not {"SGES_CFLAGS", "SGES_NEEDS_ENGINE"} & set(os.environ)
CORES = os.cpu_count() or 1


extensions = [
    Extension(
        f"sges.engine.{source.stem}",
        sources=[source.as_posix()],
        depends=sorted(path.as_posix() for path in FOLDER.glob("*.h")),
        include_dirs=[FOLDER.as_posix()],
        extra_compile_args=FLAGS or ["-O3", "-g0"],
        extra_link_args=[flag for flag in FLAGS if flag.startswith("-fsanitize")],
        optional=IS_OPTIONAL,
    )
    for source in sorted(FOLDER.glob("*.pyx"))
]

if __name__ == "__main__":  # as cythonize starts processes
    setup(
        ext_modules=cythonize(
            extensions, build_dir="build/cython", language_level=3, nthreads=min(CORES, 4)
        ),
        options={"build_ext": {"parallel": CORES}},
    )
