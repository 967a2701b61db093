/* Factors of small blocks of a correlation matrix, and solves against many of its columns.
 *
 * With R[nodes, nodes] = L D L', L unit lower triangular, everything here is one operation on
 * rows of numbers: subtract multiples of earlier rows.
 *
 *     the factor           from rows of R[nodes, nodes]: the rows of D L'
 *     a solve, z = L⁻¹ R   from rows of R, a block of columns at a time, which stays in the cache
 *     the inverse, L⁻¹     from rows of the identity
 *
 * No sum runs across a row and no multiplication is fused with an addition, so that results do
 * not depend on the width of the machine's vectors.
 */
#ifndef SGES_SOLVE_H
#define SGES_SOLVE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)         \
    && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_MACHINE
#endif

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define RESTRICT __restrict__
#elif defined(_MSC_VER)
#define INLINE static __forceinline
#define RESTRICT __restrict
#else
#define INLINE static inline
#define RESTRICT restrict
#endif

/* Entry i of a row of numbers, which are floats or doubles. */
INLINE double number(const void *numbers, const int is_single, ptrdiff_t i)
{
    return is_single ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
}

/* A symmetric matrix with a unit diagonal, row by row, as doubles or as floats. */
typedef struct {
    const void *entries;
    ptrdiff_t n;
    int is_single;
} Matrix;

INLINE double entry(const Matrix *matrix, ptrdiff_t i, ptrdiff_t j)
{
    return number(matrix->entries, matrix->is_single, i * matrix->n + j);
}

/* Find an entry that no correlation matrix has, or that differs from its mirror image; row is -1
 * if there is none.  Tiles, so that a row and a column of a large matrix are not far apart. */
static void find_flaw(const Matrix *matrix, ptrdiff_t *row, ptrdiff_t *column)
{
    enum { TILE = 64 };
    const double most = 1.0 + 1e-6, asymmetry = 1e-6;
    ptrdiff_t n = matrix->n;
    for (ptrdiff_t top = 0; top < n; top += TILE)
        for (ptrdiff_t side = 0; side <= top; side += TILE)
            for (ptrdiff_t i = top; i < top + TILE && i < n; i++)
                for (ptrdiff_t j = side; j < side + TILE && j <= i; j++) {
                    double a = entry(matrix, i, j), b = entry(matrix, j, i);
                    int good = i == j ? a == 1.0 : fabs(a) <= most && fabs(a - b) <= asymmetry;
                    if (!good) {
                        *row = i;
                        *column = j;
                        return;
                    }
                }
    *row = -1;
}

#if defined(__GNUC__) && !defined(__clang__)
#define SIDE_BY_SIDE _Pragma("GCC ivdep") /* `source` may be `row` itself, but not overlap it */
#else
#define SIDE_BY_SIDE
#endif

/* row = source - Σ_j weights[j] · above[j], over as many rows above, `stride` apart, as one pass
 * takes: four, two, one or none of `count`.  Return how many. */
INLINE int subtract_some(double *row, const void *source, const int is_single,
                         const double *RESTRICT above, ptrdiff_t stride,
                         const double *RESTRICT weights, int count, int width)
{
    const double *RESTRICT p = above, *RESTRICT q = p + stride;
    if (count >= 4) {
        const double *RESTRICT r = q + stride, *RESTRICT s = r + stride;
        double a = weights[0], b = weights[1], d = weights[2], e = weights[3];
        SIDE_BY_SIDE
        for (int c = 0; c < width; c++)
            row[c] = (number(source, is_single, c) - (a * p[c] + b * q[c]))
                     - (d * r[c] + e * s[c]);
        return 4;
    }
    if (count >= 2) {
        double a = weights[0], b = weights[1];
        SIDE_BY_SIDE
        for (int c = 0; c < width; c++)
            row[c] = number(source, is_single, c) - (a * p[c] + b * q[c]);
        return 2;
    }
    if (count) {
        double a = weights[0];
        SIDE_BY_SIDE
        for (int c = 0; c < width; c++)
            row[c] = number(source, is_single, c) - a * p[c];
        return 1;
    }
    SIDE_BY_SIDE
    for (int c = 0; c < width; c++)
        row[c] = number(source, is_single, c);
    return 0;
}

/* row -= Σ_j weights[j] · above[j], over `count` rows that are `stride` apart. */
INLINE void eliminate(double *row, const double *above, ptrdiff_t stride, const double *weights,
                      int count, int width)
{
    for (int done; count > 0; count -= done, above += done * stride, weights += done)
        done = subtract_some(row, row, 0, above, stride, weights, count, width);
}

/* row = the entries of row i of a matrix, from column `from` on, less multiples of rows above. */
INLINE void reduce(const Matrix *matrix, ptrdiff_t i, ptrdiff_t from, double *row,
                   const double *above, ptrdiff_t stride, const double *weights, int count,
                   int width)
{
    ptrdiff_t at = i * matrix->n + from;
    int done = matrix->is_single
                   ? subtract_some(row, (const float *)matrix->entries + at, 1, above, stride,
                                   weights, count, width)
                   : subtract_some(row, (const double *)matrix->entries + at, 0, above, stride,
                                   weights, count, width);
    eliminate(row, above + done * stride, stride, weights + done, count - done, width);
}

/* sums -= Σ_j weights[j] · above[j] · beside[j], where `beside` are the same rows, shifted. */
INLINE void subtract_products(double *RESTRICT sums, const double *above, const double *beside,
                              ptrdiff_t stride, const double *RESTRICT weights, int count,
                              int width)
{
    for (; count >= 2; count -= 2, above += 2 * stride, beside += 2 * stride, weights += 2) {
        const double *p = above, *q = above + stride, *r = beside, *s = beside + stride;
        double a = weights[0], b = weights[1];
        for (int c = 0; c < width; c++)
            sums[c] -= a * (p[c] * r[c]) + b * (q[c] * s[c]);
    }
    if (count)
        for (int c = 0; c < width; c++)
            sums[c] -= weights[0] * (above[c] * beside[c]);
}

/* -- memory --------------------------------------------------------------------------------- */

/* Memory for blocks of up to `rows` nodes; `stride` numbers lie between two rows of a block. */
typedef struct {
    int rows, stride, width;
    int *nodes;           /* the nodes of the block: a base, then y */
    double *upper;        /* the rows of D L' */
    double *lower;        /* the rows of L, without its diagonal */
    double *weight;       /* 1 / D */
    double *inverse;      /* the rows of D^(-1/2) L⁻¹, zero above the diagonal */
    double *squares;      /* the sums of squares of its columns: the diagonal of R[nodes]⁻¹ */
    double *z;            /* L⁻¹ R, up to `width` columns at a time */
    double *left;         /* var(x | base) for each of these columns */
    double *explained;    /* var(x | base) - var(x | base, y) */
    unsigned char *marks; /* the columns that must be computed exactly */
    double *memory;
} Space;

enum {
    WIDEST = 256,   /* columns solved at a time, at most and at least */
    NARROWEST = 64,
    CACHE = 3000,   /* doubles that stay in the first cache */
    FETCHED = 1000, /* columns of a matrix that is too large for any cache */
};

/* Make room for `rows` rows and `width` columns at a time; return 0 if memory ran out. */
static int reserve(Space *space, int rows, int width)
{
    if (rows <= space->rows && width <= space->width)
        return 1;
    rows = rows + rows / 2 + 8;
    size_t stride = ((size_t)rows + 7) & ~(size_t)7, wide = ((size_t)width + 7) & ~(size_t)7;
    size_t block = (size_t)rows * stride;
    double *memory = malloc((3 * block + 3 * stride + ((size_t)rows + 3) * wide) * sizeof(double));
    if (memory == NULL)
        return 0;
    free(space->memory);
    *space = (Space){.rows = rows, .stride = (int)stride, .width = (int)wide, .memory = memory};
    space->upper = memory;
    space->lower = space->upper + block;
    space->inverse = space->lower + block;
    space->weight = space->inverse + block;
    space->squares = space->weight + stride;
    space->nodes = (int *)(space->squares + stride);
    space->left = space->squares + 2 * stride;
    space->explained = space->left + wide;
    space->marks = (unsigned char *)(space->explained + wide);
    space->z = space->explained + 2 * wide;
    return 1;
}

/* -- the factor and its inverse ------------------------------------------------------------- */

/* Factor R[nodes, nodes]; return 0 unless it is positive definite. */
FOR_EACH_MACHINE
static int factor(const Matrix *matrix, Space *space, int size)
{
    ptrdiff_t stride = space->stride;
    const int *nodes = space->nodes;
    for (int i = 0; i < size; i++) {
        double *row = space->upper + i * stride, *weights = space->lower + i * stride;
        for (int c = i; c < size; c++)
            row[c] = entry(matrix, nodes[i], nodes[c]);
        for (int j = 0; j < i; j++)
            weights[j] = space->upper[j * stride + i] * space->weight[j];
        eliminate(row + i, space->upper + i, stride, weights, i, size - i);
        if (!(row[i] > 0.0))
            return 0;
        space->weight[i] = 1.0 / row[i];
    }
    return 1;
}

/* Write D^(-1/2) L⁻¹ to `inverse`, and the sums of squares of its columns to `squares`. */
FOR_EACH_MACHINE
static void invert(const Space *space, int size, double *inverse, ptrdiff_t stride)
{
    for (int i = 0; i < size; i++) {
        double *row = inverse + i * stride;
        for (int c = 0; c < size; c++)
            row[c] = 0.0;
        row[i] = 1.0;
        for (int j = 0; j < i; j += 4) { /* row j of the inverse ends at column j */
            int count = i - j < 4 ? i - j : 4;
            eliminate(row, inverse + j * stride, stride,
                      space->lower + (ptrdiff_t)i * space->stride + j, count, j + count);
        }
    }
    double *RESTRICT squares = space->squares;
    for (int c = 0; c < size; c++)
        squares[c] = 0.0;
    for (int i = 0; i < size; i++) {
        double *RESTRICT row = inverse + i * stride;
        double scale = sqrt(space->weight[i]);
        for (int c = 0; c <= i; c++) {
            row[c] *= scale;
            squares[c] += row[c] * row[c];
        }
    }
}

/* Write all of M'M, for M = D^(-1/2) L⁻¹: the inverse of R[nodes, nodes]. */
FOR_EACH_MACHINE
static void multiply_out(const double *inverse, ptrdiff_t stride, int size, double *omega,
                         double *column)
{
    for (int p = 0; p < size; p++) {
        double *row = omega + p * stride;
        for (int i = p; i < size; i++)
            column[i] = -inverse[i * stride + p];
        for (int c = 0; c <= p; c++)
            row[c] = 0.0;
        eliminate(row, inverse + p * stride, stride, column + p, size - p, p + 1);
        for (int c = 0; c < p; c++)
            omega[c * stride + p] = row[c];
    }
}

/* From the inverse over some nodes and y, the last, find that without the nodes at `places`: its
 * diagonal, and its row of y.  Each pivot takes from the later `rows` what the node explained. */
FOR_EACH_MACHINE
static void take_out(const double *omega, ptrdiff_t stride, int size, const int *places, int count,
                     double *diagonal, double *rows)
{
    for (int c = 0; c < size; c++)
        diagonal[c] = omega[c * stride + c];
    for (int k = 0; k <= count; k++)
        memcpy(rows + (ptrdiff_t)k * size, omega + (k < count ? places[k] : size - 1) * stride,
               (size_t)size * sizeof(double));
    for (int k = 0; k < count; k++) {
        const double *RESTRICT pivot = rows + (ptrdiff_t)k * size;
        double weight = 1.0 / pivot[places[k]];
        for (int c = 0; c < size; c++)
            diagonal[c] -= weight * (pivot[c] * pivot[c]);
        for (int i = k + 1; i <= count; i++) {
            double *RESTRICT row = rows + (ptrdiff_t)i * size;
            double share = row[places[k]] * weight;
            for (int c = 0; c < size; c++)
                row[c] -= share * pivot[c];
        }
    }
}

/* -- all columns at once -------------------------------------------------------------------- */

/* How many columns to solve at a time for a factor of this size: a multiple of 8. */
static int columns_at_a_time(int size)
{
    int width = CACHE / (size + 2) & ~7;
    return width > WIDEST ? WIDEST : width < NARROWEST ? NARROWEST : width;
}

/* Begin to fetch the entries of a row that the next block will read: rows of a large matrix are
 * in no cache, and a block is too short for the processor to predict what comes next. */
INLINE void fetch(const Matrix *matrix, ptrdiff_t i, ptrdiff_t from, int width)
{
#if defined(__GNUC__)
    size_t size = matrix->is_single ? sizeof(float) : sizeof(double);
    if (from + width > matrix->n)
        width = (int)(matrix->n - from);
    const char *entries = (const char *)matrix->entries + (size_t)(i * matrix->n + from) * size;
    for (ptrdiff_t at = 0; at < (ptrdiff_t)size * width; at += 64)
        __builtin_prefetch(entries + at, 0, 2);
#else
    (void)matrix, (void)i, (void)from, (void)width;
#endif
}

/* Write z for the columns from `from` on. */
INLINE void solve(const Matrix *matrix, const Space *space, int size, int from, int width)
{
    ptrdiff_t stride = width;
    for (int i = 0; i < size; i++) {
        double *row = space->z + i * stride;
        if (matrix->n > FETCHED)
            fetch(matrix, space->nodes[i], from + width, width);
        reduce(matrix, space->nodes[i], from, row, space->z, stride,
               space->lower + (ptrdiff_t)i * space->stride, i, width);
    }
}

/* Write what base leaves of each column, and what y, the last row, explains of that. */
FOR_EACH_MACHINE
static void explain(const Matrix *matrix, const Space *space, int size, int from, int width)
{
    double *RESTRICT left = space->left, *RESTRICT explained = space->explained;
    solve(matrix, space, size, from, width);
    for (int c = 0; c < width; c++)
        left[c] = 1.0;
    subtract_products(left, space->z, space->z, width, space->weight, size - 1, width);
    const double *last = space->z + (ptrdiff_t)(size - 1) * width;
    double weight = space->weight[size - 1];
    for (int c = 0; c < width; c++)
        explained[c] = weight * (last[c] * last[c]);
}

/* A solve for all columns of a matrix, kept to be extended: z has a row for each of the nodes, in
 * the order in which they came, and one more for y. */
typedef struct {
    int y, size, room;
    int *nodes;
    double *weight, *left, *z;
    double *memory;
} Rows;

/* Make room for `rows` rows of n numbers, keeping nothing; return 0 if memory ran out. */
static int reserve_rows(Rows *rows, int room, ptrdiff_t n)
{
    if (room <= rows->room)
        return 1;
    room = room + room / 2 + 4;
    size_t numbers = (size_t)room * (size_t)(n + 2) + (size_t)n;
    free(rows->memory);
    *rows = (Rows){.y = rows->y, .memory = malloc(numbers * sizeof(double))};
    if (rows->memory == NULL)
        return 0;
    rows->room = room;
    rows->weight = rows->memory;
    rows->nodes = (int *)(rows->weight + room);
    rows->left = rows->memory + 2 * room;
    rows->z = rows->left + n;
    return 1;
}

/* Write row `at`: the entries of a node, less what the rows before it explain of them. */
INLINE int append(const Matrix *matrix, Rows *rows, int at, int node, double *shares)
{
    ptrdiff_t n = matrix->n;
    double *row = rows->z + at * n;
    for (int j = 0; j < at; j++)
        shares[j] = rows->z[j * n + node] * rows->weight[j];
    reduce(matrix, node, 0, row, rows->z, n, shares, at, (int)n);
    rows->weight[at] = 1.0 / row[node];
    return row[node] > 0.0;
}

/* Keep the first `kept` rows, append `count` nodes, and explain all columns by them and y; return
 * 0 unless the block is positive definite. */
FOR_EACH_MACHINE
static int extend(const Matrix *matrix, const Space *space, Rows *rows, int kept, const int *nodes,
                  int count, int y)
{
    int n = (int)matrix->n, first = kept;
    double *RESTRICT left = rows->left, *RESTRICT explained = space->explained;
    if (kept < rows->size || kept == 0) {
        first = 0;
        for (int c = 0; c < n; c++)
            left[c] = 1.0;
    }
    rows->size = 0;
    for (int i = 0; i < count; i++) {
        rows->nodes[kept + i] = nodes[i];
        if (!append(matrix, rows, kept + i, nodes[i], space->left))
            return 0;
    }
    int size = kept + count;
    const double *added = rows->z + (ptrdiff_t)first * n, *last = rows->z + (ptrdiff_t)size * n;
    subtract_products(left, added, added, n, rows->weight + first, size - first, n);
    if (!append(matrix, rows, size, y, space->left))
        return 0;
    for (int c = 0; c < n; c++)
        explained[c] = rows->weight[size] * (last[c] * last[c]);
    memcpy(space->left, left, (size_t)n * sizeof(double));
    rows->size = size;
    return 1;
}

/* Mark the columns with ρ² above the cut.  Here and below, NaN is marked too, so that the exact
 * computation finds it. */
FOR_EACH_MACHINE
static void mark_above(const Space *space, int width, double cut)
{
    const double *RESTRICT left = space->left, *RESTRICT explained = space->explained;
    unsigned char *RESTRICT marks = space->marks;
    for (int c = 0; c < width; c++)
        marks[c] = !(explained[c] <= cut * left[c]);
}

/* Mark the columns with
 *
 *     offset - spread - power · log(1 - ρ²) - ½ log var(x | base) > 0,
 *
 * and some more: logarithms are bounded by -log t <= 1 / t - 1, all multiplied by t > 0. */
FOR_EACH_MACHINE
static void mark_bge(const Space *space, int width, double offset, const double *spread,
                     double power)
{
    const double *RESTRICT left = space->left, *RESTRICT explained = space->explained;
    unsigned char *RESTRICT marks = space->marks;
    offset -= 0.5;
    for (int c = 0; c < width; c++) {
        double l = left[c], e = explained[c], both = l - e;
        double bound = (offset - spread[c]) * (both * l) + (power * (e * l) + 0.5 * both);
        marks[c] = !(bound <= 0.0) | !(both > 0.0);
    }
}

/* Solve a block, of columns that belong to variables with several each. */
FOR_EACH_MACHINE
static void solve_columns(const Matrix *matrix, const Space *space, int size, int from, int width)
{
    solve(matrix, space, size, from, width);
}

/* For columns c from `begin` to `end` of a block that was solved, write their covariances with
 * columns c + shift given the base, which are the first `given` rows, and given all rows. */
FOR_EACH_MACHINE
static void covariances(const Space *space, int given, int size, int width, int shift, int begin,
                        int end, double *before, double *after)
{
    const double *z = space->z + begin, *beyond = z + (ptrdiff_t)given * width;
    before += begin;
    after += begin;
    for (int c = 0; c < end - begin; c++)
        before[c] = shift ? 0.0 : 1.0;
    subtract_products(before, z, z + shift, width, space->weight, given, end - begin);
    memcpy(after, before, (size_t)(end - begin) * sizeof(double));
    subtract_products(after, beyond, beyond + shift, width, space->weight + given, size - given,
                      end - begin);
}

/* Return the first marked column from `at` on, or `width`. */
INLINE int next_mark(const unsigned char *marks, int at, int width)
{
    for (; at < width && (at & 7); at++)
        if (marks[at])
            return at;
    for (; at + 8 <= width; at += 8) {
        uint64_t eight;
        memcpy(&eight, marks + at, 8);
        if (eight)
            break;
    }
    for (; at < width; at++)
        if (marks[at])
            return at;
    return width;
}

/* -- from squared partial correlations to gains ---------------------------------------------- */

/* Write ρ² of the marked columns of a block, and which they are, after the first `count`. */
static int collect(const Space *space, int from, int width, int *xs, double *squares, int count)
{
    for (int c = next_mark(space->marks, 0, width); c < width;
         c = next_mark(space->marks, c + 1, width)) {
        xs[count] = from + c;
        squares[count++] = space->explained[c] / space->left[c];
    }
    return count;
}

/* log(1 - q) for 0 <= q < 1, to about one unit in the last place.
 *
 * 1 - q = 2^k (1 + f) with 1 + f from √½ to √2, and with s = f / (2 + f)
 *
 *     log(1 + f) = 2 s (1 + s²/3 + s⁴/5 + ...) = f - s (f - 2 (s²/3 + s⁴/5 + ...))
 *
 * There are no branches, so that many are computed side by side. */
INLINE double log_of_rest(double q)
{
    const double log2_high = 0x1.62e42feep-1, log2_low = 0x1.a39ef35793c76p-33;
    const uint64_t root = 0x3fe6a09e00000000, one = 0x3ff0000000000000; /* √½, about; 1 */
    const uint64_t fraction = 0x000fffffffffffff, whole = 0x4330000000000000; /* 2^52 */
    double rest = 1.0 - q, rounding = ((1.0 - rest) - q) / rest, mantissa, exponent;
    uint64_t bits, shifted;
    memcpy(&bits, &rest, sizeof bits);
    bits += one - root;
    shifted = (bits >> 52) | whole;
    memcpy(&exponent, &shifted, sizeof shifted);
    exponent -= 0x1p52 + 1023.0;
    bits = (bits & fraction) + root;
    memcpy(&mantissa, &bits, sizeof bits);
    double f = mantissa - 1.0, s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double tail = 2.0 / 19 + z * (2.0 / 21);
    tail = 2.0 / 15 + z * (2.0 / 17 + z * tail);
    tail = 2.0 / 11 + z * (2.0 / 13 + z * tail);
    tail = 2.0 / 7 + z * (2.0 / 9 + z * tail);
    tail = z * (2.0 / 3 + z * (2.0 / 5 + z * tail));
    double low = s * (half + tail) + (exponent * log2_low + rounding);
    return exponent * log2_high - ((half - low) - f);
}

/* Replace each q by factor · log(1 - q) + constant; return 0 unless 0 <= q < 1 for all. */
FOR_EACH_MACHINE
static int take_logs(double *values, int count, double factor, double constant)
{
    int64_t good = 1;
    for (int i = 0; i < count; i++) {
        good &= (int64_t)(values[i] >= 0.0) & (int64_t)(values[i] < 1.0);
        values[i] = log_of_rest(values[i]) * factor + constant;
    }
    return (int)good;
}

#endif
