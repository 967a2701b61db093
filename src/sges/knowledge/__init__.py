"""Background knowledge: required edges, forbidden edges, and tiers.

Knowledge is a hard constraint: every member of a result satisfies all of it.
"""

from sges.knowledge.model import Knowledge

__all__ = ["Knowledge"]
