/* Counting the rows of a discrete table, and adding up what the counts contribute to a score.
 *
 * Rows are held sorted by a configuration of parents and, within it, by the level of y.  The rows
 * of one configuration and level are a cell.
 *
 *     split_rows      sort the rows of each group by the levels of one more column
 *     sum_cells       add up the cells as they are
 *     sum_block       count the cells with 32 columns at once, one byte per column
 *     sum_column      count the cells with one column of any number of levels
 *     sum_without     count the cells with one parent left out
 *
 * The sums visit one configuration at a time and keep no table: what a configuration contributes
 * is added to the total when its large terms have cancelled.
 */
#ifndef SGES_COUNTING_H
#define SGES_COUNTING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LANES 32      /* columns that are counted at once */
#define MOST_LEVELS 32 /* of a column that is counted with others */

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 4")
#else
#define UNROLLED
#endif

/* A second version of a loop for processors with AVX2, chosen when the library is loaded. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) \
    && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONED static __attribute__((unused, target_clones("avx2", "default")))
#else
#define CLONED static inline
#endif

/* Where the lowest byte of four is in memory, and so on. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { FIRST_BYTE = 3, SECOND_BYTE = 2, THIRD_BYTE = 1, FOURTH_BYTE = 0 };
#else
enum { FIRST_BYTE = 0, SECOND_BYTE = 1, THIRD_BYTE = 2, FOURTH_BYTE = 3 };
#endif

/* -- What a count contributes ----------------------------------------------------------------- */

/* The term of a count n: n ln n if alpha is negative, else ln Γ(n + alpha) − ln Γ(1 + alpha); zero
 * at zero.  The first `known` of them are in a table. */
typedef struct {
    const double *values;
    int64_t known;
    double alpha;
} Term;

/* ln Γ(a + more) − ln Γ(a) for large a, by Stirling's formula. */
static inline double log_rise(double a, double more)
{
    double b = a + more;
    double rest = (1 / b - 1 / a) / 12 - (1 / (b * b * b) - 1 / (a * a * a)) / 360;
    return (a - 0.5) * log1p(more / a) + more * log(b) - more + rest;
}

static inline double term_beyond(const Term *term, int64_t n)
{
    if (term->alpha < 0)
        return (double)n * log((double)n);
    int64_t last = term->known - 1;
    return term->values[last] + log_rise((double)last + term->alpha, (double)(n - last));
}

INLINE double term_of(const Term *term, int64_t n)
{
    return n < term->known ? term->values[n] : term_beyond(term, n);
}

/* Extend a table of ln Γ(n + alpha) − ln Γ(1 + alpha) by one logarithm per entry.  `carry` holds
 * what rounding has lost so far (Kahan's summation). */
static inline void extend_rising(double *values, int64_t from, int64_t to, double alpha,
                                 double *carry)
{
    for (int64_t n = from; n < to; n++) {
        if (n < 2) {
            values[n] = 0;
            continue;
        }
        double more = log((double)(n - 1) + alpha) - *carry;
        values[n] = values[n - 1] + more;
        *carry = (values[n] - values[n - 1]) - more;
    }
}

/* -- Columns and sorted rows ------------------------------------------------------------------ */

/* The levels that occur in a column, numbered from zero; one or four bytes each. */
typedef struct {
    const void *codes;
    uint32_t levels;
    int bytes;
} Column;

INLINE uint32_t level_of(const void *codes, uint32_t row, int bytes)
{
    return bytes == 1 ? ((const uint8_t *)codes)[row] : ((const uint32_t *)codes)[row];
}

/* Rows sorted by configuration and level of y. */
typedef struct {
    const uint32_t *rows;
    const uint32_t *start;   /* where each cell begins in `rows`, and the end of the last */
    const uint32_t *first;   /* the first cell of each configuration, and the number of cells */
    const int64_t *held;     /* the records of each cell */
    const int64_t *total;    /* the records of each configuration */
    const int64_t *weights;  /* the records of each row; NULL means one each */
    const uint32_t *chosen;  /* the configurations to be counted */
    uint32_t configurations, choices;
} Cells;

/* -- Keys: the number of the configuration and level of each row --------------------------------
 *
 * A key is written in mixed radix, one digit per column, so that one pass of a counting sort
 * sorts the rows by all of these columns.  It is used where there are not many more keys than rows.
 */

#define STRIPES 4          /* parts of the rows that are counted side by side */
#define STRIPED_KEYS 512   /* up to so many keys: with more, one part seldom waits for itself */

/* Append a digit to the keys. */
CLONED void add_digit(uint32_t *__restrict keys, uint32_t rows, Column column)
{
    const uint8_t *__restrict narrow = (const uint8_t *)column.codes;
    if (column.bytes == 1)
        for (uint32_t i = 0; i < rows; i++)
            keys[i] = keys[i] * column.levels + narrow[i];
    else
        for (uint32_t i = 0; i < rows; i++)
            keys[i] = keys[i] * column.levels + level_of(column.codes, i, 4);
}

/* Count the rows of each key, in each of four parts of the rows or in one part. */
static inline void count_keys(const uint32_t *keys, uint32_t rows, uint32_t size, uint32_t *counts)
{
    uint32_t i = 0, part = rows / STRIPES;
    if (size > STRIPED_KEYS) {
        memset(counts, 0, size * sizeof(uint32_t));
        for (; i < rows; i++)
            counts[keys[i]]++;
        return;
    }
    uint32_t *b = counts + size, *c = b + size, *d = c + size;
    memset(counts, 0, STRIPES * (size_t)size * sizeof(uint32_t));
    for (; i < part; i++) {
        counts[keys[i]]++;
        b[keys[i + part]]++;
        c[keys[i + 2 * part]]++;
        d[keys[i + 3 * part]]++;
    }
    for (i = STRIPES * part; i < rows; i++)
        d[keys[i]]++;
}

/* Count the records of each key. */
static inline void weigh_keys(const uint32_t *keys, uint32_t rows, uint32_t size,
                              const int64_t *weights, uint32_t *counts, int64_t *records)
{
    if (weights) {
        memset(records, 0, size * sizeof(int64_t));
        for (uint32_t i = 0; i < rows; i++)
            records[keys[i]] += weights[i];
        return;
    }
    count_keys(keys, rows, size, counts);
    uint32_t parts = size > STRIPED_KEYS ? 1 : STRIPES;
    for (uint32_t key = 0; key < size; key++) {
        records[key] = 0;
        for (uint32_t k = 0; k < parts; k++)
            records[key] += counts[key + k * size];
    }
}

/* Sort the rows by key, equal ones in increasing order; `counts` is from count_keys.  Writes where
 * the rows of each group of keys begin that differ in the last digit only, and returns how many
 * such groups there are; the same for single keys, with the first key of each group. */
static inline uint32_t place_rows(const uint32_t *keys, uint32_t rows, uint32_t size,
                                  uint32_t digit, uint32_t *counts, uint32_t *out,
                                  uint32_t *start, uint32_t *first)
{
    uint32_t at = 0, cells = 0, groups = 0;
    uint32_t parts = size > STRIPED_KEYS ? 1 : STRIPES;
    for (uint32_t low = 0; low < size; low += digit) {
        uint32_t before = cells;
        for (uint32_t key = low; key < low + digit; key++) {
            uint32_t begin = at;
            for (uint32_t k = 0; k < parts; k++) {
                uint32_t count = counts[key + k * size];
                counts[key + k * size] = at;
                at += count;
            }
            start[cells] = begin;
            cells += at > begin;
        }
        first[groups] = before;
        groups += cells > before;
    }
    start[cells] = rows;
    first[groups] = cells;
    uint32_t i = 0, part = rows / STRIPES;
    if (parts > 1) {
        uint32_t *b = counts + size, *c = b + size, *d = c + size;
        for (; i < part; i++) {
            out[counts[keys[i]]++] = i;
            out[b[keys[i + part]]++] = i + part;
            out[c[keys[i + 2 * part]]++] = i + 2 * part;
            out[d[keys[i + 3 * part]]++] = i + 3 * part;
        }
        counts = d;
        i = STRIPES * part;
    }
    for (; i < rows; i++)
        out[counts[keys[i]]++] = i;
    return groups;
}

/* -- split_rows ------------------------------------------------------------------------------- */

/* Memory of split_rows: three times the rows, a number per level, and the rows once more. */
typedef struct {
    uint32_t *spare;
    uint32_t *counts;
    uint64_t *keys;
    uint32_t rows;
} Workspace;

/* Deal the rows of a group out to a few levels, without branches. */
INLINE uint32_t deal_rows(const uint32_t *rows, uint32_t n, const void *codes, int bytes,
                          const uint32_t levels, uint32_t *out, uint32_t *ends, Workspace *work)
{
    size_t most = work->rows;
    uint32_t *to[4] = {out, work->spare, work->spare + most, work->spare + 2 * most};
    uint32_t at[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = rows[i], level = level_of(codes, row, bytes);
        for (uint32_t k = 0; k < levels; k++) {
            to[k][at[k]] = row;
            at[k] += level == k;
        }
    }
    uint32_t parts = 0, end = at[0];
    if (end)
        ends[parts++] = end;
    for (uint32_t k = 1; k < levels; k++)
        if (at[k]) {
            memcpy(out + end, to[k], at[k] * sizeof(uint32_t));
            end += at[k];
            ends[parts++] = end;
        }
    return parts;
}

/* Sort the rows of a group by counting how many have each level. */
INLINE uint32_t count_and_place(const uint32_t *rows, uint32_t n, const void *codes, int bytes,
                                uint32_t levels, uint32_t *out, uint32_t *ends, uint32_t *counts)
{
    uint32_t parts = 0, end = 0;
    memset(counts, 0, levels * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++)
        counts[level_of(codes, rows[i], bytes)]++;
    for (uint32_t k = 0; k < levels; k++) {
        uint32_t count = counts[k];
        counts[k] = end;
        end += count;
        if (count)
            ends[parts++] = end;
    }
    for (uint32_t i = 0; i < n; i++)
        out[counts[level_of(codes, rows[i], bytes)]++] = rows[i];
    return parts;
}

static inline void shell_sort(uint64_t *keys, uint32_t n)
{
    uint32_t gap = 1;
    while (gap < n / 9)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (uint32_t i = gap; i < n; i++) {
            uint64_t key = keys[i];
            uint32_t k = i;
            for (; k >= gap && keys[k - gap] > key; k -= gap)
                keys[k] = keys[k - gap];
            keys[k] = key;
        }
}

/* Sort the rows of a group by comparison: for few rows, or more levels than rows. */
INLINE uint32_t sort_by_keys(const uint32_t *rows, uint32_t n, const void *codes, int bytes,
                             uint32_t *out, uint32_t *ends, uint64_t *keys)
{
    uint32_t parts = 0;
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (uint64_t)level_of(codes, rows[i], bytes) << 32 | rows[i];
    shell_sort(keys, n);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = (uint32_t)keys[i];
        if (i + 1 == n || keys[i] >> 32 != keys[i + 1] >> 32)
            ends[parts++] = i + 1;
    }
    return parts;
}

INLINE uint32_t split_group(const uint32_t *rows, uint32_t n, Column column, const int bytes,
                            uint32_t *out, uint32_t *ends, Workspace *work)
{
    if (n == 1) {
        out[0] = rows[0];
        ends[0] = 1;
        return 1;
    }
    if (column.levels == 2)
        return deal_rows(rows, n, column.codes, bytes, 2, out, ends, work);
    if (n <= 8 || column.levels / 4 > n)
        return sort_by_keys(rows, n, column.codes, bytes, out, ends, work->keys);
    if (column.levels == 3)
        return deal_rows(rows, n, column.codes, bytes, 3, out, ends, work);
    if (column.levels == 4)
        return deal_rows(rows, n, column.codes, bytes, 4, out, ends, work);
    return count_and_place(rows, n, column.codes, bytes, column.levels, out, ends, work->counts);
}

INLINE uint32_t split_all(const uint32_t *rows, const uint32_t *start, uint32_t groups,
                          Column column, const int bytes, uint32_t *out, uint32_t *out_start,
                          Workspace *work)
{
    uint32_t parts = 0;
    out_start[0] = 0;
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t low = start[g], *ends = out_start + parts + 1;
        uint32_t n = start[g + 1] - low;
        uint32_t more = split_group(rows + low, n, column, bytes, out + low, ends, work);
        for (uint32_t k = 0; k < more; k++)
            ends[k] += low;
        parts += more;
    }
    return parts;
}

/* Sort the rows of each group by the levels of a column, equal ones in increasing order.  Writes
 * where the parts begin, and the end of the last; returns how many there are. */
static inline uint32_t split_rows(const uint32_t *rows, const uint32_t *start, uint32_t groups,
                                  Column column, uint32_t *out, uint32_t *out_start,
                                  Workspace *work)
{
    return column.bytes == 1 ? split_all(rows, start, groups, column, 1, out, out_start, work)
                             : split_all(rows, start, groups, column, 4, out, out_start, work);
}

/* -- sum_block -------------------------------------------------------------------------------- */

/* Some columns side by side, those of most levels first.  Four lanes next to each other share
 * their terms, those number kinds[i], and have at most depth[i] levels. */
typedef struct {
    const uint8_t *codes; /* LANES per row */
    const int *kinds, *depth;
    int fours, levels;
} Block;

/* The sums of terms of the columns, and how many of their cells and configurations hold records. */
typedef struct {
    double total[LANES];
    uint32_t cells[LANES], configurations[LANES];
} Sums;

/* What the terms of all candidates are, by kind; with constants, occupied cells are counted. */
typedef struct {
    const Term *cell, *configuration;
    int constants;
} Terms;

#if (defined(__GNUC__) || defined(__clang__)) && !defined(SGES_PLAIN_C)
typedef uint8_t Bytes __attribute__((vector_size(LANES)));

#define LOAD(to, from) memcpy(&(to), (from), LANES)
#define ADD_WHERE(to, codes, level, amount) \
    ((to) += (Bytes)((codes) == (uint8_t)(level)) & (uint8_t)(amount))
#define ADD_ONE_WHERE(to, codes, level) ((to) -= (Bytes)((codes) == (uint8_t)(level)))
#define ADD(to, more) ((to) += (more))
#define SUBTRACT(to, less) ((to) -= (less))
#define FILL(to, value) ((to) = (Bytes){0} + (uint8_t)(value))
#define ADD_OCCUPIED(to, counts) ((to) -= (Bytes)((counts) != 0))
#define BYTE(of, k) ((of)[k])
#else
typedef struct {
    uint8_t lane[LANES];
} Bytes;

#define EACH(statement) do { for (int k_ = 0; k_ < LANES; k_++) { statement; } } while (0)
#define LOAD(to, from) memcpy((to).lane, (from), LANES)
#define ADD_WHERE(to, codes, level, amount) \
    EACH((to).lane[k_] += (codes).lane[k_] == (level) ? (uint8_t)(amount) : 0)
#define ADD_ONE_WHERE(to, codes, level) ADD_WHERE(to, codes, level, 1)
#define ADD(to, more) EACH((to).lane[k_] += (more).lane[k_])
#define SUBTRACT(to, less) EACH((to).lane[k_] -= (less).lane[k_])
#define FILL(to, value) memset((to).lane, (uint8_t)(value), LANES)
#define ADD_OCCUPIED(to, counts) EACH((to).lane[k_] += (counts).lane[k_] != 0)
#define BYTE(of, k) ((of).lane[k])
#endif

/* Count up to four levels, the first of them `level`, in rows of at most 255 records. */
INLINE void count_levels(const Block *block, const uint32_t *rows, uint32_t n,
                         const int64_t *weights, const int some, int level, Bytes *counts)
{
    Bytes a, b, c, d, codes;
    FILL(a, 0);
    b = c = d = a;
    UNROLLED
    for (uint32_t i = 0; i < n; i++) {
        LOAD(codes, block->codes + (size_t)rows[i] * LANES);
        if (weights) {
            uint8_t weight = (uint8_t)weights[rows[i]];
            ADD_WHERE(a, codes, level, weight);
            if (some > 1) ADD_WHERE(b, codes, level + 1, weight);
            if (some > 2) ADD_WHERE(c, codes, level + 2, weight);
            if (some > 3) ADD_WHERE(d, codes, level + 3, weight);
        } else {
            ADD_ONE_WHERE(a, codes, level);
            if (some > 1) ADD_ONE_WHERE(b, codes, level + 1);
            if (some > 2) ADD_ONE_WHERE(c, codes, level + 2);
            if (some > 3) ADD_ONE_WHERE(d, codes, level + 3);
        }
    }
    counts[level] = a;
    if (some > 1) counts[level + 1] = b;
    if (some > 2) counts[level + 2] = c;
    if (some > 3) counts[level + 3] = d;
}

/* Count all levels but the first in rows of at most 255 records. */
INLINE void count_rows(const Block *block, const uint32_t *rows, uint32_t n,
                       const int64_t *weights, Bytes *counts)
{
    for (int level = 1; level < block->levels; level += 4)
        switch (block->levels - level) {
        case 1: count_levels(block, rows, n, weights, 1, level, counts); break;
        case 2: count_levels(block, rows, n, weights, 2, level, counts); break;
        case 3: count_levels(block, rows, n, weights, 3, level, counts); break;
        default: count_levels(block, rows, n, weights, 4, level, counts);
        }
}

static const double NOUGHTS[LANES];

/* Write `from` plus, or minus, the terms of the counts of each column. */
INLINE void add_terms(const Block *block, const Bytes *counts, const Term *terms, const int minus,
                      const double *from, double *to)
{
    for (int i = 0; i < block->fours; i++) {
        const double *values = terms[block->kinds[i]].values;
        double a = 0, b = 0, c = 0, d = 0;
        for (int level = 0; level < block->depth[i]; level++) {
            uint32_t four;
            memcpy(&four, (const uint8_t *)&counts[level] + 4 * i, sizeof(four));
            a += values[four & 255];
            b += values[four >> 8 & 255];
            c += values[four >> 16 & 255];
            d += values[four >> 24];
        }
        to[4 * i + FIRST_BYTE] = from[4 * i + FIRST_BYTE] + (minus ? -a : a);
        to[4 * i + SECOND_BYTE] = from[4 * i + SECOND_BYTE] + (minus ? -b : b);
        to[4 * i + THIRD_BYTE] = from[4 * i + THIRD_BYTE] + (minus ? -c : c);
        to[4 * i + FOURTH_BYTE] = from[4 * i + FOURTH_BYTE] + (minus ? -d : d);
    }
}

/* Write `from` plus the term of one count for all columns. */
INLINE void add_to_all(const Block *block, int64_t count, const Term *terms, const double *from,
                       double *to)
{
    for (int i = 0; i < block->fours; i++) {
        double value = terms[block->kinds[i]].values[count];
        for (int k = 4 * i; k < 4 * i + 4; k++)
            to[k] = from[k] + value;
    }
}

/* Add a cell of one row to the margin: it holds the same count for every column, at the row's own
 * level. */
INLINE void add_row(const Block *block, uint32_t row, int64_t count, Bytes *margin)
{
    Bytes codes;
    LOAD(codes, block->codes + (size_t)row * LANES);
    for (int level = 0; level < block->levels; level++)
        ADD_WHERE(margin[level], codes, level, count);
}

/* Count a cell of several rows, and add that to the margin. */
INLINE void add_rows(const Block *block, const Cells *cells, uint32_t cell, Bytes *counts,
                     Bytes *margin)
{
    uint32_t low = cells->start[cell], n = cells->start[cell + 1] - low;
    if (cells->weights)
        count_rows(block, cells->rows + low, n, cells->weights, counts);
    else
        count_rows(block, cells->rows + low, n, NULL, counts);
    FILL(counts[0], cells->held[cell]);
    for (int level = 1; level < block->levels; level++) {
        SUBTRACT(counts[0], counts[level]);
        ADD(margin[level], counts[level]);
    }
    ADD(margin[0], counts[0]);
}

/* Add a configuration of at most 255 records: every count fits into a byte. */
INLINE void add_small(const Block *block, const Cells *cells, uint32_t j, const Terms *terms,
                      const int constants, Sums *sums)
{
    Bytes counts[MOST_LEVELS], margin[MOST_LEVELS], occupied, configurations;
    double own[LANES];
    const double *so_far = NOUGHTS;
    uint32_t single = 0;
    FILL(occupied, 0);
    configurations = occupied;
    for (int level = 0; level < block->levels; level++)
        margin[level] = occupied;
    for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++)
        if (cells->start[cell + 1] - cells->start[cell] == 1) {
            add_row(block, cells->rows[cells->start[cell]], cells->held[cell], margin);
            single++;
            if (cells->held[cell] > 1) { /* the term of one record is zero */
                add_to_all(block, cells->held[cell], terms->cell, so_far, own);
                so_far = own;
            }
        } else {
            add_rows(block, cells, cell, counts, margin);
            add_terms(block, counts, terms->cell, 0, so_far, own);
            so_far = own;
            if (constants)
                for (int level = 0; level < block->levels; level++)
                    ADD_OCCUPIED(occupied, counts[level]);
        }
    add_terms(block, margin, terms->configuration, 1, so_far, own);
    for (int k = 0; k < 4 * block->fours; k++)
        sums->total[k] += own[k];
    if (!constants)
        return;
    for (int level = 0; level < block->levels; level++)
        ADD_OCCUPIED(configurations, margin[level]);
    for (int k = 0; k < LANES; k++) {
        sums->cells[k] += BYTE(occupied, k) + single;
        sums->configurations[k] += BYTE(configurations, k);
    }
}

/* Return how many rows from `low` on hold at most 255 records together. */
INLINE uint32_t fitting_rows(const Cells *cells, uint32_t low, uint32_t high)
{
    uint32_t end = low;
    if (!cells->weights)
        return high - low < 255 ? high - low : 255;
    for (int64_t records = 0; end < high; end++)
        if ((records += cells->weights[cells->rows[end]]) > 255)
            break;
    return end - low;
}

/* Count all levels of a cell of any size; fewer than 2^32 records. */
INLINE void count_wide(const Block *block, const Cells *cells, uint32_t cell,
                       uint32_t (*counts)[LANES])
{
    Bytes bytes[MOST_LEVELS];
    uint32_t low = cells->start[cell], high = cells->start[cell + 1];
    memset(counts, 0, (size_t)block->levels * sizeof(*counts));
    while (low < high) {
        uint32_t n = fitting_rows(cells, low, high);
        if (n == 0) { /* one row of more than 255 records */
            const uint8_t *codes = block->codes + (size_t)cells->rows[low] * LANES;
            for (int k = 0; k < LANES; k++)
                if (codes[k])
                    counts[codes[k]][k] += (uint32_t)cells->weights[cells->rows[low]];
            low++;
            continue;
        }
        count_rows(block, cells->rows + low, n, cells->weights, bytes);
        for (int level = 1; level < block->levels; level++)
            for (int k = 0; k < LANES; k++)
                counts[level][k] += BYTE(bytes[level], k);
        low += n;
    }
    for (int k = 0; k < LANES; k++) {
        counts[0][k] = (uint32_t)cells->held[cell];
        for (int level = 1; level < block->levels; level++)
            counts[0][k] -= counts[level][k];
    }
}

/* Add the terms of the counts of each column, some of which may not be in the tables. */
static inline void add_large_terms(const Block *block, uint32_t (*counts)[LANES], const Term *terms,
                                   double *sums)
{
    for (int k = 0; k < 4 * block->fours; k++)
        for (int level = 0; level < block->depth[k / 4]; level++)
            sums[k] += term_of(&terms[block->kinds[k / 4]], counts[level][k]);
}

/* Add the terms of the counts of each column, and the number of counts above zero. */
INLINE void add_wide_terms(const Block *block, uint32_t (*counts)[LANES], const Term *terms,
                           int64_t largest, const int constants, double *sums, uint32_t *occupied)
{
    if (constants)
        for (int level = 0; level < block->levels; level++)
            for (int k = 0; k < LANES; k++)
                occupied[k] += counts[level][k] > 0;
    if (largest >= terms[block->kinds[0]].known) { /* all tables have one length */
        add_large_terms(block, counts, terms, sums);
        return;
    }
    for (int i = 0; i < block->fours; i++) {
        const double *values = terms[block->kinds[i]].values;
        double a = sums[4 * i], b = sums[4 * i + 1], c = sums[4 * i + 2], d = sums[4 * i + 3];
        for (int level = 0; level < block->depth[i]; level++) {
            const uint32_t *four = &counts[level][4 * i];
            a += values[four[0]];
            b += values[four[1]];
            c += values[four[2]];
            d += values[four[3]];
        }
        sums[4 * i] = a, sums[4 * i + 1] = b, sums[4 * i + 2] = c, sums[4 * i + 3] = d;
    }
}

/* Add a configuration of any size. */
INLINE void add_wide(const Block *block, const Cells *cells, uint32_t j, const Terms *terms,
                     const int constants, Sums *sums)
{
    uint32_t counts[MOST_LEVELS][LANES], margin[MOST_LEVELS][LANES];
    double own[LANES] = {0}, less[LANES] = {0};
    memset(margin, 0, (size_t)block->levels * sizeof(*margin));
    for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++) {
        count_wide(block, cells, cell, counts);
        add_wide_terms(block, counts, terms->cell, cells->total[j], constants, own, sums->cells);
        for (int level = 0; level < block->levels; level++)
            for (int k = 0; k < LANES; k++)
                margin[level][k] += counts[level][k];
    }
    add_wide_terms(block, margin, terms->configuration, cells->total[j], constants, less,
                   sums->configurations);
    for (int k = 0; k < LANES; k++)
        sums->total[k] += own[k] - less[k];
}

INLINE void sum_chosen(const Block *block, const Cells *cells, const Terms *terms,
                       const int constants, Sums *sums)
{
    for (uint32_t i = 0; i < cells->choices; i++) {
        uint32_t j = cells->chosen[i];
        if (cells->total[j] > 255)
            add_wide(block, cells, j, terms, constants, sums);
        else
            add_small(block, cells, j, terms, constants, sums);
    }
}

/* Add up the chosen configurations with each column of a block. */
CLONED void sum_block(const Block *block, const Cells *cells, const Terms *terms, Sums *sums)
{
    memset(sums, 0, sizeof(*sums));
    if (terms->constants)
        sum_chosen(block, cells, terms, 1, sums);
    else
        sum_chosen(block, cells, terms, 0, sums);
}

/* -- sum_cells, sum_column and sum_without ---------------------------------------------------- */

typedef struct {
    double total;
    int64_t cells, configurations;
} Sum;

/* Add up all configurations as they are. */
static inline Sum sum_cells(const Cells *cells, const Term *cell_term,
                            const Term *configuration_term)
{
    Sum sum = {0, cells->first[cells->configurations], cells->configurations};
    for (uint32_t j = 0; j < cells->configurations; j++) {
        double own = 0;
        for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++)
            own += term_of(cell_term, cells->held[cell]);
        sum.total += own - term_of(configuration_term, cells->total[j]);
    }
    return sum;
}

/* Add up the cells as if each had a configuration of its own. */
static inline Sum sum_apart(const Cells *cells, const Term *cell_term,
                            const Term *configuration_term)
{
    int64_t count = cells->first[cells->configurations];
    Sum sum = {0, count, count};
    for (int64_t cell = 0; cell < count; cell++)
        sum.total += term_of(cell_term, cells->held[cell])
                     - term_of(configuration_term, cells->held[cell]);
    return sum;
}

/* Add up the configurations of a single row: the same for every column. */
static inline Sum sum_single_rows(const Cells *cells, const Term *cell_term,
                                  const Term *configuration_term)
{
    Sum sum = {0, 0, 0};
    for (uint32_t j = 0; j < cells->configurations; j++) {
        uint32_t cell = cells->first[j];
        if (cells->first[j + 1] - cell == 1 && cells->start[cell + 1] - cells->start[cell] == 1) {
            sum.total += term_of(cell_term, cells->total[j])
                         - term_of(configuration_term, cells->total[j]);
            sum.cells++;
        }
    }
    sum.configurations = sum.cells;
    return sum;
}

/* Counts by level, all zero between uses, and the levels in use. */
typedef struct {
    int64_t *counts;
    uint32_t *used;
    uint32_t uses;
} Tally;

INLINE void tally_add(Tally *tally, uint32_t level, int64_t records)
{
    if (tally->counts[level] == 0)
        tally->used[tally->uses++] = level;
    tally->counts[level] += records;
}

/* Empty the tally into another one, if there is one; return the sum of terms. */
INLINE double tally_clear(Tally *tally, const Term *term, Tally *margin)
{
    double sum = 0;
    for (uint32_t i = 0; i < tally->uses; i++) {
        uint32_t level = tally->used[i];
        int64_t count = tally->counts[level];
        sum += term_of(term, count);
        if (margin)
            tally_add(margin, level, count);
        tally->counts[level] = 0;
    }
    tally->uses = 0;
    return sum;
}

INLINE Sum sum_levels(const Cells *cells, Column column, const int bytes, const Term *cell_term,
                      const Term *configuration_term, Tally *tally, Tally *margin)
{
    Sum sum = {0, 0, 0};
    for (uint32_t i = 0; i < cells->choices; i++) {
        uint32_t j = cells->chosen[i];
        double own = 0;
        for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++) {
            for (uint32_t at = cells->start[cell]; at < cells->start[cell + 1]; at++) {
                uint32_t row = cells->rows[at];
                int64_t weight = cells->weights ? cells->weights[row] : 1;
                tally_add(tally, level_of(column.codes, row, bytes), weight);
            }
            sum.cells += tally->uses;
            own += tally_clear(tally, cell_term, margin);
        }
        sum.configurations += margin->uses;
        sum.total += own - tally_clear(margin, configuration_term, NULL);
    }
    return sum;
}

/* Add up the chosen configurations with one column. */
static inline Sum sum_column(const Cells *cells, Column column, const Term *cell_term,
                             const Term *configuration_term, Tally *tally, Tally *margin)
{
    return column.bytes == 1
               ? sum_levels(cells, column, 1, cell_term, configuration_term, tally, margin)
               : sum_levels(cells, column, 4, cell_term, configuration_term, tally, margin);
}

/* Leave the digit of one parent out of a table of records by key: `after` is the product of the
 * digits that follow it. */
CLONED void leave_out(const int64_t *__restrict records, uint32_t size, uint32_t digit,
                      uint32_t after, int64_t *__restrict rest)
{
    for (uint32_t low = 0; low < size; low += digit * after, rest += after) {
        memcpy(rest, records + low, after * sizeof(int64_t));
        for (uint32_t k = 1; k < digit; k++)
            for (uint32_t i = 0; i < after; i++)
                rest[i] += records[low + k * after + i];
    }
}

/* Return the most records of a configuration. */
static inline int64_t largest_total(const int64_t *records, uint32_t size, uint32_t digit)
{
    int64_t largest = 0;
    for (uint32_t low = 0; low < size; low += digit) {
        int64_t total = 0;
        for (uint32_t key = low; key < low + digit; key++)
            total += records[key];
        largest = total > largest ? total : largest;
    }
    return largest;
}

/* Add up a table of records by key, whose last digit is the level of y. */
static inline Sum sum_table(const int64_t *records, uint32_t size, uint32_t digit,
                            const Term *cell_term, const Term *configuration_term)
{
    Sum sum = {0, 0, 0};
    for (uint32_t low = 0; low < size; low += digit) {
        int64_t total = 0;
        double own = 0;
        for (uint32_t key = low; key < low + digit; key++) {
            total += records[key];
            own += term_of(cell_term, records[key]);
            sum.cells += records[key] > 0;
        }
        sum.total += own - term_of(configuration_term, total);
        sum.configurations += total > 0;
    }
    return sum;
}

/* Add up merged configurations: those of group g are head[g], next[head[g]] and so on, up to
 * NOTHING.  `level` holds the level of y in each cell. */
#define NOTHING UINT32_MAX

static inline Sum sum_without(const Cells *cells, const uint32_t *level, const uint32_t *head,
                              const uint32_t *next, uint32_t groups, const Term *cell_term,
                              const Term *configuration_term, Tally *tally)
{
    Sum sum = {0, 0, 0};
    for (uint32_t g = 0; g < groups; g++) {
        int64_t records = 0;
        for (uint32_t j = head[g]; j != NOTHING; j = next[j]) {
            records += cells->total[j];
            for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++)
                tally_add(tally, level[cell], cells->held[cell]);
        }
        sum.cells += tally->uses;
        sum.configurations += 1;
        sum.total += tally_clear(tally, cell_term, NULL) - term_of(configuration_term, records);
    }
    return sum;
}

#endif
