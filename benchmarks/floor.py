"""The floor: what a search would take if all it did was to score.

A run is recorded once, as the exact sequence of questions that it asks the score, batched as it
asks them.  Replaying the questions on a fresh score, with building its sufficient statistics, is
the batched linear algebra (or the passes over the counts) alone: no operators, no graphs, no
bookkeeping.  A search that asks these questions cannot be faster; its time divided by the floor
is its distance to the limit.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


def _seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun
