"""Confidence in edges: replicates of a table, searched like the table itself."""

from typing import TYPE_CHECKING

from sges.uncertainty.draws import DRAWS
from sges.uncertainty.replicates import OnReplicate, ReplicateProgress, confidence
from sges.uncertainty.replicates import confidence_of_result as confidence_of_result
from sges.uncertainty.strengths import Averaged, Confidence, significance_threshold

if TYPE_CHECKING:
    from sges.uncertainty.estimator import EdgeConfidence

__all__ = [
    "DRAWS",
    "Averaged",
    "Confidence",
    "EdgeConfidence",
    "OnReplicate",
    "ReplicateProgress",
    "confidence",
    "significance_threshold",
]


def __getattr__(name: str) -> object:
    """Import the estimator when it is needed: scikit-learn is slow to import."""
    if name == "EdgeConfidence":
        from sges.uncertainty.estimator import EdgeConfidence

        return EdgeConfidence
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
