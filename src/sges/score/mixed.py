r"""A score for tables with both continuous and discrete columns: the degenerate Gaussian.

Andrews, Ramsey & Cooper (2019, "Learning high-dimensional directed acyclic graphs with mixed
data-types"): a discrete column is written as indicator columns of all its levels but one, and
everything is scored as if jointly Gaussian.  With d(S) the columns that S is written as,

    L(S) = −m/2 (log det(2π Σ_SS) + d(S)) − penalty/2 log m · d(S) (d(S) + 3) / 2
    local(y, parents) = L(parents ∪ y) − L(parents)

A difference of a function of *sets* is score equivalent, whatever the function.  The free
parameters are those of a Gaussian on S: means, variances and covariances, so that an edge
between columns written as d and e columns costs penalty/2 log m · d e; with continuous columns
only, this is ``GaussianBIC``.  Which level is left out does not matter, because each column's
indicators are whitened first; their own determinant is added back.

Its limits, which are those of second moments: a dependence that leaves every pairwise
indicator uncorrelated (y = a xor b) is not seen, and neither is a parent that changes only the
variance of y; the value is a likelihood of the *written* columns, not comparable with that
of a discrete score.  A level without records, though declared, is not written at all.

The conditional Gaussian score, the other common choice, is left out on purpose: the margin of a
conditional Gaussian over a discrete variable is a mixture, not a Gaussian, so that once a
discrete variable has a continuous parent, L(parents ∪ y) − L(parents) is the log-likelihood of no
conditional model, and the consistency that the search's guarantee rests on does not follow.
"""

from collections.abc import Sequence
from copy import copy
from math import log, pi
from typing import Any

import numpy as np

from sges.errors import ScoreError
from sges.nodeset import NodeSet, nodes
from sges.score.base import Candidates, Gains
from sges.score.correlation import Floats, precision
from sges.score.written import Written


class DegenerateGaussian:
    """The degenerate Gaussian BIC of a table with continuous and discrete columns.

    Parameters
    ----------
    data
        A ``Dataset``, or anything ``Dataset.of`` makes one of.
    penalty
        Multiplies the penalty: 1 is ½ log m per free parameter.

    Constant columns get no edges, and tables whose written columns are collinear (a discrete
    column that determines another) a ridge, each told by a ``DataWarning``, as for
    ``GaussianBIC``.
    """

    def __init__(self, data: Any, penalty: float = 1.0) -> None:  # noqa: ANN401
        if not 0 <= penalty < np.inf:
            raise ScoreError(f"penalty {penalty}: it must be a finite number, 0 or more")
        self.penalty = penalty
        self._fill(Written.of(data))

    def _fill(self, written: Written) -> None:
        self.names, self.records = written.names, written.records
        self._written, self._matrix = written, written.matrix
        self._half = written.records / 2
        self._per_parameter = self.penalty / 2 * log(written.records)
        widths = written.widths
        fit = -self._half * (written.log_determinant + widths * (log(2 * pi) + 1))
        self._alone: Floats = fit - self._per_parameter * widths * (widths + 3) / 2

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self._alone)

    def local(self, y: int, parents: NodeSet) -> float:
        """Return L(parents ∪ y) − L(parents)."""
        given, own = self._rows(parents), self._rows(1 << y)
        rows = given + own
        pivots = np.diagonal(np.linalg.cholesky(self._matrix[np.ix_(rows, rows)]))[len(given) :]
        explained = -2 * self._half * float(np.log(pivots).sum())
        return float(self._alone[y]) + explained - self._per_parameter * len(given) * len(own)

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        """Return local(y, base ∪ x) − local(y, base) for each x outside base and y.

        One factor of base and y, then one solve for all candidates of each width.
        """
        rows = self._rows(base) + self._rows(1 << y)
        factor: Floats = np.linalg.cholesky(self._matrix[np.ix_(rows, rows)]).astype(np.float64)
        gains = np.empty(len(candidates))
        widths = self._written.widths[candidates]
        for width in np.unique(widths).tolist():
            at = widths == width
            gains[at] = self._gains_of_width(y, rows, factor, candidates[at], width)
        return gains

    def _gains_of_width(
        self, y: int, rows: list[int], factor: Floats, candidates: Candidates, width: int
    ) -> Gains:
        columns = self._written.starts[candidates][:, None] + np.arange(width)
        against = self._matrix[rows][:, columns.ravel()]
        from scipy.linalg import solve_triangular  # slow to import: only when it is used

        z = solve_triangular(factor, against, lower=True, check_finite=False)
        # One (rows x width) block per candidate; the last rows are those of y.
        blocks = z.reshape(len(rows), len(candidates), width).transpose(1, 2, 0)
        own = int(self._written.widths[y])
        by_base, by_y = blocks[..., :-own], blocks[..., -own:]
        given_base = np.eye(width) - by_base @ by_base.transpose(0, 2, 1)
        given_both = given_base - by_y @ by_y.transpose(0, 2, 1)
        lost = np.linalg.slogdet(given_both)[1] - np.linalg.slogdet(given_base)[1]
        gains: Gains = -self._half * lost - self._per_parameter * own * width
        return gains

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        r"""Return local(y, base \ x) − local(y, base) for each x in base.

        The inverse over base, with y and without, holds the residual blocks of every x.
        """
        if not len(candidates):
            return np.empty(0)
        rows, own = self._rows(base), self._rows(1 << y)
        without = precision(self._matrix, rows)
        with_y = precision(self._matrix, rows + own)
        place = {row: i for i, row in enumerate(rows)}
        lost = np.empty(len(candidates))
        for i, x in enumerate(candidates.tolist()):
            at = [place[row] for row in self._rows(1 << x)]
            lost[i] = _log_determinant(without, at) - _log_determinant(with_y, at)
        widths = self._written.widths[candidates]
        gains: Gains = self._half * lost + self._per_parameter * len(own) * widths
        return gains

    def _rows(self, s: NodeSet) -> list[int]:
        """Return the written columns of a set of variables."""
        starts, widths = self._written.starts, self._written.widths
        return [int(starts[v]) + i for v in nodes(s) for i in range(widths[v])]

    def permuted(self, order: Sequence[int]) -> "DegenerateGaussian":
        """Return the score of the same data with its columns in another order."""
        score = copy(self)
        score._fill(self._written.permuted(order))
        return score


def _log_determinant(lower: Floats, at: list[int]) -> float:
    """Return the log-determinant of a block of a symmetric matrix given by its lower half."""
    block = np.tril(lower[np.ix_(at, at)])
    return float(np.linalg.slogdet(block + np.tril(block, -1).T)[1])
