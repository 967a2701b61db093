"""Effects of one variable on another after adjusting for others, from covariances or tables.

    linear      the coefficient of x in the regression of y on x and z, with a standard error;
                everything comes from the covariance
    joint       effects of several variables set at once.  Each directed path from x_i to y has a
                last node x_j among them, so T_iy = Σ_j T_ij J_jy, where T are total effects and J
                the joint ones (Nandy, Maathuis & Richardson 2017); standard errors by the delta
                method
    discrete    p(y | do(x)) = Σ_z p(z) p(y | x, z), z over the configurations of the adjustment set

Variables have the numbers of the nodes of a graph, but nothing here depends on its edges.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, prod, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data import Kind, Moments
from sges.data.completion import completed
from sges.data.dataset import as_dataset, selected
from sges.errors import DataError, Message, Spelling, Undecided
from sges.graph.pdag import PDAG
from sges.network import BayesianNetwork, LinearGaussian
from sges.network.base import columns_of
from sges.network.mixed import LEAST_SHARE
from sges.nodeset import NodeSet, nodes

Floats: TypeAlias = NDArray[np.float64]
Data: TypeAlias = Any
"""A table in any form that ``Dataset.of`` accepts, ``Moments``, or a network."""

MAX_CELLS = 1 << 24
"""The most cells of a table of counts (128 mebibytes)."""


@dataclass(frozen=True, eq=False)
class LinearData:
    """The covariance of the variables, and the number of records that it comes from."""

    covariance: Floats
    records: float

    def coefficient(self, x: int, y: int, z: NodeSet) -> tuple[float, float, float]:
        """Return the coefficient of x for y given z, its standard error, degrees of freedom."""
        block, inverse, free = self._regressors(x, z)
        slopes = inverse @ self.covariance[block, y]
        rest = max(self.covariance[y, y] - self.covariance[block, y] @ slopes, 0.0)
        return float(slopes[0]), sqrt(rest * inverse[0, 0] / free), free

    def joint_coefficients(
        self, xs: Sequence[int], y: int, parents: Sequence[NodeSet], affected: Sequence[NodeSet]
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the joint effects of several nodes and their errors.

        The total effects T solve T_iy = Σ_j T_ij J_j.  They are zero on nodes that x_i does not
        affect; on others they are estimated given its parents.  A coefficient of x_i for b varies
        like the mean of w_i r, where w_i is x_i without what its parents explain, divided by its
        variance, and r the residual of b.  So J_i varies like the mean of Σ_j (T⁻¹)_ij w_j u_j with
        the residuals u_j of y − Σ_b J_b x_b, and for normal data
        Cov(w_j u_j, w_k u_k) = Cov(w_j, w_k) Cov(u_j, u_k) + Cov(w_j, u_k) Cov(u_j, w_k).
        """
        k, n = len(xs), len(self.covariance)
        total = np.eye(k, k + 1)
        w, residuals = np.zeros((k, n)), np.zeros((k, k + 1, n))  # as weights of the variables
        for i, (x, z, below) in enumerate(zip(xs, parents, affected, strict=True)):
            block, inverse, _ = self._regressors(x, z)
            w[i, block] = inverse[0]
            for j, b in enumerate([*xs, y]):
                if b != x and below >> b & 1:
                    slopes = inverse @ self.covariance[block, b]
                    total[i, j] = slopes[0]
                    residuals[i, j, block] = -slopes
                    residuals[i, j, b] = 1.0
        path_weights = np.linalg.inv(total[:, :k])
        joint = path_weights @ total[:, k]
        u = [*-joint, 1.0] @ residuals
        ww, uu, wu = (a @ self.covariance @ b.T for a, b in ((w, w), (u, u), (w, u)))
        spread = path_weights @ (ww * uu + wu * wu.T) @ path_weights.T / self.records
        errors = np.sqrt(np.maximum(np.diagonal(spread), 0.0))
        return tuple(joint.tolist()), tuple(errors.tolist())

    def _regressors(self, x: int, z: NodeSet) -> tuple[list[int], NDArray[np.floating[Any]], float]:
        """Return x and z, their inverse covariance, and the degrees of freedom that they leave."""
        block = [x, *nodes(z)]
        free = self.records - len(block) - 1
        if free <= 0:
            raise DataError(
                f"{self.records:.0f} records are too few to adjust for {len(block) - 1} variables"
            )
        scale = np.sqrt(np.diagonal(self.covariance)[block])
        with np.errstate(divide="ignore", invalid="ignore"):  # constant columns are checked below
            correlation = self.covariance[np.ix_(block, block)] / scale[:, None] / scale
        try:
            inverse = np.linalg.inv(correlation)
        except np.linalg.LinAlgError:
            inverse = np.full_like(correlation, inf)
        # 1 / inverse[i, i] is the share of the variance of a column that the others leave
        diagonal = np.diagonal(inverse)
        if not ((diagonal > 0) & (diagonal < 1 / LEAST_SHARE)).all():
            raise DataError("some columns are constant, or linear combinations of others")
        inverse = inverse / scale[:, None] / scale
        return block, inverse, free


@dataclass(frozen=True, eq=False)
class DiscreteData:
    """The levels of each variable, and the counts or probabilities of their configurations.

    ``count`` returns the table of some variables, with one axis each in the given order, and
    ``smoothing`` is the pseudo-count of a configuration, spread over the outcome.
    """

    levels: Sequence[tuple[Any, ...]]
    count: Callable[[list[int]], Floats]
    smoothing: float

    def when_set(self, x: int, y: int, z: NodeSet) -> Floats:
        """Return p(y | do(x)) adjusted for z: a row for each level of x."""
        shape = [len(self.levels[v]) for v in (x, *nodes(z), y)]
        if prod(shape) > MAX_CELLS:
            raise Undecided(
                f"adjusting for {z.bit_count()} variables needs {prod(shape):.3g} cells, "
                f"more than {MAX_CELLS}"
            )
        counts = self.count([x, *nodes(z), y]).reshape(shape[0], -1, shape[-1])
        counts = counts[:, counts.sum(axis=(0, 2)) > 0]  # the configurations of z that occur
        weights = counts.sum(axis=(0, 2)) / counts.sum()
        return np.asarray(np.einsum("xzy,z->xy", self._smoothed(counts), weights))

    def when_not_affected(self, x: int, y: int) -> Floats:
        """Return p(y), once for each level of x."""
        return np.tile(self._smoothed(self.count([y])), (len(self.levels[x]), 1))

    def _smoothed(self, counts: Floats) -> Floats:
        """Return the distributions of the last variable given the others."""
        smoothed = counts + self.smoothing / counts.shape[-1]
        with np.errstate(invalid="ignore"):
            return np.asarray(smoothed / smoothed.sum(axis=-1, keepdims=True))


def data_of(graph: PDAG, data: Data, smoothing: float = 1.0) -> LinearData | DiscreteData:
    """Return the data for effects, with variables numbered as the nodes of a graph."""
    if not isinstance(data, LinearGaussian | BayesianNetwork | Moments):
        data = as_dataset(data, columns=graph.names)
        data = selected(data, columns_of(graph, data.names))
        check_one_kind(data.kinds)
        data = Moments.of(data) if data.continuous else completed(data)
    columns = columns_of(graph, data.names)
    if isinstance(data, LinearGaussian):
        return LinearData(data.covariance()[np.ix_(columns, columns)], inf)
    if isinstance(data, Moments):
        return LinearData(data.covariance[np.ix_(columns, columns)], data.records)
    levels = [data.levels[v] for v in columns]
    if isinstance(data, BayesianNetwork):

        def probabilities(of: list[int]) -> Floats:
            variables = [columns[v] for v in of]  # a marginal has its axes in increasing order
            return data.marginal(variables).transpose(np.argsort(np.argsort(variables)))

        return DiscreteData(levels, probabilities, 0.0)

    def counts(of: list[int]) -> Floats:
        shape = [len(levels[v]) for v in of]
        cells = np.ravel_multi_index([data.codes[columns[v]].astype(np.intp) for v in of], shape)
        counted: Floats = np.bincount(cells, data.weights, minlength=prod(shape)) * data.unit
        return counted.reshape(shape)

    return DiscreteData(levels, counts, smoothing)


def check_one_kind(kinds: Iterable[Kind]) -> None:
    """Raise an error if there are both continuous and discrete columns."""
    if len(set(kinds)) > 1:
        what = (
            "effects need columns of one kind, but those of the graph are continuous and discrete"
        )
        how = Spelling(
            "to_dowhy() passes the graph to a tool that estimates effects in such tables",
            "learn from columns of one kind (--columns), or use a tool such as DoWhy",
        )
        raise DataError(Message(f"{what}; ", how))
