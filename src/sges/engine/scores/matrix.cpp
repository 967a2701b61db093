#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "../builtins.hpp"

namespace sges {

namespace {

using std::ptrdiff_t;

constexpr int CACHE = 3000;    // doubles that stay in the first cache
constexpr int FETCHED = 1000;  // columns of a matrix that is too large for any cache

// row = source - Σ_j weights[j] · above[j], over as many rows above, `stride` apart, as one pass takes:
// four, two, one or none of `count`.  Return how many.
template <class Number>
SGES_INLINE int subtract_some(double* row, const Number* source, const double* SGES_RESTRICT above,
                              ptrdiff_t stride, const double* SGES_RESTRICT weights, int count, int width) {
    const double *SGES_RESTRICT p = above, *SGES_RESTRICT q = p + stride;
    if (count >= 4) {
        const double *SGES_RESTRICT r = q + stride, *SGES_RESTRICT s = r + stride;
        const double a = weights[0], b = weights[1], d = weights[2], e = weights[3];
        SGES_SIDE_BY_SIDE
        for (int c = 0; c < width; c++)
            row[c] = (static_cast<double>(source[c]) - (a * p[c] + b * q[c])) - (d * r[c] + e * s[c]);
        return 4;
    }
    if (count >= 2) {
        const double a = weights[0], b = weights[1];
        SGES_SIDE_BY_SIDE
        for (int c = 0; c < width; c++) row[c] = static_cast<double>(source[c]) - (a * p[c] + b * q[c]);
        return 2;
    }
    if (count) {
        const double a = weights[0];
        SGES_SIDE_BY_SIDE
        for (int c = 0; c < width; c++) row[c] = static_cast<double>(source[c]) - a * p[c];
        return 1;
    }
    SGES_SIDE_BY_SIDE
    for (int c = 0; c < width; c++) row[c] = static_cast<double>(source[c]);
    return 0;
}

// row -= Σ_j weights[j] · above[j], over `count` rows that are `stride` apart.
SGES_INLINE void eliminate(double* row, const double* above, ptrdiff_t stride, const double* weights, int count,
                           int width) {
    for (int done; count > 0; count -= done, above += done * stride, weights += done)
        done = subtract_some(row, row, above, stride, weights, count, width);
}

// row = the entries of row i of a matrix, from column `from` on, less multiples of rows above.
SGES_INLINE void reduce(const Matrix& m, ptrdiff_t i, ptrdiff_t from, double* row, const double* above,
                        ptrdiff_t stride, const double* weights, int count, int width) {
    const ptrdiff_t at = i * m.n + from;
    const int done =
        m.is_single
            ? subtract_some(row, static_cast<const float*>(m.entries) + at, above, stride, weights, count, width)
            : subtract_some(row, static_cast<const double*>(m.entries) + at, above, stride, weights, count, width);
    eliminate(row, above + done * stride, stride, weights + done, count - done, width);
}

// sums -= Σ_j weights[j] · above[j] · beside[j], where `beside` are the same rows, shifted.
SGES_INLINE void subtract_products(double* SGES_RESTRICT sums, const double* above, const double* beside,
                                   ptrdiff_t stride, const double* SGES_RESTRICT weights, int count, int width) {
    for (; count >= 2; count -= 2, above += 2 * stride, beside += 2 * stride, weights += 2) {
        const double *p = above, *q = above + stride, *r = beside, *s = beside + stride;
        const double a = weights[0], b = weights[1];
        for (int c = 0; c < width; c++) sums[c] -= a * (p[c] * r[c]) + b * (q[c] * s[c]);
    }
    if (count)
        for (int c = 0; c < width; c++) sums[c] -= weights[0] * (above[c] * beside[c]);
}

// Write z for the columns from `from` on.
SGES_INLINE void solve(const Matrix& m, Space& space, int size, int from, int width) {
    const std::size_t bytes = m.is_single ? sizeof(float) : sizeof(double);
    for (int i = 0; i < size; i++) {
        const ptrdiff_t next = space.nodes[i] * m.n + from + width;
        if (m.n > FETCHED && from + width < m.n)  // a block is too short for the processor to predict the next
            prefetch(static_cast<const char*>(m.entries) + static_cast<std::size_t>(next) * bytes,
                     static_cast<std::size_t>(std::min<ptrdiff_t>(width, m.n - from - width)) * bytes);
        reduce(m, space.nodes[i], from, space.z.data() + static_cast<ptrdiff_t>(i) * width, space.z.data(), width,
               space.lower.data() + static_cast<ptrdiff_t>(i) * space.stride, i, width);
    }
}

// Write row `at` of a kept solve: the entries of a node, less what the rows before it explain of them.
SGES_INLINE bool append(const Matrix& m, Rows& rows, int at, int node, double* shares) {
    double* row = rows.z.data() + at * m.n;
    for (int j = 0; j < at; j++) shares[j] = rows.z[static_cast<std::size_t>(j * m.n + node)] * rows.weight[j];
    reduce(m, node, 0, row, rows.z.data(), m.n, shares, at, static_cast<int>(m.n));
    rows.weight[at] = 1.0 / row[node];
    return row[node] > 0.0;
}

// log(1 - q) for 0 <= q < 1, to about one unit in the last place.
//
// 1 - q = 2^k (1 + f) with 1 + f from √½ to √2, and with s = f / (2 + f)
//
//     log(1 + f) = 2 s (1 + s²/3 + s⁴/5 + ...) = f - s (f - 2 (s²/3 + s⁴/5 + ...))
//
// There are no branches, so that many are computed side by side.
SGES_INLINE double log_of_rest(double q) {
    const double log2_high = 0x1.62e42feep-1, log2_low = 0x1.a39ef35793c76p-33;
    const std::uint64_t root = 0x3fe6a09e00000000, one = 0x3ff0000000000000;        // √½, about; 1
    const std::uint64_t fraction = 0x000fffffffffffff, whole = 0x4330000000000000;  // 2^52
    const double rest = 1.0 - q, rounding = ((1.0 - rest) - q) / rest;
    double mantissa, exponent;
    std::uint64_t bits;
    std::memcpy(&bits, &rest, sizeof bits);
    bits += one - root;
    const std::uint64_t shifted = (bits >> 52) | whole;
    std::memcpy(&exponent, &shifted, sizeof shifted);
    exponent -= 0x1p52 + 1023.0;
    bits = (bits & fraction) + root;
    std::memcpy(&mantissa, &bits, sizeof bits);
    const double f = mantissa - 1.0, s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double tail = 2.0 / 19 + z * (2.0 / 21);
    tail = 2.0 / 15 + z * (2.0 / 17 + z * tail);
    tail = 2.0 / 11 + z * (2.0 / 13 + z * tail);
    tail = 2.0 / 7 + z * (2.0 / 9 + z * tail);
    tail = z * (2.0 / 3 + z * (2.0 / 5 + z * tail));
    const double low = s * (half + tail) + (exponent * log2_low + rounding);
    return exponent * log2_high - ((half - low) - f);
}

}  // namespace

void find_flaw(const Matrix& m, ptrdiff_t& row, ptrdiff_t& column) {
    constexpr ptrdiff_t TILE = 64;  // so that a row and a column of a large matrix are not far apart
    constexpr double most = 1.0 + 1e-6, asymmetry = 1e-6;
    for (ptrdiff_t top = 0; top < m.n; top += TILE)
        for (ptrdiff_t side = 0; side <= top; side += TILE)
            for (ptrdiff_t i = top; i < top + TILE && i < m.n; i++)
                for (ptrdiff_t j = side; j < side + TILE && j <= i; j++) {
                    const double a = m.at(i, j), b = m.at(j, i);
                    const bool good =
                        i == j ? a == 1.0 : std::fabs(a) <= most && std::fabs(a - b) <= asymmetry;
                    if (!good) {
                        row = i, column = j;
                        return;
                    }
                }
    row = -1;
}

// The sizes change last: if memory runs out, they are those of before, for which there is room.
void Space::reserve(int more_rows, int more_width) {
    if (more_rows <= rows && more_width <= width) return;
    const int new_rows = std::max(rows, more_rows + more_rows / 2 + 8), new_stride = (new_rows + 7) & ~7;
    const int new_width = std::max(width, (more_width + 7) & ~7);
    const std::size_t block = static_cast<std::size_t>(new_rows) * static_cast<std::size_t>(new_stride);
    for (auto* some : {&upper, &lower, &inverse}) some->resize(block);
    for (auto* some : {&weight, &squares}) some->resize(new_stride);
    nodes.resize(new_stride);
    for (auto* some : {&left, &explained}) some->resize(std::max(new_width, new_stride));
    marks.resize(new_width);
    z.resize(static_cast<std::size_t>(new_rows) * static_cast<std::size_t>(new_width));
    rows = new_rows, stride = new_stride, width = new_width;
}

void Rows::reserve(int more, ptrdiff_t n) {
    if (more <= room) return;
    size = 0;
    const int new_room = more + more / 2 + 4;
    nodes.resize(new_room);
    weight.resize(new_room);
    left.resize(static_cast<std::size_t>(n));
    z.resize(static_cast<std::size_t>(new_room) * static_cast<std::size_t>(n));
    room = new_room;
}

int columns_at_a_time(int size) {
    const int width = CACHE / (size + 2) & ~7;
    return width > WIDEST ? WIDEST : width < NARROWEST ? NARROWEST : width;
}

SGES_FOR_EACH_MACHINE
bool factor(const Matrix& m, Space& space, int size) {
    const ptrdiff_t stride = space.stride;
    const int* nodes = space.nodes.data();
    for (int i = 0; i < size; i++) {
        double *row = space.upper.data() + i * stride, *weights = space.lower.data() + i * stride;
        for (int c = i; c < size; c++) row[c] = m.at(nodes[i], nodes[c]);
        for (int j = 0; j < i; j++)
            weights[j] = space.upper[static_cast<std::size_t>(j * stride + i)] * space.weight[j];
        eliminate(row + i, space.upper.data() + i, stride, weights, i, size - i);
        if (!(row[i] > 0.0)) return false;
        space.weight[i] = 1.0 / row[i];
    }
    return true;
}

SGES_FOR_EACH_MACHINE
void invert(Space& space, int size, double* inverse, ptrdiff_t stride) {
    for (int i = 0; i < size; i++) {
        double* row = inverse + i * stride;
        for (int c = 0; c < size; c++) row[c] = 0.0;
        row[i] = 1.0;
        for (int j = 0; j < i; j += 4) {  // row j of the inverse ends at column j
            const int count = i - j < 4 ? i - j : 4;
            eliminate(row, inverse + j * stride, stride,
                      space.lower.data() + static_cast<ptrdiff_t>(i) * space.stride + j, count, j + count);
        }
    }
    double* SGES_RESTRICT squares = space.squares.data();
    for (int c = 0; c < size; c++) squares[c] = 0.0;
    for (int i = 0; i < size; i++) {
        double* SGES_RESTRICT row = inverse + i * stride;
        const double scale = std::sqrt(space.weight[i]);
        for (int c = 0; c <= i; c++) {
            row[c] *= scale;
            squares[c] += row[c] * row[c];
        }
    }
}

SGES_FOR_EACH_MACHINE
void multiply_out(const double* inverse, ptrdiff_t stride, int size, double* omega, double* column) {
    for (int p = 0; p < size; p++) {
        double* row = omega + p * stride;
        for (int i = p; i < size; i++) column[i] = -inverse[i * stride + p];
        for (int c = 0; c <= p; c++) row[c] = 0.0;
        eliminate(row, inverse + p * stride, stride, column + p, size - p, p + 1);
        for (int c = 0; c < p; c++) omega[c * stride + p] = row[c];
    }
}

// Each pivot takes from the later `rows` what the node explained.
SGES_FOR_EACH_MACHINE
void take_out(const double* omega, ptrdiff_t stride, int size, const int* places, int count, double* diagonal,
              double* rows) {
    for (int c = 0; c < size; c++) diagonal[c] = omega[c * stride + c];
    for (int k = 0; k <= count; k++)
        std::memcpy(rows + static_cast<ptrdiff_t>(k) * size, omega + (k < count ? places[k] : size - 1) * stride,
                    static_cast<std::size_t>(size) * sizeof(double));
    for (int k = 0; k < count; k++) {
        const double* SGES_RESTRICT pivot = rows + static_cast<ptrdiff_t>(k) * size;
        const double weight = 1.0 / pivot[places[k]];
        for (int c = 0; c < size; c++) diagonal[c] -= weight * (pivot[c] * pivot[c]);
        for (int i = k + 1; i <= count; i++) {
            double* SGES_RESTRICT row = rows + static_cast<ptrdiff_t>(i) * size;
            const double share = row[places[k]] * weight;
            for (int c = 0; c < size; c++) row[c] -= share * pivot[c];
        }
    }
}

SGES_FOR_EACH_MACHINE
void explain(const Matrix& m, Space& space, int size, int from, int width) {
    double *SGES_RESTRICT left = space.left.data(), *SGES_RESTRICT explained = space.explained.data();
    solve(m, space, size, from, width);
    for (int c = 0; c < width; c++) left[c] = 1.0;
    subtract_products(left, space.z.data(), space.z.data(), width, space.weight.data(), size - 1, width);
    const double* last = space.z.data() + static_cast<ptrdiff_t>(size - 1) * width;
    const double weight = space.weight[size - 1];
    for (int c = 0; c < width; c++) explained[c] = weight * (last[c] * last[c]);
}

SGES_FOR_EACH_MACHINE
bool extend(const Matrix& m, Space& space, Rows& rows, int kept, const int* nodes, int count, int y) {
    const int n = static_cast<int>(m.n);
    int first = kept;
    double *SGES_RESTRICT left = rows.left.data(), *SGES_RESTRICT explained = space.explained.data();
    if (kept < rows.size || kept == 0) {
        first = 0;
        for (int c = 0; c < n; c++) left[c] = 1.0;
    }
    rows.size = 0;
    for (int i = 0; i < count; i++) {
        rows.nodes[kept + i] = nodes[i];
        if (!append(m, rows, kept + i, nodes[i], space.left.data())) return false;
    }
    const int size = kept + count;
    const double *added = rows.z.data() + static_cast<ptrdiff_t>(first) * n,
                 *last = rows.z.data() + static_cast<ptrdiff_t>(size) * n;
    subtract_products(left, added, added, n, rows.weight.data() + first, size - first, n);
    if (!append(m, rows, size, y, space.left.data())) return false;
    for (int c = 0; c < n; c++) explained[c] = rows.weight[size] * (last[c] * last[c]);
    std::memcpy(space.left.data(), left, static_cast<std::size_t>(n) * sizeof(double));
    rows.size = size;
    return true;
}

SGES_FOR_EACH_MACHINE
void mark_above(Space& space, int width, double cut) {
    const double *SGES_RESTRICT left = space.left.data(), *SGES_RESTRICT explained = space.explained.data();
    unsigned char* SGES_RESTRICT marks = space.marks.data();
    for (int c = 0; c < width; c++) marks[c] = !(explained[c] <= cut * left[c]);
}

// Logarithms are bounded by -log t <= 1 / t - 1, all multiplied by t > 0.
SGES_FOR_EACH_MACHINE
void mark_bge(Space& space, int width, double offset, const double* spread, double power) {
    const double *SGES_RESTRICT left = space.left.data(), *SGES_RESTRICT explained = space.explained.data();
    unsigned char* SGES_RESTRICT marks = space.marks.data();
    offset -= 0.5;
    for (int c = 0; c < width; c++) {
        const double l = left[c], e = explained[c], both = l - e;
        const double bound = (offset - spread[c]) * (both * l) + (power * (e * l) + 0.5 * both);
        marks[c] = !(bound <= 0.0) | !(both > 0.0);
    }
}

SGES_FOR_EACH_MACHINE
void solve_columns(const Matrix& m, Space& space, int size, int from, int width) {
    solve(m, space, size, from, width);
}

SGES_FOR_EACH_MACHINE
void covariances(const Space& space, int given, int size, int width, int shift, int begin, int end,
                 double* before, double* after) {
    const double *z = space.z.data() + begin, *beyond = z + static_cast<ptrdiff_t>(given) * width;
    before += begin;
    after += begin;
    for (int c = 0; c < end - begin; c++) before[c] = shift ? 0.0 : 1.0;
    subtract_products(before, z, z + shift, width, space.weight.data(), given, end - begin);
    std::memcpy(after, before, static_cast<std::size_t>(end - begin) * sizeof(double));
    subtract_products(after, beyond, beyond + shift, width, space.weight.data() + given, size - given, end - begin);
}

SGES_FOR_EACH_MACHINE
bool take_logs(double* values, int count, double factor, double constant) {
    std::int64_t good = 1;
    for (int i = 0; i < count; i++) {
        good &= static_cast<std::int64_t>(values[i] >= 0.0) & static_cast<std::int64_t>(values[i] < 1.0);
        values[i] = log_of_rest(values[i]) * factor + constant;
    }
    return good != 0;
}

}  // namespace sges
