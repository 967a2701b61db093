"""Which engine runs a search: the compiled one where it was built, else the reference engine.

Both take the same steps.  The reference engine (``sges.search.reference``) begins from scratch at
every step, so it is for small tables.  ``SGES_PURE=1`` in the environment asks for it.
"""

import os
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sges.graph.equivalence import dag_to_cpdag, pdag_to_dag, topological_order
from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet, nodes
from sges.operators import Delete, Operator
from sges.result import Step
from sges.score.protocol import Score
from sges.search.moves import Constraint, Moves
from sges.search.reference import ReferenceEngine
from sges.search.reference_order import (
    REACH,
    ROUNDS,
    a_member,
    first_order,
    later_ones,
    order_work,
)

Mark: TypeAlias = Any
"""A point of a run to which its engine can go back."""


class Engine(Protocol):
    """What a search asks of its engine; ``ReferenceEngine`` documents each member."""

    stopped: str | None
    constraint: Constraint | None
    report: Callable[[str], object] | None

    @property
    def n(self) -> int: ...
    @property
    def cpdag(self) -> PDAG: ...
    @property
    def total(self) -> float: ...
    @property
    def edges(self) -> int: ...
    @property
    def steps(self) -> list[Step]: ...
    @property
    def step_count(self) -> int: ...
    @property
    def evaluations(self) -> int | None: ...
    @property
    def considered(self) -> int: ...
    @property
    def work(self) -> int: ...
    @property
    def listed(self) -> int: ...

    capped: int | None

    @property
    def tolerance(self) -> float: ...
    def start(self, cpdag: PDAG, total: float, /) -> None: ...
    def climb(
        self,
        phase: str,
        moves: Moves,
        *,
        bar: Edge | None = None,
        patience: float = 0.0,
        aim: float = 0.0,
        most: int | None = None,
    ) -> bool: ...
    def apply(self, phase: str, operator: Operator, gain: float, /) -> None: ...
    def peek(self, operator: Operator, /) -> PDAG: ...
    def member(self) -> list[NodeSet]: ...

    def member_score(self) -> float: ...
    def mark(self) -> Mark: ...
    def rewind(self, mark: Mark, /) -> None: ...
    def settle(self) -> None: ...
    def retell(self, mark: Mark, /) -> None: ...
    def touched_since(self, mark: Mark, /) -> NodeSet: ...
    def escapes(self, moves: Moves, /) -> list[tuple[float, Delete]]: ...
    def local(self, y: int, parents: NodeSet, /) -> float: ...
    def separators(
        self, order: int, wanted: Sequence[NodeSet], /
    ) -> list[tuple[int, int, NodeSet, float]]: ...
    def gain_between(self, before: PDAG, after: PDAG, /) -> float: ...
    @property
    def capped_nodes(self) -> NodeSet: ...
    def limit(
        self,
        seconds: float | None = None,
        evaluations: int | None = None,
        work: float | None = None,
        listed: float | None = None,
    ) -> None: ...
    def order(
        self, phase: str, *, max_indegree: int | None = None, effort: float | None = None
    ) -> None: ...

    counters: tuple[Any, ...]

    @property
    def open_moves(self) -> Moves | None: ...
    def ask_afresh(self) -> None: ...
    def reopen(self, moves: Moves, /) -> None: ...
    def memory(self) -> tuple[Any, ...]: ...
    def remember(self, *memory: Any) -> None: ...  # noqa: ANN401 (arrays)


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


def make_engine(
    score: Score, *, counting: bool, deadline: float | None, constraint: Constraint | None
) -> Engine:
    """Return an engine that is to search with a score."""
    if IS_USED:
        return CompiledEngine(
            score, native_of(score), counting=counting, deadline=deadline, constraint=constraint
        )
    if not IS_COMPILED:
        _warn_of_slowness()
    return ReferenceEngine(score, counting=counting, deadline=deadline, constraint=constraint)


def mirror_of(engine: Engine) -> "CompiledEngine | None":
    """Return an engine for trials beside another one; None if the score must not be shared.

    Native scores never change, so several threads can read them.  Of other scores this is not
    known.
    """
    if not isinstance(engine, CompiledEngine) or engine.native is None:
        return None
    return CompiledEngine(
        engine.score,
        engine.native,
        counting=False,
        deadline=engine.deadline,
        constraint=engine.constraint,
    )


@cache
def _warn_of_slowness() -> None:
    """Warn once that nothing could be compiled."""
    warnings.warn(
        "the compiled engine of sges was not built, so searches run in plain Python: the graphs "
        "are the same, but only small tables (up to about 20 variables) end within seconds; "
        "install a wheel, or a C compiler before installing from source",
        stacklevel=4,
    )


class CompiledEngine(Core):
    """The compiled engine; ``ReferenceEngine`` documents what it does."""

    def gain_between(self, before: PDAG, after: PDAG) -> float:
        """Return the score difference of two classes, from their families; counted."""
        old, new = pdag_to_dag(before), pdag_to_dag(after)
        return sum(
            self.local(y, new.parents(y)) - self.local(y, old.parents(y))
            for y in range(self.n)
            if new.parents(y) != old.parents(y)
        )

    def order(
        self, phase: str, *, max_indegree: int | None = None, effort: float | None = None
    ) -> None:
        """Go to the DAG of the best order of the nodes that is found, edge by edge."""
        begun, constraint, before = self.mark(), self.constraint, self.work
        if self.edges == sum(map(int.bit_count, constraint.fixed if constraint else ())):
            self.climb(phase, Moves(inserts="poly", max_indegree=max_indegree))
        if self.stopped is not None:
            return
        guess = self.cpdag
        self.rewind(begun)
        if self.report is not None:
            self.report(phase)
        work = None if effort is None else order_work(effort, self.work - before, self.n)
        goal = self._best_order(guess, max_indegree, work)
        member = a_member(self.cpdag, constraint)
        if goal is not None and dag_to_cpdag(goal) != dag_to_cpdag(member):
            self.walk(phase, member, goal, topological_order(goal))

    def _best_order(self, guess: PDAG, max_indegree: int | None, work: int | None) -> PDAG | None:
        """Return the DAG of the best order found, or None if time was up before the first."""
        n, constraint = self.n, self.constraint
        everyone = (1 << n) - 1
        barred = constraint.barred if constraint else (0,) * n
        allowed = [everyone & ~barred[y] & ~(1 << y) for y in range(n)]
        required = constraint.fixed if constraint else (0,) * n
        later = later_ones(constraint, n)
        order = first_order(a_member(guess, constraint), later)
        self.order_begin(order, allowed, required, later, REACH, max_indegree)
        if self.stopped is not None:
            return None
        best, last = None, None if work is None else self.work + work
        for _ in range(ROUNDS):
            moved = self.order_round(last)
            spent = last is not None and self.work > last
            if moved and not self._has_stopped() and not spent:
                continue
            _, parents, gain = self.order_state()
            if best is not None and gain <= best[1] + self.tolerance:
                break
            dag = PDAG.from_edges(n, [(x, y) for y in range(n) for x in nodes(parents[y])])
            best = dag, gain
            if self._has_stopped() or spent:
                break
            self.order_set(first_order(a_member(dag_to_cpdag(dag), constraint), later))
            if self._has_stopped():
                break
        return None if best is None else best[0]

    def _has_stopped(self) -> bool:
        return self.stopped is not None
