"""Delete(X, Y, H): remove an edge in some member of the class.

Fig. 2 says "X and Y are adjacent".  It means X → Y or X — Y: with Y → X allowed the score
change is wrong, and some results have no consistent extension (``docs/errata.md``).

Paper: Fig. 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sges.graph.chordal import cliques
from sges.graph.pdag import PDAG
from sges.nodeset import Nodes, NodeSet, nodes, show
from sges.operators.base import Change, Operator, as_mask


@dataclass(frozen=True, slots=True, init=False)
class Delete(Operator):
    """Delete(x, y, H): remove the edge between x and y and make H their common children.

    Valid iff x → y or x — y, H ⊆ NA_{y,x}, and what it leaves of NA_{y,x} is a clique.

    >>> g = PDAG.complete(3)
    >>> print(Delete(0, 1, {2}), Delete(0, 1, {2}).apply(g))
    Delete(0, 1, {2}) PDAG(3 nodes: 0→2, 1→2)

    Paper: Fig. 2.
    """

    set_name: ClassVar[str] = "H"
    adds_edges: ClassVar[int] = -1
    x: int
    y: int
    h: NodeSet

    def __init__(self, x: int, y: int, h: Nodes = 0) -> None:
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "h", as_mask(h, "Delete"))

    @property
    def chosen(self) -> NodeSet:
        """The set H."""
        return self.h

    def precondition(self, cpdag: PDAG) -> str | None:
        """Return which precondition of Fig. 2 fails, or None."""
        x, y = self.x, self.y
        if not cpdag.out[x] >> y & 1:
            return f"needs the edge {x}→{y} or {x}—{y} (Fig. 2), and the graph has neither"
        na = cpdag.na(y, x)
        if stray := self.h & ~na:
            return (
                f"{show(stray)} lies outside NA_{{{y},{x}}} = {show(na)}; H may only hold "
                f"neighbors of {y} that are adjacent to {x} (Fig. 2)"
            )
        if not cpdag.is_clique(na & ~self.h):
            return f"NA_{{{y},{x}}} ∖ H = {show(na & ~self.h)} must be a clique (Fig. 2)"
        return None

    def changes(self, cpdag: PDAG) -> tuple[Change]:
        """Return that the parents Pa ∪ H̄ ∪ x of y, H̄ = NA ∖ H, lose x.

        The larger family holds x also when x — y is undirected and x therefore no parent of
        y; Chickering (2002), Corollary 18, forgets that.
        """
        kept = cpdag.parents(self.y) | cpdag.na(self.y, self.x) & ~self.h
        x = 1 << self.x
        return (Change(self.y, kept | x, kept & ~x),)

    def edit(self, cpdag: PDAG) -> PDAG:
        """Remove the edge; replace y — h with y → h, and x — h with x → h, for every h of H."""
        below_x = self.h & cpdag.neighbors(self.x)
        arrows = [(self.y, h) for h in nodes(self.h)] + [(self.x, h) for h in nodes(below_x)]
        return cpdag.edited(remove=[(self.x, self.y)], direct=arrows)


def all_deletes(cpdag: PDAG) -> Iterator[Delete]:
    """Yield every valid Delete on the graph, lazily; x — y in both orders.

    The two orders have the same effect and score, but ask for different families; both are
    generated and counted, as in the paper.
    """
    for x in range(cpdag.n):
        for y in nodes(cpdag.out[x]):
            yield from deletes(cpdag, x, y)


def deletes(cpdag: PDAG, x: int, y: int) -> Iterator[Delete]:
    """Yield every valid Delete(x, y, H) for one edge x → y or x — y, lazily."""
    na = cpdag.na(y, x)
    rows = {v: cpdag.adjacent(v) for v in nodes(na)}
    for kept in cliques(rows, na):
        yield Delete(x, y, na & ~kept)
