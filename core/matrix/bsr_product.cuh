// SPDX-License-Identifier: BSD-3-Clause
// y = A x of a general matrix, or the residual r = b - A x in twice the working precision, on a GPU.
//
// LANES threads of a warp have one block row. Lane l takes column l mod DOF of the blocks l / DOF, l / DOF + GROUP, ...
// of the row, so that adjacent lanes read adjacent values; then the lanes' sums are added pairwise. Rows with more than
// `longest` blocks are cut into pieces, which have a warp each (bsr_pieces) and whose sums are added in their order
// (bsr_long_rows). Every sum has an order that follows from the pattern.
//
// Definitions: DOF, LANES (a power of two, DOF <= LANES <= 32), EXACT (the residual).

#include "core/matrix/bsr_arguments.hpp"
#include "core/matrix/sums.cuh"

namespace hyperplane {

#if EXACT
typedef ExactSum Sum;
#else
typedef PlainSum Sum;
#endif

__device__ __forceinline__ ExactSum from_lane(const ExactSum& sum, int distance, int width) {
    ExactSum other;
    other.high = __shfl_xor_sync(0xffffffffu, sum.high, distance, width);
    other.low = __shfl_xor_sync(0xffffffffu, sum.low, distance, width);
    return other;
}
__device__ __forceinline__ PlainSum from_lane(const PlainSum& sum, int distance, int width) {
    PlainSum other;
    other.sum = __shfl_xor_sync(0xffffffffu, sum.sum, distance, width);
    return other;
}

/// The rows of the blocks [begin, end), added by `lanes` adjacent threads; lane r receives row r.
template <int lanes>
__device__ __forceinline__ Sum sum_of(const BsrProductArguments& a, long long begin, long long end, int lane) {
    constexpr int group = lanes / DOF;
    const int c = lane % DOF, first = lane / DOF;
    Sum sum[DOF];
    if (first < group)
        for (long long at = begin + first; at < end; at += group) {
            const double x = __ldg(a.x + (long long)__ldg(a.column + at) * DOF + c);
            const double* const block = a.values + at * DOF * DOF + c;
#pragma unroll
            for (int r = 0; r < DOF; ++r) sum[r].add_product(__ldg(block + r * DOF), x);
        }
    Sum mine;
#pragma unroll
    for (int r = 0; r < DOF; ++r) {
#pragma unroll
        for (int distance = lanes / 2; distance > 0; distance /= 2) {
            // Both lanes of a pair must add in the same order, the lower one's sum first.
            const Sum other = from_lane(sum[r], distance, lanes);
            Sum low = lane & distance ? other : sum[r];
            low.add(lane & distance ? sum[r] : other);
            sum[r] = low;
        }
        if (lane == r) mine = sum[r];
    }
    return mine;
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

extern "C" __global__ void __launch_bounds__(256) bsr_rows(const __grid_constant__ BsrProductArguments a) {
    const int lane = threadIdx.x % LANES;
    const long long row = (long long)blockIdx.x * (256 / LANES) + threadIdx.x / LANES;
    long long begin = 0, end = 0;
    if (row < a.rows) begin = a.row_begin[row], end = a.row_begin[row + 1];
    const bool mine = row < a.rows && end - begin <= a.longest;
    const Sum sum = sum_of<LANES>(a, begin, mine ? end : begin, lane);
    if (mine && lane < DOF) store(a, row, lane, sum);
}

extern "C" __global__ void __launch_bounds__(256) bsr_pieces(const __grid_constant__ BsrProductArguments a) {
    const int lane = threadIdx.x % 32;
    const long long piece = (long long)blockIdx.x * 8 + threadIdx.x / 32;
    if (piece >= a.piece_count) return;
    const Sum sum = sum_of<32>(a, a.pieces[piece].begin, a.pieces[piece].end, lane);
    if (lane >= DOF) return;
    double* const partial = a.partial + (piece * DOF + lane) * 2;
#if EXACT
    partial[0] = sum.high, partial[1] = sum.low;
#else
    partial[0] = sum.sum;
#endif
}

extern "C" __global__ void __launch_bounds__(256) bsr_long_rows(const __grid_constant__ BsrProductArguments a) {
    const long long at = (long long)blockIdx.x * 256 + threadIdx.x, which = at / DOF;
    if (which >= a.long_row_count) return;
    const int r = at % DOF;
    Sum total;
    for (long long piece = a.long_rows[which].begin; piece < a.long_rows[which].end; ++piece) {
        Sum one;
        const double* const partial = a.partial + (piece * DOF + r) * 2;
#if EXACT
        one.high = partial[0], one.low = partial[1];
#else
        one.sum = partial[0];
#endif
        total.add(one);
    }
    store(a, a.long_rows[which].row, r, total);
}

}  // namespace hyperplane
