// SPDX-License-Identifier: BSD-3-Clause
// The walk of a tile over its levels, by the groups of threads that share a row's terms, those that fetch coefficients
// and those that bring edges. Definitions: precond/triangular/wavefront/solve.cuh.

#include "precond/triangular/wavefront/edges.cuh"
#if DOF == 1
#include "precond/triangular/wavefront/points.cuh"
#else
#include "precond/triangular/wavefront/blocks.cuh"
#endif

namespace hyperplane {

constexpr int threads = GROUPS * worker_threads + loader_threads + LOOKAHEAD * HALO_THREADS;

// Threads that meet for a level: all but the sets of HALO_THREADS that wait for edges of other levels.
constexpr int meeting_threads = GROUPS * worker_threads + loader_threads + (LOOKAHEAD > 1 ? 2 : 1) * HALO_THREADS;

__device__ __forceinline__ int meeting_of(int level) {
    return 1 + (level & (LOOKAHEAD - 1));
}

/// Warps come from different places of the text, which need not keep them together (docs/log/struct_ilu_solve.md).
__device__ __forceinline__ void meet_at(int level) {
    asm volatile("barrier.sync %0, %1;" ::"r"(meeting_of(level)), "n"(meeting_threads) : "memory");
}
/// racecheck does not follow threads that arrive and do not wait: EDGES_MEET has them wait, which takes longer.
__device__ __forceinline__ void show_edges(int level) {
    if (EDGES_MEET) return meet_at(level);
    asm volatile("barrier.arrive %0, %1;" ::"r"(meeting_of(level)), "n"(meeting_threads) : "memory");
}

/// The older terms of the level after the one group 0 is at.
template <int group>
__device__ double sum_ahead(const Arguments& a, const Tile& tile, int thread) {
    const int begin = tile.first - MAX_LEVEL;
    Worker<group> w(a, tile, thread, begin + 1);
    double* const exchange = shared + ring_size + (group - 1) * worker_threads + thread;
    double dot = 0.0;
    for (int level = begin; level <= tile.last; ++level) {
        const int next = level + 1;
        const bool active = w.begin_level(next);
        double sum = 0.0;
        if (rhs_early && active && group == holder) sum = w.right_hand_side(dot);
        __syncwarp();
        meet_at(level);  // all values of level - 1 are in the ring
        w.arrive();
        if (!rhs_early && active && group == holder) sum = w.right_hand_side(dot);
        if (active) exchange[(next & 1) * (GROUPS - 1) * worker_threads] = sum + w.terms(next);
        w.end_level(active);
    }
    return dot;
}

/// The newest terms; finishes each level.
__device__ double finish(const Arguments& a, const Tile& tile, int index, u64 epoch, int thread) {
    const int begin = tile.first - MAX_LEVEL;
    Worker<0> w(a, tile, thread, begin);
    Edge* const edges = a.edges + (long long)index * a.nx * plane_records + w.row;
    Edge* const below = w.exists && w.tk >= TK - edge_k ? edges + edge_cell_below(w.tj, w.tk) * DOF : nullptr;
    Edge* const right = w.exists && w.tj >= TJ - edge_j ? edges + edge_cell_right(w.tj, w.tk) * DOF : nullptr;
    double* const exchange = shared + ring_size + thread;
    double dot = 0.0;
    int plane = (begin % a.nx + a.nx) % a.nx;
    for (int level = begin; level <= tile.last; ++level) {
        const bool active = w.begin_level(level);
        double rhs = 0.0, sum = 0.0;
        if (rhs_early && active && holder == 0) rhs = w.right_hand_side(dot);
        __syncwarp();
        meet_at(level);  // all values of level - 1 are in the ring, the older terms of level in the exchange
        w.arrive();
        if (!rhs_early && active && holder == 0) rhs = w.right_hand_side(dot);
        if (active) {
            if (!DILU || !UPPER) sum = rhs;
#pragma unroll
            for (int g = 1; g < GROUPS; ++g) sum += exchange[((level & 1) * (GROUPS - 1) + g - 1) * worker_threads];
            sum += w.terms(level);
        }
        const double y = w.completed(active, sum, rhs, dot);
        if (scales && DOF > 1 && STAGES == 0) __syncwarp();  // a point's other rows have read what is overwritten
        if (active) {
            const double passed = w.passed(y);
            ring_at(level, w.row, w.tk + HALO_K, w.tj + HALO_J) = passed;
            if (below) store_edge(below + (long long)plane * plane_records, passed, epoch);
            if (right) store_edge(right + (long long)plane * plane_records, passed, epoch);
            a.out[(long long)w.row * a.slots + w.slot] = y;
        }
        w.end_level(active);
        if (++plane == a.nx) plane = 0;
    }
    return dot;
}

template <int group>
__device__ double sum_ahead_of(const Arguments& a, const Tile& tile, int of, int thread) {
    if (of == group) return sum_ahead<group>(a, tile, thread);
    if constexpr (group + 1 < GROUPS) return sum_ahead_of<group + 1>(a, tile, of, thread);
    return 0.0;
}

extern "C" __global__ void __launch_bounds__(threads, BLOCKS) struct_ilu_solve(const __grid_constant__ Arguments a) {
    __shared__ int ticket;
    __shared__ double sums[DOT ? threads / 32 : 1];
    const int thread = threadIdx.x;
    if (thread == 0) ticket = atomicAdd(&a.state->ticket, 1u);
    for (int at = thread; at < shared_size; at += threads) shared[at] = 0.0;
    __syncthreads();
    prepare_copies(thread);
    const u64 epoch = a.state->epoch;
    __syncthreads();
    const int index = ticket;
    const Tile tile = a.tiles[index];
    double dot = 0.0;
    if (thread < worker_threads) {
        dot = finish(a, tile, index, epoch, thread);
    } else if (thread < GROUPS * worker_threads) {
        if constexpr (GROUPS > 1) dot = sum_ahead_of<1>(a, tile, thread / worker_threads, thread % worker_threads);
    } else if (thread < GROUPS * worker_threads + loader_threads) {
        if constexpr (loader_threads > 0) load(a, tile, thread - GROUPS * worker_threads);
    } else if constexpr (HALO_THREADS > 0) {
        const int at = thread - GROUPS * worker_threads - loader_threads;
        receive(a, tile, epoch, at / HALO_THREADS, at % HALO_THREADS);
    }
    if (DOT) {  // sums in a fixed order, whatever block comes last
        for (int step = 16; step > 0; step /= 2) dot += __shfl_down_sync(~0u, dot, step);
        if (thread % 32 == 0) sums[thread / 32] = dot;
        __syncthreads();
        if (thread == 0) {
            double sum = 0.0;
            for (int w = 0; w < threads / 32; ++w) sum += sums[w];
            a.partial[index] = sum;
            __threadfence();
        }
    }
    // The last block to come here has more to do.
    if (!__syncthreads_or(thread == 0 && atomicAdd(&a.state->done, 1u) == unsigned(a.tile_count) - 1)) return;
    if (DOT) {
        __threadfence();
        double sum = 0.0;
        for (int at = thread; at < a.tile_count; at += threads) sum += __ldcg(a.partial + at);
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (thread % 32 == 0) sums[thread / 32] = sum;
        __syncthreads();
        if (thread == 0) {
            sum = 0.0;
            for (int w = 0; w < threads / 32; ++w) sum += sums[w];
            *a.dot = sum;
        }
    }
    if (thread == 0) {  // ready for the next solve
        a.state->ticket = 0;
        a.state->done = 0;
        a.state->epoch = epoch + 1;
    }
}

}  // namespace hyperplane
