"""The interface of a native score: it computes the gains of all operators into one node at once."""

cdef enum:
    OUT_OF_MEMORY = -1  # returned instead of a count
    NOT_FINITE = -2


cdef struct Scorer:
    # A score with the memory of one run: scores are shared, scorers are not.
    void *self
    int n
    # Gains local(y, base + x) - local(y, base).  `base` is sorted and does not hold y.  Writes the
    # x outside base and y whose gain exceeds `worth`, in increasing order, with their gains, and
    # returns how many; `xs` and `gains` have room for n.  `also` are x outside base and y, sorted:
    # all of their gains are written to `also_gains`.
    int (*inserts)(
        void *self, int y, const int *base, int size, double worth,
        const int *also, int also_size, int *xs, double *gains, double *also_gains,
    ) noexcept nogil
    # Gains local(y, base - base[i]) - local(y, base) for every i.  Returns 0.
    int (*deletes)(void *self, int y, const int *base, int size, double *gains) noexcept nogil
    # The score of a family beyond that of the node alone, local(y, base) - local(y, {}).  NULL if
    # calling the score is as fast; returns NaN if it cannot compute it.
    double (*family)(void *self, int y, const int *base, int size) noexcept nogil
    void (*close)(void *self) noexcept nogil


cdef class NativeScore:
    """A score that the engine reads without the interpreter."""

    cdef readonly int n
    cdef int open(self, Scorer *scorer) except -1


cdef class EdgePrior(NativeScore):
    """A native score with a constant cost per parent."""

    cdef readonly NativeScore score
    cdef readonly double cost
