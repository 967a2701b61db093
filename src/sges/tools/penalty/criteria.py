"""Criteria for choosing a penalty without knowing the true graph.

A criterion divides the table into parts, once.  The graphs that a penalty finds on its ``samples``
have one value each.
Penalties are tried from the largest to the smallest: sparse graphs are found quickly, and dense
ones, which take long, need not be tried once the criterion has settled.

Parts are drawn by record and not by row: a part is an array with the number of records of each
row that it contains, so a row that stands for a thousand records is split like a thousand rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import takewhile
from math import log, pi, prod, sqrt
from statistics import fmean, stdev
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data import Dataset, Kind, Moments
from sges.data.moments import means_apart
from sges.errors import DataError, shown
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.score.discrete import grouped, refine
from sges.score.gaussian.matrix import RIDGE
from sges.tools.metrics import skeleton
from sges.uncertainty.draws import MAX_WITHOUT_REPLACEMENT, subsample, taken

Floats = NDArray[np.float64]

Counts: TypeAlias = NDArray[np.int64]
"""The number of records of each row that a part contains."""

MAX_BEHIND = 2  # a held-out search ends after this many clearly worse candidates in a row
MAX_INSTABILITY = 0.05  # StARS stops at this instability, as its authors recommend
ESS = 1.0  # the equivalent sample size of the prior of discrete families


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate penalty: its criterion on each part of the data, and the edges found there.

    The values are the held-out log-likelihood per record of each fold, or each subsample's
    instability.
    """

    penalty: float
    values: tuple[float, ...]
    edges: tuple[int, ...]
    seconds: float

    @property
    def value(self) -> float:
        """The criterion: the mean over the parts."""
        return fmean(self.values)

    def ahead(self, other: "Candidate") -> tuple[float, float]:
        """Return the difference of this candidate's value from another's, with its standard error.

        The differences are paired: both are evaluated on the same parts, so differences between
        parts cancel.
        """
        apart = [a - b for a, b in zip(self.values, other.values, strict=True)]
        return fmean(apart), stdev(apart) / sqrt(len(apart))


class HeldOut:
    """Held-out log-likelihood per record of the graph found on all other folds.

    Families are fitted without the fold: by ``NormalFolds`` or ``DiscreteFolds``.  Both give the
    same number to all members of a class: a fitted Gaussian is the same whichever member it is
    fitted by, and so is the predictive distribution of BDeu.
    """

    def __init__(self, data: Dataset, count: int, rng: np.random.Generator) -> None:
        if data.records < 2 * count:
            raise DataError(
                f"{data.records} records are too few for {shown(count)} folds of two or more; "
                "use fewer folds"
            )
        parts = folds(data, count, rng)
        self._data, self._training = data, [records_of(data) - part for part in parts]
        judge = NormalFolds(data, parts) if data.continuous else DiscreteFolds(data, parts)
        # Neighboring penalties find nearly the same graphs, so families are cached.
        self._family: Callable[[int, int, NodeSet], float] = cache(judge.family)

    def samples(self) -> Iterator[Dataset]:
        """Yield for each fold the records of all others."""
        return (taken(self._data, counts) for counts in self._training)

    def values(self, graphs: Sequence[PDAG]) -> tuple[float, ...]:
        """Return the log-likelihood per record of each fold."""
        return tuple(
            sum(self._family(fold, y, dag.parents(y)) for y in range(dag.n))
            for fold, dag in enumerate(map(pdag_to_dag, graphs))
        )

    def settled(self, tried: Sequence[Candidate]) -> bool:
        """Return whether the last few are all worse than the best by more than a standard error."""
        last = tried[-MAX_BEHIND:]
        return len(last) == MAX_BEHIND and not any(candidate in last for candidate in _level(tried))

    def best(self, tried: Sequence[Candidate]) -> Candidate:
        """Return the largest penalty that is not worse than the best by more than a standard error.

        The best penalty itself gives too many edges: a superfluous edge hardly lowers the
        likelihood of a fold, whereas a missing edge lowers it a lot.
        """
        return _level(tried)[0]


def _level(tried: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that are not worse than the best by more than a standard error."""
    best = max(tried, key=lambda candidate: candidate.value)
    gaps = [(candidate, *best.ahead(candidate)) for candidate in tried]
    return [candidate for candidate, ahead, error in gaps if not ahead > error]


class Stability:
    """Edge instability over subsamples of 10 √m records, or 80 % of few (StARS).

    References
    ----------
    Liu, Roeder & Wasserman (2010), Stability approach to regularization selection (StARS) for high
    dimensional graphical models, NeurIPS 23.
    """

    def __init__(self, data: Dataset, count: int, rng: np.random.Generator) -> None:
        size = int(min(0.8 * data.records, 10 * data.records**0.5))
        if size < 2:
            raise DataError(f"{data.records} records are too few for subsampling")
        self._data = data
        self._parts = [sampled(data.weights, data.rows, size, rng) for _ in range(count)]

    def samples(self) -> Iterator[Dataset]:
        """Yield the subsamples."""
        return (taken(self._data, counts) for counts in self._parts)

    def values(self, graphs: Sequence[PDAG]) -> tuple[float, ...]:
        """Return the mean distance of each skeleton from the others, as a share of all pairs.

        Its mean is the instability of StARS, 2θ(1 − θ) averaged over the pairs of nodes, with the
        share θ of subsamples that join a pair, times B / (B − 1) for B subsamples.
        """
        skeletons = [skeleton(graph) for graph in graphs]
        pairs = max(graphs[0].n * (graphs[0].n - 1) // 2, 1) * (len(graphs) - 1)
        return tuple(sum(len(one ^ other) for other in skeletons) / pairs for one in skeletons)

    def settled(self, tried: Sequence[Candidate]) -> bool:
        """Return whether the last candidate is beyond the threshold."""
        return tried[-1].value > MAX_INSTABILITY

    def best(self, tried: Sequence[Candidate]) -> Candidate:
        """Return the last candidate that, like all before it, is stable; the first if none is."""
        stable = list(takewhile(lambda one: one.value <= MAX_INSTABILITY, tried))
        return stable[-1] if stable else tried[0]


# Held-out likelihoods


class NormalFolds:
    """Linear regressions with normal errors, from the moments of each fold.

    A discrete column is written as the indicators of all its levels except the last, as in
    ``DegenerateGaussian``.
    """

    def __init__(self, data: Dataset, parts: Sequence[Counts]) -> None:
        written, widths = _as_numbers(data)
        test = [Moments.of(taken(written, part)) for part in parts]
        train = [reduce(Moments.merge, test[:k] + test[k + 1 :]) for k in range(len(test))]
        self._columns = np.split(np.arange(widths.sum()), np.cumsum(widths)[:-1])
        whole = np.sqrt(np.diagonal(reduce(Moments.merge, test).covariance))
        self._scale = np.where(whole > 0, whole, 1.0)
        # An indicator may be constant without the fold: one pseudo-record keeps it finite.
        is_indicator = np.repeat([kind is Kind.DISCRETE for kind in data.kinds], widths)
        ridge = np.where(is_indicator, 1 / data.records, RIDGE)
        self._train = [self._unit(m.covariance) + np.diag(ridge) for m in train]
        # The second moments of a fold are around the means of all others.
        steps = [means_apart(others, own) for own, others in zip(test, train, strict=True)]
        self._test = [
            self._unit(own.covariance + np.outer(step, step))
            for own, step in zip(test, steps, strict=True)
        ]

    def _unit(self, covariance: Floats) -> Floats:
        return covariance / self._scale[:, None] / self._scale

    def family(self, fold: int, y: int, parents: NodeSet) -> float:
        """Return the contribution of y, given its parents, to the log-likelihood per record."""
        train, test, targets = self._train[fold], self._test[fold], self._columns[y]
        regressors = np.concatenate([targets[:0], *(self._columns[v] for v in nodes(parents))])
        weights = np.linalg.solve(
            train[np.ix_(regressors, regressors)], train[np.ix_(regressors, targets)]
        )
        rest = train[np.ix_(targets, targets)] - train[np.ix_(targets, regressors)] @ weights
        rows = np.concatenate([targets, regressors])
        by = np.vstack([np.eye(len(targets)), -weights])
        errors = by.T @ test[np.ix_(rows, rows)] @ by
        fit = np.linalg.slogdet(rest)[1] + float(np.trace(np.linalg.solve(rest, errors)))
        scale = 2 * float(np.log(self._scale[targets]).sum())
        return -0.5 * (len(targets) * log(2 * pi) + scale + float(fit))


class DiscreteFolds:
    """Conditional probability tables with the prior of BDeu, from the counts of each fold."""

    def __init__(self, data: Dataset, parts: Sequence[Counts]) -> None:
        self._data, self._test = data, list(parts)
        self._train = [records_of(data) - part for part in parts]

    def family(self, fold: int, y: int, parents: NodeSet) -> float:
        """Return the contribution of y, given its parents, to the log-likelihood per record."""
        codes, arities, train = self._data.codes, self._data.arities.tolist(), self._train[fold]
        groups = grouped(codes, arities, nodes(parents))
        cells = refine(groups, codes[y], arities[y])
        judged = np.flatnonzero(self._test[fold])
        seen = np.bincount(cells, train)[cells[judged]]
        of = np.bincount(groups, train)[groups[judged]]
        prior = ESS / prod(arities[v] for v in nodes(parents))
        logs = np.log(seen + prior / arities[y]) - np.log(of + prior)
        times = self._test[fold][judged]
        return float(times @ logs) / float(times.sum())


def _as_numbers(data: Dataset) -> tuple[Dataset, NDArray[np.int64]]:
    """Return a table of numbers only, and the number of its columns for each column of the data."""
    if not data.discrete:
        return data, np.ones(data.n, dtype=np.int64)
    blocks = {v: data.values[i : i + 1] for i, v in enumerate(data.continuous)}
    for v, codes in zip(data.discrete, data.codes, strict=True):
        levels = np.unique(codes)  # those that occur; a constant has one column of ones
        blocks[v] = (codes == levels[: max(len(levels) - 1, 1), None]).astype(np.float64)
    widths = np.array([len(blocks[v]) for v in range(data.n)])
    names = tuple(f"{data.names[v]}/{i}" for v in range(data.n) for i in range(widths[v]))
    values, no_codes = np.concatenate([blocks[v] for v in range(data.n)]), data.codes[:0]
    kinds, no_levels = (Kind.CONTINUOUS,) * len(names), (None,) * len(names)
    return Dataset(names, kinds, no_levels, values, no_codes, data.weights), widths


# Parts of a table


def folds(data: Dataset, count: int, rng: np.random.Generator) -> list[Counts]:
    """Return a random partition of the records into ``count`` folds of nearly equal size."""
    if data.weights is None:
        fold_of = rng.permutation(data.rows) % count
        return [(fold_of == k).astype(np.int64) for k in range(count)]
    remaining, parts = data.weights.copy(), list[Counts]()
    for k in range(count):
        size = data.records // count + (k < data.records % count)
        parts.append(sampled(remaining, data.rows, size, rng))
        remaining -= parts[-1]
    return parts


def sampled(weights: Counts | None, rows: int, size: int, rng: np.random.Generator) -> Counts:
    """Return ``size`` of the records, drawn without replacement."""
    if weights is not None and (total := int(weights.sum())) > MAX_WITHOUT_REPLACEMENT:
        raise DataError(
            f"{total} weighted records are more than can be drawn from "
            f"({MAX_WITHOUT_REPLACEMENT}); choose the penalty on a sample of them"
        )
    return subsample(weights, rows, size, rng)


def records_of(data: Dataset) -> Counts:
    """Return how many records each row stands for."""
    return np.ones(data.rows, dtype=np.int64) if data.weights is None else data.weights
