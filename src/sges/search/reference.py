"""The search of the paper in plain Python, from scratch at every step.

This defines the search: it is there to be read, and the tests compare the compiled engine with it.
One loop generates all operators of a state, computes their gains, applies the best one and begins
again; each search is this loop with other operators, and only gains are stored.

    Fig. 1, GES     ``ges``: ``fes``, then ``bes``
    Fig. 3, SGES    ``sges``: a forward phase, then ``sbes``
    Fig. 4, SBES    ``climb``, the greedy loop
    Fig. 6          ``deletes_of``

>>> from sges.score import SeparationOracle
>>> gains = Gains(SeparationOracle(PDAG.from_edges(3, [(0, 2), (1, 2)])))
>>> [str(step.operator) for step in ges(gains).steps], gains.evaluations
(['Insert(0, 2, {})', 'Insert(1, 2, {0})'], 11)

An operator is scored if all its conditions hold except possibly the one on semi-directed paths,
which is checked only for operators that would be applied.

Operators are listed by the maximal cliques M of Ne(y): the neighbors of y that become its parents,
or stay its parents, lie in one of them.

    Insert(x, y, T)   NA_{y,x} ⊆ NA_{y,x} ∪ T ⊆ M
    Delete(x, y, H)   NA_{y,x} ∖ H, and x if x — y, is a subset of M
    Turn(x, y, C)     C ⊆ M, and C contains the nodes of ``sges.operators.parts_of_c``

A clique of m nodes has 2^m subsets.  ``sets_per_clique`` limits how many are examined: for inserts
those with few nodes in T, for deletes and turns those that have few nodes of M or lack few.  An
edge can then still be inserted wherever poly-FES can insert it, so that the search reaches an IMAP,
and deleted as by Selective-Generate-Ops with a small bound.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from math import comb, isfinite
from typing import NamedTuple, TypeAlias, TypedDict, Unpack

import numpy as np

from sges.errors import ScoreError
from sges.graph.pdag import PDAG
from sges.graph.undirected import maximal_cliques, maximum_cardinality_search
from sges.nodeset import NodeSet, Rows, nodes, show
from sges.operators import Change, Delete, Insert, Operator, Turn, parts_of_c
from sges.properties import Property
from sges.result import Step
from sges.score.protocol import CountingScore, Score, tie_tolerance, total_score
from sges.search.moves import Constraint, Moves
from sges.selective import bounds_of, fits, is_consistent, proposed_sets, room_in

DOUBTFUL = 1e-6
"""A gain of no more than this share of the total score may be an effect of rounding."""

Scored: TypeAlias = tuple[float, Operator]
"""A gain and the operator that has it."""

Request: TypeAlias = tuple[int, NodeSet, bool]
"""A node, a set of parents, and whether nodes are added to it or removed from it."""


class Climb(NamedTuple):
    """The class in which a search ended, and the steps that led to it.

    ``capped`` is the number of steps of the last climb after which ``sets_per_clique`` left out an
    operator for the first time, None if it never did.  ``came_back`` says that this climb ended
    because a step led back to a class that it had left.
    """

    cpdag: PDAG
    steps: tuple[Step, ...]
    capped: int | None = None
    came_back: bool = False


class Options(TypedDict, total=False):
    """Knowledge, and limits on parents and on the subsets of a clique, which a search may have."""

    constraint: Constraint | None
    max_indegree: int | None
    sets_per_clique: int | None


# The searches.  Each takes a score, or its ``Gains``, which also count the families evaluated.


def ges(score: Score, start: PDAG | None = None, **options: Unpack[Options]) -> Climb:
    """Insert edges while that improves the score, then delete."""
    gains = Gains.of(score)
    first = fes(gains, start, **options)
    second = bes(gains, first.cpdag, **options)
    return second._replace(steps=first.steps + second.steps)


def sges(score: Score, start: PDAG | None, assume: Property, **options: Unpack[Options]) -> Climb:
    """Insert edges by poly-FES while that improves the score, then delete selectively."""
    gains = Gains.of(score)
    first = poly_fes(gains, start, **options)
    second = sbes(gains, first.cpdag, assume, **options)
    return second._replace(steps=first.steps + second.steps)


def fes(score: Score, start: PDAG | None = None, **options: Unpack[Options]) -> Climb:
    """Apply the best insert while it improves the score."""
    return _search(score, start, Moves("all"), "fes", **options)


def poly_fes(
    score: Score, start: PDAG | None = None, *, max_t: int = 0, **options: Unpack[Options]
) -> Climb:
    """Apply the best insert of one member, or with a T of at most ``max_t`` nodes."""
    return _search(score, start, Moves("poly", largest_t=max_t), "poly-fes", **options)


def bes(score: Score, start: PDAG, **options: Unpack[Options]) -> Climb:
    """Apply the best delete while it does not lower the score."""
    return _search(score, start, Moves(deletes=True), "bes", **options)


def sbes(
    score: Score,
    start: PDAG,
    assume: Property,
    *,
    exact: bool = False,
    drop_large: bool = False,
    **options: Unpack[Options],
) -> Climb:
    """Search backward with the deletes that the bounds of a property allow.

    With ``exact``, and for a property without bounds, each delete is tested for consistency.
    """
    moves = Moves(deletes=True, drop_large=drop_large)
    return _search(score, start, moves, "sbes", assume, exact=exact, **options)


def turning(score: Score, start: PDAG, **options: Unpack[Options]) -> Climb:
    """Apply the best turn while it improves the score."""
    return _search(score, start, Moves(turns=True), "turning", **options)


def interleaved(
    score: Score,
    start: PDAG | None = None,
    assume: Property | None = None,
    *,
    exact: bool = False,
    **options: Unpack[Options],
) -> Climb:
    """Apply a delete before a turn before an insert, whichever improves the score first."""
    moves = Moves("all", turns=True, deletes=True)
    return _search(score, start, moves, "interleaved", assume, exact=exact, **options)


def _search(
    score: Score,
    start: PDAG | None,
    moves: Moves,
    phase: str,
    assume: Property | None = None,
    *,
    exact: bool = False,
    constraint: Constraint | None = None,
    max_indegree: int | None = None,
    sets_per_clique: int | None = None,
) -> Climb:
    """Climb with the bounds of a property, or with a test of each delete."""
    cliques, size = (None, None) if assume is None else bounds_of(assume)
    moves = replace(
        moves,
        clique_bound=cliques,
        size_bound=size,
        max_indegree=max_indegree,
        sets_per_clique=sets_per_clique,
    )
    tested = assume if exact or (cliques, size) == (None, None) else None
    return climb(score, start, moves, phase, constraint=constraint, assume=tested)


def climb(
    score: Score,
    start: PDAG | None,
    moves: Moves,
    phase: str = "climb",
    *,
    constraint: Constraint | None = None,
    assume: Property | None = None,
    most: int | None = None,
) -> Climb:
    """Take the best operator until there is none, or ``most`` steps were taken.

    A delete is worth taking if its gain is not below zero, a turn or an insert if it is above, up
    to the tolerance.  Deletes come before turns and turns before inserts; of operators that tie,
    the first by ``sort_key`` is taken.  Each delete is tested for consistency with the property
    ``assume``, if there is one.

    Every step improves the score, so no class occurs twice.  But if gains have fewer exact digits
    than the tolerance assumes, an insert and the delete that undoes it may both seem to improve it:
    such a step is not taken.  If its gain is not doubtful, the score is not score equivalent, and
    the search ends.

    Paper: Fig. 4, the loop of SBES.
    """
    gains, steps, visited = Gains.of(score), list[Step](), set[PDAG]()
    here = start
    if here is None:  # the sparsest class
        here = PDAG.empty(gains.n) if constraint is None else constraint.start(gains.n)
    total = total_score(gains.score, here)
    tolerance, limit = tie_tolerance(total), SetLimit(moves.sets_per_clique)
    capped, edges = None, here.edge_count()
    while True:
        offers = _offers(gains, here, moves, tolerance, limit, constraint, assume)
        if limit.left_out and capped is None:
            capped = len(steps)
        for gain, operator in offers if most != 0 else ():
            after = operator.carry_out(here)
            if constraint is not None and not constraint.admits(after, here):
                continue
            if after not in visited:
                break
            if gain > DOUBTFUL * max(1.0, abs(total)):
                return Climb(here, tuple(steps), capped, came_back=True)
        else:
            return Climb(here, tuple(steps), capped)
        visited.add(here)
        here, total, edges = after, total + gain, edges + operator.adds_edges
        steps.append(Step(phase, operator, gain, total, edges))
        if len(steps) == most:
            return Climb(here, tuple(steps), capped)


def _offers(
    gains: "Gains",
    here: PDAG,
    moves: Moves,
    tolerance: float,
    limit: "SetLimit",
    constraint: Constraint | None,
    assume: Property | None,
) -> Iterator[Scored]:
    """Return the operators that may be taken, best first; all gains are computed at once."""
    kinds: list[list[Scored]] = []
    if moves.deletes:
        every = deletes_of(here, moves, constraint, limit)
        tested = (op for op in every if assume is None or is_consistent(op, here, assume))
        kinds.append(list(gains.scored(here, tested)))
    if moves.turns:
        turns = gains.scored(here, turns_of(here, moves, limit))
        kinds.append([scored for scored in turns if scored[0] > tolerance])
    if moves.inserts is not None:
        inserts = gains.scored(here, inserts_of(here, moves, constraint, limit))
        kinds.append([scored for scored in inserts if scored[0] > tolerance])
    return (scored for kind in kinds for scored in best_first(kind, tolerance, here))


def best_first(scored: Iterable[Scored], tolerance: float, cpdag: PDAG) -> Iterator[Scored]:
    """Yield the valid operators, best first, while they do not lower the score.

    Of operators that tie, the first by ``sort_key`` is best.  Validity is tested only where it
    matters.
    """
    remaining = sorted(scored, key=lambda candidate: -candidate[0])
    while True:
        tied: list[Scored] = []
        for candidate in remaining:
            if candidate[0] < (tied[0][0] if tied else 0.0) - tolerance:
                break
            if candidate[1].precondition(cpdag) is None:
                tied.append(candidate)
        if not tied:
            return
        best = min(tied, key=lambda candidate: candidate[1].sort_key())
        yield best
        remaining.remove(best)


# Gains


class Gains(CountingScore):
    """A score whose gains are stored, with a count of the unique families that were evaluated."""

    def __init__(self, score: Score, *, counting: bool = True) -> None:
        super().__init__(score, counting=counting)
        self._known: dict[Request, dict[int, float]] = {}

    @staticmethod
    def of(score: Score) -> "Gains":
        """Return the gains of a score, or the score if it is gains already."""
        return score if isinstance(score, Gains) else Gains(score)

    def gains(self, y: int, base: NodeSet, xs: NodeSet, *, adds: bool) -> dict[int, float]:
        """Return how much the score of y changes with each x added to, or removed from, a base.

        Gains that are not stored yet are computed in one call of the score, which counts the base
        and the family of each x.
        """
        known = self._known.get((y, base, adds), {})
        missing = [x for x in nodes(xs) if x not in known]
        if missing:
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
        """Yield operators with their gains, in one call of the score per parent set if possible.

        Operators are generated node by node, so those with the same parents of y share a call.
        """
        for _, group in groupby(operators, key=lambda op: op.y):
            changed: list[tuple[Operator, tuple[Change, ...]]] = []
            wanted: dict[Request, NodeSet] = {}
            for op in group:
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


# The operators that ``Moves`` allow at one state


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
            s = parents_in_member(cpdag, y, constraint)
            for x in nodes(apart) if s.bit_count() <= room else ():
                if not near & rows[x] & ~s and (x, s) not in seen:
                    yield Insert(x, y, s & ~rows[x])


def parents_in_member(cpdag: PDAG, y: int, constraint: Constraint | None = None) -> NodeSet:
    """Return the neighbors of y that are its parents in one member of the class.

    The member directs the undirected edges by maximum cardinality search, ties by number; under
    knowledge it is one that satisfies the knowledge.
    """
    near = cpdag.neighbors(y)
    if constraint is not None:
        return constraint.member(cpdag).parents(y) & near
    lines = [cpdag.neighbors(v) for v in range(cpdag.n)]
    order = maximum_cardinality_search(lines, cpdag.chain_component(y))
    return near & sum(1 << v for v in order[: order.index(y)])
