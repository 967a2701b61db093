"""Which operators a greedy climb looks at, all that ``Moves`` allows at one state, and their gains.

Everything is told by the maximal cliques M of Ne(y): the nodes that become parents of y, or stay
its parents, lie in one of them.

    Insert(x, y, T)   NA_{y,x} ⊆ NA_{y,x} ∪ T ⊆ M
    Delete(x, y, H)   what is kept of NA_{y,x}, and x if x — y, is a subset of M
    Turn(x, y, C)     C ⊆ M, and C holds what it must (``sges.operators.parts_of_c``)

A clique of m nodes has 2^m subsets.  ``Moves.sets_per_clique`` limits how many are looked at: of
inserts those with few nodes in T, of deletes and turns those that have few nodes of M or lack few.
An edge can then still be inserted wherever poly-FES can insert it, so that the search reaches an
IMAP, and deleted as Selective-Generate-Ops does with a small bound.

Operators come node by node: all that point into y = 0 first.  So those with the same parents of y
share a question to the score, and ``AskedGains`` remembers what it has answered.
"""

import time
from collections.abc import Iterable, Iterator
from itertools import combinations, groupby
from math import comb, isfinite
from typing import Any, TypeAlias

import numpy as np

from sges.errors import OutOfBudget, ScoreError
from sges.graph.pdag import PDAG
from sges.graph.undirected import cliques, maximal_cliques, maximum_cardinality_search
from sges.nodeset import NodeSet, Rows, nodes, nodeset, show
from sges.operators import Delete, Insert, Operator, Turn, parts_of_c
from sges.score.protocol import Score
from sges.score.wrappers import CountingScore
from sges.search.moves import Constraint, Moves
from sges.selective import fits, proposed_sets, room_in

Scored: TypeAlias = tuple[float, Operator]
"""A gain and the operator that has it."""

Question: TypeAlias = tuple[int, NodeSet, bool]
"""A node, a set of parents, and whether nodes are added to it or taken away."""


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

    These are all valid ones, those of Fig. 6 if there are bounds, or those that the limit leaves:
    the ones that keep few or nearly all nodes of a maximal clique of Ne(y), and put no more of its
    nodes into H than the bounds allow.  Under knowledge no required edge is deleted, and an edge
    that can point one way only is deleted as it points.
    """
    limit, rows = limit or SetLimit(moves.sets_per_clique), cpdag.skeleton()
    clique_bound, size_bound = moves.clique_bound, moves.size_bound
    for y in range(cpdag.n):
        kept = constraint.fixed[y] | constraint.barred[y] if constraint else 0
        for x in nodes(cpdag.into[y] & ~kept):
            na, held = cpdag.na(y, x), 1 << x & cpdag.neighbors(y)
            sets: Iterable[NodeSet]
            if limit.most is not None:
                sets = _limited_sets(rows, na, held, moves, limit)
            elif clique_bound is None and size_bound is None:
                sets = (na & ~c for c in cliques(rows, na))
            else:
                sets = proposed_sets(cpdag, x, y, clique_bound, size_bound)
            for h in sets:
                bound = clique_bound if moves.drop_large else None
                if bound is None or fits(cpdag, h, bound):
                    yield Delete(x, y, h)


def _limited_sets(
    rows: Rows, na: NodeSet, held: NodeSet, moves: Moves, limit: SetLimit
) -> Iterator[NodeSet]:
    """Yield the sets H of one edge that the limit leaves, each once."""
    maximal = maximal_cliques(rows, na | held)
    seen: set[NodeSet] = set()
    for m in maximal:
        others = (m & ~held).bit_count()
        room = room_in(m, na, maximal, moves.clique_bound, moves.size_bound)
        for s in limit.sets(m, held, range(max(others - room, 0), others + 1), large=True):
            if (h := na & ~s) not in seen:
                seen.add(h)
                yield h


def turns_of(cpdag: PDAG, moves: Moves, limit: SetLimit | None = None) -> Iterator[Turn]:
    """Yield the turns to look at, before the condition on paths."""
    limit, rows = limit or SetLimit(moves.sets_per_clique), cpdag.skeleton()
    for y in range(cpdag.n):
        near = cpdag.neighbors(y)
        maximal, room = maximal_cliques(rows, near), _room_for_parents(cpdag, y, moves)
        for x in nodes(cpdag.out[y]):
            seen: set[NodeSet] = set()
            least = near >> x & 1  # on x — y, C must hold a node not adjacent to x
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
    """Yield the inserts to look at, before the condition on paths.

    Insert(x, y, T) is one if NA ∪ T lies in a maximal clique of Ne(y).  "poly", and a node at which
    the limit leaves anything out, takes the inserts of one member G' of the class: NA ∪ T are the
    neighbors of y that are its parents in G'.  Where none of these improves a locally consistent
    score, the class is an IMAP.
    """
    poly, rows = moves.inserts == "poly", cpdag.skeleton()
    limit = limit or SetLimit(moves.sets_per_clique)
    for y in range(cpdag.n):
        barred = constraint.barred[y] if constraint else 0
        apart = ((1 << cpdag.n) - 1) & ~(rows[y] | 1 << y | barred)
        near, room = cpdag.neighbors(y), _room_for_parents(cpdag, y, moves)
        maximal, own = maximal_cliques(rows, near), SetLimit(None if poly else limit.most)
        seen: set[tuple[int, NodeSet]] = set()
        for x in nodes(apart):
            na = near & rows[x]
            most = room - na.bit_count()
            sizes = range(min(moves.largest_t if poly else cpdag.n, most) + 1)
            for m in maximal:
                if not na & ~m:
                    for s in own.sets(m, na, sizes, large=False):
                        if (x, s) not in seen:
                            seen.add((x, s))
                            yield Insert(x, y, s & ~na)
        limit.left_out += own.left_out
        if poly or own.left_out:
            s = parents_in_member(cpdag, y, constraint)
            for x in nodes(apart) if s.bit_count() <= room else ():
                if not near & rows[x] & ~s and (x, s) not in seen:
                    yield Insert(x, y, s & ~rows[x])


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


def _room_for_parents(cpdag: PDAG, y: int, moves: Moves) -> int:
    """Return how many nodes besides x may become parents of y."""
    if moves.max_indegree is None:
        return 2 * cpdag.n
    return moves.max_indegree - 1 - cpdag.parents(y).bit_count()


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


class TimeUp(Exception):  # not an error: it ends a climb
    """The deadline has passed."""


class AskedGains:
    """A score that is asked until a deadline, and what it has answered.

    ``considered`` is the number of operators of which a gain was wanted.
    """

    def __init__(self, score: Score, *, counting: bool, deadline: float | None) -> None:
        self.counter = CountingScore(score, counting=counting)
        self.considered = self.work = 0
        self._deadline = deadline
        self._until: float | None = None
        self._most: int | None = None
        self._most_work: float | None = None
        self._known: dict[Question, dict[int, float]] = {}

    def check_time(self) -> None:
        """Raise ``TimeUp`` if the deadline has passed, and ``OutOfBudget`` if a limit has."""
        if self._deadline is not None and time.perf_counter() > self._deadline:
            raise TimeUp
        if self._until is not None and time.perf_counter() > self._until:
            raise OutOfBudget
        if self._most_work is not None and self.work > self._most_work:
            raise OutOfBudget

    def limit(self, seconds: float | None, evaluations: int | None, work: float | None) -> None:
        """Limit what follows, in seconds, families asked for, and work; None is no limit."""
        self._most_work = None if work is None else self.work + work
        self._until = None if seconds is None else time.perf_counter() + seconds
        self._most = None
        if evaluations is not None:
            self._most = (self.counter.evaluations or 0) + evaluations

    def local(self, y: int, parents: NodeSet) -> float:
        """Return the score of a family."""
        value = self.counter.local(y, parents)
        if not isfinite(value):
            raise ScoreError(
                f"local({y}, {parents:#b}) is {value}; a score must be finite for every family"
            )
        return value

    def learn(self, y: int, base: NodeSet, xs: NodeSet, *, adds: bool) -> dict[int, float]:
        """Return by how much the score of y changes with each x added to, or taken from, a base.

        What was not asked before is asked in one question, which counts the base and the
        family of each x.
        """
        known = self._known.get((y, base, adds))
        missing = [x for x in nodes(xs) if known is None or x not in known]
        if missing:
            self.check_time()
            asked = self.counter.evaluations or 0
            if self._most is not None and asked + 1 + len(missing) > self._most:
                raise OutOfBudget
            self.work += len(missing)
            ask = self.counter.insert_gains if adds else self.counter.delete_gains
            gains = ask(y, base, np.array(missing, dtype=np.intp)).tolist()
            for x, gain in zip(missing, gains, strict=True):
                if not isfinite(gain):
                    raise ScoreError(
                        f"the score of node {y} with parents {show(base)} changes by {gain} with "
                        f"node {x}; a score must be finite for every family"
                    )
            known = self._known.setdefault((y, base, adds), {})
            known.update(zip(missing, gains, strict=True))
        return known or {}

    def memory(self) -> dict[str, Any]:
        """Return the families asked for, and the answers, as JSON can hold them."""
        return {
            "asked": [[f"{base:x}" for base in sorted(sets)] for sets in self.counter.asked],
            "known": [
                [y, f"{base:x}", adds, list(gains.items())]
                for (y, base, adds), gains in self._known.items()
            ],
        }

    def remember(self, memory: dict[str, Any]) -> None:
        """Take what ``memory`` returned as asked and answered."""
        for own, sets in zip(self.counter.asked, memory["asked"], strict=True):
            own.update(int(base, 16) for base in sets)
        for y, base, adds, gains in memory["known"]:
            self._known[y, int(base, 16), adds] = dict(gains)

    def scored(self, cpdag: PDAG, operators: Iterable[Operator]) -> Iterator[Scored]:
        """Yield operators with their gains, in one question per parent set where possible."""
        for _, group in groupby(self._generated(operators), key=lambda op: op.y):
            found = [(op, op.changes(cpdag)) for op in group]
            wanted: dict[Question, NodeSet] = {}
            for y, before, after in (change for _, changes in found for change in changes):
                key = y, before, after > before
                wanted[key] = wanted.get(key, 0) | before ^ after
            for (y, base, adds), xs in wanted.items():
                self.learn(y, base, xs, adds=adds)
            for op, changes in found:
                gain = 0.0
                for y, before, after in changes:
                    answers = self._known[y, before, after > before]
                    gain += answers[(before ^ after).bit_length() - 1]
                yield gain, op

    def _generated(self, operators: Iterable[Operator]) -> Iterator[Operator]:
        for operator in operators:
            self.check_time()  # there may be exponentially many
            self.considered += 1
            yield operator
