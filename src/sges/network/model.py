"""Discrete Bayesian networks (G, θ) as frozen values.

``cpts[v]`` has one axis per parent of v, in increasing order, and a last one for v itself:
``cpts[v][p, q, x]`` is p(v = x | parents = (p, q)).  Variables and their levels are the
integers 0, 1, ... inside; names and level labels ride along for people and files.

Paper: Section 3, Bayesian network.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.data import Dataset
from sges.errors import NetworkError
from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG
from sges.network.checks import checked_cpts, checked_levels, checked_rows
from sges.network.inference import Marginals, marginals_of
from sges.network.sampling import Seed, sample_codes, tabulated
from sges.network.tables import Table
from sges.nodeset import Nodes, as_nodeset, nodes

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class BayesianNetwork:
    """A DAG with one conditional distribution per node.

    >>> rain_wets_grass = BayesianNetwork(
    ...     PDAG.from_edges(2, [(0, 1)]), [[0.75, 0.25], [[0.5, 0.5], [0.0, 1.0]]]
    ... )
    >>> rain_wets_grass
    BayesianNetwork(2 variables, 1 edge, 3 parameters)
    >>> rain_wets_grass.marginal({1})
    array([0.375, 0.625])

    Paper: Section 3, Bayesian network.
    """

    dag: PDAG
    cpts: tuple[Floats, ...]
    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    _marginals: Marginals

    def __init__(
        self,
        dag: PDAG,
        cpts: Sequence[ArrayLike],
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[Any]] | None = None,
    ) -> None:
        topological_order(dag)  # refuses what is not a DAG
        dag = dag if names is None else dag.named(names)
        tables = checked_cpts(dag, cpts)
        put = object.__setattr__  # how a frozen value is filled
        put(self, "dag", dag)
        put(self, "cpts", tables)
        put(self, "names", dag.names or tuple(f"x{v}" for v in range(dag.n)))
        put(self, "levels", checked_levels(dag, [t.shape[-1] for t in tables], levels))
        put(self, "_marginals", marginals_of(dag, self._factors(), self.arities))

    @classmethod
    def random(
        cls,
        dag: PDAG,
        arity: int | Sequence[int] = 2,
        concentration: float = 0.5,
        seed: Seed = 0,
    ) -> "BayesianNetwork":
        """Return a network whose distributions are drawn from symmetric Dirichlet ones.

        ``concentration`` is that of each cell.  The default reads the paper's "uniform Dirichlet
        distribution with equivalent-sample size of one" for binary variables: Beta(½, ½).
        ``arity`` is the number of levels of each variable, or of all of them.
        """
        topological_order(dag)
        if not concentration > 0:
            raise NetworkError(f"concentration {concentration}: it must be positive")
        arities = _arities(arity, dag.n)
        rng = np.random.default_rng(seed)
        return cls(dag, [_dirichlet(dag, arities, v, concentration, rng) for v in range(dag.n)])

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.dag.n

    @property
    def arities(self) -> tuple[int, ...]:
        """The number of levels of each variable."""
        return tuple(cpt.shape[-1] for cpt in self.cpts)

    @property
    def parameters(self) -> int:
        """The number of free parameters."""
        return sum(cpt.size - cpt.size // cpt.shape[-1] for cpt in self.cpts)

    def marginal(self, variables: Nodes) -> Floats:
        """Return the joint distribution of some variables, axes in increasing order; exact.

        The array is read-only, since later answers are computed from it.
        """
        query = as_nodeset(variables, self.n, "marginal")
        values = self._marginals.marginal(query).values
        values.setflags(write=False)
        return values

    def sample(self, m: int, seed: Seed = 0) -> Dataset:
        """Return m independent records, as a table with this network's names and levels."""
        return tabulated(sample_codes(self.dag, self.cpts, m, seed), self.names, self.levels)

    def log_probability(self, rows: ArrayLike | Dataset) -> Floats:
        """Return the log-probability of each row: level numbers in the last axis, or a table."""
        codes = checked_rows(rows, self.names, self.levels)
        total = np.zeros(codes.shape[:-1])
        with np.errstate(divide="ignore"):  # an impossible record has log-probability -inf
            for v, cpt in enumerate(self.cpts):
                family = [*nodes(self.dag.parents(v)), v]
                total += np.log(cpt[tuple(codes[..., u] for u in family)])
        return total

    def _factors(self) -> list[Table]:
        """Return p(v | parents) for each v, axes in increasing order of the variables."""
        factors = []
        for v, cpt in enumerate(self.cpts):
            parents = self.dag.parents(v)
            axis = (parents & (1 << v) - 1).bit_count()
            factors.append(Table(parents | 1 << v, np.moveaxis(cpt, -1, axis)))
        return factors

    def __reduce__(self) -> tuple[Any, ...]:
        return BayesianNetwork, (self.dag, self.cpts, self.names, self.levels)

    def __repr__(self) -> str:
        edges, plural = self.dag.edge_count(), "" if self.n == 1 else "s"
        return (
            f"BayesianNetwork({self.n} variable{plural}, {edges} edge{'' if edges == 1 else 's'}, "
            f"{self.parameters} parameter{'' if self.parameters == 1 else 's'})"
        )


def _arities(arity: int | Sequence[int], n: int) -> list[int]:
    arities = [arity] * n if isinstance(arity, int) else [int(r) for r in arity]
    if len(arities) != n:
        raise NetworkError(f"{len(arities)} arities were given for {n} variables")
    if small := [r for r in arities if r < 1]:
        raise NetworkError(f"arity {small[0]}: a variable has at least one level")
    return arities


def _dirichlet(
    dag: PDAG, arities: Sequence[int], v: int, concentration: float, rng: np.random.Generator
) -> Floats:
    """Draw p(v | each configuration of its parents)."""
    shape = [arities[p] for p in nodes(dag.parents(v))]
    return rng.dirichlet([concentration] * arities[v], size=shape)
