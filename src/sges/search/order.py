"""The search over orders of the nodes: its loop, on the compiled engine.

Every order of the nodes stands for a DAG: the parents of each node are those that grow-shrink
chooses among the nodes before it.  With a locally consistent score this DAG is an IMAP of the true
graph, so that a backward phase may follow.  After Andrews et al. (2023), each node in turn is
moved to its best place, until none moves.  Then the search begins again from another order of the
same class, as long as that improves the score; with a limit on its work, also from such an order
dealt into piles, because moves of single nodes end in local optima.

Which optimum is found depends on the order in which nodes are moved, and on the orders from which
the search begins.  By default nodes are taken by their numbers.  With a *ranking* of the nodes that
is computed from the scores (``ranked``), the result does not depend on the order of the columns.

Under knowledge the order respects the order that the knowledge implies, required parents are never
dropped, and forbidden parents are never chosen.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sges.errors import InvalidArgument
from sges.graph.equivalence import consistent_extension, dag_to_cpdag, topological_order
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes, nodeset
from sges.search.moves import Constraint, Moves

if TYPE_CHECKING:
    from sges.search.engines import CompiledEngine

REACH = 300.0
"""The number of nats by which the score may fall before a sweep ends."""

ROUNDS = 50
"""The largest number of rounds, in each of which every node is moved once."""

TIED = 1e-9
"""How far apart two strengths may be and still tie, relative to the largest."""

PILES = 3
"""The largest number of piles into which a search with limited work deals the best order."""

MIXED_WORK = 0.2
"""The work of the search from mixed orders, relative to that before it, per unit of effort."""


def highest_first(values: list[tuple[int, float]], tolerance: float) -> list[tuple[int, float]]:
    """Return nodes and their values by falling value.

    A node ties with the next one if their values differ by no more than the tolerance; nodes
    that tie are ranked by their numbers.

    >>> highest_first([(1, 3.0), (5, 7.0), (6, 7.25)], 0.5)
    [(5, 7.0), (6, 7.25), (1, 3.0)]
    """
    ties: list[list[tuple[int, float]]] = []
    for x, value in sorted(values, key=lambda pair: -pair[1]):
        if not ties or ties[-1][-1][1] - value > tolerance:
            ties.append([])
        ties[-1].append((x, value))
    return [pair for tie in ties for pair in sorted(tie)]


def ranked(strengths: Sequence[float]) -> list[int]:
    """Return the nodes, strongest first; those that tie are ranked by their numbers.

    The strength of a node is the sum of the gains of all edges into it, at the graph that has only
    required edges.  It measures how much the node depends on the others, and does not depend on
    the order of the columns.

    >>> ranked([1.0, 5.0 - 1e-12, 5.0, -2.0])
    [1, 2, 0, 3]
    """
    tolerance = TIED * max(map(abs, strengths), default=0.0)
    return [v for v, _ in highest_first(list(enumerate(strengths)), tolerance)]


def go_to_best_order(
    engine: "CompiledEngine",
    phase: str,
    *,
    max_indegree: int | None = None,
    effort: float | None = None,
    ranking: tuple[int, ...] | None = None,
) -> None:
    """Go to the DAG of the best order of the nodes that is found, edge by edge.

    The search begins with an order of the class or, if that has only required edges, of the class
    that poly-FES finds.  With ``effort`` it starts again from mixed orders, and its work is at most
    ten times ``effort`` times that of the guess; that from mixed orders is at most ``MIXED_WORK``
    times ``effort`` times the work before them.  DAGs have at most ``max_indegree`` parents per
    node.  Where nodes have to be taken one by one, they are taken in the order of the ranking.
    """
    begun, constraint, before = engine.mark(), engine.constraint, engine.work
    if engine.edges == sum(map(int.bit_count, constraint.fixed if constraint else ())):
        engine.climb(phase, Moves(inserts="poly", max_indegree=max_indegree, ranking=ranking))
    if engine.stopped is not None:
        return
    guess = engine.cpdag
    engine.rewind(begun)
    if engine.report is not None:
        engine.report(phase)
    last = None
    if effort is not None:
        # A guess from a given graph costs nothing; it counts as one gain for each pair of nodes,
        # the least that poly-FES takes.  Added is enough to choose all parents twice.
        guessing = max(engine.work - before, engine.n * (engine.n - 1))
        last = engine.work + int(10 * effort * guessing) + 2 * engine.n**2
    best, cpdag = best_order(engine, guess, max_indegree, effort, last, ranking), engine.cpdag
    if best is not None and best[1] != cpdag:
        dag = best[0]
        engine.walk(phase, a_member(cpdag, constraint), dag, topological_order(dag))


def best_order(
    engine: "CompiledEngine",
    guess: PDAG,
    max_indegree: int | None,
    effort: float | None,
    last: int | None,
    ranking: tuple[int, ...] | None,
) -> tuple[PDAG, PDAG] | None:
    """Return the best order's DAG and CPDAG, or None if the time was up before the first one.

    The nodes are moved in rounds until none moves; then the search begins again from another
    order (``order_of``).  It ends at the latest when the work of the engine exceeds ``last``.
    """
    n, constraint, before = engine.n, engine.constraint, engine.work
    everyone = (1 << n) - 1
    barred = constraint.barred if constraint else (0,) * n
    allowed = [everyone & ~barred[y] & ~(1 << y) for y in range(n)]
    required = constraint.fixed if constraint else (0,) * n
    later = later_ones(constraint, n)
    first = order_of(guess, constraint, ranking)
    engine.order_begin(first, allowed, required, later, REACH, max_indegree, ranking or range(n))
    if engine.stopped is not None:
        return None
    best, piles, is_mixed = None, 0, False
    for rounds_left in reversed(range(ROUNDS)):
        moved = engine.order_round(last)
        ended = (
            rounds_left == 0 or _has_stopped(engine) or (last is not None and engine.work > last)
        )
        if moved and not ended:
            continue
        _, parents, gain = engine.order_state()
        dag = PDAG.from_edges(n, [(x, y) for y in range(n) for x in nodes(parents[y])])
        cpdag = dag_to_cpdag(dag)
        if best is None or gain > best[2] + engine.tolerance:
            best, piles = (dag, cpdag, gain), 0
        elif piles > 1 and cpdag == best[1]:
            break  # a mixed order leads back
        piles += 1
        if ended or piles > (1 if effort is None else PILES):
            break
        if piles > 1 and not is_mixed and effort is not None and last is not None:
            last = min(last, engine.work + int(MIXED_WORK * effort * (engine.work - before)))
            is_mixed = True
        engine.order_set(order_of(best[1], constraint, ranking, piles))
        if _has_stopped(engine):
            break
    return None if best is None else best[:2]


def _has_stopped(engine: "CompiledEngine") -> bool:
    return engine.stopped is not None


def later_ones(constraint: Constraint | None, n: int) -> Sequence[NodeSet]:
    """Return, for each node, those that must come after it: that must not point to it.

    Other forbidden edges do not restrict the order; they only exclude some parents.
    """
    return (0,) * n if constraint is None else (constraint.relaxed or constraint).barred


def order_of(
    cpdag: PDAG,
    constraint: Constraint | None,
    ranking: Sequence[int] | None = None,
    piles: int = 1,
) -> list[int]:
    """Return an order of a member of a class, as far as possible that of the ranking.

    It is dealt into piles like cards, and the last pile comes first, as far as knowledge allows:
    1 2 3 4 5 6 in two piles are 2 4 6 1 3 5.  The search then ends in other local optima.
    """
    later = later_ones(constraint, cpdag.n)
    order = first_order(a_member(cpdag, constraint, ranking), later, ranking)
    if piles == 1:
        return order
    dealt = [v for pile in reversed(range(piles)) for v in order[pile::piles]]
    return first_order(PDAG.empty(cpdag.n), later, dealt)


def first_order(
    dag: PDAG, later: Sequence[NodeSet], wanted: Sequence[int] | None = None
) -> list[int]:
    """Return the nodes so that parents come first, and those of ``later[v]`` come after v.

    Apart from that they are in the wanted order; by default, in that of their numbers.
    """
    needs = [dag.parents(v) for v in range(dag.n)]
    for u, row in enumerate(later):
        for v in nodes(row):
            needs[v] |= 1 << u
    order: list[int] = []
    remaining = list(range(dag.n) if wanted is None else wanted)
    while remaining:
        done = nodeset(order)
        ready = [v for v in remaining if not needs[v] & ~done]
        if not ready:
            raise InvalidArgument(
                f"no order of the nodes {remaining} obeys the background knowledge: the directions "
                "that it allows must not force a cycle; use another forward phase"
            )
        order += ready
        remaining = [v for v in remaining if needs[v] & ~done]
    return order


def a_member(
    cpdag: PDAG, constraint: Constraint | None, ranking: Sequence[int] | None = None
) -> PDAG:
    """Return a member of a class: under knowledge, one that satisfies it."""
    if constraint is not None:
        return constraint.member(cpdag, None, ranking)
    return cpdag.edited(direct=consistent_extension(cpdag, (1 << cpdag.n) - 1, ranking) or ())
