"""Searching under background knowledge.

A search whose every step is admissible keeps its guarantee when the knowledge is an order of
groups of variables and required edges: with a score that sees the truth, and knowledge that is
true, it ends in the truth (``docs/how-to/knowledge.md``).  What is forbidden beyond that may stand
between the search and the truth: the way there may lead over an edge that is forbidden, and that
a later delete takes away.  So, for such knowledge:

1. search with admissible steps only;
2. from where that ends, search under the relaxed knowledge, the order and the required edges;
3. if that ends in a class that is not admissible, delete forbidden edges until it is, and
   search once more with admissible steps only;
4. keep what 2 and 3 found if it scores better, else what 1 found.

Either way the result is admissible.  True knowledge admits the truth, where step 2 ends with a
score that sees it; the truth scores best, so it is kept.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from sges.graph.equivalence import dag_to_cpdag
from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet, nodes
from sges.operators.delete import Delete
from sges.search.constraint import Constraint
from sges.search.deletes import Kept
from sges.search.inserts import InsertSource
from sges.search.lanes import Ask
from sges.search.poly import PolySource
from sges.search.run import Run
from sges.search.source import Check, Scored, go_on

Phases: TypeAlias = Callable[[PDAG], PDAG]
"""From a state to the state at which the phases of a search end."""

SEARCHES = 4
"""How many times its own score evaluations a search may need under knowledge that relaxes."""


def search_informed(
    run: Run, start: PDAG | None, phases: Phases, mend: Phases | None = None
) -> PDAG:
    """Run the phases from a start, under the run's knowledge if it has any.

    ``mend`` are the phases to run after forbidden edges had to be deleted, if they are others.
    """
    cpdag = run.start(start, relaxed=True)
    constraint = run.constraint
    if constraint is None or constraint.relaxed is None:
        return phases(cpdag)
    if not constraint.admits(cpdag):
        return _relaxed(run, cpdag, phases, mend or phases)
    return _better_of_two(run, phases(cpdag), phases, mend or phases)


def _better_of_two(run: Run, found: PDAG, phases: Phases, mend: Phases) -> PDAG:
    """Return what the relaxed search makes of this state if that is better, else the state."""
    before = run.mark()
    other = _relaxed(run, found, phases, mend)
    if run.stopped is None and run.total > before.total + run.tolerance:
        return other
    run.rewind(before)
    return found


def _relaxed(run: Run, cpdag: PDAG, phases: Phases, mend: Phases) -> PDAG:
    """Search under the relaxed knowledge, then make the end admissible if it is not."""
    constraint = run.constraint
    assert constraint is not None
    with run.under(constraint.relaxed):
        found = phases(cpdag)
    if constraint.admits(found):
        return found
    return mend(_enforce(run, found, constraint))


def _enforce(run: Run, cpdag: PDAG, constraint: Constraint) -> PDAG:
    """Delete forbidden edges of one member, the cheapest first, until the class is admissible.

    The member satisfies the relaxed knowledge, and without its forbidden edges all of it: so this
    ends, and needs no more than two families for each edge and step.  After time is up all of them
    go at once, without being scored or noted.
    """
    dag = constraint.member(cpdag)
    forbidden = constraint.violations(dag)
    if run.stopped is not None:
        return dag_to_cpdag(dag.edited(remove=forbidden))
    losses = {edge: _gain_in(run, dag, *edge) for edge in forbidden}
    while not constraint.admits(cpdag):
        x, y = max(losses, key=lambda edge: losses[edge])
        delete = Delete(x, y, cpdag.na(y, x) & dag.children(y))  # of x → y in this member
        run.note("knowledge", Scored(delete, losses.pop((x, y))))
        cpdag = delete.carry_out(cpdag)
        dag = dag.edited(remove=[(x, y)])
        losses |= {edge: _gain_in(run, dag, *edge) for edge in losses if edge[1] == y}
    return cpdag


def _gain_in(run: Run, dag: PDAG, x: int, y: int) -> float:
    """Return what deleting x → y gains in a DAG; counted."""
    parents = dag.parents(y)
    return run.counter.local(y, parents & ~(1 << x)) - run.counter.local(y, parents)


class InformedInsertSource(InsertSource):
    """The inserts of edges that may point as they are inserted.

    An edge that is missing can be added to a member that satisfies the knowledge, so no other
    inserts are needed; and most of those that are left out would be rejected.

    Paper: Section 3.1, insert operators.
    """

    def __init__(
        self,
        cpdag: PDAG,
        ask: Ask,
        tolerance: float,
        constraint: Constraint,
        *,
        check: Check = go_on,
    ) -> None:
        self._barred = constraint.barred
        super().__init__(cpdag, ask, tolerance, check=check)

    def _apart(self, y: int) -> NodeSet:
        return super()._apart(y) & ~self._barred[y]


class InformedPolySource(PolySource):
    """The inserts of a member that satisfies the knowledge, and those with a small T.

    The proof of poly-FES takes any member; under knowledge it must be one to which the edges that
    are missing may be added.

    Paper: Section 4, poly-FES.
    """

    def __init__(
        self, cpdag: PDAG, ask: Ask, tolerance: float, largest_t: int, constraint: Constraint
    ) -> None:
        self._constraint = constraint
        self._barred = constraint.barred
        super().__init__(cpdag, ask, tolerance, largest_t)

    def _apart(self, y: int) -> NodeSet:
        return super()._apart(y) & ~self._barred[y]

    def _direct(self, cpdag: PDAG, where: NodeSet) -> NodeSet:
        """Direct the chain components of the given nodes as a member does; return their nodes."""
        region = left = where
        while left:
            component = cpdag.chain_component(left.bit_length() - 1)
            region |= component
            left &= ~component
        member = self._constraint.member(cpdag, region)
        for v in nodes(region):
            self._above[v] = member.parents(v) & cpdag.neighbors(v)
        return region


def informed_deletes(kept: Kept, constraint: Constraint | None) -> Kept:
    """Leave out the deletes of required edges, and of edges against their only direction.

    The latter are looked at from their other end.
    """
    if constraint is None:
        return kept
    fixed = [
        barred | must for barred, must in zip(constraint.barred, constraint.fixed, strict=True)
    ]

    def informed(cpdag: PDAG, y: int) -> Iterable[tuple[NodeSet, NodeSet]]:
        return ((s, xs & ~fixed[y]) for s, xs in kept(cpdag, y))

    return informed
