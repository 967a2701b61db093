"""Whether a class is a local optimum for all deletes, also those that a search left out.

SGES considers selected deletes only; if the assumption about the truth is wrong, one of the
others may still improve the score.  The certificate scores them afterwards, up to a limit, and
claims nothing about those it did not score.
"""

from dataclasses import dataclass
from itertools import islice

from sges.graph.pdag import PDAG
from sges.operators import Delete, all_deletes
from sges.score.protocol import Score, total_score

__all__ = ["Certificate", "certify", "tie_tolerance"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """Whether a class is a local optimum for deletes, and how many were scored.

    Parameters
    ----------
    optimal : bool or None
        True if every delete was scored and none improves the score, False if one does, and None
        if none of those scored does, but there are more.
    checked : int
        How many deletes were scored.
    exhaustive : bool
        Whether these are all.
    better : Delete, optional
        The best delete, if it improves the score.
    gain : float, optional
        How much it improves the score.
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
            beyond = "" if self.exhaustive else ", and not all deletes were scored"
            return f"not a local optimum: {self.better} gains {self.gain:.6g}{beyond}"
        return f"none of {self.checked} deletes improves the score; the rest were not scored"


def certify(cpdag: PDAG, score: Score, limit: int = 100_000) -> Certificate:
    """Score the deletes of a class without any restriction, up to a limit.

    Parameters
    ----------
    cpdag : PDAG
        The class.
    score : Score
        The score.
    limit : int
        The largest number of deletes to score.

    Returns
    -------
    Certificate
        Whether the class is a local optimum, as far as that is known.
    """
    best: tuple[float, Delete] | None = None
    checked = 0
    deletes = all_deletes(cpdag)
    for delete in islice(deletes, limit):
        checked += 1
        gain = delete.gain(score, cpdag)
        if best is None or gain > best[0]:
            best = (gain, delete)
    exhaustive = next(deletes, None) is None
    if best is not None and best[0] > tolerance_of(score, cpdag):
        return Certificate(False, checked, exhaustive, best[1], best[0])
    return Certificate(True if exhaustive else None, checked, exhaustive)


def tolerance_of(score: Score, cpdag: PDAG) -> float:
    """Return the gain below which two classes count as tied, for a class of this score."""
    return tie_tolerance(total_score(score, cpdag))


def tie_tolerance(total: float) -> float:
    """Return the largest difference of two scores that counts as a tie.

    Rounding makes equal scores differ in the last digits, by about 1e-12 of the total.  An insert
    must gain more than this; a delete must not lose more, so that the sparser graph wins a tie.

    Parameters
    ----------
    total : float
        The total score of a class.

    Returns
    -------
    float
        1e-12 times the size of the total, or of 1 if the total is smaller.
    """
    return 1e-12 * max(1.0, abs(total))
