"""What the three operators have in common.

An operator is a frozen value: two nodes and a set.  It can say what forbids it on a graph
(``problem``), what it is worth there (``delta``), and what becomes of the graph (``apply``).
The set is called as in its paper: T for Insert, H for Delete, C for Turn.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from sges.errors import InvalidOperator
from sges.graph.completion import complete_locally
from sges.graph.pdag import PDAG
from sges.nodeset import Nodes, NodeSet, by_size_then_nodes, nodeset, show
from sges.score.base import Score


class Change(NamedTuple):
    """The parents of y before and after: one of them more, or one less."""

    y: int
    before: NodeSet
    after: NodeSet


class Operator(ABC):
    """One step in the space of equivalence classes, on the pair (x, y)."""

    __slots__ = ()
    set_name: ClassVar[str]
    adds_edges: ClassVar[int]
    x: int
    y: int

    @property
    @abstractmethod
    def chosen(self) -> NodeSet:
        """The set that makes one operator of many on the same pair: T, H or C."""

    @abstractmethod
    def precondition(self, cpdag: PDAG) -> str | None:
        """Return which precondition fails on the graph, or None; the nodes exist."""

    @abstractmethod
    def changes(self, cpdag: PDAG) -> tuple[Change, ...]:
        """Return the families that the operator changes in one member of the class."""

    @abstractmethod
    def edit(self, cpdag: PDAG) -> PDAG:
        """Return the PDAG before completion, trusting that the operator is valid."""

    def problem(self, cpdag: PDAG) -> str | None:
        """Return why the operator is not valid on the graph, or None if it is."""
        n = cpdag.n
        if not (0 <= self.x < n and 0 <= self.y < n) or self.chosen >> n:
            return f"the graph has the nodes 0..{n - 1} only"
        if self.x == self.y:
            return "x and y must be two nodes"
        return self.precondition(cpdag)

    def is_valid(self, cpdag: PDAG) -> bool:
        """Tell whether every precondition holds on the graph."""
        return self.problem(cpdag) is None

    def gain(self, score: Score, cpdag: PDAG) -> float:
        """Return the score change, trusting that the operator is valid."""
        changes = self.changes(cpdag)
        return sum(score.local(y, after) - score.local(y, before) for y, before, after in changes)

    def delta(self, score: Score, cpdag: PDAG) -> float:
        """Return how much the score of the class changes when the operator is applied."""
        self._refuse_if_invalid(cpdag)
        return self.gain(score, cpdag)

    def apply(self, cpdag: PDAG) -> PDAG:
        """Return the CPDAG that the operator makes of this one."""
        self._refuse_if_invalid(cpdag)
        return self.carry_out(cpdag)

    def carry_out(self, cpdag: PDAG) -> PDAG:
        """Return the CPDAG that the operator makes of this one, trusting that it is valid."""
        return complete_locally(cpdag, self.edit(cpdag), self.x, self.y)

    def sort_key(self) -> tuple[int, ...]:
        """Return the key by which ties are broken: (x, y, size of the set, its nodes)."""
        return (self.x, self.y, *by_size_then_nodes(self.chosen))

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.x}, {self.y}, {show(self.chosen)})"

    def _refuse_if_invalid(self, cpdag: PDAG) -> None:
        if problem := self.problem(cpdag):
            raise InvalidOperator(f"{self}: {problem}")


def as_mask(members: Nodes, operator: str) -> NodeSet:
    """Return the set given to an operator's constructor as a mask."""
    s = members if isinstance(members, int) else nodeset(members)
    if s < 0:
        raise InvalidOperator(f"{operator}: {members!r} is not a set of nodes")
    return s
