# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
r"""Native scores of linear Gaussian families, from one correlation matrix.

Every gain is a function of residual variances.  One factor of R[base ∪ y], y last, and one solve
against all columns give var(x | base) and what y explains of it, for every x; one inverse gives
the partial correlation of y with each x in base given the rest.

A logarithm is taken only for a gain that exceeds the caller's ``worth``: the others are found by
comparing squared partial correlations with the one that would just be worth it.
"""

from libc.math cimport INFINITY, exp, expm1, isfinite, log, log1p
from libc.stdlib cimport calloc, free, malloc

from sges.engine.scores cimport NOT_FINITE, OUT_OF_MEMORY, NativeScore, Scorer
from sges.errors import ScoreError


cdef extern from "solve.h" nogil:
    ctypedef struct Matrix:
        const void *entries
        ptrdiff_t n
        int is_single

    ctypedef struct Space:
        int stride
        double *upper
        double *scale
        double *inverse
        double *squares
        double *z
        double *left
        double *explained
        unsigned char *marks
        int *nodes
        double *memory

    enum:
        WIDEST

    int reserve(Space *space, int rows)
    int factor(const Matrix *matrix, Space *space, int size)
    void invert(Space *space, int size)
    int columns_at_a_time(int size)
    void solve_and_mark(
        const Matrix *matrix, const Space *space, int size, int at, int width, double cut
    )
    int next_mark(const unsigned char *marks, int at, int width)


cdef double MARGIN = 1.0 - 1e-12  # of a cut, for the rounding of what is compared with it


# -- what all three share: the rows of a family, and the columns of a block ------------------------


cdef int factor_family(
    const Matrix *matrix, Space *space, int y, const int *base, int size
) noexcept nogil:
    """Factor R[base + y], y last; return 0 or a status."""
    cdef int i
    if not reserve(space, size + 1):
        return OUT_OF_MEMORY
    for i in range(size):
        space.nodes[i] = base[i]
    space.nodes[size] = y
    return 0 if factor(matrix, space, size + 1) else NOT_FINITE


cdef void unmark_family(
    Space *space, int y, const int *base, int size, int begin, int width
) noexcept nogil:
    """Unmark y and the base, which are not candidates."""
    cdef int i
    for i in range(size):
        if begin <= base[i] < begin + width:
            space.marks[base[i] - begin] = 0
    if begin <= y < begin + width:
        space.marks[y - begin] = 0


# -- the BIC ---------------------------------------------------------------------------------------


cdef struct GaussianRun:
    Matrix matrix
    Space space
    double half, per_parent


cdef int gaussian_inserts(
    void *self, int y, const int *base, int size, double worth,
    const int *also, int also_size, int *xs, double *gains, double *also_gains,
) noexcept nogil:
    cdef GaussianRun *run = <GaussianRun *>self
    cdef Space *space = &run.space
    cdef int n = <int>run.matrix.n
    cdef int status = factor_family(&run.matrix, space, y, base, size)
    if status < 0:
        return status
    cdef double cut = -expm1(-(worth + run.per_parent) / run.half)
    cdef int step = columns_at_a_time(size + 1)
    cdef int begin = 0, width, c, count = 0, asked = 0
    cdef double gain
    cut = cut * MARGIN if cut > 0 else -INFINITY
    while begin < n:
        width = min(step, n - begin)
        solve_and_mark(&run.matrix, space, size + 1, begin, width, cut)
        unmark_family(space, y, base, size, begin, width)
        c = next_mark(space.marks, 0, width)
        while c < width:
            gain = gaussian_gain(run, c)
            if gain > worth:
                xs[count] = begin + c
                gains[count] = gain
                count += 1
            if not isfinite(gain):
                return NOT_FINITE
            c = next_mark(space.marks, c + 1, width)
        while asked < also_size and also[asked] < begin + width:
            also_gains[asked] = gaussian_gain(run, also[asked] - begin)
            if not isfinite(also_gains[asked]):
                return NOT_FINITE
            asked += 1
        begin += width
    return count


cdef inline double gaussian_gain(const GaussianRun *run, int c) noexcept nogil:
    """Return the gain of column c of the block that was solved last."""
    cdef double lost = log1p(run.space.explained[c] / -run.space.left[c])
    return lost * -run.half - run.per_parent


cdef int gaussian_deletes(
    void *self, int y, const int *base, int size, double *gains
) noexcept nogil:
    cdef GaussianRun *run = <GaussianRun *>self
    cdef Space *space = &run.space
    cdef int i, status = factor_family(&run.matrix, space, y, base, size)
    if status < 0:
        return status
    invert(space, size + 1)
    cdef const double *last = space.inverse + <ptrdiff_t>size * space.stride
    for i in range(size):
        gains[i] = log1p(last[i] * last[i] / -space.squares[i]) * run.half + run.per_parent
        if not isfinite(gains[i]):
            return NOT_FINITE
    return 0


cdef void gaussian_close(void *self) noexcept nogil:
    free((<GaussianRun *>self).space.memory)
    free(self)


cdef class Gaussian(NativeScore):
    """The BIC of linear Gaussian families.

    Parameters
    ----------
    correlation
        A symmetric positive definite matrix with a unit diagonal, as a C-contiguous array of
        float64 or float32.  It is not copied, and must not change.
    half
        Half the number of records.
    per_parent
        What a parent costs.
    """

    cdef object owner
    cdef Matrix matrix
    cdef double half, per_parent

    def __init__(self, correlation, double half, double per_parent):
        self.owner = view_matrix(correlation, &self.matrix)
        require_positive("half", half)
        require_cost("per_parent", per_parent)
        self.n = <int>self.matrix.n
        self.half = half
        self.per_parent = per_parent

    cdef int open(self, Scorer *scorer) except -1:
        cdef GaussianRun *run = <GaussianRun *>calloc(1, sizeof(GaussianRun))
        if run == NULL:
            raise MemoryError
        run.matrix = self.matrix
        run.half = self.half
        run.per_parent = self.per_parent
        scorer.self = run
        scorer.n = self.n
        scorer.inserts = gaussian_inserts
        scorer.deletes = gaussian_deletes
        scorer.close = gaussian_close
        return 0


# -- the border: arguments are checked here and nowhere else ---------------------------------------


cdef object view_matrix(array, Matrix *matrix):
    """Point at the entries of an array; return what keeps them alive."""
    cdef const double[:, ::1] doubles
    cdef const float[:, ::1] singles
    shape, kind = getattr(array, "shape", None), str(getattr(array, "dtype", None))
    if kind not in ("float64", "float32") or len(shape) != 2 or not array.flags.c_contiguous:
        raise ScoreError(
            f"a matrix of type {kind} and shape {shape}: it must be a C-contiguous n × n array of "
            f"float64 or float32"
        )
    if shape[0] != shape[1] or not 0 < shape[0] < 1 << 30:
        raise ScoreError(f"a matrix of shape {shape}: it must be square and not empty")
    matrix.n = shape[0]
    matrix.is_single = kind == "float32"
    if matrix.is_single:
        singles = array
        matrix.entries = &singles[0, 0]
        return singles
    doubles = array
    matrix.entries = &doubles[0, 0]
    return doubles


def require_positive(name: str, value: float) -> None:
    if not 0 < value < INFINITY:
        raise ScoreError(f"{name} = {value}: it must be a finite number above 0")


def require_cost(name: str, value: float) -> None:
    if not 0 <= value < INFINITY:
        raise ScoreError(f"{name} = {value}: it must be a finite number, 0 or more")
