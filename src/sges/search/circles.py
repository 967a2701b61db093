"""A guard against going round in circles by rounding.

Every step of a greedy search gains, so no state comes twice.  But where columns are nearly
collinear gains are known to fewer digits than ties are judged by, and the computed gains of an
insert and of the delete that undoes it may both be above zero.  The steps of a circle gain nothing
together, and so next to nothing each: only states that such steps lead away from are remembered.
"""

from sges.graph.pdag import PDAG

DOUBTFUL = 1e-6
"""A gain of no more than this share of the total score may be rounding."""


class Circle:
    """The states that were left by doubtful steps since the last step that was none."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left: set[PDAG] = set()

    def is_closed_by(self, gain: float, total: float, before: PDAG, after: PDAG) -> bool:
        """Tell whether a step leads back to a state that was left; if not, take note of it."""
        if gain > DOUBTFUL * max(1.0, abs(total)):
            self._left.clear()
            return False
        if after in self._left:
            return True
        self._left.add(before)
        return False
