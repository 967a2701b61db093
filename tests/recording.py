"""Background knowledge that admits nothing, and records the classes it rejects."""

from collections.abc import Sequence

from sges.graph import PDAG, pdag_to_dag
from sges.graph.pdag import Edge
from sges.nodeset import NodeSet


class Refusing:
    """A constraint that rejects every step, so that all operators are offered one by one."""

    relaxed = None

    def __init__(self, n: int) -> None:
        self.barred: Sequence[NodeSet] = (0,) * n
        self.fixed: Sequence[NodeSet] = (0,) * n
        self.refused: list[PDAG] = []

    def admits(self, cpdag: PDAG, known: PDAG | None = None, /) -> bool:
        """Reject a class, and record it."""
        del known
        self.refused.append(cpdag)
        return False

    def start(self, n: int, /) -> PDAG:
        """Return the class without edges."""
        return PDAG.empty(n)

    def refine(self, cpdag: PDAG, /) -> PDAG:
        """Return the class unchanged."""
        return cpdag

    def member(
        self, cpdag: PDAG, within: NodeSet | None = None, ranking: Sequence[int] | None = None, /
    ) -> PDAG:
        """Return any member."""
        del within, ranking
        return pdag_to_dag(cpdag)

    def violations(self, dag: PDAG, /) -> list[Edge]:
        """Return no edges: no single edge is forbidden."""
        del dag
        return []
