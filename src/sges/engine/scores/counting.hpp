// Counting the rows of a discrete table, and adding up what the counts contribute to a score.
//
// The data lie column by column, one or four bytes per row (`Column`).  Columns of few levels lie
// a second time row by row, 32 to a block, so that one instruction reads 32 columns of a row
// (`Block`).  The gains of y and its parents are computed in one of three ways:
//
//     all inserts     number_rows, sort_rows: the rows sorted by configuration of the parents and
//                     level of y.  The rows of one configuration and level are a cell (`Cells`).
//                     sum_block and sum_column split the cells further, by each candidate.
//     all deletes     number_rows, weigh_numbers: a table of records.  leave_out adds it up over
//                     one parent, sum_table adds up the terms.
//     all deletes,    the cells as for inserts; sum_merged adds up configurations that agree in
//     many parents    all parents except one.
//
// The sums visit one configuration at a time: what it contributes is added to the total after its
// large terms have canceled.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../builtins.hpp"

#if SGES_BUILTINS && !defined(__clang__) && defined(__x86_64__)
#define SGES_GCC_X86 1
#else
#define SGES_GCC_X86 0
#endif

#if SGES_BUILTINS && !defined(__clang__)
#define SGES_UNROLLED _Pragma("GCC unroll 4")
#else
#define SGES_UNROLLED
#endif

namespace sges::counting {

enum {
    LANES = 32,         // columns that are counted at once; `columns.py` has the same
    MOST_LEVELS = 32,   // the most levels of a column that is counted with others
    STRIPES = 4,        // parts of the rows that are counted side by side
    STRIPED_SIZE = 512, // for up to this many numbers: with more, a part seldom waits for itself
};

// Whether a function may use vectors of 32 bytes.  Clang splits them into what the processor has.
// GCC would compare them byte by byte, unless the function is compiled for AVX2.
#if !SGES_BUILTINS
#define SGES_BYTES 0
#elif defined(__clang__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SGES_BYTES 1
#else
#define SGES_BYTES SGES_GCC_X86
#endif

// -- What a count contributes -----------------------------------------------------------------

// The term of a count n: n ln n if alpha is negative, else ln Γ(n + alpha) − ln Γ(1 + alpha); zero
// at zero.  Those of counts below `known` are in a table.  A count of one stands for `unit` records,
// so that the terms are unit · n ln n and ln Γ(unit · n + alpha) − ln Γ(1 + alpha).
struct Term {
    const double *values;
    int64_t known;
    double alpha;
    double unit;
};

// The term of a cell and that of a configuration.
struct Terms {
    Term cell, configuration;
};

// A sum of terms, and how many cells and configurations hold records.
struct Sum {
    double total;
    int64_t cells, configurations;
};

// ln Γ(a + more) − ln Γ(a) for large a, by Stirling's formula.
inline double log_rise(double a, double more)
{
    double b = a + more;
    double rest = (1 / b - 1 / a) / 12 - (1 / (b * b * b) - 1 / (a * a * a)) / 360;
    return (a - 0.5) * log1p(more / a) + more * log(b) - more + rest;
}

inline double term_beyond(const Term *term, int64_t n)
{
    if (term->alpha < 0)
        return term->unit * ((double)n * log((double)n));
    if (term->unit != 1)
        return lgamma(term->unit * (double)n + term->alpha) - lgamma(1 + term->alpha);
    int64_t last = term->known - 1;
    return term->values[last] + log_rise((double)last + term->alpha, (double)(n - last));
}

SGES_INLINE double term_of(const Term *term, int64_t n)
{
    return n < term->known ? term->values[n] : term_beyond(term, n);
}

// Extend a table of ln Γ(n + alpha) − ln Γ(1 + alpha) by one logarithm per entry.  `carry` holds
// what rounding has lost so far (Kahan's summation).  Where a count of one is not one record, each
// entry is computed by itself.
inline void extend_rising(double *values, int64_t from, int64_t to, double alpha,
                                 double unit, double *carry)
{
    if (unit != 1) {
        for (int64_t n = from; n < to; n++)
            values[n] = n ? lgamma(unit * (double)n + alpha) - lgamma(1 + alpha) : 0;
        return;
    }
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

// -- Numbering rows ---------------------------------------------------------------------------

// The levels that occur in a column, numbered from zero; one or four bytes each.
struct Column {
    const void *codes;
    uint32_t levels;
    int bytes;
};

SGES_INLINE uint32_t level_of(const Column *column, uint32_t row)
{
    return column->bytes == 1 ? ((const uint8_t *)column->codes)[row]
                              : ((const uint32_t *)column->codes)[row];
}

// A hash table of keys, and the number that each has got.  It has at least twice as many places
// as there will be keys, and a power of two.
struct Index {
    uint64_t *keys;
    uint32_t *numbers; // from one on; zero is a free place
};

// Number the distinct keys in the order in which they come; return how many there are.
inline uint32_t number_keys(const uint64_t *keys, uint32_t count, Index *index,
                                   uint32_t *numbers)
{
    uint32_t found = 0;
    uint64_t places = 2;
    while (places < 2 * (uint64_t)count)
        places *= 2;
    memset(index->numbers, 0, places * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = keys[i], at = (key ^ key >> 32) * 0x9E3779B97F4A7C15u >> 32;
        for (at &= places - 1; index->numbers[at] && index->keys[at] != key;)
            at = (at + 1) & (places - 1);
        if (!index->numbers[at]) {
            index->keys[at] = key;
            index->numbers[at] = ++found;
        }
        numbers[i] = index->numbers[at] - 1;
    }
    return found;
}

// Append the level of a column to the numbers of all rows.
SGES_FOR_EACH_MACHINE static void add_digit(uint32_t *SGES_RESTRICT numbers, uint32_t rows, const Column *column)
{
    const uint8_t *SGES_RESTRICT narrow = (const uint8_t *)column->codes;
    const uint32_t *SGES_RESTRICT wide = (const uint32_t *)column->codes;
    uint32_t levels = column->levels;
    if (column->bytes == 1)
        for (uint32_t i = 0; i < rows; i++)
            numbers[i] = numbers[i] * levels + narrow[i];
    else
        for (uint32_t i = 0; i < rows; i++)
            numbers[i] = numbers[i] * levels + wide[i];
}

// The first rows of a table, or some others, and memory for numbering them.
struct Numbering {
    const Column *columns;
    const uint32_t *rows; // nullptr: the first `count`
    uint32_t count;
    uint32_t most; // up to this size, numbers may have gaps
    Index index;
    uint64_t *keys;
};

// Number the rows so that two have the same number if and only if they agree in some columns.
// Return an upper bound of the numbers.
//
// A number is written in mixed radix, one digit per column.  Where that would take numbers of
// `most` and more, the rows get consecutive numbers, by a hash table of keys in mixed radix.
inline uint32_t number_rows(Numbering *work, const int *family, int size,
                                   uint32_t *numbers)
{
    uint32_t count = work->count, bound = 1;
    memset(numbers, 0, count * sizeof(uint32_t));
    for (int k = 0; k < size;) {
        const Column *column = &work->columns[family[k]];
        if (!work->rows && (uint64_t)bound * column->levels <= work->most) {
            if (column->levels > 1)
                add_digit(numbers, count, column);
            bound *= column->levels;
            k++;
            continue;
        }
        uint64_t product = bound;
        for (uint32_t i = 0; i < count; i++)
            work->keys[i] = numbers[i];
        for (; k < size && product <= ((uint64_t)1 << 32); k++) {
            column = &work->columns[family[k]];
            for (uint32_t i = 0; i < count; i++)
                work->keys[i] = work->keys[i] * column->levels
                                + level_of(column, work->rows ? work->rows[i] : i);
            product *= column->levels;
        }
        bound = number_keys(work->keys, count, &work->index, numbers);
        if (bound == count) // no two rows agree
            break;
    }
    return bound;
}

// -- Counting and sorting by number -----------------------------------------------------------

// Count the rows of each number, in each of four parts of the rows or in one part.
inline uint32_t count_numbers(const uint32_t *numbers, uint32_t rows, uint32_t size,
                                     uint32_t *counts)
{
    uint32_t i = 0, part = rows / STRIPES;
    if (size > STRIPED_SIZE) {
        memset(counts, 0, size * sizeof(uint32_t));
        for (; i < rows; i++)
            counts[numbers[i]]++;
        return 1;
    }
    uint32_t *b = counts + size, *c = b + size, *d = c + size;
    memset(counts, 0, STRIPES * (size_t)size * sizeof(uint32_t));
    for (; i < part; i++) {
        counts[numbers[i]]++;
        b[numbers[i + part]]++;
        c[numbers[i + 2 * part]]++;
        d[numbers[i + 3 * part]]++;
    }
    for (i = STRIPES * part; i < rows; i++)
        d[numbers[i]]++;
    return STRIPES;
}

// Count the records of each number.
inline void weigh_numbers(const uint32_t *numbers, uint32_t rows, uint32_t size,
                                 const int64_t *weights, uint32_t *counts, int64_t *records)
{
    memset(records, 0, size * sizeof(int64_t));
    if (weights) {
        for (uint32_t i = 0; i < rows; i++)
            records[numbers[i]] += weights[i];
        return;
    }
    uint32_t parts = count_numbers(numbers, rows, size, counts);
    for (uint32_t number = 0; number < size; number++)
        for (uint32_t k = 0; k < parts; k++)
            records[number] += counts[number + k * size];
}

// Sort the rows by number, those of one number in increasing order.  Write where the rows of each
// number that occurs begin, and which of these is the first of each group of numbers that differ
// in the last digit only.  Return how many such groups occur.
inline uint32_t sort_rows(const uint32_t *numbers, uint32_t rows, uint32_t size,
                                 uint32_t digit, uint32_t *counts, uint32_t *sorted,
                                 uint32_t *start, uint32_t *first)
{
    uint32_t at = 0, cells = 0, groups = 0, parts = count_numbers(numbers, rows, size, counts);
    for (uint32_t low = 0; low < size; low += digit) {
        uint32_t before = cells;
        for (uint32_t number = low; number < low + digit; number++) {
            uint32_t begin = at;
            for (uint32_t k = 0; k < parts; k++) {
                uint32_t count = counts[number + k * size];
                counts[number + k * size] = at;
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
            sorted[counts[numbers[i]]++] = i;
            sorted[b[numbers[i + part]]++] = i + part;
            sorted[c[numbers[i + 2 * part]]++] = i + 2 * part;
            sorted[d[numbers[i + 3 * part]]++] = i + 3 * part;
        }
        counts = d;
        i = STRIPES * part;
    }
    for (; i < rows; i++)
        sorted[counts[numbers[i]]++] = i;
    return groups;
}

// Sort rows that are sorted by level of a column by number, and within a number by that level:
// for numbers and levels that do not fit into one number.  Write and return as sort_rows does.
inline uint32_t sort_again(const uint32_t *by_level, const Column *column,
                                  const uint32_t *numbers, uint32_t rows, uint32_t size,
                                  uint32_t *counts, uint32_t *sorted, uint32_t *start,
                                  uint32_t *first)
{
    uint32_t at = 0, cells = 0, groups = 0;
    memset(counts, 0, size * sizeof(uint32_t));
    for (uint32_t i = 0; i < rows; i++)
        counts[numbers[i]]++;
    for (uint32_t number = 0; number < size; number++) {
        uint32_t count = counts[number];
        counts[number] = at;
        at += count;
    }
    for (uint32_t i = 0; i < rows; i++)
        sorted[counts[numbers[by_level[i]]]++] = by_level[i];
    for (uint32_t i = 0; i < rows; i++) {
        int is_new = i == 0 || numbers[sorted[i]] != numbers[sorted[i - 1]];
        if (is_new)
            first[groups++] = cells;
        if (is_new || level_of(column, sorted[i]) != level_of(column, sorted[i - 1]))
            start[cells++] = i;
    }
    start[cells] = rows;
    first[groups] = cells;
    return groups;
}

// Rows sorted by configuration and level of y.
struct Cells {
    uint32_t *rows;
    uint32_t *start;        // where each cell begins in `rows`, and the end of the last
    uint32_t *first;        // the first cell of each configuration, and the number of cells
    int64_t *held;          // the records of each cell
    int64_t *total;         // the records of each configuration
    const int64_t *weights; // the records of each row; nullptr means one each
    uint32_t *chosen;       // the configurations to which a candidate makes a difference
    uint32_t configurations, choices;
};

// -- sum_block --------------------------------------------------------------------------------

// Some columns side by side, those of most levels first.  Four lanes next to each other share
// their terms, those number kinds[i], and have at most depth[i] levels.
struct Block {
    const uint8_t *codes; // LANES per row
    const int *kinds, *depth;
    int fours, levels;
};

// What a `Sum` holds, for each column of a block.
struct Sums {
    double total[LANES];
    uint32_t cells[LANES], configurations[LANES];
};

// Counts of at most 255 records, one per column.  An array of them has one per level.
//
// Where `in_vectors` is true, all columns of a row are counted by a few instructions, and small
// configurations have code of their own.  Otherwise all use the code for large ones.
#if SGES_BYTES
using Bytes = uint8_t __attribute__((vector_size(LANES)));

constexpr double NOUGHTS[LANES] = {};

SGES_INLINE void load_codes(const Block *block, uint32_t row, Bytes *codes)
{
    memcpy(codes, block->codes + (size_t)row * LANES, LANES);
}

// Count up to four levels, the first of them `level`, in rows of at most 255 records.
SGES_INLINE void count_levels(const Block *block, const uint32_t *rows, uint32_t n,
                         const int64_t *weights, const int some, int level, Bytes *counts)
{
    Bytes a = {0}, b = a, c = a, d = a, codes;
    const uint8_t p = (uint8_t)level, q = p + 1, r = p + 2, s = p + 3;
    SGES_UNROLLED
    for (uint32_t i = 0; i < n; i++) {
        load_codes(block, rows[i], &codes);
        if (weights) {
            uint8_t weight = (uint8_t)weights[rows[i]];
            a += (Bytes)(codes == p) & weight;
            if (some > 1) b += (Bytes)(codes == q) & weight;
            if (some > 2) c += (Bytes)(codes == r) & weight;
            if (some > 3) d += (Bytes)(codes == s) & weight;
        } else { // "true" is -1
            a -= (Bytes)(codes == p);
            if (some > 1) b -= (Bytes)(codes == q);
            if (some > 2) c -= (Bytes)(codes == r);
            if (some > 3) d -= (Bytes)(codes == s);
        }
    }
    counts[level] = a;
    if (some > 1) counts[level + 1] = b;
    if (some > 2) counts[level + 2] = c;
    if (some > 3) counts[level + 3] = d;
}

// Count all levels except the first in rows of at most 255 records.
SGES_INLINE void count_rows_in_vectors(const Block *block, const uint32_t *rows, uint32_t n,
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

// Count a cell of several rows; the first level holds the records that no other does.
SGES_INLINE void count_small(const Block *block, const Cells *cells, uint32_t cell, Bytes *counts)
{
    uint32_t low = cells->start[cell], n = cells->start[cell + 1] - low;
    if (cells->weights) // a loop of its own, so that the other needs no weights
        count_rows_in_vectors(block, cells->rows + low, n, cells->weights, counts);
    else
        count_rows_in_vectors(block, cells->rows + low, n, nullptr, counts);
    counts[0] = Bytes{} + (uint8_t)cells->held[cell];
    for (int level = 1; level < block->levels; level++)
        counts[0] -= counts[level];
}

// Write `from` plus, or minus, the sum of terms of each column.
SGES_INLINE void add_small_terms(const Block *block, const Bytes *counts, const Terms *terms,
                            const int of_cells, const double *from, double *to)
{
    for (int i = 0; i < block->fours; i++) {
        const Terms *both = &terms[block->kinds[i]];
        const double *values = of_cells ? both->cell.values : both->configuration.values;
        double a = 0, b = 0, c = 0, d = 0;
        for (int level = 0; level < block->depth[i]; level++) {
            uint32_t four;
            memcpy(&four, (const uint8_t *)&counts[level] + 4 * i, sizeof(four));
            a += values[four & 255];
            b += values[four >> 8 & 255];
            c += values[four >> 16 & 255];
            d += values[four >> 24];
        }
        to[4 * i] = from[4 * i] + (of_cells ? a : -a);
        to[4 * i + 1] = from[4 * i + 1] + (of_cells ? b : -b);
        to[4 * i + 2] = from[4 * i + 2] + (of_cells ? c : -c);
        to[4 * i + 3] = from[4 * i + 3] + (of_cells ? d : -d);
    }
}

// Add a configuration of at most 255 records.  A cell of one row needs no counting: every column
// has all of its records at one level.
SGES_INLINE void add_small(const Block *block, const Cells *cells, uint32_t j, const Terms *terms,
                      const int with_constants, Sums *sums)
{
    Bytes counts[MOST_LEVELS], margin[MOST_LEVELS], occupied = {0}, configurations = {0}, codes;
    double own[LANES];
    const double *so_far = NOUGHTS; // or own
    uint32_t single = 0;
    for (int level = 0; level < block->levels; level++)
        margin[level] = occupied;
    for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++)
        if (cells->start[cell + 1] - cells->start[cell] == 1) {
            uint8_t held = (uint8_t)cells->held[cell];
            load_codes(block, cells->rows[cells->start[cell]], &codes);
            for (int level = 0; level < block->levels; level++)
                margin[level] += (Bytes)(codes == (uint8_t)level) & held;
            single++;
            if (held > 1) { // the term of one record is zero
                for (int k = 0; k < 4 * block->fours; k++)
                    own[k] = so_far[k] + terms[block->kinds[k / 4]].cell.values[held];
                so_far = own;
            }
        } else {
            count_small(block, cells, cell, counts);
            add_small_terms(block, counts, terms, 1, so_far, own);
            so_far = own;
            for (int level = 0; level < block->levels; level++) {
                margin[level] += counts[level];
                if (with_constants)
                    occupied -= (Bytes)(counts[level] != 0);
            }
        }
    add_small_terms(block, margin, terms, 0, so_far, own);
    for (int k = 0; k < 4 * block->fours; k++)
        sums->total[k] += own[k];
    if (!with_constants)
        return;
    for (int level = 0; level < block->levels; level++)
        configurations -= (Bytes)(margin[level] != 0);
    for (int k = 0; k < LANES; k++) {
        sums->cells[k] += occupied[k] + single;
        sums->configurations[k] += configurations[k];
    }
}
#endif

// Count all levels in rows of at most 255 records.
SGES_INLINE void count_rows(const Block *block, const uint32_t *rows, uint32_t n,
                       const int64_t *weights, uint8_t (*counts)[LANES])
{
    memset(counts, 0, (size_t)block->levels * LANES);
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *codes = block->codes + (size_t)rows[i] * LANES;
        uint8_t weight = (uint8_t)(weights ? weights[rows[i]] : 1);
        for (int k = 0; k < 4 * block->fours; k++)
            counts[codes[k]][k] += weight;
    }
}

using Words = uint32_t[LANES]; // the same for counts of any size

// Return how many rows from `low` on hold at most 255 records together.
SGES_INLINE uint32_t fitting_rows(const Cells *cells, uint32_t low, uint32_t high)
{
    uint32_t end = low;
    if (!cells->weights)
        return high - low < 255 ? high - low : 255;
    for (int64_t records = 0; end < high; end++)
        if ((records += cells->weights[cells->rows[end]]) > 255)
            break;
    return end - low;
}

// Count a cell of any size; fewer than 2^32 records.
SGES_INLINE void count_large(const Block *block, const Cells *cells, uint32_t cell,
                        [[maybe_unused]] const int in_vectors, Words *counts)
{
#if SGES_BYTES
    Bytes vectors[MOST_LEVELS];
    uint8_t(*bytes)[LANES] = (uint8_t(*)[LANES])vectors;
#else
    uint8_t bytes[MOST_LEVELS][LANES];
#endif
    uint32_t low = cells->start[cell], high = cells->start[cell + 1];
    memset(counts, 0, (size_t)block->levels * sizeof(*counts));
    while (low < high) {
        uint32_t row = cells->rows[low], n = fitting_rows(cells, low, high);
        if (n == 0) { // one row of more than 255 records
            for (int k = 0; k < LANES; k++)
                counts[block->codes[(size_t)row * LANES + k]][k] += (uint32_t)cells->weights[row];
            n = 1;
        } else {
#if SGES_BYTES
            if (in_vectors)
                count_rows_in_vectors(block, cells->rows + low, n, cells->weights, vectors);
            else
#endif
                count_rows(block, cells->rows + low, n, cells->weights, bytes);
            for (int level = 1; level < block->levels; level++)
                for (int k = 0; k < LANES; k++)
                    counts[level][k] += bytes[level][k];
        }
        low += n;
    }
    for (int k = 0; k < LANES; k++) {
        counts[0][k] = (uint32_t)cells->held[cell];
        for (int level = 1; level < block->levels; level++)
            counts[0][k] -= counts[level][k];
    }
}

// Add the term of each count to the sum of its column, and one if the count is not zero.
SGES_INLINE void add_large_terms(const Block *block, Words *counts, const Terms *terms,
                            const int of_cells, int64_t largest, const int with_constants,
                            double *sums, uint32_t *occupied)
{
    for (int level = 0; with_constants && level < block->levels; level++)
        for (int k = 0; k < LANES; k++)
            occupied[k] += counts[level][k] > 0;
    for (int i = 0; i < block->fours; i++) {
        const Terms *both = &terms[block->kinds[i]];
        const Term *term = of_cells ? &both->cell : &both->configuration;
        const double *values = term->values;
        double a = 0, b = 0, c = 0, d = 0;
        if (largest >= term->known) {
            for (int k = 4 * i; k < 4 * i + 4; k++)
                for (int level = 0; level < block->depth[i]; level++)
                    sums[k] += term_of(term, counts[level][k]);
            continue;
        }
        for (int level = 0; level < block->depth[i]; level++) {
            const uint32_t *four = &counts[level][4 * i];
            a += values[four[0]];
            b += values[four[1]];
            c += values[four[2]];
            d += values[four[3]];
        }
        sums[4 * i] += a, sums[4 * i + 1] += b, sums[4 * i + 2] += c, sums[4 * i + 3] += d;
    }
}

// Add a configuration of any size.
SGES_INLINE void add_large(const Block *block, const Cells *cells, uint32_t j, const Terms *terms,
                      const int with_constants, const int in_vectors, Sums *sums)
{
    Words counts[MOST_LEVELS], margin[MOST_LEVELS];
    double own[LANES] = {0}, less[LANES] = {0};
    memset(margin, 0, (size_t)block->levels * sizeof(*margin));
    for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++) {
        count_large(block, cells, cell, in_vectors, counts);
        add_large_terms(block, counts, terms, 1, cells->total[j], with_constants, own,
                        sums->cells);
        for (int level = 0; level < block->levels; level++)
            for (int k = 0; k < LANES; k++)
                margin[level][k] += counts[level][k];
    }
    add_large_terms(block, margin, terms, 0, cells->total[j], with_constants, less,
                    sums->configurations);
    for (int k = 0; k < LANES; k++)
        sums->total[k] += own[k] - less[k];
}

SGES_INLINE void sum_chosen(const Block *block, const Cells *cells, const Terms *terms,
                       const int with_constants, const int in_vectors, Sums *sums)
{
    for (uint32_t i = 0; i < cells->choices; i++) {
        uint32_t j = cells->chosen[i];
#if SGES_BYTES
        if (in_vectors && cells->total[j] <= 255) {
            add_small(block, cells, j, terms, with_constants, sums);
            continue;
        }
#endif
        add_large(block, cells, j, terms, with_constants, in_vectors, sums);
    }
}

#if SGES_BYTES
#if SGES_GCC_X86
__attribute__((target("avx2")))
#endif
static void sum_in_vectors(const Block *block, const Cells *cells, const Terms *terms,
                           int with_constants, Sums *sums)
{
    if (with_constants)
        sum_chosen(block, cells, terms, 1, 1, sums);
    else
        sum_chosen(block, cells, terms, 0, 1, sums);
}
#endif

// Return whether this processor counts blocks in vectors.
inline int has_vectors(void)
{
#if SGES_GCC_X86
    return __builtin_cpu_supports("avx2") != 0;
#else
    return SGES_BYTES;
#endif
}

// Add up the chosen configurations, split by each column of a block.  The terms are by kind of
// column; occupied cells and configurations are counted for a score with constants.
inline void sum_block(const Block *block, const Cells *cells, const Terms *terms,
                             int with_constants, [[maybe_unused]] int in_vectors, Sums *sums)
{
    memset(sums, 0, sizeof(*sums));
#if SGES_BYTES
    if (in_vectors) {
        sum_in_vectors(block, cells, terms, with_constants, sums);
        return;
    }
#endif
    if (with_constants)
        sum_chosen(block, cells, terms, 1, 0, sums);
    else
        sum_chosen(block, cells, terms, 0, 0, sums);
}

// -- One column, or none ----------------------------------------------------------------------

// Add up all configurations as they are.
inline Sum sum_cells(const Cells *cells, const Terms *terms)
{
    Sum sum = {0, cells->first[cells->configurations], cells->configurations};
    for (uint32_t j = 0; j < cells->configurations; j++) {
        double own = 0;
        for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++)
            own += term_of(&terms->cell, cells->held[cell]);
        sum.total += own - term_of(&terms->configuration, cells->total[j]);
    }
    return sum;
}

// Add up the configurations of a single row, which no column splits.
inline Sum sum_single_rows(const Cells *cells, const Terms *terms)
{
    Sum sum = {0, 0, 0};
    for (uint32_t j = 0; j < cells->configurations; j++)
        if (cells->start[cells->first[j + 1]] - cells->start[cells->first[j]] == 1) {
            sum.total += term_of(&terms->cell, cells->total[j])
                         - term_of(&terms->configuration, cells->total[j]);
            sum.cells++;
        }
    sum.configurations = sum.cells;
    return sum;
}

// Counts by level, all zero between uses, and the levels in use.
struct Tally {
    int64_t *counts;
    uint32_t *used;
    uint32_t uses;
};

SGES_INLINE void tally_add(Tally *tally, uint32_t level, int64_t records)
{
    if (tally->counts[level] == 0)
        tally->used[tally->uses++] = level;
    tally->counts[level] += records;
}

// Empty the tally, into another one if it is given; return the sum of terms.
SGES_INLINE double tally_clear(Tally *tally, const Term *term, Tally *margin)
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

// Add up the chosen configurations, split by one column.
inline Sum sum_column(const Cells *cells, const Column *column, const Terms *terms,
                             Tally *tally, Tally *margin)
{
    Sum sum = {0, 0, 0};
    for (uint32_t i = 0; i < cells->choices; i++) {
        uint32_t j = cells->chosen[i];
        double own = 0;
        for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++) {
            for (uint32_t at = cells->start[cell]; at < cells->start[cell + 1]; at++) {
                uint32_t row = cells->rows[at];
                tally_add(tally, level_of(column, row), cells->weights ? cells->weights[row] : 1);
            }
            sum.cells += tally->uses;
            own += tally_clear(tally, &terms->cell, margin);
        }
        sum.configurations += margin->uses;
        sum.total += own - tally_clear(margin, &terms->configuration, nullptr);
    }
    return sum;
}

// -- Without one parent -----------------------------------------------------------------------

// Add up a table of records over one digit: `after` is the product of the digits behind it.
[[maybe_unused]] SGES_FOR_EACH_MACHINE static void leave_out(const int64_t *SGES_RESTRICT records, uint32_t size, uint32_t digit,
                      uint32_t after, int64_t *SGES_RESTRICT rest)
{
    for (uint32_t low = 0; low < size; low += digit * after, rest += after) {
        memcpy(rest, records + low, after * sizeof(int64_t));
        for (uint32_t k = 1; k < digit; k++)
            for (uint32_t i = 0; i < after; i++)
                rest[i] += records[low + k * after + i];
    }
}

// Return the most records of a configuration in a table whose last digit is the level of y.
inline int64_t largest_total(const int64_t *records, uint32_t size, uint32_t digit)
{
    int64_t largest = 0;
    for (uint32_t low = 0; low < size; low += digit) {
        int64_t total = 0;
        for (uint32_t number = low; number < low + digit; number++)
            total += records[number];
        largest = total > largest ? total : largest;
    }
    return largest;
}

// Add up a table of records whose last digit is the level of y.
inline Sum sum_table(const int64_t *records, uint32_t size, uint32_t digit,
                            const Terms *terms)
{
    Sum sum = {0, 0, 0};
    for (uint32_t low = 0; low < size; low += digit) {
        int64_t total = 0;
        double own = 0;
        for (uint32_t number = low; number < low + digit; number++) {
            total += records[number];
            own += term_of(&terms->cell, records[number]);
            sum.cells += records[number] > 0;
        }
        sum.total += own - term_of(&terms->configuration, total);
        sum.configurations += total > 0;
    }
    return sum;
}

// Add up merged configurations: those of group g are sorted[start[g]] and so on.  `level` holds
// the level of y in each cell.
inline Sum sum_merged(const Cells *cells, const uint32_t *level, const uint32_t *sorted,
                             const uint32_t *start, uint32_t groups, const Terms *terms,
                             Tally *tally)
{
    Sum sum = {0, 0, groups};
    for (uint32_t g = 0; g < groups; g++) {
        int64_t records = 0;
        for (uint32_t at = start[g]; at < start[g + 1]; at++) {
            uint32_t j = sorted[at];
            records += cells->total[j];
            for (uint32_t cell = cells->first[j]; cell < cells->first[j + 1]; cell++)
                tally_add(tally, level[cell], cells->held[cell]);
        }
        sum.cells += tally->uses;
        sum.total += tally_clear(tally, &terms->cell, nullptr)
                     - term_of(&terms->configuration, records);
    }
    return sum;
}

}  // namespace sges::counting
