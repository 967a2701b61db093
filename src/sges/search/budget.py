"""A run of which some part may take only so much time or so many score evaluations."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sges.errors import SgesError
from sges.nodeset import NodeSet
from sges.score.base import Candidates, Gains
from sges.search.run import Run


class OutOfBudget(Exception):  # not an error: it ends the part of the run that has the budget
    """The part of a run that has a budget has used it."""


class Budget:
    """What a part of a run may still take; None is no limit."""

    def __init__(self, seconds: float | None = None, evaluations: int | None = None) -> None:
        self.seconds = seconds
        self.evaluations = evaluations
        self.spent = False


class BudgetedRun(Run):
    """A run that can limit a part of itself.

    Evaluations are limited strictly: what might ask for more than are left is not asked at all.
    """

    _until: float | None = None
    _most: int | None = None

    @contextmanager
    def within(self, budget: Budget) -> Iterator[None]:
        """End what is inside when the budget is spent; what it used is taken from the budget."""
        begun, counted = time.perf_counter(), self.counter.evaluations
        if budget.seconds is not None:
            self._until = begun + budget.seconds
        if budget.evaluations is not None:
            if counted is None:
                raise SgesError(f"evaluations = {budget.evaluations} needs them to be counted")
            self._most = counted + budget.evaluations
        try:
            yield
        except OutOfBudget:
            budget.spent = True
        finally:
            if budget.seconds is not None:
                budget.seconds -= time.perf_counter() - begun
            if self._most is not None:
                budget.evaluations = self._most - (self.counter.evaluations or 0)
            self._until = self._most = None

    def insert_gains(self, y: int, base: NodeSet, xs: Candidates) -> Gains:
        """Return the counted gains of inserts, unless that may be too much."""
        self._check_evaluations(1 + len(xs))
        return super().insert_gains(y, base, xs)

    def exact_insert_gains(self, y: int, base: NodeSet, xs: Candidates) -> Gains:
        """Return the counted gains of inserts, all exact, unless that may be too much."""
        self._check_evaluations(1 + len(xs))
        return super().exact_insert_gains(y, base, xs)

    def delete_gains(self, y: int, base: NodeSet, xs: Candidates) -> Gains:
        """Return the counted gains of deletes, unless that may be too much."""
        self._check_evaluations(1 + len(xs))
        return super().delete_gains(y, base, xs)

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the counted score of one family, unless that may be too much."""
        self._check_evaluations(1)
        return super().local(y, parents)

    def check_time(self) -> None:
        """End the part, or the phase, if its time has passed."""
        super().check_time()
        if self._until is not None and time.perf_counter() > self._until:
            raise OutOfBudget

    def _check_evaluations(self, more: int) -> None:
        if self._most is not None and (self.counter.evaluations or 0) + more > self._most:
            raise OutOfBudget
