"""The algorithms of the paper and extensions of them, built on one greedy climb.

    ges      Fig. 1: FES, then BES
    sges     Fig. 3: a forward phase, then SBES with an assumed property
    sbes     Fig. 4: selective backward search, from any CPDAG
    fes, bes, poly_fes, turning: the phases alone

``sges.search.strategy`` has the phases, and ``search``, which runs every strategy on them.

Scores are maximized.  An insert is applied when it gains more than the tolerance
(``sges.score.protocol.tie_tolerance``), a delete when it does not lose more: the sparser graph wins
a tie.  Ties between operators go to the smallest (x, y, size of the set, its nodes).

Every strategy ends in a state in which no insert improves the score and every generated delete
lowers it, so with a locally consistent score it ends in the true class (``docs/theory.md``,
section 13).
"""

from functools import partial
from typing import Unpack

from sges.docstrings import documented_like
from sges.errors import check_number
from sges.graph.pdag import PDAG
from sges.properties import Property
from sges.result import Result
from sges.score.protocol import Score
from sges.search.bounds import bound_of, poly_fes_bound
from sges.search.moves import Moves
from sges.search.run import OPTIONS, Run, SearchOptions, Selection
from sges.search.strategy import (
    Forward,
    Strategy,
    backward,
    forward_phase,
    search,
    search_with_knowledge,
    start_of,
)

FROM_START = """A search that needs a start.

Parameters
----------
start : PDAG
    The CPDAG or DAG to start from.
"""


@documented_like(OPTIONS)
def ges(
    score: Score,
    **options: Unpack[SearchOptions],
) -> Result:
    """Run Greedy Equivalence Search: insert while that improves the score, then delete.

    Paper: Fig. 1, GES.

    References
    ----------
    Chickering (2002), Optimal structure identification with greedy search, JMLR 3, 507-554.
    """
    run = Run(score, **options)

    def phases() -> None:
        forward_phase(run, "fes")
        backward(run)

    search_with_knowledge(run, None, phases)
    return run.result(forward="fes")


@documented_like(OPTIONS)
def sges(
    score: Score,
    assume: Property | None = None,
    *,
    forward: Forward | None = None,
    start: PDAG | None = None,
    exact: bool = False,
    drop_large: bool = False,
    **options: Unpack[SearchOptions],
) -> Result:
    """Run Selective Greedy Equivalence Search: a forward phase, then selected deletes.

    Paper: Fig. 3, SGES.

    Parameters
    ----------
    start : PDAG, optional
        A CPDAG or DAG to start from, such as another method's result.

    References
    ----------
    Chickering & Meek (2015), Selective Greedy Equivalence Search, UAI.
    """
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = Run(score, **options)
    graph, phase = start_of(run.n, forward, start)

    def phases(phase: str = phase) -> None:
        forward_phase(run, phase)
        backward(run, selection)

    repair = partial(phases, "fes" if phase == "fes" else "poly")
    search_with_knowledge(run, graph, phases, repair)
    return run.result(assume=assume, forward=phase, bound=bound_of(run, phase, selection))


@documented_like(OPTIONS)
def fes(
    score: Score,
    start: PDAG | None = None,
    **options: Unpack[SearchOptions],
) -> Result:
    """Search forward: apply the best insert while it improves the score.

    Paper: Section 3.1, FES.
    """
    run = Run(score, **options)
    run.start(start)
    forward_phase(run, "fes")
    return run.result(forward="fes")


@documented_like(OPTIONS)
def poly_fes(
    score: Score,
    start: PDAG | None = None,
    *,
    max_t: int = 0,
    **options: Unpack[SearchOptions],
) -> Result:
    """Search forward with polynomially many score evaluations, still to an IMAP.

    Paper: Section 4, poly-FES.

    Parameters
    ----------
    max_t : int
        Inserts with a set T of at most this size are examined besides those of one member.
    """
    check_number("max_t", max_t, whole=True)
    run = Run(score, **options)
    max_t = min(max_t, run.n)  # no set T is larger
    run.start(start)
    forward_phase(run, "poly", largest_t=max_t)
    return run.result(forward="poly", bound=poly_fes_bound(run.n, max_t))


@documented_like(FROM_START, OPTIONS)
def bes(
    score: Score,
    start: PDAG,
    **options: Unpack[SearchOptions],
) -> Result:
    """Search backward: apply the best delete while it does not lower the score.

    Paper: Section 3.1, BES.
    """
    run = Run(score, **options)
    search_with_knowledge(run, start, lambda: backward(run))
    return run.result()


@documented_like(FROM_START, OPTIONS)
def sbes(
    score: Score,
    start: PDAG,
    assume: Property,
    *,
    exact: bool = False,
    drop_large: bool = False,
    **options: Unpack[SearchOptions],
) -> Result:
    """Search backward selectively: BES with only the deletes that the assumed property allows.

    It can follow any method: from an IMAP of the true graph it ends in the true class.

    Paper: Fig. 4, SBES.

    Parameters
    ----------
    assume : Property
        A property that is assumed to hold for the true graph.
    """
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = Run(score, **options)
    search_with_knowledge(run, start, lambda: backward(run, selection))
    return run.result(assume=assume, bound=bound_of(run, "given", selection))


@documented_like(FROM_START, OPTIONS)
def turning(
    score: Score,
    start: PDAG,
    **options: Unpack[SearchOptions],
) -> Result:
    """Turn edges while that improves the score.

    References
    ----------
    Hauser & Bühlmann (2012), Characterization and greedy learning of interventional Markov
    equivalence classes of directed acyclic graphs, JMLR 13, 2409-2464: the third phase of GIES.
    """
    run = Run(score, **options)
    run.start(start)
    run.climb("turning", Moves(turns=True))
    return run.result()


@documented_like(OPTIONS)
def interleaved(
    score: Score,
    assume: Property | None = None,
    start: PDAG | None = None,
    *,
    exact: bool = False,
    drop_large: bool = False,
    **options: Unpack[SearchOptions],
) -> Result:
    """Search with deletes before turns before inserts, whichever improves the score first.

    On finite data this undoes early mistakes that two-phase search keeps.
    """
    return search(
        score,
        assume,
        strategy=Strategy(interleaved=True, exact=exact, drop_large=drop_large),
        start=start,
        **options,
    )
