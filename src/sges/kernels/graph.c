/* Compiled twins of functions of sges.graph and sges.search.source: each does what the Python
 * function of its name does, to the same sets, and is tested against it. */
#include "kernels.h"
#include "masks.h"

/* -- reach(out, start, avoiding) -------------------------------------------- */

PyObject *reach(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 3 || !PyTuple_Check(args[0]))
        return PyErr_Format(PyExc_TypeError, "reach(out, start, avoiding)");
    PyObject *out = args[0];
    Py_ssize_t n = PyTuple_GET_SIZE(out);
    int words = (int)(n + 63) / 64;
    Word *todo = PyMem_Calloc((size_t)words * 4, 8);
    if (todo == NULL)
        return PyErr_NoMemory();
    Word *unreached = todo + words, *row = unreached + words, *reached = row + words;
    nodes_read(args[1], todo, n);
    nodes_read(args[2], row, n);
    for (int w = 0; w < words; w++) {
        unreached[w] = ~(row[w] | todo[w]);
        reached[w] = todo[w];
    }
    for (int v; (v = take_lowest(todo, words)) >= 0;) {
        nodes_read(PyTuple_GET_ITEM(out, v), row, n);
        for (int w = 0; w < words; w++) {
            Word fresh = row[w] & unreached[w];
            unreached[w] ^= fresh;
            reached[w] |= fresh;
            todo[w] |= fresh;
        }
    }
    PyObject *found = PyErr_Occurred() ? NULL : mask_write(reached, words);
    PyMem_Free(todo);
    return found;
}

/* -- differing_views(before_out, before_into, out, into) -------------------------------------- */

PyObject *differing_views(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    int good = count == 4;
    for (int k = 0; good && k < 4; k++)
        good = PyTuple_Check(args[k]) && PyTuple_GET_SIZE(args[k]) == PyTuple_GET_SIZE(args[0]);
    if (!good)
        return PyErr_Format(PyExc_TypeError, "differing_views(before_out, before_into, out, into)");
    Py_ssize_t n = PyTuple_GET_SIZE(args[0]);
    int words = (int)(n + 63) / 64;
    Word *row = PyMem_Calloc((size_t)words * 5, 8);
    if (row == NULL)
        return PyErr_NoMemory();
    Word *stale = row + 4 * words;
    for (Py_ssize_t v = 0; v < n; v++) {
        int differs = 0;
        for (int k = 0; k < 2; k++) /* rows that did not change are the same objects */
            differs |= PyTuple_GET_ITEM(args[k], v) != PyTuple_GET_ITEM(args[k + 2], v);
        if (!differs)
            continue;
        for (int k = 0; k < 4; k++)
            nodes_read(PyTuple_GET_ITEM(args[k], v), row + k * words, n);
        if (same(row, row + 2 * words, 2 * words))
            continue;
        add(stale, (int)v);
        Word joined = 0;
        for (int w = 0; w < words; w++)
            joined |= (row[w] | row[words + w]) ^ (row[2 * words + w] | row[3 * words + w]);
        for (int w = 0; joined && w < words; w++)
            stale[w] |= row[2 * words + w] & row[3 * words + w];
    }
    PyObject *found = PyErr_Occurred() ? NULL : mask_write(stale, words);
    PyMem_Free(row);
    return found;
}
