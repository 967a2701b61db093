"""What a property is: something a graph has or has not, and what that says about deletes.

SGES may use any property that is *equivalence invariant* (it holds for both or neither of two
equivalent DAGs) and *hereditary* (it passes to induced subgraphs): an EIH property.  A bound
of the property on the sets H of deletes is what makes the search polynomial:

    clique_bound   no clique inside H may be larger           (parents, cliques, v-width, ...)
    size_bound     H itself may not be larger                 (number of v-structures)

A user's own property needs only ``holds``; ``check_property`` tells whether it is EIH.

Paper: Section 4, EIH property.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, runtime_checkable

from sges.errors import InvalidProperty
from sges.graph.equivalence import is_dag, pdag_to_dag
from sges.graph.pdag import PDAG


@runtime_checkable
class Property(Protocol):
    """The whole contract of a user's own property.

    Bounds are optional attributes, ``clique_bound`` and ``size_bound``; a property without
    either is applied to each delete one by one.

    Paper: Section 4, EIH property.
    """

    def holds(self, graph: PDAG, /) -> bool:
        """Tell whether the property holds for the class of a DAG, PDAG or CPDAG."""


@dataclass(frozen=True, slots=True)
class AtMost(ABC):
    """A property of the form: this measure of the graph is at most k."""

    k: int
    smallest: ClassVar[int] = 0
    why_smallest: ClassVar[str] = "no graph has less than 0"

    def __post_init__(self) -> None:
        name = type(self).__name__
        if isinstance(self.k, bool) or not isinstance(self.k, int):
            raise InvalidProperty(f"{name}({self.k!r}): the bound must be an integer")
        if self.k < self.smallest:
            raise InvalidProperty(
                f"{name}({self.k}): the bound must be at least {self.smallest}; {self.why_smallest}"
            )

    @classmethod
    def measure(cls, graph: PDAG) -> int:
        """Return the measure of the class of a DAG, PDAG or CPDAG (by way of a member)."""
        return cls.measure_dag(a_member(graph))

    @classmethod
    @abstractmethod
    def measure_dag(cls, dag: PDAG) -> int:
        """Return the measure of one DAG."""

    @classmethod
    def of(cls, graph: PDAG) -> Self:
        """Return the tightest property of this kind that holds for the graph."""
        return cls(max(cls.measure(graph), cls.smallest))

    def holds(self, graph: PDAG) -> bool:
        """Tell whether the property holds for the class of a DAG, PDAG or CPDAG."""
        return self.measure(graph) <= self.k

    @property
    def clique_bound(self) -> int | None:
        """The largest clique that H may hold, or None if the property bounds no clique."""
        return None

    @property
    def size_bound(self) -> int | None:
        """The most nodes that H may hold, or None if the property bounds only cliques."""
        return None


def a_member(graph: PDAG) -> PDAG:
    """Return a DAG of the class that the graph stands for: itself if it is one."""
    return graph if is_dag(graph) else pdag_to_dag(graph)
