# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""The Python interface of the compiled engine; no other file of the search calls Python.

``Core`` owns the state of one run and does the work of ``sges.search.reference`` without the
interpreter, with the GIL released: it climbs, undoes steps, lists escapes, and searches orders.
Callbacks into Python are a score that is not native, the progress report, and a constraint other
than ``IndexedKnowledge``.
"""

from libc.limits cimport INT_MAX
from libc.math cimport isfinite
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from cpython.exc cimport PyErr_CheckSignals
from cpython.pythread cimport PyThread_get_thread_ident

from functools import wraps

import warnings

import numpy as np

from sges.engine.admission cimport recall_admitted
from sges.engine.climb cimport (
    apply_found, climb, close_sources, forget_paths, forget_states, judge_found, offer_again,
    open_sources, refresh, restore_counters, rewind_to, settle, tie_tolerance, try_escapes, try_found,
)
from sges.engine.count cimport begin_journal, count_families, note_base, take_over
from sges.engine.facts cimport facts_of, listed, mask_of
from sges.engine.graph cimport (
    FROM, Graph, LINE, NONE, TO, adjacent, direct, free_graph, kind_of, make_graph, row_of,
    set_edge, take_back,
)
from sges.engine.lists cimport (
    BAD_GAIN, CAN_RUN_OUT, Exit, INTERRUPTED, INVALID, Ints, NO_EXTENSION, NO_MEMORY, OVER_BUDGET,
    RAISED, TIME_UP, Word, add, allocations_left, clear, guarded, has, leave, seconds_now,
    sort_ints,
)
from sges.engine.kept cimport Kept, measure, read_records, write_records
from sges.engine.order cimport (
    Orders, begin_order, find_strengths, free_orders, make_orders, move_round, walk_edges,
)
from sges.engine.records cimport Memory, Note, Record, free_memory, make_memory, record_of
from sges.engine.scores cimport NativeScore, Scorer
from sges.engine.separators cimport begin_separators, find_separators
from sges.engine.search cimport (
    DELETE, Found, INSERT, Lane, Lanes, Moves, Search, Separators, StepOf, TURN, Trials, is_late,
)

from sges.errors import (
    GraphError, InvalidArgument, InvalidOperator, NoConsistentExtension, OutOfBudget, ScoreError,
    SgesError,
)
from sges.graph.pdag import PDAG
from sges.knowledge.indexed import IndexedKnowledge
from sges.nodeset import nodes, show
from sges.operators import Delete, Insert, Turn, by_falling_gain
from sges.result import Step
from sges.score.protocol import as_gains, family_score

cdef double BETWEEN_SIGNALS = 0.02  # seconds
cdef int MOST_NODES = 1 << 24  # with these, the state alone would take 32 TiB

INSERTS = {None: -1, "all": 0, "poly": 1}
KINDS = {Insert: INSERT, Delete: DELETE, Turn: TURN}

# Frozen values are filled slot by slot here: their constructors take many times as long, and a
# search of a few milliseconds makes hundreds of steps.
OPERATORS = tuple((kind, kind.set_name.lower()) for kind in (Insert, Delete, Turn))

cdef extern from "Python.h":
    int fill "PyObject_GenericSetAttr"(object value, object name, object content) except -1


def alone(method):
    """Decorate a method: raise an error while a thread or callback is using the engine."""

    @wraps(method)
    def refusing(self, *arguments, **options):
        (<Core>self)._enter(False)
        try:
            return method(self, *arguments, **options)
        finally:
            (<Core>self)._exit()

    return refusing


cdef class Journal:
    """The families that one trial evaluated, until the engine that counts them has added them."""

    cdef object owner  # the engine whose memory the notes point to
    cdef Note *notes
    cdef int count
    cdef readonly long long considered
    cdef readonly long long listed

    def __dealloc__(self):
        free(self.notes)


cdef class Core:
    """The state of one run, and the greedy work on it."""

    cdef Search s
    cdef bint made
    cdef long thread  # the thread that uses the engine now
    cdef int depth  # how many of its methods are running, one inside the other
    cdef bint running  # whether Python code can run only as a callback
    cdef readonly int n
    cdef readonly object score
    cdef public object stopped
    cdef readonly NativeScore native
    cdef readonly object deadline
    cdef object _constraint
    cdef object _report
    cdef object _error
    cdef object _admitted
    cdef list _phases
    cdef list _values
    cdef object _names
    cdef object _moves
    cdef object _insert_gains
    cdef object _delete_gains

    def __cinit__(self, score, native, *args, **kwargs):
        cdef int n
        cdef Search *s = &self.s
        cdef int *views
        if not 0 <= score.n <= MOST_NODES:
            raise ScoreError(f"a score of {score.n} variables: at most {MOST_NODES} can be searched")
        n = score.n
        memset(s, 0, sizeof(Search))
        self.n = n
        s.bar_x = s.bar_y = -1
        s.capped = s.most_listed = -1
        s.deadline = s.until = -1.0
        s.owner = <void *>self
        self.made = make_graph(&s.g, &s.exit, n) and make_memory(&s.m, &s.exit, n)
        s.is_stale = <unsigned int *>calloc(<size_t>n + 1, sizeof(int))
        s.is_turned = <bint *>calloc(<size_t>n + 1, sizeof(bint))
        s.met = <unsigned int *>calloc(2 * <size_t>n + 2, sizeof(int))
        s.came_from = <int *>calloc(2 * <size_t>n + 2, sizeof(int))
        s.through = <Ints *>calloc(<size_t>n + 1, sizeof(Ints))
        s.views = <int **>calloc(3, sizeof(int *))
        views = <int *>calloc(3 * <size_t>n + 3, sizeof(int))
        s.allowed = <Word *>calloc(<size_t>s.g.words + 2, sizeof(Word))
        s.removal = <double *>calloc(<size_t>n + 1, sizeof(double))
        s.removal_view = <long long *>calloc(<size_t>n + 1, sizeof(long long))
        s.far = <Word *>calloc(<size_t>s.g.words + 2, sizeof(Word))
        s.independent = <Word *>calloc(<size_t>s.g.words + 2, sizeof(Word))
        s.visited = <Word *>calloc(<size_t>s.g.words + 2, sizeof(Word))
        if (
            not self.made or s.is_stale == NULL or s.is_turned == NULL or s.met == NULL
            or s.through == NULL or s.views == NULL or views == NULL or s.came_from == NULL
            or s.allowed == NULL or s.far == NULL or s.independent == NULL or s.visited == NULL
            or s.removal == NULL or s.removal_view == NULL
        ):
            free(views)
            raise MemoryError(f"a search over {n} variables needs more memory than is available")
        s.met_back = s.met + n
        s.goes_to = s.came_from + n
        s.views[0] = views
        s.views[1] = views + n
        s.views[2] = views + 2 * n
        s.stale_stamp = s.walks = 1
        s.m.owner = <void *>self
        s.m.check = check
        s.m.ask = ask_python
        s.after_step = after_step
        s.admits = admits
        s.direct_members = direct_members
        self._phases = []

    def __init__(self, score, native, *, counting=True, deadline=None, report=None,
                 constraint=None):
        import time

        if self._values is not None:
            raise SgesError("an engine is made once; make another one for another search")
        self.score = score
        self.native = native
        self.s.m.counting = counting
        if native is not None:
            if self.native.n != self.n:
                raise ScoreError(
                    f"a score of {self.n} variables cannot be read as one of {self.native.n}"
                )
            self.native.open(&self.s.m.scorer)
            self.s.m.native = True
        else:
            self._insert_gains = getattr(score, "insert_gains", None)
            self._delete_gains = getattr(score, "delete_gains", None)
        self._values = [{} for _ in range(self.n)]
        self.deadline = deadline
        if deadline is not None:
            self.s.deadline = max(seconds_now() + deadline - time.perf_counter(), 0.0)
        self.report = report
        self.constraint = constraint

    def __dealloc__(self):
        cdef Search *s = &self.s
        cdef int i
        if s.m.native and s.m.scorer.close != NULL:
            s.m.scorer.close(s.m.scorer.self)
        if self.made and s.through != NULL:
            close_sources(s)
        free_memory(&s.m)
        free_graph(&s.g)
        free_orders(<Orders *>s.orders)
        for i in range(s.spares):
            free(s.spare[i])
        free(s.spare)
        free(s.near.node.at)
        free(s.near.rows)
        free(s.near.stack)
        free(s.near.path.at)
        free(s.near.maximal)
        free(s.near.sizes.at)
        free(s.near.most.at)
        free(s.near.xs.at)
        free(s.near.na)
        free(s.stale.at)
        free(s.is_stale)
        free(s.is_turned)
        free(s.met)
        free(s.came_from)
        if s.through != NULL:
            for i in range(self.n):
                free(s.through[i].at)
        free(s.through)
        if s.views != NULL:
            free(s.views[0])
        free(s.views)
        free(s.front.at)
        free(s.back.at)
        free(s.path.at)
        free(s.barrier)
        free(s.unbarred.at)
        free(s.touched.at)
        free(s.lost.at)
        free(s.turned.at)
        free(s.rejected_turns.at)
        free(s.allowed)
        free(s.far)
        free(s.independent)
        free(s.visited)
        free(s.base.at)
        free(s.also.at)
        free(s.members.at)
        free(s.ranking.at)
        free(s.rank.at)
        free(s.stack.at)
        free(s.order.at)
        free(s.best_set.at)
        free(s.found.set.at)
        free(s.steps)
        free(s.step_sets.at)
        free(s.left)
        free(s.removal)
        free(s.removal_view)
        free(s.barred)
        free(s.fixed)
        free(s.separators.wanted)
        free(s.separators.evidence)
        free(s.separators.sets)
        free(s.separators.chosen.at)
        free(s.trials.x)
        free(s.trials.gain)
        free(s.trials.sets.at)
        free(s.trials.touched)

    # The state and the settings of the run

    @property
    def total(self):
        """The score of the state: that of the start and the gains of the steps."""
        return self.s.total

    @property
    def edges(self):
        """The number of edges of the state."""
        return self.s.g.edges

    @property
    def considered(self):
        """How many operators were generated."""
        return self.s.considered

    @property
    def step_count(self):
        """How many steps lead to the state."""
        return self.s.step_count

    @property
    def work(self):
        """Gains computed, sets listed and nodes visited: the same on every machine."""
        return self.s.m.work

    @property
    def listed(self):
        """How many sets of neighbors and turns were listed: the work of generating operators.

        Unlike ``work`` it does not depend on which gains are stored.
        """
        return self.s.listed

    @property
    def capped(self):
        """The number of steps after which operators were first left out; None if none were."""
        return None if self.s.capped < 0 else self.s.capped

    @capped.setter
    def capped(self, value):
        self.s.capped = -1 if value is None else value

    @property
    def capped_nodes(self):
        """The nodes of the state at which some inserts are left out, as a mask."""
        cdef int v
        if self.s.inserts.is_capped == NULL or self.s.inserts.of == NULL:
            return 0
        one = 1
        return sum([one << v for v in range(self.n) if self.s.inserts.is_capped[v]])

    @property
    def came_back(self):
        """Whether a climb ended because a step led back to a class that it had left."""
        return bool(self.s.came_back)

    @property
    def evaluations(self):
        """The number of unique families evaluated so far; None if they are not counted."""
        if not self.s.m.counting:
            return None
        return self._families()

    @property
    def tolerance(self):
        """How far apart two gains may be and still tie."""
        return tie_tolerance(self.s.total)

    @property
    def report(self):
        """Called with the name of the phase at its start and after each step; None for no callback."""
        return self._report

    @report.setter
    def report(self, value):
        self._report = value
        self.s.has_report = value is not None

    @property
    def constraint(self):
        """The background knowledge in force, or None."""
        return self._constraint

    @constraint.setter
    def constraint(self, value):
        self._bind(value)

    @alone
    def _bind(self, value):
        cdef Search *s = &self.s
        cdef size_t cells = <size_t>self.n * s.g.words
        cdef Word *barred = NULL
        cdef Word *fixed = NULL
        cdef int i
        try:
            if value is not None:
                barred = <Word *>calloc(cells + 1, sizeof(Word))
                fixed = <Word *>calloc(cells + 1, sizeof(Word))
                if barred == NULL or fixed == NULL:
                    raise MemoryError
                fill_rows(barred, value.barred, self.n, "barred")
                fill_rows(fixed, value.fixed, self.n, "fixed")
            close_sources(s)
            self._constraint = value
            self._admitted = None
            s.has_constraint = value is not None
            s.calls_admits = type(value) is not IndexedKnowledge
            s.admitted_at = -1
            for i in range(s.step_count):
                s.steps[i].admitted_at = -1
            s.barred, barred = barred, s.barred
            s.fixed, fixed = fixed, s.fixed
        finally:
            free(barred)
            free(fixed)

    @property
    def cpdag(self):
        """The state as a ``PDAG``."""
        self._enter(True)
        try:
            outs, intos = self._rows()
        finally:
            self._exit()
        return PDAG(outs, intos, self._names)

    cdef tuple _rows(self):
        """Return where the edges of each node lead to and come from, as masks."""
        cdef Graph *g = &self.s.g
        cdef size_t size = <size_t>g.words * sizeof(Word)
        cdef int v, i
        row = bytearray(size + sizeof(Word))
        cdef unsigned char[::1] view = row
        cdef Word *into = <Word *>&view[0]
        outs, intos = [], []
        for v in range(g.n):
            outs.append(int.from_bytes((<char *>row_of(g, v))[:size], "little"))
            clear(into, g.words)
            for i in range(g.parents[v].size):
                add(into, g.parents[v].at[i])
            for i in range(g.neighbors[v].size):
                add(into, g.neighbors[v].at[i])
            intos.append(int.from_bytes((<char *>into)[:size], "little"))
        return tuple(outs), tuple(intos)

    def member(self):
        """Return the parents of each node in one member of the class, as masks."""
        cdef Graph *g = &self.s.g
        cdef int v
        self._do(direct_all)
        return [mask_of(g.dag_parents[v].at, g.dag_parents[v].size) for v in range(self.n)]

    def member_score(self, without_edges=None):
        """Return the sum of the scores of the families of one member, not counted."""
        cdef Graph *g = &self.s.g
        cdef Scorer *scorer = &self.s.m.scorer
        cdef Ints *parents
        cdef int v
        cdef double total
        if not self.s.m.native or scorer.family == NULL:
            return sum([self._value(v, above) for v, above in enumerate(self.member())])
        self._do(direct_all)
        if without_edges is None:
            without_edges = sum([self.score.local(v, 0) for v in range(self.n)])
        total = without_edges
        for v in range(self.n):
            parents = &g.dag_parents[v]
            sort_ints(parents.at, parents.size)  # so that rounding depends on the class alone
            total += scorer.family(scorer.self, v, parents.at, parents.size)
        return total

    @property
    def steps(self):
        """The steps that lead to the state."""
        self._enter(True)
        try:
            return self._list_steps()
        finally:
            self._exit()

    cdef list _list_steps(self):
        cdef int i
        cdef StepOf *step
        new = object.__new__
        found = []
        for i in range(self.s.step_count):
            step = &self.s.steps[i]
            kind, chosen = OPERATORS[step.kind]
            operator = new(kind)
            fill(operator, "x", step.x)
            fill(operator, "y", step.y)
            fill(operator, chosen, mask_of(self.s.step_sets.at + step.first, step.size))
            told = new(Step)
            fill(told, "phase", self._phases[step.phase])
            fill(told, "operator", operator)
            fill(told, "gain", step.gain)
            fill(told, "score", step.total)
            fill(told, "edges", step.edges)
            fill(told, "separator", None)
            found.append(told)
        return found

    # Moving between states

    @alone
    def start(self, cpdag, double total):
        """Take a CPDAG as the state, and its score as the total."""
        cdef Graph *g = &self.s.g
        cdef int v
        if not isfinite(total):
            raise ScoreError(f"the score of the start is {total}; a score must be finite")
        if not len(cpdag.out) == len(cpdag.into) == self.n:
            raise GraphError(f"a start of {len(cpdag.out)} nodes; the score has {self.n}")
        close_sources(&self.s)
        edges = []
        for v in range(self.n):
            out, into = cpdag.out[v], cpdag.into[v]
            if (out | into) >> self.n:
                raise GraphError(f"node {v} of the start has an edge beyond 0..{self.n - 1}")
            for u in nodes((out | into | adjacents(g, v)) >> (v + 1) << (v + 1)):
                edges += v, u, (out >> u & 1) * TO | (into >> u & 1) * FROM
        fill_list(&self.s.order, edges)
        self._do(load)
        self._names = cpdag.names
        self._admitted = None
        self.s.admitted_at = -1
        self.s.total = self.s.start_total = total

    @alone
    def climb(self, str phase, moves, *, bar=None, double patience=0.0, double aim=0.0, most=None):
        """Take the best operator until there is none; return whether any step was taken."""
        if self.stopped is not None:
            return False
        x, y = (-1, -1) if bar is None else bar
        if bar is not None:
            self._require_node(x)
            self._require_node(y)
        most = as_bound("most", most)
        self._open(phase, moves)
        self.s.patience = patience
        self.s.aim = aim
        self.s.next_bar_x, self.s.next_bar_y = x, y
        self.s.most_steps = most
        self.s.moved = False
        self._do(climb)
        return self.s.moved

    @alone
    def apply(self, str phase, operator, double gain):
        """Apply one valid operator."""
        if not isfinite(gain):
            raise ScoreError(f"{operator} gains {gain}; a score must be finite for every family")
        self.s.phase = self._phase(phase)
        self.s.found.gain = gain
        self._do_with(operator, apply_found)

    @alone
    def peek(self, operator):
        """Return the class to which one valid operator leads, without changing the state."""
        self._do_with(operator, try_found)
        outs, intos = self._rows()
        take_back(&self.s.g, self.s.g.settled)
        return PDAG(outs, intos, self._names)

    @alone
    def admits(self, operator):
        """Return whether knowledge admits the class to which one valid operator leads."""
        self._do_with(operator, judge_found)
        return bool(self.s.found_is_admitted)

    cdef int _do_with(self, operator, void (*work)(void *) noexcept nogil) except -1:
        """Run a function on an operator; raise an error if the operator is not valid."""
        cdef Found *found = &self.s.found
        kind, x, y, chosen = KINDS.get(type(operator)), operator.x, operator.y, operator.chosen
        if kind is None:
            raise InvalidOperator(f"{operator!r}: it must be an Insert, a Delete or a Turn")
        if not (0 <= x < self.n and 0 <= y < self.n) or x == y or chosen >> self.n:
            raise InvalidOperator(f"{operator}: {operator.problem(self.cpdag)}")
        fill_list(&found.set, list(nodes(chosen)))
        found.kind, found.x, found.y = kind, x, y
        if self._do(work) == INVALID:
            raise InvalidOperator(f"{operator}: {operator.problem(self.cpdag)}")
        return 0

    def mark(self):
        """Return the current point of the run."""
        self._enter(True)
        self._exit()
        return (
            self.s.g.settled, self.s.step_count, self.s.touched.size, self.s.capped, self.s.total
        )

    @alone
    def rewind(self, mark):
        """Go back to an earlier point: the steps since are not part of the result."""
        self._require_mark(mark)
        (
            self.s.back_to, self.s.back_steps, self.s.back_touched, self.s.back_capped,
            self.s.back_total,
        ) = mark
        self._do(rewind)
        self._admitted = None

    @alone
    def settle(self):
        """Bring the operators up to date with the state; this is not counted."""
        self._do(settle)

    @alone
    def forget_paths(self):
        """Forget the paths that were found; then the work of a climb depends on the state alone."""
        self._do(forget_paths)

    cdef int _require_mark(self, mark) except -1:
        """Raise an error if a mark is not a point on the path to the state."""
        cdef int steps
        cdef Search *s = &self.s
        if isinstance(mark, tuple) and len(mark) == 5 and 0 <= mark[1] <= s.step_count:
            steps = mark[1]
            if (
                mark[0] == (s.steps[steps - 1].changes if steps else 0)
                and mark[4] == (s.steps[steps - 1].total if steps else s.start_total)
                and (s.steps[steps - 1].touched if steps else 0) <= mark[2]
                and mark[2] <= (s.steps[steps].touched if steps < s.step_count else s.touched.size)
            ):
                return 0
        raise InvalidArgument(f"{mark!r} is not a point on the way to the state; mark() gives one")

    @alone
    def touched_since(self, mark):
        """Return the nodes whose view changed at some step since a mark."""
        cdef int i
        self._require_mark(mark)
        row = bytearray(((<size_t>self.s.g.words) + 1) * sizeof(Word))
        cdef unsigned char[::1] view = row
        for i in range(<int>mark[2], self.s.touched.size):
            add(<Word *>&view[0], self.s.touched.at[i])
        return int.from_bytes(row, "little")

    @alone
    def escapes(self, moves):
        """Return (gain, delete) for every generated delete, best first, each x — y once.

        Those that a climb has just rejected are among them, as in a run that begins here.
        """
        if not moves.deletes:
            return []
        self._open(None, moves)
        self._do(offer_all)
        if self.stopped is not None:
            return []
        self.running = True  # the listed operators must not change
        try:
            once = self._list_deletes()
        finally:
            self.running = False
        return by_falling_gain((gain, delete) for delete, gain in once.items())

    cdef dict _list_deletes(self):
        cdef Search *s = &self.s
        cdef Lanes *lanes
        cdef Lane *lane
        cdef Ints *neighbors
        cdef int y, i, j, k, x, v
        once = {}
        one = 1  # a Python integer: masks may be longer than a machine word
        for y in range(self.n):
            neighbors = &s.g.neighbors[y]
            lanes = &s.deletes.of[y]
            for i in range(lanes.size):
                if is_late(s):
                    self.stopped = "time limit"
                    return {}
                lane = &lanes.at[i]
                for k in range(lane.record.size):
                    if not has(lane.allowed, k):
                        continue
                    x = lane.record.base[k]
                    h = 0
                    for j in range(neighbors.size):
                        v = neighbors.at[j]
                        if v != x and adjacent(&s.g, v, x) and not is_kept(lanes, lane, v):
                            h |= one << v
                    if x > y and kind_of(&s.g, x, y) == LINE:
                        delete = Delete(y, x, h)
                    else:
                        delete = Delete(x, y, h)
                    once.setdefault(delete, lane.record.deletes[k])
        return once

    @alone
    def try_escapes(self, str phase, escapes, moves, double patience):
        """Try escapes in turn, each from the state, up to the first that seems to improve the score.

        ``escapes`` are gains and deletes.  Each is applied, and the search goes on from there: first
        without the edge, then with all inserts (``sges.search.extended.try_escape``).  Returns the
        nodes whose views changed, as masks, for each trial that failed.  The engine is then where it
        was, unless it was stopped in the middle of a trial.
        """
        cdef Trials *t = &self.s.trials
        if self.stopped is not None:
            return []
        self._open(phase, moves)
        self.s.patience = patience
        self._take_trials(escapes)
        if self._do(try_escapes) == INVALID:
            raise InvalidOperator(f"{escapes[t.done][1]}: it is not valid at the state")
        return self._failed_trials()

    cdef int _take_trials(self, escapes) except -1:
        """Copy escapes to where the engine reads them."""
        cdef Trials *t = &self.s.trials
        cdef size_t count = len(escapes)
        cdef int i
        free(t.x)
        free(t.gain)
        free(t.touched)
        t.count = t.done = t.tried = 0
        t.x = <int *>calloc(3 * count + 1, sizeof(int))
        t.gain = <double *>calloc(count + 1, sizeof(double))
        t.touched = <Word *>calloc(count * self.s.g.words + 1, sizeof(Word))
        if t.x == NULL or t.gain == NULL or t.touched == NULL:
            raise MemoryError
        t.y = t.x + count
        t.first = t.x + 2 * count
        sets = []
        for i, (gain, delete) in enumerate(escapes):
            self._require_node(delete.x)
            self._require_node(delete.y)
            if delete.x == delete.y or delete.h >> self.n:
                raise InvalidOperator(f"{delete}: {delete.problem(self.cpdag)}")
            t.x[i], t.y[i], t.gain[i] = delete.x, delete.y, gain
            sets += nodes(delete.h)
            t.first[i + 1] = len(sets)
        fill_list(&t.sets, sets)
        t.count = count
        return 0

    cdef list _failed_trials(self):
        cdef Trials *t = &self.s.trials
        cdef size_t size = <size_t>self.s.g.words * sizeof(Word)
        cdef int i
        return [
            int.from_bytes((<char *>(t.touched + <size_t>i * self.s.g.words))[:size], "little")
            for i in range(t.done)
        ]

    @property
    def trials(self):
        """How many escapes the last ``try_escapes`` has tried: those that knowledge admits."""
        return self.s.trials.tried

    # The score

    @alone
    def local(self, y, parents):
        """Return the score of one family, counted."""
        self._require_node(y)
        if parents < 0 or parents >> self.n or parents >> y & 1:
            raise ScoreError(
                f"local({y}, {parents:#b}): parents are other nodes of 0..{self.n - 1}"
            )
        if self.s.m.counting:
            fill_list(&self.s.order, list(nodes(parents)))
            self.s.counted = y
            self._do(count_family)
        value = self._value(y, parents)
        if value - value != 0.0:
            raise ScoreError(
                f"local({y}, {parents:#b}) is {value}; a score must be finite for every family"
            )
        return value

    @alone
    def separators(self, order, wanted):
        """Return (x, y, M, evidence) for pairs that a set M of ``order`` nodes separates."""
        cdef Separators *found = &self.s.separators
        cdef int x, y, k
        size = as_bound("order", order)
        if size >= self.n:
            return []
        found.order = size
        self.s.tolerance = self.tolerance
        self._do(begin_separators)
        fill_rows(found.wanted, wanted, self.n, "wanted")
        self._do(find_separators)
        listed_pairs = []
        for x in range(self.n):
            for y in range(self.n):
                if has(found.wanted + <size_t>y * self.s.g.words, x):
                    k = y * self.n + x
                    if found.evidence[k] > 0.0:
                        base = mask_of(found.sets + <size_t>k * found.order, found.order)
                        listed_pairs.append((x, y, base, found.evidence[k]))
        return listed_pairs

    @alone
    def limit(self, seconds=None, evaluations=None, work=None, listed=None):
        """Limit seconds, evaluated families, work and listed sets from now on; None is no limit.

        When the limit is reached, ``OutOfBudget`` is raised.
        """
        cdef double until = -1.0 if seconds is None else seconds_now() + seconds
        cdef long long most = -1, counted = 0, most_work = -1
        if work is not None:
            most_work = max(0, min(self.s.m.work + work, <long long>1 << 60))
        if evaluations is not None:
            counted = self._families()
            most = counted + max(-1 - counted, min(evaluations, <long long>1 << 60))
            self.s.m.exact = counted
            self.s.m.fresh = 0
        self.s.until = until
        self.s.m.most = most
        self.s.m.most_work = most_work
        self.s.most_listed = -1
        if listed is not None:
            self.s.most_listed = max(0, min(self.s.listed + listed, <long long>1 << 60))

    # Trials that run at once

    @alone
    def begin_trial(self):
        """Begin to record the families that are evaluated, including those evaluated before."""
        self.s.considered = self.s.listed = 0
        self._do(begin_trial)

    @alone
    def end_trial(self):
        """Return the families evaluated and the operators and sets listed since the trial began."""
        cdef Journal journal = Journal()
        cdef Memory *m = &self.s.m
        m.journaling = False
        journal.owner = self
        journal.count = m.note_count
        journal.notes = <Note *>malloc((<size_t>m.note_count + 1) * sizeof(Note))
        if journal.notes == NULL:
            raise MemoryError
        if m.note_count:
            memcpy(journal.notes, m.notes, <size_t>m.note_count * sizeof(Note))
        journal.considered = self.s.considered
        journal.listed = self.s.listed
        return journal

    @alone
    def take_over(self, Journal journal):
        """Count the families and operators of a trial on another engine as those of this one."""
        if self.s.m.counting:
            self.s.journal = journal.notes
            self.s.journal_size = journal.count
            self._do(take_journal)
        self.s.considered += journal.considered
        self.s.listed += journal.listed

    @alone
    def retell(self, mark):
        """Recompute the gains of the steps since a mark, each from its own families only.

        A native score reuses its previous computation, so the last digits of its gains depend on
        the order of evaluation.  Those of a result must not.
        """
        cdef int i, first
        cdef StepOf *step
        self._require_mark(mark)
        first = mark[1]
        if self.native is None or first == self.s.step_count:
            return
        told = []
        for i in range(first, self.s.step_count):
            step = &self.s.steps[i]
            chosen = [self.s.step_sets.at[step.first + k] for k in range(step.size)]
            told.append((step.phase, step.kind, step.x, step.y, chosen))
        close_sources(&self.s)
        capped = self.s.capped
        self.rewind(mark)
        for phase, kind, x, y, chosen in told:
            fill_list(&self.s.found.set, chosen)
            self.s.phase = phase
            self.s.found.kind, self.s.found.x, self.s.found.y = kind, x, y
            self.s.found.gain = self._own_gain(kind, x, y, chosen)
            self._do(apply_found)
        self.s.capped = capped

    cdef double _own_gain(self, int kind, int x, int y, list chosen) except? -1.0:
        """Return the gain of an operator at the state from its families alone."""
        cdef Graph *g = &self.s.g
        above = set(listed(&g.parents[y]))
        near = {v for v in listed(&g.neighbors[y]) if v != x and adjacent(g, v, x)}
        if kind == DELETE:
            return self._removal(y, above | (near - set(chosen)) | {x}, x)
        if kind == INSERT:
            return -self._removal(y, above | near | set(chosen) | {x}, x)
        beside = set(listed(&g.neighbors[x])) & set(chosen)
        return -self._removal(y, above | set(chosen) | {x}, x) + self._removal(
            x, set(listed(&g.parents[x])) | beside | {y}, y
        )

    cdef double _removal(self, int y, set parents, int x) except? -1.0:
        base = sorted(parents)
        return self.native.delete_gains(y, base)[base.index(x)]

    def halt(self):
        """Stop the engine, as if its time were up; any thread may call this."""
        self.s.deadline = 0.0

    cdef object _families(self):
        """Count the unique families that were evaluated so far."""
        cdef long long count
        self._enter(True)
        try:
            with nogil:
                count = count_families(&self.s.m)
        finally:
            self._exit()
        if count < 0:
            raise MemoryError("memory ran out in counting score evaluations")
        return count

    # Runs that are resumed

    @property
    def counters(self):
        """The operators generated, sets listed and work done so far, and the tolerance in use."""
        return self.s.considered, self.s.listed, self.s.m.work, self.s.tolerance

    @counters.setter
    def counters(self, value):
        considered, listed, work, tolerance = value
        self.s.considered, self.s.listed, self.s.m.work = considered, listed, work
        self.s.tolerance = tolerance

    @property
    def open_moves(self):
        """The moves whose operators are listed and up to date; None if there are none."""
        return self._moves if self.s.is_open and self.s.stale.size == 0 else None

    @alone
    def ask_afresh(self):
        """Let a native score discard the previous computation that it builds on.

        Its next gains then do not depend, to the last digit, on what was computed before.
        """
        cdef Scorer fresh
        if not self.s.m.native:
            return
        self.native.open(&fresh)
        if self.s.m.scorer.close != NULL:
            self.s.m.scorer.close(self.s.m.scorer.self)
        self.s.m.scorer = fresh

    def reopen(self, moves):
        """List the operators of the state; this is not counted."""
        counters = self.counters
        self.climb("", moves, most=0)
        self.counters = counters

    @alone
    def memory(self):
        """Return the evaluated families and all gains of the run; for ``remember``."""
        cdef Memory *m = &self.s.m
        cdef Kept kept
        measure(&kept, m)
        ints = np.empty(kept.int_count + 1, np.int32)
        floats = np.empty(kept.float_count + 1, np.float64)
        words = np.empty(kept.word_count + 1, np.uint64)
        place(&kept, ints, floats, words)
        with nogil:
            write_records(&kept)
        return ints[: kept.int_count], floats[: kept.float_count], words[: kept.word_count]

    @alone
    def remember(self, ints, floats, words):
        """Restore the families and gains that ``memory`` returned, before any are evaluated."""
        cdef Kept kept
        cdef int status
        if self.s.m.size:
            raise SgesError("stored gains can be loaded only before the score is first evaluated")
        all_ints = np.append(np.asarray(ints, np.int32), np.int32(0))
        all_floats = np.append(np.asarray(floats, np.float64), 0.0)
        all_words = np.append(np.asarray(words, np.uint64), np.uint64(0))
        kept.m = &self.s.m
        kept.int_count, kept.float_count, kept.word_count = len(ints), len(floats), len(words)
        place(&kept, all_ints, all_floats, all_words)
        with nogil:
            status = guarded(&self.s.exit, read_records, &kept)
        if status:
            raise MemoryError
        if kept.bad:
            raise InvalidArgument("the stored gains do not match the variables of the score")

    # Orders

    @alone
    def strengths(self):
        """Return for each node the sum of the gains of all edges into it, except required ones."""
        found = np.zeros(self.n + 1)
        cdef double[::1] view = found
        self.s.strengths = &view[0]
        try:
            self._do(find_strengths)
        finally:
            self.s.strengths = NULL
        return found[: self.n].tolist()

    @alone
    def order_begin(
        self, order, allowed, required, later, double reach, max_indegree=None, ranking=None
    ):
        """Begin a search among orders with this one, in which nodes move by the ranking."""
        cdef Orders *o = <Orders *>self.s.orders
        max_indegree = as_bound("max_indegree", max_indegree)
        ranking = list(range(self.n) if ranking is None else ranking)
        self._require_order(ranking)
        if o == NULL:
            o = make_orders(self.n)
            if o == NULL:
                raise MemoryError
            self.s.orders = o
        o.epoch += 1
        fill_rows(o.allowed, allowed, self.n, "allowed")
        fill_rows(o.required, required, self.n, "required")
        fill_rows(o.later, later, self.n, "later")
        o.has_required = any(required)
        o.has_later = any(later)
        o.max_parents = max_indegree
        o.reach = reach
        o.tolerance = self.tolerance
        for i, v in enumerate(ranking):
            o.ranking[i] = v
        self.order_set(order)

    @alone
    def order_set(self, order):
        """Continue with another order."""
        self._take_order(order)
        self._do(begin_order)

    cdef int _take_order(self, order) except -1:
        cdef Orders *o = <Orders *>self.s.orders
        cdef int i
        if o == NULL:
            raise InvalidArgument("no search among orders was begun; order_begin does that")
        self._require_order(order)
        for i, v in enumerate(order):
            o.order[i] = v
        return 0

    cdef int _require_order(self, order) except -1:
        if sorted(order) != list(range(self.n)):
            raise InvalidArgument(f"an order names each of 0..{self.n - 1} once")
        return 0

    @alone
    def order_round(self, limit=None):
        """Move each node to its best place in turn; return whether any moved."""
        cdef Orders *o = <Orders *>self.s.orders
        if o == NULL:
            raise InvalidArgument("no search among orders was begun; order_begin does that")
        o.limit = -1 if limit is None else limit
        o.moved = False
        self._do(move_round)
        self.s.considered += o.places
        o.places = 0
        return o.moved

    @alone
    def order_state(self):
        """Return the order, the parents of each node, and their gain."""
        cdef Orders *o = <Orders *>self.s.orders
        cdef size_t size = <size_t>self.s.g.words * sizeof(Word)
        cdef int v
        if o == NULL:
            raise InvalidArgument("no search among orders was begun; order_begin does that")
        parents = [
            int.from_bytes((<char *>o.chosen[v].parents)[:size], "little") for v in range(self.n)
        ]
        gain = 0.0
        for v in range(self.n):
            gain += o.chosen[v].gain
        self.s.walking_time = 0.0  # the walk follows now, if there is one
        return [o.order[v] for v in range(self.n)], parents, gain

    @alone
    def walk(self, str phase, member, goal, order):
        """Go from a member of the state to another DAG, edge by edge; not counted."""
        cdef Orders *o = <Orders *>self.s.orders
        self._take_order(order)
        fill_rows(o.member, [member.parents(v) for v in range(self.n)], self.n, "member")
        fill_rows(o.goal, [goal.parents(v) for v in range(self.n)], self.n, "goal")
        close_sources(&self.s)
        self.s.phase = self._phase(phase)
        self._do(walk_edges)

    # Inside

    cdef int _enter(self, bint reading) except -1:
        """Raise an error if the engine is in use; callbacks may call methods that only read."""
        cdef long thread = PyThread_get_thread_ident()
        if self.depth and thread != self.thread:
            raise SgesError("another thread uses this engine; give each thread a search of its own")
        if self.running and not reading:
            raise SgesError(
                "the engine is running: a score, progress callback or constraint that it calls must not "
                "start a search on it"
            )
        self.thread = thread
        self.depth += 1
        return 0

    cdef void _exit(self):
        self.depth -= 1

    cdef int _require_node(self, v) except -1:
        if not 0 <= v < self.n:
            raise InvalidArgument(f"node {v} is out of range; nodes are 0..{self.n - 1}")
        return 0

    @alone
    def _facts(self):
        """Return what is stored for the state, for tests of its invariants."""
        return {"rows": self._rows(), **facts_of(&self.s)}

    def _run_out_after(self, long long allocations):
        """In a build for tests, let the allocation after this many fail; -1 for none."""
        global allocations_left
        if not CAN_RUN_OUT:
            raise NotImplementedError("only a build with SGES_TEST_MEMORY can run out of memory")
        allocations_left = allocations

    cdef int _phase(self, phase) except -1:
        if not self._phases or self._phases[len(self._phases) - 1] != phase:
            self._phases.append(phase)
        return len(self._phases) - 1

    cdef int _open(self, phase, moves) except -1:
        """Set the moves of the sources, which are generated again if the moves differ."""
        cdef Moves *m = &self.s.moves
        if phase is not None:
            self.s.phase = self._phase(phase)
        if self.s.is_open and self._moves == moves:
            return 0
        close_sources(&self.s)
        if moves.inserts not in INSERTS:
            raise InvalidArgument(f'inserts = {moves.inserts!r}: it must be "all", "poly" or None')
        self._moves = moves
        m.inserts = INSERTS[moves.inserts]
        m.largest_t = as_bound("largest_t", moves.largest_t)
        m.conservative = bool(moves.conservative) and moves.inserts == "all"
        m.turns = bool(moves.turns)
        m.deletes = bool(moves.deletes)
        m.clique_bound = as_bound("clique_bound", moves.clique_bound)
        m.size_bound = as_bound("size_bound", moves.size_bound)
        m.drop_large = bool(moves.drop_large)
        m.max_indegree = as_bound("max_indegree", moves.max_indegree)
        m.sets_per_clique = as_bound("sets_per_clique", moves.sets_per_clique)
        ranking = list(moves.ranking or ())
        if ranking:
            self._require_order(ranking)
        fill_list(&self.s.ranking, ranking)
        fill_list(&self.s.rank, sorted(range(len(ranking)), key=ranking.__getitem__))
        self.s.tolerance = self.tolerance
        return 0

    cdef int _do(self, void (*work)(void *) noexcept nogil) except -1:
        """Run a function without the GIL; raise the error that ended it, if any."""
        cdef int status
        self.running = True
        with nogil:
            status = guarded(&self.s.exit, work, &self.s)
        self.running = False
        if status == 0:
            return 0
        self._recover()
        if status == INVALID:
            return INVALID
        if status == TIME_UP:
            self.stopped = "time limit"
        elif status == OVER_BUDGET:
            raise OutOfBudget
        elif status == RAISED:
            error, self._error = self._error, None
            if isinstance(error, KeyboardInterrupt):
                self.stopped = "interrupted"
            else:
                raise error
        elif status == NO_MEMORY:
            raise MemoryError(
                f"memory ran out in a search over {self.n} variables after {self.s.step_count} "
                "steps; assume a bound on the truth, or search fewer variables"
            )
        elif status == BAD_GAIN:
            self._refuse_gain()
        else:
            raise NoConsistentExtension(
                "the engine met a graph without a consistent extension: this is a defect of sges"
            )
        return 0

    cdef void _recover(self):
        """Make the run consistent after an interruption, at the last complete state."""
        cdef int v
        restore_counters(&self.s)
        close_sources(&self.s)
        take_back(&self.s.g, self.s.g.settled)
        self._admitted = None
        recall_admitted(&self.s)
        clear(self.s.visited, self.s.g.words)
        for v in range(self.n):
            self.s.is_turned[v] = False
        self.s.stack.size = 0
        self.s.bar_x = self.s.bar_y = -1

    def _refuse_gain(self):
        cdef Record *r = self.s.m.bad_record
        if r == NULL:
            raise ScoreError(
                f"a step that gains {self.s.m.bad_gain} makes the score ({self.s.total} "
                "so far) infinite; a score must be finite"
            )
        base = show(mask_of(r.base, r.size))
        x = "another node" if self.s.m.bad_x < 0 else f"node {self.s.m.bad_x}"
        gain = "something that is not finite" if self.s.m.bad_x < 0 else self.s.m.bad_gain
        raise ScoreError(
            f"the score of node {r.y} with parents {base} changes by {gain} with {x}; "
            "a score must be finite for every family"
        )

    cdef _value(self, int y, parents):
        values = self._values[y]
        value = values.get(parents)
        if value is None:
            value = family_score(self.score, y, parents)
            if value - value == 0.0:  # a value that is not finite is an error, and is not stored
                values[parents] = value
        return value

    cdef object _asked(self, Record *r, bint inserting, xs):
        """Return the gains that a Python score computes."""
        base = mask_of(r.base, r.size)
        batch = self._insert_gains if inserting else self._delete_gains
        if batch is not None:
            return batch(r.y, base, xs)
        before = self._value(r.y, base)
        one = 1
        return [self._value(r.y, base ^ one << x) - before for x in xs.tolist()]


cdef int place(Kept *kept, int[::1] ints, double[::1] floats, Word[::1] words) except -1:
    """Point to the three arrays that hold the records of a memory; none of them is empty."""
    kept.ints, kept.floats, kept.words = &ints[0], &floats[0], &words[0]
    return 0


cdef object adjacents(const Graph *g, int v):
    """Return the nodes that are adjacent to v, as a mask."""
    return (
        mask_of(g.parents[v].at, g.parents[v].size)
        | mask_of(g.children[v].at, g.children[v].size)
        | mask_of(g.neighbors[v].at, g.neighbors[v].size)
    )


cdef int fill_rows(Word *rows, masks, int n, str name) except -1:
    """Write masks, one for each node, as rows of bits."""
    cdef const unsigned char[::1] view
    cdef int v, i, size = ((n + 63) >> 6) * <int>sizeof(Word)
    cdef unsigned char *at = <unsigned char *>rows
    masks = tuple(masks)
    if len(masks) != n:
        raise InvalidArgument(f"{name} has {len(masks)} sets of nodes: it must have {n}")
    for v, mask in enumerate(masks):
        if mask < 0 or mask >> n or mask >> v & 1:
            raise InvalidArgument(f"{name}[{v}] = {mask:#x}: it must hold other nodes of 0..{n - 1} only")
        view = int(mask).to_bytes(size, "little")
        for i in range(size):
            at[<size_t>v * size + i] = view[i]
    return 0


cdef object as_bound(str name, value):
    """Return a bound as the engine writes it: -1 for None, and no more than fits."""
    if value is None:
        return -1
    if value < 0:
        raise InvalidArgument(f"{name} = {value}: it must be 0 or more, or None")
    return min(value, INT_MAX)


cdef bint is_kept(const Lanes *lanes, const Lane *lane, int v) noexcept:
    """Return whether a delete of a lane keeps a neighbor."""
    cdef int i
    for i in range(lane.size):
        if lanes.sets.at[lane.first + i] == v:
            return True
    return False


cdef int fill_list(Ints *to, list values) except -1:
    cdef int i, size = len(values)
    cdef int *at
    if size > to.room:
        at = <int *>realloc(to.at, <size_t>size * sizeof(int))
        if at == NULL:
            raise MemoryError
        to.at = at
        to.room = size
    for i in range(size):
        to.at[i] = values[i]
    to.size = size
    return 0


cdef void load(void *argument) noexcept nogil:
    """Make the edges that ``order`` lists: triples of two nodes and a kind."""
    cdef Search *s = <Search *>argument
    cdef int i
    for i in range(0, s.order.size, 3):
        set_edge(&s.g, s.order.at[i], s.order.at[i + 1], s.order.at[i + 2])
    s.g.changes = s.g.settled = 0
    forget_states(s)
    s.step_count = s.step_sets.size = s.touched.size = 0


cdef void rewind(void *argument) noexcept nogil:
    cdef Search *s = <Search *>argument
    rewind_to(s, s.back_to, s.back_steps, s.back_touched, s.back_capped, s.back_total)


cdef void begin_trial(void *argument) noexcept nogil:
    begin_journal(&(<Search *>argument).m)


cdef void take_journal(void *argument) noexcept nogil:
    cdef Search *s = <Search *>argument
    cdef int i
    for i in range(s.journal_size):
        take_over(&s.m, &s.journal[i])


cdef void count_family(void *argument) noexcept nogil:
    """Count the family of ``counted`` with the parents in ``order`` as evaluated."""
    cdef Search *s = <Search *>argument
    note_base(&s.m, record_of(&s.m, s.counted, s.order.at, s.order.size))


cdef void direct_all(void *argument) noexcept nogil:
    """Direct every chain component as one member of the class does, the same for every history."""
    cdef Search *s = <Search *>argument
    cdef int v
    for v in range(s.g.n):
        sort_ints(s.g.neighbors[v].at, s.g.neighbors[v].size)
    s.g.stamp += 1
    for v in range(s.g.n):
        direct(&s.g, v)


cdef void refresh_all(void *argument) noexcept nogil:
    cdef Search *s = <Search *>argument
    if not s.is_open:
        open_sources(s)
    refresh(s)


cdef void offer_all(void *argument) noexcept nogil:
    """List the operators of the state, and offer those again that were rejected."""
    cdef Search *s = <Search *>argument
    if s.is_open:
        offer_again(s)
    refresh_all(s)


# Callbacks


cdef void check(void *owner) noexcept nogil:
    """Leave the run if its time is up or Ctrl-C was pressed."""
    cdef Search *s
    cdef double now = seconds_now()
    cdef int status = 0
    s = search_of(owner)
    if is_late(s):
        leave(&s.exit, TIME_UP)
    if (s.until >= 0 and now > s.until) or (s.m.most_work >= 0 and s.m.work > s.m.most_work):
        leave(&s.exit, OVER_BUDGET)
    if s.exploding == 1:
        s.exploding = 2
        with gil:
            status = warn_of_explosion(<Core>owner)
        if status:
            leave(&s.exit, status)
    if now - s.looked > BETWEEN_SIGNALS:
        s.looked = now
        with gil:
            status = look_at_signals(<Core>owner)
        if status:
            leave(&s.exit, status)


cdef Search *search_of(void *owner) noexcept nogil:
    return &(<Core>owner).s


cdef int look_at_signals(Core core) noexcept:
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        core._error = error
        return RAISED
    return 0


cdef int warn_of_explosion(Core core) noexcept:
    """Warn once that an explicit choice leads to exponentially many operators."""
    cdef Search *s = &core.s
    try:
        warnings.warn(
            f"the {s.near.k} neighbors of node {s.near.y} form cliques with more than 100,000 "
            "subsets, and this search examines all of them, so it may not finish; strategy=\"auto\" "
            "bounds the work, assume= bounds that of deletes, and time_limit= the time",
            stacklevel=2,
        )
    except BaseException as error:
        core._error = error
        return RAISED
    return 0


cdef int after_step(void *owner) noexcept nogil:
    """Call the progress callback."""
    with gil:
        return tell(<Core>owner)


cdef int tell(Core core) noexcept:
    report = core._report
    if report is None:
        return 0
    try:
        report(core._phases[core.s.phase])
    except BaseException as error:
        core._error = error
        return RAISED
    return 0


cdef int admits(void *owner) noexcept nogil:
    with gil:
        return ask_knowledge(<Core>owner)


cdef int ask_knowledge(Core core) noexcept:
    """Check whether the knowledge admits the state, coming from one that it admits."""
    try:
        after = core.cpdag
        if core._constraint.admits(after, core._admitted):
            core._admitted = after
            return 1
        return 0
    except BaseException as error:
        core._error = error
        return -RAISED


cdef int direct_members(void *owner) noexcept nogil:
    with gil:
        return ask_member(<Core>owner)


cdef int ask_member(Core core) noexcept:
    """Direct a chain component as a member of the class that satisfies the knowledge."""
    cdef Search *s = &core.s
    cdef int i
    try:
        region = mask_of(s.members.at, s.members.size)
        graph = core.cpdag
        member = core._constraint.member(graph, region, core._moves.ranking)
        for i in range(s.members.size):
            v = s.members.at[i]
            fill_list(&s.making.above[v], list(nodes(member.parents(v) & graph.neighbors(v))))
    except BaseException as error:
        core._error = error
        return RAISED
    return 0


cdef int ask_python(
    void *owner, Record *record, bint inserting, const int *xs, int count,
    double *gains,
) noexcept nogil:
    with gil:
        return ask_score(<Core>owner, record, inserting, xs, count, gains)


cdef int ask_score(
    Core core, Record *record, bint inserting, const int *xs, int count, double *gains
) noexcept:
    """Compute gains with a Python score."""
    cdef Py_ssize_t[::1] nodes_asked
    cdef const double[::1] answer
    cdef int i
    try:
        candidates = np.empty(count, dtype=np.intp)
        nodes_asked = candidates
        for i in range(count):
            nodes_asked[i] = xs[i]
        given = core._asked(record, inserting, candidates)
        base = mask_of(record.base, record.size)
        answer = as_gains(core.score, record.y, base, count, given)
        for i in range(count):
            gains[i] = answer[i]
    except BaseException as error:
        core._error = error
        return -RAISED
    return 0
