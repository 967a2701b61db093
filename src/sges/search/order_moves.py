r"""Orders of the nodes, and the search among them by moves of single nodes.

An order stands for a DAG: the parents of each node are those that grow-shrink chooses among the
nodes before it.  Moving v past u changes only the predecessors of u and of v, and a change matters
only if it concerns a node that grow-shrink took or would have taken: all places for v are compared
in one sweep to the left and one to the right, with a look-up for most nodes passed.

Where no move improves the score, the search begins again from another order of the same class:
equivalent DAGs score alike, but other moves lead away from them.

Twin in the tests: all places of all nodes, each scored from scratch.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes, nodeset
from sges.search.grow_shrink import Choice, GrowShrink

REACH = 300.0
"""How many nats the score may fall on the way to a better place before the sweep ends.

Of 1,471 moves that improved the score (40 variables, 300 to 10,000 records, 1 to 4 edges per
variable) one led through a deeper valley; looking everywhere took up to three times as long.
"""

ROUNDS = 50
"""How many times each node is moved at most; two to five were enough for each beginning."""

Reorder: TypeAlias = Callable[[PDAG], Sequence[int]]
"""From a DAG to an order of a DAG equivalent to it."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """An order of the nodes, and the parents chosen for each node among those before it."""

    order: tuple[int, ...]
    choices: tuple[Choice, ...]

    @property
    def gain(self) -> float:
        """What the DAG gains beyond the required edges."""
        return sum(choice.gain for choice in self.choices)

    def dag(self) -> PDAG:
        """Return the DAG that the order stands for."""
        edges = [(x, y) for y, choice in enumerate(self.choices) for x in nodes(choice.parents)]
        return PDAG.from_edges(len(self.order), edges)


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a node: where, the score less that of its present place, and what changes."""

    at: int
    gain: float
    changed: dict[int, Choice]


class OrderSearch:
    """The search for the best order, by moves of single nodes.

    ``later[u]`` are the nodes that must come after u.
    """

    def __init__(
        self,
        order: Sequence[int],
        trees: Sequence[GrowShrink],
        later: Sequence[NodeSet],
        tolerance: float,
        reach: float = REACH,
    ) -> None:
        self.considered = 0
        self._trees = trees
        self._later = later
        self._tolerance = tolerance
        self._reach = reach
        self.state = self._ordered(order)
        self._best = self.state

    @property
    def best(self) -> Ordered:
        """The best order so far."""
        return max(self._best, self.state, key=lambda ordered: ordered.gain)

    def improve(self, reorder: Reorder | None = None, rounds: int = ROUNDS) -> None:
        """Move each node to its best place in turn, until all stay or the rounds are over.

        Then, if there is a way to reorder, begin again from there, as long as that pays.
        """
        for _ in range(rounds):
            if sum([self.move(v) for v in range(len(self.state.order))]):
                continue
            if (
                self._best is not self.state
                and self.state.gain <= self._best.gain + self._tolerance
            ):
                break
            self._best = self.state
            if reorder is None:
                break
            self.state = self._ordered(reorder(self.state.dag()))
        self.state = self.best

    def _ordered(self, order: Sequence[int]) -> Ordered:
        choices: dict[int, Choice] = {}
        before = 0
        for v in order:
            choices[v] = self._trees[v].choose(before)
            before |= 1 << v
        return Ordered(tuple(order), tuple(choices[v] for v in range(len(order))))

    def move(self, v: int) -> bool:
        """Move v to its best place, if that is better; tell whether it moved."""
        best = None
        for place in self.places(v):
            if place.gain > (best.gain if best else 0.0) + self._tolerance:
                best = replace(place, changed=dict(place.changed))
        if best is None:
            return False
        order, choices = list(self.state.order), list(self.state.choices)
        order.remove(v)
        order.insert(best.at, v)
        for u, choice in best.changed.items():
            choices[u] = choice
        self.state = Ordered(tuple(order), tuple(choices))  # at once: Ctrl-C finds one or the other
        return True

    def places(self, v: int) -> Iterator[Place]:
        """Yield the other places for v, to the left and then to the right, the nearest first.

        ``changed`` goes on changing with the next place.
        """
        order = self.state.order
        at = order.index(v)
        before = nodeset(order[:at])
        yield from self._leftward(v, at, before)
        yield from self._rightward(v, at, before)

    def _leftward(self, v: int, at: int, before: NodeSet) -> Iterator[Place]:
        own = mine = self.state.choices[v]
        changed: dict[int, Choice] = {}
        shift = 0.0
        for place in range(at - 1, -1, -1):
            u = self.state.order[place]
            if self._later[u] >> v & 1:
                return
            before ^= 1 << u
            theirs = self.state.choices[u]
            if theirs.rivals >> v & 1:
                changed[u] = self._trees[u].choose(before | 1 << v)
                shift += changed[u].gain - theirs.gain
            if own.grown >> u & 1:
                own = changed[v] = self._trees[v].choose(before)
            self.considered += 1
            gain = own.gain - mine.gain + shift
            yield Place(place, gain, changed)
            if gain < -self._reach:
                return

    def _rightward(self, v: int, at: int, before: NodeSet) -> Iterator[Place]:
        own = mine = self.state.choices[v]
        changed: dict[int, Choice] = {}
        shift = 0.0
        for place in range(at + 1, len(self.state.order)):
            u = self.state.order[place]
            if self._later[v] >> u & 1:
                return
            theirs = self.state.choices[u]
            if theirs.grown >> v & 1:
                changed[u] = self._trees[u].choose(before)
                shift += changed[u].gain - theirs.gain
            before |= 1 << u
            if own.rivals >> u & 1:
                own = changed[v] = self._trees[v].choose(before)
            self.considered += 1
            gain = own.gain - mine.gain + shift
            yield Place(place, gain, changed)
            if gain < -self._reach:
                return
