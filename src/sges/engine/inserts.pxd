"""The inserts of a state, stored by (y, S).

Insert(x, y, T) makes S = NA_{y,x} ∪ T parents of y; its gain is that of adding x to the base Pa(y) ∪ S.
For one (y, S) the x are those that are not adjacent to y, that are adjacent to no neighbor of y
outside S, and that no semi-directed path from y around S reaches.  The last condition depends on
the whole graph, so it is checked only for inserts that would be applied; an insert is evaluated, and
counted, once the other two hold.

Only sets S that some x can use are listed: for each NA that occurs, the cliques NA ∪ T.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from sges.engine.gains cimport ask_inserts
from sges.engine.graph cimport Graph, adjacent, row_of
from sges.engine.lists cimport (
    Ints, OVER_BUDGET, TIME_UP, Word, add, clear, copy_to, has, leave, push, regrown, size_of,
    sort_ints, take,
)
from sges.engine.paths cimport is_standing, leads, remember, trace, walk_all
from sges.engine.records cimport Record, record_of
from sges.engine.search cimport (
    Barrier, CONSERVATIVE, Found, INSERTS, PREFERRED, TURNS, INSERT, Inserts, Lane, Lanes, Near,
    POLY, Rejected, Search, best_node, compare_sets, each_clique, each_clique_with, find_maximal,
    give_row, is_late, look_around, look_near, make_tree, mark_stale, next_node, row_taken, set_best,
    within_limits,
)


cdef enum:
    MANY_SETS = 100000  # with more sets in one view, the search warns that it may not end
    FEW_BARRED = 2  # up to this many inserts of a lane are always barred one by one


cdef inline bint make_inserts(Inserts *of, int n, int mode) noexcept nogil:
    of.mode = mode
    of.of = <Lanes *>calloc(<size_t>n + 1, sizeof(Lanes))
    of.above = <Ints *>calloc(<size_t>n + 1, sizeof(Ints))
    of.source = PREFERRED if mode == CONSERVATIVE else INSERTS
    of.is_capped = <bint *>calloc(<size_t>n + 1, sizeof(bint))
    return make_tree(&of.tree, n) and of.of != NULL and of.above != NULL and of.is_capped != NULL


cdef inline void free_inserts(Inserts *of, int n) noexcept nogil:
    cdef int y
    if of.of != NULL and of.above != NULL:
        for y in range(n):
            free(of.of[y].at)
            free(of.of[y].sets.at)
            free(of.above[y].at)
    free(of.of)
    free(of.above)
    free(of.is_capped)
    free(of.tree.at)
    free(of.rejected)
    of.of = NULL
    of.above = NULL
    of.is_capped = NULL
    of.tree.at = NULL
    of.rejected = NULL
    of.rejections = of.room = of.capped_nodes = 0


# Lanes


cdef inline void close_lanes(Search *s, Lanes *lanes) noexcept nogil:
    cdef int i
    for i in range(lanes.size):
        give_row(s, lanes.at[i].allowed)
    lanes.size = 0
    lanes.sets.size = 0


cdef inline Lane *new_lane(Search *s, Lanes *lanes, const int *path, int size) noexcept nogil:
    """Add a lane for the neighbors that a path numbers; its row is not filled yet."""
    cdef Lane *lane
    cdef int i
    if lanes.size == lanes.room:
        lanes.room = 2 * lanes.room + 2
        lanes.at = <Lane *>regrown(&s.exit, lanes.at, <size_t>lanes.room * sizeof(Lane))
    lane = &lanes.at[lanes.size]
    lane.record = NULL
    lane.barred = 0
    lane.best = -INFINITY
    lane.first = lanes.sets.size
    lane.size = size
    for i in range(size):
        push(&s.exit, &lanes.sets, s.near.node.at[path[i]])
    sort_ints(lanes.sets.at + lane.first, size)
    lane.allowed = row_taken(s)
    lanes.size += 1
    return lane


cdef inline bint is_barred(const Search *s, int x, int y) noexcept nogil:
    return (x == s.bar_x and y == s.bar_y) or (x == s.bar_y and y == s.bar_x)


cdef inline bint offers(const Search *s, const Lane *lane, int x, int y) noexcept nogil:
    return has(lane.allowed, x) and not (s.bar_x >= 0 and is_barred(s, x, y))


cdef inline void find_best(const Search *s, Lane *lane, int y) noexcept nogil:
    """Find the best gain of a lane; whether x is offered is checked only if it would be the best."""
    cdef Record *r = lane.record
    cdef int i
    lane.best = -INFINITY
    for i in range(r.count):
        if r.gains[i] > lane.best and offers(s, lane, r.xs[i], y):
            lane.best = r.gains[i]


cdef inline void find_best_of(Inserts *of, int y) noexcept nogil:
    cdef int i
    cdef double best = -INFINITY
    for i in range(of.of[y].size):
        best = max(best, of.of[y].at[i].best)
    set_best(&of.tree, y, best)


# The x of a lane


cdef inline void exclude_adjacent(Search *s, Word *row, int v) noexcept nogil:
    """Remove all nodes that are adjacent to v from a set."""
    cdef Graph *g = &s.g
    cdef Word *out = row_of(g, v)
    cdef int w, i
    for w in range(g.words):
        row[w] &= ~out[w]
    for i in range(g.parents[v].size):
        take(row, g.parents[v].at[i])


cdef inline void begin_allowed(Search *s, Word *row, int y) noexcept nogil:
    """Fill in the nodes that may become adjacent to y at all."""
    cdef Graph *g = &s.g
    cdef int w
    for w in range(g.words):
        row[w] = ~<Word>0
    if g.n & 63:
        row[g.words - 1] = (<Word>1 << (g.n & 63)) - 1
    take(row, y)
    exclude_adjacent(s, row, y)
    if s.barred != NULL:
        for w in range(g.words):
            row[w] &= ~s.barred[<size_t>y * g.words + w]


cdef inline void allow_all(Search *s, Lane *lane, const int *path, int size) noexcept nogil:
    """Allow the x that are adjacent to no neighbor of y outside S."""
    cdef Near *a = &s.near
    cdef int i
    begin_allowed(s, lane.allowed, a.y)
    s.g.marks += 2
    for i in range(size):
        s.g.mark[a.node.at[path[i]]] = s.g.marks
    for i in range(a.k):
        if s.g.mark[a.node.at[i]] != s.g.marks:
            exclude_adjacent(s, lane.allowed, a.node.at[i])


cdef inline int group_size(const Near *a, int group) noexcept nogil:
    return 0 if group < 0 else size_of(a.na + <size_t>group * a.words, a.words)


cdef inline bint group_inside(
    const Near *a, int group, const int *path, int size, int expected
) noexcept nogil:
    """Return whether all ``expected`` nodes of a group's NA are on the path."""
    cdef int i, common = 0
    cdef Word *na
    if group < 0:
        return True
    na = a.na + <size_t>group * a.words
    for i in range(size):
        common += has(na, path[i])
    return common == expected


cdef inline bint is_looked_at(const Search *s, const int *path, int size, int chosen) noexcept nogil:
    """Return whether inserts with this S and a T of ``chosen`` nodes are examined."""
    if s.making.mode == POLY:
        return chosen <= s.moves.largest_t
    if s.near.capped:
        return within_limits(&s.near, path, size, chosen)
    return True


cdef inline void allow_some(Search *s, Lane *lane, const int *path, int size) noexcept nogil:
    """Allow the x for which S = NA ∪ T with a T that is examined."""
    cdef Near *a = &s.near
    cdef int i, w, own
    if a.far and is_looked_at(s, path, size, size):
        memcpy(lane.allowed, s.far, <size_t>s.g.words * sizeof(Word))
    else:
        clear(lane.allowed, s.g.words)
    for i in range(a.xs.size):
        own = group_size(a, i)
        if group_inside(a, i, path, size, own) and is_looked_at(s, path, size, size - own):
            add(lane.allowed, a.xs.at[i])
    if s.barred != NULL:
        for w in range(s.g.words):
            lane.allowed[w] &= ~s.barred[<size_t>a.y * s.g.words + w]


# Making the lanes of a node


cdef inline void finish_lane(Search *s, Lane *lane) noexcept nogil:
    """Compute the inserts of a lane, or drop it if it has none."""
    cdef Near *a = &s.near
    cdef Lanes *lanes = &s.making.of[a.y]
    cdef Graph *g = &s.g
    cdef int i, count = size_of(lane.allowed, g.words)
    if count == 0:
        give_row(s, lane.allowed)
        lanes.size -= 1
        lanes.sets.size = lane.first
        return
    s.considered += count
    copy_to(&s.exit, &s.base, g.parents[a.y].at, g.parents[a.y].size)
    for i in range(lane.size):
        push(&s.exit, &s.base, lanes.sets.at[lane.first + i])
    lane.record = record_of(&s.m, a.y, s.base.at, s.base.size)
    s.also.size = 0
    if s.moves.turns and not lane.record.computed:
        list_turnable(s, lane.record)
    ask_inserts(&s.m, lane.record, lane.allowed, s.also.at, s.also.size)
    find_best(s, lane, a.y)


cdef inline void list_turnable(Search *s, const Record *r) noexcept nogil:
    """List the children and neighbors of a node that are not in the base: edges to be turned."""
    cdef Graph *g = &s.g
    cdef int i
    g.marks += 2
    for i in range(r.size):
        g.mark[r.base[i]] = g.marks
    for i in range(g.children[r.y].size):
        push(&s.exit, &s.also, g.children[r.y].at[i])
    for i in range(g.neighbors[r.y].size):
        if g.mark[g.neighbors[r.y].at[i]] != g.marks:
            push(&s.exit, &s.also, g.neighbors[r.y].at[i])
    sort_ints(s.also.at, s.also.size)


cdef inline bint has_room(const Search *s, int size) noexcept nogil:
    """Return whether y may have Pa(y), ``size`` neighbors and one more node as parents."""
    return (
        s.moves.max_indegree < 0
        or s.g.parents[s.near.y].size + size + 1 <= s.moves.max_indegree
    )


cdef inline void count_listed(Search *s) noexcept nogil:
    """Count a set or turn that is listed; leave the run if this is one too many.

    The budget ends a run here and nowhere else, so that the end does not depend on the gains that
    are stored.
    """
    s.m.work += 1
    s.listed += 1
    if s.most_listed >= 0 and s.listed > s.most_listed:
        leave(&s.exit, OVER_BUDGET)


cdef inline void leave_if_late(Search *s) noexcept nogil:
    """Leave the run if its time is up.  Budgets do not end here: these must not depend on time."""
    if is_late(s):
        leave(&s.exit, TIME_UP)


cdef inline void tick(Search *s) noexcept nogil:
    """Check the time from time to time: there may be exponentially many sets."""
    s.ticks += 1
    s.sets += 1
    count_listed(s)
    if s.sets == MANY_SETS and s.exploding == 0:
        s.exploding = 1
    if s.ticks & 63 == 0:
        s.m.check(s.m.owner)


cdef inline bint use_every(Search *s, const int *path, int size) noexcept nogil:
    """Make the lane of a clique; every x that fits is allowed."""
    cdef Lane *lane
    cdef int i
    tick(s)
    if not has_room(s, size):
        return False
    for i in range(s.group):  # each set once: at the first NA inside it
        if group_inside(&s.near, i, path, size, group_size(&s.near, i)):
            return True
    lane = new_lane(s, &s.making.of[s.near.y], path, size)
    allow_all(s, lane, path, size)
    finish_lane(s, lane)
    return True


cdef inline bint use_some(Search *s, const int *path, int size) noexcept nogil:
    """Make the lane of a clique that is examined; prune those that are not."""
    cdef Near *a = &s.near
    cdef Lane *lane
    cdef int i, own
    tick(s)
    if not has_room(s, size):
        return False
    if not is_looked_at(s, path, size, size - group_size(a, s.group)):
        return False
    if s.group >= 0 and a.far and is_looked_at(s, path, size, size):
        return True
    for i in range(s.group):
        own = group_size(a, i)
        if group_inside(a, i, path, size, own) and is_looked_at(s, path, size, size - own):
            return True
    if is_above(s, path, size):
        return True
    lane = new_lane(s, &s.making.of[a.y], path, size)
    allow_some(s, lane, path, size)
    finish_lane(s, lane)
    return True


cdef inline bint is_above(const Search *s, const int *path, int size) noexcept nogil:
    """Return whether a clique is that of the member DAG, which has its own lane."""
    cdef Ints *above = &s.making.above[s.near.y]
    cdef int i, k, common = 0
    if size != above.size:
        return False
    for i in range(size):
        for k in range(size):
            common += above.at[k] == s.near.node.at[path[i]]
    return common == size


cdef inline void use_member(Search *s) noexcept nogil:
    """Make the lane of the member DAG: S = Pa(y) in it among the neighbors, with every x."""
    cdef Near *a = &s.near
    cdef Ints *above = &s.making.above[a.y]
    cdef Lane *lane
    cdef int i, k
    if not has_room(s, above.size):
        return
    s.order.size = 0
    for i in range(a.k):
        for k in range(above.size):
            if above.at[k] == a.node.at[i]:
                push(&s.exit, &s.order, i)
    lane = new_lane(s, &s.making.of[a.y], s.order.at, s.order.size)
    allow_all(s, lane, s.order.at, s.order.size)
    finish_lane(s, lane)


cdef inline bint same_group_before(const Near *a, int group) noexcept nogil:
    cdef int i, w
    cdef bint same
    for i in range(group):
        same = True
        for w in range(a.words):
            if a.na[<size_t>i * a.words + w] != a.na[<size_t>group * a.words + w]:
                same = False
        if same:
            return True
    return False


cdef inline void by_groups(Search *s, bint every) noexcept nogil:
    """Walk the cliques that contain the NA of some x."""
    cdef Near *a = &s.near
    cdef int i
    s.group = -1
    if a.far:
        each_clique(s, use_every if every else use_some)
        if every:
            return
    for i in range(a.xs.size):
        if not same_group_before(a, i):
            s.group = i
            each_clique_with(s, a.na + <size_t>i * a.words, use_every if every else use_some)


cdef inline bint surely_far(const Search *s) noexcept nogil:
    """Return whether counting edges shows that some node is far from y and its neighbors."""
    cdef const Near *a = &s.near
    cdef Graph *g = <Graph *>&s.g
    cdef long long seen = 1 + g.parents[a.y].size + g.children[a.y].size + a.k
    cdef int i, v
    for i in range(a.k):
        v = a.node.at[i]
        seen += g.parents[v].size + g.children[v].size + g.neighbors[v].size
    return seen < g.n


cdef inline void make_lanes(Search *s, Inserts *of, int y) noexcept nogil:
    """Make the lanes of y from its view."""
    cdef Near *a = &s.near
    cdef int i
    s.making = of
    s.group = -1
    close_lanes(s, &of.of[y])
    s.views[of.source][y] += 1
    look_near(s, y)
    a.capped = False
    of.capped_nodes -= of.is_capped[y]
    of.is_capped[y] = False
    if a.k == 0:
        use_every(s, a.path.at, 0)
    else:
        if s.moves.sets_per_clique >= 0 and of.mode != POLY:
            find_maximal(s)
        if of.mode != POLY and not a.capped:
            a.far = surely_far(s)
            if not a.far:
                look_around(s)
            by_groups(s, True)
        else:
            if a.capped:
                note_capped(s, of, y)
                direct_component(s, of, y)
            look_around(s)
            begin_allowed(s, s.far, y)
            for i in range(a.k):
                exclude_adjacent(s, s.far, a.node.at[i])
            use_member(s)
            by_groups(s, False)
    if of.mode == CONSERVATIVE:
        leave_independent(s, of, y)
    find_best_of(of, y)


cdef inline void note_capped(Search *s, Inserts *of, int y) noexcept nogil:
    of.is_capped[y] = True
    of.capped_nodes += 1
    if s.capped < 0:
        s.capped = s.step_count


cdef inline void leave_independent(Search *s, Inserts *of, int y) noexcept nogil:
    """Drop each x that is independent of y according to some lane.

    This is the idea of LGES (Ejaz & Bareinboim 2025): a spurious insert often joins two nodes that
    are independent given some set, which the score has already shown.
    """
    cdef Lanes *lanes = &of.of[y]
    cdef Lane *lane
    cdef Record *r
    cdef int i, k, w
    clear(s.independent, s.g.words)
    for i in range(lanes.size):
        lane = &lanes.at[i]
        r = lane.record
        memcpy(s.allowed, lane.allowed, <size_t>s.g.words * sizeof(Word))
        for k in range(r.count):
            if r.gains[k] > s.tolerance:
                take(s.allowed, r.xs[k])
        for w in range(s.g.words):
            s.independent[w] |= s.allowed[w]
    for i in range(lanes.size):
        for w in range(s.g.words):
            lanes.at[i].allowed[w] &= ~s.independent[w]
        find_best(s, &lanes.at[i], y)


# One member of the class


cdef inline void list_component(Search *s, int v) noexcept nogil:
    """List the chain component of v in ``members``, sorted by rank, or else by number."""
    cdef Graph *g = &s.g
    cdef int i = 0, k, u, w
    s.members.size = 0
    g.marks += 2
    push(&s.exit, &s.members, v)
    g.mark[v] = g.marks
    while i < s.members.size:
        u = s.members.at[i]
        i += 1
        for k in range(g.neighbors[u].size):
            w = g.neighbors[u].at[k]
            if g.mark[w] != g.marks:
                g.mark[w] = g.marks
                push(&s.exit, &s.members, w)
    if s.ranking.size == 0:
        sort_ints(s.members.at, s.members.size)
        return
    for i in range(s.members.size):
        s.members.at[i] = s.rank.at[s.members.at[i]]
    sort_ints(s.members.at, s.members.size)
    for i in range(s.members.size):
        s.members.at[i] = s.ranking.at[s.members.at[i]]


cdef inline void direct_members_of(Search *s, Inserts *of) noexcept nogil:
    """Direct the nodes in ``members`` as a member of the class that satisfies the knowledge."""
    cdef int status
    s.making = of
    status = s.direct_members(s.owner)
    if status:
        leave(&s.exit, status)


cdef inline void direct_component(Search *s, Inserts *of, int v) noexcept nogil:
    """Direct the chain component of v as one member of the class does: fill ``above``.

    By maximum cardinality search, ties to the first in ``members``; under knowledge, as a member
    that satisfies it.
    """
    cdef Graph *g = &s.g
    cdef int i, k, u, w, best, size
    list_component(s, v)
    for i in range(s.members.size):
        of.above[s.members.at[i]].size = 0
        g.count[s.members.at[i]] = 0
    if s.has_constraint:
        direct_members_of(s, of)
        return
    copy_to(&s.exit, &s.order, s.members.at, s.members.size)
    size = s.order.size
    while size:
        best = 0
        for i in range(1, size):
            if g.count[s.order.at[i]] > g.count[s.order.at[best]]:
                best = i
        u = s.order.at[best]
        size -= 1
        for i in range(best, size):
            s.order.at[i] = s.order.at[i + 1]
        g.count[u] = -1
        for k in range(g.neighbors[u].size):
            w = g.neighbors[u].at[k]
            if g.count[w] < 0:
                push(&s.exit, &of.above[u], w)
            else:
                g.count[w] += 1


cdef inline void spread_stale(Search *s, Inserts *of) noexcept nogil:
    """Mark as stale the nodes whose parents in the member DAG may have changed.

    These are the nodes in the component of a stale node whose inserts depend on the member: for poly-FES all
    nodes, otherwise those with too many cliques.
    """
    cdef int i = 0, k, v
    if of.mode != POLY and of.capped_nodes == 0:
        return
    s.stack.size = 0
    while i < s.stale.size:
        v = s.stale.at[i]
        i += 1
        if has(s.visited, v):
            continue
        if of.mode == POLY and not s.has_constraint:
            direct_component(s, of, v)
        else:
            list_component(s, v)
        for k in range(s.members.size):
            v = s.members.at[k]
            push(&s.exit, &s.stack, v)
            add(s.visited, v)
            if of.mode == POLY or of.is_capped[v]:
                mark_stale(s, v)
    for i in range(s.stack.size):
        take(s.visited, s.stack.at[i])
    if of.mode == POLY and s.has_constraint:  # all components at once, as one member has them
        copy_to(&s.exit, &s.members, s.stack.at, s.stack.size)
        direct_members_of(s, of)
    s.stack.size = 0


# The best insert


cdef inline bint is_free(Search *s, Inserts *of, int y, int lane, int x) noexcept nogil:
    """Return whether S blocks every semi-directed path from y to x; if not, bar the insert."""
    cdef Lanes *lanes = &of.of[y]
    cdef Lane *own = &lanes.at[lane]
    cdef int i
    cdef bint found
    for i in range(own.size):
        add(s.visited, lanes.sets.at[own.first + i])
    found = leads(s, y, x, s.visited, False)
    for i in range(own.size):
        take(s.visited, lanes.sets.at[own.first + i])
    if found:
        take(own.allowed, x)
        remember(s, of.source, x, y, lane)
    return not found


cdef inline void bar_reached(Search *s, Inserts *of, int y, int lane) noexcept nogil:
    """Bar all inserts of a lane that a path from y around S bars, with one walk, if that is faster.

    It is if such walks have visited fewer nodes so far than one search for each insert would.
    """
    cdef Lanes *lanes = &of.of[y]
    cdef Lane *own = &lanes.at[lane]
    cdef Record *r = own.record
    cdef int i, x
    cdef double left = 0.0
    cdef long long highest = -1
    for i in range(r.count):
        if has(own.allowed, r.xs[i]) and s.g.level[r.xs[i]] >= s.g.level[y]:
            left += 1.0
            highest = max(highest, s.g.level[r.xs[i]])
    if left * s.met_by_searches * s.walks <= <double>s.met_by_walks * s.searches:
        return
    for i in range(own.size):
        add(s.visited, lanes.sets.at[own.first + i])
    walk_all(s, y, s.visited, highest)
    for i in range(own.size):
        take(s.visited, lanes.sets.at[own.first + i])
    for i in range(r.count):
        x = r.xs[i]
        if has(own.allowed, x) and s.met[x] == s.walk:
            take(own.allowed, x)
            trace(s, x)
            remember(s, of.source, x, y, lane)


cdef inline bint best_is_free(
    Search *s, Inserts *of, int y, double best, int *free_lane, int *free_x
) noexcept nogil:
    """Check the paths of y's inserts with this gain; return whether one of them is free, and which.

    Those that a path bars are dropped.
    """
    cdef Lanes *lanes = &of.of[y]
    cdef Record *r
    cdef int i, k
    for i in range(lanes.size):
        if lanes.at[i].best < best:
            continue
        r = lanes.at[i].record
        for k in range(r.count):
            if r.gains[k] >= best and offers(s, &lanes.at[i], r.xs[k], y):
                if is_free(s, of, y, i, r.xs[k]):
                    free_lane[0] = i
                    free_x[0] = r.xs[k]
                    return True
                lanes.at[i].barred += 1
        if lanes.at[i].barred > FEW_BARRED:
            bar_reached(s, of, y, i)
        find_best(s, &lanes.at[i], y)
    find_best_of(of, y)
    return False


cdef inline void lift_barriers(Search *s) noexcept nogil:
    """Offer the inserts again that were barred by paths that may no longer exist."""
    cdef Barrier *b
    cdef Inserts *of
    cdef Lane *lane
    cdef int i, k
    cdef Ints *through
    for i in range(s.lost.size):
        through = &s.through[s.lost.at[i]]
        for k in range(through.size):
            b = &s.barrier[through.at[k]]
            if is_standing(s, b):
                if b.source == TURNS:
                    s.turns.of[b.y].at[b.lane].barred = False
                    push(&s.exit, &s.unbarred, b.y)
                else:
                    of = &s.preferred if b.source == PREFERRED else &s.inserts
                    lane = &of.of[b.y].at[b.lane]
                    add(lane.allowed, b.x)
                    find_best(s, lane, b.y)
                    find_best_of(of, b.y)
            b.source = -1
        through.size = 0


cdef inline void list_t(Search *s, const Lanes *lanes, const Lane *lane, int x, Ints *t) noexcept nogil:
    """List T, the nodes of S that are not in NA_{y,x}."""
    cdef int i, v
    t.size = 0
    for i in range(lane.size):
        v = lanes.sets.at[lane.first + i]
        if not adjacent(&s.g, x, v):
            push(&s.exit, t, v)


cdef inline bint has_lesser_key(Search *s, int x, int y, const Ints *chosen) noexcept nogil:
    """Return whether an operator comes before the one found so far, if they tie."""
    cdef Found *found = &s.found
    if found.x < 0:
        return True
    if x != found.x:
        return x < found.x
    if y != found.y:
        return y < found.y
    return compare_sets(chosen.at, chosen.size, found.set.at, found.set.size) < 0


cdef inline void take_least(
    Search *s, Found *found, int kind, int x, int y, const Ints *chosen, double gain, int lane
) noexcept nogil:
    """Keep an operator if it has a smaller key than the one found so far."""
    if not has_lesser_key(s, x, y, chosen):
        return
    found.kind = kind
    found.x = x
    found.y = y
    found.gain = gain
    found.lane = lane
    copy_to(&s.exit, &found.set, chosen.at, chosen.size)


cdef inline bint best_insert(Search *s, Inserts *of) noexcept nogil:
    """Find the insert of largest gain; of those that tie, the one with the smallest key."""
    cdef int y, i, k, x, free_y, free_lane, free_x
    cdef double highest, floor
    cdef Lanes *lanes
    cdef Record *r
    if of.of == NULL or s.g.n == 0:
        return False
    while True:
        leave_if_late(s)
        free_y = best_node(&of.tree)
        highest = of.tree.at[1]
        if highest <= s.tolerance:
            return False
        if best_is_free(s, of, free_y, highest, &free_lane, &free_x):
            break
    floor = highest - s.tolerance
    s.found.x = -1
    y = next_node(&of.tree, 0, floor)
    while y >= 0:
        lanes = &of.of[y]
        for i in range(lanes.size):
            if lanes.at[i].best < floor:
                continue
            r = lanes.at[i].record
            for k in range(r.count):
                x = r.xs[k]
                if r.gains[k] < floor or (s.found.x >= 0 and x > s.found.x):
                    continue
                if offers(s, &lanes.at[i], x, y):
                    list_t(s, lanes, &lanes.at[i], x, &s.best_set)
                    if has_lesser_key(s, x, y, &s.best_set) and (
                        (x == free_x and y == free_y and i == free_lane)
                        or is_free(s, of, y, i, x)
                    ):
                        take_least(s, &s.found, INSERT, x, y, &s.best_set, r.gains[k], i)
        y = next_node(&of.tree, y + 1, floor)
    return True


cdef inline void reject_insert(Search *s, Inserts *of, int x, int y, int lane) noexcept nogil:
    """Do not offer an insert again at this state."""
    if of.rejections == of.room:
        of.room = 2 * of.room + 8
        of.rejected = <Rejected *>regrown(&s.exit, of.rejected, <size_t>of.room * sizeof(Rejected))
    of.rejected[of.rejections].y = y
    of.rejected[of.rejections].x = x
    of.rejected[of.rejections].lane = lane
    of.rejections += 1
    take(of.of[y].at[lane].allowed, x)
    find_best(s, &of.of[y].at[lane], y)
    find_best_of(of, y)


cdef inline void offer_inserts_again(Search *s, Inserts *of) noexcept nogil:
    cdef int i, y
    cdef Lane *lane
    for i in range(of.rejections):
        y = of.rejected[i].y
        lane = &of.of[y].at[of.rejected[i].lane]
        add(lane.allowed, of.rejected[i].x)
        find_best(s, lane, y)
        find_best_of(of, y)
    of.rejections = 0


cdef inline void find_best_anew(Search *s, Inserts *of, int y) noexcept nogil:
    """Find the best insert into y again, after a pair was barred or freed."""
    cdef int i
    for i in range(of.of[y].size):
        find_best(s, &of.of[y].at[i], y)
    find_best_of(of, y)
