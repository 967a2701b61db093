"""The record of a search in the golden file, and the difference between two records."""

from collections.abc import Iterator
from math import isclose
from typing import Any, TypeAlias

from sges.graph import PDAG
from sges.result import Result
from sges.score import total_score
from sges.search.auto import AutoResult

Record: TypeAlias = dict[str, Any]

GAIN = 1e-6
"""The relative and the absolute tolerance of gains."""

SCORE = 1e-9
"""The relative tolerance of scores."""

ROUNDING = 1e-12
"""The rounding error of a gain relative to the total score, as for ties in the searches."""


def record_of(found: Result | AutoResult) -> Record:
    """Return the steps and the result of a search as plain values."""
    result = found.result if isinstance(found, AutoResult) else found
    cpdag = result.cpdag
    assert result.scorer is not None
    record: Record = {
        "empty": repr(float(total_score(result.scorer, PDAG.empty(cpdag.n)))),
        "steps": [
            [
                step.phase,
                type(step.operator).__name__,
                step.operator.x,
                step.operator.y,
                _members(step.operator.chosen),
                float(f"{step.gain:.9g}"),
            ]
            for step in result.steps
        ],
        "arrows": [list(edge) for edge in cpdag.directed_edges()],
        "lines": [list(edge) for edge in cpdag.undirected_edges()],
        "score": repr(float(result.score)),
        "evaluations": result.score_evaluations,
        "complete": result.complete,
    }
    if isinstance(found, AutoResult):
        record["assume"] = str(found.assume)
        record["rounds"] = [[r.k, repr(float(r.score)), r.score_evaluations] for r in found.rounds]
    return record


def difference(wanted: Record, found: Record) -> str | None:
    """Return a description of the first difference, or None: data, steps, result or work."""
    return next(_differences(wanted, found), None)


def _differences(wanted: Record, found: Record) -> Iterator[str]:
    if not _near(wanted["empty"], found["empty"]):
        yield (
            f"other data, or another score: without edges it is {found['empty']}, "
            f"and was {wanted['empty']}"
        )
    yield from _step_differences(wanted, found)
    for name in ("arrows", "lines"):
        gone, new = _apart(wanted[name], found[name])
        if gone or new:
            yield f"the same steps, but another graph: {name} {gone} are missing, {new} are new"
    if not _near(wanted["score"], found["score"]):
        yield f"the score is {found['score']}, and was {wanted['score']}"
    for name in ("evaluations", "complete", "assume"):
        if wanted.get(name) != found.get(name):
            yield f"{name}: {found.get(name)}, and was {wanted.get(name)}"
    yield from _round_differences(wanted.get("rounds", []), found.get("rounds", []))


def _step_differences(wanted: Record, found: Record) -> Iterator[str]:
    old, new = wanted["steps"], found["steps"]
    rounding = ROUNDING * max(abs(float(wanted["empty"])), abs(float(wanted["score"])))
    for i, (was, now) in enumerate(zip(old, new, strict=False)):
        near = isclose(was[-1], now[-1], rel_tol=GAIN, abs_tol=max(GAIN, rounding))
        if was[:-1] != now[:-1] or not near:
            what = "another step" if was[:-1] != now[:-1] else "another gain"
            yield "\n".join(
                [
                    f"{what}, number {i + 1} of {len(old)}:",
                    *(f"    before  {show(step)}" for step in old[max(i - 2, 0) : i]),
                    f"    was     {show(was)}",
                    f"    is now  {show(now)}",
                ]
            )
    if len(old) != len(new):
        longer, word = (old, "missing") if len(old) > len(new) else (new, "new")
        first = show(longer[min(len(old), len(new))])
        yield f"{len(new)} steps, and {len(old)} were expected; {word} from {first} on"


def _round_differences(wanted: list[Any], found: list[Any]) -> Iterator[str]:
    if len(wanted) != len(found):
        yield f"{len(found)} rounds, and {len(wanted)} were expected"
    for was, now in zip(wanted, found, strict=False):
        if was[0] != now[0] or not _near(was[1], now[1]) or was[2] != now[2]:
            yield f"the round (k, score, evaluations) is {now}, and was {was}"


def show(step: list[Any]) -> str:
    """Return the text of a step."""
    phase, kind, x, y, chosen, gain = step
    return f"{phase}: {kind}({x}, {y}, {{{', '.join(map(str, chosen))}}}) gains {gain:.9g}"


def _members(mask: int) -> list[int]:
    return [v for v in range(mask.bit_length()) if mask >> v & 1]


def _near(wanted: str, found: str) -> bool:
    return isclose(float(wanted), float(found), rel_tol=SCORE, abs_tol=SCORE)


def _apart(wanted: list[list[int]], found: list[list[int]]) -> tuple[list[Any], list[Any]]:
    old, new = {tuple(edge) for edge in wanted}, {tuple(edge) for edge in found}
    return sorted(old - new), sorted(new - old)
