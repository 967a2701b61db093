"""Which operators a greedy climb looks at: all that ``Moves`` allows at one state.

Everything is told by the maximal cliques M of Ne(y): the nodes that become parents of y, or stay
its parents, lie in one of them.

    Insert(x, y, T)   NA_{y,x} ⊆ NA_{y,x} ∪ T ⊆ M
    Delete(x, y, H)   what is kept of NA_{y,x}, and x if x — y, is a subset of M
    Turn(x, y, C)     C ⊆ M, and C holds what it must (``sges.operators.parts_of_c``)

A clique of m nodes has 2^m subsets.  ``Moves.sets_per_clique`` limits how many are looked at: of
inserts those with few nodes in T, of deletes and turns those that have few nodes of M or lack few.
An edge can then still be inserted wherever poly-FES can insert it, so that the search reaches an
IMAP, and deleted as Selective-Generate-Ops does with a small bound.

Operators come node by node: all that point into y = 0 first.
"""

from collections.abc import Hashable, Iterable, Iterator
from itertools import combinations
from math import comb
from typing import TypeVar

from sges.graph.pdag import PDAG
from sges.graph.undirected import maximal_cliques, maximum_cardinality_search
from sges.nodeset import NodeSet, nodes, nodeset
from sges.operators import Delete, Insert, Turn, deletes, parts_of_c
from sges.search.moves import Constraint, Moves
from sges.selective import fits, proposed_sets, room_in

T = TypeVar("T", bound=Hashable)


class SetLimit:
    """``Moves.sets_per_clique``, and in how many cliques anything was left out because of it."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.left_out = 0

    def sets(
        self, clique: NodeSet, held: NodeSet, sizes: range, *, large: bool
    ) -> Iterator[NodeSet]:
        """Yield subsets of a maximal clique that hold some nodes, and others in these sizes.

        Where the limit applies, only sets with few others; if ``large``, sets with few nodes and
        sets that lack few.
        """
        rest = clique & ~held
        most, few = rest.bit_count(), subset_size(clique.bit_count(), self.most)
        possible = range(sizes.start, min(sizes.stop, most + 1))
        if large:
            kept = [j for j in possible if held.bit_count() + j <= few or most - j <= few]
        else:
            kept = [j for j in possible if j <= few]
        self.left_out += len(kept) < len(possible)
        bits = [1 << v for v in nodes(rest)]
        return (held | sum(chosen) for j in kept for chosen in combinations(bits, j))


def subset_size(nodes_in_clique: int, sets_per_clique: int | None) -> int:
    """Return up to which size subsets of a clique are looked at.

    All of them if there are no more than the limit; otherwise as many sizes, from the smallest
    on, as stay within the limit, and one node at least.

    >>> [subset_size(m, 64) for m in (6, 7, 8, 10, 11, 30)]
    [6, 3, 2, 2, 1, 1]
    """
    if sets_per_clique is None or 2**nodes_in_clique <= sets_per_clique:
        return nodes_in_clique
    size, count = 0, 1
    while size < 1 or count + comb(nodes_in_clique, size + 1) <= sets_per_clique:
        size += 1
        count += comb(nodes_in_clique, size)
    return size


def deletes_of(
    cpdag: PDAG, moves: Moves, constraint: Constraint | None = None, limit: SetLimit | None = None
) -> Iterator[Delete]:
    """Yield the deletes to look at, x — y in both orders.

    Under knowledge no required edge is deleted, and an edge that can point one way only is
    deleted as it points.
    """
    limit = limit or SetLimit(moves.sets_per_clique)
    for y in range(cpdag.n):
        kept = constraint.fixed[y] | constraint.barred[y] if constraint else 0
        for x in nodes(cpdag.into[y] & ~kept):
            for delete in _deletes(cpdag, x, y, moves, limit):
                bound = moves.clique_bound if moves.drop_large else None
                if bound is None or fits(cpdag, delete.h, bound):
                    yield delete


def _deletes(cpdag: PDAG, x: int, y: int, moves: Moves, limit: SetLimit) -> Iterator[Delete]:
    """Yield the deletes of one edge: all, those of Fig. 6, or those that the limit leaves."""
    bounds = moves.clique_bound, moves.size_bound
    if limit.most is not None:
        return _each_once(_limited_deletes(cpdag, x, y, moves, limit))
    if bounds == (None, None):
        return deletes(cpdag, x, y)
    return (Delete(x, y, h) for h in proposed_sets(cpdag, x, y, *bounds))


def _limited_deletes(
    cpdag: PDAG, x: int, y: int, moves: Moves, limit: SetLimit
) -> Iterator[Delete]:
    """Yield the deletes that keep few or nearly all nodes of a maximal clique of Ne(y).

    With bounds, at most as many nodes of the clique go into H as Fig. 6 lets go.
    """
    na, held = cpdag.na(y, x), 1 << x & cpdag.neighbors(y)
    maximal = maximal_cliques(cpdag.skeleton(), na | held)
    for m in maximal:
        others = (m & ~held).bit_count()
        room = room_in(m, na, maximal, moves.clique_bound, moves.size_bound)
        for s in limit.sets(m, held, range(max(others - room, 0), others + 1), large=True):
            yield Delete(x, y, na & ~s)


def turns_of(cpdag: PDAG, moves: Moves, limit: SetLimit | None = None) -> Iterator[Turn]:
    """Yield the turns to look at, before the condition on paths."""
    limit = limit or SetLimit(moves.sets_per_clique)
    for y in range(cpdag.n):
        maximal = maximal_cliques(cpdag.skeleton(), cpdag.neighbors(y))
        for x in nodes(cpdag.out[y]):
            yield from _each_once(_turns(cpdag, x, y, maximal, moves, limit))


def _turns(
    cpdag: PDAG, x: int, y: int, maximal: list[NodeSet], moves: Moves, limit: SetLimit
) -> Iterator[Turn]:
    least = cpdag.neighbors(y) >> x & 1  # on x — y, C must hold a node not adjacent to x
    for held, free in parts_of_c(cpdag, x, y):
        sizes = range(least, _room_for_parents(cpdag, y, held, moves) + 1)
        for m in maximal:
            if not held & ~m and (m & free or not least):
                yield from (Turn(x, y, c) for c in limit.sets(m, held, sizes, large=True))


def inserts_of(
    cpdag: PDAG, moves: Moves, constraint: Constraint | None = None, limit: SetLimit | None = None
) -> Iterator[Insert]:
    """Yield the inserts to look at, before the condition on paths.

    "poly", and a node at which the limit leaves anything out, takes the inserts of one member
    G' of the class: NA ∪ T are the neighbors of y that are its parents in G'.  Where none of
    these improves a locally consistent score, the class is an IMAP.
    """
    poly = moves.inserts == "poly"
    limit = limit or SetLimit(moves.sets_per_clique)
    for y in range(cpdag.n):
        barred = constraint.barred[y] if constraint else 0
        apart = ((1 << cpdag.n) - 1) & ~(cpdag.adjacent(y) | 1 << y | barred)
        own = SetLimit(None if poly else limit.most)
        found: set[Insert] = set()
        for insert in _inserts(cpdag, apart, y, moves, own):
            if insert not in found:
                found.add(insert)
                yield insert
        limit.left_out += own.left_out
        if poly or own.left_out:
            yield from (
                op for op in _member_inserts(cpdag, apart, y, moves, constraint) if op not in found
            )


def _inserts(
    cpdag: PDAG, apart: NodeSet, y: int, moves: Moves, limit: SetLimit
) -> Iterator[Insert]:
    """Yield Insert(x, y, T) where NA ∪ T lies in a maximal clique of Ne(y), some twice."""
    maximal = maximal_cliques(cpdag.skeleton(), cpdag.neighbors(y))
    largest = moves.largest_t if moves.inserts == "poly" else cpdag.n
    for x in nodes(apart):
        na = cpdag.na(y, x)
        sizes = range(min(largest, _room_for_parents(cpdag, y, na, moves)) + 1)
        for m in maximal:
            if not na & ~m:
                yield from (Insert(x, y, s & ~na) for s in limit.sets(m, na, sizes, large=False))


def _member_inserts(
    cpdag: PDAG, apart: NodeSet, y: int, moves: Moves, constraint: Constraint | None
) -> Iterator[Insert]:
    """Yield the inserts into y that add one edge to the member G'."""
    s = parents_in_member(cpdag, y, constraint)
    if _room_for_parents(cpdag, y, s, moves) >= 0:
        for x in nodes(apart):
            if not cpdag.na(y, x) & ~s:
                yield Insert(x, y, s & ~cpdag.adjacent(x))


def parents_in_member(cpdag: PDAG, y: int, constraint: Constraint | None = None) -> NodeSet:
    """Return the neighbors of y that are its parents in one member of the class.

    The member directs the undirected edges by maximum cardinality search; under knowledge it is
    one that satisfies the knowledge.
    """
    near = cpdag.neighbors(y)
    if constraint is not None:
        return constraint.member(cpdag).parents(y) & near
    lines = [cpdag.neighbors(v) for v in range(cpdag.n)]
    order = maximum_cardinality_search(lines, cpdag.chain_component(y))
    return near & sum(1 << v for v in order[: order.index(y)])


def _room_for_parents(cpdag: PDAG, y: int, held: NodeSet, moves: Moves) -> int:
    """Return how many nodes besides x and those held may become parents of y."""
    if moves.max_indegree is None:
        return cpdag.n
    return moves.max_indegree - 1 - cpdag.parents(y).bit_count() - held.bit_count()


def _each_once(items: Iterable[T]) -> Iterator[T]:
    seen: set[T] = set()
    for item in items:
        if item not in seen:
            seen.add(item)
            yield item


def changed_views(before: PDAG, after: PDAG) -> NodeSet:
    """Return the nodes whose view differs: their edges, or what their neighbors are adjacent to.

    The operators into a node depend on its view alone, apart from the condition on paths.
    """
    moved = sum(1 << v for v in range(after.n) if before.adjacent(v) != after.adjacent(v))
    return sum(
        1 << v
        for v in range(after.n)
        if (before.out[v], before.into[v]) != (after.out[v], after.into[v])
        or after.neighbors(v) & moved
    )


def capped_nodes(cpdag: PDAG, limit: SetLimit) -> NodeSet:
    """Return the nodes some clique of whose neighbors has more subsets than the limit."""
    rows = cpdag.skeleton()
    return nodeset(
        v
        for v in range(cpdag.n)
        if any(
            limit.most is not None and 1 << m.bit_count() > limit.most
            for m in maximal_cliques(rows, cpdag.neighbors(v))
        )
    )
