"""Other learners, to compare with: the global optimum, and the best tree."""

from sges.baselines.chow_liu import chow_liu
from sges.baselines.exact import exact

__all__ = ["chow_liu", "exact"]
