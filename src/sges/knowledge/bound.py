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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

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
    barred: tuple[NodeSet, ...] = field(init=False, repr=False, compare=False)
    """For each y, the x of which x → y must not be."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "barred", _transposed(self.forbidden))

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

    def admits(self, cpdag: PDAG, known: PDAG | None = None, /) -> bool:
        """Tell whether some member of the class satisfies every constraint.

        ``known`` is a class that is admitted: then only the chain components in which the two
        differ are looked at.
        """
        where = self._everything if known is None else _changed_components(known, cpdag)
        wanted = self._wanted(cpdag, where)
        return wanted is not None and not direct_in_turn(cpdag, wanted)[1]

    def refine(self, cpdag: PDAG, /) -> PDAG:
        """Return the class with the edges directed that all satisfying members direct alike."""
        wanted = self._wanted(cpdag, self._everything)
        if wanted is not None:
            refined, contradicting = direct_in_turn(cpdag, wanted)
            if not contradicting:
                return refined
        raise KnowledgeError(f"no member of the class of {cpdag!r} satisfies the knowledge")

    def member(self, cpdag: PDAG, within: NodeSet | None = None, /) -> PDAG:
        """Return a member that satisfies the constraints, or as many of them as fit in turn.

        The relaxed constraints come first, so that they hold if the class admits them.
        ``within``, a union of chain components, says which of them to direct; None means all.
        Each is directed by itself, so that it stays as it is when others change.
        """
        where = self._everything if within is None else within
        first = [] if self.relaxed is None else self.relaxed._directions(cpdag, where)
        graph, _ = direct_in_turn(cpdag, [*first, *self._directions(cpdag, where)])
        arrows: list[Edge] = []
        for component in chain_components(cpdag, where):
            # a closed graph of a class has an extension
            arrows += consistent_extension(graph, component) or ()
        return graph.edited(direct=arrows)

    def violations(self, dag: PDAG, /) -> list[Edge]:
        """Return the edges of a DAG that are forbidden, sorted."""
        return [(x, y) for x in range(self.n) for y in nodes(dag.out[x] & self.forbidden[x])]

    @property
    def _everything(self) -> NodeSet:
        return (1 << self.n) - 1

    def _wanted(self, cpdag: PDAG, where: NodeSet) -> list[Edge] | None:
        """Return the arrows that knowledge makes of undirected edges; None if it cannot hold."""
        self._refuse_other_size(cpdag.n)
        if any(not (cpdag.out[a] | cpdag.into[a]) >> b & 1 for a, b in self.required):
            return None
        for v in nodes(where):
            out, into = cpdag.out[v], cpdag.into[v]
            if self.forbidden[v] & out and self.forbidden[v] & out & (~into | self.barred[v]):
                return None  # an arrow that is forbidden, or a line of which both ways are
        return self._directions(cpdag, where)

    def _directions(self, cpdag: PDAG, where: NodeSet) -> list[Edge]:
        """Return y → x for each x — y in which x → y is forbidden."""
        found = []
        for x in nodes(where):
            if against := self.forbidden[x] & cpdag.out[x] & cpdag.into[x]:
                found += [(y, x) for y in nodes(against)]
        return found

    def _refuse_other_size(self, n: int) -> None:
        if n != self.n:
            raise KnowledgeError(
                f"the knowledge is bound to {self.n} variables and the graph has {n}; "
                "bind it to the names of these data"
            )


def chain_components(cpdag: PDAG, where: NodeSet) -> Iterator[NodeSet]:
    """Yield the chain components of two nodes or more that the given nodes are in."""
    left = where
    while left:
        v = left.bit_length() - 1
        component = cpdag.chain_component(v)
        left &= ~component
        if component != 1 << v:
            yield component


def _changed_components(before: PDAG, after: PDAG) -> NodeSet:
    """Return the nodes at which edges differ, and all of their chain components now.

    Any other component was one before, with the same edges, and is satisfied if that was.
    """
    changed = 0
    rows = zip(before.out, after.out, before.into, after.into, strict=True)
    for v, (out, new_out, into, new_into) in enumerate(rows):
        if out != new_out or into != new_into:
            changed |= 1 << v
    for component in chain_components(after, changed):
        changed |= component
    return changed


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
