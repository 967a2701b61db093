"""The stored gains of a run as three arrays, so that a resumed run need not compute them again.

The records of a memory are written one after the other.  Reading checks them, because they may come
from a damaged file.
"""

from libc.string cimport memcpy, memset

from sges.engine.count cimport note_base, note_fan, note_single
from sges.engine.lists cimport Word, has
from sges.engine.records cimport Memory, Record, longer, record_of

cdef enum:
    HEADER = 5  # node, size of the base, flags of what is stored, and the inserts of both kinds
    COMPUTED = 1
    ASKED_BASE = 2
    ASKED_ALL = 4
    ASKED = 8
    ANSWERED = 16
    ASKED_DELETES = 32
    DELETES = 64


cdef struct Kept:
    # The records of a memory, one after the other in three arrays.
    Memory *m
    int *ints
    double *floats
    Word *words
    long long int_count
    long long float_count
    long long word_count
    bint bad


cdef inline void measure(Kept *kept, Memory *m) noexcept nogil:
    """Find how long the arrays have to be for the records of a memory."""
    cdef Record *r
    cdef int i
    memset(kept, 0, sizeof(Kept))
    kept.m = m
    for i in range(m.size):
        r = m.records[i]
        kept.int_count += HEADER + r.size + r.count + r.also_count
        kept.float_count += r.count + r.also_count + (r.size if r.deletes != NULL else 0)
        kept.word_count += ((r.asked != NULL) + (r.answered != NULL)) * m.words
        kept.word_count += (r.size + 63) >> 6 if r.asked_deletes != NULL else 0


cdef inline void write_records(Kept *kept) noexcept nogil:
    """Write all records of a memory, in the order in which they were made."""
    cdef Memory *m = kept.m
    cdef Record *r
    cdef int *ints = kept.ints
    cdef double *floats = kept.floats
    cdef Word *words = kept.words
    cdef int i, size
    for i in range(m.size):
        r = m.records[i]
        ints[0] = r.y
        ints[1] = r.size
        ints[2] = (
            r.computed * COMPUTED | r.asked_base * ASKED_BASE | r.asked_all * ASKED_ALL
            | (r.asked != NULL) * ASKED | (r.answered != NULL) * ANSWERED
            | (r.asked_deletes != NULL) * ASKED_DELETES | (r.deletes != NULL) * DELETES
        )
        ints[3] = r.count
        ints[4] = r.also_count
        ints = put_ints(put_ints(put_ints(ints + HEADER, r.base, r.size), r.xs, r.count), r.also, r.also_count)
        floats = put_floats(put_floats(floats, r.gains, r.count), r.also_gains, r.also_count)
        floats = put_floats(floats, r.deletes, r.size if r.deletes != NULL else 0)
        words = put_words(words, r.asked, m.words if r.asked != NULL else 0)
        words = put_words(words, r.answered, m.words if r.answered != NULL else 0)
        words = put_words(
            words, r.asked_deletes, (r.size + 63) >> 6 if r.asked_deletes != NULL else 0
        )


cdef inline int *put_ints(int *to, const int *values, int count) noexcept nogil:
    if count:
        memcpy(to, values, <size_t>count * sizeof(int))
    return to + count


cdef inline double *put_floats(double *to, const double *values, int count) noexcept nogil:
    if count:
        memcpy(to, values, <size_t>count * sizeof(double))
    return to + count


cdef inline Word *put_words(Word *to, const Word *values, int count) noexcept nogil:
    if count:
        memcpy(to, values, <size_t>count * sizeof(Word))
    return to + count


cdef inline bint are_nodes(const int *some, int count, int n, int y) noexcept nogil:
    """Return whether all are nodes other than y."""
    cdef int i
    for i in range(count):
        if not 0 <= some[i] < n or some[i] == y:
            return False
    return True


cdef inline void read_records(void *argument) noexcept nogil:
    """Make the records that ``write_records`` wrote; ``bad`` says that they are not valid."""
    cdef Kept *kept = <Kept *>argument
    cdef Memory *m = kept.m
    cdef Record *r
    cdef int *ints = kept.ints
    cdef double *floats = kept.floats
    cdef Word *words = kept.words
    cdef long long ints_left = kept.int_count, floats_left = kept.float_count
    cdef long long words_left = kept.word_count, some_ints, some_floats, some_words
    cdef int i, y, size, flags, count, also_count, row
    kept.bad = True
    while ints_left > 0:
        if ints_left < HEADER:
            return
        y, size, flags, count, also_count = ints[0], ints[1], ints[2], ints[3], ints[4]
        if not 0 <= y < m.n or not 0 <= size < m.n or not 0 <= count <= m.n or not 0 <= also_count <= m.n:
            return
        row = (size + 63) >> 6
        some_ints = HEADER + size + count + also_count
        some_floats = count + also_count + (size if flags & DELETES else 0)
        some_words = ((flags & ASKED != 0) + (flags & ANSWERED != 0)) * m.words
        some_words += row if flags & ASKED_DELETES else 0
        if some_ints > ints_left or some_floats > floats_left or some_words > words_left:
            return
        if not are_nodes(ints + HEADER, <int>(some_ints - HEADER), m.n, y):
            return
        for i in range(1, size):
            if ints[HEADER + i] <= ints[HEADER + i - 1]:
                return
        r = record_of(m, y, ints + HEADER, size)
        if flags & ASKED_BASE:
            note_base(m, r)
        r.computed = flags & COMPUTED != 0
        r.xs = <int *>longer(m, ints + HEADER + size, count, count, sizeof(int))
        r.gains = <double *>longer(m, floats, count, count, sizeof(double))
        r.count = r.room = count
        r.also = <int *>longer(m, ints + HEADER + size + count, also_count, also_count, sizeof(int))
        r.also_gains = <double *>longer(m, floats + count, also_count, also_count, sizeof(double))
        r.also_count = r.also_room = also_count
        if flags & DELETES:
            r.deletes = <double *>longer(m, floats + count + also_count, size, size, sizeof(double))
        if flags & ASKED_ALL:
            note_fan(m, r)
            r.asked_all = True
        if flags & ASKED:
            note_fan(m, r)
            r.asked = <Word *>longer(m, words, m.words, m.words, sizeof(Word))
            words += m.words
        if flags & ANSWERED:
            r.answered = <Word *>longer(m, words, m.words, m.words, sizeof(Word))
            words += m.words
        if flags & ASKED_DELETES:
            r.asked_deletes = <Word *>longer(m, words, row, row, sizeof(Word))
            words += row
            if m.counting:
                for i in range(size):
                    if has(r.asked_deletes, i):
                        note_single(m, r, r.base[i])
        ints += some_ints
        floats += some_floats
        ints_left -= some_ints
        floats_left -= some_floats
        words_left -= some_words
    kept.bad = False
