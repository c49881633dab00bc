// SPDX-License-Identifier: BSD-3-Clause
// Where the diagonal blocks of a pattern lie, found on a GPU, and the counts of its rows.
#pragma once

#include <string>

#include "core/matrix/block_pattern.hpp"
#include "precond/general/orders/row_counts.hpp"

namespace hyperplane {

struct DiagonalsOnGpu {
    Buffer<Index> place;  ///< [row]: the place of the diagonal block, -1: it is not stored; in the GPU's memory
    RowCounts counts;     ///< those of row_counts
};

/// `pattern` is in the memory of the GPU's context.
DiagonalsOnGpu diagonals_on_gpu(const Context& gpu, const BlockPattern& pattern, bool symmetric,
                                const std::string& label);
/// The counts.long_rows long rows of such a pattern, in no order.
Buffer<int> long_rows_on_gpu(const Context& gpu, const BlockPattern& pattern, const RowCounts& counts,
                             const std::string& label);

}  // namespace hyperplane
