"""Several sources as one: the first that has an operator to offer is served.

With deletes before turns before inserts this is the interleaved search: an edge that later
edges made superfluous goes at once, instead of misleading the steps between (the idea of
XGES, Nazaret & Blei 2024).  Where it stops no insert improves the score, so the state is an IMAP,
and no generated delete does, so the guarantee of Theorem 3 is that of SBES.
"""

from collections.abc import Sequence

from sges.graph.pdag import PDAG
from sges.operators.base import Operator
from sges.search.source import Scored, Source


class PrioritySource:
    """Operators from the first of the sources that has one."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._served: Source | None = None

    @property
    def considered(self) -> int:
        """How many operators all sources generated."""
        return sum(source.considered for source in self._sources)

    def best(self) -> Scored | None:
        """Return the best operator of the first source that has one."""
        for source in self._sources:
            found = source.best()
            if found is not None:
                self._served = source
                return found
        return None

    def reject(self, operator: Operator) -> None:
        """Pass the rejection on to the source that offered the operator."""
        if self._served is not None:
            self._served.reject(operator)

    def move_to(self, cpdag: PDAG) -> None:
        """Tell every source of the new state."""
        for source in self._sources:
            source.move_to(cpdag)
