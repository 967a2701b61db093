"""Whether background knowledge admits the state: whether some member of its class satisfies it.

``sges.knowledge.indexed`` defines this.  No arrow may be forbidden, required pairs must be adjacent,
and each chain component must have a member without forbidden edges.  Chain components are directed
independently of each other, so after a step only those that it changed are examined.
"""

from sges.engine.graph cimport FROM, Graph, LINE, TO, adjacent, kind_of
from sges.engine.lists cimport Word, copy_to, has, leave, lowest_bit, push
from sges.engine.search cimport Search


cdef inline bint may_point(const Search *s, int x, int y) noexcept nogil:
    """Return whether knowledge allows x -> y."""
    return not has(s.barred + <size_t>y * s.g.words, x)


cdef inline bint is_required(const Search *s, int x, int y) noexcept nogil:
    """Return whether knowledge requires x -> y; then it forbids y -> x."""
    return has(s.fixed + <size_t>y * s.g.words, x)


cdef inline bint pair_is_admitted(const Search *s, int u, int v) noexcept nogil:
    """Return whether an arrow, or two nodes that are not adjacent, contradict no knowledge."""
    cdef int kind = kind_of(&s.g, u, v)
    if kind == TO:
        return may_point(s, u, v)
    if kind == FROM:
        return may_point(s, v, u)
    return kind == LINE or not (is_required(s, u, v) or is_required(s, v, u))


cdef inline bint can_come_last(Search *s, int x) noexcept nogil:
    """Return whether the neighbors of x that remain are a clique, and may all point to x."""
    cdef Graph *g = &s.g
    cdef int i, k, y
    g.others.size = 0
    for i in range(g.neighbors[x].size):
        y = g.neighbors[x].at[i]
        if g.mark[y] != g.marks:
            continue
        if not may_point(s, y, x):
            return False
        for k in range(g.others.size):
            if not adjacent(g, y, g.others.at[k]):
                return False
        push(&s.exit, &g.others, y)
    return True


cdef inline bint component_is_admitted(Search *s, int v) noexcept nogil:
    """Return whether some member of the class directs the chain component of v as allowed.

    The last node of a member's order has only parents, which form a clique; without it, the rest is
    a member of the remaining class.  So nodes are taken away that can come last, in any order: if a
    member exists, there is always one, and if all are gone, they have formed a member.
    """
    cdef Graph *g = &s.g
    cdef int i = 0, k, u, w, remaining
    cdef bint is_restricted = False
    g.region.size = 0
    g.mark[v] = g.marks
    push(&s.exit, &g.region, v)
    while i < g.region.size:
        u = g.region.at[i]
        i += 1
        for k in range(g.neighbors[u].size):
            w = g.neighbors[u].at[k]
            is_restricted = is_restricted or not may_point(s, w, u)
            if g.mark[w] < g.marks:
                g.mark[w] = g.marks
                push(&s.exit, &g.region, w)
    if not is_restricted:
        return True
    remaining = g.region.size
    copy_to(&s.exit, &g.todo, g.region.at, g.region.size)
    while g.todo.size:
        g.todo.size -= 1
        u = g.todo.at[g.todo.size]
        if g.mark[u] != g.marks or not can_come_last(s, u):
            continue
        g.mark[u] = g.marks + 1
        remaining -= 1
        for k in range(g.neighbors[u].size):
            if g.mark[g.neighbors[u].at[k]] == g.marks:
                push(&s.exit, &g.todo, g.neighbors[u].at[k])
    return remaining == 0


cdef inline bint around_is_admitted(Search *s, int v) noexcept nogil:
    """Return whether the chain component of v is admitted, which is examined once."""
    return s.g.neighbors[v].size == 0 or s.g.mark[v] >= s.g.marks or component_is_admitted(s, v)


cdef inline bint node_is_admitted(Search *s, int y) noexcept nogil:
    """Return whether the parents of a node, and its chain component, contradict no knowledge."""
    cdef Graph *g = &s.g
    cdef Word *fixed = s.fixed + <size_t>y * g.words
    cdef Word missing
    cdef int i, w
    for i in range(g.parents[y].size):
        if not may_point(s, g.parents[y].at[i], y):
            return False
    for w in range(g.words):
        missing = fixed[w]
        while missing:
            if not adjacent(g, (w << 6) + lowest_bit(missing), y):
                return False
            missing &= missing - 1
    return around_is_admitted(s, y)


cdef inline bint state_is_admitted(Search *s) noexcept nogil:
    """Return whether knowledge admits the state: the changes since a state that it admits."""
    cdef Graph *g = &s.g
    cdef int i, y
    g.marks += 2
    if s.admitted_at < 0:
        for y in range(g.n):
            if not node_is_admitted(s, y):
                return False
        return True
    for i in range(s.admitted_at, g.changes):
        if not pair_is_admitted(s, g.log[i].u, g.log[i].v):
            return False
    for i in range(s.admitted_at, g.changes):
        if not around_is_admitted(s, g.log[i].u) or not around_is_admitted(s, g.log[i].v):
            return False
    return True


cdef inline bint is_admitted(Search *s) noexcept nogil:
    """Return whether knowledge admits the state; a constraint of a caller's own is called."""
    cdef int answer
    if not s.has_constraint:
        return True
    if not s.calls_admits:
        return state_is_admitted(s)
    answer = s.admits(s.owner)
    if answer < 0:
        leave(&s.exit, -answer)
    return answer


cdef inline void note_admitted(Search *s) noexcept nogil:
    """Record that the state is admitted: later ones are compared with it."""
    if s.has_constraint:
        s.admitted_at = s.g.changes


cdef inline void recall_admitted(Search *s) noexcept nogil:
    """Find the last admitted state among those before, after steps were undone."""
    s.admitted_at = s.steps[s.step_count - 1].admitted_at if s.step_count else -1
