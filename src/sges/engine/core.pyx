# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""The compiled engine as Python sees it: the only file of it that knows Python objects.

``Core`` owns the state of one run and does the work of ``sges.search.reference`` without the
interpreter, with the GIL released: it climbs, takes back, lists escapes, and searches orders.
Callbacks into Python are a score that is not native, the progress report, and knowledge.
"""

from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from cpython.exc cimport PyErr_CheckSignals

import numpy as np

from sges.engine.climb cimport (
    apply_found, climb, close_sources, refresh, open_sources, rewind_to,
)
from sges.engine.deletes cimport list_h
from sges.engine.gains cimport (
    Memory, Record, count_families, find, free_memory, make_memory, note_base, record_of,
)
from sges.engine.graph cimport (
    FROM, Graph, LINE, NONE, TO, free_graph, kind_of, make_graph, row_of, set_edge,
    take_back,
)
from sges.engine.lists cimport (
    BAD_GAIN, Exit, INTERRUPTED, Ints, NO_EXTENSION, NO_MEMORY, OVER_BUDGET, RAISED, TIME_UP, Word,
    add, clear, guarded, has, leave, seconds_now,
)
from sges.engine.order cimport (
    Orders, begin_order, free_orders, make_orders, move_round, walk_edges,
)
from sges.engine.scores cimport NativeScore, Scorer
from sges.engine.search cimport (
    DELETE, Found, INSERT, Inserts, Lane, Lanes, Moves, Search, StepOf, TURN,
)

from sges.errors import NoConsistentExtension, OutOfBudget, ScoreError
from sges.graph.pdag import PDAG
from sges.nodeset import nodes, show
from sges.operators import Delete, Insert, Turn
from sges.result import Step

cdef double BETWEEN_SIGNALS = 0.02  # seconds


cdef class Core:
    """The state of one run, and the greedy work on it."""

    cdef Search s
    cdef bint made
    cdef readonly int n
    cdef readonly object score
    cdef readonly object stopped
    cdef NativeScore native
    cdef object _constraint
    cdef object _report
    cdef object _error
    cdef object _admitted
    cdef list _phases
    cdef list _values
    cdef object _names
    cdef object _moves
    cdef object _insert_gains
    cdef object _insert_gains_above
    cdef object _delete_gains

    def __cinit__(self, score, native, *args, **kwargs):
        cdef int n = score.n
        cdef Search *s = &self.s
        memset(s, 0, sizeof(Search))
        self.n = n
        s.bar_x = s.bar_y = -1
        s.capped = -1
        s.deadline = s.until = -1.0
        s.owner = <void *>self
        self.made = make_graph(&s.g, &s.exit, n) and make_memory(&s.m, &s.exit, n)
        s.is_stale = <unsigned int *>calloc(<size_t>n + 1, sizeof(int))
        s.is_turned = <bint *>calloc(<size_t>n + 1, sizeof(bint))
        s.is_blocked = <bint *>calloc(<size_t>n + 1, sizeof(bint))
        s.allowed = <Word *>calloc(<size_t>s.g.words + 2, sizeof(Word))
        s.far = <Word *>calloc(<size_t>s.g.words + 2, sizeof(Word))
        s.independent = <Word *>calloc(<size_t>s.g.words + 2, sizeof(Word))
        s.visited = <Word *>calloc(<size_t>s.g.words + 2, sizeof(Word))
        if (
            not self.made or s.is_stale == NULL or s.is_turned == NULL or s.is_blocked == NULL
            or s.allowed == NULL or s.far == NULL or s.independent == NULL or s.visited == NULL
        ):
            raise MemoryError(f"there is no memory for a search over {n} variables")
        s.stale_stamp = 1
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

        self.score = score
        self.native = native
        self.s.m.counting = counting
        if native is not None:
            (<NativeScore>native).open(&self.s.m.scorer)
            self.s.m.native = True
        else:
            self._insert_gains = getattr(score, "insert_gains", None)
            self._insert_gains_above = getattr(score, "insert_gains_above", None)
            self._delete_gains = getattr(score, "delete_gains", None)
        self._values = [{} for _ in range(self.n)]
        if deadline is not None:
            self.s.deadline = max(seconds_now() + deadline - time.perf_counter(), 0.0)
        self.report = report
        self.constraint = constraint

    def __dealloc__(self):
        cdef Search *s = &self.s
        cdef int i
        if s.m.native and s.m.scorer.close != NULL:
            s.m.scorer.close(s.m.scorer.self)
        if self.made:
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
        free(s.is_blocked)
        free(s.touched.at)
        free(s.lost.at)
        free(s.gained.at)
        free(s.turned.at)
        free(s.blocked.at)
        free(s.rejected_turns.at)
        free(s.allowed)
        free(s.far)
        free(s.independent)
        free(s.visited)
        free(s.base.at)
        free(s.also.at)
        free(s.members.at)
        free(s.stack.at)
        free(s.order.at)
        free(s.best_set.at)
        free(s.found.set.at)
        free(s.steps)
        free(s.step_sets.at)
        free(s.left)
        free(s.barred)
        free(s.fixed)

    # What the run is about

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
        """Gains asked for, sets listed and nodes walked: the same on every machine."""
        return self.s.m.work

    @property
    def capped(self):
        """The number of steps after which operators were first left out; None if none were."""
        return None if self.s.capped < 0 else self.s.capped

    @property
    def capped_nodes(self):
        """The nodes of the state at which some inserts are left out, as a mask."""
        cdef int v
        if self.s.inserts.is_capped == NULL or self.s.inserts.of == NULL:
            return 0
        one = 1
        return sum([one << v for v in range(self.n) if self.s.inserts.is_capped[v]])

    @property
    def evaluations(self):
        """The number of unique families asked for so far; None if they are not counted."""
        cdef long long count
        if not self.s.m.counting:
            return None
        with nogil:
            count = count_families(&self.s.m)
        return count

    @property
    def tolerance(self):
        """How far apart two gains may be and still tie."""
        return 1e-12 * max(1.0, abs(self.s.total))

    @property
    def report(self):
        """Called with the name of the phase at its start and after each step; None for nobody."""
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
        cdef Search *s = &self.s
        cdef size_t cells = <size_t>self.n * s.g.words
        self._constraint = value
        self._admitted = None
        s.has_constraint = value is not None
        free(s.barred)
        free(s.fixed)
        s.barred = s.fixed = NULL
        close_sources(s)
        if value is None:
            return
        s.barred = <Word *>calloc(cells + 1, sizeof(Word))
        s.fixed = <Word *>calloc(cells + 1, sizeof(Word))
        if s.barred == NULL or s.fixed == NULL:
            raise MemoryError
        fill_rows(s.barred, value.barred, s.g.words)
        fill_rows(s.fixed, value.fixed, s.g.words)

    @property
    def cpdag(self):
        """The state as a ``PDAG``."""
        cdef Graph *g = &self.s.g
        cdef size_t size = <size_t>g.words * sizeof(Word)
        cdef Word *into = <Word *>calloc(<size_t>g.words + 1, sizeof(Word))
        cdef int v, i
        if into == NULL:
            raise MemoryError
        outs, intos = [], []
        for v in range(g.n):
            outs.append(int.from_bytes((<char *>row_of(g, v))[:size], "little"))
            clear(into, g.words)
            for i in range(g.parents[v].size):
                add(into, g.parents[v].at[i])
            for i in range(g.neighbors[v].size):
                add(into, g.neighbors[v].at[i])
            intos.append(int.from_bytes((<char *>into)[:size], "little"))
        free(into)
        return PDAG(tuple(outs), tuple(intos), self._names)

    @property
    def steps(self):
        """The steps that lead to the state."""
        cdef int i
        cdef StepOf *step
        kinds = (Insert, Delete, Turn)
        found = []
        for i in range(self.s.step_count):
            step = &self.s.steps[i]
            chosen = mask_of(self.s.step_sets.at + step.first, step.size)
            operator = kinds[step.kind](step.x, step.y, chosen)
            found.append(Step(self._phases[step.phase], operator, step.gain, step.total, step.edges))
        return found

    # Going

    def start(self, cpdag, double total):
        """Take a CPDAG as the state, and its score as the total."""
        cdef Graph *g = &self.s.g
        cdef int v
        close_sources(&self.s)
        self._names = cpdag.names
        self._admitted = None
        edges = []
        for v in range(self.n):
            out, into = cpdag.out[v], cpdag.into[v]
            for u in nodes((out | into | adjacents(g, v)) >> (v + 1) << (v + 1)):
                edges += v, u, (out >> u & 1) * TO | (into >> u & 1) * FROM
        fill_list(&self.s.order, edges)
        self._do(load)
        self.s.total = total

    def climb(self, str phase, moves, *, bar=None, double patience=0.0, double aim=0.0, most=None):
        """Take the best operator until there is none; return whether any step was taken."""
        if self.stopped is not None:
            return False
        self._open(phase, moves)
        self.s.patience = patience
        self.s.aim = aim
        self.s.next_bar_x, self.s.next_bar_y = (-1, -1) if bar is None else bar
        self.s.most_steps = -1 if most is None else most
        self.s.moved = False
        self._do(climb)
        return self.s.moved

    def apply(self, str phase, operator, double gain):
        """Carry out one valid operator."""
        cdef Found *found = &self.s.found
        self.s.phase = self._phase(phase)
        found.kind = {Insert: INSERT, Delete: DELETE, Turn: TURN}[type(operator)]
        found.x, found.y, found.gain = operator.x, operator.y, gain
        fill_list(&found.set, list(nodes(operator.chosen)))
        self._do(apply_found)

    def peek(self, operator):
        """Return the class to which one valid operator leads; the state stays as it is."""
        mark = self.mark()
        admitted, report = self._admitted, self._report
        self.report = None
        self.apply("", operator, 0.0)
        after = self.cpdag
        self.rewind(mark)
        self._admitted = admitted
        self.report = report
        return after

    def mark(self):
        """Return the point at which the run is."""
        return (self.s.g.changes, self.s.step_count, self.s.touched.size, self.s.total)

    def rewind(self, mark):
        """Go back to an earlier point: what was tried since is not part of the result."""
        self.s.back_to, self.s.back_steps, self.s.back_touched, self.s.back_total = mark
        self._do(rewind)
        self._admitted = None

    def touched_since(self, mark):
        """Return the nodes whose view changed at some step since a mark."""
        cdef int i
        cdef Word *row = self.s.visited
        for i in range(<int>mark[2], self.s.touched.size):
            add(row, self.s.touched.at[i])
        mask = int.from_bytes((<char *>row)[: <size_t>self.s.g.words * sizeof(Word)], "little")
        clear(row, self.s.g.words)
        return mask

    def escapes(self, moves):
        """Return (gain, delete) for every generated delete, best first, each x — y once."""
        cdef Search *s = &self.s
        cdef Lanes *lanes
        cdef Lane *lane
        cdef int y, i, k, x
        self._open(None, moves)
        self._do(refresh_all)
        if self.stopped is not None:
            return []
        once = {}
        for y in range(self.n):
            lanes = &s.deletes.of[y]
            for i in range(lanes.size):
                lane = &lanes.at[i]
                for k in range(lane.record.size):
                    if not has(lane.allowed, k):
                        continue
                    x = lane.record.base[k]
                    list_h(s, lanes, lane, x, y, &s.best_set)
                    h = mask_of(s.best_set.at, s.best_set.size)
                    if x > y and kind_of(&s.g, x, y) == LINE:
                        delete = Delete(y, x, h)
                    else:
                        delete = Delete(x, y, h)
                    once.setdefault(delete, lane.record.deletes[k])
        return sorted(
            ((gain, delete) for delete, gain in once.items()),
            key=lambda pair: (-pair[0], pair[1].sort_key()),
        )

    # The score

    def local(self, int y, parents):
        """Return the score of one family, counted."""
        if self.s.m.counting:
            members = np.fromiter(nodes(parents), dtype=np.intc)
            self._count(y, members)
        value = self._value(y, parents)
        if value - value != 0.0:
            raise ScoreError(
                f"local({y}, {parents:#b}) is {value}; a score must be finite for every family"
            )
        return value

    def limit(self, seconds=None, evaluations=None, work=None):
        """Limit what follows, in seconds, families asked for, and work; None is no limit.

        When the limit is reached, ``OutOfBudget`` is raised.
        """
        self.s.until = -1.0 if seconds is None else seconds_now() + seconds
        self.s.m.most_work = -1 if work is None else self.s.m.work + <long long>work
        self.s.m.most = -1
        if evaluations is not None:
            self.s.m.exact = count_families(&self.s.m)
            self.s.m.fresh = 0
            self.s.m.most = self.s.m.exact + evaluations

    # Orders

    def order_begin(self, order, allowed, required, later, double reach, max_indegree=None):
        """Begin a search among orders with this one."""
        cdef Orders *o = <Orders *>self.s.orders
        cdef int i
        if o == NULL:
            o = make_orders(self.n)
            if o == NULL:
                raise MemoryError
            self.s.orders = o
        fill_rows(o.allowed, allowed, o.words)
        fill_rows(o.required, required, o.words)
        fill_rows(o.later, later, o.words)
        o.has_required = any(required)
        o.max_parents = -1 if max_indegree is None else max_indegree
        o.epoch += 1
        o.reach = reach
        o.tolerance = self.tolerance
        self.order_set(order)

    def order_set(self, order):
        """Go on with another order."""
        cdef Orders *o = <Orders *>self.s.orders
        cdef int i
        for i in range(self.n):
            o.order[i] = order[i]
        self._do(begin_order)

    def order_round(self, limit=None):
        """Move each node to its best place in turn; return whether any moved."""
        cdef Orders *o = <Orders *>self.s.orders
        o.limit = -1 if limit is None else limit
        o.moved = False
        self._do(move_round)
        self.s.considered += o.places
        o.places = 0
        return o.moved

    def order_state(self):
        """Return the order, the parents of each node, and what they gain."""
        cdef Orders *o = <Orders *>self.s.orders
        cdef size_t size = <size_t>o.words * sizeof(Word)
        cdef int v
        parents = [
            int.from_bytes((<char *>o.chosen[v].parents)[:size], "little") for v in range(self.n)
        ]
        gain = 0.0
        for v in range(self.n):
            gain += o.chosen[v].gain
        return [o.order[v] for v in range(self.n)], parents, gain

    def walk(self, str phase, member, goal, order):
        """Go from a member of the state to another DAG, edge by edge; not counted."""
        cdef Orders *o = <Orders *>self.s.orders
        cdef int i
        cdef double deadline = self.s.deadline
        self.s.phase = self._phase(phase)
        close_sources(&self.s)
        fill_rows(o.member, [member.parents(v) for v in range(self.n)], o.words)
        fill_rows(o.goal, [goal.parents(v) for v in range(self.n)], o.words)
        for i in range(self.n):
            o.order[i] = order[i]
        self._do(walk_edges)

    # Inside

    cdef int _phase(self, phase) except -1:
        if not self._phases or self._phases[len(self._phases) - 1] != phase:
            self._phases.append(phase)
        return len(self._phases) - 1

    cdef int _open(self, phase, moves) except -1:
        """Take moves as those of the sources, which are made anew if they were others."""
        cdef Moves *m = &self.s.moves
        if phase is not None:
            self.s.phase = self._phase(phase)
        if self.s.is_open and self._moves == moves:
            return 0
        close_sources(&self.s)
        self._moves = moves
        m.inserts = {None: -1, "all": 0, "poly": 1}[moves.inserts]
        m.largest_t = moves.largest_t
        m.conservative = moves.conservative
        m.turns = moves.turns
        m.deletes = moves.deletes
        m.clique_bound = -1 if moves.clique_bound is None else moves.clique_bound
        m.size_bound = -1 if moves.size_bound is None else moves.size_bound
        m.drop_large = moves.drop_large
        m.max_indegree = -1 if moves.max_indegree is None else moves.max_indegree
        m.sets_per_clique = -1 if moves.sets_per_clique is None else moves.sets_per_clique
        self.s.tolerance = self.tolerance
        return 0

    cdef int _do(self, void (*work)(void *) noexcept nogil) except -1:
        """Do work without the GIL; say what ended it."""
        cdef int status
        with nogil:
            status = guarded(&self.s.exit, work, &self.s)
        if status == 0:
            return 0
        self._recover()
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
        """Bring the run in order after work was left in the middle; the state is the last one."""
        cdef int v
        close_sources(&self.s)
        take_back(&self.s.g, self.s.g.settled)
        self._admitted = None
        clear(self.s.visited, self.s.g.words)
        for v in range(self.n):
            self.s.is_turned[v] = False
        self.s.stack.size = 0
        self.s.bar_x = self.s.bar_y = -1

    def _refuse_gain(self):
        cdef Record *r = self.s.m.bad_record
        if r == NULL:
            raise ScoreError(
                f"a step that gains {self.s.m.bad_gain} takes the score from {self.s.total} beyond "
                "all numbers; a score must be finite"
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
            value = values[parents] = self.score.local(y, parents)
        return value

    def _count(self, int y, int[::1] members):
        cdef int *at = &members[0] if members.shape[0] else NULL
        cdef int nothing = 0
        note_base(&self.s.m, record_of(&self.s.m, y, at if at else &nothing, members.shape[0]))

    cdef object _asked(self, Record *r, bint inserting, bint exact, xs):
        """Return the gains that a Python score gives."""
        base = mask_of(r.base, r.size)
        if inserting and not exact and self._insert_gains_above is not None:
            return self._insert_gains_above(r.y, base, xs, self.s.tolerance)
        batch = self._insert_gains if inserting else self._delete_gains
        if batch is not None:
            return batch(r.y, base, xs)
        before = self._value(r.y, base)
        one = 1
        return [self._value(r.y, base ^ one << x) - before for x in xs.tolist()]


cdef object mask_of(const int *members, int size):
    """Return a list of nodes as a mask."""
    cdef int i
    one = 1  # a Python integer: masks may be longer than a machine word
    mask = 0
    for i in range(size):
        mask |= one << members[i]
    return mask


cdef object adjacents(const Graph *g, int v):
    """Return the nodes that are adjacent to v, as a mask."""
    return (
        mask_of(g.parents[v].at, g.parents[v].size)
        | mask_of(g.children[v].at, g.children[v].size)
        | mask_of(g.neighbors[v].at, g.neighbors[v].size)
    )


cdef int fill_rows(Word *rows, masks, int words) except -1:
    """Write masks, one for each node, as rows of bits."""
    cdef const unsigned char[::1] view
    cdef int v, size = words * <int>sizeof(Word), i
    cdef unsigned char *at = <unsigned char *>rows
    for v, mask in enumerate(masks):
        view = int(mask).to_bytes(size, "little")
        for i in range(size):
            at[<size_t>v * size + i] = view[i]
    return 0


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
    s.step_count = s.step_sets.size = s.touched.size = s.left_count = 0


cdef void rewind(void *argument) noexcept nogil:
    cdef Search *s = <Search *>argument
    rewind_to(s, s.back_to, s.back_steps, s.back_touched, s.back_total)


cdef void refresh_all(void *argument) noexcept nogil:
    cdef Search *s = <Search *>argument
    if not s.is_open:
        open_sources(s)
    refresh(s)


# Callbacks


cdef void check(void *owner) noexcept nogil:
    """Leave the run if its time is up or Ctrl-C was pressed."""
    cdef Search *s
    cdef double now = seconds_now()
    cdef int status = 0
    s = search_of(owner)
    if s.deadline >= 0 and now > s.deadline:
        leave(&s.exit, TIME_UP)
    if (s.until >= 0 and now > s.until) or (s.m.most_work >= 0 and s.m.work > s.m.most_work):
        leave(&s.exit, OVER_BUDGET)
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


cdef int after_step(void *owner) noexcept nogil:
    """Tell whoever listens where the run is."""
    with gil:
        return tell(<Core>owner)


cdef int tell(Core core) noexcept:
    try:
        core._report(core._phases[core.s.phase])
    except BaseException as error:
        core._error = error
        return RAISED
    return 0


cdef int admits(void *owner) noexcept nogil:
    with gil:
        return ask_knowledge(<Core>owner)


cdef int ask_knowledge(Core core) noexcept:
    """Ask whether the knowledge admits the state, coming from one that it admits."""
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
        member = core._constraint.member(graph, region)
        for i in range(s.members.size):
            v = s.members.at[i]
            fill_list(&s.making.above[v], list(nodes(member.parents(v) & graph.neighbors(v))))
    except BaseException as error:
        core._error = error
        return RAISED
    return 0


cdef int ask_python(
    void *owner, Record *record, bint inserting, bint exact, const int *xs, int count,
    double *gains,
) noexcept nogil:
    with gil:
        return ask_score(<Core>owner, record, inserting, exact, xs, count, gains)


cdef int ask_score(
    Core core, Record *record, bint inserting, bint exact, const int *xs, int count, double *gains
) noexcept:
    """Ask a Python score for gains."""
    cdef Py_ssize_t[::1] nodes_asked
    cdef double[::1] answer
    cdef int i
    try:
        candidates = np.empty(count, dtype=np.intp)
        nodes_asked = candidates
        for i in range(count):
            nodes_asked[i] = xs[i]
        given = core._asked(record, inserting, exact, candidates)
        found = np.ascontiguousarray(given, dtype=np.float64)
        if found.shape != (count,):
            raise ScoreError(
                f"{type(core.score).__name__} gave gains of shape {found.shape} for {count} "
                "candidates; it must give one number for each"
            )
        answer = found
        for i in range(count):
            gains[i] = answer[i]
    except BaseException as error:
        core._error = error
        return -RAISED
    return 0
