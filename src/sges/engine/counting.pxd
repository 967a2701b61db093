"""What ``counting.h`` offers; see there."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cdef extern from "counting.h" nogil:
    int LANES, MOST_LEVELS, STRIPES, STRIPED_KEYS
    uint32_t NOTHING
    ctypedef struct Term:
        const double *values
        int64_t known
        double alpha
    ctypedef struct Column:
        const void *codes
        uint32_t levels
        int bytes
    ctypedef struct Cells:
        const uint32_t *rows
        const uint32_t *start
        const uint32_t *first
        const int64_t *held
        const int64_t *total
        const int64_t *weights
        const uint32_t *chosen
        uint32_t configurations, choices
    ctypedef struct Workspace:
        uint32_t *spare
        uint32_t *counts
        uint64_t *keys
        uint32_t rows
    ctypedef struct Block:
        const uint8_t *codes
        const int *kinds
        const int *depth
        int fours, levels
    ctypedef struct Sums:
        double *total
        uint32_t *cells
        uint32_t *configurations
    ctypedef struct Terms:
        const Term *cell
        const Term *configuration
        int constants
    ctypedef struct Sum:
        double total
        int64_t cells, configurations
    ctypedef struct Tally:
        int64_t *counts
        uint32_t *used
        uint32_t uses
    void extend_rising(double *, int64_t, int64_t, double, double *) noexcept
    uint32_t level_of(const void *, uint32_t, int) noexcept
    void add_digit(uint32_t *, uint32_t, Column) noexcept
    void count_keys(const uint32_t *, uint32_t, uint32_t, uint32_t *) noexcept
    void weigh_keys(
        const uint32_t *, uint32_t, uint32_t, const int64_t *, uint32_t *, int64_t *
    ) noexcept
    uint32_t place_rows(
        const uint32_t *, uint32_t, uint32_t, uint32_t, uint32_t *, uint32_t *, uint32_t *,
        uint32_t *,
    ) noexcept
    uint32_t split_rows(
        const uint32_t *, const uint32_t *, uint32_t, Column, uint32_t *, uint32_t *, Workspace *
    ) noexcept
    void sum_block(const Block *, const Cells *, const Terms *, Sums *) noexcept
    Sum sum_cells(const Cells *, const Term *, const Term *) noexcept
    Sum sum_apart(const Cells *, const Term *, const Term *) noexcept
    Sum sum_single_rows(const Cells *, const Term *, const Term *) noexcept
    Sum sum_column(const Cells *, Column, const Term *, const Term *, Tally *, Tally *) noexcept
    void leave_out(const int64_t *, uint32_t, uint32_t, uint32_t, int64_t *) noexcept
    int64_t largest_total(const int64_t *, uint32_t, uint32_t) noexcept
    Sum sum_table(const int64_t *, uint32_t, uint32_t, const Term *, const Term *) noexcept
    Sum sum_without(
        const Cells *, const uint32_t *, const uint32_t *, const uint32_t *, uint32_t,
        const Term *, const Term *, Tally *,
    ) noexcept
