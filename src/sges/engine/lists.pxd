"""Lists of nodes that grow, rows of bits, and how a run is left when memory runs out."""

from libc.limits cimport INT_MAX
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

ctypedef uint64_t Word

cdef extern from "exits.h" nogil:
    ctypedef struct Exit:
        int status
    int guarded(Exit *exit, void (*work)(void *) noexcept nogil, void *argument) noexcept
    void leave(Exit *exit, int status) noexcept
    int lowest_bit(Word word) noexcept
    int count_bits(Word word) noexcept
    void prefetch(const void *place) noexcept
    Word mixed(Word number) noexcept
    void *in_large_pages(void *block, size_t bytes) noexcept
    double seconds_now() noexcept
    enum:
        CAN_RUN_OUT
    long long allocations_left

cdef enum Status:
    # Why a run was left.
    NO_MEMORY = 1
    TIME_UP = 2
    INTERRUPTED = 3
    BAD_GAIN = 4
    RAISED = 5  # a Python exception was set
    OVER_BUDGET = 6
    NO_EXTENSION = 7
    INVALID = 8

cdef struct Ints:
    int *at
    int size
    int room


cdef inline void *taken(Exit *exit, size_t bytes) noexcept nogil:
    """Return memory, or leave the run."""
    cdef void *block = malloc(bytes if bytes else 1)
    if block == NULL:
        leave(exit, NO_MEMORY)
    return in_large_pages(block, bytes)


cdef inline void *regrown(Exit *exit, void *block, size_t bytes) noexcept nogil:
    block = realloc(block, bytes if bytes else 1)
    if block == NULL:
        leave(exit, NO_MEMORY)
    return in_large_pages(block, bytes)


cdef inline void *grown(Exit *exit, void *block, int *room, int least, size_t item) noexcept nogil:
    """Return a block with room for at least ``least`` items, and about twice as many as before.

    The room is that of the old block until there is a new one, so that a run that is left here
    can be used again.
    """
    cdef int more = max(2 * room[0] if room[0] < INT_MAX // 2 else INT_MAX, least)
    block = regrown(exit, block, <size_t>more * item)
    room[0] = more
    return block


cdef inline void reserve(Exit *exit, Ints *to, int room) noexcept nogil:
    if room > to.room:
        to.at = <int *>grown(exit, to.at, &to.room, max(room, 4), sizeof(int))


cdef inline int one_more(Exit *exit, int size) noexcept nogil:
    """Return the size of a list with one more item; leave the run if it would be too long."""
    if size == INT_MAX:
        leave(exit, NO_MEMORY)
    return size + 1


cdef inline void push(Exit *exit, Ints *to, int value) noexcept nogil:
    if to.size == to.room:
        reserve(exit, to, one_more(exit, to.size))
    to.at[to.size] = value
    to.size += 1


cdef inline void copy_to(Exit *exit, Ints *to, const int *values, int size) noexcept nogil:
    cdef int i
    reserve(exit, to, size)
    for i in range(size):
        to.at[i] = values[i]
    to.size = size


cdef inline void drop(Ints *of, int value) noexcept nogil:
    """Remove one value from an unordered list."""
    cdef int i
    for i in range(of.size):
        if of.at[i] == value:
            of.size -= 1
            of.at[i] = of.at[of.size]
            return


cdef inline bint holds(const Ints *of, int value) noexcept nogil:
    cdef int i
    for i in range(of.size):
        if of.at[i] == value:
            return True
    return False


cdef inline void sort_ints(int *at, int size) noexcept nogil:
    """Sort a short list by insertion, a long one by halves; many are sorted already."""
    cdef int i, j, value, gap
    for i in range(1, size):
        if at[i - 1] > at[i]:
            break
    else:
        return
    gap = 1
    while gap < size // 9:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, size):
            value = at[i]
            j = i - gap
            while j >= 0 and at[j] > value:
                at[j + gap] = at[j]
                j -= gap
            at[j + gap] = value
        gap //= 3


cdef inline bint has(const Word *row, int v) noexcept nogil:
    return (row[v >> 6] >> (v & 63)) & 1


cdef inline void add(Word *row, int v) noexcept nogil:
    row[v >> 6] |= <Word>1 << (v & 63)


cdef inline void take(Word *row, int v) noexcept nogil:
    row[v >> 6] &= ~(<Word>1 << (v & 63))


cdef inline void flip(Word *row, int v) noexcept nogil:
    row[v >> 6] ^= <Word>1 << (v & 63)


cdef inline void clear(Word *row, int words) noexcept nogil:
    memset(row, 0, <size_t>words * sizeof(Word))


cdef inline int size_of(const Word *row, int words) noexcept nogil:
    cdef int w, size = 0
    for w in range(words):
        size += count_bits(row[w])
    return size
