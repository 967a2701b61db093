"""Which operators a greedy climb may take, as a value that both engines read."""

from dataclasses import dataclass
from typing import Literal


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
