/* Compiled twins of functions of sges.score.counts, lanes and summing_out: counting cells with
 * columns, and the sum of what the counts contribute to a score. */
#include "kernels.h"
#include <stdint.h>
#include <string.h>

static int are_below(const Py_ssize_t *ids, Py_ssize_t count, Py_ssize_t size)
{
    size_t most = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        most = (size_t)ids[i] > most ? (size_t)ids[i] : most;
    if (count == 0 || most < (size_t)size)
        return 1;
    PyErr_SetString(PyExc_IndexError, "a row is in a cell that there is not");
    return 0;
}

/* -- add_lanes(sums, ids, lanes) ------------------------------------------------------------ */

static void add_rows(uint16_t *sums, const Py_ssize_t *ids, const uint8_t *lanes, Py_ssize_t rows,
                     Py_ssize_t width)
{
    for (Py_ssize_t row = 0; row < rows; row++) {
        uint16_t *restrict to = sums + ids[row] * width;
        const uint8_t *restrict from = lanes + row * width;
        for (Py_ssize_t k = 0; k < width; k++)
            to[k] = (uint16_t)(to[k] + from[k]);
    }
}

PyObject *add_lanes(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Py_buffer got[3];
    if (!arrays(args, count, "S2i1b2", got))
        return NULL;
    Py_buffer *sums = &got[0], *ids = &got[1], *lanes = &got[2];
    int fit = sums->shape[1] == lanes->shape[1] && ids->shape[0] == lanes->shape[0];
    if (!fit)
        PyErr_SetString(PyExc_ValueError, "as many ids as rows and sums as lanes are needed");
    else if (are_below(ids->buf, ids->shape[0], sums->shape[0]))
        add_rows(sums->buf, ids->buf, lanes->buf, ids->shape[0], sums->shape[1]);
    return give_back(got, 3);
}

/* -- count_column(table, ids, column) and split_rows(counts, ids, column, finer) ------------- */

/* The codes of a column, in as few bytes as they need. */
static inline Py_ssize_t level_of(const void *codes, Py_ssize_t row, int bytes)
{
    return bytes == 1   ? ((const uint8_t *)codes)[row]
           : bytes == 2 ? ((const uint16_t *)codes)[row]
                        : (Py_ssize_t)((const uint32_t *)codes)[row];
}

/* Count; also write the place of each row in the table, if there is where to. */
static inline int count_rows(Py_buffer *table, Py_buffer *ids, Py_buffer *column, Py_ssize_t *finer,
                             int bytes)
{
    Py_ssize_t *counts = table->buf, rows = ids->shape[0], arity = table->shape[1];
    const Py_ssize_t *cells = ids->buf;
    for (Py_ssize_t row = 0; row < rows; row++) {
        Py_ssize_t level = level_of(column->buf, row, bytes);
        if (level >= arity)
            return 0;
        Py_ssize_t place = cells[row] * arity + level;
        counts[place]++;
        if (finer)
            finer[row] = place;
    }
    return 1;
}

static void count(Py_buffer *table, Py_buffer *ids, Py_buffer *column, Py_ssize_t *finer)
{
    if (column->shape[0] != ids->shape[0])
        PyErr_SetString(PyExc_ValueError, "as many ids as codes and a table are needed");
    else if (are_below(ids->buf, ids->shape[0], table->shape[0])) {
        int good = column->itemsize == 1   ? count_rows(table, ids, column, finer, 1)
                   : column->itemsize == 2 ? count_rows(table, ids, column, finer, 2)
                                           : count_rows(table, ids, column, finer, 4);
        if (!good)
            PyErr_SetString(PyExc_IndexError, "a row has a level that there is not");
    }
}

PyObject *count_column(PyObject *module, PyObject *const *args, Py_ssize_t number)
{
    (void)module;
    Py_buffer got[3];
    if (!arrays(args, number, "I2i1c1", got))
        return NULL;
    count(&got[0], &got[1], &got[2], NULL);
    return give_back(got, 3);
}

PyObject *split_rows(PyObject *module, PyObject *const *args, Py_ssize_t number)
{
    (void)module;
    Py_buffer got[4];
    if (!arrays(args, number, "I2i1c1I1", got))
        return NULL;
    if (got[3].shape[0] != got[1].shape[0])
        PyErr_SetString(PyExc_ValueError, "as many results as ids are needed");
    else
        count(&got[0], &got[1], &got[2], got[3].buf);
    return give_back(got, 4);
}

/* -- sum_lanes(sums, counts, starts, places, cell, configuration, found) -------------------- */

typedef struct {
    const void *sums;
    Py_ssize_t width, cells, runs;
    const Py_ssize_t *counts, *starts;
    const double *cell, *configuration;
    size_t known; /* counts below this have terms */
    Py_ssize_t *margin;
} Table;

typedef struct {
    double cell, configuration, total;
    Py_ssize_t cells, configurations;
    int bad;
} Sum;

typedef struct {
    Py_ssize_t first, stride, arity;
} Place;

static inline void add_cell(const Table *table, Sum *sum, Py_ssize_t level, size_t n)
{
    if (n >= table->known) {
        sum->bad = 1;
        return;
    }
    table->margin[level] += (Py_ssize_t)n;
    sum->cell += table->cell[n];
    sum->cells += n > 0;
}

static inline void add_configuration(const Table *table, Sum *sum, size_t n)
{
    if (n >= table->known)
        sum->bad = 1;
    else
        sum->configuration += table->configuration[n];
    sum->configurations += n > 0;
}

/* Give the sum of one candidate; return 0 with a Python error. */
static int give(Py_buffer *found, Py_ssize_t c, Sum sum)
{
    double *out = found->buf;
    if (sum.bad) {
        PyErr_SetString(PyExc_IndexError, "a count has no term");
        return 0;
    }
    out[c] = sum.total;
    if (found->shape[0] == 3) {
        out[found->shape[1] + c] = (double)sum.cells;
        out[2 * found->shape[1] + c] = (double)sum.configurations;
    }
    return 1;
}

static int fit_places(const Py_buffer *places, Py_ssize_t rows, const Py_buffer *found)
{
    return places->shape[0] == rows && (found->shape[0] == 1 || found->shape[0] == 3)
           && found->shape[1] == places->shape[1];
}

static inline size_t lane(const Table *table, Py_ssize_t at, int shorts)
{
    return shorts ? ((const uint16_t *)table->sums)[at] : ((const size_t *)table->sums)[at];
}

/* Add what one configuration comes to.  Its large terms have cancelled by then: added to the whole
 * one by one, thousands of equal terms would round the same way each. */
static inline void add_sum(Sum *sum, const Sum *own)
{
    sum->total += own->cell - own->configuration;
    sum->cells += own->cells;
    sum->configurations += own->configurations;
    sum->bad |= own->bad;
}

/* Add the cells of one configuration; the first level has what the others leave. */
static inline void add_run(const Table *table, Sum *sum, Place x, Py_ssize_t run, int shorts)
{
    Sum own = {0};
    Py_ssize_t end = run + 1 < table->runs ? table->starts[run + 1] : table->cells;
    for (Py_ssize_t level = 0; level < x.arity; level++)
        table->margin[level] = 0;
    for (Py_ssize_t cell = table->starts[run]; cell < end; cell++) {
        size_t left = (size_t)table->counts[cell];
        Py_ssize_t base = cell * table->width + x.first;
        for (Py_ssize_t level = 1; level < x.arity; level++)
            left -= lane(table, base + (level - 1) * x.stride, shorts);
        add_cell(table, &own, 0, left);
        for (Py_ssize_t level = 1; level < x.arity; level++)
            add_cell(table, &own, level, lane(table, base + (level - 1) * x.stride, shorts));
    }
    for (Py_ssize_t level = 0; level < x.arity; level++)
        add_configuration(table, &own, (size_t)table->margin[level]);
    add_sum(sum, &own);
}

static inline Sum sum_one(const Table *table, Place x, int shorts)
{
    Sum sum = {0};
    for (Py_ssize_t run = 0; run < table->runs; run++)
        add_run(table, &sum, x, run, shorts);
    return sum;
}

static int runs_fit(const Table *table)
{
    Py_ssize_t before = -1;
    for (Py_ssize_t run = 0; run < table->runs; run++) {
        if (table->starts[run] <= before || table->starts[run] >= table->cells)
            return 0;
        before = table->starts[run];
    }
    return 1;
}

static void sum_all(Table *table, const Py_ssize_t *places, Py_ssize_t count, Py_buffer *found,
                    int shorts)
{
    for (Py_ssize_t c = 0; c < count; c++) {
        Place x = {places[c], places[count + c], places[2 * count + c]};
        Py_ssize_t last = x.first + (x.arity - 2) * x.stride;
        if (x.arity < 1 || x.first < 0 || x.stride < 1 || x.stride > table->width
            || x.arity - 1 > table->width || (x.arity > 1 && last >= table->width)) {
            PyErr_SetString(PyExc_IndexError, "a candidate has a lane that there is not");
            return;
        }
        table->margin = PyMem_Malloc((size_t)x.arity * sizeof(Py_ssize_t));
        if (table->margin == NULL) {
            PyErr_NoMemory();
            return;
        }
        Sum sum = shorts ? sum_one(table, x, 1) : sum_one(table, x, 0);
        PyMem_Free(table->margin);
        if (!give(found, c, sum))
            return;
    }
}

PyObject *sum_lanes(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Py_buffer got[7];
    if (!arrays(args, count, "n2i1i1i2d1d1D2", got))
        return NULL;
    Py_buffer *sums = &got[0], *places = &got[3], *found = &got[6];
    Table table = {.sums = sums->buf,
                   .cells = sums->shape[0],
                   .runs = got[2].shape[0],
                   .counts = got[1].buf,
                   .starts = got[2].buf,
                   .cell = got[4].buf,
                   .configuration = got[5].buf,
                   .known = (size_t)got[4].shape[0]};
    int fit = fit_places(places, 3, found) && got[1].shape[0] == table.cells
              && got[5].shape[0] == got[4].shape[0] && runs_fit(&table);
    if (fit) {
        table.width = sums->shape[1];
        sum_all(&table, places->buf, places->shape[1], found, sums->itemsize == 2);
    } else
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit together");
    return give_back(got, 7);
}

/* -- sum_out(keys, counts, places, extent, cell, configuration, found) ---------------------- */

/* The table of a family without one parent, whose digit of the keys is worth so much. */
static int leave_out(Py_ssize_t *joint, Py_ssize_t size, const Py_buffer *keys,
                     const Py_ssize_t *counts, Py_ssize_t worth, Py_ssize_t arity)
{
    const Py_ssize_t *key = keys->buf;
    memset(joint, 0, (size_t)size * sizeof(Py_ssize_t));
    for (Py_ssize_t i = 0; i < keys->shape[0]; i++) {
        if (key[i] < 0)
            return 0;
        Py_ssize_t rest = key[i] / (worth * arity) * worth + key[i] % worth;
        if (rest >= size)
            return 0;
        joint[rest] += counts[i];
    }
    return 1;
}

/* Sum the terms of a whole table, in which each configuration has a run of so many levels. */
static Sum sum_whole(Table *table, const Py_ssize_t *joint, Py_ssize_t size, Py_ssize_t levels)
{
    Sum sum = {0};
    for (Py_ssize_t low = 0; low < size; low += levels) {
        Sum own = {0};
        table->margin[0] = 0;
        for (Py_ssize_t cell = low; cell < low + levels; cell++)
            add_cell(table, &own, 0, (size_t)joint[cell]);
        add_configuration(table, &own, (size_t)table->margin[0]);
        add_sum(&sum, &own);
    }
    return sum;
}

static void sum_out_all(Table *table, Py_buffer *got, Py_ssize_t *joint)
{
    Py_buffer *places = &got[2], *found = &got[6];
    Py_ssize_t count = places->shape[1];
    const Py_ssize_t *place = places->buf, *extent = got[3].buf;
    for (Py_ssize_t c = 0; c < count; c++) {
        Py_ssize_t worth = place[c], arity = place[count + c];
        if (worth < 1 || arity < 1 || worth > extent[0] / arity || extent[0] % arity
            || (extent[0] / arity) % extent[1]
            || !leave_out(joint, extent[0] / arity, &got[0], got[1].buf, worth, arity)) {
            PyErr_SetString(PyExc_IndexError, "a key is not one of the table");
            return;
        }
        if (!give(found, c, sum_whole(table, joint, extent[0] / arity, extent[1])))
            return;
    }
}

PyObject *sum_out(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Py_buffer got[7];
    if (!arrays(args, count, "i1i1i2i1d1d1D2", got))
        return NULL;
    const Py_ssize_t *extent = got[3].buf;
    Py_ssize_t margin;
    Table table = {.cell = got[4].buf,
                   .configuration = got[5].buf,
                   .known = (size_t)got[4].shape[0],
                   .margin = &margin};
    int fit = got[0].shape[0] == got[1].shape[0] && fit_places(&got[2], 2, &got[6])
              && got[3].shape[0] == 2 && extent[0] > 0 && extent[1] > 0
              && got[5].shape[0] == got[4].shape[0];
    Py_ssize_t *joint = fit ? PyMem_Malloc((size_t)extent[0] * sizeof(Py_ssize_t)) : NULL;
    if (!fit)
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit together");
    else if (joint == NULL)
        PyErr_NoMemory();
    else
        sum_out_all(&table, got, joint);
    PyMem_Free(joint);
    return give_back(got, 7);
}
