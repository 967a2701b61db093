# cython: language_level=3, boundscheck=False, wraparound=False
"""A native score that records its calls, and a loop that repeats them.

Built on demand by ``studies.peers.engine_worker``; it is not part of the package.
"""

from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from sges.engine.scores cimport NativeScore, Scorer


cdef struct Book:
    # Each call as ints: kind, y, size, also_size, the base, also; the worths are stored separately.
    Scorer inner
    int *at
    size_t size
    size_t room
    double *worths
    size_t count
    size_t count_room
    bint failed


cdef bint note(
    Book *book, int kind, int y, const int *base, int size, double worth, const int *also, int more
) noexcept nogil:
    cdef size_t need = book.size + 4 + size + more
    cdef void *new
    if need > book.room:
        new = realloc(book.at, 2 * need * sizeof(int))
        if new == NULL:
            return False
        book.at = <int *>new
        book.room = 2 * need
    if book.count == book.count_room:
        new = realloc(book.worths, (2 * book.count_room + 1024) * sizeof(double))
        if new == NULL:
            return False
        book.worths = <double *>new
        book.count_room = 2 * book.count_room + 1024
    cdef int *to = book.at + book.size
    to[0], to[1], to[2], to[3] = kind, y, size, more
    memcpy(to + 4, base, size * sizeof(int))
    if more:
        memcpy(to + 4 + size, also, more * sizeof(int))
    book.worths[book.count] = worth
    book.count += 1
    book.size = need
    return True


cdef int noted_inserts(
    void *self, int y, const int *base, int size, double worth,
    const int *also, int more, int *xs, double *gains, double *also_gains,
) noexcept nogil:
    cdef Book *book = <Book *>self
    if not note(book, 0, y, base, size, worth, also, more):
        book.failed = True
    return book.inner.inserts(
        book.inner.self, y, base, size, worth, also, more, xs, gains, also_gains
    )


cdef int noted_deletes(
    void *self, int y, const int *base, int size, double *gains
) noexcept nogil:
    cdef Book *book = <Book *>self
    if not note(book, 1, y, base, size, 0.0, NULL, 0):
        book.failed = True
    return book.inner.deletes(book.inner.self, y, base, size, gains)


cdef void close_inner(void *self) noexcept nogil:
    cdef Book *book = <Book *>self
    book.inner.close(book.inner.self)


cdef class Recorder(NativeScore):
    """A native score that returns the gains of another one, and records the calls of one run."""

    cdef NativeScore score
    cdef Book book

    def __init__(self, NativeScore score):
        self.score = score
        self.n = score.n

    def __dealloc__(self):
        free(self.book.at)
        free(self.book.worths)

    cdef int open(self, Scorer *scorer) except -1:
        self.score.open(&self.book.inner)
        self.book.size = self.book.count = 0
        scorer.self = &self.book
        scorer.n = self.n
        scorer.inserts = noted_inserts
        scorer.deletes = noted_deletes
        scorer.close = close_inner
        return 0

    def replay(self):
        """Repeat all recorded calls in one native loop; return their number."""
        cdef Scorer scorer
        cdef Book *book = &self.book
        cdef int *xs = <int *>malloc(self.n * sizeof(int))
        cdef double *gains = <double *>malloc(2 * self.n * sizeof(double))
        cdef size_t i, at = 0
        cdef int *q
        cdef int status = 0
        if xs == NULL or gains == NULL or book.failed:
            free(xs)
            free(gains)
            raise MemoryError
        self.score.open(&scorer)
        with nogil:
            for i in range(book.count):
                q = book.at + at
                if q[0] == 0:
                    status = scorer.inserts(
                        scorer.self, q[1], q + 4, q[2], book.worths[i], q + 4 + q[2], q[3],
                        xs, gains, gains + self.n,
                    )
                else:
                    status = scorer.deletes(scorer.self, q[1], q + 4, q[2], gains)
                if status < 0:
                    break
                at += 4 + q[2] + q[3]
            scorer.close(scorer.self)
        free(xs)
        free(gains)
        if status < 0:
            raise RuntimeError(f"the score answered {status} when it was asked again")
        return book.count
