"""Operators on equivalence classes: Insert, Delete and Turn, and generators of all valid ones."""

from sges.operators.base import Operator
from sges.operators.delete import Delete, all_deletes, deletes
from sges.operators.insert import Insert, all_inserts, inserts
from sges.operators.turn import Turn, all_turns, turns

__all__ = [
    "Delete",
    "Insert",
    "Operator",
    "Turn",
    "all_deletes",
    "all_inserts",
    "all_turns",
    "deletes",
    "inserts",
    "turns",
]
