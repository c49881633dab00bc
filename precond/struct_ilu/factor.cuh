// SPDX-License-Identifier: BSD-3-Clause
// Factorisation of StructILU on a GPU (Luo et al., StructILU, ICS 2025, Algorithm 1, section 4.1).
// The threads of a point eliminate its entries one after the other, or groups of threads share them (section 4.2.2,
// precond/struct_ilu/row_groups.cuh and row_pipeline.cuh): two groups for box27 with one unknown by default, where that
// is the fastest, and otherwise where a benchmark asks for them.
//
//     X_e(p) = A_e(p) + shift diag(A_0)(p) [e = 0] - sum over (l, u), l + u = e, of E_l(p) G_u(p+l)
//     E_l = X_l below the diagonal,  D^-1 = inverse of X_0
//     W_l(p) = E_l(p) D^-1(p+l),  G_u(p) = D^-1(p) X_u(p)          M = (I + W) D (I + G)
//
// for the entries e in natural order, so that E_l is known before the entries that need it. If one triangle is stored,
// G_u(p+l) is the transpose of W_-u(p+e). For D-ILU (SHARES) only D^-1 is computed, and E and F are A's entries:
//
//     X_0(p) = A_0(p) - sum_l A_l(p) D^-1(p+l) A_-l(p+l)
//
// A thread block owns a tile of lines and computes it level by level, as the solves do
// (precond/triangular/wavefront/solve.cuh). Points read the factors of other tiles from global memory: a tile publishes
// the level that it has completed, and waits before each level until the tiles on which it depends have completed the
// level before. Consumer warps compute; PRODUCER_WARPS warps wait for other tiles and copy ahead of the consumers. If
// registers allow, one more warp publishes this tile's progress, so that no other warp waits for that; otherwise a
// producer warp does. The points are computed by precond/struct_ilu/registers.cuh for one and two unknowns a point, and
// for four of star7, by precond/struct_ilu/tensor.cuh for three to eight, and by precond/struct_ilu/fallback.cuh for
// more and for stencils too large for registers.
//
// If a neighbour is outside the grid, its slot is that of some other point, and the number found there is multiplied by
// zero.
//
// Definitions, besides those of precond/walks/tile_lines.cuh: IN_REGISTERS, ON_TENSOR_CORES (which of the three files),
// LOWER (number of lower entries), HALO_J, HALO_K, MAX_LEVEL (number of levels from a point back to its farthest
// neighbour), A_ENTRY {for each entry, A's entry or -1}; the eliminations (l, u, e) sorted by e: PAIR_BEGIN {2 LOWER +
// 2 numbers}, PAIR_L, PAIR_U, and sorted by l: CHUNK_BEGIN {LOWER + 1 numbers}, CHUNK_U, CHUNK_E; SKIP_OUTSIDE (A's
// entries that leave the grid are not zero but wrapped), SYMMETRIC (one triangle is stored, and pivots must have the
// sign of A's diagonal), SHARES, KEEP (E is in shared memory, otherwise in `scratch`), PRODUCER_WARPS, ZEROED (number
// of values of shared memory that are initially 0), BLOCKS (resident on a multiprocessor).

#if IN_REGISTERS
#include "precond/struct_ilu/registers.cuh"
#elif ON_TENSOR_CORES
#include "precond/struct_ilu/tensor.cuh"
#else
#include "precond/struct_ilu/fallback.cuh"
#endif

namespace hyperplane {

// The threads that wait at the barrier of a level; then all, with the warp that publishes, if there is one.
constexpr int level_threads = Consumer::threads + 32 * PRODUCER_WARPS;
constexpr int threads = level_threads + (producer_publishes ? 0 : 32);

__device__ __forceinline__ void sync_level() {
    asm volatile("barrier.sync 1, %0;" ::"n"(level_threads) : "memory");
}

/// Writes and reads the level that this tile has completed, in shared memory.
__device__ __forceinline__ void set_completed(int* at, int level) {
    __threadfence_block();
    atomicExch(at, level);
}
__device__ __forceinline__ int completed(int* at) {
    const int level = atomicOr(at, 0);
    __threadfence_block();
    return level;
}

/// Publishes this tile's progress, if necessary several levels at once, since making results visible to other
/// multiprocessors can take longer than a level.
__device__ void publish_progress(const Arguments& a, const Tile& tile, int index, int* done) {
    for (int published = tile.first - 1;;) {
        publish(a.progress + index, published);
        if (published == finished) return;
        int level;
        while ((level = completed(done)) <= published) __nanosleep(20);
        published = level;
    }
}

extern "C" __global__ void __launch_bounds__(threads, BLOCKS) struct_ilu_factor(const __grid_constant__ Arguments a) {
    __shared__ int ticket, done;
    __shared__ double ratios[Consumer::threads];
    __shared__ long long places[Consumer::threads];
    const int thread = threadIdx.x;
    if (thread == 0) ticket = atomicAdd(a.ticket, 1u), done = -1;
    for (int at = thread; at < ZEROED; at += blockDim.x) shared[at] = 0.0;
    __syncthreads();
    const Tile tile = a.tiles[ticket];

    if (thread < Consumer::threads) {
        Consumer consumer(a, tile, ticket, thread);
        for (int level = tile.first - looks_back; level < tile.first; ++level) {
            sync_level();
            if (levels_ahead > 0 && level == tile.first - 1) consumer.point(level);
        }
        for (int level = tile.first; level <= tile.last; ++level) {
            sync_level();
            if (thread == 0) set_completed(&done, level - 1);
            consumer.point(level);
            __syncwarp();
        }
        sync_level();
        if (thread == 0) set_completed(&done, finished);
        ratios[thread] = consumer.exists() ? consumer.smallest_ratio() : 1.0;
        places[thread] = consumer.exists() ? consumer.smallest_point() : 0;
    } else if (thread < level_threads) {
        produce(a, tile, ticket, thread - Consumer::threads);
    } else if (thread == level_threads) {
        publish_progress(a, tile, ticket, &done);
    }
    __syncthreads();
    if (thread == 0) {
        PivotRatio smallest;
        bool any = false;
        for (int t = 0; t < Consumer::threads; ++t)
            if (ratios[t] < smallest.value || (any && ratios[t] == smallest.value && places[t] < smallest.row)) {
                smallest = {ratios[t], places[t]};
                any = true;
            }
        a.smallest[ticket] = smallest;
    }
}

}  // namespace hyperplane
