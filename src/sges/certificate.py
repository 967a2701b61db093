"""Whether a class is a local optimum for all deletes, also those that a search left out.

SGES looks at selected deletes only; if the assumption about the truth is wrong, one of the
others may still improve the score.  The certificate looks at them afterwards, up to a limit,
and never says more than it looked at.
"""

from dataclasses import dataclass
from itertools import islice

from sges.graph.pdag import PDAG
from sges.operators.delete import Delete, all_deletes
from sges.score.base import Score, total_score


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was looked at, and the best delete among it.

    ``optimal`` is True if every delete was looked at and none improves the score, False if one
    does, and None if none does among those looked at, but there are more.
    """

    optimal: bool | None
    checked: int
    exhaustive: bool
    better: Delete | None = None
    gain: float | None = None

    def __str__(self) -> str:
        if self.optimal:
            return f"local optimum: none of all {self.checked} deletes improves the score"
        if self.better is not None:
            beyond = "" if self.exhaustive else ", and not all were looked at"
            return f"not a local optimum: {self.better} gains {self.gain:.6g}{beyond}"
        return f"none of {self.checked} deletes improves the score; not checked beyond"


def certify(cpdag: PDAG, score: Score, limit: int = 100_000) -> Certificate:
    """Look at the unrestricted deletes of a class, at most so many."""
    best: tuple[float, Delete] | None = None
    checked = 0
    every = all_deletes(cpdag)
    for delete in islice(every, limit):
        checked += 1
        gain = delete.gain(score, cpdag)
        if best is None or gain > best[0]:
            best = (gain, delete)
    exhaustive = next(every, None) is None
    if best is not None and best[0] > tolerance_of(score, cpdag):
        return Certificate(False, checked, exhaustive, best[1], best[0])
    return Certificate(True if exhaustive else None, checked, exhaustive)


def tolerance_of(score: Score, cpdag: PDAG) -> float:
    """Return the gain below which two classes count as tied."""
    return tie_tolerance(total_score(score, cpdag))


def tie_tolerance(total: float) -> float:
    """Return how far apart two scores may be and still tie, for a total score of this size.

    Equal scores come out of floating-point arithmetic different in the last digits: about 1e-12
    of the total.  An insert must gain more than this; a delete must not lose more, so that the
    sparser graph wins a tie.
    """
    return 1e-12 * max(1.0, abs(total))
