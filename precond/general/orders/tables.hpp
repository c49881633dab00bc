// SPDX-License-Identifier: BSD-3-Clause
// The order and the tables of a factorisation that reads no column indices (precond/sync_free_ilu/table_factor.cuh).
//
// Which entries of two rows meet follows from the pattern. It is found once, in the symbolic part, and kept in tables
// that lie in the order in which a GPU's warps read them. Rows are level by level, and a row's place in this order is
// its position. A short row has 4, 8, 16 or 32 lanes, one for each of its entries; of a symmetric matrix, for those
// from the diagonal on. Short rows of one level with as many lanes are a slice, up to 32 lanes, which one warp works
// on; a long row is a slice of its own (its `lanes` are 0). A step s of a slice eliminates the s-th entry below the
// diagonal of each of its rows:
//
//     pivot [pivots + s * rows + row]                    the place of the diagonal of row k, the step's column
//     offset[offsets + (s * rows + row) * lanes + lane]  how far after it the entry of row k lies that the lane needs;
//                                                        0: there is none
#pragma once

#include "precond/general/orders/levels.hpp"
#include "precond/general/orders/row_counts.hpp"
#include "precond/general/pattern/fill.hpp"

namespace hyperplane {

/// What the kernels are specialised on.
struct TableShape {
    bool symmetric;
    int offset_bytes;  ///< 1, 2 or 4: the longest row decides

    bool operator==(const TableShape&) const = default;
};

struct TableSizes {
    Index slices = 0;
    Index pivots = 0, offsets = 0;  ///< of all slices, those that stay empty included
    Index in_long_rows = 0;         ///< entries
};

/// In the memory of the host or of a GPU.
struct TableOrder {
    Buffer<int> row;  ///< [position]
    Buffer<TableSlice> slices;
    TableSizes sizes;
    Index levels = 0;
};

TableShape table_shape(const RowCounts& counts, bool symmetric);
/// Whether tables pay: short rows have most of the entries, the tables are not much larger than the factors, and places
/// in the pattern can be numbered by 32 bits.
bool tables_pay(const RowCounts& counts, const TableShape& shape);
/// In the host's memory, as `filled` is; `levels` are those of the lower triangle. A GPU finds the same order
/// (orders_cuda.hpp).
TableOrder table_order(const Context& host, const FilledPattern& filled, const RowLevels& levels,
                       const TableShape& shape, const std::string& label);

}  // namespace hyperplane
