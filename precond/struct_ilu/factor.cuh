// SPDX-License-Identifier: BSD-3-Clause
// Factorisation of StructILU on a GPU (Luo et al., StructILU, ICS 2025, Algorithm 1, sections 4.1 and 4.2.2).
//
//     X_e(p) = A_e(p) + shift diag(A_0)(p) [e = 0] - sum over (l, u), l + u = e, of E_l(p) G_u(p+l)
//     E_l = X_l below the diagonal,  D^-1 = inverse of X_0
//     W_l(p) = E_l(p) D^-1(p+l),  G_u(p) = D^-1(p) X_u(p)          M = (I + W) D (I + G)
//
// for the entries e in natural order, so that E_l is known before the entries that need it. Where one triangle is
// stored G_u(p+l) is the transpose of W_-u(p+e). For D-ILU (SHARES) only D^-1 is computed, E and F are A's:
//
//     X_0(p) = A_0(p) - sum_l A_l(p) D^-1(p+l) A_-l(p+l)
//
// A block of threads owns a tile of lines and walks the levels as the solves do
// (precond/triangular/wavefront/solve.cuh). Factors pass between points through global memory; a tile publishes the
// level that it has completed, and a level waits until the tiles that it depends on have completed the one before.
// Consumer warps compute; PRODUCER_WARPS warps wait for other tiles and copy ahead of the consumers. Where registers
// allow, one more warp publishes this tile's progress, so that nobody waits for the publication; else a producer warp
// does. The points are computed by precond/struct_ilu/registers.cuh for one and two unknowns a point, and for four of
// star7, by precond/struct_ilu/tensor.cuh for three to eight, and by precond/struct_ilu/fallback.cuh for more, and for
// stencils too large for registers.
//
// Where a neighbour lies outside the grid its slot is that of some other point: the number found there is multiplied by
// zero.
//
// Definitions, besides those of precond/walks/tile_lines.cuh: IN_REGISTERS, ON_TENSOR_CORES (which of the three), LOWER
// (2 LOWER + 1 entries), HALO_J, HALO_K, MAX_LEVEL (levels that a point looks back), A_ENTRY {for each entry, A's entry
// or -1}, the eliminations (l, u, e) by e, PAIR_BEGIN {2 LOWER + 2}, PAIR_L, PAIR_U, and by l, CHUNK_BEGIN {LOWER + 1},
// CHUNK_U, CHUNK_E; SKIP_OUTSIDE (A's entries that leave the grid are not zero but wrapped), SYMMETRIC (one triangle,
// pivots must have A's sign), SHARES, KEEP (E lies in shared memory, else in `scratch`), PRODUCER_WARPS, ZEROED (values
// of shared memory that are initially 0), BLOCKS (resident on a multiprocessor).

#if IN_REGISTERS
#include "precond/struct_ilu/registers.cuh"
#elif ON_TENSOR_CORES
#include "precond/struct_ilu/tensor.cuh"
#else
#include "precond/struct_ilu/fallback.cuh"
#endif

namespace hyperplane {

// Threads of the barrier of a level, and with the warp that publishes, if there is one.
constexpr int level_threads = Consumer::threads + 32 * PRODUCER_WARPS;
constexpr int threads = level_threads + (producer_publishes ? 0 : 32);

__device__ __forceinline__ void sync_level() {
    asm volatile("barrier.sync 1, %0;" ::"n"(level_threads) : "memory");
}

/// The level that this tile has completed, in shared memory.
__device__ __forceinline__ void set_completed(int* at, int level) {
    __threadfence_block();
    atomicExch(at, level);
}
__device__ __forceinline__ int completed(int* at) {
    const int level = atomicOr(at, 0);
    __threadfence_block();
    return level;
}

/// Publishes this tile's progress at its own pace: making results visible to other multiprocessors takes longer than
/// some levels.
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
        for (int level = tile.first - looks_back; level < tile.first; ++level) sync_level();
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
