"""What a search returns: the class it found, and how it got there.

A frozen value that pickles, and goes to JSON and back.

JSON, ``"format": "sges-result", "version": 1``: ``nodes`` (names), ``edges`` (sorted; ``source``,
``target``, ``type`` "directed" or "undirected"), ``score``, ``score_name``, ``score_evaluations``
(unique families, null if not counted), ``evaluation_bound``, ``operators_considered``,
``assume``, ``forward``, ``complete``, ``stopped`` (why not complete), ``notes`` (what was decided
about the data and the score), ``seconds`` per phase, and ``steps``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sges.certificate import Certificate, certify
from sges.errors import SgesError
from sges.graph.pdag import PDAG
from sges.nodeset import nodes
from sges.operators import Delete, Insert, Operator, Turn
from sges.score.base import Score

FORMAT, VERSION = "sges-result", 1
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


@dataclass(frozen=True, slots=True)
class Result:
    """The class found, its score, the steps that led there, and what they cost."""

    cpdag: PDAG
    score: float
    steps: tuple[Step, ...] = ()
    score_evaluations: int | None = None
    evaluation_bound: int | None = None
    operators_considered: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    complete: bool = True
    stopped: str | None = None
    assume: str | None = None
    forward: str | None = None
    score_name: str = ""
    notes: tuple[str, ...] = ()
    scorer: Score | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.complete == (self.stopped is not None):
            raise SgesError("a result is complete, or says why it stopped: not both or neither")

    @property
    def names(self) -> tuple[str, ...]:
        """What the nodes are called: the names of the data, or else their numbers."""
        return tuple(self.cpdag.name(v) for v in range(self.cpdag.n))

    def certify(self, score: Score | None = None, limit: int = 100_000) -> Certificate:
        """Tell whether the class is a local optimum for *all* deletes, not only the selected.

        Looks at no more than ``limit`` operators, and says so if there are more.  A result
        that was stored and read again needs the score once more.
        """
        scorer = score if score is not None else self.scorer
        if scorer is None:
            raise SgesError(
                "certify: the score is not kept when a result is stored; pass it as certify(score)"
            )
        return certify(self.cpdag, scorer, limit)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain lists, dicts, strings and numbers."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "nodes": list(self.names),
            "edges": edge_records(self.cpdag),
            "score": self.score,
            "score_name": self.score_name,
            "score_evaluations": self.score_evaluations,
            "evaluation_bound": self.evaluation_bound,
            "operators_considered": self.operators_considered,
            "assume": self.assume,
            "forward": self.forward,
            "complete": self.complete,
            "stopped": self.stopped,
            "notes": list(self.notes),
            "seconds": dict(self.seconds),
            "steps": [step_record(step, self.names) for step in self.steps],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Result":
        """Return the result that ``to_dict`` wrote."""
        if (record.get("format"), record.get("version")) != (FORMAT, VERSION):
            raise SgesError(
                f"not a result of format {FORMAT!r}, version {VERSION}: it says "
                f"{record.get('format')!r}, version {record.get('version')!r}"
            )
        number = {name: v for v, name in enumerate(record["nodes"])}
        kept = {key: record[key] for key in _PLAIN}
        return cls(
            notes=tuple(record.get("notes", ())),
            cpdag=graph_of_records(record["nodes"], record["edges"]),
            steps=tuple(step_of_record(step, number) for step in record["steps"]),
            **kept,
        )

    def to_json(self, indent: int | None = 2) -> str:
        """Return the result as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """Return the result that ``to_json`` wrote."""
        return cls.from_dict(json.loads(text))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the score behind: it may hold all of the data."""
        state = {name: getattr(self, name) for name in self.__slots__}
        return {**state, "scorer": None, "seconds": dict(self.seconds)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def without_scorer(self) -> "Result":
        """Return the result without the reference to its score."""
        return replace(self, scorer=None)


_PLAIN = (
    "score",
    "score_name",
    "score_evaluations",
    "evaluation_bound",
    "operators_considered",
    "assume",
    "forward",
    "complete",
    "stopped",
    "seconds",
)


def edge_records(graph: PDAG) -> list[dict[str, str]]:
    """Return the edges as records of names, sorted by node."""
    arrows = [(x, y, "directed") for x, y in graph.directed_edges()]
    lines = [(x, y, "undirected") for x, y in graph.undirected_edges()]
    return [
        {"source": graph.name(x), "target": graph.name(y), "type": kind}
        for x, y, kind in sorted(arrows + lines)
    ]


def graph_of_records(names: list[str], records: list[dict[str, str]]) -> PDAG:
    """Return the graph that ``edge_records`` wrote."""
    number = {name: v for v, name in enumerate(names)}
    edges: dict[str, list[tuple[int, int]]] = {"directed": [], "undirected": []}
    for record in records:
        if record["type"] not in edges:
            raise SgesError(f"edge type {record['type']!r} is neither 'directed' nor 'undirected'")
        edges[record["type"]].append((number[record["source"]], number[record["target"]]))
    return PDAG.from_edges(len(names), edges["directed"], edges["undirected"], names=names)


def step_record(step: Step, names: tuple[str, ...]) -> dict[str, Any]:
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
    kind = OPERATORS[record["operator"]]
    chosen = [number[name] for name in record["set"]]
    operator = kind(number[record["x"]], number[record["y"]], chosen)
    return Step(record["phase"], operator, record["gain"], record["score"], record["edges"])
