# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What the engine asks of a score: the gains of all operators into one node, at once.

A native score writes the gains of every candidate into the caller's memory, without the
interpreter.  ``insert_gains`` and ``delete_gains`` show the same to Python, for tests.
"""

from libc.stdlib cimport free, malloc

from sges.errors import ScoreError


cdef class NativeScore:
    """A score that the engine reads without the interpreter."""

    cdef int open(self, Scorer *scorer) except -1:
        raise NotImplementedError

    def insert_gains(self, int y, base, double worth=float("-inf"), also=()):
        """Return {x: gain} of the inserts into y that exceed ``worth``, and the gains of ``also``.

        Parameters
        ----------
        y
            The node that gets a parent.
        base
            The parents that y has, as a sequence of nodes.
        worth
            Gains of at most this are left out.
        also
            Nodes whose gains are returned whatever they are.
        """
        cdef Scorer scorer
        cdef int *nodes = _as_ints([*sorted(base), *sorted(also)])
        cdef int *xs = <int *>malloc(self.n * sizeof(int))
        cdef double *gains = <double *>malloc((self.n + len(also) + 1) * sizeof(double))
        cdef int count, size = len(base), more = len(also)
        self.open(&scorer)
        with nogil:
            count = scorer.inserts(
                scorer.self, y, nodes, size, worth, nodes + size, more, xs, gains, gains + scorer.n
            )
            scorer.close(scorer.self)
        found = {xs[i]: gains[i] for i in range(count)}
        asked = [gains[self.n + i] for i in range(more)]
        free(nodes)
        free(xs)
        free(gains)
        _raise_if_failed(count, y)
        return found, asked

    def delete_gains(self, int y, base):
        """Return the gains of taking each node of ``base`` from the parents of y, in order."""
        cdef Scorer scorer
        cdef int *nodes = _as_ints(sorted(base))
        cdef int status, size = len(base)
        cdef double *gains = <double *>malloc((size + 1) * sizeof(double))
        self.open(&scorer)
        with nogil:
            status = scorer.deletes(scorer.self, y, nodes, size, gains)
            scorer.close(scorer.self)
        found = [gains[i] for i in range(size)]
        free(nodes)
        free(gains)
        _raise_if_failed(status, y)
        return found


cdef int *_as_ints(values) except NULL:
    cdef int *ints = <int *>malloc((len(values) + 1) * sizeof(int))
    if ints == NULL:
        raise MemoryError
    for i, value in enumerate(values):
        ints[i] = value
    return ints


def _raise_if_failed(status: int, y: int) -> None:
    if status == OUT_OF_MEMORY:
        raise MemoryError
    if status == NOT_FINITE:
        raise ScoreError(f"a gain of node {y} is not finite; a score must be finite for every family")
