/* What the module offers, by file. */
#ifndef SGES_KERNELS_H
#define SGES_KERNELS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef PyObject *Kernel(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* graph.c */
Kernel reach, differing_views;
/* completion.c */
Kernel completed_rows;
/* operators.c */
Kernel fill_nodes, nodeset_of, first_free, best_above;
PyObject *nodes(PyObject *module, PyObject *mask);
/* views.c */
Kernel insert_sets;
/* gaussian.c */
Kernel last_pivot, fill_residuals, fill_partial_squares, fill_insert_gains, fill_delete_gains;
/* counting.c */
Kernel add_lanes, count_column, split_rows, sum_lanes, sum_out;
/* families.c */
Kernel in_a_fan;

/* Take hold of contiguous arrays, a letter and the number of axes for each: d doubles, i indices,
 * b bytes, s shorts, c codes (of 1, 2 or 4 bytes), n counts (shorts or indices); a capital if it is
 * written to.  Return 0 with a Python error. */
int arrays(PyObject *const *args, Py_ssize_t count, const char *letters, Py_buffer *got);
/* Let go of them, and return None, or NULL if there is a Python error. */
PyObject *give_back(Py_buffer *got, int count);

#endif
