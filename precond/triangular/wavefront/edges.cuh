// SPDX-License-Identifier: BSD-3-Clause
// Edges, which pass values between tiles: a {value, epoch} record for each point that other tiles need. Where the grid
// is that of one of several ranks (HALO_PLANES > 0), records of its last planes go to the next rank, into the memory of
// its GPU. Definitions: precond/triangular/wavefront/solve.cuh.
#pragma once

#include "core/device/epochs.cuh"
#if HALO_PLANES > 0
#include "core/ranks/waiting_cuda.cuh"
#endif
#include "precond/triangular/wavefront/tile_memory.cuh"

namespace hyperplane {

static_assert((LOOKAHEAD & (LOOKAHEAD - 1)) == 0 && LOOKAHEAD <= 8);
constexpr int edge_j = HALO_J < TJ ? HALO_J : TJ, edge_k = HALO_K < TK ? HALO_K : TK;
constexpr int edge_cells = edge_j * TK + edge_k * TJ;
constexpr int halo_cells = HALO_J * TK + HALO_K * columns;
constexpr int halo_records = halo_cells * DOF;
constexpr int plane_records = edge_cells * DOF;  // records of one level
constexpr int halo_share = HALO_THREADS > 0 ? (halo_records + HALO_THREADS - 1) / HALO_THREADS : 0;
constexpr int halo_places = halo_share > 0 ? halo_share : 1;
static_assert(HALO_PLANES == 0 || HALO_PLANES == HALO_K);

__device__ __forceinline__ int edge_cell_below(int tj, int tk) {
    return edge_j * TK + (tk - (TK - edge_k)) * TJ + tj;
}
__device__ __forceinline__ int edge_cell_right(int tj, int tk) {
    return (tj - (TJ - edge_j)) * TK + tk;
}

/// The records that another rank stores of a line in one of its last planes, here plane k < HALO_PLANES.
template <class Pointer>
__device__ __forceinline__ Pointer edge_between_ranks(const Arguments& a, Pointer records, int k, int j) {
    return records + ((long long)k * a.ny + j) * DOF;
}
/// The number of these records of one level.
__device__ __forceinline__ int records_between_ranks(const Arguments& a) {
    return HALO_PLANES * a.ny * DOF;
}

/// Waits for a record of this solve.
template <class Pause>
__device__ __forceinline__ Record wait_for_edge(const EpochRecord* at, u64 epoch, const Pause& pause) {
    Record record = load_record(at);
#if HALO_PLANES > 0
    if (epoch_of(record) == epoch) return record;
    const u64 begin = cuda::nanoseconds();
#endif
    for (int tries = 0; epoch_of(record) != epoch;) {
        pause(++tries);
#if HALO_PLANES > 0
        if (tries % 1024 == 0 && cuda::nanoseconds() - begin > cuda::patience) __trap();
#endif
        record = load_record(at);
    }
    return record;
}

/// Copies edges of other tiles to the ring, those of a level while the consumers compute this tile's values of the same
/// level. Each of LOOKAHEAD sets of HALO_THREADS has every LOOKAHEAD-th level and polls its records while other sets
/// write theirs. A thread waits for all loads that it has issued, so it polls one level at a time.
__device__ void receive_edges(const Arguments& a, const Tile& tile, u64 epoch, int set, int lane) {
    const EpochRecord* at[halo_places];
    int start[halo_places], place[halo_places], of_level[halo_places];
    int column_slot[second_ring ? halo_places : 1];  // of the line's point in plane 0 of the layout
#pragma unroll
    for (int h = 0; h < halo_share; ++h) {
        const int record = lane + h * HALO_THREADS;
        const int component = record % DOF, cell = record / DOF;
        // first the columns of smaller J, then the rows of smaller k
        const bool left = cell < HALO_J * TK;
        const int row = left ? HALO_K + cell / (HALO_J > 0 ? HALO_J : 1) : (cell - HALO_J * TK) / columns;
        const int column = left ? cell % (HALO_J > 0 ? HALO_J : 1) : (cell - HALO_J * TK) % columns;
        const int skewed = tile.j + column - HALO_J, k = tile.k + row - HALO_K;
        const Line line(a, skewed, k);
        start[h] = 1 << 30;
        at[h] = a.edges;
        of_level[h] = plane_records;
        place[h] = (row * columns + column) * DOF + component;
        if constexpr (second_ring) column_slot[h] = line.valid ? k * a.ny + line.j : 0;
        if (HALO_PLANES > 0 && k < HALO_PLANES) {
            if (record < halo_records && line.valid && a.before) {
                at[h] = edge_between_ranks(a, a.before, k, line.j) + component;
                of_level[h] = records_between_ranks(a);
                start[h] = line.start;
            }
        } else if (record < halo_records && line.valid && skewed >= 0) {
            const int from = a.tile_at[tile_row_of(k) * a.tiles_j + skewed / TJ];
            const int tj = skewed % TJ, tk = (k - HALO_PLANES) % TK;
            const int edge = left ? edge_cell_right(tj, tk) : edge_cell_below(tj, tk);
            at[h] += (long long)from * a.nx * plane_records + edge * DOF + component;
            start[h] = line.start;
        }
    }
    // Until the tiles before have begun, polling by all threads would burden the memory, so one lane polls the warp's
    // first record.
    int earliest = start[0];
#pragma unroll
    for (int h = 1; h < halo_share; ++h) earliest = min(earliest, start[h]);
    const int first = __reduce_min_sync(~0u, earliest);
    if (first <= tile.first && earliest == first) {
        const unsigned candidates = __activemask();
        if (lane % 32 == __ffs(candidates) - 1) {
            const EpochRecord* from = at[0];
            int step = of_level[0];
#pragma unroll
            for (int h = 1; h < halo_share; ++h)
                if (start[h] == first) from = at[h], step = of_level[h];
            from += (long long)(first % a.nx) * step;
            wait_for_edge(from, epoch, [](int) { __nanosleep(150); });
        }
    }
    __syncwarp();
    const int begin = tile.first - MAX_LEVEL;
    if (LOOKAHEAD > 1 && set == LOOKAHEAD - 1) arrive_at_level(begin);  // the level before has no edges
    int plane = ((begin + set) % a.nx + a.nx) % a.nx;
    for (int level = begin + set; level <= tile.last; level += LOOKAHEAD) {
        if (LOOKAHEAD == 1) sync_level(level);
        double values[halo_places], more[second_ring ? halo_places : 1];
#pragma unroll
        for (int h = 0; h < halo_share; ++h)
            if (unsigned(level - start[h]) < unsigned(a.nx)) {
                if constexpr (second_ring) {  // s has been complete since before this solve
                    const int slot = plane * a.ny * a.nz + column_slot[h];
                    more[h] = a.eisenstat.s[slot];
                    if (a.eisenstat.diagonal) more[h] = with_sign_of(a.inverse[slot], more[h]);
                }
                const EpochRecord* const from = at[h] + (long long)plane * of_level[h];
                values[h] = value_of(wait_for_edge(from, epoch, [](int tries) {
                    if (tries > 32) __nanosleep(40);
                }));
            }
        __syncwarp();
        if (LOOKAHEAD > 1) sync_level(level);
#pragma unroll
        for (int h = 0; h < halo_share; ++h)
            if (unsigned(level - start[h]) < unsigned(a.nx)) {
                shared[(level & (RING - 1)) * DOF * plane_size + place[h]] = values[h];
                if constexpr (second_ring) shared[one_ring + (level & (RING - 1)) * plane_size + place[h]] = more[h];
            }
        __syncwarp();
        if (LOOKAHEAD > 1 && level < tile.last) arrive_at_level(level + 1);
        plane += LOOKAHEAD;
        while (plane >= a.nx) plane -= a.nx;
    }
}

}  // namespace hyperplane
