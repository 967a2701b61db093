"""What makes one penalty better than another, judged without knowing the truth.

Each criterion cuts the table into parts, once; the graphs that a penalty finds on the parts are
then judged.  Penalties come from the largest to the smallest, as the searches do: sparse graphs are
found quickly, and what is dense and slow need not be tried once the criterion has settled.

    HeldOut     the log-likelihood of each fold under the graph found on all others: the largest
                penalty that is not behind the best by more than one standard error
    Stability   how much the edges found on subsamples differ: the smallest penalty that, like all
                larger ones, is below the threshold (StARS: Liu, Roeder & Wasserman 2010)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from sges.data import Dataset, Moments
from sges.errors import DataError
from sges.graph.pdag import PDAG
from sges.metrics import skeleton
from sges.penalty.choice import Tried
from sges.penalty.likelihood import DiscreteFolds, Folds, NormalFolds
from sges.penalty.parts import folds, subsample, taken

PATIENCE = 2
"""So many candidates in a row that are clearly worse than the best end a held-out search."""

UNSTABLE = 0.05
"""The instability beyond which StARS does not go, as its authors recommend."""


class Criterion(ABC):
    """Parts of the data, and a verdict on the graphs that each candidate finds there.

    A part is given to the score as a ``Dataset``, or ``summed`` up as ``Moments``.
    """

    samples: Sequence[Dataset | Moments]
    """What to search on."""

    @abstractmethod
    def values(self, graphs: Sequence[PDAG]) -> tuple[float, ...]:
        """Return one value per sample, of the graphs that one candidate found."""

    @abstractmethod
    def settled(self, tried: Sequence[Tried]) -> bool:
        """Tell whether smaller penalties need not be tried; ``tried`` is by falling penalty."""

    @abstractmethod
    def best(self, tried: Sequence[Tried]) -> Tried:
        """Return the candidate to choose; ``tried`` is by falling penalty, and not empty."""


class HeldOut(Criterion):
    """Held-out log-likelihood per record, by cross-validation."""

    def __init__(
        self, data: Dataset, count: int, rng: np.random.Generator, *, summed: bool = False
    ) -> None:
        if data.records < 2 * count:
            raise DataError(
                f"{data.records} records are too few for {count} folds of two or more; "
                "use fewer folds"
            )
        parts = folds(data, count, rng)
        self._folds: Folds = (
            NormalFolds(data, parts, summed=summed)
            if data.continuous
            else DiscreteFolds(data, parts)
        )
        self.samples = self._folds.training

    def values(self, graphs: Sequence[PDAG]) -> tuple[float, ...]:
        """Return the log-likelihood per record of each fold."""
        return tuple(self._folds.per_record(k, graph) for k, graph in enumerate(graphs))

    def settled(self, tried: Sequence[Tried]) -> bool:
        """Tell whether the last few are all behind the best by more than a standard error."""
        likeliest, last = max(tried, key=lambda one: one.value), tried[-PATIENCE:]
        return len(last) == PATIENCE and all(_behind(one, likeliest) for one in last)

    def best(self, tried: Sequence[Tried]) -> Tried:
        """Return the largest penalty within a standard error of the likeliest.

        The likeliest itself has too many edges: one that is superfluous costs a fold next to
        nothing, and one that is missing costs it much.
        """
        likeliest = max(tried, key=lambda one: one.value)
        return next(one for one in tried if not _behind(one, likeliest))


class Stability(Criterion):
    """Edge instability over subsamples of 10 √m records, or 80 % of few."""

    def __init__(
        self, data: Dataset, count: int, rng: np.random.Generator, *, summed: bool = False
    ) -> None:
        size = int(min(0.8 * data.records, 10 * data.records**0.5))
        if size < 2:
            raise DataError(f"{data.records} records are too few to draw subsamples of")
        parts = [taken(data, subsample(data, size, rng)) for _ in range(count)]
        self.samples = [Moments.of(part) for part in parts] if summed else parts

    def values(self, graphs: Sequence[PDAG]) -> tuple[float, ...]:
        """Return the mean distance of each skeleton from the others, as a share of all pairs.

        Its mean is the instability of StARS, 2θ(1 − θ) averaged over the pairs of nodes, with the
        share θ of subsamples that join a pair, times B / (B − 1) for B subsamples.
        """
        found = [skeleton(graph) for graph in graphs]
        pairs = max(graphs[0].n * (graphs[0].n - 1) // 2, 1) * (len(found) - 1)
        return tuple(sum(len(one ^ other) for other in found) / pairs for one in found)

    def settled(self, tried: Sequence[Tried]) -> bool:
        """Tell whether the last candidate is beyond the threshold."""
        return tried[-1].value > UNSTABLE

    def best(self, tried: Sequence[Tried]) -> Tried:
        """Return the last candidate that, like all before it, is stable; the first if none is."""
        stable = tried[0]
        for one in tried:
            if one.value > UNSTABLE:
                break
            stable = one
        return stable


CRITERIA: dict[str, Callable[..., Criterion]] = {
    "held-out": HeldOut,
    "stability": Stability,
}
"""The criteria by name."""


def _behind(one: Tried, best: Tried) -> bool:
    ahead, error = best.ahead(one)
    return ahead > error
