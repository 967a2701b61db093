"""Held-out log-likelihoods of families: fitted on all folds but one, judged on that one.

    NormalFolds     linear regressions with normal errors.  A discrete column is written as the
                    indicators of all its levels but the last, as in ``sges.score.mixed``
    DiscreteFolds   conditional probability tables with the prior of BDeu

Both give one number to all members of a class: a fitted Gaussian is the same whichever member it
is fitted by, and so is the predictive distribution of BDeu.  Families are remembered, because
neighbouring penalties find much the same graphs.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from math import log, pi, prod

import numpy as np
from numpy.typing import NDArray

from sges.data import Dataset, Kind, Moments
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.penalty.parts import Counts, pooled, records_of, taken
from sges.score.correlation import RIDGE
from sges.score.counts import plain_codes, refine, tally, together

Floats = NDArray[np.float64]

ESS = 1.0
"""The equivalent sample size of the prior of discrete families."""


class Folds(ABC):
    """The families of one table, fitted without a fold and judged on it."""

    training: Sequence[Dataset | Moments]
    """Per fold, what the score of all other folds is made of."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, NodeSet], float] = {}

    def per_record(self, fold: int, graph: PDAG) -> float:
        """Return the log-likelihood of a fold under a class fitted to the others, per record."""
        dag = pdag_to_dag(graph)
        return sum(self.family(fold, y, dag.parents(y)) for y in range(dag.n))

    def family(self, fold: int, y: int, parents: NodeSet) -> float:
        """Return what y contributes, given its parents."""
        key = (fold, y, parents)
        if (found := self._known.get(key)) is None:
            found = self._known[key] = self._family(fold, y, parents)
        return found

    @abstractmethod
    def _family(self, fold: int, y: int, parents: NodeSet) -> float: ...


class NormalFolds(Folds):
    """Linear Gaussian families, from the moments of each fold.

    With ``summed``, the score is made of moments too, which saves it a pass over the records.
    """

    def __init__(self, data: Dataset, parts: Sequence[Counts], *, summed: bool) -> None:
        super().__init__()
        written, widths = _written(data)
        test = [Moments.of(taken(written, part)) for part in parts]
        train = [reduce(pooled, test[:k] + test[k + 1 :]) for k in range(len(test))]
        if summed and not data.discrete:
            self.training = train
        else:
            self.training = [taken(data, records_of(data) - part) for part in parts]
        starts = np.cumsum(widths) - widths
        self._columns = [
            np.arange(s, s + w) for s, w in zip(starts.tolist(), widths.tolist(), strict=True)
        ]
        whole = np.sqrt(np.diagonal(reduce(pooled, test).covariance))
        self._scale = np.where(whole > 0, whole, 1.0)
        # An indicator may be constant without the fold: one imaginary record keeps it finite.
        ridge = np.where(_is_indicator(data, widths), 1 / data.records, RIDGE)
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


def _written(data: Dataset) -> tuple[Dataset, NDArray[np.int64]]:
    """Return a table of numbers only, and as how many columns each column is written."""
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
    """Return an indicator per level that occurs, but for the last; of a constant, one of zeros."""
    levels = np.unique(data.codes[row])
    is_level: NDArray[np.bool_] = data.codes[row] == levels[: max(len(levels) - 1, 1), None]
    return is_level.astype(np.float64)


def _is_indicator(data: Dataset, widths: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.repeat([kind is Kind.DISCRETE for kind in data.kinds], widths)
