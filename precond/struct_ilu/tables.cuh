// SPDX-License-Identifier: BSD-3-Clause
// What all kernels of StructILU's factorisation use: tables, addresses of coefficients, and the progress of other
// tiles. Definitions: precond/struct_ilu/factor.cuh.
#pragma once

#include "core/device/async_copies.cuh"
#include "precond/factors/coefficient_order.hpp"
#include "precond/factors/pivot_log.hpp"
#include "precond/struct_ilu/arguments.hpp"
#include "precond/walks/tile_lines.cuh"
#include "precond/walks/unrolled.cuh"

namespace hyperplane {

using Arguments = FactorArguments<2 * LOWER + 1>;

TABLE a_entry[] = A_ENTRY;
TABLE pair_begin[] = PAIR_BEGIN;
TABLE pair_l[] = PAIR_L;
TABLE pair_u[] = PAIR_U;
TABLE chunk_begin[] = CHUNK_BEGIN;
TABLE chunk_u[] = CHUNK_U;
TABLE chunk_e[] = CHUNK_E;
constexpr int entries = SYMMETRIC || SHARES ? LOWER + 1 : 2 * LOWER + 1;  // that are computed

extern __shared__ double shared[];

/// Loads from the second-level cache, where results of other tiles are.
__device__ __forceinline__ double load(const double* at) {
    return __ldcg(at);
}

__device__ PivotJudge judge(const Arguments& a) {
    return {{a.tolerance, a.boost, SYMMETRIC}, a.log};
}
/// |x| as an integer, which is larger for larger numbers, and larger for NaN than for any number.
__device__ __forceinline__ u64 size_of(double x) {
    return __double_as_longlong(fabs(x));
}

/// The slot of the neighbour to which an entry leads; if that is outside the grid, the slot of some other point.
__device__ __forceinline__ int neighbour_slot(const Arguments& a, int slot, int entry) {
    return shifted_slot(a, slot, a.entry[entry].delta);
}
__device__ __forceinline__ const double* a_at(const Arguments& a, int entry, int r, int c, int slot) {
    return a.a + place_apart<long long>(a.a_stride, DOF, entry, slot, r, c);
}
__device__ __forceinline__ double* x_at(const Arguments& a, int entry, int r, int c, int slot) {
    return a.x + place_together<long long>(a.slots, DOF, entry, slot, r, c);
}
constexpr int finished = 1 << 30;  // above every level
constexpr int inverse_entry = SHARES ? 0 : LOWER;

__device__ __forceinline__ int progress_of(const int* at) {
    int value;
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
/// Publishes a level; whoever sees it also sees all that this block has written before.
__device__ __forceinline__ void publish(int* at, int level) {
    asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(at), "r"(level) : "memory");
}

/// Progress of the tiles that this one depends on, one for each lane of a warp.
struct EarlierTiles {
    const int* at;
    int known;

    __device__ EarlierTiles(const Arguments& a, const Tile& tile, int lane) {
        const int dj = lane % (a.reach_j + 1), dk = lane / (a.reach_j + 1);
        const int tj = tile.j / TJ - dj, tk = tile_row_of(tile.k) - dk;
        const int other = lane > 0 && dk <= a.reach_k && tj >= 0 && tk >= 0 ? a.tile_at[tk * a.tiles_j + tj] : -1;
        at = a.progress + other;
        known = other < 0 ? finished : -1;
    }
    /// Whether all of them have completed a level; this function does not wait.
    __device__ bool has_completed(int level) {
        if (known < level) known = progress_of(at);
        const bool all = __all_sync(~0u, known >= level);
        __syncwarp();  // what is visible to one lane is visible to all
        return all;
    }
    /// Waits until all of them have completed a level.
    __device__ void wait_for(int level) {
        for (int tries = 0; known < level; ++tries) {
            if (tries > 16) __nanosleep(tries > 100 ? 400 : 40);
            known = progress_of(at);
        }
        __syncwarp();
    }
};

/// The barrier of a level, for the consumer and producer warps of a block.
__device__ __forceinline__ void sync_level();

}  // namespace hyperplane
