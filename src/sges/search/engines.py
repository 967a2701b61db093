"""Which engine runs a search: the compiled one where it was built, else the reference engine.

Both take the same steps.  The reference engine (``sges.search.reference``) begins from scratch at
every step, so it is for small tables.  ``SGES_PURE=1`` in the environment asks for it.
"""

import os
import warnings
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from sges.graph.equivalence import dag_to_cpdag, pdag_to_dag, topological_order
from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.operators import Delete
from sges.score.protocol import Score
from sges.search.moves import Constraint, Moves
from sges.search.reference import ReferenceEngine
from sges.search.reference_order import (
    REACH,
    ROUNDS,
    a_member,
    later_ones,
    most_piles,
    order_of,
    order_work,
)

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


def is_admissible(engine: Engine, delete: Delete, state: PDAG) -> bool:
    """Return whether knowledge allows the class to which a delete leads from the engine's state."""
    return engine.constraint is None or engine.constraint.admits(engine.peek(delete), state)


@cache
def _warn_of_slowness() -> None:
    """Warn once that the compiled engine is missing."""
    warnings.warn(
        "the compiled engine of sges was not built, so searches run in plain Python: the graphs "
        "are the same, but only small tables (up to about 20 variables) are searched within "
        "seconds; install a wheel, or a C compiler before installing from source",
        stacklevel=4,
    )


class CompiledEngine(Core):
    """The compiled engine; ``ReferenceEngine`` documents its interface."""

    def order(
        self,
        phase: str,
        *,
        max_indegree: int | None = None,
        effort: float | None = None,
        ranking: tuple[int, ...] | None = None,
    ) -> None:
        """Go to the DAG of the best order of the nodes that is found, edge by edge."""
        begun, constraint, before = self.mark(), self.constraint, self.work
        if self.edges == sum(map(int.bit_count, constraint.fixed if constraint else ())):
            self.climb(phase, Moves(inserts="poly", max_indegree=max_indegree, ranking=ranking))
        if self.stopped is not None:
            return
        guess = self.cpdag
        self.rewind(begun)
        if self.report is not None:
            self.report(phase)
        work = None if effort is None else order_work(effort, self.work - before, self.n)
        goal = self._best_order(guess, max_indegree, work, ranking)
        member = a_member(self.cpdag, constraint)
        if goal is not None and dag_to_cpdag(goal) != dag_to_cpdag(member):
            self.walk(phase, member, goal, topological_order(goal))

    def _best_order(
        self,
        guess: PDAG,
        max_indegree: int | None,
        work: int | None,
        ranking: tuple[int, ...] | None,
    ) -> PDAG | None:
        """Return the DAG of the best order found, or None if time was up before the first."""
        n, constraint = self.n, self.constraint
        everyone = (1 << n) - 1
        barred = constraint.barred if constraint else (0,) * n
        allowed = [everyone & ~barred[y] & ~(1 << y) for y in range(n)]
        required = constraint.fixed if constraint else (0,) * n
        later = later_ones(constraint, n)
        order = order_of(guess, constraint, ranking)
        self.order_begin(order, allowed, required, later, REACH, max_indegree, ranking or range(n))
        if self.stopped is not None:
            return None
        best, piles, last = None, 0, None if work is None else self.work + work
        for left in reversed(range(ROUNDS)):
            moved = self.order_round(last)
            ended = left == 0 or self._has_stopped() or (last is not None and self.work > last)
            if moved and not ended:
                continue
            _, parents, gain = self.order_state()
            dag = PDAG.from_edges(n, [(x, y) for y in range(n) for x in nodes(parents[y])])
            if best is None or gain > best[1] + self.tolerance:
                best, piles = (dag, gain), 0
            elif piles > 1 and dag_to_cpdag(dag) == dag_to_cpdag(best[0]):
                break
            piles += 1
            if ended or piles > most_piles(work):
                break
            self.order_set(order_of(dag_to_cpdag(best[0]), constraint, ranking, piles))
            if self._has_stopped():
                break
        return None if best is None else best[0]

    def _has_stopped(self) -> bool:
        return self.stopped is not None
