"""Build the compiled twins of the hot functions (``src/sges/kernels``), where there is a compiler.

They are optional: without one the package installs all the same and uses its Python functions.
Everything else about the package is said in ``pyproject.toml``.
"""

from pathlib import Path

from setuptools import Extension, setup

FOLDER = Path("src/sges/kernels")

setup(
    ext_modules=[
        Extension(
            "sges.kernels._compiled",
            sources=sorted(path.as_posix() for path in FOLDER.glob("*.c")),
            depends=sorted(path.as_posix() for path in FOLDER.glob("*.h")),
            extra_compile_args=["-O3"],
            optional=True,
        )
    ]
)
