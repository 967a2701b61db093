"""Calls of the score: each gain is computed once, and stored in the record of its node and base.

A native score gives the gains of all inserts into a family, or of all deletes from it, at once.  Of
the inserts only those with a positive gain are kept, and those of edges that might be turned.
"""

from libc.math cimport INFINITY, isfinite
from libc.string cimport memcpy, memset

from sges.engine.count cimport (
    count_families, count_missing, journal_deletes, journal_inserts, new_row, note_base, note_fan,
    note_inserts, note_single, prepare_to_note,
)
from sges.engine.lists cimport (
    BAD_GAIN, Ints, NO_MEMORY, OVER_BUDGET, Word, add, has, leave, lowest_bit, push, reserve,
)
from sges.engine.records cimport Memory, Record, lasting, longer, record_of
from sges.engine.scores cimport NOT_FINITE, OUT_OF_MEMORY


cdef inline void may_ask(Memory *m, int more) noexcept nogil:
    """Leave the run if time is up, or if this many more families may exceed the budget."""
    cdef long long counted
    m.check(m.owner)
    if m.most >= 0 and m.exact + m.fresh + more > m.most:
        counted = count_families(m)
        if counted < 0:
            leave(m.exit, NO_MEMORY)
        m.exact = counted
        m.fresh = 0
        if m.exact + more > m.most:
            leave(m.exit, OVER_BUDGET)


cdef inline void refuse(Memory *m, Record *r, int x, double gain) noexcept nogil:
    m.bad_record = r
    m.bad_x = x
    m.bad_gain = gain
    leave(m.exit, BAD_GAIN)


cdef inline void must_answer(Memory *m, Record *r, int status) noexcept nogil:
    """Leave the run if a score could not compute the gains."""
    if status == OUT_OF_MEMORY:
        leave(m.exit, NO_MEMORY)
    elif status == NOT_FINITE:
        refuse(m, r, -1, 0.0)
    elif status < 0:
        leave(m.exit, -status)


cdef inline void keep(Memory *m, Record *r, int x, double gain) noexcept nogil:
    cdef int room = max(8, 2 * r.count)
    if r.count == r.room:
        r.xs = <int *>longer(m, r.xs, r.count, room, sizeof(int))
        r.gains = <double *>longer(m, r.gains, r.count, room, sizeof(double))
        r.room = room
    r.xs[r.count] = x
    r.gains[r.count] = gain
    r.count += 1


cdef inline int place_in_also(const Record *r, int x) noexcept nogil:
    """Return where x is, or would be, among the sorted nodes whose gains are known exactly."""
    cdef int low = 0, high = r.also_count, middle
    while low < high:
        middle = (low + high) >> 1
        if r.also[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline bint known_exactly(const Record *r, int x) noexcept nogil:
    cdef int at = place_in_also(r, x)
    return at < r.also_count and r.also[at] == x


cdef inline void keep_also(Memory *m, Record *r, int x, double gain) noexcept nogil:
    cdef int i, at = place_in_also(r, x), room = max(4, 2 * r.also_count)
    if r.also_count == r.also_room:
        r.also = <int *>longer(m, r.also, r.also_count, room, sizeof(int))
        r.also_gains = <double *>longer(m, r.also_gains, r.also_count, room, sizeof(double))
        r.also_room = room
    for i in range(r.also_count, at, -1):
        r.also[i] = r.also[i - 1]
        r.also_gains[i] = r.also_gains[i - 1]
    r.also[at] = x
    r.also_gains[at] = gain
    r.also_count += 1


cdef inline void list_missing(Memory *m, const Word *wanted, const Word *known) noexcept nogil:
    """List the wanted nodes that are not known."""
    cdef int w
    cdef Word new
    m.missing.size = 0
    for w in range(m.words):
        new = wanted[w] & ~known[w]
        while new:
            push(m.exit, &m.missing, (w << 6) + lowest_bit(new))
            new &= new - 1


cdef inline void compute(
    Memory *m, Record *r, const int *also, int also_size
) noexcept nogil:
    """Compute all inserts with a native score, and the exact gains of those in ``also``."""
    cdef int i, found
    m.questions += 1
    m.work += m.n
    found = m.scorer.inserts(
        m.scorer.self, r.y, r.base, r.size, 0.0, also, also_size, m.xs, m.gains, m.more_gains
    )
    must_answer(m, r, found)
    for i in range(found):
        if not isfinite(m.gains[i]):
            refuse(m, r, m.xs[i], m.gains[i])
    for i in range(also_size):
        if not isfinite(m.more_gains[i]):
            refuse(m, r, also[i], m.more_gains[i])
    for i in range(also_size):
        if not known_exactly(r, also[i]):
            keep_also(m, r, also[i], m.more_gains[i])
    r.xs = <int *>longer(m, m.xs, found, found, sizeof(int))
    r.gains = <double *>longer(m, m.gains, found, found, sizeof(double))
    r.count = r.room = found
    r.computed = True


cdef inline void ask_inserts(
    Memory *m, Record *r, const Word *wanted, const int *also, int also_size
) noexcept nogil:
    """Compute the wanted inserts; ``also`` are sorted nodes that may be turned later."""
    cdef int i, x, fresh
    if m.journaling:
        journal_inserts(m, r, wanted)
    if m.native and r.computed and (r.asked_all or not m.counting):
        return
    fresh = count_missing(m, wanted, r.asked if m.native else r.answered)
    if fresh == 0 or (m.native and r.asked_all):
        fresh = 0
    if fresh == 0 and (r.computed or not m.native or (r.asked == NULL and not r.asked_all)):
        return  # there is nothing to compute; if nothing is wanted, nothing is counted either
    may_ask(m, fresh + 1)
    note_base(m, r)
    note_inserts(m, r, wanted)
    if m.native:
        if not r.computed:
            compute(m, r, also, also_size)
        return
    if r.answered == NULL:
        r.answered = new_row(m, m.words)
    list_missing(m, wanted, r.answered)
    m.questions += 1
    m.work += fresh
    must_answer(m, r, m.ask(m.owner, r, True, m.missing.at, fresh, m.gains))
    for i in range(fresh):
        if not isfinite(m.gains[i]):
            refuse(m, r, m.missing.at[i], m.gains[i])
    for i in range(fresh):
        x = m.missing.at[i]
        if m.gains[i] > 0.0:
            keep(m, r, x, m.gains[i])
        add(r.answered, x)


cdef inline double sum_of_inserts(Memory *m, Record *r, const Word *wanted) noexcept nogil:
    """Return the sum of the gains of the wanted inserts, including those that are not kept."""
    cdef int i, count
    cdef double total = 0.0
    ask_inserts(m, r, wanted, NULL, 0)
    if m.native:
        count = m.scorer.inserts(
            m.scorer.self, r.y, r.base, r.size, -INFINITY, NULL, 0, m.xs, m.gains, m.more_gains
        )
        must_answer(m, r, count)
    else:
        memset(m.scratch, 0, <size_t>m.words * sizeof(Word))
        list_missing(m, wanted, m.scratch)
        count = m.missing.size
        memcpy(m.xs, m.missing.at, <size_t>count * sizeof(int))
        if count:
            must_answer(m, r, m.ask(m.owner, r, True, m.xs, count, m.gains))
    for i in range(count):
        if has(wanted, m.xs[i]):
            if not isfinite(m.gains[i]):
                refuse(m, r, m.xs[i], m.gains[i])
            total += m.gains[i]
    return total


cdef inline double insert_gain(const Record *r, int x) noexcept nogil:
    """Return the gain of one insert that ``ask_exact`` has computed."""
    return r.also_gains[place_in_also(r, x)]


cdef inline void ask_exact(Memory *m, Record *r, const int *xs, int size) noexcept nogil:
    """Compute the exact gains of these inserts, which are sorted."""
    cdef int i, at = 0
    if m.journaling:
        memset(m.scratch, 0, <size_t>m.words * sizeof(Word))
        for i in range(size):
            add(m.scratch, xs[i])
        journal_inserts(m, r, m.scratch)
    may_ask(m, size + 1)
    note_base(m, r)
    if m.counting and not r.asked_all:
        note_fan(m, r)
        if r.asked == NULL:
            r.asked = new_row(m, m.words)
        for i in range(size):
            m.fresh += not has(r.asked, xs[i])
            add(r.asked, xs[i])
    m.missing.size = 0
    for i in range(size):
        while at < r.also_count and r.also[at] < xs[i]:
            at += 1
        if at == r.also_count or r.also[at] != xs[i]:
            push(m.exit, &m.missing, xs[i])
    if m.missing.size == 0:
        return
    if not m.native:
        m.questions += 1
        m.work += m.missing.size
        must_answer(m, r, m.ask(m.owner, r, True, m.missing.at, m.missing.size, m.gains))
        for i in range(m.missing.size):
            if not isfinite(m.gains[i]):
                refuse(m, r, m.missing.at[i], m.gains[i])
            keep_also(m, r, m.missing.at[i], m.gains[i])
    elif not r.computed:
        compute(m, r, m.missing.at, m.missing.size)
    else:
        for i in range(m.missing.size):
            keep_also(m, r, m.missing.at[i], single_insert(m, r, m.missing.at[i]))


cdef inline double single_insert(Memory *m, Record *r, int x) noexcept nogil:
    """Return the gain of one insert of a native score: that of the delete which undoes it."""
    cdef int i, status, at = 0
    if known_exactly(r, x):
        return insert_gain(r, x)
    for i in range(r.count):
        if r.xs[i] == x:
            return r.gains[i]
    m.questions += 1
    m.work += r.size + 1
    reserve(m.exit, &m.family, r.size + 1)
    for i in range(r.size):
        if r.base[i] < x:
            at = i + 1
            m.family.at[i] = r.base[i]
        else:
            m.family.at[i + 1] = r.base[i]
    m.family.at[at] = x
    status = m.scorer.deletes(m.scorer.self, r.y, m.family.at, r.size + 1, m.more_gains)
    must_answer(m, r, status)
    if not isfinite(m.more_gains[at]):
        refuse(m, r, x, m.more_gains[at])
    return -m.more_gains[at]


cdef inline void ask_deletes(Memory *m, Record *r, const Word *wanted) noexcept nogil:
    """Compute the wanted deletes, given by their places in the base."""
    cdef int i, fresh = 0, words = (r.size + 63) >> 6
    if m.journaling:
        journal_deletes(m, r, wanted)
    if r.asked_deletes == NULL:
        r.asked_deletes = new_row(m, words)
    m.missing.size = 0
    for i in range(r.size):
        if has(wanted, i) and not has(r.asked_deletes, i):
            push(m.exit, &m.missing, i)
    if m.missing.size == 0:
        return
    may_ask(m, m.missing.size + 1)
    note_base(m, r)
    fresh = m.missing.size
    m.fresh += fresh
    if m.counting:
        for i in range(fresh):
            prepare_to_note(m, r, r.base[m.missing.at[i]])
    if m.native:
        if r.deletes == NULL:
            m.questions += 1
            m.work += r.size
            compute_deletes(m, r)
    else:
        ask_python_deletes(m, r, fresh)
    for i in range(fresh):  # only now, because the score may have failed
        if m.counting:
            note_single(m, r, r.base[m.missing.at[i]])
        add(r.asked_deletes, m.missing.at[i])


cdef inline void compute_deletes(Memory *m, Record *r) noexcept nogil:
    """Compute all deletes with a native score; ``deletes`` stays NULL if it cannot."""
    cdef int i
    cdef double *found
    must_answer(m, r, m.scorer.deletes(m.scorer.self, r.y, r.base, r.size, m.gains))
    for i in range(r.size):
        if not isfinite(m.gains[i]):
            refuse(m, r, r.base[i], m.gains[i])
    found = <double *>lasting(m, <size_t>r.size * sizeof(double))
    memcpy(found, m.gains, <size_t>r.size * sizeof(double))
    r.deletes = found


cdef inline void ask_python_deletes(Memory *m, Record *r, int fresh) noexcept nogil:
    """Compute the deletes at the missing places with a Python score."""
    cdef int i
    for i in range(fresh):
        m.xs[i] = r.base[m.missing.at[i]]
    m.questions += 1
    m.work += fresh
    must_answer(m, r, m.ask(m.owner, r, False, m.xs, fresh, m.gains))
    for i in range(fresh):
        if not isfinite(m.gains[i]):
            refuse(m, r, m.xs[i], m.gains[i])
    if r.deletes == NULL:
        r.deletes = <double *>lasting(m, <size_t>r.size * sizeof(double))
    for i in range(fresh):
        r.deletes[m.missing.at[i]] = m.gains[i]


cdef inline int place_of(const Record *r, int x) noexcept nogil:
    """Return the place of a node in the base."""
    cdef int low = 0, high = r.size - 1, middle
    while low < high:
        middle = (low + high) >> 1
        if r.base[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline void look_ahead(
    Memory *m, int y, const int *base, int size, const int *xs, int count
) noexcept nogil:
    """Compute several inserts at once with a native score, before they are needed one by one."""
    cdef Record *r = record_of(m, y, base, size)
    if m.native and count > 1 and not r.computed:
        compute(m, r, xs, count)


cdef inline double single_gain(
    Memory *m, int y, const int *base, int size, int x, bint inserting
) noexcept nogil:
    """Return the gain of one parent more or less; not counted."""
    cdef Record *r = record_of(m, y, base, size)
    cdef double gain
    if m.native:
        if inserting:
            return single_insert(m, r, x)
        if r.deletes == NULL:
            compute_deletes(m, r)
        gain = r.deletes[place_of(r, x)]
    else:
        must_answer(m, r, m.ask(m.owner, r, inserting, &x, 1, &gain))
    if not isfinite(gain):
        refuse(m, r, x, gain)
    return gain
