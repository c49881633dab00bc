// SPDX-License-Identifier: BSD-3-Clause
// Sums of the rows of a general matrix by the lanes of a row, and the pieces of long rows (core/matrix/bsr_product.cuh,
// which has the definitions).
#pragma once

#include "core/matrix/bsr_arguments.hpp"
#include "core/matrix/bsr_sums.cuh"

namespace hyperplane {

#if EXACT
typedef ExactSum Sum;
#else
typedef PlainSum Sum;
#endif

/// The sums of `lanes` adjacent threads, added pairwise; lane r receives row r.
template <int lanes>
__device__ __forceinline__ Sum added_by_lanes(Sum (&sum)[DOF], int lane) {
    return added_by_lanes_of<Sum, DOF, lanes>(sum, lane);
}

template <class Value>
__device__ __forceinline__ Value load_once(const Value* at) {
    return load_once_of<DOF>(at);
}

/// The rows of the blocks [begin, end), added by `lanes` adjacent threads; lane r receives row r.
template <int lanes>
__device__ __forceinline__ Sum sum_of(const BsrProductArguments& a, long long begin, long long end, int lane) {
    return sum_of_blocks<Sum, DOF, lanes>(a.column, a.values, begin, end, lane,
                                          [&](long long at) { return __ldg(a.x + at); });
}

__device__ __forceinline__ void store(const BsrProductArguments& a, long long row, int r, Sum sum) {
#if EXACT
    Sum with_b;
    with_b.add(a.b[row * DOF + r]);
    with_b.add(sum);
    sum = with_b;
#endif
    a.y[row * DOF + r] = sum.value();
}

/// The sums of a piece's rows, by a warp that asks for several blocks at a time.
__device__ __forceinline__ Sum sum_of_piece(const BsrProductArguments& a, long long begin, long long end, int lane) {
    constexpr int group = 32 / DOF, rounds = DOF >= 4 ? 1 : 4 / DOF;
    const int c = lane % DOF, first = lane / DOF;
    Sum sum[DOF];
    if (first < group)
        for (long long base = begin + first; base < end; base += group * rounds) {
            double x[rounds], value[rounds][DOF];
#pragma unroll
            for (int round = 0; round < rounds; ++round) {
                const long long at = base + round * group;
                if (at >= end) continue;
                x[round] = __ldg(a.x + (long long)__ldg(a.column + at) * DOF + c);
#pragma unroll
                for (int r = 0; r < DOF; ++r) value[round][r] = __ldg(a.values + (at * DOF + r) * DOF + c);
            }
#pragma unroll
            for (int round = 0; round < rounds; ++round)
                if (base + round * group < end)
#pragma unroll
                    for (int r = 0; r < DOF; ++r) add_fused(sum[r], value[round][r], x[round]);
        }
    return added_by_lanes<32>(sum, lane);
}

/// Whether a whole warp adds a row with so many blocks, in a kernel for uneven rows.
__device__ __forceinline__ bool is_added_by_warp(const BsrProductArguments& a, long long blocks) {
    return UNEVEN && blocks > 32 && blocks <= a.longest;
}

/// Those of a warp's rows that the whole warp adds, one after the other, by sum_of_row(begin, end, lane). A thread with
/// `first` has one of them, `row`, whose blocks are [begin, end).
template <class SumOf>
__device__ __forceinline__ void add_rows_by_warp(const BsrProductArguments& a, bool first, long long row,
                                                 long long begin, long long end, const SumOf& sum_of_row) {
    if constexpr (UNEVEN) {
        const int lane = threadIdx.x % 32;
        for (unsigned left = __ballot_sync(0xffffffffu, first); left != 0; left &= left - 1) {
            const int from = __ffs(left) - 1;
            const long long start = __shfl_sync(0xffffffffu, begin, from), stop = __shfl_sync(0xffffffffu, end, from),
                            added = __shfl_sync(0xffffffffu, row, from);
            const Sum sum = sum_of_row(start, stop, lane);
            if (lane < DOF) store(a, added, lane, sum);
        }
    }
}

__device__ __forceinline__ Sum partial_sum(const BsrProductArguments& a, long long piece, int r) {
    const double* const at = a.partial + (piece * DOF + r) * 2;
    Sum sum;
#if EXACT
    sum.high = __ldcg(at), sum.low = __ldcg(at + 1);
#else
    sum.sum = __ldcg(at);
#endif
    return sum;
}

/// A warp's piece of a long row; the last warp of the row adds the sums of all its pieces.
__device__ __forceinline__ void add_piece(const BsrProductArguments& a, long long piece) {
    if (piece >= a.piece_count) return;
    const int lane = threadIdx.x % 32;
    const BlockRange mine = a.pieces[piece], all = a.long_rows[mine.row];
    const Sum sum = sum_of_piece(a, mine.begin, mine.end, lane);
    if (lane < DOF) {
        double* const partial = a.partial + (piece * DOF + lane) * 2;
#if EXACT
        partial[0] = sum.high, partial[1] = sum.low;
#else
        partial[0] = sum.sum;
#endif
        __threadfence();
    }
    __syncwarp();
    unsigned before = 0;
    if (lane == 0) before = atomicAdd(a.arrived + mine.row, 1u);
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before + 1 < all.end - all.begin) return;
    __threadfence();
    // A lane has the sums of one row of a block and of every group-th piece, and hands them on to those that add.
    constexpr int group = 32 / DOF;
    const int r = lane % DOF, first = lane / DOF;
    Sum total;
    for (long long base = all.begin; base < all.end; base += group) {
        const Sum some = first < group && base + first < all.end ? partial_sum(a, base + first, r) : Sum();
#pragma unroll
        for (int k = 0; k < group; ++k) {
            const Sum one = from_lane(some, k * DOF + r);
            if (base + k < all.end) total.add(one);
        }
    }
    if (lane < DOF) store(a, all.row, lane, total);
    if (lane == 0) a.arrived[mine.row] = 0;  // for the next product
}

}  // namespace hyperplane
