r"""Scores of tables with continuous and discrete columns: each variable is a block of columns.

Every variable is represented by a block of numeric columns, and the blocks are scored as if they
were jointly Gaussian.  With d(S) the number of columns of the variables in S,

    L(S) = −m/2 (log det(2π Σ_SS) + d(S)) − penalty/2 log m · d(S) (d(S) + 3) / 2
    local(y, parents) = L(parents ∪ y) − L(parents)

Any score that is the difference of a function of *sets* is score equivalent.  The free
parameters are those of a Gaussian on S: means, variances and covariances, so that an edge between
variables of d and e columns costs penalty/2 log m · d e; with one column each, this is
``GaussianBIC``.  A block enters only by the space that its columns span: each block is whitened
first, and its own determinant is added back.

The limits are those of second moments: a dependence that leaves all pairs of columns uncorrelated
(y = a xor b) is not detected, nor is a parent that changes only the variance of y.  The value
is a likelihood of the *columns*, which cannot be compared with that of a discrete score.

The conditional Gaussian score, the other common choice, is left out on purpose: the margin of a
conditional Gaussian over a discrete variable is a mixture, not a Gaussian, so that once a discrete
variable has a continuous parent, L(parents ∪ y) − L(parents) is not the log-likelihood of any
conditional model, and the consistency on which the search's guarantee rests does not follow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import log, pi
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sges.data import em
from sges.data.columns import leave_out
from sges.data.dataset import MAX_ROWS_OF_LABELS, Dataset, as_dataset
from sges.data.decisions import numbers_in_text
from sges.data.moments import add_products, mirror
from sges.data.reading import Kind
from sges.docstrings import documented_like
from sges.errors import Argument, Message, ScoreError, shown
from sges.nodeset import NodeSet, nodes
from sges.score.gaussian.matrix import (
    Floats,
    check_penalty,
    check_table,
    condition,
    factor_of,
    warn_of_constants,
)
from sges.score.protocol import Score, text_of

MAX_COLUMNS = 20_000  # numeric columns of a table, whose correlations take 3 GB
MAX_LEVELS_PER_RECORD = 0.95  # with more levels, nearly every record would have its own level
CHUNK_ROWS = 1 << 14  # rows expanded into columns at a time, fewer if there are many columns
CHUNK_CELLS = 1 << 25  # values expanded at a time: 256 MiB


# --- the scores -------------------------------------------------------------------------------


class DegenerateGaussian:
    """The degenerate Gaussian BIC of a table with continuous and discrete columns.

    A continuous variable is represented by itself, and a discrete one by the indicators of all its
    levels but one; the columns are scored as jointly Gaussian.

    Constant columns get no edges, and tables whose columns are collinear (for example because one
    discrete column determines another) get a ridge, each with a ``DataWarning``, as for
    ``GaussianBIC``.

    Parameters
    ----------
    data
        A ``Dataset``, or anything from which ``Dataset.of`` makes one.
    penalty
        The multiplier of the penalty, ½ log m per free parameter; at least zero.

    Raises
    ------
    ScoreError
        If the penalty is out of range, or there are too few records or too many levels.

    References
    ----------
    Andrews, Ramsey & Cooper (2019), Learning high-dimensional directed acyclic graphs with mixed
    data-types.  Proceedings of Machine Learning Research 104.

    Examples
    --------
    >>> table = {"dose": [0.5, 2.1, 0.7, 1.9, 2.3, 0.6], "cured": [*"nynyyn"]}
    >>> score = DegenerateGaussian(table)
    >>> bool(score.local(0, 0b10) > score.local(0, 0))
    True
    """

    def __init__(self, data: Any, penalty: float = 1.0) -> None:  # noqa: ANN401
        check_penalty(penalty)
        self.penalty = penalty
        self._fill(Blocks.of(data))

    def _fill(self, blocks: "Blocks") -> None:
        self.n, self.names, self.records = len(blocks.names), blocks.names, blocks.records
        self.kinds = blocks.kinds
        self._blocks, self._matrix = blocks, blocks.matrix
        self._half = blocks.records / 2
        self._per_parameter = self.penalty / 2 * log(blocks.records)
        widths = blocks.widths
        fit = -self._half * (blocks.log_determinants + widths * (log(2 * pi) + 1))
        self._alone: Floats = fit - self._per_parameter * widths * (widths + 3) / 2

    __repr__ = text_of

    @documented_like(Score.local)
    def local(self, y: int, parents: NodeSet) -> float:
        """Return L(parents ∪ y) − L(parents)."""
        parent_rows, y_rows = self._blocks.rows(parents), self._blocks.rows(1 << y)
        factor = factor_of(self._matrix, parent_rows + y_rows)
        explained = -2 * self._half * float(np.log(np.diagonal(factor)[len(parent_rows) :]).sum())
        return (
            float(self._alone[y]) + explained - self._per_parameter * len(parent_rows) * len(y_rows)
        )


# --- the blocks of a table --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Encoding:
    """How one variable is represented by columns; a constant one has a column of zeros.

    ``columns`` returns the whitened columns (width x rows) for some rows of the table.
    """

    columns: Callable[[slice], Floats]
    width: int = 1
    log_determinant: float = 0.0
    constant: bool = False


CONSTANT = Encoding(lambda _: np.zeros((1, 1)), constant=True)


class Expansion(Protocol):
    """How a continuous variable is represented by several columns, if not by itself."""

    @property
    def width(self) -> int:
        """The most columns there may be."""

    def encode(self, column: Floats, weights: Floats, /) -> Encoding:
        """Return the columns of a variable; the weights of the rows add up to one."""


@dataclass(frozen=True, eq=False, slots=True)
class Blocks:
    """The correlations of the columns that represent the variables, positive definite.

    Variable v is represented by the ``widths[v]`` columns from ``starts[v]`` on, which are
    uncorrelated and have unit variance; ``log_determinants[v]`` is that of their covariance before
    they were whitened.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    records: int
    matrix: Floats
    starts: NDArray[np.intp]
    widths: NDArray[np.intp]
    log_determinants: Floats

    @classmethod
    def of(
        cls,
        data: Any,  # noqa: ANN401 (any table for Dataset.of)
        expansions: Sequence[Expansion] = (),
    ) -> "Blocks":
        """Return the correlations of a table, with warnings of degenerate columns.

        A continuous variable is represented by itself if there are no expansions.
        """
        check_table(data, "a score of blocks of columns")
        dataset = as_dataset(data)
        if dataset.records < 2:
            raise ScoreError(f"{dataset.records} records: a variance needs at least two")
        encodings = _encodings(dataset, expansions)
        widths = np.array([encoding.width for encoding in encodings], dtype=np.intp)
        starts = np.cumsum(widths) - widths
        labels = [name for name, w in zip(dataset.names, widths, strict=True) for _ in range(w)]
        determinants = np.array([encoding.log_determinant for encoding in encodings])
        if dataset.holes is None:
            matrix = _correlations(dataset, encodings)
        else:
            matrix, more = _estimated_correlations(dataset, encodings)
            determinants += more
        condition(matrix, labels, dataset.records)
        return cls(
            dataset.names, dataset.kinds, dataset.records, matrix, starts, widths, determinants
        )

    def rows(self, variables: NodeSet) -> list[int]:
        """Return the columns that represent a set of variables."""
        starts, widths = self.starts, self.widths
        return [int(starts[v]) + i for v in nodes(variables) for i in range(widths[v])]


def _encodings(dataset: Dataset, expansions: Sequence[Expansion]) -> list[Encoding]:
    """Return the encoding of each column; warn of constant ones, raise an error for too many."""
    levels = {
        v: (dataset.codes[i], int(dataset.arities[i])) for i, v in enumerate(dataset.discrete)
    }
    shares: dict[int, Floats] = {
        v: np.bincount(codes, _weights(dataset, v), arity).astype(np.float64)
        for v, (codes, arity) in levels.items()
    }
    _check_widths(dataset, shares, len(dataset.continuous) + sum(e.width - 1 for e in expansions))
    encodings = {v: _indicators(codes, shares[v]) for v, (codes, _) in levels.items()}
    for i, (v, column) in enumerate(zip(dataset.continuous, dataset.values, strict=True)):
        encode = expansions[i].encode if expansions else _itself
        encodings[v] = encode(_without_holes(column), _weights(dataset, v))
    warn_of_constants([dataset.names[v] for v in range(dataset.n) if encodings[v].constant])
    return [encodings[v] for v in range(dataset.n)]


def _weights(dataset: Dataset, v: int) -> Floats:
    """Return the weights of the rows in which a variable is observed, adding up to one."""
    weights = np.ones(dataset.rows) if dataset.weights is None else dataset.weights.astype(float)
    if dataset.holes is not None:
        weights[dataset.holes[v]] = 0.0
    observed: Floats = weights / max(float(weights.sum()), np.finfo(np.float64).tiny)
    return observed


def _without_holes(column: Floats) -> Floats:
    """Return a column whose holes, which have no weight, contain the first value observed."""
    holes = np.isnan(column)
    if not holes.any():
        return column
    return np.where(holes, 0.0 if holes.all() else column[holes.argmin()], column)


def _check_widths(dataset: Dataset, shares: dict[int, Floats], others: int) -> None:
    """Raise an error if there are too many columns, or a level for nearly every record."""
    widths = {v: max(1, int(np.count_nonzero(share)) - 1) for v, share in shares.items()}
    total = sum(widths.values()) + others
    if total > MAX_COLUMNS:
        worst = max(widths, key=widths.__getitem__, default=0)
        raise ScoreError(
            f"the table is represented by {shown(total)} columns, {widths.get(worst, 1)} of them "
            f"for {dataset.names[worst]!r}; at most {MAX_COLUMNS} can be scored: merge levels or "
            "leave it out"
        )
    if dataset.records <= MAX_ROWS_OF_LABELS:
        return
    for v, width in widths.items():
        if width >= MAX_LEVELS_PER_RECORD * dataset.records:
            raise _level_per_record(dataset, v, width + 1, shares[v])


def _level_per_record(dataset: Dataset, v: int, levels: int, shares: Floats) -> ScoreError:
    """Return the error for a discrete column that has a level for nearly every record."""
    name = dataset.names[v]
    what = f"column {name!r} is discrete and has {levels} levels in {dataset.records} records"
    numbers = numbers_in_text(dataset.levels[v] or (), shares * dataset.records)
    if numbers is not None:
        return ScoreError(Message(f"{what}, although {numbers[0]}: ", numbers[1]))
    quantities = ", or pass ", Argument("kinds", {name: "continuous"}), " if it contains quantities"
    return ScoreError(Message(f"{what}, like an identifier; ", leave_out(name), *quantities))


def _itself(values: Floats, weights: Floats) -> Encoding:
    # Shifted by one of its values: a mean of 1e9 would swallow a spread of 1e-7.  And in units of
    # the largest distance from it, of which the square is in the range of floating-point numbers.
    shift = values[0]
    unit = float(np.abs(values - shift).max())
    if not unit:
        return CONSTANT
    mean = float(weights @ ((values - shift) / unit))
    variance = float(weights @ ((values - shift) / unit - mean) ** 2)
    deviation = variance**0.5
    return Encoding(
        lambda rows: ((values[None, rows] - shift) / unit - mean) / deviation,
        log_determinant=log(variance) + 2 * log(unit),
    )


def _indicators(codes: NDArray[Any], shares: Floats) -> Encoding:
    """Return whitened indicators of all levels that occur but the last."""
    seen = np.flatnonzero(shares)
    if len(seen) < 2:
        return CONSTANT
    p = shares[seen[:-1]]
    factor = np.linalg.cholesky(np.diag(p) - np.outer(p, p))
    by_level = np.zeros((len(p), len(shares)))
    by_level[:, seen] = np.linalg.solve(factor, np.eye(len(p), len(seen)) - p[:, None])
    determinant = 2 * float(np.log(np.diagonal(factor)).sum())
    return Encoding(lambda rows: by_level[:, codes[rows]], len(p), determinant)


def _correlations(dataset: Dataset, encodings: Sequence[Encoding]) -> Floats:
    """Return the correlations of all columns, from some rows of the table at a time."""
    size = sum(encoding.width for encoding in encodings)
    total = np.zeros((size, size))
    step = max(1, min(CHUNK_ROWS, CHUNK_CELLS // size))
    for start in range(0, dataset.rows, step):
        chunk = slice(start, min(start + step, dataset.rows))
        columns = np.empty((size, chunk.stop - chunk.start))
        for place, encoding in zip(_places(encodings), encodings, strict=True):
            columns[place] = encoding.columns(chunk)
        if dataset.weights is not None:
            columns *= np.sqrt(dataset.weights[chunk])
        add_products(total, columns, fresh=start == 0)
    total /= dataset.rows if dataset.weights is None else int(dataset.weights.sum())
    mirror(total)
    for place in _places(encodings):
        total[place, place] = np.eye(place.stop - place.start)  # exactly, without rounding
    return total


def _places(encodings: Sequence[Encoding]) -> list[slice]:
    """Return which columns of all belong to each variable."""
    stops = list(accumulate(encoding.width for encoding in encodings))
    return [slice(start, stop) for start, stop in pairwise([0, *stops])]


def _estimated_correlations(
    dataset: Dataset, encodings: Sequence[Encoding]
) -> tuple[Floats, Floats]:
    """Return the correlations of columns with holes by EM, and the changes of log-determinants.

    A variable that is missing in a row lacks its whole block there.  EM moves the covariances
    within blocks as well, so that the blocks are whitened again.
    """
    assert dataset.holes is not None
    places = _places(encodings)
    columns = np.empty((places[-1].stop, dataset.rows))
    for at, encoding, holes in zip(places, encodings, dataset.holes, strict=True):
        columns[at] = encoding.columns(slice(0, dataset.rows))
        columns[at, holes] = np.nan
    estimate = em.estimate(columns, dataset.weights, dataset.unit)
    em.warn_of_limits(estimate, dataset.names, ~dataset.holes)
    whiten, more = np.eye(len(columns)), np.zeros(dataset.n)
    for v, at in enumerate(places):
        if not encodings[v].constant:
            factor = np.linalg.cholesky(estimate.covariance[at, at])
            whiten[at, at] = np.linalg.inv(factor)
            more[v] = 2 * float(np.log(np.diagonal(factor)).sum())
    matrix = whiten @ estimate.covariance @ whiten.T
    for at in places:
        matrix[at, at] = np.eye(at.stop - at.start)
    return (matrix + matrix.T) / 2, more
