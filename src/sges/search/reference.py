r"""The search as the paper tells it, from scratch at every step.

This is the definition of what a search does, and what runs where nothing could be compiled.  It
generates all operators of a state, asks for their gains, takes the best one and begins again.
Only what the score has answered is remembered.  The compiled engine takes the same steps.

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

The score is asked about an operator once all of its conditions hold but the one on semi-directed
paths.  That one is checked of operators that would be taken.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from sges.certificate import tie_tolerance
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet, nodes, nodeset
from sges.operators import Delete, Insert, Operator
from sges.result import Step
from sges.score.protocol import Score
from sges.search.generate import (
    AskedGains,
    Scored,
    SetLimit,
    TimeUp,
    capped_nodes,
    changed_views,
    deletes_of,
    inserts_of,
    turns_of,
)
from sges.search.moves import Constraint, Mark, Moves, best_first, each_edge_once
from sges.search.reference_order import OrderSearch, a_member, edge_by_edge, order_work

DOUBTFUL = 1e-6
"""A gain of no more than this share of the total score may be an effect of rounding."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a search: its class, the total score, and how many edges and steps there are.

    ``capped`` is the number of steps after which operators were first left out.
    """

    cpdag: PDAG
    total: float
    edges: int
    steps: int
    capped: int | None = None


class LoopGuard:
    """The classes that were left by doubtful steps, since the last step that was not doubtful.

    Every step gains, so no class comes twice.  But where gains are known to fewer digits than
    ties are judged by, an insert and the delete that undoes it may both seem to gain.
    """

    def __init__(self) -> None:
        self._left: set[PDAG] = set()

    def closes(self, here: Point, gain: float, after: PDAG) -> bool:
        """Tell whether a step leads back to a class that was left; if not, remember this one."""
        if gain > DOUBTFUL * max(1.0, abs(here.total)):
            self._left.clear()
            return False
        if after in self._left:
            return True
        self._left.add(here.cpdag)
        return False


class ReferenceEngine:
    """A search that goes from class to class by operators; it has taken no step yet.

    Parameters
    ----------
    score
        The score to maximise.
    counting
        Whether to count the unique families that the score is asked for.
    deadline
        The value of ``time.perf_counter()`` at which to stop, None for no limit.
    report
        Called with the phase when a climb begins and after each step.
    constraint
        Background knowledge: a step is taken only to a class that it admits.

    Attributes
    ----------
    steps
        The steps taken.
    stopped
        None, "time limit" or "interrupted"; a search that was stopped takes no more steps.
    capped
        The number of steps there were when ``sets_per_clique`` left out an operator for the first
        time, None if it never did.
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
        self.score = score
        self.n = score.n
        self.report = report
        self.constraint = constraint
        self.steps: list[Step] = []
        self.stopped: str | None = None
        self.capped: int | None = None
        self._capped_nodes: NodeSet = 0
        self._asked = AskedGains(score, counting=counting, deadline=deadline)
        self.start(PDAG.empty(score.n), 0.0)

    @property
    def cpdag(self) -> PDAG:
        """The class that was reached."""
        return self._here.cpdag

    @property
    def total(self) -> float:
        """The score of the start, and the gains of all steps since."""
        return self._here.total

    @property
    def step_count(self) -> int:
        """The number of steps taken."""
        return len(self.steps)

    @property
    def work(self) -> int:
        """How many gains were asked for: a measure of work that does not depend on the machine."""
        return self._asked.work

    @property
    def listed(self) -> int:
        """The same as ``work``; the compiled engine remembers gains and counts sets instead."""
        return self._asked.work

    @property
    def edges(self) -> int:
        """The number of edges."""
        return self._here.edges

    @property
    def evaluations(self) -> int | None:
        """The number of unique families that were asked for; None if they are not counted."""
        return self._asked.counter.evaluations

    @property
    def considered(self) -> int:
        """How many operators were generated."""
        return self._asked.considered

    @property
    def tolerance(self) -> float:
        """How far apart two gains may be and still tie."""
        return tie_tolerance(self.total)

    def start(self, cpdag: PDAG, total: float) -> None:
        """Begin at a class with this score, without steps."""
        self._here = Point(cpdag, total, cpdag.edge_count(), 0)
        self._left: list[PDAG] = []  # the class before each step
        self.steps.clear()

    def member(self) -> list[NodeSet]:
        """Return the parents of each node in one member of the class."""
        dag = pdag_to_dag(self.cpdag)
        return [dag.parents(v) for v in range(self.n)]

    def member_score(self, without_edges: float | None = None) -> float:  # noqa: ARG002
        """Return the sum of the scores of the families of one member, not counted.

        The compiled engine makes use of the score of the graph without edges, if it is known.
        """
        return sum(self.score.local(y, parents) for y, parents in enumerate(self.member()))

    def mark(self) -> Mark:
        """Return the point that was reached."""
        return replace(self._here, capped=self.capped)

    def rewind(self, mark: Mark) -> None:
        """Go back to an earlier point, and forget the steps since."""
        self._here, self.capped = mark, mark.capped
        del self.steps[mark.steps :], self._left[mark.steps :]

    def touched_since(self, mark: Mark) -> NodeSet:
        """Return the nodes whose view changed at some step since a point."""
        states = [*self._left[mark.steps :], self.cpdag]
        touched = 0
        for before, after in pairwise(states):
            touched |= changed_views(before, after)
        return touched

    def apply(self, phase: str, operator: Operator, gain: float) -> None:
        """Take one step by a valid operator."""
        self._take(phase, operator, gain, operator.carry_out(self.cpdag))

    def peek(self, operator: Operator) -> PDAG:
        """Return the class to which one valid operator leads."""
        return operator.carry_out(self.cpdag)

    @property
    def counters(self) -> tuple[int, int]:
        """How many operators were generated, and how many gains were asked for."""
        return self._asked.considered, self._asked.work

    @counters.setter
    def counters(self, value: tuple[int, ...]) -> None:
        self._asked.considered, self._asked.work = value

    @property
    def open_moves(self) -> None:
        """None: operators are generated from scratch at every step."""

    def ask_afresh(self) -> None:
        """Do nothing: gains do not depend on what was asked before."""

    def reopen(self, moves: Moves) -> None:
        """Do nothing: operators are generated from scratch at every step."""

    def memory(self) -> tuple[NDArray[np.uint8]]:
        """Return all that the score was asked, and its answers; for ``remember``."""
        return (np.frombuffer(json.dumps(self._asked.memory()).encode(), np.uint8),)

    def remember(self, memory: NDArray[np.uint8]) -> None:
        """Take what ``memory`` returned as asked and answered."""
        self._asked.remember(json.loads(memory.tobytes()))

    @property
    def capped_nodes(self) -> NodeSet:
        """The nodes with a clique of neighbors beyond ``sets_per_clique`` at the last state."""
        return self._capped_nodes

    def limit(
        self,
        seconds: float | None = None,
        evaluations: int | None = None,
        work: float | None = None,
        listed: float | None = None,
    ) -> None:
        """Limit what follows, in seconds, families asked for, and work; None is no limit.

        When the limit is reached, ``OutOfBudget`` is raised.
        """
        self._asked.limit(seconds, evaluations, work if listed is None else listed)

    def settle(self) -> None:
        """Do nothing: operators are generated from scratch at every step."""

    def retell(self, mark: Mark) -> None:
        """Do nothing: every gain was asked for by itself."""

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score of a family; counted."""
        return self._asked.local(y, parents)

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
        """Take the best operator until there is none; tell whether a step was taken.

        A delete is worth taking if its gain is not below zero, a turn or an insert if it is
        above, up to the tolerance.  Deletes come before turns and turns before inserts; of
        operators that tie, the first by ``sort_key`` is taken.  No edge is inserted between the
        two nodes of ``bar``, and the climb ends before an insert that gains less than
        ``patience`` times what is missing to the score ``aim``, or after ``most`` steps; with
        ``most=0`` the score is asked about the operators of the state, and no step is taken.

        Paper: Fig. 4, the loop of SBES.
        """
        if self.stopped is not None:
            return False
        begun, tolerance, guard = len(self.steps), self.tolerance, LoopGuard()
        with self._until_stopped():
            if most is None and self.report is not None:
                self.report(phase)
            going_on = True
            while going_on:
                going_on = False
                offers = self._offers(moves, tolerance, bar)
                if most == 0:
                    break
                g = self.cpdag
                ranked = (best_first(kind, tolerance, g) for kind in offers)
                for gain, operator in chain.from_iterable(ranked):
                    if isinstance(operator, Insert) and gain < patience * (aim - self.total):
                        break
                    self._asked.check_time()
                    after = operator.carry_out(g)
                    if self.constraint is not None and not self.constraint.admits(after, g):
                        continue
                    if not guard.closes(self._here, gain, after):
                        self._take(phase, operator, gain, after)
                        going_on = most is None or len(self.steps) - begun < most
                        break
        return len(self.steps) > begun

    def escapes(self, moves: Moves) -> list[tuple[float, Delete]]:
        """Return all deletes to look at with their gains, best first; those of x — y once."""
        if self.stopped is not None:
            return []
        g = self.cpdag
        with self._until_stopped():
            return each_edge_once(g, self._asked.scored(g, deletes_of(g, moves, self.constraint)))
        return []

    def separators(
        self, order: int, wanted: Sequence[NodeSet]
    ) -> list[tuple[int, int, NodeSet, float]]:
        """Return (x, y, M, evidence) for pairs that a set M of ``order`` nodes separates.

        ``wanted[y]`` are the x of interest.  M separates x and y if local(y, M) exceeds
        local(y, M ∪ x); the evidence is by how much.  Of several sets the one with the most
        evidence is returned, and of those that tie the first.
        """
        best: dict[tuple[int, int], tuple[float, NodeSet]] = {}
        with self._until_stopped():
            for y in range(self.n):
                others = [v for v in range(self.n) if v != y]
                for chosen in combinations(others, order):
                    base = nodeset(chosen)
                    xs = wanted[y] & ~base & ~(1 << y)
                    if not xs:
                        continue
                    gains = self._asked.learn(y, base, xs, adds=True)
                    for x in nodes(xs):
                        least = best.get((x, y), (0.0, 0))[0] + self.tolerance
                        if -gains[x] > least:
                            best[x, y] = -gains[x], base
        return [(x, y, base, evidence) for (x, y), (evidence, base) in sorted(best.items())]

    def order(
        self, phase: str, *, max_indegree: int | None = None, effort: float | None = None
    ) -> None:
        """Go to the DAG of the best order of the nodes that is found, edge by edge.

        The search begins with an order of the class or, if that has no edges but required ones, of
        the class to which polynomially many inserts lead.  With ``effort`` it starts again from
        mixed orders, and ends when it has done ten times ``effort`` times the work of that.  It
        looks at DAGs with at most ``max_indegree`` parents.
        """
        begun, constraint, before = self._here, self.constraint, self.work
        if self.edges == sum(map(int.bit_count, constraint.fixed if constraint else ())):
            self.climb(phase, Moves(inserts="poly", max_indegree=max_indegree))
        if self.stopped is not None:
            return
        guess = self.cpdag
        self.rewind(begun)
        work = None if effort is None else order_work(effort, self.work - before, self.n)
        search = None
        with self._until_stopped():
            if self.report is not None:
                self.report(phase)
            search = OrderSearch(self._asked, self.tolerance, guess, constraint, max_indegree)
            search.improve(work)
        if search is None:
            return
        member, goal = a_member(self.cpdag, constraint), search.best.dag()
        with self._until_stopped():
            for gain, operator in edge_by_edge(self.score, self.cpdag, member, goal):
                self.apply(phase, operator, gain)

    def _offers(self, moves: Moves, tolerance: float, bar: Edge | None) -> list[list[Scored]]:
        """Return the operators worth taking, or tying with those: deletes, turns, inserts."""
        g, limit = self.cpdag, SetLimit(moves.sets_per_clique)
        offers: list[list[Scored]] = []
        if moves.deletes:
            found = self._asked.scored(g, deletes_of(g, moves, self.constraint, limit))
            offers.append([s for s in found if s[0] > -2 * tolerance])
        if moves.turns:
            found = self._asked.scored(g, turns_of(g, moves, limit))
            offers.append([s for s in found if s[0] > tolerance])
        if moves.inserts is not None:
            scored = list(self._asked.scored(g, inserts_of(g, moves, self.constraint, limit)))
            every = [s for s in scored if s[0] > tolerance and {s[1].x, s[1].y} != set(bar or ())]
            if moves.conservative and moves.inserts == "all":
                # first those of pairs that no insert shows to be independent
                independent = {(op.x, op.y) for gain, op in scored if gain <= tolerance}
                offers.append([s for s in every if (s[1].x, s[1].y) not in independent])
            offers.append(every)
        if limit.left_out and self.capped is None:
            self.capped = len(self.steps)
        self._capped_nodes = 0 if limit.most is None else capped_nodes(g, limit)
        return offers

    def _take(self, phase: str, operator: Operator, gain: float, after: PDAG) -> None:
        here = self._here
        total, edges = here.total + gain, here.edges + operator.adds_edges
        self.steps.append(Step(phase, operator, gain, total, edges))
        self._left.append(here.cpdag)
        self._here = Point(after, total, edges, here.steps + 1)  # at once: Ctrl-C may come any time
        if self.report is not None:
            self.report(phase)

    @contextmanager
    def _until_stopped(self) -> Iterator[None]:
        """End what is inside at the deadline or at Ctrl-C, at the point that was reached."""
        try:
            yield
        except TimeUp:
            self.stopped = "time limit"
        except KeyboardInterrupt:
            self.stopped = "interrupted"
            self.rewind(self._here)
