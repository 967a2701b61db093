"""The twin of the reference: it scores every operator of every state by its definition.

It uses the operators, which have exhaustive tests, and no maximal cliques or stored gains.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from sges.graph import PDAG, is_cpdag
from sges.graph.undirected import maximum_cardinality_search
from sges.nodeset import NodeSet, nodes, subsets
from sges.operators import Delete, Insert, Operator
from sges.properties import Property
from sges.score.protocol import Score
from sges.selective import bounds_of, proposed_sets

Generate = Callable[[PDAG], Iterable[Operator]]


@dataclass
class Recorder:
    """A score that records each evaluated family."""

    score: Score
    asked: set[tuple[int, NodeSet]] = field(default_factory=set)

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.score.n

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score of a family, and record it."""
        self.asked.add((y, parents))
        return self.score.local(y, parents)


def search(
    score: Score, start: PDAG, generate: Generate, tolerance: float, *, least: float | None = None
) -> tuple[PDAG, list[tuple[Operator, float]]]:
    """Apply the best operator while its gain exceeds ``least``, by default the tolerance."""
    least, cpdag = tolerance if least is None else least, start
    steps: list[tuple[Operator, float]] = []
    while True:
        assert is_cpdag(cpdag)
        scored = [(op.gain(score, cpdag), op) for op in generate(cpdag)]
        scored = [(gain, op) for gain, op in scored if op.is_valid(cpdag)]
        best = max((gain for gain, _ in scored), default=float("-inf"))
        if not best > least:
            return cpdag, steps
        tied = [(op, gain) for gain, op in scored if gain >= best - tolerance]
        op, gain = min(tied, key=lambda pair: pair[0].sort_key())
        steps.append((op, gain))
        cpdag = op.apply(cpdag)


def inserts_before_the_path_condition(g: PDAG) -> Iterator[Insert]:
    """Yield every insert that satisfies the clique condition; these are scored and counted."""
    for x in range(g.n):
        for y in range(g.n):
            if x != y and not g.adjacent(x) >> y & 1:
                for t in subsets(g.neighbors(y) & ~g.adjacent(x)):
                    if g.is_clique(g.na(y, x) | t):
                        yield Insert(x, y, t)


def inserts_of_one_member(g: PDAG, largest_t: int) -> Iterator[Insert]:
    """Yield the inserts that poly-FES considers, before the path condition."""
    above = [0] * g.n
    for v in range(g.n):
        earlier = 0
        lines = [g.neighbors(u) for u in range(g.n)]
        for u in maximum_cardinality_search(lines, g.chain_component(v)):
            above[u] = lines[u] & earlier
            earlier |= 1 << u
    for insert in inserts_before_the_path_condition(g):
        s = g.na(insert.y, insert.x) | insert.t
        if s == above[insert.y] or insert.t.bit_count() <= largest_t:
            yield insert


def selected(assume: Property) -> Generate:
    """Return a function that generates the deletes that the bounds of a property allow."""

    def generate(g: PDAG) -> Iterator[Delete]:
        for x in range(g.n):
            for y in nodes(g.out[x]):
                for h in proposed_sets(g, x, y, *bounds_of(assume)):
                    yield Delete(x, y, h)

    return generate
