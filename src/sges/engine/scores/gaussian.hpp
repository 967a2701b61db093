// Scores of linear Gaussian families, from one correlation matrix R: BIC and BGe.
//
// Every gain is a function of residual variances.
//
//     all inserts    One factor of R[base ∪ y], y last, and one solve against all columns, a block of
//                    them at a time, give var(x | base) and what y explains of it, for every x.  The
//                    solve for the last base of a node is kept, because the next one often shares it in
//                    part: of all nodes if the matrix has up to 256 columns, and of a few nodes with
//                    large bases if it has more.
//     all deletes    One inverse Ω of R[base ∪ y] gives what each x in base explains of y beyond the
//                    others, 1 − ρ²(x, y | base ∖ x) = 1 − ω_xy² / (ω_xx ω_yy).  Some inverses are kept:
//                    taking a few nodes out of one is faster than a new one.
//
// These are turned into gains, with m records:
//
//     BIC    −m/2 log(1 − ρ²) − per_parent
//     BGe    by_size[l + 1] − by_size[l] − (freedom + l + 1)/2 log(1 − ρ²)
//            − ½ log of the posterior variances of y and of x given base,    l = |base| + 1
//
// A logarithm is taken only for a gain that may exceed the caller's `worth`.
#pragma once

#include <array>
#include <memory>

#include "../score.hpp"
#include "matrix.hpp"

namespace sges {

// A correlation matrix, with the memory of one thread: solves and inverses that are kept.
class Columns {
public:
    explicit Columns(const Matrix& matrix);

    const Matrix& matrix() const { return matrix_; }
    Space& space() { return space_; }
    double residual() const { return residual_; }  // var(y | base)
    // Get ready to explain columns by base and y; return whether they are positive definite.
    bool prepare(int y, NodeSpan base);
    int explain_block(int size, int begin);  // return how many columns
    bool factor_family(int y, NodeSpan base);
    // Find the entries of the inverse over base and y that determine the cost of each removal.
    bool invert_family(int y, NodeSpan base);
    double own() const { return own_; }                   // at (y, y)
    double cross(int i) const { return cross_[i]; }       // at (x, y)
    double diagonal(int i) const { return diagonal_[i]; }  // at (x, x)
    // Unmark y and the base in a block, and all nodes but the candidates, if there are any.
    void unmark(int y, NodeSpan base, int begin, int width);
    std::size_t bytes() const;

private:
    static constexpr int SLOTS = 32, WAYS = 2;  // nodes for which inverses are kept, and how many of each
    static constexpr int FEWEST_KEPT = 6, MOST_KEPT = 256;  // sizes of inverses that are kept
    static constexpr int MOST_REMOVED = 3;  // nodes taken out of a kept inverse, rather than a new one
    static constexpr int WIDE_SLOTS = 32, FEWEST_ROWS = 8;  // solves that are kept of a wide matrix
    static constexpr std::ptrdiff_t MOST_NUMBERS = 1 << 23;  // of all solves that are kept: 64 MB

    // The inverse of R[nodes + y], as a factor at first and multiplied out when it is used again.
    struct Inverse {
        int y = -1, size = 0, stride = 0;
        bool is_steady = false, is_multiplied_out = false;
        Nodes nodes;
        std::vector<double> factor, omega;
    };

    bool has_rows(int y, int size);
    bool extend_rows(int y, NodeSpan base);
    bool invert_afresh(int y, NodeSpan base);
    static int removed_from(const Inverse& kept, int y, NodeSpan base, int* places);
    void read_kept(Inverse& kept, const int* places, int removed);
    Inverse& make_slot(int y, int rows);

    Matrix matrix_;
    Space space_;
    std::vector<Rows> rows_;  // the solves for the last bases of some nodes: of y in slot y % size
    std::ptrdiff_t kept_numbers_ = 0;
    bool all_explained_ = false;  // whether the last base has explained all columns already
    int step_ = 0;                // columns explained at a time
    std::array<std::array<Inverse, WAYS>, SLOTS> kept_;
    std::array<int, SLOTS> oldest_{};
    double residual_ = 1.0, own_ = 1.0;
    std::vector<double> cross_, diagonal_;
};

class Gaussian : public Score {
public:
    struct Data {
        Matrix matrix;
        double half, per_parent;  // half the number of records; the cost of each parent
    };
    explicit Gaussian(std::shared_ptr<const Data> data) : data_(std::move(data)), columns_(data_->matrix) {}

    int n() const override { return static_cast<int>(data_->matrix.n); }
    std::unique_ptr<Score> clone() const override { return std::make_unique<Gaussian>(data_); }
    void inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also, double* also_gains,
                 std::vector<Gain>& out) override;
    void deletes(Node y, NodeSpan base, NodeSpan places, double* gains) override;
    double family(Node y, NodeSpan base) override;
    std::size_t bytes() const override { return columns_.bytes(); }

private:
    std::shared_ptr<const Data> data_;
    Columns columns_;
    Nodes xs_;
    std::vector<double> squares_;
};

class BGe : public Score {
public:
    struct Data {
        Matrix matrix;
        std::vector<double> half_spread;  // ½ log of each variance; not a number for a constant column
        std::vector<double> by_size;      // the part that depends on the size of a family only
        double freedom, isolated;         // freedom less n; the gain of an edge at a constant column
    };
    explicit BGe(std::shared_ptr<const Data> data) : data_(std::move(data)), columns_(data_->matrix) {}

    int n() const override { return static_cast<int>(data_->matrix.n); }
    std::unique_ptr<Score> clone() const override { return std::make_unique<BGe>(data_); }
    void inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also, double* also_gains,
                 std::vector<Gain>& out) override;
    void deletes(Node y, NodeSpan base, NodeSpan places, double* gains) override;
    std::size_t bytes() const override { return columns_.bytes(); }

private:
    bool is_constant(Node v) const { return data_->half_spread[v] != data_->half_spread[v]; }
    void keep_varied(NodeSpan base);

    std::shared_ptr<const Data> data_;
    Columns columns_;
    Nodes varied_;  // the nodes of a base that are not constant
};

}  // namespace sges
