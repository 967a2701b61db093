r"""The functions of single variables that predict others, found by an additive model.

A score of curved relations represents a variable by several columns, and every unnecessary column
does harm: if y = f(a) + g(b) + noise, then the square of y contains the product f(a) g(b), which no
sum of functions of a and of b describes; it suggests edges to other variables that contain it.
A variable needs more than one column only as a *predictor* of others.  So we determine which
functions of each variable predict the others, in four steps on a sample of the rows:

1. Every continuous variable gets candidates: its normal score Φ⁻¹(rank / (m + 1)), and the Legendre
   polynomials of its rank.
2. Edges v → t of an acyclic graph are added greedily, while the candidates of v improve the
   regression of the normal score of t on the candidates of all its parents by more than their BIC
   penalty (the causal additive model of Bühlmann, Peters & Ernest 2014).  Without the order, a
   child would be given functions that predict its parents.
3. Jumps of v are candidates as well, where a step improves one of these regressions.
4. From the last variable to the first, v is given the functions by which these regressions predict
   its children: their normal scores, and the functions that the children themselves were given.
   Few directions span them all.  The highest degrees are left out if they cost more than they gain.

This graph is used only to choose functions; the score compares graphs with any order.

If no variable needs more than one column, this column is its normal score or its values.  Values
are better for linear relations.  Normal scores are better where they predict more, and where tails
are heavy: a correlation of independent values with heavy tails depends on a few records, and is
often so large that it looks like an edge.
"""

from collections.abc import Sequence
from graphlib import TopologicalSorter
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from sges.data.concerns import MAX_KURTOSIS, MAX_SKEWNESS, shape
from sges.data.dataset import Dataset
from sges.score.gaussian.bic import rank_scores
from sges.score.gaussian.matrix import RIDGE, Floats
from sges.tools.curved.functions import Functions, basis, leading_factor

MAX_DEGREE = 8  # the largest degree of the polynomials tried
MAX_CANDIDATES = 6_000  # candidate columns of a table; in wide tables a variable has fewer
MAX_SAMPLE_ROWS = 1 << 14  # about how many rows are examined
MAX_SAMPLE_CELLS = 1 << 25  # about how many values of candidate columns at a time: 256 MiB
EDGE_RECORDS = 2_000  # records counted at most when edges are added: weak edges need no functions
MAX_JUMPS = 4  # jumps of one variable
MIN_TAIL_ROWS = 20  # rows of a column whose tails are examined
MIN_STEP_VARIANCE = 1e-4  # the least variance of a step given its variable's other candidates


def choose_functions(dataset: Dataset, penalty: float) -> list[Functions]:
    """Return functions of each continuous variable; none if each represents itself.

    A missing value counts as the mean of its column here.
    """
    m, n = dataset.records, dataset.n
    of_records = sum((2 * d) ** 3 <= m for d in range(1, MAX_DEGREE + 1))  # half their cube root
    degree = min(of_records, MAX_CANDIDATES // max(n, 1) - 1)
    if not dataset.continuous or n < 2:
        return []
    by_score = has_heavy_tails(dataset)
    if degree >= 2:
        model = _Additive(dataset, degree, penalty)
        functions = model.fitted_functions()
        if any(f.weights is not None for f in functions):
            return functions
        by_score = by_score or model.is_skewed()
    return [Functions()] * len(dataset.continuous) if by_score else []


def has_heavy_tails(dataset: Dataset) -> bool:
    """Return whether a column has tails with which correlations depend on a few records."""
    for column in dataset.values:
        seen = ~np.isnan(column)
        if np.count_nonzero(seen) < MIN_TAIL_ROWS:
            continue
        weights = None if dataset.weights is None else dataset.weights[seen]
        _, _, skewness, kurtosis = shape(_scaled(column[seen]), weights)
        if abs(skewness) >= MAX_SKEWNESS or kurtosis >= MAX_KURTOSIS:
            return True
    return False


def sample_of(dataset: Dataset, most: int) -> NDArray[np.intp] | slice:
    """Return about this number of rows, the same ones in any order of the rows and columns.

    The rows are sorted by a hash of their values, to which each column contributes a number that
    depends on all of its values.  Of equal rows, a share is taken.
    """
    step = max(1, dataset.rows // most)
    if step == 1:
        return slice(None)
    columns = [*dataset.values, *dataset.codes]
    if dataset.weights is not None:
        columns.append(dataset.weights)
    total = np.zeros(dataset.rows, np.uint64)
    for column in columns:
        bits = _mixed((column + 0.0).astype(np.float64).view(np.uint64))  # −0 becomes 0
        total += _mixed(bits + bits.sum(dtype=np.uint64))
    return np.argsort(total, kind="stable")[::step]


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return integers of which every bit depends on all bits (the finalizer of SplitMix64)."""
    bits = (bits ^ bits >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ bits >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return bits ^ bits >> np.uint64(31)


class _Additive:
    """Regressions of every variable on candidate columns of its parents, in a sample of rows.

    The variables are the continuous ones, then the discrete ones.  Each has a block of candidates,
    which are uncorrelated and have unit variance; blocks that are narrower than others end with
    columns of zeros.  What is predicted of a continuous variable is its normal score, the first
    candidate; of a discrete variable all candidates, which are indicators of its levels.
    """

    def __init__(self, dataset: Dataset, degree: int, penalty: float) -> None:
        most = max(1, min(MAX_SAMPLE_ROWS, MAX_SAMPLE_CELLS // (dataset.n * (degree + 1))))
        rows = sample_of(dataset, most)
        self.values = dataset.values[:, rows]
        self.ranks = rank_scores(dataset, "spearman")[:, rows]
        times = np.ones(dataset.rows) if dataset.weights is None else dataset.weights
        self.times: Floats = times[rows] / max(times[rows].sum(), 1)
        self.n, self.degree, self.penalty = dataset.n, degree, penalty
        self.all_records = dataset.records
        self.records = dataset.records * len(self.times) / dataset.rows
        self.jumps: list[list[float]] = [[] for _ in self.ranks]
        self.parents: list[list[int]] = [[] for _ in range(self.n)]
        columns = [self._candidates(v) for v in range(len(self.ranks))]
        columns += [self._levels(dataset, i, rows) for i in range(len(dataset.discrete))]
        whitened = [self._whitened(block) for block in columns]
        self.blocks: list[Floats] = [block for block, _ in whitened]
        self.factors: list[Floats] = [factor for _, factor in whitened]

    def _candidates(self, v: int) -> Floats:
        columns = basis(self.ranks[v], self.jumps[v], self.degree)
        columns[:, np.isnan(self.ranks[v])] = np.nan
        return columns

    def _levels(self, dataset: Dataset, i: int, rows: NDArray[np.intp] | slice) -> Floats:
        """Return indicators of the first levels of a discrete variable that occur."""
        codes = dataset.codes[i, rows]
        levels = np.unique(codes)
        levels = levels[: max(1, min(len(levels) - 1, self.degree + 1))]
        columns: Floats = (codes == levels[:, None]).astype(np.float64)
        if dataset.holes is not None:
            columns[:, dataset.holes[dataset.discrete[i], rows]] = np.nan
        return columns

    def _whitened(self, columns: Floats) -> tuple[Floats, Floats]:
        """Return uncorrelated columns of unit variance, zero in holes, and their factor.

        Column k is a combination of the first k columns, plus a constant: row k of the inverse of
        the factor that is returned.
        """
        seen = ~np.isnan(columns)
        totals = np.maximum(seen @ self.times, np.finfo(np.float64).tiny)
        mean = np.where(seen, columns, 0.0) @ self.times / totals
        centered = np.where(seen, columns - mean[:, None], 0.0)
        if np.abs(centered[0]).max() < RIDGE:
            return np.zeros((1, len(self.times))), np.eye(1)
        width, factor = leading_factor((centered * self.times) @ centered.T)
        return np.linalg.solve(factor, centered[:width]).astype(np.float64, copy=False), factor

    def _correlate(self) -> None:
        """Compute the correlations of all candidates."""
        self.widths = np.array([len(block) for block in self.blocks])
        width = int(self.widths.max())
        padded = np.zeros((self.n, width, len(self.times)))
        for v, block in enumerate(self.blocks):
            padded[v, : len(block)] = block * np.sqrt(self.times)
        columns = padded.reshape(self.n * width, -1)
        self.matrix: Floats = columns @ columns.T
        self.starts = np.arange(self.n) * width

    def _rows(self, variables: Sequence[int]) -> list[int]:
        return [int(self.starts[v]) + i for v in variables for i in range(self.widths[v])]

    def _predicted(self, v: int) -> Floats:
        """Return the candidates of a variable that have to be predicted."""
        return self.blocks[v][: 1 if v < len(self.ranks) else None]

    def _factor(self, rows: list[int]) -> Floats:
        among = self.matrix[np.ix_(rows, rows)] + RIDGE * np.eye(len(rows))
        return np.linalg.cholesky(among).astype(np.float64, copy=False)

    def is_curved(self) -> bool:
        """Return whether some variable is predicted better by functions of another than by a line.

        There are n functions to try for each variable, hence the logarithm of n in the price.
        """
        predicted = np.concatenate([self._predicted(t) for t in range(self.n)])
        owners = np.repeat(np.arange(self.n), [len(self._predicted(t)) for t in range(self.n)])
        for v in range(len(self.ranks)):
            bends = self.blocks[v][1:]
            shares = np.square((predicted * self.times) @ bends.T).sum(axis=1)
            gains = np.bincount(owners, self.records * shares - self._price(len(bends)))
            if np.delete(gains, v).max() > 0:
                return True
        return False

    def _price(self, columns: int) -> float:
        """Return twice the gain in log-likelihood that functions of some columns need."""
        return self.penalty * log(max(self.records, 2)) * columns + 2 * log(self.n)

    def add_edges(self) -> None:
        """Add the edge with the largest gain, as long as one gains and closes no cycle."""
        self._correlate()
        self.parents = [[] for _ in range(self.n)]
        below = [1 << v for v in range(self.n)]  # each variable and its descendants
        gains = np.array([self._gains(t) for t in range(self.n)])
        while True:
            t, v = np.unravel_index(int(gains.argmax()), gains.shape)
            if gains[t, v] <= 0:
                return
            if below[t] >> int(v) & 1:
                gains[t, v] = -inf
                continue
            self.parents[t].append(int(v))
            below = [b | below[t] if b >> int(v) & 1 else b for b in below]
            barred = np.isneginf(gains[t])
            gains[t] = np.where(barred, -inf, self._gains(int(t)))

    def _gains(self, t: int) -> Floats:
        """Return the gains of regressing t on the candidates of one more variable, for each."""
        m = self.all_records * EDGE_RECORDS / (self.all_records + EDGE_RECORDS)
        regressors, width = self._rows(self.parents[t]), len(self.matrix) // self.n
        known = np.linalg.solve(
            self._factor(regressors), self.matrix[regressors]
        )  # given x all candidates
        blocks = known.reshape(len(regressors), self.n, width).transpose(1, 2, 0)
        left = (1 + RIDGE) * np.eye(width) - blocks @ blocks.transpose(0, 2, 1)
        price = self.penalty / 2 * log(max(m, 2))
        gains = np.zeros(self.n)
        for row in self._rows([t])[: len(self._predicted(t))]:
            covariances = (self.matrix[row] - known[:, row] @ known).reshape(self.n, width, 1)
            explained = (covariances * np.linalg.solve(left, covariances)).sum(axis=(1, 2))
            rest = max(1 - float(known[:, row] @ known[:, row]), RIDGE)
            gains -= m / 2 * np.log1p(-np.clip(explained / rest, 0, 1 - RIDGE))
            gains -= price * self.widths
        gains[[t, *self.parents[t]]] = -inf
        gains[self.widths + len(regressors) > self.records / 10] = -inf
        return gains

    def add_jumps(self) -> bool:
        """Add steps of variables that improve the regressions, and return whether there are any."""
        for t in range(self.n):
            for i in range(len(self._predicted(t))):
                while (jump := self._best_jump(t, i)) is not None and self._add_jump(*jump):
                    pass
        return any(self.jumps)

    def _add_jump(self, v: int, jump: float) -> bool:
        """Add a step to the candidates of v, and return whether it is a new function."""
        before, self.jumps[v] = self.jumps[v], sorted([*self.jumps[v], jump])
        block, factor = self._whitened(self._candidates(v))
        if len(block) <= len(self.blocks[v]):
            self.jumps[v] = before
            return False
        self.blocks[v], self.factors[v] = block, factor
        return True

    def _best_jump(self, t: int, i: int) -> tuple[int, float] | None:
        """Return the variable and the rank at which a step improves a regression most, or None.

        A step costs three parameters: its height, and two for the search of its place.
        """
        if not self.parents[t]:
            return None
        regressors = np.concatenate([self.blocks[v] for v in self.parents[t]])
        among = (regressors * self.times) @ regressors.T + RIDGE * np.eye(len(regressors))
        target = self.blocks[t][i]
        rest = target - np.linalg.solve(among, regressors @ (self.times * target)) @ regressors
        steps = [(*self._step(v, rest), v) for v in self.parents[t] if v < len(self.ranks)]
        share, jump, v = max(steps, default=(0.0, 0.0, 0))
        share /= max(float(self.times @ rest**2), RIDGE)
        gain = -self.records / 2 * log(max(1 - share, RIDGE))
        return (v, jump) if gain > 1.5 * self.penalty * log(max(self.records, 2)) else None

    def _step(self, v: int, rest: Floats) -> tuple[float, float]:
        """Return how much of a residual a step of v explains at best, and its place."""
        if len(self.jumps[v]) >= MAX_JUMPS:
            return 0.0, 0.0
        order = np.argsort(self.ranks[v])
        order = order[~np.isnan(self.ranks[v, order])]
        ranks, times = self.ranks[v, order], self.times[order]
        below = np.cumsum(times)
        known = np.square(np.cumsum(self.blocks[v][:, order] * times, axis=1)).sum(axis=0)
        variance = below * (1 - below) - known  # of the steps, given the candidates of v
        usable = (variance > MIN_STEP_VARIANCE) & (np.diff(ranks, append=ranks[-1:]) > 0)
        if not usable.any():
            return 0.0, 0.0
        covariance = np.cumsum(rest[order] * times)
        shares = np.where(usable, covariance**2 / np.where(usable, variance, 1.0), 0.0)
        at = int(shares.argmax())
        return float(shares[at]), float(ranks[at] + ranks[at + 1]) / 2

    def fitted_functions(self) -> list[Functions]:
        """Return the functions of the variables in a fitted model, none if no relation is curved.

        The model is fitted again with the jumps that it needs.
        """
        if not self.is_curved():
            return []
        self.add_edges()
        if self.add_jumps():
            self.add_edges()
        return self.functions()

    def functions(self) -> list[Functions]:
        """Return the functions of each continuous variable by which it predicts its children."""
        spanned = [np.eye(self.widths[v])[: len(self._predicted(v))] for v in range(self.n)]
        chosen = [Functions() for _ in self.ranks]
        for v in reversed([*TopologicalSorter(dict(enumerate(self.parents))).static_order()]):
            if v >= len(self.ranks):
                continue
            parts = [self._part(v, t, spanned[t]) for t in range(self.n) if v in self.parents[t]]
            directions, degree = self._directions(v, np.concatenate([*parts, spanned[v][:0]]))
            if len(directions):
                spanned[v] = np.concatenate([spanned[v], directions])
                # The candidates are combinations of the basis, by the inverse of the factor.
                weights = directions @ np.linalg.inv(self.factors[v])
                degree, jumps = max(degree, 1), tuple(self.jumps[v])
                weights = weights[:, : 1 + len(jumps) + degree]
                weights[:, 0] = 0.0  # the normal score has a column of its own
                weights = np.concatenate([np.eye(1, weights.shape[1]), weights])
                chosen[v] = Functions(jumps, degree, weights)
        return chosen

    def _part(self, v: int, t: int, columns: Floats) -> Floats:
        """Return what v adds to the regression of columns of t, in residual deviations."""
        regressors = self._rows(self.parents[t])
        factor = self._factor(regressors)
        known = np.linalg.solve(
            factor, self.matrix[np.ix_(regressors, self._rows([t]))] @ columns.T
        )
        rest = np.maximum(1 - np.square(known).sum(axis=0), 1e-3)
        slopes = np.linalg.solve(factor.T, known) / np.sqrt(rest)
        start = len(self._rows(self.parents[t][: self.parents[t].index(v)]))
        part: Floats = slopes[start : start + self.widths[v]].T
        return part

    def _directions(self, v: int, parts: Floats) -> tuple[Floats, int]:
        """Return the few directions that span the curved functions of v, and their degree.

        A degree costs one parameter, and the choice among all candidates (Chen & Chen 2008).
        """
        parts = parts.copy()
        parts[:, 0] = 0.0
        first = 1 + len(self.jumps[v])  # the first polynomial, of degree 1
        tried = self.n * self.degree
        price = self.penalty * log(max(self.records, 2)) + 2 * log(tried)
        gains = self.records * np.square(parts[:, first:]).sum(axis=0) - price
        degree = int(np.concatenate([[0.0], np.cumsum(gains)]).argmax())
        parts[:, first + degree :] = 0.0
        lengths, directions = np.linalg.svd(parts, full_matrices=False)[1:]
        used = self.records * lengths**2 > self._price(first - 1 + degree)
        return directions[used].astype(np.float64), degree

    def is_skewed(self) -> bool:
        """Return whether the normal scores of variables predict each other better than values."""
        scores = np.array([self.blocks[v][0] for v in range(len(self.ranks))])
        values = np.array([self._whitened(_scaled(column)[None])[0][0] for column in self.values])
        gains = []
        for by in (scores, values):
            correlations = (scores * self.times) @ by.T
            np.fill_diagonal(correlations, 0.0)
            best = np.minimum(np.square(correlations).max(axis=1), 1 - RIDGE)
            gains.append(-self.records / 2 * np.log1p(-best))
        price = self.penalty / 2 * log(max(self.records, 2))
        return float((gains[0] - gains[1]).sum()) > price * len(scores)


def _scaled(column: Floats) -> Floats:
    """Return a column shifted and scaled so that its squares are finite in any unit."""
    seen = ~np.isnan(column)
    shifted = column - (column[seen.argmax()] if seen.any() else 0.0)
    reach = float(np.abs(shifted[seen]).max(initial=0.0))
    return shifted / reach if reach > 0 else shifted
