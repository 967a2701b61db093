"""What a score is: the contract that every operator and every search relies on.

A score is decomposable (Eq. 1): the score of a DAG is the sum over its nodes of
``local(y, parents)``.  It is maximised, on the log-likelihood scale.

``n`` and ``local`` are the whole contract.  A score may also offer ``insert_gains`` and
``delete_gains``, which answer for many candidates at once what ``local`` answers for one; the
functions of those names here use them where they exist and ``local`` where they do not, so
that a search asks one question whatever the score can do.

Paper: Eq. 1, decomposable score.
"""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from sges.errors import ScoreError
from sges.graph.equivalence import pdag_to_dag
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet

Gains: TypeAlias = NDArray[np.float64]
"""One number per candidate: the score after the change minus the score before it."""

Candidates: TypeAlias = NDArray[np.intp]
"""The nodes to add or to take away, one at a time."""

GainsMethod: TypeAlias = Callable[[int, NodeSet, Candidates], Gains]
"""``insert_gains`` or ``delete_gains`` of a score: of y, its base and the candidates."""


class Score(Protocol):
    """The whole contract of a custom score: how many variables, and what a family is worth."""

    @property
    def n(self) -> int:
        """The number of variables."""

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return Score(y, parents), the term of y in the sum of Eq. 1; parents is a mask."""


class BatchScore(Score, Protocol):
    """A score that also answers for many candidates at once."""

    def insert_gains(self, y: int, base: NodeSet, candidates: Candidates, /) -> Gains:
        """Return local(y, base ∪ x) − local(y, base) for each x, none of them in base or y."""

    def delete_gains(self, y: int, base: NodeSet, candidates: Candidates, /) -> Gains:
        r"""Return local(y, base \ x) − local(y, base) for each x, all of them in base."""


def as_indices(candidates: Candidates) -> Candidates:
    """Return candidates in a row and of NumPy's index type."""
    return np.ascontiguousarray(candidates, dtype=np.intp)


def nodeset_of(candidates: Candidates, n: int) -> NodeSet:
    """Return the candidates, some of n nodes, as a set; bytes at a time, as there may be many."""
    member = np.zeros(n, dtype=np.uint8)
    member[candidates] = 1
    return int.from_bytes(np.packbits(member, bitorder="little").tobytes(), "little")


def insert_gains(score: Score, y: int, base: NodeSet, candidates: Candidates) -> Gains:
    """Return local(y, base ∪ x) − local(y, base) for each candidate x outside base and y."""
    batch = batch_method(score, "insert_gains")
    if batch is not None:
        return batch(y, base, candidates)
    return gains_by_local(score.local, y, base, (base | 1 << x for x in candidates.tolist()))


def delete_gains(score: Score, y: int, base: NodeSet, candidates: Candidates) -> Gains:
    r"""Return local(y, base \ x) − local(y, base) for each candidate x in base."""
    batch = batch_method(score, "delete_gains")
    if batch is not None:
        return batch(y, base, candidates)
    return gains_by_local(score.local, y, base, (base & ~(1 << x) for x in candidates.tolist()))


def batch_method(score: Score, name: str) -> GainsMethod | None:
    """Return the score's own ``insert_gains`` or ``delete_gains``, or None if it has none."""
    return cast(GainsMethod | None, getattr(score, name, None))


def gains_by_local(
    local: Callable[[int, NodeSet], float], y: int, base: NodeSet, families: Iterable[NodeSet]
) -> Gains:
    """Return what each of the parent sets is worth for y beyond ``base``, one by one."""
    before = local(y, base)
    return np.array([local(y, family) - before for family in families], dtype=np.float64)


def dag_score(score: Score, dag: PDAG) -> float:
    """Return the score of a DAG: the sum of its families' scores.

    Paper: Eq. 1, decomposable score.
    """
    return sum(score.local(y, dag.parents(y)) for y in range(dag.n))


def total_score(score: Score, graph: PDAG) -> float:
    """Return the score of a DAG, or of the class that a CPDAG stands for.

    A PDAG is scored by a DAG that extends it; for a score-equivalent score every member of
    the class gives the same number.
    """
    if graph.n != score.n:
        raise ScoreError(
            f"the graph has {graph.n} nodes and the score {score.n} variables; they must be equal"
        )
    return dag_score(score, pdag_to_dag(graph))
