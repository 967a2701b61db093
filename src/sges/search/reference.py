"""The search as the paper describes it, from scratch at every step.

This defines the search, and the tests compare the compiled engine with it.  It generates all
operators of a state, computes their gains, applies the best one and begins again.  Only gains are
stored.  The compiled engine takes the same steps.

    Fig. 1, GES    climb("fes", Moves(inserts="all")), then climb("bes", Moves(deletes=True))
    Fig. 3, SGES   the same with Moves(deletes=True, clique_bound=s)
    Fig. 4, SBES   ``climb``, the greedy loop
    Fig. 6         ``sges.search.generate.deletes_of``

>>> from sges.score import SeparationOracle
>>> engine = ReferenceEngine(SeparationOracle(PDAG.from_edges(3, [(0, 2), (1, 2)])))
>>> engine.climb("fes", Moves(inserts="all")), engine.climb("bes", Moves(deletes=True))
(True, False)
>>> engine.cpdag, engine.evaluations
(PDAG(3 nodes: 0→2, 1→2), 11)

An operator is scored if all its conditions hold except possibly the one on semi-directed paths,
which is checked only for operators that would be applied.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet
from sges.operators import Delete, Insert, Operator
from sges.result import Step
from sges.score.protocol import Score, tie_tolerance
from sges.search.generate import (
    CachedGains,
    Scored,
    SetLimit,
    TimeUp,
    changed_views,
    deletes_of,
    inserts_of,
    turns_of,
)
from sges.search.moves import Constraint, Mark, Moves, best_first, each_edge_once

DOUBTFUL = 1e-6
"""A gain of no more than this share of the total score may be an effect of rounding."""


class Point(NamedTuple):
    """A point of a search: its class, score and number of edges, and the step that led to it."""

    cpdag: PDAG
    total: float
    edges: int
    step: Step | None = None

    def then(self, phase: str, operator: Operator, gain: float, cpdag: PDAG) -> "Point":
        """Return the point after one step."""
        total, edges = self.total + gain, self.edges + operator.adds_edges
        return Point(cpdag, total, edges, Step(phase, operator, gain, total, edges))


class ReferenceEngine(CachedGains):
    """The reference engine: greedy search over equivalence classes in plain Python.

    Attributes
    ----------
    stopped
        None, "time limit" or "interrupted"; a search that was stopped takes no more steps.
    capped
        The number of steps there were when ``sets_per_clique`` left out an operator for the first
        time, None if it never did.
    came_back
        Whether a climb ended because a step led back to a class that it had left.
    """

    def __init__(
        self,
        score: Score,
        *,
        counting: bool = True,
        deadline: float | None = None,
        report: Callable[[str], object] | None = None,
        constraint: Constraint | None = None,
    ) -> None:
        super().__init__(score, counting=counting, deadline=deadline)
        self.report = report
        self.constraint = constraint
        self.stopped: str | None = None
        self.capped: int | None = None
        self.came_back = False
        self.start(PDAG.empty(score.n), 0.0)

    @property
    def cpdag(self) -> PDAG:
        """The class that was reached."""
        return self._path[-1].cpdag

    @property
    def total(self) -> float:
        """The score of the start, plus the gains of all steps since."""
        return self._path[-1].total

    @property
    def edges(self) -> int:
        """The number of edges."""
        return self._path[-1].edges

    @property
    def steps(self) -> list[Step]:
        """The steps taken."""
        return [point.step for point in self._path if point.step is not None]

    @property
    def step_count(self) -> int:
        """The number of steps taken."""
        return len(self._path) - 1

    @property
    def tolerance(self) -> float:
        """How far apart two gains may be and still tie."""
        return tie_tolerance(self._path[-1].total)

    def start(self, cpdag: PDAG, total: float) -> None:
        """Begin at a class with this score, without steps."""
        self._path = [Point(cpdag, total, cpdag.edge_count())]

    def climb(
        self,
        phase: str,
        moves: Moves,
        *,
        bar: Edge | None = None,
        patience: float = 0.0,
        aim: float = 0.0,
        most: int | None = None,
    ) -> bool:
        """Take the best operator until there is none; return whether a step was taken.

        A delete is worth taking if its gain is not below zero, a turn or an insert if it is
        above, up to the tolerance.  Deletes come before turns and turns before inserts; of
        operators that tie, the first by ``sort_key`` is taken.  No edge is inserted between the
        two nodes of ``bar``, and the climb ends before an insert that gains less than
        ``patience`` times what is missing to the score ``aim``, or after ``most`` steps; with
        ``most=0`` the gains of the operators of the state are computed, and no step is taken.

        Paper: Fig. 4, the loop of SBES.
        """
        if self.stopped is not None:
            return False
        begun, tolerance, visited = self.step_count, self.tolerance, set[PDAG]()
        with self._until_stopped():
            if most is None:
                self._tell(phase)
            while True:
                offers = self._offers(moves, tolerance, bar)
                here = self._path[-1]
                least = patience * (aim - here.total)
                best = None if most == 0 else self._best(offers, tolerance, least, visited)
                if best is None:
                    break
                visited.add(here.cpdag)
                self._path.append(here.then(phase, *best))
                self._tell(phase)
                if most is not None and self.step_count - begun >= most:
                    break
        return self.step_count > begun

    def _offers(self, moves: Moves, tolerance: float, bar: Edge | None) -> list[list[Scored]]:
        """Return the operators that may be taken: deletes, turns, inserts."""
        g, limit = self._path[-1].cpdag, SetLimit(moves.sets_per_clique)
        offers: list[list[Scored]] = []
        if moves.deletes:
            offers.append(list(self.scored(g, deletes_of(g, moves, self.constraint, limit))))
        if moves.turns:
            turns = self.scored(g, turns_of(g, moves, limit))
            offers.append([scored for scored in turns if scored[0] > tolerance])
        if moves.inserts is not None:
            inserts = list(self.scored(g, inserts_of(g, moves, self.constraint, limit)))
            gaining = [
                s for s in inserts if s[0] > tolerance and {s[1].x, s[1].y} != set(bar or ())
            ]
            offers.append(gaining)
        if limit.left_out and self.capped is None:
            self.capped = self.step_count
        return offers

    def _best(
        self, offers: list[list[Scored]], tolerance: float, least: float, visited: set[PDAG]
    ) -> tuple[Operator, float, PDAG] | None:
        """Return the best valid operator, its gain and the class it leads to, if there is one.

        ``least`` is the least gain of an insert, and ``visited`` are the classes that the climb has
        left.  Every step improves the score, so no class occurs twice.  But if gains have fewer
        exact digits than the tolerance assumes, an insert and the delete that undoes it may both
        seem to improve it: such a step is not taken.  If its gain is not doubtful, the score is
        not score equivalent, and the climb ends.
        """
        here = self._path[-1]
        for kind in offers:
            for gain, operator in best_first(kind, tolerance, here.cpdag):
                if isinstance(operator, Insert) and gain < least:
                    return None
                self.check_time()
                after = operator.carry_out(here.cpdag)
                if self.constraint is not None and not self.constraint.admits(after, here.cpdag):
                    continue
                if after not in visited:
                    return operator, gain, after
                if gain > DOUBTFUL * max(1.0, abs(here.total)):
                    self.came_back = True
                    return None
        return None

    def _tell(self, phase: str) -> None:
        if self.report is not None:
            self.report(phase)

    @contextmanager
    def _until_stopped(self) -> Iterator[None]:
        """End the block at the deadline or at Ctrl-C, at the point that was reached."""
        try:
            yield
        except TimeUp:
            self.stopped = "time limit"
        except KeyboardInterrupt:
            self.stopped = "interrupted"

    def apply(self, phase: str, operator: Operator, gain: float) -> None:
        """Take one step by a valid operator; it is not reported."""
        self._path.append(self._path[-1].then(phase, operator, gain, self.peek(operator)))

    def peek(self, operator: Operator) -> PDAG:
        """Return the class to which one valid operator leads."""
        return operator.carry_out(self.cpdag)

    def admits(self, operator: Operator) -> bool:
        """Return whether knowledge admits the class to which one valid operator leads."""
        return self.constraint is None or self.constraint.admits(self.peek(operator), self.cpdag)

    def mark(self) -> Mark:
        """Return the point that was reached."""
        return len(self._path), self.capped

    def rewind(self, mark: Mark) -> None:
        """Go back to an earlier point, and forget the steps since."""
        length, self.capped = mark
        del self._path[length:]

    def touched_since(self, mark: Mark) -> NodeSet:
        """Return the nodes whose view changed at some step since a point."""
        touched = 0
        for before, after in pairwise(self._path[mark[0] - 1 :]):
            touched |= changed_views(before.cpdag, after.cpdag)
        return touched

    def member(self) -> list[NodeSet]:
        """Return the parents of each node in one member of the class."""
        dag = pdag_to_dag(self.cpdag)
        return [dag.parents(v) for v in range(self.n)]

    def member_score(self, without_edges: float | None = None) -> float:  # noqa: ARG002
        """Return the sum of the scores of the families of one member, not counted.

        The compiled engine makes use of the score of the graph without edges, if it is known.
        """
        return sum(self.score.local(y, parents) for y, parents in enumerate(self.member()))

    def escapes(self, moves: Moves) -> list[tuple[float, Delete]]:
        """Return all deletes to examine with their gains, best first; those of x — y once."""
        if self.stopped is not None:
            return []
        g = self.cpdag
        with self._until_stopped():
            return each_edge_once(g, self.scored(g, deletes_of(g, moves, self.constraint)))
        return []
