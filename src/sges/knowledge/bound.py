r"""Knowledge about numbered variables: what a search asks at every step.

Everything comes down to which edges are required and, for each x, which y it must not point to.
A class has a member that satisfies this iff

* every required pair is adjacent,
* no arrow of its CPDAG is forbidden, and
* the undirected edges that knowledge directs can be directed together: one by one, closing
  under Meek's rules after each, none is found directed the other way (Meek 1995).

The closed graph is the class refined.  All of the work happens around the undirected edges that
knowledge touches: the parents of a chain component are shared by all of its nodes, so no rule
ever applies across its border.

Twin in the tests: all members of the class, one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sges.errors import KnowledgeError
from sges.graph.equivalence import consistent_extension, dag_to_cpdag
from sges.graph.meek import direct_in_turn
from sges.graph.pdag import PDAG, Edge
from sges.knowledge.order import descendants_of, implied_groups, pointing_back
from sges.nodeset import NodeSet, nodes


@dataclass(frozen=True, slots=True)
class Bound:
    """Hard constraints on graphs with nodes ``0..n-1``; made by ``Knowledge.bind``.

    Bit y of ``forbidden[x]`` is one if x → y must not be; that includes the reverse of each
    required edge.  ``relaxed`` is the part of the knowledge under which a search keeps its
    guarantee step by step: the required edges and the order that all of it implies; None if
    there is no more to it.
    """

    n: int
    required: tuple[Edge, ...]
    forbidden: tuple[NodeSet, ...]
    relaxed: "Bound | None" = None

    @classmethod
    def of(cls, n: int, required: Iterable[Edge], forbidden: Sequence[NodeSet]) -> "Bound":
        """Return the constraints, with what they relax to; trusts that they can be satisfied."""
        edges = tuple(sorted(required))
        rows = list(forbidden)
        for a, b in edges:
            rows[b] |= 1 << a
        strict = cls(n, edges, tuple(rows))
        implied = _implied(n, edges, rows)
        if all(not row & ~weaker for row, weaker in zip(forbidden, implied, strict=True)):
            return strict
        return cls(n, edges, strict.forbidden, cls(n, edges, tuple(implied)))

    @property
    def barred(self) -> tuple[NodeSet, ...]:
        """For each y, the x of which x → y must not be."""
        return _transposed(self.forbidden)

    @property
    def fixed(self) -> tuple[NodeSet, ...]:
        """For each y, the x of which x → y must be."""
        rows = [0] * self.n
        for a, b in self.required:
            rows[b] |= 1 << a
        return tuple(rows)

    def start(self, n: int, /) -> PDAG:
        """Return the sparsest CPDAG with a member that satisfies the constraints."""
        self._refuse_other_size(n)
        return dag_to_cpdag(PDAG.from_edges(n, self.required))

    def admits(self, cpdag: PDAG, /) -> bool:
        """Tell whether some member of the class satisfies every constraint."""
        wanted = self._wanted(cpdag)
        return wanted is not None and not direct_in_turn(cpdag, wanted)[1]

    def refine(self, cpdag: PDAG, /) -> PDAG:
        """Return the class with the edges directed that all satisfying members direct alike."""
        wanted = self._wanted(cpdag)
        if wanted is not None:
            refined, contradicting = direct_in_turn(cpdag, wanted)
            if not contradicting:
                return refined
        raise KnowledgeError(f"no member of the class of {cpdag!r} satisfies the knowledge")

    def member(self, cpdag: PDAG, /) -> PDAG:
        """Return a member that satisfies the constraints, or as many of them as fit in turn.

        The relaxed constraints come first, so that they hold if the class admits them.
        """
        first = [] if self.relaxed is None else self.relaxed._directions(cpdag)
        refined, _ = direct_in_turn(cpdag, [*first, *self._directions(cpdag)])
        touched = sum(1 << v for v in range(self.n) if cpdag.neighbors(v))
        arrows = consistent_extension(refined, touched)
        if arrows is None:  # pragma: no cover - a closed graph of a class always has one
            raise KnowledgeError(f"no member of the class of {cpdag!r} was found")
        return refined.edited(direct=arrows)

    def violations(self, dag: PDAG, /) -> list[Edge]:
        """Return the edges of a DAG that are forbidden, sorted."""
        return [(x, y) for x in range(self.n) for y in nodes(dag.out[x] & self.forbidden[x])]

    def _wanted(self, cpdag: PDAG) -> list[Edge] | None:
        """Return the arrows that knowledge makes of undirected edges; None if it cannot hold."""
        self._refuse_other_size(cpdag.n)
        if any(not cpdag.adjacent(a) >> b & 1 for a, b in self.required):
            return None
        for row, out, into in zip(self.forbidden, cpdag.out, cpdag.into, strict=True):
            if row & out & ~into:
                return None
        return self._directions(cpdag)

    def _directions(self, cpdag: PDAG) -> list[Edge]:
        """Return y → x for each x — y in which x → y is forbidden."""
        found = []
        rows = zip(self.forbidden, cpdag.out, cpdag.into, strict=True)
        for x, (row, out, into) in enumerate(rows):
            if against := row & out & into:
                found += [(y, x) for y in nodes(against)]
        return found

    def _refuse_other_size(self, n: int) -> None:
        if n != self.n:
            raise KnowledgeError(
                f"the knowledge is bound to {self.n} variables and the graph has {n}; "
                "bind it to the names of these data"
            )


def _transposed(rows: Sequence[NodeSet]) -> tuple[NodeSet, ...]:
    into = [0] * len(rows)
    for x, row in enumerate(rows):
        for y in nodes(row):
            into[y] |= 1 << x
    return tuple(into)


def _implied(n: int, required: Sequence[Edge], forbidden: Sequence[NodeSet]) -> list[NodeSet]:
    """Return what the order that knowledge implies forbids, and the reverse of required edges."""
    children = [0] * n
    for a, b in required:
        children[a] |= 1 << b
    rows = list(forbidden)
    reverse = [0] * n
    for a, below in enumerate(descendants_of(children)):
        for b in nodes(below):
            reverse[b] |= 1 << a
    everything = (1 << n) - 1
    allowed = [everything & ~(rows[v] | reverse[v] | 1 << v) for v in range(n)]
    back = pointing_back(implied_groups(allowed), n)
    return [back[v] | reverse[v] for v in range(n)]
