# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The interface of a native score: it computes the gains of all operators into one node at once.

A native score writes the gains of every candidate into the caller's memory, without the
interpreter.  ``insert_gains`` and ``delete_gains`` return the same gains in Python, for tests.
"""

from array import array
from operator import index

from libc.math cimport isfinite
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
            Nodes whose gains are returned even if they do not exceed ``worth``.
        """
        cdef Scorer scorer
        base, also = checked_family(self.n, y, base), checked_family(self.n, y, also)
        if set(base) & set(also):
            raise ScoreError(f"{sorted(set(base) & set(also))} are parents of node {y} already")
        cdef int[::1] nodes = array("i", [*base, *also, 0]), xs = array("i", bytes(4 * self.n + 4))
        cdef double[::1] gains = array("d", bytes(8 * (self.n + len(also) + 1)))
        cdef int count, size = len(base), more = len(also)
        self.open(&scorer)
        with nogil:
            count = scorer.inserts(
                scorer.self, y, &nodes[0], size, worth, &nodes[size], more, &xs[0], &gains[0],
                &gains[scorer.n],
            )
            scorer.close(scorer.self)
        _raise_if_failed(count, y)
        found = {xs[i]: gains[i] for i in range(count)}
        return found, [gains[self.n + i] for i in range(more)]

    def delete_gains(self, int y, base):
        """Return the gains of taking each node of ``base`` from the parents of y, in order."""
        cdef Scorer scorer
        base = checked_family(self.n, y, base)
        cdef int[::1] nodes = array("i", [*base, 0])
        cdef int status, size = len(base)
        cdef double[::1] gains = array("d", bytes(8 * size + 8))
        self.open(&scorer)
        with nogil:
            status = scorer.deletes(scorer.self, y, &nodes[0], size, &gains[0])
            scorer.close(scorer.self)
        _raise_if_failed(status, y)
        return [gains[i] for i in range(size)]


cdef struct Priced:
    # One run of a score with a cost per parent.
    Scorer inner
    double cost


cdef int priced_inserts(
    void *self, int y, const int *base, int size, double worth,
    const int *also, int also_size, int *xs, double *gains, double *also_gains,
) noexcept nogil:
    cdef Priced *run = <Priced *>self
    cdef int i, kept = 0
    cdef int count = run.inner.inserts(
        run.inner.self, y, base, size, worth + run.cost, also, also_size, xs, gains, also_gains
    )
    for i in range(count):  # rounding may bring a gain down to `worth` itself
        if gains[i] - run.cost > worth:
            xs[kept], gains[kept] = xs[i], gains[i] - run.cost
            kept += 1
    if count >= 0:
        for i in range(also_size):
            also_gains[i] -= run.cost
    return kept if count >= 0 else count


cdef int priced_deletes(
    void *self, int y, const int *base, int size, double *gains
) noexcept nogil:
    cdef Priced *run = <Priced *>self
    cdef int i, status = run.inner.deletes(run.inner.self, y, base, size, gains)
    if status == 0:
        for i in range(size):
            gains[i] += run.cost
    return status


cdef double priced_family(void *self, int y, const int *base, int size) noexcept nogil:
    cdef Priced *run = <Priced *>self
    return run.inner.family(run.inner.self, y, base, size) - size * run.cost


cdef void priced_close(void *self) noexcept nogil:
    cdef Priced *run = <Priced *>self
    run.inner.close(run.inner.self)
    free(run)


cdef class EdgePrior(NativeScore):
    """A native score with a constant cost per parent: an edge prior.

    Parameters
    ----------
    score
        Any native score.
    cost
        The cost of each parent: minus the logarithm of the prior odds of an edge.
    """

    def __init__(self, NativeScore score not None, double cost):
        if not isfinite(cost):
            raise ScoreError(f"EdgePrior: cost {cost!r} is not finite; log p is the default")
        self.score, self.cost, self.n = score, cost, score.n

    cdef int open(self, Scorer *scorer) except -1:
        cdef Priced *run = <Priced *>malloc(sizeof(Priced))
        if run == NULL:
            raise MemoryError
        try:
            self.score.open(&run.inner)
        except BaseException:
            free(run)
            raise
        run.cost = self.cost
        scorer.self, scorer.n = run, self.n
        scorer.inserts, scorer.deletes = priced_inserts, priced_deletes
        scorer.family = NULL
        if run.inner.family != NULL:
            scorer.family = priced_family
        scorer.close = priced_close
        return 0


def ask_one_run(NativeScore score, questions):
    """Return the gains of several families, computed by one scorer in the given order, for tests.

    Parameters
    ----------
    score
        Any native score.
    questions
        Tuples (kind, y, base) with kind "insert" or "delete".  An insert computes the gains of
        all candidates, a delete those of all nodes of base.
    """
    cdef Scorer scorer
    cdef int[::1] nodes, xs = array("i", bytes(4 * score.n + 4))
    cdef double[::1] gains = array("d", bytes(8 * score.n + 8))
    cdef int y, i, status
    answers = []
    score.open(&scorer)
    try:
        for kind, y, base in questions:
            base = checked_family(score.n, y, base)
            nodes = array("i", [*base, 0])
            if kind == "insert":
                status = scorer.inserts(
                    scorer.self, y, &nodes[0], len(base), float("-inf"), NULL, 0, &xs[0],
                    &gains[0], NULL,
                )
            else:
                status = scorer.deletes(scorer.self, y, &nodes[0], len(base), &gains[0])
                status = len(base) if status == 0 else status
            _raise_if_failed(status, y)
            answers.append([gains[i] for i in range(status)])
    finally:
        scorer.close(scorer.self)
    return answers


def checked_family(n: int, y: int, parents) -> list[int]:
    """Return parents of y sorted; raise an error if they are not distinct nodes other than y."""
    found = sorted(map(index, parents))
    if not 0 <= y < n:
        raise ScoreError(f"node {y}: the score has the nodes 0..{n - 1} only")
    if any(not 0 <= x < n or x == y for x in found):
        raise ScoreError(f"{found} cannot be parents of node {y} among the nodes 0..{n - 1}")
    if len(set(found)) < len(found):
        raise ScoreError(f"{found} cannot be parents of node {y}: a parent counts once")
    return found


def _raise_if_failed(status: int, y: int) -> None:
    if status == OUT_OF_MEMORY:
        raise MemoryError
    if status == NOT_FINITE:
        raise ScoreError(f"a gain of node {y} is not finite; a score must be finite for every family")
