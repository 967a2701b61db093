"""A new peer by one command: writes its adapter, which is found by being there.

Fits any function that takes an array with a row per record and returns a matrix of edges; for
anything else the file that is written is where to begin.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks import adapters

CONVENTIONS = {"row-to-column": "from_row_to_column", "causal-learn": "from_endpoints"}
"""Matrix conventions by the names that ``sges`` gives them, and what reads them."""

TEMPLATE = '''"""{name}, as written by ``python -m benchmarks add``."""

from benchmarks.adapters.conventions import {reader}
from benchmarks.contract import Environment, Found, Go, Peer, Prepare, Table


def _load() -> Prepare:
    from {module} import {function}

    def prepare(table: Table) -> Go:
        def go() -> Found:
            return {reader}({function}(table.values))

        return go

    return prepare


PEERS = (
    Peer(
        name="{name}",
        environment=Environment("{name}", {install}, "{package}"),
        method="{function}",
        kinds={kinds},
        penalty="as it comes",
        load=_load,
    ),
)
'''


class CannotAdd(Exception):
    """The adapter cannot be written as asked."""


def write_adapter(
    name: str,
    call: str,
    install: Sequence[str],
    *,
    kinds: Sequence[str] = ("gaussian",),
    convention: str = "row-to-column",
    folder: Path = Path(adapters.__path__[0]),
) -> Path:
    """Write the adapter of a function ``module:function``, and return its file."""
    module, _, function = call.partition(":")
    if not (re.fullmatch(r"[\w.]+", module) and function.isidentifier()):
        raise CannotAdd(f"--call {call!r} must be MODULE:FUNCTION, as in mypackage.search:ges")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise CannotAdd(f"the name {name!r} must be of small letters, digits and hyphens")
    path = folder / f"{name.replace('-', '_')}.py"
    if path.exists():
        raise CannotAdd(f"{path.name} is there already; edit it, or choose another name")
    text = TEMPLATE.format(
        name=name,
        module=module,
        function=function,
        reader=CONVENTIONS[convention],
        install=_written(install),
        package=re.split(r"[^\w.-]", install[0])[0],
        kinds=_written(kinds),
    )
    path.write_text(text, encoding="utf-8")
    return path


def _written(words: Sequence[str]) -> str:
    """Return a tuple of words as source code."""
    inside = ", ".join(f'"{word}"' for word in words)
    return f"({inside},)" if len(words) == 1 else f"({inside})"
