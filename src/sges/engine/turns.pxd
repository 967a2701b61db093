"""The turns of a state.

Turn(x, y, C) adds x to the parents Pa(y) ∪ C of y and removes y from the parents of x, so its gain is
that of an insert at y plus that of a delete at x.  The turns of y → x and x — y depend on the view of
y (Hauser & Bühlmann 2012, Propositions 31 and 34), their gains at x on the parents and neighbors of x,
and the path condition on the whole graph: it is checked only for turns that would be applied.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free

from sges.engine.gains cimport ask_deletes, ask_exact, place_of
from sges.engine.graph cimport Graph, LINE, adjacent, kind_of, points
from sges.engine.inserts cimport (
    count_listed, has_lesser_key, has_room, leave_if_late, take_least, tick,
)
from sges.engine.lists cimport (
    Ints, Word, add, clear, copy_to, has, lowest_bit, push, regrown, sort_ints, take,
)
from sges.engine.paths cimport leads, remember
from sges.engine.records cimport Record, record_of
from sges.engine.search cimport (
    Near, Search, TURN, TURNS, TurnLane, TurnLanes, Turns, best_node, each_clique, each_clique_with,
    find_maximal, local_row, look_near, make_tree, maximal_row, next_node, set_best,
)


cdef inline bint make_turns(Turns *of, int n) noexcept nogil:
    of.of = <TurnLanes *>calloc(<size_t>n + 1, sizeof(TurnLanes))
    return make_tree(&of.tree, n) and of.of != NULL


cdef inline void free_turns(Turns *of, int n) noexcept nogil:
    cdef int y
    if of.of != NULL:
        for y in range(n):
            free(of.of[y].at)
            free(of.of[y].sets.at)
    free(of.of)
    free(of.tree.at)
    of.of = NULL
    of.tree.at = NULL


cdef inline void close_turns(Search *s, TurnLanes *lanes) noexcept nogil:
    lanes.size = 0
    lanes.sets.size = 0
    lanes.best = -INFINITY


# Which turns there are
#
# x and the path of C are numbers of neighbors of y; ``allowed`` is C as a row.


cdef inline void mark_set(Search *s, const int *path, int size) noexcept nogil:
    cdef int i
    clear(s.allowed, s.near.words)
    for i in range(size):
        add(s.allowed, path[i])


cdef inline bint separates(Search *s, int x, const int *path, int size) noexcept nogil:
    """Return whether, on x — y, C ∩ NA separates C ∖ NA from NA ∖ C among the neighbors of y."""
    cdef Near *a = &s.near
    cdef Word *na = local_row(a, x)
    cdef Word *c = s.allowed
    cdef Word *reached = s.far
    cdef Word new
    cdef int i, v, w
    s.stack.size = 0
    for w in range(a.words):
        reached[w] = c[w] & ~na[w]
    for i in range(size):
        if has(reached, path[i]):
            push(&s.exit, &s.stack, path[i])
    while s.stack.size:
        s.stack.size -= 1
        v = s.stack.at[s.stack.size]
        for w in range(a.words):
            new = local_row(a, v)[w] & ~reached[w] & ~(c[w] & na[w])
            if new & na[w]:
                s.stack.size = 0
                return False
            reached[w] |= new
            while new:
                push(&s.exit, &s.stack, (w << 6) + lowest_bit(new))
                new &= new - 1
    return True


cdef inline bint turns_line(Search *s, int x, const int *path, int size) noexcept nogil:
    """Return whether Turn(x, y, C) on x — y meets every condition."""
    cdef Word *na = local_row(&s.near, x)
    cdef Word *c = s.allowed
    cdef Word apart = 0, beside = 0
    cdef int w
    if has(c, x):
        return False
    for w in range(s.near.words):
        apart |= c[w] & ~na[w]
        beside |= na[w] & ~c[w]
    return apart != 0 and (beside == 0 or separates(s, x, path, size))


cdef inline bint turns_arrow(Search *s, int x) noexcept nogil:
    """Return whether, on y → x, all neighbors of y that are adjacent to x are in C, which is marked."""
    cdef Near *a = &s.near
    cdef Graph *g = &s.g
    cdef int i
    for i in range(a.k):
        if g.mark[a.node.at[i]] != g.marks and adjacent(g, a.node.at[i], x):
            return False
    return True


cdef inline void propose(Search *s, const int *path, int size) noexcept nogil:
    """Record the turns with one C."""
    cdef Near *a = &s.near
    cdef Graph *g = &s.g
    cdef TurnLanes *lanes = &s.turns.of[a.y]
    cdef Record *r
    cdef int i, y = a.y
    s.also.size = 0
    mark_set(s, path, size)
    g.marks += 2
    for i in range(size):
        g.mark[a.node.at[path[i]]] = g.marks
    for i in range(g.children[y].size):
        if turns_arrow(s, g.children[y].at[i]):
            push(&s.exit, &s.also, g.children[y].at[i])
    for i in range(a.k):
        if turns_line(s, i, path, size):
            push(&s.exit, &s.also, a.node.at[i])
    if s.also.size == 0:
        return
    sort_ints(s.also.at, s.also.size)
    copy_to(&s.exit, &s.base, g.parents[y].at, g.parents[y].size)
    for i in range(size):
        push(&s.exit, &s.base, a.node.at[path[i]])
    r = record_of(&s.m, y, s.base.at, s.base.size)
    if r.view == s.view:
        return
    r.view = s.view
    ask_exact(&s.m, r, s.also.at, s.also.size)
    add_turns(s, lanes, r, path, size)


cdef inline void add_turns(
    Search *s, TurnLanes *lanes, Record *r, const int *path, int size
) noexcept nogil:
    cdef Near *a = &s.near
    cdef TurnLane *lane
    cdef int i, at = 0, first = lanes.sets.size
    for i in range(size):
        push(&s.exit, &lanes.sets, a.node.at[path[i]])
    sort_ints(lanes.sets.at + first, size)
    for i in range(s.also.size):
        if lanes.size == lanes.room:
            lanes.room = 2 * lanes.room + 4
            lanes.at = <TurnLane *>regrown(
                &s.exit, lanes.at, <size_t>lanes.room * sizeof(TurnLane)
            )
        lane = &lanes.at[lanes.size]
        lane.x = s.also.at[i]
        lane.first = first
        lane.size = size
        while r.also[at] < lane.x:
            at += 1
        lane.added = r.also_gains[at]
        lane.gain = -INFINITY
        lane.barred = lane.rejected = False
        lanes.size += 1


cdef inline bint use_turn(Search *s, const int *path, int size) noexcept nogil:
    tick(s)
    if not has_room(s, size):
        return False
    propose(s, path, size)
    return True


cdef inline bint use_unclaimed(Search *s, const int *path, int size) noexcept nogil:
    """Use a clique unless it contains one of the nodes that come first (``visited``)."""
    cdef int i
    for i in range(size):
        if path[i] != s.group and has(s.visited, path[i]):
            return False
    return use_turn(s, path, size)


cdef inline bint holds_na(Search *s) noexcept nogil:
    """Return whether some child of y is adjacent to no neighbor of y: then every C is needed."""
    cdef Near *a = &s.near
    cdef Graph *g = &s.g
    cdef int i, k
    cdef bint alone
    for i in range(g.children[a.y].size):
        alone = True
        for k in range(a.k):
            if adjacent(g, g.children[a.y].at[i], a.node.at[k]):
                alone = False
                break
        if alone:
            return True
    return False


cdef inline void each_useful(Search *s) noexcept nogil:
    """Walk the cliques that some x can use: those with a neighbor that is not adjacent to all others,
    and those that contain the NA of a child."""
    cdef Near *a = &s.near
    cdef Graph *g = &s.g
    cdef Word *core = a.stack + <size_t>(a.k + 1) * (a.words + 1)
    cdef int i, k, v, adjacent_ones
    s.members.size = 0
    for v in range(a.k):
        adjacent_ones = 0
        for i in range(a.k):
            adjacent_ones += has(local_row(a, v), i)
        if adjacent_ones < a.k - 1:
            push(&s.exit, &s.members, v)
    for k in range(s.members.size):
        s.group = s.members.at[k]
        clear(core, a.words)
        add(core, s.group)
        each_clique_with(s, core, use_unclaimed)
        add(s.visited, s.group)
    s.group = -1
    for i in range(g.children[a.y].size):
        clear(core, a.words)
        for v in range(a.k):
            if adjacent(g, g.children[a.y].at[i], a.node.at[v]):
                add(core, v)
        each_clique_with(s, core, use_unclaimed)
    for k in range(s.members.size):
        take(s.visited, s.members.at[k])


cdef inline void each_limited(Search *s) noexcept nogil:
    """Use the smallest and the largest subsets of each maximal clique."""
    cdef Near *a = &s.near
    cdef int m, size, v, limit
    for m in range(a.cliques):
        s.order.size = 0
        for v in range(a.k):
            if has(maximal_row(a, m), v):
                push(&s.exit, &s.order, v)
        limit = a.most.at[m]
        for size in range(s.order.size + 1):
            if limit < 0 or size <= limit or s.order.size - size <= limit:
                each_choice(s, size)


cdef inline void each_choice(Search *s, int size) noexcept nogil:
    """Use every choice of ``size`` nodes of ``order``."""
    cdef Near *a = &s.near
    cdef int i, k, n = s.order.size
    s.best_set.size = 0
    for i in range(size):
        push(&s.exit, &s.best_set, i)
    while True:
        for k in range(size):
            a.path.at[k] = s.order.at[s.best_set.at[k]]
        a.path.size = size
        use_turn(s, a.path.at, size)
        i = size - 1
        while i >= 0 and s.best_set.at[i] == n - size + i:
            i -= 1
        if i < 0:
            return
        s.best_set.at[i] += 1
        for i in range(i + 1, size):
            s.best_set.at[i] = s.best_set.at[i - 1] + 1


cdef inline void make_turn_lanes(Search *s, int y) noexcept nogil:
    """Make the turns of y → x and x — y from the view of y, and score them."""
    cdef Near *a = &s.near
    cdef TurnLanes *lanes = &s.turns.of[y]
    cdef int i
    close_turns(s, lanes)
    s.views[TURNS][y] += 1
    s.view += 1
    look_near(s, y)
    if a.k + s.g.children[y].size:
        a.capped = False
        if a.k and s.moves.sets_per_clique >= 0:
            find_maximal(s)
        if a.capped:
            each_limited(s)
        elif a.k == 0 or holds_na(s):
            each_clique(s, use_turn)
        else:
            each_useful(s)
    for i in range(lanes.size):
        score_turn(s, &lanes.at[i], y)
    find_best_turn(s, y)


# Their gains


cdef inline void score_turn(Search *s, TurnLane *lane, int y) noexcept nogil:
    """Add the gain of removing y from the parents of x, which is often the same for many C."""
    cdef Graph *g = &s.g
    cdef TurnLanes *lanes = &s.turns.of[y]
    cdef Record *r
    cdef int i, v, x = lane.x
    cdef bint is_plain = True
    count_listed(s)
    s.considered += 1
    for i in range(lane.size):
        is_plain = is_plain and kind_of(g, lanes.sets.at[lane.first + i], x) != LINE
    if is_plain and s.removal_view[x] == s.view:
        lane.gain = lane.added + s.removal[x]
        return
    copy_to(&s.exit, &s.base, g.parents[x].at, g.parents[x].size)
    if not points_to(g, y, x):
        push(&s.exit, &s.base, y)
    for i in range(lane.size):
        v = lanes.sets.at[lane.first + i]
        if kind_of(g, v, x) == LINE:
            push(&s.exit, &s.base, v)
    r = record_of(&s.m, x, s.base.at, s.base.size)
    i = place_of(r, y)
    clear(s.allowed, (r.size + 63) >> 6)
    add(s.allowed, i)
    ask_deletes(&s.m, r, s.allowed)
    lane.gain = lane.added + r.deletes[i]
    if is_plain:
        s.removal[x] = r.deletes[i]
        s.removal_view[x] = s.view


cdef inline bint points_to(const Graph *g, int u, int v) noexcept nogil:
    """Return whether u -> v."""
    return points(g, u, v) and not points(g, v, u)


cdef inline bint is_offered(const TurnLane *lane) noexcept nogil:
    return not lane.barred and not lane.rejected


cdef inline void find_best_turn(Search *s, int y) noexcept nogil:
    cdef TurnLanes *lanes = &s.turns.of[y]
    cdef int i
    lanes.best = -INFINITY
    for i in range(lanes.size):
        if lanes.at[i].gain > lanes.best and is_offered(&lanes.at[i]):
            lanes.best = lanes.at[i].gain
    set_best(&s.turns.tree, y, lanes.best)


cdef inline void rescore_turns(Search *s) noexcept nogil:
    """Score again the turns whose x has new parents or neighbors; y's view has not changed."""
    cdef Graph *g = &s.g
    cdef int i, k, x, kind
    cdef Ints *some
    for i in range(s.turned.size):
        x = s.turned.at[i]
        if s.is_turned[x]:
            continue
        s.is_turned[x] = True
        for kind in range(2):
            some = &g.parents[x] if kind else &g.neighbors[x]
            for k in range(some.size):
                if s.is_stale[some.at[k]] != s.stale_stamp:
                    rescore(s, x, some.at[k])
    for i in range(s.turned.size):
        s.is_turned[s.turned.at[i]] = False


cdef inline void rescore(Search *s, int x, int y) noexcept nogil:
    cdef TurnLanes *lanes = &s.turns.of[y]
    cdef int i
    s.view += 1
    for i in range(lanes.size):
        if lanes.at[i].x == x:
            lanes.at[i].barred = False
            score_turn(s, &lanes.at[i], y)
    find_best_turn(s, y)


cdef inline void offer_unbarred(Search *s) noexcept nogil:
    """Find the best turn again where one is no longer barred."""
    cdef int i
    for i in range(s.unbarred.size):
        find_best_turn(s, s.unbarred.at[i])
    s.unbarred.size = 0


# The best turn


cdef inline bint is_turn_free(Search *s, int y, int number) noexcept nogil:
    """Return whether, on y → x, C ∪ Ne(x) blocks every other path from y to x; if not, bar the turn."""
    cdef Graph *g = &s.g
    cdef TurnLanes *lanes = &s.turns.of[y]
    cdef TurnLane *lane = &lanes.at[number]
    cdef int i, x = lane.x
    if kind_of(g, x, y) == LINE:
        return True
    for i in range(lane.size):
        add(s.visited, lanes.sets.at[lane.first + i])
    for i in range(g.neighbors[x].size):
        add(s.visited, g.neighbors[x].at[i])
    lane.barred = leads(s, y, x, s.visited, True)
    for i in range(lane.size):
        take(s.visited, lanes.sets.at[lane.first + i])
    for i in range(g.neighbors[x].size):
        take(s.visited, g.neighbors[x].at[i])
    if lane.barred:
        remember(s, TURNS, x, y, number)
    return not lane.barred


cdef inline bint best_turn_is_free(Search *s, int y, double best) noexcept nogil:
    """Check the paths of y's turns with this gain; return whether one of them is free."""
    cdef TurnLanes *lanes = &s.turns.of[y]
    cdef int i
    for i in range(lanes.size):
        if lanes.at[i].gain >= best and is_offered(&lanes.at[i]) and is_turn_free(s, y, i):
            return True
    find_best_turn(s, y)
    return False


cdef inline bint best_turn(Search *s) noexcept nogil:
    """Find the turn of largest gain; of those that tie, the one with the smallest key."""
    cdef Turns *of = &s.turns
    cdef TurnLanes *lanes
    cdef TurnLane *lane
    cdef int y, i
    cdef double highest, floor
    if of.of == NULL or s.g.n == 0:
        return False
    while True:
        leave_if_late(s)
        y = best_node(&of.tree)
        highest = of.tree.at[1]
        if highest <= s.tolerance:
            return False
        if best_turn_is_free(s, y, highest):
            break
    floor = max(highest - s.tolerance, s.tolerance)
    s.found.x = -1
    y = next_node(&of.tree, 0, floor)
    while y >= 0:
        lanes = &of.of[y]
        for i in range(lanes.size):
            lane = &lanes.at[i]
            if lane.gain >= floor and is_offered(lane):
                copy_to(&s.exit, &s.best_set, lanes.sets.at + lane.first, lane.size)
                if has_lesser_key(s, lane.x, y, &s.best_set) and is_turn_free(s, y, i):
                    take_least(s, &s.found, TURN, lane.x, y, &s.best_set, lane.gain, i)
        y = next_node(&of.tree, y + 1, floor)
    return True


cdef inline void reject_turn(Search *s, int y, int lane) noexcept nogil:
    s.turns.of[y].at[lane].rejected = True
    push(&s.exit, &s.rejected_turns, y)
    find_best_turn(s, y)


cdef inline void offer_turns_again(Search *s) noexcept nogil:
    cdef int i, k, y
    for i in range(s.rejected_turns.size):
        y = s.rejected_turns.at[i]
        for k in range(s.turns.of[y].size):
            s.turns.of[y].at[k].rejected = False
        find_best_turn(s, y)
    s.rejected_turns.size = 0
