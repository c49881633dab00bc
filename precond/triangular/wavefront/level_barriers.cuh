// SPDX-License-Identifier: BSD-3-Clause
// The threads of a tile, and the barriers at which they synchronise at every level. Definitions:
// precond/triangular/wavefront/solve.cuh.
#pragma once

#include "precond/triangular/wavefront/edges.cuh"
#if DOF == 1
#include "precond/triangular/wavefront/points.cuh"
#else
#include "precond/triangular/wavefront/blocks.cuh"
#endif

namespace hyperplane {

constexpr int threads = GROUPS * consumer_threads + producer_threads + LOOKAHEAD * HALO_THREADS;

// Threads that take part in the barrier of a level: all but the sets of HALO_THREADS that poll edges of other levels.
constexpr int barrier_threads = GROUPS * consumer_threads + producer_threads + (LOOKAHEAD > 1 ? 2 : 1) * HALO_THREADS;

__device__ __forceinline__ int level_barrier(int level) {
    return 1 + (level & (LOOKAHEAD - 1));
}

/// Uses barrier.sync instead of __syncthreads because warps wait at different places of the kernel's text, and the
/// compiler need not keep the lanes of a warp together (docs/log/struct_ilu_solve.md).
__device__ __forceinline__ void sync_level(int level) {
    asm volatile("barrier.sync %0, %1;" ::"r"(level_barrier(level)), "n"(barrier_threads) : "memory");
}
/// The tool racecheck does not follow threads that arrive without waiting. With EDGES_WAIT they wait, which takes
/// longer.
__device__ __forceinline__ void arrive_at_level(int level) {
    if (EDGES_WAIT) return sync_level(level);
    asm volatile("barrier.arrive %0, %1;" ::"r"(level_barrier(level)), "n"(barrier_threads) : "memory");
}

#if EISENSTAT
constexpr int sum_count = UPPER ? eisenstat_upper_sums : eisenstat_lower_sums;
#else
constexpr int sum_count = DOT;
#endif

}  // namespace hyperplane
