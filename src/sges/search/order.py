r"""A forward phase over orders of the nodes: the best order by moves, parents by grow-shrink.

Every order of the nodes stands for a DAG: the parents of each node are those that grow-shrink
chooses among the nodes before it.  With a score that sees the truth this DAG is an IMAP of the
truth, whatever the order (proof in ``docs/explanation/order-search.md``), and Theorem 3 asks no
more of a forward phase; so the search may be as greedy as it likes.  After Andrews et al. (2023),
it takes the nodes in turn and moves each to where the score is best, until no move improves it
(``sges.search.order_moves``).

Under background knowledge the order keeps to the order that the knowledge implies, required
parents stay, and what must not be a parent is none.  The DAG of every order then satisfies it.
"""

from collections.abc import Sequence
from functools import partial

from sges.errors import WrongUse
from sges.graph.equivalence import dag_to_cpdag, pdag_to_dag
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes, nodeset
from sges.operators.base import Operator
from sges.search.constraint import Constraint
from sges.search.edge_by_edge import EdgeByEdge
from sges.search.grow_shrink import GrowShrink
from sges.search.informed import InformedPolySource
from sges.search.order_moves import ROUNDS, OrderSearch
from sges.search.poly import PolySource, poly_fes_bound
from sges.search.run import Run
from sges.search.source import Scored, Source

PHASE = "order"


def forward_by_order(run: Run, cpdag: PDAG) -> PDAG:
    """Search for the best order from a start; return the class of the DAG it stands for.

    The first order is that of a member of the start or, if the start is as sparse as can be, of
    what the polynomial forward phase makes of it: a good order to begin with saves most of the
    work.  The steps of the result lead from the start to the DAG found, edge by edge.
    """
    if run.stopped is not None:
        return cpdag
    before = run.mark()
    guess = _first_guess(run, cpdag) if is_sparsest(run, cpdag) else cpdag
    if run.stopped is not None:
        return guess
    run.rewind(before)
    source = OrderSource(run, cpdag, guess)
    return source.arrive(run.climb(PHASE, cpdag, lambda _: source))


class OrderSource:
    """Searches orders when first asked for an operator, then leads to the DAG found."""

    def __init__(self, run: Run, cpdag: PDAG, guess: PDAG) -> None:
        self._run = run
        self._cpdag = cpdag
        self._guess = guess
        self._search: OrderSearch | None = None
        self._way: EdgeByEdge | None = None

    @property
    def considered(self) -> int:
        """How many places for nodes were looked at."""
        return self._search.considered if self._search else 0

    def best(self) -> Scored | None:
        """Return the next operator on the way to the DAG of the best order."""
        if self._way is None:
            self._search = order_search(self._run, self._guess)
            self._search.improve(partial(reordered, self._run.constraint))
            self._way = self._way_to(self._search.best.dag())
        return self._way.best()

    def reject(self, operator: Operator) -> None:
        """Refuse, as the way does."""
        assert self._way is not None
        self._way.reject(operator)

    def move_to(self, cpdag: PDAG) -> None:
        """Take note of the state after an operator was applied."""
        assert self._way is not None
        self._way.move_to(cpdag)

    def arrive(self, cpdag: PDAG) -> PDAG:
        """Go to the DAG of the best order so far, if time was up while it was searched for."""
        if self._run.stopped is None or self._search is None:
            return cpdag
        way = self._way or self._way_to(self._search.best.dag())
        if self._run.stopped == "interrupted" and self._way is not None:
            return cpdag  # Ctrl-C on the way: go no further
        try:
            while (found := way.best()) is not None:
                cpdag = found.operator.carry_out(cpdag)
                way.move_to(cpdag)
                self._run.note(PHASE, found)
        except KeyboardInterrupt:
            self._run.stopped = "interrupted"
        return cpdag

    def _way_to(self, goal: PDAG) -> EdgeByEdge:
        member = a_member(self._run.constraint, self._cpdag)
        if dag_to_cpdag(goal) == dag_to_cpdag(member):
            goal = member
        return EdgeByEdge(self._run.plain, self._cpdag, member, goal)


def order_search(run: Run, guess: PDAG) -> OrderSearch:
    """Return a search that begins with the order of a member of a class."""
    n, constraint = run.n, run.constraint
    nothing: Sequence[NodeSet] = (0,) * n
    barred = nothing if constraint is None else constraint.barred
    fixed = nothing if constraint is None else constraint.fixed
    later = later_ones(constraint, n)
    everyone = (1 << n) - 1
    trees = [
        GrowShrink(
            y,
            run.insert_gains,
            run.delete_gains,
            run.tolerance,
            allowed=everyone & ~barred[y],
            required=fixed[y],
        )
        for y in range(n)
    ]
    order = first_order(a_member(constraint, guess), later)
    return OrderSearch(order, trees, later, run.tolerance)


def reordered(constraint: Constraint | None, dag: PDAG) -> list[int]:
    """Return the first order of the class of a DAG."""
    return first_order(a_member(constraint, dag_to_cpdag(dag)), later_ones(constraint, dag.n))


def later_ones(constraint: Constraint | None, n: int) -> Sequence[NodeSet]:
    """Return, for each node, those that must come after it: that must not point to it.

    Of what is forbidden beyond an order of groups and required edges nothing follows for the
    order; it only bars some parents.
    """
    return (0,) * n if constraint is None else (constraint.relaxed or constraint).barred


def first_order(dag: PDAG, later: Sequence[NodeSet]) -> list[int]:
    """Return the nodes so that parents come first, and all that must be later comes later."""
    needs = [dag.parents(v) for v in range(dag.n)]
    for u, row in enumerate(later):
        for v in nodes(row):
            needs[v] |= 1 << u
    order: list[int] = []
    done, left = 0, list(range(dag.n))
    while left:
        ready = [v for v in left if not needs[v] & ~done]
        if not ready:
            raise WrongUse(
                f"no order of the nodes {left} obeys the background knowledge: the edges that it "
                "forbids one way only must not make a circle; use another forward phase"
            )
        order += ready
        done |= nodeset(ready)
        left = [v for v in left if not done >> v & 1]
    return order


def a_member(constraint: Constraint | None, cpdag: PDAG) -> PDAG:
    """Return a member of a class: under knowledge, one that satisfies it."""
    return pdag_to_dag(cpdag) if constraint is None else constraint.member(cpdag)


def is_sparsest(run: Run, cpdag: PDAG) -> bool:
    """Tell whether a class has no edges but those that knowledge requires."""
    required = 0 if run.constraint is None else sum(map(int.bit_count, run.constraint.fixed))
    return cpdag.edge_count() == required


def _first_guess(run: Run, cpdag: PDAG) -> PDAG:
    """Return what the polynomial forward phase makes of a start."""

    def source(state: PDAG) -> Source:
        ask, tolerance, constraint = run.insert_gains, run.tolerance, run.constraint
        if constraint is None:
            return PolySource(state, ask, tolerance, 0)
        return InformedPolySource(state, ask, tolerance, 0, constraint)

    return run.climb(PHASE, cpdag, source)


def order_bound(n: int, rounds: int = ROUNDS) -> int:
    """Return a bound on the unique families that ``forward_by_order`` asks for on n variables.

    For the first order the bound of poly-FES.  Then, at each beginning, n choices and, for each
    round, node and place, two more; there are no more beginnings than rounds.  A choice adds and
    takes away at most n − 1 parents, and asks for at most n families each time.
    """
    choices = (rounds + 1) * n + rounds * n * 2 * max(n - 1, 0)
    return poly_fes_bound(n) + choices * 2 * n * n
