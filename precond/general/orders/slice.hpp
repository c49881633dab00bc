// SPDX-License-Identifier: BSD-3-Clause
// Slices of the rows of a level, which host and kernels share.
#pragma once

namespace hyperplane {

/// Rows that one warp solves (precond/general/orders/slices.hpp).
struct SolveSlice {
    long long begin;  ///< of its blocks
    int first;        ///< position of its first row
    int width;        ///< blocks of a group of lanes
    int rows, lanes;  ///< lanes: groups of a row
};

/// Rows that one warp factors (precond/general/orders/tables.hpp).
struct TableSlice {
    long long pivots;   ///< where its pivots begin
    long long offsets;  ///< where its offsets begin; of a long row, its entries in `long_rows`
    int first;          ///< position of its first row
    int width;          ///< steps
    int rows, lanes;    ///< lanes of a row; 0: a long row
};
static_assert(sizeof(SolveSlice) == 24 && sizeof(TableSlice) == 32);

}  // namespace hyperplane
