"""Runs that can be resumed: what a run has done, recorded so that another run can do it again.

A search is deterministic, so a run that was killed need not store where it was in all its parts.
It records its *acts*, the parts that take time: a climb, the search for an order, the trial of an
escape, a level of low-order search.  Of each it keeps the steps that were taken, the value that was
returned, and the engine's counters.  With the acts goes the engine's memory: every question to the
score, and its answer.

The next run with the same settings begins like any other, but it takes the recorded acts as done:
it applies their steps and sets the counters.  What lies between the acts is computed again from the
memory, without the score.  After the last recorded act the engine is exactly where it was, so the
run goes on as if it had not been interrupted, and counts the same families.  Only the paths that
exclude an operator are found again, so that ``work`` may grow by a few nodes more; it limits
nothing but the climbs of ``go_to_better_of_two``, which measures it from its own beginning.

A run that is killed in the middle of an act does that act again.
"""

import re
import time
import zlib
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sges.errors import DataError, shown, shown_error
from sges.operators import Delete, Insert, Operator, Turn
from sges.result import Step
from sges.search.moves import Moves

if TYPE_CHECKING:
    from sges.search.engines import Engine

State: TypeAlias = dict[str, Any]
"""What JSON can hold."""

SECONDS_BETWEEN = 1.0
"""How often a run is saved, at most."""

SHARE_OF_SAVING = 0.05
"""The share of its time that a run may spend on being saved."""

KINDS: dict[str, type[Insert] | type[Delete] | type[Turn]] = {
    "insert": Insert,
    "delete": Delete,
    "turn": Turn,
}


def _is_set(value: object) -> bool:
    """Tell whether a value is a set of nodes as text."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]+", value) is not None


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _are(value: object, *rules: Callable[[object], bool]) -> bool:
    """Tell whether a value is a list of lists whose entries obey the rules."""
    return isinstance(value, list) and all(
        isinstance(entry, list)
        and len(entry) == len(rules)
        and all(rule(part) for rule, part in zip(rules, entry, strict=True))
        for entry in value
    )


VALUES: dict[str, Callable[[object], bool]] = {
    "climb": lambda value: value is None or type(value) is bool,
    "count": lambda value: value is None or type(value) is int,
    "escape": lambda value: value is None or _is_set(value),
    "escapes": lambda value: value is None,
    "level": lambda value: value is None or _are(value, _is_number, _is_set),
    "order": lambda value: value is None,
    "race": lambda value: value is None or _are(value, lambda v: type(v) is bool, _is_set),
    "separators": lambda value: (
        value is None or _are(value, _is_number, _is_number, _is_set, _is_number)
    ),
}
"""What each act may return; None where its budget ended it."""


class Replay:
    """The acts of a run: those of an earlier one, to be replayed, then those that are recorded.

    Parameters
    ----------
    state
        What an earlier run saved, None for a first run.
    save
        Called with the state whenever it is to be stored.
    """

    def __init__(self, state: object, save: Callable[[object], object]) -> None:
        stored = {} if state is None else _checked(state)
        self._save = save
        self._acts: list[State] = list(stored.get("acts", ()))
        self._stored = len(self._acts)
        self._waiting = deque(self._acts)
        self._memory = stored.get("memory")
        self._moves = stored.get("moves")
        self._saved = time.perf_counter()
        self._took = 0.0

    @property
    def is_replaying(self) -> bool:
        """Whether some acts of the earlier run have not been replayed."""
        return bool(self._waiting)

    @property
    def next_act(self) -> str | None:
        """The name of the act that is replayed next, if any."""
        return self._waiting[0]["act"] if self._waiting else None

    def begin(self, engine: "Engine") -> None:
        """Give an engine the memory of the earlier run."""
        if self._memory is not None:
            with _fitting():
                engine.remember(*_unpacked(self._memory))

    def replay(self, name: str, engine: "Engine", again: Callable[[], Any] | None) -> State:
        """Take the next act as done: its steps, and the engine's counters after it.

        ``again`` is called instead of applying steps, for an act whose value is not recorded.
        """
        act = self._waiting.popleft()
        with _fitting():
            if act["act"] != name or not VALUES[name](act.get("value")):
                raise ValueError(f"it continues with {shown(act)}, but the search expects {name!r}")
            for phase, kind, x, y, chosen, gain in act.get("steps", ()):
                operator: Operator = KINDS[kind](x, y, int(chosen, 16))
                engine.apply(phase, operator, gain)
        if again is not None:
            act = {**act, "value": again()}
        with _fitting():
            if not self._waiting and self._moves is not None:
                engine.reopen(Moves(**self._moves))
            engine.counters = tuple(act["counters"])
            engine.capped = act["capped"]
        return act

    def record(
        self, name: str, engine: "Engine", steps: list[Step], value: object, spent: bool
    ) -> None:
        """Record an act that has been done, and save the run if it is time for it."""
        act: State = {"act": name, "counters": list(engine.counters), "capped": engine.capped}
        if steps:
            act["steps"] = [_step(step) for step in steps]
        if value is not None:
            act["value"] = value
        if spent:
            act["spent"] = True
        self._acts.append(act)
        since = time.perf_counter() - self._saved
        if since > max(SECONDS_BETWEEN, self._took / SHARE_OF_SAVING):
            self.save(engine)

    def finish(self, engine: "Engine") -> None:
        """Store the run if it has done something since it was stored."""
        if self._stored < len(self._acts):
            self.save(engine)

    def save(self, engine: "Engine") -> None:
        """Store what the run has done up to its last act."""
        begun = time.perf_counter()
        moves = engine.open_moves
        self._save(
            {
                "acts": self._acts,
                "memory": [_packed(part) for part in engine.memory()],
                "moves": None if moves is None else asdict(moves),
            }
        )
        self._stored = len(self._acts)
        self._saved = time.perf_counter()
        self._took = self._saved - begun


def _step(step: Step) -> list[object]:
    operator = step.operator
    kind = type(operator).__name__.lower()
    return [step.phase, kind, operator.x, operator.y, f"{operator.chosen:x}", step.gain]


def _packed(array: Any) -> list[str]:  # noqa: ANN401 (an array)
    """Return an array as text: its type, and its bytes in base 64."""
    data = np.ascontiguousarray(array)
    return [data.dtype.str, b64encode(zlib.compress(data.tobytes(), 1)).decode("ascii")]


def _unpacked(memory: object) -> list[Any]:
    return [
        np.frombuffer(zlib.decompress(b64decode(text)), np.dtype(kind))
        for kind, text in memory  # type: ignore[attr-defined]
    ]


@contextmanager
def _fitting() -> Iterator[None]:
    """Refuse in one line a state that this run cannot have stored."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise DataError(
            f"the checkpoint does not fit this run ({shown_error(error)}); remove the file to "
            "start anew"
        ) from error


def _checked(state: object) -> State:
    """Return the state that an earlier run stored, or refuse what cannot be one."""
    if (
        not isinstance(state, dict)
        or not isinstance(state.get("acts"), list)
        or not all(isinstance(act, dict) and "act" in act for act in state["acts"])
    ):
        raise DataError("the checkpoint is not that of a search; remove the file to start anew")
    return state
