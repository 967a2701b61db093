"""The algorithms of the paper, each a few lines on the one greedy loop.

    ges      Fig. 1: FES, then BES
    sges     Fig. 3: a forward phase, then SBES with an assumed property
    sbes     Fig. 4: selective backward search, from any CPDAG
    fes, bes, poly_fes, turning: the phases alone

Scores are maximised.  An insert is applied when it gains more than the tolerance
(``sges.certificate.tie_tolerance``), a delete when it does not lose more: the sparser graph wins
a tie.  Ties between operators go to the smallest (x, y, size of the set, its nodes).

Paper: Fig. 1; Fig. 3; Fig. 4.
"""

from typing import Literal, TypeAlias, Unpack

from sges.errors import SgesError
from sges.graph.pdag import PDAG
from sges.properties.base import Property
from sges.result import Result
from sges.score.base import Score
from sges.search.informed import SEARCHES, search_informed
from sges.search.order import forward_by_order, order_bound
from sges.search.phases import (
    Selection,
    backward,
    forward_everywhere,
    forward_polynomial,
    sbes_bound,
    turn_edges,
)
from sges.search.poly import poly_fes_bound
from sges.search.run import Options, Run

FORWARD_WORDS = ", ".join(map(repr, ("fes", "poly", "order", "complete")))

Forward: TypeAlias = Literal["fes", "poly", "order", "complete"] | PDAG


def ges(score: Score, **options: Unpack[Options]) -> Result:
    """Run Greedy Equivalence Search: insert while that improves the score, then delete.

    Paper: Fig. 1, GES.
    """
    run = Run(score, **options)
    cpdag = search_informed(run, None, lambda g: backward(run, forward_everywhere(run, g)))
    return run.result(cpdag, forward="fes")


def sges(
    score: Score,
    assume: Property | None = None,
    *,
    forward: Forward = "fes",
    exact: bool = False,
    drop_large: bool = False,
    **options: Unpack[Options],
) -> Result:
    """Run Selective Greedy Equivalence Search: a forward phase, then only deletes that matter.

    ``assume`` is a property known to hold for the truth; None means GES.  ``forward`` is "fes",
    "poly" (polynomially many score evaluations), "order" (the best order of the variables that
    is found, and the parents it gives them), "complete" (the no-independence class, which costs
    nothing), or a CPDAG or DAG to start from, such as another method's result.  ``exact`` keeps
    only deletes that are consistent one by one; ``drop_large`` leaves out the sets H that hold a
    clique beyond the bound: both look at fewer deletes, with the same guarantee.

    Paper: Fig. 3, SGES.
    """
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = Run(score, **options)
    start, how = start_of(run, forward)

    def phases(cpdag: PDAG) -> PDAG:
        return backward(run, run_forward(run, cpdag, how), selection)

    def mend(cpdag: PDAG) -> PDAG:
        return backward(run, run_forward(run, cpdag, "fes" if how == "fes" else "poly"), selection)

    cpdag = search_informed(run, start, phases, mend)
    return run.result(cpdag, assume=assume, forward=how, bound=bound_of(run, how, selection))


def fes(score: Score, start: PDAG | None = None, **options: Unpack[Options]) -> Result:
    """Search forward: apply the best insert while it improves the score.

    Paper: Section 3.1, FES.
    """
    run = Run(score, **options)
    return run.result(forward_everywhere(run, run.start(start)), forward="fes")


def poly_fes(
    score: Score, start: PDAG | None = None, *, largest_t: int = 0, **options: Unpack[Options]
) -> Result:
    """Search forward with polynomially many score evaluations, still to an IMAP.

    Paper: Section 4, poly-FES.
    """
    run = Run(score, **options)
    cpdag = forward_polynomial(run, run.start(start), largest_t)
    return run.result(cpdag, forward="poly", bound=poly_fes_bound(run.n, largest_t))


def bes(score: Score, start: PDAG, **options: Unpack[Options]) -> Result:
    """Search backward: apply the best delete while it does not lower the score.

    Paper: Section 3.1, BES.
    """
    run = Run(score, **options)
    return run.result(search_informed(run, start, lambda g: backward(run, g)))


def sbes(
    score: Score,
    start: PDAG,
    assume: Property,
    *,
    exact: bool = False,
    drop_large: bool = False,
    **options: Unpack[Options],
) -> Result:
    """Search backward selectively: BES with the deletes that the assumed property leaves.

    A finishing step for anybody's graph: from an IMAP of the truth it ends in the truth.

    Paper: Fig. 4, SBES.
    """
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = Run(score, **options)
    cpdag = search_informed(run, start, lambda g: backward(run, g, selection))
    return run.result(cpdag, assume=assume, bound=bound_of(run, "given", selection))


def turning(score: Score, start: PDAG, **options: Unpack[Options]) -> Result:
    """Turn edges while that improves the score, the third phase of Hauser & Bühlmann (2012)."""
    run = Run(score, **options)
    return run.result(turn_edges(run, run.start(start)))


def start_of(run: Run, forward: Forward) -> tuple[PDAG | None, str]:
    """Return the graph to start from, None for the sparsest, and what to call the forward phase."""
    if isinstance(forward, PDAG):
        return forward, "given"
    if forward in ("fes", "poly", "order"):
        return None, forward
    if forward == "complete":
        return PDAG.complete(run.n), forward
    raise SgesError(f"forward = {forward!r} is not known; it is {FORWARD_WORDS} or a PDAG")


def run_forward(run: Run, cpdag: PDAG, how: str, *, conservative: bool = False) -> PDAG:
    """Run the forward phase of this name, if it is one."""
    if how == "fes":
        return forward_everywhere(run, cpdag, conservative=conservative)
    if how == "order":
        return forward_by_order(run, cpdag)
    return forward_polynomial(run, cpdag, 0) if how == "poly" else cpdag


def bound_of(run: Run, how: str, selection: Selection) -> int | None:
    """Return the bound on score evaluations of a whole run, or None if it has none."""
    relaxes = run.constraint is not None and run.constraint.relaxed is not None
    backward_bound = sbes_bound(run.n, selection)
    poly, order = poly_fes_bound(run.n), order_bound(run.n)
    forward_bound = {"poly": poly, "order": order, "complete": 0, "given": 0}.get(how)
    if backward_bound is None or forward_bound is None:
        return None
    if relaxes:  # mending takes a polynomial forward phase, whatever the first one was
        return SEARCHES * (max(poly, forward_bound) + backward_bound)
    return forward_bound + backward_bound
