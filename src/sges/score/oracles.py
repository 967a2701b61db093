"""Oracle scores: computed from the generating model instead of data."""

from collections.abc import Sequence
from math import ldexp, log, prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.docstrings import documented_like
from sges.errors import ScoreError, Undecided, check_seed, is_number, shown
from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG
from sges.graph.separation import markov_boundary
from sges.network.discrete import BayesianNetwork
from sges.network.gaussian import LinearGaussian
from sges.nodeset import NodeSet, nodes, show
from sges.score.gaussian.bic import GaussianBIC
from sges.score.gaussian.matrix import Standardized
from sges.score.protocol import Score


class OracleMDL:
    """Expected MDL (= BIC, with our sign) of a discrete network for a number of records.

    Instead of counting records, the oracle uses the probabilities of the generative network: the
    expected log-likelihood of a family is records · (H(parents) − H(parents, y)), a difference of
    entropies.  From it, ½ ln(records) is subtracted for each of the (r_y − 1)·∏ r_p free
    parameters.  Entropies are those of *sets* of variables and are stored: the n·2ⁿ⁻¹ families on
    n variables need only 2ⁿ of them.

    Paper: Section 5, oracle score.

    Parameters
    ----------
    network
        The network that generates the data.
    records
        The number of records that the score stands for; at least one, and finite.

    Raises
    ------
    ScoreError
        If ``records`` is out of range.

    Examples
    --------
    >>> from sges.graph.pdag import PDAG
    >>> chain = BayesianNetwork.random(PDAG.from_edges(3, [(0, 1), (1, 2)]), seed=1)
    >>> score = OracleMDL(chain)
    >>> score.local(2, 0b10) > score.local(2, 0b11) > score.local(2, 0b01) > score.local(2, 0)
    True
    """

    def __init__(self, network: BayesianNetwork, records: float = 5e9) -> None:
        if not (is_number(records) and 1 <= records < float("inf")):
            raise ScoreError(
                f"records {shown(records)}: the oracle needs at least one, and finitely many"
            )
        self.network, self.records = network, float(records)
        self.n, self.names = network.n, network.names
        self._arities = network.arities
        self._per_parameter = 0.5 * log(records)
        self._entropies: dict[NodeSet, float] = {0: 0.0}

    @documented_like(Score.local)
    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the expected MDL of a node with some parents."""
        larger = self._entropy(parents | 1 << y)  # first: the other is added up from its table
        parameters = (self._arities[y] - 1) * prod(self._arities[p] for p in nodes(parents))
        gained = self._entropy(parents) - larger
        return self.records * gained - self._per_parameter * parameters

    def _entropy(self, variables: NodeSet) -> float:
        """Return the entropy, in nats, of the joint distribution of some variables."""
        if variables not in self._entropies:
            from scipy.special import entr  # slow to import

            self._entropies[variables] = float(entr(self.network.marginal(nodes(variables))).sum())
        return self._entropies[variables]


@documented_like(GaussianBIC.from_covariance)
class GaussianOracle(GaussianBIC):
    """Expected Gaussian BIC of a linear Gaussian model, or of a population covariance.

    Parameters
    ----------
    model
        The model that generates the data, or its covariance matrix.
    records
        The number of records that the score stands for, at least two.
    names
        The names of the variables; those of the model if not given.

    Raises
    ------
    ScoreError
        If the matrix is not a covariance matrix, or another argument is out of range.

    Examples
    --------
    >>> from sges.graph.pdag import PDAG
    >>> model = LinearGaussian(PDAG.from_edges(2, [(0, 1)]), [[0, 2], [0, 0]], [1, 1])
    >>> score = GaussianOracle(model, records=1e6)
    >>> bool(score.local(1, 0b01) > score.local(1, 0))
    True
    """

    def __init__(
        self,
        model: LinearGaussian | ArrayLike,
        records: float = 5e9,
        penalty: float = 1.0,
        names: Sequence[str] | None = None,
    ) -> None:
        if isinstance(model, LinearGaussian):
            names = model.names if names is None else names
            model = model.covariance()
        self._fill(Standardized.of_covariance(model, records, names).conditioned(), penalty)


# SeparationOracle
RECORDS = 2.0**30  # records of the likelihoods: dependences of 2⁻²⁹ nats or more are detected
GRID_BITS = 14  # likelihoods are multiples of 2**-GRID_BITS
SIGNAL_TO_NOISE = (
    4.0  # the variance of a variable due to its parents, relative to that of its noise
)
POPULATIONS = 8  # populations that are averaged


class SeparationOracle:
    """A score-equivalent, locally consistent score whose independences are d-separations.

    ``local(y, P ∪ x) − local(y, P)`` is exactly ``-penalty`` if P d-separates x and y in the
    DAG, and more than ``penalty`` if it does not.

    It is the score of many records of a linear Gaussian population on the DAG, minus one for each
    parent.  A population's gains have three defects in floating point, and each is repaired, so
    that a search can be tested against d-separation without any tolerance:

    * A gain that is zero by d-separation comes out as rounding noise.  So a family is scored
      on its *Markov boundary*: the parents of y that d-separation needs.  d-separation satisfies
      Intersection (Pearl 1988), hence the boundary is unique, and adding a separated parent
      changes neither the boundary nor the likelihood.
    * Sums round, so that equal gains differ in the last digit.  So likelihoods are rounded to
      multiples of 2⁻¹⁴: sums and differences of scores are then exact, a separated parent costs
      one to the last bit, and all separated parents tie.
    * A dependence may nearly cancel, and be worth less than the penalty.  So several populations
      with different weights are averaged: the average of score-equivalent scores is score
      equivalent, and a dependence is lost only if it cancels in all of them.  Dependences along
      paths of many dozens of edges may still be too weak: they raise ``Undecided`` instead of
      giving a wrong answer.

    Paper: Section 3, locally consistent score.

    Parameters
    ----------
    dag
        The DAG.
    seed
        Determines the weights of the populations.

    Raises
    ------
    NotADAG
        If the graph is not a DAG.
    Undecided
        By ``local``, if a dependence is too weak to be distinguished from independence.

    Examples
    --------
    >>> collider = PDAG.from_edges(3, [(0, 2), (1, 2)])
    >>> score = SeparationOracle(collider)
    >>> score.local(1, 0b001) - score.local(1, 0b000)  # 0 and 1 are separated
    -1.0
    >>> score.local(1, 0b101) - score.local(1, 0b100) > 1  # but not by 2
    True
    """

    penalty = 1.0

    def __init__(self, dag: PDAG, seed: int = 0) -> None:
        topological_order(dag)  # raises an error if it is not a DAG
        check_seed(seed)
        self.dag, self.n, self.names = dag, dag.n, dag.names
        rng = np.random.default_rng(seed)
        self._covariances = np.array([_population(dag, rng) for _ in range(POPULATIONS)])
        self._likelihoods: dict[tuple[int, NodeSet], float] = {}  # by boundary
        self._locals: dict[tuple[int, NodeSet], float] = {}  # by parents

    @documented_like(Score.local)
    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the likelihood of the boundary of y, minus the penalty of each parent."""
        value = self._locals.get((y, parents))
        if value is None:
            boundary = markov_boundary(self.dag, 1 << y, parents)
            likelihood = self._likelihood(y, boundary)
            for x in nodes(boundary):
                others = parents & ~(1 << x)
                gain = likelihood - self._likelihood(y, markov_boundary(self.dag, 1 << y, others))
                if gain <= 2 * self.penalty:
                    raise Undecided(
                        f"{x} and {y} are d-connected given {show(others)}, but the gain "
                        f"{gain:.3g} of their dependence does not clearly exceed the penalty "
                        f"{self.penalty}; use another seed of SeparationOracle for other weights"
                    )
            value = likelihood - self.penalty * parents.bit_count()
            self._locals[y, parents] = value
        return value

    def _likelihood(self, y: int, boundary: NodeSet) -> float:
        """Return −½ ln var(y | boundary) for all records, averaged and rounded to the grid."""
        nats = self._likelihoods.get((y, boundary))
        if nats is None:
            block = [*nodes(boundary), y]
            factors = np.linalg.cholesky(self._covariances[:, block][:, :, block])
            mean = -float(np.log(factors[:, -1, -1]).mean())  # the last pivot is the deviation
            nats = ldexp(round(ldexp(RECORDS * mean, GRID_BITS)), -GRID_BITS)
            self._likelihoods[y, boundary] = nats
        return nats


def _population(dag: PDAG, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a covariance that is Markov to the DAG, with unit variances and strong edges.

    Noise is a fixed share of each variable, so that dependences fade with the length of a
    path only, not with the number of parents above it.
    """
    covariance = np.eye(dag.n)
    raw = rng.uniform(0.6, 1.4, size=(dag.n, dag.n)) * rng.choice([-1, 1], size=(dag.n, dag.n))
    before: list[int] = []
    for y in topological_order(dag):
        if parents := list(nodes(dag.parents(y))):
            weights = raw[parents, y]
            signal = weights @ covariance[np.ix_(parents, parents)] @ weights
            weights = weights * np.sqrt(SIGNAL_TO_NOISE / (1 + SIGNAL_TO_NOISE) / signal)
            covariance[before, y] = weights @ covariance[np.ix_(parents, before)]
            covariance[y, before] = covariance[before, y]
        before.append(y)
    return covariance
