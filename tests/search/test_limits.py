"""Limits of memory and time, memory that runs out, and what a stopped search keeps."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sges
from sges import learning
from sges.errors import InvalidArgument
from sges.graph import PDAG, is_cpdag
from sges.score import GaussianBIC
from sges.score.protocol import total_score
from sges.search import Progress, search
from sges.search.engines import Engine
from sges.search.run import Run, bytes_of
from worlds import gaussian_score

MB = 10**6


@pytest.mark.parametrize(
    ("limit", "held"),
    [("2GB", 2 * 10**9), ("200 mb", 200 * MB), ("1.5k", 1500), ("70", 70), (70, 70), (None, None)],
)
def test_a_limit_of_memory_is_a_number_of_bytes_or_a_size(
    limit: str | int | None, held: int | None
) -> None:
    assert bytes_of(limit) == held


@pytest.mark.parametrize("limit", ["", "2 gigs", "GB", "-1MB", -1, 1.5, True, [1]])
def test_another_limit_of_memory_is_refused(limit: object) -> None:
    with pytest.raises(InvalidArgument, match=r"memory_limit = .*'200MB' or '2GB'$"):
        search(gaussian_score(3, 2, 50, 1), memory_limit=limit)  # type: ignore[arg-type]


def test_a_limit_too_small_to_begin_says_what_is_needed_and_that_suffices() -> None:
    """It ends before the first climb has begun: with the empty graph, not complete."""
    score = gaussian_score(60, 120, 200, 1)
    with pytest.raises(
        InvalidArgument, match=r"60 variables needs at least ([\d,]+) bytes"
    ) as told:
        search(score, strategy="auto", memory_limit=1000)
    needed = int(str(told.value).split("at least ")[1].split()[0].replace(",", ""))
    result = search(score, strategy="auto", memory_limit=needed)
    assert (result.cpdag, result.complete) == (PDAG.empty(60), False)
    assert result.stopped == "memory limit"
    assert result.score == pytest.approx(total_score(score, result.cpdag))


@pytest.mark.parametrize("strategy", ["two-phase", "auto"])
def test_a_limit_of_memory_only_stops(strategy: str) -> None:
    """Every limit gives the graph of the search without one, or a class on the way there."""
    score = gaussian_score(60, 150, 300, 2)
    whole = search(score, strategy=strategy, counting=False)
    ended, scores = 0, []
    for limit in (200_000, 400_000, MB, 2 * MB, 4 * MB, 8 * MB, 64 * MB):
        result = search(score, strategy=strategy, counting=False, memory_limit=limit)
        assert is_cpdag(result.cpdag)
        assert result.score == pytest.approx(total_score(score, result.cpdag))
        scores.append(result.score)
        if result.complete:
            ended += 1
            assert (result.cpdag, result.score) == (whole.cpdag, whole.score)
        else:
            assert result.stopped == "memory limit"
            assert f"memory_limit = {limit}" in result.notes[-1]
    assert 0 < ended < 7
    assert scores[0] < scores[-1] == whole.score


def test_what_a_search_holds_is_counted() -> None:
    """Steps, gains, operators and orders: it grows from phase to phase, to many times the start."""
    run = Run(gaussian_score(60, 150, 300, 2), counting=False)
    run.start(None)
    held = [run.engine.bytes]
    run.engine.on_tick(lambda: held.append(run.engine.bytes))
    search_on(run, "auto")
    assert max(held) > 10 * held[0]


def search_on(run: Run, strategy: str) -> None:
    from sges.search.run import Selection
    from sges.search.strategy import as_strategy, run_phases

    run_phases(run, as_strategy(strategy), Selection(), "fes")


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS")
def test_memory_that_runs_out_returns_the_best_class_by_then() -> None:
    code = """
import resource, sys
from sges.score.protocol import total_score
from sges.search import search
from worlds import gaussian_score
score = gaussian_score(150, 600, 300, 1)
search(gaussian_score(5, 5, 50, 1))
pages = int(open("/proc/self/statm").read().split()[0])
for extra in (1, 4, 8):
    limit = pages * resource.getpagesize() + extra * 10**6
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    result = search(score, strategy="auto", counting=False)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    assert abs(result.score - total_score(score, result.cpdag)) < 1e-6 * abs(result.score)
    print(result.stopped)
"""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[0] == "memory limit"


class Running:
    """A score whose memory runs out at the k-th family."""

    def __init__(self, score: GaussianBIC, at: int) -> None:
        self.score, self.n, self.left = score, score.n, at

    def local(self, y: int, parents: int) -> float:
        self.left -= 1
        if self.left == 0:
            raise MemoryError
        return self.score.local(y, parents)


@pytest.mark.parametrize("strategy", ["two-phase", "auto"])
def test_memory_that_runs_out_in_a_score_ends_the_search_at_its_state(strategy: str) -> None:
    score = gaussian_score(5, 6, 200, 1)
    for at in (32, 38):
        result = search(Running(score, at), strategy=strategy)
        assert result.stopped == "memory limit"
        assert "found no more memory" in result.notes[-1]
        assert result.score == pytest.approx(total_score(score, result.cpdag))


# Time


class Slow:
    """A score that takes 20 ms for a family with many parents."""

    def __init__(self, score: GaussianBIC) -> None:
        self.score, self.n, self.waits = score, score.n, 0

    def local(self, y: int, parents: int) -> float:
        if parents.bit_count() > 10:
            self.waits += 1
            time.sleep(0.02)
        return self.score.local(y, parents)


def test_the_score_of_a_complete_start_is_not_finished_after_the_time_limit() -> None:
    """Instead the graph without edges is returned."""
    slow = Slow(gaussian_score(60, 60, 200, 1))
    result = search(slow, forward="complete", time_limit=0.05)
    assert slow.waits < 30
    assert (result.cpdag, result.stopped) == (PDAG.empty(60), "time limit")
    assert result.score == pytest.approx(total_score(slow.score, result.cpdag))


def test_a_time_limit_covers_the_reading_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    passed, read = [0.0], learning.read_table

    def slowly(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        passed[0] += 10.0
        return read(*arguments, **options)

    clock = time.perf_counter
    monkeypatch.setattr(learning, "perf_counter", lambda: clock() + passed[0])
    monkeypatch.setattr(learning, "read_table", slowly)
    table = sges.examples.load("asia")
    assert sges.learn(table, time_limit=9.0).stopped == "time limit"
    assert sges.learn(table, time_limit=60.0).complete


@pytest.mark.parametrize("limit", [0.02, 0.1, 0.4])
def test_a_search_ends_soon_after_its_time_limit(limit: float) -> None:
    """Wherever it is then; the factor is generous, as tests share their machine."""
    score = gaussian_score(150, 900, 300, 1)
    for strategy in ("extended", "auto"):
        begun = time.perf_counter()
        result = search(score, strategy=strategy, counting=False, time_limit=limit)
        assert time.perf_counter() - begun < limit + 2.0
        assert result.stopped == "time limit"
        assert result.score == pytest.approx(total_score(score, result.cpdag))


def stopped_at_each_report(score: GaussianBIC) -> Iterator[tuple[list[Progress], float]]:
    """Yield the reports up to each one of a search, and the score when it is stopped there."""
    reports = list[Progress]()
    search(score, strategy="auto", progress=reports.append)
    for last in range(len(reports)):
        left = iter(range(last))

        def interrupt(_: Progress, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        yield reports[: last + 1], search(score, strategy="auto", progress=interrupt).score


def test_a_stopped_default_search_is_never_below_what_it_had(seed: int) -> None:
    """Neither below its first climb by then, nor below an earlier stop."""
    for i in range(3):
        best, has_climbed = float("-inf"), False
        for reports, found in stopped_at_each_report(gaussian_score(9, 22, 200, seed + i)):
            has_climbed |= len(reports) > 1 and reports[-1].score < reports[-2].score
            if not has_climbed:
                assert found >= reports[-1].score - 1e-6
            assert found >= best - 1e-6
            best = max(best, found)


def test_the_best_class_is_offered_to_be_kept_while_orders_are_searched() -> None:
    """A process that is killed then loses only what came after."""
    offered: list[tuple[bool, float]] = []

    def keep(engine: Engine, *, at_once: bool = False) -> None:
        offered.append((at_once, engine.total))

    score = gaussian_score(12, 36, 200, 3)
    first = search(score, strategy="interleaved").score
    result = search(score, strategy="auto", keep=keep)
    assert result.score > first + 1.0
    during = [total for at_once, total in offered if not at_once]
    assert first == pytest.approx(min(total for total in during if total > first - 1e-6))
    assert max(during) == pytest.approx(result.score)
