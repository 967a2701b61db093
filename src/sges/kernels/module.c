/* The module sges.kernels._compiled: a table of what the other files hold. */
#include "kernels.h"
#include <string.h>

/* The formats that a letter stands for, and the size of their items (0: any of them). */
static const struct Kind {
    char letter;
    const char *formats;
    Py_ssize_t size;
    const char *name;
} kinds[] = {
    {'d', "d", sizeof(double), "doubles"},
    {'i', "lqin", sizeof(Py_ssize_t), "indices"}, /* what is native has no prefix */
    {'b', "B", 1, "bytes"},
    {'s', "H", 2, "shorts"},
    {'c', "BHI", 0, "codes"},
    {'n', "HlqinQLIN", 0, "counts"},
};

static int fits(const Py_buffer *found, const struct Kind *kind)
{
    const char *format = found->format ? found->format : "B";
    int small = found->itemsize == 2 && format[0] == 'H';
    int size = kind->size ? found->itemsize == kind->size
                          : kind->letter == 'c' || small || found->itemsize == sizeof(Py_ssize_t);
    return size && found->ndim > 0 && format[0] && format[1] == 0
           && strchr(kind->formats, format[0]) != NULL;
}

static int take(PyObject *array, char letter, int axes, Py_buffer *found)
{
    int writable = letter < 'a';
    char wanted = (char)(writable ? letter + ('a' - 'A') : letter);
    const struct Kind *kind = kinds;
    while (kind->letter != wanted)
        kind++;
    int flags = PyBUF_ND | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array, found, flags) < 0)
        return 0;
    int right = fits(found, kind);
    if (right && found->ndim == axes)
        return 1;
    if (right)
        PyErr_Format(PyExc_ValueError, "an array of %d axes is needed, not of %d", axes,
                     found->ndim);
    else
        PyErr_Format(PyExc_TypeError, "an array of %s is needed, not of '%s'", kind->name,
                     found->format ? found->format : "B");
    PyBuffer_Release(found);
    return 0;
}

int arrays(PyObject *const *args, Py_ssize_t count, const char *letters, Py_buffer *got)
{
    Py_ssize_t wanted = (Py_ssize_t)strlen(letters) / 2, ready = 0;
    if (count != wanted) {
        PyErr_Format(PyExc_TypeError, "%zd arrays are needed, not %zd", wanted, count);
        return 0;
    }
    while (ready < count
           && take(args[ready], letters[2 * ready], letters[2 * ready + 1] - '0', &got[ready]))
        ready++;
    if (ready == count)
        return 1;
    give_back(got, (int)ready);
    return 0;
}

PyObject *give_back(Py_buffer *got, int count)
{
    while (count > 0)
        PyBuffer_Release(&got[--count]);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

#define FAST(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

static PyMethodDef methods[] = {
    {"nodes", nodes, METH_O, NULL},
    FAST(reach),
    FAST(differing_views),
    FAST(completed_rows),
    FAST(insert_sets),
    FAST(fill_insert_gains),
    FAST(fill_delete_gains),
    FAST(fill_nodes),
    FAST(nodeset_of),
    FAST(first_free),
    FAST(best_above),
    FAST(last_pivot),
    FAST(fill_residuals),
    FAST(fill_partial_squares),
    FAST(add_lanes),
    FAST(count_column),
    FAST(split_rows),
    FAST(sum_lanes),
    FAST(sum_out),
    FAST(in_a_fan),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "sges.kernels._compiled", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__compiled(void) { return PyModule_Create(&definition); }
