"""The choice of the engine: the compiled one if it was built, otherwise the reference engine.

Both take the same steps.  The reference engine (``sges.search.reference``) starts from scratch at
every step, so it is for small tables.  ``SGES_PURE=1`` in the environment selects it.
"""

import os
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from sges.errors import warn_user
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG
from sges.operators import Delete
from sges.result import Step
from sges.score.protocol import Score
from sges.search.moves import Constraint
from sges.search.reference import ReferenceEngine

try:
    from sges.engine.core import Core
    from sges.engine.native import native_of

    IS_COMPILED = True
except ImportError:
    if not TYPE_CHECKING:
        Core = object
    IS_COMPILED = False

IS_USED = IS_COMPILED and os.environ.get("SGES_PURE", "") in ("", "0")
"""Whether searches run on the compiled engine."""


Engine: TypeAlias = "ReferenceEngine | CompiledEngine"
"""Either engine; ``ReferenceEngine`` documents the interface of both."""


def make_engine(
    score: Score, *, counting: bool, deadline: float | None, constraint: Constraint | None
) -> Engine:
    """Return an engine for a search with this score."""
    if IS_USED:
        return CompiledEngine(
            score, native_of(score), counting=counting, deadline=deadline, constraint=constraint
        )
    if not IS_COMPILED:
        _warn_of_slowness()
    return ReferenceEngine(score, counting=counting, deadline=deadline, constraint=constraint)


def gain_between(engine: Engine, before: PDAG, after: PDAG) -> float:
    """Return the score difference of two classes, from their families; counted.

    Unlike the sum of the gains on the way it does not accumulate rounding.
    """
    old, new = pdag_to_dag(before), pdag_to_dag(after)
    return sum(
        engine.local(y, new.parents(y)) - engine.local(y, old.parents(y))
        for y in range(engine.n)
        if new.parents(y) != old.parents(y)
    )


def reapply(engine: Engine, steps: Iterable[Step]) -> None:
    """Take steps again that an engine took from the same state."""
    for step in steps:
        engine.apply(step.phase, step.operator, step.gain)


def is_admissible(engine: Engine, delete: Delete, state: PDAG) -> bool:
    """Return whether knowledge allows the class to which a delete leads from the engine's state."""
    return engine.constraint is None or engine.constraint.admits(engine.peek(delete), state)


@cache
def _warn_of_slowness() -> None:
    """Warn once that the compiled engine is missing."""
    warn_user(
        "the compiled engine of sges was not built, so searches run in plain Python: the graphs "
        "are the same, but only small tables (up to about 20 variables) are searched within "
        "seconds; install a wheel, or a C compiler before installing from source"
    )


class CompiledEngine(Core):
    """The compiled engine; ``ReferenceEngine`` documents its interface."""
