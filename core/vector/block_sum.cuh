// SPDX-License-Identifier: BSD-3-Clause
// Sums over the threads of a thread block, in a fixed order, for nvcc and NVRTC.
#pragma once

namespace hyperplane::cuda {

inline constexpr int block_threads = 256, block_warps = block_threads / 32;

/// Sum over the lanes of a warp; valid in lane 0.
__device__ inline double warp_sum(double value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

/// Sum over the threads of a thread block; valid in thread 0.
__device__ inline double block_sum(double value) {
    __shared__ double of_warp[block_warps];
    value = warp_sum(value);
    __syncthreads();  // all threads have read the previous sum
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x < block_warps ? of_warp[threadIdx.x] : 0.0;
    return threadIdx.x < 32 ? warp_sum(value) : 0.0;
}

}  // namespace hyperplane::cuda
