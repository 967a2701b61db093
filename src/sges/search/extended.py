"""Extended search: from a local optimum force a delete, search on, and keep what is better.

The idea of XGES (Nazaret & Blei 2024).  An edge that came early and is wrong may be held by the
edges that came after it: each alone loses when it goes.  So one is taken away in spite of its
loss, and the search goes on without it to a local optimum; then the edge may come back, and the
search goes on again.  If that ends higher, the new state is kept; else the search goes back to
where it was.

Three things make this fast, and one more can:

* One set of sources serves all trials.  A trial touches the views of a few nodes; going back
  makes these again, and every gain is remembered.
* The escapes that lose least are tried first.
* On demand a trial is given up when the best insert regains too small a share of what is lost
  (``patience``): most edges are there for a reason, and what would replace one is many edges that
  gain ever less.
* An escape that failed is not tried again before a node whose view the trial looked at has
  another view.  Up to the path condition of inserts, which may depend on edges far away, the trial
  would fail as before.

The state that is returned is one at which the sources have nothing left, all inserts and
generated deletes among them, so it has the guarantee of the search that the escapes began from;
and the score never falls from one kept state to the next.
"""

from collections.abc import Callable

from sges.graph.pdag import PDAG
from sges.nodeset import NodeSet
from sges.operators.base import Operator
from sges.operators.insert import Insert
from sges.search.budget import Budget, BudgetedRun
from sges.search.escapes import Escapes
from sges.search.run import Mark, TimeUp
from sges.search.source import Scored, Source, stale_views
from sges.search.strategy import Strategy

PHASE = "extended"


class ExtendedSearch:
    """The escapes of one run.

    ``open_sources`` and ``open_escapes`` make the operators of one search: a run under knowledge
    may search several times.
    """

    def __init__(
        self,
        run: BudgetedRun,
        strategy: Strategy,
        open_sources: Callable[[PDAG], Source],
        open_escapes: Callable[[], Escapes],
    ) -> None:
        self._run = run
        self._patience = strategy.patience
        self._budget = Budget(strategy.seconds, strategy.evaluations)
        self._open_sources = open_sources
        self._open_escapes = open_escapes
        self.tried = self.improved = 0

    def note(self) -> str:
        """Return what came of the escapes, in words."""
        ended = "; their budget was used up" if self._budget.spent else ""
        return f"escapes: {self.tried} tried, {self.improved} improved the score{ended}"

    def __call__(self, cpdag: PDAG) -> PDAG:
        """Search greedily from a state, then try the escapes until none improves the score."""
        run = self._run
        cpdag = run.climb("interleaved", cpdag, self._open)
        if run.stopped is not None or self._budget.spent:
            return cpdag
        self._kept = (cpdag, run.mark())  # in one: Ctrl-C may fall between any two stores
        try:
            self._escape()
        except TimeUp:
            run.stopped = "time limit"
        except KeyboardInterrupt:
            run.stopped = "interrupted"
        cpdag, mark = self._kept
        run.rewind(mark)
        return cpdag

    def _open(self, cpdag: PDAG) -> Source:
        self._sources = self._open_sources(cpdag)
        return Trial(self._sources, cpdag)

    def _escape(self) -> None:
        """Try the escapes of the state that is kept until none improves."""
        self._escapes = self._open_escapes()
        self._failed: dict[Operator, NodeSet] = {}  # with the nodes whose views it looked at
        with self._run.within(self._budget):
            while self._one_improves():
                self.improved += 1

    def _one_improves(self) -> bool:
        cpdag, _ = self._kept
        every = [s for s in self._escapes.at(cpdag) if s.operator not in self._failed]
        every.sort(key=lambda scored: (-scored.gain, scored.operator.sort_key()))
        return any(self._run.stopped is None and self._try(escape) for escape in every)

    def _try(self, escape: Scored) -> bool:
        """Force a delete, search on, and keep where that ends if it is better."""
        run = self._run
        start, mark = self._kept
        after = escape.operator.carry_out(start)
        trial = Trial(self._sources, start, escape.operator, self._hopeless(mark))
        if run.constraint is None or run.constraint.admits(after, start):
            self.tried += 1
            with run.hushed():
                end = self._search_on(escape, after, trial)
            if run.total > mark.total + run.tolerance and self._is_better(end):
                self._keep(end)
                return True
            run.rewind(mark)
            self._sources.move_to(start)
            run.report(PHASE)
        self._failed[escape.operator] = trial.touched
        return False

    def _is_better(self, end: PDAG) -> bool:
        """Tell whether a state that seems better is: not by the rounding of many gains."""
        start, _ = self._kept
        return end != start and self._run.gain_between(start, end) > self._run.tolerance

    def _search_on(self, escape: Scored, after: PDAG, trial: "Trial") -> PDAG:
        """Search from where the escape leads: first without the edge, then with what may come.

        If nothing else improved without the edge, all that could come is the edge itself.
        """
        run = self._run
        run.note(PHASE, escape)
        trial.move_to(after)
        end = run.climb(PHASE, after, trial.opened)
        if end is after:
            return end
        trial.lift_bar()
        return run.climb(PHASE, end, trial.opened)

    def _hopeless(self, mark: Mark) -> Callable[[float], bool]:
        run, patience = self._run, self._patience
        return lambda gain: gain < patience * (mark.total - run.total)

    def _keep(self, cpdag: PDAG) -> None:
        before, _ = self._kept
        self._kept = (cpdag, self._run.mark())
        self._run.report(PHASE)
        stale = stale_views(before, cpdag)
        self._failed = {op: seen for op, seen in self._failed.items() if not seen & stale}


class Trial:
    """The shared sources during one trial: what is barred, when to give up, what was looked at.

    ``bar`` is a delete that may not be undone; ``hopeless`` tells of the gain of the best insert
    whether to give up before it.  It never says so of a trial that is above its start already:
    such a trial ends where the sources have nothing left.
    """

    def __init__(
        self,
        sources: Source,
        cpdag: PDAG,
        bar: Operator | None = None,
        hopeless: Callable[[float], bool] = lambda _: False,
    ) -> None:
        self._sources = sources
        self._cpdag = cpdag
        self._bar = {bar.x, bar.y} if bar is not None else set()
        self._hopeless = hopeless
        self._before = sources.considered
        self.touched: NodeSet = 0

    def opened(self, _: PDAG) -> "Trial":
        """Return itself, as the source of the climb that begins now."""
        self._before = self._sources.considered
        return self

    def lift_bar(self) -> None:
        """Let the edge that was barred come back."""
        self._bar = set()
        self._sources.move_to(self._cpdag)  # so that they offer again what was rejected here

    @property
    def considered(self) -> int:
        """How many operators were generated during this climb."""
        return self._sources.considered - self._before

    def best(self) -> Scored | None:
        """Return the best operator that is neither barred nor hopeless."""
        while (found := self._sources.best()) is not None:
            op = found.operator
            if not isinstance(op, Insert):
                return found
            if {op.x, op.y} != self._bar:
                return None if self._hopeless(found.gain) else found
            self._sources.reject(op)
        return None

    def reject(self, operator: Operator) -> None:
        """Offer this operator no more at this state."""
        self._sources.reject(operator)

    def move_to(self, cpdag: PDAG) -> None:
        """Take note of the new state, and of the nodes whose views it changed."""
        self.touched |= stale_views(self._cpdag, cpdag)
        self._cpdag = cpdag
        self._sources.move_to(cpdag)
