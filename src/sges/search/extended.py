"""Extended search: from a local optimum force a delete, search on, and keep the better state.

This is the idea of XGES (Nazaret & Blei 2024).  A wrong edge that was inserted early may persist
because of edges inserted after it: deleting any one of them lowers the score.  So one edge is
deleted although this lowers the score, and the search continues without it to a local optimum; then
the edge may be inserted again, and the search continues.  If the result scores higher, it is kept;
otherwise the search returns to where it was.

The escapes with the smallest losses are tried first.  One that failed is tried again only after
the view of a node that it examined has changed: until then the trial would fail as before, except
possibly for the path condition of inserts, which may depend on distant edges.

At the returned state no operator improves the score, among all inserts and generated deletes, so it
has the guarantee of the search before the escapes; and the score never falls from one kept state to
the next.

The compiled engine runs trials in one loop while they fail, unless Python code has to run in
between, as for a progress report.
"""

from functools import partial
from typing import TYPE_CHECKING

from sges.nodeset import NodeSet
from sges.operators import Delete
from sges.search.generate import changed_views
from sges.search.moves import Mark, Moves
from sges.search.run import Budget, Run, Selection, gain_between

if TYPE_CHECKING:
    from sges.search.strategy import Strategy

PHASE = "extended"
PER_EFFORT = 3  # sets listed by the escapes for each that was listed before, per unit of effort

TRIALS_AT_ONCE = 1_000  # each takes up to a bit per variable until all of them have ended

Escape = tuple[float, Delete]


class ExtendedSearch:
    """The escapes of one run; under knowledge a run may search several times."""

    def __init__(self, run: Run, strategy: "Strategy", moves: Moves, selection: Selection) -> None:
        self._run = run
        self._moves = moves
        self._selection = selection
        self._patience = strategy.patience
        self._effort = strategy.effort
        self._budget = Budget()
        self._one_by_one = run.engine.report is not None or selection.one_by_one
        """Whether trials have to be run one by one, with Python code in between."""
        self.tried = self.improved = 0

    def note(self) -> str:
        """Return the outcome of the escapes in one sentence."""
        ended = "; their budget was used up" if self._budget.spent else ""
        return f"escapes: {self.tried:,} tried, {self.improved:,} improved the score{ended}"

    def __call__(self) -> None:
        """Search greedily from the state, then try the escapes until none improves the score."""
        run = self._run
        run.climb("interleaved", self._moves, self._selection)
        if run.stopped is not None or self._budget.spent:
            return
        if self._effort is not None and self._budget.listed is None:
            self._budget.listed = int(PER_EFFORT * self._effort * run.engine.listed)
        begun: Mark = run.engine.mark()
        self._kept, self._state = begun, run.engine.cpdag
        self._failed: dict[Delete, NodeSet] = {}  # with the nodes whose views the trial examined
        with run.within(self._budget):
            try:
                while self._one_improves():
                    self.improved += 1
            except KeyboardInterrupt:
                run.engine.stopped = "interrupted"
        run.engine.rewind(self._kept)
        run.engine.retell(begun)

    def _one_improves(self) -> bool:
        """Try the escapes in order until one improves the score, and keep the state it leads to."""
        run, engine = self._run, self._run.engine
        escapes = [pair for pair in self._escapes() if pair[1] not in self._failed]
        at = self._fail_in_turn(escapes, 0)
        while at < len(escapes) and run.stopped is None:
            gain, delete = escapes[at]
            touched = 0
            if engine.admits(delete):
                self.tried += 1
                looked_at = self._trial(delete, gain)
                if looked_at is None:
                    changed = changed_views(self._state, engine.cpdag)
                    self._failed = {op: v for op, v in self._failed.items() if not v & changed}
                    self._kept, self._state = engine.mark(), engine.cpdag
                    run.tell(PHASE)
                    return True
                touched = looked_at
            self._failed[delete] = touched
            at = self._fail_in_turn(escapes, at + 1)
        return False

    def _escapes(self) -> list[Escape]:
        """Return the deletes to force, the smallest loss first.

        If the work is bounded and some nodes have too many cliques, only one delete for each edge
        is returned, and none at these nodes.
        """
        deletes = self._run.escapes(self._moves, self._selection)
        capped = self._run.engine.capped_nodes
        if not capped:
            return deletes
        once: dict[tuple[int, int], Escape] = {}
        for gain, delete in deletes:
            x, y = sorted((delete.x, delete.y))
            if not (capped >> x | capped >> y) & 1:
                once.setdefault((x, y), (gain, delete))
        return list(once.values())

    def _trial(self, delete: Delete, gain: float) -> NodeSet | None:
        """Force a delete and search on; if that ends lower, return the nodes examined.

        First the edge may not be inserted again; if no step improved the score without it, only
        the edge itself could be inserted.
        """
        run, engine, mark, total = self._run, self._run.engine, self._kept, self._run.engine.total
        climb = partial(
            run.climb, PHASE, self._moves, self._selection, patience=self._patience, aim=total
        )
        with run.quietly():
            engine.apply(PHASE, delete, gain)
            if climb(bar=(delete.x, delete.y)):
                climb()
        if self._is_better_than(total):
            return None
        touched = engine.touched_since(mark)
        engine.rewind(mark)
        engine.settle()
        run.tell(PHASE)
        return touched

    def _is_better_than(self, total: float) -> bool:
        """Return whether the engine's state has a higher score than the kept state with this total.

        The totals are compared first; a difference that is only rounding is not an improvement.
        """
        engine = self._run.engine
        return (
            engine.total > total + engine.tolerance
            and (end := engine.cpdag) != self._state
            and gain_between(engine, self._state, end) > engine.tolerance
        )

    def _fail_in_turn(self, escapes: list[Escape], at: int) -> int:
        """Run trials natively, from a position in the list on, while they fail.

        Returns the position of the first that does not fail, or was not run.  A trial that does
        not fail is undone too, unless the run was stopped in the middle of it.
        """
        run, engine, remaining = self._run, self._run.engine, escapes[at : at + TRIALS_AT_ONCE]
        if self._one_by_one or not remaining:
            return at
        moves, total = run.allowed(self._moves, self._selection), engine.total
        improves = False  # then this trial is run again
        try:
            with run.phase(PHASE):
                failures = engine.try_escapes(PHASE, remaining, moves, self._patience)
            improves = run.stopped is None and len(failures) < len(remaining)
        finally:
            self.tried += engine.trials - improves
        for (_, delete), touched in zip(remaining, failures, strict=False):
            self._failed[delete] = touched
        if run.stopped is not None and self._is_better_than(total):
            self._kept, self._state = engine.mark(), engine.cpdag
        return at + len(failures)
