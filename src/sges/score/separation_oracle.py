"""A score that sees exactly the d-separations of a DAG.

It is the score of so many records of a linear Gaussian population on the DAG, less one for
each parent.  A population's gains have three defects in floating point, and each is mended,
so that a search can be tested against d-separation without any tolerance:

* A gain that d-separation says is zero comes out as rounding noise.  So a family is scored
  on its *Markov boundary*: the parents of y that d-separation needs.  d-separation satisfies
  Intersection (Pearl 1988), hence the boundary is unique, and a separated parent leaves it,
  and the likelihood, exactly as they were.
* Sums round, so that equal gains differ in the last digit.  So likelihoods are rounded to
  multiples of 2⁻¹⁴: sums and differences of scores are then exact, a separated parent costs
  one to the last bit, and all separated parents tie.
* A dependence may nearly cancel, and be worth less than the penalty.  So several populations
  with weights of their own are averaged: the average of score-equivalent scores is one, and
  a dependence is lost only where it cancels in all of them.  What is left are dependences
  along paths of many dozens of edges; each parent in a boundary is weighed, and one that is
  not clear of the penalty raises ``Undecided`` rather than give a wrong answer.

Paper: Section 3, locally consistent score.
"""

from math import ldexp

import numpy as np
from numpy.typing import NDArray

from sges.errors import Undecided
from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG
from sges.graph.separation import markov_boundary
from sges.nodeset import NodeSet, nodes, show

RECORDS = 2.0**30
"""How many records the likelihoods are worth: dependences from 2⁻²⁹ nats on are seen."""

GRID = 14
"""Likelihoods are multiples of 2 to the minus this."""

SIGNAL = 4.0
"""How many times the variance of its noise a variable owes to its parents."""

POPULATIONS = 8
"""How many populations are averaged."""


class SeparationOracle:
    """A score-equivalent, locally consistent score whose independences are d-separations.

    ``local(y, P ∪ x) − local(y, P)`` is exactly ``-penalty`` if P d-separates x and y in the
    DAG, and more than ``penalty`` if it does not.  ``seed`` draws other weights.

    >>> collider = PDAG.from_edges(3, [(0, 2), (1, 2)])
    >>> score = SeparationOracle(collider)
    >>> score.local(1, 0b001) - score.local(1, 0b000)  # 0 and 1 are separated
    -1.0
    >>> score.local(1, 0b101) - score.local(1, 0b100) > 1  # but not by 2
    True

    Paper: Section 3, locally consistent score.
    """

    penalty = 1.0

    def __init__(self, dag: PDAG, seed: int = 0) -> None:
        topological_order(dag)  # refuses what is not a DAG
        self.dag = dag
        self.names = dag.names
        rng = np.random.default_rng(seed)
        self._covariances = np.array([_population(dag, rng) for _ in range(POPULATIONS)])
        self._likelihoods: dict[tuple[int, NodeSet], float] = {}  # by boundary
        self._locals: dict[tuple[int, NodeSet], float] = {}  # by parents

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.dag.n

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return what a family is worth: the likelihood of its boundary, less its parents."""
        known = self._locals.get((y, parents))
        if known is None:
            boundary = markov_boundary(self.dag, y, parents)
            likelihood = self._likelihood(y, boundary)
            for x in nodes(boundary):
                self._refuse_if_weak(x, y, parents & ~(1 << x), likelihood)
            known = likelihood - self.penalty * parents.bit_count()
            self._locals[y, parents] = known
        return known

    def _likelihood(self, y: int, boundary: NodeSet) -> float:
        """Return −½ ln var(y | boundary) for all records, on average and on the grid."""
        known = self._likelihoods.get((y, boundary))
        if known is None:
            block = [*nodes(boundary), y]
            factors = np.linalg.cholesky(self._covariances[:, block][:, :, block])
            nats = -float(np.log(factors[:, -1, -1]).mean())  # the last pivot is the deviation
            known = ldexp(round(ldexp(RECORDS * nats, GRID)), -GRID)
            self._likelihoods[y, boundary] = known
        return known

    def _refuse_if_weak(self, x: int, y: int, others: NodeSet, likelihood: float) -> None:
        """Make sure that x, d-connected to y given the others, is clearly worth its penalty."""
        gain = likelihood - self._likelihood(y, markov_boundary(self.dag, y, others))
        if gain <= 2 * self.penalty:
            raise Undecided(
                f"{x} and {y} are d-connected given {show(others)}, but their dependence is "
                f"worth {gain:.3g}, which is not clear of the penalty {self.penalty}; "
                "another seed of SeparationOracle draws other weights"
            )


def _population(dag: PDAG, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a covariance that is Markov to the DAG, with unit variances and strong edges.

    Noise is a fixed part of each variable, so that dependences fade with the length of a
    path only, not with the number of parents above it.
    """
    covariance = np.eye(dag.n)
    raw = rng.uniform(0.6, 1.4, size=(dag.n, dag.n)) * rng.choice([-1, 1], size=(dag.n, dag.n))
    before: list[int] = []
    for y in topological_order(dag):
        if parents := list(nodes(dag.parents(y))):
            weights = raw[parents, y]
            signal = weights @ covariance[np.ix_(parents, parents)] @ weights
            weights = weights * np.sqrt(SIGNAL / (1 + SIGNAL) / signal)
            covariance[before, y] = weights @ covariance[np.ix_(parents, before)]
            covariance[y, before] = covariance[before, y]
        before.append(y)
    return covariance
