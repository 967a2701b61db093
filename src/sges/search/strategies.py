"""Searches beyond the paper's two phases, on the same greedy loop.

    interleaved    at every step prefer a delete, then a turn, then an insert

Each ends where no insert improves the score and no generated delete keeps it, so with a locally
consistent score it ends in the truth (see ``sges.search.priority``).
"""

from typing import Unpack

from sges.graph.pdag import PDAG
from sges.properties.base import Property
from sges.result import Result
from sges.score.base import Score
from sges.search.informed import search_informed
from sges.search.phases import Selection, delete_source, insert_source
from sges.search.priority import PrioritySource
from sges.search.run import Options, Run
from sges.search.turns import TurnSource


def interleaved(
    score: Score,
    assume: Property | None = None,
    start: PDAG | None = None,
    *,
    exact: bool = False,
    drop_large: bool = False,
    **options: Unpack[Options],
) -> Result:
    """Search with deletes before turns before inserts, whichever improves the score first.

    On finite data this undoes early mistakes that two-phase search keeps.  Takes the same
    assumptions and options as ``sges``.
    """
    selection = Selection(assume, exact=exact, drop_large=drop_large)
    run = Run(score, **options)

    def phases(state: PDAG) -> PDAG:
        return run.climb("interleaved", state, lambda g: _all_sources(run, g, selection))

    cpdag = search_informed(run, start, phases)
    return run.result(cpdag, assume=assume, forward="interleaved")


def _all_sources(run: Run, cpdag: PDAG, selection: Selection) -> PrioritySource:
    return PrioritySource(
        [
            delete_source(run, cpdag, selection),
            TurnSource(cpdag, run, run.tolerance),
            insert_source(run, cpdag),
        ]
    )
