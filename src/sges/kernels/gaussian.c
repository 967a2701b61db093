/* Compiled twins of functions of sges.score.correlation and gaussian: the factor of a small
 * submatrix, and one solve against the columns of all candidates. */
#include "kernels.h"
#include "masks.h"
#include <math.h>

#define TOGETHER 64 /* candidates solved at a time: the rows of all factors stay near */

/* A submatrix of a correlation matrix: its rows (y last), and its factor, row by row. */
typedef struct {
    const double *matrix;
    Py_ssize_t n;
    int size;
    Py_ssize_t *rows;
    double *factor;
} Block;

/* Make room for a factor, and say which rows it is of: those of the set, then y. */
static int choose_rows(Block *block, const Word *set, int words, Py_ssize_t y)
{
    block->size = 1;
    for (int w = 0; w < words; w++)
        block->size += __builtin_popcountll(set[w]);
    size_t size = (size_t)block->size;
    block->factor = PyMem_Malloc(size * size * sizeof(double) + size * sizeof(Py_ssize_t));
    if (block->factor == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    block->rows = (Py_ssize_t *)(block->factor + size * size);
    int at = 0;
    FOR_EACH(v, words, set[w]) block->rows[at++] = v;
    block->rows[at] = y;
    return 1;
}

/* Cholesky's factor, lower, row by row. */
static void factor(Block *block)
{
    size_t size = (size_t)block->size;
    for (int i = 0; i < block->size; i++) {
        double *row = block->factor + (size_t)i * size;
        for (int j = 0; j <= i; j++) {
            const double *other = block->factor + (size_t)j * size;
            double left = block->matrix[block->rows[i] * block->n + block->rows[j]];
            for (int k = 0; k < j; k++)
                left -= row[k] * other[k];
            row[j] = i == j ? sqrt(left) : left / other[j];
        }
    }
}

/* Factor the block of base and y; return 0 with a Python error. */
static int factor_block(Block *block, Py_buffer *matrix, PyObject *base, Py_ssize_t y)
{
    Py_ssize_t n = matrix->ndim == 2 ? matrix->shape[0] : 0;
    int words = (int)(n + 63) / 64;
    *block = (Block){.matrix = matrix->buf, .n = n};
    if (n == 0 || matrix->shape[1] != n || y < 0 || y >= n) {
        PyErr_SetString(PyExc_ValueError, "a square matrix and one of its columns are needed");
        return 0;
    }
    Word *set = PyMem_Malloc((size_t)words * 8);
    if (set == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    nodes_read(base, set, n);
    int good = !PyErr_Occurred() && choose_rows(block, set, words, y);
    PyMem_Free(set);
    if (good)
        factor(block);
    return good;
}

/* -- last_pivot(correlation, y, base) ------------------------------------------------------- */

PyObject *last_pivot(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Py_buffer matrix;
    Block block;
    if (count != 3)
        return PyErr_Format(PyExc_TypeError, "last_pivot(correlation, y, base)");
    Py_ssize_t y = PyNumber_AsSsize_t(args[1], PyExc_IndexError);
    if (PyErr_Occurred() || !arrays(args, 1, "d2", &matrix))
        return NULL;
    PyObject *found = NULL;
    if (factor_block(&block, &matrix, args[2], y)) {
        found = PyFloat_FromDouble(block.factor[(size_t)block.size * block.size - 1]);
        PyMem_Free(block.factor);
    }
    PyBuffer_Release(&matrix);
    return found;
}

/* -- what fill_residuals and fill_partial_squares take: one or two results ------------------- */

typedef struct {
    Py_buffer got[4]; /* the correlation, the candidates, the results */
    Py_ssize_t y;
    Block block;
} Question;

/* Take hold of the arrays; return 0 with a Python error. */
static int ask(Question *question, PyObject *const *args, Py_ssize_t count, int results,
               const char *usage)
{
    if (count != 4 + results) {
        PyErr_SetString(PyExc_TypeError, usage);
        return 0;
    }
    PyObject *sources[4] = {args[0], args[3], args[4], args[count - 1]};
    question->y = PyNumber_AsSsize_t(args[1], PyExc_IndexError);
    const char *letters = results == 1 ? "d2i1D1" : "d2i1D1D1";
    if (PyErr_Occurred() || !arrays(sources, 2 + results, letters, question->got))
        return 0;
    for (int k = 2; k < 2 + results; k++)
        if (question->got[k].shape[0] != question->got[1].shape[0])
            PyErr_SetString(PyExc_ValueError, "as many results as candidates are needed");
    if (!PyErr_Occurred())
        return 1;
    give_back(question->got, 2 + results);
    return 0;
}

/* -- fill_residuals(correlation, y, base, candidates, variance, explained) ------------------ */

/* Solve for so many candidates; z holds TOGETHER numbers for each row of the factor. */
static void solve(const Block *block, const Py_ssize_t *xs, int together, double *z)
{
    for (int i = 0; i < block->size; i++) {
        const double *row = block->factor + (size_t)i * block->size;
        const double *entries = block->matrix + block->rows[i] * block->n;
        double *own = z + (size_t)i * TOGETHER;
        for (int c = 0; c < together; c++)
            own[c] = entries[xs[c]];
        for (int j = 0; j < i; j++) {
            const double *earlier = z + (size_t)j * TOGETHER;
            double weight = row[j];
            for (int c = 0; c < TOGETHER; c++)
                own[c] -= weight * earlier[c];
        }
        double scale = 1.0 / row[i];
        for (int c = 0; c < TOGETHER; c++)
            own[c] *= scale;
    }
}

static void fill(const Block *block, const Py_ssize_t *xs, Py_ssize_t count, double *variance,
                 double *explained)
{
    double *z = PyMem_Calloc((size_t)block->size * TOGETHER, sizeof(double));
    if (z == NULL) {
        PyErr_NoMemory();
        return;
    }
    for (Py_ssize_t at = 0; at < count; at += TOGETHER) {
        int together = count - at < TOGETHER ? (int)(count - at) : TOGETHER;
        solve(block, xs + at, together, z);
        for (int c = 0; c < together; c++) {
            double left = 1.0;
            for (int i = 0; i + 1 < block->size; i++)
                left -= z[(size_t)i * TOGETHER + c] * z[(size_t)i * TOGETHER + c];
            double last = z[(size_t)(block->size - 1) * TOGETHER + c];
            variance[at + c] = left;
            explained[at + c] = last * last;
        }
    }
    PyMem_Free(z);
}

/* -- fill_partial_squares(correlation, y, base, candidates, squares) ------------------------ */

/* Return the place of a column among the rows of a block before y, or -1. */
static int place_of(const Block *block, Py_ssize_t x)
{
    for (int i = 0; i + 1 < block->size; i++)
        if (block->rows[i] == x)
            return i;
    return -1;
}

/* With M the inverse of the factor, the precision is M'M: what is wanted of column p of M is its
 * last entry, squared, over its sum of squares. */
static double partial_square(const Block *block, int p, double *column)
{
    double sum = 0.0;
    for (int i = p; i < block->size; i++) {
        const double *row = block->factor + (size_t)i * block->size;
        double left = i == p ? 1.0 : 0.0;
        for (int j = p; j < i; j++)
            left -= row[j] * column[j];
        column[i] = left / row[i];
        sum += column[i] * column[i];
    }
    double last = column[block->size - 1];
    return last * last / sum;
}

static void fill_squares(const Block *block, const Py_ssize_t *xs, Py_ssize_t count, double *squares)
{
    double *column = PyMem_Malloc((size_t)block->size * sizeof(double));
    if (column == NULL) {
        PyErr_NoMemory();
        return;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int p = place_of(block, xs[i]);
        if (p < 0)
            PyErr_Format(PyExc_IndexError, "column %zd is not in the base", xs[i]);
        else
            squares[i] = partial_square(block, p, column);
    }
    PyMem_Free(column);
}

PyObject *fill_partial_squares(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Question question;
    if (!ask(&question, args, count, 1,
             "fill_partial_squares(correlation, y, base, candidates, squares)"))
        return NULL;
    Py_buffer *got = question.got;
    if (factor_block(&question.block, &got[0], args[2], question.y)) {
        fill_squares(&question.block, got[1].buf, got[1].shape[0], got[2].buf);
        PyMem_Free(question.block.factor);
    }
    return give_back(got, 3);
}

static int are_columns(const Py_ssize_t *xs, Py_ssize_t count, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (xs[i] < 0 || xs[i] >= n) {
            PyErr_Format(PyExc_IndexError, "there is no column %zd", xs[i]);
            return 0;
        }
    return 1;
}

PyObject *fill_residuals(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Question question;
    if (!ask(&question, args, count, 2,
             "fill_residuals(correlation, y, base, candidates, variance, explained)"))
        return NULL;
    Py_buffer *got = question.got;
    if (are_columns(got[1].buf, got[1].shape[0], got[0].shape[0])
        && factor_block(&question.block, &got[0], args[2], question.y)) {
        fill(&question.block, got[1].buf, got[1].shape[0], got[2].buf, got[3].buf);
        PyMem_Free(question.block.factor);
    }
    return give_back(got, 4);
}

/* -- fill_insert_gains, fill_delete_gains(correlation, y, base, candidates, half, each, gains) - */

static void fill_inserts(const Block *block, const Py_ssize_t *xs, Py_ssize_t count, double half,
                         double each, double *gains)
{
    double *variance = PyMem_Malloc((size_t)(count ? count : 1) * sizeof(double));
    if (variance == NULL) {
        PyErr_NoMemory();
        return;
    }
    fill(block, xs, count, variance, gains);
    for (Py_ssize_t i = 0; i < count; i++)
        gains[i] = log1p(gains[i] / -variance[i]) * -half - each;
    PyMem_Free(variance);
}

static void fill_deletes(const Block *block, const Py_ssize_t *xs, Py_ssize_t count, double half,
                         double each, double *gains)
{
    fill_squares(block, xs, count, gains);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++)
        gains[i] = log1p(-gains[i]) * half + each;
}

static PyObject *fill_gains(PyObject *const *args, Py_ssize_t count, int inserting)
{
    if (count != 7)
        return PyErr_Format(PyExc_TypeError, "(correlation, y, base, candidates, half, each, gains)");
    Py_buffer got[3];
    PyObject *sources[3] = {args[0], args[3], args[6]};
    Py_ssize_t y = PyNumber_AsSsize_t(args[1], PyExc_IndexError);
    double half = PyFloat_AsDouble(args[4]), each = PyFloat_AsDouble(args[5]);
    if (PyErr_Occurred() || !arrays(sources, 3, "d2i1D1", got))
        return NULL;
    Py_ssize_t size = got[1].shape[0];
    Block block;
    if (got[2].shape[0] != size)
        PyErr_SetString(PyExc_ValueError, "as many results as candidates are needed");
    else if (are_columns(got[1].buf, size, got[0].shape[0])
             && factor_block(&block, &got[0], args[2], y)) {
        (inserting ? fill_inserts : fill_deletes)(&block, got[1].buf, size, half, each, got[2].buf);
        PyMem_Free(block.factor);
    }
    return give_back(got, 3);
}

PyObject *fill_insert_gains(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    return fill_gains(args, count, 1);
}

PyObject *fill_delete_gains(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    return fill_gains(args, count, 0);
}
