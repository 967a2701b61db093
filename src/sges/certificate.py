"""Check whether a class is a local optimum, including operators that the search omitted.

SGES considers only some deletes, and the default strategy leaves out deletes and inserts where
cliques are large; if the assumption about the true graph is wrong, one of the omitted operators may
improve the score.  The certificate scores all deletes and all inserts afterwards, each up to a
limit.  It claims nothing about operators that it did not score, nor about turns.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import isnan

from sges.errors import ScoreError, check_number
from sges.graph.pdag import PDAG
from sges.operators import Delete, Insert, all_deletes, all_inserts
from sges.score.protocol import Score, tie_tolerance, total_score

__all__ = ["Certificate", "certify"]


@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """Whether a class is a local optimum for deletes and for inserts, and how many were scored.

    Parameters
    ----------
    optimal : bool or None
        True if all deletes were scored and none improves the score, False if one does, and None
        if none of the scored deletes does, but some were not scored.
    checked : int
        How many deletes were scored.
    exhaustive : bool
        Whether these are all deletes.
    better : Delete, optional
        The best delete, if it improves the score.
    gain : float, optional
        How much it improves the score.
    inserts : Certificate, optional
        The same for inserts.  A two-phase search may end where an insert improves the score.
    """

    optimal: bool | None
    checked: int
    exhaustive: bool
    better: Delete | Insert | None = None
    gain: float | None = None
    inserts: "Certificate | None" = None

    def __str__(self) -> str:
        if self.inserts is None:
            return self._about("deletes")
        return f"{self._about('deletes')}; {self.inserts._about('inserts')}; turns were not scored"

    __repr__ = __str__

    def _about(self, kind: str) -> str:
        if self.optimal:
            return f"none of the {self.checked:,} {kind} improves the score"
        if self.better is not None:
            beyond = "" if self.exhaustive else f", and not all {kind} were scored"
            return f"{self.better} would gain {self.gain:.6g}{beyond}"
        first = f"none of the first {self.checked:,} {kind} improves the score"
        return f"{first}; the others were not scored"


def certify(cpdag: PDAG, score: Score, limit: int = 100_000) -> Certificate:
    """Score the deletes and the inserts of a class without any restriction, up to a limit.

    Parameters
    ----------
    cpdag : PDAG
        The class.
    score : Score
        The score.
    limit : int
        The largest number of deletes, and of inserts, to score.

    Returns
    -------
    Certificate
        Whether the class is a local optimum, as far as that is known.

    Raises
    ------
    ScoreError
        If the gain of an operator is not a number.
    """
    check_number("limit", limit, whole=True, most=sys.maxsize)
    tolerance = tie_tolerance(total_score(score, cpdag))
    kinds: list[Iterator[Delete | Insert]] = [all_deletes(cpdag), all_inserts(cpdag)]
    certificates = []
    for operators in kinds:
        better, most, checked = None, tolerance, 0
        for operator in islice(operators, limit):
            checked += 1
            gain = operator.gain(score, cpdag)
            if isnan(gain):
                raise ScoreError(f"{operator} gains nan; a score must be finite for every family")
            if gain > most:
                better, most = operator, gain
        exhaustive = next(operators, None) is None
        if better is None:
            certificates.append(Certificate(True if exhaustive else None, checked, exhaustive))
        else:
            certificates.append(Certificate(False, checked, exhaustive, better, most))
    return replace(certificates[0], inserts=certificates[1])
