"""The operators that a climb may apply, how a search goes on, and the knowledge it must respect."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet


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
    turns, deletes
        Whether edges may be turned and deleted.
    clique_bound, size_bound
        The bounds of Selective-Generate-Ops on the cliques in H and on the size of H; None for
        no bound.
    block_bound
        The bound on the cliques in H if x is exogenous; the size of H then has no bound.
    drop_large
        Leave out every H that contains a clique larger than ``clique_bound``.
    max_indegree
        Never give a node more parents than this by an insert or a turn; None for no limit.
    sets_per_clique
        Where a maximal clique of neighbors has more subsets than this, look only at the smallest
        ones (and, for deletes, at the largest); None for no limit.
    """

    inserts: Literal["all", "poly"] | None = None
    largest_t: int = 0
    turns: bool = False
    deletes: bool = False
    clique_bound: int | None = None
    size_bound: int | None = None
    block_bound: int | None = None
    drop_large: bool = False
    max_indegree: int | None = None
    sets_per_clique: int | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """How a search goes on from a local optimum, which its climbs with these moves find.

    Parameters
    ----------
    moves
        The operators of all climbs.
    orders
        Search for the best order of the variables, starting with one of the class.
    shuffles
        Start this search again from orders in which a node and its neighbors are shuffled.
    escapes
        Force each delete in turn, search on, and keep the class if it scores higher.
    is_bounded
        Limit the work of each climb, of all shuffles and of all escapes by constants.
    patience
        Abandon an escape when its best insert regains less than this share of what is lost.
    """

    moves: Moves
    orders: bool = False
    shuffles: bool = False
    escapes: bool = False
    is_bounded: bool = False
    patience: float = 0.0


class Constraint(Protocol):
    """The interface of hard background knowledge, which ``sges.knowledge`` implements."""

    @property
    def barred(self) -> Sequence[NodeSet]:
        """For each y, the nodes x for which x → y is forbidden."""

    @property
    def fixed(self) -> Sequence[NodeSet]:
        """For each y, the nodes x for which x → y is required."""

    def start(self, n: int, /) -> PDAG:
        """Return the sparsest CPDAG on n nodes that has a member satisfying the constraint."""

    def admits(self, cpdag: PDAG, known: PDAG | None = None, /) -> bool:
        """Return whether a member of the class satisfies the constraint.

        ``known`` is a class that is known to have such a member.
        """

    def refine(self, cpdag: PDAG, /) -> PDAG:
        """Return the class with the edges directed that all satisfying members direct alike."""

    def member(
        self, cpdag: PDAG, within: NodeSet | None = None, ranking: Sequence[int] | None = None, /
    ) -> PDAG:
        """Return a member that satisfies the constraint, or else at least the relaxed one.

        If ``within`` is given, only chain components inside it need be directed.  With a ranking,
        the choice among several members must not depend on the numbers of the nodes.
        """

    def violations(self, dag: PDAG, /) -> list[Edge]:
        """Return the edges of a DAG that the constraint forbids."""

    @property
    def relaxed(self) -> "Constraint | None":
        """The weaker constraint under which admissible steps lead to the true class.

        None if this constraint itself has this property.
        """
