// SPDX-License-Identifier: BSD-3-Clause
// BlockPattern: which blocks of a general sparse matrix are stored, in compressed rows.
//
//   the blocks of block row i are row_begin[i], ..., row_begin[i + 1] - 1; block b lies in block column column[b]
//
// Columns ascend within a row. Row pointers have 64 bits and columns 32, so a matrix may have more than 2^31 blocks,
// but not more than 2^31 - 1 block rows. The matrix is square. Where several ranks share its rows, a rank has the
// pattern of its own rows, and columns are slots of its part (core/grid/row_slab.hpp), which may be negative.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/grid/index_space.hpp"
#include "core/matrix/row_order.hpp"

namespace hyperplane {

class BlockPattern {
public:
    /// Takes arrays of one backend: row_begin has one value more than there are rows, and begins with 0. `order`: the
    /// order in which the rows are; null for the given one. Throws Error (internal) if the host can read the arrays
    /// and they are no compressed rows with ascending columns.
    /// `whole`: for a rank's rows, the pattern of all rows.
    BlockPattern(Buffer<Index> row_begin, Buffer<int> column, std::shared_ptr<const RowOrder> order = nullptr,
                 std::shared_ptr<const RowSlab> slab = nullptr, std::shared_ptr<const BlockPattern> whole = nullptr);
    /// Copies arrays to a context's memory. Throws UsageError if there are more than 2^31 - 1 rows.
    BlockPattern(const Context& context, const std::vector<Index>& row_begin, const std::vector<int>& column,
                 const std::string& label);

    Index rows() const { return row_begin_.size() - 1; }
    Index blocks() const { return column_.size(); }
    /// Blocks of a row of the whole matrix on average; 0 without rows.
    double mean() const {
        const Index all_rows = slab_ ? slab_->whole.rows : rows(), all_blocks = slab_ ? slab_->whole.blocks : blocks();
        return all_rows > 0 ? double(all_blocks) / double(all_rows) : 0.0;
    }
    /// Whether rows of more than 32 blocks and at most 512 have an eighth of the blocks of the whole matrix, although
    /// its rows have fewer than 16 on average: a GPU then divides the rows among its threads by their lengths
    /// (core/matrix/bsr_product.cuh). The host must be able to read the row pointers.
    bool is_uneven() const {
        return is_uneven(mean(), slab_ ? slab_->whole.in_long_rows : blocks_in_long_rows(),
                         slab_ ? slab_->whole.blocks : blocks());
    }
    static bool is_uneven(double mean, Index in_long_rows, Index blocks) {
        return mean < 16.0 && in_long_rows > 0 && 8 * in_long_rows >= blocks;
    }
    static bool is_long_row(Index blocks) { return blocks > 32 && blocks <= 512; }
    /// The blocks in such rows, of the rows here.
    Index blocks_in_long_rows() const;
    const Context& context() const { return row_begin_.context(); }
    Backend backend() const { return row_begin_.backend(); }
    const Index* row_begin() const { return row_begin_.data(); }
    const int* column() const { return column_.data(); }
    /// The order in which the rows are; null for the given one.
    const std::shared_ptr<const RowOrder>& order() const { return order_; }
    /// The part of the rows that this pattern has, where several ranks share them; otherwise null.
    const std::shared_ptr<const RowSlab>& slab() const { return slab_; }
    /// The pattern of all rows, in the host's memory, where several ranks share those of a problem's matrix; otherwise
    /// null. It is for what needs the graph of the whole matrix.
    const std::shared_ptr<const BlockPattern>& whole() const { return whole_; }
    /// The index space of vectors that a matrix with this pattern is multiplied with.
    IndexSpace space() const { return slab_ ? IndexSpace::plain(slab_) : IndexSpace::plain(rows()); }
    /// The number that a row or column has in the given order.
    Index given_row(Index row) const {
        if (slab_) row = slab_->row(row);
        return order_ ? order_->given[row] : row;
    }
    /// The number that a row's equation has in the given order.
    Index given_equation(Index row) const {
        if (slab_) row = slab_->row(row);
        return order_ ? order_->equations()[row] : row;
    }
    Index bytes() const { return bytes(rows(), blocks()); }
    static Index bytes(Index rows, Index blocks) {
        return (rows + 1) * Index(sizeof(Index)) + blocks * Index(sizeof(int));
    }

    /// The same pattern in the memory of another backend.
    std::shared_ptr<const BlockPattern> copied_to(const Context& context, const std::string& label) const;

    // The rest is for patterns that the host can read.

    /// The first row of part `part` of `parts`: rows are divided so that parts have equal numbers of blocks and rows.
    Index first_row(int part, int parts) const;
    /// The place of block (row, column), or -1 if it is not stored.
    Index find(Index row, int column) const {
        const int *begin = column_.data() + row_begin_[row], *end = column_.data() + row_begin_[row + 1];
        const int* at = std::lower_bound(begin, end, column);
        return at != end && *at == column ? at - column_.data() : -1;
    }
    /// Statistics of the whole matrix, also where several ranks share its rows.
    PatternStatistics statistics() const;

private:
    void check() const;

    Buffer<Index> row_begin_;
    Buffer<int> column_;
    std::shared_ptr<const RowOrder> order_;
    std::shared_ptr<const RowSlab> slab_;
    std::shared_ptr<const BlockPattern> whole_;
};

/// The largest number of block rows.
inline constexpr Index most_block_rows = (Index(1) << 31) - 1;

}  // namespace hyperplane
