"""Checkpoint files, from which a killed run is resumed.

A checkpoint is a JSON file, written whole or not at all.  It holds the progress of a run, the
settings of the run, a digest of the data, and a checksum of its own text.  A file that is damaged
or belongs to another run is an error that names the reason; nothing in it is ever executed.
"""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from sges import __version__
from sges.data import Dataset, Moments
from sges.data.dataset import digest_of
from sges.errors import DataError, GraphError, InvalidArgument, shown
from sges.graph.records import parse_json
from sges.writing import file_errors, write_text

FORMAT, VERSION = "sges-checkpoint", 1

SECONDS_BETWEEN = 2.0
"""How often replicates are saved, at most; ``sges.search.replay`` says how often a search is."""

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
        self.settings = {"sges": __version__, **{word: str(settings[word]) for word in settings}}
        self.data = digest_of(data)

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


def name_of(make: Callable[..., object]) -> str:
    """Return a name that identifies a function that makes scores.

    It includes a digest of the code and of its constants, because all lambdas of a module have
    the same name.
    """
    if isinstance(make, partial):
        return f"{name_of(make.func)}{make.args}{make.keywords}"
    name = f"{make.__module__}.{getattr(make, '__qualname__', type(make).__qualname__)}"
    code = getattr(make, "__code__", None)
    if code is None:
        return name
    cells = [cell.cell_contents for cell in make.__closure__ or ()]
    used = [*code.co_consts, *(make.__defaults__ or ()), *cells]
    plain = [value for value in used if isinstance(value, str | int | float | tuple | None)]
    return f"{name} {_checksum(f'{code.co_code.hex()}{code.co_names}{plain}')[:16]}"


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()
