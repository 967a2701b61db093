"""The data of one run: the state, the stored gains, and the operators, stored by view.

The *view* of a node y determines which operators point into it.  It consists of the parents and
neighbors of y, and the nodes that are adjacent to these neighbors.  A step changes the views of a
few nodes, and only their operators are generated again.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from sges.engine.graph cimport Change, Graph, adjacent, kind_of
from sges.engine.lists cimport (
    Exit, Ints, NO_MEMORY, Word, add, clear, count_bits, has, leave, lowest_bit, push, regrown,
    reserve, seconds_now, sort_ints,
)
from sges.engine.records cimport Memory, Note, Record

cdef enum:
    INSERT = 0
    DELETE = 1
    TURN = 2

cdef enum:
    # Which inserts a source offers.
    ALL = 0
    POLY = 1
    CONSERVATIVE = 2

cdef struct Tree:
    # The best gain of each node, and of ever larger groups of nodes.
    int leaves
    double *at

cdef struct Near:
    # The neighbors of one node, numbered from 0, and which of them are adjacent.
    int y
    Ints node  # sorted
    int k
    int words
    Word *rows
    size_t room
    Word *stack
    size_t stack_room
    Ints path  # the current clique
    # The maximal cliques, largest room first to grow.
    int cliques
    Word *maximal
    size_t maximal_room
    Ints sizes
    Ints most  # how many nodes of a maximal clique may be chosen; -1 for any number
    bint capped  # whether some maximal clique has too many subsets
    # The nodes that are not adjacent to y but to some neighbor of it, with their NA.
    Ints xs
    Word *na
    size_t na_room
    bint far  # whether some node is adjacent neither to y nor to a neighbor of it

cdef struct Lane:
    # One (y, S): the operators that make S the parents of y among its neighbors.
    Record *record
    Word *allowed  # inserts: the x; deletes: the places of the x in the base
    double best
    int barred  # how many inserts were barred one by one
    int first  # S is a slice of the sets of its node
    int size

cdef struct Lanes:
    Lane *at
    int size
    int room
    Ints sets

cdef struct Rejected:
    int y
    int lane
    int x

cdef struct Inserts:
    int mode
    Lanes *of
    Tree tree
    Ints *above  # for each node, its parents among its neighbors in one member of the class
    Rejected *rejected
    int rejections
    int room
    int source
    bint *is_capped  # whether some inserts of a node are left out
    int capped_nodes

cdef struct Deletes:
    Lanes *of
    Tree tree
    Rejected *rejected
    int rejections
    int room

cdef struct TurnLane:
    int x
    int first  # C is a slice of the sets of y
    int size
    double added  # what y gains
    double gain
    bint barred  # whether another path from y to x excludes it
    bint rejected

cdef struct TurnLanes:
    TurnLane *at
    int size
    int room
    Ints sets
    double best

cdef struct Turns:
    TurnLanes *of
    Tree tree

cdef struct Found:
    # An operator that was found, and its gain.
    int kind
    int x
    int y
    Ints set
    double gain
    int lane

cdef enum:
    # The kind of operator that a barrier excludes.
    INSERTS = 0
    PREFERRED = 1
    TURNS = 2

cdef struct Barrier:
    # A semi-directed path that bars an operator; -1 as the source means that it is gone.
    int source
    int x
    int y
    int lane
    int view

cdef struct Moves:
    # ``sges.search.moves.Moves``; -1 stands for None.
    int inserts
    int largest_t
    bint conservative
    bint turns
    bint deletes
    int clique_bound
    int size_bound
    bint drop_large
    int max_indegree
    int sets_per_clique

cdef struct StepOf:
    int phase
    int kind
    int x
    int y
    int first
    int size
    double gain
    double total
    int edges
    int changes  # how many changes of the log, and nodes touched, lead up to the step's end
    int touched
    int admitted_at  # how many changes lead to the last state until then that knowledge admits, or -1

cdef struct Counters:
    # Counts and limits that hold again once the operators are up to date (``settle``).
    bint are_kept
    long long considered
    long long listed
    long long work
    long long most_listed
    long long most_work
    bint journaling

cdef struct Trials:
    # Deletes to force one after the other, and the nodes whose views each of them changed.
    int count
    int done  # how many have failed
    int tried  # how many were begun; those that knowledge does not admit fail without a trial
    int *x
    int *y
    int *first  # H is a slice of ``sets``
    double *gain
    Ints sets
    Word *touched

cdef struct Separators:
    # For pairs of nodes, the set of a given size that separates them best (separators.pxd).
    int order
    Word *wanted  # row y: the x of interest
    double *evidence  # that of (y, x); 0 if no set separates them
    int *sets
    Ints chosen

cdef struct Search:
    Exit exit
    Graph g
    Memory m
    Near near
    Moves moves
    bint is_open  # whether there are sources for these moves
    Inserts inserts
    Inserts preferred  # the conservative ones
    Inserts *making  # the source whose lanes are made now
    int group  # the NA whose cliques are walked: a place in ``near.xs``, or -1 for no node
    unsigned int ticks
    unsigned int sets  # the number of sets listed for the current view
    long long listed  # the number of sets and turns listed for all views
    long long most_listed  # -1 for any number
    int exploding  # 1 if a view has very many sets, 2 after the warning about it
    Deletes deletes
    Turns turns
    double tolerance
    double total
    double start_total
    Ints ranking  # the nodes in the order in which a member takes them; empty for their numbers
    Ints rank  # the place of each node in it
    double *strengths  # those of the nodes, while they are computed
    Word *barred  # row y: the x for which x -> y is forbidden; NULL without knowledge
    Word *fixed  # row y: the x whose edge x -> y must stay
    int bar_x  # the pair that must not become adjacent during a trial, or -1
    int bar_y
    # What a step makes out of date.
    Ints stale
    unsigned int *is_stale
    unsigned int stale_stamp
    Ints touched  # the nodes whose view changed, in the order of the steps
    Ints lost  # nodes that lost an edge leaving them
    Ints turned  # nodes whose parents or neighbors changed
    bint *is_turned
    Ints rejected_turns
    Ints unbarred  # nodes with a turn that is no longer barred
    # Semi-directed paths (paths.pxd).
    unsigned int walk
    long long searches  # searches from y to one x, and the nodes that they met
    long long met_by_searches
    long long walks  # walks from y to all x, and the nodes that they met
    long long met_by_walks
    unsigned int *met
    unsigned int *met_back
    int *came_from
    int *goes_to
    Ints front
    Ints back
    Ints path
    Barrier *barrier
    int barriers
    int barrier_room
    Ints *through  # for each node, the barriers whose path runs through it
    int **views  # how often the operators of each node were made, by source
    # Rows that are not in use.
    Word **spare
    int spares
    int spare_room
    Word *allowed  # scratch rows
    Word *far
    Word *independent
    Word *visited
    Ints base
    Ints also
    Ints members
    Ints stack
    Ints order
    Ints best_set
    long long view  # a number for each view that is made
    # The gain of each x without y as a parent, if C contains no neighbor of x, and the view of y for
    # which it was computed.
    double *removal
    long long *removal_view
    Found found
    bint from_preferred
    # Steps.
    StepOf *steps
    int step_count
    int step_room
    Ints step_sets
    long long considered
    int capped  # the step at which operators were first left out, or -1
    # The states that the climb has left: a hash table.
    Word *left
    int left_count
    int left_room
    bint came_back  # whether a climb ended because a step led back to one of them
    # Callbacks.
    int (*after_step)(void *owner) noexcept nogil
    int (*admits)(void *owner) noexcept nogil
    int (*direct_members)(void *owner) noexcept nogil
    void *owner
    bint has_constraint
    bint calls_admits  # whether the constraint is a caller's own, which judges every state
    int admitted_at  # how many changes lead to the last state known to be admitted, or -1
    bint found_is_admitted  # whether the operator of ``judge_found`` leads to an admitted class
    bint has_report
    double deadline  # the end of the run, or -1
    double walking_time  # seconds that going to the best order will take; 0 if none is searched
    double until  # the end of a part of the run, or -1
    double looked  # when signals were last checked
    int phase
    double patience
    double aim
    bint moved
    # Arguments of the next function that runs without the GIL.
    int most_steps  # -1 for any number
    int next_bar_x
    int next_bar_y
    int counted  # the node of the family to evaluate
    int back_to
    int back_steps
    int back_touched
    int back_capped
    Note *journal
    int journal_size
    double back_total
    # The search for orders (order.pxd).
    void *orders
    Separators separators
    Trials trials
    Counters counters


# Rows from a pool


cdef inline bint is_late(const Search *s) noexcept nogil:
    """Return whether the time is up, less what counting and going to the best order will take."""
    # Counting takes 1e-7 seconds for each node of the base of each fan.
    return s.deadline >= 0 and seconds_now() + s.m.cores * 1e-7 + s.walking_time > s.deadline


cdef inline Word *row_taken(Search *s) noexcept nogil:
    cdef Word *row
    if s.spares:
        s.spares -= 1
        return s.spare[s.spares]
    row = <Word *>malloc((<size_t>s.g.words + 1) * sizeof(Word))
    if row == NULL:
        leave(&s.exit, NO_MEMORY)
    return row


cdef inline void give_row(Search *s, Word *row) noexcept nogil:
    """Put a row back into the pool; this cannot fail, as it also happens when a run is left."""
    cdef Word **spare
    if row == NULL:
        return
    if s.spares == s.spare_room:
        spare = <Word **>realloc(s.spare, (2 * <size_t>s.spare_room + 64) * sizeof(Word *))
        if spare == NULL:
            free(row)
            return
        s.spare = spare
        s.spare_room = 2 * s.spare_room + 64
    s.spare[s.spares] = row
    s.spares += 1


# The best node


cdef inline bint make_tree(Tree *t, int n) noexcept nogil:
    cdef int i
    t.leaves = 1
    while t.leaves < n:
        t.leaves *= 2
    t.at = <double *>malloc(2 * <size_t>t.leaves * sizeof(double))
    if t.at == NULL:
        return False
    for i in range(2 * t.leaves):
        t.at[i] = -INFINITY
    return True


cdef inline void set_best(Tree *t, int y, double gain) noexcept nogil:
    cdef int i = t.leaves + y
    t.at[i] = gain
    i >>= 1
    while i:
        t.at[i] = max(t.at[2 * i], t.at[2 * i + 1])
        i >>= 1


cdef inline int best_node(const Tree *t) noexcept nogil:
    """Return the first node of highest gain."""
    cdef int i = 1
    while i < t.leaves:
        i = 2 * i if t.at[2 * i] >= t.at[2 * i + 1] else 2 * i + 1
    return i - t.leaves


cdef inline int next_node(const Tree *t, int y, double floor) noexcept nogil:
    """Return the first node from y on whose gain is at least the floor, or -1."""
    cdef int i = t.leaves + y
    if y >= t.leaves:
        return -1
    while True:
        if t.at[i] >= floor:
            while i < t.leaves:
                i = 2 * i if t.at[2 * i] >= floor else 2 * i + 1
            return i - t.leaves
        while i & 1:
            i >>= 1
        if i == 0:
            return -1
        i += 1


# The neighbors of a node


cdef inline Word *local_row(const Near *a, int i) noexcept nogil:
    return a.rows + <size_t>i * a.words


cdef inline void look_near(Search *s, int y) noexcept nogil:
    """Number the neighbors of y, and find which of them are adjacent."""
    cdef Near *a = &s.near
    cdef Graph *g = &s.g
    cdef int i, j, k = g.neighbors[y].size
    cdef size_t wanted
    a.y = y
    a.k = k
    s.sets = 0
    a.words = (k + 63) >> 6
    a.node.size = 0
    reserve(&s.exit, &a.node, k)
    for i in range(k):
        a.node.at[i] = g.neighbors[y].at[i]
    a.node.size = k
    sort_ints(a.node.at, k)
    wanted = <size_t>k * a.words
    if wanted > a.room:
        a.rows = <Word *>regrown(&s.exit, a.rows, 2 * wanted * sizeof(Word))
        a.room = 2 * wanted
    if k:
        memset(a.rows, 0, wanted * sizeof(Word))
    for i in range(k):
        for j in range(i):
            if adjacent(g, a.node.at[i], a.node.at[j]):
                add(local_row(a, i), j)
                add(local_row(a, j), i)
    wanted = <size_t>(k + 2) * (a.words + 1)
    if wanted > a.stack_room:
        a.stack = <Word *>regrown(&s.exit, a.stack, 2 * wanted * sizeof(Word))
        a.stack_room = 2 * wanted
    reserve(&s.exit, &a.path, k + 1)
    a.path.size = 0


ctypedef bint (*Use)(Search *s, const int *path, int size) noexcept nogil


cdef inline void walk(Search *s, const Word *candidates, int depth, Use use) noexcept nogil:
    """Use the current clique, and every one that grows from it by later candidates.

    ``use`` returns whether to grow it at all.
    """
    cdef Near *a = &s.near
    cdef int w, i, v
    cdef Word left
    cdef Word *fewer
    if not use(s, a.path.at, a.path.size):
        return
    fewer = a.stack + <size_t>(depth + 1) * (a.words + 1)
    for w in range(a.words):
        left = candidates[w]
        while left:
            v = (w << 6) + lowest_bit(left)
            left &= left - 1
            for i in range(a.words):
                fewer[i] = candidates[i] & local_row(a, v)[i]
            for i in range(w):
                fewer[i] = 0
            fewer[w] &= ~((<Word>2 << (v & 63)) - 1)
            a.path.at[a.path.size] = v
            a.path.size += 1
            walk(s, fewer, depth + 1, use)
            a.path.size -= 1


cdef inline void each_clique(Search *s, Use use) noexcept nogil:
    """Use every clique of the neighbors, the empty one first."""
    cdef Near *a = &s.near
    cdef int v
    clear(a.stack, a.words)
    for v in range(a.k):
        add(a.stack, v)
    a.path.size = 0
    walk(s, a.stack, 0, use)


cdef inline void each_clique_with(Search *s, const Word *core, Use use) noexcept nogil:
    """Use every clique of the neighbors that contains a set; none if the set is not a clique."""
    cdef Near *a = &s.near
    cdef int v, w
    a.path.size = 0
    for w in range(a.words):
        a.stack[w] = ~core[w]
    for v in range(a.k):
        if has(core, v):
            a.path.at[a.path.size] = v
            a.path.size += 1
            for w in range(a.words):
                a.stack[w] &= local_row(a, v)[w]
                if core[w] & ~local_row(a, v)[w] & ~((<Word>1 << (v & 63)) if w == v >> 6 else 0):
                    return
    for v in range(a.k, a.words << 6):
        a.stack[v >> 6] &= ~(<Word>1 << (v & 63))
    walk(s, a.stack, 0, use)


cdef inline int most_chosen(int size, long long limit) noexcept nogil:
    """Return the largest size up to which a set has at most ``limit`` subsets; at least 1.

    -1 if all of them do.
    """
    cdef long long sum = 1, choose = 1
    cdef int chosen = 0
    if size < 62 and <long long>1 << size <= limit:
        return -1
    while chosen < size:
        choose = choose * (size - chosen) // (chosen + 1)
        if sum + choose > limit:
            break
        sum += choose
        chosen += 1
    return max(chosen, 1)


cdef inline void find_maximal(Search *s) noexcept nogil:
    """List the maximal cliques of the neighbors, which are chordal (Blair & Peyton 1993)."""
    cdef Near *a = &s.near
    cdef int step, v, best, w, limit = s.moves.sets_per_clique
    cdef bint same
    cdef Word near
    cdef Word *taken_row
    cdef Word *current
    cdef size_t wanted = <size_t>(a.k + 2) * (a.words + 1)
    if wanted > a.maximal_room:
        a.maximal = <Word *>regrown(&s.exit, a.maximal, 2 * wanted * sizeof(Word))
        a.maximal_room = 2 * wanted
    a.cliques = 0
    a.sizes.size = 0
    a.most.size = 0
    a.capped = False
    taken_row = a.stack
    clear(taken_row, a.words + 1)
    current = a.maximal
    clear(current, a.words + 1)
    s.members.size = 0
    for v in range(a.k):
        push(&s.exit, &s.members, 0)
    for step in range(a.k):
        best = -1
        for v in range(a.k):
            if not has(taken_row, v) and (best < 0 or s.members.at[v] > s.members.at[best]):
                best = v
        same = True
        for w in range(a.words):
            if (local_row(a, best)[w] & taken_row[w]) != current[w]:
                same = False
        if not same:
            a.cliques += 1
            current = a.maximal + <size_t>a.cliques * (a.words + 1)
            for w in range(a.words):
                current[w] = local_row(a, best)[w] & taken_row[w]
        add(current, best)
        add(taken_row, best)
        for w in range(a.words):
            near = local_row(a, best)[w]
            while near:
                s.members.at[(w << 6) + lowest_bit(near)] += 1
                near &= near - 1
    a.cliques += 1
    for v in range(a.cliques):
        best = 0
        for w in range(a.words):
            best += count_bits(a.maximal[<size_t>v * (a.words + 1) + w])
        push(&s.exit, &a.sizes, best)
        push(&s.exit, &a.most, -1 if limit < 0 else most_chosen(best, limit))
        a.capped = a.capped or a.most.at[v] >= 0


cdef inline Word *maximal_row(const Near *a, int i) noexcept nogil:
    return a.maximal + <size_t>i * (a.words + 1)


cdef inline bint is_near(const Near *a, const int *path, int size, const Word *row) noexcept nogil:
    """Return whether a path lies inside a local set."""
    cdef int i
    for i in range(size):
        if not has(row, path[i]):
            return False
    return True


cdef inline bint within_limits(const Near *a, const int *path, int size, int chosen) noexcept nogil:
    """Return whether some maximal clique around a set lets ``chosen`` of its nodes be chosen."""
    cdef int i
    for i in range(a.cliques):
        if (a.most.at[i] < 0 or chosen <= a.most.at[i]) and is_near(
            a, path, size, maximal_row(a, i)
        ):
            return True
    return False


cdef inline void look_around(Search *s) noexcept nogil:
    """List the nodes that are adjacent to a neighbor of y but not to y; set ``far`` for others."""
    cdef Near *a = &s.near
    cdef Graph *g = &s.g
    cdef int i, k, x, v, kind, places = 0, seen
    cdef Ints *some
    cdef size_t wanted
    a.xs.size = 0
    g.marks += 2
    for i in range(a.k):
        v = a.node.at[i]
        for kind in range(3):
            some = &g.parents[v] if kind == 0 else &g.children[v] if kind == 1 else &g.neighbors[v]
            for k in range(some.size):
                x = some.at[k]
                if x != a.y and g.mark[x] != g.marks and not adjacent(g, x, a.y):
                    g.mark[x] = g.marks
                    push(&s.exit, &a.xs, x)
    if s.most_listed >= 0:  # see sort_views
        sort_ints(a.xs.at, a.xs.size)
    seen = 1 + g.parents[a.y].size + g.children[a.y].size + a.k + a.xs.size
    a.far = seen < g.n
    wanted = <size_t>a.xs.size * a.words
    if wanted > a.na_room:
        a.na = <Word *>regrown(&s.exit, a.na, 2 * wanted * sizeof(Word))
        a.na_room = 2 * wanted
    if wanted:
        memset(a.na, 0, wanted * sizeof(Word))
    for i in range(a.xs.size):
        for k in range(a.k):
            if adjacent(g, a.xs.at[i], a.node.at[k]):
                add(a.na + <size_t>i * a.words, k)


# Views that are out of date


cdef inline void mark_stale(Search *s, int v) noexcept nogil:
    if s.is_stale[v] != s.stale_stamp:
        s.is_stale[v] = s.stale_stamp
        push(&s.exit, &s.stale, v)


cdef inline void note_changes(Search *s, int first) noexcept nogil:
    """Find the views that the changes of the log from ``first`` on make stale.

    A change that the completion of the step undid does not count.
    """
    cdef Graph *g = &s.g
    cdef Change *change
    cdef int i, lost, kind
    for i in range(first, g.changes):
        change = &g.log[i]
        kind = kind_of(g, change.u, change.v)
        if kind == change.before or was_changed(g, first, i):
            continue
        touch(s, change.u)
        touch(s, change.v)
        push(&s.exit, &s.turned, change.u)
        push(&s.exit, &s.turned, change.v)
        lost = change.before & ~kind
        if lost & 1:
            push(&s.exit, &s.lost, change.u)
        if lost & 2:
            push(&s.exit, &s.lost, change.v)
        if (change.before == 0) != (kind == 0):
            touch_neighbors(s, change.u)
            touch_neighbors(s, change.v)


cdef inline bint was_changed(const Graph *g, int first, int at) noexcept nogil:
    """Return whether the log has an earlier change of the same edge, from ``first`` on."""
    cdef int i, u = g.log[at].u, v = g.log[at].v
    for i in range(first, at):
        if (g.log[i].u == u and g.log[i].v == v) or (g.log[i].u == v and g.log[i].v == u):
            return True
    return False


cdef inline void touch(Search *s, int v) noexcept nogil:
    mark_stale(s, v)
    push(&s.exit, &s.touched, v)


cdef inline void touch_neighbors(Search *s, int v) noexcept nogil:
    cdef int i
    for i in range(s.g.neighbors[v].size):
        touch(s, s.g.neighbors[v].at[i])


cdef inline int compare_sets(const int *one, int size, const int *other, int other_size) noexcept nogil:
    """Compare two sorted sets by size, then by their nodes."""
    cdef int i
    if size != other_size:
        return -1 if size < other_size else 1
    for i in range(size):
        if one[i] != other[i]:
            return -1 if one[i] < other[i] else 1
    return 0
