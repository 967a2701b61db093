# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
r"""Native scores of linear Gaussian families, from one correlation matrix R.

Every gain is a function of residual variances.  ``solve.h`` factors small blocks of R.

    all inserts    One factor of R[base ∪ y], y last, and one solve against all columns, a block of
                   them at a time, give var(x | base) and what y explains of it, for every x.  The
                   solve for the last base of a node is kept, because the next one often shares it
                   in part (``extend_rows``): of all nodes if the matrix has up to 256 columns, and
                   of a few nodes with large bases if it has more.
    all deletes    One inverse Ω of R[base ∪ y] gives what each x in base explains of y beyond the
                   others, 1 − ρ²(x, y | base ∖ x) = 1 − ω_xy² / (ω_xx ω_yy).  A run keeps some
                   inverses: taking a few nodes out of one is faster than a new one, ten times so
                   where a search removes the edges of a large clique (``invert_family``).

The scores of one column per variable turn these into gains, with m records:

    BIC    −m/2 log(1 − ρ²) − per_parent
    BGe    by_size[l + 1] − by_size[l] − (freedom + l + 1)/2 log(1 − ρ²)
           − ½ log of the posterior variances of y and of x given base,    l = |base| + 1

The degenerate Gaussian has a block of columns per variable (indicators of levels, or a basis of
functions), of any width: log(1 − ρ²) becomes the difference of two log-determinants.

A logarithm is taken only for a gain that may exceed the caller's ``worth``: the others are found
by comparing squared partial correlations with the one that would just be worth it.

The scores are defined in ``sges.score``; here they are values and arrays, checked once by each
constructor.
"""

from libc.math cimport INFINITY, NAN, exp, expm1, fabs, isfinite, log, log1p
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from array import array
from collections.abc import Sequence
from itertools import accumulate

from sges.engine.scores cimport NOT_FINITE, OUT_OF_MEMORY, NativeScore, Scorer

from sges.errors import ScoreError


cdef extern from "solve.h" nogil:
    ctypedef struct Matrix:
        const void *entries
        ptrdiff_t n
        int is_single

    ctypedef struct Space:
        int stride
        int *nodes
        double *weight
        double *inverse
        double *squares
        double *z
        double *left
        double *explained
        unsigned char *marks
        double *memory

    ctypedef struct Rows:
        int y, size, room
        int *nodes
        double *weight
        double *memory

    enum:
        WIDEST

    double entry(const Matrix *matrix, ptrdiff_t i, ptrdiff_t j)
    int reserve(Space *space, int rows, int width)
    int factor(const Matrix *matrix, Space *space, int size)
    void invert(const Space *space, int size, double *inverse, ptrdiff_t stride)
    void multiply_out(
        const double *inverse, ptrdiff_t stride, int size, double *omega, double *column
    )
    void take_out(
        const double *omega, ptrdiff_t stride, int size, const int *places, int count,
        double *diagonal, double *rows,
    )
    int columns_at_a_time(int size)
    void explain(const Matrix *matrix, const Space *space, int size, int begin, int width)
    int reserve_rows(Rows *rows, int room, ptrdiff_t n)
    int extend(
        const Matrix *matrix, const Space *space, Rows *rows, int kept, const int *nodes,
        int count, int y,
    )
    void mark_above(const Space *space, int width, double cut)
    void mark_bge(const Space *space, int width, double offset, const double *spread, double power)
    int next_mark(const unsigned char *marks, int at, int width)
    int collect(const Space *space, int begin, int width, int *xs, double *squares, int count)
    int take_logs(double *values, int count, double factor, double constant)
    void solve_columns(const Matrix *matrix, const Space *space, int size, int begin, int width)
    void covariances(
        const Space *space, int given, int size, int width, int shift, int begin, int end,
        double *before, double *after,
    )
    void find_flaw(const Matrix *matrix, ptrdiff_t *row, ptrdiff_t *column)


cdef double MARGIN = 1e-12  # relative margin for rounding where other numbers than gains are compared


# -- one node per column: what the BIC and BGe share -----------------------------------------------

cdef enum:
    SLOTS = 32  # nodes for which a run keeps inverses
    WAYS = 2  # inverses of each
    FEWEST_KEPT = 6  # nodes: a smaller inverse is as fast to compute again
    MOST_KEPT = 256  # nodes: a larger inverse would take too much memory
    MOST_REMOVED = 3  # nodes taken out of a kept inverse, rather than computing a new one
    WIDE_SLOTS = 32  # nodes for which a run keeps solves if the matrix is wide
    FEWEST_ROWS = 8  # nodes: a smaller solve of a wide matrix is as fast to compute again
    MOST_NUMBERS = 1 << 23  # of all solves that are kept: 64 MB

# A kept inverse is used for smaller bases only if no diagonal entry exceeds this.  Those of the
# smaller inverse are at least 1, so that at most this factor of precision is lost, twice.
cdef double STEADY = 1e3


cdef struct Inverse:
    # The inverse of R[nodes + y], as a factor at first and multiplied out when it is used again.
    int y, size, room, stride
    bint is_steady, is_multiplied_out
    int *nodes
    double *factor
    double *omega


cdef struct Columns:
    # A correlation matrix, with the memory of one run.
    Matrix matrix
    Space space
    Rows *rows  # the solves for the last bases of some nodes: that of y is in slot y % row_slots
    int row_slots
    ptrdiff_t kept_numbers  # how many numbers all of these have room for
    bint all_explained  # whether the last base has explained all columns already
    Inverse kept[SLOTS][WAYS]
    int oldest[SLOTS]
    int step  # columns explained at a time
    double residual  # var(y | base)
    # What `invert_family` found: the inverse's entries at (y, y), at (x, y) and at (x, x).
    double own
    double *cross
    double *diagonal
    int room


cdef bint open_columns(Columns *columns, const Matrix *matrix) noexcept nogil:
    """Begin with nothing kept; return whether there is memory."""
    columns.matrix = matrix[0]
    columns.row_slots = <int>matrix.n if matrix.n <= WIDEST else WIDE_SLOTS
    columns.rows = <Rows *>calloc(columns.row_slots, sizeof(Rows))
    return columns.rows != NULL


cdef int prepare_inserts(Columns *columns, int y, const int *base, int size) noexcept nogil:
    """Get ready to explain columns by base and y; return 0 or a status."""
    cdef int status
    columns.all_explained = has_rows(columns, y, size + 1)
    if columns.all_explained:
        return extend_rows(columns, y, base, size)
    status = factor_family(columns, y, base, size)
    columns.step = columns_at_a_time(size + 1)
    if status == 0:
        columns.residual = 1.0 / columns.space.weight[size]
    return status


cdef int explain_block(Columns *columns, int size, int begin) noexcept nogil:
    """Explain some columns from ``begin`` on; return how many."""
    cdef int width = min(columns.step, <int>columns.matrix.n - begin)
    if not columns.all_explained:
        explain(&columns.matrix, &columns.space, size + 1, begin, width)
    return width


cdef bint has_rows(Columns *columns, int y, int size) noexcept nogil:
    """Make room to keep a solve of this size; return whether it may be kept."""
    cdef Rows *rows = &columns.rows[y % columns.row_slots]
    cdef ptrdiff_t n = columns.matrix.n, before = rows.room
    cdef bint good
    if n > WIDEST and size < FEWEST_ROWS:
        return False
    if size <= before:
        return True
    if columns.kept_numbers + (size - before) * n > MOST_NUMBERS:
        return False
    good = reserve_rows(rows, size, n)
    columns.kept_numbers += (rows.room - before) * n
    return good


cdef int extend_rows(Columns *columns, int y, const int *base, int size) noexcept nogil:
    """Explain all columns, from as many rows as this base shares with the last one of y."""
    cdef Rows *rows = &columns.rows[y % columns.row_slots]
    cdef unsigned char *is_in_base
    cdef int i, n = <int>columns.matrix.n, shared = 0, added = 0
    if not reserve(&columns.space, size + 1, max(n, <int>WIDEST)):
        return OUT_OF_MEMORY
    is_in_base = columns.space.marks
    memset(is_in_base, 0, n)
    if rows.y != y:
        rows.size = 0
        rows.y = y
    for i in range(size):
        is_in_base[base[i]] = 1
    while shared < rows.size and is_in_base[rows.nodes[shared]]:
        is_in_base[rows.nodes[shared]] = 0
        shared += 1
    for i in range(size):
        if is_in_base[base[i]]:
            columns.space.nodes[added] = base[i]
            added += 1
    if not extend(&columns.matrix, &columns.space, rows, shared, columns.space.nodes, added, y):
        return NOT_FINITE
    columns.residual = 1.0 / rows.weight[size]
    columns.step = n
    return 0


cdef int factor_family(Columns *columns, int y, const int *base, int size) noexcept nogil:
    """Factor R[base + y], y last; return 0 or a status."""
    cdef Space *space = &columns.space
    if not reserve(space, size + 1, WIDEST):
        return OUT_OF_MEMORY
    memcpy(space.nodes, base, size * sizeof(int))
    space.nodes[size] = y
    return 0 if factor(&columns.matrix, space, size + 1) else NOT_FINITE


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


cdef int invert_family(Columns *columns, int y, const int *base, int size) noexcept nogil:
    """Find the entries of the inverse over base and y that determine the cost of each removal."""
    cdef int places[MOST_REMOVED]
    cdef int i, removed, fewest = MOST_REMOVED + 1
    cdef Inverse *kept
    cdef Inverse *nearest = NULL
    if not _make_room(columns, size):
        return OUT_OF_MEMORY
    for i in range(WAYS):
        kept = &columns.kept[y % SLOTS][i]
        removed = _removed_from(kept, y, base, size, places)
        if 0 <= removed < fewest:
            fewest = removed
            nearest = kept
    if nearest == NULL:
        return _invert_afresh(columns, y, base, size)
    _removed_from(nearest, y, base, size, places)
    _read_kept(columns, nearest, places, fewest)
    return 0


cdef int _invert_afresh(Columns *columns, int y, const int *base, int size) noexcept nogil:
    """Factor, invert, and keep the result if its size makes that worthwhile."""
    cdef Inverse *kept = NULL
    cdef double *inverse
    cdef ptrdiff_t stride
    cdef const double *last
    cdef int i, status = factor_family(columns, y, base, size)
    if status < 0:
        return status
    inverse = columns.space.inverse
    stride = columns.space.stride
    if FEWEST_KEPT <= size <= MOST_KEPT:
        kept = _make_slot(columns, y, size + 1)
        if kept == NULL:
            return OUT_OF_MEMORY
        inverse = kept.factor
        stride = kept.stride
    invert(&columns.space, size + 1, inverse, stride)
    last = inverse + size * stride
    columns.own = columns.space.squares[size]
    for i in range(size):
        columns.cross[i] = last[size] * last[i]
        columns.diagonal[i] = columns.space.squares[i]
    if kept != NULL:
        _label(kept, y, base, size, columns)
    return 0


cdef int _removed_from(
    const Inverse *kept, int y, const int *base, int size, int *places
) noexcept nogil:
    """Return how many kept nodes are not in base, and where; -1 if they do not contain base."""
    cdef int i, at = 0, removed = 0
    if not kept.is_steady or kept.y != y or not size <= kept.size <= size + MOST_REMOVED:
        return -1
    for i in range(kept.size):
        if at < size and base[at] == kept.nodes[i]:
            at += 1
        elif removed == kept.size - size:
            return -1
        else:
            places[removed] = i
            removed += 1
    return removed if at == size else -1


cdef void _read_kept(
    Columns *columns, Inverse *kept, const int *places, int removed
) noexcept nogil:
    """Take the nodes at these places out of a kept inverse."""
    cdef int size = kept.size, i, k = 0, at = 0
    cdef double *rows = columns.space.z
    if not kept.is_multiplied_out:
        multiply_out(kept.factor, kept.stride, size + 1, kept.omega, columns.space.z)
        kept.is_multiplied_out = True
    take_out(kept.omega, kept.stride, size + 1, places, removed, columns.diagonal, rows)
    cdef const double *last = rows + <ptrdiff_t>removed * (size + 1)
    columns.own = columns.diagonal[size]
    for i in range(size):
        if k < removed and places[k] == i:
            k += 1
            continue
        columns.cross[at] = last[i]
        columns.diagonal[at] = columns.diagonal[i]
        at += 1


cdef void _label(
    Inverse *kept, int y, const int *base, int size, const Columns *columns
) noexcept nogil:
    """Record the nodes of the factor in a slot, and whether it can be reused."""
    cdef int i
    kept.y = y
    kept.size = size
    memcpy(kept.nodes, base, size * sizeof(int))
    kept.is_multiplied_out = False
    kept.is_steady = True
    for i in range(size + 1):
        kept.is_steady &= columns.space.squares[i] <= STEADY


cdef Inverse *_make_slot(Columns *columns, int y, int rows) noexcept nogil:
    """Empty the slot of y that was filled first, and make room in it; NULL without memory."""
    cdef int slot = y % SLOTS, stride = (rows + 3) & ~3
    cdef Inverse *kept = &columns.kept[slot][columns.oldest[slot]]
    cdef size_t block = <size_t>stride * stride
    columns.oldest[slot] = (columns.oldest[slot] + 1) % WAYS
    kept.is_steady = False
    kept.stride = stride
    if stride > kept.room:
        free(kept.factor)
        kept.factor = <double *>malloc((2 * block + stride) * sizeof(double))
        kept.room = stride if kept.factor != NULL else 0
        if kept.factor == NULL:
            return NULL
    kept.omega = kept.factor + block
    kept.nodes = <int *>(kept.omega + block)
    return kept


cdef bint _make_room(Columns *columns, int size) noexcept nogil:
    """Make room for what `invert_family` finds; return whether there is memory."""
    cdef int room = size + size // 2 + MOST_REMOVED + 8
    cdef double *memory
    if not reserve(&columns.space, size + MOST_REMOVED + 1, WIDEST):
        return False
    if size + MOST_REMOVED < columns.room:
        return True
    memory = <double *>malloc(2 * room * sizeof(double))
    if memory == NULL:
        return False
    free(columns.cross)
    columns.cross = memory
    columns.diagonal = memory + room
    columns.room = room
    return True


cdef void free_columns(Columns *columns) noexcept nogil:
    cdef int i, k
    for i in range(SLOTS):
        for k in range(WAYS):
            free(columns.kept[i][k].factor)
    for i in range(columns.row_slots):
        free(columns.rows[i].memory)
    free(columns.rows)
    free(columns.space.memory)
    free(columns.cross)


# -- the BIC ---------------------------------------------------------------------------------------


cdef struct GaussianRun:
    Columns columns
    double half, per_parent


cdef int gaussian_inserts(
    void *self, int y, const int *base, int size, double worth,
    const int *also, int also_size, int *xs, double *gains, double *also_gains,
) noexcept nogil:
    cdef GaussianRun *run = <GaussianRun *>self
    cdef Space *space = &run.columns.space
    cdef int n = <int>run.columns.matrix.n
    cdef int status = prepare_inserts(&run.columns, y, base, size)
    if status < 0:
        return status
    cdef double cut = -expm1(-(worth + run.per_parent) / run.half)
    cdef int begin = 0, width, c, count = 0, asked = 0
    cut = cut * (1.0 - MARGIN) if cut > 0 else -INFINITY
    while begin < n:
        width = explain_block(&run.columns, size, begin)
        mark_above(space, width, cut)
        unmark_family(space, y, base, size, begin, width)
        count = collect(space, begin, width, xs, gains, count)
        while asked < also_size and also[asked] < begin + width:
            c = also[asked] - begin
            also_gains[asked] = space.explained[c] / space.left[c]
            asked += 1
        begin += width
    if not take_logs(gains, count, -run.half, -run.per_parent):
        return NOT_FINITE
    if not take_logs(also_gains, also_size, -run.half, -run.per_parent):
        return NOT_FINITE
    return keep_worthy(xs, gains, count, worth)


cdef int keep_worthy(int *xs, double *gains, int count, double worth) noexcept nogil:
    """Drop the gains of at most ``worth``; return how many are left."""
    cdef int i, kept = 0
    for i in range(count):
        xs[kept] = xs[i]
        gains[kept] = gains[i]
        kept += gains[i] > worth
    return kept


cdef int gaussian_deletes(
    void *self, int y, const int *base, int size, double *gains
) noexcept nogil:
    cdef GaussianRun *run = <GaussianRun *>self
    cdef Columns *columns = &run.columns
    cdef int i, status = invert_family(columns, y, base, size)
    if status < 0:
        return status
    for i in range(size):
        gains[i] = columns.cross[i] * columns.cross[i] / (columns.own * columns.diagonal[i])
    return 0 if take_logs(gains, size, run.half, run.per_parent) else NOT_FINITE


cdef double gaussian_family(void *self, int y, const int *base, int size) noexcept nogil:
    cdef GaussianRun *run = <GaussianRun *>self
    if size == 0:
        return 0.0
    if factor_family(&run.columns, y, base, size) < 0:
        return NAN
    return run.half * log(run.columns.space.weight[size]) - run.per_parent * size


cdef void gaussian_close(void *self) noexcept nogil:
    free_columns(&(<GaussianRun *>self).columns)
    free(self)


cdef class Gaussian(NativeScore):
    """The BIC of linear Gaussian families, as ``sges.score.gaussian`` defines it.

    Parameters
    ----------
    correlation
        A symmetric positive definite matrix with a unit diagonal, as a C-contiguous array of
        float64 or float32.  It is not copied, and must not change.
    half
        Half the number of records.
    per_parent
        The cost of each parent.
    """

    cdef object owner
    cdef Matrix matrix
    cdef double half, per_parent

    def __init__(self, correlation, double half, double per_parent):
        self.owner = view_matrix("correlation", correlation, &self.matrix)
        require_positive("half", half)
        require_cost("per_parent", per_parent)
        self.n = <int>self.matrix.n
        self.half = half
        self.per_parent = per_parent

    cdef int open(self, Scorer *scorer) except -1:
        cdef GaussianRun *run = <GaussianRun *>calloc(1, sizeof(GaussianRun))
        if run == NULL or not open_columns(&run.columns, &self.matrix):
            free(run)
            raise MemoryError
        run.half = self.half
        run.per_parent = self.per_parent
        scorer.self = run
        scorer.n = self.n
        scorer.inserts = gaussian_inserts
        scorer.deletes = gaussian_deletes
        scorer.family = gaussian_family
        scorer.close = gaussian_close
        return 0


# -- BGe -------------------------------------------------------------------------------------------


cdef struct BGeRun:
    Columns columns
    const double *half_spread  # ½ log of each variance; not a number for a constant column
    const double *by_size
    double freedom, isolated
    int *varied  # the nodes of a base that are not constant


cdef int bge_inserts(
    void *self, int y, const int *base, int size, double worth,
    const int *also, int also_size, int *xs, double *gains, double *also_gains,
) noexcept nogil:
    cdef BGeRun *run = <BGeRun *>self
    cdef Space *space = &run.columns.space
    cdef int n = <int>run.columns.matrix.n
    if is_constant(run, y):
        return isolated_inserts(run, y, base, size, worth, also_size, xs, gains, also_gains)
    cdef int varied = keep_varied(run, base, size)
    cdef int status = prepare_inserts(&run.columns, y, run.varied, varied)
    if status < 0:
        return status
    # A gain is offset - half_spread[x] - power log(1 - ρ²) - ½ log var(x | base).
    cdef double power = (run.freedom + varied + 2) / 2
    cdef double offset = run.by_size[varied + 2] - run.by_size[varied + 1] - run.half_spread[y]
    offset -= log(run.columns.residual) / 2
    cdef double cut = offset - worth + MARGIN * (fabs(offset) + fabs(worth))
    cdef int begin = 0, width, c, count = 0, asked = 0
    cdef double gain
    while begin < n:
        width = explain_block(&run.columns, varied, begin)
        mark_bge(space, width, cut, run.half_spread + begin, power)
        unmark_family(space, y, base, size, begin, width)
        c = next_mark(space.marks, 0, width)
        while c < width:
            gain = bge_gain(run, begin, c, offset, power)
            if not isfinite(gain):
                return NOT_FINITE
            if gain > worth:
                xs[count] = begin + c
                gains[count] = gain
                count += 1
            c = next_mark(space.marks, c + 1, width)
        while asked < also_size and also[asked] < begin + width:
            also_gains[asked] = bge_gain(run, begin, also[asked] - begin, offset, power)
            if not isfinite(also_gains[asked]):
                return NOT_FINITE
            asked += 1
        begin += width
    return count


cdef inline double bge_gain(
    const BGeRun *run, int begin, int c, double offset, double power
) noexcept nogil:
    """Return the gain of column c of the block that was solved last."""
    cdef const Space *space = &run.columns.space
    if is_constant(run, begin + c):
        return run.isolated
    cdef double lost = log1p(space.explained[c] / -space.left[c])
    return offset - run.half_spread[begin + c] - power * lost - log(space.left[c]) / 2


cdef int isolated_inserts(
    const BGeRun *run, int y, const int *base, int size, double worth,
    int also_size, int *xs, double *gains, double *also_gains,
) noexcept nogil:
    """Write the inserts into a constant column, which are all worth the same."""
    cdef int x, at = 0, count = 0
    for x in range(also_size):
        also_gains[x] = run.isolated
    if not run.isolated > worth:
        return 0
    for x in range(<int>run.columns.matrix.n):
        if at < size and base[at] == x:
            at += 1
        elif x != y:
            xs[count] = x
            gains[count] = run.isolated
            count += 1
    return count


cdef int bge_deletes(
    void *self, int y, const int *base, int size, double *gains
) noexcept nogil:
    cdef BGeRun *run = <BGeRun *>self
    cdef Columns *columns = &run.columns
    cdef int i, at = 0, varied = 0 if is_constant(run, y) else keep_varied(run, base, size)
    cdef int status = invert_family(columns, y, run.varied, varied)
    cdef double power = (run.freedom + varied + 1) / 2
    cdef double offset = run.by_size[varied] - run.by_size[varied + 1] + run.half_spread[y]
    cdef double cross, lost
    if status < 0:
        return status
    offset -= log(columns.own) / 2
    for i in range(size):
        if at == varied or run.varied[at] != base[i]:
            gains[i] = -run.isolated
            continue
        cross = columns.cross[at]
        lost = log1p(cross * cross / -(columns.own * columns.diagonal[at]))
        gains[i] = offset + run.half_spread[base[i]] - log(columns.diagonal[at]) / 2
        gains[i] += (power - 1) * lost
        at += 1
        if not isfinite(gains[i]):
            return NOT_FINITE
    return 0


cdef inline bint is_constant(const BGeRun *run, int v) noexcept nogil:
    return run.half_spread[v] != run.half_spread[v]


cdef int keep_varied(BGeRun *run, const int *base, int size) noexcept nogil:
    """Write the nodes of a base that are not constant; return how many they are."""
    cdef int i, count = 0
    for i in range(size):
        if not is_constant(run, base[i]):
            run.varied[count] = base[i]
            count += 1
    return count


cdef void bge_close(void *self) noexcept nogil:
    free_columns(&(<BGeRun *>self).columns)
    free((<BGeRun *>self).varied)
    free(self)


cdef class BGe(NativeScore):
    """The Bayesian Gaussian equivalent score, as ``sges.score.bge`` defines it.

    Parameters
    ----------
    correlation
        The posterior matrix, scaled to a unit diagonal, as for ``Gaussian``.
    spread
        The logarithm of each variance in the posterior matrix, before it was scaled.
    by_size
        The part of the score that depends only on the size of a family, from 0 to n + 1.
    freedom
        The posterior degrees of freedom minus n.
    isolated
        The gain of an edge at a constant column.
    constant
        The constant columns, as a sequence of nodes.
    """

    cdef object owner
    cdef Matrix matrix
    cdef double[::1] half_spread, by_size
    cdef double freedom, isolated

    def __init__(
        self, correlation, spread, by_size, double freedom, double isolated, constant=()
    ):
        self.owner = view_matrix("correlation", correlation, &self.matrix)
        self.n = <int>self.matrix.n
        self.half_spread = as_doubles("spread", spread, self.n)
        self.by_size = as_doubles("by_size", by_size, self.n + 2)
        require_positive("freedom", freedom)
        if not isfinite(isolated):
            raise ScoreError(f"isolated = {isolated}: it must be a finite number")
        self.freedom = freedom
        self.isolated = isolated
        cdef int v
        for v in range(self.n):
            self.half_spread[v] /= 2
        for node in constant:
            if not 0 <= node < self.n:
                raise ScoreError(f"constant column {node}: it must be in 0..{self.n - 1}")
            self.half_spread[<int>node] = NAN

    cdef int open(self, Scorer *scorer) except -1:
        cdef BGeRun *run = <BGeRun *>calloc(1, sizeof(BGeRun))
        cdef int *varied = <int *>malloc(self.n * sizeof(int))
        if run == NULL or varied == NULL or not open_columns(&run.columns, &self.matrix):
            free(run)
            free(varied)
            raise MemoryError
        run.half_spread = &self.half_spread[0]
        run.by_size = &self.by_size[0]
        run.freedom = self.freedom
        run.isolated = self.isolated
        run.varied = varied
        scorer.self = run
        scorer.n = self.n
        scorer.inserts = bge_inserts
        scorer.deletes = bge_deletes
        scorer.family = NULL
        scorer.close = bge_close
        return 0


# -- the degenerate Gaussian: a block of columns for each variable ---------------------------------


cdef struct MixedRun:
    Matrix matrix
    Space space
    int n, widest
    const int *starts  # n + 1 of them: variable v is columns starts[v] to starts[v + 1]
    double half, per_parameter
    # The block that was solved last, and the covariances in it, by distance of the columns.
    int begin, width
    double *before
    double *after
    double *cuts  # by width of x: the ratios of determinants at which a gain equals ``worth``
    double *work  # two small square matrices


cdef inline int width_of(const MixedRun *run, int v) noexcept nogil:
    return run.starts[v + 1] - run.starts[v]


cdef int factor_blocks(MixedRun *run, int y, const int *base, int size) noexcept nogil:
    """Factor the columns of base and then of y; return how many base has, or a status."""
    cdef int i, c, v, rows = 0, given = 0
    for i in range(size):
        given += width_of(run, base[i])
    if not reserve(&run.space, given + width_of(run, y), max(<int>WIDEST, run.widest)):
        return OUT_OF_MEMORY
    for i in range(size + 1):
        v = base[i] if i < size else y
        for c in range(run.starts[v], run.starts[v + 1]):
            run.space.nodes[rows] = c
            rows += 1
    return given if factor(&run.matrix, &run.space, rows) else NOT_FINITE


cdef int solve_variables(MixedRun *run, int first, int given, int rows) noexcept nogil:
    """Solve for the columns of some variables from ``first`` on; return the next variable."""
    cdef int end = first + 1, step = columns_at_a_time(rows), widest = width_of(run, first)
    cdef int shift, v, left, right
    run.begin = run.starts[first]
    while end < run.n and run.starts[end + 1] - run.begin <= step:
        widest = max(widest, width_of(run, end))
        end += 1
    run.width = run.starts[end] - run.begin
    solve_columns(&run.matrix, &run.space, rows, run.begin, run.width)
    for shift in range(widest):
        v = first
        while v < end:
            left = v  # variables side by side that are wide enough are done together
            while v < end and width_of(run, v) > shift:
                v += 1
            if v > left:
                right = run.starts[v] - run.begin - shift
                covariances(
                    &run.space, given, rows, run.width, shift, run.starts[left] - run.begin, right,
                    run.before + <ptrdiff_t>shift * run.width,
                    run.after + <ptrdiff_t>shift * run.width,
                )
            v += 1
    return end


cdef double log_ratio(double *above, double *below, int width, double cut) noexcept nogil:
    """Return log(det above / det below) of two symmetric matrices, both lower triangles.

    They are overwritten.  The logarithm is not taken if the ratio exceeds ``cut``: the result
    is then 0.  It is not a number if a matrix is not positive definite.
    """
    cdef double logs = 0.0, ratio = 1.0, top, bottom
    cdef int i, j, k
    for j in range(width):
        top = above[j * width + j]
        bottom = below[j * width + j]
        if not (top > 0 and bottom > 0):
            return NAN
        ratio *= top / bottom
        if ratio < 1e-200:
            logs += log(ratio)
            ratio = 1.0
        for i in range(j + 1, width):
            for k in range(j + 1, i + 1):
                above[i * width + k] -= above[i * width + j] * above[k * width + j] / top
                below[i * width + k] -= below[i * width + j] * below[k * width + j] / bottom
    if logs == 0.0 and ratio > cut:
        return 0.0
    return logs + log(ratio)


cdef double mixed_lost(const MixedRun *run, int x, double cut) noexcept nogil:
    """Return by how much y reduces the log-determinant of x given base, or 0 if by too little."""
    cdef int width = width_of(run, x), c = run.starts[x] - run.begin, i, j
    cdef double *after = run.work
    cdef double *before = run.work + <ptrdiff_t>width * width
    cdef ptrdiff_t at
    for i in range(width):
        for j in range(i + 1):
            at = <ptrdiff_t>(i - j) * run.width + c + j
            after[i * width + j] = run.after[at]
            before[i * width + j] = run.before[at]
    return log_ratio(after, before, width, cut)


cdef void set_cuts(MixedRun *run, int y, double worth) noexcept nogil:
    cdef int w, own = width_of(run, y)
    cdef double needed
    for w in range(1, run.widest + 1):
        needed = (worth + run.per_parameter * own * w) / run.half
        run.cuts[w] = exp(-needed) * (1.0 + MARGIN) if needed > 0 else INFINITY


cdef int mixed_inserts(
    void *self, int y, const int *base, int size, double worth,
    const int *also, int also_size, int *xs, double *gains, double *also_gains,
) noexcept nogil:
    cdef MixedRun *run = <MixedRun *>self
    cdef int given = factor_blocks(run, y, base, size)
    if given < 0:
        return given
    cdef int own = width_of(run, y), x = 0, end = 0, at = 0, count = 0, asked = 0
    cdef bint is_asked
    cdef double gain
    set_cuts(run, y, worth)
    for x in range(run.n):
        if x == end:
            end = solve_variables(run, x, given, given + own)
        if at < size and base[at] == x:
            at += 1
            continue
        if x == y:
            continue
        is_asked = asked < also_size and also[asked] == x
        gain = mixed_lost(run, x, INFINITY if is_asked else run.cuts[width_of(run, x)])
        gain = gain * -run.half - run.per_parameter * own * width_of(run, x)
        if not isfinite(gain):
            return NOT_FINITE
        if gain > worth:
            xs[count] = x
            gains[count] = gain
            count += 1
        if is_asked:
            also_gains[asked] = gain
            asked += 1
    return count


cdef int mixed_deletes(
    void *self, int y, const int *base, int size, double *gains
) noexcept nogil:
    """With M the inverse of the factor, M'M is the inverse; its first rows are that of base."""
    cdef MixedRun *run = <MixedRun *>self
    cdef int given = factor_blocks(run, y, base, size)
    if given < 0:
        return given
    cdef int own = width_of(run, y), i, width, place = 0
    cdef double *without = run.work
    cdef double *with_y
    invert(&run.space, given + own, run.space.inverse, run.space.stride)
    for i in range(size):
        width = width_of(run, base[i])
        with_y = without + <ptrdiff_t>width * width
        add_products(&run.space, place, width, place, given, without, NULL)
        add_products(&run.space, place, width, given, given + own, with_y, without)
        gains[i] = log_ratio(without, with_y, width, INFINITY) * run.half
        gains[i] += run.per_parameter * own * width
        place += width
        if not isfinite(gains[i]):
            return NOT_FINITE
    return 0


cdef void add_products(
    const Space *space, int place, int width, int begin, int end, double *sums, const double *start
) noexcept nogil:
    """Write start + the products of columns of L⁻¹, over some of its rows, as a lower triangle."""
    cdef int row, i, j
    cdef const double *entries
    for i in range(width):
        for j in range(i + 1):
            sums[i * width + j] = 0.0 if start == NULL else start[i * width + j]
    for row in range(begin, end):
        entries = space.inverse + <ptrdiff_t>row * space.stride + place
        for i in range(width):
            for j in range(i + 1):
                sums[i * width + j] += entries[i] * entries[j]


cdef void mixed_close(void *self) noexcept nogil:
    free((<MixedRun *>self).space.memory)
    free((<MixedRun *>self).before)
    free(self)


cdef class DegenerateGaussian(NativeScore):
    """The degenerate Gaussian BIC of mixed tables, as ``sges.score.gaussian.mixed`` defines it.

    Parameters
    ----------
    matrix
        The correlations of the columns that the variables are written as, as for ``Gaussian``;
        columns of the same variable are uncorrelated.
    starts, widths
        Variable v is written as the ``widths[v]`` columns from ``starts[v]`` on; each variable's
        columns follow those of the variable before it.
    half
        Half the number of records.
    per_parameter
        The cost of each free parameter: an edge has the product of two widths.
    """

    cdef object owner
    cdef Matrix matrix
    cdef int[::1] starts
    cdef int widest
    cdef double half, per_parameter

    def __init__(self, matrix, starts, widths, double half, double per_parameter):
        self.owner = view_matrix("matrix", matrix, &self.matrix)
        require_positive("half", half)
        require_cost("per_parameter", per_parameter)
        self.half = half
        self.per_parameter = per_parameter
        self.n = len(widths)
        self.starts = as_starts(starts, widths, self.matrix.n)
        self.widest = max(widths)
        self.require_uncorrelated()

    cdef int require_uncorrelated(self) except -1:
        """Raise an error if columns of the same variable are correlated."""
        cdef int v, i, j
        for v in range(self.n):
            for i in range(self.starts[v], self.starts[v + 1]):
                for j in range(self.starts[v], i):
                    if entry(&self.matrix, i, j) != 0:
                        raise ScoreError(
                            f"columns {j} and {i} of variable {v} have the correlation "
                            f"{entry(&self.matrix, i, j):.6g}: it must be 0 within a variable"
                        )
        return 0

    cdef int open(self, Scorer *scorer) except -1:
        cdef size_t widest = self.widest, room = max(self.widest, <int>WIDEST)
        cdef size_t block = widest * room, count = 2 * block + widest + 1 + 2 * widest * widest
        cdef MixedRun *run = <MixedRun *>calloc(1, sizeof(MixedRun))
        cdef double *memory = <double *>malloc(count * sizeof(double))
        if run == NULL or memory == NULL:
            free(run)
            free(memory)
            raise MemoryError
        run.matrix = self.matrix
        run.n = self.n
        run.widest = self.widest
        run.starts = &self.starts[0]
        run.half = self.half
        run.per_parameter = self.per_parameter
        run.before = memory
        run.after = run.before + block
        run.cuts = run.after + block
        run.work = run.cuts + widest + 1
        scorer.self = run
        scorer.n = self.n
        scorer.inserts = mixed_inserts
        scorer.deletes = mixed_deletes
        scorer.family = NULL
        scorer.close = mixed_close
        return 0


# -- the border: arguments are checked here and nowhere else ---------------------------------------


cdef object view_matrix(name, array, Matrix *matrix):
    """Point at the entries of an array; return the object that keeps them alive."""
    cdef const double[:, ::1] doubles
    cdef const float[:, ::1] singles
    cdef ptrdiff_t i = 0, j = 0
    kind, shape = str(getattr(array, "dtype", type(array).__name__)), getattr(array, "shape", ())
    if kind not in ("float64", "float32") or len(shape) != 2 or not array.flags.c_contiguous:
        raise ScoreError(
            f"{name} of type {kind} and shape {shape}: it must be a C-contiguous array of float64 "
            f"or float32 with two dimensions"
        )
    if shape[0] != shape[1] or not 0 < shape[0] < 1 << 30:
        raise ScoreError(f"{name} of shape {shape}: it must be square and not empty")
    matrix.n = shape[0]
    matrix.is_single = kind == "float32"
    if matrix.is_single:
        singles = array
        matrix.entries = &singles[0, 0]
        owner = singles
    else:
        doubles = array
        matrix.entries = &doubles[0, 0]
        owner = doubles
    with nogil:
        find_flaw(matrix, &i, &j)
    if i >= 0:
        raise ScoreError(
            f"{name}[{i}, {j}] = {entry(matrix, i, j):.6g} and {name}[{j}, {i}] = "
            f"{entry(matrix, j, i):.6g}: it must be symmetric, with a unit diagonal and entries "
            f"from -1 to 1"
        )
    return owner


cdef double[::1] as_doubles(name, values, int size):
    """Return a copy of a sequence of finite numbers."""
    cdef double[::1] found
    if len(values) != size:
        raise ScoreError(f"{name} has {len(values)} entries: it must have {size}")
    found = array("d", values)
    for i, value in enumerate(found):
        if not isfinite(value):
            raise ScoreError(f"{name}[{i}] = {value}: it must be a finite number")
    return found


cdef int[::1] as_starts(starts, widths, ptrdiff_t columns):
    """Return where each variable's columns start, and after the last one where they end."""
    ends = list(accumulate(map(int, widths), initial=0))
    total = ends.pop()
    if not len(widths) or min(widths) < 1:
        raise ScoreError(f"widths {shown(widths)}: each variable must have at least one column")
    if list(starts) != ends:
        raise ScoreError(
            f"starts {shown(starts)}: for the given widths they must be {shown(ends)}"
        )
    if total != columns:
        raise ScoreError(f"widths add up to {total}: the matrix has {columns} columns")
    return array("i", [*ends, total])


def shown(values: Sequence[int]) -> str:
    """Return the first few of the values, for a message."""
    first = ", ".join(map(str, values[:5]))
    return f"[{first}, ...]" if len(values) > 5 else f"[{first}]"


def require_positive(name: str, value: float) -> None:
    if not 0 < value < INFINITY:
        raise ScoreError(f"{name} = {value}: it must be a finite number above 0")


def require_cost(name: str, value: float) -> None:
    if not 0 <= value < INFINITY:
        raise ScoreError(f"{name} = {value}: it must be a finite number, 0 or more")
