// The degenerate Gaussian: a block of columns for each variable (indicators of levels, or a basis of
// functions), of any width.  log(1 − ρ²) of `gaussian.hpp` becomes a difference of two log-determinants.
#pragma once

#include <memory>

#include "../score.hpp"
#include "matrix.hpp"

namespace sges {

class Blocks : public Score {
public:
    struct Data {
        Matrix matrix;            // columns of one variable are uncorrelated
        std::vector<int> starts;  // variable v is the columns from starts[v] to starts[v + 1]
        double half, per_parameter;
        int widest = 1;

        int width(Node v) const { return starts[v + 1] - starts[v]; }
    };
    explicit Blocks(std::shared_ptr<const Data> data);

    int n() const override { return static_cast<int>(data_->starts.size()) - 1; }
    std::unique_ptr<Score> clone() const override { return std::make_unique<Blocks>(data_); }
    void inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also, double* also_gains,
                 std::vector<Gain>& out) override;
    void deletes(Node y, NodeSpan base, NodeSpan places, double* gains) override;

private:
    int factor_blocks(Node y, NodeSpan base);
    Node solve_variables(Node first, int given, int rows);
    double lost(Node x, double cut);
    void add_products(int place, int width, int begin, int end, double* sums, const double* start) const;

    std::shared_ptr<const Data> data_;
    Space space_;
    // The block that was solved last, and the covariances in it, by distance of the columns.
    int begin_ = 0, width_ = 0;
    std::vector<double> before_, after_;
    std::vector<double> cuts_;  // by width of x: the ratios of determinants at which a gain is just worth it
    std::vector<double> work_;  // two small square matrices
};

}  // namespace sges
