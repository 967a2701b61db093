# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Discrete columns, checked once and laid out for counting.

    checked_codes ...   refuse arrays that do not fit together
    number_levels       number the levels that occur, from zero
    rows_to_merge       find equal rows, where it pays to store them once
    Layout              put the columns of few levels side by side, 32 to a block
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

import numpy as np

from sges.engine.counting cimport LANES, MOST_LEVELS, Block, Column, level_of
from sges.errors import ScoreError

cdef enum:
    EFFORT_ALONE = 8  # a column counted alone costs as much as so many levels of a block

cdef uint64_t MIX = 0x9E3779B97F4A7C15


ctypedef fused Code:
    uint8_t
    uint16_t
    uint32_t


def checked_codes(codes, str name):
    """Return the codes as a contiguous array of 8, 16 or 32 bits without a sign."""
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.dtype.kind not in "uib":
        raise ScoreError(
            f"{name}: codes of type {codes.dtype} with {codes.ndim} dimensions cannot be counted; "
            "they must be whole numbers, one row per variable"
        )
    if codes.dtype not in (np.uint8, np.uint16, np.uint32):
        if codes.size and (codes.min() < 0 or codes.max() >= 2**32):
            raise ScoreError(
                f"{name}: codes lie between {codes.min()} and {codes.max()}; "
                "they must lie between 0 and the number of levels, and below 2**32"
            )
        codes = codes.astype(np.uint8 if codes.dtype == bool else np.uint32)
    if codes.shape[1] >= 2**32 - 1:
        raise ScoreError(f"{name}: {codes.shape[1]} rows are too many; at most 2**32 - 2 fit")
    return np.ascontiguousarray(codes)


def checked_arities(arities, int n, str name):
    """Return the declared numbers of levels as 64-bit integers."""
    arities = np.asarray(arities)
    if arities.shape != (n,) or (n and arities.dtype.kind not in "ui"):
        raise ScoreError(
            f"{name}: arities of type {arities.dtype} and shape {arities.shape} do not fit "
            f"{n} variables; one whole number per variable is needed"
        )
    arities = np.ascontiguousarray(arities, dtype=np.int64)
    if n and arities.min() < 1:
        v = int(arities.argmin())
        raise ScoreError(f"{name}: arities[{v}] = {arities[v]}; a variable has at least one level")
    return arities


def checked_weights(weights, rows, str name):
    """Return the weights as 64-bit integers, or None."""
    if weights is None:
        return None
    weights = np.asarray(weights)
    if weights.shape != (rows,) or weights.dtype.kind not in "ui":
        raise ScoreError(
            f"{name}: weights of type {weights.dtype} and shape {weights.shape} do not fit "
            f"{rows} rows; one whole number per row is needed"
        )
    if rows and (weights.min() < 0 or float(weights.sum(dtype=np.float64)) > 2.0**62):
        raise ScoreError(
            f"{name}: weights between {weights.min()} and {weights.max()} cannot be used; they "
            "must be at least 0 and add up to at most 2**62"
        )
    return np.ascontiguousarray(weights, dtype=np.int64)


def number_levels(const Code[:, ::1] codes, const int64_t[::1] arities, str name):
    """Return the columns with the levels that occur numbered from zero, and how many occur.

    A column of up to 256 levels is a row of the first array; None or its codes in 32 bits are in
    the list.
    """
    cdef Py_ssize_t n = codes.shape[0], rows = codes.shape[1], v, i
    cdef uint32_t largest, level
    narrow_array, levels_array = np.empty((n, rows), np.uint8), np.empty(n, np.uint32)
    cdef uint8_t[:, ::1] narrow = narrow_array
    cdef uint32_t[::1] levels = levels_array, number, column
    wide = []
    for v in range(n):
        largest = 0
        for i in range(rows):
            largest = max(largest, <uint32_t>codes[v, i])
        if largest >= arities[v]:
            raise ScoreError(
                f"{name}: codes[{v}] holds {largest} and arities[{v}] is {arities[v]}; "
                "a code must be less than the number of levels"
            )
        if largest > 4 * rows + 256:
            occurring, ranks = np.unique(np.asarray(codes[v]), return_inverse=True)
            column, level = ranks.astype(np.uint32), len(occurring)
        else:
            number = np.zeros(largest + 1, np.uint32)
            for i in range(rows):
                number[codes[v, i]] = 1
            level = 0
            for i in range(largest + 1):
                if number[i]:
                    number[i] = level
                    level += 1
            if level <= 256:
                for i in range(rows):
                    narrow[v, i] = <uint8_t>number[codes[v, i]]
            else:
                column = np.empty(rows, np.uint32)
                for i in range(rows):
                    column[i] = number[codes[v, i]]
        levels[v] = level
        if level > 256:
            wide.append(np.asarray(column))
        else:
            wide.append(None)
            if largest > 4 * rows + 256:
                narrow_array[v] = np.asarray(column)
    return narrow_array, wide, levels_array


cdef bint _are_equal(const Column *columns, int n, uint32_t a, uint32_t b) noexcept nogil:
    cdef int v
    for v in range(n):
        if level_of(columns[v].codes, a, columns[v].bytes) != level_of(
            columns[v].codes, b, columns[v].bytes
        ):
            return False
    return True


cdef void _hash_rows(const Column *columns, int n, uint32_t rows, uint64_t *hashes) noexcept nogil:
    cdef uint32_t row
    cdef int v
    cdef const uint8_t *bytes
    for v in range(n):
        if columns[v].bytes == 1:
            bytes = <const uint8_t *>columns[v].codes
            for row in range(rows):
                hashes[row] = hashes[row] * MIX + bytes[row]
        else:
            for row in range(rows):
                hashes[row] = hashes[row] * MIX + level_of(columns[v].codes, row, 4)


cdef uint32_t _find_equal_rows(
    const Column *columns, int n, uint32_t rows, uint64_t *hashes, uint32_t *places,
    uint64_t mask, uint32_t *group, uint32_t *example,
) noexcept nogil:
    # Number the distinct rows; `group` gets the number of each row, `example` its first row.
    cdef uint32_t row, distinct = 0
    cdef uint64_t at
    for row in range(rows):
        at = (hashes[row] ^ hashes[row] >> 32) * MIX >> 20 & mask
        while places[at] and not (
            hashes[example[places[at] - 1]] == hashes[row]
            and _are_equal(columns, n, example[places[at] - 1], row)
        ):
            at = at + 1 & mask
        if not places[at]:
            example[distinct] = row
            distinct += 1
            places[at] = distinct
        group[row] = places[at] - 1
    return distinct


def _distinct_rows(Columns columns, uint32_t rows):
    """Return the first of each set of equal rows, and the number of the set of each row."""
    size = 1 << (2 * rows + 1).bit_length()
    cdef uint64_t[::1] hashes = np.zeros(rows, np.uint64)
    cdef uint32_t[::1] places = np.zeros(size, np.uint32)
    group_array, example_array = np.empty(rows, np.uint32), np.empty(rows, np.uint32)
    cdef uint32_t[::1] group = group_array, example = example_array
    cdef uint64_t mask = size - 1
    cdef uint32_t distinct
    with nogil:
        _hash_rows(columns.columns, columns.n, rows, &hashes[0])
        distinct = _find_equal_rows(
            columns.columns, columns.n, rows, &hashes[0], &places[0], mask, &group[0], &example[0]
        )
    return example_array[:distinct], group_array


cdef class Columns:
    """The columns of a table as C reads them, and the arrays that hold them."""

    def __cinit__(self, uint8_t[:, ::1] narrow, list wide, const uint32_t[::1] levels):
        cdef int v
        cdef const uint32_t[::1] column
        self.narrow, self.wide = narrow, wide
        self.n = narrow.shape[0]
        self.columns = <Column *>malloc((self.n + 1) * sizeof(Column))
        if self.columns == NULL:
            raise MemoryError
        for v in range(self.n):
            self.columns[v].levels = levels[v]
            if wide[v] is None:
                self.columns[v].codes, self.columns[v].bytes = &narrow[v, 0], 1
            else:
                column = wide[v]
                self.columns[v].codes, self.columns[v].bytes = &column[0], 4

    def __dealloc__(self):
        free(self.columns)


def rows_to_merge(columns: Columns, rows: int, weights):
    """Return which rows to keep and their weights, or None where merging would not pay.

    A weighted row costs a little more than one that counts once.
    """
    sample = min(rows, 2048)
    for some in (sample, rows) if rows > 2 * sample else (rows,):
        example, group = _distinct_rows(columns, some)
        if len(example) > (0.98 if some < rows else 0.8) * some:
            return None
    if weights is None:
        return example, np.bincount(group, minlength=len(example)).astype(np.int64)
    merged = np.zeros(len(example), np.int64)
    np.add.at(merged, group, weights)
    return example, merged


def _widest_in_blocks(levels) -> int:
    """Return up to how many levels columns are counted together rather than alone.

    A level costs one step per row and block that has it; a column counted alone costs several.
    """
    cdef int most, level, effort, best = 1, least = 0
    counts = np.bincount(np.minimum(levels, MOST_LEVELS + 1), minlength=MOST_LEVELS + 2)
    cdef int64_t[::1] up_to = np.cumsum(counts, dtype=np.int64)  # columns of at most so many levels
    for most in range(1, MOST_LEVELS + 1):
        effort = EFFORT_ALONE * (up_to[MOST_LEVELS + 1] - up_to[most])
        for level in range(1, most):
            effort += (up_to[most] - up_to[level] + LANES - 1) // LANES
        if most == 1 or effort < least:
            best, least = most, effort
    return best


def _lane_order(levels, kinds, int widest):
    """Return the columns of at most so many levels, those of most first, -1 for an empty lane.

    Four lanes next to each other have columns of one kind.
    """
    lanes = []
    inside = np.flatnonzero(levels <= widest)
    order = inside[np.lexsort((inside, kinds[inside], -levels[inside].astype(np.int64)))]
    last = -1
    for v, kind in zip(order.tolist(), kinds[order].tolist()):
        while kind != last and len(lanes) % 4:
            lanes.append(-1)
        lanes.append(v)
        last = kind
    while len(lanes) % LANES:
        lanes.append(-1)
    return np.array([*lanes, -1], np.int32)


def _aligned_zeros(rows):
    """Return a row of bytes per row of the table, none of them across two lines of the cache."""
    memory = np.zeros((rows + 2) * LANES, np.uint8)
    skipped = -memory.ctypes.data % 64
    return memory[skipped : skipped + rows * LANES].reshape(rows, LANES)


cdef class Layout:
    """Which columns are counted together, and their codes side by side."""

    def __cinit__(self, columns: Columns, levels, kinds, bint together):
        cdef Py_ssize_t b
        widest = _widest_in_blocks(levels) if together else 0
        self.lanes = _lane_order(levels, kinds, widest)
        self.alone = np.append(np.flatnonzero(levels > widest), -1).astype(np.int32)
        self.count = len(self.lanes) // LANES
        self.kept = []
        self.blocks = <Block *>malloc((self.count + 1) * sizeof(Block))
        if self.blocks == NULL:
            raise MemoryError
        for b in range(self.count):
            self._add(b, columns, self.lanes[b * LANES : (b + 1) * LANES], levels, kinds)

    cdef _add(self, Py_ssize_t b, Columns columns, members, levels, kinds):
        cdef uint8_t[:, ::1] codes = _aligned_zeros(columns.narrow.shape[1])
        cdef const uint8_t[:, ::1] narrow = columns.narrow
        cdef const int[::1] kind, depth
        cdef Py_ssize_t k, row, v
        for k, v in enumerate(members):
            if v >= 0:
                for row in range(codes.shape[0]):
                    codes[row, k] = narrow[v, row]
        fours = np.where(members < 0, 0, levels[members]).reshape(-1, 4)
        depth = fours.max(axis=1).astype(np.int32)
        kind = kinds[members[::4]].astype(np.int32)
        self.kept.append((codes, kind, depth))
        self.blocks[b].codes, self.blocks[b].levels = &codes[0, 0], fours.max()
        self.blocks[b].fours = np.count_nonzero(depth)
        self.blocks[b].kinds, self.blocks[b].depth = &kind[0], &depth[0]

    def __dealloc__(self):
        free(self.blocks)
