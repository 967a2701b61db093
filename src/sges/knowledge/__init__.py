"""Background knowledge: required edges, forbidden edges, and tiers.

Hard constraints: every member of a result satisfies every one of them.
"""

from sges.knowledge.bound import Bound
from sges.knowledge.model import Knowledge

__all__ = ["Bound", "Knowledge"]
