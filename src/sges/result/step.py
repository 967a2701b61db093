"""One step of a search, and how it is written down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sges.errors import GraphError
from sges.nodeset import nodes
from sges.operators import Delete, Insert, Operator, Turn

OPERATORS: dict[str, type[Insert] | type[Delete] | type[Turn]] = {
    kind.__name__: kind for kind in (Insert, Delete, Turn)
}


@dataclass(frozen=True, slots=True)
class Step:
    """One applied operator: what, in which phase, its gain, and the score and edges after it."""

    phase: str
    operator: Operator
    gain: float
    score: float
    edges: int

    def __str__(self) -> str:
        return f"{self.phase}: {self.operator} gains {self.gain:.6g}"


def named_operator(operator: Operator, names: Sequence[str]) -> str:
    """Write an operator by the names of its nodes.

    >>> named_operator(Insert(0, 1, {2}), ["a", "b", "c"])
    'Insert(a, b, T = {c})'
    """
    chosen = ", ".join(names[v] for v in nodes(operator.chosen))
    x, y = names[operator.x], names[operator.y]
    return f"{type(operator).__name__}({x}, {y}, {operator.set_name} = {{{chosen}}})"


def step_record(step: Step, names: Sequence[str]) -> dict[str, Any]:
    """Return a step as plain values, nodes by their names."""
    op = step.operator
    return {
        "phase": step.phase,
        "operator": type(op).__name__,
        "x": names[op.x],
        "y": names[op.y],
        "set": [names[v] for v in nodes(op.chosen)],
        "gain": step.gain,
        "score": step.score,
        "edges": step.edges,
    }


def step_of_record(record: Mapping[str, Any], number: Mapping[str, int]) -> Step:
    """Return the step that ``step_record`` wrote."""
    kind = OPERATORS.get(record["operator"])
    if kind is None:
        raise GraphError(
            f"a step names the operator {record['operator']!r}; it must be one of {list(OPERATORS)}"
        )
    chosen = [number[name] for name in record["set"]]
    operator = kind(number[record["x"]], number[record["y"]], chosen)
    return Step(record["phase"], operator, record["gain"], record["score"], record["edges"])
