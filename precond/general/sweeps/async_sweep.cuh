// SPDX-License-Identifier: BSD-3-Clause
// A block-asynchronous Jacobi sweep x = b - T x with a strict triangle T of a general matrix, in place (Anzt, Chow,
// Dongarra, Euro-Par 2015, section 3).
//
// A thread block has BLOCK_ROWS consecutive block rows: it computes all of them from the x that is there, whoever
// writes others meanwhile, and then writes them. A thread block that begins takes the next block from a counter,
// because the order in which thread blocks begin is not defined. LANES threads have a row; a row of more than `longest`
// blocks has all threads.
//
// Definitions: DOF, LANES (a power of two, DOF <= LANES <= 32, of a row), THREADS (of a thread block), BLOCK_ROWS.

#include "core/matrix/bsr_sums.cuh"
#include "precond/general/sweeps/async_arguments.hpp"

namespace hyperplane {

constexpr int warps = THREADS / 32;

/// A value that other thread blocks may write meanwhile, from the cache that they share.
struct NewestValue {
    const double* x;
    __device__ __forceinline__ double operator()(long long at) const { return __ldcg(x + at); }
};

/// The block of this thread block.
__device__ __forceinline__ long long block_of(const AsyncSweepArguments& a) {
    if (!a.next) return blockIdx.x;
    __shared__ unsigned turn;
    if (threadIdx.x == 0) turn = atomicInc(a.next, gridDim.x - 1);  // the last one makes it 0 again
    __syncthreads();
    return a.descending ? gridDim.x - 1 - turn : turn;
}

/// T x at the row of the blocks [begin, end) by all threads; `sums` has room for DOF values of each warp. The first DOF
/// threads receive a component each.
__device__ double sum_of_long_row(const AsyncSweepArguments& a, long long begin, long long end, double* sums) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const long long share = (end - begin + warps - 1) / warps, first = min(begin + warp * share, end);
    const PlainSum sum =
        sum_of_blocks<PlainSum, DOF, 32>(a.column, a.values, first, min(first + share, end), lane, NewestValue{a.x});
    __syncthreads();  // whoever read `sums` of the row before has done so
    if (lane < DOF) sums[warp * DOF + lane] = sum.value();
    __syncthreads();
    double total = 0.0;
    if (threadIdx.x < DOF)
        for (int w = 0; w < warps; ++w) total += sums[w * DOF + threadIdx.x];
    return total;
}

extern "C" __global__ void __launch_bounds__(THREADS) async_sweep(const __grid_constant__ AsyncSweepArguments a) {
    __shared__ double result[BLOCK_ROWS * DOF];
    __shared__ double sums[warps * DOF];
    const long long first = block_of(a) * BLOCK_ROWS;
    const int rows = int(min((long long)BLOCK_ROWS, a.rows - first)), lane = threadIdx.x % LANES;
    bool any_long = false;
    for (int at = threadIdx.x / LANES; at < BLOCK_ROWS; at += THREADS / LANES) {
        long long begin = 0, end = 0;
        if (at < rows) begin = __ldg(a.row_begin + first + at), end = __ldg(a.row_begin + first + at + 1);
        const bool is_long = end - begin > a.longest;
        any_long = any_long || is_long;
        const PlainSum sum = sum_of_blocks<PlainSum, DOF, LANES>(a.column, a.values, begin, is_long ? begin : end, lane,
                                                                 NewestValue{a.x});
        if (at < rows && !is_long && lane < DOF)
            result[at * DOF + lane] = __ldg(a.b + (first + at) * DOF + lane) - sum.value();
    }
    if (__syncthreads_or(any_long))
        for (int at = 0; at < rows; ++at) {
            const long long begin = __ldg(a.row_begin + first + at), end = __ldg(a.row_begin + first + at + 1);
            if (end - begin <= a.longest) continue;
            const double sum = sum_of_long_row(a, begin, end, sums);
            if (threadIdx.x < DOF) result[at * DOF + threadIdx.x] = __ldg(a.b + (first + at) * DOF + threadIdx.x) - sum;
        }
    __syncthreads();
    for (int at = threadIdx.x; at < rows * DOF; at += THREADS) a.x[first * DOF + at] = result[at];
}

}  // namespace hyperplane
