# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Native scores of discrete data: BIC and BDeu.

Both are sums over the cells of a contingency table,

    local(y, parents) = Σ cell(n_jk) − Σ configuration(n_j) − penalty,

where n_jk counts the records with parent configuration j and level k of y, and n_j those with
configuration j.  A question is answered in three steps:

    sort       the rows by configuration and level of y
    count      one configuration at a time, 32 candidates at once (``counting.h``)
    add up     what the counts contribute, looked up in tables

Equal rows are merged into one row with a weight where that saves work, and levels that do not
occur are left out; the declared number of levels enters only as a number.  A score never changes
once it is made, so that several runs may read it at once.  What a run keeps is its own.
"""

from libc.math cimport INFINITY, fabs, isfinite, log
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset

import math

import numpy as np

from sges.engine.columns cimport Columns, Layout
from sges.engine.counting cimport (
    LANES, NOTHING, STRIPED_KEYS, STRIPES, Block, Cells, Column, Sum, Sums, Tally, Term, Terms,
    Workspace, add_digit, count_keys, extend_rising, largest_total, leave_out, level_of,
    place_rows, split_rows, sum_apart, sum_block, sum_cells, sum_column, sum_single_rows,
    sum_table, sum_without, weigh_keys,
)
from sges.engine.scores cimport NOT_FINITE, OUT_OF_MEMORY, NativeScore, Scorer

from sges.engine.columns import (
    checked_arities, checked_codes, checked_weights, number_levels, rows_to_merge,
)
from sges.errors import ScoreError


cdef enum:
    LIMIT = 1 << 16  # terms of counts below this are looked up, larger ones computed
    BYTES_OF_TERMS = 1 << 25  # that a run keeps in tables

cdef double HUGE_COUNT = 1e290  # the number of configurations is cut off here for BIC
cdef double ROUNDING = 1e-9  # relative distance that a bound keeps from what it is compared with
cdef uint64_t MIX = 0x9E3779B97F4A7C15


# -- The table ------------------------------------------------------------------------------------


cdef struct Table:
    # The data and the score of it; never changed once made.
    int n
    uint32_t rows
    int64_t records
    const int64_t *weights  # the records of each row; NULL means one each
    Column *columns
    const double *arities  # the declared numbers of levels
    const int *kinds  # columns of one kind have the same terms
    int kind_count
    const double *kind_arities
    Block *blocks
    int block_count
    const int *lanes  # the column in each lane of each block, or -1
    const int *alone  # the columns in no block
    int alone_count
    uint32_t most_levels
    bint is_bdeu
    double ess
    double price  # of a free parameter
    Term entropy  # n ln n
    const double *entropies  # of the columns, times the records


# -- What a run keeps -----------------------------------------------------------------------------


cdef struct Rising:
    # A table of ln Γ(n + alpha) − ln Γ(1 + alpha); no values mean that there is none.
    double *values
    double alpha
    double carry
    int64_t known, room


cdef struct Family:
    # A node with its parents: their number of configurations, and its logarithm.
    int y
    double q
    double log_q


cdef struct Context:
    const Table *table
    char *memory
    Rising *risings
    uint64_t rising_places, rising_count, rising_bytes
    Workspace work
    Cells cells
    int *family  # the parents and y
    uint32_t *keys  # of the rows
    uint64_t most_keys
    uint32_t *rows
    uint32_t *start
    uint32_t *other_rows
    uint32_t *other_start
    uint32_t *first
    uint32_t *chosen
    uint32_t *level
    uint32_t *places
    uint64_t place_count
    int64_t *held
    int64_t *total
    int64_t largest  # the records of the largest configuration
    int64_t *records  # of each key
    int64_t *rest  # of each key without a digit
    uint64_t *group_name
    Tally tally, margin
    Term *cell_terms
    Term *configuration_terms
    double *surplus  # what an occupied cell beyond one per configuration contributes, by kind
    double *best  # the most that a candidate can come to, by kind
    Sum *single  # what the configurations of one row come to, by kind
    double *gains
    uint8_t *wanted


cdef struct Arena:
    # One piece of memory, given out in parts; without memory, it only measures.
    char *memory
    size_t used


cdef void *_part(Arena *arena, size_t count, size_t size) noexcept nogil:
    cdef size_t at = arena.used
    arena.used += (count * size + 63) // 64 * 64
    return NULL if arena.memory == NULL else arena.memory + at


cdef void _lay_out(Context *c, Arena *arena) noexcept nogil:
    cdef size_t rows = c.table.rows, n = c.table.n, kinds = c.table.kind_count
    cdef size_t levels = c.table.most_levels
    c.family = <int *>_part(arena, n + 1, sizeof(int))
    c.risings = <Rising *>_part(arena, c.rising_places, sizeof(Rising))
    c.work.spare = <uint32_t *>_part(arena, 3 * rows, sizeof(uint32_t))
    c.work.counts = <uint32_t *>_part(
        arena, max(levels, c.most_keys, <size_t>STRIPES * STRIPED_KEYS), sizeof(uint32_t)
    )
    c.work.keys = <uint64_t *>_part(arena, rows, sizeof(uint64_t))
    c.keys = <uint32_t *>_part(arena, rows, sizeof(uint32_t))
    c.rows = <uint32_t *>_part(arena, rows, sizeof(uint32_t))
    c.start = <uint32_t *>_part(arena, rows + 1, sizeof(uint32_t))
    c.other_rows = <uint32_t *>_part(arena, rows, sizeof(uint32_t))
    c.other_start = <uint32_t *>_part(arena, rows + 1, sizeof(uint32_t))
    c.first = <uint32_t *>_part(arena, rows + 1, sizeof(uint32_t))
    c.chosen = <uint32_t *>_part(arena, rows, sizeof(uint32_t))
    c.level = <uint32_t *>_part(arena, rows, sizeof(uint32_t))
    c.places = <uint32_t *>_part(arena, c.place_count, sizeof(uint32_t))
    c.held = <int64_t *>_part(arena, rows, sizeof(int64_t))
    c.total = <int64_t *>_part(arena, rows, sizeof(int64_t))
    c.group_name = <uint64_t *>_part(arena, rows, sizeof(uint64_t))
    c.records = <int64_t *>_part(arena, c.most_keys, sizeof(int64_t))
    c.rest = <int64_t *>_part(arena, c.most_keys, sizeof(int64_t))
    c.tally.counts = <int64_t *>_part(arena, levels, sizeof(int64_t))
    c.tally.used = <uint32_t *>_part(arena, levels, sizeof(uint32_t))
    c.margin.counts = <int64_t *>_part(arena, levels, sizeof(int64_t))
    c.margin.used = <uint32_t *>_part(arena, levels, sizeof(uint32_t))
    c.cell_terms = <Term *>_part(arena, kinds + 1, sizeof(Term))
    c.configuration_terms = <Term *>_part(arena, kinds + 1, sizeof(Term))
    c.surplus = <double *>_part(arena, kinds + 1, sizeof(double))
    c.best = <double *>_part(arena, kinds + 1, sizeof(double))
    c.single = <Sum *>_part(arena, kinds + 1, sizeof(Sum))
    c.gains = <double *>_part(arena, n + 1, sizeof(double))
    c.wanted = <uint8_t *>_part(arena, n + 1, sizeof(uint8_t))


cdef uint64_t _power_of_two(uint64_t least) noexcept nogil:
    cdef uint64_t power = 1
    while power < least:
        power *= 2
    return power


cdef Context *_new_context(const Table *table) noexcept nogil:
    # Return NULL if there is no memory.
    cdef Context *c = <Context *>calloc(1, sizeof(Context))
    cdef Arena arena
    if c == NULL:
        return NULL
    c.table, c.work.rows = table, table.rows
    c.most_keys = min(max(2 * <uint64_t>table.rows, <uint64_t>256), <uint64_t>1 << 24)
    c.rising_places = _power_of_two(1024 + 8 * table.kind_count) if table.is_bdeu else 1
    c.place_count = _power_of_two(2 * <uint64_t>table.rows)
    arena.memory, arena.used = NULL, 0
    _lay_out(c, &arena)
    c.memory = arena.memory = <char *>calloc(arena.used, 1)
    if c.memory == NULL:
        free(c)
        return NULL
    arena.used = 0
    _lay_out(c, &arena)
    return c


cdef void _close(void *self) noexcept nogil:
    cdef Context *c = <Context *>self
    cdef uint64_t i
    for i in range(c.rising_places):
        free(c.risings[i].values)
    free(c.memory)
    free(c)


# -- Sorting the rows -----------------------------------------------------------------------------


cdef int _write_keys(
    Context *c, int y, const int *base, int size, uint64_t *combinations
) noexcept nogil:
    # Number the combinations of levels of the parents and y, as long as there are not too many.
    # Return of how many columns that was possible.
    cdef uint32_t levels
    cdef int i
    for i in range(size):
        c.family[i] = base[i]
    c.family[size] = y
    combinations[0] = 1
    memset(c.keys, 0, c.table.rows * sizeof(uint32_t))
    for i in range(size + 1):
        levels = c.table.columns[c.family[i]].levels
        if combinations[0] * levels > c.most_keys:
            return i
        if levels > 1:
            add_digit(c.keys, c.table.rows, c.table.columns[c.family[i]])
        combinations[0] *= levels
    return size + 1


cdef void _sort_cells(Context *c, int y, const int *base, int size) noexcept nogil:
    # Sort the rows by configuration of the base and level of y.
    cdef uint64_t keys
    cdef uint32_t digit, rows = c.table.rows, groups
    cdef int known
    known = _write_keys(c, y, base, size, &keys)
    digit = c.table.columns[y].levels if known > size else 1
    count_keys(c.keys, rows, keys, c.work.counts)
    groups = place_rows(c.keys, rows, keys, digit, c.work.counts, c.rows, c.start, c.first)
    if known <= size:
        groups = _split_further(c, known, size, groups)
    _describe_cells(c, groups)


cdef uint32_t _split_further(Context *c, int known, int size, uint32_t groups) noexcept nogil:
    # Sort by the columns of the family that have no part in the keys, y last.
    cdef uint32_t cells = 0, j
    cdef int i
    for i in range(known, size):
        if c.table.columns[c.family[i]].levels > 1 and groups < c.table.rows:
            groups = _split(c, c.family[i], groups)
    _split(c, c.family[size], groups)
    for j in range(groups):
        c.first[j] = cells
        while c.start[cells] < c.other_start[j + 1]:
            cells += 1
    c.first[groups] = cells
    return groups


cdef uint32_t _split(Context *c, int v, uint32_t groups) noexcept nogil:
    # Split the groups by a column; the old ones are kept in other memory.
    c.rows, c.other_rows = c.other_rows, c.rows
    c.start, c.other_start = c.other_start, c.start
    return split_rows(
        c.other_rows, c.other_start, groups, c.table.columns[v], c.rows, c.start, &c.work
    )


cdef void _describe_cells(Context *c, uint32_t configurations) noexcept nogil:
    # Count the records of the cells, and choose the configurations that depend on the candidate.
    cdef const int64_t *weights = c.table.weights
    cdef uint32_t j, cell, i, choices = 0
    cdef int64_t held, total
    c.largest = 0
    for j in range(configurations):
        total = 0
        for cell in range(c.first[j], c.first[j + 1]):
            held = c.start[cell + 1] - c.start[cell]
            if weights != NULL:
                held = 0
                for i in range(c.start[cell], c.start[cell + 1]):
                    held += weights[c.rows[i]]
            c.held[cell] = held
            total += held
        c.total[j] = total
        c.largest = max(c.largest, total)
        # One row gives the same with every candidate, and BIC gives nothing for one level of y.
        c.chosen[choices] = j
        if c.table.is_bdeu:
            choices += c.start[c.first[j + 1]] - c.start[c.first[j]] > 1
        else:
            choices += c.first[j + 1] - c.first[j] > 1
    c.cells.rows, c.cells.start, c.cells.first, c.cells.held = c.rows, c.start, c.first, c.held
    c.cells.total, c.cells.weights, c.cells.chosen = c.total, weights, c.chosen
    c.cells.configurations, c.cells.choices = configurations, choices


# -- Terms ----------------------------------------------------------------------------------------


cdef Family _family(Context *c, int y, const int *base, int size, int without) noexcept nogil:
    # Describe the parents of y, all but one of them.
    cdef Family family
    cdef int i
    family.y, family.q, family.log_q = y, 1, 0
    for i in range(size):
        if i != without:
            family.q *= c.table.arities[base[i]]
            family.log_q += log(c.table.arities[base[i]])
    if family.q < 1e300:
        family.log_q = log(family.q)
    return family


cdef Rising *_place_of(Rising *places, uint64_t count, double alpha) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &alpha, sizeof(bits))
    bits = (bits ^ bits >> 32) * MIX
    bits = bits >> 32 & count - 1
    while places[bits].values != NULL and places[bits].alpha != alpha:
        bits = bits + 1 & count - 1
    return &places[bits]


cdef void _forget_terms_if_many(Context *c) noexcept nogil:
    cdef uint64_t i
    if c.rising_bytes < BYTES_OF_TERMS and 2 * c.rising_count < c.rising_places:
        return
    for i in range(c.rising_places):
        free(c.risings[i].values)
    memset(c.risings, 0, c.rising_places * sizeof(Rising))
    c.rising_count = c.rising_bytes = 0


cdef int _rising(Context *c, double alpha, int64_t largest, Term *term) noexcept nogil:
    # Look up ln Γ(n + alpha) − ln Γ(1 + alpha), and extend its table to the largest count.
    cdef Rising *rising = _place_of(c.risings, c.rising_places, alpha)
    cdef int64_t needed = min(max(largest, 255) + 1, <int64_t>LIMIT), room
    cdef double *values
    if rising.room < needed:
        room = min(max(needed, 2 * rising.room), <int64_t>LIMIT)
        values = <double *>realloc(rising.values, room * sizeof(double))
        if values == NULL:
            return OUT_OF_MEMORY
        c.rising_count += rising.values == NULL
        c.rising_bytes += (room - rising.room) * sizeof(double)
        rising.values, rising.alpha, rising.room = values, alpha, room
    if rising.known < needed:
        extend_rising(rising.values, rising.known, needed, alpha, &rising.carry)
        rising.known = needed
    # Not all that is known: an answer must not depend on what was asked before.
    term.values, term.known, term.alpha = rising.values, needed, alpha
    return 0


cdef int _find_terms(Context *c, Family family, double arity, int kind) noexcept nogil:
    # Find the terms of y with one more parent of so many levels.
    cdef double parts = family.q * arity
    if not c.table.is_bdeu:
        c.cell_terms[kind] = c.configuration_terms[kind] = c.table.entropy
        return 0
    c.surplus[kind] = log(c.table.ess) - family.log_q - log(arity)
    if _rising(c, c.table.ess / parts, c.largest, &c.configuration_terms[kind]) != 0:
        return OUT_OF_MEMORY
    parts *= c.table.arities[family.y]
    return _rising(c, c.table.ess / parts, c.largest, &c.cell_terms[kind])


cdef double _value(Context *c, int y, Sum sum, int kind) noexcept nogil:
    # Add the constants, which are kept apart as they may be large and nearly cancel.
    if not c.table.is_bdeu:
        return sum.total
    return (
        sum.total
        - sum.cells * log(c.table.arities[y])
        + (sum.cells - sum.configurations) * c.surplus[kind]
    )


cdef double _cost(Context *c, Family family, double arity) noexcept nogil:
    # Return what the parameters of one more parent of so many levels cost.
    cdef double more = min(family.q * (arity - 1), HUGE_COUNT) if arity > 1 else 0
    return c.table.price * (c.table.arities[family.y] - 1) * more


# -- Inserts --------------------------------------------------------------------------------------


cdef void _choose_candidates(
    Context *c, Family family, const int *base, int size, double before, double worth,
    const int *also, int also_size,
) noexcept nogil:
    # Mark the candidates that may exceed `worth`, and those whose gains are needed anyway.
    cdef const Table *table = c.table
    cdef double slack = ROUNDING * (1 + fabs(before)), ceiling, cost
    cdef int x, kind, i
    if table.is_bdeu and worth > -INFINITY:
        # A record is never predicted better than from the earlier records of its own cell.
        for kind in range(table.kind_count):
            c.best[kind] = _value(
                c, family.y,
                sum_apart(&c.cells, &c.cell_terms[kind], &c.configuration_terms[kind]), kind,
            )
    memset(c.wanted, 1, table.n)
    if worth > -INFINITY:
        for x in range(table.n):
            # m · I(X; Y | B) is at most m · H(Y | B), and at most m · H(X).
            ceiling = (
                c.best[table.kinds[x]] - before if table.is_bdeu
                else min(-before, table.entropies[x])
            )
            cost = _cost(c, family, table.arities[x])
            c.wanted[x] = ceiling + slack >= worth + (1 - ROUNDING) * cost
    for i in range(also_size):
        c.wanted[also[i]] = 1
    for i in range(size):
        c.wanted[base[i]] = 0
    c.wanted[family.y] = 0


cdef double _candidate(Context *c, int y, int x, Sum sum) noexcept nogil:
    # Return the sum of terms of a candidate from that of the configurations that were counted.
    cdef int kind = c.table.kinds[x]
    sum.total += c.single[kind].total
    sum.cells += c.single[kind].cells
    sum.configurations += c.single[kind].configurations
    return _value(c, y, sum, kind)


cdef void _sum_blocks(Context *c, int y) noexcept nogil:
    # Write the sums of the candidates that are counted together.
    cdef const Table *table = c.table
    cdef const int *lanes = table.lanes
    cdef Sums sums
    cdef Terms terms
    cdef Sum sum
    cdef int b, k, wanted
    terms.cell, terms.configuration = c.cell_terms, c.configuration_terms
    terms.constants = table.is_bdeu
    for b in range(table.block_count):
        wanted = 0
        for k in range(LANES):
            if lanes[k] >= 0:
                wanted += c.wanted[lanes[k]]
        if wanted:
            sum_block(&table.blocks[b], &c.cells, &terms, &sums)
            for k in range(LANES):
                if lanes[k] >= 0 and c.wanted[lanes[k]]:
                    sum.total, sum.cells = sums.total[k], sums.cells[k]
                    sum.configurations = sums.configurations[k]
                    c.gains[lanes[k]] = _candidate(c, y, lanes[k], sum)
        lanes += LANES


cdef void _sum_alone(Context *c, int y) noexcept nogil:
    # Write the sums of the candidates that are counted alone.
    cdef const Table *table = c.table
    cdef int i, x
    for i in range(table.alone_count):
        x = table.alone[i]
        if c.wanted[x]:
            c.gains[x] = _candidate(c, y, x, sum_column(
                &c.cells, table.columns[x], &c.cell_terms[table.kinds[x]],
                &c.configuration_terms[table.kinds[x]], &c.tally, &c.margin,
            ))


cdef int _find_all_terms(Context *c, Family family) noexcept nogil:
    # Find the terms of y with each kind of candidate and, after them, of y as it is.
    cdef const Table *table = c.table
    cdef int kind
    _forget_terms_if_many(c)
    for kind in range(table.kind_count):
        if _find_terms(c, family, table.kind_arities[kind], kind) != 0:
            return OUT_OF_MEMORY
        if table.is_bdeu:
            c.single[kind] = sum_single_rows(
                &c.cells, &c.cell_terms[kind], &c.configuration_terms[kind]
            )
    return _find_terms(c, family, 1, table.kind_count)


cdef double _sum_before(Context *c, int y) noexcept nogil:
    cdef int kind = c.table.kind_count
    cdef Sum sum = sum_cells(&c.cells, &c.cell_terms[kind], &c.configuration_terms[kind])
    return _value(c, y, sum, kind)


cdef int _inserts(
    void *self, int y, const int *base, int size, double worth, const int *also, int also_size,
    int *xs, double *gains, double *also_gains,
) noexcept nogil:
    cdef Context *c = <Context *>self
    cdef Family family
    cdef double before
    cdef int i, x, count = 0
    _sort_cells(c, y, base, size)
    family = _family(c, y, base, size, -1)
    if _find_all_terms(c, family) != 0:
        return OUT_OF_MEMORY
    before = _sum_before(c, y)
    _choose_candidates(c, family, base, size, before, worth, also, also_size)
    _sum_blocks(c, y)
    _sum_alone(c, y)
    for x in range(c.table.n):
        if c.wanted[x]:
            c.gains[x] = c.gains[x] - before - _cost(c, family, c.table.arities[x])
            if not isfinite(c.gains[x]):
                return NOT_FINITE
            if c.gains[x] > worth:
                xs[count], gains[count] = x, c.gains[x]
                count += 1
    for i in range(also_size):
        also_gains[i] = c.gains[also[i]]
    return count


# -- Deletes --------------------------------------------------------------------------------------


cdef int _deletes(void *self, int y, const int *base, int size, double *gains) noexcept nogil:
    cdef Context *c = <Context *>self
    cdef uint64_t keys
    cdef int status, i
    _forget_terms_if_many(c)
    if _write_keys(c, y, base, size, &keys) > size:
        status = _delete_from_table(c, y, base, size, keys, gains)
    else:
        status = _delete_from_cells(c, y, base, size, gains)
    for i in range(size):
        if status == 0 and not isfinite(gains[i]):
            return NOT_FINITE
    return status


cdef int _delete_from_table(
    Context *c, int y, const int *base, int size, uint32_t keys, double *gains
) noexcept nogil:
    # Count the whole table, and leave out the digit of each parent.
    cdef uint32_t levels = c.table.columns[y].levels, digit, after = keys
    cdef Family left = _family(c, y, base, size, -1)
    cdef Sum sum
    cdef double before
    cdef int i
    weigh_keys(c.keys, c.table.rows, keys, c.table.weights, c.work.counts, c.records)
    c.largest = largest_total(c.records, keys, levels)
    if _find_terms(c, left, 1, 0) != 0:
        return OUT_OF_MEMORY
    sum = sum_table(c.records, keys, levels, &c.cell_terms[0], &c.configuration_terms[0])
    before = _value(c, y, sum, 0)
    for i in range(size):
        digit = c.table.columns[base[i]].levels
        after //= digit
        leave_out(c.records, keys, digit, after, c.rest)
        left = _family(c, y, base, size, i)
        if _find_terms(c, left, 1, 0) != 0:
            return OUT_OF_MEMORY
        sum = sum_table(c.rest, keys // digit, levels, &c.cell_terms[0], &c.configuration_terms[0])
        gains[i] = _value(c, y, sum, 0) - before + _cost(c, left, c.table.arities[base[i]])
    return 0


# Where the table would be too large, a configuration is named by the sum of one number per parent
# and level.  Without a parent, the configurations whose names agree but for its number are one.
# Where the product of the levels fits into 64 bits the numbers are the digits of a mixed radix, and
# names agree only if the configurations do; else they are arbitrary, and configurations of one name
# are compared.


cdef uint64_t _digit(uint32_t level, int position, uint64_t worth) noexcept nogil:
    cdef uint64_t mixed
    if worth:
        return level * worth
    mixed = ((<uint64_t>level << 32) + position + 1) * MIX
    mixed ^= mixed >> 31
    return mixed * MIX


cdef uint32_t _level_at(Context *c, int v, uint32_t j) noexcept nogil:
    # Return the level of a column in a configuration.
    cdef const Column *column = &c.table.columns[v]
    return level_of(column.codes, c.cells.rows[c.cells.start[c.first[j]]], column.bytes)


cdef bint _has_exact_names(Context *c, const int *base, int size) noexcept nogil:
    cdef double product = 1
    cdef int i
    for i in range(size):
        product *= c.table.columns[base[i]].levels
    return product < 4e18


cdef void _name_configurations(Context *c, const int *base, int size, bint exact) noexcept nogil:
    cdef uint64_t worth = exact
    cdef int i
    cdef uint32_t j
    memset(c.work.keys, 0, c.cells.configurations * sizeof(uint64_t))
    for i in range(size):
        for j in range(c.cells.configurations):
            c.work.keys[j] += _digit(_level_at(c, base[i], j), i, worth)
        worth *= c.table.columns[base[i]].levels


cdef bint _agree_without(
    Context *c, const int *base, int size, int without, uint32_t a, uint32_t b
) noexcept nogil:
    cdef int i
    for i in range(size):
        if i != without and _level_at(c, base[i], a) != _level_at(c, base[i], b):
            return False
    return True


cdef uint32_t _merge_configurations(
    Context *c, const int *base, int size, int without, bint exact
) noexcept nogil:
    # Link the configurations that are one without a parent; return how many are left.  The lists
    # are in spare memory: their heads, the next ones, and their ends.
    cdef uint32_t *head = c.work.spare
    cdef uint32_t *next = head + c.work.rows
    cdef uint32_t *end = next + c.work.rows
    cdef uint64_t worth = exact, mask = _power_of_two(2 * c.cells.configurations) - 1, key, at
    cdef uint32_t j, groups = 0, g
    cdef int i
    for i in range(without):
        worth *= c.table.columns[base[i]].levels
    memset(c.places, 0, (mask + 1) * sizeof(uint32_t))
    for j in range(c.cells.configurations):
        key = c.work.keys[j] - _digit(_level_at(c, base[without], j), without, worth)
        at = (key ^ key >> 32) * MIX >> 32 & mask
        while True:
            g = c.places[at]
            if g == 0 or c.group_name[g - 1] == key and (
                exact or _agree_without(c, base, size, without, head[g - 1], j)
            ):
                break
            at = at + 1 & mask
        next[j] = NOTHING
        if g:
            next[end[g - 1]] = j
            end[g - 1] = j
        else:
            head[groups] = end[groups] = j
            c.group_name[groups] = key
            groups += 1
            c.places[at] = groups
    return groups


cdef int _delete_from_cells(
    Context *c, int y, const int *base, int size, double *gains
) noexcept nogil:
    cdef const Column *column = &c.table.columns[y]
    cdef Family left = _family(c, y, base, size, -1)
    cdef Sum sum
    cdef double before
    cdef uint32_t cell, groups
    cdef int i
    cdef bint exact = _has_exact_names(c, base, size)
    _sort_cells(c, y, base, size)
    if _find_terms(c, left, 1, c.table.kind_count) != 0:
        return OUT_OF_MEMORY
    before = _sum_before(c, y)
    for cell in range(c.first[c.cells.configurations]):
        c.level[cell] = level_of(column.codes, c.rows[c.start[cell]], column.bytes)
    _name_configurations(c, base, size, exact)
    for i in range(size):
        left = _family(c, y, base, size, i)
        groups = _merge_configurations(c, base, size, i, exact)
        if _find_terms(c, left, 1, 0) != 0:
            return OUT_OF_MEMORY
        sum = sum_without(
            &c.cells, c.level, c.work.spare, c.work.spare + c.work.rows, groups,
            &c.cell_terms[0], &c.configuration_terms[0], &c.tally,
        )
        gains[i] = _value(c, y, sum, 0) - before + _cost(c, left, c.table.arities[base[i]])
    return 0


# -- The scores -----------------------------------------------------------------------------------


cdef class DiscreteScore(NativeScore):
    """A score of discrete data that the engine reads without the interpreter."""

    cdef Table table
    cdef readonly object records
    cdef object kept  # the arrays that the table points to

    cdef _read(self, codes, arities, weights, bint is_bdeu):
        """Check the data, merge equal rows, and lay the columns out for counting."""
        name = type(self).__name__
        codes = checked_codes(codes, name)
        arities = checked_arities(arities, codes.shape[0], name)
        weights = checked_weights(weights, codes.shape[1], name)
        if weights is not None and codes.shape[1] and weights.min() == 0:
            codes = np.ascontiguousarray(codes[:, weights > 0])
            weights = weights[weights > 0]
        self.records = codes.shape[1] if weights is None else int(weights.sum())
        if self.records < 1:
            raise ScoreError(f"{name}: the table has no records; at least one is needed")
        narrow, wide, levels = number_levels(codes, arities, name)
        columns = Columns(narrow, wide, levels)
        merged = rows_to_merge(columns, codes.shape[1], weights)
        if merged is not None:
            rows, weights = merged
            narrow = np.ascontiguousarray(narrow[:, rows])
            wide = [column if column is None else column[rows] for column in wide]
            columns = Columns(narrow, wide, levels)
        self._lay_out(columns, levels, arities, weights, is_bdeu)

    cdef _lay_out(self, Columns columns, levels, arities, weights, bint is_bdeu):
        cdef const int[::1] kinds, lanes, alone
        cdef const double[::1] declared = arities.astype(np.float64), kind_arities
        cdef const int64_t[::1] amounts
        cdef Layout layout
        distinct, kind = np.unique(arities, return_inverse=True)
        if not is_bdeu:
            distinct, kind = np.ones(1), np.zeros(len(arities))
        kinds, kind_arities = kind.astype(np.int32), distinct.astype(np.float64)
        layout = Layout(columns, levels, kind, self.records < 2**32)
        lanes, alone = layout.lanes, layout.alone
        self.n = self.table.n = columns.n
        self.table.rows, self.table.records = columns.narrow.shape[1], self.records
        self.table.columns, self.table.most_levels = columns.columns, levels.max(initial=1)
        if weights is not None:
            amounts = weights
            self.table.weights = &amounts[0]
        self.table.kind_count, self.table.block_count = len(kind_arities), layout.count
        self.table.alone_count, self.table.blocks = len(alone) - 1, layout.blocks
        self.table.kind_arities, self.table.lanes = &kind_arities[0], &lanes[0]
        self.table.alone, self.table.is_bdeu = &alone[0], is_bdeu
        if columns.n:
            self.table.arities, self.table.kinds = &declared[0], &kinds[0]
        self.kept = [columns, layout, declared, kinds, kind_arities, weights, lanes, alone]

    cdef int open(self, Scorer *scorer) except -1:
        cdef Context *context = _new_context(&self.table)
        if context == NULL:
            raise MemoryError
        scorer.self, scorer.n = context, self.n
        scorer.inserts, scorer.deletes, scorer.close = _inserts, _deletes, _close
        return 0


cdef double _sum_without_parents(Context *c, int v) noexcept nogil:
    # Return the sum of n ln n of a column on its own, less that of the records.
    cdef uint64_t keys
    cdef const Term *term = &c.table.entropy
    if _write_keys(c, v, NULL, 0, &keys) == 0:
        _sort_cells(c, v, NULL, 0)
        return sum_cells(&c.cells, term, term).total
    weigh_keys(c.keys, c.table.rows, keys, c.table.weights, c.work.counts, c.records)
    return sum_table(c.records, keys, keys, term, term).total


cdef class DiscreteBIC(DiscreteScore):
    """BIC of discrete data: log-likelihood − penalty · ½ ln m · (r_y − 1) · q.

    m is the number of records, r_y the number of levels of y and q the product of the parents'
    numbers of levels.

    Parameters
    ----------
    codes
        The levels of the variables, one row per variable, as whole numbers from zero.
    arities
        The number of levels of each variable, also of those that do not occur.
    weights
        How many records each column of ``codes`` stands for; None means one each.
    penalty
        The multiplier of the textbook penalty, at least zero.
    """

    def __init__(self, codes, arities, weights=None, double penalty=1.0):
        cdef const double[::1] values, entropies
        if not (isfinite(penalty) and penalty >= 0):
            raise ScoreError(
                f"DiscreteBIC: penalty {penalty!r} is not a finite number of at least 0; "
                "1.0 is the textbook BIC"
            )
        self._read(codes, arities, weights, False)
        counts = np.arange(min(self.records, LIMIT - 1) + 1, dtype=np.float64)
        values = counts * np.log(np.maximum(counts, 1))
        self.table.price = penalty / 2 * math.log(self.records)
        self.table.entropy.values, self.table.entropy.known = &values[0], len(values)
        self.table.entropy.alpha = -1
        self.kept.append(values)
        entropies = self._entropies()
        self.table.entropies = &entropies[0]
        self.kept.append(entropies)

    cdef _entropies(self):
        """Return the entropy of each column, times the records."""
        cdef double[::1] found = np.zeros(self.n + 1)
        cdef Context *c = _new_context(&self.table)
        cdef int v
        if c == NULL:
            raise MemoryError
        with nogil:
            for v in range(self.n):
                found[v] = -_sum_without_parents(c, v)
            _close(c)
        return found


cdef class BDeu(DiscreteScore):
    """BDeu: the log marginal likelihood under uniform Dirichlet priors of one sample size.

    Each parent configuration has a Dirichlet prior with parameters ess / (q · r_y), where r_y is
    the number of levels of y and q the product of the parents' numbers of levels.

    Parameters
    ----------
    codes
        The levels of the variables, one row per variable, as whole numbers from zero.
    arities
        The number of levels of each variable, also of those that do not occur.
    weights
        How many records each column of ``codes`` stands for; None means one each.
    ess
        The equivalent sample size: how many imaginary records the prior is worth.
    """

    def __init__(self, codes, arities, weights=None, double ess=1.0):
        if not (isfinite(ess) and ess > 0):
            raise ScoreError(
                f"BDeu: ess {ess!r} is not a finite number above 0; "
                "usual equivalent sample sizes lie between 1 and 10"
            )
        self._read(codes, arities, weights, True)
        self.table.ess = ess
