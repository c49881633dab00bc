// SPDX-License-Identifier: BSD-3-Clause
// The argument of block-asynchronous sweeps with a triangle of a general matrix
// (precond/general/sweeps/async_sweep.cuh).
#pragma once

namespace hyperplane {

struct AsyncSweepArguments {
    const long long* row_begin;  // of the strict triangle
    const int* column;
    const double* values;
    const double* b;
    double* x;
    unsigned* next;  // the block that begins next, 0 before and after a sweep; null: blocks have no order
    long long rows;
    int longest;     // rows with more blocks have all threads of a thread block
    int descending;  // whether the last block begins first
};
static_assert(sizeof(AsyncSweepArguments) == 64);

}  // namespace hyperplane
