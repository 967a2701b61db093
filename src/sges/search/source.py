"""What the greedy loop asks of a source of operators, and which views a step makes stale."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import is_not
from typing import Protocol

from sges.graph.pdag import PDAG
from sges.kernels import compiled
from sges.nodeset import NodeSet
from sges.operators.base import Operator


@dataclass(frozen=True, slots=True)
class Scored:
    """A valid operator and how much it changes the score."""

    operator: Operator
    gain: float


class Source(Protocol):
    """Where the greedy loop gets its operators: the only thing in which the phases differ."""

    @property
    def considered(self) -> int:
        """How many operators were generated; again only if what they depend on changed."""

    def best(self) -> Scored | None:
        """Return the best operator worth applying, ties broken by its sort key, or None."""

    def reject(self, operator: Operator) -> None:
        """Offer this operator no more at this state."""

    def move_to(self, cpdag: PDAG) -> None:
        """Take note of the state after an operator was applied."""


Check = Callable[[], None]
"""Asked between small pieces of work: raises if the search is to end."""


def go_on() -> None:
    """Let the search go on, however long it takes."""


def stale_views(before: PDAG, after: PDAG) -> NodeSet:
    """Return the nodes whose view differs: their edges, or what their neighbors are adjacent to."""
    return differing_views(before.out, before.into, after.out, after.into)


@compiled
def differing_views(
    before_out: Sequence[NodeSet],
    before_into: Sequence[NodeSet],
    out: Sequence[NodeSet],
    into: Sequence[NodeSet],
) -> NodeSet:
    """Return the same, given the rows of both graphs."""
    everyone = range(len(out))
    # rows that did not change are the same objects: most nodes are passed over at C speed
    touched = {
        *compress(everyone, map(is_not, before_out, out)),
        *compress(everyone, map(is_not, before_into, into)),
    }
    stale = 0
    for v in touched:
        if before_out[v] != out[v] or before_into[v] != into[v]:
            stale |= 1 << v
            if before_out[v] | before_into[v] != out[v] | into[v]:
                stale |= out[v] & into[v]
    return stale
