/* The compiled twin of sges.search.inserts.insert_sets. */
#include "kernels.h"
#include "masks.h"

/* The neighbors of a node, and what each of them is adjacent to; a clique among them, as a set of
 * nodes and by their places; the X that are allowed so far, one set for each neighbor decided. */
typedef struct {
    int words, size;
    int *members;
    Word *adjacent, *clique, *allowed;
    PyObject *found;
} View;

/* Append the clique and the X of the last set, if there are any; return 0 with a Python error. */
static int append(View *view, const Word *allowed)
{
    if (is_empty(allowed, view->words))
        return 1;
    PyObject *s = mask_write(view->clique, view->words), *xs = mask_write(allowed, view->words);
    PyObject *pair = s && xs ? PyTuple_Pack(2, s, xs) : NULL;
    int good = pair != NULL && PyList_Append(view->found, pair) == 0;
    Py_XDECREF(s);
    Py_XDECREF(xs);
    Py_XDECREF(pair);
    return good;
}

/* Append every clique that holds what the present one does and, further, only neighbors from
 * place `from` on that are in `left`.  What it leaves out narrows the X; `allowed` are those that
 * the neighbors left out for good have left. */
static int grow(View *view, int from, Word left, Word *allowed)
{
    int words = view->words;
    Word *own = allowed + words, *narrow = own + words;
    memcpy(own, allowed, (size_t)words * 8);
    for (int i = from; i < view->size; i++)
        for (int w = 0; w < words; w++)
            own[w] &= ~view->adjacent[i * words + w];
    if (!append(view, own))
        return 0;
    memcpy(narrow, allowed, (size_t)words * 8);
    for (int i = from; i < view->size && !is_empty(narrow, words); i++) {
        const Word *row = view->adjacent + i * words;
        if (left >> i & 1) {
            Word next = left;
            for (int j = i; j < view->size; j++)
                if (!has(row, view->members[j]))
                    next &= ~((Word)1 << j);
            add(view->clique, view->members[i]);
            int good = grow(view, i + 1, next, narrow);
            drop(view->clique, view->members[i]);
            if (!good)
                return 0;
        }
        for (int w = 0; w < words; w++)
            narrow[w] &= ~row[w];
    }
    return 1;
}

/* Read the rows of the neighbors and grow the empty clique. */
static void list_sets(View *view, PyObject *out, PyObject *into, const Word *near)
{
    int words = view->words, at = 0;
    Py_ssize_t n = PyTuple_GET_SIZE(out);
    FOR_EACH(v, words, near[w])
    {
        Word *row = view->adjacent + at * words, *other = view->clique;
        nodes_read(PyTuple_GET_ITEM(out, v), row, n);
        nodes_read(PyTuple_GET_ITEM(into, v), other, n);
        for (int i = 0; i < words; i++)
            row[i] |= other[i];
        view->members[at++] = v;
    }
    memset(view->clique, 0, (size_t)words * 8);
    if (!PyErr_Occurred())
        grow(view, 0, ~(Word)0, view->allowed);
}

/* -- insert_sets(out, into, near, apart) ----------------------------------------------------- */

PyObject *insert_sets(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1])
        || PyTuple_GET_SIZE(args[0]) != PyTuple_GET_SIZE(args[1]))
        return PyErr_Format(PyExc_TypeError, "insert_sets(out, into, near, apart)");
    Py_ssize_t n = PyTuple_GET_SIZE(args[0]);
    View view = {.words = (int)(n + 63) / 64};
    size_t words = (size_t)view.words;
    int members[64];
    Word *near = PyMem_Calloc(words ? words : 1, 8);
    if (near == NULL)
        return PyErr_NoMemory();
    nodes_read(args[2], near, n);
    for (size_t w = 0; w < words; w++)
        view.size += __builtin_popcountll(near[w]);
    if (view.size > 64 && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "more than 64 neighbors have too many cliques to list");
    Word *room = PyMem_Malloc(words * 8 * (3 * (size_t)view.size + 4) + 8);
    view.found = PyErr_Occurred() || room == NULL ? NULL : PyList_New(0);
    if (view.found != NULL) {
        view.members = members;
        view.adjacent = room;
        view.clique = room + words * (size_t)view.size;
        view.allowed = view.clique + words;
        nodes_read(args[3], view.allowed, n);
        list_sets(&view, args[0], args[1], near);
        if (PyErr_Occurred())
            Py_CLEAR(view.found);
    }
    PyMem_Free(near);
    PyMem_Free(room);
    return view.found || PyErr_Occurred() ? view.found : PyErr_NoMemory();
}
