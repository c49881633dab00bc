// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the kernel that factors short rows of blocks (precond/sync_free_ilu/block_factor.cuh).
#pragma once

#include "precond/factors/pivot_log.hpp"
#include "precond/general/orders/slice.hpp"

namespace hyperplane {

struct BlockFactorArguments {
    const SolveSlice* slices;    // of the lower triangle
    const int* order;            // [position]: the row
    const long long* row_begin;  // of the filled pattern
    const int* column;
    const long long* diagonal;
    double* values;  // `unfinished` everywhere before a launch
    const long long* a_row_begin;
    const double* a_values;
    const int* place;             // of A's blocks within their rows, -1: left out; null: A has the same pattern
    const long long* a_diagonal;  // -1: not stored; null: as `diagonal`
    PivotRatio* ratios;           // [thread block]
    PivotRule rule;
    PivotLog* log;
    double shift;  // alpha
    unsigned count;
};
static_assert(sizeof(BlockFactorArguments) == 136);

}  // namespace hyperplane
