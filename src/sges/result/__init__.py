"""What a search returns: the class it found, how it got there, and ways to take it along."""

from sges.export.records import edge_records, graph_of_records
from sges.result.explain import Event, Explanation
from sges.result.record import FORMAT, VERSION
from sges.result.step import OPERATORS, Step, step_of_record, step_record
from sges.result.value import Result

__all__ = [
    "FORMAT",
    "OPERATORS",
    "VERSION",
    "Event",
    "Explanation",
    "Result",
    "Step",
    "edge_records",
    "graph_of_records",
    "step_of_record",
    "step_record",
]
