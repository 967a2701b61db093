/* Compiled twin of a function of sges.score.cache: was a family asked for in some fan? */
#include "kernels.h"
#include "masks.h"

/* Tell whether the fan of a base holds a node; -1 with a Python error.  */
static int fan_holds(PyObject *fans, const Word *base, int words, int x)
{
    PyObject *key = mask_write(base, words);
    if (key == NULL)
        return -1;
    PyObject *fan = PyDict_GetItemWithError(fans, key);
    Py_DECREF(key);
    if (fan == NULL)
        return PyErr_Occurred() ? -1 : 0;
    int size = mask_words(fan);
    if (size <= x >> 6)
        return 0;
    Word *set = PyMem_Malloc((size_t)size * 8);
    if (set == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    mask_read(fan, set, size);
    int holds = PyErr_Occurred() ? -1 : has(set, x);
    PyMem_Free(set);
    return holds;
}

PyObject *in_a_fan(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyDict_Check(args[0]) || !PyLong_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "in_a_fan(fans, parents)");
    int words = mask_words(args[1]), holds = 0;
    if (words == 0 || PyDict_GET_SIZE(args[0]) == 0)
        Py_RETURN_FALSE;
    Word *set = PyMem_Malloc((size_t)words * 16);
    if (set == NULL)
        return PyErr_NoMemory();
    Word *base = set + words;
    mask_read(args[1], set, words);
    memcpy(base, set, (size_t)words * 8);
    for (int v; holds == 0 && (v = take_lowest(set, words)) >= 0;) {
        drop(base, v);
        holds = fan_holds(args[0], base, words, v);
        add(base, v);
    }
    PyMem_Free(set);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(holds);
}
