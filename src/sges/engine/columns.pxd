"""Discrete columns as C reads them, alone and side by side."""

from sges.engine.counting cimport Block, Column


cdef class Columns:
    """The columns of a table, and the arrays that hold their codes."""

    cdef Column *columns
    cdef int n
    cdef object narrow, wide


cdef class Layout:
    """Which columns are counted together, and their codes side by side."""

    cdef Block *blocks
    cdef readonly int count
    cdef readonly object lanes, alone
    cdef object kept

    cdef _add(self, Py_ssize_t b, Columns columns, members, levels, kinds)
