// SPDX-License-Identifier: BSD-3-Clause
// The argument of a general matrix's products on a GPU (core/matrix/bsr_product.cuh).
#pragma once

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
};
static_assert(sizeof(BlockRange) == 24);
static_assert(sizeof(BsrProductArguments) == 104);

}  // namespace hyperplane
