"""What the greedy loop asks of a source of operators, and which views a step makes stale."""

from dataclasses import dataclass
from typing import Protocol

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet
from sges.operators.base import Operator


@dataclass(frozen=True, slots=True)
class Scored:
    """A valid operator and how much it changes the score."""

    operator: Operator
    gain: float


class Source(Protocol):
    """Where the greedy loop gets its operators: the only thing in which the phases differ."""

    considered: int
    """How many operators were generated; again only if what they depend on changed."""

    def best(self) -> Scored | None:
        """Return the best operator worth applying, ties broken by its sort key, or None."""

    def reject(self, operator: Operator) -> None:
        """Offer this operator no more at this state."""

    def move_to(self, cpdag: PDAG) -> None:
        """Take note of the state after an operator was applied."""


def stale_views(before: PDAG, after: PDAG) -> NodeSet:
    """Return the nodes whose view differs: their edges, or what their neighbors are adjacent to."""
    stale = 0
    rows = zip(before.out, after.out, before.into, after.into, strict=True)
    for v, (out, new_out, into, new_into) in enumerate(rows):
        if out is new_out and into is new_into:  # rows that did not change are the same objects
            continue
        if out != new_out or into != new_into:
            stale |= 1 << v
            if out | into != new_out | new_into:
                stale |= new_out & new_into
    return stale
