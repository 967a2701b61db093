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

Trials from one kept state are independent.  The compiled engine runs them in one loop while they
fail, unless Python code has to run in between: for a progress report or a checkpoint.  With several
jobs they run in parallel, each on its own engine, which is at the kept state.  Trials count
in the order in which one job would have run them, up to the first that does not simply fail; that
one is run again on the engine of the search.  So the result is the same for any number of jobs,
counts included.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet
from sges.operators import Delete
from sges.search.engines import CompiledEngine, Engine
from sges.search.generate import changed_views
from sges.search.moves import Mark, Moves
from sges.search.run import Budget, Run, Selection, gain_between, reapply

if TYPE_CHECKING:
    from sges.engine.core import Journal
    from sges.search.strategy import Strategy

PHASE = "extended"
BETWEEN_REPORTS = 0.1  # seconds
PER_EFFORT = 3  # sets listed by the escapes for each that was listed before, per unit of effort

TRIALS_AT_ONCE = 1_000  # each takes up to a bit per variable until all of them have ended

Escape = tuple[float, Delete]


@dataclass(frozen=True, slots=True)
class Failure:
    """A trial that did not improve the score: the nodes it depends on, and what it evaluated."""

    tried: bool
    touched: NodeSet
    journal: "Journal"


class ExtendedSearch:
    """The escapes of one run; under knowledge a run may search several times."""

    def __init__(self, run: Run, strategy: "Strategy", moves: Moves, selection: Selection) -> None:
        self._run = run
        self._moves = moves
        self._selection = selection
        self._patience = strategy.patience
        self._effort = strategy.effort
        self._budget = Budget(strategy.time_limit, strategy.max_evaluations)
        self._one_by_one = (
            not isinstance(run.engine, CompiledEngine)
            or run.engine.report is not None
            or run.is_recorded
            or selection.one_by_one
        )
        """Whether trials have to be run one by one: in Python, or with Python code in between."""
        self._searches_again = run.constraint is not None and run.constraint.relaxed is not None
        self._mirrors: list[Mirror] = []
        self._until: float | None = None
        self._last_listed: int | None = None
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
            self._make_mirrors()
            try:
                while self._one_improves():
                    self.improved += 1
            except KeyboardInterrupt:
                run.engine.stopped = "interrupted"
        self._mirrors = []
        run.engine.rewind(self._kept)
        run.engine.retell(begun)

    def _one_improves(self) -> bool:
        """Try the escapes in order until one improves the score, and keep the state it leads to."""
        run, engine = self._run, self._run.engine
        escapes = [pair for pair in self._escapes() if pair[1] not in self._failed]
        at = self._fail_at_once(escapes, 0)
        while at < len(escapes) and run.stopped is None:
            gain, delete = escapes[at]
            touched = 0
            if engine.admits(delete):
                self.tried += 1
                looked_at: str | None = run.act("escape", partial(self._trial, delete, gain))
                if looked_at is None:
                    changed = changed_views(self._state, engine.cpdag)
                    self._failed = {op: v for op, v in self._failed.items() if not v & changed}
                    self._kept, self._state = engine.mark(), engine.cpdag
                    run.tell(PHASE)
                    return True
                touched = int(looked_at, 16)
            self._failed[delete] = touched
            at = self._fail_at_once(escapes, at + 1)
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

    def _trial(self, delete: Delete, gain: float) -> str | None:
        """Force a delete and search on; if that ends lower, return the nodes examined."""
        run, engine, mark, total = self._run, self._run.engine, self._kept, self._run.engine.total
        climb = partial(run.climb, PHASE, self._moves, self._selection, patience=self._patience)
        with run.quietly():
            try_escape(engine, delete, gain, climb)
        if self._is_better_than(total):
            return None
        touched = engine.touched_since(mark)
        engine.rewind(mark)
        engine.settle()
        run.tell(PHASE)
        return f"{touched:x}"

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
        """Run some trials natively, from a position in the list on, while they fail.

        Returns the position of the first that does not fail, or was not run.  A trial that does
        not fail is undone too, unless the run was stopped in the middle of it.
        """
        run, engine, remaining = self._run, self._run.engine, escapes[at : at + TRIALS_AT_ONCE]
        assert isinstance(engine, CompiledEngine)
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

    # Several jobs

    def _make_mirrors(self) -> None:
        """Make engines for parallel trials, if these are requested and possible.

        Several threads can read a native score, which never changes; for other scores this is not
        known.  If knowledge is relaxed, the run searches again after the escapes, and the effort
        of that search depends on the gains stored before it, which trials on mirrors do not store.
        """
        run, engine, budget = self._run, self._run.engine, self._budget
        if (
            run.n_jobs > 1
            and not (self._searches_again and self._effort is not None)
            and isinstance(engine, CompiledEngine)
            and engine.native is not None
            and not self._selection.one_by_one
            and budget.evaluations is None
        ):
            if budget.seconds is not None:
                self._until = time.perf_counter() + budget.seconds
            if budget.listed is not None:
                self._last_listed = engine.listed + int(budget.listed)
            moves = run.allowed(self._moves, self._selection)
            self._mirrors = [Mirror(engine, moves, self._patience) for _ in range(run.n_jobs)]

    def _fail_at_once(self, escapes: list[Escape], at: int) -> int:
        """Run trials without Python in between, from a position in the list on, while they fail.

        They run in parallel if there are several jobs.

        Returns the position of the first trial that has to be run on the engine of the search.
        """
        run, remaining = self._run, escapes[at:]
        may_race = run.next_act is None and bool(self._mirrors) and len(remaining) > 1
        if not may_race and run.next_act != "race":
            return at if self._one_by_one or not remaining else self._fail_in_turn(escapes, at)
        failures = run.act("race", lambda: self._race(remaining)) or []
        for (_, delete), (tried, touched) in zip(remaining, failures, strict=False):
            self.tried += tried
            self._failed[delete] = int(touched, 16)
        return at + len(failures)

    def _race(self, escapes: list[Escape]) -> list[tuple[bool, str]]:
        """Try escapes on all mirrors, up to the first trial that does not simply fail.

        Returns for each failed trial whether it was admissible, and the nodes that it examined.
        """
        engine, last = self._run.engine, self._last_listed
        assert isinstance(engine, CompiledEngine)  # only these have mirrors
        for mirror in self._mirrors:
            mirror.follow(engine, self._state)
        end, idle, lock = [len(escapes)], list(self._mirrors), threading.Lock()
        listed = None if last is None else last - engine.listed

        def trial(place: int) -> Failure | None:
            if place >= end[0]:
                return None
            mirror = idle.pop()
            seconds = None if self._until is None else self._until - time.perf_counter()
            failure = mirror.fails(*escapes[place], seconds, listed)
            idle.append(mirror)
            if failure is None:
                with lock:
                    end[0] = min(end[0], place)
            return failure

        with ThreadPoolExecutor(len(self._mirrors)) as pool:
            trials: list[Future[Failure | None]] = []
            try:
                trials += (pool.submit(trial, place) for place in range(len(escapes)))
                while wait(trials, BETWEEN_REPORTS).not_done:
                    self._run.tell(PHASE)
            except BaseException as error:
                end[0] = 0
                for mirror in self._mirrors:
                    mirror.engine.halt()
                if not isinstance(error, KeyboardInterrupt):
                    raise
                engine.stopped = "interrupted"
        taken = []
        for failure in (job.result() for job in trials[: end[0]]):
            assert failure is not None
            if last is not None and engine.listed + failure.journal.listed > last:
                break
            engine.take_over(failure.journal)
            taken.append((failure.tried, f"{failure.touched:x}"))
        return taken


class Mirror:
    """An engine at the kept state of the search, for trials that run in parallel."""

    def __init__(self, leader: CompiledEngine, moves: Moves, patience: float) -> None:
        self.engine = CompiledEngine(
            leader.score,
            leader.native,
            counting=False,
            deadline=leader.deadline,
            constraint=leader.constraint,
        )
        self._moves = moves
        self._patience = patience
        self._steps = -1

    def follow(self, leader: Engine, state: PDAG) -> None:
        """Go to the state of another engine."""
        engine = self.engine
        if self._steps < 0:
            engine.start(state, leader.total)
        elif self._steps < leader.step_count:
            reapply(engine, leader.steps[self._steps :])
        else:
            return
        self._steps, self._state = leader.step_count, state
        self._mark = engine.mark()
        engine.climb(PHASE, self._moves, most=0)

    def fails(
        self, gain: float, delete: Delete, seconds: float | None, listed: int | None
    ) -> Failure | None:
        """Return the failure of a trial; None if it improves the score, or was stopped."""
        engine, total, touched = self.engine, self.engine.total, 0
        engine.begin_trial()
        try:
            tried = engine.admits(delete)
            if tried:
                engine.limit(seconds, listed=listed)
                climb = partial(engine.climb, PHASE, self._moves, patience=self._patience)
                try_escape(engine, delete, gain, climb)
            ended = engine.stopped is None and engine.total <= total + engine.tolerance
            if tried:
                touched = engine.touched_since(self._mark)
        except Exception:  # the engine of the search will meet the same error, and raise it
            ended = False
        journal = engine.end_trial()
        engine.limit()
        engine.rewind(self._mark)
        if engine.stopped is not None:
            return None
        engine.settle()
        return Failure(tried, touched, journal) if ended else None


def try_escape(engine: Engine, delete: Delete, gain: float, climb: Callable[..., bool]) -> None:
    """Apply an escape and search on: first without the edge, then with all inserts.

    If no step improved the score without the edge, only the edge itself could be inserted.
    """
    aim = engine.total
    engine.apply(PHASE, delete, gain)
    if climb(bar=(delete.x, delete.y), aim=aim):
        climb(aim=aim)
