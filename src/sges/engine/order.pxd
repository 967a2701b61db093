"""The search for the best order of the nodes, by moves of single nodes.

An order stands for a DAG: the parents of each node are those that grow-shrink chooses among the
nodes before it.  *Grow*: add the predecessor of largest gain while that improves the score.
*Shrink*: remove the parent whose removal gains most while that does not lower the score.  The gains
of a base do not depend on the predecessors, so each base is ranked once, and growing under
any set of predecessors is a walk along the rankings: the grow-shrink trees of Andrews et al. (2023).

A walk also shows which other sets of predecessors give the same parents: those that contain the
added nodes and none of the *rivals*, which would have been added at some step.
So all places for a node are compared in one sweep to the left and one to the right, and most nodes
that are passed need only a test of two bits.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from sges.engine.climb cimport carry_out, note_step, report
from sges.engine.gains cimport (
    ask_deletes, ask_inserts, look_ahead, must_answer, single_gain, sum_of_inserts,
)
from sges.engine.graph cimport Graph, LINE, adjacent, kind_of, points
from sges.engine.lists cimport (
    Ints, NO_MEMORY, Word, add, clear, copy_to, flip, has, leave, lowest_bit, push, regrown, reserve,
    take, taken,
)
from sges.engine.deletes cimport sort_small
from sges.engine.records cimport Memory, Record, lasting, record_of, record_with
from sges.engine.search cimport DELETE, INSERT, Search, note_changes

cdef enum:
    # For each edge of the walk to an order, times the square of the mean number of parents: noise
    # with penalty 0 and 20 to 60 columns took 110 to 180, other tables less.
    NANOSECONDS_OF_WALK = 200

cdef struct Choice:
    # The parents that grow-shrink chose for a node.
    Word *parents
    Word *grown
    Word *rivals
    int size  # how many parents
    double gain

cdef struct Orders:
    int n
    int words
    int epoch
    int *order
    int *place
    int *ranking  # the nodes in the order in which they are moved
    Choice *chosen  # the choice of each node
    Choice *tried  # scratch: the choices of the nodes that are passed
    int *tried_node
    int tries
    Choice own
    Choice best_own
    Word *before
    Word *grown_of  # row x: the nodes of whose choice x is a grown node
    Word *rivals_of  # row x: the nodes of whose choice x is a rival
    Word *later  # row u: the nodes that must come after u
    Word *required  # row y: the nodes that must be parents of y
    Word *allowed  # row y: the nodes that may be parents of y
    Word *rows  # all of the above in one block
    Ints grown
    Ints left
    double tolerance
    double reach  # how far the score may fall on the way to a better place
    long long places  # how many places were examined
    bint moved
    long long limit  # the limit on work; -1 for none
    bint has_required
    bint has_later
    int max_parents  # -1 for any number
    Word *member  # rows of parents, on the way from one DAG to another
    Word *goal


cdef inline void point_choice(Choice *c, Word **at, int words) noexcept nogil:
    c.parents = at[0]
    c.grown = at[0] + words
    c.rivals = at[0] + 2 * words
    at[0] += 3 * <size_t>words


cdef inline Orders *make_orders(int n) noexcept nogil:
    cdef Orders *o = <Orders *>calloc(1, sizeof(Orders))
    cdef size_t words = (n + 63) >> 6
    cdef Word *at
    cdef int v
    if o == NULL:
        return NULL
    o.n = n
    o.words = <int>words
    o.limit = -1
    o.order = <int *>malloc(4 * (<size_t>n + 1) * sizeof(int))
    o.chosen = <Choice *>calloc(2 * <size_t>n + 2, sizeof(Choice))
    o.rows = <Word *>calloc((13 * <size_t>n + 8) * words + 1, sizeof(Word))
    if o.order == NULL or o.chosen == NULL or o.rows == NULL:
        free_orders(o)
        return NULL
    o.place = o.order + n
    o.tried_node = o.order + 2 * n
    o.ranking = o.order + 3 * n
    o.tried = o.chosen + n
    for v in range(n):
        o.order[v] = o.place[v] = o.ranking[v] = v
    at = o.rows
    for v in range(2 * n):
        point_choice(&o.chosen[v], &at, o.words)
    point_choice(&o.own, &at, o.words)
    point_choice(&o.best_own, &at, o.words)
    o.before = at
    o.grown_of = at + words
    o.rivals_of = o.grown_of + n * words
    o.later = o.rivals_of + n * words
    o.required = o.later + n * words
    o.allowed = o.required + n * words
    o.member = o.allowed + n * words
    o.goal = o.member + n * words
    return o


cdef inline void free_orders(Orders *o) noexcept nogil:
    if o == NULL:
        return
    free(o.order)
    free(o.chosen)
    free(o.rows)
    free(o.grown.at)
    free(o.left.at)
    free(o)


cdef inline void copy_choice(Choice *to, const Choice *of, int words) noexcept nogil:
    memcpy(to.parents, of.parents, 3 * <size_t>words * sizeof(Word))
    to.size = of.size
    to.gain = of.gain


cdef inline void flip_changed(
    Word *row_of, int words, int y, const Word *old, const Word *new
) noexcept nogil:
    """Flip the bit of y in the row of each node that is in only one of two sets."""
    cdef int w
    cdef Word changed
    for w in range(words):
        changed = old[w] ^ new[w]
        while changed:
            flip(row_of + <size_t>((w << 6) + lowest_bit(changed)) * words, y)
            changed &= changed - 1


cdef inline void set_choice(Orders *o, int y, const Choice *new) noexcept nogil:
    """Change the choice of a node."""
    cdef Choice *old = &o.chosen[y]
    flip_changed(o.grown_of, o.words, y, old.grown, new.grown)
    flip_changed(o.rivals_of, o.words, y, old.rivals, new.rivals)
    copy_choice(old, new, o.words)


# Grow and shrink


cdef inline void rank(Search *s, Orders *o, Record *r, double gain) noexcept nogil:
    """Find the nodes that improve a base; ``ranked_node`` ranks as many of them as are needed."""
    cdef int i, count = 0
    cdef Word *wanted = s.allowed
    cdef Word *allowed = o.allowed + <size_t>r.y * o.words
    memcpy(wanted, allowed, <size_t>o.words * sizeof(Word))
    for i in range(r.size):
        take(wanted, r.base[i])
    ask_inserts(&s.m, r, wanted, NULL, 0)
    if r.count > r.ranking_room:
        r.ranking = <int *>lasting(&s.m, <size_t>r.count * sizeof(int))
        r.ranking_room = r.count
    for i in range(r.count):
        if r.gains[i] > o.tolerance and has(wanted, r.xs[i]):
            r.ranking[count] = i
            count += 1
    for i in range(count // 2 - 1, -1, -1):
        sift(r, i, count)
    r.ranked = 0
    r.improving = count
    r.grown_gain = gain
    r.shrunk_size = -1
    r.epoch = o.epoch


cdef inline void sift(Record *r, int at, int count) noexcept nogil:
    """Let one place of a heap sink; the highest gain is on top."""
    cdef int child, held = r.ranking[at]
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and r.gains[r.ranking[child + 1]] > r.gains[r.ranking[child]]:
            child += 1
        if r.gains[held] >= r.gains[r.ranking[child]]:
            break
        r.ranking[at] = r.ranking[child]
        at = child
    r.ranking[at] = held


cdef inline int ranked_node(Record *r, int rank, double tolerance) noexcept nogil:
    """Return the place among the gains of the node of a rank, best first.

    The ranked nodes are at the end of ``ranking``, best last, and the others before them in a heap.
    A node ties with the next one if their gains differ by no more than the tolerance; nodes that
    tie are ranked by their numbers, so they are taken from the heap together.
    """
    cdef int held, last, first, i, j
    while r.ranked <= rank:
        first = last = r.improving - 1 - r.ranked
        while True:
            held = r.ranking[0]
            r.ranking[0] = r.ranking[last]
            r.ranking[last] = held
            sift(r, 0, last)
            last -= 1
            if last < 0 or r.gains[held] - r.gains[r.ranking[0]] > tolerance:
                break
        r.ranked = r.improving - 1 - last
        for i in range(first - 1, last, -1):  # lower numbers further behind
            held = r.ranking[i]
            j = i
            while j < first and r.xs[r.ranking[j + 1]] > r.xs[held]:
                r.ranking[j] = r.ranking[j + 1]
                j += 1
            r.ranking[j] = held
    return r.ranking[r.improving - 1 - rank]


cdef inline void shrink(Search *s, Orders *o, Record *grown) noexcept nogil:
    """Remove parents while that does not lower the score; of those that tie, the lowest first."""
    cdef Record *r = grown
    cdef Word *required = o.required + <size_t>grown.y * o.words
    cdef double total = grown.grown_gain, highest
    cdef int i, first
    cdef bint any_free
    while True:
        clear(s.allowed, (r.size + 63) >> 6)
        any_free = False
        for i in range(r.size):
            if not has(required, r.base[i]):
                add(s.allowed, i)
                any_free = True
        if not any_free:
            break
        ask_deletes(&s.m, r, s.allowed)
        highest = -INFINITY
        for i in range(r.size):
            if not has(required, r.base[i]):
                highest = max(highest, r.deletes[i])
        if highest < -o.tolerance:
            break
        first = 0
        while has(required, r.base[first]) or r.deletes[first] < highest - o.tolerance:
            first += 1
        total += r.deletes[first]
        o.left.size = 0
        for i in range(r.size):
            if i != first:
                push(&s.exit, &o.left, r.base[i])
        r = record_of(&s.m, grown.y, o.left.at, o.left.size)
    if r.size > grown.shrunk_room:
        grown.shrunk = <int *>lasting(&s.m, <size_t>r.size * sizeof(int))
        grown.shrunk_room = r.size
    for i in range(r.size):
        grown.shrunk[i] = r.base[i]
    grown.shrunk_size = r.size
    grown.shrunk_gain = total


cdef inline void choose(Search *s, Orders *o, int y, const Word *before, Choice *to) noexcept nogil:
    """Find the parents that grow-shrink chooses among the nodes before y."""
    cdef Word *required = o.required + <size_t>y * o.words
    cdef Record *r
    cdef int i, x, at
    cdef double gain
    o.grown.size = 0
    clear(to.parents, 3 * o.words)
    if o.has_required:
        for i in range(o.n):
            if has(required, i):
                push(&s.exit, &o.grown, i)
    r = record_of(&s.m, y, o.grown.at, o.grown.size)
    if r.epoch != o.epoch:
        rank(s, o, r, 0.0)
    i = 0
    while i < r.improving and (o.max_parents < 0 or r.size < o.max_parents):
        at = ranked_node(r, i, o.tolerance)
        x = r.xs[at]
        if not has(before, x):
            add(to.rivals, x)
            i += 1
            continue
        gain = r.grown_gain + r.gains[at]
        add(to.grown, x)
        if r.grown == NULL or r.grown_by != x:
            r.grown = record_with(&s.m, r, x)
            r.grown_by = x
        r = r.grown
        if r.epoch != o.epoch:
            rank(s, o, r, gain)
        i = 0
    if r.shrunk_size < 0:
        shrink(s, o, r)
    for i in range(r.shrunk_size):
        add(to.parents, r.shrunk[i])
    to.size = r.shrunk_size
    to.gain = r.shrunk_gain


# Moves


cdef inline void choose_all(Search *s, Orders *o) noexcept nogil:
    """Choose the parents of every node for the current order."""
    cdef int i, v
    clear(o.before, o.words)
    for i in range(o.n):
        v = o.order[i]
        choose(s, o, v, o.before, &o.own)
        set_choice(o, v, &o.own)
        add(o.before, v)


cdef inline Choice *try_choice(Search *s, Orders *o, int u) noexcept nogil:
    """Choose for a node that is passed, with the nodes that are before it then."""
    cdef Choice *c = &o.tried[o.tries]
    choose(s, o, u, o.before, c)
    o.tried_node[o.tries] = u
    o.tries += 1
    return c


cdef inline void begin_sweep(Orders *o, int v) noexcept nogil:
    cdef int i
    o.tries = 0
    clear(o.before, o.words)
    for i in range(o.place[v]):
        add(o.before, o.order[i])
    copy_choice(&o.own, &o.chosen[v], o.words)


cdef inline void put_in(Orders *o, int v, int at, int tries) noexcept nogil:
    """Move v to a place, and keep the choices that were made on the way there."""
    cdef int i, now = o.place[v]
    while now > at:
        o.order[now] = o.order[now - 1]
        now -= 1
    while now < at:
        o.order[now] = o.order[now + 1]
        now += 1
    o.order[at] = v
    for i in range(o.n):
        o.place[o.order[i]] = i
    for i in range(tries):
        set_choice(o, o.tried_node[i], &o.tried[i])
    set_choice(o, v, &o.best_own)


cdef inline double sweep(
    Search *s, Orders *o, int v, bint left, double best, int *best_at, int *best_tries
) noexcept nogil:
    """Compare the places for v on one side; return the best gain seen so far.

    The nodes whose parents change when v passes them are in one row, because most are not: the rows
    of all nodes that v passes would not stay in the cache.
    """
    cdef Word *grown_of = o.grown_of + <size_t>v * o.words
    cdef Word *rivals_of = o.rivals_of + <size_t>v * o.words
    cdef int at = o.place[v], u, step = -1 if left else 1
    cdef double gain, shift = 0.0, mine = o.chosen[v].gain
    begin_sweep(o, v)
    while True:
        at += step
        if at < 0 or at >= o.n:
            return best
        u = o.order[at]
        if o.has_later and has(o.later + <size_t>(u if left else v) * o.words, v if left else u):
            return best
        if left:
            take(o.before, u)
            if has(rivals_of, u):
                add(o.before, v)
                shift += try_choice(s, o, u).gain - o.chosen[u].gain
                take(o.before, v)
            if has(o.own.grown, u):
                choose(s, o, v, o.before, &o.own)
        else:
            if has(grown_of, u):
                shift += try_choice(s, o, u).gain - o.chosen[u].gain
            add(o.before, u)
            if has(o.own.rivals, u):
                choose(s, o, v, o.before, &o.own)
        o.places += 1
        gain = o.own.gain - mine + shift
        if gain > best + o.tolerance:
            best = gain
            best_at[0] = at
            best_tries[0] = o.tries
            copy_choice(&o.best_own, &o.own, o.words)
        if gain < -o.reach:
            return best


cdef inline bint move_node(Search *s, Orders *o, int v) noexcept nogil:
    """Move v to its best place, if that is better; return whether it moved."""
    cdef int at = -1, tries = 0, right_at = -1, right_tries = 0
    cdef double best, right
    best = sweep(s, o, v, True, 0.0, &at, &tries)
    # the tries of the left sweep are overwritten by those of the right one
    right = sweep(s, o, v, False, best, &right_at, &right_tries)
    if right_at >= 0:
        put_in(o, v, right_at, right_tries)
        return True
    if at < 0:
        return False
    sweep_again(s, o, v, at)
    put_in(o, v, at, o.tries)
    return True


cdef inline void sweep_again(Search *s, Orders *o, int v, int to) noexcept nogil:
    """Make the choices of a place on the left again; all gains are stored."""
    cdef int at = o.place[v], u
    begin_sweep(o, v)
    while at > to:
        at -= 1
        u = o.order[at]
        take(o.before, u)
        if has(o.rivals_of + <size_t>v * o.words, u):
            add(o.before, v)
            try_choice(s, o, u)
            take(o.before, v)
        if has(o.own.grown, u):
            choose(s, o, v, o.before, &o.own)
    copy_choice(&o.best_own, &o.own, o.words)


cdef inline void begin_order(void *argument) noexcept nogil:
    """Choose the parents for an order that was set."""
    cdef Search *s = <Search *>argument
    cdef Orders *o = <Orders *>s.orders
    cdef int i
    for i in range(o.n):
        o.place[o.order[i]] = i
    choose_all(s, o)


cdef inline double walking_time(const Orders *o) noexcept nogil:
    """Return about how many seconds the walk from the empty graph to the best order takes."""
    cdef double edges = 0.0
    cdef int v
    for v in range(o.n):
        edges += o.chosen[v].size
    return 1e-9 * NANOSECONDS_OF_WALK * edges * (edges / o.n) * (edges / o.n)


cdef inline void move_round(void *argument) noexcept nogil:
    """Move each node to its best place in turn."""
    cdef Search *s = <Search *>argument
    cdef Orders *o = <Orders *>s.orders
    cdef int i
    o.moved = False
    for i in range(o.n):
        s.walking_time = walking_time(o)
        s.m.check(s.m.owner)
        if o.limit >= 0 and s.m.work > o.limit:
            return
        if move_node(s, o, o.ranking[i]):
            o.moved = True


cdef inline void find_strengths(void *argument) noexcept nogil:
    """Write for each node the sum of the gains of all edges into it, beside the required ones."""
    cdef Search *s = <Search *>argument
    cdef int v, y
    for y in range(s.g.n):
        s.base.size = 0
        clear(s.allowed, s.g.words)
        for v in range(s.g.n):
            if s.has_constraint and has(s.fixed + <size_t>y * s.g.words, v):
                push(&s.exit, &s.base, v)
            elif v != y and not (s.has_constraint and has(s.barred + <size_t>y * s.g.words, v)):
                add(s.allowed, v)
        s.strengths[y] = sum_of_inserts(
            &s.m, record_of(&s.m, y, s.base.at, s.base.size), s.allowed
        )


# From one DAG to another by operators, one edge at a time
#
#     x -> y leaves a member D of the class    Delete(x, y, H), H = NA_{y,x} ∩ children of y in D
#     x -> y joins it                          Insert(x, y, T), T = Pa_D(y) ∩ Ne(y) ∖ Adj(x)
#
# Both are valid, and are scored by the parents of y in D, because they can be carried out in the
# member D (Chickering 2002, Theorems 15 and 17).  The score is called only for the gains of the
# steps: these families are not counted.


cdef inline void list_row(Search *s, const Word *row, Ints *to) noexcept nogil:
    cdef int v
    to.size = 0
    for v in range(s.g.n):
        if has(row, v):
            push(&s.exit, to, v)


cdef inline void take_edge(Search *s, int kind, int x, int y, double gain) noexcept nogil:
    """Apply and record the operator that ``found.set`` completes."""
    cdef int before = s.g.changes
    sort_small(&s.found.set)
    s.found.kind = kind
    s.found.x = x
    s.found.y = y
    s.found.gain = gain
    carry_out(s, kind, x, y, &s.found.set)
    note_changes(s, before)
    note_step(s, &s.found)
    report(s)


cdef inline void leave_parent(Search *s, Orders *o, int x, int y) noexcept nogil:
    cdef Graph *g = &s.g
    cdef Word *own = o.member + <size_t>y * o.words
    cdef int i, h
    cdef double gain
    list_row(s, own, &o.left)
    gain = single_gain(&s.m, y, o.left.at, o.left.size, x, False)
    s.found.set.size = 0
    for i in range(g.neighbors[y].size):
        h = g.neighbors[y].at[i]
        if h != x and adjacent(g, h, x) and has(o.member + <size_t>h * o.words, y):
            push(&s.exit, &s.found.set, h)
    take(own, x)
    take_edge(s, DELETE, x, y, gain)


cdef inline bint join_parent(Search *s, Orders *o, int y) noexcept nogil:
    """Add the missing parent with the largest gain; return whether there was one."""
    cdef Graph *g = &s.g
    cdef Word *own = o.member + <size_t>y * o.words
    cdef Word *goal = o.goal + <size_t>y * o.words
    cdef int i, x, t, best = -1
    cdef double gain, highest = -INFINITY
    list_row(s, own, &o.left)
    s.also.size = 0
    for x in range(o.n):
        if has(goal, x) and not has(own, x):
            push(&s.exit, &s.also, x)
    look_ahead(&s.m, y, o.left.at, o.left.size, s.also.at, s.also.size)
    for i in range(s.also.size):
        gain = single_gain(&s.m, y, o.left.at, o.left.size, s.also.at[i], True)
        if best < 0 or gain > highest:
            best = s.also.at[i]
            highest = gain
    if best < 0:
        return False
    s.found.set.size = 0
    for i in range(o.left.size):
        t = o.left.at[i]
        if kind_of(g, t, y) == LINE and not adjacent(g, t, best):
            push(&s.exit, &s.found.set, t)
    add(own, best)
    take_edge(s, INSERT, best, y, highest)
    return True


cdef inline void walk_edges(void *argument) noexcept nogil:
    """Go from the member DAG to the goal: first delete, then insert in the order of the goal."""
    cdef Search *s = <Search *>argument
    cdef Orders *o = <Orders *>s.orders
    cdef int i, x, y
    for y in range(o.n):
        for x in range(o.n):
            if has(o.member + <size_t>y * o.words, x) and not has(o.goal + <size_t>y * o.words, x):
                leave_parent(s, o, x, y)
    for i in range(o.n):
        while join_parent(s, o, o.order[i]):
            pass
