// Factors of small blocks of a correlation matrix, and solves against many of its columns.
//
// With R[nodes, nodes] = L D L', L unit lower triangular, everything here is one operation on rows of
// numbers: subtract multiples of earlier rows.
//
//     the factor           from rows of R[nodes, nodes]: the rows of D L'
//     a solve, z = L⁻¹ R   from rows of R, a block of columns at a time, which stays in the cache
//     the inverse, L⁻¹     from rows of the identity
//
// No sum runs across a row and no multiplication is fused with an addition, so that results do not
// depend on the width of the machine's vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace sges {

// A symmetric matrix with a unit diagonal, row by row, as doubles or as floats that others own.
struct Matrix {
    const void* entries = nullptr;
    std::ptrdiff_t n = 0;
    bool is_single = false;

    double at(std::ptrdiff_t i, std::ptrdiff_t j) const {
        const std::ptrdiff_t place = i * n + j;
        return is_single ? static_cast<const float*>(entries)[place] : static_cast<const double*>(entries)[place];
    }
};

// Find an entry that no correlation matrix has, or that differs from its mirror image; row is -1 if
// there is none.
void find_flaw(const Matrix& matrix, std::ptrdiff_t& row, std::ptrdiff_t& column);

// An array that is not filled when it is made, and whose content is lost when it grows.
template <class T>
class Scratch {
public:
    void resize(std::size_t size) {
        if (size <= size_) return;
        at_ = std::make_unique_for_overwrite<T[]>(size);
        size_ = size;
    }
    T* data() { return at_.get(); }
    const T* data() const { return at_.get(); }
    T& operator[](std::size_t i) { return at_[i]; }
    const T& operator[](std::size_t i) const { return at_[i]; }
    std::size_t size() const { return size_; }

private:
    std::unique_ptr<T[]> at_;
    std::size_t size_ = 0;
};

// Scratch memory for blocks of up to `rows` nodes; `stride` numbers lie between two rows of a block.
struct Space {
    int rows = 0, stride = 0, width = 0;
    Scratch<int> nodes;           // the nodes of the block: a base, then y
    Scratch<double> upper;        // the rows of D L'
    Scratch<double> lower;        // the rows of L, without its diagonal
    Scratch<double> weight;       // 1 / D
    Scratch<double> inverse;      // the rows of D^(-1/2) L⁻¹, zero above the diagonal
    Scratch<double> squares;      // the sums of squares of its columns: the diagonal of R[nodes]⁻¹
    Scratch<double> z;            // L⁻¹ R, up to `width` columns at a time
    Scratch<double> left;         // var(x | base) for each of these columns
    Scratch<double> explained;    // var(x | base) - var(x | base, y)
    Scratch<unsigned char> marks;  // the columns that must be computed exactly

    void reserve(int more_rows, int more_width);  // what it held is lost if it grows
};

// A solve for all columns of a matrix, kept to be extended: z has a row for each of the nodes, in the
// order in which they came, and one more for y.
struct Rows {
    int y = 0, size = 0, room = 0;
    Scratch<int> nodes;
    Scratch<double> weight, left, z;

    void reserve(int rows, std::ptrdiff_t n);  // keeps nothing if it grows
};

constexpr int WIDEST = 256;   // columns solved at a time, at most and at least
constexpr int NARROWEST = 64;

// How many columns to solve at a time for a factor of this size: a multiple of 8.
int columns_at_a_time(int size);
// Factor R[nodes, nodes]; return whether it is positive definite.
bool factor(const Matrix& matrix, Space& space, int size);
// Write D^(-1/2) L⁻¹ to `inverse`, and the sums of squares of its columns to `squares`.
void invert(Space& space, int size, double* inverse, std::ptrdiff_t stride);
// Write all of M'M, for M = D^(-1/2) L⁻¹: the inverse of R[nodes, nodes].
void multiply_out(const double* inverse, std::ptrdiff_t stride, int size, double* omega, double* column);
// From the inverse over some nodes and y, the last, find that without the nodes at `places`: its
// diagonal, and its row of y, which is the last of `rows`.
void take_out(const double* omega, std::ptrdiff_t stride, int size, const int* places, int count,
              double* diagonal, double* rows);
// Write what base leaves of each column, and what y, the last row, explains of that.
void explain(const Matrix& matrix, Space& space, int size, int from, int width);
// Keep the first `kept` rows, append `count` nodes, and explain all columns by them and y; return
// whether the block is positive definite.
bool extend(const Matrix& matrix, Space& space, Rows& rows, int kept, const int* nodes, int count, int y);
// Mark the columns with ρ² above the cut.  NaN is marked too, so that the exact computation finds it.
void mark_above(Space& space, int width, double cut);
// Mark the columns with offset - spread - power · log(1 - ρ²) - ½ log var(x | base) > 0, and some more.
void mark_bge(Space& space, int width, double offset, const double* spread, double power);
// Return the first marked column from `at` on, or `width`.
inline int next_mark(const unsigned char* marks, int at, int width) {
    for (; at < width && (at & 7); at++)
        if (marks[at]) return at;
    for (; at + 8 <= width; at += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, marks + at, 8);
        if (eight) break;
    }
    for (; at < width; at++)
        if (marks[at]) return at;
    return width;
}
// Solve a block, of columns that belong to variables with several each.
void solve_columns(const Matrix& matrix, Space& space, int size, int from, int width);
// For columns c from `begin` to `end` of a block that was solved, write their covariances with columns
// c + shift given the base, which are the first `given` rows, and given all rows.
void covariances(const Space& space, int given, int size, int width, int shift, int begin, int end,
                 double* before, double* after);
// Replace each q by factor · log(1 - q) + constant; return whether 0 <= q < 1 for all.
bool take_logs(double* values, int count, double factor, double constant);

}  // namespace sges
