/* Factors of small blocks of a correlation matrix, and solves against many of its columns.
 *
 * With L the lower Cholesky factor of R[rows, rows], everything here is one operation on rows of
 * numbers side by side: subtract multiples of earlier rows, then scale.
 *
 *     the factor itself     rows of R[rows, rows]
 *     a solve, z = L⁻¹ R    rows of R, a block of columns at a time, which stays in the cache
 *     the inverse, L⁻¹      rows of the identity
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

/* A symmetric matrix with a unit diagonal, row by row, as doubles or as floats. */
typedef struct {
    const void *entries;
    ptrdiff_t n;
    int is_single;
} Matrix;

INLINE double entry(const Matrix *matrix, ptrdiff_t i, ptrdiff_t j)
{
    ptrdiff_t at = i * matrix->n + j;
    return matrix->is_single ? (double)((const float *)matrix->entries)[at]
                             : ((const double *)matrix->entries)[at];
}

/* Copy `width` entries of row i, from column `from` on. */
INLINE void load(const Matrix *matrix, ptrdiff_t i, ptrdiff_t from, int width,
                 double *RESTRICT row)
{
    ptrdiff_t at = i * matrix->n + from;
    if (matrix->is_single) {
        const float *RESTRICT source = (const float *)matrix->entries + at;
        for (int c = 0; c < width; c++)
            row[c] = source[c];
    } else {
        memcpy(row, (const double *)matrix->entries + at, (size_t)width * sizeof(double));
    }
}

/* row -= Σ_j weights[j * step] · above[j], over `count` rows that are `stride` apart. */
INLINE void eliminate(double *RESTRICT row, const double *RESTRICT above, ptrdiff_t stride,
                      const double *RESTRICT weights, ptrdiff_t step, int count, int width)
{
    int j = 0;
    for (; j + 4 <= count; j += 4) {
        const double *RESTRICT p = above + j * stride, *RESTRICT q = p + stride;
        const double *RESTRICT r = q + stride, *RESTRICT s = r + stride;
        const double *w = weights + j * step;
        double a = w[0], b = w[step], d = w[2 * step], e = w[3 * step];
        for (int c = 0; c < width; c++)
            row[c] = (row[c] - (a * p[c] + b * q[c])) - (d * r[c] + e * s[c]);
    }
    for (; j < count; j++) {
        const double *RESTRICT p = above + j * stride;
        double a = weights[j * step];
        for (int c = 0; c < width; c++)
            row[c] -= a * p[c];
    }
}

/* -- the factor and its inverse ------------------------------------------------------------- */

/* Memory for blocks of up to `rows` rows, each row `stride` numbers apart. */
typedef struct {
    int rows, stride, width; /* how many rows fit; columns solved at a time */
    double *upper;           /* the transposed factor: upper[j * stride + i] is L[i][j] */
    double *scale;           /* 1 / L[i][i] */
    double *inverse;         /* L⁻¹, row by row, zero above the diagonal */
    double *squares;         /* sums of squares of the columns of L⁻¹ */
    double *z;               /* L⁻¹ R, `width` columns at a time */
    double *left;            /* var(x | base) for each of these columns */
    double *explained;       /* var(x | base) - var(x | base, y) */
    unsigned char *marks;    /* which of these columns deserve an exact look */
    int *nodes;
    double *memory;
} Space;

enum { WIDEST = 256, NARROWEST = 64, CACHE = 3000 /* doubles that stay in the first cache */ };

/* Make room for `rows` rows; return 0 if there is no memory. */
static int reserve(Space *space, int rows)
{
    if (rows <= space->rows)
        return 1;
    rows = rows + rows / 2 + 8;
    size_t stride = ((size_t)rows + 7) & ~(size_t)7;
    size_t block = (size_t)rows * stride, wide = (size_t)rows * WIDEST;
    size_t count = 2 * block + 2 * stride + wide + 3 * WIDEST + stride;
    double *memory = malloc(count * sizeof(double));
    if (memory == NULL)
        return 0;
    free(space->memory);
    space->rows = rows;
    space->stride = (int)stride;
    space->memory = memory;
    space->upper = memory;
    space->inverse = space->upper + block;
    space->scale = space->inverse + block;
    space->squares = space->scale + stride;
    space->z = space->squares + stride;
    space->left = space->z + wide;
    space->explained = space->left + WIDEST;
    space->marks = (unsigned char *)(space->explained + WIDEST);
    space->nodes = (int *)(space->explained + 2 * WIDEST);
    return 1;
}

/* Factor R[nodes, nodes]; return 0 unless it is positive definite. */
FOR_EACH_MACHINE
static int factor(const Matrix *matrix, Space *space, int size)
{
    ptrdiff_t stride = space->stride;
    const int *nodes = space->nodes;
    for (int i = 0; i < size; i++) {
        double *row = space->upper + i * stride;
        for (int c = i; c < size; c++)
            row[c] = entry(matrix, nodes[i], nodes[c]);
        const double *above = space->upper + i;
        eliminate(row + i, above, stride, above, stride, i, size - i);
        if (!(row[i] > 0.0))
            return 0;
        double scale = 1.0 / sqrt(row[i]);
        space->scale[i] = scale;
        for (int c = i; c < size; c++)
            row[c] *= scale;
    }
    return 1;
}

/* Write L⁻¹ and the sums of squares of its columns, which are the diagonal of R⁻¹. */
FOR_EACH_MACHINE
static void invert(Space *space, int size)
{
    ptrdiff_t stride = space->stride;
    double *squares = space->squares;
    for (int i = 0; i < size; i++) {
        double *row = space->inverse + i * stride;
        for (int c = 0; c < size; c++)
            row[c] = 0.0;
        row[i] = 1.0;
        for (int j = 0; j < i; j += 4) { /* row j of the inverse ends at column j */
            int count = i - j < 4 ? i - j : 4;
            eliminate(row, space->inverse + j * stride, stride, space->upper + j * stride + i,
                      stride, count, j + count);
        }
        double scale = space->scale[i];
        squares[i] = 0.0;
        for (int c = 0; c <= i; c++) {
            row[c] *= scale;
            squares[c] += row[c] * row[c];
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

/* Solve for the columns from `from` on; `explained` is that of the rows from `given` on. */
INLINE void solve(const Matrix *matrix, const Space *space, int given, int size, int from,
                  int width)
{
    double *RESTRICT left = space->left, *RESTRICT explained = space->explained;
    for (int c = 0; c < width; c++)
        left[c] = 1.0;
    for (int i = 0; i < size; i++) {
        double *RESTRICT row = space->z + (ptrdiff_t)i * WIDEST;
        load(matrix, space->nodes[i], from, width, row);
        eliminate(row, space->z, WIDEST, space->upper + i, space->stride, i, width);
        double scale = space->scale[i];
        for (int c = 0; c < width; c++)
            row[c] *= scale;
        if (i < given)
            for (int c = 0; c < width; c++)
                left[c] -= row[c] * row[c];
        else if (i == given)
            for (int c = 0; c < width; c++)
                explained[c] = row[c] * row[c];
        else
            for (int c = 0; c < width; c++)
                explained[c] += row[c] * row[c];
    }
}

/* Solve a block for one y, its last row, and mark where 1 - ρ² may fall below 1 - cut.  What is
 * not a number is marked too, so that an exact look finds it. */
FOR_EACH_MACHINE
static void solve_and_mark(const Matrix *matrix, const Space *space, int size, int from,
                           int width, double cut)
{
    solve(matrix, space, size - 1, size, from, width);
    const double *RESTRICT left = space->left, *RESTRICT explained = space->explained;
    unsigned char *RESTRICT marks = space->marks;
    for (int c = 0; c < width; c++)
        marks[c] = !(explained[c] <= cut * left[c]);
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

#endif
