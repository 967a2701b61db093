"""The operators that a greedy climb may apply, and the knowledge that it must respect."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet
from sges.operators import Delete, Operator, by_falling_gain

Candidate = TypeVar("Candidate", bound=tuple[Any, ...])
"""A gain, its operator, and possibly more."""

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
    turns, deletes
        Whether edges may be turned and deleted.
    clique_bound, size_bound
        The bounds of Selective-Generate-Ops on the cliques in H and on the size of H; None for
        no bound.
    drop_large
        Leave out every H that contains a clique larger than ``clique_bound``.
    max_indegree
        Never give a node more parents than this by an insert or a turn; None for no limit.
    sets_per_clique
        Where a maximal clique of neighbors has more subsets than this, look only at the smallest
        ones (and, for deletes, at the largest); None for no limit.
    ranking
        The nodes in the order in which the member of the class takes them where it has a choice
        (``sges.search.order.ranked``); None for the order of their numbers.
    """

    inserts: Literal["all", "poly"] | None = None
    largest_t: int = 0
    turns: bool = False
    deletes: bool = False
    clique_bound: int | None = None
    size_bound: int | None = None
    drop_large: bool = False
    max_indegree: int | None = None
    sets_per_clique: int | None = None
    ranking: tuple[int, ...] | None = None
    conservative: ClassVar[bool] = False  # the compiled engine asks for it


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


def best_first(
    scored: Iterable[Candidate], tolerance: float, cpdag: PDAG | None = None
) -> Iterator[Candidate]:
    """Yield operators, best first, while they do not lower the score.

    Of operators that tie, the first by ``sort_key`` is best.  With a CPDAG, only operators that are
    valid on it are yielded; validity is tested only where it matters.
    """
    remaining = sorted(scored, key=lambda candidate: -candidate[0])
    while True:
        tied: list[Candidate] = []
        for candidate in remaining:
            if candidate[0] < (tied[0][0] if tied else 0.0) - tolerance:
                break
            if cpdag is None or candidate[1].precondition(cpdag) is None:
                tied.append(candidate)
        if not tied:
            return
        best = min(tied, key=lambda candidate: candidate[1].sort_key())
        yield best
        remaining.remove(best)


def each_edge_once(
    graph: PDAG, scored: Iterable[tuple[float, Operator]]
) -> list[tuple[float, Delete]]:
    """Return deletes with their gains, best first; of those of x — y, the ones with x < y."""
    once: dict[Delete, float] = {}
    for gain, op in scored:
        turned = op.x > op.y and graph.neighbors(op.y) >> op.x & 1
        x, y = (op.y, op.x) if turned else (op.x, op.y)
        once.setdefault(Delete(x, y, op.chosen), gain)
    return by_falling_gain((gain, delete) for delete, gain in once.items())
