"""Functions that make the engines which the tests compare with the reference."""

from collections.abc import Callable
from typing import Any

from sges.graph import PDAG
from sges.score.protocol import Score, total_score
from sges.search.engines import Engine
from sges.search.moves import Constraint

Make = Callable[..., Engine]


def native(score: Score, **options: Any) -> Engine:  # noqa: ANN401 (those of an engine)
    """Return an engine, with a native score if there is one."""
    return Engine(score, **options)


def asking(score: Score, **options: Any) -> Engine:  # noqa: ANN401
    """Return an engine that calls the score in Python even if there is a native one."""
    return Engine(score, as_native=False, **options)


def forgetful(score: Score, **options: Any) -> Engine:  # noqa: ANN401
    """Return an engine that forgets gains at nearly every step."""
    return Engine(score, limit=20_000, **options)


EVERY: list[Make] = [native, asking, forgetful]


def started(
    make: Make, score: Score, start: PDAG | None = None, constraint: Constraint | None = None
) -> Engine:
    """Return an engine at a class, by default the one without edges."""
    start = PDAG.empty(score.n) if start is None else start
    engine = make(score, constraint=constraint)
    engine.start(start, total_score(score, start))
    return engine
