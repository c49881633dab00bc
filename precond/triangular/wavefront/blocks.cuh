// SPDX-License-Identifier: BSD-3-Clause
// The terms of a row of a point of several unknowns: whole blocks of coefficients, copied ahead of their use, and the
// sums of their products. Definitions: precond/triangular/wavefront/solve.cuh.
//
// The blocks of an entry at neighbouring points of a line are contiguous in memory: a chunk, which one bulk copy copies
// to shared memory. A producer warp starts the copies of the chunks of later levels. Each stage has a barrier, whose
// phase is complete when all its chunks have been copied.
#pragma once

#include "precond/factors/coefficient_order.hpp"
#include "precond/triangular/wavefront/tile_memory.cuh"

namespace hyperplane {

constexpr int block_size = DOF * DOF;
constexpr int per_copy = 16 / sizeof(Value);    // values in 16 bytes, the unit of a copy
constexpr bool uneven = block_size % per_copy;  // a chunk may begin inside a unit
constexpr int run = NATURAL ? 1 : TJ;           // points of a chunk
constexpr int entry_chunks = TJ * TK / run;
constexpr int chunk_size = uneven ? (run * block_size + 2 * per_copy - 2) / per_copy * per_copy : run * block_size;
constexpr int staged_entries = LOWER + (scales ? 1 : 0);  // D^-1 comes last
constexpr int stage_size = staged_entries * entry_chunks * chunk_size;
constexpr int rhs_place = ring_size + exchange_size, exponents_place = rhs_place + STAGES * consumer_threads;
constexpr int stages_place = exponents_place + (halves ? STAGES * GROUPS * consumer_threads / 2 : 0);
constexpr int barriers_place = stages_place + STAGES * stage_size * int(sizeof(Value)) / 8;
constexpr int shared_size = barriers_place + STAGES;
constexpr int producer_threads = STAGES > 0 ? 32 : 0;
constexpr bool rhs_early = false;  // a right-hand side may need D^-1, whose copy is complete only after the barrier

__device__ __forceinline__ unsigned barrier_of(int at) {
    return shared_address(shared + barriers_place + at);
}

/// Called once, before the first barrier of a level.
__device__ void init_barriers(int thread) {
    if (thread == 0)
        for (int at = 0; at < STAGES; ++at) init_barrier(barrier_of(at), 32);
    fence_barriers();
}

/// Largest integer not above x / B.
__device__ __forceinline__ int floor_div(int x) {
    constexpr int bias = 1 << 20;
    return (x + B * bias) / B - bias;
}

/// A lane of the producer warp, and the chunks that it copies.
struct Producer {
    static constexpr int chunks = staged_entries * entry_chunks, share = (chunks + 31) / 32;

    const Arguments& a;
    const int lane;
    const Value* values[share];                      // of the entry
    int k[share], j[share], to[share];               // k and first j of a chunk; its place in a stage
    int dx[share], dy[share], dz[share], dl[share];  // if mirrored, offset and level of the coefficients' own point
    int plane;                                       // level modulo nx, in the grid's own coordinates

    __device__ Producer(const Arguments& arguments, const Tile& tile, int lane_, int level)
        : a(arguments), lane(lane_) {
#pragma unroll
        for (int q = 0; q < share; ++q) {
            const int chunk = lane + 32 * q, m = chunk / entry_chunks, column = chunk % entry_chunks * run;
            const bool inverse = scales && m == LOWER;
            const long long entry = inverse ? 0 : mirrored ? m : UPPER ? 2 * LOWER - m : m;
            values[q] = (inverse ? a.inverse : a.triangles) + entry * a.triangle_stride * block_size;
            k[q] = chunk < chunks ? tile.k + column / TJ : a.nz;
            j[q] = tile.j + column % TJ - SKEW * k[q];
            to[q] = chunk * chunk_size;
            const bool moved = mirrored && !inverse && chunk < chunks;
            dx[q] = moved ? offset_x[m] : 0;
            dy[q] = moved ? offset_y[m] : 0;
            dz[q] = moved ? offset_z[m] : 0;
            dl[q] = moved ? -offset_level[m] : 0;
        }
        const int last = a.nx - 1 + B * (a.ny - 1) + C * (a.nz - 1);
        plane = (UPPER ? last - level : level) % a.nx;
        if (plane < 0) plane += a.nx;
    }

    /// Starts to copy a level's chunks to stage `at`.
    __device__ __forceinline__ void start(int level, int at) {
        const Arguments& g = a;
        const Value* from[share];
        Value* place[share];
        int bytes[share], total = 0;
#pragma unroll
        for (int q = 0; q < share; ++q) {
            const int rest = level - C * k[q];  // i + B j
            const int low = max(max(j[q], max(0, -dy[q])), floor_div(rest - g.nx + B));
            const int high = min(min(j[q] + run, min(g.ny, g.ny - dy[q])), floor_div(rest) + 1);
            bytes[q] = 0;
            if (low < high && k[q] < g.nz - HALO_PLANES && k[q] + dz[q] >= 0) {
                int here = plane + dl[q];
                if (here >= g.nx) here %= g.nx;
                const int there_k = k[q] + dz[q];
                const int position = UPPER ? j[q] + run - high : low - j[q];
                long long first;  // slot of the chunk's first point in memory
                if (NATURAL) {
                    first = rest - B * low + dx[q] + (long long)g.nx * (low + dy[q] + (long long)g.ny * there_k);
                    if (UPPER) first = a.slots - 1 - first;
                    first += first < 0 ? a.slots : first >= a.slots ? -a.slots : 0;
                } else if (UPPER) {
                    first = ((long long)here * g.nz + g.nz - 1 - there_k) * g.ny + g.ny - high - dy[q];
                } else {
                    first = ((long long)here * g.nz + there_k) * g.ny + low;
                }
                from[q] = values[q] + first * block_size;
                int count = (high - low) * block_size, begin = position * block_size;
                if (uneven) {  // extended to whole units at both ends
                    const int odd = int((size_t)from[q] / sizeof(Value) % per_copy);
                    begin += (odd - begin) & (per_copy - 1);
                    from[q] -= odd, begin -= odd, count = (count + odd + per_copy - 1) / per_copy * per_copy;
                }
                place[q] = (Value*)(shared + stages_place) + at * stage_size + to[q] + begin;
                bytes[q] = int(sizeof(Value)) * count;
                total += bytes[q];
            }
        }
        copy(from, place, bytes, total, at);
        if (UPPER)
            plane = plane == 0 ? g.nx - 1 : plane - 1;
        else
            plane = plane + 1 == g.nx ? 0 : plane + 1;
    }

private:
    __device__ __forceinline__ void copy(const Value* const* from, Value* const* to, const int* bytes, int total,
                                         int at) const {
        const unsigned barrier = barrier_of(at);
#if __CUDA_ARCH__ >= 900
        arrive_expecting(barrier, total);
#pragma unroll
        for (int q = 0; q < share; ++q)
            if (bytes[q] > 0) {
                if (DOF >= 6 && STORAGE == 0)  // so that the second-level cache keeps edges and vectors
                    copy_bulk_once_async(shared_address(to[q]), from[q], bytes[q], barrier);
                else
                    copy_bulk_async(shared_address(to[q]), from[q], bytes[q], barrier);
            }
#else
#pragma unroll
        for (int q = 0; q < share; ++q)
            for (int other = 0; other < 32; ++other) {
                const int size = __shfl_sync(~0u, bytes[q], other);
                if (size == 0) continue;
                const void* const source = (const void*)__shfl_sync(~0u, (u64)from[q], other);
                copy_share_async(__shfl_sync(~0u, shared_address(to[q]), other), source, size, lane);
            }
        arrive_after_copies(barrier);
#endif
    }
};

/// Before the barrier of a level the copies of STAGES - 1 levels have been started; after it those of one more level
/// start.
__device__ void produce(const Arguments& a, const Tile& tile, int lane) {
    const int begin = tile.first - MAX_LEVEL;
    Producer producer(a, tile, lane, begin);
    for (int s = 0; s < STAGES - 1; ++s) producer.start(begin + s, s);
    int at = STAGES - 1;
    for (int level = begin; level <= tile.last; ++level) {
        __syncwarp();
        sync_level(level);  // the terms of level - 1 have been summed, so their stage is free
        producer.start(level + STAGES - 1, at);
        if (++at == STAGES) at = 0;
    }
}

/// A consumer thread, which has one row of the points of one line and its group's share of the terms, for the levels
/// from `first` on.
template <int group>
struct Consumer {
    static constexpr int begin = group_begin[group], count = group_begin[group + 1] - begin;
    static constexpr int length = DOF % per_copy == 0 ? per_copy : DOF % 4 == 0 ? 4 : DOF % 2 == 0 ? 2 : 1;
    static constexpr bool rotates =  // threads begin a row at different columns, to avoid bank conflicts
        length == per_copy && DOF / length % 2 == 0 && !mirrored;
    static_assert(!rotates || (warp_cells & (warp_cells - 1)) == 0);
    static constexpr bool copies_own = group == rhs_group || halves;  // the right-hand side or exponents of its row

    const Arguments& a;
    const int thread, row, cell, tj, tk, level_slots;
    const Line line;
    const bool exists;
    const int chunk, position, rotation;  // of the line's blocks in a stage
    int at, phase, rhs_at = 0, slot = 0, slot_ahead = 0;

    __device__ Consumer(const Arguments& arguments, const Tile& tile, int thread_, int first)
        : a(arguments),
          thread(thread_),
          row(thread % 32 % DOF),
          cell(thread / 32 * warp_cells + thread % 32 / DOF),
          tj(cell % TJ),
          tk(cell / TJ),
          level_slots(a.ny * a.nz),
          line(a, tile.j + tj, tile.k + tk),
          exists(thread % 32 < warp_cells * DOF && cell < TJ * TK && line.valid),
          chunk(cell / run),
          position(UPPER ? run - 1 - cell % run : cell % run),
          rotation(rotates ? length * (bank_lane() * DOF * int(sizeof(Value)) / 128 % (DOF / length)) : 0),
          at(STAGES > 0 ? first - (tile.first - MAX_LEVEL) : 0),
          phase(0) {
        if (STAGES > 0 && at >= STAGES) at -= STAGES, phase = 1;
        if (copies_own)
            for (int s = 0; s < STAGES - 1; ++s) start_own(first + s, s);
    }

    /// The lane in a warp, counted from another line: by the line's place in the grid, not in its tile, so that sums
    /// have the same order wherever the tiles of ranks begin.
    __device__ __forceinline__ int bank_lane() const { return (line.j & (warp_cells - 1)) * DOF + row; }
    __device__ __forceinline__ double* rhs(int at_) const {
        return shared + rhs_place + at_ * consumer_threads + thread;
    }
    __device__ __forceinline__ unsigned* staged_exponents(int at_) const {
        return (unsigned*)(shared + exponents_place) + (at_ * GROUPS + group) * consumer_threads + thread;
    }
    __device__ __forceinline__ void start_own(int level, int at_) {
        if (exists && line.active(a, level)) {
            if (level == line.start) slot_ahead = line.slot(a, level);
            if (group == rhs_group) copy_8_async(rhs(at_), a.in + (long long)row * a.distance + slot_ahead);
            if (halves) copy_4_async(staged_exponents(at_), RowExponents::word(a, slot_ahead, row));
            advance(slot_ahead);
        }
        commit_copies();
    }
    __device__ __forceinline__ void advance(int& s) const { to_next_level(s, level_slots, a.slots); }

    /// Called before the barrier of a level; returns whether the line has a point at that level.
    __device__ __forceinline__ bool begin_level(int level) {
        const bool active = exists && line.active(a, level);
        if (active && level == line.start) slot = line.slot(a, level);
        if (STAGES > 0 && copies_own) {
            start_own(level + STAGES - 1, rhs_at == 0 ? STAGES - 1 : rhs_at - 1);
            wait_copies<STAGES - 1>();
            __syncwarp();  // the right-hand sides of the point's other rows have arrived
        }
        return active;
    }
    /// Called after the barrier.
    __device__ __forceinline__ void wait_for_copies() const {
        if (STAGES > 0)
            while (!phase_is_complete(barrier_of(at), phase)) {
            }
    }
    __device__ __forceinline__ void end_level(bool active) {
        if (active) advance(slot);
        if (STAGES > 0) {
            if (++at == STAGES) at = 0, phase ^= 1;
            if (copies_own && ++rhs_at == STAGES) rhs_at = 0;
        }
    }

    /// The address of a block: entry m of the point or, if the triangle is mirrored, of its neighbour; for m = LOWER,
    /// D^-1.
    __device__ __forceinline__ const Value* block(int m) const {
        const bool inverse = m == LOWER;
        const long long entry = inverse ? 0 : mirrored ? m : UPPER ? 2 * LOWER - m : m;
        const int own = mirrored && !inverse ? shifted_slot(a, slot, a.shift[m]) : slot;
        if (STAGES == 0)
            return (inverse ? a.inverse : a.triangles) +
                   place_together<long long>(a.triangle_stride, DOF, int(entry), own, 0, 0);
        const Value* const place = (const Value*)(shared + stages_place) + at * stage_size +
                                   (m * entry_chunks + chunk) * chunk_size + position * block_size;
        if (!uneven) return place;
        const size_t before = (inverse ? (size_t)a.inverse : (size_t)a.triangles) / sizeof(Value);
        if (per_copy == 2) return place + (before + entry * a.triangle_stride + own + position) % 2;
        return place + (before + (entry * a.triangle_stride + own - position) * block_size) % per_copy;
    }
    /// The exponents of the row: that of its coefficients is the lowest byte, that of D^-1 the next one.
    __device__ __forceinline__ unsigned exponents() const {
        return RowExponents::found(STAGES > 0 ? *staged_exponents(rhs_at) : *RowExponents::word(a, slot, row), slot,
                                   row);
    }
    /// Loads `length` values from an address that is a multiple of their size.
    __device__ __forceinline__ static void widen(const Value* from, double (&to)[length]) {
        constexpr int words = length * int(sizeof(Value)) / 4;
        unsigned bits[words > 0 ? words : 1];
        if constexpr (words == 4) {
            const uint4 all = *(const uint4*)from;
            bits[0] = all.x, bits[1] = all.y, bits[2] = all.z, bits[3] = all.w;
        } else if constexpr (words == 2) {
            const uint2 all = *(const uint2*)from;
            bits[0] = all.x, bits[1] = all.y;
        } else {
            bits[0] = *(const unsigned*)from;
        }
#pragma unroll
        for (int i = 0; i < length; ++i)
            to[i] = halves ? widened((unsigned short)(bits[i / 2] >> (i % 2 * 16)))
                           : widened(__uint_as_float(bits[i % words]));
    }
    /// The product of a row of a block, or of its transpose, with DOF values.
    template <bool transposed>
    __device__ __forceinline__ double product(const Value* w, const double* v) const {
        double sum = 0.0;
        if constexpr (transposed) {
#pragma unroll
            for (int c = 0; c < DOF; ++c) sum += widened(w[c * DOF + row]) * v[c];
        } else if constexpr (DOF % 2 == 0 && reduced) {
            double odd = 0.0, x[length];
            int c = rotation;
#pragma unroll
            for (int q = 0; q < DOF / length; ++q) {
                widen(w + row * DOF + c, x);
#pragma unroll
                for (int i = 0; i < length; i += 2) {
                    const double2 y = *(const double2*)(v + c + i);
                    sum += x[i] * y.x;
                    odd += x[i + 1] * y.y;
                }
                c += length;
                if (rotates && c == DOF) c = 0;
            }
            sum += odd;
        } else if constexpr (DOF % 2 == 0) {
            double odd = 0.0;
            int c = rotation;
#pragma unroll
            for (int q = 0; q < DOF / 2; ++q) {
                const double2 x = *(const double2*)(w + row * DOF + c), y = *(const double2*)(v + c);
                sum += x.x * y.x;
                odd += x.y * y.y;
                c += 2;
                if (rotates && c == DOF) c = 0;
            }
            sum += odd;
        } else {
#pragma unroll
            for (int c = 0; c < DOF; ++c) sum += widened(w[row * DOF + c]) * v[c];
        }
        return sum;
    }
    /// Minus the sum of the group's terms at a level.
    __device__ __forceinline__ double terms(int level) const {
        double sum = 0.0;
#pragma unroll
        for (int t = 0; t < count; ++t) {
            const int m = term_of[begin + t];
            sum -= product<mirrored>(block(m), &ring_at(level + offset_level[m], 0, tk + HALO_K + offset_z[m],
                                                        tj + HALO_J + offset_y[m] + SKEW * offset_z[m]));
        }
        return halves && !mirrored ? sum * scale_of(exponents()) : sum;
    }
    /// What neighbours read in place of y: y times the scale of its row, if rows are scaled and the triangle is
    /// mirrored.
    __device__ __forceinline__ double passed(double y) const {
        return halves && mirrored ? y * scale_of(exponents()) : y;
    }
    /// The right-hand side, times D^-1 in the upper solve. Adds v D^-1 v to `dot`.
    __device__ __forceinline__ double right_hand_side(double& dot) const {
        const double own = STAGES > 0 ? *rhs(rhs_at) : a.in[(long long)row * a.distance + slot];
        if (!scales) return own;
        double scaled = 0.0;
        if (STAGES > 0 && DOF % 2 == 0 && warp_cells * DOF == 32) {
            scaled = product<false>(block(LOWER), rhs(rhs_at) - row);
        } else {
#pragma unroll
            for (int c = 0; c < DOF; ++c)
                scaled += widened(block(LOWER)[row * DOF + c]) *
                          (STAGES > 0 ? rhs(rhs_at)[c - row] : a.in[(long long)c * a.distance + slot]);
        }
        if (halves) scaled *= scale_of(exponents() >> 8);
        if (DOT) dot += own * scaled;
        return scaled;
    }
    __device__ __forceinline__ double completed(bool, double sum, double, double&) const {
        return sum;
    }
};

}  // namespace hyperplane
