// SPDX-License-Identifier: BSD-3-Clause
// Multiply-add of small matrices in double precision by a warp, on tensor cores.
#pragma once

namespace hyperplane {

/// sum += left right: lane l has row l / 4 and column l % 4 of `left`, 8 x 4, row l % 4 and column l / 4 of `right`, 4
/// x 8, and row l / 4 and columns 2 (l % 4) and the next one of `sum`, 8 x 8.
__device__ __forceinline__ void multiply_add_8x8x4(double left, double right, double (&sum)[2]) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(sum[0]), "+d"(sum[1])
        : "d"(left), "d"(right));
}
/// The same for two left operands and two sums, on sm_90 and later in the time of one.
__device__ __forceinline__ void multiply_add_16x8x4(double left, double other_left, double right, double (&sum)[2],
                                                    double (&other_sum)[2]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(other_sum[0]), "+d"(other_sum[1])
        : "d"(left), "d"(other_left), "d"(right));
#else
    multiply_add_8x8x4(left, right, sum);
    multiply_add_8x8x4(other_left, right, other_sum);
#endif
}

}  // namespace hyperplane
