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

#include "precond/struct_ilu/row.cuh"

namespace hyperplane {

constexpr int consumer_threads = (TJ * TK * DOF + 31) / 32 * 32;
constexpr int block_size = DOF * DOF;
constexpr int first_shared = SYMMETRIC || SHARES ? 0 : LOWER;  // the first entry in shared memory
constexpr int shared_entries = SHARES ? 1 : LOWER + 1, shared_values = shared_entries * block_size;
constexpr int columns = TJ + HALO_J, rows = TK + HALO_K, plane_size = rows * columns;
constexpr int level_size = shared_values * plane_size;
constexpr int stage_place = RING * level_size;
constexpr bool stages_upper = SHARES && !SYMMETRIC;  // F_-l(p+l) is staged, too
constexpr int staged_entries = entries + (stages_upper ? LOWER : 0);

/// Value `v` of entry first_shared + v / block_size at a level, in a row and column of the tile with its halo.
__device__ __forceinline__ double& near_at(int level, int v, int row, int column) {
    return shared[(level & (RING - 1)) * level_size + v * plane_size + row * columns + column];
}

/// Coefficient c of entry e in a thread's row of the matrix. The levels use STAGES stages in turn.
__device__ __forceinline__ double& staged(int level, int e, int c, int thread) {
    return shared[stage_place + (((level % STAGES) * staged_entries + e) * DOF + c) * consumer_threads + thread];
}

constexpr int levels_ahead = PIPELINED;  // consumers begin rows so many levels before the row's own

#if PIPELINED
}  // namespace hyperplane
#include "precond/struct_ilu/row_pipeline.cuh"
namespace hyperplane {
#elif GROUPS > 1
}  // namespace hyperplane
#include "precond/struct_ilu/row_groups.cuh"
namespace hyperplane {
#else
struct Consumer : RowOfPoint {
    static constexpr int threads = consumer_threads;
    const int column, tile_row;

    __device__ Consumer(const Arguments& arguments, const Tile& tile, int, int thread_)
        : RowOfPoint(arguments, tile, thread_, thread_ / DOF, thread_ % DOF),
          column(HALO_J + thread_ / DOF % TJ),
          tile_row(HALO_K + thread_ / DOF / TJ) {}

    struct Block {
        double v[DOF][DOF];
    };
    /// A block of the factors, or its transpose: entry `entry` at the neighbour to which entry `at` leads, at `place`
    /// in memory.
    __device__ __forceinline__ Block neighbour(int entry, int at, int place, int level, bool transposed) const {
        static_assert(DOF <= 2 || RING > 0);
        Block x;
        if constexpr (RING > 0) {
#pragma unroll
            for (int m = 0; m < DOF; ++m)
#pragma unroll
                for (int c = 0; c < DOF; ++c)
                    x.v[m][c] = near_at(level + B * offset_y[at] + C * offset_z[at] + offset_x[at],
                                        (entry - first_shared) * block_size + (transposed ? c * DOF + m : m * DOF + c),
                                        tile_row + offset_z[at], column + offset_y[at] + SKEW * offset_z[at]);
        } else if constexpr (DOF == 1) {
            x.v[0][0] = load(a.entry[entry].x + place);
        } else {  // two unknowns: each thread loads its row
            const double2 mine = __ldcg((const double2*)(a.entry[entry].x + place + row * DOF));
            const double other[2] = {__shfl_xor_sync(~0u, mine.x, 1), __shfl_xor_sync(~0u, mine.y, 1)};
            const double2 first = row == 0 ? mine : double2{other[0], other[1]};
            const double2 second = row == 0 ? double2{other[0], other[1]} : mine;
            x.v[0][0] = first.x;
            x.v[1][DOF - 1] = second.y;
            x.v[0][DOF - 1] = transposed ? second.x : first.y;
            x.v[1][0] = transposed ? first.y : second.x;
        }
        return x;
    }
    /// x += sign * (a row) (a block)
    template <int sign>
    __device__ __forceinline__ static void multiply_add(const double* left, const Block& right, double* x) {
#pragma unroll
        for (int m = 0; m < DOF; ++m)
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[c] += sign * left[m] * right.v[m][c];
    }

    __device__ void point(int level) {
        const bool active = line.active(a, level);
        if (!__any_sync(~0u, active)) return;
        const int i = level - line.start, at = active ? line.slot(a, level) : 0;
        double x[entries][DOF], own[DOF];
#pragma unroll
        for (int e = 0; e < entries; ++e)
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[e][c] = a_entry[e] < 0 ? 0.0 : staged(level, e, c, thread);
        int place[LOWER > 0 ? LOWER : 1];  // of the neighbours' blocks
#pragma unroll
        for (int l = 0; l < LOWER; ++l) place[l] = RING > 0 ? 0 : neighbour_slot(a, at, l) * block_size;
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            own[c] = x[LOWER][c];
            if (c == row) x[LOWER][c] += a.shift * own[c];
        }
        unrolled<0, LOWER>([&](auto lower) {
            constexpr int l = lower.value;
            // For lines that have ended, the ring still holds W.
            if (SYMMETRIC && !SHARES && RING > 0 && !line.in_grid(a, i, l))
#pragma unroll
                for (int c = 0; c < DOF; ++c) x[l][c] = 0.0;
            double w[DOF];  // a row of W_l = E_l D^-1(p+l)
#pragma unroll
            for (int c = 0; c < DOF; ++c) w[c] = 0.0;
            multiply_add<+1>(x[l], neighbour(inverse_entry, l, place[l], level, false), w);
            unrolled<chunk_begin[l], chunk_begin[l + 1]>([&](auto pair) {
                constexpr int u = chunk_u[pair.value], e = chunk_e[pair.value];
                if constexpr (SHARES) {  // X_0 -= W_l F_-l(p+l); one unknown a point
                    x[LOWER][0] -= w[0] * (SYMMETRIC ? x[l][0] : staged(level, entries + l, 0, thread));
                } else if constexpr (SYMMETRIC && e == LOWER) {  // X_0 -= E_l W_l^T
#pragma unroll
                    for (int m = 0; m < DOF; ++m)
#pragma unroll
                        for (int c = 0; c < DOF; ++c)
                            x[LOWER][c] -= x[l][m] * (DOF == 1 ? w[m] : __shfl_sync(~0u, w[m], first_lane + c));
                } else if constexpr (SYMMETRIC) {  // G_u(p+l) is the transpose of W_-u(p+e)
                    multiply_add<-1>(x[l], neighbour(2 * LOWER - u, e, place[e], level, true), x[e]);
                } else {
                    multiply_add<-1>(x[l], neighbour(u, l, place[l], level, false), x[e]);
                }
            });
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[l][c] = w[c];
        });
        invert(x[LOWER], own, i, active);
#pragma unroll
        for (int e = LOWER + 1; e < entries; ++e) scale_from_left(x[LOWER], x[e]);
        if (!active) return;
#pragma unroll
        for (int e = SHARES ? LOWER : 0; e < entries; ++e) {
            const int entry = SHARES ? inverse_entry : e;
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                a.entry[entry].x[(long long)at * block_size + row * DOF + c] = x[e][c];
                if (RING > 0 && entry >= first_shared)
                    near_at(level, (entry - first_shared) * block_size + row * DOF + c, tile_row, column) = x[e][c];
            }
        }
    }
};

#endif

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
