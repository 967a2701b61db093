"""Searching under background knowledge.

A search in which every step is admissible keeps its guarantee if the knowledge consists of an order
of groups of variables and of required edges: with a locally consistent score and true knowledge it
ends in the true class (``docs/theory.md``, section 11).  Other forbidden edges may keep the search
from the true class: it may have to insert a forbidden edge, which a later delete removes.  So, for
such knowledge:

1. search with admissible steps only;
2. from the state reached, search under the relaxed knowledge: the order and the required edges;
3. if that ends in a class that is not admissible, delete forbidden edges until it is, and
   search once more with admissible steps only;
4. keep the result of 2 and 3 if it scores higher, else that of 1.

In any case the result is admissible.  If the knowledge is true and the score locally consistent,
step 2 ends in the true class, which is admissible and scores best, so it is returned.
"""

from collections.abc import Callable
from typing import TypeAlias

from sges.graph.equivalence import dag_to_cpdag
from sges.graph.pdag import PDAG
from sges.operators import Delete
from sges.score.protocol import total_score
from sges.search.engines import gain_between
from sges.search.moves import Constraint
from sges.search.run import Run

Phases: TypeAlias = Callable[[], None]
"""Goes from the state of a run to the state at which the phases of a search end."""

SEARCHES = 4
"""The factor by which relaxed knowledge may increase the score evaluations of a search."""


def search_with_knowledge(
    run: Run,
    start: PDAG | None,
    phases: Phases,
    repair: Phases | None = None,
    *,
    scored: bool = True,
) -> None:
    """Run the phases from a start, under the run's knowledge if it has any.

    ``repair`` are the phases to run after forbidden edges were deleted, if they differ;
    ``scored`` says whether the start is scored (``Run.start``).
    """
    run.start(start, relaxed=True, scored=scored)
    engine, constraint, before = run.engine, run.constraint, None
    if constraint is None or constraint.relaxed is None:
        phases()
        return
    if constraint.admits(engine.cpdag):
        phases()
        before, state, total = engine.mark(), engine.cpdag, engine.total
    with run.under(constraint.relaxed):
        phases()
    if (before is None or run.stopped is None) and not constraint.admits(engine.cpdag):
        _enforce(run, constraint)
        (repair or phases)()
    if before is not None:
        gained = engine.total - total
        if run.separators and run.stopped is None:  # the totals add up the gains of separators
            gained = gain_between(engine, state, engine.cpdag)
        if run.stopped is not None or gained <= engine.tolerance:
            engine.rewind(before)
    elif not constraint.admits(engine.cpdag):  # stopped too early: delete the rest at once
        dag = constraint.member(engine.cpdag)
        cpdag = dag_to_cpdag(dag.edited(remove=constraint.violations(dag)))
        engine.start(cpdag, total_score(run.score, cpdag))


def _enforce(run: Run, constraint: Constraint) -> None:
    """Delete forbidden edges of one member, the cheapest first, until the class is admissible.

    The member satisfies the relaxed knowledge, and without its forbidden edges all of it: so this
    ends, and needs no more than two families for each edge and step.
    """
    engine = run.engine
    dag = constraint.member(engine.cpdag)

    def gain_of(x: int, y: int) -> float:
        """Return the gain of deleting x → y in the member; counted."""
        parents = dag.parents(y)
        return engine.local(y, parents & ~(1 << x)) - engine.local(y, parents)

    try:
        losses = {edge: gain_of(*edge) for edge in constraint.violations(dag)}
        while run.stopped is None and not constraint.admits(engine.cpdag):
            x, y = max(losses, key=lambda edge: losses[edge])
            h = engine.cpdag.na(y, x) & dag.children(y)  # of x → y in this member
            engine.apply("knowledge", Delete(x, y, h), losses.pop((x, y)))
            run.tell("knowledge")
            dag = dag.edited(remove=[(x, y)])
            losses |= {edge: gain_of(*edge) for edge in losses if edge[1] == y}
    except KeyboardInterrupt:
        engine.stopped = "interrupted"
