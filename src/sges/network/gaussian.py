"""Linear Gaussian models: each variable a weighted sum of its parents, plus noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.docstrings import documented_like
from sges.errors import DataError, NetworkError, as_numbers, check_seed, shown
from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG
from sges.network.base import Drawn, Network, counted, given_number, is_array
from sges.network.structures import Seed


class Normal(NamedTuple):
    """A normal distribution.

    Parameters
    ----------
    mean : float
        Its mean.
    variance : float
        Its variance.
    """

    mean: float
    variance: float


@dataclass(frozen=True, eq=False, init=False, repr=False)
class LinearGaussian(Network):
    """A linear Gaussian model: each variable is a weighted sum of its parents, plus noise.

    X_y − means[y] = Σ_x weights[x, y]·(X_x − means[x]) + noise_y, with independent normal noises.

    Parameters
    ----------
    dag : PDAG
        The DAG.
    weights : array_like
        An n × n matrix, row → column, zero where the DAG has no edge.
    variances : array_like
        The variance of the noise of each variable.
    means : array_like, optional
        The mean of each variable; zero by default.

    Raises
    ------
    NetworkError
        If the weights, variances or means do not fit the DAG.

    Examples
    --------
    >>> model = LinearGaussian(PDAG.from_edges(2, [(0, 1)]), [[0, 2], [0, 0]], [1, 1])
    >>> model.covariance()
    array([[1., 2.],
           [2., 5.]])
    """

    dag: PDAG
    weights: NDArray[np.float64]
    variances: NDArray[np.float64]
    means: NDArray[np.float64]

    def __init__(
        self,
        dag: PDAG,
        weights: ArrayLike,
        variances: ArrayLike,
        means: ArrayLike | None = None,
    ) -> None:
        topological_order(dag)  # raises an error if it is not a DAG
        w, d = as_numbers("weights", weights), as_numbers("variances", variances)
        m = np.zeros(dag.n) if means is None else as_numbers("means", means)
        _check_weights(dag, w)
        if d.shape != (dag.n,):
            raise NetworkError(
                f"variances have the shape {d.shape}; for {dag.n} variables it must be {(dag.n,)}"
            )
        if not (np.isfinite(d) & (d > 0)).all():
            raise NetworkError("each variance of the noise must be a positive number")
        if m.shape != (dag.n,) or not np.isfinite(m).all():
            raise NetworkError(f"means must be {dag.n} finite numbers, one per variable")
        for array in (w, d, m):
            array.setflags(write=False)
        for name, value in (("dag", dag), ("weights", w), ("variances", d), ("means", m)):
            object.__setattr__(self, name, value)

    @classmethod
    @documented_like(Network.sample)
    def random(
        cls,
        dag: PDAG,
        weights: tuple[float, float] = (0.5, 1.5),
        variances: tuple[float, float] = (0.5, 1.5),
        seed: Seed = 0,
    ) -> "LinearGaussian":
        """Return a model with random weights and variances.

        Parameters
        ----------
        dag : PDAG
            The DAG.
        weights : (float, float), optional
            The range of the absolute values of the weights, uniform; signs are random.
        variances : (float, float), optional
            The range of the variances of the noise, uniform.

        Returns
        -------
        LinearGaussian
            The model.
        """
        check_seed(seed)
        rng = np.random.default_rng(seed)
        size = rng.uniform(*_range("weights", weights), size=(dag.n, dag.n))
        sign = rng.choice([-1.0, 1.0], size=(dag.n, dag.n))
        noise = rng.uniform(*_range("variances", variances), size=dag.n)
        return cls(dag, size * sign * _edges(dag), noise)

    def covariance(self) -> NDArray[np.float64]:
        """Return the covariance of the population: (I − W)⁻ᵀ D (I − W)⁻¹."""
        noises = self._noises()
        return noises.T @ noises

    def _noises(self) -> NDArray[np.float64]:
        """Return what a standard deviation of each noise (rows) adds to each variable (columns)."""
        effects = np.linalg.solve(np.eye(self.n) - self.weights, np.eye(self.n))
        noises = effects * np.sqrt(self.variances)[:, None]
        return noises.astype(np.float64, copy=False)

    def __repr__(self) -> str:
        edges = counted(self.dag.edge_count(), "edge")
        return f"LinearGaussian({counted(self.n, 'variable')}, {edges})"

    def _draw(self, m: int, rng: np.random.Generator) -> Drawn:
        values = rng.standard_normal((self.n, m)) * np.sqrt(self.variances)[:, None]
        for y in topological_order(self.dag):
            values[y] += self.weights[:, y] @ values
        if self.means.any():
            values += self.means[:, None]
        return values, np.empty((0, m), np.uint8), (None,) * self.n

    @documented_like(Network.log_probability)
    def log_probability(self, rows: Any) -> NDArray[np.float64]:  # noqa: ANN401 (any table)
        """Return the log-density of each row.

        Raises
        ------
        DataError
            If the rows do not fit the model.
        """
        if is_array(rows):
            values = as_numbers("rows", rows)
        else:
            values = self._columns(rows, (None,) * self.n, "the density of a row").T
        if values.shape[-1:] != (self.n,):
            raise DataError(
                f"rows of shape {values.shape}: the last axis must have {self.n} variables"
            )
        centered = values - self.means
        noise = centered - centered @ self.weights
        constant = self.n * log(2 * pi) + np.log(self.variances).sum()
        total: NDArray[np.float64] = -0.5 * (constant + (noise**2 / self.variances).sum(axis=-1))
        return total

    def query(self, what: str, given: Mapping[str, float] | None = None) -> Normal:
        """Return the distribution of one variable given values of others.

        Parameters
        ----------
        what : str
            The name of the variable.
        given : mapping of str to float, optional
            The values that were observed, by name.

        Returns
        -------
        Normal
            Its mean and variance.

        Raises
        ------
        NetworkError
            If there is no such variable.
        InvalidArgument
            If a given value is not a finite number.

        Examples
        --------
        >>> model = LinearGaussian(PDAG.from_edges(2, [(0, 1)]), [[0, 2], [0, 0]], [1, 1])
        >>> model.query("x1", given={"x0": 3})
        Normal(mean=6.0, variance=1.0)
        """
        y, known = self._number_of(what), self._by_number(given)
        observed = {v: given_number(self.names[v], value) for v, value in known.items()}
        if y in observed:
            return Normal(observed[y], 0.0)
        noises, seen = self._noises(), list(observed)
        gap = np.array(list(observed.values()), dtype=np.float64) - self.means[seen]
        # A regression on the noises: in covariances, a strong edge would hide the noise after it.
        scale = np.sqrt(np.square(noises[:, seen]).sum(axis=0))
        slopes = np.linalg.lstsq(noises[:, seen] / scale, noises[:, y], rcond=None)[0] / scale
        rest = noises[:, y] - noises[:, seen] @ slopes
        return Normal(float(self.means[y] + slopes @ gap), float(rest @ rest))


def _check_weights(dag: PDAG, weights: NDArray[np.float64]) -> None:
    """Raise an error if the weights are not those of the edges of a DAG."""
    if weights.shape != (dag.n, dag.n):
        raise NetworkError(
            f"weights have the shape {weights.shape}; for {dag.n} variables it must be "
            f"{(dag.n, dag.n)}, row → column"
        )
    if not np.isfinite(weights).all():
        raise NetworkError("weights contain an infinite or missing value; each must be finite")
    if (wrong := np.argwhere((weights != 0) & ~_edges(dag))).size:
        x, y = (int(v) for v in wrong[0])
        raise NetworkError(
            f"weights[{x}, {y}] is {weights[x, y]}, but the DAG has no edge "
            f"{dag.name(x)}→{dag.name(y)}; it must be 0"
        )


def _range(what: str, value: object) -> tuple[float, float]:
    """Return the two ends of a range."""
    ends = as_numbers(what, value)
    if ends.shape != (2,) or not -np.inf < ends[0] <= ends[1] < np.inf:
        raise NetworkError(f"{what} = {shown(value)}: it must be two numbers, the lower one first")
    return float(ends[0]), float(ends[1])


def _edges(dag: PDAG) -> NDArray[np.bool_]:
    """Return where the DAG has an edge, row → column."""
    there = np.zeros((dag.n, dag.n), dtype=bool)
    for x, y in dag.directed_edges():
        there[x, y] = True
    return there
