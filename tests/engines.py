"""Functions that make the engines which the tests compare."""

from collections.abc import Callable
from typing import Any

import pytest

from sges.score.protocol import Score
from sges.search.engines import IS_COMPILED, CompiledEngine, Engine, native_of
from sges.search.reference import ReferenceEngine

Make = Callable[..., Engine]


def reference(score: Score, **options: Any) -> ReferenceEngine:  # noqa: ANN401 (those of an engine)
    """Return the reference engine."""
    return ReferenceEngine(score, **options)


def compiled(score: Score, **options: Any) -> CompiledEngine:  # noqa: ANN401
    """Return the compiled engine, with a native score if there is one."""
    return CompiledEngine(score, native_of(score), **options)


def asking(score: Score, **options: Any) -> CompiledEngine:  # noqa: ANN401
    """Return the compiled engine, which calls the score in Python even if there is a native one."""
    return CompiledEngine(score, None, **options)


needs_compiled = pytest.mark.skipif(not IS_COMPILED, reason="the engine is not compiled")
COMPILED: list[Make] = [compiled, asking]
EVERY = [reference, *(pytest.param(make, marks=needs_compiled) for make in COMPILED)]
"""All engines, for ``parametrize``."""
