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
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import inf, log, pi
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data import em
from sges.data.columns import leave_out
from sges.data.dataset import MAX_ROWS_OF_LABELS, Dataset, as_dataset
from sges.data.decisions import numbers_in_text
from sges.data.moments import add_products, mirror
from sges.data.reading import Kind
from sges.docstrings import documented_like
from sges.errors import Argument, Message, ScoreError, is_number, shown
from sges.nodeset import NodeSet, nodes
from sges.score.gaussian.additive import Functions, Polynomials, choose_functions
from sges.score.gaussian.bic import rank_scores
from sges.score.gaussian.matrix import (
    Floats,
    check_penalty,
    check_table,
    condition,
    factor_of,
    leading_factor,
    solve,
    warn_of_constants,
)
from sges.score.protocol import Score, text_of

Expansion: TypeAlias = Functions | Polynomials
"""Functions of the ranks of a variable."""

MAX_COLUMNS = 20_000  # numeric columns of a table, whose correlations take 3 GB
RECORD_LIMIT = 20_000  # a basis score counts fewer records than this for a table of any size
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


@documented_like(DegenerateGaussian)
class BasisBIC(DegenerateGaussian):
    """A BIC for curved relations: each continuous variable enters by a block of functions of it.

    The functions of continuous variables, and the indicators of the levels of discrete ones, are
    scored as jointly Gaussian.  An edge between variables of d and e columns costs d · e
    parameters, and the score is score equivalent.

    By default, the functions are chosen from the data: a variable enters by its normal score (the
    normal quantile of its rank), and by the few combinations of polynomials and jumps of its ranks
    that predict other variables in an additive model (Bühlmann, Peters & Ernest 2014).  A variable
    that predicts nothing, or only by a line, has one column.  If all are like this, values predict
    as well as normal scores do, and no column has heavy tails (skewness beyond 2 or excess kurtosis
    beyond 7), every variable is represented by itself.  With a number as
    ``degree``, every continuous variable enters by the Legendre polynomials of its ranks, and by
    itself at degree 1.  A variable with k distinct values gets at most k − 1 of them.

    If all variables are represented by themselves, the score is ``DegenerateGaussian``.  Otherwise
    it does not change when a column is transformed by an increasing function, and outliers have
    little influence.

    Functions of one variable at a time do not describe interactions of parents, and what they miss
    grows with the number of records until it looks like an edge.  Unless variables are represented
    by themselves, m records are therefore counted as m · limit / (m + limit) (the coarsened
    posterior of Miller & Dunson 2019).

    Parameters
    ----------
    degree
        The degree of the polynomials of every continuous variable, at least 1.  "auto" chooses
        functions of each variable from a sample of the rows: at most four jumps, and polynomials
        up to degree 8, or less with fewer than 4,096 records or more than 666 variables; with
        fewer than 64 records or more than 2,000 variables, there are no curves and no jumps.
    limit
        The number of records is limited to less than this, which is above zero; infinity counts
        all records.

    Attributes
    ----------
    degree : int
        The highest degree in use.
    degrees : tuple of int
        The degree of the polynomials of each variable; zero for a discrete one.
    records : int
        The number of records that the score counts.

    Raises
    ------
    ScoreError
        If the penalty, the degree or the limit is out of range, or there are too few records or
        too many columns.

    References
    ----------
    Andrews, Ramsey & Cooper (2019), Learning high-dimensional directed acyclic graphs with mixed
    data-types.  Proceedings of Machine Learning Research 104.
    Bühlmann, Peters & Ernest (2014), CAM: causal additive models, high-dimensional order search and
    penalized regression.  Annals of Statistics 42(6).
    Miller & Dunson (2019), Robust Bayesian inference via coarsening.  Journal of the American
    Statistical Association 114.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-2, 2, 200)
    >>> parabola = {"x": x, "y": x**2 + np.cos(40 * x)}
    >>> straight, curved = BasisBIC(parabola, degree=1), BasisBIC(parabola, degree=2)
    >>> bool(straight.local(1, 0b01) > straight.local(1, 0))
    False
    >>> bool(curved.local(1, 0b01) > curved.local(1, 0))
    True
    >>> BasisBIC(parabola).widths  # y is predicted by a function of x, and x not by one of y
    (2, 1)
    """

    def __init__(
        self,
        data: Any,  # noqa: ANN401 (any table for Dataset.of)
        penalty: float = 1.0,
        degree: int | Literal["auto"] = "auto",
        limit: float = RECORD_LIMIT,
    ) -> None:
        check_penalty(penalty)
        self.penalty = penalty
        check_table(data, "BasisBIC")
        dataset = as_dataset(data)
        if not (is_number(limit) and limit > 0):
            raise ScoreError(f"limit {shown(limit)}: it must be a number above 0")
        expansions: Sequence[Expansion] | None = None
        if isinstance(degree, str) and degree == "auto":
            expansions = choose_functions(dataset, penalty)
        elif type(degree) is not int or degree < 1:
            rule = "it must be an integer of at least 1, or 'auto'"
            raise ScoreError(f"degree {shown(degree)}: {rule}")
        elif degree > 1:
            expansions = [Polynomials(degree)] * len(dataset.continuous)
        used = (
            [1] * len(dataset.continuous) if expansions is None else [e.degree for e in expansions]
        )
        degree_of = dict(zip(dataset.continuous, used, strict=True))
        self.degrees = tuple(degree_of.get(v, 0) for v in range(dataset.n))
        self.degree = max(used, default=1)
        blocks = Blocks.of(dataset, expansions)
        if expansions and limit < inf:
            counted = round(blocks.records * limit / (blocks.records + limit))
            blocks = replace(blocks, records=max(counted, 2))
        self._fill(blocks)

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of columns that represent each variable."""
        return tuple(self._blocks.widths.tolist())


# --- the blocks of a table --------------------------------------------------------------------


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
        expansions: Sequence[Expansion] | None = None,
    ) -> "Blocks":
        """Return the correlations of a table, with warnings of degenerate columns.

        A continuous variable is represented by functions of its ranks; by itself if there are none.
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


@dataclass(frozen=True, slots=True)
class _Encoding:
    """How one variable is represented by columns; a constant one has a column of zeros.

    ``columns`` returns the whitened columns (width x rows) for some rows of the table.
    """

    columns: Callable[[slice], Floats]
    width: int = 1
    log_determinant: float = 0.0
    constant: bool = False


_CONSTANT = _Encoding(lambda _: np.zeros((1, 1)), constant=True)


def _encodings(dataset: Dataset, expansions: Sequence[Expansion] | None) -> list[_Encoding]:
    """Return the encoding of each column; warn of constant ones, raise an error for too many."""
    times = np.ones(dataset.rows) if dataset.weights is None else dataset.weights.astype(float)

    def weights(v: int) -> Floats:
        """Return the weights of the rows in which a variable is observed, adding up to one."""
        observed: Floats = (
            times if dataset.holes is None else np.where(dataset.holes[v], 0.0, times)
        )
        return observed / max(float(observed.sum()), np.finfo(np.float64).tiny)

    shares: dict[int, Floats] = {
        v: np.bincount(dataset.codes[i], weights(v), int(dataset.arities[i])).astype(np.float64)
        for i, v in enumerate(dataset.discrete)
    }
    widths = {v: max(1, int(np.count_nonzero(share)) - 1) for v, share in shares.items()}
    total = sum(widths.values()) + len(dataset.continuous)
    total += sum(expansion.width - 1 for expansion in expansions or ())
    if total > MAX_COLUMNS:
        worst = max(widths, key=widths.__getitem__, default=0)
        raise ScoreError(
            f"the table is represented by {shown(total)} columns, {widths.get(worst, 1)} of them "
            f"for {dataset.names[worst]!r}; at most {MAX_COLUMNS} can be scored: merge levels or "
            "leave it out"
        )
    for v, width in widths.items():
        if (
            dataset.records > MAX_ROWS_OF_LABELS
            and width >= MAX_LEVELS_PER_RECORD * dataset.records
        ):
            raise _level_per_record(dataset, v, width + 1, shares[v])
    encodings = {
        v: _indicators(dataset.codes[i], shares[v]) for i, v in enumerate(dataset.discrete)
    }
    values = dataset.values if expansions is None else rank_scores(dataset, "spearman")
    for i, (v, column) in enumerate(zip(dataset.continuous, values, strict=True)):
        holes = np.isnan(column)
        if holes.any():  # they have no weight: any value will do, such as the first one observed
            column = np.where(holes, 0.0 if holes.all() else column[holes.argmin()], column)
        if expansions is None:
            encodings[v] = _itself(column, weights(v))
        else:
            encodings[v] = _functions(column, weights(v), expansions[i])
    warn_of_constants([dataset.names[v] for v in range(dataset.n) if encodings[v].constant])
    return [encodings[v] for v in range(dataset.n)]


def _level_per_record(dataset: Dataset, v: int, levels: int, shares: Floats) -> ScoreError:
    """Return the error for a discrete column that has a level for nearly every record."""
    name = dataset.names[v]
    what = f"column {name!r} is discrete and has {levels} levels in {dataset.records} records"
    numbers = numbers_in_text(dataset.levels[v] or (), shares * dataset.records)
    if numbers is not None:
        return ScoreError(Message(f"{what}, although {numbers[0]}: ", numbers[1]))
    quantities = ", or pass ", Argument("kinds", {name: "continuous"}), " if it contains quantities"
    return ScoreError(Message(f"{what}, like an identifier; ", leave_out(name), *quantities))


def _itself(values: Floats, weights: Floats) -> _Encoding:
    # Shifted by one of its values: a mean of 1e9 would swallow a spread of 1e-7.  And in units of
    # the largest distance from it, of which the square is in the range of floating-point numbers.
    shift = values[0]
    unit = float(np.abs(values - shift).max())
    if not unit:
        return _CONSTANT
    mean = float(weights @ ((values - shift) / unit))
    variance = float(weights @ ((values - shift) / unit - mean) ** 2)
    deviation = variance**0.5
    return _Encoding(
        lambda rows: ((values[None, rows] - shift) / unit - mean) / deviation,
        log_determinant=log(variance) + 2 * log(unit),
    )


def _functions(ranks: Floats, weights: Floats, expand: Expansion) -> _Encoding:
    """Return whitened functions of ranks in (0, 1); fewer if they have few values."""
    if ranks.min() == ranks.max():
        return _CONSTANT
    chunks = [slice(at, at + CHUNK_ROWS) for at in range(0, len(ranks), CHUNK_ROWS)]
    mean = np.sum([expand(ranks[rows]) @ weights[rows] for rows in chunks], axis=0)[:, None]
    covariance = np.zeros((len(mean), len(mean)))
    for rows in chunks:
        centered = expand(ranks[rows]) - mean
        covariance += (centered * weights[rows]) @ centered.T
    width, factor = leading_factor(covariance)
    determinant = 2 * float(np.log(np.diagonal(factor)).sum())
    return _Encoding(
        lambda rows: solve(factor, (expand(ranks[rows]) - mean)[:width]), width, determinant
    )


def _indicators(codes: NDArray[Any], shares: Floats) -> _Encoding:
    """Return whitened indicators of all levels that occur but the last."""
    seen = np.flatnonzero(shares)
    if len(seen) < 2:
        return _CONSTANT
    p = shares[seen[:-1]]
    factor = np.linalg.cholesky(np.diag(p) - np.outer(p, p))
    by_level = np.zeros((len(p), len(shares)))
    by_level[:, seen] = np.linalg.solve(factor, np.eye(len(p), len(seen)) - p[:, None])
    determinant = 2 * float(np.log(np.diagonal(factor)).sum())
    return _Encoding(lambda rows: by_level[:, codes[rows]], len(p), determinant)


def _correlations(dataset: Dataset, encodings: Sequence[_Encoding]) -> Floats:
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


def _places(encodings: Sequence[_Encoding]) -> list[slice]:
    """Return which columns of all belong to each variable."""
    stops = list(accumulate(encoding.width for encoding in encodings))
    return [slice(start, stop) for start, stop in pairwise([0, *stops])]


def _estimated_correlations(
    dataset: Dataset, encodings: Sequence[_Encoding]
) -> tuple[Floats, Floats]:
    """Return the correlations of columns with holes by EM, and the changes of log-determinants.

    A variable that is missing in a row lacks its whole block there.  EM moves the covariances
    within blocks as well, so that the blocks are whitened again.
    """
    assert dataset.holes is not None
    if dataset.records < 2:
        raise em.too_few_pairs(dataset.records)
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
