"""The floor: what a search would take if all it did was to score.

A run is recorded once, as the exact sequence of questions that it asks the score, batched as it
asks them.  Replaying the questions on a fresh score, with building its sufficient statistics, is
the batched linear algebra (or the passes over the counts) alone: no operators, no graphs, no
bookkeeping.  A search that asks these questions cannot be faster; its time divided by the floor
is its distance to the limit.

``native_distance`` measures the same for the compiled engine: a search on a ready score against
its questions, asked again in one native loop (``studies/peers/questions.pyx``).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any, NamedTuple

QUESTIONS = ("local", "insert_gains", "delete_gains", "insert_gains_above")
"""What a search may ask a score."""

Call = tuple[str, tuple[Any, ...]]


class Recorder:
    """A score that answers as another does, and writes down what it was asked."""

    def __init__(self, score: Any) -> None:  # noqa: ANN401 (any score)
        self._score = score
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        answer = getattr(self._score, name)
        if name not in QUESTIONS:
            return answer

        def asked(*arguments: Any) -> Any:  # noqa: ANN401
            self.calls.append((name, arguments))
            return answer(*arguments)

        return asked


@dataclass(frozen=True, slots=True)
class Distance:
    """How long a run took, and how long its questions alone take."""

    calls: int
    candidates: int
    run_seconds: float
    floor_seconds: float
    statistics_seconds: float
    """The part of the floor that builds the sufficient statistics."""

    @property
    def ratio(self) -> float:
        """How many times the floor a run takes."""
        return self.run_seconds / self.floor_seconds


def replay(score: Any, calls: list[Call]) -> None:  # noqa: ANN401
    """Ask a score what was asked before, and throw the answers away."""
    methods = {name: getattr(score, name) for name in {name for name, _ in calls}}
    for name, arguments in calls:
        methods[name](*arguments)


def distance(build: Callable[[], Any], search: Callable[[Any], Any]) -> Distance:
    """Return how far a search is from the floor; the best of three times each.

    ``build`` makes a fresh score from the data, its sufficient statistics included.
    """
    recorder = Recorder(build())
    search(recorder)
    calls = recorder.calls
    statistics = min(_seconds(build) for _ in range(3))
    floor = min(_seconds(lambda: replay(build(), calls)) for _ in range(3))
    run = min(_seconds(lambda: search(build())) for _ in range(3))
    asked = sum(len(arguments[2]) for name, arguments in calls if name != "local")
    return Distance(len(calls), asked, run, floor, statistics)


class Timed(NamedTuple):
    """What a call returned, and how long it took."""

    found: Any
    seconds: float


def native_distance(score: Any, strategy: str, repetitions: int = 5) -> tuple[Timed, Timed]:  # noqa: ANN401
    """Return the median of a search by the compiled engine, and of its questions alone.

    Both are repeated in turn, by the clock of the processor.  The second returns the number of
    questions.
    """
    from sges.engine import native
    from sges.search import search

    made = native.native_of(score)
    recorder = _questions().Recorder(made)
    native._MADE[score] = recorder
    try:
        result = search(score, strategy=strategy)
        recorder.replay()  # the first loop after a search finds other things in the caches
    finally:
        native._MADE[score] = made
    searching, asking = [], []
    for _ in range(repetitions):
        searching.append(_seconds(lambda: search(score, strategy=strategy), time.process_time))
        asking.append(_seconds(recorder.replay, time.process_time))
    return Timed(result, median(searching)), Timed(recorder.replay(), median(asking))


@cache
def _questions() -> Any:  # noqa: ANN401 (a compiled module)
    """Return the module that records and replays, built for the present sources."""
    import pyximport  # type: ignore[import-untyped]

    from studies.peers.environments import FOLDER
    from studies.peers.machine import digest_of

    build = FOLDER / f"questions-{digest_of()}"  # its declarations must be those of the engine
    importers = pyximport.install(build_dir=str(build), language_level=3)
    try:
        from studies.peers import questions  # type: ignore[attr-defined]
    finally:
        pyximport.uninstall(*importers)
    return questions


def _seconds(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    begun = clock()
    call()
    return clock() - begun
