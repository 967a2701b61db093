"""Semi-directed paths: whether one leads from y to x, and which operators it bars.

A step of such a path follows u → v or u — v.  Insert(x, y, T) and Turn(x, y, C) are barred by a path
from y to x around a set.  Paths are searched from both ends and between the levels of the two, only for
an operator that would be applied.  A path that is found is stored by its nodes: as long as none of them
loses an outgoing edge, the path exists and bars the same operators.
"""

from sges.engine.graph cimport Graph, row_of, settle_levels
from sges.engine.lists cimport Ints, Word, add, clear, grown, has, lowest_bit, one_more, push
from sges.engine.search cimport Barrier, Search


cdef inline void see(Search *s, int v, int from_node, bint forward) noexcept nogil:
    """Record a node that is met from one end, unless it was met before."""
    cdef unsigned int *mark = s.met if forward else s.met_back
    if mark[v] == s.walk:
        return
    mark[v] = s.walk
    if forward:
        s.came_from[v] = from_node
        push(&s.exit, &s.front, v)
    else:
        s.goes_to[v] = from_node
        push(&s.exit, &s.back, v)


cdef inline int step_from(Search *s, int v, bint forward, const Word *around, int x, int y, bint other) noexcept nogil:
    """Examine the nodes next to v; return one that was met from the other end, or -1."""
    cdef Graph *g = &s.g
    cdef Ints *some
    cdef unsigned int *met_there = s.met_back if forward else s.met
    cdef int i, u, kind
    cdef long long bound = g.level[x] if forward else g.level[y]
    for kind in range(2):
        if kind:
            some = &g.neighbors[v]
        else:
            some = &g.children[v] if forward else &g.parents[v]
        for i in range(some.size):
            u = some.at[i]
            if other and ((forward and v == y and u == x) or (not forward and v == x and u == y)):
                continue  # the edge itself is not another path
            if u != x and u != y and has(around, u):
                continue
            if g.level[u] > bound if forward else g.level[u] < bound:
                continue
            see(s, u, v, forward)
            if met_there[u] == s.walk:
                return u
    return -1


cdef inline bint leads(Search *s, int y, int x, const Word *around, bint other) noexcept nogil:
    """Return whether a semi-directed path leads from y to x around a set; ``path`` gets its nodes.

    The path does not include x.  With ``other`` the edge between x and y itself does not count.
    """
    cdef int first = 0, second = 0, meeting = -1, v
    settle_levels(&s.g)
    if s.g.level[x] < s.g.level[y]:
        return False
    s.walk += 1
    s.front.size = s.back.size = s.path.size = 0
    see(s, y, -1, True)
    see(s, x, -1, False)
    while meeting < 0 and first < s.front.size and second < s.back.size:
        s.m.work += 1
        if s.front.size <= s.back.size:
            v = s.front.at[first]
            first += 1
            meeting = step_from(s, v, True, around, x, y, other)
        else:
            v = s.back.at[second]
            second += 1
            meeting = step_from(s, v, False, around, x, y, other)
    s.searches += 1
    s.met_by_searches += s.front.size + s.back.size
    if meeting < 0:
        return False
    v = meeting
    while v >= 0:
        push(&s.exit, &s.path, v)
        v = s.came_from[v]
    v = s.goes_to[meeting] if meeting != x else -1
    while v >= 0:
        push(&s.exit, &s.path, v)
        v = s.goes_to[v]
    return True


cdef inline void walk_all(Search *s, int y, const Word *around, long long highest) noexcept nogil:
    """Walk the semi-directed paths from y around a set, up to a level; ``met`` says how far."""
    cdef Graph *g = &s.g
    cdef Word *reached = s.independent
    cdef Word *out
    cdef Word new
    cdef int i = 0, k, w, v
    s.walk += 1
    s.front.size = 0
    clear(reached, g.words)
    see(s, y, -1, True)
    add(reached, y)
    while i < s.front.size:
        v = s.front.at[i]
        i += 1
        s.m.work += 1
        if g.children[v].size + g.neighbors[v].size > g.words:  # dense: a row at a time
            out = row_of(g, v)
            for w in range(g.words):
                new = out[w] & ~reached[w] & ~around[w]
                reached[w] |= new
                while new:
                    if g.level[(w << 6) + lowest_bit(new)] <= highest:
                        see(s, (w << 6) + lowest_bit(new), v, True)
                    new &= new - 1
            continue
        for k in range(g.children[v].size):
            if g.level[g.children[v].at[k]] <= highest:
                meet(s, g.children[v].at[k], v, reached, around)
        for k in range(g.neighbors[v].size):
            meet(s, g.neighbors[v].at[k], v, reached, around)
    s.walks += 1
    s.met_by_walks += s.front.size


cdef inline void meet(Search *s, int u, int v, Word *reached, const Word *around) noexcept nogil:
    if not has(reached, u) and not has(around, u):
        add(reached, u)
        see(s, u, v, True)


cdef inline void trace(Search *s, int x) noexcept nogil:
    """List the nodes of the path by which ``walk_all`` reached x."""
    s.path.size = 0
    while x >= 0:
        push(&s.exit, &s.path, x)
        x = s.came_from[x]


cdef inline int remember(Search *s, int source, int x, int y, int lane) noexcept nogil:
    """Record that the current path bars an operator; return the number of the barrier."""
    cdef Barrier *b
    cdef int i
    if s.barriers == s.barrier_room:
        s.barrier = <Barrier *>grown(
            &s.exit, s.barrier, &s.barrier_room, max(one_more(&s.exit, s.barriers), 64),
            sizeof(Barrier),
        )
    b = &s.barrier[s.barriers]
    b.source = source
    b.x = x
    b.y = y
    b.lane = lane
    b.view = s.views[source][y]
    for i in range(s.path.size):
        if s.path.at[i] != x:
            push(&s.exit, &s.through[s.path.at[i]], s.barriers)
    s.barriers += 1
    return s.barriers - 1


cdef inline bint is_standing(const Search *s, const Barrier *b) noexcept nogil:
    """Return whether a barrier still excludes an existing operator."""
    return b.source >= 0 and b.view == s.views[b.source][b.y]
