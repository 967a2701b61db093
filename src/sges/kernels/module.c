/* The module sges.kernels._compiled: a table of what the other files hold. */
#include "kernels.h"

int numbers(PyObject *array, Py_buffer *found, Py_ssize_t size, int writable)
{
    int flags = PyBUF_ND | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array, found, flags) < 0)
        return 0;
    if (found->itemsize == size)
        return 1;
    PyErr_Format(PyExc_TypeError, "an array of %zd-byte numbers is needed", size);
    PyBuffer_Release(found);
    return 0;
}

#define FAST(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

static PyMethodDef methods[] = {
    {"nodes", nodes, METH_O, NULL},
    FAST(reach),
    FAST(differing_views),
    FAST(completed_rows),
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
