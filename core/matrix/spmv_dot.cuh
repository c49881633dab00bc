// SPDX-License-Identifier: BSD-3-Clause
// y = A x and the sums of x'y over the pieces of planes in one pass, of one unknown a point in natural layout
// (core/matrix/spmv.cuh).
//
// A thread block has a piece. The order of a sum is that of pass_with_sums (core/vector/passes_cuda.cuh), so its bits
// are those of dot: thread t adds the pairs t, t + 256, ... of a piece. A warp computes its 64 rows as they lie in
// memory, and then its lanes exchange y.
#pragma once

#include "core/matrix/spmv_rows.cuh"
#include "core/vector/block_sum.cuh"

namespace hyperplane {

/// y at the place 2 lane + `odd` of a warp's 64, of which a lane has computed its own and the one 32 after it.
__device__ __forceinline__ double of_pair(const double (&y)[2], int lane, int odd) {
    const int from = (2 * lane + odd) % 32;
    const double first = __shfl_sync(~0u, y[0], from), second = __shfl_sync(~0u, y[1], from);
    return lane < 16 ? first : second;
}

extern "C" __global__ void __launch_bounds__(256) spmv_dot(const __grid_constant__ SpmvDotArguments<ENTRIES> d) {
    const Arguments& a = d.product;
    const int thread = threadIdx.x, lane = thread % 32, of_plane = blockIdx.x % d.pieces * d.length;
    const int begin = blockIdx.x / d.pieces * d.plane + of_plane, count = min(d.length, d.plane - of_plane);
    // Pairs begin at even places of the whole grid.
    const int head = (d.odd + begin) % 2, first = a.first + begin + head, size = count - head, paired = size / 2 * 2;
    double sum = 0.0;
    const auto row = [&](int slot) {
        PlainSum of_row[1];
        add_products(a, slot, 0, of_row);
        return a.y[slot] = of_row[0].value();
    };
    const auto alone = [&](int slot) { sum = fma(a.x[slot], row(slot), sum); };
    if (head && thread == cuda::block_threads - 1) alone(first - 1);
    if (size > paired && thread == 0) alone(first + paired);
    for (int at = thread / 32 * 64; at < paired; at += 2 * cuda::block_threads) {
        double y[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int place = at + 32 * half + lane;
            y[half] = place < paired ? row(first + place) : 0.0;
        }
        const double even = of_pair(y, lane, 0), odd = of_pair(y, lane, 1);
        const int place = at + 2 * lane;
        if (place >= paired) continue;
        sum = fma(__ldg(a.x + first + place), even, sum);
        sum = fma(__ldg(a.x + first + place + 1), odd, sum);
    }
    sum = cuda::block_sum(sum);
    if (thread == 0) d.partial[blockIdx.x] = sum;
}

}  // namespace hyperplane
