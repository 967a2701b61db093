"""What makes one penalty better than another, judged without knowing the truth.

Each criterion cuts the table into parts, once; the graphs that a penalty finds on the parts are
then judged.  Penalties come from the largest to the smallest: sparse graphs are found quickly, and
dense ones, which take long, need not be tried once the criterion has settled.

    HeldOut     the log-likelihood of each fold under the graph found on all others: the largest
                penalty that is not behind the best by more than one standard error
    Stability   how much the edges found on subsamples differ: the smallest penalty that, like all
                larger ones, is below the threshold (StARS: Liu, Roeder & Wasserman 2010)

Parts are drawn by record and not by row: a part is an array with the number of records of each
row that it contains, so a row that stands for a thousand records is split like a thousand rows.

Held-out likelihoods are those of

    NormalFolds     linear regressions with normal errors.  A discrete column is written as the
                    indicators of all its levels except the last, as in ``DegenerateGaussian``
    DiscreteFolds   conditional probability tables with the prior of BDeu

Both give the same number to all members of a class: a fitted Gaussian is the same whichever member
it is fitted by, and so is the predictive distribution of BDeu.  Families are cached, because
neighboring penalties find nearly the same graphs.

References
----------
Liu, Roeder & Wasserman (2010), Stability approach to regularization selection (StARS) for high
dimensional graphical models, NeurIPS 23.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import takewhile
from math import log, pi, prod, sqrt
from statistics import fmean, stdev
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data import Dataset, Kind, Moments
from sges.errors import DataError
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG
from sges.metrics import skeleton
from sges.nodeset import NodeSet, nodes
from sges.score.discrete import plain_codes, refine, tally, together
from sges.score.gaussian.matrix import RIDGE

Floats = NDArray[np.float64]

Counts: TypeAlias = NDArray[np.int64]
"""The number of records of each row that a part contains."""

MAX_WEIGHTED_RECORDS = 10**9 - 1
"""The most records that weighted rows can be drawn from: the limit of NumPy's generator."""

MAX_BEHIND = 2
"""A held-out search ends after this many candidates in a row that are clearly worse."""

MAX_INSTABILITY = 0.05
"""The instability at which StARS stops, as its authors recommend."""

ESS = 1.0
"""The equivalent sample size of the prior of discrete families."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate penalty: its criterion on each part of the data, and the edges found there.

    Parameters
    ----------
    penalty : float
        The penalty.
    values : tuple of float
        Held-out log-likelihood per record of each fold, or each subsample's instability.
    edges : tuple of int
        The number of edges found on each part.
    seconds : float
        How long the searches took.
    """

    penalty: float
    values: tuple[float, ...]
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

    def ahead(self, other: "Candidate") -> tuple[float, float]:
        """Return the difference of this candidate's value from another's, with its standard error.

        The differences are paired: both are judged on the same parts, so what makes a part hard
        cancels.

        Parameters
        ----------
        other : Candidate
            A candidate with values on the same parts.

        Returns
        -------
        tuple of float
            The mean difference and its standard error.
        """
        apart = [a - b for a, b in zip(self.values, other.values, strict=True)]
        return fmean(apart), stdev(apart) / sqrt(len(apart))


class Criterion(ABC):
    """Parts of the data, and a judgement of the graphs that each candidate finds there.

    A part is given to the score as a ``Dataset`` or, if ``summed``, as ``Moments``.
    """

    samples: Sequence[Dataset | Moments]
    """What to search on."""

    @abstractmethod
    def values(self, graphs: Sequence[PDAG]) -> tuple[float, ...]:
        """Return one value per sample, of the graphs that one candidate found."""

    @abstractmethod
    def settled(self, tried: Sequence[Candidate]) -> bool:
        """Tell whether smaller penalties need not be tried; ``tried`` is by falling penalty."""

    @abstractmethod
    def best(self, tried: Sequence[Candidate]) -> Candidate:
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

    def settled(self, tried: Sequence[Candidate]) -> bool:
        """Tell whether the last few are all behind the best by more than a standard error."""
        likeliest, last = max(tried, key=lambda one: one.value), tried[-MAX_BEHIND:]
        return len(last) == MAX_BEHIND and all(_behind(one, likeliest) for one in last)

    def best(self, tried: Sequence[Candidate]) -> Candidate:
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

    def settled(self, tried: Sequence[Candidate]) -> bool:
        """Tell whether the last candidate is beyond the threshold."""
        return tried[-1].value > MAX_INSTABILITY

    def best(self, tried: Sequence[Candidate]) -> Candidate:
        """Return the last candidate that, like all before it, is stable; the first if none is."""
        stable = list(takewhile(lambda one: one.value <= MAX_INSTABILITY, tried))
        return stable[-1] if stable else tried[0]


CRITERIA: dict[str, Callable[..., Criterion]] = {
    "held-out": HeldOut,
    "stability": Stability,
}
"""The criteria by name."""


def _behind(one: Candidate, best: Candidate) -> bool:
    ahead, error = best.ahead(one)
    return ahead > error


# Held-out likelihoods


class Folds(ABC):
    """The families of one table, fitted without a fold and judged on it."""

    training: Sequence[Dataset | Moments]
    """Per fold, what the score of all other folds is made of."""

    def __init__(self) -> None:
        self.family: Callable[[int, int, NodeSet], float] = cache(self._family)

    def per_record(self, fold: int, graph: PDAG) -> float:
        """Return the log-likelihood of a fold under a class fitted to the others, per record."""
        dag = pdag_to_dag(graph)
        return sum(self.family(fold, y, dag.parents(y)) for y in range(dag.n))

    @abstractmethod
    def _family(self, fold: int, y: int, parents: NodeSet) -> float:
        """Return what y contributes to the likelihood of a fold, given its parents."""


class NormalFolds(Folds):
    """Linear Gaussian families, from the moments of each fold.

    With ``summed``, the score is made of moments too, which saves it a pass over the records.
    """

    def __init__(self, data: Dataset, parts: Sequence[Counts], *, summed: bool) -> None:
        super().__init__()
        written, widths = _as_numbers(data)
        test = [Moments.of(taken(written, part)) for part in parts]
        train = [reduce(Moments.merge, test[:k] + test[k + 1 :]) for k in range(len(test))]
        if summed and not data.discrete:
            self.training = train
        else:
            self.training = [taken(data, records_of(data) - part) for part in parts]
        starts = np.cumsum(widths) - widths
        self._columns = [
            np.arange(s, s + w) for s, w in zip(starts.tolist(), widths.tolist(), strict=True)
        ]
        whole = np.sqrt(np.diagonal(reduce(Moments.merge, test).covariance))
        self._scale = np.where(whole > 0, whole, 1.0)
        # An indicator may be constant without the fold: one imaginary record keeps it finite.
        is_indicator = np.repeat([kind is Kind.DISCRETE for kind in data.kinds], widths)
        ridge = np.where(is_indicator, 1 / data.records, RIDGE)
        self._train = [self._unit(m.covariance) + np.diag(ridge) for m in train]
        self._test = [self._around(a, b) for a, b in zip(test, train, strict=True)]

    def _unit(self, covariance: Floats) -> Floats:
        scaled: Floats = covariance / self._scale[:, None] / self._scale
        return scaled

    def _around(self, test: Moments, train: Moments) -> Floats:
        """Return the second moments of a fold around the means of all others."""
        step = test.mean - train.mean
        return self._unit(test.covariance + np.outer(step, step))

    def _family(self, fold: int, y: int, parents: NodeSet) -> float:
        train, test, own = self._train[fold], self._test[fold], self._columns[y]
        given = np.concatenate([own[:0], *(self._columns[v] for v in nodes(parents))])
        weights = np.linalg.solve(train[np.ix_(given, given)], train[np.ix_(given, own)])
        rest = train[np.ix_(own, own)] - train[np.ix_(own, given)] @ weights
        rows, by = np.concatenate([own, given]), np.vstack([np.eye(len(own)), -weights])
        errors = by.T @ test[np.ix_(rows, rows)] @ by
        fit = np.linalg.slogdet(rest)[1] + float(np.trace(np.linalg.solve(rest, errors)))
        scale = 2 * float(np.log(self._scale[own]).sum())
        return -0.5 * (len(own) * log(2 * pi) + scale + float(fit))


class DiscreteFolds(Folds):
    """Conditional probability tables, from the counts of each fold."""

    def __init__(self, data: Dataset, parts: Sequence[Counts]) -> None:
        super().__init__()
        self._data, self._test = data, list(parts)
        self._codes = plain_codes(data.codes)
        self._train = [records_of(data) - part for part in parts]
        self.training = [taken(data, counts) for counts in self._train]

    def _family(self, fold: int, y: int, parents: NodeSet) -> float:
        codes, arities, train = self._codes, self._data.arities.tolist(), self._train[fold]
        groups = together(self._data.rows)
        for v in nodes(parents):
            groups = refine(groups, codes[v], arities[v])
        cells = refine(groups, codes[y], arities[y])
        judged = np.flatnonzero(self._test[fold])
        seen = tally(cells, train)[cells.ids[judged]]
        of = tally(groups, train)[groups.ids[judged]]
        prior = ESS / prod(arities[v] for v in nodes(parents))
        logs = np.log(seen + prior / arities[y]) - np.log(of + prior)
        times = self._test[fold][judged]
        return float(times @ logs) / float(times.sum())


def _as_numbers(data: Dataset) -> tuple[Dataset, NDArray[np.int64]]:
    """Return a table of numbers only, and the number of its columns for each column of the data."""
    if not data.discrete:
        return data, np.ones(data.n, dtype=np.int64)
    blocks = {v: data.values[i : i + 1] for i, v in enumerate(data.continuous)}
    blocks |= {v: _indicators(data, i) for i, v in enumerate(data.discrete)}
    widths = np.array([len(blocks[v]) for v in range(data.n)])
    names = tuple(f"{data.names[v]}/{i}" for v in range(data.n) for i in range(widths[v]))
    written = Dataset(
        names=names,
        kinds=(Kind.CONTINUOUS,) * len(names),
        levels=(None,) * len(names),
        values=np.concatenate([blocks[v] for v in range(data.n)]),
        codes=np.empty((0, data.rows), dtype=np.uint8),
        weights=data.weights,
    )
    return written, widths


def _indicators(data: Dataset, row: int) -> Floats:
    """Return indicators of all levels that occur but the last; zeros for a constant."""
    levels = np.unique(data.codes[row])
    is_level: NDArray[np.bool_] = data.codes[row] == levels[: max(len(levels) - 1, 1), None]
    return is_level.astype(np.float64)


# Parts of a table


def folds(data: Dataset, count: int, rng: np.random.Generator) -> list[Counts]:
    """Return a random partition of the records into ``count`` folds of nearly equal size."""
    if data.weights is None:
        fold_of = rng.permutation(data.rows) % count
        return [(fold_of == k).astype(np.int64) for k in range(count)]
    left, found = data.weights.copy(), list[Counts]()
    for k in range(count):
        size = data.records // count + (k < data.records % count)
        found.append(_drawn(left, size, rng))
        left -= found[-1]
    return found


def subsample(data: Dataset, size: int, rng: np.random.Generator) -> Counts:
    """Return ``size`` of the records, drawn without replacement."""
    if data.weights is not None:
        return _drawn(data.weights, size, rng)
    counts = np.zeros(data.rows, dtype=np.int64)
    counts[rng.permutation(data.rows)[:size]] = 1
    return counts


def taken(data: Dataset, counts: Counts) -> Dataset:
    """Return a part of a table, without the rows of which it contains no record."""
    kept = counts > 0
    return replace(
        data,
        values=np.ascontiguousarray(data.values[:, kept]),
        codes=np.ascontiguousarray(data.codes[:, kept]),
        weights=None if data.weights is None else counts[kept],
    )


def records_of(data: Dataset) -> Counts:
    """Return how many records each row stands for."""
    return np.ones(data.rows, dtype=np.int64) if data.weights is None else data.weights


def _drawn(counts: Counts, size: int, rng: np.random.Generator) -> Counts:
    if (total := int(counts.sum())) > MAX_WEIGHTED_RECORDS:
        raise DataError(
            f"{total} weighted records are more than can be drawn from ({MAX_WEIGHTED_RECORDS}); "
            "choose the penalty on a sample of them"
        )
    return rng.multivariate_hypergeometric(counts, size, method="marginals").astype(np.int64)
