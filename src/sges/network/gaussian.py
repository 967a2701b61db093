"""Linear Gaussian models: each variable a weighted sum of its parents, plus noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.data import Dataset, Kind
from sges.errors import NetworkError
from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG
from sges.network.discrete import checked_size
from sges.network.structures import Seed


@dataclass(frozen=True, eq=False, init=False)
class LinearGaussian:
    """A linear Gaussian model: X_y = Σ_x weights[x, y]·X_x + noise_y, the noises independent.

    Parameters
    ----------
    dag : PDAG
        The DAG.
    weights : array_like
        An n × n matrix, row → column, zero where the DAG has no edge.
    variances : array_like
        The variance of the noise of each variable.

    Raises
    ------
    NetworkError
        If the weights or variances do not fit the DAG.

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

    def __init__(self, dag: PDAG, weights: ArrayLike, variances: ArrayLike) -> None:
        topological_order(dag)  # refuses what is not a DAG
        w, d = np.array(weights, dtype=np.float64), np.array(variances, dtype=np.float64)
        _check_weights(dag, w)
        _check_variances(dag, d)
        for name, value in (("dag", dag), ("weights", w), ("variances", d)):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
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
        seed : int or numpy.random.Generator, optional
            The source of randomness.

        Returns
        -------
        LinearGaussian
            The model.
        """
        rng = np.random.default_rng(seed)
        size = rng.uniform(*weights, size=(dag.n, dag.n))
        sign = rng.choice([-1.0, 1.0], size=(dag.n, dag.n))
        return cls(dag, size * sign * _edges(dag), rng.uniform(*variances, size=dag.n))

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.dag.n

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.dag.names or tuple(f"x{v}" for v in range(self.n))

    def covariance(self) -> NDArray[np.float64]:
        """Return the covariance of the population: (I − W)⁻ᵀ D (I − W)⁻¹."""
        effects = np.linalg.solve(np.eye(self.n) - self.weights, np.eye(self.n))
        spread = effects * np.sqrt(self.variances)[:, None]
        return spread.T @ spread

    def sample(self, m: int, seed: Seed = 0) -> Dataset:
        """Return independent records drawn from the model.

        Parameters
        ----------
        m : int
            The number of records.
        seed : int or numpy.random.Generator, optional
            The source of randomness.

        Returns
        -------
        Dataset
            A table with the names of the DAG, or x0, x1, ...
        """
        m = checked_size(m)
        noise = np.random.default_rng(seed).standard_normal((self.n, m))
        values = noise * np.sqrt(self.variances)[:, None]
        for y in topological_order(self.dag):
            values[y] += self.weights[:, y] @ values
        return Dataset(
            names=self.names,
            kinds=(Kind.CONTINUOUS,) * self.n,
            levels=(None,) * self.n,
            values=values,
            codes=np.empty((0, m), dtype=np.uint8),
            weights=None,
        )


def _edges(dag: PDAG) -> NDArray[np.bool_]:
    """Return where the DAG has an edge, row → column."""
    there = np.zeros((dag.n, dag.n), dtype=bool)
    for x, y in dag.directed_edges():
        there[x, y] = True
    return there


def _check_weights(dag: PDAG, weights: NDArray[np.float64]) -> None:
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


def _check_variances(dag: PDAG, variances: NDArray[np.float64]) -> None:
    if variances.shape != (dag.n,):
        raise NetworkError(
            f"variances have the shape {variances.shape}; for {dag.n} variables it must be "
            f"{(dag.n,)}"
        )
    if not (np.isfinite(variances) & (variances > 0)).all():
        raise NetworkError("each variance of the noise must be a positive number")
