"""The number of jobs changes only the time of an extended search."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sges import MaxParents
from sges.errors import InvalidArgument
from sges.knowledge import Knowledge
from sges.result import Result
from sges.score import QNML, BDeu, BGe, DegenerateGaussian, DiscreteBIC, GaussianBIC
from sges.score.protocol import Score
from sges.search import Strategy, extended, search
from sges.search.engines import IS_USED, CompiledEngine
from sges.search.extended import Failure, Mirror
from sges.search.run import effective_jobs

needs_engine = pytest.mark.skipif(not IS_USED, reason="only the compiled engine has several jobs")


def gaussian_rows(seed: int, n: int, rows: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n, n)) < 4 / n, 1) * rng.uniform(0.3, 1.5, (n, n))
    table = rng.normal(size=(rows, n))
    for y in range(n):
        table[:, y] += table @ weights[:, y]
    return table


def discrete_rows(seed: int, n: int, rows: int) -> np.ndarray:
    return (gaussian_rows(seed, n, rows) > 0.3).astype(int) + (gaussian_rows(seed, n, rows) > 1)


def facts(result: Result) -> tuple[object, ...]:
    return (
        result.cpdag,
        result.score,
        result.steps,
        result.score_evaluations,
        result.operators_considered,
        result.notes,
        result.complete,
    )


SCORES: dict[str, Callable[[int], Score]] = {
    "bic": lambda seed: GaussianBIC(gaussian_rows(seed, 14, 300)),
    "bge": lambda seed: BGe(gaussian_rows(seed, 10, 300)),
    "discrete-bic": lambda seed: DiscreteBIC(discrete_rows(seed, 9, 400)),
    "qnml": lambda seed: QNML(discrete_rows(seed, 8, 400)),
    "bdeu": lambda seed: BDeu(discrete_rows(seed, 8, 400)),
    "degenerate": lambda seed: DegenerateGaussian(gaussian_rows(seed, 9, 300)),
}


@needs_engine
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("strategy", ["extended", "auto"])
def test_the_result_is_the_same_for_every_number_of_jobs(kind: str, strategy: str) -> None:
    for seed in range(4):
        results = [
            facts(search(SCORES[kind](seed), strategy=strategy, n_jobs=jobs))
            for jobs in (None, 2, 3)
        ]
        assert results[0] == results[1] == results[2]


@needs_engine
@pytest.mark.parametrize("effort", [1.0, 10.0])
def test_jobs_do_not_matter_where_knowledge_makes_a_run_search_again(effort: float) -> None:
    strategy = Strategy(interleaved=True, order=True, extended=True, effort=effort)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        pairs = rng.permutation([(x, y) for x in range(8) for y in range(8) if x != y])
        known = Knowledge(forbidden=[(int(x), int(y)) for x, y in pairs[:18]]).bind(8)
        score = GaussianBIC(gaussian_rows(seed, 8, 300))
        one, two = (
            facts(search(score, strategy=strategy, constraint=known, n_jobs=jobs))
            for jobs in (1, 2)
        )
        assert one == two


@needs_engine
@pytest.mark.parametrize(
    "strategy",
    [
        Strategy(interleaved=True, extended=True, patience=0.1),
        Strategy(extended=True),
        Strategy(interleaved=True, extended=True, effort=0.2),
        Strategy(interleaved=True, extended=True, effort=0.01, sets_per_clique=2),
        Strategy(interleaved=True, extended=True, max_evaluations=50),
    ],
    ids=str,
)
def test_budgets_end_the_escapes_at_the_same_trial_for_every_number_of_jobs(
    strategy: Strategy,
) -> None:
    for seed in range(4):
        score = GaussianBIC(gaussian_rows(seed, 14, 300))
        options = {"assume": MaxParents(2), "max_indegree": 4} if seed % 2 else {}
        alone = search(score, strategy=strategy, **options)  # type: ignore[arg-type]
        assert facts(alone) == facts(search(score, strategy=strategy, n_jobs=2, **options))  # type: ignore[arg-type]


@needs_engine
@pytest.mark.parametrize(("seed", "effort"), [(0, 0.03), (10, 0.03), (18, 0.1), (27, 0.3)])
def test_a_trial_that_exceeds_the_budget_counts_alike_for_every_number_of_jobs(
    seed: int, effort: float
) -> None:
    score = GaussianBIC(gaussian_rows(seed, 12, 200))
    strategy = Strategy(interleaved=True, order=True, extended=True, patience=0.1, effort=effort)
    one, two = (search(score, strategy=strategy, n_jobs=jobs) for jobs in (1, 2))
    assert "used up" in one.notes[0]
    assert facts(one) == facts(two)


@needs_engine
def test_knowledge_holds_for_every_number_of_jobs() -> None:
    for seed in range(4):
        score = GaussianBIC(gaussian_rows(seed, 10, 300))
        bound = Knowledge(forbidden=[(0, 3), (2, 5)], required=[(1, 4)]).bind(10)
        alone = search(score, strategy="extended", constraint=bound)
        assert facts(alone) == facts(search(score, strategy="extended", constraint=bound, n_jobs=2))


@pytest.fixture
def slow_trials(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Make trials slow enough to overlap; return the threads that run them."""
    threads = set[int]()
    fails = Mirror.fails

    def slowly(self: Mirror, *arguments: Any) -> Failure | None:  # noqa: ANN401
        threads.add(threading.get_ident())
        time.sleep(0.02)
        return fails(self, *arguments)

    monkeypatch.setattr(Mirror, "fails", slowly)
    monkeypatch.setattr(extended, "BETWEEN_REPORTS", 1e-3)
    return threads


@needs_engine
def test_trials_run_in_threads_that_end_with_the_search(slow_trials: set[int]) -> None:
    before = threading.active_count()
    search(GaussianBIC(gaussian_rows(1, 14, 300)), strategy="extended", n_jobs=3)
    assert len(slow_trials) >= 2
    assert threading.get_ident() not in slow_trials
    assert threading.active_count() == before


@needs_engine
@pytest.mark.parametrize("seconds", [None, 60.0])
def test_trials_of_other_jobs_count_for_the_search(
    seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    take_over = CompiledEngine.take_over

    def record(self: CompiledEngine, journal: Any) -> None:  # noqa: ANN401
        taken.append(journal)
        take_over(self, journal)

    monkeypatch.setattr(CompiledEngine, "take_over", record)
    strategy = Strategy(interleaved=True, extended=True, time_limit=seconds)
    search(GaussianBIC(gaussian_rows(1, 14, 300)), strategy=strategy, n_jobs=2)
    assert taken


@needs_engine
def test_an_error_in_the_progress_callback_ends_all_jobs(slow_trials: set[int]) -> None:
    def fail(_: object) -> None:
        if slow_trials:
            raise LookupError("enough")

    before = threading.active_count()
    score = GaussianBIC(gaussian_rows(1, 14, 300))
    with pytest.raises(LookupError, match="enough"):
        search(score, strategy="extended", n_jobs=2, progress=fail)
    assert threading.active_count() == before


@needs_engine
@pytest.mark.usefixtures("slow_trials")
def test_a_time_limit_ends_all_jobs() -> None:
    before = threading.active_count()
    score = GaussianBIC(gaussian_rows(1, 40, 300))
    result = search(score, strategy="extended", n_jobs=2, time_limit=0.4)
    assert not result.complete
    assert threading.active_count() == before


def test_a_score_in_python_is_asked_by_one_thread_only() -> None:
    class Mine:
        n = 6

        def __init__(self) -> None:
            self.inner = GaussianBIC(gaussian_rows(0, 6, 100))
            self.threads = set[int]()

        def local(self, y: int, parents: int) -> float:
            self.threads.add(threading.get_ident())
            return self.inner.local(y, parents)

    score = Mine()
    search(score, strategy="extended", n_jobs=2)
    assert score.threads == {threading.get_ident()}


def test_n_jobs_means_what_it_means_in_scikit_learn() -> None:
    from joblib import cpu_count, parallel_config

    assert effective_jobs(None) == 1
    assert effective_jobs(5) == effective_jobs(np.int64(5)) == 5  # type: ignore[arg-type]
    assert effective_jobs(-1) == cpu_count()
    with parallel_config(n_jobs=3):
        assert effective_jobs(None) == 3


@pytest.mark.parametrize("wrong", [0, 1.5, "2", True])
def test_other_numbers_of_jobs_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidArgument, match="n_jobs"):
        effective_jobs(wrong)  # type: ignore[arg-type]


def test_no_more_jobs_are_started_than_can_be_of_use() -> None:
    workers = max(effective_jobs(-1), 8)
    assert effective_jobs(10**30) == workers
    assert [effective_jobs(jobs) for jobs in (1, 2, 8)] == [1, 2, 8]
