"""The causal effects that are possible in an equivalence class.

In a DAG the effect of x on y follows from adjusting for the parents of x.  A class has several
DAGs, and so several possible parents of x (``sges.tools.counting`` finds them).  The possible
effects are one value for each possible set of parents (IDA: Maathuis, Kalisch & Bühlmann 2009);
``sges.tools.adjustment`` estimates each of them.

If no directed path leads from x to y, the effect is zero by the graph and is not estimated.  All
values assume that the graph is correct, and that there are no hidden common causes and no
selection bias.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import stdtrit

from sges.display import Rows, label_of_level, printable, span
from sges.docstrings import documented_like
from sges.errors import (
    Argument,
    DataError,
    InvalidArgument,
    Message,
    Undecided,
    check_number,
    check_word,
    is_number,
    shown,
)
from sges.graph.equivalence import maximally_oriented, pdag_to_dag
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes, nodeset, reach, union
from sges.result import Result
from sges.tools.adjustment import Data, DiscreteData, Floats, LinearData, data_of
from sges.tools.counting import (
    MAX_PARENT_SETS,
    multiplicities,
    parent_choices,
    possible_parents,
)

__all__ = [
    "DiscreteEffect",
    "JointEffect",
    "LinearEffect",
    "ReplicatedEffect",
    "effect",
    "joint_effect",
    "multiplicities",
    "possible_parents",
]

Adjustment: TypeAlias = Literal["parents", "optimal"]


@dataclass(frozen=True, slots=True, repr=False)
class LinearEffect:
    """The possible total effects of one variable on another in a linear model.

    Parameters
    ----------
    treatment : str
        The variable that is set.
    outcome : str
        The outcome.
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

    _heads = ("", "effect", "95% interval", "adjusted")

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
        quantiles = stdtrit(self.degrees_of_freedom, 1 - _tail(level))
        widths = np.multiply(self.standard_errors, quantiles)
        return float(np.min(self.values - widths)), float(np.max(self.values + widths))

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

    def __repr__(self) -> str:
        pair, values, interval, adjusted = self._cells()
        interval = f" (95% interval {interval})" if interval else ""
        return f"{pair}: {values}{interval}, {_how(adjusted)}"

    def _cells(self) -> tuple[str, ...]:
        interval = span(self.interval(), 3) if any(self.standard_errors) else ""
        adjusted = _adjusted(self.adjustment) if any(self.values) else NO_PATH
        return _pair(self), span(self.values, 3), interval, adjusted


@documented_like(LinearEffect)
@dataclass(frozen=True, slots=True, repr=False)
class JointEffect:
    """The possible effects of several variables set at once, in a linear model.

    Parameters
    ----------
    treatments : tuple of str
        The variables that are set.
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

    def __repr__(self) -> str:
        choices = f" ({len(self.values)} choices of parents)" if len(self.values) > 1 else ""
        lines = [f"Joint effects on {printable(self.outcome)}, the others held fixed{choices}"]
        numbers = (zip(*rows, strict=True) for rows in (self.values, self.standard_errors))
        for name, values, errors in zip(self.treatments, *numbers, strict=True):
            error = f" (standard error {span(errors, 2)})" if any(errors) else ""
            lines.append(f"  {printable(name)}: {span(values, 4)}{error}")
        return "\n".join(lines)


@documented_like(LinearEffect)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
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

    _heads = ("", "changes a probability by up to", "adjusted")

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
        distances = (np.abs(table[:, None] - table).sum(axis=2) / 2 for table in self.distributions)
        return tuple(float(np.fmax.reduce(d, axis=None, initial=0.0)) for d in distances)

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

    def __repr__(self) -> str:
        pair, changes, adjusted = self._cells()
        lines = [f"{pair}: {self._heads[1]} {changes}, {_how(adjusted)}"]
        rows, columns = (list(map(label_of_level, levels)) for levels in self.levels)
        for row, low, high in zip(rows, self.minimum, self.maximum, strict=True):
            cells = zip(columns, low.tolist(), high.tolist(), strict=True)
            shares = [f"{level} {span(ends, 3)}" for level, *ends in cells]
            more = [f"{len(shares) - MAX_LEVELS} more"] if len(shares) > MAX_LEVELS else []
            shares = shares[:MAX_LEVELS] + more
            set_to = f"{printable(self.treatment)} = {row}"
            lines.append(f"  p({printable(self.outcome)}) when {set_to}: {', '.join(shares)}")
        more = [f"  and {len(rows) - MAX_LEVELS} more"] if len(rows) > MAX_LEVELS else []
        return "\n".join(lines[: MAX_LEVELS + 1] + more)

    def _cells(self) -> tuple[str, ...]:
        adjusted = _adjusted(self.adjustment) if any(self.changes) else NO_PATH
        return _pair(self), span(self.changes, 3), adjusted


@documented_like(LinearEffect)
@dataclass(frozen=True, slots=True, repr=False)
class ReplicatedEffect:
    """The possible effects of one variable on another, over the graphs of many replicates.

    All values are estimated from the same data: only the graph varies.  So the interval shows how
    much the effect depends on the uncertainty of the graph; ``LinearEffect.interval`` shows the
    sampling error of each value.

    Parameters
    ----------
    minima : tuple of float
        The smallest possible effect in the class of each replicate; for discrete data, the
        smallest of the ``changes``.
    maxima : tuple of float
        The largest possible effect in the class of each replicate.
    lower_bounds : tuple of float
        The smallest absolute value of a possible effect in the class of each replicate.
    """

    treatment: str
    outcome: str
    minima: tuple[float, ...]
    maxima: tuple[float, ...]
    lower_bounds: tuple[float, ...]

    @property
    def share_nonzero(self) -> float:
        """The share of replicates whose class has no member with a zero effect."""
        return sum(bound > 0 for bound in self.lower_bounds) / len(self.lower_bounds)

    @documented_like(LinearEffect.interval)
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that contains the smallest and largest effects of most replicates.

        Parameters
        ----------
        level : float, optional
            At most a share (1 − level)/2 of the replicates has a smaller minimum, and at most
            the same share a larger maximum.
        """
        tail = _tail(level)
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

    def __repr__(self) -> str:
        times = len(self.minima)
        return (
            f"{_pair(self)}: {span(self.interval(), 4)} in 95% of {times} "
            f"replicate{'' if times == 1 else 's'}; not zero in {self.share_nonzero:.0%}"
        )


MAX_LEVELS = 4
"""The largest number of levels of each variable that ``repr`` shows."""

NO_PATH = "no directed path"
"""Instead of what was adjusted for, if the effect is zero by the graph."""


def _pair(effect: LinearEffect | DiscreteEffect | ReplicatedEffect) -> str:
    return f"{printable(effect.treatment)} on {printable(effect.outcome)}"


def _adjusted(sets: Sequence[Sequence[str]]) -> str:
    """Return the variables that an effect was adjusted for, or the number of their sets."""
    if len(sets) > 1:
        return f"{len(sets)} sets"
    return ", ".join(map(printable, sets[0])) or "nothing"


def _how(adjusted: str) -> str:
    """Return the end of a line on an effect."""
    return NO_PATH if adjusted == NO_PATH else f"adjusted for {adjusted}"


Effects: TypeAlias = Rows[LinearEffect | DiscreteEffect]
"""Several effects, shown as a table."""


def _tail(level: float) -> float:
    """Return the share on each side of an interval of a confidence level."""
    if not (is_number(level) and 0 < level < 1):
        raise InvalidArgument(f"level = {shown(level)}: it must be between 0 and 1")
    return (1 - level) / 2


@documented_like(Result.effect)
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
    data : table, Moments, LinearGaussian or BayesianNetwork
        What to estimate the effects from.  Columns are matched by name if the graph has names,
        and others are ignored.
    adjustment : {"parents", "optimal"}, optional
        Adjust for the parents of the treatment, as IDA does, or for the set with the smallest
        asymptotic variance (Henckel, Perković & Maathuis 2022); linear effects only.
    smoothing : float, optional
        For discrete data, the pseudo-count of each configuration, spread over the outcome.  Where
        the treatment does not affect the outcome there is one configuration, that of all records.

    Raises
    ------
    InvalidArgument
        If the two variables are the same, an argument is out of range, or ``adjustment`` is
        "optimal" and the data are discrete.
    DataError
        If the data do not fit the graph, or its columns are of both kinds.

    Examples
    --------
    >>> from sges.network import LinearGaussian
    >>> chain = PDAG.from_edges(3, [(0, 1), (1, 2)])
    >>> model = LinearGaussian(chain, [[0, 2, 0], [0, 0, 3], [0, 0, 0]], [1, 1, 1])
    >>> effect(chain, 0, 2, model).values
    (6.0,)
    >>> from sges.graph import dag_to_cpdag
    >>> print(effect(dag_to_cpdag(chain), 0, 2, model))
    0 on 2: 0 to 6, adjusted for 2 sets
    """
    check_word("adjustment", adjustment, get_args(Adjustment))
    check_number("smoothing", smoothing)
    x, y = graph.node(treatment), graph.node(outcome)
    if x == y:
        raise InvalidArgument(
            f"treatment and outcome are both {graph.name(x)!r}; give two different variables"
        )
    numbers = data_of(graph, data, smoothing)
    if adjustment != "parents" and isinstance(numbers, DiscreteData):
        raise InvalidArgument(
            Message(
                Argument("adjustment"),
                f" = {adjustment!r} is for continuous data, but these are discrete; use ",
                Argument("adjustment", "parents"),
            )
        )
    choices = list(parent_choices(maximally_oriented(graph), x))
    return _estimated(graph, x, y, choices, numbers, adjustment)


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
    xs, y = [graph.node(x) for x in treatments], graph.node(outcome)
    if len({*xs, y}) < len(xs) + 1:
        raise InvalidArgument("the treatments and the outcome must all be different variables")
    numbers = data_of(graph, data)
    if not isinstance(numbers, LinearData):
        raise DataError("joint effects need continuous data")
    states = _joint_choices(graph, xs)
    values, errors = zip(*(_joint(state, xs, y, numbers) for state in states), strict=True)
    return JointEffect(
        tuple(graph.name(x) for x in xs),
        graph.name(y),
        values,
        errors,
        tuple(tuple(graph.names_of(state.parents(x)) for x in xs) for state in states),
    )


def effects(
    graph: PDAG, data: Data, *, of: str | int | None = None, on: str | int | None = None
) -> Effects:
    """Return the possible effects of one variable, or on one variable, strongest first.

    Of effects with the same lower bound, such as 0, the one with the largest value comes first.
    """
    if of is not None and on is None:
        x = graph.node(of)
        pairs = [(x, y) for y in range(graph.n) if y != x]
    elif on is not None and of is None:
        y = graph.node(on)
        pairs = [(x, y) for x in range(graph.n) if x != y]
    else:
        raise InvalidArgument("effects: give exactly one of of= and on=")
    numbers, closed = data_of(graph, data), maximally_oriented(graph)
    choices = cache(lambda x: list(parent_choices(closed, x)))
    found = [_estimated(graph, x, y, choices(x), numbers) for x, y in pairs]
    return Rows(sorted(found, key=_rank, reverse=True))


def effect_over(
    graphs: Sequence[PDAG], treatment: str | int, outcome: str | int, data: Data
) -> ReplicatedEffect:
    """Return the possible effects of one variable on another over several classes.

    >>> from sges.network import LinearGaussian
    >>> forth = PDAG.from_edges(2, [(0, 1)])
    >>> model = LinearGaussian(forth, [[0, 2], [0, 0]], [1, 1])
    >>> found = effect_over([forth, forth, PDAG.from_edges(2, [(1, 0)])], 0, 1, model)
    >>> found.interval(), round(found.share_nonzero, 2)
    ((0.0, 2.0), 0.67)
    """

    @cache
    def ends(graph: PDAG, _: tuple[str, ...] | None) -> tuple[float, float, float]:
        possible = effect(graph, treatment, outcome, data)
        values = _values(possible)
        return min(values), max(values), possible.lower_bound

    # Graphs with the same edges are equal, whatever the names of their nodes.
    found = [ends(graph, graph.names) for graph in graphs]
    minima, maxima, bounds = zip(*found, strict=True)
    x, y = (graphs[0].name(graphs[0].node(variable)) for variable in (treatment, outcome))
    return ReplicatedEffect(x, y, minima, maxima, bounds)


def _values(found: LinearEffect | DiscreteEffect) -> tuple[float, ...]:
    """Return the possible effects as numbers; of discrete ones, the changes of probabilities."""
    return found.values if isinstance(found, LinearEffect) else found.changes


def _rank(found: LinearEffect | DiscreteEffect) -> tuple[float, float]:
    """Return the lower bound and the largest value of an effect."""
    return found.lower_bound, max(map(abs, _values(found)))


def _estimated(
    graph: PDAG,
    x: int,
    y: int,
    choices: Sequence[PDAG],
    data: LinearData | DiscreteData,
    adjustment: Adjustment = "parents",
) -> LinearEffect | DiscreteEffect:
    """Return the possible effects of x on y, one for each choice of the parents of x."""
    if isinstance(data, LinearData):
        return _linear(graph, x, y, choices, data, adjustment)
    return _discrete(graph, x, y, choices, data)


def _linear(
    graph: PDAG,
    x: int,
    y: int,
    choices: Sequence[PDAG],
    data: LinearData,
    adjustment: Adjustment,
) -> LinearEffect:
    estimates, sets = [], []
    for refined in choices:
        z = refined.parents(x) if adjustment == "parents" else _optimal_set(refined, x, y)
        affects = refined.descendants(x) >> y & 1
        estimates.append(data.coefficient(x, y, z) if affects else (0.0, 0.0, inf))
        sets.append(graph.names_of(z))
    values, errors, free = zip(*estimates, strict=True)
    return LinearEffect(graph.name(x), graph.name(y), values, errors, tuple(sets), free)


def _joint_choices(graph: PDAG, xs: Sequence[int]) -> list[PDAG]:
    """Return the class for each way in which members of the class direct the edges at nodes."""
    states = [maximally_oriented(graph)]
    for x in xs:
        states = [refined for state in states for refined in parent_choices(state, x)]
        if len(states) > MAX_PARENT_SETS:
            raise Undecided(f"the treatments have more than {MAX_PARENT_SETS} choices of parents")
    return states


def _joint(
    state: PDAG, xs: Sequence[int], y: int, data: LinearData
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the joint effects of nodes whose edges are all directed, and their errors.

    A node has a direct effect if a directed path from it to y passes no other of these nodes.  The
    last one on a path is such a node, so their effects do not depend on the others.
    """
    treatments = nodeset(xs)
    direct = [x for x in xs if reach(lambda v: state.children(v) & ~treatments, 1 << x) >> y & 1]
    coefficients = data.joint_coefficients(
        direct, y, [state.parents(x) for x in direct], [state.descendants(x) for x in direct]
    )
    values, errors = (dict(zip(direct, numbers, strict=True)) for numbers in coefficients)
    return tuple(values.get(x, 0.0) for x in xs), tuple(errors.get(x, 0.0) for x in xs)


def _optimal_set(refined: PDAG, x: int, y: int) -> NodeSet:
    """Return the parents of the causal nodes that are not affected by x.

    All edges at x are directed, so every member of the class has the same set.
    """
    dag = pdag_to_dag(refined)
    causal = dag.descendants(x) & dag.ancestors(y) & ~(1 << x)
    affected = reach(dag.children, causal) | 1 << x
    return union(dag.parents(v) for v in nodes(causal)) & ~affected


def _discrete(
    graph: PDAG, x: int, y: int, choices: Sequence[PDAG], data: DiscreteData
) -> DiscreteEffect:
    distributions = [
        data.when_set(x, y, refined.parents(x))
        if refined.descendants(x) >> y & 1
        else data.when_not_affected(x, y)
        for refined in choices
    ]
    return DiscreteEffect(
        graph.name(x),
        graph.name(y),
        (data.levels[x], data.levels[y]),
        tuple(distributions),
        tuple(graph.names_of(refined.parents(x)) for refined in choices),
    )
