"""What a greedy climb may do: the operators it may take, and the knowledge it has to obey."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet

Mark: TypeAlias = Any
"""A point of a run to which its engine can go back; each engine has its own kind."""


@dataclass(frozen=True, slots=True)
class Moves:
    """The operators of one climb.

    Where several kinds are allowed, a delete comes before a turn, and a turn before an insert.

    Parameters
    ----------
    inserts
        "all" valid inserts; "poly" for those of one member of the class and those with a set T
        of at most ``largest_t`` nodes; None for no inserts.
    largest_t
        The largest T of "poly".
    conservative
        Of "all" inserts, prefer those between nodes that the score has not called independent.
    turns, deletes
        Whether edges may be turned and deleted.
    clique_bound, size_bound
        The bounds of Selective-Generate-Ops on the cliques in H and on the size of H; None for
        no bound.
    drop_large
        Leave out every H that holds a clique larger than ``clique_bound``.
    max_indegree
        Never give a node more parents than this by an insert or a turn; None for no limit.
    sets_per_clique
        Where a maximal clique of neighbors has more subsets than this, look only at the smallest
        ones (and, for deletes, at the largest); None for no limit.
    """

    inserts: Literal["all", "poly"] | None = None
    largest_t: int = 0
    conservative: bool = False
    turns: bool = False
    deletes: bool = False
    clique_bound: int | None = None
    size_bound: int | None = None
    drop_large: bool = False
    max_indegree: int | None = None
    sets_per_clique: int | None = None


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
