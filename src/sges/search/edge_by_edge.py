"""From one DAG to another by operators, one edge at a time.

A phase that does not search by operators ends with a DAG.  So that its result can be told like
any other, by steps that add up to the score, the way from a member of the start to that DAG is
gone edge by edge: first delete what only the one has, then insert what only the other has.

    x → y leaves a member D of the class C    Delete(x, y, H), H = NA_{y,x} ∩ children of y in D
    x → y joins it                            Insert(x, y, T), T = Pa_D(y) ∩ Ne(y) ∖ Adj(x)

Both are valid, and are scored by the parents of y in D, because they can be carried out in the
member D (Chickering 2002, Theorems 15 and 17; ``docs/theory.md``, 9).  Every D on the way is part
of the one DAG or of the other: if both satisfy background knowledge, so does D.
"""

from collections.abc import Iterator

from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.operators.base import Operator
from sges.operators.delete import Delete
from sges.operators.insert import Insert
from sges.score.base import Score, delete_gains, insert_gains
from sges.search.lanes import as_array
from sges.search.source import Scored


class EdgeByEdge:
    """The operators from one DAG to another; a source for the greedy loop.

    The score is asked only for what the steps are worth: these families are not counted.
    """

    def __init__(self, score: Score, cpdag: PDAG, member: PDAG, goal: PDAG) -> None:
        self.considered = 0
        self._score = score
        self._cpdag = cpdag
        self._member = member
        self._goal = goal
        self._left = self._edges()
        self._next: Scored | None = None  # offered until it is applied

    def best(self) -> Scored | None:
        """Return the next operator on the way, or None at its end."""
        if self._next is None:
            self._next = next(self._left, None)
        return self._next

    def reject(self, operator: Operator) -> None:
        """Refuse: every state on the way is admissible."""
        raise AssertionError(f"{operator} was rejected between two admissible graphs")

    def move_to(self, cpdag: PDAG) -> None:
        """Take note of the state after the operator was applied."""
        self._cpdag = cpdag
        self._next = None

    def _edges(self) -> Iterator[Scored]:
        for y in range(self._goal.n):
            yield from self._leave(y, self._member.parents(y) & ~self._goal.parents(y))
        for y in topological_order(self._goal):
            yield from self._join(y, self._goal.parents(y) & ~self._member.parents(y))

    def _leave(self, y: int, surplus: NodeSet) -> Iterator[Scored]:
        for x in nodes(surplus):
            parents = self._member.parents(y)
            gain = float(delete_gains(self._score, y, parents, as_array(1 << x))[0])
            h = self._cpdag.na(y, x) & self._member.children(y)
            self._member = self._member.edited(remove=[(x, y)])
            yield Scored(Delete(x, y, h), gain)

    def _join(self, y: int, missing: NodeSet) -> Iterator[Scored]:
        """Add the parents that are missing, the most gainful first."""
        while missing:
            parents, xs = self._member.parents(y), as_array(missing)
            gains = insert_gains(self._score, y, parents, xs)
            x = int(xs[gains.argmax()])
            t = parents & self._cpdag.neighbors(y) & ~self._cpdag.adjacent(x)
            self._member = self._member.edited(direct=[(x, y)])
            missing ^= 1 << x
            yield Scored(Insert(x, y, t), float(gains.max()))
