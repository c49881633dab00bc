// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of points of three to eight unknowns on tensor cores (StructILU paper, section 4.3): a warp has one
// point, or two of up to four unknowns, and all their blocks in registers (precond/factors/tensor_blocks.cuh).
// Definitions: precond/struct_ilu/factor.cuh.
//
// All loops over entries are unrolled; see precond/struct_ilu/registers.cuh.
//
// One producer warp copies the matrix's entries to shared memory a level ahead and transposes them: in global memory a
// coefficient is contiguous over neighbouring points, in shared memory a block is contiguous. The same warp publishes
// the tile's progress, because one more warp would take registers that the consumers need.
#pragma once

#include "precond/factors/tensor_blocks.cuh"
#include "precond/struct_ilu/tables.cuh"

namespace hyperplane {

constexpr int cells = TJ * TK;
constexpr int consumer_threads = (cells + points - 1) / points * 32;
constexpr int looks_back = 0, levels_ahead = 0;
constexpr bool producer_publishes = true;
constexpr int staged_size = (block_size + 1) / 2 * 2 + 2;  // neighbouring points are in different banks
/// With many entries, D^-1 and G of the levels that points read fill the second-level cache. What is read or written
/// once, A and W, is then the first to be replaced there.
constexpr bool streams = LOWER >= 12;
constexpr int stage_size = entries * cells * staged_size;  // of a level; 1 or 2 STAGES are used in turn

/// In shared memory, to save registers: the smallest ratio of a pivot that a consumer thread has found, and its point;
/// the last pivot of the thread's row, and A's diagonal coefficient there.
__shared__ double least_ratio[consumer_threads], pivot_met[consumer_threads], pivot_own[consumer_threads];
__shared__ int least_ratio_x[consumer_threads];

struct Consumer : Lane {
    static constexpr int threads = consumer_threads;

    const Arguments& a;
    const int thread, cell;
    Line line;

    __device__ Consumer(const Arguments& arguments, const Tile& tile, int, int thread_)
        : Lane(thread_),
          a(arguments),
          thread(thread_),
          cell(thread_ / 32 * points + which),
          line(a, tile, cell, cell < cells) {
        least_ratio[thread] = 1.0;
        least_ratio_x[thread] = 0;
    }

    __device__ bool exists() const { return line.valid; }
    __device__ double smallest_ratio() const { return least_ratio[thread]; }
    __device__ long long smallest_point() const { return line.point(a, least_ratio_x[thread]); }

    /// Called when the stage has been read. A barrier is needed if there is only one stage.
    __device__ static void release_stage() {
        if (STAGES == 1)
            asm volatile("barrier.sync 2, %0;" ::"n"(consumer_threads + 32) : "memory");
        else
            __syncwarp();
    }

    /// The block at `values` + `place` in memory as right operand.
    template <bool transposed>
    __device__ __forceinline__ Operand operand(const double* values, int place) const {
        Operand right;
#pragma unroll
        for (int h = 0; h < steps; ++h) right.v[h] = load(values + place + place_of(transposed, h));
        return right;
    }

    /// The maximum over the threads of a point.
    __device__ u64 largest(u64 mine) const {
        const unsigned members = points == 2 ? 0xffffu << 16 * which : ~0u;
        const unsigned high = __reduce_max_sync(members, unsigned(mine >> 32));
        const unsigned low = __reduce_max_sync(members, mine >> 32 == high ? unsigned(mine) : 0u);
        return u64(high) << 32 | low;
    }

    /// Replaces x by its inverse, or by zero if a pivot cannot be used (Gauss-Jordan elimination, FGBILU paper,
    /// Algorithm 5). Lane::invert (precond/factors/tensor_blocks.cuh) takes the same steps for factorisations in which
    /// no other point waits for the result. Three things differ here, where others do: the largest coefficient is found
    /// by reductions of integers; a pivot takes a short test, with a threshold that is computed once, and only those
    /// that fail are judged in full; and the ratios of pivots are computed later (keep_ratio), when no other thread
    /// waits for them, from values that are kept in shared memory.
    __device__ void invert(Block& x, const Block& own, int i, bool active) {
        u64 most = 0;
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (inside(m)) most = max(most, max(size_of(own.v[m]), size_of(x.v[m])));
        const double scale = __longlong_as_double(largest(most)), least = a.tolerance * scale;
        const double own_diagonal = r % 2 == 0 ? own.v[0] : own.v[1];  // in threads that have a diagonal coefficient
        bool gave_up = false;
#pragma unroll
        for (int p = 0; p < DOF; ++p) {
            const int row = p + size * which;  // row and column of the pivot in the result
            const int lane_of_pivot = 4 * row + row / 2;
            const double met = from(x.v[p % 2], lane_of_pivot), diagonal = from(own_diagonal, lane_of_pivot);
            const double here = from(x.v[p % 2], lane / 4 * 4 + row / 2);
            if (r == p) pivot_met[thread] = met, pivot_own[thread] = diagonal;
            double pivot = met;
            if (!judge(a).accepts(met, diagonal, least)) {
                pivot = 1.0;
                if (active && !gave_up)
                    pivot =
                        judge(a).usable(met, diagonal, scale, line.point(a, i) * DOF + p, lane % (32 / points) == 0);
                if (pivot == 0.0) gave_up = true, pivot = 1.0;
            }
            eliminate(x, p, row, here, 1.0 / pivot);
        }
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (gave_up || !inside(m)) x.v[m] = 0.0;
    }

    /// Keeps the smallest ratio of a point's pivots to A's diagonal. The threads of a row compute the ratio of its
    /// pivot.
    __device__ void keep_ratio(int i) const {
        if (!in_rows) return;
        const double mine = judge(a).ratio(pivot_met[thread], pivot_own[thread]);
        if (mine < least_ratio[thread]) least_ratio[thread] = mine, least_ratio_x[thread] = i;
    }

    __device__ void point(int level) {
        const bool active = line.valid && unsigned(level - line.start) < unsigned(a.nx);
        const int i = level - line.start, at = active ? line.slot(a, level) : 0;
        Block x[entries];
        const double* const from = shared + (level & (STAGES - 1)) * stage_size + cell * staged_size + r * DOF + c;
        const bool there[2] = {inside(0) && cell < cells, inside(1) && cell < cells};  // equal if DOF is even
        const auto staged = [&](int e) {
            Block block{};
            if (a_entry[e] >= 0)
#pragma unroll
                for (int m = 0; m < 2; ++m)
                    block.v[m] = there[DOF % 2 == 0 ? 0 : m] ? from[e * cells * staged_size + m] : 0.0;
            return block;
        };
#pragma unroll
        for (int e = 0; e < entries; ++e) x[e] = staged(e);
        Block own = x[LOWER];
        release_stage();
        if (!__any_sync(~0u, active)) return;
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (r == c + m) x[LOWER].v[m] += a.shift * own.v[m];
        unrolled<0, LOWER>([&](auto lower) {
            constexpr int l = lower.value;
            const Operand left = as_left(x[l]);
            const int place = neighbour_slot(a, at, l) * block_size;
            Block w{};  // W_l = E_l D^-1(p+l)
            multiply_add<+1>(left, operand<false>(a.entry[inverse_entry].x, place), w);
            unrolled<chunk_begin[l], chunk_begin[l + 1]>([&](auto pair) {
                constexpr int u = chunk_u[pair.value], e = chunk_e[pair.value];
                if constexpr (!SYMMETRIC)
                    multiply_add<-1>(left, operand<false>(a.entry[u].x, place), x[e]);
                else if constexpr (e == LOWER)  // X_0 -= E_l W_l^T; W_l^T as right operand is W_l as left one
                    multiply_add<-1>(left, as_left(w), x[e]);
                else  // G_u(p+l) is the transpose of W_-u(p+e)
                    multiply_add<-1>(
                        left, operand<true>(a.entry[2 * LOWER - u].x, neighbour_slot(a, at, e) * block_size), x[e]);
            });
            x[l] = w;
        });
        if (STAGES > 1) own = staged(LOWER);  // loaded again, since registers were scarce until here
        invert(x[LOWER], own, i, active);
        const Operand inverse = as_left(x[LOWER]);
#pragma unroll
        for (int e = LOWER + 1; e < entries; ++e) {
            Block g{};
            multiply_add<+1>(inverse, as_right(x[e]), g);  // G_u = D^-1 X_u
            x[e] = g;
        }
        const u64 policy = streams ? once_policy() : 0;
        if (!active) return;
        const unsigned to = unsigned(at) * block_size + r * DOF + c;  // 64 bits would take registers that are not there
#pragma unroll
        for (int e = 0; e < entries; ++e) {
            if (DOF % 2 == 0) {
                if (inside(0)) {
                    double2* const block = (double2*)(a.entry[e].x + to);
                    const double2 value{x[e].v[0], x[e].v[1]};
                    if (streams && !SYMMETRIC && e < LOWER)
                        store_once(block, value, policy);
                    else
                        *block = value;
                }
            } else {
#pragma unroll
                for (int m = 0; m < 2; ++m)
                    if (inside(m)) a.entry[e].x[to + m] = x[e].v[m];
            }
        }
        keep_ratio(i);
    }
};

/// A lane of the producer warp, which copies the matrix's entries of a level to shared memory. Neighbouring lanes copy
/// for neighbouring points; an entry whose neighbour is outside the grid becomes zero.
struct MatrixLane {
    static constexpr int at_once = 32 / cells > 0 ? 32 / cells : 1;
    const Arguments& a;
    const int first;
    const Line line;
    double* const to;
    const u64 policy = streams ? once_policy() : 0;

    __device__ MatrixLane(const Arguments& arguments, const Tile& tile, int lane)
        : a(arguments),
          first(lane / cells),
          line(a, tile, lane % cells, first < at_once),
          to(shared + lane % cells * staged_size) {
        static_assert(cells <= 32);
    }
    __device__ void start_level(int level) const {
        const int i = level - line.start;
        if (line.active(a, level)) {
            const long long step = (long long)at_once * a.a_stride;
            const long long from = (long long)first * a.a_stride + line.slot(a, level);
#pragma unroll 1
            for (int e = 0; e < entries; ++e) {
                if (!a.entry[e].a) continue;
                const bool outside = SKIP_OUTSIDE && !line.in_grid(a, i, e);
                const double* source = a.entry[e].a + from;
                double* at = to + (level & (STAGES - 1)) * stage_size + e * cells * staged_size + first;
#pragma unroll 8
                for (int q = first; q < block_size; q += at_once, source += step, at += at_once) {
                    if (outside)
                        *at = 0.0;
                    else if (streams)
                        copy_8_once_async(at, source, policy);
                    else
                        copy_8_async(at, source);
                }
            }
        }
        commit_copies();
    }
};

__device__ void produce(const Arguments& a, const Tile& tile, int index, int lane) {
    static_assert(PRODUCER_WARPS == 1);
    const MatrixLane mine(a, tile, lane);
    EarlierTiles before(a, tile, lane);
    const auto publish_level = [&](int level) {
        if (lane == 0) publish(a.progress + index, level);
        __syncwarp();
    };
    publish_level(tile.first - 1);
    mine.start_level(tile.first);
    for (int level = tile.first; level <= tile.last; ++level) {
        before.wait_for(level - 1);
        wait_copies<0>();
        __syncwarp();
        sync_level();
        publish_level(level - 1);
        Consumer::release_stage();
        mine.start_level(level + 1);
    }
    sync_level();
    publish_level(finished);
}

}  // namespace hyperplane
