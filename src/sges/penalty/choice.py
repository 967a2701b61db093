"""What a choice of the penalty leaves behind: the value, the curves it was read off, the cost."""

from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev


@dataclass(frozen=True, slots=True)
class Tried:
    """One candidate: its criterion on each part of the data, and the edges found there."""

    penalty: float
    values: tuple[float, ...]
    """Held-out log-likelihood per record of each fold, or each subsample's instability."""
    edges: tuple[int, ...]
    seconds: float

    @property
    def value(self) -> float:
        """The criterion: the mean over the parts."""
        return fmean(self.values)

    @property
    def mean_edges(self) -> float:
        """The mean number of edges found on a part."""
        return fmean(self.edges)

    def ahead(self, other: "Tried") -> tuple[float, float]:
        """Return how far this one's value is above another's, and the standard error of that.

        Paired: the same parts judge both, and what makes a part hard cancels.
        """
        apart = [a - b for a, b in zip(self.values, other.values, strict=True)]
        return fmean(apart), stdev(apart) / sqrt(len(apart))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one criterion says: its penalty, and the candidates it tried, by rising penalty.

    Those in ``skipped`` were not tried, because the criterion had settled before or because time
    was up.
    """

    method: str
    chosen: Tried
    curve: tuple[Tried, ...]
    skipped: tuple[float, ...] = ()

    @property
    def penalty(self) -> float:
        """The penalty that this criterion chooses."""
        return self.chosen.penalty

    def rows(self) -> list[dict[str, str | float | bool]]:
        """Return the curve as records, ready for a frame or a CSV file.

        ``difference`` is the criterion less that of the chosen candidate, ``error`` its
        standard error over the parts.
        """
        return [self._row(tried) for tried in self.curve]

    def _row(self, tried: Tried) -> dict[str, str | float | bool]:
        difference, error = tried.ahead(self.chosen)
        return {
            "method": self.method,
            "penalty": tried.penalty,
            "value": tried.value,
            "difference": difference,
            "error": error,
            "edges": tried.mean_edges,
            "seconds": tried.seconds,
            "chosen": tried is self.chosen,
        }

    def as_table(self) -> str:
        """Return the curve as lines of text for people; the chosen candidate is marked."""
        lines = [f"{self.method:>11}       value  difference ± error    edges  seconds"]
        for row in self.rows():
            mark = "→" if row["chosen"] else " "
            lines.append(
                f"{mark} {row['penalty']:9g}  {row['value']:10.5g}  {row['difference']:+10.3g} "
                f"± {row['error']:<7.2g} {row['edges']:6.1f}  {row['seconds']:7.2f}"
            )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, repr=False)
class PenaltyChoice:
    """A penalty, the verdicts it follows from, and what they cost.

    The penalty is the largest of the verdicts.  There is none if time was up before one candidate
    was tried: the penalty is then that of the rule of thumb.
    """

    penalty: float
    score: str
    verdicts: tuple[Verdict, ...]
    searches: int = 0
    seconds: float = 0.0
    complete: bool = True

    @property
    def note(self) -> str:
        """One sentence for ``result.notes``."""
        cost = f"{self.searches} searches in {self.seconds:.3g} s"
        if not self.verdicts:
            return f"penalty {self.penalty:.4g}: by the rule of thumb, as time was up after {cost}"
        says = " and ".join(f"{one.method} ({one.penalty:g})" for one in self.verdicts)
        cut = "" if self.complete else ", cut short"
        return f"penalty {self.penalty:g}: chosen by {says}{cut}, with {cost}"

    def rows(self) -> list[dict[str, str | float | bool]]:
        """Return the curves of all verdicts as records, ready for a frame or a CSV file."""
        return [row for verdict in self.verdicts for row in verdict.rows()]

    def as_table(self) -> str:
        """Return the curves as lines of text for people; what each chose is marked."""
        return "\n".join([*(verdict.as_table() for verdict in self.verdicts), self.note])

    def __repr__(self) -> str:
        says = ", ".join(f"{one.method} {one.penalty:g}" for one in self.verdicts)
        cost = f"{self.searches} searches, {self.seconds:.3g} s"
        return f"PenaltyChoice({self.penalty:g}: {says or 'rule of thumb'}; {cost})"
