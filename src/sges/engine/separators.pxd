"""Separators: sets of k nodes given which the score prefers that x is not a parent of y.

For each y, and each base M of k other nodes, one call of the score gives the gains of all x.
"""

from libc.string cimport memset

from sges.engine.gains cimport ask_exact, insert_gain
from sges.engine.lists cimport Ints, Word, has, lowest_bit, push, regrown
from sges.engine.records cimport Record, record_of
from sges.engine.search cimport Search, Separators


cdef inline void begin_separators(void *argument) noexcept nogil:
    """Make room for the pairs of all nodes."""
    cdef Search *s = <Search *>argument
    cdef Separators *found = &s.separators
    cdef size_t n = s.g.n, pairs = n * n
    found.wanted = <Word *>regrown(&s.exit, found.wanted, (n * s.g.words + 1) * sizeof(Word))
    found.evidence = <double *>regrown(&s.exit, found.evidence, (pairs + 1) * sizeof(double))
    found.sets = <int *>regrown(&s.exit, found.sets, (pairs * found.order + 1) * sizeof(int))
    memset(found.wanted, 0, n * s.g.words * sizeof(Word))
    memset(found.evidence, 0, pairs * sizeof(double))


cdef inline void ask_about(Search *s, int y, const int *base) noexcept nogil:
    """Compute the gains of one base; keep it for the x that it separates from y best."""
    cdef Separators *found = &s.separators
    cdef const Word *wanted = found.wanted + <size_t>y * s.g.words
    cdef Record *r
    cdef int w, i, x, k
    cdef Word left
    cdef double evidence
    s.also.size = 0
    for w in range(s.g.words):
        left = wanted[w]
        while left:
            x = (w << 6) + lowest_bit(left)
            left &= left - 1
            for i in range(found.order):
                if base[i] == x:
                    break
            else:
                if x != y:
                    push(&s.exit, &s.also, x)
    if s.also.size == 0:
        return
    r = record_of(&s.m, y, base, found.order)
    ask_exact(&s.m, r, s.also.at, s.also.size)
    for i in range(s.also.size):
        x = s.also.at[i]
        k = y * s.g.n + x
        evidence = -insert_gain(r, x)
        if evidence > found.evidence[k] + s.tolerance:
            found.evidence[k] = evidence
            for w in range(found.order):
                found.sets[<size_t>k * found.order + w] = base[w]


cdef inline void find_separators(void *argument) noexcept nogil:
    """Examine all bases of the given size, in the order of their nodes."""
    cdef Search *s = <Search *>argument
    cdef Separators *found = &s.separators
    cdef Ints *chosen = &found.chosen
    cdef int y, i, k = found.order, others = s.g.n - 1
    for y in range(s.g.n):
        chosen.size = 0
        for i in range(2 * k):  # places among the other nodes, then the nodes
            push(&s.exit, chosen, i)
        while True:
            for i in range(k):
                chosen.at[k + i] = chosen.at[i] + (chosen.at[i] >= y)
            ask_about(s, y, chosen.at + k)
            i = k - 1
            while i >= 0 and chosen.at[i] == others - k + i:
                i -= 1
            if i < 0:
                break
            chosen.at[i] += 1
            for i in range(i + 1, k):
                chosen.at[i] = chosen.at[i - 1] + 1
