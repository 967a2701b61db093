"""What counts contribute to a discrete score: n ln n for the likelihood, ln Γ for BDeu."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.score.counts import Floats

SLICE = 2**15
"""Terms computed at a time."""

Term: TypeAlias = Callable[[NDArray[Any]], Floats]
"""What each count of an array of counts contributes to a score."""


@dataclass(frozen=True, eq=False, slots=True)
class Tabulated:
    """A term whose values for all counts that can occur are known."""

    values: Floats

    def __call__(self, counts: NDArray[Any]) -> Floats:
        """Look up what counts contribute."""
        return self.values.take(counts)


@dataclass(frozen=True, slots=True)
class Terms:
    """What the counts n_jk and n_j of a family contribute, those above zero a constant more.

    The constants are apart because they may be large and nearly cancel: added up with the
    rest, they would leave rounding of their own size.
    """

    cell: Term
    configuration: Term
    per_cell: float = 0.0
    per_surplus: float = 0.0  # for each occupied cell beyond one per occupied configuration

    @property
    def tabulated(self) -> tuple[Floats, Floats] | None:
        """The values of both, if they are known for all counts."""
        if isinstance(self.cell, Tabulated) and isinstance(self.configuration, Tabulated):
            return self.cell.values, self.configuration.values
        return None

    @property
    def has_constants(self) -> bool:
        """Whether counts above zero contribute anything more."""
        return bool(self.per_cell or self.per_surplus)

    def total(self, joint: NDArray[Any], margin: NDArray[Any]) -> Floats:
        """Return the sum over the counts, by column."""
        sums = column_sums(self.cell, joint) - column_sums(self.configuration, margin)
        if not self.has_constants:
            return sums
        occupied = (np.count_nonzero(counts, axis=0) for counts in (joint, margin))
        return self.with_constants(np.stack([sums, *occupied]))

    def with_constants(self, found: Floats) -> Floats:
        """Add the constants to sums; below them come the numbers of counts above zero."""
        sums: Floats = found[0]
        if len(found) > 1:
            cells, configurations = found[1:]
            sums += cells * self.per_cell + (cells - configurations) * self.per_surplus
        return sums


def column_sums(term: Term, counts: NDArray[Any]) -> Floats:
    """Return the sum of the terms of each column.

    Slice by slice, so that the terms stay in the cache: written out in full, a table of a few
    thousand cells takes several times as long.
    """
    step = max(1, SLICE * len(counts) // max(1, counts.size))
    total: Floats = term(counts[:step]).sum(axis=0)
    for low in range(step, len(counts), step):
        total = total + term(counts[low : low + step]).sum(axis=0)
    return total


def entropy_term(counts: NDArray[Any]) -> Floats:
    """Return n ln n, which is zero at zero."""
    found: Floats = counts * np.log(np.maximum(counts, 1), dtype=np.float64)
    return found


def rising_term(counts: NDArray[Any], alpha: float) -> Floats:
    """Return ln Γ(n + α) − ln Γ(1 + α), or zero at zero.

    What is missing to ln Γ(n + α) − ln Γ(α) is ln α, a constant for n > 0.  It is kept apart
    as α = ess / q may be less than any floating-point number: its logarithm is not.
    """
    from scipy.special import gammaln

    found: Floats = gammaln(np.maximum(counts, 1) + alpha) - gammaln(1 + alpha)
    return found
