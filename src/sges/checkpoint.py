"""Checkpoint files, from which a killed run is resumed.

A checkpoint is a JSON file, written whole or not at all.  It holds the progress of a run, the
settings of the run, a digest of the data, and a checksum of its own text.  A file that is damaged
or belongs to another run is an error that names the reason; nothing in it is ever executed.
"""

import json
import os
from collections.abc import Mapping, Set
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
from sges.search.engines import CompiledEngine
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
            record = parse_json(content.decode("utf-8"))
        except (GraphError, UnicodeDecodeError):
            raise self.error("it is damaged, or not a checkpoint") from None
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise self.error("it is not a checkpoint of sges")
        if record.get("version") != VERSION:
            raise self.error(
                f"it has version {shown(record.get('version'))}, but sges reads version {VERSION}"
            )
        checksum = record.pop("checksum", None)
        if checksum != _checksum(json.dumps(record, sort_keys=True)):
            raise self.error("it is damaged: its checksum does not match")
        if record.get("data") != self.data:
            raise self.error("it was made from other data")
        stored = record.get("settings")
        if not isinstance(stored, dict) or stored.keys() != self.settings.keys():
            raise self.error("it was made by another kind of run")
        for name, value in self.settings.items():
            if stored[name] != value:
                values = f"{name} = {shown(stored[name])}, and this run has {value!r}"
                raise self.error(f"it was made with {IN_WORDS.get(name, values)}")
        return record.get("state")

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
    state, notes, best = file.load(), list[str](), -inf
    graph: PDAG | None = None
    if state is None:
        file.save(None)  # a file that cannot be written is an error before the search
    else:
        try:
            if "result" in state:
                return replace(Result.from_dict(state["result"]), scorer=score)
            graph, best = graph_of_record(state["graph"]).named(None), float(state["score"])
        except (DataError, GraphError, KeyError, TypeError, ValueError):
            raise file.error("it does not contain the graph of a search") from None
        count = graph.edge_count()
        edges = f"{count:,} edge{'' if count == 1 else 's'}"
        notes.append(f"continued from a graph with {edges}, saved by a run that did not end")
        forward = plan.forward or ("fes" if plan.start is None else None)
        plan = replace(plan, start=graph, forward=None if forward == "complete" else forward)

    def save(found: PDAG, total: float) -> None:
        nonlocal graph, best
        file.save({"graph": graph_record(found.named(file.names)), "score": total})
        graph, best = found, total

    def keep(engine: CompiledEngine, *, at_once: bool = False) -> None:
        nonlocal saved
        is_due = at_once or perf_counter() - saved >= SECONDS_BETWEEN
        if engine.total <= best or not is_due:
            return
        found, saved = engine.cpdag, perf_counter()
        if plan.constraint is None or plan.constraint.admits(found):
            save(found, engine.total)

    result = plan.run(score, time_limit=time_limit, progress=progress, keep=keep)
    if result.score < best - tie_tolerance(best):  # it was stopped in a search for orders, say
        left = None if time_limit is None else max(time_limit - (perf_counter() - begun), 0.0)
        stopped = result.stopped
        from_best = replace(plan, start=graph, forward=None)
        result = from_best.run(score, time_limit=0.0 if stopped else left, progress=progress)
        result = replace(result, stopped=stopped or result.stopped)
    result = replace(result, cpdag=result.cpdag.named(file.names), notes=(*notes, *result.notes))
    if result.complete:
        file.save({"result": result.to_dict()})
    elif result.score > best:
        save(result.cpdag, result.score)
    return result


def name_of(value: object, depth: int = 6) -> str:
    """Return a name that identifies a user's function or object, the same in every process.

    It includes a digest of the code with its constants and defaults and of what it refers to (all
    lambdas of a module have the same name), or of the public attributes of an object.
    """
    if isinstance(value, partial):
        return f"{name_of(value.func, depth)}{_described((value.args, value.keywords), depth)}"
    if isinstance(value, MethodType):
        return f"{name_of(value.__self__, depth)}.{name_of(value.__func__, depth)}"
    kind = value if hasattr(value, "__qualname__") else type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, FunctionType):
        cells = [_content(cell) for cell in value.__closure__ or ()]
        parts: tuple[object, ...] = value.__code__, value.__defaults__, value.__kwdefaults__, cells
    elif kind is not value:
        attributes = getattr(value, "__dict__", {})
        parts = ({word: attributes[word] for word in attributes if not word.startswith("_")},)
    else:
        return name
    return f"{name} {_checksum(_described(parts, depth))[:16]}"


def _content(cell: CellType) -> object:
    """Return what a function refers to by a name from outside; None if it is not set yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _described(value: object, depth: int) -> str:
    """Return a text for a value, without addresses in memory; objects count by their names."""
    if isinstance(value, CodeType):
        return f"{value.co_code.hex()}{value.co_names}{_described(value.co_consts, depth)}"
    if isinstance(value, str | bytes | int | float | complex | None):
        return repr(value)
    if depth == 0:
        return type(value).__qualname__
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, list | tuple | Set):
        texts = [_described(each, depth - 1) for each in value]
        return str(sorted(texts) if isinstance(value, Set) else texts)
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, FunctionType | MethodType | partial):
        return name_of(value, depth - 1)
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()
