"""Functions that make the engines which the tests compare."""

from collections.abc import Callable
from typing import Any

import pytest

from sges.score.protocol import Score
from sges.search.engines import CompiledEngine, native_of
from sges.search.reference import ReferenceEngine

Engine = ReferenceEngine | CompiledEngine
Make = Callable[..., Engine]
MakeCompiled = Callable[..., CompiledEngine]


def reference(score: Score, **options: Any) -> ReferenceEngine:  # noqa: ANN401 (those of an engine)
    """Return the reference engine."""
    return ReferenceEngine(score, **options)


def compiled(score: Score, **options: Any) -> CompiledEngine:  # noqa: ANN401
    """Return the compiled engine, with a native score if there is one."""
    return CompiledEngine(score, native_of(score), **options)


def asking(score: Score, **options: Any) -> CompiledEngine:  # noqa: ANN401
    """Return the compiled engine, which calls the score in Python even if there is a native one."""
    return CompiledEngine(score, None, **options)


COMPILED: list[MakeCompiled] = [compiled, asking]
EVERY: list[Make] = [reference, *COMPILED]
"""All engines, for ``parametrize``."""


def search_with(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches run on another engine."""
    monkeypatch.setattr("sges.search.run.make_engine", make)
