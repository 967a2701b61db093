"""What a score is: the contract that every operator and every search relies on.

A score is decomposable (Eq. 1): the score of a DAG is the sum over its nodes of
``local(y, parents)``.  It is maximised, on the log-likelihood scale.

Paper: Eq. 1, decomposable score.
"""

from typing import Protocol

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet


class Score(Protocol):
    """The whole contract of a custom score: how many variables, and what a family is worth."""

    @property
    def n(self) -> int:
        """The number of variables."""

    def local(self, y: int, parents: NodeSet, /) -> float:
        """Return Score(y, parents), the term of y in the sum of Eq. 1; parents is a mask."""


def dag_score(score: Score, dag: PDAG) -> float:
    """Return the score of a DAG: the sum of its families' scores.

    Paper: Eq. 1, decomposable score.
    """
    return sum(score.local(y, dag.parents(y)) for y in range(dag.n))
