"""Networks of continuous and discrete variables: a regression of each variable on its parents."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, pi
from typing import Any, TypeAlias

import numpy as np

from sges.data import Dataset
from sges.data.moments import LEAST_VARIANCE, beyond_squares
from sges.docstrings import documented_like
from sges.errors import DataError, NetworkError
from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG
from sges.network.base import (
    Drawn,
    Floats,
    Levels,
    Network,
    columns_of,
    columns_of_table,
    counted,
    given_number,
    level_code,
)
from sges.nodeset import nodes

LEAST_SHARE = 1e-12
"""The least share of its variance that parents leave to a variable that is no function of them."""

NEEDS = "a network of both kinds of variables"  # what needs a table without missing values

LEAST_PRIOR = 1e-6
"""The least precision of the prior of logistic slopes: without one, the slopes of levels that
parents separate would grow without bound."""


@dataclass(frozen=True, eq=False, slots=True)
class LinearFamily:
    """A continuous variable given its parents: intercept + design · slopes + normal noise."""

    intercept: float
    slopes: Floats
    variance: float

    def log_probability(self, design: Floats, column: Floats) -> Floats:
        """Return the log-density of each value."""
        gap = column - self.intercept - design @ self.slopes
        density: Floats = -0.5 * (log(2 * pi * self.variance) + gap**2 / self.variance)
        return density

    def draw(self, design: Floats, rng: np.random.Generator) -> Floats:
        """Return one value for each row of the design."""
        noise = rng.standard_normal(len(design)) * self.variance**0.5
        drawn: Floats = self.intercept + design @ self.slopes + noise
        return drawn


@dataclass(frozen=True, eq=False, slots=True)
class LogisticFamily:
    """A discrete variable given its parents: log-odds against the first level, linear.

    The first row of ``slopes`` holds the intercepts; there is a column for each other level.
    """

    slopes: Floats

    def log_probabilities(self, design: Floats) -> Floats:
        """Return a row of log-probabilities of the levels for each row of the design."""
        from scipy.special import log_softmax  # slow to import

        linear = self.slopes[0] + design @ self.slopes[1:]
        logs: Floats = log_softmax(np.column_stack([np.zeros(len(design)), linear]), axis=1)
        return logs

    def log_probability(self, design: Floats, codes: Floats) -> Floats:
        """Return the log-probability of each level."""
        logs: Floats = self.log_probabilities(design)[np.arange(len(codes)), codes.astype(np.intp)]
        return logs

    def draw(self, design: Floats, rng: np.random.Generator) -> Floats:
        """Return one value for each row of the design."""
        below = np.exp(self.log_probabilities(design)).cumsum(axis=1)[:, :-1]
        drawn: Floats = (rng.random(len(design))[:, None] > below).sum(axis=1).astype(np.float64)
        return drawn


Family: TypeAlias = LinearFamily | LogisticFamily


@dataclass(frozen=True, eq=False, repr=False)
class MixedNetwork(Network):
    """A network of continuous and discrete variables, as ``fit`` estimates it.

    A continuous variable is a linear function of its parents plus normal noise.  The levels of a
    discrete variable have logarithms of odds, against the first level, that are linear functions
    of its parents.  Discrete parents enter by indicators of all levels but the first: additively,
    as in the degenerate Gaussian score.

    Parameters
    ----------
    dag : PDAG
        The DAG, with the names of the variables.
    levels : tuple
        The levels of each discrete variable; None for a continuous one.
    families : tuple
        The regression of each variable on its parents.

    Examples
    --------
    >>> import numpy as np
    >>> from sges.network import fit
    >>> chain = PDAG.from_edges(2, [(0, 1)], names=["smoker", "pressure"])
    >>> rows = {"smoker": ["no", "no", "yes", "yes"], "pressure": [118.5, 121.5, 138.0, 142.0]}
    >>> network = fit(chain, rows)
    >>> network
    MixedNetwork(1 continuous and 1 discrete variables, 1 edge)
    >>> round(network.expect("pressure", given={"smoker": "yes"}), 6)
    140.0
    >>> {level: round(p, 2) for level, p in network.expect("smoker").items()}
    {'no': 0.5, 'yes': 0.5}
    """

    dag: PDAG
    levels: tuple[tuple[Any, ...] | None, ...]
    families: tuple[Family, ...]

    def _draw(self, m: int, rng: np.random.Generator) -> Drawn:
        drawn = np.empty((self.n, m))
        for y in topological_order(self.dag):
            drawn[y] = self.families[y].draw(_design(self.dag, y, drawn, self.levels), rng)
        is_discrete = np.array([levels is not None for levels in self.levels], np.bool_)
        return drawn[~is_discrete], drawn[is_discrete].astype(np.uint16), self.levels

    @documented_like(Network.log_probability)
    def log_probability(self, rows: Any) -> Floats:  # noqa: ANN401 (any table for Dataset.of)
        """Return the log-density of each row: a probability of levels times a density of numbers.

        Parameters
        ----------
        rows : table or Dataset
            The rows; columns are matched by name.

        Raises
        ------
        DataError
            If a column is missing, has another kind, or a level that the network does not have.
        """
        columns = self._columns(rows, self.levels, NEEDS)
        total = np.zeros(columns.shape[1])
        for y, family in enumerate(self.families):
            design = _design(self.dag, y, columns, self.levels)
            total += family.log_probability(design, columns[y])
        return total

    def expect(self, what: str, given: Mapping[str, Any] | None = None) -> float | dict[Any, float]:
        """Return the mean of a continuous variable, or the probabilities of a discrete one.

        Parameters
        ----------
        what : str
            The name of the variable.
        given : mapping, optional
            The values of its parents by name: of all of them, and of nothing else.

        Returns
        -------
        float or dict
            The conditional mean, or the probability of each level.

        Raises
        ------
        NetworkError
            If ``given`` does not name exactly the parents of the variable.
        InvalidArgument
            If the value of a continuous parent is not a number.
        """
        y, known = self._number_of(what), self._by_number(given)
        above = set(nodes(self.dag.parents(y)))
        if set(known) != above:
            wanted = ", ".join(self.names[v] for v in sorted(above)) or "nothing"
            raise NetworkError(f"given must name exactly the parents of {what!r}: {wanted}")
        row = np.zeros((self.n, 1))
        for v, value in known.items():
            name, levels = self.names[v], self.levels[v]
            row[v] = level_code(value, levels, name) if levels else given_number(name, value)
        family, design = self.families[y], _design(self.dag, y, row, self.levels)
        if isinstance(family, LinearFamily):
            return float(family.intercept + (design @ family.slopes)[0])
        shares = np.exp(family.log_probabilities(design)[0]).tolist()
        return dict(zip(self.levels[y] or (), shares, strict=True))

    def __repr__(self) -> str:
        discrete = sum(levels is not None for levels in self.levels)
        kinds = f"{self.n - discrete} continuous and {discrete} discrete variables"
        return f"MixedNetwork({kinds}, {counted(self.dag.edge_count(), 'edge')})"


def fit_mixed(dag: PDAG, table: Dataset, smoothing: float) -> MixedNetwork:
    """Return the network with a given DAG, its regressions estimated from a table.

    ``smoothing`` is the precision of a normal prior of the slopes of logistic regressions, per
    standard deviation of a column.
    """
    at = columns_of(dag, table.names)
    levels = tuple(table.levels[i] for i in at)
    columns = columns_of_table(table, at, levels, NEEDS)
    weights = np.full(table.rows, table.unit)
    if table.weights is not None:
        weights *= table.weights
    families: list[Family] = []
    for y in range(dag.n):
        design = _design(dag, y, columns, levels)
        if (labels := levels[y]) is None:
            families.append(_linear(dag.name(y), design, columns[y], weights))
        else:
            families.append(_logistic(design, columns[y], len(labels), weights, smoothing))
    named = dag.named([table.names[i] for i in at])
    return MixedNetwork(named, levels, tuple(families))


def _linear(name: str, design: Floats, column: Floats, weights: Floats) -> LinearFamily:
    standard, center, scale = _standardized(design, weights)
    target, (mean,), (deviation,) = _standardized(column[:, None], weights)
    root = np.sqrt(weights)
    slopes = np.linalg.lstsq(standard * root[:, None], target[:, 0] * root, rcond=None)[0]
    share = float(np.average((target[:, 0] - standard @ slopes) ** 2, weights=weights))
    if not share > LEAST_SHARE:
        raise DataError(f"column {name!r} is constant, or an exact linear function of its parents")
    variance = share * deviation * deviation
    if not LEAST_VARIANCE <= variance < np.inf:
        raise beyond_squares(name, deviation)
    slopes = (slopes / scale * deviation).astype(np.float64, copy=False)
    return LinearFamily(float(mean - center @ slopes), slopes, float(variance))


def _logistic(
    design: Floats, codes: Floats, arity: int, weights: Floats, smoothing: float
) -> LogisticFamily:
    """Return the logistic regression with the largest posterior density."""
    from scipy.optimize import minimize  # slow to import
    from scipy.special import log_softmax

    columns, center, scale = _standardized(design, weights)
    standard = np.column_stack([np.ones(len(design)), columns])
    is_level = (codes[:, None] == np.arange(1, arity)).astype(np.float64)
    prior = max(smoothing, LEAST_PRIOR)

    def loss(flat: Floats) -> tuple[float, Floats]:
        slopes = flat.reshape(standard.shape[1], arity - 1)
        linear = np.column_stack([np.zeros(len(codes)), standard @ slopes])
        logs = log_softmax(linear, axis=1)
        fit = weights @ logs[np.arange(len(codes)), codes.astype(np.intp)]
        gradient = standard.T @ (weights[:, None] * (np.exp(logs[:, 1:]) - is_level))
        return float(prior / 2 * (slopes**2).sum() - fit), (gradient + prior * slopes).ravel()

    start = np.zeros(standard.shape[1] * (arity - 1))
    least = 1e-6 * weights.sum() ** 0.5
    best: Floats = minimize(
        loss, start, jac=True, method="L-BFGS-B",
        options={"maxiter": 500, "gtol": least, "ftol": 1e-13},
    ).x  # fmt: skip
    slopes = best.reshape(standard.shape[1], arity - 1)
    slopes[1:] /= scale[:, None]
    slopes[0] -= center @ slopes[1:]
    return LogisticFamily(slopes)


def _standardized(columns: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return columns (rows x columns) of mean 0 and variance 1, their means and deviations.

    Regressions on them are the same in all units.  A constant has a deviation of 1 here.
    """
    shift = columns[0]
    centered = columns - shift  # of order one from here on: squares of 1e-200 would be zero
    reach = np.abs(centered).max(axis=0)
    reach[reach == 0] = 1.0
    centered /= reach
    mean = np.average(centered, axis=0, weights=weights)
    centered -= mean
    deviation = np.sqrt(np.average(centered**2, axis=0, weights=weights))
    deviation[deviation == 0] = 1.0
    return centered / deviation, shift + mean * reach, deviation * reach


def _design(dag: PDAG, y: int, columns: Floats, levels: Levels) -> Floats:
    """Return the columns of the parents: values, or indicators of all levels but the first."""
    blocks = [np.empty((columns.shape[1], 0))]
    for v in nodes(dag.parents(y)):
        column, labels = columns[v][:, None], levels[v]
        blocks.append(column if labels is None else column == np.arange(1, len(labels)))
    return np.hstack(blocks)
