"""The deletes of a state, stored by (y, S), where S are the neighbors that stay parents of y.

Delete(x, y, H) keeps H̄ = NA_{y,x} ∖ H.  With S = H̄ for x → y, and S = H̄ ∪ x for x — y, S is a clique
among the neighbors of y, x lies in the base Pa(y) ∪ S, and the gain is that of removing x from this
base.  So one call of the score for each (y, S) serves all x.

Without bounds every clique S is kept.  Selective-Generate-Ops (Fig. 6) is written in terms of S here:
it chooses S from each maximal clique M of the neighbors, because every maximal clique of NA_{y,x} is
one of these without x.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free

from sges.engine.gains cimport ask_deletes, place_of
from sges.engine.graph cimport Graph, adjacent
from sges.engine.inserts cimport close_lanes, new_lane, take_least, tick
from sges.engine.lists cimport Ints, Word, add, clear, copy_to, count_bits, has, push, regrown, take
from sges.engine.records cimport Record, record_of
from sges.engine.search cimport (
    DELETE, Deletes, Lane, Lanes, Near, Rejected, Search, each_clique, find_maximal, local_row,
    look_near, make_tree, maximal_row, next_node, set_best,
)


cdef inline bint make_deletes(Deletes *of, int n) noexcept nogil:
    of.of = <Lanes *>calloc(<size_t>n + 1, sizeof(Lanes))
    return make_tree(&of.tree, n) and of.of != NULL


cdef inline void free_deletes(Deletes *of, int n) noexcept nogil:
    cdef int y
    if of.of != NULL:
        for y in range(n):
            free(of.of[y].at)
            free(of.of[y].sets.at)
    free(of.of)
    free(of.tree.at)
    free(of.rejected)
    of.of = NULL
    of.tree.at = NULL
    of.rejected = NULL
    of.rejections = of.room = 0


cdef inline bint may_delete(const Search *s, int x, int y) noexcept nogil:
    """Return whether knowledge allows the delete of the edge, directed as x -> y."""
    cdef size_t row = <size_t>y * s.g.words
    return s.barred == NULL or not (has(s.barred + row, x) or has(s.fixed + row, x))


cdef inline Lane *lane_of(Search *s, Lanes *lanes, const int *path, int size) noexcept nogil:
    """Return the lane that keeps these neighbors; make it if it does not exist."""
    cdef Graph *g = &s.g
    cdef int i, y = s.near.y
    cdef Record *r
    cdef Lane *lane
    copy_to(&s.exit, &s.base, g.parents[y].at, g.parents[y].size)
    for i in range(size):
        push(&s.exit, &s.base, s.near.node.at[path[i]])
    r = record_of(&s.m, y, s.base.at, s.base.size)
    if r.view == s.view:
        return &lanes.at[r.lane]
    lane = new_lane(s, lanes, path, size)
    lane.record = r
    clear(lane.allowed, s.g.words)
    r.view = s.view
    r.lane = lanes.size - 1
    return lane


cdef inline bint use_kept(Search *s, const int *path, int size) noexcept nogil:
    """Make the lane of a clique that is kept, with every x of its base."""
    cdef Graph *g = &s.g
    cdef int i, y = s.near.y
    cdef Lane *lane
    tick(s)
    if g.parents[y].size + size == 0:
        return True
    lane = lane_of(s, &s.deletes.of[y], path, size)
    for i in range(lane.record.size):
        if may_delete(s, lane.record.base[i], y):
            add(lane.allowed, i)
    return True


# Selective-Generate-Ops


cdef inline int room_in(
    const Search *s, int m, const Word *na, int x
) noexcept nogil:
    """Return how many nodes of a maximal clique a delete may put into H besides NA ∖ M; -1 for none.

    ``na`` is NA_{y,x}, and x the number of a neighbor, or -1 for the parents of y.
    """
    cdef const Near *a = &s.near
    cdef Word *own = maximal_row(a, m)
    cdef int i, w, beyond, most = a.sizes.at[m]
    if s.moves.clique_bound >= 0:
        for i in range(a.cliques):
            if x >= 0 and not has(maximal_row(a, i), x):
                continue
            beyond = 0
            for w in range(a.words):
                beyond += count_bits(maximal_row(a, i)[w] & ~own[w])
            if beyond > s.moves.clique_bound:
                return -1
        most = min(most, s.moves.clique_bound)
    if s.moves.size_bound >= 0:
        beyond = 0
        for w in range(a.words):
            beyond += count_bits(na[w] & ~own[w])
        most = min(most, s.moves.size_bound - beyond)
    return most


cdef inline bint is_too_large(const Search *s, const Word *na, const Word *kept) noexcept nogil:
    """Return whether H = NA ∖ S contains a clique larger than the bound."""
    cdef const Near *a = &s.near
    cdef int i, w, common
    for i in range(a.cliques):
        common = 0
        for w in range(a.words):
            common += count_bits(maximal_row(a, i)[w] & na[w] & ~kept[w])
        if common > s.moves.clique_bound:
            return True
    return False


cdef inline void use_subset(Search *s, int m, const int *chosen, int size, int parents_room) noexcept nogil:
    """Make or widen the lane that keeps M without the chosen nodes.

    ``order`` has how much room each neighbor leaves in M, and ``also`` the nodes of M.
    """
    cdef Near *a = &s.near
    cdef Graph *g = &s.g
    cdef Word *kept = a.stack
    cdef Word *every = a.stack + a.words + 1
    cdef Lane *lane = NULL
    cdef Record *r
    cdef int i, v, at = 0, y = a.y
    tick(s)
    clear(kept, a.words + 1)
    a.path.size = 0
    for i in range(s.also.size):
        if at < size and chosen[at] == i:
            at += 1
        else:
            a.path.at[a.path.size] = s.also.at[i]
            a.path.size += 1
            add(kept, s.also.at[i])
    for i in range(a.path.size):
        v = a.path.at[i]
        if s.order.at[v] < size or not may_delete(s, a.node.at[v], y):
            continue
        if s.moves.drop_large and is_too_large(s, local_row(a, v), kept):
            continue
        if lane == NULL:
            lane = lane_of(s, &s.deletes.of[y], a.path.at, a.path.size)
        add(lane.allowed, place_of(lane.record, a.node.at[v]))
    if parents_room < size or g.parents[y].size == 0:
        return
    clear(every, a.words + 1)
    for v in range(a.k):
        add(every, v)
    if s.moves.drop_large and is_too_large(s, every, kept):
        return
    for i in range(g.parents[y].size):
        v = g.parents[y].at[i]
        if may_delete(s, v, y):
            if lane == NULL:
                lane = lane_of(s, &s.deletes.of[y], a.path.at, a.path.size)
            add(lane.allowed, place_of(lane.record, v))


cdef inline void each_subset(Search *s, int m, int size, int parents_room) noexcept nogil:
    """Use every choice of ``size`` nodes of the maximal clique in ``also``."""
    cdef int i, n = s.also.size
    s.best_set.size = 0
    for i in range(size):
        push(&s.exit, &s.best_set, i)
    while True:
        use_subset(s, m, s.best_set.at, size, parents_room)
        i = size - 1
        while i >= 0 and s.best_set.at[i] == n - size + i:
            i -= 1
        if i < 0:
            return
        s.best_set.at[i] += 1
        for i in range(i + 1, size):
            s.best_set.at[i] = s.best_set.at[i - 1] + 1


cdef inline void select_deletes(Search *s) noexcept nogil:
    """Make the lanes that the bounds allow, maximal clique by maximal clique."""
    cdef Near *a = &s.near
    cdef Word *every = a.stack + 2 * (a.words + 1)
    cdef int m, v, most, limit, size, parents_room
    for m in range(a.cliques):
        every = a.stack + a.words + 1
        clear(every, a.words + 1)
        for v in range(a.k):
            add(every, v)
        parents_room = room_in(s, m, every, -1) if s.g.parents[a.y].size else -1
        most = parents_room
        s.also.size = 0
        s.order.size = 0
        for v in range(a.k):
            push(&s.exit, &s.order, -1)
            if has(maximal_row(a, m), v):
                push(&s.exit, &s.also, v)
                s.order.at[v] = room_in(s, m, local_row(a, v), v)
                most = max(most, s.order.at[v])
        limit = a.most.at[m]
        for size in range(most + 1):
            if limit < 0 or size <= limit or s.also.size - size <= limit:
                each_subset(s, m, size, parents_room)


cdef inline void make_delete_lanes(Search *s, int y) noexcept nogil:
    """Make the lanes of y from its view."""
    cdef Deletes *of = &s.deletes
    cdef Lanes *lanes = &of.of[y]
    cdef Lane *lane
    cdef int i, k, left = 0
    close_lanes(s, lanes)
    s.view += 1
    look_near(s, y)
    if s.near.k == 0 and s.g.parents[y].size == 0:
        set_best(&of.tree, y, -INFINITY)
        return
    s.near.capped = False
    if s.moves.clique_bound >= 0 or s.moves.size_bound >= 0 or s.moves.sets_per_clique >= 0:
        find_maximal(s)
    if s.near.capped and s.capped < 0:
        s.capped = s.step_count
    if s.moves.clique_bound >= 0 or s.moves.size_bound >= 0 or s.near.capped:
        select_deletes(s)
    else:
        each_clique(s, use_kept)
    for i in range(lanes.size):
        lane = &lanes.at[i]
        k = 0
        for k in range(lane.record.size):
            s.considered += has(lane.allowed, k)
        ask_deletes(&s.m, lane.record, lane.allowed)
        find_best_delete(s, lane)
    find_best_deletes(of, y)


cdef inline void find_best_delete(const Search *s, Lane *lane) noexcept nogil:
    cdef Record *r = lane.record
    cdef int i
    lane.best = -INFINITY
    for i in range(r.size):
        if has(lane.allowed, i) and r.deletes[i] > lane.best:
            lane.best = r.deletes[i]


cdef inline void find_best_deletes(Deletes *of, int y) noexcept nogil:
    cdef int i
    cdef double best = -INFINITY
    for i in range(of.of[y].size):
        best = max(best, of.of[y].at[i].best)
    set_best(&of.tree, y, best)


cdef inline void list_h(Search *s, const Lanes *lanes, const Lane *lane, int x, int y, Ints *h) noexcept nogil:
    """List H: the nodes of NA_{y,x} that are not kept, sorted."""
    cdef Graph *g = &s.g
    cdef int i, v
    h.size = 0
    g.marks += 2
    for i in range(lane.size):
        g.mark[lanes.sets.at[lane.first + i]] = g.marks
    copy_to(&s.exit, &s.members, g.neighbors[y].at, g.neighbors[y].size)
    for i in range(s.members.size):
        v = s.members.at[i]
        if v != x and g.mark[v] != g.marks and adjacent(g, v, x):
            push(&s.exit, h, v)
    sort_small(h)


cdef inline void sort_small(Ints *of) noexcept nogil:
    cdef int i, j, value
    for i in range(1, of.size):
        value = of.at[i]
        j = i - 1
        while j >= 0 and of.at[j] > value:
            of.at[j + 1] = of.at[j]
            j -= 1
        of.at[j + 1] = value


cdef inline bint best_delete(Search *s) noexcept nogil:
    """Find the delete of largest gain; of those that tie, the one with the smallest key."""
    cdef Deletes *of = &s.deletes
    cdef Lanes *lanes
    cdef Lane *lane
    cdef Record *r
    cdef int y, i, k
    cdef double highest, floor
    if of.of == NULL or s.g.n == 0:
        return False
    highest = of.tree.at[1]
    if highest < -s.tolerance:
        return False
    floor = highest - s.tolerance
    s.found.x = -1
    y = next_node(&of.tree, 0, floor)
    while y >= 0:
        lanes = &of.of[y]
        for i in range(lanes.size):
            lane = &lanes.at[i]
            r = lane.record
            if lane.best < floor:
                continue
            for k in range(r.size):
                if has(lane.allowed, k) and r.deletes[k] >= floor:
                    if s.found.x >= 0 and r.base[k] > s.found.x:
                        break
                    list_h(s, lanes, lane, r.base[k], y, &s.best_set)
                    take_least(s, &s.found, DELETE, r.base[k], y, &s.best_set, r.deletes[k], i)
        y = next_node(&of.tree, y + 1, floor)
    return True


cdef inline void reject_delete(Search *s, int x, int y, int lane) noexcept nogil:
    cdef Deletes *of = &s.deletes
    cdef int place = place_of(of.of[y].at[lane].record, x)
    if of.rejections == of.room:
        of.room = 2 * of.room + 8
        of.rejected = <Rejected *>regrown(&s.exit, of.rejected, <size_t>of.room * sizeof(Rejected))
    of.rejected[of.rejections].y = y
    of.rejected[of.rejections].x = place
    of.rejected[of.rejections].lane = lane
    of.rejections += 1
    take(of.of[y].at[lane].allowed, place)
    find_best_delete(s, &of.of[y].at[lane])
    find_best_deletes(of, y)


cdef inline void offer_deletes_again(Search *s) noexcept nogil:
    cdef Deletes *of = &s.deletes
    cdef int i, y
    cdef Lane *lane
    for i in range(of.rejections):
        y = of.rejected[i].y
        lane = &of.of[y].at[of.rejected[i].lane]
        add(lane.allowed, of.rejected[i].x)
        find_best_delete(s, lane)
        find_best_deletes(of, y)
    of.rejections = 0
