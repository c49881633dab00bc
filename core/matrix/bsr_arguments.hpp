// SPDX-License-Identifier: BSD-3-Clause
// The argument of a general matrix's products on a GPU (core/matrix/bsr_product.cuh).
#pragma once

#include "core/host_device.hpp"

namespace hyperplane {

/// A piece of a long row, its blocks [begin, end) and the number of that long row; or a long row, its pieces [begin,
/// end) and the row of the matrix.
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
    double* partial;    // [piece][row of a block]{high, low}
    unsigned* arrived;  // [long row]: how many of its pieces are in `partial`; 0 before and after a product
    long long piece_count, piece_groups;  // pieces, and the thread blocks that have them
    long long blocks;                     // of the matrix
    long long capacity;  // blocks that fit into shared memory: of a thread block (bsr_staged), of a warp (bsr_short)
};

/// Whether bsr_rows gives a warp a block row to itself: where a row has all lanes of one, except for residuals and for
/// blocks of up to four, which take 1.03 to 1.23 times as long then (docs/log/spmv.md).
HYPERPLANE_HD constexpr bool rows_have_warps(int lanes, int dof, bool exact) {
    return lanes == 32 && dof > 4 && !exact;
}
/// Threads of a thread block of bsr_rows.
HYPERPLANE_HD constexpr int rows_threads(int lanes, int dof, bool exact) {
    return rows_have_warps(lanes, dof, exact) ? 128 : 256;
}
/// The most lanes of a row whose sums one thread of bsr_staged forms: the fastest number on an H200.
HYPERPLANE_HD constexpr int staged_own(int lanes, int dof) {
    return (dof == 1 && lanes >= 16) || (dof == 3 && lanes < 32) || dof == 5 || (dof == 6 && lanes == 32) ? 8 : 4;
}
/// Threads that a row of bsr_staged has, of `lanes` lanes.
HYPERPLANE_HD constexpr int staged_team(int lanes, int dof) {
    return lanes > staged_own(lanes, dof) ? lanes / staged_own(lanes, dof) : 1;
}
HYPERPLANE_HD constexpr int staged_threads(int dof) {
    return dof > 4 || dof == 3 ? 64 : 128;
}
/// Rows of a thread block.
HYPERPLANE_HD constexpr int staged_rows(int lanes, int dof) {
    return staged_threads(dof) / staged_team(lanes, dof);
}
/// So many blocks of an odd number of unknowns are whole lines of 128 bytes.
constexpr int line_blocks = 16;
/// Blocks that are copied lie in a line of shared memory as they do in one of memory, so that no line is asked for
/// twice: bsr_staged's shared memory begins with a block whose number is a multiple of this. Rows of one unknown lose
/// by it on an H200 (box27: 0.0894 ms in place of 0.0751), and with 32 lanes of 3 unknowns registers are spilled. Rows
/// of bsr_short gain, and begin with a multiple of line_blocks.
HYPERPLANE_HD constexpr int staged_line(int lanes, int dof) {
    return dof % 2 != 0 && dof > (lanes == 32 ? 3 : 1) ? line_blocks : 4;
}
/// Threads of a thread block of bsr_short, which have a row each.
constexpr int short_threads = 128;
/// The most lanes of a row for which there is bsr_short.
constexpr int most_short_lanes = 4;
/// The most unknowns of a row that bsr_staged has registers for.
constexpr int most_staged_dof = 8;
static_assert(sizeof(BlockRange) == 24);
static_assert(sizeof(BsrProductArguments) == 128);

}  // namespace hyperplane
