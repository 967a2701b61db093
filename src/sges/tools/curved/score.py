"""The basis score: a BIC of curved relations."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any, Literal

from sges.data.dataset import Dataset, as_dataset
from sges.docstrings import documented_like
from sges.errors import ScoreError, is_number, shown
from sges.score.gaussian.bic import rank_scores
from sges.score.gaussian.matrix import check_penalty, check_table
from sges.score.gaussian.mixed import Blocks, DegenerateGaussian
from sges.tools.curved.additive import choose_functions
from sges.tools.curved.functions import Functions

RECORD_LIMIT = 20_000  # fewer records than this are counted, for a table of any size


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

    _computed_as = DegenerateGaussian
    """The score whose ``local`` this is, which the compiled engine has."""

    def __init__(
        self,
        data: Any,  # noqa: ANN401 (any table for Dataset.of)
        penalty: float = 1.0,
        degree: int | Literal["auto"] = "auto",
        limit: float = RECORD_LIMIT,
    ) -> None:
        check_penalty(penalty)
        check_table(data, "BasisBIC")
        dataset = as_dataset(data)
        if not (is_number(limit) and limit > 0):
            raise ScoreError(f"limit {shown(limit)}: it must be a number above 0")
        self.penalty = penalty
        expansions = _expansions(dataset, penalty, degree)
        used = [each.degree for each in expansions] or [1] * len(dataset.continuous)
        degree_of = dict(zip(dataset.continuous, used, strict=True))
        self.degrees = tuple(degree_of.get(v, 0) for v in range(dataset.n))
        self.degree = max(used, default=1)
        if expansions:
            dataset = replace(dataset, values=rank_scores(dataset, "spearman"))
        blocks = Blocks.of(dataset, expansions)
        if expansions and limit < inf:
            counted = round(blocks.records * limit / (blocks.records + limit))
            blocks = replace(blocks, records=max(counted, 2))
        self._fill(blocks)

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of columns that represent each variable."""
        return tuple(self._blocks.widths.tolist())


def _expansions(dataset: Dataset, penalty: float, degree: object) -> Sequence[Functions]:
    """Return functions of each continuous variable; none if each represents itself."""
    if isinstance(degree, str) and degree == "auto":
        return choose_functions(dataset, penalty)
    if type(degree) is not int or degree < 1:
        rule = "it must be an integer of at least 1, or 'auto'"
        raise ScoreError(f"degree {shown(degree)}: {rule}")
    return [Functions.polynomials(degree)] * len(dataset.continuous) if degree > 1 else []
