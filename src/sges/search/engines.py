"""The compiled engine in the terms of Python, and the native forms of scores.

The reference engine (``sges.search.reference``) is the search in plain Python, from scratch at
every step: it is there to be read and to test against.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sges.engine import native
from sges.engine.columns import in_native
from sges.errors import GraphError, InvalidOperator, ScoreError
from sges.graph.pdag import PDAG, Edge
from sges.knowledge.indexed import IndexedKnowledge
from sges.nodeset import NodeSet, nodes, nodeset
from sges.operators import Delete, Insert, Operator, Turn
from sges.result import Step
from sges.score.discrete import QNML, BDeu, DiscreteBIC, DiscreteScore
from sges.score.gaussian.bge import BGe
from sges.score.gaussian.bic import GaussianBIC, RankBIC
from sges.score.gaussian.mixed import DegenerateGaussian
from sges.score.oracles import GaussianOracle
from sges.score.protocol import (
    EdgePrior,
    Score,
    as_gains,
    batch_method,
    family_score,
    gains_by_local,
)
from sges.search.moves import Constraint, Moves, Policy

MOST_NODES = 1 << 24
KINDS: dict[type[Operator], int] = {Insert: 0, Delete: 1, Turn: 2}
INSERTS = {None: 0, "all": 1, "poly": 2}
STOPS = {1: "time limit", 2: "interrupted", 3: "memory limit"}


class Engine:
    """One search of the compiled engine: its state, and the steps that led to it.

    Attributes
    ----------
    stopped
        None, "time limit", "memory limit" or "interrupted"; a search that was stopped takes no more
        steps.
    report
        Called with the name of the phase after each step, or None.
    """

    def __init__(
        self,
        score: Score,
        *,
        counting: bool = True,
        deadline: float | None = None,
        report: Callable[[str], object] | None = None,
        constraint: Constraint | None = None,
        as_native: bool = True,
        block: NodeSet = 0,
        memory_limit: int | None = None,
        **options: Any,  # noqa: ANN401 (of the native engine, which checks them)
    ) -> None:
        if not 0 <= score.n <= MOST_NODES:
            raise ScoreError(
                f"a score of {score.n} variables: at most {MOST_NODES} can be searched"
            )
        self.score, self.n = score, score.n
        self._values: dict[tuple[int, NodeSet], float] = {}
        self.native: native.Score | None
        self.native, cost = native_of(score) if as_native else (None, 0.0)
        own = native.in_python(score.n, *_functions(score, partial(_value_of, score, self._values)))
        made = own if self.native is None else self.native
        if made.n != score.n:
            raise ScoreError(f"a score of {score.n} variables cannot be read as one of {made.n}")
        if memory_limit is not None:  # forgotten gains are asked again, which changes no graph
            options.setdefault("limit", memory_limit // 4)
        self._block = block
        self._engine = native.Engine(
            made, cost=cost, block=list(nodes(block)), counting=counting, **options
        )
        if memory_limit is not None:
            self._engine.set_memory_limit(memory_limit)
        if deadline is not None:
            self._engine.set_deadline(deadline - time.perf_counter())
        self.counting = counting
        self._phases: list[str] = []
        self._names: tuple[str, ...] | None = None
        self._interrupted = False
        self._report: Callable[[str], object] | None = None
        self._constraint: Constraint | None = None
        self._known: PDAG | None = None
        self.report = report
        if constraint is not None:
            self.constraint = constraint

    # The state and what led to it

    @property
    def cpdag(self) -> PDAG:
        """The state."""
        return self._graph(self._engine.rows())

    def _graph(self, rows: tuple[bytes, bytes, int]) -> PDAG:
        out, into, size = rows
        places = [v * size for v in range(self.n)]
        return PDAG(
            tuple([int.from_bytes(out[at : at + size], "little") for at in places]),
            tuple([int.from_bytes(into[at : at + size], "little") for at in places]),
            self._names,
        )

    @property
    def total(self) -> float:
        """The score of the state: that of the start and the gains of the steps."""
        return float(self._engine.total)

    @property
    def edges(self) -> int:
        """The number of edges of the state."""
        return int(self._engine.edge_count)

    @property
    def steps(self) -> list[Step]:
        """The steps that lead to the state."""
        kinds = Insert, Delete, Turn
        return [
            Step(self._phases[phase], kinds[kind](x, y, nodeset(chosen)), gain, total, edges)
            for phase, kind, x, y, chosen, gain, total, edges in self._engine.steps()
        ]

    @property
    def step_count(self) -> int:
        """How many steps lead to the state."""
        return int(self._engine.step_count)

    @property
    def tolerance(self) -> float:
        """How far apart two gains may be and still tie."""
        return float(self._engine.tolerance)

    @property
    def considered(self) -> int:
        """How many operators were generated."""
        return int(self._engine.considered)

    @property
    def work(self) -> int:
        """Gains and sets asked for: the same on every machine, and for every limit of memory."""
        return int(self._engine.work)

    @property
    def bytes(self) -> int:
        """How much memory the search holds."""
        return int(self._engine.bytes)

    @property
    def evaluations(self) -> int | None:
        """The number of unique families evaluated so far; None if they are not counted."""
        counted: int | None = self._engine.counted
        return counted

    @property
    def capped(self) -> int | None:
        """The number of steps after which operators were first left out; None if none were."""
        step: int | None = self._engine.capped
        return step

    @capped.setter
    def capped(self, value: int | None) -> None:
        self._engine.capped = value

    @property
    def capped_nodes(self) -> NodeSet:
        """The nodes of the state at which some inserts are left out, as a mask."""
        return nodeset(self._engine.capped_nodes)

    @property
    def came_back(self) -> bool:
        """Whether a climb ended because a step led back to a class that it had left."""
        return bool(self._engine.came_back)

    @property
    def stopped(self) -> str | None:
        """Why the search was stopped; None if it was not."""
        return "interrupted" if self._interrupted else STOPS.get(self._engine.why_stopped)

    @stopped.setter
    def stopped(self, why: str | None) -> None:
        self._interrupted = False
        self._engine.why_stopped = next((stop for stop, word in STOPS.items() if word == why), 0)

    def halt(self) -> None:
        """Stop the search, as if its time were up; any thread may call this."""
        self._engine.halt()

    # What is called while the search runs

    @property
    def report(self) -> Callable[[str], object] | None:
        """Called with the name of the phase after each step of a climb; None for no callback."""
        return self._report

    @report.setter
    def report(self, value: Callable[[str], object] | None) -> None:
        self._report = value
        told = None if value is None else (lambda phase: value(self._phases[phase]))
        self._engine.set_report(told)

    def on_tick(self, call: Callable[[], object] | None) -> None:
        """Let the engine call a function now and then, at a complete state."""
        self._engine.on_tick = call

    def on_explosion(self, call: Callable[[int, int], object]) -> None:
        """Let the engine call a function once a node has very many sets of neighbors."""
        self._engine.on_explosion = call

    def only(self, is_consistent: Callable[[Delete], bool] | None) -> None:
        """Examine only the deletes for which a function returns True; None for all."""
        self._engine.set_filter(
            None
            if is_consistent is None
            else lambda x, y, h: is_consistent(Delete(x, y, nodeset(h)))
        )

    # Knowledge

    @property
    def constraint(self) -> Constraint | None:
        """The background knowledge in force, or None."""
        return self._constraint

    @constraint.setter
    def constraint(self, value: Constraint | None) -> None:
        self._constraint, self._known = value, None
        if value is None:
            self._engine.set_knowledge(None)
            return
        size = (self.n + 63) // 64 * 8
        later = getattr(value, "relaxed", None) or value
        barred, fixed, after = (
            b"".join(row.to_bytes(size, "little") for row in kept)
            for kept in (value.barred, value.fixed, later.barred)
        )
        judge = None if type(value) is IndexedKnowledge else self._judge
        self._engine.set_knowledge((barred, fixed, after), judge, self._members)

    def _judge(self) -> bool:
        """Return whether a caller's own constraint admits the state."""
        assert self._constraint is not None
        after = self.cpdag
        if self._constraint.admits(after, self._known):
            self._known = after
            return True
        return False

    def _members(self, within: list[int]) -> list[list[int]]:
        """Return the parents of nodes among their neighbors in a member that knowledge admits."""
        assert self._constraint is not None
        graph = self.cpdag
        ranking = self.ranking
        member = self._constraint.member(graph, nodeset(within), ranking)
        return [list(nodes(member.parents(v) & graph.neighbors(v))) for v in within]

    ranking: tuple[int, ...] | None = None
    """The nodes in the order in which they are taken; None for that of their numbers."""

    def rank(self) -> None:
        """Let nodes be taken in an order that depends on the scores and not on their numbers."""
        with self._until_interrupted():
            self.ranking = tuple(self._engine.rank()) or None

    # Moving between states

    def start(self, cpdag: PDAG, total: float) -> None:
        """Take a CPDAG as the state, and its score as the total."""
        if cpdag.n != self.n:
            raise GraphError(f"a start of {cpdag.n} nodes; the score has {self.n}")
        arrows = [(x, y, 1) for x, y in cpdag.directed_edges()]
        lines = [(x, y, 3) for x, y in cpdag.undirected_edges()]
        self._engine.start(arrows + lines, total)
        self._names, self._known = cpdag.names, None

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
        """Take the best operator until there is none; return whether any step was taken."""
        x, y = bar or (-1, -1)
        number = self._phase(phase)
        with self._until_interrupted():
            if self._report is not None and most is None and self.stopped is None:
                self._report(phase)
            limit = -1 if most is None else most
            return bool(self._engine.climb(_rules(moves), number, x, y, patience, aim, limit))
        return False

    def improve(self, policy: Policy) -> tuple[int, int, int, int, bool, bool]:
        """Improve the state: climb, search orders, shuffle them, and try escapes.

        Returns how many escapes were tried and improved the score, the same for shuffles, whether
        a climb was cut by its limit of work, and whether the escapes were.
        """
        report, outcome = self.report, (0, 0, 0, 0, False, False)
        with self._until_interrupted():
            if report is not None:
                report("interleaved")
            self.report = None  # most of its steps are undone again
            try:
                outcome = self._engine.improve(self._policy(policy))
            finally:
                self.report = report
            if report is not None:
                report("extended")
        return outcome

    def go_to_best_order(self, policy: Policy) -> None:
        """Go to the class of the best order of the nodes that is found."""
        with self._until_interrupted():
            self._engine.go_to_best_order(self._policy(policy))

    def _policy(self, policy: Policy) -> Any:  # noqa: ANN401 (of the native engine)
        phases = map(self._phase, ("interleaved", "order", "extended"))
        return native.Policy(
            rules=_rules(policy.moves),
            orders=policy.orders,
            shuffles=policy.shuffles,
            escapes=policy.escapes,
            is_bounded=policy.is_bounded,
            patience=policy.patience,
            **dict(zip(("climb", "order", "escape"), phases, strict=True)),
        )

    def _until_interrupted(self) -> "_Interruptible":
        return _Interruptible(self)

    def apply(self, phase: str, operator: Operator, gain: float) -> None:
        """Apply one valid operator."""
        self._engine.apply(*self._parts(operator), gain, self._phase(phase))

    def peek(self, operator: Operator) -> PDAG:
        """Return the class to which one valid operator leads, without changing the state."""
        return self._graph(self._engine.peek(*self._parts(operator)))

    def after(self, delete: Delete) -> PDAG:
        """Return the class to which a delete leads that the engine has generated itself."""
        h = list(nodes(delete.h))
        return self._graph(self._engine.peek(KINDS[Delete], delete.x, delete.y, h))

    def admits(self, operator: Operator) -> bool:
        """Return whether knowledge admits the class to which one valid operator leads."""
        return bool(self._engine.admits(*self._parts(operator)))

    def _parts(self, operator: Operator) -> tuple[int, int, int, list[int]]:
        if problem := operator.problem(self.cpdag):
            raise InvalidOperator(f"{operator}: {problem}")
        return KINDS[type(operator)], operator.x, operator.y, list(nodes(operator.chosen))

    def mark(self) -> Any:  # noqa: ANN401 (of the native engine)
        """Return the current point of the run."""
        return self._engine.mark()

    def rewind(self, mark: Any) -> None:  # noqa: ANN401
        """Go back to an earlier point: the steps since are not part of the result."""
        self._engine.rewind(mark)
        self._known = None

    # The score

    def member(self) -> list[NodeSet]:
        """Return the parents of each node in one member of the class, as masks."""
        return [nodeset(parents) for parents in self._engine.member()]

    def member_score(self, without_edges: float | None = None) -> float:
        """Return the sum of the scores of the families of one member, not counted."""
        member = self._engine.member()
        scored = [y for y in range(self.n) if not self._block >> y & 1]
        if self.native is None:
            return sum([self._value(y, nodeset(member[y])) for y in scored])
        if without_edges is None:
            without_edges = sum([self.score.local(y, 0) for y in scored])
        gains = [self._engine.family(y, parents) for y, parents in enumerate(member) if parents]
        return float(without_edges + sum(gains))

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score of one family, counted."""
        self._engine.count_family(y, list(nodes(parents)))
        value = self._value(y, parents)
        if value - value != 0.0:
            raise ScoreError(
                f"local({y}, {parents:#b}) is {value}; a score must be finite for every family"
            )
        return value

    def _value(self, y: int, parents: NodeSet) -> float:
        return _value_of(self.score, self._values, y, parents)

    def _phase(self, phase: str) -> int:
        if phase not in self._phases:
            self._phases.append(phase)
        return self._phases.index(phase)


class _Interruptible:
    """A block that Ctrl-C or memory that runs out ends, at the last complete state."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is not None and issubclass(kind, MemoryError):  # of a score in Python, say
            self._engine.stopped = "memory limit"
            return True
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            return False
        self._engine._interrupted = True
        self._engine._engine.why_stopped = 2
        return True


def _rules(moves: Moves) -> Any:  # noqa: ANN401 (of the native engine)
    """Return moves as the engine reads them: -1 is no bound."""
    bounds = {
        name: -1 if value is None else min(value, 2**31 - 1)
        for name, value in (
            ("clique_bound", moves.clique_bound),
            ("size_bound", moves.size_bound),
            ("block_bound", moves.block_bound),
            ("max_indegree", moves.max_indegree),
            ("sets_per_clique", moves.sets_per_clique),
        )
    }
    return native.Rules(
        inserts=INSERTS[moves.inserts],
        largest_t=moves.largest_t,
        deletes=moves.deletes,
        turns=moves.turns,
        drop_large=moves.drop_large,
        **bounds,
    )


# The scores that the compiled engine reads without the interpreter


def _value_of(
    score: Score, known: dict[tuple[int, NodeSet], float], y: int, parents: NodeSet
) -> float:
    """Return the score of a family, asked once; the engine holds this, so it knows no engine."""
    value = known.get((y, parents))
    if value is None:
        value = family_score(score, y, parents)
        if value - value == 0.0:  # a value that is not finite is an error, and is not stored
            known[y, parents] = value
    return value


def _functions(
    score: Score, value: Callable[[int, NodeSet], float]
) -> tuple[Callable[..., list[float]], Callable[..., list[float]], Callable[..., float]]:
    """Return functions by which the engine asks a score in Python: inserts, deletes, a family."""

    def gains(name: str, y: int, base: list[int], xs: list[int]) -> list[float]:
        mask, candidates = nodeset(base), np.array(xs, np.intp)
        batch = batch_method(score, name) or partial(gains_by_local, value)
        found: list[float] = as_gains(score, y, mask, len(xs), batch(y, mask, candidates)).tolist()
        return found

    def family(y: int, base: Sequence[int]) -> float:
        return value(y, nodeset(base)) - value(y, 0)

    return partial(gains, "insert_gains"), partial(gains, "delete_gains"), family


_MADE: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # a score may be searched many times


def native_of(score: Any) -> tuple[Any, float]:  # noqa: ANN401 (any score, and any native one)
    """Return the native form of a score and the cost of each edge; None if there is no such form.

    A score is native if its class is exactly one of ``MAKERS``, or names one as ``_computed_as``:
    a subclass may compute a different score.
    """
    if type(score) is EdgePrior:
        inner, cost = native_of(score.score)
        return inner, cost + score.cost if inner is not None else 0.0
    make = MAKERS.get(vars(type(score)).get("_computed_as", type(score)))
    if make is None:
        return None, 0.0
    made = _MADE.get(score)
    if made is None:
        made = _MADE[score] = make(score)
    return made, 0.0


def _gaussian_bic(score: GaussianBIC) -> Any:  # noqa: ANN401
    return native.gaussian(score._correlation, score._half, score._per_parent)


def _bge(score: BGe) -> Any:  # noqa: ANN401
    return native.bge(
        score._correlation,
        np.asarray(score._spread, np.float64),
        np.asarray(score._by_size, np.float64),
        score._freedom,
        score._isolated,
        list(nodes(score._constant)),
    )


def _degenerate_gaussian(score: DegenerateGaussian) -> Any:  # noqa: ANN401
    blocks = score._blocks
    widths: list[int] = np.asarray(blocks.widths).tolist()
    return native.blocks(blocks.matrix, widths, score._half, score._per_parameter)


def _discrete(kind: str, score: DiscreteScore, setting: float = 0.0) -> Any:  # noqa: ANN401
    data = score.data
    return in_native(kind, data.codes, data.arities, data.weights, setting, data.unit)


MAKERS: dict[type, Callable[[Any], Any]] = {
    GaussianBIC: _gaussian_bic,
    GaussianOracle: _gaussian_bic,
    BGe: _bge,
    DegenerateGaussian: _degenerate_gaussian,
    RankBIC: _gaussian_bic,
    DiscreteBIC: lambda score: _discrete("bic", score, score.penalty),
    QNML: lambda score: _discrete("qnml", score),
    BDeu: lambda score: _discrete("bdeu", score, score.ess),
}
