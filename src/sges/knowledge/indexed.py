r"""Knowledge about numbered variables, as a search uses it at every step.

All knowledge consists of required edges and, for each x, the nodes y to which it must not point.
A class has a member that satisfies it iff

* every required pair is adjacent,
* no arrow of its CPDAG is forbidden, and
* the undirected edges that knowledge directs can be directed together: one by one, closing
  under Meek's rules after each, none is already directed the other way (Meek 1995).

The closed graph is the refined class.  All of the work happens around the undirected edges that
the knowledge directs: the parents of a chain component are shared by all of its nodes, so no rule
ever applies across its border.

Search under knowledge keeps the guarantee of GES when the knowledge amounts to an order of groups
of variables, none of whose edges points back to an earlier group (proof: ``docs/theory.md``,
section 11).  Any knowledge implies one such order, perhaps of a single group: two variables are in
one group if allowed edges lead from each to the other.

The tests compare with a check of all members of the class, one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sges.errors import KnowledgeError
from sges.graph.equivalence import consistent_extension, dag_to_cpdag
from sges.graph.meek import direct_in_turn
from sges.graph.pdag import PDAG, Edge
from sges.nodeset import NodeSet, by_rank, components, first, nodes, nodeset, reach


@dataclass(frozen=True, slots=True)
class IndexedKnowledge:
    """Hard constraints on graphs with nodes ``0..n-1``; made by ``Knowledge.bind``."""

    n: int
    required: tuple[Edge, ...]
    forbidden: tuple[NodeSet, ...]
    """For each x, the set of the y to which it must not point; reversed required edges included."""
    relaxed: "IndexedKnowledge | None" = None
    """The weaker knowledge under which a search keeps its guarantee step by step: the required
    edges, and the order that the knowledge implies.  None if the knowledge says no more."""
    barred: tuple[NodeSet, ...] = field(init=False, repr=False, compare=False)
    """For each y, the set of the x that must not point to it."""
    fixed: tuple[NodeSet, ...] = field(init=False, repr=False, compare=False)
    """For each y, the set of the x that must point to it."""

    def __post_init__(self) -> None:
        fixed = [0] * self.n
        for a, b in self.required:
            fixed[b] |= 1 << a
        object.__setattr__(self, "barred", _transposed(self.forbidden))
        object.__setattr__(self, "fixed", tuple(fixed))

    @classmethod
    def of(
        cls, n: int, required: Iterable[Edge], forbidden: Sequence[NodeSet]
    ) -> "IndexedKnowledge":
        """Return constraints that can be satisfied, together with their relaxation."""
        edges = tuple(sorted(required))
        dag = PDAG.from_edges(n, edges)
        rows = tuple(forbidden[v] | dag.parents(v) for v in range(n))
        implied = _implied(dag, rows)
        is_implied = all(not forbidden[v] & ~implied[v] for v in range(n))
        return cls(n, edges, rows, None if is_implied else cls(n, edges, implied))

    def relabel(self, new: Sequence[int]) -> "IndexedKnowledge":
        """Return the constraints after renumbering the nodes: node v becomes ``new[v]``."""
        rows = [0] * self.n
        for x, row in enumerate(self.forbidden):
            rows[new[x]] = nodeset(new[y] for y in nodes(row))
        return IndexedKnowledge.of(self.n, [(new[a], new[b]) for a, b in self.required], rows)

    def start(self, n: int, /) -> PDAG:
        """Return the sparsest CPDAG with a member that satisfies the constraints."""
        self._check_size(n)
        return dag_to_cpdag(PDAG.from_edges(n, self.required))

    def admits(self, cpdag: PDAG, known: PDAG | None = None, /) -> bool:
        """Return whether some member of a class satisfies every constraint.

        If the class ``known`` has one, only the chain components in which they differ are examined.
        """
        where = None if known is None else _changed_components(known, cpdag)
        return self._refined(cpdag, where) is not None

    def refine(self, cpdag: PDAG, /) -> PDAG:
        """Return a class with all edges directed that the knowledge decides."""
        refined = self._refined(cpdag)
        if refined is None:
            raise KnowledgeError(f"no member of the class of {cpdag!r} satisfies the knowledge")
        return refined

    def member(
        self, cpdag: PDAG, within: NodeSet | None = None, ranking: Sequence[int] | None = None, /
    ) -> PDAG:
        """Return a member that satisfies the constraints, or as many as possible, in order.

        The relaxed constraints come first, so that they hold if the class admits them.  Each
        chain component is directed by itself, so that it stays the same when others change.
        """
        where = (1 << self.n) - 1 if within is None else within
        arrows = [] if self.relaxed is None else self.relaxed._directions(cpdag, where, ranking)
        arrows += self._directions(cpdag, where, ranking)
        graph, _ = direct_in_turn(cpdag, arrows)
        rest: list[Edge] = []
        for component in components(cpdag.neighbors, where):
            # a closed graph of a class has an extension
            rest += consistent_extension(graph, component, ranking) or ()
        return graph.edited(direct=rest)

    def violations(self, dag: PDAG, /) -> list[Edge]:
        """Return the edges of a DAG that are forbidden, sorted."""
        return [(x, y) for x in range(self.n) for y in nodes(dag.out[x] & self.forbidden[x])]

    def _refined(self, cpdag: PDAG, within: NodeSet | None = None) -> PDAG | None:
        """Return the class refined, or only within some chain components; None if impossible."""
        self._check_size(cpdag.n)
        if any(not (cpdag.out[a] | cpdag.into[a]) >> b & 1 for a, b in self.required):
            return None
        where = (1 << self.n) - 1 if within is None else within
        for v in nodes(where):
            if self.forbidden[v] & cpdag.out[v] & (~cpdag.into[v] | self.barred[v]):
                return None  # a forbidden arrow, or a line forbidden both ways
        refined, contradicting = direct_in_turn(cpdag, self._directions(cpdag, where))
        return None if contradicting else refined

    def _directions(
        self, cpdag: PDAG, where: NodeSet, ranking: Sequence[int] | None = None
    ) -> list[Edge]:
        """Return y → x for each x — y in which x → y is forbidden, by rank or else by number."""
        return [
            (y, x)
            for x in by_rank(where, ranking)
            for y in by_rank(self.forbidden[x] & cpdag.out[x] & cpdag.into[x], ranking)
        ]

    def _check_size(self, n: int) -> None:
        if n != self.n:
            raise KnowledgeError(
                f"the knowledge is about {self.n} variables, but the graph has {n}; "
                "bind it to the names of these data"
            )


def _changed_components(before: PDAG, after: PDAG) -> NodeSet:
    """Return the nodes at which edges differ, and all of their current chain components.

    All other components are unchanged, and satisfied if they were before.
    """
    rows_before = zip(before.out, before.into, strict=True)
    rows_after = zip(after.out, after.into, strict=True)
    pairs = enumerate(zip(rows_before, rows_after, strict=True))
    return reach(after.neighbors, nodeset(v for v, (old, new) in pairs if old != new))


def _transposed(rows: Sequence[NodeSet]) -> tuple[NodeSet, ...]:
    into = [0] * len(rows)
    for x, row in enumerate(rows):
        for y in nodes(row):
            into[y] |= 1 << x
    return tuple(into)


def _implied(required: PDAG, forbidden: Sequence[NodeSet]) -> tuple[NodeSet, ...]:
    """Return the edges against the implied order, and the reverse of required edges."""
    everything = (1 << required.n) - 1
    rows = [reach(required.parents, required.parents(v)) for v in range(required.n)]
    allowed = [everything & ~(forbidden[v] | row | 1 << v) for v, row in enumerate(rows)]
    earlier = 0
    for group in implied_groups(allowed):
        for v in nodes(group):
            rows[v] |= earlier
        earlier |= group
    return tuple(rows)


def implied_groups(allowed: Sequence[NodeSet]) -> list[NodeSet]:
    """Return the strongly connected components of the allowed edges, sources first.

    This is Kosaraju's algorithm.  An edge that points back over this order is not allowed.
    """
    finished: list[int] = []  # in the order in which a depth-first search leaves them
    fresh = remaining = (1 << len(allowed)) - 1
    while fresh:
        path = [first(fresh)]
        fresh &= fresh - 1
        while path:
            if ahead := allowed[path[-1]] & fresh:
                path.append(first(ahead))
                fresh ^= 1 << path[-1]
            else:
                finished.append(path.pop())
    into, groups = _transposed(allowed), []
    for v in reversed(finished):
        if remaining >> v & 1:
            groups.append(reach(into.__getitem__, 1 << v, ~remaining))
            remaining &= ~groups[-1]
    return groups
