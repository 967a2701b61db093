"""Counting families twice over: the two readings of an undirected edge.

Delete(x, y, H) and Delete(y, x, H) on x — y do the same and gain the same, but ask for families
of y and of x.  The searches score and count both; a program may as well score only one.  Both
choices visit the same states, as ties go to the smaller x: so the states of a finished run are
visited again here, and the families of all deletes written into a set.  For the reading that
the searches take, this is an independent check of their counter.
"""

from collections.abc import Callable, Iterable

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.operators.delete import Delete
from sges.result import Result

Deletes = Callable[[PDAG, int, int], Iterable[Delete]]
"""The deletes that a search looks at, of one edge of a state."""


class Asked:
    """A score that knows nothing, and notes what it is asked for."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.families: set[tuple[int, NodeSet]] = set()

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Note the family; return nothing of use."""
        self.families.add((y, parents))
        return 0.0


def families(result: Result, start: PDAG, deletes: Deletes, *, both_orders: bool) -> int:
    """Return how many families a backward search asks for, by visiting its states again."""
    asked = Asked(start.n)
    note_state(asked, start, deletes, both_orders=both_orders)
    state = start
    for step in result.steps:
        state = step.operator.apply(state)
        note_state(asked, state, deletes, both_orders=both_orders)
    return len(asked.families)


def note_state(asked: Asked, state: PDAG, deletes: Deletes, *, both_orders: bool) -> None:
    """Ask for the gain of every delete of one state."""
    for x in range(state.n):
        for y in nodes(state.out[x]):
            if both_orders or x < y or not state.out[y] >> x & 1:
                for delete in deletes(state, x, y):
                    delete.gain(asked, state)
