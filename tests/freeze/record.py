"""The frozen facts: a file with a line for each case, and how it is compared."""

import json
import os
import tempfile
from math import isclose
from pathlib import Path
from typing import Any

from freeze.cases import cases

FILE = Path(__file__).with_name("freeze.json")

TOLERANCE = 1e-9
"""Numbers may differ by this share of their size, and by this much."""


def facts() -> dict[str, Any]:
    """Return the facts of all cases, computed in an empty folder."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return {name: json.loads(json.dumps(case())) for name, case in cases().items()}
        finally:
            os.chdir(here)


def kept() -> dict[str, Any]:
    """Return the facts of the file."""
    facts: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return facts


def write(facts: dict[str, Any]) -> None:
    """Write the file, with a line for each case."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(fact, sort_keys=True)}" for name, fact in facts.items()
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def agree(a: Any, b: Any) -> bool:  # noqa: ANN401
    """Return whether two JSON values are equal up to rounding."""
    if isinstance(a, float | int) and isinstance(b, float | int):
        return a == b or isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(agree, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(agree(a[key], b[key]) for key in a)
    return bool(a == b)


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return a line for each case that is gone, new or different."""
    lines = [f"{name}: gone" for name in before if name not in now]
    for name, fact in now.items():
        if name not in before:
            lines.append(f"{name}: new")
        elif not agree(before[name], fact):
            lines.append(f"{name}: {_difference(before[name], fact)}")
    return lines


def _difference(a: Any, b: Any) -> str:  # noqa: ANN401
    """Return where two JSON values differ first."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            if key not in a or key not in b or not agree(a[key], b[key]):
                return f"{key}: {_difference(a.get(key), b.get(key))}"
    if isinstance(a, list) and isinstance(b, list):
        for i, (one, other) in enumerate(zip(a, b, strict=False)):
            if not agree(one, other):
                return f"{i}: {_difference(one, other)}"
    return f"{a!r}"[:300] + " -> " + f"{b!r}"[:300]
