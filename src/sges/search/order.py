"""The search over orders of the nodes: its loop, and the moves of the reference engine.

Every order of the nodes stands for a DAG: the parents of each node are those that grow-shrink
chooses among the nodes before it.  With a locally consistent score this DAG is an IMAP of the true
graph, so that a backward phase may follow.  After Andrews et al. (2023), each node in turn is
moved to its best place, until none moves.  Then the search begins again from another order of the
same class, as long as that improves the score; with a limit on its work, also from such an order
dealt into piles, because moves of single nodes end in local optima.

Which optimum is found depends on the order in which nodes are moved, and on the orders from which
the search begins.  By default nodes are taken by their numbers.  With a *ranking* of the nodes that
is computed from the scores (``ranked``), the result does not depend on the order of the columns.

Under knowledge the order respects the order that the knowledge implies, required parents are never
dropped, and forbidden parents are never chosen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sges.errors import InvalidArgument
from sges.graph.equivalence import consistent_extension, dag_to_cpdag, topological_order
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes, nodeset
from sges.operators import Delete, Insert
from sges.score.protocol import Score, delete_gains, insert_gains
from sges.search.generate import CachedGains, Scored
from sges.search.moves import Constraint, Moves

if TYPE_CHECKING:
    from sges.search.engines import Engine

REACH = 300.0
"""The number of nats by which the score may fall before a sweep ends."""

ROUNDS = 50
"""The largest number of rounds, in each of which every node is moved once."""

TIED = 1e-9
"""How far apart two strengths may be and still tie, relative to the largest."""

PILES = 3
"""The largest number of piles into which a search with limited work deals the best order."""

MIXED_WORK = 0.2
"""The work of the search from mixed orders, relative to that before it, per unit of effort."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The parents of a node, and their gain beyond the required parents."""

    parents: NodeSet
    gain: float


@dataclass(frozen=True, slots=True)
class Ordered:
    """An order of the nodes, and the parents chosen for each node."""

    order: tuple[int, ...]
    choices: tuple[Choice, ...]

    @property
    def gain(self) -> float:
        """The gain of the DAG beyond the required edges."""
        return sum(choice.gain for choice in self.choices)

    def dag(self) -> PDAG:
        """Return the DAG that the order stands for."""
        edges = [(x, y) for y, choice in enumerate(self.choices) for x in nodes(choice.parents)]
        return PDAG.from_edges(len(self.order), edges)


class GrowShrink:
    """The parents of a node y among the nodes before it.

    *Grow*: from the required parents, add the node of largest gain while that improves the score.
    *Shrink*: remove the node of largest gain while that does not lower the score.
    """

    def __init__(
        self,
        asked: CachedGains,
        y: int,
        tolerance: float,
        allowed: NodeSet,
        required: NodeSet,
        most: int | None = None,
    ) -> None:
        self._asked = asked
        self._y = y
        self._tolerance = tolerance
        self._allowed = allowed & ~(1 << y)
        self._required = required
        self._most = len(bin(allowed)) if most is None else most
        self._bases: dict[NodeSet, tuple[float, list[tuple[int, float]]]] = {}

    def choose(self, before: NodeSet) -> Choice:
        """Return the parents of y if these nodes come before it."""
        chosen = self._required
        gain, ranked = self._base(chosen, 0.0)
        while chosen.bit_count() < self._most:
            better = [pair for pair in ranked if before >> pair[0] & 1]
            if not better:
                break
            x, more = better[0]
            chosen |= 1 << x
            gain, ranked = self._base(chosen, gain + more)
        return self._shrunk(chosen, gain)

    def _base(self, chosen: NodeSet, gain: float) -> tuple[float, list[tuple[int, float]]]:
        """Return the gain of these parents, and the nodes that would improve it, ranked."""
        if chosen not in self._bases:
            xs = self._allowed & ~chosen
            gains = self._asked.gains(self._y, chosen, xs, adds=True)
            improving = [(x, gains[x]) for x in nodes(xs) if gains[x] > self._tolerance]
            self._bases[chosen] = gain, highest_first(improving, self._tolerance)
        return self._bases[chosen]

    def _shrunk(self, parents: NodeSet, gain: float) -> Choice:
        while free := parents & ~self._required:
            gains = self._asked.gains(self._y, parents, free, adds=False)
            highest = max(gains[x] for x in nodes(free))
            if highest < -self._tolerance:
                break
            x = next(x for x in nodes(free) if gains[x] >= highest - self._tolerance)
            parents ^= 1 << x
            gain += gains[x]
        return Choice(parents, gain)


def highest_first(values: list[tuple[int, float]], tolerance: float) -> list[tuple[int, float]]:
    """Return nodes and their values by falling value.

    A node ties with the next one if their values differ by no more than the tolerance; nodes
    that tie are ranked by their numbers.

    >>> highest_first([(1, 3.0), (5, 7.0), (6, 7.25)], 0.5)
    [(5, 7.0), (6, 7.25), (1, 3.0)]
    """
    ties: list[list[tuple[int, float]]] = []
    for x, value in sorted(values, key=lambda pair: -pair[1]):
        if not ties or ties[-1][-1][1] - value > tolerance:
            ties.append([])
        ties[-1].append((x, value))
    return [pair for tie in ties for pair in sorted(tie)]


def ranked(strengths: Sequence[float]) -> list[int]:
    """Return the nodes, strongest first; those that tie are ranked by their numbers.

    The strength of a node is the sum of the gains of all edges into it, at the graph that has only
    required edges.  It measures how much the node depends on the others, and does not depend on
    the order of the columns.

    >>> ranked([1.0, 5.0 - 1e-12, 5.0, -2.0])
    [1, 2, 0, 3]
    """
    tolerance = TIED * max(map(abs, strengths), default=0.0)
    return [v for v, _ in highest_first(list(enumerate(strengths)), tolerance)]


class OrderMoves:
    """An order of the nodes, each of which can be moved to its best place.

    Parameters
    ----------
    asked
        The score.
    tolerance
        How far apart two gains may be and still tie.
    allowed, required
        For each node the nodes that may be its parents, and those that must.
    later
        For each node the nodes that must come after it.
    reach
        How many nats the score may fall on the way to a better place before the sweep ends.
    max_indegree
        The largest number of parents, None for any number.
    ranking
        The nodes in the order in which they are moved.
    """

    def __init__(
        self,
        asked: CachedGains,
        tolerance: float,
        allowed: Sequence[NodeSet],
        required: Sequence[NodeSet],
        later: Sequence[NodeSet],
        reach: float,
        max_indegree: int | None,
        ranking: Sequence[int],
    ) -> None:
        self._asked = asked
        self._tolerance = tolerance
        self._later = later
        self._reach = reach
        self._ranking = ranking
        self._parents = [
            GrowShrink(asked, y, tolerance, allowed[y], required[y], max_indegree)
            for y in range(len(allowed))
        ]

    def set(self, order: Sequence[int]) -> None:
        """Go to another order."""
        choices = {v: self._parents[v].choose(nodeset(order[:i])) for i, v in enumerate(order)}
        self.state = Ordered(tuple(order), tuple(choices[v] for v in range(len(order))))

    def round(self, last: int | None) -> bool:
        """Move each node once, while at most ``last`` gains were computed; return if any moved."""
        moved = False
        for v in self._ranking:
            if last is not None and self._asked.work > last:
                break
            moved |= self._move(v)
        return moved

    def _move(self, v: int) -> bool:
        """Move v to its best place, if that is better; return whether it moved."""
        at, highest, best = self.state.order.index(v), 0.0, None
        leftward, rightward = range(at - 1, -1, -1), range(at + 1, len(self.state.order))
        for places in (leftward, rightward):
            for gain, ordered in self._sweep(v, places):
                if gain > highest + self._tolerance:
                    highest, best = gain, ordered
        self.state = best or self.state
        return best is not None

    def _sweep(self, v: int, places: range) -> Iterator[tuple[float, Ordered]]:
        """Yield the orders with v in each of the places, the nearest first, and their gains."""
        here = self.state
        choices = list(here.choices)
        shift = 0.0
        for place in places:
            u = here.order[place]  # the node that v passes
            first, second = (v, u) if places.step < 0 else (u, v)
            if self._later[second] >> first & 1:
                return
            order = [w for w in here.order if w != v]
            order.insert(place, v)
            for w in (u, v):
                choices[w] = self._parents[w].choose(nodeset(order[: order.index(w)]))
            self._asked.considered += 1
            shift += choices[u].gain - here.choices[u].gain
            gain = choices[v].gain - here.choices[v].gain + shift
            yield gain, Ordered(tuple(order), tuple(choices))
            if gain < -self._reach:
                return


def go_to_best_order(
    engine: "Engine",
    phase: str,
    *,
    max_indegree: int | None = None,
    effort: float | None = None,
    ranking: tuple[int, ...] | None = None,
) -> None:
    """Go to the DAG of the best order of the nodes that is found, edge by edge.

    The search begins with an order of the class or, if that has only required edges, of the class
    that poly-FES finds.  With ``effort`` it starts again from mixed orders, and its work is at most
    ten times ``effort`` times that of the guess; that from mixed orders is at most ``MIXED_WORK``
    times ``effort`` times the work before them.  DAGs have at most ``max_indegree`` parents per
    node.  Where nodes have to be taken one by one, they are taken in the order of the ranking.
    """
    begun, constraint, before = engine.mark(), engine.constraint, engine.work
    if engine.edges == sum(map(int.bit_count, constraint.fixed if constraint else ())):
        engine.climb(phase, Moves(inserts="poly", max_indegree=max_indegree, ranking=ranking))
    if engine.stopped is not None:
        return
    guess = engine.cpdag
    engine.rewind(begun)
    if engine.report is not None:
        engine.report(phase)
    last = None
    if effort is not None:
        # A guess from a given graph costs nothing; it counts as one gain for each pair of nodes,
        # the least that poly-FES takes.  Added is enough to choose all parents twice.
        guessing = max(engine.work - before, engine.n * (engine.n - 1))
        last = engine.work + int(10 * effort * guessing) + 2 * engine.n**2
    best, cpdag = best_order(engine, guess, max_indegree, effort, last, ranking), engine.cpdag
    if best is not None and best[1] != cpdag:
        dag = best[0]
        engine.walk(phase, a_member(cpdag, constraint), dag, topological_order(dag))


def best_order(
    engine: "Engine",
    guess: PDAG,
    max_indegree: int | None,
    effort: float | None,
    last: int | None,
    ranking: tuple[int, ...] | None,
) -> tuple[PDAG, PDAG] | None:
    """Return the best order's DAG and CPDAG, or None if the time was up before the first one.

    The nodes are moved in rounds until none moves; then the search begins again from another
    order (``order_of``).  It ends at the latest when the work of the engine exceeds ``last``.
    """
    n, constraint, before = engine.n, engine.constraint, engine.work
    everyone = (1 << n) - 1
    barred = constraint.barred if constraint else (0,) * n
    allowed = [everyone & ~barred[y] & ~(1 << y) for y in range(n)]
    required = constraint.fixed if constraint else (0,) * n
    later = later_ones(constraint, n)
    first = order_of(guess, constraint, ranking)
    engine.order_begin(first, allowed, required, later, REACH, max_indegree, ranking or range(n))
    if engine.stopped is not None:
        return None
    best, piles, is_mixed = None, 0, False
    for rounds_left in reversed(range(ROUNDS)):
        moved = engine.order_round(last)
        ended = (
            rounds_left == 0 or _has_stopped(engine) or (last is not None and engine.work > last)
        )
        if moved and not ended:
            continue
        _, parents, gain = engine.order_state()
        dag = PDAG.from_edges(n, [(x, y) for y in range(n) for x in nodes(parents[y])])
        cpdag = dag_to_cpdag(dag)
        if best is None or gain > best[2] + engine.tolerance:
            best, piles = (dag, cpdag, gain), 0
        elif piles > 1 and cpdag == best[1]:
            break  # a mixed order leads back
        piles += 1
        if ended or piles > (1 if effort is None else PILES):
            break
        if piles > 1 and not is_mixed and effort is not None and last is not None:
            last = min(last, engine.work + int(MIXED_WORK * effort * (engine.work - before)))
            is_mixed = True
        engine.order_set(order_of(best[1], constraint, ranking, piles))
        if _has_stopped(engine):
            break
    return None if best is None else best[:2]


def _has_stopped(engine: "Engine") -> bool:
    return engine.stopped is not None


def later_ones(constraint: Constraint | None, n: int) -> Sequence[NodeSet]:
    """Return, for each node, those that must come after it: that must not point to it.

    Other forbidden edges do not restrict the order; they only exclude some parents.
    """
    return (0,) * n if constraint is None else (constraint.relaxed or constraint).barred


def order_of(
    cpdag: PDAG,
    constraint: Constraint | None,
    ranking: Sequence[int] | None = None,
    piles: int = 1,
) -> list[int]:
    """Return an order of a member of a class, as far as possible that of the ranking.

    It is dealt into piles like cards, and the last pile comes first, as far as knowledge allows:
    1 2 3 4 5 6 in two piles are 2 4 6 1 3 5.  The search then ends in other local optima.
    """
    later = later_ones(constraint, cpdag.n)
    order = first_order(a_member(cpdag, constraint, ranking), later, ranking)
    if piles == 1:
        return order
    dealt = [v for pile in reversed(range(piles)) for v in order[pile::piles]]
    return first_order(PDAG.empty(cpdag.n), later, dealt)


def first_order(
    dag: PDAG, later: Sequence[NodeSet], wanted: Sequence[int] | None = None
) -> list[int]:
    """Return the nodes so that parents come first, and those of ``later[v]`` come after v.

    Apart from that they are in the wanted order; by default, in that of their numbers.
    """
    needs = [dag.parents(v) for v in range(dag.n)]
    for u, row in enumerate(later):
        for v in nodes(row):
            needs[v] |= 1 << u
    order: list[int] = []
    remaining = list(range(dag.n) if wanted is None else wanted)
    while remaining:
        done = nodeset(order)
        ready = [v for v in remaining if not needs[v] & ~done]
        if not ready:
            raise InvalidArgument(
                f"no order of the nodes {remaining} obeys the background knowledge: the directions "
                "that it allows must not force a cycle; use another forward phase"
            )
        order += ready
        remaining = [v for v in remaining if needs[v] & ~done]
    return order


def a_member(
    cpdag: PDAG, constraint: Constraint | None, ranking: Sequence[int] | None = None
) -> PDAG:
    """Return a member of a class: under knowledge, one that satisfies it."""
    if constraint is not None:
        return constraint.member(cpdag, None, ranking)
    return cpdag.edited(direct=consistent_extension(cpdag, (1 << cpdag.n) - 1, ranking) or ())


def edge_by_edge(
    score: Score, cpdag: PDAG, member: PDAG, goal: PDAG, order: Sequence[int]
) -> Iterator[Scored]:
    """Yield the operators from a member of a class to another DAG, and their gains.

    First the edges are deleted that only the member has, then those inserted that only the goal
    has, in an order of the goal.  Each operator is valid because it can be carried out in the
    member.
    """
    for y in range(goal.n):
        for x in nodes(member.parents(y) & ~goal.parents(y)):
            (gain,) = delete_gains(score, y, member.parents(y), np.array([x], dtype=np.intp))
            delete = Delete(x, y, cpdag.na(y, x) & member.children(y))
            member, cpdag = member.edited(remove=[(x, y)]), delete.carry_out(cpdag)
            yield float(gain), delete
    for y in order:
        while missing := goal.parents(y) & ~member.parents(y):
            parents, xs = member.parents(y), np.array(list(nodes(missing)), dtype=np.intp)
            gains = insert_gains(score, y, parents, xs)
            x = int(xs[gains.argmax()])  # the largest gain first
            insert = Insert(x, y, parents & cpdag.neighbors(y) & ~cpdag.adjacent(x))
            member, cpdag = member.edited(direct=[(x, y)]), insert.carry_out(cpdag)
            yield float(gains.max()), insert
