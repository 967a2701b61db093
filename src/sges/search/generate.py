"""The operators that ``Moves`` allows at one state, and their gains.

They are listed by the maximal cliques M of Ne(y): the neighbors of y that become its parents, or
stay its parents, lie in one of them.

    Insert(x, y, T)   NA_{y,x} ⊆ NA_{y,x} ∪ T ⊆ M
    Delete(x, y, H)   NA_{y,x} ∖ H, and x if x — y, is a subset of M
    Turn(x, y, C)     C ⊆ M, and C contains the nodes of ``sges.operators.parts_of_c``

A clique of m nodes has 2^m subsets.  ``Moves.sets_per_clique`` limits how many are examined: for
inserts those with few nodes in T, for deletes and turns those that have few nodes of M or lack few.
An edge can then still be inserted wherever poly-FES can insert it, so that the search reaches an
IMAP, and deleted as by Selective-Generate-Ops with a small bound.

Operators are generated node by node: all that point into y = 0 first.  So those with the same
parents of y share one call of the score, and ``CachedGains`` stores the gains.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from math import comb, isfinite
from typing import TypeAlias

import numpy as np

from sges.errors import ScoreError
from sges.graph.pdag import PDAG
from sges.graph.undirected import maximal_cliques, maximum_cardinality_search
from sges.nodeset import NodeSet, Rows, nodes, show
from sges.operators import Change, Delete, Insert, Operator, Turn, parts_of_c
from sges.score.protocol import CountingScore, Score
from sges.search.moves import Constraint, Moves
from sges.selective import fits, proposed_sets, room_in

Scored: TypeAlias = tuple[float, Operator]
"""A gain and the operator that has it."""

Request: TypeAlias = tuple[int, NodeSet, bool]
"""A node, a set of parents, and whether nodes are added to it or removed from it."""


@dataclass(slots=True)
class SetLimit:
    """``Moves.sets_per_clique``, and the number of cliques of which it left out subsets."""

    most: int | None
    left_out: int = 0

    def sets(
        self, clique: NodeSet, held: NodeSet, sizes: range, *, large: bool
    ) -> Iterator[NodeSet]:
        """Yield the subsets of a maximal clique with the nodes ``held`` and ``sizes`` others.

        If the limit applies, only sets with few others are yielded; if ``large``, sets with few
        nodes and sets that lack few.
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
    """Return the largest size of the subsets of a clique that are examined.

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
    """Yield the deletes to examine, x — y in both orders.

    These are all valid ones, those of Selective-Generate-Ops (Fig. 6) if there are bounds, or those
    that the limit leaves: the ones that keep few or nearly all nodes of a maximal clique of Ne(y),
    and put no more of its nodes into H than the bounds allow.
    Under knowledge no required edge is deleted, and an edge that can point one way only is deleted
    as it points.
    """
    limit, rows = limit or SetLimit(moves.sets_per_clique), cpdag.skeleton()
    selective = moves.clique_bound is not None or moves.size_bound is not None
    largest = moves.clique_bound if moves.drop_large else None
    for y in range(cpdag.n):
        kept = constraint.fixed[y] | constraint.barred[y] if constraint else 0
        for x in nodes(cpdag.into[y] & ~kept):
            if selective and limit.most is None:
                sets: Iterable[NodeSet] = proposed_sets(
                    cpdag, x, y, moves.clique_bound, moves.size_bound
                )
            else:
                held = 1 << x & cpdag.neighbors(y)
                sets = _sets_by_clique(rows, cpdag.na(y, x), held, moves, limit)
            for h in sets:
                if largest is None or fits(cpdag, h, largest):
                    yield Delete(x, y, h)


def _sets_by_clique(
    rows: Rows, na: NodeSet, held: NodeSet, moves: Moves, limit: SetLimit
) -> Iterator[NodeSet]:
    """Yield the sets H of one edge, each once: all of them, or those that the limit leaves."""
    maximal, seen = maximal_cliques(rows, na | held), set[NodeSet]()
    for m in maximal:
        others = (m & ~held).bit_count()
        room = room_in(m, na, maximal, moves.clique_bound, moves.size_bound)
        for s in limit.sets(m, held, range(max(others - room, 0), others + 1), large=True):
            if (h := na & ~s) not in seen:
                seen.add(h)
                yield h


def turns_of(cpdag: PDAG, moves: Moves, limit: SetLimit | None = None) -> Iterator[Turn]:
    """Yield the turns to examine, before the condition on paths."""
    limit, rows = limit or SetLimit(moves.sets_per_clique), cpdag.skeleton()
    most_parents = cpdag.n if moves.max_indegree is None else moves.max_indegree
    for y in range(cpdag.n):
        near, room = cpdag.neighbors(y), most_parents - 1 - cpdag.parents(y).bit_count()
        maximal = maximal_cliques(rows, near)
        for x in nodes(cpdag.out[y]):
            seen: set[NodeSet] = set()
            least = near >> x & 1  # on x — y, C must contain a node not adjacent to x
            for held, free in parts_of_c(cpdag, x, y):
                sizes = range(least, room - held.bit_count() + 1)
                for m in maximal:
                    if held & ~m or (least and not m & free):
                        continue
                    for c in limit.sets(m, held, sizes, large=True):
                        if c not in seen:
                            seen.add(c)
                            yield Turn(x, y, c)


def inserts_of(
    cpdag: PDAG, moves: Moves, constraint: Constraint | None = None, limit: SetLimit | None = None
) -> Iterator[Insert]:
    """Yield the inserts to examine, before the condition on paths.

    Insert(x, y, T) is one if NA ∪ T lies in a maximal clique of Ne(y).  "poly", and a node at which
    the limit leaves anything out, takes the inserts of one member G' of the class: NA ∪ T are the
    neighbors of y that are its parents in G'.  Where none of these improves a locally consistent
    score, the class is an IMAP.
    """
    poly, rows = moves.inserts == "poly", cpdag.skeleton()
    limit = limit or SetLimit(moves.sets_per_clique)
    most_parents = cpdag.n if moves.max_indegree is None else moves.max_indegree
    for y in range(cpdag.n):
        barred = constraint.barred[y] if constraint else 0
        apart = ((1 << cpdag.n) - 1) & ~(rows[y] | 1 << y | barred)
        near, room = cpdag.neighbors(y), most_parents - 1 - cpdag.parents(y).bit_count()
        maximal, node_limit = maximal_cliques(rows, near), SetLimit(None if poly else limit.most)
        seen: set[tuple[int, NodeSet]] = set()
        for x in nodes(apart):
            na = near & rows[x]
            most = room - na.bit_count()
            sizes = range(min(moves.largest_t if poly else cpdag.n, most) + 1)
            for m in maximal:
                if not na & ~m:
                    for s in node_limit.sets(m, na, sizes, large=False):
                        if (x, s) not in seen:
                            seen.add((x, s))
                            yield Insert(x, y, s & ~na)
        limit.left_out += node_limit.left_out
        if poly or node_limit.left_out:
            s = parents_in_member(cpdag, y, constraint, moves.ranking)
            for x in nodes(apart) if s.bit_count() <= room else ():
                if not near & rows[x] & ~s and (x, s) not in seen:
                    yield Insert(x, y, s & ~rows[x])


def parents_in_member(
    cpdag: PDAG,
    y: int,
    constraint: Constraint | None = None,
    ranking: Sequence[int] | None = None,
) -> NodeSet:
    """Return the neighbors of y that are its parents in one member of the class.

    The member directs the undirected edges by maximum cardinality search, ties by the ranking;
    under knowledge it is one that satisfies the knowledge.
    """
    near = cpdag.neighbors(y)
    if constraint is not None:
        return constraint.member(cpdag, None, ranking).parents(y) & near
    lines = [cpdag.neighbors(v) for v in range(cpdag.n)]
    order = maximum_cardinality_search(lines, cpdag.chain_component(y), ranking)
    return near & sum(1 << v for v in order[: order.index(y)])


def changed_views(before: PDAG, after: PDAG) -> NodeSet:
    """Return the nodes whose view differs: their edges, or the adjacencies of their neighbors.

    The operators into a node depend on its view alone, apart from the condition on paths.
    """
    moved = sum(1 << v for v in range(after.n) if before.adjacent(v) != after.adjacent(v))
    return sum(
        1 << v
        for v in range(after.n)
        if (before.out[v], before.into[v]) != (after.out[v], after.into[v])
        or after.neighbors(v) & moved
    )


class TimeUp(Exception):  # not an error: it ends a climb
    """The deadline has passed."""


class CachedGains(CountingScore):
    """A score with a cache of gains, a count of the evaluated families, and a deadline.

    ``considered`` is the number of operators whose gain was needed, and ``work`` the number of
    gains computed: a measure of work that does not depend on the machine.
    """

    def __init__(self, score: Score, *, counting: bool, deadline: float | None) -> None:
        super().__init__(score, counting=counting)
        self.considered = self.work = 0
        self._deadline = deadline
        self._known: dict[Request, dict[int, float]] = {}

    def check_time(self) -> None:
        """Raise ``TimeUp`` if the deadline has passed."""
        if self._deadline is not None and time.perf_counter() > self._deadline:
            raise TimeUp

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score of a family; counted."""
        value = super().local(y, parents)
        if not isfinite(value):
            raise ScoreError(
                f"local({y}, {parents:#b}) is {value}; a score must be finite for every family"
            )
        return value

    def gains(self, y: int, base: NodeSet, xs: NodeSet, *, adds: bool) -> dict[int, float]:
        """Return how much the score of y changes with each x added to, or removed from, a base.

        Gains that are not stored yet are computed in one call of the score, which counts the base
        and the family of each x.
        """
        known = self._known.get((y, base, adds), {})
        missing = [x for x in nodes(xs) if x not in known]
        if missing:
            self.check_time()
            self.work += len(missing)
            compute = self.insert_gains if adds else self.delete_gains
            gains = dict(
                zip(missing, compute(y, base, np.array(missing, np.intp)).tolist(), strict=True)
            )
            for x, gain in gains.items():
                if not isfinite(gain):
                    raise ScoreError(
                        f"the score of node {y} with parents {show(base)} changes by {gain} with "
                        f"node {x}; a score must be finite for every family"
                    )
            known = self._known[y, base, adds] = known | gains
        return known

    def scored(self, cpdag: PDAG, operators: Iterable[Operator]) -> Iterator[Scored]:
        """Yield operators with their gains, in one call of the score per parent set if possible."""
        for _, group in groupby(operators, key=lambda op: op.y):
            changed: list[tuple[Operator, tuple[Change, ...]]] = []
            wanted: dict[Request, NodeSet] = {}
            for op in group:
                self.check_time()  # there may be exponentially many
                self.considered += 1
                changed.append((op, op.changes(cpdag)))
                for y, before, after in changed[-1][1]:
                    request = y, before, after > before
                    wanted[request] = wanted.get(request, 0) | before ^ after
            for (y, base, adds), xs in wanted.items():
                self.gains(y, base, xs, adds=adds)
            for op, changes in changed:
                gain = 0.0
                for y, before, after in changes:
                    gains = self._known[y, before, after > before]
                    gain += gains[(before ^ after).bit_length() - 1]
                yield gain, op
