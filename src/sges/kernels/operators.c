/* Compiled twins of functions of sges.nodeset and sges.search.lanes. */
#include "kernels.h"
#include "masks.h"
#include <math.h>
#include <stdlib.h>

/* -- nodes(s) ------------------------------------------------------------------------------ */

PyObject *nodes(PyObject *module, PyObject *mask)
{
    (void)module;
    Word small[16], *set = small;
    int words = mask_words(mask);
    if (words > 16 && (set = PyMem_Malloc((size_t)words * 8)) == NULL)
        return PyErr_NoMemory();
    mask_read(mask, set, words);
    Py_ssize_t size = 0;
    for (int w = 0; w < words; w++)
        size += __builtin_popcountll(set[w]);
    PyObject *found = PyErr_Occurred() ? NULL : PyTuple_New(size), *iterator = NULL;
    Py_ssize_t at = 0;
    if (found != NULL) {
        FOR_EACH(v, words, set[w]) PyTuple_SET_ITEM(found, at++, PyLong_FromLong(v));
        iterator = PyObject_GetIter(found);
        Py_DECREF(found);
    }
    if (set != small)
        PyMem_Free(set);
    return iterator;
}

/* -- fill_nodes(s, array) ------------------------------------------------------------------- */

PyObject *fill_nodes(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Py_buffer array;
    if (count != 2)
        return PyErr_Format(PyExc_TypeError, "fill_nodes(s, array)");
    if (!arrays(args + 1, 1, "I1", &array))
        return NULL;
    int words = mask_words(args[0]);
    Py_ssize_t *found = array.buf, at = 0, room = array.len / (Py_ssize_t)sizeof(Py_ssize_t);
    Word *set = PyMem_Malloc((size_t)(words ? words : 1) * 8);
    if (set != NULL) {
        mask_read(args[0], set, words);
        FOR_EACH(v, words, set[w]) if (at < room) found[at++] = v;
        PyMem_Free(set);
    }
    PyBuffer_Release(&array);
    if (set == NULL)
        return PyErr_NoMemory();
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(at);
}

/* -- nodeset_of(array, n) ------------------------------------------------------------------- */

PyObject *nodeset_of(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Py_buffer array;
    if (count != 2)
        return PyErr_Format(PyExc_TypeError, "nodeset_of(array, n)");
    Py_ssize_t n = PyLong_AsSsize_t(args[1]);
    if (PyErr_Occurred() || !arrays(args, 1, "i1", &array))
        return NULL;
    int words = (int)(n + 63) / 64;
    const Py_ssize_t *xs = array.buf;
    Word *set = PyMem_Calloc((size_t)(words ? words : 1), 8);
    for (Py_ssize_t i = 0; set && i < array.len / (Py_ssize_t)sizeof(Py_ssize_t); i++) {
        if (xs[i] < 0 || xs[i] >= n)
            PyErr_Format(PyExc_IndexError, "there is no node %zd", xs[i]);
        else
            add(set, (int)xs[i]);
    }
    PyBuffer_Release(&array);
    if (set == NULL)
        return PyErr_NoMemory();
    PyObject *found = PyErr_Occurred() ? NULL : mask_write(set, words);
    PyMem_Free(set);
    return found;
}

/* -- first_free(xs, top, allowed, barred, rejected) ---------------------------------------- */

PyObject *first_free(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 5 || !PyList_Check(args[0]))
        return PyErr_Format(PyExc_TypeError, "first_free(xs, top, allowed, barred, rejected)");
    Py_ssize_t top = PyLong_AsSsize_t(args[1]), size = PyList_GET_SIZE(args[0]);
    if (PyErr_Occurred())
        return NULL;
    if (top < 0)
        return PyErr_Format(PyExc_IndexError, "top = %zd: it is a place in the list", top);
    int words = 1;
    for (int k = 2; k < 5; k++)
        words = mask_words(args[k]) > words ? mask_words(args[k]) : words;
    Word small[48], *sets = small;
    if (words > 16 && (sets = PyMem_Malloc((size_t)words * 24)) == NULL)
        return PyErr_NoMemory();
    for (int k = 0; k < 3; k++)
        mask_read(args[k + 2], sets + k * words, words);
    for (int w = 0; w < words; w++)
        sets[w] &= ~(sets[words + w] | sets[2 * words + w]);
    for (; top < size && !PyErr_Occurred(); top++) {
        long x = PyLong_AsLong(PyList_GET_ITEM(args[0], top));
        if (x >= 0 && x < 64L * words && has(sets, (int)x))
            break;
    }
    if (sets != small)
        PyMem_Free(sets);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(top);
}

/* -- best_above(xs, gains, worth) ----------------------------------------------------------- */

typedef struct {
    double gain;
    Py_ssize_t x;
} Pair;

static int by_gain_then_node(const void *left, const void *right)
{
    const Pair *a = left, *b = right;
    if (a->gain != b->gain)
        return a->gain < b->gain ? 1 : -1;
    return (a->x > b->x) - (a->x < b->x);
}

/* Return two lists, of nodes and of gains. */
static PyObject *as_lists(const Pair *pairs, Py_ssize_t size)
{
    PyObject *xs = PyList_New(size), *gains = PyList_New(size);
    for (Py_ssize_t i = 0; xs && gains && i < size; i++) {
        PyObject *x = PyLong_FromSsize_t(pairs[i].x), *gain = PyFloat_FromDouble(pairs[i].gain);
        PyList_SET_ITEM(xs, i, x);
        PyList_SET_ITEM(gains, i, gain);
    }
    if (xs && gains && !PyErr_Occurred())
        return Py_BuildValue("(NN)", xs, gains);
    Py_XDECREF(xs);
    Py_XDECREF(gains);
    return NULL;
}

static PyObject *best_of(const Py_ssize_t *xs, const double *gains, Py_ssize_t size, double worth)
{
    Py_ssize_t kept = 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        if (!isfinite(gains[i]))
            Py_RETURN_NONE;
        kept += gains[i] > worth;
    }
    Pair *pairs = PyMem_Malloc((size_t)(kept ? kept : 1) * sizeof(Pair));
    if (pairs == NULL)
        return PyErr_NoMemory();
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; i < size; i++)
        if (gains[i] > worth)
            pairs[at++] = (Pair){gains[i], xs[i]};
    qsort(pairs, (size_t)kept, sizeof(Pair), by_gain_then_node);
    PyObject *found = as_lists(pairs, kept);
    PyMem_Free(pairs);
    return found;
}

PyObject *best_above(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    Py_buffer xs, gains;
    if (count != 3)
        return PyErr_Format(PyExc_TypeError, "best_above(xs, gains, worth)");
    double worth = PyFloat_AsDouble(args[2]);
    if (PyErr_Occurred() || !arrays(args, 1, "i1", &xs))
        return NULL;
    PyObject *found = NULL;
    if (arrays(args + 1, 1, "d1", &gains)) {
        if (gains.len / (Py_ssize_t)sizeof(double) == xs.len / (Py_ssize_t)sizeof(Py_ssize_t))
            found = best_of(xs.buf, gains.buf, gains.len / (Py_ssize_t)sizeof(double), worth);
        else
            PyErr_SetString(PyExc_ValueError, "as many gains as nodes are needed");
        PyBuffer_Release(&gains);
    }
    PyBuffer_Release(&xs);
    return found;
}
