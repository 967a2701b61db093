"""Invalid input does not break the engine: it raises one line, and the engine can be used again."""

import gc
import math
import random
import threading
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sges.engine import native
from sges.engine.columns import in_native
from sges.errors import NotACPDAG, ScoreError, SgesError
from sges.graph import PDAG
from sges.knowledge import Knowledge
from sges.score import GaussianBIC
from sges.score.protocol import insert_gains
from sges.search import turning
from sges.search.engines import Engine, native_of
from sges.search.moves import Moves, Policy
from worlds import gaussian_score

EVERYTHING = Moves(inserts="all", deletes=True, turns=True)
N = 6


class Plain:
    """A score in Python that calls another one, and may act at certain calls."""

    def __init__(self, n: int = N, act: Callable[[int], object] | None = None) -> None:
        self.inner, self.n, self.act, self.calls = gaussian_score(n, n, 100, 3), n, act, 0

    def local(self, y: int, parents: int) -> float:
        self.calls += 1
        given = None if self.act is None else self.act(self.calls)
        return self.inner.local(y, parents) if given is None else given  # type: ignore[return-value]


def engine_on(score: Any = None, **options: Any) -> Engine:  # noqa: ANN401
    """Return an engine at the empty graph."""
    engine = Engine(gaussian_score(N, 9, 100, 1) if score is None else score, **options)
    engine.start(PDAG.empty(engine.n), -500.0)
    return engine


def assert_goes_on(engine: Engine) -> None:
    """Check that an engine climbs to the same class as a new one."""
    other = Engine(engine.score)
    other.start(engine.cpdag, engine.total)
    for each in (engine, other):
        each.climb("on", EVERYTHING)
    assert engine.cpdag == other.cpdag


def replayed(engine: Engine) -> PDAG:
    """Return the class to which the steps lead from the empty graph."""
    graph = PDAG.empty(engine.n)
    for step in engine.steps:
        graph = step.operator.apply(graph)
    return graph


# -- sizes and arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65])
def test_tables_of_any_width_can_be_searched(n: int) -> None:
    class Flat:
        def __init__(self) -> None:
            self.n = n

        def local(self, _y: int, parents: int) -> float:
            return -float(parents.bit_count())

    engine = engine_on(Flat())
    assert not engine.climb("climb", EVERYTHING)
    engine.improve(Policy(EVERYTHING, orders=True, shuffles=True, escapes=True))
    engine.rank()
    assert engine.cpdag == PDAG.empty(n)


def test_scores_that_do_not_know_their_size_are_refused() -> None:
    class Wide:
        n = 0

    for n in (-1, 2**24 + 1, 2**70):
        Wide.n = n
        with pytest.raises(ScoreError, match="variables"):
            Engine(Wide())  # type: ignore[arg-type]

    score = gaussian_score(5, 6, 50, 1)
    native_of(score)
    score.n = 9
    with pytest.raises(ScoreError, match="9 variables cannot be read as one of 5"):
        Engine(score)


def test_starts_that_are_no_cpdag_are_refused() -> None:
    score, engine = gaussian_score(N, 9, 100, 1), engine_on()
    cycle, mixed = [(0, 1), (1, 2), (2, 0)], PDAG.from_edges(N, [(0, 1)], [(1, 2), (0, 2)])
    square = PDAG.from_edges(N, undirected=[(0, 1), (1, 2), (2, 3), (0, 3)])
    for graph in (PDAG.from_edges(N, cycle), mixed, square, PDAG.empty(N - 1)):
        with pytest.raises(NotACPDAG):
            turning(score, graph)
    for graph in (PDAG.from_edges(N, cycle), mixed, PDAG.empty(N + 70)):
        with pytest.raises(SgesError, match=r"cycle|nodes"):
            engine.start(graph, 0.0)
    assert_goes_on(engine)


NOT_NODES = (-1, N, 2**31 - 1, 2**40)
NOT_OPERATORS: list[tuple[Any, ...]] = [
    *((kind, v, 2, []) for kind in range(3) for v in NOT_NODES),
    *((kind, 2, v, []) for kind in range(3) for v in NOT_NODES),
    (0, 2, 2, []), (0, 0, 1, [1]), (0, 0, 1, [N]), (0, 0, 1, [3]), (1, 0, 1, []), (2, 0, 1, []),
    (3, 0, 1, []), (-1, 0, 1, []),
]  # fmt: skip
BAD_CALLS: list[tuple[str, tuple[Any, ...]]] = [
    *((name, operator) for name in ("peek", "admits") for operator in NOT_OPERATORS),
    *(("apply", (*operator, 1.0)) for operator in NOT_OPERATORS),
    *(("apply", (0, 0, 1, [], gain)) for gain in (math.nan, math.inf)),
    *(("start", ([(0, v, 1)], 0.0)) for v in (0, *NOT_NODES)),
    *(("start", ([(0, 1, kind)], 0.0)) for kind in (0, 4, -1)),
    ("start", ([(0, 1, 1), (1, 0, 1)], 0.0)), ("start", ([], math.nan)),
    *(("climb", (native.Rules(inserts=1), 0, v, 2)) for v in (N, -2, -1, 2**40)),
    *((name, (v, [])) for name in ("family", "count_family") for v in NOT_NODES),
    *(("family", (0, parents)) for parents in ([0], [N], [-1], [1, 1])),
    ("set_knowledge", ((b"", b"", b""),)), ("set_knowledge", ((b"\0" * 47,) * 3,)),
    ("set_knowledge", ((b"\1" + b"\0" * 47,) * 3,)),
    ("set_knowledge", ((b"\0" * 40 + b"\xff" * 8,) * 3,)),
    ("set_deadline", (math.nan,)), ("rewind", (None,)),
]  # fmt: skip


def test_every_node_size_and_length_is_checked_and_a_refusal_changes_nothing() -> None:
    engine = engine_on()
    for name, given in BAD_CALLS:
        with pytest.raises((SgesError, TypeError)) as error:
            getattr(engine._engine, name)(*given)
        if isinstance(error.value, SgesError):
            assert "\n" not in str(error.value)
        assert (engine.cpdag, engine.steps, engine.total) == (PDAG.empty(N), [], -500.0)
    begin, _ = engine.mark(), engine.climb("x", EVERYTHING, most=2)
    late = engine.mark()
    engine.rewind(begin)
    with pytest.raises(SgesError, match="not a point"):
        engine.rewind(late)
    for block, candidates in (([N], None), ([1, 1], None), ([], [[1]]), ([], [[N]] * N)):
        with pytest.raises(SgesError):
            native.Engine(native_of(engine.score)[0], block=block, candidates=candidates)
    assert_goes_on(engine)


def test_random_arguments_do_no_harm(seed: int) -> None:
    """Any method with any of these; nothing but an error of Python may happen."""
    rng, engine = random.Random(seed), engine_on()._engine
    engine.set_deadline(10.0)
    rules = [native.Rules(inserts=1, deletes=True), native.Rules(turns=True, max_indegree=-9)]
    values: list[Any] = [
        *range(-2, 7), 63, 64, 2**31 - 1, 2**31, -(2**63), 2**64, 0.5, math.nan, math.inf, None,
        "x", b"", b"\2" + b"\0" * 47, (b"\2" + b"\0" * 47,) * 3, [], [0], [2, 3], [5, 5], [-1],
        [[]] * N, [(0, 1, 1), (1, 2, 3)], [(0, 1, 1), (1, 2, 1), (2, 0, 1)], {}, np.eye(N),
        lambda *_: True, lambda *_: [[]] * N, engine.mark(), *rules,
    ]  # fmt: skip
    score = native_of(gaussian_score(N, 9, 100, 2))[0]
    targets = [(of, name) for of in (engine, score) for name in dir(of) if name[0] != "_"]
    makers = ("gaussian", "bge", "blocks", "discrete", "number_rows", "Engine", "Policy")
    targets += [(native, name) for name in makers]
    for _ in range(300):
        of, name = rng.choice(targets)
        given = [rng.choice(values) for _ in range(rng.randrange(6))]
        try:
            if callable(found := getattr(of, name)):
                found(*given)
            elif given:
                setattr(of, name, given[0])
        except (SgesError, TypeError, AttributeError, OverflowError, ValueError):
            pass


# -- scores that misbehave -------------------------------------------------------------------------


@pytest.mark.parametrize("given", [
    lambda gains: gains[:-1],
    lambda gains: np.append(gains, 1.0),
    lambda gains: gains[None],
    lambda _: "gains",
    lambda gains: gains * np.nan,
    lambda gains: [object()] * len(gains),
])  # fmt: skip
def test_invalid_gains_are_refused_and_asked_for_again(given: Callable[[Any], Any]) -> None:
    score = Plain()
    score.insert_gains = lambda *asked: given(insert_gains(score.inner, *asked))  # type: ignore[attr-defined]
    engine = engine_on(score)
    with pytest.raises(ScoreError, match=r"node \d with parents|must return one number for each"):
        engine.climb("x", EVERYTHING)
    del score.insert_gains  # type: ignore[attr-defined]
    assert_goes_on(engine)


@pytest.mark.parametrize("given", [math.nan, math.inf, "one", ZeroDivisionError()])
@pytest.mark.parametrize("call", [1, 20, 60])
def test_a_score_that_breaks_down_once_leaves_the_engine_whole(given: object, call: int) -> None:
    def act(calls: int) -> object:
        if calls == call and isinstance(given, Exception):
            raise given
        return given if calls == call else None

    engine = engine_on(Plain(act=act))
    with pytest.raises((ScoreError, ZeroDivisionError), match=r"must (be|return)|^$"):
        engine.climb("x", EVERYTHING)
    assert engine.cpdag == replayed(engine)
    assert_goes_on(engine)


def test_a_total_beyond_all_numbers_is_refused() -> None:
    class Steep(Plain):
        def local(self, y: int, parents: int) -> float:  # noqa: ARG002
            return 1.7e308 * (parents > 0) - 0.85e308

    engine = engine_on(Steep(3))
    with pytest.raises(ScoreError, match="must be finite"):
        engine.climb("x", EVERYTHING)
    assert math.isfinite(engine.total)


# -- native scores ---------------------------------------------------------------------------------

I3, C2 = np.eye(3), np.array([[0, 1, 1], [0, 2, 1]], dtype=np.uint8)
BAD_TABLES: list[tuple[Callable[..., object], tuple[Any, ...], str]] = [
    *((native.gaussian, (part, 5.0, 1.0), "must be square") for part in (I3[0], I3[:2])),
    (native.gaussian, (I3.astype(int), 5.0, 1.0), "float64 or float32"),
    (native.gaussian, (I3 * math.nan, 5.0, 1.0), r"entry \(0, 0\)"),
    (native.gaussian, (np.tri(3), 5.0, 1.0), "must be symmetric"),
    (native.gaussian, (I3, math.nan, 1.0), "half must be"),
    (native.bge, (I3, np.zeros(2), np.zeros(5), 5.0, -1.0, []), "another length"),
    (native.bge, (I3, np.zeros(3), np.zeros(4), 5.0, -1.0, []), "another length"),
    (native.bge, (I3, np.zeros(3), np.zeros(5), 5.0, -1.0, [3]), "out of range"),
    *(
        (native.blocks, (I3, widths, 5.0, 1.0), "widths")
        for widths in ([], [0, 3], [2, 2], [1, 1], [-1, 4], [2**31 - 1, 2**31 - 1])
    ),
    (native.number_rows, ([np.zeros(2)], [1]), "one or four bytes"),
    (native.number_rows, (["x"], [1]), "array of codes"),
    (native.number_rows, ([C2[0]], [1]), "below the number of levels"),
    (in_native, ("bic", C2[0], [2], None), "1 dimensions"),
    (in_native, ("bic", C2.astype(float), [2, 3], None), "whole numbers"),
    (in_native, ("bic", C2.astype(int) - 1, [2, 3], None), "codes lie between -1 and 1"),
    (in_native, ("bic", C2, [2, 2], None), r"codes\[1\] holds 2 and arities\[1\] is 2"),
    (in_native, ("bic", C2, [2], None), r"shape \(1,\) do not fit 2 variables"),
    (in_native, ("bic", C2, [2, 0], None), r"arities\[1\] = 0"),
    (in_native, ("bic", C2, [2, 3], [1, 2]), r"shape \(2,\) do not fit 3 rows"),
    (in_native, ("bic", C2, [2, 3], [1, -2, 3]), "weights between -2 and 3"),
    (in_native, ("bic", C2, [2, 3], [2**62, 2**62, 1]), r"at most 2\*\*62"),
    (in_native, ("bic", C2[:, :0], [2, 3], None), "no records"),
]  # fmt: skip


def test_a_native_score_checks_every_size_and_length_and_keeps_copies() -> None:
    """Of an array that is not contiguous it reads a copy, which must not be freed."""
    for make, given, problem in BAD_TABLES:
        with pytest.raises(SgesError, match=problem):
            make(*given, *((1.0, 1.0) if make is in_native else ()))
    for score in (native.gaussian(I3, 5.0, 1.0), in_native("bic", C2, [2, 3], None, 1.0, 1.0)):
        for y, base in ((4, []), (-1, []), (0, [0]), (0, [4]), (0, [-1]), (0, [1, 1]), (2**40, [])):
            for ask in (score.insert_gains, score.delete_gains, score.family):
                with pytest.raises((SgesError, TypeError)):
                    ask(y, base)
        for also in ([0], [1], [4], [-1]):
            with pytest.raises(SgesError):
                score.insert_gains(0, [1], also=also)
    strided = native.gaussian(np.tile(np.eye(4), 2)[:, :4], 50.0, 1.0)
    gc.collect()
    others = [np.full((4, 4), 0.3) for _ in range(100)]  # where the copy was, if it was freed
    assert set(strided.insert_gains(0, [1])[0].values()) == {-1.0}
    del others


# -- callbacks and threads -------------------------------------------------------------------------

CALLS_BACK: list[Callable[[Any], object]] = [
    lambda engine: engine.climb("x", EVERYTHING),
    lambda engine: engine.improve(Policy(EVERYTHING)),
    lambda engine: engine.go_to_best_order(Policy(EVERYTHING)),
    lambda engine: engine.start(PDAG.empty(N), 0.0),
    lambda engine: engine._engine.apply(0, 0, 1, [], 1.0),
    lambda engine: engine._engine.peek(0, 0, 1, []),
    lambda engine: engine._engine.admits(0, 0, 1, []),
    lambda engine: engine.rewind(engine._engine.mark()),
    lambda engine: engine.local(0, 2),
    lambda engine: engine.member(),
    lambda engine: engine.rank(),
    lambda engine: engine.only(None),
    lambda engine: setattr(engine, "report", None),
    lambda engine: setattr(engine, "constraint", None),
]
LOOKS: list[Callable[[Any], object]] = [
    lambda engine: engine.cpdag,
    lambda engine: engine.steps,
    lambda engine: engine.total,
    lambda engine: engine.mark(),
    lambda engine: engine.evaluations,
]


@pytest.mark.parametrize("who", ["score", "report", "tick", "filter"])
def test_a_callback_that_changes_the_engine_is_refused(who: str) -> None:
    """It may look at the state; a filter may also look where an operator leads."""
    calls = iter(CALLS_BACK)

    def act(*_: object) -> bool | None:
        for look in LOOKS:
            look(engine)
        for call in calls if who != "report" or engine.step_count else ():
            if who != "filter" or "peek" not in call.__code__.co_names:
                with pytest.raises(SgesError, match="the engine is running"):
                    call(engine)
        return True if who == "filter" else None

    engine = engine_on(Plain(act=act if who == "score" else None))
    engine.report = act if who == "report" else None
    engine.on_tick(act if who == "tick" else None)
    engine.only((lambda _: bool(act())) if who == "filter" else None)
    engine.climb("x", EVERYTHING)
    assert next(calls, None) is None
    engine.report, engine.score.act = None, None  # type: ignore[attr-defined]
    engine.only(None)
    assert_goes_on(engine)


def test_a_second_thread_on_one_engine_is_refused() -> None:
    inside, looked = threading.Event(), threading.Event()
    refusals: list[BaseException] = []

    def wait(calls: int) -> None:
        if calls == 40:
            inside.set()
            looked.wait(10)

    engine = engine_on(Plain(act=wait))

    def other() -> None:
        inside.wait(10)
        for call in (*CALLS_BACK, *LOOKS):
            try:
                call(engine)
            except SgesError as error:
                refusals.append(error)
        looked.set()

    thread = threading.Thread(target=other)
    thread.start()
    engine.climb("x", EVERYTHING)
    thread.join()
    assert len(refusals) == len(CALLS_BACK) + len(LOOKS)
    assert all("the engine is running" in str(error) for error in refusals)


@pytest.mark.parametrize("who", ["report", "knowledge"])
def test_a_callback_that_raises_ends_the_climb_at_a_state(who: str) -> None:
    """Steps that a caller's knowledge was not able to judge are not taken."""

    def act(*_: object) -> bool:
        if engine.step_count == 3:
            raise ValueError
        return True

    engine = engine_on()
    if who == "knowledge":
        rule = Knowledge().bind(N)
        own = SimpleNamespace(barred=rule.barred, fixed=rule.fixed, relaxed=None, admits=act)
        engine.constraint = own
    else:
        engine.report = act
    with pytest.raises(ValueError, match=r"^$"):
        engine.climb("x", EVERYTHING)
    assert engine.step_count == 3
    assert engine.cpdag == replayed(engine)


@pytest.mark.parametrize("kind", ["score", "report", "knowledge", "tick"])
def test_an_engine_that_calls_python_is_freed(kind: str) -> None:
    """What it calls refers to it."""
    engine = engine_on(Plain() if kind == "score" else None)
    if kind == "report":
        engine.report = engine.climb  # type: ignore[assignment]
    if kind == "tick":
        engine.on_tick(engine.rank)
    if kind == "knowledge":
        engine.constraint = Knowledge(forbidden=[(0, 1)]).bind(N)
    left = weakref.ref(engine)
    del engine
    gc.collect()
    assert left() is None


def test_another_thread_can_stop_an_engine() -> None:
    """The GIL is free while it climbs; this climb would take hours."""
    noise = np.random.default_rng(0).normal(size=(210, 200))
    engine = engine_on(GaussianBIC(noise, penalty=1e-9))
    threading.Timer(0.05, engine.halt).start()
    engine.climb("x", EVERYTHING)
    assert engine.stopped == "time limit"
