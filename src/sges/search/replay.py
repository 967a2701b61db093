"""Runs that can be resumed: a run is recorded, so that another run can replay it.

A search is deterministic, so a run need not store its whole state in order to be resumed.  It
records its *acts*, the parts that take time: a climb, the search for an order, the trial of an
escape, a level of low-order search.  For each it stores the steps that were taken, the value that
was returned, and the engine's counters.  The engine's stored gains are saved with them.

The next run with the same settings begins like any other, but instead of performing a recorded act
it applies its steps and sets the counters.  Everything between the acts is computed again from the
stored gains, without the score.  After the last recorded act the engine is exactly where it was, so
the run goes on as if it had not been interrupted, and counts the same families.  Only the paths
that exclude an operator are searched again.  Where the work of a climb is limited or measured, it
begins without such paths in every run (``go_to_better_of_two``).

A run that is killed in the middle of an act does that act again.
"""

import json
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

from sges.errors import DataError, OutOfBudget, shown, shown_error
from sges.operators import Delete, Insert, Operator, Turn
from sges.result import Step
from sges.search.moves import Moves

if TYPE_CHECKING:
    from sges.search.engines import Engine

State: TypeAlias = dict[str, Any]
"""A value that JSON can represent."""

SECONDS_BETWEEN = 1.0
"""How often a run is saved, at most."""

SHARE_OF_SAVING = 0.05
"""The share of the time of a run that saving may take."""

KINDS = {kind.__name__.lower(): kind for kind in (Insert, Delete, Turn)}

SET, WHOLE, NUMBER, TRUTH = '"[0-9a-f]+"', r"\d+", r"-?[\d.]+(?:e[+-]?\d+)?", "true|false"


def _list_of(*parts: str) -> str:
    """Return a pattern of a list, each entry of which is a list of such parts."""
    entry = r"\[" + ", ".join(f"(?:{part})" for part in parts) + r"\]"
    return rf"\[(?:{entry}(?:, {entry})*)?\]"


VALUES = {
    "climb": TRUTH,
    "count": WHOLE,
    "escape": SET,
    "escapes": "null",
    "level": _list_of(WHOLE, SET),
    "order": "null",
    "race": _list_of(TRUTH, SET),
    "rank": rf"\[(?:{WHOLE}(?:, {WHOLE})*)?\]",
    "separators": _list_of(WHOLE, WHOLE, SET, NUMBER),
}
"""The values that each act may return, as patterns of JSON; also null, if its budget ended it."""


class Replay:
    """The acts of a run: those of an earlier one, to be replayed, then those that are recorded.

    Parameters
    ----------
    state
        The state that an earlier run saved, None for a first run.
    save
        Called with the state when it has to be stored.
    """

    def __init__(self, state: object, save: Callable[[object], object]) -> None:
        stored = {"acts": []} if state is None else state
        if (
            not isinstance(stored, dict)
            or not isinstance(stored.get("acts"), list)
            or not all(isinstance(act, dict) and "act" in act for act in stored["acts"])
        ):
            raise DataError(
                "the checkpoint is not that of a search; remove the file to start again"
            )
        self.at_end: Callable[[], None] | None = None
        """Called when all acts of the earlier run have been replayed."""
        self._save = save
        self._acts: list[State] = list(stored["acts"])
        self._stored = len(self._acts)
        self._waiting = deque(self._acts)
        self._memory = stored.get("memory")
        self._moves = stored.get("moves")
        self._is_acting = False
        self._saved = time.perf_counter()
        self._took = 0.0

    @property
    def next_act(self) -> str | None:
        """The name of the act that is replayed next, if any."""
        return self._waiting[0]["act"] if self._waiting else None

    def begin(self, engine: "Engine") -> None:
        """Give an engine the memory of the earlier run."""
        if self._memory is not None:
            with _fitting():
                engine.remember(*_unpacked(self._memory))

    def act(self, engine: "Engine", name: str, do: Callable[[], Any], *, again: bool) -> Any:  # noqa: ANN401
        """Return the value of a part of a run; if the earlier run did it, the recorded value.

        With ``again`` the value is not stored but computed again.  Acts inside acts are not
        recorded separately.
        """
        if self._is_acting or engine.stopped is not None:
            return do()
        if self._waiting:
            value, spent = self._replay(engine, name, do if again else None)
        else:
            value, spent = self._record(engine, name, do, again)
        if spent:
            raise OutOfBudget
        return value

    def _replay(
        self, engine: "Engine", name: str, again: Callable[[], Any] | None
    ) -> tuple[Any, bool]:
        """Replay the next act: apply its steps, and set the engine's counters."""
        act = self._waiting.popleft()
        with _fitting():
            value = act.get("value")
            if act["act"] != name or not re.fullmatch(f"null|{VALUES[name]}", json.dumps(value)):
                raise ValueError(f"it continues with {shown(act)}, but the search expects {name!r}")
            for phase, kind, x, y, chosen, gain in act.get("steps", ()):
                operator: Operator = KINDS[kind](x, y, int(chosen, 16))
                engine.apply(phase, operator, gain)
        if again is not None:
            value = again()
        with _fitting():
            if not self._waiting and self._moves is not None:
                ranking = self._moves["ranking"]
                engine.reopen(Moves(**self._moves | {"ranking": ranking and tuple(ranking)}))
            engine.counters = tuple(act["counters"])
            engine.capped = act["capped"]
        if not self._waiting and self.at_end is not None:
            self.at_end()
        return value, "spent" in act

    def _record(
        self, engine: "Engine", name: str, do: Callable[[], Any], again: bool
    ) -> tuple[Any, bool]:
        """Perform an act and record it, unless it was stopped; save the run if that is due."""
        before, value, spent = engine.step_count, None, False
        engine.ask_afresh()
        self._is_acting = True
        try:
            value = do()
        except OutOfBudget:
            spent = True
        finally:
            self._is_acting = False
        if engine.stopped is None:
            act: State = {"act": name, "counters": list(engine.counters), "capped": engine.capped}
            if engine.step_count > before:
                act["steps"] = [_step(step) for step in engine.steps[before:]]
            if value is not None and not again:
                act["value"] = value
            if spent:
                act["spent"] = True
            self._acts.append(act)
            since = time.perf_counter() - self._saved
            if since > max(SECONDS_BETWEEN, self._took / SHARE_OF_SAVING):
                self.save(engine)
        return value, spent

    def save(self, engine: "Engine") -> None:
        """Save the run up to its last act, if there are acts that are not saved yet."""
        if self._stored == len(self._acts):
            return
        begun = time.perf_counter()
        moves = engine.open_moves
        arrays = map(np.ascontiguousarray, engine.memory())
        self._save(
            {
                "acts": self._acts,
                "memory": [
                    [array.dtype.str, b64encode(zlib.compress(array.tobytes(), 1)).decode("ascii")]
                    for array in arrays
                ],
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


def _unpacked(memory: object) -> list[Any]:
    """Return arrays that are stored as a type, and bytes in base 64."""
    return [
        np.frombuffer(zlib.decompress(b64decode(text)), np.dtype(kind))
        for kind, text in memory  # type: ignore[attr-defined]
    ]


@contextmanager
def _fitting() -> Iterator[None]:
    """Raise an error if this run cannot have stored the state."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise DataError(
            f"the checkpoint does not fit this run ({shown_error(error)}); remove the file to "
            "start again"
        ) from error
