"""Causal effects, with what an equivalence class leaves open.

In a DAG the effect of x on y follows from adjusting for the parents of x.  A class has several
DAGs, and so several possible parents of x.  IDA (Maathuis, Kalisch & Bühlmann 2009) finds them
locally, without listing the members of the class: each clique S of neighbors of x may be parents
of x and the other neighbors its children.  In a class refined by background knowledge such a
choice must also agree with Meek's rules (Perković, Kalisch & Maathuis 2017).  The possible effects
are one value for each possible set of parents.

    linear      the coefficient of x in the regression of y on x and its parents, with a standard
                error; everything comes from the covariance
    discrete    p(y | do(x)) = Σ_z p(z) p(y | x, z), z over the configurations of the parents
    joint       effects of several variables set at once.  Each directed path from x_i to y has a
                last node x_j among them, so T_iy = Σ_j T_ij J_jy, where T are total effects and J
                the joint ones (Nandy, Maathuis & Richardson 2017); standard errors by the delta
                method

Where no path leads from x to y, as where y is a parent of x, the effect is zero by the graph and is
not estimated.  All values assume that the graph is right, that there
are no hidden common causes, and no selection.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf, prod, sqrt
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from sges.data import Dataset, Moments
from sges.data.em import completed
from sges.docstrings import documented_like
from sges.errors import (
    DataError,
    InvalidArgument,
    Undecided,
    check_number,
    check_word,
    is_number,
    shown,
)
from sges.graph.counting import class_size
from sges.graph.equivalence import maximally_oriented, pdag_to_dag
from sges.graph.meek import direct_in_turn
from sges.graph.pdag import PDAG, check_graph, columns_of
from sges.graph.undirected import Between, cliques
from sges.network import BayesianNetwork, LinearGaussian
from sges.nodeset import NodeSet, as_node, nodes, reach, union

__all__ = [
    "DiscreteEffect",
    "JointEffect",
    "LinearEffect",
    "ReplicatedEffect",
    "effect",
    "effect_over",
    "effects_of",
    "effects_on",
    "joint_effect",
    "multiplicities",
    "possible_parents",
]

Floats: TypeAlias = NDArray[np.float64]
Adjustment: TypeAlias = Literal["parents", "optimal"]
Data: TypeAlias = Any
"""A table in any form that ``Dataset.of`` accepts, ``Moments``, or a network."""

MAX_PARENT_SETS = 10_000
"""How many possible sets of parents are examined before a question is given up."""

MAX_CELLS = 1 << 24
"""The most cells of a table of counts (128 mebibytes)."""


@dataclass(frozen=True, slots=True)
class LinearEffect:
    """The possible total effects of one variable on another in a linear model.

    Parameters
    ----------
    treatment : str
        The variable that is set.
    outcome : str
        The variable that responds.
    values : tuple of float
        How much the outcome changes on average per unit of the treatment: one value for each
        possible set of parents of the treatment.
    standard_errors : tuple of float
        The standard error of each value; zero for a value that is zero by the graph.
    adjustment : tuple of tuple of str
        The variables adjusted for, for each value.
    degrees_of_freedom : tuple of float
        The residual degrees of freedom of each regression.
    """

    treatment: str
    outcome: str
    values: tuple[float, ...]
    standard_errors: tuple[float, ...]
    adjustment: tuple[tuple[str, ...], ...]
    degrees_of_freedom: tuple[float, ...]

    @property
    def minimum(self) -> float:
        """The smallest possible effect."""
        return min(self.values)

    @property
    def maximum(self) -> float:
        """The largest possible effect."""
        return max(self.values)

    @property
    def lower_bound(self) -> float:
        """The smallest absolute value of a possible effect, by which IDA ranks treatments."""
        return min(map(abs, self.values))

    @property
    def sign(self) -> int | None:
        """1 or −1 if all possible effects have this sign, 0 if all are zero, otherwise None."""
        signs = {int(np.sign(value)) for value in self.values}
        return signs.pop() if len(signs) == 1 else None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that covers the confidence intervals of all possible effects.

        Parameters
        ----------
        level : float, optional
            The confidence level of each of them.

        Returns
        -------
        tuple of float
            The lower and the upper end.
        """
        if not (is_number(level) and 0 < level < 1):
            raise InvalidArgument(f"level = {shown(level)}: it must be between 0 and 1")
        ends = [
            (value - width, value + width)
            for value, error, free in zip(
                self.values, self.standard_errors, self.degrees_of_freedom, strict=True
            )
            for width in [error * float(stdtrit(free, (1 + level) / 2)) if error else 0.0]
        ]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain lists, dicts, strings and numbers.

        Returns
        -------
        dict
            ``kind`` ("linear"), ``treatment``, ``outcome``, ``minimum``, ``maximum``,
            ``lower_bound``, ``sign``, ``interval`` (of level 0.95), and one entry for each possible
            set of parents in ``values``, ``standard_errors`` and ``adjustment``.
        """
        return {
            "kind": "linear",
            "treatment": self.treatment,
            "outcome": self.outcome,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "lower_bound": self.lower_bound,
            "sign": self.sign,
            "interval": list(self.interval()),
            "values": list(self.values),
            "standard_errors": list(self.standard_errors),
            "adjustment": [list(names) for names in self.adjustment],
        }

    def __str__(self) -> str:
        shown = f"{self.minimum:.4g}"
        if len(self.values) > 1:
            shown = f"{shown} to {self.maximum:.4g} ({len(self.values)} sets of parents)"
        return f"{self.treatment} on {self.outcome}: {shown}"


@dataclass(frozen=True, slots=True)
class JointEffect:
    """The possible effects of several variables set at once, in a linear model.

    Parameters
    ----------
    treatments : tuple of str
        The variables that are set.
    outcome : str
        The variable that responds.
    values : tuple of tuple of float
        For each possible choice of the parents of all treatments, how much the outcome changes
        per unit of each treatment while the others are held fixed.
    standard_errors : tuple of tuple of float
        The standard error of each value, for a large number of records; zero for a value that is
        zero by the graph.
    parents : tuple of tuple of tuple of str
        The parents of each treatment, for each choice.
    """

    treatments: tuple[str, ...]
    outcome: str
    values: tuple[tuple[float, ...], ...]
    standard_errors: tuple[tuple[float, ...], ...]
    parents: tuple[tuple[tuple[str, ...], ...], ...]


@documented_like(LinearEffect)
@dataclass(frozen=True, slots=True, eq=False)
class DiscreteEffect:
    """The possible distributions of one variable when another is set, in a discrete model.

    Parameters
    ----------
    levels : tuple of tuple
        The levels of the treatment, and those of the outcome.
    distributions : tuple of ndarray
        For each possible set of parents of the treatment, p(outcome | do(treatment)): a row for
        each level of the treatment, a column for each level of the outcome.  A row is NaN where a
        configuration of the parents never occurs with the level.
    adjustment : tuple of tuple of str
        The variables adjusted for, for each distribution.
    """

    treatment: str
    outcome: str
    levels: tuple[tuple[Any, ...], tuple[Any, ...]]
    distributions: tuple[Floats, ...]
    adjustment: tuple[tuple[str, ...], ...]

    @property
    def minimum(self) -> Floats:
        """The smallest possible probability in each cell."""
        return np.asarray(np.min(self.distributions, axis=0), dtype=np.float64)

    @property
    def maximum(self) -> Floats:
        """The largest possible probability in each cell."""
        return np.asarray(np.max(self.distributions, axis=0), dtype=np.float64)

    @property
    def changes(self) -> tuple[float, ...]:
        """How far the treatment can move the outcome, for each possible set of parents.

        The largest total variation distance between two rows: the largest change in the
        probability of any event when the treatment is set to one level instead of another.
        """
        found = []
        for table in self.distributions:
            known = table[~np.isnan(table).any(axis=1)]
            apart = np.abs(known[:, None] - known).sum(axis=2) / 2
            found.append(float(apart.max(initial=0.0)))
        return tuple(found)

    @property
    def lower_bound(self) -> float:
        """The smallest of the ``changes``, by which treatments are ranked."""
        return min(self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain lists, dicts, strings and numbers.

        Returns
        -------
        dict
            ``kind`` ("discrete"), ``treatment``, ``outcome``, ``lower_bound``, ``levels`` (of the
            two, as text), and one entry for each possible set of parents in ``changes``,
            ``distributions`` (a list per level of the treatment; None where a probability is
            unknown) and ``adjustment``.
        """
        return {
            "kind": "discrete",
            "treatment": self.treatment,
            "outcome": self.outcome,
            "lower_bound": self.lower_bound,
            "changes": list(self.changes),
            "levels": [[str(level) for level in levels] for levels in self.levels],
            "distributions": [
                [[None if np.isnan(p) else p for p in row] for row in table.tolist()]
                for table in self.distributions
            ],
            "adjustment": [list(names) for names in self.adjustment],
        }


@documented_like(LinearEffect)
@dataclass(frozen=True, slots=True)
class ReplicatedEffect:
    """The possible effects of one variable on another, over the graphs of many replicates.

    All values are estimated from the same data: what varies is the graph.  So the interval says
    how far the effect depends on a graph that another sample might have given; the sampling error
    of each value is what ``LinearEffect.interval`` is for.

    Parameters
    ----------
    minima : tuple of float
        The smallest possible effect in the class of each replicate; for discrete data, the
        smallest of the ``changes``.
    maxima : tuple of float
        The largest possible effect in the class of each replicate.
    """

    treatment: str
    outcome: str
    minima: tuple[float, ...]
    maxima: tuple[float, ...]

    @property
    def share_nonzero(self) -> float:
        """The share of replicates in whose class no member has a zero effect."""
        pairs = zip(self.minima, self.maxima, strict=True)
        return sum(low > 0 or high < 0 for low, high in pairs) / len(self.minima)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that holds the smallest and largest effects of most replicates.

        Parameters
        ----------
        level : float, optional
            At most a share (1 − level)/2 of the replicates has a smaller minimum, and at most
            the same share a larger maximum.

        Returns
        -------
        tuple of float
            The lower and the upper end.
        """
        if not (is_number(level) and 0 < level < 1):
            raise InvalidArgument(f"level = {shown(level)}: it must be between 0 and 1")
        tail = (1 - level) / 2
        low = np.quantile(self.minima, tail, method="lower")
        high = np.quantile(self.maxima, 1 - tail, method="higher")
        return float(low), float(high)

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain lists, dicts, strings and numbers.

        Returns
        -------
        dict
            ``treatment``, ``outcome``, ``replicates``, ``share_nonzero`` and ``interval`` (of level
            0.95).
        """
        return {
            "treatment": self.treatment,
            "outcome": self.outcome,
            "replicates": len(self.minima),
            "share_nonzero": self.share_nonzero,
            "interval": list(self.interval()),
        }


def possible_parents(graph: PDAG, x: int) -> list[NodeSet]:
    """Return the sets that are the parents of a node in some DAG of a class.

    Parameters
    ----------
    graph : PDAG
        A CPDAG, a class refined by background knowledge, or a DAG.
    x : int
        The node.

    Returns
    -------
    list of int
        The sets, as masks, each once.

    Raises
    ------
    Undecided
        If more than ``MAX_PARENT_SETS`` cliques of neighbors would have to be examined.

    References
    ----------
    Maathuis, Kalisch & Bühlmann (2009), "Estimating high-dimensional intervention effects from
    observational data", Annals of Statistics 37.

    Examples
    --------
    >>> possible_parents(PDAG.from_edges(3, undirected=[(0, 1), (1, 2)]), 1) == [0, 0b001, 0b100]
    True
    """
    closed = maximally_oriented(graph)
    return [refined.parents(x) for refined in _choices(closed, as_node(x, graph.n))]


@documented_like(possible_parents)
def multiplicities(graph: PDAG, x: int) -> list[int | Between]:
    """Return how many DAGs of a class have each possible set of parents of a node.

    With these numbers the possible effects of x become those of all members of the class.  They
    take polynomial time for a CPDAG: what stays undirected when the edges at x are directed falls
    into components that are independent of each other (Hauser & Bühlmann 2012).

    Returns
    -------
    list of int or Between
        One number for each set that ``possible_parents`` returns, in the same order; an interval
        where background knowledge makes the exact number too expensive (see ``class_size``).

    Raises
    ------
    Undecided
        If more than ``MAX_PARENT_SETS`` cliques of neighbors would have to be examined.

    Examples
    --------
    >>> complete = PDAG.complete(3)
    >>> [(bin(z), k) for z, k in zip(possible_parents(complete, 2), multiplicities(complete, 2))]
    [('0b0', 2), ('0b1', 1), ('0b11', 2), ('0b10', 1)]
    """
    closed = maximally_oriented(graph)
    return [class_size(refined) for refined in _choices(closed, as_node(x, graph.n))]


def _choices(closed: PDAG, x: int) -> Iterator[PDAG]:
    """Yield the class for each way to direct all edges at x that some member has."""
    near = closed.neighbors(x)
    rows = {v: closed.adjacent(v) for v in nodes(near)}
    every = cliques(rows, near)
    for chosen in islice(every, MAX_PARENT_SETS):
        arrows = [(v, x) if chosen >> v & 1 else (x, v) for v in nodes(near)]
        refined, contradicting = direct_in_turn(closed, arrows)
        if not contradicting:
            yield refined
    if next(every, None) is not None:
        raise Undecided(
            f"{closed.name(x)} has more than {MAX_PARENT_SETS} possible sets of parents; "
            "background knowledge about its neighbors would reduce them"
        )


def effect(
    graph: PDAG,
    treatment: str | int,
    outcome: str | int,
    data: Data,
    *,
    adjustment: Adjustment = "parents",
    smoothing: float = 1.0,
) -> LinearEffect | DiscreteEffect:
    """Return the possible effects of one variable on another over a class.

    Parameters
    ----------
    graph : PDAG
        A CPDAG, a class refined by background knowledge, or a DAG.
    treatment : str or int
        The variable that is set, by name or number.
    outcome : str or int
        The variable that responds.
    data : table, Moments, LinearGaussian or BayesianNetwork
        What to estimate the effects from.  Columns are matched by name if the graph has names.
    adjustment : {"parents", "optimal"}, optional
        Adjust for the parents of the treatment, as IDA does, or for the set with the smallest
        asymptotic variance (Henckel, Perković & Maathuis 2022); linear effects only.
    smoothing : float, optional
        For discrete data, the pseudo-count of each configuration, spread over the outcome.

    Returns
    -------
    LinearEffect or DiscreteEffect
        One value for each possible set of parents of the treatment.

    Raises
    ------
    InvalidArgument
        If the two variables are the same, or an argument is out of range.
    DataError
        If the data do not fit the graph, or mix continuous and discrete columns.

    Examples
    --------
    >>> chain = PDAG.from_edges(3, [(0, 1), (1, 2)])
    >>> model = LinearGaussian(chain, [[0, 2, 0], [0, 0, 3], [0, 0, 0]], [1, 1, 1])
    >>> effect(chain, 0, 2, model).values
    (6.0,)
    >>> from sges.graph import dag_to_cpdag
    >>> print(effect(dag_to_cpdag(chain), 0, 2, model))
    0 on 2: 0 to 6 (2 sets of parents)
    """
    check_graph("graph", graph)
    check_word("adjustment", adjustment, get_args(Adjustment))
    check_number("smoothing", smoothing)
    x, y = graph.node(treatment), graph.node(outcome)
    if x == y:
        raise InvalidArgument(f"treatment and outcome are both {graph.name(x)!r}; name two")
    statistics = _statistics(graph, data, smoothing)
    choices = list(_choices(maximally_oriented(graph), x))
    if isinstance(statistics, _Tables):
        return _discrete(graph, x, y, choices, statistics)
    return _linear(graph, x, y, choices, statistics, adjustment)


@documented_like(effect)
def joint_effect(
    graph: PDAG, treatments: Sequence[str | int], outcome: str | int, data: Data
) -> JointEffect:
    """Return the possible effects of several variables set at once, for linear models.

    Parameters
    ----------
    treatments : sequence of str or int
        The variables that are set, by name or number.
    data : table, Moments or LinearGaussian
        What to estimate the effects from.

    Returns
    -------
    JointEffect
        The effects for each possible choice of the parents of all treatments.

    Raises
    ------
    InvalidArgument
        If a variable is named twice.
    DataError
        If the data do not fit the graph, or are not continuous.

    References
    ----------
    Nandy, Maathuis & Richardson (2017), "Estimating the effect of joint interventions from
    observational data in sparse high-dimensional settings", Annals of Statistics 45.
    """
    check_graph("graph", graph)
    if isinstance(treatments, str | bytes) or not isinstance(treatments, Iterable):
        raise InvalidArgument(f"treatments = {shown(treatments)}: it must be a list of variables")
    xs, y = [graph.node(x) for x in treatments], graph.node(outcome)
    if len({*xs, y}) < len(xs) + 1:
        raise InvalidArgument("the treatments and the outcome must all be different variables")
    moments = _statistics(graph, data, 1.0)
    if not isinstance(moments, _Linear):
        raise DataError("joint effects need continuous data")
    states = [maximally_oriented(graph)]
    for x in xs:
        states = [refined for state in states for refined in _choices(state, x)]
        if len(states) > MAX_PARENT_SETS:
            raise Undecided(f"the treatments have more than {MAX_PARENT_SETS} choices of parents")
    values, errors, parents = [], [], []
    for state in states:
        above = [state.parents(x) for x in xs]
        joint, error = moments.joint_coefficients(xs, y, above)
        values.append(joint)
        errors.append(error)
        parents.append(tuple(graph.names_of(z) for z in above))
    return JointEffect(
        tuple(graph.name(x) for x in xs),
        graph.name(y),
        tuple(values),
        tuple(errors),
        tuple(parents),
    )


@documented_like(effect)
def effects_of(
    graph: PDAG, treatment: str | int, data: Data
) -> list[LinearEffect] | list[DiscreteEffect]:
    """Return the possible effects of one variable on each other, strongest first.

    Returns
    -------
    list of LinearEffect or DiscreteEffect
        Ranked by ``lower_bound``: the smallest absolute value that a linear effect may have, or
        the smallest change of probabilities.
    """
    check_graph("graph", graph)
    x = graph.node(treatment)
    choices = list(_choices(maximally_oriented(graph), x))
    pairs = [(x, y, choices) for y in range(graph.n) if y != x]
    return _ranked(graph, pairs, data)


@documented_like(effects_of, effect)
def effects_on(
    graph: PDAG, outcome: str | int, data: Data
) -> list[LinearEffect] | list[DiscreteEffect]:
    """Return the possible effects of each other variable on one, strongest first."""
    check_graph("graph", graph)
    y = graph.node(outcome)
    closed = maximally_oriented(graph)
    pairs = [(x, y, list(_choices(closed, x))) for x in range(graph.n) if x != y]
    return _ranked(graph, pairs, data)


@documented_like(effect)
def effect_over(
    graphs: Sequence[PDAG], treatment: str | int, outcome: str | int, data: Data
) -> ReplicatedEffect:
    """Return the possible effects of one variable on another over several classes.

    Parameters
    ----------
    graphs : sequence of PDAG
        Classes over the same variables, such as ``confidence.graphs``.
    data : table, Moments, LinearGaussian or BayesianNetwork
        What to estimate the effects from, the same for all classes.

    Returns
    -------
    ReplicatedEffect
        The smallest and the largest possible effect in each class.

    Examples
    --------
    >>> forth = PDAG.from_edges(2, [(0, 1)])
    >>> model = LinearGaussian(forth, [[0, 2], [0, 0]], [1, 1])
    >>> found = effect_over([forth, forth, PDAG.from_edges(2, [(1, 0)])], 0, 1, model)
    >>> found.interval(), round(found.share_nonzero, 2)
    ((0.0, 2.0), 0.67)
    """
    given: object = graphs
    if isinstance(given, str | bytes) or not isinstance(given, Sequence) or not given:
        raise InvalidArgument(f"graphs = {shown(graphs)}: it must be a list of at least one graph")
    known: dict[PDAG, tuple[float, float]] = {}
    for graph in graphs:
        if graph not in known:
            found = effect(graph, treatment, outcome, data)
            values = found.values if isinstance(found, LinearEffect) else found.changes
            known[graph] = min(values), max(values)
    minima, maxima = zip(*(known[graph] for graph in graphs), strict=True)
    return ReplicatedEffect(
        graphs[0].name(graphs[0].node(treatment)),
        graphs[0].name(graphs[0].node(outcome)),
        minima,
        maxima,
    )


def _ranked(
    graph: PDAG, pairs: Sequence[tuple[int, int, Sequence[PDAG]]], data: Data
) -> list[LinearEffect] | list[DiscreteEffect]:
    statistics = _statistics(graph, data, 1.0)
    if isinstance(statistics, _Linear):
        linear = [_linear(graph, x, y, some, statistics, "parents") for x, y, some in pairs]
        return sorted(linear, key=lambda found: -found.lower_bound)
    discrete = [_discrete(graph, x, y, some, statistics) for x, y, some in pairs]
    return sorted(discrete, key=lambda found: -found.lower_bound)


def _linear(
    graph: PDAG,
    x: int,
    y: int,
    choices: Sequence[PDAG],
    moments: "_Linear",
    adjustment: Adjustment,
) -> LinearEffect:
    values, errors, sets, free = [], [], [], []
    for refined in choices:
        z: NodeSet | None = refined.parents(x)
        if adjustment == "optimal":
            z = _optimal_set(refined, x, y)
        value, error, degrees = 0.0, 0.0, inf
        if z is not None and _may_affect(refined, x, y):
            value, error, degrees = moments.coefficient(x, y, z)
        values.append(value)
        errors.append(error)
        free.append(degrees)
        sets.append(() if z is None else graph.names_of(z))
    return LinearEffect(
        graph.name(x), graph.name(y), tuple(values), tuple(errors), tuple(sets), tuple(free)
    )


def _may_affect(refined: PDAG, x: int, y: int) -> bool:
    """Tell whether a path leads from x, whose edges are all directed, to y in some member."""
    return bool(reach(refined.out.__getitem__, 1 << x) >> y & 1)


def _optimal_set(refined: PDAG, x: int, y: int) -> NodeSet | None:
    """Return the parents of the causal nodes that are not affected by x; None without effect.

    All edges at x are directed, so every member of the class has the same set.
    """
    dag = pdag_to_dag(refined)
    causal = dag.descendants(x) & dag.ancestors(y) & ~(1 << x)
    if not causal:
        return None
    affected = reach(dag.children, causal) | 1 << x
    return union(dag.parents(v) for v in nodes(causal)) & ~affected


def _discrete(
    graph: PDAG, x: int, y: int, choices: Sequence[PDAG], tables: "_Tables"
) -> DiscreteEffect:
    distributions = []
    for refined in choices:
        z = refined.parents(x)
        if not _may_affect(refined, x, y):
            margin = tables.counts([y])
            distributions.append(np.tile(margin / margin.sum(), (tables.arity(x), 1)))
            continue
        counts = tables.counts([x, y, *nodes(z)]).reshape(tables.arity(x), tables.arity(y), -1)
        counts = counts.transpose(0, 2, 1)  # x, configuration of z, y
        weights = counts.sum(axis=(0, 2)) / counts.sum()
        smoothed = counts + tables.smoothing / tables.arity(y)
        used = weights > 0
        with np.errstate(invalid="ignore"):
            given = smoothed[:, used] / smoothed[:, used].sum(axis=2, keepdims=True)
        distributions.append(np.einsum("xzy,z->xy", given, weights[used]))
    return DiscreteEffect(
        graph.name(x),
        graph.name(y),
        (tables.levels(x), tables.levels(y)),
        tuple(distributions),
        tuple(graph.names_of(refined.parents(x)) for refined in choices),
    )


@dataclass(frozen=True, eq=False)
class _Linear:
    """The covariance of the nodes of a graph, and from how many records it is."""

    covariance: Floats
    records: float

    def coefficient(self, x: int, y: int, z: NodeSet) -> tuple[float, float, float]:
        """Return the coefficient of x for y given z, its standard error, degrees of freedom."""
        if z >> y & 1:
            return 0.0, 0.0, inf
        block = [x, *nodes(z)]
        between = self.covariance[block, y]
        try:
            inverse = np.linalg.inv(self.covariance[np.ix_(block, block)])
        except np.linalg.LinAlgError:
            raise DataError("some columns are linear combinations of others") from None
        slopes = inverse @ between
        free = self.records - len(block) - 1
        if free <= 0:
            raise DataError(
                f"{self.records:.0f} records are too few to adjust for {len(block) - 1} variables"
            )
        rest = max(self.covariance[y, y] - between @ slopes, 0.0)
        return float(slopes[0]), sqrt(rest * inverse[0, 0] / free), free

    def joint_coefficients(
        self, xs: Sequence[int], y: int, above: Sequence[NodeSet]
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the joint effects of several nodes, given the parents of each, and their errors.

        The total effects T solve T_iy = Σ_j T_ij J_j.  A coefficient of x_i for b varies like the
        mean of w_i r, where w_i is x_i without what its parents explain, divided by its variance,
        and r the residual of b.  So J_i varies like the mean of Σ_j (T⁻¹)_ij w_j u_j with the
        residuals u_j of y − Σ_b J_b x_b, and for normal data
        Cov(w_j u_j, w_k u_k) = Cov(w_j, w_k) Cov(u_j, u_k) + Cov(w_j, u_k) Cov(u_j, w_k).
        """
        k, n = len(xs), len(self.covariance)
        total = np.eye(k, k + 1)
        for i, (x, z) in enumerate(zip(xs, above, strict=True)):
            for j, b in enumerate([*xs, y]):
                if b != x:
                    total[i, j] = self.coefficient(x, b, z)[0]
        inverse = np.linalg.inv(total[:, :k])
        joint = inverse @ total[:, k]
        w, u = np.zeros((k, n)), np.zeros((k, n))  # as weights of the variables
        for i, (x, z) in enumerate(zip(xs, above, strict=True)):
            block = [x, *nodes(z)]
            precision = np.linalg.inv(self.covariance[np.ix_(block, block)])
            w[i, block] = precision[0]
            for share, b in zip([*-joint, 1.0], [*xs, y], strict=True):
                if b != x and not z >> b & 1:
                    u[i, b] += share
                    u[i, block] -= share * (precision @ self.covariance[block, b])
        ww, uu, wu = (a @ self.covariance @ b.T for a, b in ((w, w), (u, u), (w, u)))
        spread = inverse @ (ww * uu + wu * wu.T) @ inverse.T / self.records
        errors = np.sqrt(np.maximum(np.diagonal(spread), 0.0))
        return tuple(joint.tolist()), tuple(errors.tolist())


@dataclass(frozen=True, eq=False)
class _Tables:
    """Counts, or probabilities, of the discrete nodes of a graph."""

    columns: Sequence[int]
    all_levels: Sequence[tuple[Any, ...]]
    count: Callable[[list[int]], Floats]
    smoothing: float

    def levels(self, v: int) -> tuple[Any, ...]:
        return self.all_levels[self.columns[v]]

    def arity(self, v: int) -> int:
        return len(self.levels(v))

    def counts(self, of: Sequence[int]) -> Floats:
        """Return the table of some nodes, one axis each in the given order."""
        cells = prod(self.arity(v) for v in of)
        if cells > MAX_CELLS:
            raise Undecided(
                f"adjusting for {len(of) - 2} variables needs {cells:.3g} cells, "
                f"more than {MAX_CELLS}"
            )
        return self.count([self.columns[v] for v in of])


def _statistics(graph: PDAG, data: Data, smoothing: float) -> _Linear | _Tables:
    """Return what the effects are computed from, with columns in the order of the nodes."""
    if not smoothing >= 0:
        raise InvalidArgument(f"smoothing = {smoothing}: it must be 0 or more")
    if isinstance(data, LinearGaussian):
        columns = columns_of(graph, data.names)
        return _Linear(data.covariance()[np.ix_(columns, columns)], inf)
    if isinstance(data, BayesianNetwork):
        return _Tables(columns_of(graph, data.names), data.levels, _marginals_of(data), 0.0)
    if not isinstance(data, Moments):
        table = Dataset.of(data)
        if not table.continuous:
            table = completed(table)
            levels = [level or () for level in table.levels]
            return _Tables(columns_of(graph, table.names), levels, _counts_of(table), smoothing)
        if table.discrete:
            raise DataError(
                "effects need columns of one kind, and the data have continuous and discrete ones; "
                "to_dowhy() passes the graph to a tool that estimates effects in such tables"
            )
        data = Moments.of(table)
    columns = columns_of(graph, data.names)
    return _Linear(data.covariance[np.ix_(columns, columns)], data.records)


def _marginals_of(network: BayesianNetwork) -> Callable[[list[int]], Floats]:
    def count(of: list[int]) -> Floats:
        return network.marginal(of).transpose(np.argsort(np.argsort(of)))

    return count


def _counts_of(table: Dataset) -> Callable[[list[int]], Floats]:
    def count(of: list[int]) -> Floats:
        shape = [len(table.levels[v] or ()) for v in of]
        cells = np.ravel_multi_index([table.codes[v].astype(np.intp) for v in of], shape)
        counted = np.bincount(cells, table.weights, minlength=prod(shape)) * table.unit
        return counted.reshape(shape).astype(np.float64)

    return count
