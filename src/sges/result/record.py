"""A result as plain lists, dicts, strings and numbers: what goes into JSON.

``"format": "sges-result", "version": 1``: ``nodes`` (names), ``edges`` (sorted; ``source``,
``target``, ``type`` "directed" or "undirected"), ``score``, ``score_name``, ``score_evaluations``
(unique families, null if not counted), ``evaluation_bound``, ``operators_considered``,
``assume``, ``forward``, ``strategy``, ``complete``, ``stopped`` (why not complete), ``seconds``
per phase, ``notes`` (what was chosen on the way), and ``steps``.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sges.errors import GraphError, SgesError
from sges.export.records import edge_records, graph_of_record
from sges.result.step import step_of_record, step_record

if TYPE_CHECKING:
    from sges.result.value import Result

FORMAT, VERSION = "sges-result", 1
PLAIN = (
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
"""The fields that are written as they are."""


def record_of(result: "Result") -> dict[str, Any]:
    """Return the result as plain values."""
    plain = {key: getattr(result, key) for key in PLAIN}
    return {
        "format": FORMAT,
        "version": VERSION,
        "nodes": list(result.names),
        "edges": edge_records(result.cpdag),
        **plain,
        "strategy": result.strategy,
        "seconds": dict(result.seconds),
        "notes": list(result.notes),
        "steps": [step_record(step, result.names) for step in result.steps],
    }


def fields_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the result that ``record_of`` wrote."""
    if (record.get("format"), record.get("version")) != (FORMAT, VERSION):
        raise SgesError(
            f"not a result of format {FORMAT!r}, version {VERSION}: it says "
            f"{record.get('format')!r}, version {record.get('version')!r}"
        )
    if missing := [key for key in ("nodes", "edges", "steps", *PLAIN) if key not in record]:
        raise SgesError(f"the result has no entry {missing[0]!r}; it was not written by sges")
    number = {name: v for v, name in enumerate(record["nodes"])}
    try:
        steps = tuple(step_of_record(step, number) for step in record["steps"])
    except KeyError as error:
        raise SgesError(f"a step of the result names {error}, which is not there") from None
    return {
        "cpdag": graph_of_record(record),
        "steps": steps,
        "strategy": record.get("strategy"),
        "notes": tuple(record.get("notes", ())),
        **{key: record[key] for key in PLAIN},
    }


def parsed(text: str) -> Mapping[str, Any]:
    """Return the object in JSON text."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise GraphError(f"this is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise GraphError("a result in JSON is an object, and this is none")
    return found
