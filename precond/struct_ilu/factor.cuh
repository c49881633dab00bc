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
// A block owns a tile of lines and walks the levels as the solves do (precond/triangular/wavefront/solve.cuh). Factors
// pass between points through global memory; a tile publishes the level it has completed, and a level waits until the
// tiles it depends on have completed the one before. Some warps work and HELPERS warps wait and fetch for them; one
// publishes this tile's progress, a warp of its own that nobody waits for where there is room for one:
// precond/struct_ilu/registers.cuh for one and two unknowns a point, and four of star7, precond/struct_ilu/tensor.cuh
// for three to eight, precond/struct_ilu/fallback.cuh for more, and for stencils too large for registers.
//
// Where a neighbour lies outside the grid its place is some other point's: what is found there, a number, meets a zero.
//
// Definitions, besides those of precond/walks/tile_lines.cuh: LOWER (2 LOWER + 1 entries), HALO_J, HALO_K, MAX_LEVEL
// (levels that a point looks back), A_ENTRY {for each entry, A's entry or -1}, the eliminations (l, u, e) by e,
// PAIR_BEGIN {2 LOWER + 2}, PAIR_L, PAIR_U, and by l, CHUNK_BEGIN {LOWER + 1}, CHUNK_U, CHUNK_E; SKIP_OUTSIDE (A's
// entries that leave the grid are not zero but wrapped), SYMMETRIC (one triangle, pivots must have A's sign), SHARES,
// KEEP (E lies in shared memory, else in `scratch`), HELPERS, ZEROED (values of shared memory that begin as 0), BLOCKS
// (resident on a multiprocessor).
#pragma once

#include "precond/factors/pivot_log.hpp"
#include "precond/walks/kernel_parts.cuh"
#include "precond/walks/tile_lines.cuh"

namespace hyperplane {

/// Smallest |pivot| / |A's diagonal entry| of a tile and its point.
struct Smallest {
    double ratio;
    long long point;
};

struct Arguments {
    const double* a;  // [A's entry][row][col][a_stride]
    double* x;        // W, D^-1, G; D-ILU: D^-1 alone
    const Tile* tiles;
    const int* tile_at;  // [K][J]
    int* progress;       // [tile]: last level completed
    unsigned* ticket;
    PivotLog* log;
    Smallest* smallest;              // [tile]
    double* scratch;                 // [tile][LOWER][DOF][worker_threads]
    double shift, tolerance, boost;  // boost 0: a pivot that cannot be used is a failure
    int nx, ny, nz, tiles_j, reach_j, reach_k, a_stride, slots;
    const double* a_values[2 * LOWER + 1];  // of A by the factors' entries
    double* x_values[2 * LOWER + 1];        // of the factors; D-ILU: [0] is D^-1
    int delta[2 * LOWER + 1];               // slot of p + o minus slot of p, modulo the slots, in [0, slots)
};

TABLE a_entry[] = A_ENTRY;
TABLE pair_begin[] = PAIR_BEGIN;
TABLE pair_l[] = PAIR_L;
TABLE pair_u[] = PAIR_U;
TABLE chunk_begin[] = CHUNK_BEGIN;
TABLE chunk_u[] = CHUNK_U;
TABLE chunk_e[] = CHUNK_E;
constexpr int entries = SYMMETRIC || SHARES ? LOWER + 1 : 2 * LOWER + 1;  // computed

extern __shared__ double shared[];

/// Through the second-level cache, where other tiles' results are.
__device__ __forceinline__ double load(const double* at) {
    return __ldcg(at);
}

__device__ PivotJudge judge(const Arguments& a) {
    return {a.log, a.tolerance, a.boost, SYMMETRIC};
}
/// |x| as an integer: larger for larger numbers, and largest for what is not one.
__device__ __forceinline__ u64 size_of(double x) {
    return __double_as_longlong(fabs(x));
}

__device__ __forceinline__ int near(const Arguments& a, int slot, int entry) {
    return wrapped(slot + a.delta[entry], a.slots);
}
__device__ __forceinline__ const double* a_at(const Arguments& a, int entry, int r, int c, int slot) {
    return a.a + (long long)((entry * DOF + r) * DOF + c) * a.a_stride + slot;
}
__device__ __forceinline__ double* x_at(const Arguments& a, int entry, int r, int c, int slot) {
    return a.x + factor_at(a.slots, entry, r, c, slot);
}
constexpr int finished = 1 << 30;  // above every level
constexpr int inverse_entry = SHARES ? 0 : LOWER;

__device__ __forceinline__ int progress_of(const int* at) {
    int value;
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
/// After all that this block has written.
__device__ __forceinline__ void publish(int* at, int level) {
    asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(at), "r"(level) : "memory");
}

/// Progress of the tiles before this one, one for each lane of a warp.
struct Before {
    const int* at;
    int known;

    __device__ Before(const Arguments& a, const Tile& tile, int lane) {
        const int dj = lane % (a.reach_j + 1), dk = lane / (a.reach_j + 1);
        const int tj = tile.j / TJ - dj, tk = tile.k / TK - dk;
        const int other = lane > 0 && dk <= a.reach_k && tj >= 0 && tk >= 0 ? a.tile_at[tk * a.tiles_j + tj] : -1;
        at = a.progress + other;
        known = other < 0 ? finished : -1;
    }
    /// Whether all have completed a level, looked at once.
    __device__ bool has_completed(int level) {
        if (known < level) known = progress_of(at);
        const bool all = __all_sync(~0u, known >= level);
        __syncwarp();  // what one lane has seen, all see
        return all;
    }
    /// Until all have completed a level.
    __device__ void wait_for(int level) {
        for (int tries = 0; known < level; ++tries) {
            if (tries > 16) __nanosleep(tries > 100 ? 400 : 40);
            known = progress_of(at);
        }
        __syncwarp();
    }
};

/// Workers and helpers of a block, wherever in the text each of them is.
__device__ __forceinline__ void meet_all();

}  // namespace hyperplane
