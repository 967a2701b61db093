# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Native scores of discrete data: BIC, qNML and BDeu.

With n_jk the records with parent configuration j and level k of y, n_j those with configuration
j, r the number of levels of y and q that of configurations,

    BIC    Σ n_jk ln n_jk − Σ n_j ln n_j − penalty · ½ ln m · (r − 1) q
    qNML   Σ n_jk ln n_jk − Σ n_j ln n_j − [ln C(m, r q) − ln C(m, q)]
    BDeu   Σ G(n_jk, a / qr) − Σ G(n_j, a / q),    G(n, α) = ln Γ(n + α) − ln Γ(α)

All are a sum of terms over the cells that hold records, minus a sum over configurations.  They differ
only in the terms (``find_terms``), the constants of BDeu (``value_of``) and the penalties of BIC and
qNML (``cost_of``).  The gains of a family are computed in three steps:

    number and sort    the rows, by configuration and level of y
    count              one configuration at a time, 32 candidates at once (``counting.h``)
    add up             the terms of the counts, looked up in tables

Equal rows are merged into one row with a weight where that saves work, and levels that do not
occur are left out (``sges.engine.columns``); the declared number of levels enters only as a number.
A score never changes once it is made, so that several runs may read it at once.  Each ``Run`` has its
own memory.
"""

from libc.math cimport INFINITY, NAN, asinh, isfinite, log, log1p, sqrt
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import math

import numpy as np

from sges.engine.scores cimport NOT_FINITE, OUT_OF_MEMORY, NativeScore, Scorer

from sges.engine.columns import checked_table, in_blocks, numbered
from sges.errors import ScoreError
from sges.score.discrete import exact_regrets


cdef extern from "counting.h" nogil:
    int LANES, STRIPES, STRIPED_SIZE
    ctypedef struct Term:
        const double *values
        int64_t known
        double alpha
        double unit
    ctypedef struct Terms:
        Term cell, configuration
    ctypedef struct Sum:
        double total
        int64_t cells, configurations
    ctypedef struct Column:
        const void *codes
        uint32_t levels
        int bytes
    ctypedef struct Index:
        uint64_t *keys
        uint32_t *numbers
    ctypedef struct Numbering:
        const Column *columns
        const uint32_t *rows
        uint32_t count, most
        Index index
        uint64_t *keys
    ctypedef struct Cells:
        uint32_t *rows
        uint32_t *start
        uint32_t *first
        int64_t *held
        int64_t *total
        const int64_t *weights
        uint32_t *chosen
        uint32_t configurations, choices
    ctypedef struct Block:
        const uint8_t *codes
        const int *kinds
        const int *depth
        int fours, levels
    ctypedef struct Sums:
        double *total
        uint32_t *cells
        uint32_t *configurations
    ctypedef struct Tally:
        int64_t *counts
        uint32_t *used
    void extend_rising(double *, int64_t, int64_t, double, double, double *)
    uint32_t level_of(const Column *, uint32_t)
    uint32_t number_keys(const uint64_t *, uint32_t, Index *, uint32_t *)
    uint32_t number_rows(Numbering *, const int *, int, uint32_t *)
    void add_digit(uint32_t *, uint32_t, const Column *)
    void weigh_numbers(
        const uint32_t *, uint32_t, uint32_t, const int64_t *, uint32_t *, int64_t *
    )
    uint32_t sort_rows(
        const uint32_t *, uint32_t, uint32_t, uint32_t, uint32_t *, uint32_t *, uint32_t *,
        uint32_t *,
    )
    uint32_t sort_again(
        const uint32_t *, const Column *, const uint32_t *, uint32_t, uint32_t, uint32_t *,
        uint32_t *, uint32_t *, uint32_t *,
    )
    int has_vectors()
    void sum_block(const Block *, const Cells *, const Terms *, int, int, Sums *)
    Sum sum_cells(const Cells *, const Terms *)
    Sum sum_single_rows(const Cells *, const Terms *)
    Sum sum_column(const Cells *, const Column *, const Terms *, Tally *, Tally *)
    void leave_out(const int64_t *, uint32_t, uint32_t, uint32_t, int64_t *)
    int64_t largest_total(const int64_t *, uint32_t, uint32_t)
    Sum sum_table(const int64_t *, uint32_t, uint32_t, const Terms *)
    Sum sum_merged(
        const Cells *, const uint32_t *, const uint32_t *, const uint32_t *, uint32_t,
        const Terms *, Tally *,
    )


cdef enum:
    MOST_TERMS = 1 << 16  # terms of counts below this are looked up, those of larger ones computed
    BYTES_OF_TERMS = 1 << 25  # memory of a run for tables of terms

cdef double HUGE_COUNT = 1e290  # the number of configurations is cut off here in penalties


# -- The table, and the memory of a run ------------------------------------------------------------


cdef struct Table:
    # The data, and which score is computed; never changed once made.
    int n
    uint32_t rows
    const int64_t *weights  # the records of each row; NULL means one each
    Column *columns
    const double *arities  # the declared numbers of levels
    const int *same_arity  # the first column with as many levels
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
    bint in_vectors  # the way in which blocks are counted
    double ess
    double price  # the penalty of a free parameter, for BIC
    double records  # the number of records
    const double *regrets  # the regrets of 1, 2, ... categories, for qNML; NULL for other scores
    double regret_count
    double unit  # the records that a weight of one stands for
    Term entropy  # n ln n


cdef struct Rising:
    # A table of ln Γ(n + alpha) − ln Γ(1 + alpha); no values mean that there is none.
    double *values
    double alpha
    double carry
    int64_t known, room


cdef struct Run:
    const Table *table
    char *memory
    # Numbers of rows or of configurations, below most_numbers.
    Numbering numbering
    uint32_t most_numbers
    uint32_t *numbers
    uint32_t *counts
    # The rows by configuration and level of y, and the records of the largest configuration.
    Cells cells
    int64_t largest
    # Terms by kind of candidate, and one more for y as it is; with the logarithm of a / q for BDeu.
    Terms *terms
    double *log_alpha
    Rising *risings
    uint64_t rising_places, rising_count, rising_bytes
    # For inserts.
    uint32_t *by_level
    uint8_t *wanted
    double *gains
    double *costs  # the penalty of each candidate
    Sum *single  # the sums over the configurations with a single row, by kind
    Tally tally, margin
    # For deletes: the records by number, with a parent and without it; or, with many parents,
    # configurations by name, and sorted in groups that agree without a parent.
    int64_t *records
    int64_t *rest
    int *others
    uint32_t *level
    uint32_t *example
    uint64_t *names
    uint32_t *sorted
    uint32_t *start
    uint32_t *first


cdef struct Arena:
    # One piece of memory, given out in parts; without memory, it only measures.
    char *memory
    size_t used


cdef void *part(Arena *arena, size_t count, size_t size) noexcept nogil:
    cdef size_t at = arena.used
    arena.used += (count * size + 63) // 64 * 64
    return NULL if arena.memory == NULL else arena.memory + at


cdef uint32_t *part32(Arena *arena, size_t count) noexcept nogil:
    return <uint32_t *>part(arena, count, sizeof(uint32_t))


cdef int64_t *part64(Arena *arena, size_t count) noexcept nogil:
    return <int64_t *>part(arena, count, sizeof(int64_t))


cdef void lay_out(Run *run, Arena *arena) noexcept nogil:
    cdef size_t rows = run.table.rows, n = run.table.n, kinds = run.table.kind_count + 1
    cdef size_t levels = run.table.most_levels, most = run.most_numbers
    cdef size_t places = power_of_two(2 * rows)
    run.numbering.index.keys = <uint64_t *>part64(arena, places)
    run.numbering.index.numbers = part32(arena, places)
    run.numbering.keys = <uint64_t *>part64(arena, rows)
    run.numbers = part32(arena, rows)
    run.counts = part32(arena, max(levels, most, <size_t>(STRIPES * STRIPED_SIZE)))
    run.cells.rows = part32(arena, rows)
    run.cells.start = part32(arena, rows + 1)
    run.cells.first = part32(arena, rows + 1)
    run.cells.held = part64(arena, rows)
    run.cells.total = part64(arena, rows)
    run.cells.chosen = part32(arena, rows)
    run.terms = <Terms *>part(arena, kinds, sizeof(Terms))
    run.log_alpha = <double *>part(arena, kinds, sizeof(double))
    run.risings = <Rising *>part(arena, run.rising_places, sizeof(Rising))
    run.by_level = part32(arena, rows)
    run.wanted = <uint8_t *>part(arena, n, sizeof(uint8_t))
    run.gains = <double *>part(arena, n, sizeof(double))
    run.costs = <double *>part(arena, n, sizeof(double))
    run.single = <Sum *>part(arena, kinds, sizeof(Sum))
    run.tally.counts, run.tally.used = part64(arena, levels), part32(arena, levels)
    run.margin.counts, run.margin.used = part64(arena, levels), part32(arena, levels)
    run.records, run.rest = part64(arena, most), part64(arena, most)
    run.others = <int *>part(arena, n, sizeof(int))
    run.level, run.example = part32(arena, rows), part32(arena, rows)
    run.names = <uint64_t *>part64(arena, rows)
    run.sorted = part32(arena, rows)
    run.start, run.first = part32(arena, rows + 1), part32(arena, rows + 1)


cdef uint64_t power_of_two(uint64_t least) noexcept nogil:
    cdef uint64_t power = 2
    while power < least:
        power *= 2
    return power


cdef Run *new_run(const Table *table) noexcept nogil:
    # Return NULL if memory ran out.
    cdef Run *run = <Run *>calloc(1, sizeof(Run))
    cdef Arena arena
    cdef int kind
    if run == NULL:
        return NULL
    run.table = table
    run.most_numbers = <uint32_t>min(max(2 * <uint64_t>table.rows, <uint64_t>256), <uint64_t>1 << 24)
    run.rising_places = power_of_two(1024 + 8 * table.kind_count) if table.is_bdeu else 1
    arena.memory, arena.used = NULL, 0
    lay_out(run, &arena)
    run.memory = arena.memory = <char *>calloc(arena.used, 1)
    if run.memory == NULL:
        free(run)
        return NULL
    arena.used = 0
    lay_out(run, &arena)
    run.numbering.columns, run.cells.weights = table.columns, table.weights
    for kind in range(table.kind_count + 1):
        run.terms[kind].cell = run.terms[kind].configuration = table.entropy
    return run


cdef void close_run(void *self) noexcept nogil:
    cdef Run *run = <Run *>self
    cdef uint64_t i
    for i in range(run.rising_places):
        free(run.risings[i].values)
    free(run.memory)
    free(run)


# -- The rows, by configuration and level ----------------------------------------------------------


cdef uint32_t number_configurations(Run *run, const int *base, int size) noexcept nogil:
    # Number the configurations of the parents of all rows; return a bound of the numbers.
    run.numbering.rows, run.numbering.count = NULL, run.table.rows
    run.numbering.most = run.most_numbers
    return number_rows(&run.numbering, base, size, run.numbers)


cdef void sort_cells(Run *run, int y, const int *base, int size) noexcept nogil:
    # Sort the rows by configuration of the base and level of y.
    cdef Cells *cells = &run.cells
    cdef const Column *column = &run.table.columns[y]
    cdef uint32_t rows = run.table.rows, bound
    bound = number_configurations(run, base, size)
    if <uint64_t>bound * column.levels <= run.most_numbers:
        add_digit(run.numbers, rows, column)
        cells.configurations = sort_rows(
            run.numbers, rows, bound * column.levels, column.levels, run.counts, cells.rows,
            cells.start, cells.first,
        )
    else:
        memset(run.level, 0, rows * sizeof(uint32_t))
        add_digit(run.level, rows, column)
        sort_rows(
            run.level, rows, column.levels, column.levels, run.counts, run.by_level, run.start,
            run.first,
        )
        cells.configurations = sort_again(
            run.by_level, column, run.numbers, rows, bound, run.counts, cells.rows, cells.start,
            cells.first,
        )
    count_records(run)


cdef void count_records(Run *run) noexcept nogil:
    # Count the records of the cells, and choose the configurations that depend on the candidate.
    cdef Cells *cells = &run.cells
    cdef const int64_t *weights = cells.weights
    cdef uint32_t j, cell, i
    cdef int64_t held, total
    run.largest = 0
    cells.choices = 0
    for j in range(cells.configurations):
        total = 0
        for cell in range(cells.first[j], cells.first[j + 1]):
            held = cells.start[cell + 1] - cells.start[cell]
            if weights != NULL:
                held = 0
                for i in range(cells.start[cell], cells.start[cell + 1]):
                    held += weights[cells.rows[i]]
            cells.held[cell] = held
            total += held
        cells.total[j] = total
        run.largest = max(run.largest, total)
        # Candidates do not split a single row, and for BIC one level of y contributes nothing.
        cells.chosen[cells.choices] = j
        if run.table.is_bdeu:
            cells.choices += cells.start[cells.first[j + 1]] - cells.start[cells.first[j]] > 1
        else:
            cells.choices += cells.first[j + 1] - cells.first[j] > 1


# -- The formulas: terms, constants and penalty ----------------------------------------------------


cdef struct Family:
    # A node with its parents: their number of configurations, and its logarithm.
    int y
    double q
    double log_q


cdef Family family_of(const Table *table, int y, const int *base, int size, int without) noexcept nogil:
    # Describe y with the parents in base, except the one at `without`.
    cdef Family family
    cdef int i
    family.y, family.q, family.log_q = y, 1, 0
    for i in range(size):
        if i != without:
            family.q *= table.arities[base[i]]
            family.log_q += log(table.arities[base[i]])
    if family.q < 1e300:
        family.log_q = log(family.q)
    return family


cdef int find_terms(Run *run, Family family, double arity, int kind) noexcept nogil:
    # Find the terms of a family with one more parent of this arity; those of BIC are all the same.
    cdef double alpha = run.table.ess / (family.q * arity)
    if not run.table.is_bdeu:
        return 0
    run.log_alpha[kind] = log(run.table.ess) - family.log_q - log(arity)
    if find_rising(run, alpha, &run.terms[kind].configuration) != 0:
        return OUT_OF_MEMORY
    alpha = run.table.ess / (family.q * arity * run.table.arities[family.y])
    return find_rising(run, alpha, &run.terms[kind].cell)


cdef double value_of(const Run *run, int y, Sum sum, int kind) noexcept nogil:
    # Add the constants of BDeu.  With α = a / q, a configuration that holds records has
    # G(n, α) = its term + ln α, and a cell has G(n, α / r) = its term + ln α − ln r.  The numbers
    # of both are subtracted first, because the logarithms may be large and nearly cancel.
    if not run.table.is_bdeu:
        return sum.total
    return (
        sum.total
        - sum.cells * log(run.table.arities[y])
        + (sum.cells - sum.configurations) * run.log_alpha[kind]
    )


cdef double cost_of(const Table *table, Family family, double arity) noexcept nogil:
    # Return the penalty of one more parent of this arity: BDeu has none.
    cdef double more
    if table.regrets != NULL:
        return regret_of(table, family, arity) - regret_of(table, family, 1)
    more = min(family.q * (arity - 1), HUGE_COUNT) if arity > 1 else 0
    return table.price * (table.arities[family.y] - 1) * more


cdef double regret_of(const Table *table, Family family, double arity) noexcept nogil:
    # Return the regret of a family with one more parent of this arity, beyond that of its parents.
    cdef double q = min(family.q * arity, HUGE_COUNT)
    return regret(table, q * table.arities[family.y]) - regret(table, q)


cdef double regret(const Table *table, double categories) noexcept nogil:
    # Return the regret of a multinomial, as ``sges.score.discrete`` does.
    cdef double alpha, side, root, log_c, inverse
    if categories <= table.regret_count:
        return table.regrets[<int>categories - 1]
    alpha = categories / table.records
    side, root = sqrt(alpha), sqrt(alpha + 4)
    log_c, inverse = log1p(2 / (alpha + side * root)), 2 * side / (side + root)
    return (
        table.records * (2 * asinh(side / 2) + alpha * log_c - inverse)
        - 0.5 * log(1 / inverse + 2 / alpha)
    )


cdef void find_costs(Run *run, Family family) noexcept nogil:
    # Find the penalty of each candidate, once for all that have as many levels.
    cdef const Table *table = run.table
    cdef int x, first
    for x in range(table.n):
        first = table.same_arity[x]
        run.costs[x] = run.costs[first] if first < x else cost_of(table, family, table.arities[x])


cdef Rising *place_of(Rising *places, uint64_t count, double alpha) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &alpha, sizeof(bits))
    bits = (bits ^ bits >> 32) * <uint64_t>0x9E3779B97F4A7C15
    bits = bits >> 32 & count - 1
    while places[bits].values != NULL and places[bits].alpha != alpha:
        bits = bits + 1 & count - 1
    return &places[bits]


cdef int find_rising(Run *run, double alpha, Term *term) noexcept nogil:
    # Look up ln Γ(n + alpha) − ln Γ(1 + alpha), and extend its table to the largest count.
    cdef Rising *rising = place_of(run.risings, run.rising_places, alpha)
    cdef int64_t needed = min(max(run.largest, 255) + 1, <int64_t>MOST_TERMS), room
    cdef double *values
    if rising.room < needed:
        room = min(max(needed, 2 * rising.room), <int64_t>MOST_TERMS)
        values = <double *>realloc(rising.values, room * sizeof(double))
        if values == NULL:
            return OUT_OF_MEMORY
        run.rising_count += rising.values == NULL
        run.rising_bytes += (room - rising.room) * sizeof(double)
        rising.values, rising.alpha, rising.room = values, alpha, room
    if rising.known < needed:
        extend_rising(rising.values, rising.known, needed, alpha, run.table.unit, &rising.carry)
        rising.known = needed
    # Not the whole table: a gain must not depend on what was computed before.
    term.values, term.known, term.alpha = rising.values, needed, alpha
    term.unit = run.table.unit
    return 0


cdef void forget_terms_if_many(Run *run) noexcept nogil:
    cdef uint64_t i
    if run.rising_bytes < BYTES_OF_TERMS and 2 * run.rising_count < run.rising_places:
        return
    for i in range(run.rising_places):
        free(run.risings[i].values)
    memset(run.risings, 0, run.rising_places * sizeof(Rising))
    run.rising_count = run.rising_bytes = 0


# -- Inserts ---------------------------------------------------------------------------------------


cdef int answer_inserts(
    void *self, int y, const int *base, int size, double worth, const int *also, int also_size,
    int *xs, double *gains, double *also_gains,
) noexcept nogil:
    cdef Run *run = <Run *>self
    cdef const Table *table = run.table
    cdef Family family = family_of(table, y, base, size, -1)
    cdef double before
    cdef int i, x, count = 0
    sort_cells(run, y, base, size)
    if find_all_terms(run, family) != 0:
        return OUT_OF_MEMORY
    before = value_as_is(run, y)
    find_costs(run, family)
    choose_candidates(run, family, base, size, before, worth, also, also_size)
    sum_blocks(run, y)
    for i in range(table.alone_count):
        x = table.alone[i]
        if run.wanted[x]:
            set_value(run, y, x, sum_column(
                &run.cells, &table.columns[x], &run.terms[table.kinds[x]], &run.tally, &run.margin
            ))
    for x in range(table.n):
        if run.wanted[x]:
            run.gains[x] = run.gains[x] - before - run.costs[x]
            if not isfinite(run.gains[x]):
                return NOT_FINITE
            if run.gains[x] > worth:
                xs[count], gains[count] = x, run.gains[x]
                count += 1
    for i in range(also_size):
        also_gains[i] = run.gains[also[i]]
    return count


cdef int find_all_terms(Run *run, Family family) noexcept nogil:
    # Find the terms of a family with each kind of candidate and, after them, of it as it is.
    cdef const Table *table = run.table
    cdef int kind
    forget_terms_if_many(run)
    for kind in range(table.kind_count):
        if find_terms(run, family, table.kind_arities[kind], kind) != 0:
            return OUT_OF_MEMORY
        if table.is_bdeu:
            run.single[kind] = sum_single_rows(&run.cells, &run.terms[kind])
    return find_terms(run, family, 1, table.kind_count)


cdef double value_as_is(Run *run, int y) noexcept nogil:
    cdef int kind = run.table.kind_count
    return value_of(run, y, sum_cells(&run.cells, &run.terms[kind]), kind)


cdef void choose_candidates(
    Run *run, Family family, const int *base, int size, double before, double worth,
    const int *also, int also_size,
) noexcept nogil:
    # Mark the candidates that may exceed `worth`, and those whose gains are needed anyway.
    cdef const Table *table = run.table
    cdef int x, i
    memset(run.wanted, 1, table.n)
    if not table.is_bdeu and worth > -INFINITY:
        for x in range(table.n):  # the likelihood of y cannot rise above 1
            run.wanted[x] = -before - run.costs[x] > worth
    for i in range(also_size):
        run.wanted[also[i]] = 1
    for i in range(size):
        run.wanted[base[i]] = 0
    run.wanted[family.y] = 0


cdef void sum_blocks(Run *run, int y) noexcept nogil:
    # Find the values of the candidates that are counted together.
    cdef const Table *table = run.table
    cdef const int *lanes = table.lanes
    cdef Sums sums
    cdef Sum sum
    cdef int b, k
    cdef bint is_wanted
    for b in range(table.block_count):
        is_wanted = False
        for k in range(LANES):
            if lanes[k] >= 0 and run.wanted[lanes[k]]:
                is_wanted = True
        if is_wanted:
            sum_block(
                &table.blocks[b], &run.cells, run.terms, table.is_bdeu, table.in_vectors, &sums
            )
            for k in range(LANES):
                if lanes[k] >= 0:
                    sum.total, sum.cells = sums.total[k], sums.cells[k]
                    sum.configurations = sums.configurations[k]
                    set_value(run, y, lanes[k], sum)
        lanes += LANES


cdef void set_value(Run *run, int y, int x, Sum sum) noexcept nogil:
    # Keep the value of a family with x, from the sum over the chosen configurations.
    cdef int kind = run.table.kinds[x]
    sum.total += run.single[kind].total
    sum.cells += run.single[kind].cells
    sum.configurations += run.single[kind].configurations
    run.gains[x] = value_of(run, y, sum, kind)


# -- Deletes ---------------------------------------------------------------------------------------


cdef int answer_deletes(void *self, int y, const int *base, int size, double *gains) noexcept nogil:
    cdef Run *run = <Run *>self
    cdef uint32_t numbers = numbers_of(run, y, base, size)
    cdef int status, i
    forget_terms_if_many(run)
    if numbers > 0:
        status = delete_from_table(run, y, base, size, numbers, gains)
    else:
        status = delete_from_cells(run, y, base, size, gains)
    for i in range(size):
        if status == 0 and not isfinite(gains[i]):
            return NOT_FINITE
    return status


cdef double family_score(void *self, int y, const int *base, int size) noexcept nogil:
    """Return the score of a family less that of y without parents, with two counts."""
    cdef Run *run = <Run *>self
    cdef double with_all, with_none, total
    cdef int k
    if size == 0:
        return 0.0
    forget_terms_if_many(run)
    if find_value(run, y, base, 0, &with_none) < 0 or find_value(run, y, base, size, &with_all) < 0:
        return NAN
    total = with_all - with_none
    for k in range(size):
        total -= cost_of(
            run.table, family_of(run.table, y, base, k, -1), run.table.arities[base[k]]
        )
    return total


cdef int find_value(Run *run, int y, const int *base, int size, double *value) noexcept nogil:
    cdef uint32_t numbers = numbers_of(run, y, base, size)
    if numbers > 0:
        return value_from_table(run, y, base, size, numbers, value)
    return value_from_cells(run, y, base, size, value)


cdef uint32_t numbers_of(const Run *run, int y, const int *base, int size) noexcept nogil:
    # Return the size of the table of a family, or 0 if that would be too large.
    cdef double numbers = run.table.columns[y].levels
    cdef int i
    for i in range(size):
        numbers *= run.table.columns[base[i]].levels
    return <uint32_t>numbers if numbers <= run.most_numbers else 0


cdef int value_from_table(
    Run *run, int y, const int *base, int size, uint32_t numbers, double *value
) noexcept nogil:
    # Count the whole table.
    cdef const Table *table = run.table
    cdef const Column *column = &table.columns[y]
    number_configurations(run, base, size)
    add_digit(run.numbers, table.rows, column)
    weigh_numbers(run.numbers, table.rows, numbers, table.weights, run.counts, run.records)
    run.largest = largest_total(run.records, numbers, column.levels)
    if find_terms(run, family_of(table, y, base, size, -1), 1, 0) != 0:
        return OUT_OF_MEMORY
    value[0] = value_of(run, y, sum_table(run.records, numbers, column.levels, &run.terms[0]), 0)
    return 0


cdef int value_from_cells(
    Run *run, int y, const int *base, int size, double *value
) noexcept nogil:
    # Count the cells that occur.
    sort_cells(run, y, base, size)
    if find_terms(run, family_of(run.table, y, base, size, -1), 1, run.table.kind_count) != 0:
        return OUT_OF_MEMORY
    value[0] = value_as_is(run, y)
    return 0


cdef int delete_from_table(
    Run *run, int y, const int *base, int size, uint32_t numbers, double *gains
) noexcept nogil:
    # Count the whole table, and add it up over the digit of each parent.
    cdef const Table *table = run.table
    cdef uint32_t levels = table.columns[y].levels, digit, after = numbers
    cdef double before
    cdef int i
    if value_from_table(run, y, base, size, numbers, &before) != 0:
        return OUT_OF_MEMORY
    for i in range(size):
        digit = table.columns[base[i]].levels
        after //= digit
        leave_out(run.records, numbers, digit, after, run.rest)
        if find_terms(run, family_of(table, y, base, size, i), 1, 0) != 0:
            return OUT_OF_MEMORY
        gains[i] = delete_gain(
            run, y, base, size, i, before,
            sum_table(run.rest, numbers // digit, levels, &run.terms[0]),
        )
    return 0


cdef double delete_gain(
    const Run *run, int y, const int *base, int size, int i, double before, Sum sum
) noexcept nogil:
    cdef Family left = family_of(run.table, y, base, size, i)
    cdef double cost = cost_of(run.table, left, run.table.arities[base[i]])
    return value_of(run, y, sum, 0) - before + cost


cdef int delete_from_cells(
    Run *run, int y, const int *base, int size, double *gains
) noexcept nogil:
    # The table would be too large.  So name the configurations that occur, in mixed radix: without
    # a parent, those are one whose names agree without its digit.  Where the digits of all parents
    # do not fit into a name, it has those of some, and a number for the levels of all others.
    cdef const Table *table = run.table
    cdef Cells *cells = &run.cells
    cdef double before
    cdef uint64_t product, limit
    cdef uint32_t j, cell, groups
    cdef int begin = 0, end, i
    if value_from_cells(run, y, base, size, &before) != 0:
        return OUT_OF_MEMORY
    for j in range(cells.configurations):
        run.example[j] = cells.rows[cells.start[cells.first[j]]]
    for cell in range(cells.first[cells.configurations]):
        run.level[cell] = level_of(&table.columns[y], cells.rows[cells.start[cell]])
    limit = longest_name(table, base, size)
    while begin < size:
        end, product = begin, 1
        while end < size and product * table.columns[base[end]].levels <= limit:
            product *= table.columns[base[end]].levels
            end += 1
        name_configurations(run, base, size, begin, end)
        for i in range(begin, end):
            product //= table.columns[base[i]].levels
            groups = merge_configurations(run, base[i], product)
            if find_terms(run, family_of(table, y, base, size, i), 1, 0) != 0:
                return OUT_OF_MEMORY
            gains[i] = delete_gain(run, y, base, size, i, before, sum_merged(
                cells, run.level, run.sorted, run.start, groups, &run.terms[0], &run.tally
            ))
        begin = end
    return 0


cdef uint64_t longest_name(const Table *table, const int *base, int size) noexcept nogil:
    # Return how large the product of the digits in a name may be, of 64 bits: all of them if the
    # parents have few enough configurations, else half.
    cdef double product = 1
    cdef int i
    for i in range(size):
        product *= table.columns[base[i]].levels
    return <uint64_t>1 << 62 if product < 4e18 else <uint64_t>1 << 32


cdef void name_configurations(
    Run *run, const int *base, int size, int begin, int end
) noexcept nogil:
    # Name the configurations by the parents outside begin..end, and a digit for each one inside.
    cdef const Column *column
    cdef uint32_t j, count = run.cells.configurations
    cdef int i
    memcpy(run.others, base, begin * sizeof(int))
    memcpy(run.others + begin, base + end, (size - end) * sizeof(int))
    run.numbering.rows, run.numbering.count = run.example, count
    number_rows(&run.numbering, run.others, size - (end - begin), run.numbers)
    for j in range(count):
        run.names[j] = run.numbers[j]
    for i in range(begin, end):
        column = &run.table.columns[base[i]]
        for j in range(count):
            run.names[j] = run.names[j] * column.levels + level_of(column, run.example[j])


cdef uint32_t merge_configurations(Run *run, int x, uint64_t worth) noexcept nogil:
    # Sort the configurations into groups that agree without x, whose digit in a name is worth this
    # much; return how many there are.
    cdef const Column *column = &run.table.columns[x]
    cdef uint64_t *keys = run.numbering.keys
    cdef uint32_t j, groups, count = run.cells.configurations
    for j in range(count):
        keys[j] = run.names[j] - level_of(column, run.example[j]) * worth
    groups = number_keys(keys, count, &run.numbering.index, run.numbers)
    return sort_rows(
        run.numbers, count, groups, 1, run.counts, run.sorted, run.start, run.first
    )


# -- The scores ------------------------------------------------------------------------------------


cdef class DiscreteScore(NativeScore):
    """A score of discrete data that the engine reads without the interpreter."""

    cdef Table table
    cdef readonly object records
    cdef object kept  # the arrays that the table points to

    def __dealloc__(self):
        free(self.table.columns)
        free(self.table.blocks)

    @property
    def in_vectors(self):
        """Whether blocks are counted in vectors; tests change it to compare the two ways."""
        return self.table.in_vectors

    @in_vectors.setter
    def in_vectors(self, bint wanted):
        self.table.in_vectors = wanted and has_vectors()

    cdef read(self, codes, arities, weights, double unit, bint is_bdeu):
        """Check the data, merge equal rows, and lay the columns out for counting."""
        if not (isfinite(unit) and unit > 0):
            raise ScoreError(f"{type(self).__name__}: unit {unit!r} is not a finite number above 0")
        self.table.unit = unit
        codes, arities, weights = checked_table(type(self).__name__, codes, arities, weights)
        columns, levels = [], np.ones(len(codes), np.int64)
        for v, column in enumerate(codes):
            column, levels[v] = numbered(column)
            columns.append(column)
        self.records = codes.shape[1] if weights is None else int(weights.sum())
        self.n = self.table.n = len(columns)
        self.table.is_bdeu = is_bdeu
        self.table.in_vectors = has_vectors()
        self.point_at(columns, levels, codes.shape[1])
        merged = self.merged_rows(weights)
        if merged is not None:
            rows, weights = merged
            columns = [column[rows] for column in columns]
            self.point_at(columns, levels, len(rows))
        self.lay_out(columns, levels, arities, weights)

    cdef point_at(self, list columns, levels, rows):
        """Let the table read these columns."""
        cdef const uint8_t[::1] narrow
        cdef const uint32_t[::1] wide
        cdef int v
        if self.table.columns == NULL:
            self.table.columns = <Column *>malloc((self.n + 1) * sizeof(Column))
            if self.table.columns == NULL:
                raise MemoryError
        self.table.rows = rows
        for v, column in enumerate(columns):
            self.table.columns[v].levels = levels[v]
            self.table.columns[v].bytes = column.itemsize
            if column.itemsize == 1:
                narrow = column
                self.table.columns[v].codes = &narrow[0]
            else:
                wide = column
                self.table.columns[v].codes = &wide[0]

    cdef merged_rows(self, weights):
        """Return which rows to keep and their weights, or None if merging would not save work.

        A weighted row costs a little more than one that counts once.
        """
        rows, sample = self.table.rows, min(self.table.rows, 2048)
        for some in (sample, rows) if rows > 2 * sample else (rows,):
            numbers = self.distinct_rows(some)
            distinct = int(numbers.max()) + 1
            if distinct > (0.98 if some < rows else 0.8) * some:
                return None
        first = np.empty(distinct, np.int64)
        first[numbers[::-1]] = np.arange(rows)[::-1]
        merged = np.zeros(distinct, np.int64)
        np.add.at(merged, numbers, 1 if weights is None else weights)
        return first, merged

    cdef distinct_rows(self, uint32_t rows):
        """Return the first rows numbered so that only equal ones have the same number."""
        cdef Numbering work
        cdef uint64_t[::1] keys = np.empty(rows, np.uint64)
        cdef uint64_t[::1] index_keys = np.empty(power_of_two(2 * <uint64_t>rows), np.uint64)
        cdef uint32_t[::1] index_numbers = np.empty(power_of_two(2 * <uint64_t>rows), np.uint32)
        cdef int[::1] family = np.arange(self.n + 1, dtype=np.int32)
        numbers = np.empty(rows, np.uint32)
        cdef uint32_t[::1] written = numbers
        work.columns, work.rows, work.count, work.most = self.table.columns, NULL, rows, 0
        work.index.keys, work.index.numbers = &index_keys[0], &index_numbers[0]
        work.keys = &keys[0]
        with nogil:
            number_rows(&work, &family[0], self.table.n, &written[0])
        return numbers

    cdef lay_out(self, list columns, levels, arities, weights):
        """Put columns of few levels side by side, and point at everything that a run reads."""
        cdef const double[::1] declared = as_array(arities, np.float64), kind_arities
        cdef const int[::1] same_arity, kinds, lanes, alone, block_kinds, block_depth
        cdef const int64_t[::1] amounts
        cdef const uint8_t[:, ::1] codes
        cdef Block *block
        cdef Py_ssize_t b
        distinct, first, kind = np.unique(arities, return_index=True, return_inverse=True)
        same_arity = as_array(first[kind], np.int32)
        if not self.table.is_bdeu:
            distinct, kind = np.ones(1), np.zeros(len(arities), np.int64)
        blocks = in_blocks(columns, levels, kind, self.records < 2**32)
        kinds, kind_arities = as_array(kind, np.int32), as_array(distinct, np.float64)
        lanes, alone = as_array(blocks.lanes, np.int32), as_array(blocks.alone, np.int32)
        block_kinds, block_depth = as_array(blocks.kinds, np.int32), as_array(blocks.depth, np.int32)
        self.kept = [columns, blocks.codes, weights, declared, same_arity, kinds, kind_arities, lanes, alone]
        self.kept += [block_kinds, block_depth]
        self.table.most_levels = levels.max(initial=1)
        if weights is not None:
            amounts = weights
            self.table.weights = &amounts[0]
        self.table.arities, self.table.kinds = &declared[0], &kinds[0]
        self.table.same_arity = &same_arity[0]
        self.table.kind_arities, self.table.kind_count = &kind_arities[0], len(distinct)
        self.table.lanes, self.table.block_count = &lanes[0], len(blocks.codes)
        self.table.alone, self.table.alone_count = &alone[0], len(blocks.alone)
        self.table.blocks = <Block *>malloc((len(blocks.codes) + 1) * sizeof(Block))
        if self.table.blocks == NULL:
            raise MemoryError
        for b in range(len(blocks.codes)):
            block, codes = &self.table.blocks[b], blocks.codes[b]
            block.codes, block.levels = &codes[0, 0], blocks.depth[b].max()
            block.fours = np.count_nonzero(blocks.depth[b])
            block.kinds, block.depth = &block_kinds[b * LANES // 4], &block_depth[b * LANES // 4]

    cdef read_entropy(self):
        """Make the terms n ln n of the likelihood, and round the number of records."""
        cdef const double[::1] values
        counts = np.arange(min(self.records, MOST_TERMS - 1) + 1, dtype=np.float64)
        values = self.table.unit * (counts * np.log(np.maximum(counts, 1)))
        self.table.entropy.values, self.table.entropy.known = &values[0], len(values)
        self.table.entropy.alpha, self.table.entropy.unit = -1, self.table.unit
        self.table.records = round(self.records * self.table.unit)
        self.kept.append(values)

    cdef int open(self, Scorer *scorer) except -1:
        cdef Run *run = new_run(&self.table)
        if run == NULL:
            raise MemoryError
        scorer.self, scorer.n = run, self.n
        scorer.inserts, scorer.deletes, scorer.close = answer_inserts, answer_deletes, close_run
        scorer.family = family_score
        return 0


def as_array(values, kind):
    """Return the values in a row, and one more, so that there is something to point at."""
    return np.append(values, 0).astype(kind)


cdef class DiscreteBIC(DiscreteScore):
    """BIC of discrete data: log-likelihood − penalty · ½ ln m · (r − 1) q.

    m is the number of records, r the number of levels of y and q the product of the parents'
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
    unit
        How many records a weight of one stands for.
    """

    def __init__(self, codes, arities, weights=None, double penalty=1.0, double unit=1.0):
        if not (isfinite(penalty) and penalty >= 0):
            raise ScoreError(
                f"DiscreteBIC: penalty {penalty!r} is not a finite number of at least 0; "
                "1.0 is the textbook BIC"
            )
        self.read(codes, arities, weights, unit, False)
        self.read_entropy()
        self.table.price = penalty / 2 * math.log(self.table.records)


cdef class QNML(DiscreteScore):
    """Quotient normalized maximum likelihood: log-likelihood − [ln C(m, r q) − ln C(m, q)].

    m is the number of records, r the number of levels of y, q the product of the parents'
    numbers of levels, and ln C(m, K) the regret of a multinomial of K categories.

    Parameters
    ----------
    codes
        The levels of the variables, one row per variable, as whole numbers from zero.
    arities
        The number of levels of each variable, also of those that do not occur.
    weights
        How many records each column of ``codes`` stands for; None means one each.
    unit
        How many records a weight of one stands for.
    """

    def __init__(self, codes, arities, weights=None, double unit=1.0):
        cdef const double[::1] regrets
        self.read(codes, arities, weights, unit, False)
        self.read_entropy()
        regrets = exact_regrets(max(round(self.records * unit), 1))
        self.table.regrets, self.table.regret_count = &regrets[0], len(regrets)
        self.kept.append(regrets)


cdef class BDeu(DiscreteScore):
    """BDeu: the log marginal likelihood under uniform Dirichlet priors of one sample size.

    Each parent configuration has a Dirichlet prior with parameters ess / (q r), where r is the
    number of levels of y and q the product of the parents' numbers of levels.

    Parameters
    ----------
    codes
        The levels of the variables, one row per variable, as whole numbers from zero.
    arities
        The number of levels of each variable, also of those that do not occur.
    weights
        How many records each column of ``codes`` stands for; None means one each.
    ess
        The equivalent sample size: the number of records that the prior counts for.
    unit
        How many records a weight of one stands for.
    """

    def __init__(self, codes, arities, weights=None, double ess=1.0, double unit=1.0):
        if not (isfinite(ess) and ess > 0):
            raise ScoreError(
                f"BDeu: ess {ess!r} is not a finite number above 0; "
                "usual equivalent sample sizes lie between 1 and 10"
            )
        self.read(codes, arities, weights, unit, True)
        self.table.ess = ess
