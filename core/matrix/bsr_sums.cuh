// SPDX-License-Identifier: BSD-3-Clause
// Sums of the rows of blocks times a vector by adjacent threads of a warp, for kernels that read a general matrix.
//
// Lane l takes column l mod dof of the blocks l / dof, l / dof + group, ..., so that adjacent lanes read adjacent
// values; then the lanes' sums are added pairwise.
#pragma once

#include "core/matrix/sums.cuh"

namespace hyperplane {

// NOLINTBEGIN(misc-unused-parameters): a test compiles this text for the host, whose warps have no width
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
// NOLINTEND(misc-unused-parameters)

__device__ __forceinline__ ExactSum from_lane(const ExactSum& sum, int lane) {
    ExactSum other;
    other.high = __shfl_sync(0xffffffffu, sum.high, lane);
    other.low = __shfl_sync(0xffffffffu, sum.low, lane);
    return other;
}
__device__ __forceinline__ PlainSum from_lane(const PlainSum& sum, int lane) {
    PlainSum other;
    other.sum = __shfl_sync(0xffffffffu, sum.sum, lane);
    return other;
}

/// Adds a product with one rounding: a compiler may fuse product and sum in one place and not in another.
__device__ __forceinline__ void add_fused(PlainSum& sum, double u, double v) {
    sum.sum = __fma_rn(u, v, sum.sum);
}
__device__ __forceinline__ void add_fused(ExactSum& sum, double u, double v) {
    sum.add_product(u, v);
}

/// The sum of a pair of lanes, in both of them: the lower one's sum and then the other's, which only matters to exact
/// sums.
template <int lanes>
__device__ __forceinline__ void add_pair(ExactSum& sum, int distance, int lane) {
    const ExactSum other = from_lane(sum, distance, lanes);
    ExactSum low = lane & distance ? other : sum;
    low.add(lane & distance ? sum : other);
    sum = low;
}
template <int lanes>
__device__ __forceinline__ void add_pair(PlainSum& sum, int distance, int) {
    sum.add(from_lane(sum, distance, lanes));
}

/// The sums of `lanes` adjacent threads, added pairwise; lane r receives row r.
template <class Sum, int dof, int lanes>
__device__ __forceinline__ Sum added_by_lanes_of(Sum (&sum)[dof], int lane) {
    Sum mine;
#pragma unroll
    for (int r = 0; r < dof; ++r) {
#pragma unroll
        for (int distance = lanes / 2; distance > 0; distance /= 2) add_pair<lanes>(sum[r], distance, lane);
        if (lane == r) mine = sum[r];
    }
    return mine;
}

/// Loads what is read once: blocks with several unknowns are many bytes for each x, so they leave the caches first.
template <int dof, class Value>
__device__ __forceinline__ Value load_once_of(const Value* at) {
    return dof > 1 ? __ldcs(at) : __ldg(at);  // NOLINT(bugprone-branch-clone): a host has one way to load
}

/// The rows of the blocks [begin, end) times the vector whose component `at` is x(at), added by `lanes` adjacent
/// threads, a power of two, dof <= lanes <= 32; lane r receives row r. All threads of a warp must call it.
template <class Sum, int dof, int lanes, class X>
__device__ __forceinline__ Sum sum_of_blocks(const int* columns, const double* values, long long begin, long long end,
                                             int lane, const X& x) {
    constexpr int group = lanes / dof;
    const int c = lane % dof, first = lane / dof;
    Sum sum[dof];
    if (first < group)
        for (long long at = begin + first; at < end; at += group) {
            const double factor = x((long long)load_once_of<dof>(columns + at) * dof + c);
            const double* const block = values + at * dof * dof + c;
#pragma unroll
            for (int r = 0; r < dof; ++r) add_fused(sum[r], load_once_of<dof>(block + r * dof), factor);
        }
    return added_by_lanes_of<Sum, dof, lanes>(sum, lane);
}

}  // namespace hyperplane
