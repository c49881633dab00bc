// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of points of one, two or four unknowns: a thread has a row of every block of its point in
// registers. Where GROUPS is above 1, groups of threads share a point's entries (precond/struct_ilu/row_groups.cuh),
// and where PIPELINED is 1 they also overlap the rows of two levels (precond/struct_ilu/row_pipeline.cuh). Definitions:
// precond/struct_ilu/factor.cuh, RING (a power of two above MAX_LEVEL, or 0), STAGES, GROUPS, PIPELINED, HALO_WARPS and
// MATRIX_WARPS, whose sum is PRODUCER_WARPS.
//
// All loops over entries are unrolled, so that an elimination consists of loads and products alone, with as many loads
// in flight as there are registers.
//
// A point reads D^-1 and G of its neighbours, or D^-1 and W if one triangle is stored. Shared memory has these for the
// last RING levels of the tile and its halo; HALO_WARPS producer warps copy those of the halo. If that does not fit,
// RING is 0, and each elimination loads from the second-level cache. MATRIX_WARPS producer warps copy the matrix's rows
// to shared memory STAGES - 1 levels ahead. Consumers do not load the matrix themselves, because a thread that issues
// more loads than the memory system accepts stalls until the first ones have returned.
#pragma once

#include "precond/struct_ilu/places.cuh"
#if PIPELINED
#include "precond/struct_ilu/row_pipeline.cuh"
#elif GROUPS > 1
#include "precond/struct_ilu/row_groups.cuh"
#else
#include "precond/struct_ilu/row_alone.cuh"
#endif

namespace hyperplane {

constexpr int levels_ahead = PIPELINED;  // consumers begin rows so many levels before the row's own

constexpr bool loads_ahead = HALO_J == 1 && HALO_K == 1;  // with a wider halo this costs more than it gains
constexpr int halo_cells = HALO_J * TK + HALO_K * columns;
constexpr int looks_back = RING > 0 ? MAX_LEVEL : 0;
constexpr bool producer_publishes = false;

/// A lane of a halo warp, which copies some values of some lines of the halo to the ring, level by level.
struct HaloLane {
    static constexpr int cells = (halo_cells + 31) / 32, shared_by = HALO_WARPS > 0 ? HALO_WARPS : 1;
    static constexpr int values = (shared_values + shared_by - 1) / shared_by;
    const Arguments& a;
    const int warp;
    int start[cells > 0 ? cells : 1], slot[cells > 0 ? cells : 1], place[cells > 0 ? cells : 1];
    double value[cells > 0 ? cells : 1][values];

    __device__ HaloLane(const Arguments& arguments, const Tile& tile, int begin, int warp_, int lane)
        : a(arguments), warp(warp_) {
#pragma unroll
        for (int h = 0; h < cells; ++h) {
            const int cell = lane + 32 * h;
            const bool left = cell < HALO_J * TK;  // columns of smaller J, then rows of smaller k
            constexpr int width = HALO_J > 0 ? HALO_J : 1;
            const int row = left ? HALO_K + cell / width : (cell - HALO_J * TK) / columns;
            const int column = left ? cell % width : (cell - HALO_J * TK) % columns;
            const int skewed = tile.j + column - HALO_J;
            const Line line(a, skewed, tile.k + row - HALO_K);
            const bool exists = cell < halo_cells && line.valid && skewed >= 0;
            start[h] = exists ? line.start : 1 << 30;
            slot[h] = exists ? line.slot(a, max(line.start, begin)) : 0;
            place[h] = row * columns + column;
        }
    }
    /// Loads the values of a level, which the earlier tiles have completed.
    __device__ __forceinline__ void load_level(int level) {
#pragma unroll
        for (int h = 0; h < cells; ++h)
            if (unsigned(level - start[h]) < unsigned(a.nx)) {
#pragma unroll
                for (int q = 0; q < values; ++q)
                    if (const int v = warp + q * shared_by; v < shared_values)
                        value[h][q] = load(a.entry[first_shared + v / block_size].x + (long long)slot[h] * block_size +
                                           v % block_size);
                to_next_level(slot[h], a.ny * a.nz, a.slots);
            }
    }
    /// Stores the loaded values in the ring.
    __device__ __forceinline__ void store_level(int level) const {
#pragma unroll
        for (int h = 0; h < cells; ++h)
            if (unsigned(level - start[h]) < unsigned(a.nx))
#pragma unroll
                for (int q = 0; q < values; ++q)
                    if (const int v = warp + q * shared_by; v < shared_values)
                        shared[(level & (RING - 1)) * level_size + v * plane_size + place[h]] = value[h][q];
    }
};

/// A lane of a matrix warp. For a level it copies all entries of the matrix for some consumer warps, or some entries
/// for one consumer warp; an entry whose neighbour is outside the grid becomes zero.
struct MatrixLane {
    static constexpr int groups = consumer_threads / 32, parts = (MATRIX_WARPS + groups - 1) / groups,
                         step = MATRIX_WARPS / parts * 32;
    const Arguments& a;
    const Tile& tile;
    const int first, part;

    __device__ MatrixLane(const Arguments& arguments, const Tile& tile_, int warp, int lane)
        : a(arguments), tile(tile_), first(warp / parts * 32 + lane), part(warp % parts) {
        static_assert(MATRIX_WARPS % parts == 0);
    }
    __device__ void start_level(int level) const {
        for (int thread = first; thread < consumer_threads; thread += step) {
            const Line line(a, tile, thread / DOF, true);
            if (!line.active(a, level)) continue;
            const int i = level - line.start, slot = line.slot(a, level);
            const long long from = (long long)(thread % DOF) * DOF * a.a_stride + slot;
#pragma unroll 4
            for (int e = part; e < entries; e += parts) {
                if (!a.entry[e].a) continue;
                const bool outside = SKIP_OUTSIDE && !line.in_grid(a, i, e);
#pragma unroll
                for (int c = 0; c < DOF; ++c)
                    if (outside)
                        staged(level, e, c, thread) = 0.0;
                    else
                        copy_8_async(&staged(level, e, c, thread), a.entry[e].a + from + c * a.a_stride);
            }
            if (stages_upper)
                for (int l = part; l < LOWER; l += parts)
                    copy_8_async(&staged(level, entries + l, 0, thread),
                                 a.entry[2 * LOWER - l].a + neighbour_slot(a, slot, l));
        }
        commit_copies();
    }
};

/// Copies the halo's values of a level while the consumers compute the tile's. If the earlier tiles have completed the
/// next level, too, its values are loaded ahead.
__device__ void copy_halo(const Arguments& a, const Tile& tile, int warp, int lane) {
    const int begin = tile.first - looks_back;
    HaloLane mine(a, tile, begin, warp, lane);
    EarlierTiles before(a, tile, lane);
    bool loaded = false;
    for (int level = begin; level <= tile.last; ++level) {
        sync_level();
        if (!loaded) {
            before.wait_for(level);
            mine.load_level(level);
        }
        mine.store_level(level);
        loaded = loads_ahead && before.has_completed(level + 1);
        if (loaded) mine.load_level(level + 1);
    }
    sync_level();
}

/// Copies the matrix STAGES - 1 levels ahead of its use. If there are no halo warps, the first matrix warp waits for
/// the earlier tiles.
__device__ void copy_matrix(const Arguments& a, const Tile& tile, int warp, int lane) {
    const MatrixLane mine(a, tile, warp, lane);
    EarlierTiles before(a, tile, lane);
    for (int ahead = 0; ahead < STAGES - 1; ++ahead) mine.start_level(tile.first + ahead);
    for (int level = tile.first - looks_back; level < tile.first - levels_ahead; ++level) sync_level();
    for (int level = tile.first - levels_ahead; level <= tile.last; ++level) {
        if (RING == 0 && warp == 0) before.wait_for(level - 1);
        wait_copies<STAGES - 2>();
        __syncwarp();
        sync_level();
        mine.start_level(level + levels_ahead + STAGES - 1);
    }
    sync_level();
}

__device__ void produce(const Arguments& a, const Tile& tile, int, int thread) {
    const int warp = thread / 32, lane = thread % 32;
    if (warp < HALO_WARPS)
        copy_halo(a, tile, warp, lane);
    else
        copy_matrix(a, tile, warp - HALO_WARPS, lane);
}

}  // namespace hyperplane
