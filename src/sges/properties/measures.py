"""The five properties: parents, cliques, v-width, treewidth and v-structures.

Each bounds the sets H of the deletes that SBES has to look at (s, the largest clique in H):

    Π_PS^k  MaxParents       s = k − 1          the lowest node of a clique of r nodes in H has
                                                r − 1 parents in it, and x and y
    Π_CL^k  MaxClique        s = k              the paper's; k − 1 suffices (``tight=True``), as
                                                H ∪ {x} holds a clique one larger
    Π_VW^k  MaxVWidth        s = k              x and y are not adjacent, H their common children
    Π_TW^k  MaxTreewidth     s = max(k − 1, 0)  x, y and a clique of H are a clique when moral
            MaxVStructures   |H| ≤ k            every h of H makes x → h ← y

The paper says that these measures "cannot increase when we remove nodes and edges"; for
v-width and v-structures that is false of edges (``docs/errata.md``).  Heredity is about nodes
only, and holds.

Paper: Section 4.2, complexity measures; Section 6, v-structures and treewidth.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Self

from sges.errors import Undecided
from sges.graph.chordal import largest_clique
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.properties.base import AtMost, a_member
from sges.properties.treewidth import Between, treewidth


@dataclass(frozen=True, slots=True)
class MaxParents(AtMost):
    """Π_PS^k: every node has at most k parents.

    >>> MaxParents.measure(PDAG.from_edges(3, directed=[(0, 2), (1, 2)]))
    2

    Paper: Section 4.2, Π_PS.
    """

    smallest: ClassVar[int] = 1
    why_smallest: ClassVar[str] = "without parents there is no edge to learn"

    @classmethod
    def measure_dag(cls, dag: PDAG) -> int:
        """Return the largest number of parents of a node."""
        return max((dag.parents(v).bit_count() for v in range(dag.n)), default=0)

    @property
    def clique_bound(self) -> int:
        """The largest clique that H may hold: k − 1."""
        return self.k - 1


@dataclass(frozen=True, slots=True)
class MaxClique(AtMost):
    """Π_CL^k: no more than k nodes are pairwise adjacent.

    Paper: Section 4.2, Π_CL.
    """

    tight: bool = False

    @classmethod
    def measure_dag(cls, dag: PDAG) -> int:
        """Return the size of the largest clique."""
        return largest_clique(dag.skeleton(), (1 << dag.n) - 1)

    @property
    def clique_bound(self) -> int:
        """The largest clique that H may hold: the paper's k, or k − 1 if ``tight``."""
        return max(self.k - 1, 0) if self.tight else self.k


@dataclass(frozen=True, slots=True)
class MaxVWidth(AtMost):
    """Π_VW^k: two nodes that are not adjacent share no clique of more than k children.

    >>> bat = [(0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]
    >>> MaxVWidth.measure(PDAG.from_edges(4, bat))
    2

    Paper: Section 4.2, v-width.
    """

    @classmethod
    def measure_dag(cls, dag: PDAG) -> int:
        """Return the largest clique among common children of two nodes not adjacent."""
        skeleton = dag.skeleton()
        width = 0
        for x, y in combinations(range(dag.n), 2):
            common = dag.out[x] & dag.out[y]
            if not skeleton[x] >> y & 1 and common.bit_count() > width:
                width = max(width, largest_clique(skeleton, common))
        return width

    @property
    def clique_bound(self) -> int:
        """The largest clique that H may hold: k."""
        return self.k


@dataclass(frozen=True, slots=True)
class MaxTreewidth(AtMost):
    """Π_TW^k: the moral graph has treewidth at most k.

    The measure is exact where that is feasible; else it is an interval, and ``holds`` refuses
    to answer inside it.

    Paper: Section 4.2, Π_TW; Section 6, treewidth.
    """

    @classmethod
    def measure(cls, graph: PDAG) -> int | Between:  # type: ignore[override]  # said as such
        """Return the treewidth, or the interval in which it is known to lie."""
        return treewidth(moral_graph(a_member(graph)))

    @classmethod
    def measure_dag(cls, dag: PDAG) -> int:
        """Return the treewidth, or the upper end of the interval in which it lies."""
        width = treewidth(moral_graph(dag))
        return width.high if isinstance(width, Between) else width

    @classmethod
    def of(cls, graph: PDAG) -> Self:
        """Return the tightest property of this kind that is known to hold for the graph."""
        return cls(cls.measure_dag(a_member(graph)))

    def holds(self, graph: PDAG) -> bool:
        """Tell whether the treewidth is at most k; refuse if that is not settled."""
        width = self.measure(graph)
        if not isinstance(width, Between):
            return width <= self.k
        if width.low <= self.k < width.high:
            raise Undecided(
                f"the treewidth is {width}: whether it is at most {self.k} is not settled"
            )
        return width.high <= self.k

    @property
    def clique_bound(self) -> int:
        """The largest clique that H may hold: max(k − 1, 0)."""
        return max(self.k - 1, 0)


@dataclass(frozen=True, slots=True)
class MaxVStructures(AtMost):
    """At most k v-structures.

    Paper: Section 6, number of v-structures.
    """

    @classmethod
    def measure_dag(cls, dag: PDAG) -> int:
        """Return the number of v-structures."""
        return len(dag.v_structures())

    @property
    def size_bound(self) -> int:
        """The most nodes that H may hold: k."""
        return self.k


def moral_graph(dag: PDAG) -> tuple[NodeSet, ...]:
    """Return the skeleton with every two parents of a node joined, as one set per node."""
    rows = list(dag.skeleton())
    for v in range(dag.n):
        for p in nodes(dag.parents(v)):
            rows[p] |= dag.parents(v) & ~(1 << p)
    return tuple(rows)
