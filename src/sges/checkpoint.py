"""Checkpoint files, from which a killed run is resumed.

A checkpoint is a JSON file, written whole or not at all.  It holds the progress of a run, the
settings of the run, a digest of the data, and a checksum of its own text.  A file that is damaged
or belongs to another run is an error that names the reason; nothing in it is ever executed.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from functools import partial
from hashlib import sha256
from math import inf
from pathlib import Path
from time import perf_counter
from types import CellType, CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from sges import __version__
from sges.data import Dataset, Moments
from sges.data.dataset import digest_of
from sges.errors import DataError, GraphError, InvalidArgument, has_own_text, shown
from sges.graph.pdag import PDAG
from sges.records import graph_of_record, graph_record, parse_json
from sges.result import Result
from sges.score.protocol import Score, tie_tolerance
from sges.search.engines import Engine
from sges.search.run import OnProgress
from sges.writing import file_errors, write_text

if TYPE_CHECKING:
    from sges.learning import SearchPlan

FORMAT, VERSION = "sges-checkpoint", 1

SECONDS_BETWEEN = 2.0
"""How often a run is saved, at most."""

IN_WORDS = {
    "knowledge": "other background knowledge than this run has",
    "start": "another graph to start from than this run has",
}
"""Differences of settings whose values are too long to be shown, in words."""


class Checkpoint:
    """A file with the progress of a run, for runs with these settings and these data."""

    def __init__(
        self, path: object, settings: Mapping[str, object], data: Dataset | Moments
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InvalidArgument(f"checkpoint = {shown(path)} is not the path of a file")
        self.path = Path(path)
        self.settings = {
            "sges": __version__,
            **{word: str(v) if has_own_text(v) else name_of(v) for word, v in settings.items()},
        }
        self.data = digest_of(data)
        self.names = data.names

    def load(self) -> Any:  # noqa: ANN401 (what JSON holds)
        """Return the stored progress; None if there is no file."""
        with file_errors("read", self.path):
            if not self.path.exists():
                return None
            content = self.path.read_bytes()
        try:
            record: Any = parse_json(content.decode("utf-8"))
        except (GraphError, UnicodeDecodeError):
            raise self.error("it is damaged, or not a checkpoint") from None
        if why := self._why_not(record):
            raise self.error(why)
        return record.get("state")

    def _why_not(self, record: Any) -> str | None:  # noqa: ANN401 (what JSON holds)
        """Return why a record is not of this run, None if it is."""
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            return "it is not a checkpoint of sges"
        if (version := record.get("version")) != VERSION:
            return f"it has version {shown(version)}, but sges reads version {VERSION}"
        checksum = record.pop("checksum", None)
        if checksum != _checksum(json.dumps(record, sort_keys=True)):
            return "it is damaged: its checksum does not match"
        if record.get("data") != self.data:
            return "it was made from other data"
        stored = record.get("settings")
        if not isinstance(stored, dict) or stored.keys() != self.settings.keys():
            return "it was made by another kind of run"
        for name, value in self.settings.items():
            if stored[name] != value:
                values = f"{name} = {shown(stored[name])}, and this run has {value!r}"
                return f"it was made with {IN_WORDS.get(name, values)}"
        return None

    def save(self, state: object) -> None:
        """Write the progress so far."""
        record = {
            "format": FORMAT,
            "version": VERSION,
            "settings": self.settings,
            "data": self.data,
            "state": state,
        }
        body = json.dumps(record, sort_keys=True)
        write_text(self.path, json.dumps({**record, "checksum": _checksum(body)}) + "\n")

    def error(self, why: str) -> DataError:
        """Return the error for a file that cannot be used, with the reason."""
        return DataError(
            f"checkpoint {str(self.path)!r}: {why}; remove the file to start again, or name another"
        )


def continued(
    file: Checkpoint,
    plan: "SearchPlan",
    score: Score,
    time_limit: float | None,
    progress: OnProgress | None,
) -> Result:
    """Search from the best graph that a checkpoint holds, and save the best graph now and then.

    A search that was finished is not repeated: its result is returned.
    """
    begun = saved = perf_counter()
    state = file.load()
    graph, best, notes = None, -inf, list[str]()
    if state is None:
        file.save(None)  # a file that cannot be written is an error before the search
    else:
        found = _restored(file, state)
        if isinstance(found, Result):
            return replace(found, scorer=score)
        graph, best = found
        plan, notes = _from(graph, plan)

    def save(found: PDAG, total: float) -> None:
        nonlocal graph, best
        if plan.constraint is None or plan.constraint.admits(found):
            file.save({"graph": graph_record(found.named(file.names)), "score": total})
            graph, best = found, total

    def keep(engine: Engine, *, at_once: bool = False) -> None:
        nonlocal saved
        if engine.total > best and (at_once or perf_counter() - saved >= SECONDS_BETWEEN):
            saved = perf_counter()
            save(engine.cpdag, engine.total)

    result = plan.run(score, time_limit=time_limit, progress=progress, keep=keep)
    if result.score < best - tie_tolerance(best):  # it was stopped while it searched elsewhere
        left = None if time_limit is None else max(time_limit - (perf_counter() - begun), 0.0)
        stopped = result.stopped
        from_best = replace(plan, start=graph, forward=None)
        result = from_best.run(score, time_limit=0.0 if stopped else left, progress=progress)
        result = replace(result, stopped=stopped or result.stopped)
    result = replace(result, cpdag=result.cpdag.named(file.names), notes=(*notes, *result.notes))
    if result.complete:
        file.save({"result": result.to_dict()})
    elif result.steps and result.score > best:
        save(result.cpdag, result.score)
    return result


def _restored(file: Checkpoint, state: Any) -> Result | tuple[PDAG, float]:  # noqa: ANN401
    """Return the result of a finished search, or the best graph so far with its score."""
    try:
        if "result" in state:
            return Result.from_dict(state["result"])
        return graph_of_record(state["graph"]).named(None), float(state["score"])
    except (DataError, GraphError, KeyError, TypeError, ValueError):
        raise file.error("it does not contain the graph of a search") from None


def _from(graph: PDAG, plan: "SearchPlan") -> tuple["SearchPlan", list[str]]:
    """Return a plan that continues from a saved graph, and the note about it."""
    count = graph.edge_count()
    edges = f"{count:,} edge{'' if count == 1 else 's'}"
    forward = plan.forward or ("fes" if plan.start is None else None)
    plan = replace(plan, start=graph, forward=None if forward == "complete" else forward)
    return plan, [f"continued from a graph with {edges}, saved by a run that did not end"]


def name_of(value: object) -> str:
    """Return a name that identifies a user's function or object, the same in every process.

    It includes a digest of the code with its constants and defaults and of what it refers to (all
    lambdas of a module have the same name), or of the public attributes of an object.
    """
    kind = value if hasattr(value, "__qualname__") else type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, type):
        return name
    content = value if isinstance(value, tuple(CONTENTS)) else _public(value)
    return f"{name} {_checksum(_described(content, depth=9))[:16]}"


def _public(value: object) -> dict[str, object]:
    """Return the public attributes of an object."""
    known = getattr(value, "__dict__", {})
    return {word: known[word] for word in known if not word.startswith("_")}


def _referred(function: FunctionType) -> list[object]:
    """Return what a function refers to by names from outside, as far as they are set yet."""
    return [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]


CONTENTS: dict[type, Callable[[Any], Iterable[object]]] = {
    CodeType: lambda code: (code.co_code, code.co_names, code.co_consts),
    FunctionType: lambda f: (f.__code__, f.__defaults__, f.__kwdefaults__, _referred(f)),
    MethodType: lambda method: (_public(method.__self__), method.__func__),
    partial: lambda made: (made.func, made.args, made.keywords),
    np.ndarray: lambda array: (str(array.dtype), array.shape, array.tobytes()),
    Mapping: lambda mapping: mapping.items(),
    list: iter,
    tuple: iter,
    Set: iter,
}
"""What determines a value of a type; all other objects count by the names of their types."""


def _described(value: object, depth: int) -> str:
    """Return a text for a value, without addresses in memory."""
    if isinstance(value, str | bytes | int | float | complex | None):
        return repr(value)
    kind = value if isinstance(value, type) else type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    parts = next((parts for known, parts in CONTENTS.items() if isinstance(value, known)), None)
    if parts is None or depth == 0:
        return name
    texts = [_described(each, depth - 1) for each in parts(value)]
    return f"{name}{sorted(texts) if isinstance(value, Set) else texts}"


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()
