"""Confidence in edges: replicates of a table, searched like the table itself."""

from typing import TYPE_CHECKING

from sges.uncertainty.replicates import confidence
from sges.uncertainty.strengths import Averaged, Confidence

if TYPE_CHECKING:
    from sges.uncertainty.estimator import EdgeConfidence

__all__ = [
    "Averaged",
    "Confidence",
    "EdgeConfidence",
    "confidence",
]


def __getattr__(name: str) -> object:
    """Import the estimator when it is needed: scikit-learn is slow to import."""
    if name == "EdgeConfidence":
        from sges.uncertainty.estimator import EdgeConfidence

        return EdgeConfidence
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
