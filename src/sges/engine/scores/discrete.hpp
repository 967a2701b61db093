// Scores of discrete data: BIC, qNML and BDeu.
//
// With n_jk the records with parent configuration j and level k of y, n_j those with configuration j, r
// the number of levels of y and q that of configurations,
//
//     BIC    Σ n_jk ln n_jk − Σ n_j ln n_j − penalty · ½ ln m · (r − 1) q
//     qNML   Σ n_jk ln n_jk − Σ n_j ln n_j − [ln C(m, r q) − ln C(m, q)]
//     BDeu   Σ G(n_jk, a / qr) − Σ G(n_j, a / q),    G(n, α) = ln Γ(n + α) − ln Γ(α)
//
// All are a sum of terms over the cells that hold records, minus a sum over configurations.  They differ
// only in the terms (`find_terms`), the constants of BDeu (`value_of`) and the penalties of BIC and qNML
// (`cost_of`).  The gains of a family are computed in three steps:
//
//     number and sort    the rows, by configuration and level of y
//     count              one configuration at a time, 32 candidates at once (`counting.hpp`)
//     add up             the terms of the counts, looked up in tables
//
// Equal rows are merged into one row with a weight where that saves work, and levels that do not occur
// are left out (`columns.py`); the declared number of levels enters only as a number.
#pragma once

#include <memory>
#include <unordered_map>

#include "../score.hpp"
#include "counting.hpp"

namespace sges {

// The data, and which score is computed; the arrays belong to `owner`.
struct Table {
    int n = 0;
    std::uint32_t rows = 0;
    const std::int64_t* weights = nullptr;  // the records of each row; null means one each
    std::vector<counting::Column> columns;
    std::vector<double> arities;    // the declared numbers of levels
    std::vector<int> same_arity;    // the first column with as many levels
    std::vector<int> kinds;         // columns of one kind have the same terms
    std::vector<double> kind_arities;
    std::vector<counting::Block> blocks;
    std::vector<int> lanes;         // the column in each lane of each block, or -1
    std::vector<int> block_kinds, block_depth;  // what the blocks point to
    std::vector<int> alone;         // the columns in no block
    std::uint32_t most_levels = 1;
    bool is_bdeu = false;
    bool in_vectors = false;  // the way in which blocks are counted
    double ess = 1.0;
    double price = 0.0;           // the penalty of a free parameter, for BIC
    double records = 0.0;         // the number of records
    std::vector<double> regrets;  // of 1, 2, ... categories, for qNML; empty for other scores
    double unit = 1.0;            // the records that a weight of one stands for
    std::vector<double> entropies;  // unit · n ln n
    std::shared_ptr<void> owner;

    int kind_count() const { return static_cast<int>(kind_arities.size()); }
};

class Discrete : public Score {
public:
    explicit Discrete(std::shared_ptr<const Table> table);

    int n() const override { return table_->n; }
    std::unique_ptr<Score> clone() const override { return std::make_unique<Discrete>(table_); }
    void inserts(Node y, NodeSpan base, NodeSpan among, double worth, NodeSpan also, double* also_gains,
                 std::vector<Gain>& out) override;
    void deletes(Node y, NodeSpan base, NodeSpan places, double* gains) override;
    double family(Node y, NodeSpan base) override;
    std::size_t bytes() const override { return rising_bytes_ + 100 * static_cast<std::size_t>(table_->rows); }

private:
    // A node with its parents: their number of configurations, and its logarithm.
    struct Family {
        Node y;
        double q, log_q;
    };
    // A table of ln Γ(n + alpha) − ln Γ(1 + alpha).
    struct Rising {
        std::vector<double> values;
        double carry = 0.0;
        std::int64_t known = 0;
    };

    std::uint32_t number_configurations(NodeSpan base);
    void sort_cells(Node y, NodeSpan base);
    void count_records();
    Family family_of(Node y, NodeSpan base, int without) const;
    void find_terms(const Family& family, double arity, int kind);
    void find_all_terms(const Family& family);
    void find_rising(double alpha, counting::Term& term);
    void forget_terms_if_many();
    double value_of(Node y, const counting::Sum& sum, int kind) const;
    double value_as_is(Node y);
    double cost_of(const Family& family, double arity) const;
    double regret_of(const Family& family, double arity) const;
    double regret(double categories) const;
    void choose_candidates(const Family& family, NodeSpan base, NodeSpan among, double before, double worth,
                           NodeSpan also);
    void sum_blocks(Node y);
    void set_value(Node y, Node x, counting::Sum sum);
    std::uint32_t numbers_of(Node y, NodeSpan base) const;
    double value(Node y, NodeSpan base);
    double value_from_table(Node y, NodeSpan base, std::uint32_t numbers);
    double value_from_cells(Node y, NodeSpan base);
    void delete_from_table(Node y, NodeSpan base, std::uint32_t numbers, double* gains);
    void delete_from_cells(Node y, NodeSpan base, double* gains);
    double delete_gain(Node y, NodeSpan base, int i, double before, const counting::Sum& sum) const;
    void name_configurations(NodeSpan base, std::size_t begin, std::size_t end);
    std::uint32_t merge_configurations(Node x, std::uint64_t worth);
    void must_be_finite(Node y, NodeSpan base, Node x, double gain) const;

    std::shared_ptr<const Table> table_;
    std::uint32_t most_numbers_;  // of rows or of configurations
    // The rows by configuration and level of y, and the records of the largest configuration.
    std::vector<std::uint64_t> index_keys_, keys_, names_;
    std::vector<std::uint32_t> index_numbers_, numbers_, counts_;
    std::vector<std::uint32_t> rows_, start_, first_, chosen_, by_level_, level_, example_, sorted_;
    std::vector<std::uint32_t> other_start_, other_first_;
    std::vector<std::int64_t> held_, total_;
    counting::Numbering numbering_{};
    counting::Cells cells_{};
    std::int64_t largest_ = 0;
    // Terms by kind of candidate, and one more for y as it is; with the logarithm of a / q for BDeu.
    std::vector<counting::Terms> terms_;
    std::vector<double> log_alpha_;
    std::unordered_map<double, Rising> risings_;  // by alpha
    std::size_t rising_bytes_ = 0;
    // For inserts.
    std::vector<unsigned char> wanted_;
    std::vector<double> gains_, costs_;  // the penalty of each candidate
    std::vector<counting::Sum> single_;  // over the configurations with a single row, by kind
    std::vector<std::int64_t> tally_counts_, margin_counts_;
    std::vector<std::uint32_t> tally_used_, margin_used_;
    counting::Tally tally_{}, margin_{};
    // For deletes: the records by number, with a parent and without it.
    std::vector<std::int64_t> records_, rest_;
    Nodes others_;
};

// Number the first rows of columns so that only equal ones have the same number.
void number_distinct(const std::vector<counting::Column>& columns, std::uint32_t rows, std::uint32_t* numbers);

}  // namespace sges
