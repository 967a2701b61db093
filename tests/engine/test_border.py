"""Invalid input does not break the compiled engine: it raises an error, and can be used again."""

import math
import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sges
from invariants import check
from sges.engine import core, discrete, gaussian
from sges.engine.scores import ask_one_run
from sges.errors import ScoreError, SgesError
from sges.graph import PDAG
from sges.operators import Delete, Insert, Turn
from sges.score.protocol import delete_gains, insert_gains
from sges.search import engines
from sges.search.engines import native_of
from sges.search.moves import Moves
from sges.search.order import go_to_best_order
from worlds import gaussian_score, linear_data

EVERYTHING = Moves(inserts="all", deletes=True, turns=True)
N = 6
SANITIZED = pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""), reason="ASan keeps more memory than is used"
)


class Plain:
    """A score in Python that calls another one, and may act at certain calls."""

    def __init__(self, n: int = N, act: Callable[[int], object] | None = None) -> None:
        self.inner, self.n, self.act, self.calls = gaussian_score(n, n, 100, 3), n, act, 0

    def local(self, y: int, parents: int) -> float:
        self.calls += 1
        if self.act is not None:
            given = self.act(self.calls)
            if given is not None:
                return given  # type: ignore[return-value]
        return self.inner.local(y, parents)


def engine_on(score: Any, total: float = -500.0, **options: Any) -> Any:  # noqa: ANN401
    """Return an engine at the empty graph."""
    native = None if isinstance(score, Plain) else native_of(score)
    engine = engines.CompiledEngine(score, native, **options)
    engine.start(PDAG.empty(score.n), total)
    return engine


def assert_goes_on(engine: Any) -> None:  # noqa: ANN401
    """Check that an engine is consistent, and climbs to the same class as a new one."""
    check(engine)
    other = engines.CompiledEngine(engine.score, engine.native)
    other.start(engine.cpdag, engine.total)
    engine.climb("on", EVERYTHING)
    other.climb("on", EVERYTHING)
    assert engine.cpdag == other.cpdag
    check(engine, EVERYTHING)


def replayed(n: int, steps: Any) -> PDAG:  # noqa: ANN401
    """Return the class to which steps lead from the empty graph."""
    graph = PDAG.empty(n)
    for step in steps:
        graph = step.operator.apply(graph)
    return graph


# -- sizes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65])
def test_tables_of_any_width_can_be_searched(n: int) -> None:
    class Flat:
        def __init__(self) -> None:
            self.n = n

        def local(self, _y: int, parents: int) -> float:
            return -float(parents.bit_count())

    engine = engines.CompiledEngine(Flat(), None)
    engine.start(PDAG.empty(n), 0.0)
    assert not engine.climb("climb", EVERYTHING)
    check(engine, EVERYTHING)
    assert engine.escapes(Moves(deletes=True)) == []
    assert engine.cpdag == PDAG.empty(n)


def test_an_absurd_number_of_variables_and_a_score_of_another_width_are_refused() -> None:
    class Wide:
        n = 0

    for n in (-1, 2**24 + 1, 2**31, 2**70):
        Wide.n = n
        with pytest.raises(ScoreError, match="variables"):
            core.Core(Wide(), None)  # type: ignore[arg-type]
    score, other = gaussian_score(5, 6, 50, 1), gaussian_score(9, 6, 50, 1)
    with pytest.raises(ScoreError, match="cannot be read as one of 9"):
        core.Core(score, native_of(other))


# -- arguments of methods --------------------------------------------------------------------------

AT_START, ZEROS = (0, 0, 0, -1, -500.0), [0] * N
NOT_NODES = (-1, N, 2**40)
NOT_SETS = (1 << N, 1 << 200)
NOT_ORDERS = (range(N - 1), range(1, N + 1), ZEROS)
NOT_MARKS = [(0, 0), (5, 0, 0, -1, -500.0), (-1, 0, 0, -1, -500.0), (0, 0, 2**31 - 1, -500.0)]
NOT_OPERATORS = [
    *(Insert(v, 2) for v in NOT_NODES), *(Insert(0, v) for v in NOT_NODES),
    *(Insert(0, 1, s) for s in NOT_SETS), Insert(2, 2), Insert(0, 1, 1 << 2), Delete(0, 1),
    Turn(0, 1), Turn(0, 1, 1 << 3),
]  # fmt: skip
NOT_DELETES = [Delete(0, 0), Delete(0, N), Delete(-1, 2), Delete(0, 1, 1 << N)]
NOT_GRAPHS = [
    PDAG.empty(N - 1), PDAG.empty(N + 70),
    *(PDAG((row, *ZEROS[1:]), (0,) * N) for row in (1 << N, -1)),
]  # fmt: skip


def orders(at: int, given: object, **options: object) -> tuple[str, tuple[Any, ...], Any]:
    """Return a call that begins a search over orders with one argument replaced."""
    arguments: list[object] = [range(N), ZEROS, ZEROS, ZEROS, 1.0]
    arguments[at] = given
    return "order_begin", tuple(arguments), options


BAD_CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *(("start", (graph, 0.0), {}) for graph in NOT_GRAPHS),
    *(("climb", ("x", Moves(inserts="poly", ranking=tuple(o))), {}) for o in NOT_ORDERS),
    *(("climb", ("x", EVERYTHING), {"bar": bar}) for bar in ((v, 2) for v in NOT_NODES)),
    *(("apply", ("x", operator, 1.0), {}) for operator in NOT_OPERATORS),
    *(("peek", (operator,), {}) for operator in NOT_OPERATORS),
    *(("try_escapes", ("x", [(-1.0, op)], EVERYTHING, 0.0), {}) for op in NOT_DELETES),
    *((name, (mark,), {}) for name in ("rewind", "touched_since") for mark in NOT_MARKS),
    *(("local", (v, 0), {}) for v in NOT_NODES),
    *(("local", (0, parents), {}) for parents in (1, *NOT_SETS)),
    *((name, (), {}) for name in ("order_round", "order_state")),  # before a search began
    ("order_set", (range(N),), {}),
    *(orders(0, order) for order in NOT_ORDERS),
    *(orders(1, rows) for rows in (ZEROS[1:], [0] * (N + 9), [2**64 - 2] * N)),
    *(orders(at, [row] * N) for at in (2, 3) for row in (1 << N, -1)),
    *(orders(4, 1.0, ranking=order) for order in NOT_ORDERS),
]


def test_every_node_size_and_length_is_checked_and_a_refusal_changes_nothing() -> None:
    engine = engine_on(gaussian_score(N, 9, 100, 1))
    for name, given, options in BAD_CALLS:
        with pytest.raises((SgesError, TypeError, ValueError)):
            getattr(engine, name)(*given, **options)
        assert (engine.cpdag, engine.steps, engine.total) == (PDAG.empty(N), [], -500.0)
        check(engine)
    assert_goes_on(engine)


@pytest.mark.parametrize("huge", [2**31 - 1, 2**200])
def test_huge_bounds_do_not_restrict_the_search(huge: int) -> None:
    score = gaussian_score(N, 9, 100, 1)
    moves = replace(EVERYTHING, max_indegree=huge, sets_per_clique=huge)
    free, bounded = engine_on(score), engine_on(score)
    free.climb("x", EVERYTHING)
    bounded.climb("x", replace(moves, clique_bound=huge, size_bound=huge), most=huge)
    assert free.cpdag == bounded.cpdag


def test_a_mark_of_another_history_is_refused() -> None:
    engine = engine_on(gaussian_score(N, 9, 100, 1))
    engine.climb("x", EVERYTHING)
    late = engine.mark()
    engine.rewind(AT_START)
    for call in (engine.rewind, engine.touched_since):
        with pytest.raises(SgesError, match="not a point"):
            call(late)
    assert_goes_on(engine)


def test_trials_that_fail_leave_the_engine_where_it_was() -> None:
    engine = engine_on(gaussian_score(N, 9, 100, 1))
    engine.climb("x", EVERYTHING)
    before, mark, steps = engine.cpdag, engine.mark(), engine.steps
    escapes = engine.escapes(EVERYTHING)
    failed = engine.try_escapes("x", escapes, EVERYTHING, 0.0)
    assert len(failed) == engine.trials > 0
    for (_, delete), touched in zip(escapes, failed, strict=False):
        assert touched >> delete.x & touched >> delete.y & 1
    assert (engine.cpdag, engine.mark(), engine.steps) == (before, mark, steps)
    assert_goes_on(engine)


@pytest.mark.parametrize("lines", [[], [(1, 2), (0, 2)]])
def test_a_start_with_a_semi_directed_cycle_has_no_levels_and_ends(
    lines: list[tuple[int, int]],
) -> None:
    arrows = [(0, 1)] if lines else [(0, 1), (1, 2), (2, 0)]
    engine = engine_on(gaussian_score(N, 9, 100, 1))
    engine.start(PDAG.from_edges(N, arrows, lines), -500.0)
    assert engine._facts()["levels"] is None
    assert engine.climb("x", Moves(inserts="all"))


def test_random_calls_leave_the_engine_whole(seed: int) -> None:
    rng = random.Random(seed)
    engine = engine_on(gaussian_score(N, 9, 100, 1))
    marks = [engine.mark()]
    for _ in range(200):
        x, y, chosen = rng.randrange(-1, N + 1), rng.randrange(-1, N + 1), rng.getrandbits(N)
        kinds: list[Any] = [Insert, Delete, Turn]
        operator = rng.choice(kinds)(x, y, chosen & rng.getrandbits(N))
        call = rng.choice(["apply", "peek", "rewind", "climb", "escapes", "mark", "start"])
        try:
            match call:
                case "apply":
                    engine.apply("x", operator, rng.choice([0.5, -2.0, math.inf]))
                case "peek":
                    engine.peek(operator)
                case "rewind":
                    engine.rewind(rng.choice(marks))
                case "climb":
                    engine.climb("x", EVERYTHING, bar=(x, y), most=rng.randrange(3))
                    engine.climb("x", EVERYTHING, most=0)
                case "escapes":
                    engine.escapes(Moves(deletes=True))
                case "mark":
                    marks.append(engine.mark())
                case _ if rng.random() < 0.1:
                    engine.start(engine.cpdag, -500.0)
        except SgesError:
            pass
        check(engine)
    assert_goes_on(engine)


# -- scores that misbehave -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        lambda gains: gains[:-1],
        lambda gains: np.append(gains, 1.0),
        lambda gains: gains[None],
        lambda _: "gains",
        lambda gains: gains * np.nan,
        lambda gains: [object()] * len(gains),
    ],
)
def test_invalid_gains_are_refused_and_asked_for_again(given: Callable[[Any], Any]) -> None:
    class Fan(Plain):
        spoiled = True

        def insert_gains(self, y: int, base: int, xs: Any) -> Any:  # noqa: ANN401
            gains = insert_gains(self.inner, y, base, xs)
            return given(gains) if self.spoiled else gains

        def delete_gains(self, y: int, base: int, xs: Any) -> Any:  # noqa: ANN401
            return delete_gains(self.inner, y, base, xs)

    score = Fan()
    engine = engine_on(score)
    with pytest.raises(ScoreError, match=r"node \d with parents|must return one number for each"):
        engine.climb("x", EVERYTHING)
    score.spoiled = False
    assert_goes_on(engine)


@pytest.mark.parametrize("given", [math.nan, "one", ZeroDivisionError()])
@pytest.mark.parametrize("call", [1, 20, 60])
def test_a_score_that_breaks_down_once_leaves_the_engine_whole(given: object, call: int) -> None:
    def act(calls: int) -> object:
        if calls == call and isinstance(given, Exception):
            raise given
        return given if calls == call else None

    engine = engine_on(Plain(act=act))
    with pytest.raises((ScoreError, ZeroDivisionError), match=r"must be|^$"):
        engine.climb("x", EVERYTHING)
    assert_goes_on(engine)


def test_a_native_score_that_cannot_answer_is_asked_again() -> None:
    """Numbers that were never computed must not be used as gains."""
    matrix = np.array([[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1.0]])
    score = Plain(3)
    engine = engines.CompiledEngine(score, gaussian.Gaussian(matrix, 50.0, 1.0))
    engine.start(PDAG.complete(3), 0.0)
    for _ in range(2):
        with pytest.raises(ScoreError, match="finite"):
            engine.climb("x", Moves(deletes=True))
        check(engine)


def test_gains_beyond_all_numbers_are_refused() -> None:
    class Steep(Plain):
        def local(self, _y: int, parents: int) -> float:
            return 1.7e308 * (parents.bit_count() > 0) - 0.85e308

    engine = engine_on(Steep(3))
    with pytest.raises(ScoreError, match=r"so far\) infinite; a score must be finite"):
        engine.climb("x", EVERYTHING)
    assert math.isfinite(engine.total)
    check(engine)


def test_a_score_that_changes_its_mind_or_the_candidates_does_no_harm(seed: int) -> None:
    rng = np.random.default_rng(seed)

    class Moody(Plain):
        def insert_gains(self, _y: int, _base: int, xs: Any) -> Any:  # noqa: ANN401
            gains = rng.normal(size=len(xs))
            xs[:] = -7
            return gains

        def delete_gains(self, _y: int, _base: int, xs: Any) -> Any:  # noqa: ANN401
            gains = rng.normal(size=len(xs))
            xs.resize(0, refcheck=False)
            return gains

    engine = engine_on(Moody(), deadline=time.perf_counter() + 0.5)
    engine.climb("x", EVERYTHING)
    check(engine)


# -- callbacks -------------------------------------------------------------------------------------

CALLS_BACK: list[Callable[[Any], object]] = [
    lambda engine: engine.climb("x", EVERYTHING),
    lambda engine: engine.start(PDAG.empty(N), 0.0),
    lambda engine: engine.apply("x", Insert(0, 1), 1.0),
    lambda engine: engine.peek(Insert(0, 1)),
    lambda engine: engine.rewind(AT_START),
    lambda engine: engine.escapes(Moves(deletes=True)),
    lambda engine: engine.local(0, 2),
    lambda engine: engine.limit(1.0, 10),
    lambda engine: setattr(engine, "constraint", None),
    lambda engine: go_to_best_order(engine, "x"),
    lambda engine: engine.strengths(),
    lambda engine: engine.touched_since(AT_START),
]


@pytest.mark.parametrize("who", ["score", "progress"])
def test_a_callback_that_makes_the_engine_search_is_refused(who: str) -> None:
    calls = iter(CALLS_BACK)

    def act(_: object) -> None:
        for call in calls:
            with pytest.raises(SgesError, match="the engine is running"):
                call(engine)

    engine = engine_on(Plain(act=act if who == "score" else None))
    engine.report = act if who == "progress" else None
    engine.climb("x", EVERYTHING)
    assert next(calls, None) is None
    check(engine, EVERYTHING)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_progress_callback_that_raises_ends_the_climb_at_a_state(
    error: type[BaseException],
) -> None:
    def report(_: str) -> None:
        seen.append(engine.cpdag)
        if engine.step_count == 3:
            raise error

    engine, seen = engine_on(gaussian_score(N, 9, 100, 1)), list[PDAG]()
    engine.report = report
    if error is KeyboardInterrupt:
        engine.climb("x", EVERYTHING)
        assert engine.stopped == "interrupted"
    else:
        with pytest.raises(error):
            engine.climb("x", EVERYTHING)
    engine.report = None
    assert engine.step_count == len(engine.steps) == len(seen) - 1 == 3
    assert engine.cpdag == seen[-1]
    check(engine)


class Picky:
    """Knowledge that raises an error at its k-th call."""

    barred = fixed = (0,) * N
    relaxed = None

    def __init__(self, call: int) -> None:
        self.call, self.calls = call, 0

    def admits(self, _after: PDAG, _before: PDAG | None = None) -> bool:
        self.calls += 1
        if self.calls == self.call:
            raise ValueError
        return True


@pytest.mark.parametrize("call", [1, 4])
def test_a_step_that_knowledge_was_not_able_to_judge_is_not_taken(call: int) -> None:
    engine = engine_on(gaussian_score(N, 9, 100, 1))
    engine.constraint = Picky(call)
    with pytest.raises(ValueError, match=r"^$"):
        engine.climb("x", EVERYTHING)
    assert engine.step_count == call - 1
    assert engine.cpdag == replayed(N, engine.steps)
    check(engine)


@pytest.mark.parametrize("barred", [(0,) * (N - 1), (0,) * (N + 80), (1 << N,) * N])
def test_knowledge_of_another_width_is_refused(barred: Any) -> None:  # noqa: ANN401
    engine = engine_on(gaussian_score(N, 9, 100, 1))
    knowledge = Picky(-1)
    knowledge.barred = barred
    with pytest.raises((SgesError, TypeError)):
        engine.constraint = knowledge
    assert engine.constraint is None
    assert_goes_on(engine)


# -- native scores ---------------------------------------------------------------------------------

NATIVE = [
    gaussian.Gaussian(np.eye(4), 10.0, 1.0),
    gaussian.BGe(np.eye(4), [0.0] * 4, [0.0] * 6, 3.0, -1.0),
    gaussian.DegenerateGaussian(np.eye(4), range(4), [1] * 4, 10.0, 1.0),
    discrete.DiscreteBIC(np.arange(40).reshape(4, 10) % 3, [3] * 4),
    discrete.QNML(np.arange(40).reshape(4, 10) % 3, [3] * 4),
    discrete.BDeu(np.arange(40).reshape(4, 10) % 3, [3] * 4),
]


@pytest.mark.parametrize("score", NATIVE, ids=lambda score: type(score).__name__)
def test_a_native_score_checks_every_node_of_a_family(score: Any) -> None:  # noqa: ANN401
    families = [
        *((y, []) for y in (4, -1, 2**40)),
        *((0, base) for base in ([0], [4], [-1], [1, 1], [*range(1, 4)] * 9, [2**40])),
    ]
    for y, base in families:
        for ask in (
            score.insert_gains, score.delete_gains,
            lambda y, base: ask_one_run(score, [("insert", y, base)]),
        ):  # fmt: skip
            with pytest.raises((ScoreError, OverflowError)):
                ask(y, base)
    for also in ([0], [1], [4], [-1], [2, 2]):
        with pytest.raises(ScoreError):
            score.insert_gains(0, [1], also=also)
    assert set(score.insert_gains(0, [1])[0]) == {2, 3}


EYE, CODES = np.eye(3), np.array([[0, 1, 1], [0, 2, 1]], dtype=np.uint8)
TABLES: list[tuple[Any, tuple[Any, ...], str]] = [
    (gaussian.Gaussian, (EYE[0], 5.0, 1.0), "it must be a C-contiguous array"),
    (gaussian.Gaussian, (np.eye(4)[:, ::2], 5.0, 1.0), "it must be a C-contiguous array"),
    (gaussian.Gaussian, (EYE[:2], 5.0, 1.0), "it must be square and not empty"),
    (gaussian.Gaussian, (EYE * np.nan, 5.0, 1.0), r"correlation\[0, 0\] = nan"),
    (gaussian.BGe, (EYE, [0.0] * 2, [0.0] * 5, 5.0, -1.0), "spread has 2 entries"),
    (gaussian.BGe, (EYE, [0.0] * 3, [0.0] * 4, 5.0, -1.0), "by_size has 4 entries"),
    (gaussian.BGe, (EYE, [0.0] * 3, [0.0] * 5, 5.0, -1.0, [3]), "constant column 3"),
    (gaussian.DegenerateGaussian, (EYE, [], [], 5.0, 1.0), "at least one column"),
    (gaussian.DegenerateGaussian, (EYE, [0, 0], [0, 3], 5.0, 1.0), "at least one column"),
    (gaussian.DegenerateGaussian, (EYE, [0, 1], [2, 1], 5.0, 1.0), r"must be \[0, 2\]"),
    (gaussian.DegenerateGaussian, (EYE, [0, 1], [1, 1], 5.0, 1.0), "the matrix has 3 columns"),
]
CODED: list[tuple[Any, Any, Any, str]] = [
    (CODES[0], [2], None, "1 dimensions"),
    (CODES.astype(int) - 1, [2, 3], None, "codes lie between -1 and 1"),
    (CODES, [2, 2], None, r"codes\[1\] holds 2 and arities\[1\] is 2"),
    (CODES, [2], None, r"shape \(1,\) do not fit 2 variables"),
    (CODES, [2, 0], None, r"arities\[1\] = 0"),
    (CODES, [2, 3], [1, 2], r"shape \(2,\) do not fit 3 rows"),
    (CODES, [2, 3], [1, -2, 3], "weights between -2 and 3"),
    (CODES, [2, 3], [2**62, 2**62, 1], r"at most 2\*\*62"),
    (CODES[:, :0], [2, 3], None, "no records"),
]


def test_a_native_score_checks_every_size_and_length() -> None:
    coded = (discrete.DiscreteBIC, discrete.QNML, discrete.BDeu)
    for kind, given, problem in [
        *TABLES,
        *((kind, tuple(given), problem) for *given, problem in CODED for kind in coded),
    ]:
        with pytest.raises(ScoreError, match=problem):
            kind(*given)


# -- memory ----------------------------------------------------------------------------------------


def run_out(score: Any, work: Callable[[Any], object], allocations: int) -> bool:  # noqa: ANN401
    """Do work with a limited number of allocations; return whether memory ran out."""
    engine = engine_on(score)
    engine._run_out_after(allocations)
    try:
        work(engine)
    except MemoryError:
        return True
    finally:
        engine._run_out_after(-1)
        check(engine)
        assert engine.cpdag == replayed(engine.n, engine.steps)
        assert_goes_on(engine)
    return False


WORK: dict[str, Callable[[Any], object]] = {
    "climb": lambda engine: engine.climb("x", EVERYTHING),
    "capped": lambda engine: engine.climb("x", replace(EVERYTHING, sets_per_clique=2)),
    "poly": lambda engine: engine.climb("x", Moves(inserts="poly")),
    "order": lambda engine: go_to_best_order(engine, "x"),
    "escapes": lambda engine: (
        engine.climb("x", Moves(inserts="all")), engine.escapes(Moves(deletes=True))
    ),
    "trials": lambda engine: (
        engine.climb("x", EVERYTHING),
        engine.try_escapes("x", engine.escapes(EVERYTHING), EVERYTHING, 0.0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("kind", ["native", "Python"])
def test_a_run_that_is_out_of_memory_anywhere_can_go_on(work: str, kind: str) -> None:
    score = gaussian_score(N, 9, 100, 1) if kind == "native" else Plain()
    try:
        engine_on(score)._run_out_after(-1)
    except NotImplementedError:
        pytest.skip("only a build for tests can run out of memory at will: make test-native")
    allocations = whole = 0
    while whole < 8:  # some allocations may fail without an error
        whole = 0 if run_out(score, WORK[work], allocations) else whole + 1
        allocations += 1 + allocations // 100
    assert allocations > 50


MEMORY = """
    import resource
    import numpy as np
    import sges
    from sges.graph import PDAG
    from sges.score import GaussianBIC
    from sges.search.algorithms import ges
    n = 400
    rng = np.random.default_rng(1)
    loads = rng.normal(size=(n, 8))
    data = rng.normal(size=(300, 8)) @ loads.T + rng.normal(size=(300, n))
    score = GaussianBIC.from_covariance(np.cov(data.T), 300)
    ges(GaussianBIC.from_covariance(np.eye(3), 30))
    pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (pages + {spare} * 2**20, -1))
    try:
        ges(score, time_limit=10)
        print("done")
    except MemoryError as error:
        print("out of memory:", error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@SANITIZED
@pytest.mark.parametrize("spare", [1, 16])
def test_a_process_that_is_out_of_memory_says_so(spare: int) -> None:
    program = textwrap.dedent(MEMORY).replace("{spare}", str(spare))
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("done", "out of memory"))


def resident() -> int:
    """Return the resident memory of this process, in bytes."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@SANITIZED
@pytest.mark.parametrize("ending", ["whole", "raised", "interrupted"])
def test_runs_leave_no_memory_behind(ending: str) -> None:
    native = gaussian_score(40, 80, 200, 1)

    def one_run() -> None:
        engine = engine_on(native)
        if ending != "whole":
            error = ValueError if ending == "raised" else KeyboardInterrupt

            def report(_: str) -> None:
                if engine.step_count == 30:
                    raise error

            engine.report = report
        try:
            engine.climb("x", EVERYTHING)
            engine.escapes(Moves(deletes=True))
        except ValueError:
            pass
        engine.report = None

    for _ in range(10):
        one_run()
    before = resident()
    for _ in range(60):
        one_run()
    assert resident() - before < 60 * 20_000  # a run takes more than a megabyte


# -- threads ---------------------------------------------------------------------------------------


def test_a_second_thread_on_one_engine_is_refused() -> None:
    inside, looked = threading.Event(), threading.Event()
    refusals: list[BaseException] = []

    def wait(calls: int) -> None:
        if calls == 40:
            inside.set()
            looked.wait(10)

    engine = engine_on(Plain(act=wait))
    calls: list[Callable[[Any], object]] = [
        *CALLS_BACK,
        lambda e: e.cpdag,
        lambda e: e.steps,
        lambda e: e.mark(),
        lambda e: e.evaluations,
    ]

    def other() -> None:
        inside.wait(10)
        for call in calls:
            try:
                call(engine)
            except SgesError as error:
                refusals.append(error)
        looked.set()

    thread = threading.Thread(target=other)
    thread.start()
    engine.climb("x", EVERYTHING)
    thread.join()
    assert len(refusals) == len(calls)
    assert all("another thread" in str(error) for error in refusals)
    check(engine, EVERYTHING)


def test_eight_threads_learn_at_once_what_one_learns() -> None:
    tables = [linear_data(15, 25, 300, seed)[1] for seed in range(8)]
    alone = [sges.learn(table).cpdag for table in tables]
    with ThreadPoolExecutor(8) as pool:
        assert [result.cpdag for result in pool.map(sges.learn, tables)] == alone


def test_other_threads_go_on_while_the_engine_climbs() -> None:
    """With the GIL held for the whole climb, no other thread would count at all."""
    engine = engine_on(gaussian_score(120, 360, 300, 1))
    counts, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            counts[0] += 1
            time.sleep(0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(60)  # no thread is forced to release the GIL
    thread = threading.Thread(target=count)
    try:
        thread.start()
        time.sleep(0.01)
        begun = counts[0]
        engine.climb("x", EVERYTHING)
        during = counts[0] - begun
    finally:
        done.set()
        sys.setswitchinterval(before)
        thread.join()
    assert during > 10
