"""The state of a search: a CPDAG that operators change in place.

A bit matrix stores the adjacencies, for tests of single pairs, and short lists store the parents,
children and neighbors of each node, for iteration.  Only ``set_edge`` changes them.  It also writes a
log of the changes, which is used to find the views that are out of date and to undo steps.

``complete`` turns the edited PDAG into the CPDAG of its class, examining only the graph around the
changed edges; ``sges.graph.completion`` states the three steps and proves them.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memset

from sges.engine.lists cimport (
    Exit, Ints, NO_EXTENSION, Word, add, copy_to, drop, grown, has, leave, mixed, one_more, push,
    reserve, take,
)

cdef enum Kind:
    # The edge between u and v.
    NONE = 0
    TO = 1  # u -> v
    FROM = 2  # v -> u
    LINE = 3  # u - v

cdef struct Change:
    int u
    int v
    int before
    int after

cdef struct Graph:
    Exit *exit
    int n
    int words
    int edges
    Word *out  # bit v of row u: u -> v or u - v
    Ints *parents
    Ints *children
    Ints *neighbors
    Word fingerprint  # a hash of all edges
    Change *log
    int changes
    int room
    int settled  # how many changes lead to the last complete state
    # Levels; ``settle_levels`` brings them up to date.
    long long *level
    long long top_level
    bint is_levelled  # False once a start was found to have no levels
    int *doubtful  # a ring of the nodes whose level may be too low
    bint *is_doubtful
    int first_doubtful
    int doubts
    # Scratch memory of ``complete``; a node's entry is valid only if it has the current stamp.
    unsigned int stamp
    long long marks
    long long *mark
    unsigned int *directed  # the edges at this node are directed in the member DAG
    unsigned int *known  # the lists of this node were filled
    unsigned int *queued
    unsigned int *inside
    int *count
    Ints *dag_parents  # the parents in the member DAG
    Ints *label  # the compelled ones among these
    Ints region
    Ints todo
    Ints others
    Ints near_x
    Ints near_y
    Ints changed


cdef inline Word *row_of(const Graph *g, int v) noexcept nogil:
    return g.out + <size_t>v * g.words


cdef inline bint points(const Graph *g, int u, int v) noexcept nogil:
    """Return whether u -> v or u - v."""
    return has(row_of(g, u), v)


cdef inline bint adjacent(const Graph *g, int u, int v) noexcept nogil:
    return points(g, u, v) or points(g, v, u)


cdef inline int kind_of(const Graph *g, int u, int v) noexcept nogil:
    return points(g, u, v) | points(g, v, u) << 1


cdef inline int degree(const Graph *g, int v) noexcept nogil:
    return g.parents[v].size + g.children[v].size + g.neighbors[v].size


cdef inline bint make_graph(Graph *g, Exit *exit, int n) noexcept nogil:
    """Make the graph without edges; return whether there was memory for it."""
    memset(g, 0, sizeof(Graph))
    g.exit = exit
    g.n = n
    g.words = (n + 63) >> 6
    g.out = <Word *>calloc(<size_t>n * g.words + 1, sizeof(Word))
    g.parents = <Ints *>calloc(5 * <size_t>n + 1, sizeof(Ints))
    g.mark = <long long *>calloc(<size_t>n + 1, sizeof(long long))
    g.directed = <unsigned int *>calloc(4 * <size_t>n + 1, sizeof(int))
    g.count = <int *>calloc(<size_t>n + 1, sizeof(int))
    g.level = <long long *>calloc(<size_t>n + 1, sizeof(long long))
    g.doubtful = <int *>calloc(<size_t>n + 1, sizeof(int))
    g.is_doubtful = <bint *>calloc(<size_t>n + 1, sizeof(bint))
    if (
        g.out == NULL or g.parents == NULL or g.mark == NULL or g.directed == NULL
        or g.count == NULL or g.level == NULL or g.doubtful == NULL or g.is_doubtful == NULL
    ):
        return False
    g.is_levelled = True
    g.children = g.parents + n
    g.neighbors = g.parents + 2 * n
    g.dag_parents = g.parents + 3 * n
    g.label = g.parents + 4 * n
    g.known = g.directed + n
    g.queued = g.directed + 2 * n
    g.inside = g.directed + 3 * n
    return True


cdef inline void free_graph(Graph *g) noexcept nogil:
    cdef int i
    if g.parents != NULL:
        for i in range(5 * g.n):
            free(g.parents[i].at)
    free(g.parents)
    free(g.out)
    free(g.mark)
    free(g.directed)
    free(g.count)
    free(g.level)
    free(g.doubtful)
    free(g.is_doubtful)
    free(g.log)
    free(g.region.at)
    free(g.todo.at)
    free(g.others.at)
    free(g.near_x.at)
    free(g.near_y.at)
    free(g.changed.at)


cdef inline Word arc(const Graph *g, int u, int v) noexcept nogil:
    """Return the part of u -> v in the fingerprint."""
    return mixed(<Word>u * <Word>g.n + <Word>v)


cdef inline void unlist(Graph *g, int u, int v, int kind) noexcept nogil:
    if kind == TO:
        drop(&g.children[u], v)
        drop(&g.parents[v], u)
    elif kind == FROM:
        drop(&g.parents[u], v)
        drop(&g.children[v], u)
    elif kind == LINE:
        drop(&g.neighbors[u], v)
        drop(&g.neighbors[v], u)


cdef inline void reserve_edge(Graph *g, int u, int v, int kind) noexcept nogil:
    """Make room for an edge in the lists of u and v."""
    cdef Ints *of_u = &g.neighbors[u]
    cdef Ints *of_v = &g.neighbors[v]
    if kind == TO:
        of_u = &g.children[u]
        of_v = &g.parents[v]
    elif kind == FROM:
        of_u = &g.parents[u]
        of_v = &g.children[v]
    reserve(g.exit, of_u, of_u.size + 1)
    reserve(g.exit, of_v, of_v.size + 1)


cdef inline void enlist(Graph *g, int u, int v, int kind) noexcept nogil:
    """Add an edge to the lists of u and v, which have room."""
    if kind == TO:
        append(&g.children[u], v)
        append(&g.parents[v], u)
    elif kind == FROM:
        append(&g.parents[u], v)
        append(&g.children[v], u)
    elif kind == LINE:
        append(&g.neighbors[u], v)
        append(&g.neighbors[v], u)


cdef inline void append(Ints *to, int value) noexcept nogil:
    to.at[to.size] = value
    to.size += 1


cdef inline void set_edge(Graph *g, int u, int v, int kind) noexcept nogil:
    """Make the edge between u and v of a kind, and log the change: all of it or nothing."""
    cdef int before = kind_of(g, u, v)
    if before == kind:
        return
    if g.changes == g.room:
        g.log = <Change *>grown(
            g.exit, g.log, &g.room, max(one_more(g.exit, g.changes), 64), sizeof(Change)
        )
    if kind != NONE:
        reserve_edge(g, u, v, kind)
    g.log[g.changes].u = u
    g.log[g.changes].v = v
    g.log[g.changes].before = before
    g.log[g.changes].after = kind
    g.changes += 1
    write_edge(g, u, v, before, kind)


cdef inline void write_edge(Graph *g, int u, int v, int before, int kind) noexcept nogil:
    """Change the edge between u and v without logging it; the lists have room."""
    unlist(g, u, v, before)
    enlist(g, u, v, kind)
    if (before ^ kind) & TO:
        row_of(g, u)[v >> 6] ^= <Word>1 << (v & 63)
        g.fingerprint ^= arc(g, u, v)
    if (before ^ kind) & FROM:
        row_of(g, v)[u >> 6] ^= <Word>1 << (u & 63)
        g.fingerprint ^= arc(g, v, u)
    g.edges += (kind != NONE) - (before != NONE)
    if kind == TO and g.level[u] >= g.level[v]:
        doubt(g, v)
    elif kind == FROM and g.level[v] >= g.level[u]:
        doubt(g, u)
    elif kind == LINE and g.level[u] != g.level[v]:
        doubt(g, u if g.level[u] < g.level[v] else v)


# Levels
#
# u -> v goes to a higher level, u - v stays on one: a CPDAG has no semi-directed cycle through a
# directed edge, so such levels exist.  A semi-directed path from y to x stays between their levels,
# and there is none if y is above x.  Removing an edge keeps the levels valid; adding one may raise
# the levels of the nodes after it.  Levels never fall.


cdef inline void doubt(Graph *g, int v) noexcept nogil:
    """Queue v, whose level may be too low."""
    cdef int at = g.first_doubtful + g.doubts
    if g.is_doubtful[v] or not g.is_levelled:
        return
    g.is_doubtful[v] = True
    g.doubtful[at if at < g.n else at - g.n] = v
    g.doubts += 1


cdef inline void settle_levels(Graph *g) noexcept nogil:
    """Raise the levels that are too low, in the order in which they came into doubt."""
    cdef int i, v
    cdef long long level, most = g.top_level + g.n
    while g.doubts:
        v = g.doubtful[g.first_doubtful]
        g.first_doubtful += 1
        if g.first_doubtful == g.n:
            g.first_doubtful = 0
        g.doubts -= 1
        g.is_doubtful[v] = False
        level = g.level[v]
        for i in range(g.parents[v].size):
            level = max(level, g.level[g.parents[v].at[i]] + 1)
        for i in range(g.neighbors[v].size):
            level = max(level, g.level[g.neighbors[v].at[i]])
        if level == g.level[v]:
            continue
        if level > most:  # it would rise forever: the start is not a CPDAG
            memset(g.level, 0, <size_t>g.n * sizeof(long long))
            g.is_levelled = False
            g.doubts = 0
            return
        g.level[v] = level
        g.top_level = max(g.top_level, level)
        for i in range(g.children[v].size):
            if g.level[g.children[v].at[i]] <= level:
                doubt(g, g.children[v].at[i])
        for i in range(g.neighbors[v].size):
            if g.level[g.neighbors[v].at[i]] < level:
                doubt(g, g.neighbors[v].at[i])


cdef inline void level_anew(Graph *g) noexcept nogil:
    """Give every node the lowest level it can have, whatever edges there were before."""
    cdef int v
    memset(g.level, 0, <size_t>g.n * sizeof(long long))
    memset(g.is_doubtful, 0, <size_t>g.n * sizeof(bint))
    g.top_level = 0
    g.doubts = g.first_doubtful = 0
    g.is_levelled = True
    for v in range(g.n):
        doubt(g, v)
    settle_levels(g)


# Completion


cdef inline void begin(Graph *g, int x, int y) noexcept nogil:
    """Find the chain components of x and y, and store the current labels of their nodes."""
    cdef int i = 0, k, v, u
    g.stamp += 1
    g.region.size = 0
    g.inside[x] = g.stamp
    g.inside[y] = g.stamp
    push(g.exit, &g.region, x)
    push(g.exit, &g.region, y)
    while i < g.region.size:
        v = g.region.at[i]
        i += 1
        copy_to(g.exit, &g.label[v], g.parents[v].at, g.parents[v].size)
        for k in range(g.neighbors[v].size):
            u = g.neighbors[v].at[k]
            if g.inside[u] != g.stamp:
                g.inside[u] = g.stamp
                push(g.exit, &g.region, u)


cdef inline void know(Graph *g, int v) noexcept nogil:
    """Fill the lists of v: the directed edges of the edited graph, and the previous label."""
    if g.known[v] == g.stamp:
        return
    g.known[v] = g.stamp
    copy_to(g.exit, &g.dag_parents[v], g.parents[v].at, g.parents[v].size)
    if g.inside[v] != g.stamp:  # the labels of the region were noted before the edit
        copy_to(g.exit, &g.label[v], g.parents[v].at, g.parents[v].size)


cdef inline bint can_be_sink(Graph *g, int v) noexcept nogil:
    """Return whether v can be the last of the nodes left (Dor & Tarsi 1992).

    The nodes left are those inside the region that are not directed yet.
    """
    cdef int i, j, u, w
    for i in range(g.children[v].size):
        u = g.children[v].at[i]
        if g.inside[u] == g.stamp and g.directed[u] != g.stamp:
            return False
    for i in range(g.neighbors[v].size):
        u = g.neighbors[v].at[i]
        if g.directed[u] == g.stamp:
            continue
        for j in range(g.neighbors[v].size):
            w = g.neighbors[v].at[j]
            if w != u and g.directed[w] != g.stamp and not adjacent(g, u, w):
                return False
        for j in range(g.parents[v].size):
            w = g.parents[v].at[j]
            if g.inside[w] == g.stamp and g.directed[w] != g.stamp and not adjacent(g, u, w):
                return False
    return True


cdef inline void again(Graph *g, Ints *of, unsigned int stamp) noexcept nogil:
    """Queue again the nodes of a list that remain in the region."""
    cdef int i, u
    for i in range(of.size):
        u = of.at[i]
        if g.inside[u] == stamp and g.directed[u] != stamp and g.queued[u] != stamp:
            g.queued[u] = stamp
            push(g.exit, &g.todo, u)


cdef inline bint extend(Graph *g) noexcept nogil:
    """Direct the edited graph inside the region without new v-structures, if that can be done."""
    cdef int i, v, u, left = g.region.size
    g.todo.size = 0
    for i in range(g.region.size):
        g.queued[g.region.at[i]] = g.stamp
        push(g.exit, &g.todo, g.region.at[i])
    while g.todo.size:
        g.todo.size -= 1
        v = g.todo.at[g.todo.size]
        g.queued[v] = 0
        if g.directed[v] == g.stamp or not can_be_sink(g, v):
            continue
        g.directed[v] = g.stamp
        left -= 1
        know(g, v)
        for i in range(g.neighbors[v].size):
            u = g.neighbors[v].at[i]
            if g.directed[u] != g.stamp:
                push(g.exit, &g.dag_parents[v], u)
        again(g, &g.neighbors[v], g.stamp)
        again(g, &g.parents[v], g.stamp)
    return left == 0


cdef inline void direct(Graph *g, int v) noexcept nogil:
    """Direct the chain component of v by maximum cardinality search, unless that was done."""
    cdef int i = 0, k, u, best, size
    if g.directed[v] == g.stamp:
        return
    know(g, v)
    g.directed[v] = g.stamp
    if g.neighbors[v].size == 0:
        return
    g.others.size = 0
    push(g.exit, &g.others, v)
    g.count[v] = 0
    while i < g.others.size:
        u = g.others.at[i]
        i += 1
        for k in range(g.neighbors[u].size):
            if g.directed[g.neighbors[u].at[k]] != g.stamp:
                g.directed[g.neighbors[u].at[k]] = g.stamp
                g.count[g.neighbors[u].at[k]] = 0
                know(g, g.neighbors[u].at[k])
                push(g.exit, &g.others, g.neighbors[u].at[k])
    for size in range(g.others.size, 0, -1):
        best = 0
        for i in range(1, size):
            if g.count[g.others.at[i]] > g.count[g.others.at[best]]:
                best = i
        u = g.others.at[best]
        g.others.at[best] = g.others.at[size - 1]
        for k in range(g.neighbors[u].size):
            v = g.neighbors[u].at[k]
            if g.count[v] < 0:
                push(g.exit, &g.dag_parents[u], v)
            else:
                g.count[v] += 1
        g.count[u] = -1


cdef inline int childless(Graph *g, const Ints *parents) noexcept nogil:
    """Return one of some nodes that has no child among them in the member DAG."""
    cdef int i = 0, x = parents.at[0], u
    while i < parents.size:
        u = parents.at[i]
        i += 1
        if u != x and points(g, x, u) and (not points(g, u, x) or holds_node(&g.dag_parents[u], x)):
            x = u  # a child: continue from there; there are no cycles
            i = 0
    return x


cdef inline bint relabel(Graph *g, int v) noexcept nogil:
    """Label the edges into v; return whether the label changed.

    One parent without a child among the parents decides for all of them:
    ``sges.graph.equivalence.compelled_parents``.
    """
    cdef int i, k, x = -1, common = 0
    cdef Ints *parents = &g.dag_parents[v]
    cdef Ints *found = parents
    cdef bint all_compelled = False
    g.marks += 2
    for i in range(parents.size):
        g.mark[parents.at[i]] = g.marks
    if parents.size:
        x = childless(g, parents)
    if x >= 0:
        know(g, x)
        for k in range(g.label[x].size):
            if g.mark[g.label[x].at[k]] != g.marks:
                all_compelled = True
        for k in range(g.dag_parents[x].size):
            common += g.mark[g.dag_parents[x].at[k]] == g.marks
        if common != parents.size - 1:
            all_compelled = True
        if not all_compelled:
            found = &g.label[x]
    return take_label(g, v, found)


cdef inline bint take_label(Graph *g, int v, const Ints *found) noexcept nogil:
    cdef int i
    cdef bint same = found.size == g.label[v].size
    if same:
        g.marks += 2
        for i in range(found.size):
            g.mark[found.at[i]] = g.marks
        for i in range(found.size):
            same = same and g.mark[g.label[v].at[i]] == g.marks
    if not same:
        copy_to(g.exit, &g.label[v], found.at, found.size)
    return not same


cdef inline void queue(Graph *g, int v) noexcept nogil:
    if g.queued[v] != g.stamp:
        g.queued[v] = g.stamp
        push(g.exit, &g.todo, v)


cdef inline void settle(Graph *g, int x, int y) noexcept nogil:
    """Label the region, the common children of x and y, and the children of changed nodes."""
    cdef int i, v, u
    g.changed.size = 0
    g.todo.size = 0
    for i in range(g.region.size):
        queue(g, g.region.at[i])
        push(g.exit, &g.changed, g.region.at[i])
    for i in range(g.children[x].size):
        if points(g, y, g.children[x].at[i]):
            queue(g, g.children[x].at[i])
    while g.todo.size:
        g.todo.size -= 1
        v = g.todo.at[g.todo.size]
        g.queued[v] = 0
        direct(g, v)
        for i in range(g.dag_parents[v].size):
            if g.neighbors[g.dag_parents[v].at[i]].size:
                direct(g, g.dag_parents[v].at[i])
        if not relabel(g, v):
            continue
        push(g.exit, &g.changed, v)
        for i in range(g.children[v].size):
            queue(g, g.children[v].at[i])
        for i in range(g.neighbors[v].size):
            u = g.neighbors[v].at[i]
            direct(g, u)
            if holds_node(&g.dag_parents[u], v):
                queue(g, u)


cdef inline bint holds_node(const Ints *of, int v) noexcept nogil:
    cdef int i
    for i in range(of.size):
        if of.at[i] == v:
            return True
    return False


cdef inline void write_label(Graph *g, int v) noexcept nogil:
    """Direct or undirect the edges into v as they are labeled."""
    cdef int i, p
    g.marks += 2
    for i in range(g.label[v].size):
        g.mark[g.label[v].at[i]] = g.marks
    copy_to(g.exit, &g.others, g.neighbors[v].at, g.neighbors[v].size)
    for i in range(g.others.size):
        p = g.others.at[i]
        if g.mark[p] == g.marks:
            set_edge(g, p, v, TO)
    copy_to(g.exit, &g.others, g.parents[v].at, g.parents[v].size)
    for i in range(g.others.size):
        p = g.others.at[i]
        if g.mark[p] != g.marks:
            set_edge(g, p, v, LINE)


cdef inline void complete(Graph *g, int x, int y) noexcept nogil:
    """Make the edited graph the CPDAG of its class; ``begin`` was called before the edit."""
    cdef int i
    if not extend(g):
        leave(g.exit, NO_EXTENSION)
    settle(g, x, y)
    for i in range(g.changed.size):
        write_label(g, g.changed.at[i])


# Operators


cdef inline void insert_edge(Graph *g, int x, int y, const int *t, int size) noexcept nogil:
    """Carry out Insert(x, y, T)."""
    cdef int i
    begin(g, x, y)
    set_edge(g, x, y, TO)
    for i in range(size):
        set_edge(g, t[i], y, TO)
    complete(g, x, y)


cdef inline void delete_edge(Graph *g, int x, int y, const int *h, int size) noexcept nogil:
    """Carry out Delete(x, y, H)."""
    cdef int i
    begin(g, x, y)
    set_edge(g, x, y, NONE)
    for i in range(size):
        set_edge(g, y, h[i], TO)
        if kind_of(g, x, h[i]) == LINE:
            set_edge(g, x, h[i], TO)
    complete(g, x, y)


cdef inline void turn_edge(Graph *g, int x, int y, const int *c, int size) noexcept nogil:
    """Carry out Turn(x, y, C)."""
    cdef int i, v
    begin(g, x, y)
    copy_to(g.exit, &g.near_x, g.neighbors[x].at, g.neighbors[x].size)
    copy_to(g.exit, &g.near_y, g.neighbors[y].at, g.neighbors[y].size)
    g.marks += 2
    for i in range(size):
        g.mark[c[i]] = g.marks
    set_edge(g, x, y, TO)
    for i in range(g.near_y.size):
        v = g.near_y.at[i]
        if v != x:
            set_edge(g, v, y, TO if g.mark[v] == g.marks else FROM)
    for i in range(g.near_x.size):
        v = g.near_x.at[i]
        if v != y:
            set_edge(g, v, x, TO if g.mark[v] == g.marks else FROM)
    complete(g, x, y)


cdef inline void undo_to(Graph *g, int changes) noexcept nogil:
    """Undo all changes beyond a place in the log; they stay in it, with their inverses."""
    cdef int i, top = g.changes
    for i in range(top - 1, changes - 1, -1):
        set_edge(g, g.log[i].u, g.log[i].v, g.log[i].before)


cdef inline void take_back(Graph *g, int changes) noexcept nogil:
    """Undo all changes beyond a place in the log, and remove them from it.

    This allocates nothing: the lists had room for all these edges before.
    """
    cdef Change *last
    while g.changes > changes:
        g.changes -= 1
        last = &g.log[g.changes]
        write_edge(g, last.u, last.v, last.after, last.before)
