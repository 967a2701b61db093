"""The interface of a score, on which all operators and searches rely, and wrappers of scores.

A score is decomposable (Eq. 1): the score of a DAG is the sum over its nodes of
``local(y, parents)``.  It is maximized, on the log-likelihood scale.  Sets of nodes are masks:
bit v of the integer is set if node v belongs to the set.

``n`` and ``local`` are the whole interface.  A score may also have the methods ``insert_gains`` and
``delete_gains``, which compute the gains of many candidates at once.
"""

from collections.abc import Callable
from math import isfinite, log
from typing import Any, Protocol, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from sges.docstrings import documented_like
from sges.errors import InvalidArgument, ScoreError, is_number, shown
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG, check_graph
from sges.nodeset import NodeSet, show

Gains: TypeAlias = NDArray[np.float64]
"""One number per candidate: the score after the change minus the score before it."""

Candidates: TypeAlias = NDArray[np.intp]
"""The nodes to add or to remove, one at a time."""

GainsMethod: TypeAlias = Callable[[int, NodeSet, Candidates], Gains]
"""``insert_gains`` or ``delete_gains`` of a score: takes y, its base and the candidates."""

_GAINS_DOC = """The gains of adding candidates to the parents of a node, or of removing them.

Parameters
----------
y
    The node.
base
    Its parents before the change, as a mask.
candidates
    The nodes to add or to remove, one at a time: neither y nor in ``base`` if they are added, all
    in ``base`` if they are removed.

Returns
-------
ndarray of float
    For each candidate, the score of y after the change minus the score before it.
"""


class Score(Protocol):
    """The contract of a score: the number of variables, and the score of a family."""

    @property
    def n(self) -> int:
        """The number of variables."""

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the score of node y with a set of parents: its term in the sum of Eq. 1.

        Parameters
        ----------
        y
            The node.
        parents
            Its parents, as a mask.

        Returns
        -------
        float
            The score of the family, on the log-likelihood scale; larger is better.
        """


def is_score(value: object) -> TypeGuard[Score]:
    """Return whether a value is a score object, not a name or a class of scores."""
    return not isinstance(value, type) and hasattr(value, "local") and hasattr(value, "n")


def check_is_score(value: object) -> None:
    """Raise an error if a value is not a score object."""
    if not is_score(value):
        raise InvalidArgument(
            f"score = {shown(value)} is not a score; it needs n and local(y, parents), like "
            "GaussianBIC(data)"
        )
    if not is_number(value.n, whole=True) or value.n < 0:
        raise ScoreError(
            f"{type(value).__name__}.n is {shown(value.n)}; it must be the number of variables"
        )


@documented_like(_GAINS_DOC)
def insert_gains(score: Score, y: int, base: NodeSet, candidates: Candidates) -> Gains:
    """Return how much the score of y changes with each candidate added to its parents.

    Parameters
    ----------
    score
        Any score; its own ``insert_gains`` is used if it has one.
    """
    return _gains(score, "insert_gains", score.local, y, base, candidates)


@documented_like(_GAINS_DOC)
def delete_gains(score: Score, y: int, base: NodeSet, candidates: Candidates) -> Gains:
    """Return how much the score of y changes with each candidate removed from its parents.

    Parameters
    ----------
    score
        Any score; its own ``delete_gains`` is used if it has one.
    """
    return _gains(score, "delete_gains", score.local, y, base, candidates)


def _gains(
    score: Score,
    name: str,
    local: Callable[[int, NodeSet], float],
    y: int,
    base: NodeSet,
    candidates: Candidates,
) -> Gains:
    """Return the gains by the score's own method of this name, or by ``local`` one by one."""
    batch = batch_method(score, name)
    given = batch(y, base, candidates) if batch else gains_by_local(local, y, base, candidates)
    return as_gains(score, y, base, len(candidates), given)


def score_name(score: Score) -> str:
    """Return the name of a score in results: its ``label``, or the name of its class."""
    label = getattr(score, "label", None)
    return label if isinstance(label, str) else type(score).__name__


def text_of(score: Any) -> str:  # noqa: ANN401 (a score)
    """Return the ``repr`` of a score: its class, its size, and its setting."""
    names = ("n", "records", "penalty", "ess")
    pairs = (f"{name}={getattr(score, name):.10g}" for name in names if hasattr(score, name))
    return f"{type(score).__name__}({', '.join(pairs)})"


def batch_method(score: Score, name: str) -> GainsMethod | None:
    """Return the score's own ``insert_gains`` or ``delete_gains``, or None if it has none."""
    return cast(GainsMethod | None, getattr(score, name, None))


def gains_by_local(
    local: Callable[[int, NodeSet], float], y: int, base: NodeSet, candidates: Candidates
) -> Gains:
    """Return the gains of adding each candidate to ``base``, or removing it, one by one."""
    before = local(y, base)
    gains = [local(y, base ^ 1 << x) - before for x in candidates.tolist()]
    return np.array(gains, dtype=np.float64)


def as_gains(score: Score, y: int, base: NodeSet, count: int, given: object) -> Gains:
    """Return the gains of ``count`` candidates that a score computed, as an array of floats."""
    try:
        gains = np.asarray(given)
        if gains.dtype.kind in "biufO":
            gains = gains.astype(np.float64, order="C", copy=False)
    except (TypeError, ValueError):  # objects that are not numbers, or lists of different lengths
        gains = np.array("")
    if gains.dtype != np.float64 or gains.shape != (count,):
        raise ScoreError(
            f"{type(score).__name__} returned {shown(given)} as the gains of node {y} with parents "
            f"{show(base)}; it must return one number for each candidate, {count} in all"
        )
    return gains


def dag_score(score: Score, dag: PDAG) -> float:
    """Return the score of a DAG: the sum of the scores of its families.

    Paper: Eq. 1, decomposable score.
    """
    return sum([family_score(score, y, dag.parents(y)) for y in range(dag.n)])


def family_score(score: Score, y: int, parents: NodeSet) -> float:
    """Return the score of a family; raise an error if it is not a number but, say, an array."""
    value: object = score.local(y, parents)
    if isinstance(value, float | int):
        return value
    if not hasattr(value, "__float__") or getattr(value, "shape", ()) != ():
        raise ScoreError(f"local({y}, {parents:#b}) is {shown(value)}; a score must be a number")
    return float(value)


def total_score(score: Score, graph: PDAG) -> float:
    """Return the score of a DAG, or of the equivalence class that a CPDAG represents.

    Parameters
    ----------
    score
        Any score.
    graph
        A graph with as many nodes as the score has variables.  A graph with undirected edges is
        scored by a DAG that extends it; if the score is score equivalent, every member of the
        class gives the same number.

    Returns
    -------
    float
        The sum of the scores of the families.

    Raises
    ------
    ScoreError
        If the graph and the score differ in the number of variables.
    """
    check_is_score(score)
    check_graph("graph", graph)
    if graph.n != score.n:
        raise ScoreError(f"the graph has {graph.n} nodes, but the score has {score.n} variables")
    return dag_score(score, pdag_to_dag(graph))


def tie_tolerance(total: float) -> float:
    """Return the largest difference of two scores that counts as a tie.

    Rounding makes equal scores differ in the last digits, by about 1e-12 of the total.  An insert
    must gain more than this; a delete must not lose more, so that the sparser graph wins a tie.
    """
    return 1e-12 * max(1.0, abs(total))


# Wrappers of scores


class CountingScore:
    """A score that counts the unique (node, parent set) pairs that are evaluated.

    It wraps any score and returns the values of that score, batch methods included.  A batched call
    counts (y, base) and, for each candidate, the family with the candidate added or removed.
    Use one wrapper per run: it stores every family that was evaluated.

    Paper: Section 5, score evaluations.

    Parameters
    ----------
    score
        The score to wrap.
    counting
        Whether to count; without it, ``evaluations`` is None.

    Attributes
    ----------
    asked
        For each node, the sets of parents that were evaluated, if they are counted.

    Examples
    --------
    >>> from sges.score import GaussianBIC
    >>> counter = CountingScore(GaussianBIC.from_covariance([[1.0, 0.5], [0.5, 1.0]], 100))
    >>> _ = counter.local(0, 0b10), counter.local(0, 0b10), counter.local(1, 0b01)
    >>> counter.evaluations
    2
    """

    def __init__(self, score: Score, *, counting: bool = True) -> None:
        check_is_score(score)
        self.score, self.n = score, score.n
        self.counting = counting
        self.names: tuple[str, ...] | None = getattr(score, "names", None)
        self.asked: list[set[NodeSet]] = [set() for _ in range(score.n)]
        self._values: dict[tuple[int, NodeSet], float] = {}

    @property
    def evaluations(self) -> int | None:
        """The number of unique families evaluated so far; None if they are not counted."""
        return sum(map(len, self.asked)) if self.counting else None

    @documented_like(Score.local)
    def local(self, y: int, parents: NodeSet) -> float:
        """Return the wrapped score of a node with some parents."""
        if self.counting:
            self.asked[y].add(parents)
        return self._value(y, parents)

    @documented_like(_GAINS_DOC)
    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        """Return the gains of adding each candidate to the parents of a node."""
        return self._gains("insert_gains", y, base, candidates)

    @documented_like(_GAINS_DOC)
    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        """Return the gains of removing each candidate from the parents of a node."""
        return self._gains("delete_gains", y, base, candidates)

    def _gains(self, name: str, y: int, base: NodeSet, candidates: Candidates) -> Gains:
        if self.counting:
            self.asked[y].add(base)
            self.asked[y].update(base ^ 1 << x for x in candidates.tolist())
        return _gains(self.score, name, self._value, y, base, candidates)

    def _value(self, y: int, parents: NodeSet) -> float:
        value = self._values.get((y, parents))
        if value is None:
            value = self._values[y, parents] = family_score(self.score, y, parents)
        return value


class EdgePrior:
    """A score with a prior over graphs: each edge has the same prior odds, 1/p by default.

    Each edge costs −log(odds): ``local(y, parents)`` is that of the score minus cost · |parents|.
    Equivalent DAGs have equally many edges, so a score-equivalent score stays score equivalent.
    Under a uniform prior over graphs about half of all pairs are expected to be adjacent; with
    odds of 1/p, the expected number of edges of a variable is bounded for all p.  With the Gaussian
    BIC this is the extended BIC with γ = ½, whose penalty per edge is ½ log m + 2γ log p.

    Any score can be given such a prior.  If the compiled engine reads the score natively, it also
    does so with the prior.

    Parameters
    ----------
    score
        The score of the data, such as ``BDeu(data)``.
    cost
        The cost of each edge: minus the logarithm of its prior odds.  The default is log p for p
        variables, which are odds of 1/p; 0 is a uniform prior, which does not change the score.

    Raises
    ------
    ScoreError
        If ``score`` is not a score, or ``cost`` is not finite.

    References
    ----------
    Chen & Chen (2008), Extended Bayesian information criteria for model selection with large model
    spaces.  Biometrika 95(3).

    Foygel & Drton (2010), Extended Bayesian information criteria for Gaussian graphical models.
    NeurIPS 23.

    Examples
    --------
    >>> from sges.score import GaussianBIC
    >>> score = GaussianBIC.from_covariance([[1.0, 0.8], [0.8, 1.0]], records=100)
    >>> prior = EdgePrior(score)  # two variables: each edge costs log 2
    >>> round(score.local(1, 0b01) - prior.local(1, 0b01), 4)
    0.6931
    """

    def __init__(self, score: Score, cost: float | None = None) -> None:
        if not is_score(score):
            raise ScoreError(
                f"EdgePrior: {shown(score)} is not a score; it needs n and local(y, parents)"
            )
        if cost is not None and not (is_number(cost) and isfinite(cost)):
            raise ScoreError(
                f"EdgePrior: cost {shown(cost)} is not a finite number; the default is log p for "
                "p variables"
            )
        self.score, self.n = score, score.n
        self.cost = log(max(score.n, 1)) if cost is None else float(cost)

    def __repr__(self) -> str:
        return f"EdgePrior({self.score!r}, cost={self.cost:.4g})"

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (any attribute of the score)
        """Return an attribute of the wrapped score, such as its data."""
        if name in ("data", "kinds", "moments", "names", "records", "table"):
            return getattr(self.score, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def label(self) -> str:
        """The name of the score in results: "BDeu with edge prior"."""
        return f"{type(self.score).__name__} with edge prior"

    @documented_like(Score.local)
    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return the score of a node with some parents, and the prior of its edges."""
        return family_score(self.score, y, parents) - self.cost * parents.bit_count()

    @documented_like(_GAINS_DOC)
    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates, /) -> Gains:
        """Return the gains of adding each candidate to the parents of a node."""
        return insert_gains(self.score, y, base, candidates) - self.cost

    @documented_like(_GAINS_DOC)
    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates, /) -> Gains:
        """Return the gains of removing each candidate from the parents of a node."""
        return delete_gains(self.score, y, base, candidates) + self.cost
