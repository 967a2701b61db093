"""Whether an operator that is given by a caller is valid at the state.

The operators that the engine generates itself are valid; these checks are for ``apply``.
``sges.operators`` states the conditions, and explains in words which one fails.
"""

from sges.engine.graph cimport Graph, LINE, TO, adjacent, kind_of, points
from sges.engine.lists cimport Ints, add, push, take
from sges.engine.paths cimport leads
from sges.engine.search cimport DELETE, Found, INSERT, Search, look_near
from sges.engine.turns cimport mark_set, turns_line


cdef inline bint is_clique(const Graph *g, const Ints *some) noexcept nogil:
    cdef int i, k
    for i in range(some.size):
        for k in range(i):
            if not adjacent(g, some.at[i], some.at[k]):
                return False
    return True


cdef inline bint is_reached(Search *s, int x, int y, const Ints *around) noexcept nogil:
    """Return whether a semi-directed path from y to x, not the edge y -> x, goes around a set."""
    cdef int i
    cdef long long work = s.m.work
    cdef bint found
    for i in range(around.size):
        add(s.visited, around.at[i])
    found = leads(s, y, x, s.visited, True)
    for i in range(around.size):
        take(s.visited, around.at[i])
    s.m.work = work  # this is not part of the search
    return found


cdef inline void list_na(Search *s, int x, int y, const Ints *but) noexcept nogil:
    """List the neighbors of y that are adjacent to x, except some, in ``members``."""
    cdef Graph *g = &s.g
    cdef int i, v
    g.marks += 2
    for i in range(but.size):
        g.mark[but.at[i]] = g.marks
    s.members.size = 0
    for i in range(g.neighbors[y].size):
        v = g.neighbors[y].at[i]
        if g.mark[v] != g.marks and adjacent(g, v, x):
            push(&s.exit, &s.members, v)


cdef inline bint is_valid_insert(Search *s, int x, int y, const Ints *t) noexcept nogil:
    cdef Graph *g = &s.g
    cdef int i
    if adjacent(g, x, y):
        return False
    for i in range(t.size):
        if kind_of(g, t.at[i], y) != LINE or adjacent(g, t.at[i], x):
            return False
    list_na(s, x, y, t)
    for i in range(t.size):
        push(&s.exit, &s.members, t.at[i])
    return is_clique(g, &s.members) and not is_reached(s, x, y, &s.members)


cdef inline bint is_valid_delete(Search *s, int x, int y, const Ints *h) noexcept nogil:
    cdef Graph *g = &s.g
    cdef int i
    if not points(g, x, y):
        return False
    for i in range(h.size):
        if kind_of(g, h.at[i], y) != LINE or not adjacent(g, h.at[i], x):
            return False
    list_na(s, x, y, h)
    return is_clique(g, &s.members)


cdef inline bint is_valid_turn(Search *s, int x, int y, const Ints *c) noexcept nogil:
    cdef Graph *g = &s.g
    cdef int i, k, place = 0
    if not points(g, y, x) or not is_clique(g, c):
        return False
    for i in range(c.size):
        if c.at[i] == x or kind_of(g, c.at[i], y) != LINE:
            return False
    if kind_of(g, y, x) == TO:
        list_na(s, x, y, c)
        if s.members.size:
            return False
        for i in range(c.size):
            push(&s.exit, &s.members, c.at[i])
        for i in range(g.neighbors[x].size):
            push(&s.exit, &s.members, g.neighbors[x].at[i])
        return not is_reached(s, x, y, &s.members)
    look_near(s, y)
    s.members.size = 0
    for i in range(s.near.k):
        if s.near.node.at[i] == x:
            place = i
        for k in range(c.size):
            if c.at[k] == s.near.node.at[i]:
                push(&s.exit, &s.members, i)
    mark_set(s, s.members.at, s.members.size)
    return turns_line(s, place, s.members.at, s.members.size)


cdef inline bint is_valid(Search *s, const Found *found) noexcept nogil:
    """Return whether every condition of an operator on two nodes of the graph holds."""
    if found.kind == INSERT:
        return is_valid_insert(s, found.x, found.y, &found.set)
    if found.kind == DELETE:
        return is_valid_delete(s, found.x, found.y, &found.set)
    return is_valid_turn(s, found.x, found.y, &found.set)
