"""What a search asks of background knowledge."""

from collections.abc import Sequence
from typing import Protocol

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet


class Constraint(Protocol):
    """Hard background knowledge, as the search sees it; ``sges.knowledge`` is one."""

    @property
    def barred(self) -> Sequence[NodeSet]:
        """For each y, the x of which x → y must not be."""

    @property
    def fixed(self) -> Sequence[NodeSet]:
        """For each y, the x of which x → y must be."""

    def start(self, n: int, /) -> PDAG:
        """Return the sparsest CPDAG on n nodes that has a member satisfying the constraint."""

    def admits(self, cpdag: PDAG, known: PDAG | None = None, /) -> bool:
        """Tell whether some member of the class satisfies the constraint; one of ``known`` does."""

    def refine(self, cpdag: PDAG, /) -> PDAG:
        """Return the class with the edges directed that all satisfying members direct alike."""

    def member(self, cpdag: PDAG, within: NodeSet | None = None, /) -> PDAG:
        """Return a member that satisfies the constraint, or else at least what it relaxes to.

        If ``within`` is given, only chain components inside it need be directed.
        """

    def violations(self, dag: PDAG, /) -> list[Edge]:
        """Return the edges of a DAG that the constraint forbids."""

    @property
    def relaxed(self) -> "Constraint | None":
        """The part under which admissible steps lead to the truth; None if that is all of it."""
