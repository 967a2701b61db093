"""Discrete Bayesian networks (G, θ) as frozen values; variables and levels are numbers inside."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sges.docstrings import documented_like
from sges.errors import DataError, NetworkError, check_seed, check_text, is_number, shown
from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG, check_graph
from sges.network.base import Drawn, Floats, Network, counted, is_array, level_code
from sges.network.inference import Marginals, Table
from sges.network.structures import Seed
from sges.nodeset import Nodes, as_nodeset, nodes

SUM_TOLERANCE = 1e-8
"""How far the sum of the probabilities of a row may differ from one."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class BayesianNetwork(Network):
    """A DAG with one conditional distribution per node.

    Paper: Section 3, Bayesian network.

    Parameters
    ----------
    dag : PDAG
        The DAG.
    cpts : sequence of array_like
        For each node, its distribution given its parents: one axis per parent, in increasing
        order, and a last one with the levels of the node itself.
    names : sequence of str, optional
        The names of the variables; by default those of the DAG, or x0, x1, ...
    levels : sequence of sequence, optional
        For each variable, the labels of its levels; by default 0, 1, ...

    Raises
    ------
    NetworkError
        If a distribution does not fit the DAG, or is not a distribution.

    Examples
    --------
    >>> rain_wets_grass = BayesianNetwork(
    ...     PDAG.from_edges(2, [(0, 1)]), [[0.75, 0.25], [[0.5, 0.5], [0.0, 1.0]]]
    ... )
    >>> rain_wets_grass
    BayesianNetwork(2 variables, 1 edge, 3 parameters)
    >>> rain_wets_grass.marginal(1)
    array([0.375, 0.625])
    """

    dag: PDAG
    cpts: tuple[Floats, ...]
    levels: tuple[tuple[Any, ...], ...]
    _marginals: Marginals

    def __init__(
        self,
        dag: PDAG,
        cpts: Sequence[ArrayLike],
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[Any]] | None = None,
    ) -> None:
        check_graph("dag", dag)
        topological_order(dag)  # raises an error if it is not a DAG
        dag = dag if names is None else dag.named(names)
        tables = checked_cpts(dag, cpts)
        put = object.__setattr__  # how a frozen value is filled
        put(self, "dag", dag)
        put(self, "cpts", tables)
        put(self, "levels", checked_levels(dag, [t.shape[-1] for t in tables], levels))
        put(self, "_marginals", Marginals(dag, self._factors(), self.arities))

    @classmethod
    @documented_like(Network.sample)
    def random(
        cls,
        dag: PDAG,
        arity: int | Sequence[int] = 2,
        concentration: float = 0.5,
        seed: Seed = 0,
    ) -> "BayesianNetwork":
        """Return a network whose distributions are drawn from symmetric Dirichlet distributions.

        Parameters
        ----------
        dag : PDAG
            The DAG.
        arity : int or sequence of int, optional
            The number of levels of every variable, or of each.
        concentration : float, optional
            The parameter of each cell.  The default is the paper's "uniform Dirichlet
            distribution with equivalent-sample size of one" for binary variables: Beta(½, ½).

        Returns
        -------
        BayesianNetwork
            The network.
        """
        check_graph("dag", dag)
        topological_order(dag)
        if not (is_number(concentration) and concentration > 0):
            raise NetworkError(f"concentration {shown(concentration)}: it must be positive")
        check_seed(seed)
        arities = checked_arities(arity, dag.n)
        rng = np.random.default_rng(seed)
        cpts = []
        for v in range(dag.n):
            shape = [arities[p] for p in nodes(dag.parents(v))]
            cpts.append(rng.dirichlet([concentration] * arities[v], size=shape))
        return cls(dag, cpts)

    @property
    def arities(self) -> tuple[int, ...]:
        """The number of levels of each variable."""
        return tuple(cpt.shape[-1] for cpt in self.cpts)

    @property
    def parameters(self) -> int:
        """The number of free parameters."""
        return sum(cpt.size - cpt.size // cpt.shape[-1] for cpt in self.cpts)

    def marginal(self, variables: Nodes) -> Floats:
        """Return the exact joint distribution of some variables.

        Parameters
        ----------
        variables : int or iterable of int
            One variable, or several, by number.

        Returns
        -------
        ndarray
            One axis per variable, in increasing order.  The array is read-only, since later
            answers are computed from it.

        Raises
        ------
        Undecided
            If the computation would need more memory than is allowed.
        """
        values = self._marginals.marginal(as_nodeset(variables, self.n, "marginal")).values
        values.setflags(write=False)
        return values

    def _draw(self, m: int, rng: np.random.Generator) -> Drawn:
        codes = np.zeros((self.n, m), np.min_scalar_type(max(self.arities, default=1) - 1))
        for v in topological_order(self.dag):
            thresholds = np.cumsum(self.cpts[v], axis=-1)
            thresholds /= thresholds[..., -1:]  # a level of probability zero is then never drawn
            ceilings = thresholds[tuple(codes[p] for p in nodes(self.dag.parents(v)))]
            uniform = rng.random(m)
            for level in range(self.arities[v] - 1):
                codes[v] += uniform >= ceilings[..., level]
        return np.empty((0, m)), codes, self.levels

    @documented_like(Network.log_probability)
    def log_probability(self, rows: Any) -> Floats:  # noqa: ANN401 (any table)
        """Return the log-probability of each row."""
        if is_array(rows):
            codes = checked_codes(rows, self.names, self.arities)
        else:
            columns = self._columns(rows, self.levels, "the probability of a row")
            codes = columns.T.astype(np.intp)
        total = np.zeros(codes.shape[:-1])
        with np.errstate(divide="ignore"):  # an impossible record has log-probability -inf
            for v, cpt in enumerate(self.cpts):
                family = [*nodes(self.dag.parents(v)), v]
                total += np.log(cpt[tuple(codes[..., u] for u in family)])
        return total

    def query(self, what: str, given: Mapping[str, Any] | None = None) -> dict[Any, float] | float:
        """Return the exact probability of a variable or an event, given levels of others.

        Parameters
        ----------
        what : str
            The name of a variable, or an event such as ``"rain=yes"``.
        given : mapping of str to level, optional
            The levels that were observed, by name.

        Returns
        -------
        dict or float
            The probability of each level of the variable, or that of the event.

        Raises
        ------
        NetworkError
            If there is no such variable or level, or what is given is impossible.

        Examples
        --------
        >>> network = BayesianNetwork(
        ...     PDAG.from_edges(2, [(0, 1)], names=["rain", "wet"]),
        ...     [[0.75, 0.25], [[0.5, 0.5], [0.0, 1.0]]],
        ...     levels=[["no", "yes"], ["no", "yes"]],
        ... )
        >>> network.query("rain=yes", given={"wet": "yes"})
        0.4
        >>> network.query("wet")
        {'no': 0.375, 'yes': 0.625}
        """
        check_text("what", what)
        name, sign, level = what.partition("=") if what not in self.names else (what, "", "")
        v = self._number_of(name.strip())
        known = {
            u: level_code(value, self.levels[u], self.names[u])
            for u, value in self._by_number(given).items()
        }
        others = {u: code for u, code in known.items() if u != v}
        row = self._marginals.given(v, others).copy()
        if v in known:
            row[np.arange(len(row)) != known[v]] = 0.0
        if not row.sum() > 0:
            raise NetworkError(f"the given values have probability zero: {given}")
        row /= row.sum()
        if sign:  # spaces around a level are ignored, unless they are part of it
            level = level if level in map(str, self.levels[v]) else level.strip()
            return float(row[level_code(level, self.levels[v], name)])
        return dict(zip(self.levels[v], row.tolist(), strict=True))

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
        edges, parameters = self.dag.edge_count(), counted(self.parameters, "parameter")
        sizes = f"{counted(self.n, 'variable')}, {counted(edges, 'edge')}, {parameters}"
        return f"BayesianNetwork({sizes})"


def checked_arities(arity: int | Sequence[int], n: int) -> list[int]:
    """Return the numbers of levels of n variables, of which one may be given for all."""
    given = arity if isinstance(arity, Iterable) else [arity] * n
    arities = [int(r) if is_number(r, whole=True) else 0 for r in given]
    if len(arities) != n:
        raise NetworkError(f"{len(arities)} arities were given for {n} variables")
    if not all(0 < r <= 10**9 for r in arities):
        rule = "the number of levels must be a whole number, at least one"
        raise NetworkError(f"arity {shown(arity)}: {rule}")
    return arities


def checked_cpts(dag: PDAG, cpts: Sequence[ArrayLike]) -> tuple[Floats, ...]:
    """Return read-only copies of the distributions; raise an error if one is invalid."""
    if not isinstance(cpts, Sequence | np.ndarray):
        raise NetworkError(f"cpts = {shown(cpts)}: it must contain one array for each variable")
    if len(cpts) != dag.n:
        raise NetworkError(f"{len(cpts)} distributions were given for {dag.n} variables")
    tables = [_table_of(cpt, dag, v) for v, cpt in enumerate(cpts)]
    return tuple(_checked_table(tables, dag, v) for v in range(dag.n))


def _table_of(cpt: ArrayLike, dag: PDAG, v: int) -> Floats:
    """Return a distribution as an array with the right number of axes."""
    try:
        table = np.array(cpt, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise NetworkError(f"cpts[{dag.name(v)}] is not an array of numbers: {error}") from None
    axes = dag.parents(v).bit_count() + 1
    if table.ndim != axes or table.shape[-1] == 0:
        raise NetworkError(
            f"cpts[{dag.name(v)}] has the shape {table.shape}; it must have {axes} axes, one "
            "per parent and a last one with the levels of the variable itself"
        )
    return table


def _checked_table(tables: Sequence[Floats], dag: PDAG, v: int) -> Floats:
    """Return the distribution of v, read-only and its rows scaled, if it fits the others."""
    table, name, parents = tables[v], dag.name(v), list(nodes(dag.parents(v)))
    right = (*(tables[p].shape[-1] for p in parents), table.shape[-1])
    if table.shape != right:
        raise NetworkError(
            f"cpts[{name}] has the shape {table.shape}; with the parents "
            f"{', '.join(map(dag.name, parents)) or 'none'} in this order it must be {right}"
        )
    if (bad := table[~(table >= 0)]).size:
        raise NetworkError(f"cpts[{name}] contains {bad[0]}; a probability must be 0 or more")
    sums = table.sum(axis=-1)
    wrong = np.argwhere(~(np.abs(sums - 1) <= SUM_TOLERANCE))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        raise NetworkError(
            f"cpts[{name}]: the probabilities given the parents' levels {at} add up to "
            f"{float(sums[at])!r}; they must add up to 1"
        )
    scaled = scaled_rows(table)
    scaled.setflags(write=False)
    return scaled


def scaled_rows(table: Floats) -> Floats:
    """Return the table with rows that add up to one; those that do within rounding are kept."""
    sums = table.sum(axis=-1, keepdims=True)
    rounding = table.shape[-1] * np.finfo(np.float64).eps  # so that a scaled row is kept
    return np.asarray(table / np.where(np.abs(sums - 1) <= rounding, 1.0, sums))


def checked_levels(
    dag: PDAG, arities: Sequence[int], levels: object
) -> tuple[tuple[Any, ...], ...]:
    """Return the labels of the levels of each variable: those given, or 0, 1, ..."""
    if levels is None:
        return tuple(tuple(range(r)) for r in arities)
    if not isinstance(levels, Sequence) or not all(isinstance(one, Sequence) for one in levels):
        raise NetworkError(f"levels = {shown(levels)}: it must contain a list for each variable")
    if len(levels) != dag.n:
        raise NetworkError(f"levels of {len(levels)} variables were given for {dag.n} variables")
    for v, (labels, arity) in enumerate(zip(levels, arities, strict=True)):
        if not len(set(labels)) == len(labels) == arity:
            raise NetworkError(
                f"levels[{dag.name(v)}] = {shown(tuple(labels))}; it needs {arity} labels, "
                "all different"
            )
    return tuple(tuple(labels) for labels in levels)


def checked_codes(
    rows: ArrayLike, names: Sequence[str], arities: Sequence[int]
) -> NDArray[np.integer[Any]]:
    """Return level numbers, one variable per position in the last axis."""
    codes = np.asarray(rows)
    whole = np.issubdtype(codes.dtype, np.integer) or codes.size == 0
    if not whole or codes.shape[-1:] != (len(names),):
        raise DataError(
            f"rows of type {codes.dtype} and shape {codes.shape}: they must be whole numbers, "
            f"with the level of each of the {len(names)} variables in the last axis"
        )
    for v, (name, arity) in enumerate(zip(names, arities, strict=True)):
        column = codes[..., v]
        if column.size and not 0 <= column.min() <= column.max() < arity:
            raise DataError(
                f"variable {name}: the rows have the levels {column.min()} to {column.max()}; "
                f"its levels are 0 to {arity - 1}"
            )
    return codes
