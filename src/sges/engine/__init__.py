"""The compiled engine (C++20): native scores, and the search; ``native`` is the compiled module.

``docs/architecture.md`` describes its files, and the header of each one is its overview.
"""

from collections.abc import Sequence

from sges.errors import MissingLibrary, NoConsistentExtension, ScoreError
from sges.nodeset import nodeset, show

try:
    from sges.engine import native as native
except ImportError as error:
    raise MissingLibrary(
        "the compiled engine of sges is missing: install a wheel, or install from source where "
        "there is a C++ compiler"
    ) from error


def refused(y: int, base: Sequence[int], x: int, gain: float) -> ScoreError:
    """Return the error for a gain that is not finite; y is -1 if the total is not."""
    if y < 0:
        return ScoreError(f"a step that gains {gain} makes the score infinite; it must be finite")
    other = "another node" if x < 0 else f"node {x}"
    change = "something that is not finite" if x < 0 else gain
    return ScoreError(
        f"the score of node {y} with parents {show(nodeset(base))} changes by {change} with "
        f"{other}; a score must be finite for every family"
    )


def without_extension() -> NoConsistentExtension:
    """Return the error for a graph that the engine cannot complete."""
    return NoConsistentExtension(
        "the engine met a graph without a consistent extension: this is a defect of sges"
    )
