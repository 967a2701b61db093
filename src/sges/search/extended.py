"""Extended search: from a local optimum force a delete, search on, and keep what is better.

The idea of XGES (Nazaret & Blei 2024).  An edge that came early and is wrong may be held by the
edges that came after it: each alone loses when it goes.  So one edge is deleted in spite of its
loss, and the search goes on without it to a local optimum; then the edge may come back, and the
search goes on again.  If that ends higher, the new state is kept; otherwise the search returns to
where it was.

The escapes that lose least are tried first.  One that failed is not tried again before a node
whose view the trial looked at has another view: up to the path condition of inserts, which may
depend on edges far away, the trial would fail as before.

The state that is returned is one at which no operator is left, all inserts and generated deletes
among them, so it has the guarantee of the search that the escapes began from; and the score never
falls from one kept state to the next.
"""

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet
from sges.operators import Delete
from sges.search.engines import Mark
from sges.search.generate import changed_views
from sges.search.moves import Moves
from sges.search.run import Budget, Run, Selection
from sges.search.strategy import Strategy

PHASE = "extended"


class ExtendedSearch:
    """The escapes of one run; under knowledge a run may search several times."""

    def __init__(self, run: Run, strategy: Strategy, moves: Moves, selection: Selection) -> None:
        self._run = run
        self._moves = moves
        self._selection = selection
        self._patience = strategy.patience
        self._effort = strategy.effort
        self._budget = Budget(strategy.time_limit, strategy.max_evaluations)
        self.tried = self.improved = 0

    def note(self) -> str:
        """Return what came of the escapes, in words."""
        ended = "; their budget was used up" if self._budget.spent else ""
        return f"escapes: {self.tried} tried, {self.improved} improved the score{ended}"

    def __call__(self) -> None:
        """Search greedily from the state, then try the escapes until none improves the score."""
        run = self._run
        run.climb("interleaved", self._moves, self._selection)
        if run.stopped is not None or self._budget.spent:
            return
        if self._effort is not None and self._budget.work is None:
            self._budget.work = self._effort * run.engine.work
        self._keep(run.engine.mark())
        self._failed: dict[Delete, NodeSet] = {}  # with the nodes whose views the trial looked at
        with run.within(self._budget):
            while self._one_improves():
                self.improved += 1
        run.engine.rewind(self._kept)

    def _keep(self, mark: Mark) -> None:
        self._kept = mark
        self._state: PDAG = self._run.engine.cpdag

    def _one_improves(self) -> bool:
        run = self._run
        for gain, delete in self._escapes():
            if run.stopped is not None:
                return False
            if delete not in self._failed and self._try(delete, gain):
                return True
        return False

    def _escapes(self) -> list[tuple[float, Delete]]:
        """Return the deletes to force, those that lose least first.

        Where the work is bounded and a state has too many cliques, one for each edge, and none
        at the nodes with too many.
        """
        every = self._run.escapes(self._moves, self._selection)
        capped = self._run.engine.capped_nodes
        if not capped:
            return every
        once: dict[tuple[int, int], tuple[float, Delete]] = {}
        for gain, delete in every:
            x, y = sorted((delete.x, delete.y))
            if not (capped >> x | capped >> y) & 1:
                once.setdefault((x, y), (gain, delete))
        return list(once.values())

    def _try(self, delete: Delete, gain: float) -> bool:
        """Force a delete, search on, and keep where that ends if it is better."""
        run, engine, mark = self._run, self._run.engine, self._kept
        total, touched = engine.total, 0
        if self._is_admissible(delete):
            self.tried += 1
            with run.quietly():
                self._search_on(delete, gain, total)
            if engine.total > total + engine.tolerance and self._is_better():
                self._take_over()
                return True
            touched = engine.touched_since(mark)
            engine.rewind(mark)
            run.tell(PHASE)
        self._failed[delete] = touched
        return False

    def _is_admissible(self, delete: Delete) -> bool:
        constraint = self._run.constraint
        if constraint is None:
            return True
        return constraint.admits(self._run.engine.peek(delete), self._state)

    def _search_on(self, delete: Delete, gain: float, aim: float) -> None:
        """Search from where the escape leads: first without the edge, then with what may come.

        If nothing else improved without the edge, all that could come is the edge itself.
        """
        run, patience = self._run, self._patience
        moves, selection = self._moves, self._selection
        run.engine.apply(PHASE, delete, gain)
        bar = (delete.x, delete.y)
        if run.climb(PHASE, moves, selection, bar=bar, patience=patience, aim=aim):
            run.climb(PHASE, moves, selection, patience=patience, aim=aim)

    def _is_better(self) -> bool:
        """Tell whether a state that seems better is: not by the rounding of many gains."""
        engine = self._run.engine
        end = engine.cpdag
        return end != self._state and engine.gain_between(self._state, end) > engine.tolerance

    def _take_over(self) -> None:
        """Keep the state that was reached."""
        engine = self._run.engine
        changed = changed_views(self._state, engine.cpdag)
        self._failed = {op: seen for op, seen in self._failed.items() if not seen & changed}
        self._keep(engine.mark())
        self._run.tell(PHASE)
