"""Inserts between pairs that the score has not called independent.

The idea of LGES (Ejaz & Bareinboim 2025): an early insert that is only the shadow of other edges
often joins two nodes that some conditioning set makes independent, and the score knows it.  For
Insert(X, Y, ·) the score is asked about every clique S of neighbors of Y, and so whether X helps to
predict Y beyond Pa(Y) ∪ S.  If for one S it does not, no insert of X → Y is offered.

Nothing says that a search with these inserts alone ends in an IMAP.  So they are only preferred:
behind this source stands one of all inserts, and the search ends where that has none left.
"""

from collections.abc import Iterable

from sges.nodeset import NodeSet
from sges.search.informed import InformedInsertSource
from sges.search.inserts import InsertSource


class ConservativeInsertSource(InsertSource):
    """The inserts of X → Y for which every clique that is asked about shows a gain."""

    def _sets(self, y: int, near: NodeSet) -> Iterable[tuple[NodeSet, NodeSet]]:
        every = list(super()._sets(y, near))
        parents = self._cpdag.parents(y)
        independent = 0
        for s, allowed in every:
            self._check()
            family = self._table.family(y, parents | s, allowed)
            independent |= allowed & ~sum(1 << x for x in family.xs)
        return ((s, left) for s, allowed in every if (left := allowed & ~independent))


class InformedConservativeInsertSource(ConservativeInsertSource, InformedInsertSource):
    """The same under knowledge: of the edges that may point as they are inserted."""
