/* The module sges.kernels._compiled: a table of what the other files hold. */
#include "kernels.h"
#include <string.h>

int numbers(PyObject *array, Py_buffer *found, enum Numbers kind, int writable)
{
    int flags = PyBUF_ND | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array, found, flags) < 0)
        return 0;
    const char *format = found->format ? found->format : "B";
    const char *good = kind == REALS ? "d" : "lqin"; /* what is native has no prefix */
    Py_ssize_t size = kind == REALS ? sizeof(double) : sizeof(Py_ssize_t);
    if (found->itemsize == size && found->ndim > 0 && format[1] == 0 && strchr(good, format[0]))
        return 1;
    PyErr_Format(PyExc_TypeError, "an array of %s is needed, not of '%s'",
                 kind == REALS ? "doubles" : "indices", format);
    PyBuffer_Release(found);
    return 0;
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
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "sges.kernels._compiled", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__compiled(void) { return PyModule_Create(&definition); }
