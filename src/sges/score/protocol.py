"""The interface of a score, on which all operators and searches rely.

A score is decomposable (Eq. 1): the score of a DAG is the sum over its nodes of
``local(y, parents)``.  It is maximized, on the log-likelihood scale.  Sets of nodes are masks:
bit v of the integer is set if node v belongs to the set.

``n`` and ``local`` are the whole interface.  A score may also have the methods ``insert_gains`` and
``delete_gains``, which compute the gains of many candidates at once.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeAlias, TypeGuard, TypeVar, cast

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

_Kind = TypeVar("_Kind")


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


def documented_score(kind: type[_Kind]) -> type[_Kind]:
    """Add the sections of the contract to the docstrings of a score's methods."""
    models = {"local": Score.local, "insert_gains": _GAINS_DOC, "delete_gains": _GAINS_DOC}
    for name in models.keys() & vars(kind).keys():
        documented_like(models[name])(vars(kind)[name])
    return kind


@documented_like(_GAINS_DOC)
def insert_gains(score: Score, y: int, base: NodeSet, candidates: Candidates) -> Gains:
    """Return how much the score of y changes with each candidate added to its parents.

    Parameters
    ----------
    score
        Any score; its own ``insert_gains`` is used if it has one.
    """
    batch = batch_method(score, "insert_gains") or partial(gains_by_local, score.local)
    return as_gains(score, y, base, len(candidates), batch(y, base, candidates))


@documented_like(_GAINS_DOC)
def delete_gains(score: Score, y: int, base: NodeSet, candidates: Candidates) -> Gains:
    """Return how much the score of y changes with each candidate removed from its parents.

    Parameters
    ----------
    score
        Any score; its own ``delete_gains`` is used if it has one.
    """
    batch = batch_method(score, "delete_gains") or partial(gains_by_local, score.local)
    return as_gains(score, y, base, len(candidates), batch(y, base, candidates))


def score_name(score: Score) -> str:
    """Return the name of a score in results: its ``label``, or the name of its class."""
    label = getattr(score, "label", None)
    return label if isinstance(label, str) else type(score).__name__


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
    """Return what a score gave as the gains of ``count`` candidates, as an array of floats."""
    try:
        gains = np.asarray(given)
        if gains.dtype.kind in "biufO":
            gains = gains.astype(np.float64, order="C", copy=False)
    except (TypeError, ValueError):  # objects that are not numbers, or lists of different lengths
        gains = np.array("")
    if gains.dtype != np.float64 or gains.shape != (count,):
        raise ScoreError(
            f"{type(score).__name__} gave {shown(given)} as the gains of node {y} with parents "
            f"{show(base)}; it must give one number for each candidate, {count} in all"
        )
    return gains


def dag_score(score: Score, dag: PDAG) -> float:
    """Return the score of a DAG: the sum of the scores of its families.

    Paper: Eq. 1, decomposable score.
    """
    return sum([family_score(score, y, dag.parents(y)) for y in range(dag.n)])


def family_score(score: Score, y: int, parents: NodeSet) -> float:
    """Return the score of a family as a number, and refuse anything else, such as an array."""
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
        raise ScoreError(
            f"the graph has {graph.n} nodes and the score {score.n} variables; they must be equal"
        )
    return dag_score(score, pdag_to_dag(graph))


def tie_tolerance(total: float) -> float:
    """Return the largest difference of two scores that counts as a tie.

    Rounding makes equal scores differ in the last digits, by about 1e-12 of the total.  An insert
    must gain more than this; a delete must not lose more, so that the sparser graph wins a tie.

    Parameters
    ----------
    total : float
        The total score of a class.

    Returns
    -------
    float
        1e-12 times the size of the total, or of 1 if the total is smaller.
    """
    if not is_number(total):
        raise InvalidArgument(f"total = {shown(total)}: it must be a number")
    return 1e-12 * max(1.0, abs(total))
