// SPDX-License-Identifier: BSD-3-Clause
// The argument of a general matrix's products on a GPU (core/matrix/bsr_product.cuh).
#pragma once

#include "core/host_device.hpp"

namespace hyperplane {

/// Consecutive blocks of one row; or the pieces of a long row.
struct BlockRange {
    long long begin, end;
    long long row;
};

struct BsrProductArguments {
    const long long* row_begin;
    const int* column;
    const double* values;
    const double* x;
    const double* b;  // of a residual
    double* y;
    long long rows, longest;   // rows with more blocks than `longest` are left to the pieces
    const BlockRange* pieces;  // of long rows
    const BlockRange* long_rows;
    double* partial;  // [piece][row of a block]{high, low}
    long long piece_count, long_row_count;
    long long blocks, capacity;  // of the matrix; of it, those that the shared memory of bsr_staged holds
};

/// Lanes of a row whose sums one thread of bsr_staged forms, at most; as was the fastest.
HYPERPLANE_HD constexpr int staged_own(int lanes, int dof) {
    return (dof == 1 && lanes >= 16) || dof == 3 || dof == 5 ? 8 : 4;
}
/// Threads that a row of bsr_staged has, of `lanes` lanes.
HYPERPLANE_HD constexpr int staged_team(int lanes, int dof) {
    return lanes > staged_own(lanes, dof) ? lanes / staged_own(lanes, dof) : 1;
}
HYPERPLANE_HD constexpr int staged_threads(int dof) {
    return dof > 4 ? 64 : 128;
}
/// Rows of a thread block.
HYPERPLANE_HD constexpr int staged_rows(int lanes, int dof) {
    return staged_threads(dof) / staged_team(lanes, dof);
}
/// The most unknowns of a row that bsr_staged has registers for.
constexpr int most_staged_dof = 8;
static_assert(sizeof(BlockRange) == 24);
static_assert(sizeof(BsrProductArguments) == 120);

}  // namespace hyperplane
